// SPDX-License-Identifier: GPL-2.0-only
/* The table "Misaligned buffers". */
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/misalign.h"

#define NEAR_MAX 10  /* columns: more would not fit a page */
#define FAR_MAX	 128 /* rows of one arm and context */

/* A column is a letter: the part that is always there, and one for each near offset. */
#define ALWAYS	       "lrrrlllrrr"
#define COLUMNS_ALWAYS 10

static const char *const aligns[NEAR_MAX] = {
	ALWAYS "r",	    ALWAYS "rr",	 ALWAYS "rrr",	   ALWAYS "rrrr",
	ALWAYS "rrrrr",	    ALWAYS "rrrrrr",	 ALWAYS "rrrrrrr", ALWAYS "rrrrrrrr",
	ALWAYS "rrrrrrrrr", ALWAYS "rrrrrrrrrr",
};

/* What is compared: one table each. */
struct metric {
	enum cp_report_value value;
	double unit; /* of the aligned figure */
	bool less;   /* less is better */
	const char *name, *unit_name, *title;
};

static const struct metric bandwidth = {
	VALUE_BW,
	1e6,
	false,
	"misalign",
	"aligned MB/s",
	"Bandwidth of misaligned buffers over that of aligned ones of the same context "
	"and "
	"arm: the device starts \"far\" bytes behind a page border, the caller's buffers "
	"\"near\" bytes. Median of the ratios of samples taken in the same round, with "
	"its "
	"interval (95 %, least to greatest below 6 samples). worst: the lowest of an arm "
	"and size, where the whole interval lies below 1"};

static const struct metric cpu = {
	VALUE_CPU_BYTE,
	1,
	true,
	"misalign-cpu",
	"aligned ns/B",
	"The same of the CPU time a byte, which other work on the machine disturbs less: "
	"above 1 is worse. worst: the highest, where the whole interval lies above 1"};

/* Offsets, sorted, each once. */
struct offsets {
	size_t nr, most;
	uint32_t at[FAR_MAX];
};

bool cp_report_is_misaligned(const struct cp_context *context)
{
	return context->misalign_near || context->misalign_far;
}

char *cp_report_misalign_words(uint32_t near, uint32_t far, char *buf, size_t size)
{
	if (near && far)
		snprintf(buf, size, "near %u, far %u", near, far);
	else if (near || far)
		snprintf(buf, size, "%s %u", near ? "near" : "far", near ? near : far);
	else
		snprintf(buf, size, "%s", "");
	return buf;
}

/* The same but for where buffers and device begin. */
static bool twins(const struct cp_report_cell *a, const struct cp_report_cell *b)
{
	struct cp_context x = a->context;

	if (a->arm != b->arm || x.bs != b->context.bs)
		return false;
	x.misalign_near = b->context.misalign_near;
	x.misalign_far = b->context.misalign_far;
	return cp_context_same(&x, &b->context) && !strcmp(a->host, b->host) &&
	       !strcmp(a->provenance.media, b->provenance.media) &&
	       !strcmp(a->provenance.attr, b->provenance.attr) &&
	       !strcmp(a->provenance.dma, b->provenance.dma);
}

/* What moved nothing says nothing of how copies like misaligned buffers. */
static bool countable(const struct cp_report *report, const struct cp_report_cell *cell)
{
	return !report->arms[cell->arm].simulated && cell->values[VALUE_BW].n > 0 &&
	       cell->values[VALUE_BW].median > 0;
}

void cp_report_misalign_match(struct cp_report *report)
{
	for (size_t m = 0; m < report->nr_cells; m++) {
		struct cp_report_cell *cell = &report->cells[m];

		if (!cp_report_is_misaligned(&cell->context) || !countable(report, cell))
			continue;
		for (size_t i = 0; i < report->nr_cells && !cell->aligned; i++) {
			const struct cp_report_cell *other = &report->cells[i];

			if (twins(cell, other) &&
			    !cp_report_is_misaligned(&other->context) &&
			    countable(report, other))
				cell->aligned = other;
		}
	}
}

static void add_offset(struct offsets *offsets, uint32_t value)
{
	size_t at = 0;

	while (at < offsets->nr && offsets->at[at] < value)
		at++;
	if (at == offsets->most || (at < offsets->nr && offsets->at[at] == value))
		return;
	/* full: the largest makes room */
	size_t moved = offsets->nr < offsets->most ? offsets->nr : offsets->nr - 1;

	memmove(&offsets->at[at + 1], &offsets->at[at],
		(moved - at) * sizeof(offsets->at[0]));
	offsets->at[at] = value;
	offsets->nr = moved + 1;
}

static bool has_offset(const struct offsets *offsets, uint32_t value)
{
	for (size_t i = 0; i < offsets->nr; i++)
		if (offsets->at[i] == value)
			return true;
	return false;
}

/* Which near offsets get a column, of all cells that stand beside an aligned one. */
static void find_near(const struct cp_report *report, struct offsets *near)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (cell->aligned)
			add_offset(near, cell->context.misalign_near);
	}
}

