// SPDX-License-Identifier: GPL-2.0-only
/* The helper thread of the software engine. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/copy/guard.h"
#include "engines/dma/sw.h"

static bool stopping(struct cp_dma_chan *chan)
{
	return atomic_load_explicit(&chan->stop, memory_order_relaxed);
}

/* A fence: all that was submitted before must be done, on the other workers too. False
 * when the channel closes meanwhile. */
static bool wait_earlier(const struct sw_worker *worker, const struct sw_slot *slot)
{
	struct cp_dma_chan *chan = worker->chan;
	unsigned spins = 0;

	for (unsigned i = 0; i < chan->nr_workers; i++) {
		if (i == worker->index)
			continue;
		/* acquire: the bytes the other worker moved before its release of `done`
		 * must be visible to the copy that is fenced behind them */
		while (atomic_load_explicit(&chan->workers[i].done,
					    memory_order_acquire) < slot->after[i]) {
			if (stopping(chan))
				return false;
			/* the other worker may need this CPU */
			if (++spins % 256 == 0)
				sched_yield();
			else
				cp_cpu_relax();
		}
	}
	return true;
}

/* Which side failed; a kernel that says so itself can only mean the far one. */
static enum cp_dma_result failed_side(enum cp_dir dir)
{
	enum cp_guard_side side = cp_guard_take_side();

	if (side == CP_GUARD_NONE)
		side = dir == CP_DIR_READ ? CP_GUARD_SRC : CP_GUARD_DST;
	return side == CP_GUARD_SRC ? CP_DMA_READ_FAILED : CP_DMA_WRITE_FAILED;
}

/* The residue. */
static size_t copy_one(const struct sw_worker *worker, const struct sw_slot *slot,
		       unsigned char *far, unsigned char *near, size_t len)
{
	/* wc: kernels with NT loads begin with a fence (engines/copy/ntload_x86.c) */
	enum cp_attr attr = worker->chan->drain ? CP_ATTR_WC : CP_ATTR_WB;

	if (slot->dir == CP_DIR_READ)
		return cp_guard_copy(slot->copy, near, far, len, CP_DIR_READ, attr);
	return cp_guard_copy(slot->copy, far, near, len, CP_DIR_WRITE, attr);
}

/* Segment by segment; what is left of all. */
static size_t copy_segments(const struct sw_worker *worker, struct sw_slot *slot)
{
	unsigned char *far = slot->far, *near = slot->near;
	size_t left = slot->len;

	for (unsigned i = 0; i < slot->nr_sg; i++) {
		size_t len = left < slot->seg ? left : slot->seg;

		if (stopping(worker->chan)) {
			slot->result = CP_DMA_ABORTED;
			break;
		}
		if (!slot->near) {
			near = slot->sg[i].addr;
			len = slot->sg[i].len;
		}
		size_t residue = copy_one(worker, slot, far, near, len);

		left -= len - residue;
		far += len;
		near += len;
		if (residue) {
			slot->result = failed_side((enum cp_dir)slot->dir);
			break;
		}
	}
	return left;
}

static void transact(const struct sw_worker *worker, struct sw_slot *slot)
{
	slot->result = CP_DMA_OK;
	slot->residue = slot->len;
	if ((slot->flags & CP_DMA_FENCE) && !wait_earlier(worker, slot)) {
		slot->result = CP_DMA_ABORTED;
		return;
	}
	if (slot->near) {
		slot->residue = copy_one(worker, slot, slot->far, slot->near, slot->len);
		if (!slot->residue)
			return;
		if (slot->nr_sg == 1) {
			slot->result = failed_side((enum cp_dir)slot->dir);
			return;
		}
		/* Again one by one, so that all segments before the one that fails are
		 * claimed, whatever the kernel's order. */
		cp_guard_take_side();
	}
	slot->residue = copy_segments(worker, slot);
}

static void signal_owner(const struct cp_dma_chan *chan)
{
	uint64_t one = 1;

	/* can only fail when the counter is full, and then it is readable already */
	cp_write_all(chan->event_fd, &one, sizeof(one));
}

/* Until the ring has something beyond `head`: where it ends, or `head` when the channel
 * closes. */
