// SPDX-License-Identifier: GPL-2.0-only
/* Where an offloaded I/O's time goes, and what the queue made of the I/Os. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/offload.h"

#define MB 1e6

const char *const cp_report_phase_names[CP_REPORT_PHASES] = {"prepare", "submit", "wait",
							     "complete"};

bool cp_report_has_phases(const struct cp_report_cell *cell)
{
	for (int p = 0; p < CP_REPORT_PHASES; p++)
		if (!cell->values[VALUE_DMA_PREPARE + p].n)
			return false;
	return cp_report_phases_ns(cell) > 0;
}

double cp_report_phases_ns(const struct cp_report_cell *cell)
{
	double sum = 0;

	for (int p = 0; p < CP_REPORT_PHASES; p++)
		sum += cell->values[VALUE_DMA_PREPARE + p].median;
	return sum;
}

bool cp_report_phases_drawn(const struct cp_report_cell *cell)
{
	return cp_report_has_phases(cell) &&
	       cell->sums.queue.timed >= CP_REPORT_TIMED_MIN;
}

/* NaN: not known. */
static double timed_ratio(const struct cp_report_cell *cell)
{
	const struct cp_report_stat *all = &cell->values[VALUE_LAT_MEAN];

	return all->n && all->median > 0 ? cp_report_phases_ns(cell) / all->median : NAN;
}

bool cp_report_phases_off(const struct cp_report_cell *cell)
{
	return fabs(timed_ratio(cell) - 1) > CP_REPORT_PHASES_OFF;
}

/* rw, bs, jobs, iodepth, where, arm, provenance of its DMA, N: of both tables. */
static void add_cell(const struct cp_report *report, const struct cp_report_cell *cell,
		     struct cp_report_table *table)
{
	char where[400];

	cp_report_table_load(table, report, cell);
	cp_report_context_words(&cell->context, &cell->provenance, where, sizeof(where));
	cp_report_table_add(table, "%s%s", cell->host, where);
	cp_report_table_add(table, "%s", report->arms[cell->arm].label);
	cp_report_table_add(table, "%s",
			    cell->sums.bytes_dma || cell->sums.bytes_simulated
				    ? report->arms[cell->arm].dma
				    : "-");
	cp_report_table_add(table, "%u", cell->n);
}

void cp_report_phases_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {
		"rw",	       "bs",	 "jobs",   "iodepth",	 "on",	      "arm",
		"DMA is",      "N",	 "timed",  "prepare us", "submit us", "wait us",
		"complete us", "sum us", "wait %", "mean us",	 "timed/all", "p50 us"};

	cp_report_table_init(
		table, "phases",
		"Where an offloaded I/O's time goes: means over those I/Os of a sample "
		"that were timed, medians of N samples. timed: how many, of all N. "
		"prepare: handed in until its descriptors are written, submit: the "
		"doorbell and, with split_pct, the CPU's own share, wait: until its "
		"completion is found, complete: until it is handed back; their sum is "
		"the mean latency of the timed I/Os. mean us, "
		"p50 us: of all I/Os; timed/all: sum over mean",
		"lrrrlllrrrrrrrrrrr", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!cp_report_has_phases(cell))
			continue;
		add_cell(report, cell, table);
		cp_report_table_add(table, "%" PRIu64, cell->sums.queue.timed);
		for (int p = 0; p < CP_REPORT_PHASES; p++)
			cp_report_table_number(
				table, cell->values[VALUE_DMA_PREPARE + p].median / 1000,
				2);
		cp_report_table_number(table, cp_report_phases_ns(cell) / 1000, 2);
		cp_report_table_number(table,
				       100 * cell->values[VALUE_DMA_WAIT].median /
					       cp_report_phases_ns(cell),
				       1);
		cp_report_table_number(table, cell->values[VALUE_LAT_MEAN].median / 1000,
				       2);
		cp_report_table_number(table, timed_ratio(cell), 2);
		cp_report_table_number(table, cell->values[VALUE_P50].median / 1000, 2);
	}
}

/* Where the timed I/Os are too few, or unlike the others. */
static void put_doubts(const struct cp_report *report, struct cp_report_doc *doc)
{
	unsigned nr = 0, few = 0, off = 0;

	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		nr += cp_report_has_phases(cell);
		few += cp_report_has_phases(cell) && !cp_report_phases_drawn(cell);
		off += cp_report_has_phases(cell) && cp_report_phases_off(cell);
	}
	if (few)
		cp_report_doc_note(
			doc,
			"%u of %u rows are of fewer than %d timed I/Os: too few, "
			"so they have no bar.",
			few, nr, CP_REPORT_TIMED_MIN);
	if (off)
		cp_report_doc_note(
			doc,
			"In %u of %u rows the timed I/Os took on average over %.0f %% "
			"more or less than all (timed/all): they are not like the "
			"others, and the shares are theirs alone.",
			off, nr, 100 * CP_REPORT_PHASES_OFF);
}

