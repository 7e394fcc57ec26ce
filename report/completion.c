// SPDX-License-Identifier: GPL-2.0-only
/* Arms that differ only in how completions are found. */
#include <math.h>
#include <string.h>

#include "report/paths.h"

#define LINES_MAX 16 /* of the list; the table has all */

static const char *const modes[] = {"poll", "irq", "hybrid"};
#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

/* One way to serve a context but for its completion. */
struct group {
	const struct cp_report_cell *by[NR_MODES]; /* NULL: not measured */
	unsigned nr;
};

static bool same_but_completion(const struct cp_arm *a, const struct cp_arm *b)
{
	struct cp_arm x = *a, y = *b;

	x.completion[0] = y.completion[0] = '\0';
	return cp_arm_same(&x, &y);
}

/* The group that begins with this cell; nr is 0 where an earlier one has it. */
static void find_group(const struct cp_report *report, const struct cp_report_cell *cells,
		       size_t nr, size_t first, struct group *group)
{
	const struct cp_report_arm *like = &report->arms[cells[first].arm];

	*group = (struct group){0};
	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];

		if (!cells[i].n || strcmp(arm->dma, like->dma) != 0 ||
		    !same_but_completion(&arm->arm, &like->arm))
			continue;
		for (size_t m = 0; m < NR_MODES; m++) {
			if (!cp_report_completes_by(report, &cells[i], modes[m]))
				continue;
			if (i < first) {
				group->nr = 0;
				return;
			}
			group->nr += !group->by[m];
			group->by[m] = group->by[m] ? group->by[m] : &cells[i];
		}
	}
}

/* Nothing waits in these, and they are no others with another completion: the fastest of
 * a queue mode stands for them. */
static const struct cp_report_cell *fastest_sync(const struct cp_report *report,
						 const struct cp_report_cell *cells,
						 size_t nr, const char *mode)
{
	const struct cp_report_cell *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];

		if (cp_report_completes_by(report, &cells[i], "sync") &&
		    !arm->simulated && !strcmp(arm->arm.queue_mode, mode) &&
		    cells[i].values[VALUE_P50].n &&
		    (!best ||
		     cells[i].values[VALUE_P50].median < best->values[VALUE_P50].median))
			best = &cells[i];
	}
	return best;
}

static void add_ratio(struct cp_report_table *table, const struct cp_report_cell *cell,
		      const struct cp_report_cell *base, enum cp_report_value value,
		      bool interval)
{
	struct cp_report_ratio ratio = {NAN, NAN, NAN};

	if (base == cell) {
		cp_report_table_add(table, "1");
	} else {
		if (base)
			ratio = cp_report_ratio(cell, base, value);
		if (!interval)
			ratio.low = NAN;
		cp_report_add_ratio(table, ratio);
	}
}

static void add_row(const struct cp_report *report, struct cp_report_table *table,
		    const struct cp_report_cell *cell, const struct group *group)
{
	const struct cp_report_arm *arm = &report->arms[cell->arm];
	const struct cp_report_cell *poll = group->by[0];
	const struct cp_report_stat *values = cell->values;

	cp_report_table_load(table, report, cell);
	cp_report_add_where(table, cell);
	cp_report_table_add(table, "%s", poll ? report->arms[poll->arm].label : "-");
	cp_report_table_add(table, "%s", arm->arm.completion);
	cp_report_table_add(table, "%s", arm->label);
	cp_report_table_add(table, "%s", arm->arm.queue_mode);
	cp_report_table_add(table, "%s", arm->dma);
	cp_report_table_add(table, "%u", cell->n);
	cp_report_add_stat(table, &values[VALUE_P50], 1000);
	cp_report_add_median(table, &values[VALUE_P99], 1000);
	cp_report_add_median(table, &values[VALUE_IOPS], 1);
	cp_report_add_stat(table, &values[VALUE_IO_SUBMIT], 1000);
	cp_report_add_median(table, &values[VALUE_CPU_SUBMIT], 1);
	cp_report_add_median(table, &values[VALUE_IO_ENGINE], 1000);
	cp_report_add_median(table, &values[VALUE_IO_CPU], 1000);
	/* what differs in more, and in provenance, is no ratio of completions */
	if (!strcmp(arm->arm.completion, "sync"))
		poll = NULL;
	add_ratio(table, cell, poll, VALUE_P50, true);
	add_ratio(table, cell, poll, VALUE_IO_SUBMIT, true);
	add_ratio(table, cell, poll, VALUE_IOPS, false);
	add_ratio(table, cell, poll, VALUE_IO_CPU, false);
}

