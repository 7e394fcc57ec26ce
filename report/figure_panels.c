// SPDX-License-Identifier: GPL-2.0-only
/* The two figures that show measurements as they are, one each a panel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"
#include "report/figures.h"
#include "report/misalign.h"

#define NULL_ROOM 30 /* how far above the rest the axis follows null */
#define SIZES_MAX 256
#define MB	  1e6

/* What one panel shows: its sizes and those of its arms that have figures. */
struct shown {
	uint64_t sizes[SIZES_MAX];
	unsigned arms[SIZES_MAX];
	size_t nr_sizes, nr_arms;
	double bw_low, bw_high, cpu_high; /* MB/s, percent */
	double simulated_high;		  /* MB/s of what moved nothing */
};

static int by_arm_number(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void show_cell(struct shown *shown, const struct cp_report_cell *cell,
		      bool simulated)
{
	const struct cp_report_stat *bw = &cell->values[VALUE_BW];
	const struct cp_report_stat *cpu = &cell->values[VALUE_CPU];
	size_t k = 0;

	if (!shown->nr_sizes || shown->sizes[shown->nr_sizes - 1] != cell->context.bs)
		shown->sizes[shown->nr_sizes++] = cell->context.bs;
	while (k < shown->nr_arms && shown->arms[k] != cell->arm)
		k++;
	if (k == shown->nr_arms)
		shown->arms[shown->nr_arms++] = cell->arm;
	shown->bw_low = fmin(shown->bw_low, bw->low / MB);
	if (simulated)
		shown->simulated_high = fmax(shown->simulated_high, bw->high / MB);
	else
		shown->bw_high = fmax(shown->bw_high, bw->high / MB);
	shown->cpu_high = fmax(shown->cpu_high, cpu->high);
}

/* False when there is nothing to draw. A log axis has no place for zero. */
static bool collect_shown(const struct cp_report *report,
			  const struct cp_report_panel *panel, bool with_cpu,
			  struct shown *shown)
{
	memset(shown, 0, sizeof(*shown));
	shown->bw_low = INFINITY;
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!(cell->values[VALUE_BW].low > 0) || shown->nr_sizes == SIZES_MAX ||
		    shown->nr_arms == SIZES_MAX)
			continue;
		if (with_cpu &&
		    (report->arms[cell->arm].simulated || !cell->values[VALUE_CPU].n))
			continue;
		show_cell(shown, cell, report->arms[cell->arm].simulated);
	}
	/* null moves nothing and would push what matters into a corner */
	shown->bw_high = shown->bw_high > 0
				 ? fmax(shown->bw_high, fmin(shown->simulated_high,
							     shown->bw_high * NULL_ROOM))
				 : shown->simulated_high;
	qsort(shown->arms, shown->nr_arms, sizeof(shown->arms[0]), by_arm_number);
	return shown->nr_sizes > 0;
}

static const struct cp_report_cell *find_shown(const struct cp_report *report,
					       const struct cp_report_panel *panel,
					       uint64_t bs, unsigned arm)
{
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (cell->context.bs == bs && cell->arm == arm &&
		    cell->values[VALUE_BW].low > 0)
			return cell;
	}
	return NULL;
}

static void csv_numbers(FILE *csv, const struct cp_report_stat *stat, double unit)
{
	if (stat && stat->n)
		fprintf(csv, ",%.6g,%.6g,%.6g", stat->median / unit, stat->low / unit,
			stat->high / unit);
	else
		fputs(",NaN,NaN,NaN", csv);
}

static void bandwidth_csv(const struct cp_report *report,
			  const struct cp_report_panel *panel, const struct shown *shown,
			  FILE *csv)
{
	static const char *const columns[] = {"median MB/s", "low", "high"};
	char name[REPORT_LABEL_MAX + 32];

	fputs("bs", csv);
	for (size_t a = 0; a < shown->nr_arms; a++) {
		for (int c = 0; c < 3; c++) {
			snprintf(name, sizeof(name), "%s %s",
				 report->arms[shown->arms[a]].label, columns[c]);
			fputc(',', csv);
			cp_escape_csv(csv, name);
		}
	}
	fputc('\n', csv);
	for (size_t s = 0; s < shown->nr_sizes; s++) {
		fprintf(csv, "%" PRIu64, shown->sizes[s]);
		for (size_t a = 0; a < shown->nr_arms; a++) {
			const struct cp_report_cell *cell = find_shown(
				report, panel, shown->sizes[s], shown->arms[a]);

			csv_numbers(csv, cell ? &cell->values[VALUE_BW] : NULL, MB);
		}
		fputc('\n', csv);
	}
}

