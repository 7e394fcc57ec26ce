// SPDX-License-Identifier: GPL-2.0-only
/* Faults that are served through the device: driver swap. */
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/paths.h"

/* What seed figures there are of rw_page and swap are words; they stand as such. */
#define PUBLISHED_WHO "Keith Busch, 2014-11-13, \"[PATCH] NVMe: Add rw_page support\""
#define PUBLISHED_WORDS                                                                \
	"I only see a performance win on some types of work, like swap where I see "   \
	"about 15% reduction in system time (compared to 20% prior to blk-mq when we " \
	"didn't allocate a request to get a command id)"

static void add_row(const struct cp_report *report, struct cp_report_table *table,
		    const struct cp_report_cell *cell, const struct cp_report_cell *mq)
{
	static const enum cp_report_value over[] = {VALUE_FAULTS_PER_S, VALUE_FAULT_P50,
						    VALUE_FAULT_SYS};
	const struct cp_report_arm *arm = &report->arms[cell->arm];
	const struct cp_report_stat *values = cell->values;
	const struct cp_context *context = &cell->context;
	struct cp_report_cell plain;
	char bytes[24];

	cp_report_table_add(table, "%s", context->rw);
	cp_report_table_add(table, "%u", context->numjobs);
	cp_report_table_add(table, "%s",
			    cp_size_format(context->resident, bytes, sizeof(bytes)));
	cp_report_table_add(table, "%s", context->handler);
	/* the columns before say what is of the driver */
	plain = *cell;
	snprintf(plain.context.driver, sizeof(plain.context.driver), "fio");
	plain.context.resident = 0;
	snprintf(plain.context.handler, sizeof(plain.context.handler), "beside");
	cp_report_add_where(table, &plain);
	cp_report_table_add(table, "%s", arm->arm.queue_mode);
	cp_report_table_add(table, "%s", arm->arm.completion);
	cp_report_table_add(table, "%s", arm->label);
	cp_report_table_add(table, "%s", arm->dma);
	cp_report_table_add(table, "%u", cell->n);
	cp_report_table_add(table, "%.0f", cell->faults);
	cp_report_add_stat(table, &values[VALUE_FAULTS_PER_S], 1);
	cp_report_add_stat(table, &values[VALUE_FAULT_P50], 1000);
	cp_report_add_median(table, &values[VALUE_FAULT_P99], 1000);
	cp_report_add_median(table, &values[VALUE_FAULT_P999], 1000);
	cp_report_add_median(table, &values[VALUE_FAULT_USER], 1000);
	cp_report_add_stat(table, &values[VALUE_FAULT_SYS], 1000);
	cp_report_table_add(table, "%s", mq ? report->arms[mq->arm].label : "-");
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
		if (mq)
			cp_report_add_ratio(table, cp_report_ratio(cell, mq, over[i]));
		else
			cp_report_table_add(table, "-");
}

static void table_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	const struct cp_report *report = ((void **)ctx)[0];
	struct cp_report_table *table = ((void **)ctx)[1];

	for (size_t i = 0; i < nr; i++) {
		bool page = !strcmp(report->arms[cells[i].arm].arm.queue_mode, "page");

		if (cells[i].n && cp_report_is_swap(&cells->context))
			add_row(report, table, &cells[i],
				page ? cp_report_mq_beside(report, cells, nr, &cells[i])
				     : NULL);
	}
}

void cp_report_swap_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"order",
					     "threads",
					     "resident",
					     "handler",
					     "on",
					     "queue",
					     "completion",
					     "arm",
					     "DMA is",
					     "N",
					     "faults",
					     "faults/s",
					     "interval",
					     "p50 us",
					     "interval",
					     "p99 us",
					     "p99.9 us",
					     "user us/fault",
					     "system us/fault",
					     "interval",
					     "beside mq",
					     "faults/s /mq",
					     "p50/mq",
					     "system/mq"};
	const void *ctx[] = {report, table};

	cp_report_table_init(
		table, "swap",
		"Swap: a region with more pages than may be resident, whose misses are "
		"served through the device; medians of N samples, faults: of all N. "
		"order: in which pages are touched; handler: whether who serves the "
		"faults has the CPU of the thread that raises them (beside) or another "
		"(apart). p50, p99, p99.9: from a fault until the thread goes on. user, "
		"system: CPU time of all threads a fault. /mq: a page arm over the arm "
		"in mq of the same context, path, copy and kind of DMA",
		"lrrllllllrrrrrrrrrrrlrrr", header);
	table->fold = true;
	cp_report_each_context(report, table_context, ctx);
}

