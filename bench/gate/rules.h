/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gate rules, `kind: gate`: how much worse each metric may be, and what may be traded.
 *
 *   schema: 1
 *   kind: gate
 *   name: default
 *   margins: {bw: 2%, iops: 2%, cpu: 2%, p50: 3%, p99: 8%, p999: 15%}   # or off
 *   allow:
 *     - {bw: -10%, iops: -10%, if: {cpu: -30%}}
 *
 * A margin that is left out keeps its default. `allow` is one rule or a list: where every
 * condition of `if` surely holds, the metrics it names may be that much worse.
 */
#ifndef CP_BENCH_GATE_RULES_H
#define CP_BENCH_GATE_RULES_H

#include "bench/gate/metric.h"
#include "engines/base/err.h"

#define CP_GATE_ALLOW_MAX 32

struct cp_gate_allow {
	double limit_pct[CP_GATE_NR_TIMED]; /* NaN = not named; natural direction */
	double if_pct[CP_GATE_NR_TIMED];
};

struct cp_gate_rules {
	char name[CP_NAME_MAX];
	double margin_pct[CP_GATE_NR_TIMED]; /* NaN = off: not judged */
	unsigned nr_allow;
	struct cp_gate_allow allow[CP_GATE_ALLOW_MAX];
};

void cp_gate_rules_init(struct cp_gate_rules *rules); /* the defaults */
/* Problems with their places, all at once; exit USAGE. */
int cp_gate_rules_read(const char *path, struct cp_gate_rules *ret_rules,
		       struct cp_err *err);
int cp_gate_rules_read_text(const char *name, const char *text, size_t len,
			    struct cp_gate_rules *ret_rules, struct cp_err *err);
/* The margin of a metric as a d; NaN = off. */
double cp_gate_margin_d(const struct cp_gate_rules *rules, enum cp_gate_metric metric);

#endif
