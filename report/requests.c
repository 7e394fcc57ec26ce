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

/* rw, bs, jobs, iodepth, where, arm, provenance of its DMA, N: of both tables. */
static void add_cell(const struct cp_report *report, const struct cp_report_cell *cell,
		     struct cp_report_table *table)
{
	char where[400];

	cp_report_table_load(table, &cell->context);
	cp_report_context_words(&cell->context, &cell->provenance, where, sizeof(where));
	cp_report_table_add(table, "%s%s", cell->host, where);
	cp_report_table_add(table, "%s", report->arms[cell->arm].label);
	cp_report_table_add(table, "%s", report->arms[cell->arm].dma);
	cp_report_table_add(table, "%u", cell->n);
}

void cp_report_phases_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {
		"rw",	   "bs",	  "jobs",   "iodepth",	  "on",
		"arm",	   "DMA is",	  "N",	    "prepare us", "submit us",
		"wait us", "complete us", "sum us", "wait %",	  "p50 us"};

	cp_report_table_init(
		table, "phases",
		"Where an offloaded I/O's time goes: means over a sample of them, "
		"medians "
		"of N samples. prepare: handed in until its descriptors are written, "
		"submit: the doorbell, wait: until its completion is found, complete: "
		"until it is handed back; together they are its latency. p50: of all "
		"I/Os",
		"lrrrlllrrrrrrrr", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!cp_report_has_phases(cell))
			continue;
		add_cell(report, cell, table);
		for (int p = 0; p < CP_REPORT_PHASES; p++)
			cp_report_table_number(
				table, cell->values[VALUE_DMA_PREPARE + p].median / 1000,
				2);
		cp_report_table_number(table, cp_report_phases_ns(cell) / 1000, 2);
		cp_report_table_number(table,
				       100 * cell->values[VALUE_DMA_WAIT].median /
					       cp_report_phases_ns(cell),
				       1);
		cp_report_table_number(table, cell->values[VALUE_P50].median / 1000, 2);
	}
}

int cp_report_phases_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			   struct cp_err *err)
{
	if (!cp_report_table_rows(&page->tables[TABLE_PHASES]))
		return 0;
	doc->ops->section(doc, "Where an offloaded I/O's time goes");
	cp_report_doc_para(
		doc,
		"prepare and submit are the submitter's work before the engine has "
		"the I/O, wait is the engine's and the time until somebody looks, "
		"complete is the way back to the caller. Under load an I/O also "
		"waits for those before it. These are means: where their sum is far "
		"above the "
		"p50, a few I/Os waited long, as for a CPU that another thread had.");
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
	const uint64_t counts[] = {sums->queue.requests,
				   sums->queue.merged,
				   sums->queue.transactions,
				   sums->queue.split,
				   sums->queue.crossed,
				   sums->fallback.no_channel,
				   sums->fallback.ring_full,
				   sums->fallback.error,
				   sums->fallback.too_many_segments};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		cp_report_table_add(table, "%" PRIu64, counts[i]);
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
					     "no channel",
					     "ring full",
					     "error",
					     "too many segments",
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
		"segments; crossed: over a border between NUMA nodes. no channel, ring "
		"full, error, too many segments: I/Os that fell back to the CPU, by "
		"reason, and fallback MB their bytes. split MB: the CPU's share by "
		"split_pct",
		"lrrrlllrrrrrrrrrrrrrrr", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];
		const struct cp_proof *sums = &cell->sums;

		if (!has_requests(report, cell))
			continue;
		add_cell(report, cell, table);
		add_counts(table, sums);
		cp_report_table_number(table, (double)sums->bytes_fallback / MB, 1);
		cp_report_table_number(table, (double)sums->bytes_split / MB, 1);
		cp_report_table_number(table, share(sums->bytes_cpu, sums), 1);
		cp_report_table_number(table, share(sums->bytes_dma, sums), 1);
		cp_report_table_number(table, share(sums->bytes_simulated, sums), 1);
	}
}
