// SPDX-License-Identifier: GPL-2.0-only
/* What is left for an application beside the I/O, and which arm leaves most. */
#include <math.h>
#include <string.h>

#include "report/paths.h"

#define MB 1e6

/* Has the cell anything to say of an application? */
static bool tells(const struct cp_report_cell *cell)
{
	return cell->n && (strcmp(cell->context.corunner, "none") != 0 ||
			   cell->values[VALUE_CORUNNER].n || cell->values[VALUE_APP].n);
}

static bool modelled(const struct cp_report *report, const struct cp_report_cell *cell)
{
	return !strcmp(report->arms[cell->arm].dma, "modelled");
}

/* Figures of what was not modelled are compared among themselves; what was, only where
 * there is nothing else. */
static bool compared(const struct cp_report *report, const struct cp_report_cell *cells,
		     size_t nr, const struct cp_report_cell *cell)
{
	if (!tells(cell) || report->arms[cell->arm].simulated)
		return false;
	for (size_t i = 0; i < nr && modelled(report, cell); i++)
		if (tells(&cells[i]) && !report->arms[cells[i].arm].simulated &&
		    !modelled(report, &cells[i]))
			return false;
	return true;
}

static enum cp_report_value judged_by(const struct cp_report_delivered *judged)
{
	return judged->of_app ? VALUE_APP : VALUE_CORUNNER;
}

/* Without a bandwidth anywhere, none can be too low. */
static bool has_bandwidth(const struct cp_report_delivered *judged,
			  const struct cp_report_cell *cell)
{
	return !isfinite(judged->best_bw) ||
	       cell->values[VALUE_BW].median >= CP_REPORT_DELIVERED_BW * judged->best_bw;
}

void cp_report_delivered_judge(const struct cp_report *report,
			       const struct cp_report_cell *cells, size_t nr,
			       struct cp_report_delivered *ret)
{
	*ret = (struct cp_report_delivered){.best_bw = NAN, .of_app = true};
	for (size_t i = 0; i < nr; i++) {
		if (!compared(report, cells, nr, &cells[i]))
			continue;
		ret->best_bw = fmax(ret->best_bw, cells[i].values[VALUE_BW].median);
		ret->of_app = ret->of_app && !cells[i].values[VALUE_CORUNNER].n;
	}
	enum cp_report_value by = judged_by(ret);

	for (size_t i = 0; i < nr; i++)
		if (compared(report, cells, nr, &cells[i]) && cells[i].values[by].n &&
		    has_bandwidth(ret, &cells[i]) &&
		    (!ret->most ||
		     cells[i].values[by].median > ret->most->values[by].median))
			ret->most = &cells[i];
	for (size_t i = 0; i < nr && ret->most; i++)
		ret->meets += &cells[i] != ret->most &&
			      compared(report, cells, nr, &cells[i]) &&
			      cells[i].values[by].n && has_bandwidth(ret, &cells[i]) &&
			      cells[i].values[by].high >= ret->most->values[by].low;
}

enum cp_report_delivers cp_report_delivers(const struct cp_report *report,
					   const struct cp_report_delivered *judged,
					   const struct cp_report_cell *cell)
{
	if (report->arms[cell->arm].simulated ||
	    (judged->most && modelled(report, cell) && !modelled(report, judged->most)))
		return DELIVERS_APART;
	if (!judged->most || !cell->values[judged_by(judged)].n ||
	    (isfinite(judged->best_bw) && !cell->values[VALUE_BW].n))
		return DELIVERS_UNKNOWN;
	if (cell == judged->most)
		return DELIVERS_MOST;
	return has_bandwidth(judged, cell) ? DELIVERS_LESS : DELIVERS_BELOW;
}

static void add_verdict(const struct cp_report *report, struct cp_report_table *table,
			const struct cp_report_delivered *judged,
			const struct cp_report_cell *cell)
{
	switch (cp_report_delivers(report, judged, cell)) {
	case DELIVERS_MOST:
		if (judged->meets)
			cp_report_table_add(table,
					    "most by the median; intervals of %u more "
					    "meet its own",
					    judged->meets);
		else
			cp_report_table_add(table, "delivers most");
		return;
	case DELIVERS_BELOW:
		cp_report_table_add(table, "below %.1f of the best bandwidth",
				    CP_REPORT_DELIVERED_BW);
		return;
	case DELIVERS_APART:
		cp_report_table_add(table, "modelled, not compared");
		return;
	case DELIVERS_LESS:
	case DELIVERS_UNKNOWN:
		break;
	}
	cp_report_table_add(table, "%s", "");
}

