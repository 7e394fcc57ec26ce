// SPDX-License-Identifier: GPL-2.0-only
/* CPU copies and DMA beside each other, and beside the published figures. */
#include <math.h>
#include <string.h>

#include "report/offload.h"

#define MB 1e6
/* Nearer to 1 than this a ratio lies on no side: pairs of the same thing differ as much
 * (docs/method.md). */
#define NEAR_ONE 1.03

/* What stands in one row. */
struct beside {
	const struct cp_report_cell *cpu; /* NULL: not measured */
	const struct cp_report_cell *dma;
	const struct cp_published_dma_row *published[2]; /* by path; NULL: none */
};

enum side { SIDE_UNKNOWN, SIDE_BELOW, SIDE_NEAR, SIDE_ABOVE };

const struct cp_report_cell *cp_report_fastest(const struct cp_report *report,
					       const struct cp_report_cell *cells,
					       size_t nr, const char *path)
{
	const struct cp_report_cell *best = NULL;
	bool best_modelled = false;

	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];
		bool modelled = !strcmp(arm->dma, "modelled");

		if (arm->simulated || strcmp(arm->arm.path, path) != 0 ||
		    !cells[i].values[VALUE_BW].n || (best && modelled && !best_modelled))
			continue;
		if (best && modelled == best_modelled &&
		    cells[i].values[VALUE_BW].median <= best->values[VALUE_BW].median)
			continue;
		best = &cells[i];
		best_modelled = modelled;
	}
	return best;
}

bool cp_report_has_published(const struct cp_report *report,
			     const struct cp_report_cell *dma)
{
	return report->has_published &&
	       (!dma || strcmp(report->arms[dma->arm].dma, "modelled") != 0);
}

static double median(const struct cp_report_cell *cell, enum cp_report_value value)
{
	return cell ? cell->values[value].median : NAN;
}

static double ratio(const struct beside *beside, enum cp_report_value value)
{
	return median(beside->dma, value) / median(beside->cpu, value);
}

static double published_of(const struct beside *beside, bool dma,
			   enum cp_report_value value)
{
	const struct cp_published_dma_row *row = beside->published[dma];

	if (!row)
		return NAN;
	return value == VALUE_BW ? row->bw_bytes_per_s : row->cpu_pct;
}

static double published_ratio(const struct beside *beside, enum cp_report_value value)
{
	return published_of(beside, true, value) / published_of(beside, false, value);
}

static enum side side_of(double value)
{
	if (!isfinite(value))
		return SIDE_UNKNOWN;
	return value > NEAR_ONE	      ? SIDE_ABOVE
	       : value < 1 / NEAR_ONE ? SIDE_BELOW
				      : SIDE_NEAR;
}

/* Is DMA over CPU here on the side of 1 where it was published? */
static bool same_side(const struct beside *beside, enum cp_report_value value)
{
	return side_of(ratio(beside, value)) == side_of(published_ratio(beside, value));
}

static bool can_compare(const struct beside *beside)
{
	return side_of(ratio(beside, VALUE_BW)) && side_of(ratio(beside, VALUE_CPU)) &&
	       side_of(published_ratio(beside, VALUE_BW));
}

static bool is_offloaded(const struct cp_report *report,
			 const struct cp_report_cell *cell)
{
	const struct cp_report_arm *arm = &report->arms[cell->arm];

	return cell->n && !arm->simulated && !strcmp(arm->arm.path, "dma");
}

static void find_published(const struct cp_report *report, struct beside *beside)
{
	bool has = cp_report_has_published(report, beside->dma);

	for (int dma = 0; dma < 2; dma++)
		beside->published[dma] =
			has ? cp_published_dma_find(&report->published,
						    &beside->dma->context, dma)
			    : NULL;
}

