// SPDX-License-Identifier: GPL-2.0-only
/* Where an offloaded I/O's time goes: a bar a size and arm, its parts as shares. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"
#include "report/offload.h"

#define BAR_PIXELS 17
#define BARS_MAX   48 /* of one figure; the table has all */
#define NAME_CHARS 22

static size_t collect_bars(const struct cp_report *report,
			   const struct cp_report_panel *panel,
			   const struct cp_report_cell **bars, size_t *ret_more)
{
	size_t nr = 0;

	*ret_more = 0;
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		if (!cp_report_phases_drawn(&report->cells[i]))
			continue;
		if (nr < BARS_MAX)
			bars[nr++] = &report->cells[i];
		else
			++*ret_more;
	}
	return nr;
}

/* From below: the last bar is row 1. Ends are of the parts put one behind the other. */
static void put_csv(const struct cp_report *report,
		    const struct cp_report_cell *const *bars, size_t nr, FILE *csv)
{
	fputs("row,bs,DMA is,sum us", csv);
	for (int p = 0; p < CP_REPORT_PHASES; p++)
		fprintf(csv, ",%s us", cp_report_phase_names[p]);
	for (int p = 0; p < CP_REPORT_PHASES; p++)
		fprintf(csv, ",%s ends at %%", cp_report_phase_names[p]);
	fputs(",timed,mean us,arm\n", csv);
	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[bars[i]->arm];
		double sum = cp_report_phases_ns(bars[i]), end = 0;
		char bs[24];

		fprintf(csv, "%zu,%s,%s,%.6g", nr - i,
			cp_size_format(bars[i]->context.bs, bs, sizeof(bs)), arm->dma,
			sum / 1000);
		for (int p = 0; p < CP_REPORT_PHASES; p++)
			fprintf(csv, ",%.6g",
				bars[i]->values[VALUE_DMA_PREPARE + p].median / 1000);
		for (int p = 0; p < CP_REPORT_PHASES; p++) {
			end += bars[i]->values[VALUE_DMA_PREPARE + p].median;
			fprintf(csv, ",%.6g", 100 * end / sum);
		}
		fprintf(csv, ",%" PRIu64 ",", bars[i]->sums.queue.timed);
		if (bars[i]->values[VALUE_LAT_MEAN].n)
			fprintf(csv, "%.6g",
				bars[i]->values[VALUE_LAT_MEAN].median / 1000);
		fputc(',', csv);
		cp_escape_csv(csv, arm->label);
		fputc('\n', csv);
	}
}

/* "1.23 ms software", with a mark where the timed I/Os are unlike the others. */
static void put_total(FILE *gp, const struct cp_report_cell *bar)
{
	double ns = cp_report_phases_ns(bar);
	char text[80], shown[200];
	const char *unit = ns < 1e6 ? "us" : "ms";
	double value = ns < 1e6 ? ns / 1e3 : ns / 1e6;

	snprintf(text, sizeof(text), "%.*f %s %s%s", value < 100 ? 1 : 0, value, unit,
		 bar->provenance.dma, cp_report_phases_off(bar) ? " *" : "");
	cp_escape_gnuplot(gp, cp_text_visible(text, 24, shown, sizeof(shown)));
}

/* What the engine is stands behind the bar. */
static void name_bar(const struct cp_report *report, const struct cp_report_cell *bar,
		     char *name, size_t size)
{
	const struct cp_report_arm *arm = &report->arms[bar->arm];
	char bs[24], told[CP_WORD_MAX + 4];
	size_t len = strlen(arm->label);
	int cut = snprintf(told, sizeof(told), " (%s)", arm->dma);

	if (len > (size_t)cut && !strcmp(arm->label + len - (size_t)cut, told))
		len -= (size_t)cut;
	snprintf(name, size, "%s  %.*s", cp_size_format(bar->context.bs, bs, sizeof(bs)),
		 (int)len, arm->label);
}

static void put_layout(const struct cp_report *report,
		       const struct cp_report_cell *const *bars, size_t nr, FILE *gp)
{
	char name[REPORT_LABEL_MAX + 32], text[200];

	fprintf(gp, "ROWS = %zu\narray ROW[%zu]\narray TOTAL[%zu]\n", nr, nr, nr);
	for (size_t i = 0; i < nr; i++) {
		name_bar(report, bars[i], name, sizeof(name));
		fprintf(gp, "ROW[%zu] = ", nr - i);
		cp_escape_gnuplot(gp,
				  cp_text_visible(name, NAME_CHARS, text, sizeof(text)));
		fprintf(gp, "; TOTAL[%zu] = ", nr - i);
		put_total(gp, bars[i]);
		fputc('\n', gp);
	}
	fprintf(gp, "array PHASE[%d]\n", CP_REPORT_PHASES);
	for (int p = 0; p < CP_REPORT_PHASES; p++)
		fprintf(gp, "PHASE[%d] = '%s'\n", p + 1, cp_report_phase_names[p]);
}

static int phases_figure(const struct cp_report *report, unsigned number,
			 struct cp_report_figures *figures, struct cp_report_files *files,
			 struct cp_err *err)
{
	const struct cp_report_panel *panel = &report->panels[number];
	const struct cp_report_cell *bars[BARS_MAX];
	char words[600], provenance[300], title[800], left_out[64] = "";
	uint64_t least = UINT64_MAX, most = 0;
	bool off = false;
	FILE *csv, *gp;
	size_t more, nr = collect_bars(report, panel, bars, &more);

	if (!nr)
		return 0;
	int rc = cp_report_figure_begin(report, figures, FIGURE_PHASES, number + 1, files,
					&csv, &gp, err);

	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];

	cp_report_panel_words(report, panel, words, sizeof(words));
	cp_report_panel_provenance(report, panel, true, provenance, sizeof(provenance));
	for (size_t i = 0; i < nr; i++) {
		uint64_t timed = bars[i]->sums.queue.timed;

		least = timed < least ? timed : least;
		most = timed > most ? timed : most;
		off = off || cp_report_phases_off(bars[i]);
	}
	if (more)
		snprintf(left_out, sizeof(left_out), " %zu more bars are in the table.",
			 more);
	snprintf(figure->caption, sizeof(figure->caption),
		 "Where an offloaded I/O's time goes, as shares of the mean latency of "
		 "those I/Os that were timed: %s (%s). Behind each bar that mean, and "
		 "what the DMA engine is. Timed were %" PRIu64 " to %" PRIu64
		 " I/Os a bar.%s%s",
		 words, provenance, least, most,
		 off ? " *: the mean of all I/Os is more than 25 % away from it." : "",
		 left_out);
	snprintf(title, sizeof(title), "Phases: %s", words);
	cp_report_figure_head(report, gp, title, provenance,
			      12 + (unsigned)nr * BAR_PIXELS, NULL, 0, CP_REPORT_PHASES);
	put_layout(report, bars, nr, gp);
	put_csv(report, bars, nr, csv);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

int cp_report_figure_phases(const struct cp_report *report,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err)
{
	int rc = 0;

	for (unsigned p = 0; p < report->nr_panels && !rc; p++)
		rc = phases_figure(report, p, figures, files, err);
	return rc;
}
