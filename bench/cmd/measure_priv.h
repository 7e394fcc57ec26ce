/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the measure*.c files; nobody else includes this. */
#ifndef CP_BENCH_CMD_MEASURE_PRIV_H
#define CP_BENCH_CMD_MEASURE_PRIV_H

#include "bench/cmd/measure.h"
#include "bench/drive/fio.h"

/* An -o directory must be new or empty. */
int cp_measure_dir_check(const char *path, struct cp_err *err);
/* Make the run directory and lock it, so that nobody else writes there. */
int cp_measure_dir_make(struct cp_measure *measure, struct cp_err *err);
/* Lock measure->dir until cp_measure_free(). */
int cp_measure_dir_lock(struct cp_measure *measure, struct cp_err *err);

/* What a run of the plan is measured on, in the manifest's form. */
int cp_measure_describe(struct cp_manifest *manifest, const struct cp_plan *plan,
			const struct cp_fio *fio, struct cp_err *err);
int cp_measure_manifest_begin(struct cp_measure *measure, const struct cp_fio *fio,
			      struct cp_err *err);

/* Find what the plan's driver needs of fio; its version is "none" where it needs none and
 * there is none. check: that it and the plug-ins belong together. */
int cp_measure_find_fio(const struct cp_plan *plan, bool check, struct cp_fio *ret_fio,
			struct cp_err *err);

/* Plan and manifest of the run to go on with, and its fio; refused where tool or machine
 * differ. */
int cp_measure_resume(struct cp_measure *measure, struct cp_fio *fio, struct cp_err *err);
/* Mark what the directory holds already. */
int cp_measure_mark_done(struct cp_measure *measure, bool *done, struct cp_err *err);

/* measure_plan.c: to stdout, a line a cell: the context, and each field (context or arm)
 * that varies or is not what it is by default; then samples and time. */
void cp_measure_print_plan(const struct cp_plan *plan);

#endif
