// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine's data path. kernel.h says how it works. */
#include <errno.h>
#include <string.h>

#include "engines/base/file.h"
#include "engines/dma/engine.h"
#include "engines/dma/kernel.h"

static struct cp_dmadev_seg *segs_of(const struct cp_dma_chan *chan,
				     const struct kernel_slot *slot)
{
	return &chan->segs[(size_t)(slot - chan->slots) * CP_DMADEV_SEGS_MAX];
}

/* What the device does with the near side, and with the far one. */
static uint32_t near_access(uint32_t dir)
{
	return dir == CP_DMADEV_GATHER ? CP_DMADEV_M_WRITE : CP_DMADEV_M_READ;
}

static uint32_t far_access(uint32_t dir)
{
	return dir == CP_DMADEV_GATHER ? CP_DMADEV_M_READ : CP_DMADEV_M_WRITE;
}

void kernel_put_maps(struct cp_dma_chan *chan, struct kernel_slot *slot)
{
	const struct cp_dmadev_seg *segs = segs_of(chan, slot);

	for (uint32_t i = 0; i < slot->xfer.nr_segs; i++)
		kernel_map_put(chan, segs[i].map);
	kernel_map_put(chan, slot->xfer.far_map);
}

static unsigned kernel_space(struct cp_dma_chan *chan)
{
	return chan->nr_free;
}

/* Registered ranges for all of the transaction, or none. */
static int get_maps(struct cp_dma_chan *chan, struct kernel_slot *slot, const void *far,
		    const struct cp_dma_sg *sg, unsigned nr_sg)
{
	struct cp_dmadev_xfer *xfer = &slot->xfer;
	struct cp_dmadev_seg *segs = segs_of(chan, slot);
	int64_t map = kernel_map_get(chan, far, slot->len, far_access(xfer->dir));

	if (map < 0)
		return (int)map;
	xfer->far_map = (uint32_t)map;
	xfer->far_offset = (uintptr_t)far - chan->maps[map].addr;
	for (xfer->nr_segs = 0; xfer->nr_segs < nr_sg; xfer->nr_segs++) {
		const struct cp_dma_sg *from = &sg[xfer->nr_segs];

		map = kernel_map_get(chan, from->addr, from->len, near_access(xfer->dir));
		if (map < 0) {
			kernel_put_maps(chan, slot);
			return (int)map;
		}
		segs[xfer->nr_segs] = (struct cp_dmadev_seg){
			.offset = (uintptr_t)from->addr - chan->maps[map].addr,
			.bytes = (uint32_t)from->len,
			.map = (uint32_t)map,
		};
	}
	return 0;
}

static int kernel_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		       const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		       void *user)
{
	size_t len;

	if (chan->prepared || cp_dma_sg_check(near_sg, nr_sg, &len) ||
	    len > chan->info.bytes_max)
		return -EINVAL;
	if (chan->gone)
		return -ENODEV;
	if (!chan->nr_free)
		return -EAGAIN;

	struct kernel_slot *slot = &chan->slots[chan->free_slots[chan->nr_free - 1]];
	bool fence = flags & CP_DMA_FENCE, interrupt = flags & CP_DMA_INTERRUPT;

	*slot = (struct kernel_slot){.user = user, .len = len};
	slot->xfer = (struct cp_dmadev_xfer){
		.user = (uint64_t)(slot - chan->slots),
		.segs = (uintptr_t)segs_of(chan, slot),
		.dir = dir == CP_DIR_READ ? CP_DMADEV_GATHER : CP_DMADEV_SPREAD,
		.flags = (fence ? CP_DMADEV_F_FENCE : 0) |
			 (interrupt ? CP_DMADEV_F_INTERRUPT : 0),
	};
	int rc = get_maps(chan, slot, far, near_sg, nr_sg);

	if (rc)
		return rc;
	chan->nr_free--;
	chan->prepared = slot;
	return 0;
}

static cp_dma_cookie kernel_submit(struct cp_dma_chan *chan)
{
	struct kernel_slot *slot = chan->prepared;

	if (!slot)
		return 0;
	chan->prepared = NULL;
	slot->busy = true;
	slot->cookie = ++chan->cookie;
	chan->pending[chan->nr_pending++] = slot->xfer;
	return slot->cookie;
}

