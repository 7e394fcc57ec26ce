// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine's data path. kernel.h says how it works. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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

static void put_maps(struct cp_dma_chan *chan, struct kernel_slot *slot)
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
			put_maps(chan, slot);
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

/* Send what had its doorbell. What there is no room for stays, and is tried again by the
 * next doorbell or reap; what is refused for good is reaped as failed. */
static void send_issued(struct cp_dma_chan *chan)
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
	send_issued(chan);
	if (chan->nr_failed)
		wake_waiter(chan);
}

static void hand_out(struct cp_dma_chan *chan, uint32_t number, enum cp_dma_result result,
		     size_t residue, struct cp_dma_completion *done)
{
	struct kernel_slot *slot = &chan->slots[number];

	*done = (struct cp_dma_completion){
		.user = slot->user,
		.cookie = slot->cookie,
		.result = result,
		.residue = residue,
	};
	slot->busy = false;
	put_maps(chan, slot);
	chan->free_slots[chan->nr_free++] = number;
}

/* A residue with "ok", or none with an error, would claim what nobody knows of. */
static enum cp_dma_result result_of(const struct cp_dmadev_done *from, size_t len,
				    size_t *ret_residue)
{
	static const enum cp_dma_result results[] = {
		[CP_DMADEV_OK] = CP_DMA_OK,
		[CP_DMADEV_READ_FAILED] = CP_DMA_READ_FAILED,
		[CP_DMADEV_WRITE_FAILED] = CP_DMA_WRITE_FAILED,
		[CP_DMADEV_ABORTED] = CP_DMA_ABORTED,
	};
	enum cp_dma_result result = from->result <= CP_DMADEV_ABORTED
					    ? results[from->result]
					    : CP_DMA_ABORTED;

	*ret_residue = from->residue <= len ? (size_t)from->residue : len;
	if (result == CP_DMA_OK && from->residue)
		return CP_DMA_ABORTED;
	if (result != CP_DMA_OK && !from->residue)
		*ret_residue = len;
	return result;
}

static unsigned reap_ring(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			  unsigned max)
{
	/* acquire: the entries up to it, and the bytes that were moved, are visible to us
	 * and to our caller */
	uint32_t tail = __atomic_load_n(&chan->shared->tail, __ATOMIC_ACQUIRE);
	unsigned nr = 0;

	for (; nr < max && chan->head != tail; chan->head++) {
		const struct cp_dmadev_done *from =
			&chan->shared->done[chan->head & (chan->ring - 1)];
		struct kernel_slot *slot = &chan->slots[from->user % chan->ring];
		size_t residue;

		if (from->user >= chan->ring || !slot->busy)
			continue; /* nobody's */
		enum cp_dma_result result = result_of(from, slot->len, &residue);

		hand_out(chan, (uint32_t)from->user, result, residue, &done[nr++]);
	}
	/* release: we have read the entries before the module may write over them. Also
	 * read by wait(). */
	__atomic_store_n(&chan->shared->head, chan->head, __ATOMIC_RELEASE);
	return nr;
}

static unsigned kernel_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			    unsigned max)
{
	unsigned nr = 0;

	if (!max)
		return 0;
	while (nr < max && chan->nr_failed) {
		uint32_t number = chan->failed[--chan->nr_failed];

		hand_out(chan, number, CP_DMA_ABORTED, chan->slots[number].len,
			 &done[nr++]);
	}
	nr += reap_ring(chan, done + nr, max - nr);
	if (chan->nr_issued)
		send_issued(chan);
	else
		/* relaxed: wait() only looks whether it is 0 */
		atomic_store_explicit(&chan->reapable, chan->nr_failed,
				      memory_order_relaxed);
	return nr;
}

/* relaxed, all: hints to try reap(), which acquires */
static bool may_reap(struct cp_dma_chan *chan)
{
	return atomic_load_explicit(&chan->reapable, memory_order_relaxed) ||
	       __atomic_load_n(&chan->shared->tail, __ATOMIC_RELAXED) !=
		       __atomic_load_n(&chan->shared->head, __ATOMIC_RELAXED);
}

#define RETRY_NS 1000000U /* until what did not go down is tried again */

static int kernel_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	struct pollfd fd = {.fd = chan->event_fd, .events = POLLIN};
	uint64_t count;

	if (chan->event_fd < 0)
		return -ENOSYS;
	if (may_reap(chan))
		return 0;
	/* relaxed: what only a reap can send, somebody has to be awake for */
	bool retry = atomic_load_explicit(&chan->unsent, memory_order_relaxed) &&
		     timeout_ns > RETRY_NS;

	if (retry)
		timeout_ns = RETRY_NS;
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000U),
		.tv_nsec = (long)(timeout_ns % 1000000000U),
	};
	int rc = ppoll(&fd, 1, &timeout, NULL);

	if (rc < 0)
		return errno == EINTR ? 0 : -errno;
	if (rc == 0)
		return retry || may_reap(chan) ? 0 : -ETIMEDOUT;
	/* EAGAIN is another waiter's luck */
	if (read(chan->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	return 0;
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
