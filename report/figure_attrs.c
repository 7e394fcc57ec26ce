// SPDX-License-Identifier: GPL-2.0-only
/* Cache attributes as ratios to WB memcpy: a panel a direction, ours beside published. */
#include <math.h>
#include <string.h>

#include "report/attrs.h"
#include "report/escape.h"
#include "report/figures.h"

#define ROW_PIXELS 17
#define KINDS_MAX  4 /* provenances with a mark of their own; more share the last */

/* What a figure tells apart: the provenances of its rows, and bands of one attribute. */
struct shown {
	const struct cp_report_attr_group *group;
	const char *kinds[KINDS_MAX];
	size_t nr_kinds, nr_rows;
	bool published;
	double low, high; /* ratios */
};

struct ratios {
	double median, low, high, published;
};

static struct ratios ratios_of(const struct cp_report_attr_group *group,
			       const struct cp_report_attr_row *row, enum cp_dir dir)
{
	const struct cp_report_stat *stat =
		row->cells[dir] ? &row->cells[dir]->values[group->basis] : NULL;
	double ratio = cp_report_attr_ratio(group, row, dir, group->basis);

	return (struct ratios){
		.median = ratio,
		.low = stat ? ratio * stat->low / stat->median : NAN,
		.high = stat ? ratio * stat->high / stat->median : NAN,
		.published = cp_report_attr_published_ratio(group, row, dir),
	};
}

static void widen(struct shown *shown, double value)
{
	if (!(value > 0) || isinf(value))
		return;
	shown->low = fmin(shown->low, value);
	shown->high = fmax(shown->high, value);
}

static size_t kind_of(const struct shown *shown, const char *provenance)
{
	size_t k = 0;

	while (k + 1 < shown->nr_kinds && strcmp(shown->kinds[k], provenance) != 0)
		k++;
	return k;
}

static void collect_shown(const struct cp_report_attr_group *group, struct shown *shown)
{
	*shown = (struct shown){.group = group,
				.nr_rows = group->nr,
				.published = group->published_base != NULL,
				.low = 1,
				.high = 1};
	shown->kinds[shown->nr_kinds++] = group->base->provenance;
	for (size_t i = 0; i < group->nr; i++) {
		const struct cp_report_attr_row *row = &group->rows[i];
		const char *word = row->provenance;

		for (int d = 0; d < 2; d++) {
			struct ratios ratios = ratios_of(group, row, (enum cp_dir)d);

			widen(shown, ratios.low);
			widen(shown, ratios.high);
			widen(shown, ratios.published);
		}
		if (word[0] && shown->nr_kinds < KINDS_MAX &&
		    strcmp(shown->kinds[kind_of(shown, word)], word) != 0)
			shown->kinds[shown->nr_kinds++] = word;
	}
}

static void put_ratios(const struct shown *shown, const struct cp_report_attr_row *row,
		       enum cp_dir dir, FILE *csv)
{
	const struct ratios ratios = ratios_of(shown->group, row, dir);
	const double values[] = {ratios.median, ratios.low, ratios.high,
				 ratios.published};

	for (int i = 0; i < 4; i++)
		if (isfinite(values[i]))
			fprintf(csv, ",%.6g", values[i]);
		else
			fputs(",NaN", csv); /* printf may say "-nan" */
}

static void put_rows(const struct shown *shown, FILE *csv)
{
	char name[80];

	fputs("row,mark,read ratio,low,high,published,write "
	      "ratio,low,high,published,name,"
	      "attribute is\n",
	      csv);
	for (size_t i = 0; i < shown->nr_rows; i++) {
		const struct cp_report_attr_row *row = &shown->group->rows[i];

		fprintf(csv, "%zu,%zu", shown->nr_rows - i,
			row->provenance[0] ? kind_of(shown, row->provenance) + 1 : 0);
		put_ratios(shown, row, CP_DIR_READ, csv);
		put_ratios(shown, row, CP_DIR_WRITE, csv);
		fputc(',', csv);
		cp_escape_csv(csv, cp_report_attr_name(row, name, sizeof(name)));
		fprintf(csv, ",%s\n", row->provenance[0] ? row->provenance : "-");
	}
}

