/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FLUSH before and FUA after, in both paths. What makes bytes durable is the media's
 * (cp_media_sync()); here is what must have arrived, and be visible, before it is asked.
 */
#include <errno.h>

#include "engines/queue/internal.h"

void cp_sub_quiesce(struct cp_sub *sub, unsigned but)
{
	struct cp_hctx *hctx = sub->hctx;

	unsigned all = sub->in_flight - but;

	while (cp_sub_nr_done(sub) != all) {
		cp_hctx_lock(hctx);
		cp_hctx_ring(sub->dev, hctx);
		unsigned n = hctx->chan ? cp_hctx_reap(sub) : 0;

		cp_hctx_unlock(hctx);
		/* Again, behind the reap, which has taken note of all progress so far:
		 * of the last of ours too, where another submitter found it before we
		 * had the lock. Nothing would end a wait for it. */
		if (!n && cp_sub_nr_done(sub) != all)
			cp_sub_wait(sub);
	}
}

/* What channels wrote is flushed when it is taken from the done ring; what is in there
 * yet, now. */
static void settle_done(struct cp_sub *sub)
{
	unsigned n = cp_sub_nr_done(sub);

	for (unsigned i = 0; i < n; i++)
		cp_sub_settle(sub, &sub->done[(sub->done_head + i) & sub->done_mask], 1);
}

int cp_sub_sync(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	if (dev->flush.active)
		settle_done(sub);
	cp_sub_settle_own(sub);
	return cp_media_sync(&dev->media, 0, dev->media.bytes);
}

void cp_io_fua(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;

	if (io->error || io->dir != CP_DIR_WRITE)
		return;
	cp_sub_settle_own(sub);
	io->error = -cp_media_sync(&dev->media, dev->cfg.misalign_far + io->offset,
				   io->bytes);
	if (!io->error)
		return;
	/* as a flush that faults: no byte is claimed */
	io->residue = io->bytes;
	io->dma_bytes = 0;
}

void cp_sub_bio_barrier(struct cp_sub *sub, struct cp_io *io)
{
	if (io->sync || io->preflush) {
		io->error = -cp_sub_sync(sub);
		if (io->error)
			io->residue = io->bytes;
		if (io->sync)
			return;
	}
	if (!io->error) {
		cp_io_copy(sub, io, cp_dev_decide(sub->dev, io->dir, io->bytes, 0), 0);
		cp_sub_settle(sub, NULL, 0);
		if (io->fua)
			cp_io_fua(sub, io);
	}
	cp_io_account(sub, &io, 1, cp_ticks());
}