/* Calls put() for each group of two or more. */
static void each_group(const struct cp_report *report, const struct cp_report_cell *cells,
		       size_t nr,
		       void (*put)(void *ctx, const struct group *group,
				   const struct cp_report_cell *cells, size_t nr),
		       void *ctx)
{
	for (size_t i = 0; i < nr; i++) {
		struct group group;

		if (!cells[i].n || cp_report_completes_by(report, &cells[i], "sync"))
			continue;
		find_group(report, cells, nr, i, &group);
		if (group.nr > 1)
			put(ctx, &group, cells, nr);
	}
}

struct making {
	const struct cp_report *report;
	struct cp_report_table *table;
	struct cp_report_doc *doc;
	FILE *out;
	unsigned nr, more;
};

static void put_group(void *ctx, const struct group *group,
		      const struct cp_report_cell *cells, size_t nr)
{
	static const char *const sync[] = {"bio", "page"};
	struct making *making = ctx;

	for (size_t m = 0; m < NR_MODES; m++)
		if (group->by[m])
			add_row(making->report, making->table, group->by[m], group);
	for (size_t s = 0; s < sizeof(sync) / sizeof(sync[0]); s++) {
		const struct cp_report_cell *cell =
			fastest_sync(making->report, cells, nr, sync[s]);

		if (cell)
			add_row(making->report, making->table, cell, group);
	}
}

static void table_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;

	if (!cp_report_is_swap(&cells->context))
		each_group(making->report, cells, nr, put_group, making);
}

void cp_report_completion_table(const struct cp_report *report,
				struct cp_report_table *table)
{
	static const char *const header[] = {"rw",	     "bs",	  "jobs",
					     "iodepth",	     "on",	  "beside",
					     "completion",   "arm",	  "queue",
					     "DMA is",	     "N",	  "p50 us",
					     "interval",     "p99 us",	  "IOPS",
					     "submit us/IO", "interval",  "submit %",
					     "engine us/IO", "CPU us/IO", "p50/poll",
					     "submit/poll",  "IOPS/poll", "CPU/poll"};
	struct making making = {.report = report, .table = table};

	cp_report_table_init(
		table, "completion",
		"Completion modes: arms of one context that differ in nothing but how "
		"completions are found, medians of N samples. submit: CPU time of the "
		"submitters' threads, % of one CPU; engine: of the engine's, with "
		"whoever wakes a sleeping submitter; CPU: of the whole process. /poll: "
		"over "
		"the arm that polls "
		"(column beside), median of the ratios of samples of one round with "
		"its interval. sync: the fastest synchronous arm of a queue mode in the "
		"same context, which differs in more, so it has no ratios",
		"lrrrllllllrrrrrrrrrrrrrr", header);
	table->fold = true;
	cp_report_each_context(report, table_context, &making);
}

/* "4.2 %", "not known". */
static const char *percent_words(const struct cp_report_stat *stat, char *buf,
				 size_t size)
{
	if (stat->n)
		snprintf(buf, size, "%.1f %%", stat->median);
	else
		snprintf(buf, size, "an unknown share");
	return buf;
}

/* "1.03 of poll's", "" where there is none to hold it against. */
static void over_poll(const struct group *group, const struct cp_report_cell *cell,
		      enum cp_report_value value, char *buf, size_t size)
{
	struct cp_report_ratio ratio = {NAN, NAN, NAN};

	if (group->by[0] && cell != group->by[0])
		ratio = cp_report_ratio(cell, group->by[0], value);
	buf[0] = '\0';
	if (isfinite(ratio.median))
		snprintf(buf, size, " (%.*f of poll's)", ratio.median < 0.1 ? 3 : 2,
			 ratio.median);
}

