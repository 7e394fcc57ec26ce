/* SPDX-License-Identifier: GPL-2.0-only */
/* From figures to verdicts: Holm over the flagged, bounds, trades, what is missing. */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "bench/gate/gate.h"
#include "results/stats.h"

#define POWER 0.80

static bool is_open(const struct cp_gate_row *row)
{
	return row->verdict == CP_VERDICT_INCONCLUSIVE;
}

static double signed_rank_sd(double sd, size_t n)
{
	return sd * sqrt(M_PI / 3.0 / (double)n);
}

/*
 * Holm within one direction. The family of REGRESSED is the metrics of this gate that the
 * screen flagged as worse, that of IMPROVED those flagged as better: two claims, each at
 * 0.01 by itself, so that improvements elsewhere make a regression neither harder nor
 * easier to confirm.
 */
static void adjust(struct cp_gate_report *report, int direction, double *p,
		   double *adjusted)
{
	size_t n = 0;

	for (size_t i = 0; i < report->nr_rows; i++)
		if (is_open(&report->rows[i]) && report->rows[i].flagged == direction)
			p[n++] = direction > 0 ? report->rows[i].p_worse
					       : report->rows[i].p_better;
	if (!n)
		return;
	cp_stat_holm(p, n, adjusted);
	n = 0;
	for (size_t i = 0; i < report->nr_rows; i++)
		if (is_open(&report->rows[i]) && report->rows[i].flagged == direction)
			report->rows[i].p = adjusted[n++];
}

/* Pairs after which a verdict is likely, by the normal approximation of the MDE. */
static size_t pairs_to_decide(const struct cp_gate_row *row, double z)
{
	double gap = fabs(row->margin - row->hl);

	if (row->hl <= row->margin)
		z = gsl_cdf_ugaussian_Pinv(0.95);
	double n =
		pow((z + gsl_cdf_ugaussian_Pinv(POWER)) * row->sd / gap, 2) * M_PI / 3.0;

	if (!(n < 1e6))
		return 0;
	size_t needed = CP_GATE_SCREEN_PAIRS + (size_t)ceil(n);

	return needed > row->pairs ? needed : row->pairs + CP_GATE_SCREEN_PAIRS;
}

static void decide(struct cp_gate_row *row, size_t min_pairs, double z)
{
	bool counter = cp_gate_is_counter((enum cp_gate_metric)row->id);

	if (row->pairs < min_pairs) {
		row->needed = min_pairs;
		snprintf(row->reason, sizeof(row->reason),
			 "%zu pairs can never reach significance; a verdict needs %zu",
			 row->pairs, min_pairs);
		return;
	}
	if (row->flagged > 0 && row->p <= CP_GATE_CONFIRM_P) {
		row->verdict = CP_VERDICT_REGRESSED;
	} else if (row->flagged < 0 && row->p <= CP_GATE_CONFIRM_P) {
		row->verdict = CP_VERDICT_IMPROVED;
	} else if (row->upper <= row->margin) {
		row->verdict = CP_VERDICT_OK;
	} else if (counter) {
		row->verdict = CP_VERDICT_OK;
		snprintf(row->reason, sizeof(row->reason),
			 "varies in the baseline by itself; no growth confirmed");
	} else {
		row->needed = pairs_to_decide(row, z);
		if (row->needed)
			snprintf(row->reason, sizeof(row->reason),
				 "neither inside the margin nor confirmed outside it; "
				 "about "
				 "%zu pairs would decide",
				 row->needed);
		else
			snprintf(row->reason, sizeof(row->reason),
				 "lies at the margin: no practical number of pairs would "
				 "decide");
	}
}

