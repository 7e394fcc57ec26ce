/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goes on beside a sample, whoever makes its I/Os: a co-runner, counters of perf.
 * One file each with a const struct cp_beside, listed in beside.c.
 *
 * Order of calls: check() before anything is measured or written; begin() in the table's
 * order, the driver's take(), end() in reverse for those whose begin() was called, also
 * when the sample failed or was interrupted. Errors are what makes going on pointless;
 * what spoils only this sample goes into record->failed.
 */
#ifndef CP_BENCH_DRIVE_BESIDE_H
#define CP_BENCH_DRIVE_BESIDE_H

#include "bench/drive/driver.h"

struct cp_beside {
	const char *name;
	/* Can this plan's samples have it here? Exit 2 or 4 with the setting to change.
	 */
	int (*check)(const struct cp_plan *plan, struct cp_err *err);
	/* May add to take->prefix. *ret_state is end()'s; NULL = nothing is to be done.
	 */
	int (*begin)(struct cp_take *take, void **ret_state, struct cp_err *err);
	/* record is NULL where there is none to add to; what is in record->notes joins
	 * the driver's. Frees state. */
	int (*end)(const struct cp_take *take, void *state, struct cp_record *record,
		   struct cp_err *err);
};

extern const struct cp_beside cp_beside_corunner;
extern const struct cp_beside cp_beside_perf, cp_beside_profile;

#define CP_BESIDE_MAX 4
extern const struct cp_beside *const cp_besides[CP_BESIDE_MAX + 1]; /* NULL-terminated */

int cp_beside_check(const struct cp_plan *plan, struct cp_err *err);
/* The driver's take() of one sample with all of them around it. */
int cp_beside_take(const struct cp_driver *driver, void *state, struct cp_take *take,
		   struct cp_record *record, char *note, size_t note_size,
		   struct cp_err *err);

#endif
