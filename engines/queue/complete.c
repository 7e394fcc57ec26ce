/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbells, and completions of transactions turned into finished I/Os. */
#include <errno.h>

#include "engines/queue/internal.h"

static inline void ring_channel(const struct cp_dev *dev, struct cp_hctx *hctx,
				unsigned c)
{
	if (hctx->submitted[c] == hctx->issued[c])
		return;
	hctx->issued[c] = hctx->submitted[c];
	dev->dma->issue_pending(hctx->chans[c]);
}

static inline void ring_all(const struct cp_dev *dev, struct cp_hctx *hctx)
{
	ring_channel(dev, hctx, 0);
	for (unsigned c = 1; c < hctx->nr_chans; c++)
		ring_channel(dev, hctx, c);
}

void cp_hctx_ring(const struct cp_dev *dev, struct cp_hctx *hctx)
{
	ring_all(dev, hctx);
}

void cp_sub_ring(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!sub->ring_due)
		return;
	sub->ring_due = false;
	cp_hctx_lock(hctx);
	ring_all(sub->dev, hctx);
	cp_hctx_unlock(hctx);
	cp_phases_rung(sub);
}

static void short_by(struct cp_io *io, uint64_t residue)
{
	io->error = EIO;
	io->residue += residue;
	io->dma_bytes -= residue;
}

/*
 * A transaction that failed. The first length - residue bytes of it arrived: of a merged
 * request that says which I/Os are whole, which is cut and which got nothing. The last
 * one has failed in any case, so that no failure goes unreported.
 */
static void failed(struct cp_io *io, uint64_t residue)
{
	uint64_t bytes = 0, arrived;

	if (!(io->marks & CP_IO_CHAIN)) {
		short_by(io, residue);
		return;
	}
	for (const struct cp_io *i = io; i; i = i->next)
		bytes += i->bytes;
	arrived = bytes - residue;
	for (; io; io = io->next) {
		uint64_t got = arrived < io->bytes ? arrived : io->bytes;

		if (got < io->bytes || !io->next)
			short_by(io, io->bytes - got);
		arrived -= got;
	}
}

void cp_io_finish(struct cp_io *io)
{
	struct cp_io *next;

	for (; io; io = next) {
		struct cp_sub *sub = io->sub;

		next = io->next; /* what is done is its caller's */
		if (io->marks & CP_IO_TIMED)
			sub->phases.found = cp_ticks();
		cp_sub_done(sub, io);
	}
}

/* Completions of a queue that is this submitter's alone: one store hands over the lot. */
static void complete_own(struct cp_sub *sub, const struct cp_dma_completion *done,
			 unsigned n)
{
	unsigned tail = atomic_load_explicit(&sub->done_tail, memory_order_relaxed);

	for (unsigned i = 0; i < n; i++) {
		struct cp_io *io = done[i].user;

		if (__builtin_expect(done[i].result != CP_DMA_OK, 0))
			failed(io, done[i].residue);
		if (--io->pieces)
			continue;
		if (__builtin_expect(!io->marks, 1)) {
			sub->done[tail++ & sub->done_mask] = io;
			continue;
		}
		/* relaxed: the store behind the loop releases */
		atomic_store_explicit(&sub->done_tail, tail, memory_order_relaxed);
		cp_io_finish(io);
		tail = atomic_load_explicit(&sub->done_tail, memory_order_relaxed);
	}
	/* release: the slots, and the bytes that the engine moved, are visible to the
	 * owner's acquire. */
	atomic_store_explicit(&sub->done_tail, tail, memory_order_release);
}

static void complete_shared(const struct cp_dma_completion *done, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct cp_io *io = done[i].user;

		if (__builtin_expect(done[i].result != CP_DMA_OK, 0))
			failed(io, done[i].residue);
		if (--io->pieces == 0)
			cp_io_finish(io);
	}
}

static unsigned reap_channel(struct cp_sub *sub, unsigned c)
{
	struct cp_hctx *hctx = sub->hctx;
	struct cp_dma_completion done[32];
	unsigned n = sub->dev->dma->reap(hctx->chans[c], done, 32);

	hctx->reaped[c] += n;
	if (hctx->shared)
		complete_shared(done, n);
	else
		complete_own(sub, done, n);
	return n;
}

/* Goes the common way, like those beside it, but for a stamp at its last piece. */
static bool only_timed(struct cp_sub *sub, const struct cp_dma_completion *done)
{
	const struct cp_io *io = done->user;

	if (done->result != CP_DMA_OK || io->marks != CP_IO_TIMED)
		return false;
	if (io->pieces == 1)
		sub->phases.found = cp_ticks();
	return true;
}

unsigned cp_hctx_take(struct cp_sub *sub, struct cp_io **ret_done, unsigned max,
		      unsigned *ret_nr)
{
	struct cp_hctx *hctx = sub->hctx;
	struct cp_dma_completion done[32];
	unsigned n = sub->dev->dma->reap(hctx->chan, done, max < 32 ? max : 32);
	unsigned i, nr = 0;

	hctx->reaped[0] += n;
	for (i = 0; i < n; i++) {
		struct cp_io *io = done[i].user;

		/* what is left goes the long way, in order */
		if (__builtin_expect(done[i].result != CP_DMA_OK || io->marks, 0) &&
		    !only_timed(sub, &done[i]))
			break;
		if (--io->pieces == 0)
			ret_done[nr++] = io;
	}
	if (i < n)
		complete_own(sub, done + i, n - i);
	*ret_nr = nr;
	return n;
}

unsigned cp_hctx_reap(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;
	unsigned n;

	/* Completions belong to whoever sleeps on the interrupt: taken from under it, it
	 * would sleep on for nothing. With hybrid not for long. */
	if (hctx->reaper && !sub->dev->hybrid)
		return 0;
	n = reap_channel(sub, 0);
	for (unsigned c = 1; c < hctx->nr_chans; c++) {
		if (hctx->reaped[c] != hctx->issued[c])
			n += reap_channel(sub, c);
	}
	if (hctx->shared) {
		hctx->progress += n;
		sub->seen_progress = hctx->progress;
		if (n && sub->dev->irq)
			pthread_cond_broadcast(&hctx->cond);
	}
	return n;
}
