// SPDX-License-Identifier: GPL-2.0-only
/* The software engine's channel: the owner's side. See sw.h for how the parts work. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/dma/engine.h"
#include "engines/dma/sw.h"

static int sw_probe(struct cp_err *err)
{
	(void)err;
	return 0; /* threads are everywhere */
}

static unsigned sw_space(struct cp_dma_chan *chan)
{
	return chan->nr_free;
}

/* Segments of one length that follow each other, the last perhaps shorter: kept as where
 * they begin, that length and their sum. */
static bool contiguous(const struct cp_dma_sg *sg, unsigned nr_sg)
{
	const unsigned char *end = (unsigned char *)sg[0].addr + sg[0].len;

	for (unsigned i = 1; i < nr_sg; i++, end += sg[0].len) {
		bool same = sg[i].len == sg[0].len ||
			    (i == nr_sg - 1 && sg[i].len < sg[0].len);

		if (sg[i].addr != end || !same)
			return false;
	}
	return true;
}

static int sw_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		   const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		   void *user)
{
	size_t len;

	if (chan->prepared || !chan->serves[dir] || cp_dma_sg_check(near_sg, nr_sg, &len))
		return -EINVAL;
	if (!chan->nr_free)
		return -EAGAIN;

	unsigned class = cp_copy_class(len);
	uint32_t number = chan->free_slots[--chan->nr_free];
	struct sw_slot *slot = &chan->slots[number];

	chan->marks[number].user = user;
	slot->far = far;
	slot->len = len;
	slot->dir = (uint8_t)dir;
	slot->copy = chan->copy[dir].fn[class];
	slot->flags = (uint8_t)flags;
	slot->nr_sg = (uint8_t)nr_sg;
	slot->near = NULL;
	slot->seg = near_sg[0].len;
	if (contiguous(near_sg, nr_sg))
		slot->near = near_sg[0].addr;
	else
		memcpy(slot->sg, near_sg, nr_sg * sizeof(*near_sg));
	chan->used[dir] |= 1U << class;
	chan->prepared = slot;
	return 0;
}

static cp_dma_cookie sw_submit(struct cp_dma_chan *chan)
{
	struct sw_slot *slot = chan->prepared;
	struct sw_worker *worker = &chan->workers[chan->next_worker];

	if (!slot)
		return 0;
	chan->prepared = NULL;
	if (slot->flags & CP_DMA_FENCE) {
		for (unsigned i = 0; i < chan->nr_workers; i++)
			slot->after[i] = chan->workers[i].next;
	}
	uint32_t number = (uint32_t)(slot - chan->slots);

	chan->marks[number].cookie = ++chan->cookie;
	/* A worker's ring has as many entries as there are slots, so it is never full. */
	worker->entries[worker->next++ & chan->mask] = number;
	if (++chan->next_worker == chan->nr_workers)
		chan->next_worker = 0;
	return chan->cookie;
}

static int sw_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far, void *near,
			 size_t len, unsigned flags, void *user)
{
	const struct cp_dma_sg sg = {.addr = near, .len = len};
	int rc = sw_prep(chan, dir, far, &sg, 1, flags, user);

	if (!rc)
		sw_submit(chan);
	return rc;
}

static void sw_issue_pending(struct cp_dma_chan *chan)
{
	for (unsigned i = 0; i < chan->nr_workers; i++) {
		struct sw_worker *worker = &chan->workers[i];

		/* relaxed: `tail` is our own */
		if (atomic_load_explicit(&worker->tail, memory_order_relaxed) !=
		    worker->next)
			sw_worker_ring(worker);
	}
}

static unsigned reap_worker(struct cp_dma_chan *chan, struct sw_worker *worker,
			    struct cp_dma_completion *done, unsigned max)
{
	/* relaxed: `reaped` is our own. acquire: what the worker moved and reported
	 * before its release of `done` must be visible to us and to our caller. */
	uint64_t at = atomic_load_explicit(&worker->reaped, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&worker->done, memory_order_acquire);
	unsigned nr = 0;

	if (at == end)
		return 0;
	for (; nr < max && at != end; nr++, at++) {
		uint32_t number = worker->entries[at & chan->mask];
		const struct sw_slot *slot = &chan->slots[number];

		done[nr] = (struct cp_dma_completion){
			.user = chan->marks[number].user,
			.cookie = chan->marks[number].cookie,
			.result = slot->result,
			.residue = slot->residue,
		};
		chan->free_slots[chan->nr_free++] = number;
	}
	/* relaxed: wait() only compares it, nothing is read through it */
	atomic_store_explicit(&worker->reaped, at, memory_order_relaxed);
	return nr;
}

