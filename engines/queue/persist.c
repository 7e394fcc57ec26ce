/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands behind a write before its completion is reported: cache flushes and a fence
 * (engines/copy/flush.h), always by the thread that submitted it, so that their time is
 * its own and the guard is that of its thread.
 *
 * A copy by the CPU is flushed when it is done, its lines being at hand. What a channel
 * has written is flushed when its I/O is taken from the done ring; a sync that was handed
 * in behind it leaves the ring behind it. One fence does for all that are handed back at
 * once, in bio for the one.
 */
#include "engines/copy/flush.h"
#include "engines/copy/guard.h"
#include "engines/queue/internal.h"

int cp_dev_persist_check(const struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_arm *arm = &dev->arm;

	if (!dev->cfg.dir_used[CP_DIR_WRITE])
		return 0;
	if (dev->simulated && !strcmp(arm->persist, "require"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'persist' is require and dma engine '%s' moves no "
				  "data; expected an engine that does, or persist auto",
				  dev->dma->name);
	return cp_flush_check(arm, dev->mapped, cp_flush_present(), err);
}

enum cp_dma_durable cp_dev_durable(const struct cp_dev *dev)
{
	/* a sync or fua of a file means something too, also where stores do not persist
	 */
	bool behind =
		dev->flush.active || dev->media.persistent || dev->cfg.filename != NULL;

	if (!dev->cfg.dir_used[CP_DIR_WRITE])
		return CP_DMA_POSTED;
	if (!strcmp(dev->arm.persist, "require"))
		return CP_DMA_DURABLE_REQUIRED;
	return behind ? CP_DMA_DURABLE_WANTED : CP_DMA_POSTED;
}

int cp_dev_persist_open(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_media *media = &dev->media;
	/* Nobody but the submitter reads what it stored before a lock says so. */
	bool locked = dev->cfg.locked_handover && !strcmp(dev->arm.dma, "none");
	int rc = 0;

	if (dev->cfg.dir_used[CP_DIR_WRITE])
		rc = cp_flush_resolve(&dev->arm, cp_flush_present(),
				      media->persistent && media->auto_flush, &dev->flush,
				      err);
	/* what a write promises rests on the fence at its end */
	dev->unfenced = locked && !dev->flush.active;
	dev->behind_writes = dev->flush.active || (dev->mapped == CP_ATTR_WC && !locked);
	return rc;
}

static void fence_now(struct cp_sub *sub)
{
	/* The flushed lines, and where nothing is flushed the stores, of all writes that
	 * are about to be handed back have reached the platform's persistence domain
	 * before the store that tells anybody that they are done. */
	cp_fence(sub->dev->flush.fence);
	sub->fence_due = false;
	sub->fenced = true;
}

/*
 * past_caches: NT stores of whole lines left nothing in a cache, and partial lines were
 * stored by ordinary stores. Behind either is a fence that the copy brought along: the
 * kernel's own SFENCE, which cp_dev_persist_open() keeps where this is called, or that of
 * cp_guard_leave() when a fault ended the copy before it. It has all stores of the bytes
 * that arrived in the platform's persistence domain, as far as no cache holds them,
 * before any store behind it, of which the one that reports the completion is the first.
 */
static size_t flush_copied(struct cp_sub *sub, unsigned char *far, size_t len,
			   size_t residue, bool past_caches)
{
	const struct cp_dev *dev = sub->dev;
	const struct cp_flush *flush = &dev->flush;
	size_t arrived = len - residue;
	bool partial = (((uintptr_t)far | arrived) & (CP_LINE_BYTES - 1)) != 0;
	bool cached = !past_caches || partial;

	if (!arrived)
		return residue;
	if (flush->ops && cached) {
		cp_copy_fn fn = past_caches ? flush->ops->edges : flush->ops->all;

		if (cp_guard_copy(fn, far, far, arrived, CP_DIR_WRITE, dev->attr))
			return len;
		sub->flushed = true;
	}
	sub->fenced_by_copy |= past_caches;
	if (!cached && flush->fence != CP_FENCE_MFENCE)
		return residue;
	sub->fence_due = flush->fence != CP_FENCE_NONE;
	return residue;
}

size_t cp_sub_written(struct cp_sub *sub, unsigned char *far, size_t len, size_t residue,
		      unsigned kernel)
{
	if (sub->dev->flush.active)
		return flush_copied(sub, far, len, residue,
				    sub->dev->past_caches & 1U << kernel);
	/* Stores to write-combining memory, ordinary ones too, may be in this CPU's
	 * buffers yet, in no order with the store that reports the completion: they are
	 * visible to every thread and engine that sees it. */
	cp_copy_settle();
	return residue;
}

/* The bytes before the CPU's part, which is the end, are the channels'; in which caches
 * an engine left lines of them is not known. */
static void flush_offloaded(struct cp_sub *sub, struct cp_io *io)
{
	const struct cp_flush *flush = &sub->dev->flush;
	unsigned char *far = sub->dev->far + io->offset;
	size_t len = (size_t)(io->bytes - io->fallback_bytes - io->split_bytes);

	/* those that the CPU copied may lie between */
	if (io->marks & CP_IO_PAGES)
		len = (size_t)io->bytes;
	sub->fence_due = flush->fence != CP_FENCE_NONE;
	if (!flush->ops)
		return;
	if (!cp_guard_copy(flush->ops->all, far, far, len, CP_DIR_WRITE,
			   sub->dev->attr)) {
		sub->flushed = true;
		return;
	}
	io->error = EIO;
	io->residue = io->bytes;
	io->dma_bytes = 0;
}

void cp_sub_settle(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	bool first = true;

	for (unsigned i = 0; i < n && !sub->dev->simulated; i++) {
		if (ios[i]->dir != CP_DIR_WRITE || !ios[i]->dma_bytes ||
		    ios[i]->marks & CP_IO_SETTLED)
			continue;
		ios[i]->marks |= CP_IO_SETTLED;
		/* The loads that saw the completions, and so the engine's stores to the
		 * ranges, are done before a flush begins: CLWB and CLFLUSHOPT are in no
		 * order with earlier loads, and would write back a line that the engine
		 * had yet to store to. */
		if (first)
			cp_fence_loads();
		first = false;
		flush_offloaded(sub, ios[i]);
	}
	if (sub->fence_due)
		fence_now(sub);
}

void cp_sub_persist_report(const struct cp_sub *sub, struct cp_proof *proof)
{
	const struct cp_dev *dev = sub->dev;
	const struct cp_flush *flush = &dev->flush;

	proof->persistent = -1;
	if (flush->promised)
		proof->persistent = dev->media.persistent && !dev->simulated;
	/* what was executed, not what was bound: there may have been nothing to do */
	if (sub->flushed)
		snprintf(proof->flush, sizeof(proof->flush), "%s", flush->ops->name);
	if (sub->fenced || sub->fenced_by_copy)
		snprintf(proof->fence, sizeof(proof->fence), "%s",
			 cp_fence_name(sub->fenced ? flush->fence : CP_FENCE_SFENCE));
}