/* Calls put() for each context and DMA arm. */
static void each_beside(const struct cp_report *report,
			void (*put)(void *ctx, const struct cp_report_cell *like,
				    const struct beside *beside),
			void *ctx)
{
	for (size_t p = 0; p < report->nr_panels; p++) {
		size_t at = report->panels[p].first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, &report->panels[p], &at,
						       &nr))) {
			bool swap = cp_report_is_swap(&cells->context);
			struct beside beside = {
				.cpu = cp_report_fastest(report, cells, nr, "cpu")};

			for (size_t i = 0; i < nr && !cells->aligned && !swap; i++) {
				beside.dma = &cells[i];
				find_published(report, &beside);
				if (is_offloaded(report, &cells[i]))
					put(ctx, cells, &beside);
			}
		}
	}
}

static void add_ratio(struct cp_report_table *table, double value)
{
	if (isfinite(value))
		cp_report_table_add(table, value < 10 ? "%.2f" : "%.1f", value);
	else
		cp_report_table_add(table, "-");
}

static void add_pair(struct cp_report_table *table, double bw, double cpu)
{
	const double values[] = {bw / MB, cpu};

	for (int i = 0; i < 2; i++)
		if (isfinite(values[i]))
			cp_report_table_add(table, "%.*f", values[i] < 1000 && i ? 1 : 0,
					    values[i]);
		else
			cp_report_table_add(table, "-");
}

static void add_shape(struct cp_report_table *table, const struct beside *beside)
{
	bool bw = same_side(beside, VALUE_BW), cpu = same_side(beside, VALUE_CPU);

	cp_report_table_add(table, "%s",
			    !can_compare(beside) ? "-"
			    : bw && cpu		 ? "both"
			    : bw		 ? "MB/s"
			    : cpu		 ? "CPU %"
						 : "neither");
}

static void put_row(void *ctx, const struct cp_report_cell *like,
		    const struct beside *beside)
{
	const struct cp_report *report = ((void **)ctx)[0];
	struct cp_report_table *table = ((void **)ctx)[1];
	const struct cp_report_arm *dma = &report->arms[beside->dma->arm];
	char where[400];

	cp_report_table_load(table, report, beside->dma);
	cp_report_context_words(&like->context, &like->provenance, where, sizeof(where));
	cp_report_table_add(table, "%s%s", like->host, where);
	cp_report_table_add(table, "%s",
			    beside->cpu ? report->arms[beside->cpu->arm].label : "-");
	add_pair(table, median(beside->cpu, VALUE_BW), median(beside->cpu, VALUE_CPU));
	cp_report_table_add(table, "%s", dma->label);
	cp_report_table_add(table, "%s", dma->dma);
	add_pair(table, median(beside->dma, VALUE_BW), median(beside->dma, VALUE_CPU));
	cp_report_table_number(table, median(beside->dma, VALUE_CPU_SUBMIT), 1);
	add_ratio(table, ratio(beside, VALUE_BW));
	add_ratio(table, ratio(beside, VALUE_CPU));
	for (int path = 0; path < 2; path++)
		add_pair(table, published_of(beside, path, VALUE_BW),
			 published_of(beside, path, VALUE_CPU));
	add_ratio(table, published_ratio(beside, VALUE_BW));
	add_ratio(table, published_ratio(beside, VALUE_CPU));
	add_shape(table, beside);
}

void cp_report_offload_table(const struct cp_report *report,
			     struct cp_report_table *table)
{
	static const char *const header[] = {"rw",
					     "bs",
					     "jobs",
					     "iodepth",
					     "on",
					     "CPU arm",
					     "CPU MB/s",
					     "CPU %",
					     "DMA arm",
					     "DMA is",
					     "DMA MB/s",
					     "DMA CPU %",
					     "submit %",
					     "MB/s DMA/CPU",
					     "CPU % DMA/CPU",
					     "published CPU MB/s",
					     "published CPU %",
					     "published DMA MB/s",
					     "published DMA CPU %",
					     "published MB/s DMA/CPU",
					     "published CPU % DMA/CPU",
					     "same side of 1"};
	const void *ctx[] = {report, table};

