/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The co-runner of a context in figures: "compute", "stream:size=256m,sched=other".
 *
 * It stands for the application that wants the CPUs that submit I/Os: one process on each
 * of them, which works as long as the sample lasts. sched=idle (the default, SCHED_IDLE)
 * takes what the I/O leaves; sched=other competes as an equal.
 */
#ifndef CP_BENCH_PLAN_CORUNNER_H
#define CP_BENCH_PLAN_CORUNNER_H

#include "bench/plan/plan.h"

#define CP_CORUNNER_BYTES_MIN (UINT64_C(64) << 10)
#define CP_CORUNNER_BYTES_MAX (UINT64_C(1) << 40)
#define CP_CORUNNER_CPU_MAX   1023
/* What it costs a sample beside the time alone, which is as long as the runtime: its
 * start, its warm-up and its end. */
#define CP_CORUNNER_START_NS 350000000ULL

enum cp_corunner_kind {
	CP_CORUNNER_NONE,
	CP_CORUNNER_COMPUTE,
	CP_CORUNNER_STREAM,
	CP_CORUNNER_CHASE
};

struct cp_corunner {
	enum cp_corunner_kind kind;
	bool equal;	/* sched=other */
	uint64_t bytes; /* of each process; 0 = cp_corunner_bytes_default(), or no memory
			 */
	int cpu;	/* instead of the submitters' CPUs; -1 = theirs */
};

/* Exit 2 for a setting that is unknown or does not parse. */
int cp_corunner_parse(const char *text, struct cp_corunner *ret, struct cp_err *err);
/* Four times the last-level cache, 64m where that is not known, and at most an eighth of
 * the machine's memory: the same in all samples of a machine. */
uint64_t cp_corunner_bytes_default(const struct cp_topo *topo);
/* Where it runs: the CPUs that the submitters of the cell are pinned to, all of the
 * plan's where they are not pinned, or its own cpu=N. At most CP_PLAN_CPUS_MAX; returns
 * how many. */
unsigned cp_corunner_cpus(const struct cp_corunner *corunner, const struct cp_plan *plan,
			  const struct cp_plan_cell *cell, unsigned *ret_cpus);
/* Are all co-runners of the plan possible on this machine: a CPU that we may use and be
 * pinned to, and memory beside the target and its buffers? Exit 2 with the place and the
 * setting to change. The caller's own affinity is as it was when it returns. */
int cp_plan_corunner_check(const struct cp_plan *plan, struct cp_err *err);

#endif
