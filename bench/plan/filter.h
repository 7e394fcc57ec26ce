/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters as --filter has them: "key=value" with the key of a context or arm field, or
 * `arm` (a shell pattern over arm names). The same key twice means either, different keys
 * mean both.
 */
#ifndef CP_BENCH_PLAN_FILTER_H
#define CP_BENCH_PLAN_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

struct cp_filter;

/* The texts must outlive the filter. Exit 2 for an unknown key or a value that does not
 * parse. */
int cp_filter_parse(const char *const *texts, size_t nr, struct cp_filter **ret,
		    struct cp_err *err);
bool cp_filter_matches(const struct cp_filter *filter, const struct cp_context *context,
		       const struct cp_arm *arm);
void cp_filter_free(struct cp_filter *filter); /* NULL is fine */

#endif
