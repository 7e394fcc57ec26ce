/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures as data (CSV) and script (.gp: values of this figure, then the script of its
 * kind from plots/), so that `gnuplot NAME.gp` in figures/ draws it again. All statistics
 * are done before; gnuplot only draws. Private to report/.
 */
#ifndef CP_REPORT_FIGURES_H
#define CP_REPORT_FIGURES_H

#include "report/data.h"
#include "report/files.h"

enum cp_report_figure_kind {
	FIGURE_BANDWIDTH,
	FIGURE_CPU,
	FIGURE_MAP,
	FIGURE_ATTRS,
	FIGURE_PHASES,
	FIGURE_DELIVERED
};

struct cp_report_figure {
	enum cp_report_figure_kind kind;
	char name[64];
	char caption[1280];
	bool drawn;
};

struct cp_report_figures {
	struct cp_report_figure *list;
	size_t nr;
};

/* Colour (Okabe-Ito), mark and dash of an arm, the same in every figure. */
struct cp_report_look {
	unsigned rgb;
	int mark, dash;
};
struct cp_report_look cp_report_arm_look(const struct cp_report *report, unsigned arm);

/* Write data and scripts of all figures. */
int cp_report_figures_write(const struct cp_report *report, struct cp_report_files *files,
			    struct cp_report_figures *ret_figures, struct cp_err *err);
/* Draw them with one gnuplot; sets `drawn`. Returns 0 also when there is no gnuplot or it
 * failed: why[size] then says so in words, else it is "". */
int cp_report_figures_draw(struct cp_report_figures *figures,
			   struct cp_report_files *files, char *why, size_t size,
			   struct cp_err *err);
void cp_report_figures_free(struct cp_report_figures *figures);

/* Shared by the kinds. */
int cp_report_figure_begin(const struct cp_report *report,
			   struct cp_report_figures *figures,
			   enum cp_report_figure_kind kind, unsigned number,
			   struct cp_report_files *files, FILE **ret_csv, FILE **ret_gp,
			   struct cp_err *err);
/* Title, provenance line, legend of these arms and `more` entries, and the layout in
 * pixels: `plot` is the height between title and axis. */
void cp_report_figure_head(const struct cp_report *report, FILE *gp, const char *title,
			   const char *provenance, unsigned plot, const unsigned *arms,
			   size_t nr_arms, unsigned more);
int cp_report_figure_end(const struct cp_report *report,
			 struct cp_report_figures *figures, struct cp_report_files *files,
			 FILE *csv, FILE *gp, struct cp_err *err);
/* At most `max` round tics of a log axis from lo to hi, as the gnuplot strings XTICS and
 * XBARE (without labels) or YTICS and YBARE. */
void cp_report_figure_tics(FILE *gp, char axis, double lo, double hi, unsigned max);
/* Sizes of [min, max] given as a sorted list; some are left out when there are many. */
void cp_report_figure_size_tics(FILE *gp, const uint64_t *sizes, size_t nr);

int cp_report_figure_panels(const struct cp_report *report,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err);
int cp_report_figure_attrs(const struct cp_report *report,
			   struct cp_report_figures *figures,
			   struct cp_report_files *files, struct cp_err *err);
int cp_report_figure_phases(const struct cp_report *report,
			    struct cp_report_figures *figures,
			    struct cp_report_files *files, struct cp_err *err);
int cp_report_figure_delivered(const struct cp_report *report,
			       struct cp_report_figures *figures,
			       struct cp_report_files *files, struct cp_err *err);
int cp_report_figure_map(const struct cp_report *report,
			 struct cp_report_figures *figures, struct cp_report_files *files,
			 struct cp_err *err);

#endif
