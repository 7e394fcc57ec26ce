/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two sets side by side: medians and the ratio B/A with a 95 % interval. No verdict and
 * no correction for looking at many: that is the gate's.
 *
 * Equal numbers of samples are paired in time order: the ratio is exp of the
 * Hodges-Lehmann estimate of ln(B/A), its interval the exact signed-rank one. Else the
 * ratio is that of the medians, and the interval spans the ratios of their intervals.
 */
#ifndef CP_BENCH_GATE_COMPARE_H
#define CP_BENCH_GATE_COMPARE_H

#include <stdio.h>

#include "bench/gate/set.h"

#define CP_COMPARE_FILTERS_MAX 16

struct cp_compare_filter {
	const struct cp_field *field; /* NULL: the arm's name */
	bool of_arm;
	char value[256]; /* as cp_field_format() writes it, plain */
};

struct cp_compare_opts {
	unsigned metrics; /* bit mask of enum cp_gate_metric */
	bool by_cell;	  /* sorted by cell, else by ratio, worst first */
	unsigned nr_filters;
	struct cp_compare_filter filters[CP_COMPARE_FILTERS_MAX]; /* all must hold */
};

struct cp_compare_row {
	const struct cp_gate_cell *a, *b;
	enum cp_gate_metric metric;
	bool paired;
	double median_a, median_b;
	double ratio, low, high; /* NaN or infinite where unknown */
	double worse;		 /* ln of the ratio, positive is worse */
};

struct cp_compare {
	const struct cp_gate_set *a, *b;
	size_t nr_rows;
	struct cp_compare_row *rows;
	size_t nr_only_a, nr_only_b;
	const char **only_a, **only_b; /* labels of cells the other side lacks */
	unsigned nr_notes;
	char notes[8][640];
	const char *fingerprint; /* same, differs, unknown */
};

/* "key=value" over the fields of a context or arm, or name=ARM. exit USAGE. */
int cp_compare_filter_parse(const char *text, struct cp_compare_filter *ret_filter,
			    struct cp_err *err);
/* a and b must outlive the result. */
int cp_compare_make(const struct cp_gate_set *a, const struct cp_gate_set *b,
		    const struct cp_compare_opts *opts, struct cp_compare *ret_compare,
		    struct cp_err *err);
void cp_compare_free(struct cp_compare *compare);

void cp_compare_write_text(const struct cp_compare *compare, FILE *out);
int cp_compare_write_json(const struct cp_compare *compare, FILE *out);

#endif