/* Does the trade cover this row, with every condition sure at its bound? */
static bool is_allowed(const struct cp_gate_row *row, const struct cp_gate_row *cell,
		       size_t nr, const struct cp_gate_allow *allow, size_t min_pairs)
{
	if (cp_gate_is_counter((enum cp_gate_metric)row->id))
		return false;
	double limit = allow->limit_pct[row->id];

	if (isnan(limit) ||
	    !(row->upper <= cp_gate_d((enum cp_gate_metric)row->id, limit)))
		return false;
	for (int m = 0; m < CP_GATE_NR_TIMED; m++) {
		bool holds = false;

		if (isnan(allow->if_pct[m]))
			continue;
		double gain = cp_gate_d((enum cp_gate_metric)m, allow->if_pct[m]);

		for (size_t i = 0; i < nr; i++)
			holds |= cell[i].id == m && cell[i].pairs >= min_pairs &&
				 cell[i].verdict != CP_VERDICT_INVALID &&
				 cell[i].upper <= gain;
		if (!holds)
			return false;
	}
	return true;
}

/* The rows of a cell stand together until the report is sorted. */
static void trade(struct cp_gate_report *report, const struct cp_gate_rules *rules,
		  size_t min_pairs)
{
	size_t first = 0;

	for (size_t i = 0; i < report->nr_rows; i++) {
		struct cp_gate_row *row = &report->rows[i];

		if (row->cell != report->rows[first].cell)
			first = i;
		size_t end = first;

		while (end < report->nr_rows && report->rows[end].cell == row->cell)
			end++;
		if ((row->verdict != CP_VERDICT_REGRESSED &&
		     row->verdict != CP_VERDICT_INCONCLUSIVE) ||
		    row->id < 0 || row->pairs < min_pairs)
			continue;
		for (unsigned k = 0; k < rules->nr_allow; k++) {
			if (!is_allowed(row, &report->rows[first], end - first,
					&rules->allow[k], min_pairs))
				continue;
			row->verdict = CP_VERDICT_OK;
			row->needed = 0;
			snprintf(row->reason, sizeof(row->reason),
				 "allowed by trade rule %u: at worst %+.1f %%", k + 1,
				 cp_gate_pct((enum cp_gate_metric)row->id, row->upper));
			break;
		}
	}
}

int cp_gate_decide(struct cp_gate_report *report, const struct cp_gate_rules *rules)
{
	double *p = calloc(2 * report->nr_rows + 1, sizeof(*p));
	size_t judged = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < report->nr_rows; i++) {
		judged += is_open(&report->rows[i]);
		report->nr_worse +=
			is_open(&report->rows[i]) && report->rows[i].flagged > 0;
	}
	adjust(report, 1, p, p + report->nr_rows);
	adjust(report, -1, p, p + report->nr_rows);
	free(p);

	size_t family = report->nr_worse ? report->nr_worse : 1;
	size_t confirm = cp_stat_signed_rank_min_n(CP_GATE_CONFIRM_P /
						   (double)(judged ? judged : 1));
	double z = gsl_cdf_ugaussian_Qinv(CP_GATE_CONFIRM_P / (double)family);

	if (confirm < CP_GATE_CONFIRM_PAIRS)
		confirm = CP_GATE_CONFIRM_PAIRS;
	for (size_t i = 0; i < report->nr_rows; i++) {
		struct cp_gate_row *row = &report->rows[i];

		if (!is_open(row))
			continue;
		size_t left = row->pairs > CP_GATE_SCREEN_PAIRS + confirm
				      ? row->pairs - CP_GATE_SCREEN_PAIRS
				      : confirm;
		if (left > CP_SIGNED_RANK_MAX)
			left = CP_SIGNED_RANK_MAX; /* what is used of them */

		row->mde = row->margin + (z + gsl_cdf_ugaussian_Pinv(POWER)) *
						 signed_rank_sd(row->sd, left);
		if (isnan(row->p))
			row->p = row->p_worse;
		decide(row, CP_GATE_SCREEN_PAIRS + confirm, z);
	}
	trade(report, rules, CP_GATE_SCREEN_PAIRS + confirm);
	return 0;
}