static int bandwidth_figure(const struct cp_report *report, unsigned number,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err)
{
	const struct cp_report_panel *panel = &report->panels[number];
	char words[600], provenance[300], title[800];
	struct shown shown;
	FILE *csv, *gp;

	/* One size is no curve: the points are in the figure of CPU and the table. */
	if (!collect_shown(report, panel, false, &shown) || shown.nr_sizes < 2)
		return 0;
	int rc = cp_report_figure_begin(report, figures, FIGURE_BANDWIDTH, number + 1,
					files, &csv, &gp, err);

	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];

	cp_report_panel_words(report, panel, words, sizeof(words));
	cp_report_panel_provenance(report, panel, true, provenance, sizeof(provenance));
	snprintf(figure->caption, sizeof(figure->caption),
		 "Bandwidth by block size: %s (%s). Points are medians, bars their "
		 "intervals; a size that was not measured is a gap.",
		 words, provenance);
	snprintf(title, sizeof(title), "Bandwidth: %s", words);
	cp_report_figure_head(report, gp, title, provenance, 230, shown.arms,
			      shown.nr_arms, 0);
	double lo = shown.bw_low / 1.25, hi = shown.bw_high * 1.25;

	fprintf(gp, "set xrange [%g:%g]\nset yrange [%g:%g]\n",
		(double)shown.sizes[0] / 1.5,
		(double)shown.sizes[shown.nr_sizes - 1] * 1.5, lo, hi);
	cp_report_figure_size_tics(gp, shown.sizes, shown.nr_sizes);
	cp_report_figure_tics(gp, 'y', lo, hi, 7);
	bandwidth_csv(report, panel, &shown, csv);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

static int by_bandwidth(const void *a, const void *b)
{
	const struct cp_report_cell *const *x = a, *const *y = b;
	double p = (*x)->values[VALUE_BW].median, q = (*y)->values[VALUE_BW].median;

	return (p > q) - (p < q);
}

/* The rows of one size in order of bandwidth, so that the front is one line. */
static void cpu_csv_size(const struct cp_report *report,
			 const struct cp_report_panel *panel, const struct shown *shown,
			 size_t s, FILE *csv)
{
	const struct cp_report_cell *cells[SIZES_MAX];
	size_t nr = 0;
	char size[24];

	for (size_t a = 0; a < shown->nr_arms; a++) {
		cells[nr] = find_shown(report, panel, shown->sizes[s], shown->arms[a]);
		nr += cells[nr] && cells[nr]->values[VALUE_CPU].n;
	}
	qsort(cells, nr, sizeof(cells[0]), by_bandwidth);
	for (size_t i = 0; i < nr; i++) {
		size_t a = 0;

		while (shown->arms[a] != cells[i]->arm)
			a++;
		fprintf(csv, "%zu,%zu,%s", s + 1, a + 1,
			cp_size_format(shown->sizes[s], size, sizeof(size)));
		csv_numbers(csv, &cells[i]->values[VALUE_BW], MB);
		csv_numbers(csv, &cells[i]->values[VALUE_CPU], 1);
		fprintf(csv, ",%d,%d,", cells[i]->pareto, cells[i]->chosen);
		cp_escape_csv(csv, report->arms[cells[i]->arm].label);
		fputc('\n', csv);
	}
}

static void cpu_layout(FILE *gp, const struct shown *shown, unsigned rows)
{
	char size[24];

	fprintf(gp, "PANELS = %zu\nROWS = %u\narray SIZE[%zu]\n", shown->nr_sizes, rows,
		shown->nr_sizes);
	for (size_t s = 0; s < shown->nr_sizes; s++)
		fprintf(gp, "SIZE[%zu] = '%s'\n", s + 1,
			cp_size_format(shown->sizes[s], size, sizeof(size)));
}

