// SPDX-License-Identifier: GPL-2.0-only
/* What an I/O by pages went past: requests, their merging, and the DMA they would reach.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/paths.h"

#define MB 1e6

/* Its counters are there; a program's own are not known. */
static bool by_pages(const struct cp_report *report, const struct cp_report_cell *cell)
{
	return cell->n && cell->sums.page.pages + cell->sums.page.off &&
	       !strcmp(report->arms[cell->arm].arm.queue_mode, "page");
}

static double all_bytes(const struct cp_proof *sums)
{
	return (double)sums->bytes_cpu + (double)sums->bytes_dma +
	       (double)sums->bytes_simulated;
}

static double share_of(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

/* I/Os of all samples; each is bs long. */
static double all_ios(const struct cp_report_cell *cell)
{
	return all_bytes(&cell->sums) / (double)cell->context.bs;
}

/* Of the I/Os of an arm in mq, those that became part of another's request. */
static double merged_share(const struct cp_report_cell *mq)
{
	const struct cp_proof *sums = &mq->sums;

	return share_of((double)sums->queue.merged,
			(double)sums->queue.merged + (double)sums->queue.requests);
}

static void add_share(struct cp_report_table *table, double value)
{
	if (isfinite(value))
		cp_report_table_add(table, "%.1f", value);
	else
		cp_report_table_add(table, "-");
}

static void add_counts(struct cp_report_table *table, const struct cp_report_cell *cell)
{
	const struct cp_proof *sums = &cell->sums;

	cp_report_table_add(table, "%" PRIu64, sums->page.pages);
	cp_report_table_add(table, "%" PRIu64, sums->page.overlapped);
	add_share(table,
		  share_of((double)sums->page.overlapped, (double)sums->page.pages));
	cp_report_table_add(table, "%" PRIu64, sums->page.unmerged);
	add_share(table, share_of((double)sums->page.unmerged, all_ios(cell)));
	cp_report_table_number(table, (double)sums->page.whole_dma / MB, 1);
	add_share(table, share_of((double)sums->page.whole_dma, all_bytes(sums)));
	cp_report_table_number(table, (double)sums->page.unmerged_dma / MB, 1);
	add_share(table, share_of((double)sums->page.unmerged_dma, all_bytes(sums)));
	cp_report_table_add(table, "%" PRIu64, sums->page.off);
}

static void add_beside(const struct cp_report *report, struct cp_report_table *table,
		       const struct cp_report_cell *cell, const struct cp_report_cell *mq)
{
	static const enum cp_report_value values[] = {VALUE_IOPS, VALUE_P50,
						      VALUE_IO_CPU};

	cp_report_table_add(table, "%s", mq ? report->arms[mq->arm].label : "-");
	add_share(table, mq ? merged_share(mq) : NAN);
	for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
		if (mq)
			cp_report_add_ratio(table, cp_report_ratio(cell, mq, values[v]));
		else
			cp_report_table_add(table, "-");
}

static void table_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	const struct cp_report *report = ((void **)ctx)[0];
	struct cp_report_table *table = ((void **)ctx)[1];

	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_cell *cell = &cells[i];
		const struct cp_report_arm *arm = &report->arms[cell->arm];

		if (!by_pages(report, cell))
			continue;
		cp_report_table_load(table, report, cell);
		cp_report_add_where(table, cell);
		cp_report_table_add(table, "%s", arm->label);
		cp_report_table_add(table, "%s", arm->arm.completion);
		cp_report_table_add(table, "%s", arm->dma);
		cp_report_table_add(table, "%u", cell->n);
		add_counts(table, cell);
		cp_report_add_median(table, &cell->values[VALUE_IOPS], 1);
		cp_report_add_median(table, &cell->values[VALUE_P50], 1000);
		cp_report_add_median(table, &cell->values[VALUE_IO_CPU], 1000);
		add_beside(report, table, cell,
			   cp_report_mq_beside(report, cells, nr, cell));
	}
}

void cp_report_bypass_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"rw",
					     "bs",
					     "jobs",
					     "iodepth",
					     "on",
					     "arm",
					     "completion",
					     "DMA is",
					     "N",
					     "pages",
					     "overlapped",
					     "overlapped %",
					     "mergeable I/Os",
					     "mergeable %",
					     "past DMA MB",
					     "past DMA %",
					     "past merged DMA MB",
					     "past merged DMA %",
					     "by bio",
					     "IOPS",
					     "p50 us",
					     "CPU us/IO",
					     "beside mq",
					     "mq merged %",
					     "IOPS/mq",
					     "p50/mq",
					     "CPU/mq"};
	const void *ctx[] = {report, table};

	cp_report_table_init(
		table, "page-path",
		"What the page path bypassed, counters summed over N samples. pages: "
		"handed in, 4k each; overlapped: while another was in flight. mergeable "
		"I/Os: next to the one before, so mq could have merged them; past DMA: "
		"bytes that the CPU copied page by page and that would have gone by "
		"DMA with each I/O one request; past merged DMA: only with I/Os merged "
		"too. by bio: I/Os that went that way as rw_page was off. /mq: "
		"over the arm in mq of the same context, path, copy and kind of DMA; "
		"CPU: time an I/O of the whole process; mq "
		"merged: "
		"of its I/Os, those that became part of another's request",
		"lrrrllllrrrrrrrrrrrrrrlrrrr", header);
	table->fold = true;
	cp_report_each_context(report, table_context, ctx);
}

