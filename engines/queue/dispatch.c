/* SPDX-License-Identifier: GPL-2.0-only */
/* One decision, and what follows from it. */
#include <assert.h>
#include <errno.h>

#include "engines/copy/guard.h"
#include "engines/queue/internal.h"

size_t cp_io_copy_part(struct cp_sub *sub, const struct cp_io *io,
		       const struct cp_route *route, uint64_t from, size_t len)
{
	unsigned char *far = sub->dev->far + io->offset + from;
	unsigned char *near = (unsigned char *)io->near + from;
	bool read = io->dir == CP_DIR_READ;
	unsigned class = cp_copy_class(len);

	sub->kernels_used[io->dir] |= 1U << route->kernel[io->dir][class];
	size_t residue = cp_guard_copy(route->copy[io->dir][class], read ? near : far,
				       read ? far : near, len, io->dir, sub->dev->mapped);

	if (__builtin_expect(sub->dev->behind_writes, 0) && !read)
		residue = cp_sub_written(sub, far, len, residue,
					 route->kernel[CP_DIR_WRITE][class]);
	return residue;
}

/* The rest of the I/O, from byte `from`, by the CPU. */
void cp_io_copy(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route,
		uint64_t from)
{
	size_t residue =
		cp_io_copy_part(sub, io, route, from, (size_t)(io->bytes - from));

	if (residue) {
		io->residue += residue;
		io->error = EIO;
	}
}

void cp_io_done_now(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!hctx) { /* page without DMA: nobody else reaps */
		cp_sub_done(sub, io);
		return;
	}
	cp_hctx_lock(hctx);
	cp_sub_done(sub, io);
	cp_hctx_unlock(hctx);
}

static void dispatch_cpu(struct cp_sub *sub, struct cp_io *io,
			 const struct cp_route *route)
{
	cp_io_copy(sub, io, route, 0);
	cp_io_done_now(sub, io);
}

static void no_channel(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route)
{
	sub->proof.fallback.no_channel += sub->measuring;
	io->fallback_bytes = io->bytes;
	dispatch_cpu(sub, io, route);
}

/* An engine without submit_one(). */
int cp_io_submit_two(struct cp_dev *dev, struct cp_dma_chan *chan, struct cp_io *io,
		     unsigned flags)
{
	const struct cp_dma_sg sg = {.addr = io->near, .len = (size_t)io->bytes};
	int rc = dev->dma->prep_memcpy_sg(chan, io->dir, dev->far + io->offset, &sg, 1,
					  flags, io);

	if (!rc)
		dev->dma->submit(chan);
	return rc;
}

/* The common case, one segment on one node and room in the ring that nobody waits for,
 * without the loops of cp_io_offload(). Called with the queue locked. */
static inline __attribute__((always_inline)) bool
offload_one(struct cp_dev *dev, struct cp_hctx *hctx, struct cp_io *io)
{
	unsigned c = cp_hctx_chan(dev, hctx, io->offset);
	unsigned flags = dev->irq ? CP_DMA_INTERRUPT : 0;

	if (io->bytes > dev->segment || io->bytes > cp_dev_node_run(dev, io->offset) ||
	    hctx->room.head)
		return false;
	int rc = dev->dma->submit_one(hctx->chans[c], io->dir, dev->far + io->offset,
				      io->near, (size_t)io->bytes, flags, io);

	if (rc == -ENOSYS)
		rc = cp_io_submit_two(dev, hctx->chans[c], io, flags);
	if (rc)
		return false;
	io->pieces = 1;
	io->dma_bytes = io->bytes;
	hctx->submitted[c]++;
	return true;
}

/* Not by offload_one(). */
static __attribute__((noinline)) void dispatch_slow(struct cp_sub *sub, struct cp_io *io,
						    const struct cp_route *route)
{
	if (!route->dma)
		dispatch_cpu(sub, io, route);
	else if (!sub->hctx->chan)
		no_channel(sub, io, route);
	else
		cp_io_offload(sub, io, route);
}

