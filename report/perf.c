// SPDX-License-Identifier: GPL-2.0-only
/* Counters of perf stat, per I/O and beside what was reached. */
#include <math.h>
#include <string.h>

#include "report/paths.h"

static const struct cp_report_counter *find(const struct cp_report_cell *cell,
					    const char *name)
{
	for (size_t i = 0; cell->n && i < cell->nr_counters; i++)
		if (!strcmp(cell->counters[i].name, name))
			return &cell->counters[i];
	return NULL;
}

/* In full, and four digits of what is below 1000. */
static const char *number(double value, char *buf, size_t size)
{
	snprintf(buf, size, value < 1000 ? "%.4g" : "%.0f", value);
	return buf;
}

/* Small counts matter: 0.003 page faults an I/O are not 0. */
static void add_count(struct cp_report_table *table,
		      const struct cp_report_counter *counter)
{
	const struct cp_report_stat *stat = &counter->stat;
	char text[2][40];

	if (stat->n)
		cp_report_table_add(table, "%s",
				    number(stat->median, text[0], sizeof(text[0])));
	else
		cp_report_table_add(table, "-");
	if (!stat->n && counter->unsupported)
		cp_report_table_add(table, "not supported");
	else if (!stat->n)
		cp_report_table_add(table, "I/Os unknown");
	else if (counter->unsupported)
		cp_report_table_add(table, "not supported in %u", counter->unsupported);
	else if (stat->n > 1)
		cp_report_table_add(table, "%s to %s",
				    number(stat->low, text[0], sizeof(text[0])),
				    number(stat->high, text[1], sizeof(text[1])));
	else
		cp_report_table_add(table, "%s", "");
}

static void add_row(const struct cp_report *report, struct cp_report_table *table,
		    const struct cp_report_cell *cell,
		    const struct cp_report_counter *counter)
{
	const struct cp_report_arm *arm = &report->arms[cell->arm];
	bool faults = cp_report_is_swap(&cell->context);

	cp_report_table_load(table, report, cell);
	cp_report_add_where(table, cell);
	cp_report_table_add(table, "%s", counter->name);
	cp_report_table_add(table, "%s", arm->label);
	cp_report_table_add(table, "%s", arm->dma);
	cp_report_table_add(table, "%u", cell->n);
	cp_report_table_add(table, "%s", faults ? "fault" : "I/O");
	add_count(table, counter);
	cp_report_add_stat(table, &cell->values[faults ? VALUE_FAULTS_PER_S : VALUE_IOPS],
			   1);
	cp_report_add_median(table, &cell->values[faults ? VALUE_FAULT_P50 : VALUE_P50],
			     1000);
}

/* Every event of a context once, in the order of first sight, and below it its arms. */
static void table_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	const struct cp_report *report = ((void **)ctx)[0];
	struct cp_report_table *table = ((void **)ctx)[1];

	for (size_t i = 0; i < nr; i++) {
		for (size_t c = 0; cells[i].n && c < cells[i].nr_counters; c++) {
			const char *name = cells[i].counters[c].name;
			bool seen = false;

			for (size_t k = 0; k < i; k++)
				seen = seen || find(&cells[k], name);
			for (size_t k = i; k < nr && !seen; k++)
				if (find(&cells[k], name))
					add_row(report, table, &cells[k],
						find(&cells[k], name));
		}
	}
}

void cp_report_perf_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {
		"rw",	 "bs",	     "jobs",	   "iodepth",  "on",
		"event", "arm",	     "DMA is",	   "N",	       "per",
		"count", "interval", "per second", "interval", "p50 us"};
	const void *ctx[] = {report, table};

	cp_report_table_init(
		table, "perf",
		"Counters of perf stat, per I/O (of driver swap: per fault), medians of "
		"N samples, beside how many of these there were a second. Counted is "
		"what the I/O's process did in the sample. A dash: the event is not "
		"supported on this machine, which is not 0",
		"lrrrllllrlrrrrr", header);
	table->fold = true;
	cp_report_each_context(report, table_context, ctx);
}

void cp_report_perf_write(const struct cp_report_page *page, struct cp_report_doc *doc)
{
	const struct cp_report *report = page->report;
	unsigned missing = 0;

	if (!cp_report_table_rows(&page->tables[TABLE_PERF]))
		return;
	doc->ops->section(doc, "Counters per I/O");
	for (size_t i = 0; i < report->nr_cells; i++)
		for (size_t c = 0; c < report->cells[i].nr_counters; c++)
			missing += report->cells[i].counters[c].unsupported > 0;
	if (missing)
		cp_report_doc_note(doc,
				   "%u of the counts asked for are not supported on this "
				   "machine, as hardware events in many virtual ones; "
				   "they are unknown, not 0.",
				   missing);
	doc->ops->table(doc, &page->tables[TABLE_PERF]);
}