/* " On incumbent the ring is for cpu-memcpy, judged as bio with the same kernel." */
static void add_stands(const struct cp_report *report,
		       const struct cp_report_panel *panel, char *text, size_t size)
{
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const struct cp_report_cell *cell = &report->cells[i];
		const struct cp_report_arm *arm = &report->arms[cell->arm];
		char one[500], on[100], said[100];

		if (!cell->stands_for[0])
			continue;
		cp_text_visible(arm->label, 32, on, sizeof(on));
		cp_text_visible(cell->stands_for, 32, said, sizeof(said));
		if (!strcmp(cell->stands_for, arm->arm.name))
			snprintf(one, sizeof(one),
				 " On %s the ring shows it in %s: nothing was measured "
				 "in %s there.",
				 on, arm->arm.queue_mode,
				 report->policy.device.queue_mode);
		else
			snprintf(one, sizeof(one),
				 " On %s the ring is for %s, judged as %s with the same "
				 "%s.",
				 on, said, arm->arm.queue_mode,
				 strcmp(arm->arm.path, "dma") ? "kernel" : "path");
		size_t used = strlen(text);

		if (!strstr(text, one) && used + strlen(one) < size)
			memcpy(text + used, one, strlen(one) + 1);
	}
}

static int cpu_figure(const struct cp_report *report, unsigned number,
		      struct cp_report_figures *figures, struct cp_report_files *files,
		      struct cp_err *err)
{
	const struct cp_report_panel *panel = &report->panels[number];
	char words[600], provenance[300], title[800];
	struct shown shown;
	FILE *csv, *gp;

	if (!collect_shown(report, panel, true, &shown))
		return 0;
	int rc = cp_report_figure_begin(report, figures, FIGURE_CPU, number + 1, files,
					&csv, &gp, err);

	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];
	unsigned rows = (unsigned)(shown.nr_sizes + 1) / 2;

	cp_report_panel_words(report, panel, words, sizeof(words));
	cp_report_panel_provenance(report, panel, false, provenance, sizeof(provenance));
	snprintf(figure->caption, sizeof(figure->caption),
		 "CPU against bandwidth, one panel a block size: %s (%s). Right and down "
		 "is better. %s%s",
		 words, provenance,
		 report->learn ? "The line joins the arms that no other beats in "
				 "bandwidth and in CPU time a byte. "
			       : "No Pareto front was worked out. ",
		 report->has_policy ? "A ring marks the policy's choice; without one its "
				      "cost there is not known."
				    : "");
	add_stands(report, panel, figure->caption, sizeof(figure->caption));
	snprintf(title, sizeof(title), "CPU and bandwidth: %s", words);
	cp_report_figure_head(report, gp, title, provenance, 120 * rows, shown.arms,
			      shown.nr_arms, 2);
	cpu_layout(gp, &shown, rows);
	double lo = shown.bw_low / 1.3, hi = shown.bw_high * 1.3;

	fprintf(gp, "set xrange [%g:%g]\nset yrange [0:%g]\n", lo, hi,
		shown.cpu_high > 0 ? shown.cpu_high * 1.35 : 1);
	cp_report_figure_tics(gp, 'x', lo, hi, 3);
	fputs("panel,arm,bs,bw MB/s,bw low,bw high,cpu %,cpu low,cpu high,pareto,policy,"
	      "name\n",
	      csv);
	for (size_t s = 0; s < shown.nr_sizes; s++)
		cpu_csv_size(report, panel, &shown, s, csv);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

/* It stands in a table of its own, whole. */
static bool is_tabled(const struct cp_report *report, const struct cp_report_panel *panel)
{
	return cp_report_misalign_tabled(report, panel) ||
	       cp_report_is_swap(&panel->like->context);
}

int cp_report_figure_panels(const struct cp_report *report,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err)
{
	int rc = 0;

	for (unsigned p = 0; p < report->nr_panels && !rc; p++)
		if (!is_tabled(report, &report->panels[p]))
			rc = bandwidth_figure(report, p, figures, files, err);
	for (unsigned p = 0; p < report->nr_panels && !rc; p++)
		if (!is_tabled(report, &report->panels[p]))
			rc = cpu_figure(report, p, figures, files, err);
	return rc;
}
