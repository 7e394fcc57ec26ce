/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workload file becomes a plan: the cells (context x arm) and the order in which their
 * samples are taken. Nothing is run here.
 *
 * Order of calls: cp_plan_load() or cp_plan_from_json() -> cp_plan_filter()* ->
 * cp_plan_target_check() -> cp_plan_policy_check() -> cp_plan_order() -> read cells[] and
 * order[] -> cp_plan_free(). Loading reports every problem with its place (exit 2),
 * those of an arm's policy included.
 *
 * Workload keys beyond what a record's context and arm hold: driver, target {size, node,
 * filename, allow_overwrite, attr_native}, workload {segment}, run {runtime, ramp_time,
 * samples, seed, verify, corunner, profile, perf}, fio {...}, budget {samples, time},
 * objective; and in an arm `dma_thresh` (both directions) and `only`: the contexts the
 * arm is measured in, e.g. only: {rw: write, bs: [4k, 64k]}.
 */
#ifndef CP_BENCH_PLAN_PLAN_H
#define CP_BENCH_PLAN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"
#include "engines/base/topo.h"
#include "results/record.h"

#define CP_PLAN_CELLS_MAX	16384
#define CP_PLAN_SAMPLES_MAX	1000000
#define CP_PLAN_FIO_MAX		32
#define CP_PLAN_CPUS_MAX	64
#define CP_PLAN_EXEC_MAX	32
#define CP_PLAN_EXEC_TIMEOUT_NS 30000000000ULL
/* What a sample costs beside ramp_time and runtime: fio's start and the media's faults.
 */
#define CP_PLAN_START_NS   450000000ULL
#define CP_PLAN_PROFILE_NS 600000000ULL /* and reading what perf sampled */

struct cp_plan_cell {
	struct cp_context context;
	struct cp_arm arm;	 /* resolved */
	uint64_t segment_bytes;	 /* one near segment */
	uint64_t job_bytes;	 /* region of one job: size / numjobs, down to a bs */
	unsigned policy_at[2];	 /* line and column of the arm's policy; 0 = not known */
	unsigned corunner_at[2]; /* of run.corunner, its value of a list; likewise */
};

struct cp_plan_sample {
	uint32_t cell;	 /* index */
	uint32_t sample; /* replicate of that cell, from 0 */
	uint64_t seed;	 /* for fio; the same for all arms of a context and replicate */
};

struct cp_plan_option { /* passed to fio as it is */
	char key[64], value[256];
	unsigned at[2]; /* line and column of the value; 0 = not known */
};

struct cp_plan {
	char config[1024]; /* the workload file, for places; "" when resumed */
	char name[CP_NAME_MAX];
	uint64_t size;
	char filename[4096]; /* absolute; "" without a file target */
	char place[4200];    /* "file:line:col" of it, without one of the target's media;
				"" when it is no longer known */
	bool allow_overwrite;
	bool attr_native; /* no sample may run under an emulated attribute */
	bool created;	  /* the file was made by this run: its own to write */
	uint64_t runtime_ns, ramp_ns;
	uint32_t samples;
	uint64_t seed;
	char verify[CP_WORD_MAX]; /* off, crc32c */
	uint64_t budget_samples;  /* 0 = none */
	uint64_t budget_ns;	  /* 0 = none */
	char objective[256];
	char driver[CP_WORD_MAX];	  /* fio, swap, exec; the same in all contexts */
	size_t nr_exec;			  /* driver exec: its command, word by word */
	char exec[CP_PLAN_EXEC_MAX][512]; /* the first an absolute path */
	char exec_dir[4096];		  /* where it runs: the directory of the call */
	uint64_t exec_timeout_ns; /* beyond ramp_time and runtime, for an answer */
	bool profile;	/* a profile (perf record) of each cell beside its samples */
	size_t nr_perf; /* events to count (perf stat) in each sample */
	char perf[CP_PERF_MAX][48];
	unsigned perf_at[CP_PERF_MAX][2]; /* line and column of each; 0 = not known */
	/* Submitters are pinned to the first CPUs, one each, when fewer than these. */
	unsigned nr_cpus;
	unsigned cpus[CP_PLAN_CPUS_MAX];
	size_t nr_options;
	struct cp_plan_option options[CP_PLAN_FIO_MAX];
	size_t nr_cells;
	struct cp_plan_cell *cells; /* owned */
	size_t nr_order;
	struct cp_plan_sample *order; /* owned */
};

