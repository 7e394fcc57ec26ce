/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict on two stored sets of samples.
 *
 * Per cell and metric the samples are paired in time order and d = ln(B/A), positive is
 * worse (bench/gate/metric.h). Pairs 1 to 10 screen: flagged when the one-sided exact
 * signed-rank p <= 0.05 and the Hodges-Lehmann estimate exceeds half the margin. The
 * other pairs, at least 20, confirm: the same test on d - margin, Holm at 0.01 over the
 * family, which is all metrics of the gate that were flagged as worse. OK needs the
 * one-sided 95 % upper bound of d inside the margin. IMPROVED is the mirror image of
 * REGRESSED with a family of its own, those flagged as better: neither claim weakens or
 * strengthens the other.
 *
 * Minimum detectable effect, what the confirming test finds in 80 % of cases:
 *   mde = margin + (z(1 - 0.01/k) + z(0.80)) * sd(d) * sqrt((pi/3) / n)
 * with k metrics flagged as worse (at least 1), n confirming pairs, and pi/3 for the
 * efficiency of the signed-rank test under the normal distribution (Lehmann,
 * Nonparametrics, 2.4).
 */
#ifndef CP_BENCH_GATE_GATE_H
#define CP_BENCH_GATE_GATE_H

#include "bench/gate/rules.h"
#include "bench/gate/set.h"

#define CP_GATE_SCREEN_PAIRS  10
#define CP_GATE_CONFIRM_PAIRS 20
#define CP_GATE_SCREEN_P      0.05
#define CP_GATE_CONFIRM_P     0.01
#define CP_GATE_STUCK_MIN     3 /* equal values from which a metric counts as stuck */

enum cp_verdict { /* mildest first */
		  CP_VERDICT_OK,
		  CP_VERDICT_IMPROVED,
		  CP_VERDICT_INCONCLUSIVE,
		  CP_VERDICT_REGRESSED,
		  CP_VERDICT_INVALID,
		  CP_VERDICT_NR,
};
extern const char *const cp_verdict_names[CP_VERDICT_NR + 1]; /* NULL-terminated */

enum cp_gate_inconclusive { CP_GATE_EXIT3, CP_GATE_PASS, CP_GATE_FAIL };

struct cp_gate_opts {
	bool ignore_fingerprint;
	enum cp_gate_inconclusive inconclusive;
};

struct cp_gate_row {
	const char *cell;   /* label, or "(all)" */
	const char *metric; /* name, or what is invalid: "records", "fingerprint", ... */
	int id;		    /* enum cp_gate_metric, or -1 */
	const struct cp_provenance *provenance; /* NULL where id is -1 */
	enum cp_verdict verdict;
	char reason[512];	   /* "" for a plain verdict */
	double median_a, median_b; /* NaN = unknown, like all below */
	/* as d, of the confirming pairs (of all pairs when there are too few) */
	double hl, lower, upper; /* bounds: one-sided 95 % each */
	double margin, mde;	 /* as d */
	double sd;
	double p_screen;      /* of the direction the screen looked worst or best in */
	double p;	      /* confirming; Holm-adjusted where flagged */
	size_t pairs, needed; /* needed: 0 = nothing more is */
	int flagged;	      /* 1 worse, -1 better, 0 not */
	double p_worse, p_better;
};

struct cp_gate_report {
	enum cp_verdict verdict;
	enum cp_exit exit;
	size_t nr_rows, capacity;
	struct cp_gate_row *rows; /* after cp_gate_sort(): worst first */
	size_t counts[CP_VERDICT_NR];
	size_t nr_worse; /* flagged as worse: the family of REGRESSED */
	unsigned nr_notes;
	char notes[12][640];
};

/* Judge candidate b against baseline a. Both must outlive the report. */
int cp_gate_judge(const struct cp_gate_set *a, const struct cp_gate_set *b,
		  const struct cp_gate_rules *rules, const struct cp_gate_opts *opts,
		  struct cp_gate_report *ret_report, struct cp_err *err);
void cp_gate_report_free(struct cp_gate_report *report);

/* The parts of cp_gate_judge(), in bench/gate: what is wrong with the sets as a whole
 * (rows of id -1), and the verdicts once every row has its figures. */
struct cp_gate_row *cp_gate_row_add(struct cp_gate_report *report, const char *cell,
				    const char *metric);
void cp_gate_note(struct cp_gate_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int cp_gate_check_sets(struct cp_gate_report *report, const struct cp_gate_set *a,
		       const struct cp_gate_set *b, const struct cp_gate_opts *opts);
void cp_gate_row_measure(struct cp_gate_row *row, const struct cp_gate_cell *a,
			 const struct cp_gate_cell *b, double *d);
int cp_gate_decide(struct cp_gate_report *report, const struct cp_gate_rules *rules);

#endif