	cp_report_table_init(
		table, "cpu-dma",
		"CPU beside DMA: a row a DMA arm, beside the CPU arm with the most "
		"bandwidth. Medians, MB = 10^6 bytes; CPU % of one CPU, all threads; "
		"submit %: of it the submitters'. Columns named published are from the "
		"published table (another machine and engine, below). same side of 1: "
		"which of the two ratios DMA/CPU lie "
		"where the published ones do (above, below, or within 3 % of 1). A dash: "
		"not measured, or not published",
		"lrrrllrrllrrrrrrrrrrrl", header);
	table->fold = true;
	each_beside(report, put_row, ctx);
}

/* How the ratios of one DMA arm lie beside the published ones. */
struct shape {
	const struct cp_report *report;
	unsigned arm, nr, bw, cpu;
	double log_bw, log_cpu; /* sums of ln(ours over published) */
};

static void count_shape(void *ctx, const struct cp_report_cell *like,
			const struct beside *beside)
{
	struct shape *shape = ctx;

	(void)like;
	if (beside->dma->arm != shape->arm || !can_compare(beside))
		return;
	shape->nr++;
	shape->bw += same_side(beside, VALUE_BW);
	shape->cpu += same_side(beside, VALUE_CPU);
	shape->log_bw += log(ratio(beside, VALUE_BW) / published_ratio(beside, VALUE_BW));
	shape->log_cpu +=
		log(ratio(beside, VALUE_CPU) / published_ratio(beside, VALUE_CPU));
}

static unsigned put_shapes(const struct cp_report *report, struct cp_report_doc *doc)
{
	unsigned shown = 0;

	for (unsigned a = 0; a < report->nr_arms; a++) {
		struct shape shape = {.report = report, .arm = a};

		each_beside(report, count_shape, &shape);
		if (!shape.nr)
			continue;
		if (!shown++)
			doc->ops->list(doc, true);
		bool told = strstr(report->arms[a].label, report->arms[a].dma);

		cp_report_doc_item(
			doc,
			"%s%s%s: DMA over CPU lies on the published side of 1 in %u of "
			"%u loads in bandwidth, and in %u of %u in CPU time. Ours over "
			"published, geometric mean of those ratios: bandwidth %.2f, CPU "
			"%.2f.",
			report->arms[a].label, told ? "" : ", ",
			told ? "" : report->arms[a].dma, shape.bw, shape.nr, shape.cpu,
			shape.nr, exp(shape.log_bw / shape.nr),
			exp(shape.log_cpu / shape.nr));
	}
	if (shown)
		doc->ops->list(doc, false);
	return shown;
}

static bool any_offloaded(const struct cp_report *report, const char *provenance)
{
	for (size_t i = 0; i < report->nr_cells; i++)
		if (is_offloaded(report, &report->cells[i]) &&
		    !strcmp(report->arms[report->cells[i].arm].dma, provenance))
			return true;
	return false;
}

void cp_report_offload_write(const struct cp_report_page *page, struct cp_report_doc *doc)
{
	const struct cp_report *report = page->report;

	doc->ops->section(doc, "CPU beside DMA");
	doc->ops->pre(doc, page->seed_table);
	if (!cp_report_table_rows(&page->tables[TABLE_OFFLOAD]))
		return;
	unsigned shown = put_shapes(report, doc);

	if (any_offloaded(report, "software"))
		cp_report_doc_para(
			doc,
			"The DMA here is software: a helper thread copies, so what "
			"leaves the submitter (submit %%) comes back as the thread's "
			"CPU time, and CPU %% cannot fall as with hardware.");
	if (any_offloaded(report, "modelled"))
		cp_report_doc_para(
			doc,
			"Modelled DMA is computed from the figures in the arm's "
			"settings and moves no data unless it says so: it shows what "
			"an engine of those figures would give, and nothing of this "
			"machine's. No published figures stand beside it, as it may "
			"have been set from them; its workload file says from which.");
	doc->ops->table(doc, &page->tables[TABLE_OFFLOAD]);
	if (shown)
		cp_report_doc_para(doc,
				   "Published figures (%s): %s. %s They are of another "
				   "machine, kernel and DMA engine, and are merged with "
				   "none of ours.",
				   report->published.machine, report->published.source,
				   report->published.notes);
}