int cp_report_phases_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			   struct cp_err *err)
{
	if (!cp_report_table_rows(&page->tables[TABLE_PHASES]))
		return 0;
	doc->ops->section(doc, "Where an offloaded I/O's time goes");
	cp_report_doc_para(
		doc,
		"prepare and submit are the submitter's work for the I/O, wait is the "
		"engine's and the time until somebody looks, "
		"complete is the way back to the caller. Under load an I/O also "
		"waits for those before it. These are means, and of those I/Os alone "
		"that were timed: where their sum is far above the p50, a few I/Os "
		"waited long, as for a CPU that another thread had.");
	put_doubts(page->report, doc);
	int rc = cp_report_page_pictures(page, doc, FIGURE_PHASES, err);

	if (!rc)
		doc->ops->table(doc, &page->tables[TABLE_PHASES]);
	return rc;
}

static bool has_requests(const struct cp_report *report,
			 const struct cp_report_cell *cell)
{
	const struct cp_proof *sums = &cell->sums;

	return cell->n && (sums->queue.merged || sums->queue.transactions ||
			   sums->queue.split || sums->queue.crossed ||
			   sums->fallback.no_channel || sums->fallback.ring_full ||
			   sums->fallback.error || sums->fallback.too_many_segments ||
			   sums->bytes_fallback || sums->bytes_split ||
			   (sums->queue.requests &&
			    strcmp(report->arms[cell->arm].arm.dma, "none") != 0));
}

static double share(uint64_t part, const struct cp_proof *sums)
{
	double all = (double)sums->bytes_cpu + (double)sums->bytes_dma +
		     (double)sums->bytes_simulated;

	return all > 0 ? 100 * (double)part / all : NAN;
}

static void add_counts(struct cp_report_table *table, const struct cp_proof *sums)
{
	const uint64_t counts[] = {sums->queue.requests, sums->queue.merged,
				   sums->queue.transactions, sums->queue.split,
				   sums->queue.crossed};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		cp_report_table_add(table, "%" PRIu64, counts[i]);
}

/* "21 ring full, 3 refused by the engine". */
static void add_fallbacks(struct cp_report_table *table, const struct cp_proof *sums)
{
	const struct {
		uint64_t nr;
		const char *why;
	} reasons[] = {{sums->fallback.no_channel, "without a channel"},
		       {sums->fallback.ring_full, "ring full"},
		       {sums->fallback.error, "refused by the engine"},
		       {sums->fallback.too_many_segments, "too many segments"}};
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].nr)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%" PRIu64 " %s", used ? ", " : "",
						 reasons[i].nr, reasons[i].why);
	cp_report_table_add(table, "%s", used ? text : "-");
}

void cp_report_requests_table(const struct cp_report *report,
			      struct cp_report_table *table)
{
	static const char *const header[] = {"rw",
					     "bs",
					     "jobs",
					     "iodepth",
					     "on",
					     "arm",
					     "DMA is",
					     "N",
					     "requests",
					     "merged",
					     "transactions",
					     "split",
					     "crossed",
					     "fell back",
					     "fallback MB",
					     "split MB",
					     "CPU bytes %",
					     "DMA bytes %",
					     "modelled bytes %"};

	cp_report_table_init(
		table, "requests",
		"What the queue made of the I/Os it was handed, summed over N samples. "
		"requests: decided upon, after merging; merged: I/Os that became part of "
		"another one's; transactions: given to a channel; split: I/Os above 128 "
		"segments; crossed: over a border between NUMA nodes. fell back: I/Os "
		"that the CPU copied in the engine's stead, and why; fallback MB: their "
		"bytes. split MB: the CPU's share by split_pct. DMA is: a dash where no "
		"byte went by it",
		"lrrrlllrrrrrrwrrrrr", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];
		const struct cp_proof *sums = &cell->sums;

		if (!has_requests(report, cell))
			continue;
		add_cell(report, cell, table);
		add_counts(table, sums);
		add_fallbacks(table, sums);
		cp_report_table_number(table, (double)sums->bytes_fallback / MB, 1);
		cp_report_table_number(table, (double)sums->bytes_split / MB, 1);
		cp_report_table_number(table, share(sums->bytes_cpu, sums), 1);
		cp_report_table_number(table, share(sums->bytes_dma, sums), 1);
		cp_report_table_number(table, share(sums->bytes_simulated, sums), 1);
	}
}
