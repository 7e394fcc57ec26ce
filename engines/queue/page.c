/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page path, after the block layer's rw_page and the nvme_rw_page that was proposed
 * in 2014: an I/O is pages, and a page is copied at once or is a transaction of its own,
 * with a doorbell of its own. There is no request, no tag, and no list to stage it on;
 * the I/O counts its pages in flight itself, and is done when all are.
 */
#include <errno.h>

#include "engines/queue/internal.h"

void cp_dev_rw_page(struct cp_dev *dev, bool on)
{
	/* relaxed: nothing is published by it */
	atomic_store_explicit(&dev->rw_page, on, memory_order_relaxed);
}

static inline bool takes_pages(const struct cp_dev *dev)
{
	return atomic_load_explicit(&dev->rw_page, memory_order_relaxed);
}

static inline bool whole_pages(const struct cp_io *io)
{
	return io->bytes % CP_PAGE_BYTES == 0;
}

/* In order, up to the first byte that does not arrive: what is left is a tail. */
static void copy_pages(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route)
{
	for (uint64_t at = 0; at < io->bytes; at += CP_PAGE_BYTES) {
		size_t residue = cp_io_copy_part(sub, io, route, at, CP_PAGE_BYTES);

		if (__builtin_expect(!residue, 1))
			continue;
		io->error = EIO;
		io->residue = io->bytes - at - CP_PAGE_BYTES + residue;
		break;
	}
}

/* A place where several submitters or channels meet has a lock, and a page may wait for
 * room: 0, or why the CPU is to copy. Locked. */
static int submit_page(struct cp_sub *sub, unsigned c, struct cp_io *io, void *far,
		       void *near, size_t len)
{
	const struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	const struct cp_dma_sg sg = {.addr = near, .len = len};
	int rc = -EAGAIN;

	if (!cp_turn_due(hctx, sub))
		rc = dev->dma->submit_one(hctx->chans[c], io->dir, far, near, len,
					  dev->irq ? CP_DMA_INTERRUPT : 0, io);
	if (rc == -EAGAIN || rc == -ENOSYS)
		return cp_io_transact(sub, c, io, far, &sg, 1);
	if (!rc) {
		hctx->submitted[c]++;
		sub->proof.queue.transactions += sub->measuring;
	}
	return rc;
}

/* One I/O is counted once for each reason. */
static void count_fallback(struct cp_sub *sub, int rc, unsigned *told)
{
	unsigned why = rc == -EAGAIN ? 1 : 2;

	if (!sub->measuring || *told & why)
		return;
	*told |= why;
	if (rc == -EAGAIN)
		sub->proof.fallback.ring_full++;
	else
		sub->proof.fallback.error++;
}

/* Locked before and after, not in between: pages in flight may touch error and residue.
 */
static void copy_refused(struct cp_sub *sub, struct cp_io *io,
			 const struct cp_route *route, uint64_t at, size_t len)
{
	io->pieces--;
	io->dma_bytes -= len;
	io->fallback_bytes += len;
	cp_hctx_unlock(sub->hctx);
	size_t residue = cp_io_copy_part(sub, io, route, at, len);

	cp_hctx_lock(sub->hctx);
	if (!residue)
		return;
	io->residue += residue;
	io->error = EIO;
}

/* Up to the end of its page, of its I/O, or of the memory of its node. */
static size_t piece_bytes(const struct cp_dev *dev, const struct cp_io *io, uint64_t at)
{
	uint64_t len = CP_PAGE_BYTES - at % CP_PAGE_BYTES;
	uint64_t run = cp_dev_node_run(dev, io->offset + at);

	return (size_t)(len < run ? len : run);
}