/* "read 64k, 1 job, iodepth 1, page-cpu". */
static const char *cell_words(const struct cp_report *report,
			      const struct cp_report_cell *cell, char *buf, size_t size)
{
	char bs[24], load[64], where[400];

	snprintf(buf, size, "%s %s, %s%s, %s", cell->context.rw,
		 cp_report_size_words(cell->context.bs, bs, sizeof(bs)),
		 cp_report_load_words(&cell->context, load, sizeof(load)),
		 cp_report_context_words(&cell->context, &cell->provenance, where,
					 sizeof(where)),
		 report->arms[cell->arm].label);
	return buf;
}

static bool past_dma(const struct cp_report_cell *cell)
{
	return cell->sums.page.whole_dma || cell->sums.page.unmerged_dma;
}

/* Axboe's objection to an out-of-band path, where it holds: what it went past, and what
 * to measure beside it. */
static void warn_dma(const struct cp_report *report, const struct cp_report_cell *cell,
		     struct cp_report_doc *doc)
{
	const struct cp_proof *sums = &cell->sums;
	const struct {
		uint64_t bytes;
		const char *would, *beside;
	} causes[] = {
		{sums->page.whole_dma, "each I/O as one request", "mq"},
		{sums->page.unmerged_dma, "only merged into requests",
		 "mq with max_merge"},
	};
	char words[700];

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].bytes)
			cp_report_doc_note(
				doc,
				"Warning: %s: %.1f MB (%.1f %% of its bytes) were copied "
				"by the CPU page by page; %s they would have reached "
				"DMA. Measure %s beside it before you take this arm's "
				"CPU time for the path's.",
				cell_words(report, cell, words, sizeof(words)),
				(double)causes[i].bytes / MB,
				share_of((double)causes[i].bytes, all_bytes(sums)),
				causes[i].would, causes[i].beside);
}

static void note_off(const struct cp_report *report, const struct cp_report_cell *cell,
		     struct cp_report_doc *doc)
{
	char words[700];

	if (cell->sums.page.off)
		cp_report_doc_note(
			doc,
			"%s: %" PRIu64 " I/Os went by bio, as the target's rw_page was "
			"off%s. What they show is bio, not the page path.",
			cell_words(report, cell, words, sizeof(words)),
			cell->sums.page.off, cell->sums.page.pages ? " for a while" : "");
}

void cp_report_bypass_write(const struct cp_report_page *page, struct cp_report_doc *doc)
{
	const struct cp_report *report = page->report;
	bool any = false;

	if (!cp_report_table_rows(&page->tables[TABLE_BYPASS]))
		return;
	doc->ops->section(doc, "What the page path bypassed");
	cp_report_doc_para(
		doc,
		"An I/O by pages has no request: nothing is allocated or queued, and so "
		"nothing can be merged, scheduled or decided upon as a whole (J. Axboe "
		"of rw_page, 2014: an out-of-band path that will completely bypass "
		"that).");
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!by_pages(report, cell))
			continue;
		any = any || past_dma(cell);
		warn_dma(report, cell, doc);
		note_off(report, cell, doc);
	}
	if (!any)
		cp_report_doc_para(doc, "Nowhere here would a request have reached DMA.");
	doc->ops->table(doc, &page->tables[TABLE_BYPASS]);
}

static void text_cell(const struct cp_report *report, const struct cp_report_cell *cell,
		      const struct cp_report_cell *mq, FILE *out)
{
	const struct cp_proof *sums = &cell->sums;
	char name[120];

	fprintf(out, "%s: %" PRIu64 " pages, %.1f%% overlapped\n",
		cp_report_text_arm(report, cell, name, sizeof(name)), sums->page.pages,
		sums->page.pages ? share_of((double)sums->page.overlapped,
					    (double)sums->page.pages)
				 : 0.0);
	fprintf(out, "  mq could have merged %" PRIu64 " I/Os\n", sums->page.unmerged);
	if (sums->page.whole_dma)
		fprintf(out,
			"  WARNING: %.1f MB would have gone by DMA, an I/O a request\n",
			(double)sums->page.whole_dma / MB);
	if (sums->page.unmerged_dma)
		fprintf(out, "  WARNING: %.1f MB would have gone by DMA, merged\n",
			(double)sums->page.unmerged_dma / MB);
	if (sums->page.off)
		fprintf(out, "  %" PRIu64 " I/Os went by bio: rw_page was off\n",
			sums->page.off);
	if (!mq)
		return;
	double iops = cp_report_ratio(cell, mq, VALUE_IOPS).median;
	double p50 = cp_report_ratio(cell, mq, VALUE_P50).median;
	double cpu = cp_report_ratio(cell, mq, VALUE_IO_CPU).median;

	fprintf(out, "  over %s:\n", cp_report_text_arm(report, mq, name, sizeof(name)));
	if (isfinite(iops) && isfinite(p50) && isfinite(cpu))
		fprintf(out, "  IOPS %.2fx, median latency %.2fx, CPU an I/O %.2fx\n",
			iops, p50, cpu);
	else
		fputs("  not all of it was measured: see tables/page-path.csv\n", out);
}

struct text {
	const struct cp_report *report;
	FILE *out;
	bool begun;
};

static void text_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct text *text = ctx;
	bool headed = false;

	for (size_t i = 0; i < nr; i++) {
		if (!by_pages(text->report, &cells[i]))
			continue;
		if (!text->begun)
			fputs("\nWhat the page path bypassed; x: times mq's in the same "
			      "context.\n",
			      text->out);
		text->begun = true;
		if (!headed)
			cp_report_text_context(cells, text->out);
		headed = true;
		text_cell(text->report, &cells[i],
			  cp_report_mq_beside(text->report, cells, nr, &cells[i]),
			  text->out);
	}
}

void cp_report_bypass_text(const struct cp_report *report, FILE *out)
{
	struct text text = {.report = report, .out = out};

	cp_report_each_context(report, text_context, &text);
}