static unsigned sw_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			unsigned max)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < chan->nr_workers && nr < max; i++)
		nr += reap_worker(chan, &chan->workers[i], done + nr, max - nr);
	return nr;
}

static bool reapable(struct cp_dma_chan *chan)
{
	for (unsigned i = 0; i < chan->nr_workers; i++) {
		struct sw_worker *worker = &chan->workers[i];

		/* seq_cst for `done`: the waiter's half of the protocol in worker_main().
		 * relaxed for `reaped`: only compared */
		if (atomic_load(&worker->done) !=
		    atomic_load_explicit(&worker->reaped, memory_order_relaxed))
			return true;
	}
	return false;
}

/* Have each worker signal when half of what it has now is done, or with the next that it
 * gets. */
static void ask_signal(struct cp_dma_chan *chan)
{
	for (unsigned i = 0; i < chan->nr_workers; i++) {
		struct sw_worker *worker = &chan->workers[i];
		/* relaxed: counts, nothing is read through them. Each is at most what
		 * `tail` comes to, in this order, so the worker gets there. */
		uint64_t reaped =
			atomic_load_explicit(&worker->reaped, memory_order_relaxed);
		uint64_t tail = atomic_load_explicit(&worker->tail, memory_order_relaxed);
		uint64_t half = tail > reaped ? (tail - reaped) / 2 : 0;

		/* seq_cst: before the look at `done` that follows, see worker_main() */
		atomic_store(&worker->wake_at, reaped + (half ? half : 1));
	}
}

static int sw_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	struct pollfd poll_fd = {.fd = chan->event_fd, .events = POLLIN};
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000U),
		.tv_nsec = (long)(timeout_ns % 1000000000U),
	};
	uint64_t count;

	if (chan->event_fd < 0)
		return -ENOSYS;
	if (reapable(chan))
		return 0;
	/* A completion that came before we look again is seen here; one that comes later
	 * finds what was asked, and makes the eventfd readable after it is reapable. */
	if (chan->event_ours) {
		ask_signal(chan);
		if (reapable(chan))
			return 0;
	}
	int rc = ppoll(&poll_fd, 1, &timeout, NULL);

	if (rc < 0)
		return errno == EINTR ? 0 : -errno;
	if (rc == 0)
		return reapable(chan) ? 0 : -ETIMEDOUT;
	/* EAGAIN is another waiter's luck */
	if (read(chan->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	return 0;
}

static uint64_t sw_cpu_ns(struct cp_dma_chan *chan)
{
	uint64_t sum_ns = 0;

	for (unsigned i = 0; i < chan->nr_workers; i++)
		sum_ns += cp_clock_read_ns(chan->workers[i].clock);
	return sum_ns;
}

/* The kernels, each once: of the directions and sizes that came, or of all for none yet.
 */
static const char *sw_describe(struct cp_dma_chan *chan)
{
	const struct cp_copy_ops *named[2 * CP_COPY_CLASSES];
	bool any = chan->used[CP_DIR_READ] || chan->used[CP_DIR_WRITE];
	size_t at = (size_t)snprintf(chan->text, sizeof(chan->text), "sw");
	unsigned nr = 0;

	for (unsigned i = 0; i < 2 * CP_COPY_CLASSES; i++) {
		unsigned dir = i / CP_COPY_CLASSES, class = i % CP_COPY_CLASSES, k = 0;

		if (!chan->serves[dir] || (any && !(chan->used[dir] & 1U << class)))
			continue;
		named[nr] = chan->copy[dir].ops[class];
		while (named[k] != named[nr])
			k++;
		if (k < nr || at + strlen(named[nr]->name) + 2 > sizeof(chan->text))
			continue; /* whole names only */
		at += (size_t)snprintf(chan->text + at, sizeof(chan->text) - at, "%s%s",
				       nr ? "," : "/", named[nr]->name);
		nr++;
	}
	return chan->text;
}

const struct cp_dma_ops cp_dma_sw_ops = {
	.name = "sw",
	.help = "helper threads behind a descriptor ring (threads=N, ring=N)",
	.traits = {.provenance = "software",
		   .moves_data = true,
		   .irq = true,
		   .threads = true},
	.probe = sw_probe,
	.check = sw_check,
	.open = sw_open,
	.space = sw_space,
	.prep_memcpy_sg = sw_prep,
	.submit = sw_submit,
	.submit_one = sw_submit_one,
	.issue_pending = sw_issue_pending,
	.reap = sw_reap,
	.wait = sw_wait,
	.cpu_ns = sw_cpu_ns,
	.describe = sw_describe,
	.close = sw_close,
};