static void add_row(const struct cp_report *report, struct cp_report_table *table,
		    const struct cp_report_delivered *judged,
		    const struct cp_report_cell *cell)
{
	const struct cp_report_stat *values = cell->values;
	const struct cp_report_arm *arm = &report->arms[cell->arm];

	cp_report_table_load(table, report, cell);
	cp_report_add_where(table, cell);
	cp_report_table_add(table, "%s", arm->label);
	cp_report_table_add(table, "%s", arm->arm.queue_mode);
	cp_report_table_add(table, "%s", arm->dma);
	cp_report_table_add(table, "%u", cell->n);
	cp_report_add_stat(table, &values[VALUE_BW], MB);
	cp_report_add_median(table, &values[VALUE_CPU], 1);
	cp_report_add_stat(table, &values[VALUE_APP], 1);
	cp_report_add_stat(table, &values[VALUE_CORUNNER], 1);
	cp_report_add_median(table, &values[VALUE_CORUNNER_ALONE], 1);
	cp_report_add_stat(table, &values[VALUE_CORUNNER_SHARE], 1);
	cp_report_add_median(table, &values[VALUE_CORUNNER_CPU], 1);
	cp_report_add_median(table, &values[VALUE_CORUNNER_ALONE_CPU], 1);
	cp_report_add_median(table, &values[VALUE_STEAL], 1);
	add_verdict(report, table, judged, cell);
}

struct making {
	const struct cp_report *report;
	struct cp_report_table *table;
	struct cp_report_doc *doc;
	FILE *out;
	unsigned nr;
};

static void table_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	struct cp_report_delivered judged;

	cp_report_delivered_judge(making->report, cells, nr, &judged);
	for (size_t i = 0; i < nr; i++)
		if (tells(&cells[i]))
			add_row(making->report, making->table, &judged, &cells[i]);
}

void cp_report_delivered_table(const struct cp_report *report,
			       struct cp_report_table *table)
{
	static const char *const header[] = {
		"rw",	     "bs",	    "jobs",
		"iodepth",   "on",	    "arm",
		"queue",     "DMA is",	    "N",
		"MB/s",	     "interval",    "CPU %",
		"app ops/s", "interval",    "corunner ops/s",
		"interval",  "alone ops/s", "share left %",
		"interval",  "ops/CPU s",   "alone ops/CPU s",
		"steal %",   "is"};
	struct making making = {.report = report, .table = table};

	cp_report_table_init(
		table, "delivered",
		"Delivered to an application, medians of N samples. corunner: its work "
		"per second beside the I/O and alone, just before; share left: beside "
		"over alone of each sample. ops/CPU s: work per second of the "
		"co-runner's own CPU time, where losing the CPU does not count but "
		"caches and memory do; steal: of its CPUs' time, taken by the "
		"hypervisor. app: what a program under driver exec calls its work. CPU "
		"% of one CPU, the I/O's process. A dash: not measured",
		"lrrrllllrrrrrrrrrrrrrrl", header);
	table->fold = true;
	cp_report_each_context(report, table_context, &making);
}