static void drop_pending(struct cp_dma_chan *chan, unsigned nr)
{
	chan->nr_pending -= nr;
	chan->nr_issued -= nr;
	memmove(chan->pending, chan->pending + nr,
		chan->nr_pending * sizeof(chan->pending[0]));
}

/* The module refused the first of those pending: it is reaped as aborted. */
static void fail_first(struct cp_dma_chan *chan)
{
	chan->failed[chan->nr_failed++] = (uint32_t)chan->pending[0].user;
	drop_pending(chan, 1);
}

/* Its ranges are stale: register again what it uses, once. */
static int again_first(struct cp_dma_chan *chan)
{
	struct kernel_slot *slot = &chan->slots[chan->pending[0].user];
	struct cp_dmadev_xfer *xfer = &slot->xfer;
	struct cp_dmadev_seg *segs = segs_of(chan, slot);

	if (slot->again)
		return -EFAULT;
	slot->again = true;
	int64_t map = kernel_map_again(chan, xfer->far_map, xfer->far_offset, slot->len,
				       far_access(xfer->dir), &xfer->far_offset);

	if (map < 0)
		return (int)map;
	xfer->far_map = (uint32_t)map;
	chan->pending[0] = *xfer;
	for (uint32_t i = 0; i < xfer->nr_segs; i++) {
		map = kernel_map_again(chan, segs[i].map, segs[i].offset, segs[i].bytes,
				       near_access(xfer->dir), &segs[i].offset);
		if (map < 0)
			return (int)map;
		segs[i].map = (uint32_t)map;
	}
	return 0;
}

void kernel_send(struct cp_dma_chan *chan)
{
	while (chan->nr_issued) {
		struct cp_dmadev_submit submit = {.xfers = (uintptr_t)chan->pending,
						  .nr = chan->nr_issued};
		int rc = chan->gone
				 ? -ENODEV
				 : kernel_sys->ioctl(chan->fd, CP_DMADEV_SUBMIT, &submit);

		drop_pending(chan, submit.taken <= chan->nr_issued ? submit.taken
								   : chan->nr_issued);
		if (!chan->nr_issued || rc == -EAGAIN || rc == -EINTR ||
		    (!rc && !submit.taken))
			break;
		if (!rc)
			continue;
		if (rc == -ESTALE && !again_first(chan))
			continue;
		chan->gone = chan->gone || rc == -ENODEV;
		fail_first(chan);
	}
	/* relaxed, both: wait() only looks whether they are 0 */
	atomic_store_explicit(&chan->unsent, chan->nr_issued, memory_order_relaxed);
	atomic_store_explicit(&chan->reapable, chan->nr_failed, memory_order_relaxed);
}

static void wake_waiter(const struct cp_dma_chan *chan)
{
	uint64_t one = 1;

	/* can only fail when the counter is full, and then it is readable already */
	if (chan->event_fd >= 0)
		cp_write_all(chan->event_fd, &one, sizeof(one));
}

static void kernel_issue_pending(struct cp_dma_chan *chan)
{
	chan->nr_issued = chan->nr_pending;
	kernel_send(chan);
	if (chan->nr_failed)
		wake_waiter(chan);
}

static uint64_t kernel_cpu_ns(struct cp_dma_chan *chan)
{
	struct cp_dmadev_stat stat = {0};

	return kernel_sys->ioctl(chan->fd, CP_DMADEV_STAT, &stat) ? 0 : stat.cpu_ns;
}

static const char *kernel_describe(struct cp_dma_chan *chan)
{
	return chan->text;
}

const struct cp_dma_ops cp_dma_kernel_ops = {
	.name = "kernel",
	.help = "the kernel's DMA channels by the module cp_dma (kernel:/dev/cp_dma, "
		"chan=N)",
	.traits = {.provenance = "hardware", .moves_data = true, .irq = true},
	.probe = kernel_probe,
	.usable = kernel_usable,
	.check = kernel_check,
	.traits_of = kernel_traits,
	.open = kernel_open,
	.space = kernel_space,
	.prep_memcpy_sg = kernel_prep,
	.submit = kernel_submit,
	.issue_pending = kernel_issue_pending,
	.reap = kernel_reap,
	.wait = kernel_wait,
	.cpu_ns = kernel_cpu_ns,
	.describe = kernel_describe,
	.close = kernel_close,
};
