// SPDX-License-Identifier: GPL-2.0-only
/* I/O bandwidth against what is left for who runs beside it, one panel a block size. */
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"
#include "report/figures.h"
#include "report/paths.h"

#define MB	   1e6
#define SIZES_MAX  64
#define ARMS_MAX   64
#define PANEL_HIGH 150

struct shown {
	uint64_t sizes[SIZES_MAX];
	double least[SIZES_MAX]; /* MB/s that an arm needs; NaN */
	unsigned arms[ARMS_MAX];
	size_t nr_sizes, nr_arms;
	double bw_low, bw_high, share_low, share_high;
};

/* Null moves nothing: it is no mark among those that do. */
static bool is_shown(const struct cp_report *report, const struct cp_report_cell *cell)
{
	return cell->values[VALUE_CORUNNER_SHARE].n && cell->values[VALUE_BW].low > 0 &&
	       !report->arms[cell->arm].simulated;
}

static size_t place(unsigned *list, size_t *nr, unsigned value)
{
	size_t k = 0;

	while (k < *nr && list[k] != value)
		k++;
	if (k == *nr && k < ARMS_MAX)
		list[(*nr)++] = value;
	return k;
}

static void show(struct shown *shown, const struct cp_report_cell *cell)
{
	const struct cp_report_stat *bw = &cell->values[VALUE_BW];
	const struct cp_report_stat *share = &cell->values[VALUE_CORUNNER_SHARE];

	place(shown->arms, &shown->nr_arms, cell->arm);
	shown->bw_low = fmin(shown->bw_low, bw->low / MB);
	shown->bw_high = fmax(shown->bw_high, bw->high / MB);
	shown->share_low = fmin(shown->share_low, share->low);
	shown->share_high = fmax(shown->share_high, share->high);
}

static void put_stat(FILE *csv, const struct cp_report_stat *stat, double unit)
{
	fprintf(csv, ",%.6g,%.6g,%.6g", stat->median / unit, stat->low / unit,
		stat->high / unit);
}

/* The rows of one context; notes what is shown of it. */
static void put_context(const struct cp_report *report,
			const struct cp_report_cell *cells, size_t nr,
			struct shown *shown, FILE *csv)
{
	struct cp_report_delivered judged;
	char size[24];
	bool any = false;

	cp_report_delivered_judge(report, cells, nr, &judged);
	for (size_t i = 0; i < nr && shown->nr_sizes < SIZES_MAX; i++) {
		if (!is_shown(report, &cells[i]) || shown->nr_arms == ARMS_MAX)
			continue;
		any = true;
		show(shown, &cells[i]);
		fprintf(csv, "%zu,%zu,%s", shown->nr_sizes + 1,
			place(shown->arms, &shown->nr_arms, cells[i].arm) + 1,
			cp_size_format(cells->context.bs, size, sizeof(size)));
		put_stat(csv, &cells[i].values[VALUE_BW], MB);
		put_stat(csv, &cells[i].values[VALUE_CORUNNER_SHARE], 1);
		fprintf(csv, ",%d,", &cells[i] == judged.most);
		cp_escape_csv(csv, report->arms[cells[i].arm].label);
		fputc('\n', csv);
	}
	if (!any)
		return;
	shown->sizes[shown->nr_sizes] = cells->context.bs;
	shown->least[shown->nr_sizes++] = CP_REPORT_DELIVERED_BW * judged.best_bw / MB;
}

static void put_layout(const struct shown *shown, FILE *gp)
{
	double hi = shown->bw_high * 1.1, step = pow(10, floor(log10(hi)));
	double room = fmax(shown->share_high - shown->share_low, 1) * 0.3;
	double top = shown->share_high + room;
	char size[24];

	fprintf(gp, "PANELS = %zu\nROWS = %zu\narray SIZE[%zu]\narray LEAST[%zu]\n",
		shown->nr_sizes, (shown->nr_sizes + 1) / 2, shown->nr_sizes,
		shown->nr_sizes);
	for (size_t s = 0; s < shown->nr_sizes; s++) {
		fprintf(gp, "SIZE[%zu] = '%s'\n", s + 1,
			cp_size_format(shown->sizes[s], size, sizeof(size)));
		fprintf(gp, "LEAST[%zu] = %g\n", s + 1,
			isfinite(shown->least[s]) ? shown->least[s] : 0);
	}
	fprintf(gp, "set xrange [0:%g]\nXSTEP = %g\nset yrange [%g:%g]\n", hi,
		hi / step > 5	? 2 * step
		: hi / step > 2 ? step
				: step / 2,
		fmax(shown->share_low - room, 0), top);
}

static bool any_shown(const struct cp_report *report, const struct cp_report_panel *panel)
{
	for (size_t i = panel->first; i < panel->first + panel->nr; i++)
		if (is_shown(report, &report->cells[i]))
			return true;
	return false;
}

static int delivered_figure(const struct cp_report *report, unsigned number,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err)
{
	const struct cp_report_panel *panel = &report->panels[number];
	struct shown shown = {.bw_low = INFINITY, .share_low = INFINITY};
	char words[600], provenance[300], title[800];
	const struct cp_report_cell *cells;
	size_t at = panel->first, nr;
	FILE *csv, *gp;
	int rc = cp_report_figure_begin(report, figures, FIGURE_DELIVERED, number + 1,
					files, &csv, &gp, err);

	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];

	cp_report_panel_words(report, panel, words, sizeof(words));
	cp_report_panel_provenance(report, panel, false, provenance, sizeof(provenance));
	snprintf(figure->caption, sizeof(figure->caption),
		 "I/O bandwidth against the share of its work that the co-runner keeps, "
		 "one panel a block size: %s (%s). Right and up is better; bars are "
		 "intervals. Right of the dashed line an arm has %.1f of the best "
		 "bandwidth; of those the ringed one delivers most work.",
		 words, provenance, CP_REPORT_DELIVERED_BW);
	fputs("panel,arm,bs,bw MB/s,bw low,bw high,share %,share low,share high,most,"
	      "name\n",
	      csv);
	while ((cells = cp_report_next_context(report, panel, &at, &nr)))
		put_context(report, cells, nr, &shown, csv);
	snprintf(title, sizeof(title), "Delivered: %s", words);
	cp_report_figure_head(report, gp, title, provenance,
			      PANEL_HIGH * (unsigned)(shown.nr_sizes + 1) / 2, shown.arms,
			      shown.nr_arms, 2);
	put_layout(&shown, gp);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

int cp_report_figure_delivered(const struct cp_report *report,
			       struct cp_report_figures *figures,
			       struct cp_report_files *files, struct cp_err *err)
{
	int rc = 0;

	for (unsigned p = 0; p < report->nr_panels && !rc; p++)
		if (any_shown(report, &report->panels[p]))
			rc = delivered_figure(report, p, figures, files, err);
	return rc;
}
