/* SPDX-License-Identifier: GPL-2.0-only */
/* One decision, and what follows from it. */
#include <assert.h>
#include <errno.h>

#include "engines/copy/guard.h"
#include "engines/queue/internal.h"

/* The rest of the I/O, from byte `from`, by the CPU. */
void cp_io_copy(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route,
		uint64_t from)
{
	unsigned char *far = sub->dev->far + io->offset + from;
	unsigned char *near = (unsigned char *)io->near + from;
	size_t len = (size_t)(io->bytes - from);
	bool read = io->dir == CP_DIR_READ;
	unsigned class = cp_copy_class(len);

	sub->kernels_used[io->dir] |= 1U << route->kernel[io->dir][class];
	size_t residue = cp_guard_copy(route->copy[io->dir][class], read ? near : far,
				       read ? far : near, len, io->dir, sub->dev->mapped);

	if (__builtin_expect(sub->dev->behind_writes, 0) && !read)
		residue = cp_sub_written(sub, far, len, residue,
					 route->kernel[CP_DIR_WRITE][class]);
	if (residue) {
		io->residue += residue;
		io->error = EIO;
	}
}

void cp_hctx_ring(const struct cp_dev *dev, struct cp_hctx *hctx)
{
	if (!hctx->pending)
		return;
	hctx->pending = 0;
	dev->dma->issue_pending(hctx->chan);
	for (unsigned c = 1; __builtin_expect(c < hctx->nr_chans, 0); c++)
		dev->dma->issue_pending(hctx->chans[c]);
}

/* One completion; true when its I/O is finished with it. */
static inline bool complete(const struct cp_dma_completion *done)
{
	struct cp_io *io = done->user;

	if (__builtin_expect(done->result != CP_DMA_OK, 0)) {
		io->error = EIO;
		io->residue += done->residue;
		io->dma_bytes -= done->residue;
	}
	return --io->pieces == 0;
}

unsigned cp_hctx_reap(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;
	struct cp_dma_completion done[32];

	/* Completions belong to whoever sleeps on the interrupt: taken from under it, it
	 * would sleep on for nothing. */
	if (hctx->reaper)
		return 0;
	unsigned n = sub->dev->dma->reap(hctx->chan, done, 32);

	for (unsigned c = 1; __builtin_expect(c < hctx->nr_chans, 0) && n < 32; c++)
		n += sub->dev->dma->reap(hctx->chans[c], done + n, 32 - n);
	if (hctx->shared) {
		for (unsigned i = 0; i < n; i++) {
			struct cp_io *io = done[i].user;

			if (complete(&done[i]))
				cp_sub_done(io->sub, io);
		}
		hctx->progress += n;
		sub->seen_progress = hctx->progress;
		if (n && sub->dev->irq)
			pthread_cond_broadcast(&hctx->cond);
		return n;
	}
	/* All are this submitter's: one store hands over the lot. Its release makes the
	 * slots, and the bytes that the engine moved, visible to the owner's acquire. */
	unsigned tail = atomic_load_explicit(&sub->done_tail, memory_order_relaxed);

	for (unsigned i = 0; i < n; i++) {
		if (complete(&done[i]))
			sub->done[tail++ & sub->done_mask] = done[i].user;
	}
	atomic_store_explicit(&sub->done_tail, tail, memory_order_release);
	return n;
}

/* Segments of the near buffer from byte `from`, as many as one transaction on one channel
 * takes. */
static unsigned gather(const struct cp_dev *dev, const struct cp_io *io, uint64_t from,
		       struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX], uint64_t *ret_len)
{
	unsigned char *near = (unsigned char *)io->near + from;
	uint64_t left = io->bytes - from, len = 0;
	uint64_t run = cp_dev_node_run(dev, io->offset + from);
	unsigned nr = 0;

	left = run < left ? run : left;
	while (left && nr < CP_DMA_SEGMENTS_MAX) {
		size_t seg = (size_t)(left < dev->segment ? left : dev->segment);

		sg[nr].addr = near + len;
		sg[nr].len = seg;
		nr++;
		len += seg;
		left -= seg;
	}
	*ret_len = len;
	return nr;
}

/*
 * Hand the I/O to the channel, split where it has more segments than a transaction takes.
 * Called with the queue locked. Returns the byte from which the CPU has to copy
 * (io->bytes when the channel took all).
 */
static uint64_t offload(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	unsigned flags = dev->irq ? CP_DMA_INTERRUPT : 0;
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	uint64_t at = 0, len;

	while (at < io->bytes) {
		unsigned nr = gather(dev, io, at, sg, &len);
		struct cp_dma_chan *chan =
			hctx->chans[cp_hctx_chan(dev, hctx, io->offset + at)];
		int rc = dev->dma->prep_memcpy_sg(
			chan, io->dir, dev->far + io->offset + at, sg, nr, flags, io);
		if (rc == -EAGAIN) {
			if (dev->ring_full_cpu)
				return at;
			cp_hctx_ring(dev, hctx);
			if (!cp_hctx_reap(sub)) {
				cp_hctx_unlock(hctx);
				cp_sub_wait(sub);
				cp_hctx_lock(hctx);
			}
			continue;
		}
		if (rc) {
			io->error = -rc;
			io->residue += io->bytes - at;
			return io->bytes;
		}
		io->pieces++;
		io->dma_bytes += len;
		at += len;
		hctx->pending++;
		dev->dma->submit(chan);
	}
	return at;
}