/* Each page a transaction, its doorbell and a look at what has completed behind it. */
static void offload_pages(struct cp_sub *sub, struct cp_io *io,
			  const struct cp_route *route)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	bool crosses = io->bytes > cp_dev_node_run(dev, io->offset);
	unsigned told = 0, overlapped = 0;
	size_t len;

	if (crosses || io->bytes > CP_PAGE_BYTES)
		io->marks |= CP_IO_PAGES;
	cp_hctx_lock(hctx);
	/* Our own piece: without it another submitter that reaps could see the I/O
	 * finished between two of its pages. */
	io->pieces = 1;
	for (uint64_t at = 0; at < io->bytes; at += len) {
		unsigned c = cp_hctx_chan(dev, hctx, io->offset + at);

		len = piece_bytes(dev, io, at);
		/* others: as of now, they end between our pages */
		overlapped +=
			at % CP_PAGE_BYTES == 0 &&
			(io->pieces > 1 || sub->in_flight - 1 > cp_sub_nr_done(sub));
		/* before the channel has it: another submitter may see it complete */
		io->pieces++;
		io->dma_bytes += len;
		int rc = submit_page(sub, c, io, dev->far + io->offset + at,
				     (unsigned char *)io->near + at, len);

		if (rc) {
			count_fallback(sub, rc, &told);
			copy_refused(sub, io, route, at, len);
		}
		cp_hctx_ring(dev, hctx);
		cp_hctx_reap(sub);
	}
	cp_turn_pass(sub);
	if (--io->pieces == 0)
		cp_io_finish(io);
	cp_hctx_unlock(hctx);
	if (!sub->measuring)
		return;
	sub->proof.page.overlapped += overlapped;
	sub->proof.queue.crossed += crosses;
}

static void dispatch(struct cp_sub *sub, struct cp_io *io)
{
	const struct cp_route *route = cp_dev_decide(sub->dev, io->dir, CP_PAGE_BYTES, 0);
	bool channel = sub->hctx && sub->hctx->chan;

	if (sub->measuring)
		cp_pages_count(sub, io, route->dma ? 0 : io->bytes);
	if (route->dma && channel) {
		offload_pages(sub, io, route);
		return;
	}
	if (route->dma) {
		sub->proof.fallback.no_channel += sub->measuring;
		io->fallback_bytes = io->bytes;
	}
	copy_pages(sub, io, route);
	cp_io_done_now(sub, io);
}

/* As cp_sub_bio() moves them. */
static void dispatch_off(struct cp_sub *sub, struct cp_io *io)
{
	sub->proof.page.off += sub->measuring;
	cp_io_copy(sub, io, cp_dev_decide(sub->dev, io->dir, io->bytes, 0), 0);
	cp_io_done_now(sub, io);
}

static void submit(struct cp_sub *sub, struct cp_io *io, uint64_t submit_ticks)
{
	bool barrier = io->sync || io->preflush || io->fua;

	cp_io_start(sub, io);
	io->submit_ticks = submit_ticks;
	sub->in_flight++;
	if (__builtin_expect(sub->hybrid != NULL, 0))
		cp_hybrid_started(sub, &io, 1);
	if (sub->measuring && sub->in_flight > sub->proof.effective_iodepth)
		sub->proof.effective_iodepth = sub->in_flight;
	/* first, as it counts a fua, and a refused one is taken like any other */
	if (barrier && !cp_io_apart_begin(sub, io, 0))
		return;
	if (!whole_pages(io) || !cp_io_in_bounds(sub->dev, io)) {
		cp_io_refuse(io);
		cp_io_done_now(sub, io);
		return;
	}
	if (takes_pages(sub->dev))
		dispatch(sub, io);
	else
		dispatch_off(sub, io);
}

int cp_sub_page_submit(struct cp_sub *sub, struct cp_io *io)
{
	cp_sub_watch(sub);
	if (sub->in_flight >= sub->cap)
		return -EBUSY;
	submit(sub, io, cp_sub_stamp(sub));
	return 0;
}

void cp_pages_hand_back(struct cp_io *const *done, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (done[i]->error && done[i]->marks & CP_IO_PAGES)
			done[i]->residue = done[i]->bytes;
	}
}

/* What failed, or is flushed, is looked at as everywhere else. */
static __attribute__((noinline)) void finish_slow(struct cp_sub *sub, struct cp_io *io)
{
	if (sub->dev->flush.active)
		cp_sub_settle(sub, &io, 1);
	if (sub->measuring)
		cp_io_account(sub, &io, 1, cp_ticks());
}

