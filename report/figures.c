// SPDX-License-Identifier: GPL-2.0-only
/* What the figures share. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "engines/base/units.h"
#include "report/escape.h"
#include "report/figures.h"

#define KEY_ROW	     18	 /* pixels of a line of the legend */
#define WIDTH	     480 /* pixels; fonts stay readable on a page 360 wide */
#define NAME_CHARS   40
#define COLUMN_CHARS 20 /* longer labels have the legend to themselves */
#define TICS_MAX     9
#define SCRIPT_MAX   (256U << 10)

static const char *const kind_names[] = {"bandwidth",  "cpu",	 "map",
					 "attributes", "phases", "delivered"};

struct cp_report_look cp_report_arm_look(const struct cp_report *report, unsigned arm)
{
	/* Okabe and Ito, less black and yellow, which one of the two backgrounds hides */
	static const unsigned colours[] = {0x0072b2, 0xd55e00, 0x009e73,
					   0xcc79a7, 0xe69f00, 0x56b4e9};
	static const int marks[] = {7, 5, 9, 13, 11, 4, 8, 12, 10};

	if (report->arms[arm].simulated)
		return (struct cp_report_look){.rgb = 0x808080, .mark = 6, .dash = 2};
	return (struct cp_report_look){
		.rgb = colours[arm % (sizeof(colours) / sizeof(colours[0]))],
		.mark = marks[arm % (sizeof(marks) / sizeof(marks[0]))],
		.dash = 1 + (int)(arm / 6 % 3) * 2,
	};
}

int cp_report_figure_begin(const struct cp_report *report,
			   struct cp_report_figures *figures,
			   enum cp_report_figure_kind kind, unsigned number,
			   struct cp_report_files *files, FILE **ret_csv, FILE **ret_gp,
			   struct cp_err *err)
{
	char name[96];
	FILE *csv = NULL, *gp = NULL;
	int rc =
		cp_report_grow(&figures->list, &figures->nr, sizeof(*figures->list), err);

	(void)report;
	if (rc)
		return rc;
	struct cp_report_figure *figure = &figures->list[figures->nr - 1];

	figure->kind = kind;
	snprintf(figure->name, sizeof(figure->name), "%s-%u", kind_names[kind], number);
	snprintf(name, sizeof(name), "figures/%s.csv", figure->name);
	rc = cp_report_files_open(files, name, &csv, err);
	snprintf(name, sizeof(name), "figures/%s.gp", figure->name);
	if (!rc)
		rc = cp_report_files_open(files, name, &gp, err);
	if (rc) {
		if (csv)
			fclose(csv);
		return rc;
	}
	fprintf(gp,
		"# gnuplot %s.gp draws %s.svg and %s.png from %s.csv\n"
		"reset session\nNAME = '%s'\nCSV = '%s.csv'\n",
		figure->name, figure->name, figure->name, figure->name, figure->name,
		figure->name);
	*ret_csv = csv;
	*ret_gp = gp;
	return 0;
}

static void put_arms(const struct cp_report *report, FILE *gp, const unsigned *arms,
		     size_t nr)
{
	char text[REPORT_LABEL_MAX];

	fprintf(gp, "ARMS = %zu\n", nr);
	if (!nr) /* a policy of arms that were not measured; arrays cannot be empty */
		nr = 1;
	fprintf(gp,
		"array LABEL[%zu]\narray RGB[%zu]\narray MARK[%zu]\n"
		"array DASH[%zu]\n",
		nr, nr, nr, nr);
	for (size_t i = 0; arms && i < nr; i++) {
		struct cp_report_look look = cp_report_arm_look(report, arms[i]);

		fprintf(gp, "LABEL[%zu] = ", i + 1);
		cp_escape_gnuplot(gp, cp_text_visible(report->arms[arms[i]].label,
						      NAME_CHARS, text, sizeof(text)));
		fprintf(gp, "\nRGB[%zu] = %u; MARK[%zu] = %d; DASH[%zu] = %d\n", i + 1,
			look.rgb, i + 1, look.mark, i + 1, look.dash);
	}
}

static unsigned key_rows(const struct cp_report *report, const unsigned *arms,
			 size_t nr_arms, unsigned more)
{
	unsigned entries = (unsigned)nr_arms + more;

	for (size_t i = 0; i < nr_arms; i++)
		if (strlen(report->arms[arms[i]].label) > COLUMN_CHARS)
			return entries;
	return (entries + 1) / 2;
}