bool cp_report_misalign_tabled(const struct cp_report *report,
			       const struct cp_report_panel *panel)
{
	struct offsets near = {.most = NEAR_MAX};

	if (!cp_report_is_misaligned(&panel->like->context))
		return false;
	find_near(report, &near);
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (report->arms[cell->arm].simulated || !cell->values[VALUE_BW].n)
			continue;
		if (!has_offset(&near, cell->context.misalign_near) || !cell->aligned)
			return false;
	}
	return true;
}

static struct cp_report_ratio ratio_of(const struct cp_report_cell *cell,
				       const struct metric *metric)
{
	return cp_report_ratio(cell, cell->aligned, metric->value);
}

/* The twin of an aligned cell at these offsets, or NULL. */
static const struct cp_report_cell *twin_at(const struct cp_report *report,
					    const struct cp_report_cell *aligned,
					    uint32_t near, uint32_t far)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (cell->aligned == aligned && cell->context.misalign_near == near &&
		    cell->context.misalign_far == far)
			return cell;
	}
	return NULL;
}

/* The worst, where its whole interval is worse than aligned; NULL: none is. */
static const struct cp_report_cell *worst_of(const struct cp_report *report,
					     const struct cp_report_cell *aligned,
					     const struct metric *metric,
					     struct offsets *far)
{
	const struct cp_report_cell *worst = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (cell->aligned != aligned)
			continue;
		add_offset(far, cell->context.misalign_far);
		struct cp_report_ratio ratio = ratio_of(cell, metric);

		bool beyond = metric->less ? ratio.low > 1 : ratio.high < 1;
		double gain = metric->less ? 1 / ratio.median : ratio.median;

		if (beyond && gain < least) {
			least = gain;
			worst = cell;
		}
	}
	return worst;
}

static void add_ratio(struct cp_report_table *table, const struct cp_report_cell *cell,
		      const struct metric *metric, bool worst)
{
	if (!cell || !cell->aligned) { /* not measured, or the aligned one itself */
		cp_report_table_add(table, "%s", cell ? "1" : "");
		return;
	}
	struct cp_report_ratio ratio = ratio_of(cell, metric);

	if (isfinite(ratio.low))
		cp_report_table_add(table, "%s%.2f (%.2f to %.2f)",
				    worst ? "worst: " : "", ratio.median, ratio.low,
				    ratio.high);
	else
		cp_report_table_number(table, ratio.median, 2);
}

static void add_rows(const struct cp_report *report, struct cp_report_table *table,
		     const struct metric *metric, const struct offsets *near,
		     const struct cp_report_cell *aligned)
{
	struct offsets far = {.most = FAR_MAX};
	const struct cp_context *context = &aligned->context;
	const struct cp_report_cell *worst = worst_of(report, aligned, metric, &far);
	const struct cp_report_stat *stat = &aligned->values[metric->value];
	char bs[24];

	for (size_t f = 0; f < far.nr; f++) {
		cp_report_table_add(table, "%s", context->rw);
		cp_report_table_add(table, "%s",
				    cp_size_format(context->bs, bs, sizeof(bs)));
		cp_report_table_add(table, "%u", context->numjobs);
		cp_report_table_add(table, "%u", context->iodepth);
		cp_report_table_add(table, "%s", report->arms[aligned->arm].label);
		cp_report_table_add(table, "%s %s", context->media,
				    aligned->provenance.media);
		cp_report_table_add(table, "%s %s", context->attr,
				    aligned->provenance.attr);
		cp_report_table_add(table, "%u", stat->n);
		cp_report_table_number(table, stat->median / metric->unit,
				       metric->less			    ? 4
				       : stat->median / metric->unit < 1000 ? 1
									    : 0);
		cp_report_table_add(table, "%u", far.at[f]);
		for (size_t n = 0; n < near->nr; n++) {
			const struct cp_report_cell *cell =
				near->at[n] || far.at[f]
					? twin_at(report, aligned, near->at[n], far.at[f])
					: aligned;

			add_ratio(table, cell, metric, cell && cell == worst);
		}
	}
}

static void make(const struct cp_report *report, const struct metric *metric,
		 struct cp_report_table *table)
{
	const char *header[COLUMNS_ALWAYS + NEAR_MAX] = {
		"rw",	 "bs",	 "jobs", "iodepth",	    "arm",
		"media", "attr", "N",	 metric->unit_name, "far"};
	struct offsets near = {.most = NEAR_MAX};
	char names[NEAR_MAX][24];

	find_near(report, &near);
	bool any = near.nr > 0;

	if (!any) {
		near.at[0] = 0;
		near.nr = 1;
	}
	for (size_t n = 0; n < near.nr; n++) {
		snprintf(names[n], sizeof(names[n]), "near %u", near.at[n]);
		header[COLUMNS_ALWAYS + n] = names[n];
	}
	cp_report_table_init(table, metric->name, metric->title, aligns[near.nr - 1],
			     header);
	table->fold = true;
	for (size_t i = 0; any && i < report->nr_cells; i++)
		if (!cp_report_is_misaligned(&report->cells[i].context) &&
		    report->cells[i].values[metric->value].n)
			add_rows(report, table, metric, &near, &report->cells[i]);
}

void cp_report_misalign_make(const struct cp_report *report,
			     struct cp_report_table *table)
{
	make(report, &bandwidth, table);
}

void cp_report_misalign_cpu_make(const struct cp_report *report,
				 struct cp_report_table *table)
{
	make(report, &cpu, table);
}