/* Transactions given to a channel that are neither in the proof nor in ring_due yet. */
static inline __attribute__((always_inline)) unsigned dispatch_one(struct cp_sub *sub,
								   struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	const struct cp_route *route = cp_dev_decide(dev, io->dir, io->bytes, 0);
	bool taken = false;

	if (route->dma && hctx->chan) {
		cp_hctx_lock(hctx);
		taken = offload_one(dev, hctx, io);
		cp_hctx_unlock(hctx);
		if (__builtin_expect(io->marks, 0) && taken)
			cp_phases_prepared(sub, io);
	}
	if (!taken)
		dispatch_slow(sub, io, route);
	return taken;
}

void cp_io_dispatch_one(struct cp_sub *sub, struct cp_io *io)
{
	unsigned transactions = dispatch_one(sub, io);

	if (!sub->measuring)
		return;
	sub->proof.queue.requests++;
	sub->proof.queue.transactions += transactions;
}

/* Each I/O of the request by itself. `next` is read first: an I/O that is done is its
 * caller's. */
static void each(struct cp_sub *sub, struct cp_io *head, const struct cp_route *route,
		 void (*fn)(struct cp_sub *sub, struct cp_io *io,
			    const struct cp_route *route))
{
	for (struct cp_io *io = head, *next; io; io = next) {
		next = io->next;
		io->next = NULL;
		fn(sub, io, route);
	}
}

void cp_io_dispatch_merged(struct cp_sub *sub, struct cp_io *head)
{
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	unsigned nr_sg = cp_io_gather_merged(sub->dev, head, sg), nr = 1;
	uint64_t bytes = head->bytes;

	for (const struct cp_io *io = head->next; io; io = io->next) {
		bytes += io->bytes;
		nr++;
	}
	const struct cp_route *route = cp_dev_decide(sub->dev, head->dir, bytes, nr_sg);

	if (sub->measuring) {
		sub->proof.queue.requests++;
		sub->proof.queue.merged += nr - 1;
	}
	if (!route->dma)
		each(sub, head, route, dispatch_cpu);
	else if (!sub->hctx->chan)
		each(sub, head, route, no_channel);
	else
		cp_io_offload_merged(sub, head, route, sg, nr_sg);
}

bool cp_io_apart_begin(struct cp_sub *sub, struct cp_io *io, unsigned behind)
{
	sub->nr_fua += io->fua; /* until it is taken from the done ring */
	if (io->sync || io->preflush) {
		cp_sub_quiesce(sub, behind + 1);
		io->error = -cp_sub_sync(sub);
		if (io->error)
			io->residue = io->bytes;
		if (io->sync || io->error) {
			cp_io_done_now(sub, io);
			return false;
		}
	}
	if (!cp_io_in_bounds(sub->dev, io)) {
		cp_io_refuse(io);
		cp_io_done_now(sub, io);
		return false;
	}
	return true;
}

void cp_io_dispatch_apart(struct cp_sub *sub, struct cp_io *io, unsigned behind)
{
	if (!cp_io_apart_begin(sub, io, behind))
		return;
	sub->ring_due = true;
	cp_io_dispatch_one(sub, io);
}

void cp_io_dispatch(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	unsigned requests = 0, transactions = 0;

	sub->in_flight += n;
	for (unsigned i = 0; i < n; i++) {
		struct cp_io *io = ios[i];

		if (__builtin_expect(cp_io_apart(sub->dev, io), 0)) {
			cp_io_dispatch_apart(sub, io, n - i - 1);
			continue;
		}
		requests++;
		transactions += dispatch_one(sub, io);
	}
	sub->ring_due |= transactions > 0;
	if (!sub->measuring)
		return;
	sub->proof.queue.requests += requests;
	sub->proof.queue.transactions += transactions;
}