void cp_report_figure_head(const struct cp_report *report, FILE *gp, const char *title,
			   const char *provenance, unsigned plot, const unsigned *arms,
			   size_t nr_arms, unsigned more)
{
	unsigned rows = key_rows(report, arms, nr_arms, more);
	unsigned below = 60 + rows * KEY_ROW + 4;
	char text[512];

	fputs("TITLE = ", gp);
	cp_escape_gnuplot(gp, cp_text_visible(title, 52, text, sizeof(text)));
	fputs("\nPROVENANCE = ", gp);
	cp_escape_gnuplot(gp, cp_text_visible(provenance, 72, text, sizeof(text)));
	/* 46 above for the two lines, 60 below for tics and the axis' name, the legend */
	fprintf(gp, "\nWIDTH = %d\nHEIGHT = %u\nTOP = 46\nBOTTOM = %u\nKEY_ROWS = %u\n",
		WIDTH, 46 + plot + below, below, rows);
	put_arms(report, gp, nr_arms ? arms : NULL, nr_arms);
}

int cp_report_figure_end(const struct cp_report *report,
			 struct cp_report_figures *figures, struct cp_report_files *files,
			 FILE *csv, FILE *gp, struct cp_err *err)
{
	const struct cp_report_figure *figure = &figures->list[figures->nr - 1];
	char path[4096], *script;
	size_t len;

	(void)files;
	if (snprintf(path, sizeof(path), "%s/%s.gp", report->opts->plots_dir,
		     kind_names[figure->kind]) >= (int)sizeof(path))
		path[0] = '\0';
	int rc = cp_file_read(path, SCRIPT_MAX, &script, &len, err);

	if (!rc) {
		fputs(script, gp);
		free(script);
	}
	int csv_rc =
		cp_report_files_close(csv, figure->name, rc ? &(struct cp_err){0} : err);

	rc = rc ? rc : csv_rc;
	int gp_rc =
		cp_report_files_close(gp, figure->name, rc ? &(struct cp_err){0} : err);

	return rc ? rc : gp_rc;
}

/* Marks of a decade, fewer and fewer, until no more than fit the axis are left. */
static const double tic_steps[][4] = {{1, 2, 5, 0}, {1, 3, 0, 0}, {1, 0, 0, 0}};
#define TICS_LIST_MAX 96

static size_t list_tics(const double *steps, double lo, double hi, double *list)
{
	size_t nr = 0;

	for (int e = -6; e < 18; e++)
		for (size_t s = 0; steps[s] > 0; s++)
			if (steps[s] * pow(10, e) >= lo && steps[s] * pow(10, e) <= hi)
				list[nr++] = steps[s] * pow(10, e);
	return nr;
}

void cp_report_figure_tics(FILE *gp, char axis, double lo, double hi, unsigned max)
{
	double list[TICS_LIST_MAX];
	size_t nr = 0;

	for (size_t k = 0; k < sizeof(tic_steps) / sizeof(tic_steps[0]); k++) {
		nr = list_tics(tic_steps[k], lo, hi, list);
		if (nr <= max)
			break;
	}
	if (!nr) /* a range between two tics: its middle */
		list[nr++] = sqrt(lo * hi);
	for (int bare = 0; bare < 2; bare++) {
		fprintf(gp, "%c%s = \"set %ctics (", axis == 'x' ? 'X' : 'Y',
			bare ? "BARE" : "TICS", axis);
		for (size_t i = 0; i < nr; i++) {
			fprintf(gp, "%s'", i ? ", " : "");
			if (!bare)
				/* three digits where a lone tic may lie anywhere, but
				 * never 5e+03 */
				fprintf(gp,
					list[i] < 1 || (nr == 1 && list[i] < 100)
						? "%.3g"
						: "%.0f",
					list[i]);
			fprintf(gp, "' %g", list[i]);
		}
		fputs(")\"\n", gp);
	}
}

void cp_report_figure_size_tics(FILE *gp, const uint64_t *sizes, size_t nr)
{
	size_t step = (nr + TICS_MAX - 1) / TICS_MAX;
	char text[24];

	fputs("set xtics (", gp);
	for (size_t i = 0; i < nr; i += step ? step : 1)
		fprintf(gp, "%s'%s' %" PRIu64, i ? ", " : "",
			cp_size_format(sizes[i], text, sizeof(text)), sizes[i]);
	fputs(")\n", gp);
}

int cp_report_figures_write(const struct cp_report *report, struct cp_report_files *files,
			    struct cp_report_figures *ret_figures, struct cp_err *err)
{
	struct cp_report_figures figures = {0};
	int rc = cp_report_figure_panels(report, &figures, files, err);

	if (!rc && report->has_policy)
		rc = cp_report_figure_map(report, &figures, files, err);
	if (!rc)
		rc = cp_report_figure_phases(report, &figures, files, err);
	if (!rc)
		rc = cp_report_figure_delivered(report, &figures, files, err);
	if (!rc && report->attrs)
		rc = cp_report_figure_attrs(report, &figures, files, err);
	if (rc) {
		cp_report_figures_free(&figures);
		return rc;
	}
	*ret_figures = figures;
	return 0;
}

void cp_report_figures_free(struct cp_report_figures *figures)
{
	free(figures->list);
	*figures = (struct cp_report_figures){0};
}
