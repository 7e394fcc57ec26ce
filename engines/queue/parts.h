/* SPDX-License-Identifier: GPL-2.0-only */
/* What a submitter is made of, for internal.h; nobody else includes it. */
#ifndef CP_ENGINES_QUEUE_PARTS_H
#define CP_ENGINES_QUEUE_PARTS_H

#include "engines/queue/queue.h"

/* Submitters of a hardware queue that wait for something of it, first come first served
 * (turn.c). Under its lock. */
struct cp_waiter {
	struct cp_waiter *next;
	struct cp_sub *sub;
	bool waits;
};

struct cp_waiters {
	struct cp_waiter *head, *tail; /* head NULL: nobody */
};

/*
 * I/Os held back by commit() because the next may be merged with them: one request to
 * be, adjacent in the media in the order of `next`.
 */
struct cp_plug {
	struct cp_io *head, *tail;
	unsigned nr;	   /* 0: nothing is held */
	unsigned segments; /* of the near side, at most */
	uint64_t bytes;
	uint64_t run; /* bytes at its end that are contiguous on the near side too */
};

/* The I/O whose phases are looked at, and the sums over those that were (phases.c). */
struct cp_phases {
	struct cp_io *io; /* NULL: none */
	bool fresh;	  /* nothing was looked at since the reset */
	int due;	  /* I/Os handed in until the next one */
	uint32_t seed;
	/* Ticks, 0: not yet. found is written by whoever reaps, under the queue's lock,
	 * before the owner sees the I/O done; the others by the owner. */
	uint64_t prepared, rung, found;
	uint64_t ios, prepare_ticks, submit_ticks, wait_ticks, complete_ticks;
};

/* Page mode: pages and I/Os in the order of coming that mq would have made one request
 * of, had they been handed in together (merge.c). */
struct cp_page_run {
	uint64_t start, end; /* in the media; the same: there is none */
	uint64_t cpu_bytes;  /* of it, by the CPU, as one page is below the threshold */
	enum cp_dir dir;
	unsigned ios, segments;
};

#endif
