/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `run` and `tune` share: their options, and everything from a workload file (or a
 * run to resume) to stored samples, with messages on stderr.
 */
#ifndef CP_BENCH_CMD_MEASURE_H
#define CP_BENCH_CMD_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/cmd/cmd.h"
#include "bench/plan/plan.h"
#include "results/run.h"

#define CP_MEASURE_FILTERS_MAX 64

struct cp_measure {
	const char *verb;
	bool tune; /* budget honoured, --objective and --json known */
	/* options */
	const char *config, *out_dir, *resume, *objective;
	bool dry_run, quiet, json;
	size_t nr_filters;
	const char *filters[CP_MEASURE_FILTERS_MAX];
	int argc;
	char **argv;

	/* results */
	char dir[4096]; /* the run directory, "" when nothing was made */
	struct cp_plan plan;
	struct cp_manifest manifest;
	size_t nr_stored, nr_failed; /* in the directory, earlier sessions included */
	size_t nr_profiled, nr_unprofiled; /* of this session; the latter failed */
	bool stopped;			   /* by the budget */
	int lock_fd;
};

/* CP_EXIT_OK or what to exit with. */
enum cp_exit cp_measure_parse(struct cp_measure *measure, int argc, char **argv);
/* OK when all planned (or budgeted) samples are stored; REGRESSED when some of them
 * failed; else another exit code, already explained. cp_measure_free() in any case. */
enum cp_exit cp_measure_run(struct cp_measure *measure);
void cp_measure_free(struct cp_measure *measure);

/* Of all profiles of a plan, 0 where it asks for none. */
static inline size_t cp_measure_profiles(const struct cp_plan *plan)
{
	return plan->profile ? plan->nr_cells : 0;
}

/* Expected duration of nr samples and of profiles in seconds, rounded up: never "0 s" of
 * something. */
static inline uint64_t cp_measure_time_s(const struct cp_plan *plan, size_t nr,
					 size_t nr_profiles)
{
	return (cp_plan_time_ns(plan, nr) + cp_plan_profile_time_ns(plan, nr_profiles) +
		999999999) /
	       1000000000;
}

#endif
