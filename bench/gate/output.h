/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A gate's report in the forms its readers take. All write to a stream and look at
 * nothing but the report; stream errors are the caller's to check.
 */
#ifndef CP_BENCH_GATE_OUTPUT_H
#define CP_BENCH_GATE_OUTPUT_H

#include <stdio.h>

#include "bench/gate/gate.h"

struct cp_gate_output {
	const struct cp_gate_report *report;
	const struct cp_gate_set *baseline, *candidate;
	const struct cp_gate_rules *rules;
};

#define CP_GATE_ANNOTATIONS_MAX 10

void cp_gate_write_text(const struct cp_gate_output *output, FILE *out);
void cp_gate_write_markdown(const struct cp_gate_output *output, FILE *out);
/* {"verdict","exit","metrics":[{"cell","metric","verdict","hl","margin","p","pairs",
 * "mde",...}],...}; hl, margin and mde are d, see bench/gate/metric.h. -ENOMEM or 0. */
int cp_gate_write_json(const struct cp_gate_output *output, FILE *out);
/* INVALID = error, INCONCLUSIVE = skipped with its reason, REGRESSED = failure. Text is
 * escaped for XML 1.0; what XML cannot hold becomes U+FFFD. */
void cp_gate_write_junit(const struct cp_gate_output *output, FILE *out);
/* Workflow commands: the worst CP_GATE_ANNOTATIONS_MAX, then how many more. */
void cp_gate_write_github(const struct cp_gate_output *output, FILE *out);

/* "bw -9.8 % (at worst -11.2 %), margin 2.0 %": one row in words. Returns buf. */
const char *cp_gate_row_words(const struct cp_gate_row *row, char *buf, size_t size);
/* How large a margin or MDE is in percent of the metric, without sign; NaN = unknown. */
double cp_gate_row_pct(const struct cp_gate_row *row, double d);
/* Text for XML, between tags or in a "..." attribute. */
void cp_gate_xml_escape(const char *text, FILE *out);

#endif