/* "123.4M", "-". */
static const char *count_words(const struct cp_report_stat *stat, char *buf, size_t size)
{
	static const char *const units[] = {"", "k", "M", "G"};
	double value = stat->median;
	size_t unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	if (stat->n)
		snprintf(buf, size, "%.4g%s", value, units[unit]);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* "read 64k, 1 job, iodepth 1, corunner compute". */
static const char *context_words(const struct cp_report_cell *like, char *buf,
				 size_t size)
{
	char bs[24], load[64], where[400];

	snprintf(buf, size, "%s %s, %s%s", like->context.rw,
		 cp_report_size_words(like->context.bs, bs, sizeof(bs)),
		 cp_report_load_words(&like->context, load, sizeof(load)),
		 cp_report_context_words(&like->context, &like->provenance, where,
					 sizeof(where)));
	return buf;
}

static void list_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	struct cp_report_delivered judged;
	char words[600], share[160] = "", meets[160] = "", count[24];

	cp_report_delivered_judge(making->report, cells, nr, &judged);
	if (!judged.most)
		return;
	const struct cp_report_stat *values = judged.most->values;

	if (!making->nr++)
		making->doc->ops->list(making->doc, true);
	if (values[VALUE_CORUNNER_SHARE].n && !judged.of_app)
		snprintf(share, sizeof(share),
			 ", and leaves the co-runner %.1f %% of what it does alone",
			 values[VALUE_CORUNNER_SHARE].median);
	if (judged.meets)
		snprintf(meets, sizeof(meets),
			 ". The intervals of %u other%s meet its own, so the order is "
			 "not settled",
			 judged.meets, judged.meets == 1 ? "" : "s");
	cp_report_doc_item(
		making->doc, "%s: %s delivers most%s: %s %s per second%s%s.",
		context_words(cells, words, sizeof(words)),
		making->report->arms[judged.most->arm].label,
		isfinite(judged.best_bw)
			? " among those with at least 0.9 of the best bandwidth"
			: "",
		count_words(&values[judged_by(&judged)], count, sizeof(count)),
		judged.of_app ? "operations of the application"
			      : "operations of the co-runner",
		share, meets);
}

int cp_report_delivered_write(const struct cp_report_page *page,
			      struct cp_report_doc *doc, struct cp_err *err)
{
	struct making making = {.report = page->report, .doc = doc};

	if (!cp_report_table_rows(&page->tables[TABLE_DELIVERED]))
		return 0;
	doc->ops->section(doc, "Delivered to an application");
	cp_report_doc_para(
		doc,
		"A figure of I/O alone does not say what is left for those who asked for "
		"it (D. Williams, 2017: \"I'm worried that tuning for a single dimension "
		"on an fio run doesn't actually improve throughput delivered to an "
		"application\"). So another load runs beside the I/O on its CPUs, and "
		"its work is counted, or the application itself says what it did.");
	cp_report_each_context(page->report, list_context, &making);
	if (making.nr)
		doc->ops->list(doc, false);
	int rc = cp_report_page_pictures(page, doc, FIGURE_DELIVERED, err);

	if (!rc)
		doc->ops->table(doc, &page->tables[TABLE_DELIVERED]);
	return rc;
}

/* "95.1%", "-". */
static const char *percent_words(const struct cp_report_stat *stat, char *buf,
				 size_t size)
{
	if (stat->n)
		snprintf(buf, size, "%.1f%%", stat->median);
	else
		snprintf(buf, size, "-");
	return buf;
}

static void text_context(void *ctx, const struct cp_report_cell *cells, size_t nr)
{
	struct making *making = ctx;
	struct cp_report_delivered judged;
	bool headed = false;

	cp_report_delivered_judge(making->report, cells, nr, &judged);
	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_stat *values = cells[i].values;
		char text[4][40], name[120];

		if (!tells(&cells[i]))
			continue;
		if (!making->nr++)
			fputs("\nDelivered to an application: co-runner's work per "
			      "second beside\nthe I/O and the share left of what it does "
			      "alone. *: most, with at\nleast 0.9 of the best "
			      "bandwidth.\n",
			      making->out);
		if (!headed)
			cp_report_text_context(cells, making->out);
		headed = true;
		fprintf(making->out, "%s %8sB/s  %8s ops/s  %6s left  app %8s ops/s\n",
			&cells[i] == judged.most ? "*" : " ",
			count_words(&values[VALUE_BW], text[0], sizeof(text[0])),
			count_words(&values[VALUE_CORUNNER], text[1], sizeof(text[1])),
			percent_words(&values[VALUE_CORUNNER_SHARE], text[2],
				      sizeof(text[2])),
			count_words(&values[VALUE_APP], text[3], sizeof(text[3])));
		fprintf(making->out, "  is %s, media %s, DMA %s\n",
			cp_report_text_arm(making->report, &cells[i], name, sizeof(name)),
			cells[i].provenance.media, cells[i].provenance.dma);
	}
}

void cp_report_delivered_text(const struct cp_report *report, FILE *out)
{
	struct making making = {.report = report, .out = out};

	cp_report_each_context(report, text_context, &making);
}
