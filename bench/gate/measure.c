/* SPDX-License-Identifier: GPL-2.0-only */
/* One cell and metric: is it fit to be judged, and what do its pairs say. */
#include <math.h>
#include <string.h>

#include "bench/gate/gate.h"
#include "results/stats.h"

static bool all_equal(const double *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

static size_t count_missing(const double *values, size_t n)
{
	size_t missing = 0;

	for (size_t i = 0; i < n; i++)
		missing += isnan(values[i]) != 0;
	return missing;
}

static bool all_positive(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(values[i] > 0.0) || isinf(values[i]))
			return false;
	return true;
}

static void set_verdict(struct cp_gate_row *row, enum cp_verdict verdict, const char *fmt,
			...) __attribute__((format(printf, 3, 4)));

static void set_verdict(struct cp_gate_row *row, enum cp_verdict verdict, const char *fmt,
			...)
{
	va_list args;

	row->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(row->reason, sizeof(row->reason), fmt, args);
	va_end(args);
}

/* Constants have no spread to test: equal is OK, anything else is a change. */
static void compare_exactly(struct cp_gate_row *row, double a, double b, bool better)
{
	row->needed = 0;
	if (a == b)
		set_verdict(row, CP_VERDICT_OK, "constant, compared exactly");
	else
		set_verdict(row, better ? CP_VERDICT_IMPROVED : CP_VERDICT_REGRESSED,
			    "constant, compared exactly: %.17g, was %.17g", b, a);
}

/* Returns true when the row has its verdict already and is not to be tested. */
static bool judge_timed(struct cp_gate_row *row, bool external, const double *a,
			size_t na, const double *b, size_t nb)
{
	bool stuck_a = na >= CP_GATE_STUCK_MIN && all_equal(a, na);
	bool stuck_b = nb >= CP_GATE_STUCK_MIN && all_equal(b, nb);
	const char *side =
		stuck_a ? stuck_b ? "both sides" : "the baseline" : "the candidate";

	/* an external driver may report exact constants; a clock never does */
	if (stuck_a && stuck_b && external) {
		bool more = cp_gate_metrics[row->id].more_is_better;

		compare_exactly(row, a[0], b[0], more ? b[0] > a[0] : b[0] < a[0]);
		return true;
	}
	if (stuck_a || stuck_b) {
		set_verdict(
			row, CP_VERDICT_INVALID,
			"stuck: all %zu values of %s are %.9g; a measured figure varies",
			stuck_a ? na : nb, side, stuck_a ? a[0] : b[0]);
		return true;
	}
	if (!all_positive(a, na) || !all_positive(b, nb)) {
		set_verdict(row, CP_VERDICT_INVALID,
			    "a value of the %s is not above 0, so no ratio can be formed",
			    all_positive(a, na) ? "candidate" : "baseline");
		return true;
	}
	return false;
}

/* A counter that is constant in the baseline is judged by its worst sample. One that
 * varies there by itself is no constant and goes to the test, as B - A. */
static bool judge_counter(struct cp_gate_row *row, const double *a, size_t na,
			  const double *b, size_t nb)
{
	double most = b[0];

	if (!all_equal(a, na))
		return false;
	for (size_t i = 1; i < nb; i++)
		if (b[i] > most)
			most = b[i];
	if (all_equal(b, nb) || most > a[0])
		compare_exactly(row, a[0], most, most < a[0]);
	else
		set_verdict(row, CP_VERDICT_IMPROVED,
			    "at most %.17g, was constant at %.17g", most, a[0]);
	return true;
}

static void test_pairs(struct cp_gate_row *row, double *d, size_t n)
{
	size_t skip = n > CP_GATE_SCREEN_PAIRS ? CP_GATE_SCREEN_PAIRS : 0;
	size_t rest = n - skip;
	double low, high, screen_hl, worse, better;
	double neg[CP_SIGNED_RANK_MAX];

	if (skip) {
		for (size_t i = 0; i < skip; i++)
			neg[i] = -d[i];
		worse = cp_stat_signed_rank_greater(d, skip);
		better = cp_stat_signed_rank_greater(neg, skip);
		screen_hl = cp_stat_hodges_lehmann(d, skip, 0.9, &low, &high);
		row->p_screen = worse < better ? worse : better;
		if (worse <= CP_GATE_SCREEN_P && screen_hl > row->margin / 2)
			row->flagged = 1;
		else if (better <= CP_GATE_SCREEN_P && -screen_hl > row->margin / 2)
			row->flagged = -1;
	}
	if (rest > CP_SIGNED_RANK_MAX)
		rest = CP_SIGNED_RANK_MAX;
	d += skip;
	/* two-sided 90 % is one-sided 95 % at either end */
	row->hl = cp_stat_hodges_lehmann(d, rest, 0.9, &row->lower, &row->upper);
	row->sd = cp_stat_sd(d, rest);
	for (size_t i = 0; i < rest; i++) {
		neg[i] = -d[i] - row->margin;
		d[i] -= row->margin;
	}
	row->p_worse = cp_stat_signed_rank_greater(d, rest);
	row->p_better = cp_stat_signed_rank_greater(neg, rest);
	row->verdict = CP_VERDICT_INCONCLUSIVE; /* until cp_gate_decide() */
}

static void measure(struct cp_gate_row *row, bool external, const double *a, size_t na,
		    const double *b, size_t nb, double *d)
{
	bool counter = cp_gate_is_counter((enum cp_gate_metric)row->id);
	bool inverted = cp_gate_metrics[row->id].more_is_better;
	size_t gone_a = count_missing(a, na), gone_b = count_missing(b, nb);

	row->pairs = na < nb ? na : nb;
	if (gone_a || gone_b) {
		set_verdict(
			row, CP_VERDICT_INVALID,
			"missing in %zu of %zu samples of the baseline and %zu of %zu "
			"of the candidate",
			gone_a, na, gone_b, nb);
		return;
	}
	row->median_a = cp_stat_median(a, na);
	row->median_b = cp_stat_median(b, nb);
	if (counter ? judge_counter(row, a, na, b, nb)
		    : judge_timed(row, external, a, na, b, nb))
		return;
	for (size_t i = 0; i < row->pairs; i++) {
		d[i] = counter ? b[i] - a[i] : log(b[i] / a[i]);
		if (inverted)
			d[i] = -d[i];
	}
	test_pairs(row, d, row->pairs);
}

void cp_gate_row_measure(struct cp_gate_row *row, const struct cp_gate_cell *a,
			 const struct cp_gate_cell *b, double *d)
{
	size_t na = a->nr_samples, nb = b->nr_samples;
	double *va = d + (na > nb ? na : nb), *vb = va + na;

	for (size_t i = 0; i < na; i++)
		va[i] = a->samples[i].value[row->id];
	for (size_t i = 0; i < nb; i++)
		vb[i] = b->samples[i].value[row->id];
	measure(row, !strcmp(a->provenance.media, "external"), va, na, vb, nb, d);
}
