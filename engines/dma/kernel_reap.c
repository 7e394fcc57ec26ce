// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine's completion side. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "engines/dma/kernel.h"

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
	kernel_put_maps(chan, slot);
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

unsigned kernel_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
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
		kernel_send(chan);
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

int kernel_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
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