static uint64_t wait_work(struct sw_worker *worker, uint64_t head)
{
	struct cp_dma_chan *chan = worker->chan;
	uint64_t start = cp_ticks(), tail;

	for (unsigned spins = 1;; spins++) {
		/* acquire: the slots that were filled before the owner's release of
		 * `tail` must be visible to us */
		tail = atomic_load_explicit(&worker->tail, memory_order_acquire);
		if (tail != head || stopping(chan))
			return tail;
		cp_cpu_relax();
		if (spins % 16 ||
		    cp_ticks_to_ns(cp_ticks_since(start, cp_ticks())) < SW_SPIN_NS)
			continue;
		/*
		 * Sleep. We store `sleeping` and then look at `tail` and `stop`; the
		 * owner stores those and then looks at `sleeping`. All are seq_cst: one
		 * of the two sees the other's store, so no wake-up is lost.
		 */
		atomic_store(&worker->sleeping, 1);
		if (atomic_load(&worker->tail) == head && !atomic_load(&chan->stop))
			syscall(SYS_futex, &worker->sleeping, FUTEX_WAIT_PRIVATE, 1, NULL,
				NULL, 0);
		atomic_store(&worker->sleeping, 0);
		start = cp_ticks();
	}
}

/*
 * Interrupts. We store `done` and then look at `wake_at`; who waits stores `wake_at` and
 * then looks at `done`. All are seq_cst: one of the two sees the other's store, so no
 * signal is lost. What is put there while we look stays: only what we saw is taken away.
 */
static void interrupt(struct sw_worker *worker, uint64_t done)
{
	struct cp_dma_chan *chan = worker->chan;
	uint64_t at = atomic_load(&worker->wake_at);

	if (done < at)
		return;
	worker->due = false;
	if (chan->event_ours)
		atomic_compare_exchange_strong(&worker->wake_at, &at, SW_NEVER);
	signal_owner(chan);
}

static struct sw_slot *slot_of(const struct sw_worker *worker, uint64_t at)
{
	return &worker->chan->slots[worker->entries[at & worker->chan->mask]];
}

static void *worker_main(void *arg)
{
	struct sw_worker *worker = arg;
	struct cp_dma_chan *chan = worker->chan;
	bool irq = chan->event_fd >= 0;
	uint64_t head = 0, tail = 0;

	while (!stopping(chan)) {
		if (head == tail)
			tail = wait_work(worker, head);
		if (head == tail)
			break; /* closing */
		struct sw_slot *slot = slot_of(worker, head);

		/* so that its line is here when this copy is done */
		if (head + 1 != tail)
			__builtin_prefetch(slot_of(worker, head + 1));

		worker->due |= irq && slot->flags & CP_DMA_INTERRUPT;
		transact(worker, slot);
		/* Ordinary stores to wc memory have left this CPU's write-combining
		 * buffers, and are visible to whoever acquires `done`; the release below
		 * does not wait for them. On x86 an mfence or a locked instruction. */
		if (chan->drain)
			atomic_thread_fence(memory_order_seq_cst);
		/* release: the bytes moved, the result and the residue must be visible to
		 * whoever acquires `done`; from here on the slot is the owner's. seq_cst:
		 * see interrupt() */
		atomic_store_explicit(&worker->done, ++head,
				      worker->due ? memory_order_seq_cst
						  : memory_order_release);
		if (worker->due)
			interrupt(worker, head);
	}
	return NULL;
}

static void wake(struct sw_worker *worker)
{
	if (atomic_load(&worker->sleeping)) {
		atomic_store(&worker->sleeping, 0);
		syscall(SYS_futex, &worker->sleeping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
	}
}

void sw_worker_ring(struct sw_worker *worker)
{
	/* seq_cst: release of the slots to the worker, and the owner's half of the
	 * protocol in wait_work() */
	atomic_store(&worker->tail, worker->next);
	wake(worker);
}

int sw_worker_start(struct sw_worker *worker, int cpu)
{
	pthread_attr_t attr;
	sigset_t all, old;
	char name[16];
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	if (cpu >= CPU_SETSIZE) {
		rc = EINVAL;
		goto out_attr;
	}
	if (cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)cpu, &set);
		rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		if (rc)
			goto out_attr;
	}
	/* Signals are the application's: none may be delivered to a helper thread, but
	 * for faults of its own copies, which would end the process if they were blocked.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&worker->thread, &attr, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		goto out_attr;
	worker->started = true;
	snprintf(name, sizeof(name), "cp-sw-%u", worker->index);
	pthread_setname_np(worker->thread, name);
	rc = pthread_getcpuclockid(worker->thread, &worker->clock);
out_attr:
	pthread_attr_destroy(&attr);
	return -rc;
}

void sw_worker_join(struct sw_worker *worker)
{
	if (!worker->started)
		return;
	wake(worker);
	pthread_join(worker->thread, NULL);
	worker->started = false;
}
