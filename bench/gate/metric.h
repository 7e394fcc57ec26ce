/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a gate judges: the names of its rules, how each is read from a record, and which
 * direction is worse.
 *
 * A difference is d = ln(B/A), signed so that positive is worse: bandwidth and IOPS are
 * turned round. A percentage in a rule or on a screen is always of the metric itself, in
 * its natural direction ("bw -10 %", "p99 +8 %"); cp_gate_d() and cp_gate_pct() go
 * between the two. Counters have no logarithm: their d is B - A and they compare exactly.
 */
#ifndef CP_BENCH_GATE_METRIC_H
#define CP_BENCH_GATE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "results/record.h"

enum cp_gate_metric {
	CP_GATE_BW,
	CP_GATE_IOPS,
	CP_GATE_CPU, /* ns of CPU a byte */
	CP_GATE_P50,
	CP_GATE_P99,
	CP_GATE_P999,
	CP_GATE_NR_TIMED,
	CP_GATE_ERRORS = CP_GATE_NR_TIMED,
	CP_GATE_FALLBACKS, /* I/Os that fell back to the CPU, for whatever reason */
	CP_GATE_NR,
	/* shown by compare where both sides have them, judged by no rule */
	CP_GATE_CORUNNER = CP_GATE_NR,
	CP_GATE_CORUNNER_CPU,
	CP_GATE_APP,
	CP_GATE_FAULTS,
	CP_GATE_FAULT_P50,
	CP_GATE_FAULT_P99,
	CP_GATE_FAULT_USER,
	CP_GATE_FAULT_SYS,
	CP_GATE_NR_ALL,
};

struct cp_gate_metric_def {
	const char *name;
	bool more_is_better;
	double margin_pct; /* default margin; 0 for counters */
};
extern const struct cp_gate_metric_def cp_gate_metrics[CP_GATE_NR_ALL];
/* The names of the timed metrics, NULL-terminated: what rules and options may say. */
extern const char *const cp_gate_metric_words[CP_GATE_NR_TIMED + 1];

static inline bool cp_gate_is_counter(enum cp_gate_metric metric)
{
	return metric >= CP_GATE_NR_TIMED && metric < CP_GATE_NR;
}

/* NaN when the record does not have it. */
double cp_gate_metric_value(const struct cp_record *record, enum cp_gate_metric metric);
/* The d of a change by pct percent (above -100) of the metric, and back. */
double cp_gate_d(enum cp_gate_metric metric, double pct);
double cp_gate_pct(enum cp_gate_metric metric, double d);
/* A value with its unit: "7.63 GB/s", "12.3 us". Returns buf; 32 bytes suffice. */
const char *cp_gate_value_format(enum cp_gate_metric metric, double value, char *buf,
				 size_t size);

#endif
