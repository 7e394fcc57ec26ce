// SPDX-License-Identifier: GPL-2.0-only
/* Cells once all samples are in: their medians, their order, and the panels they form. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/data.h"
#include "report/escape.h"
#include "report/misalign.h"
#include "results/stats.h"

#define INTERVAL_LEVEL 0.95

/* Has the arm to say what its DMA is? What is modelled always, the rest where they
 * differ; null is grey, and every figure says of it what it is. */
static bool tells_dma(const struct cp_report *report, const struct cp_report_arm *arm)
{
	if (arm->simulated || !arm->dma[0] || !strcmp(arm->dma, "none"))
		return false;
	for (size_t i = 0; i < report->nr_arms; i++) {
		const struct cp_report_arm *other = &report->arms[i];

		if (!other->simulated && other->dma[0] &&
		    strcmp(other->dma, "none") != 0 && strcmp(other->dma, arm->dma) != 0)
			return true;
	}
	return !strcmp(arm->dma, "modelled");
}

/* A label of its own for each arm, since two runs may give one name to different arms. */
static void label_arm(const struct cp_report *report, struct cp_report_arm *arm)
{
	unsigned same = 1;
	char name[REPORT_LABEL_MAX - 64], dma[CP_WORD_MAX + 4] = "";

	for (size_t i = 0; &report->arms[i] < arm; i++)
		same += !strcmp(report->arms[i].arm.name, arm->arm.name);
	cp_text_visible(arm->arm.name[0] ? arm->arm.name : "(no name)", 64, name,
			sizeof(name));
	if (tells_dma(report, arm))
		snprintf(dma, sizeof(dma), " (%s)", arm->dma);
	if (same > 1)
		snprintf(arm->label, sizeof(arm->label), "%s #%u%s", name, same, dma);
	else
		snprintf(arm->label, sizeof(arm->label), "%s%s", name, dma);
}

static int by_u64(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static int check_duplicates(struct cp_report *report, struct cp_err *err)
{
	uint64_t *keys = report->sample_keys;

	if (report->nr_sample_keys)
		qsort(keys, report->nr_sample_keys, sizeof(*keys), by_u64);
	for (size_t i = 1; i < report->nr_sample_keys; i++)
		if (keys[i] == keys[i - 1])
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "a sample of the same run, host and cell is "
					  "there twice; expected each set of records "
					  "to be given once");
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* fio's, as nearly all are, come first. */
static int compare_drivers(const struct cp_context *x, const struct cp_context *y)
{
	int rc = !!strcmp(x->driver, "fio") - !!strcmp(y->driver, "fio");

	rc = rc ? rc : strcmp(x->driver, y->driver);
	rc = rc ? rc : compare_u64(y->rw_page, x->rw_page);
	rc = rc ? rc : compare_u64(x->resident, y->resident);
	return rc ? rc : strcmp(x->handler, y->handler);
}

/* Everything of a panel, in the order in which panels are shown. */
static int compare_panels(const struct cp_report_cell *a, const struct cp_report_cell *b)
{
	const struct cp_context *x = &a->context, *y = &b->context;
	int rc = strcmp(a->host, b->host);

	rc = rc ? rc : strcmp(x->media, y->media);
	rc = rc ? rc : strcmp(a->provenance.media, b->provenance.media);
	rc = rc ? rc : strcmp(x->attr, y->attr);
	rc = rc ? rc : strcmp(a->provenance.attr, b->provenance.attr);
	rc = rc ? rc : strcmp(x->layer, y->layer);
	rc = rc ? rc : strcmp(x->numa, y->numa);
	rc = rc ? rc : !!strcmp(x->corunner, "none") - !!strcmp(y->corunner, "none");
	rc = rc ? rc : strcmp(x->corunner, y->corunner);
	rc = rc ? rc : compare_u64(x->misalign_near, y->misalign_near);
	rc = rc ? rc : compare_u64(x->misalign_far, y->misalign_far);
	rc = rc ? rc : compare_drivers(x, y);
	rc = rc ? rc : strcmp(x->rw, y->rw);
	rc = rc ? rc : compare_u64(x->numjobs, y->numjobs);
	return rc ? rc : compare_u64(x->iodepth, y->iodepth);
}

static int by_panel(const void *a, const void *b)
{
	const struct cp_report_cell *x = a, *y = b;
	int rc = compare_panels(x, y);

	rc = rc ? rc : compare_u64(x->context.bs, y->context.bs);
	rc = rc ? rc : compare_u64(x->context.segments, y->context.segments);
	return rc ? rc : compare_u64(x->arm, y->arm);
}

static void summarise(struct cp_report_stat *stat)
{
	stat->median = stat->low = stat->high = stat->level = NAN;
	if (!stat->n)
		return;
	stat->median = cp_stat_median(stat->samples, stat->n);
	stat->level = cp_stat_median_interval(stat->samples, stat->n, INTERVAL_LEVEL,
					      &stat->low, &stat->high);
}

static int by_arm(const void *a, const void *b)
{
	const struct cp_report_arm *x = a, *y = b;
	int rc = (int)x->simulated - (int)y->simulated;

	rc = rc ? rc : strcmp(x->arm.name, y->arm.name);
	/* a sample that failed before it could tell is of no provenance, and no reason to
	 * number the arm that it is of */
	rc = rc ? rc : !x->dma[0] - !y->dma[0];
	return rc ? rc : (x->place > y->place) - (x->place < y->place);
}

/* Samples come in random order; colours and tables should not. */
static int sort_arms(struct cp_report *report, struct cp_err *err)
{
	unsigned *moved = calloc(report->nr_arms + 1, sizeof(*moved));

	if (!moved)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	for (size_t i = 0; i < report->nr_arms; i++)
		report->arms[i].place = (unsigned)i;
	if (report->nr_arms)
		qsort(report->arms, report->nr_arms, sizeof(*report->arms), by_arm);
	for (size_t i = 0; i < report->nr_arms; i++) {
		moved[report->arms[i].place] = (unsigned)i;
		label_arm(report, &report->arms[i]);
	}
	for (size_t i = 0; i < report->nr_cells; i++)
		report->cells[i].arm = moved[report->cells[i].arm];
	free(moved);
	return 0;
}

int cp_report_finish_cells(struct cp_report *report, struct cp_err *err)
{
	int rc = check_duplicates(report, err);

	if (!rc)
		rc = sort_arms(report, err);
	if (rc)
		return rc;
	if (report->nr_cells)
		qsort(report->cells, report->nr_cells, sizeof(*report->cells), by_panel);
	for (size_t i = 0; i < report->nr_cells; i++) {
		struct cp_report_cell *cell = &report->cells[i];
		const struct cp_report_cell *before = i ? cell - 1 : NULL;

		for (int v = 0; v < VALUE_NR; v++)
			summarise(&cell->values[v]);
		for (size_t c = 0; c < cell->nr_counters; c++)
			summarise(&cell->counters[c].stat);
		if (!before || compare_panels(before, cell)) {
			rc = cp_report_grow(&report->panels, &report->nr_panels,
					    sizeof(*report->panels), err);
			if (rc)
				return rc;
			report->panels[report->nr_panels - 1].like = cell;
			report->panels[report->nr_panels - 1].first = i;
			before = NULL;
		}
		struct cp_report_panel *panel = &report->panels[report->nr_panels - 1];

		panel->nr++;
		if (!before || before->context.bs != cell->context.bs)
			panel->nr_sizes++;
	}
	cp_report_misalign_match(report);
	return 0;
}
