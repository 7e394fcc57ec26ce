/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/gate.h"
#include "results/stats.h"

const char *const cp_verdict_names[CP_VERDICT_NR + 1] = {
	"OK", "IMPROVED", "INCONCLUSIVE", "REGRESSED", "INVALID", NULL,
};

void cp_gate_report_free(struct cp_gate_report *report)
{
	free(report->rows);
	memset(report, 0, sizeof(*report));
}

struct cp_gate_row *cp_gate_row_add(struct cp_gate_report *report, const char *cell,
				    const char *metric)
{
	if (report->nr_rows == report->capacity) {
		size_t capacity = report->capacity ? 2 * report->capacity : 64;
		struct cp_gate_row *rows =
			reallocarray(report->rows, capacity, sizeof(*rows));

		if (!rows)
			return NULL;
		report->rows = rows;
		report->capacity = capacity;
	}
	struct cp_gate_row *row = &report->rows[report->nr_rows++];

	memset(row, 0, sizeof(*row));
	row->cell = cell;
	row->metric = metric;
	row->id = -1;
	row->median_a = row->median_b = NAN;
	row->hl = row->lower = row->upper = row->margin = row->mde = row->sd = NAN;
	row->p = row->p_screen = row->p_worse = row->p_better = NAN;
	return row;
}

void cp_gate_note(struct cp_gate_report *report, const char *fmt, ...)
{
	const unsigned max = sizeof(report->notes) / sizeof(report->notes[0]);
	va_list args;

	if (report->nr_notes == max)
		return;
	va_start(args, fmt);
	vsnprintf(report->notes[report->nr_notes++], sizeof(report->notes[0]), fmt, args);
	va_end(args);
}

/* True when a cell cannot be judged at all, with the reason. */
static bool is_damaged(const struct cp_gate_cell *a, const struct cp_gate_cell *b,
		       char *buf, size_t size)
{
	char was[CP_WORD_MAX * 4], is[CP_WORD_MAX * 4];

	if (a->nr_failed || b->nr_failed)
		snprintf(buf, size,
			 "failed samples: %llu of the baseline, %llu of the candidate; "
			 "first: %s",
			 (unsigned long long)a->nr_failed,
			 (unsigned long long)b->nr_failed,
			 a->nr_failed ? a->failed : b->failed);
	else if (a->nr_verified || b->nr_verified)
		snprintf(buf, size,
			 "samples with verify on: %llu of the baseline, %llu of the "
			 "candidate; their figures hold the time of the check, expected "
			 "verify off",
			 (unsigned long long)a->nr_verified,
			 (unsigned long long)b->nr_verified);
	else if (a->mixed || b->mixed)
		snprintf(buf, size, "the samples of the %s differ in provenance",
			 a->mixed ? "baseline" : "candidate");
	else if (!cp_gate_provenance_same(&a->provenance, &b->provenance))
		snprintf(buf, size, "provenance differs: %s; was %s",
			 cp_gate_provenance_format(&b->provenance, is, sizeof(is)),
			 cp_gate_provenance_format(&a->provenance, was, sizeof(was)));
	else
		return false;
	return true;
}

static int refuse_cell(struct cp_gate_report *report, const struct cp_gate_cell *cell,
		       const char *reason)
{
	struct cp_gate_row *row = cp_gate_row_add(report, cell->label, "all");

	if (!row)
		return -ENOMEM;
	row->verdict = CP_VERDICT_INVALID;
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	return 0;
}

static bool has_metric(const struct cp_gate_cell *cell, int metric)
{
	for (size_t i = 0; i < cell->nr_samples; i++)
		if (!isnan(cell->samples[i].value[metric]))
			return true;
	return false;
}

static int judge_cell(struct cp_gate_report *report, const struct cp_gate_cell *a,
		      const struct cp_gate_cell *b, const struct cp_gate_rules *rules,
		      double *d)
{
	char damage[sizeof(report->rows->reason)];
	struct cp_gate_row *row;
	bool any = false;

	if (is_damaged(a, b, damage, sizeof(damage)))
		return refuse_cell(report, a, damage);
	for (int m = 0; m < CP_GATE_NR; m++) {
		double margin = cp_gate_margin_d(rules, (enum cp_gate_metric)m);

		if (!has_metric(a, m) && !has_metric(b, m))
			continue; /* measured by neither */
		any |= !cp_gate_is_counter((enum cp_gate_metric)m);
		if (isnan(margin))
			continue;
		row = cp_gate_row_add(report, a->label, cp_gate_metrics[m].name);
		if (!row)
			return -ENOMEM;
		row->id = m;
		row->provenance = &a->provenance;
		row->margin = margin;
		cp_gate_row_measure(row, a, b, d);
	}
	return any ? 0
		   : refuse_cell(report, a,
				 "neither side measured anything in this cell");
}