struct making {
	const struct cp_report *report;
	struct cp_report_doc *doc;
	FILE *out;
	unsigned nr;
};

/* System time of the page path over that of mq: what the published words are of. */
static void list_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	const struct cp_report *report = making->report;
	char where[400];

	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_cell *mq;
		const struct cp_arm *arm = &report->arms[cells[i].arm].arm;

		if (!cells[i].n || !cp_report_is_swap(&cells->context) ||
		    strcmp(arm->queue_mode, "page") != 0)
			continue;
		mq = cp_report_mq_beside(report, cells, nr, &cells[i]);
		if (!mq)
			continue;
		struct cp_report_ratio ratio =
			cp_report_ratio(&cells[i], mq, VALUE_FAULT_SYS);

		if (!isfinite(ratio.median))
			continue;
		if (!making->nr++)
			making->doc->ops->list(making->doc, true);
		cp_report_doc_item(
			making->doc,
			"%s, %u thread%s%s: system time a fault with %s is %.1f %% %s "
			"than "
			"with %s%s.",
			cells->context.rw, cells->context.numjobs,
			cells->context.numjobs == 1 ? "" : "s",
			cp_report_context_words(&cells->context, &cells->provenance,
						where, sizeof(where)),
			report->arms[cells[i].arm].label, 100 * fabs(ratio.median - 1),
			ratio.median < 1 ? "less" : "more", report->arms[mq->arm].label,
			isfinite(ratio.low) && ratio.low <= 1 && ratio.high >= 1
				? " (its interval holds no change)"
				: "");
	}
}

void cp_report_swap_write(const struct cp_report_page *page, struct cp_report_doc *doc)
{
	struct making making = {.report = page->report, .doc = doc};

	if (!cp_report_table_rows(&page->tables[TABLE_SWAP]))
		return;
	doc->ops->section(doc, "Swap");
	cp_report_each_context(page->report, list_context, &making);
	if (making.nr)
		doc->ops->list(doc, false);
	cp_report_doc_para(doc,
			   "Published, not comparable (%s): \"%s\". That is the kernel's "
			   "swap on an NVMe drive; here faults are served in user space "
			   "through userfaultfd, whose own cost is in every figure.",
			   PUBLISHED_WHO, PUBLISHED_WORDS);
	doc->ops->table(doc, &page->tables[TABLE_SWAP]);
}

static void text_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	bool headed = false;

	for (size_t i = 0; i < nr && cp_report_is_swap(&cells->context); i++) {
		const struct cp_report_stat *values = cells[i].values;
		char name[120];

		if (!cells[i].n)
			continue;
		if (!making->nr++)
			fputs("\nSwap: faults served, time until a thread goes on, CPU "
			      "a fault.\n",
			      making->out);
		if (!headed)
			cp_report_text_context(cells, making->out);
		headed = true;
		fprintf(making->out,
			"%8.0f faults/s  p50 %.1f us  user %.2f system %.2f us\n",
			values[VALUE_FAULTS_PER_S].median,
			values[VALUE_FAULT_P50].median / 1000,
			values[VALUE_FAULT_USER].median / 1000,
			values[VALUE_FAULT_SYS].median / 1000);
		fprintf(making->out, "  is %s, %s, DMA %s\n",
			cp_report_text_arm(making->report, &cells[i], name, sizeof(name)),
			making->report->arms[cells[i].arm].arm.queue_mode,
			cells[i].provenance.dma);
	}
}

void cp_report_swap_text(const struct cp_report *report, FILE *out)
{
	struct making making = {.report = report, .out = out};

	cp_report_each_context(report, text_context, &making);
}