/* Rows of an attribute stand on a band; every second band is drawn. */
static void put_bands(const struct shown *shown, FILE *gp)
{
	const struct cp_report_attr_row *rows = shown->group->rows;
	unsigned nr = 0;

	fprintf(gp, "array LOW[%zu]\narray HIGH[%zu]\n", shown->nr_rows, shown->nr_rows);
	for (size_t i = 0, end, band = 0; i < shown->nr_rows; i = end, band++) {
		for (end = i + 1; end < shown->nr_rows; end++)
			if (strcmp(rows[end].attr, rows[i].attr) != 0)
				break;
		if (band % 2)
			continue;
		nr++;
		fprintf(gp, "LOW[%u] = %zu.5; HIGH[%u] = %zu.5\n", nr,
			shown->nr_rows - end, nr, shown->nr_rows - i);
	}
	fprintf(gp, "BANDS = %u\n", nr);
}

static void put_layout(const struct shown *shown, const char *source, FILE *gp)
{
	char name[80], text[200];

	fprintf(gp, "ROWS = %zu\narray ROW[%zu]\n", shown->nr_rows, shown->nr_rows);
	for (size_t i = 0; i < shown->nr_rows; i++) {
		cp_report_attr_name(&shown->group->rows[i], name, sizeof(name));
		fprintf(gp, "ROW[%zu] = ", shown->nr_rows - i);
		cp_escape_gnuplot(gp, cp_text_visible(name, 14, text, sizeof(text)));
		fputc('\n', gp);
	}
	fputs("SOURCE = ", gp);
	cp_escape_gnuplot(gp, cp_text_visible(source, 44, text, sizeof(text)));
	fprintf(gp, "\nPUBLISHED = %d\nKINDS = %zu\narray KIND[%zu]\n", shown->published,
		shown->nr_kinds, shown->nr_kinds);
	for (size_t k = 0; k < shown->nr_kinds; k++) {
		fprintf(gp, "KIND[%zu] = ", k + 1);
		cp_escape_gnuplot(
			gp, cp_text_visible(shown->kinds[k], 16, text, sizeof(text)));
		fputc('\n', gp);
	}
	put_bands(shown, gp);
	double lo = shown->low / 1.5, hi = shown->high * 1.5;

	fprintf(gp, "set xrange [%g:%g]\n", lo, hi);
	cp_report_figure_tics(gp, 'x', lo, hi, 4);
}

static void put_caption(const struct cp_report *report, const struct shown *shown,
			const char *words, char *buf, size_t size)
{
	int used = snprintf(
		buf, size,
		"Ratio to WB memcpy by attribute and copy, log scale: %s. Full marks are "
		"medians here, of %s, with the interval of the row's own median; their "
		"form says whether the attribute was real.",
		words,
		shown->group->basis == VALUE_IOPS_CPU
			? "I/Os per second of the submitters' CPU time"
			: "IOPS by the wall clock");

	if (used > 0 && (size_t)used < size && shown->published)
		snprintf(buf + used, size - (size_t)used,
			 " Open marks are published figures over the published WB memcpy "
			 "(%s); a line joins the two, and one alone was not measured.",
			 report->attrs->published.who);
}

static int attr_figure(const struct cp_report *report, unsigned number,
		       struct cp_report_figures *figures, struct cp_report_files *files,
		       struct cp_err *err)
{
	const struct cp_report_attr_group *group = &report->attrs->groups[number];
	char words[600];
	struct shown shown;
	FILE *csv, *gp;

	if (!group->base)
		return 0;
	collect_shown(group, &shown);
	int rc = cp_report_figure_begin(report, figures, FIGURE_ATTRS, number + 1, files,
					&csv, &gp, err);

	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];

	cp_report_attr_group_words(report, group, words, sizeof(words));
	put_caption(report, &shown, words, figure->caption, sizeof(figure->caption));
	/* twice the entries, so that each has a line: the source's name is long */
	cp_report_figure_head(report, gp, "Cache attributes beside WB memcpy", words,
			      26 + (unsigned)shown.nr_rows * ROW_PIXELS, NULL, 0,
			      2 * ((unsigned)shown.nr_kinds + shown.published));
	put_layout(&shown, report->attrs->published.who, gp);
	put_rows(&shown, csv);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

int cp_report_figure_attrs(const struct cp_report *report,
			   struct cp_report_figures *figures,
			   struct cp_report_files *files, struct cp_err *err)
{
	int rc = 0;

	for (unsigned g = 0; g < report->attrs->nr && !rc; g++)
		rc = attr_figure(report, g, figures, files, err);
	return rc;
}