/* The common case, one segment and room in the ring, without the loops of offload(). */
static inline bool offload_one(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	struct cp_dma_sg sg = {.addr = io->near, .len = (size_t)io->bytes};
	struct cp_dma_chan *chan = hctx->chan;

	if (__builtin_expect(dev->nr_extents != 0, 0)) {
		if (io->bytes > cp_dev_node_run(dev, io->offset))
			return false;
		chan = hctx->chans[cp_hctx_chan(dev, hctx, io->offset)];
	}
	if (io->bytes > dev->segment ||
	    dev->dma->prep_memcpy_sg(chan, io->dir, dev->far + io->offset, &sg, 1,
				     dev->irq ? CP_DMA_INTERRUPT : 0, io) != 0)
		return false;
	io->pieces = 1;
	io->dma_bytes = io->bytes;
	hctx->pending++;
	dev->dma->submit(chan);
	return true;
}

static void dispatch_dma(struct cp_sub *sub, struct cp_io *io,
			 const struct cp_route *route)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!hctx->chan) {
		sub->proof.fallback.no_channel += sub->measuring;
		io->fallback_bytes = io->bytes;
		cp_io_copy(sub, io, route, 0);
		cp_sub_done(sub, io);
		return;
	}
	cp_hctx_lock(hctx);
	if (offload_one(sub, io)) {
		cp_hctx_unlock(hctx);
		return;
	}
	/* Our own piece: without it another submitter that reaps could see the I/O
	 * finished between two of its transactions. */
	io->pieces = 1;
	if (io->bytes > cp_dev_node_run(sub->dev, io->offset))
		sub->proof.queue.crossed += sub->measuring;
	uint64_t from = offload(sub, io);

	if (from < io->bytes) {
		sub->proof.fallback.ring_full += sub->measuring;
		io->fallback_bytes = io->bytes - from;
		cp_hctx_ring(sub->dev, hctx);
		struct cp_io part =
			*io; /* pieces in flight may touch error and residue */

		cp_hctx_unlock(hctx);
		part.error = 0;
		part.residue = 0;
		cp_io_copy(sub, &part, route, from);
		cp_hctx_lock(hctx);
		io->residue += part.residue;
		if (part.error)
			io->error = part.error;
	}
	if (--io->pieces == 0)
		cp_sub_done(sub, io);
	cp_hctx_unlock(hctx);
}

/* A sync covers what has completed (queue.h says whose), and fio sends it while writes
 * are in flight: wait for those of this submitter first. behind: I/Os of the batch that
 * come after it. */
static void dispatch_sync(struct cp_sub *sub, struct cp_io *io, unsigned behind)
{
	struct cp_hctx *hctx = sub->hctx;

	for (;;) {
		/* acquire: as in nr_done() of sub.c */
		unsigned done =
			atomic_load_explicit(&sub->done_tail, memory_order_acquire) -
			sub->done_head;

		if (done == sub->in_flight - behind - 1) /* all but this one */
			break;
		cp_hctx_lock(hctx);
		cp_hctx_ring(sub->dev, hctx);
		unsigned n = cp_hctx_reap(sub);

		cp_hctx_unlock(hctx);
		if (!n)
			cp_sub_wait(sub);
	}
	cp_sub_settle_own(sub);
	io->error = -cp_media_sync(&sub->dev->media, 0, sub->dev->media.bytes);
	cp_hctx_lock(hctx);
	cp_sub_done(sub, io);
	cp_hctx_unlock(hctx);
}

static void dispatch_cpu(struct cp_sub *sub, struct cp_io *io,
			 const struct cp_route *route)
{
	cp_io_copy(sub, io, route, 0);
	cp_hctx_lock(sub->hctx);
	cp_sub_done(sub, io);
	cp_hctx_unlock(sub->hctx);
}

void cp_io_dispatch(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	sub->in_flight += n;
	for (unsigned i = 0; i < n; i++) {
		struct cp_io *io = ios[i];
		if (__builtin_expect(io->sync, 0)) {
			dispatch_sync(sub, io, n - i - 1);
			continue;
		}
		if (__builtin_expect(!cp_io_in_bounds(sub->dev, io), 0)) {
			cp_io_refuse(io);
			cp_hctx_lock(sub->hctx);
			cp_sub_done(sub, io);
			cp_hctx_unlock(sub->hctx);
			continue;
		}
		const struct cp_route *route = cp_dev_decide(sub->dev, io);

		if (route->dma)
			dispatch_dma(sub, io, route);
		else
			dispatch_cpu(sub, io, route);
	}
}
