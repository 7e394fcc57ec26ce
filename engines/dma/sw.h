/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software engine: helper threads that copy, each behind a ring of descriptors.
 *
 * Slots hold the descriptors of a channel. They are taken and given back by the owner of
 * the channel only, last in first out, so that a channel that is hardly used stays in
 * cache. Each worker has a ring of slot numbers that is filled by the owner and consumed
 * by the worker, in order:
 *
 *	reaped <= done <= tail <= next
 *	  owner   worker   owner   owner, before the doorbell
 *
 * The same ring is both the submission and the completion queue.
 *
 * Interrupts are moderated: a wait() is ended when half of what it found in flight has
 * completed. One signal a completion costs the submitter a wake-up each, tens of
 * microseconds of CPU in a virtual machine, while what is left keeps the worker busy as
 * long as a wake-up takes. A channel that was given an eventfd signals every completion,
 * since its wait() may be that of another.
 */
#ifndef CP_ENGINES_DMA_SW_H
#define CP_ENGINES_DMA_SW_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/copy/copy.h"
#include "engines/dma/channel.h"

#define SW_LINE	       64
#define SW_THREADS_MAX 16U

/* How long an idle worker looks at its ring before it sleeps. Waking it costs tens of
 * microseconds, so this is about what a wake-up costs: an idle channel never wastes more
 * than it would have lost by sleeping at once. */
#define SW_SPIN_NS 50000U

#define SW_NEVER UINT64_MAX /* of sw_worker.wake_at */

/*
 * What a worker reads and writes of a transaction: one line, unless its segments are
 * scattered. A line that the other CPU wrote costs a good part of what a small copy does.
 */
struct sw_slot {
	_Alignas(SW_LINE) unsigned char *far;
	unsigned char *near; /* segments that follow each other; NULL: see sg */
	size_t len;	     /* of all segments */
	size_t seg;	     /* with near: of each, the last may be shorter */
	size_t residue;	     /* by the worker, as is result */
	cp_copy_fn copy;
	enum cp_dma_result result;
	uint8_t dir;   /* enum cp_dir */
	uint8_t flags; /* CP_DMA_* */
	uint8_t nr_sg;
	/* without near */
	_Alignas(SW_LINE) struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	/* CP_DMA_FENCE: start when each worker has done this many */
	uint64_t after[SW_THREADS_MAX];
};
static_assert(CP_DMA_SEGMENTS_MAX <= UINT8_MAX, "nr_sg holds them");

/* What is the owner's alone of a slot. */
struct sw_mark {
	void *user;
	cp_dma_cookie cookie;
};

struct sw_worker {
	/* The owner's alone, but for `reaped`, which wait() reads. */
	_Alignas(SW_LINE) uint64_t next;
	_Atomic uint64_t reaped;

	/* Written by the owner, polled by the worker. */
	_Alignas(SW_LINE) _Atomic uint64_t tail;

	/* Written by the worker, polled by the owner. */
	_Alignas(SW_LINE) _Atomic uint64_t done;

	/* Written only around sleeping, and at open. */
	_Alignas(SW_LINE) _Atomic uint32_t sleeping; /* futex */
	unsigned index;
	uint32_t *entries; /* ring of slot numbers */
	struct cp_dma_chan *chan;
	pthread_t thread;
	clockid_t clock; /* its CPU time */
	bool started;
	bool due; /* the worker's: a completion that asked for an interrupt waits for it
		   */

	/* irq: signal once `done` has come this far. Stored by whoever wait()s, and by
	 * the worker, which puts SW_NEVER there when it signals. */
	_Alignas(SW_LINE) _Atomic uint64_t wake_at;
};

struct cp_dma_chan {
	/* Set at open; read by all. */
	unsigned mask; /* slots - 1, also of the workers' rings */
	unsigned nr_workers;
	struct sw_slot *slots;
	struct sw_mark *marks; /* of the same index */
	bool drain; /* far memory is write combining: fence behind each transaction */
	struct cp_copy_bound copy[2]; /* by direction */
	bool serves[2];		      /* the copy has a meaning there */
	int event_fd;		      /* -1 without irq */
	bool event_ours;	      /* to close; and interrupts are moderated */
	bool guarded;		      /* has a cp_guard_get() to give back */
	_Atomic bool stop;

	/* The owner's. */
	_Alignas(SW_LINE) uint32_t *free_slots;
	unsigned nr_free, next_worker;
	struct sw_slot *prepared; /* between prep and submit */
	cp_dma_cookie cookie;
	/* by direction, a bit for each class of sizes of which a transaction came */
	unsigned used[2];
	char text[CP_SPEC_TEXT_MAX]; /* describe() */

	struct sw_worker workers[];
};

/* Hooks of cp_dma_ops that live in sw_open.c. */
int sw_check(const char *spec, struct cp_err *err);
int sw_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	    struct cp_err *err);
void sw_close(struct cp_dma_chan *chan); /* also of one that is half open */

int sw_worker_start(struct sw_worker *worker, int cpu);
/* The doorbell: publish what was submitted and wake the worker when it sleeps. */
void sw_worker_ring(struct sw_worker *worker);
/* chan->stop is set: wake the worker and wait until it has ended. */
void sw_worker_join(struct sw_worker *worker);

#endif