static size_t most_samples(const struct cp_gate_set *set)
{
	size_t most = 0;

	for (size_t i = 0; i < set->nr_cells; i++)
		if (set->cells[i].nr_samples > most)
			most = set->cells[i].nr_samples;
	return most;
}

static int judge_cells(struct cp_gate_report *report, const struct cp_gate_set *a,
		       const struct cp_gate_set *b, const struct cp_gate_rules *rules)
{
	size_t most = most_samples(a) + most_samples(b), unpaired = 0, cut = 0;
	const size_t max = CP_GATE_SCREEN_PAIRS + CP_SIGNED_RANK_MAX;
	double *d = calloc(2 * most + 1, sizeof(*d));
	int rc = d ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < a->nr_cells; i++) {
		const struct cp_gate_cell *x = &a->cells[i];
		const struct cp_gate_cell *y = cp_gate_set_find(b, x->key);

		if (!y) {
			rc = refuse_cell(report, x,
					 "the candidate has no samples of this cell");
			continue;
		}
		rc = judge_cell(report, x, y, rules, d);
		unpaired += x->nr_samples != y->nr_samples;
		cut += x->nr_samples > max && y->nr_samples > max;
	}
	for (size_t i = 0; !rc && i < b->nr_cells; i++)
		if (!cp_gate_set_find(a, b->cells[i].key))
			rc = refuse_cell(report, &b->cells[i],
					 "the baseline has no samples of this cell");
	free(d);
	if (unpaired)
		cp_gate_note(
			report,
			"%zu cells have unequal numbers of samples; what has no partner "
			"in time order is not used",
			unpaired);
	if (cut)
		cp_gate_note(report,
			     "%zu cells have more than %zu pairs; the later ones are "
			     "not used",
			     cut, max);
	return rc;
}

static void sum_up(struct cp_gate_report *report, const struct cp_gate_opts *opts)
{
	report->verdict = CP_VERDICT_OK;
	for (size_t i = 0; i < report->nr_rows; i++) {
		enum cp_verdict verdict = report->rows[i].verdict;

		report->counts[verdict]++;
		if (verdict > report->verdict)
			report->verdict = verdict;
	}
	switch (report->verdict) {
	case CP_VERDICT_OK:
	case CP_VERDICT_IMPROVED:
		report->exit = CP_EXIT_OK;
		break;
	case CP_VERDICT_INCONCLUSIVE:
		report->exit = opts->inconclusive == CP_GATE_PASS ? CP_EXIT_OK
			       : opts->inconclusive == CP_GATE_FAIL
				       ? CP_EXIT_REGRESSED
				       : CP_EXIT_INCONCLUSIVE;
		break;
	case CP_VERDICT_REGRESSED:
		report->exit = CP_EXIT_REGRESSED;
		break;
	case CP_VERDICT_INVALID:
	case CP_VERDICT_NR:
		report->exit = CP_EXIT_INVALID;
		break;
	}
}

static int by_severity(const void *x, const void *y)
{
	const struct cp_gate_row *a = x, *b = y;

	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	double ha = isnan(a->hl) ? -INFINITY : a->hl,
	       hb = isnan(b->hl) ? -INFINITY : b->hl;

	if (ha != hb)
		return ha > hb ? -1 : 1;
	int order = strcmp(a->cell, b->cell);

	return order ? order : a->id - b->id;
}

int cp_gate_judge(const struct cp_gate_set *a, const struct cp_gate_set *b,
		  const struct cp_gate_rules *rules, const struct cp_gate_opts *opts,
		  struct cp_gate_report *ret_report, struct cp_err *err)
{
	struct cp_gate_report report = {0};
	int rc;

	cp_gate_note(
		&report,
		"margins are those of the rules '%.100s', not calibrated against this "
		"machine's own noise",
		rules->name);
	cp_gate_note(&report,
		     "two stored sets: drift of the machine between them cannot be "
		     "excluded");
	rc = cp_gate_check_sets(&report, a, b, opts);
	if (!rc && !report.nr_rows)
		rc = judge_cells(&report, a, b, rules);
	if (!rc && !report.nr_rows) {
		struct cp_gate_row *row = cp_gate_row_add(&report, "(all)", "rules");

		rc = row ? 0 : -ENOMEM;
		if (row) {
			row->verdict = CP_VERDICT_INVALID;
			snprintf(row->reason, sizeof(row->reason),
				 "no metric is left to judge");
		}
	}
	if (!rc)
		rc = cp_gate_decide(&report, rules);
	if (rc) {
		cp_gate_report_free(&report);
		return cp_err_set(err, CP_EXIT_INTERNAL, -rc, "out of memory");
	}
	sum_up(&report, opts);
	qsort(report.rows, report.nr_rows, sizeof(*report.rows), by_severity);
	*ret_report = report;
	return 0;
}
