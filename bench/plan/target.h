/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files that look at a plan's target and make it; nobody else includes this.
 * "The file" is what media that a plan may make a file for, or that are given one, use.
 */
#ifndef CP_BENCH_PLAN_TARGET_H
#define CP_BENCH_PLAN_TARGET_H

#include "bench/plan/plan.h"

/* This cell's media is a file that is named, and no device. */
bool cp_target_takes_file(const struct cp_plan_cell *cell);
bool cp_target_has_file(const struct cp_plan *plan); /* some cell takes it */
/* What it has to hold: the size, behind the widest misalign_far (to *ret_far unless
 * NULL). */
uint64_t cp_target_file_bytes(const struct cp_plan *plan, uint32_t *ret_far);
/* May it be used as it is, or made where there is none? Nothing is opened. */
int cp_target_check_file(const struct cp_plan *plan, struct cp_err *err);
/* Is the target persistent memory where an arm requires it? It is mapped and closed
 * again, and no page is touched. Of a file that is not there yet: would it be, as one
 * without a name in its directory is? */
int cp_target_check_persistent(const struct cp_plan *plan, struct cp_err *err);

#endif