int cp_plan_load(const char *path, struct cp_plan *ret_plan, struct cp_err *err);
/* The load is a program's own business (driver exec): what our engine can do on this
 * machine with a cell is not asked, and a target is neither looked at nor made. */
bool cp_plan_external(const struct cp_plan *plan);
/* What a manifest keeps and resume needs; a new reference, NULL without memory. */
json_t *cp_plan_to_json(const struct cp_plan *plan);
int cp_plan_from_json(const json_t *json, struct cp_plan *ret_plan, struct cp_err *err);
void cp_plan_free(struct cp_plan *plan); /* a zeroed one is fine */

/* Keep the cells that match. filters: "key=value" with the key of a context or arm field
 * or `arm` (a shell pattern over arm names); the same key twice = either. Exit 2 for an
 * unknown key, a value that does not parse, or when nothing is left. */
int cp_plan_filter(struct cp_plan *plan, const char *const *filters, size_t nr_filters,
		   struct cp_err *err);

/* Fill order: each replicate round visits all cells once, in seeded random order. */
int cp_plan_order(struct cp_plan *plan, struct cp_err *err);
/* Can its objective be judged by what its cells measure? Error (exit 2): it weighs a
 * co-runner, and no cell has one. cp_plan_load() has asked already. */
int cp_plan_objective_check(const struct cp_plan *plan, struct cp_err *err);

/* Expected duration of nr samples, of the plan's mix of cells. */
uint64_t cp_plan_time_ns(const struct cp_plan *plan, size_t nr_samples);
/* The same of the runs for profiles. */
uint64_t cp_plan_profile_time_ns(const struct cp_plan *plan, size_t nr_profiles);
/* The n-th cell that a record belongs to, or -1. */
long cp_plan_find(const struct cp_plan *plan, const struct cp_context *context,
		  const struct cp_arm *arm);
/* The kinds of media of all cells, as the fingerprint wants them: sorted, comma-joined.
 */
/* The filename of a cell with this media, or NULL: it takes none, or it has a default and
 * the target's filename is another media's. */
const char *cp_plan_filename(const struct cp_plan *plan, const char *media);

void cp_plan_media(const struct cp_plan *plan, char *buf, size_t size);

/*
 * The machine's side. Errors: a device, directory, mounted or swapped-on file, an
 * existing file without allow_overwrite, one that is too short, memory that is not
 * persistent where an arm requires it, or a place where a file would not be (exit 2); not
 * enough memory or space (exit 4). Warnings (working set below the last-level cache, with
 * the ratio; hardware queues that are fewer than the workload asks for) go to warn.
 * Nothing is written.
 */
int cp_plan_target_check(const struct cp_plan *plan, const struct cp_topo *topo,
			 void (*warn)(void *ctx, const char *text), void *ctx,
			 struct cp_err *err);
/*
 * The fingerprints of the arms' policies against this machine and fio's version
 * ("fio-3.33"). Another one is exit 4 with its place, unless the arm has policy_force.
 */
int cp_plan_policy_check(const struct cp_plan *plan, const char *fio_version,
			 struct cp_err *err);
/* Some arm has a policy, so that cp_plan_policy_check() has something to do. */
bool cp_plan_has_policy(const struct cp_plan *plan);
/* Memory that the target of a cell and the buffers of its I/Os take. */
int cp_plan_cell_memory(const struct cp_plan *plan, const struct cp_plan_cell *cell,
			uint64_t *ret_bytes, struct cp_err *err);
/*
 * Make a missing file target with `size` bytes of pattern, and as many more as the widest
 * misalign_far of a cell asks (whole or not at all). Sets plan->created when it did. A
 * file that appeared since the check is checked as one that was there, and one that
 * appears meanwhile is left as it is (exit 2). *interrupted non-zero (may be NULL) ends
 * it (exit 130).
 */
int cp_plan_target_make(struct cp_plan *plan, const volatile int *interrupted,
			struct cp_err *err);

#endif