static void list_group(void *ctx, const struct group *group,
		       const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	const struct cp_report *report = making->report;
	char text[1200] = "", load[64], bs[24], where[400];
	size_t used = 0;

	(void)nr;
	if (making->nr == LINES_MAX) {
		making->more++;
		return;
	}
	for (size_t m = 0; m < NR_MODES; m++) {
		const struct cp_report_cell *cell = group->by[m];
		char p50[48], submit[48], cpu[2][32];

		if (!cell || used > sizeof(text) - 300)
			continue;
		over_poll(group, cell, VALUE_P50, p50, sizeof(p50));
		over_poll(group, cell, VALUE_IO_SUBMIT, submit, sizeof(submit));
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%s%s median %.1f us%s at %s of a CPU submitting%s and %s "
			"in the engine's threads",
			used ? "; " : "", modes[m], cell->values[VALUE_P50].median / 1000,
			p50,
			percent_words(&cell->values[VALUE_CPU_SUBMIT], cpu[0],
				      sizeof(cpu[0])),
			submit,
			percent_words(&cell->values[VALUE_CPU_ENGINE], cpu[1],
				      sizeof(cpu[1])));
	}
	if (!making->nr++)
		making->doc->ops->list(making->doc, true);
	for (size_t m = 0; m < NR_MODES; m++) {
		if (!group->by[m])
			continue;
		cp_report_doc_item(
			making->doc, "%s %s, %s%s, %s: %s.", cells->context.rw,
			cp_report_size_words(cells->context.bs, bs, sizeof(bs)),
			cp_report_load_words(&cells->context, load, sizeof(load)),
			cp_report_context_words(&cells->context, &cells->provenance,
						where, sizeof(where)),
			report->arms[group->by[m]->arm].label, text);
		return;
	}
}

static void list_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;

	if (!cp_report_is_swap(&cells->context))
		each_group(making->report, cells, nr, list_group, making);
}

void cp_report_completion_write(const struct cp_report_page *page,
				struct cp_report_doc *doc)
{
	struct making making = {.report = page->report, .doc = doc};

	if (!cp_report_table_rows(&page->tables[TABLE_COMPLETION]))
		return;
	doc->ops->section(doc, "Completion modes");
	cp_report_doc_para(
		doc,
		"poll looks until the I/O is done, irq sleeps until it is woken, hybrid "
		"sleeps for a share of the expected time and then polls. What a mode "
		"saves its submitter another thread may spend: the engine's threads are "
		"counted apart, the whole process is CPU. A virtual machine wakes late, "
		"so irq's latency is of this machine as much as of the mode.");
	cp_report_each_context(page->report, list_context, &making);
	if (making.nr)
		doc->ops->list(doc, false);
	if (making.more)
		cp_report_doc_para(doc, "%u more are in the table.", making.more);
	doc->ops->table(doc, &page->tables[TABLE_COMPLETION]);
}

/* "1.03x", "-"; "4.2%", "-". */
static const char *short_words(double value, const char *unit, char *buf, size_t size)
{
	if (isfinite(value))
		snprintf(buf, size, "%.*f%s", *unit == 'x' ? 2 : 1, value, unit);
	else
		snprintf(buf, size, "-");
	return buf;
}

static void text_group(void *ctx, const struct group *group,
		       const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	char name[120];

	(void)nr;
	if (!making->nr++)
		fputs("\nCompletion modes: median latency, CPU of one CPU; x: times "
		      "poll's.\n",
		      making->out);
	cp_report_text_context(cells, making->out);
	for (size_t m = 0; m < NR_MODES; m++) {
		const struct cp_report_cell *cell = group->by[m];
		double of[2] = {NAN, NAN};
		char text[4][24];

		if (!cell)
			continue;
		if (group->by[0]) {
			of[0] = cp_report_ratio(cell, group->by[0], VALUE_P50).median;
			of[1] = cp_report_ratio(cell, group->by[0], VALUE_IO_SUBMIT)
					.median;
		}
		fprintf(making->out, "%-6s %8.1f us %6s  submit %6s %6s  engine %6s\n",
			modes[m], cell->values[VALUE_P50].median / 1000,
			short_words(of[0], "x", text[0], sizeof(text[0])),
			short_words(cell->values[VALUE_CPU_SUBMIT].median, "%", text[1],
				    sizeof(text[1])),
			short_words(of[1], "x", text[2], sizeof(text[2])),
			short_words(cell->values[VALUE_CPU_ENGINE].median, "%", text[3],
				    sizeof(text[3])));
		fprintf(making->out, "  is %s, DMA %s\n",
			cp_report_text_arm(making->report, cell, name, sizeof(name)),
			cell->provenance.dma);
	}
}

static void text_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;

	if (!cp_report_is_swap(&cells->context))
		each_group(making->report, cells, nr, text_group, making);
}

void cp_report_completion_text(const struct cp_report *report, FILE *out)
{
	struct making making = {.report = report, .out = out};

	cp_report_each_context(report, text_context, &making);
}