/* As cp_io_account() of one I/O in which nothing is special. */
static inline void account_page(struct cp_sub *sub, const struct cp_io *io,
				uint64_t offloaded)
{
	cp_hist_add(&sub->lat,
		    cp_ticks_to_ns(cp_ticks_since(io->submit_ticks, cp_ticks())));
	sub->ios++;
	sub->bytes += io->bytes;
	sub->bytes_moved += io->bytes;
	sub->bytes_offloaded += offloaded;
}

static __attribute__((noinline)) void page_slow(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_io *done;

	submit(sub, io, io->submit_ticks);
	cp_sub_reap(sub, 1, 1, &done);
	assert(done == io);
}

/* By the CPU there and then: nothing to wait for, and so no ring to hand it back by. */
static __attribute__((noinline)) void page_copied(struct cp_sub *sub, struct cp_io *io,
						  const struct cp_route *route)
{
	cp_io_start(sub, io);
	copy_pages(sub, io, route);
	if (sub->measuring)
		cp_pages_count(sub, io, io->bytes);
	if (__builtin_expect(sub->dev->flush.active || io->error, 0))
		finish_slow(sub, io);
	else if (sub->measuring)
		account_page(sub, io, 0);
}

/* The completion of a page that was alone in flight. */
static inline void page_done(struct cp_sub *sub, struct cp_io *io,
			     const struct cp_dma_completion *done)
{
	io->error = 0;
	io->residue = 0;
	if (sub->measuring) {
		sub->proof.queue.transactions++;
		cp_pages_count(sub, io, 0);
	}
	if (__builtin_expect(done->result != CP_DMA_OK || sub->dev->flush.active, 0)) {
		cp_io_start(sub, io);
		io->error = done->result == CP_DMA_OK ? 0 : EIO;
		io->residue = done->residue;
		io->dma_bytes = CP_PAGE_BYTES - done->residue;
		finish_slow(sub, io);
	} else if (sub->measuring) {
		account_page(sub, io, CP_PAGE_BYTES);
	}
}

/* The common case: one page to the one channel of a queue that nobody shares, with
 * nothing else in flight, so that the completion can only be its own. */
static inline bool page_alone(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	unsigned flags = dev->irq ? CP_DMA_INTERRUPT : 0;
	struct cp_dma_completion done;
	int rc = dev->dma->submit_one(hctx->chan, io->dir, dev->far + io->offset,
				      io->near, CP_PAGE_BYTES, flags, io);

	if (__builtin_expect(rc == -ENOSYS, 0))
		rc = cp_io_submit_two(dev, hctx->chan, io, flags);
	if (__builtin_expect(rc, 0))
		return false;
	hctx->submitted[0]++;
	hctx->issued[0]++;
	dev->dma->issue_pending(hctx->chan);
	while (!dev->dma->reap(hctx->chan, &done, 1))
		cp_sub_wait(sub);
	hctx->reaped[0]++;
	page_done(sub, io, &done);
	return true;
}

/* Pages to move, and nothing before or behind them. */
static inline bool plain(const struct cp_dev *dev, const struct cp_io *io)
{
	return !(io->sync | io->preflush | io->fua) && takes_pages(dev) &&
	       whole_pages(io) && cp_io_in_bounds(dev, io);
}

void cp_sub_page(struct cp_sub *sub, struct cp_io *io)
{
	const struct cp_dev *dev = sub->dev;
	const struct cp_route *route;

	assert(!sub->in_flight);
	cp_sub_watch(sub);
	io->submit_ticks = cp_sub_stamp(sub);
	if (__builtin_expect(!plain(dev, io), 0)) {
		page_slow(sub, io);
		return;
	}
	route = cp_dev_decide(dev, io->dir, CP_PAGE_BYTES, 0);
	if (!route->dma)
		page_copied(sub, io, route);
	else if (!sub->alone || io->bytes != CP_PAGE_BYTES || !page_alone(sub, io))
		page_slow(sub, io);
}
