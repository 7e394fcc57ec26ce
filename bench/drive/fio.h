/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fio program and our plug-ins: found, checked to belong together, and driven one
 * sample a process.
 */
#ifndef CP_BENCH_DRIVE_FIO_H
#define CP_BENCH_DRIVE_FIO_H

#include <stdint.h>
#include <stdio.h>

#include "bench/plan/plan.h"
#include "engines/base/err.h"
#include "results/record.h"

struct cp_fio {
	char path[4096];       /* COPYPATH_FIO, or fio in PATH */
	char version[32];      /* what it says of itself: "fio-3.33" */
	char built_for[32];    /* whose headers the plug-ins were built with, set by
				cp_fio_check(); "" unknown */
	char plugin_dir[4096]; /* absolute; holds copypath-sync.so, copypath-async.so */
};

/* Find fio and ask its version. Exit 4 with what to install when there is none, 2 for a
 * plug-in directory that a job file cannot name. */
int cp_fio_find(const char *plugin_dir, struct cp_fio *ret_fio, struct cp_err *err);
/* Versions agree, the plug-ins are there (exit 4: which differs, what to do). */
int cp_fio_check(struct cp_fio *fio, struct cp_err *err);
/* Let fio parse a cell's job and load its plug-in without running it; what fio says goes
 * into err (exit 4; 2 with its place when a passed-through option is to blame). */
int cp_fio_try(const struct cp_fio *fio, const struct cp_plan *plan,
	       const struct cp_plan_cell *cell, struct cp_err *err);

/* The plug-in that serves an arm: sync for bio, async for mq. */
const char *cp_fio_plugin(const struct cp_arm *arm);

/*
 * A job file for one sample. Jobs of numjobs > 1 get regions of their own
 * (offset_increment). With verify a write job is not time based: it writes its region
 * once and then reads back and compares all of it.
 */
void cp_fio_job_print(FILE *out, const struct cp_fio *fio, const struct cp_plan *plan,
		      const struct cp_plan_cell *cell, uint64_t seed,
		      const char *sidecar);

/* fio's JSON text (other lines before it are skipped) into the fio_* metrics. Returns
 * -EINVAL with why in failed when there is no complete result or the job had an error. */
int cp_fio_output_parse(const char *text, enum cp_dir dir, struct cp_record *record,
			char *failed, size_t size);

#endif
