/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that touch the pages of a region and check what they find, after the program
 * that came with NVMe's rw_page in 2014: page by page in order, or in random order with
 * many threads.
 *
 * A page is 64 lines, and each thread has lines of its own in every page. Every word
 * names its page, its place in it and the version its thread gave it last, so that a page
 * that is another's, older than it should be, or of two halves, is found by whoever
 * touches it next. A touch looks at every word of the page.
 */
#ifndef CP_BENCH_APPS_SWAP_TOUCH_H
#define CP_BENCH_APPS_SWAP_TOUCH_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engines/base/err.h"
#include "engines/base/hist.h"
#include "engines/swap/swap.h"

enum touch_phase { TOUCH_RAMP, TOUCH_COUNT, TOUCH_STOP };
enum touch_job {
	TOUCH_FILL,  /* one thread: every word of every page, version 0 */
	TOUCH_RUN,   /* until TOUCH_STOP */
	TOUCH_CHECK, /* one thread: every word of every page against the last version */
};

struct touch_load {
	struct cp_swap *swap;
	uint64_t nr_pages;
	unsigned nr_threads; /* 1 to CP_SWAP_THREADS_MAX */
	bool store, random;
	uint64_t seed;
	uint64_t faults_max; /* TOUCH_RUN stops after so many; 0: by phase only */

	enum touch_job job;
	_Atomic int phase;
	_Atomic unsigned nr_done;
	_Atomic uint64_t faults;
	_Atomic uint64_t end_ns; /* when faults_max was reached */
};

struct toucher {
	struct touch_load *load;
	unsigned id;
	int cpu; /* -1: any */
	pthread_t thread;
	uint32_t *versions;    /* [nr_pages], of its lines */
	struct cp_hist faults; /* ns of the accesses that faulted while counting */
	uint64_t touches;
	/* in the whole of its life */
	uint64_t sigbus, mismatches;
	bool gave_up;	/* a page that could not be had, in many tries */
	char what[160]; /* the first mismatch, or why it gave up; "" none */

	/* of the touch that is under way; a SIGBUS comes back to env */
	sigjmp_buf env;
	struct cp_swap_thread *slot;
	volatile unsigned at; /* own words stored */
	volatile bool stored; /* all of them */
	volatile unsigned tries;
};

/* Before the device is opened, whose fault guard hands on to it. */
int touch_catch(struct touch_load *load, struct cp_err *err);

/* Start nr threads (the first nr of touchers) on load->job. They have ended when
 * load->nr_done is nr; then join. */
int touch_start(struct touch_load *load, struct toucher *touchers, unsigned nr,
		struct cp_err *err);
void touch_join(struct toucher *touchers, unsigned nr);

#endif
