/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the co-runner, for its own files and their tests; who measures beside one
 * needs bench/drive/beside.h alone.
 *
 *   corunner_work.c  what it does: kernels whose result is known beforehand
 *   corunner_log.c   how far it was when, in shared memory
 *   corunner_proc.c  its processes, one a CPU
 *   corunner.c       one sample beside it: alone, beside, and the figures of both
 *
 * The processes write, and the parent reads when they have ended: no lock is needed.
 */
#ifndef CP_BENCH_DRIVE_CORUNNER_H
#define CP_BENCH_DRIVE_CORUNNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/plan/corunner.h"

/*
 * Work. One operation is: compute, CP_COMPUTE_ROUNDS dependent rounds of a hash, in
 * registers; stream, one line of 64 bytes read, summed up and written back changed;
 * pointer-chase, one load of the address of the next, all lines of the memory in an order
 * of chance.
 */
#define CP_COMPUTE_ROUNDS 256
#define CP_LINE_BYTES	  64

struct cp_work {
	enum cp_corunner_kind kind;
	void *memory; /* owned; NULL for compute */
	uint64_t bytes;
	uint64_t nr_lines;
	uint64_t ops; /* done so far */
	uint64_t sum; /* what came of them */
	const void *at;
};

/* bytes: of memory, for kinds that have some. Touches all of it. negative errno. */
int cp_work_open(struct cp_work *work, enum cp_corunner_kind kind, uint64_t bytes);
void cp_work_close(struct cp_work *work);
/* Do some 20 to 100 us of work: always as many operations. */
void cp_work_block(struct cp_work *work);
/* What sum must be after so many operations, reckoned another way than they do it. */
uint64_t cp_work_expected(enum cp_corunner_kind kind, uint64_t bytes, uint64_t ops);

/*
 * Two counters over time. When it is full every second entry goes and the interval
 * doubles, so that a day's log is as long as a minute's.
 */
#define CP_WORKLOG_MAX 16384

struct cp_worklog_entry {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	uint64_t value[2];
};

struct cp_worklog {
	uint64_t interval_ns; /* between entries, at least */
	uint64_t gap_ns;      /* time away from the CPU that is kept sharp */
	uint32_t nr;
	struct cp_worklog_entry last; /* noted, and perhaps not an entry yet */
	struct cp_worklog_entry entry[CP_WORKLOG_MAX];
};

/* gap_ns 0: each note is an entry. */
void cp_worklog_init(struct cp_worklog *log, uint64_t interval_ns, uint64_t gap_ns);
/* As often as one likes, in order of time. An entry is made of it when the interval is
 * over; where value[1] (ns of CPU) says that since the last note gap_ns or more went by
 * off the CPU, of that note too: the pause is then not shared out over work before it. */
void cp_worklog_note(struct cp_worklog *log, const struct cp_worklog_entry *now);
/* An entry of the last note. */
void cp_worklog_end(struct cp_worklog *log);
/* What the counters rose by from start_ns to end_ns, interpolated. false: that is not
 * within the log. */
bool cp_worklog_rise(const struct cp_worklog *log, uint64_t start_ns, uint64_t end_ns,
		     double ret_rise[2]);

/* Of /proc/stat's text, a CPU's ticks: stolen by the hypervisor, and all. false: it has
 * no such CPU. */
bool cp_steal_parse(const char *text, unsigned cpu, uint64_t *ret_steal,
		    uint64_t *ret_total);

/* Processes. What is shared with one; of the parent's asking and the child's answers. */
struct cp_corunner_shared {
	_Atomic uint32_t stop;
	_Atomic uint32_t ready; /* 1: warm and at work; 2: it cannot, see errnum */
	int32_t errnum;
	char what[48];		 /* could not be done */
	uint64_t ops, sum;	 /* at its end */
	struct cp_worklog work;	 /* operations, ns of its CPU */
	struct cp_worklog steal; /* ticks of its CPU: stolen, all */
};

struct cp_corunner_proc {
	pid_t pid;  /* 0: none (any more) */
	int status; /* of waitpid(), when it ended */
	bool deaf;  /* it had to be killed */
	unsigned cpu;
	struct cp_corunner_shared *shared;
};

/* Start it; bytes is what it works on. Exit 4. It ends with us, whatever ends us. */
int cp_corunner_start(const struct cp_corunner *corunner, uint64_t bytes, unsigned cpu,
		      struct cp_corunner_proc *ret_proc, struct cp_err *err);
/* Wait until it is warm. Exit 4, or 130 when *interrupted (may be NULL). */
int cp_corunner_wait(struct cp_corunner_proc *proc, const volatile int *interrupted,
		     struct cp_err *err);
/* Has it ended by itself? Then that is no longer to be waited for. */
bool cp_corunner_ended(struct cp_corunner_proc *proc);
/* End them: asked first, so that they tell their results, and killed where they do not
 * listen; or killed at once. What is shared stays. */
void cp_corunner_stop(struct cp_corunner_proc *procs, unsigned nr, bool at_once);
/* Its end was a good one, with the right result? Else false and why. */
bool cp_corunner_good(const struct cp_corunner_proc *proc, enum cp_corunner_kind kind,
		      uint64_t bytes, char *why, size_t size);
void cp_corunner_free(struct cp_corunner_proc *proc); /* what is shared */

#endif
