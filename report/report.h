/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in, report out: one self-contained HTML page, the same as Markdown, every
 * figure as SVG and PNG with the data and the script that made it, every table as CSV.
 *
 * Call cp_report_load() once, then cp_report_text() and cp_report_write() in any order,
 * then cp_report_free(). Nothing is drawn or judged that is not in the records: medians
 * and intervals come from results/stats.h, costs, Pareto flags and regret from
 * policies/learn.h, and figures of different provenance are never merged.
 *
 * Threading: one thread a report.
 */
#ifndef CP_REPORT_REPORT_H
#define CP_REPORT_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "engines/base/err.h"

/* What a report directory holds besides figures/ and tables/. */
#define CP_REPORT_MARKER ".copypath-report" /* names the files of a report */

struct cp_report_opts {
	const char *const *records; /* run directories or .jsonl files */
	size_t nr_records;
	const char *policy;    /* file; NULL: policy.yaml beside the first records, else
				  learned from them */
	const char *objective; /* to learn a policy by, whatever policy.yaml there is; not
				  with `policy`. NULL: the policy's, else the one the runs
				  were measured for (policies/objective.h) */
	const char *default_policy; /* file whose regret is shown too; NULL: none */
	const char *published; /* table of cache attributes (results/published.h); NULL:
				  none */
	const char *published_dma; /* table of CPU beside DMA (results/published_dma.h);
				      NULL: none */
	const char *title;	   /* NULL: the runs' names */
	const char
		*profile; /* "A,B": the arms whose profiles are compared; NULL: chosen */
	const char *plots_dir; /* where the gnuplot scripts are */
	const char *command;   /* the command that makes this report again */
	void (*warn)(void *ctx, const char *text); /* may be NULL */
	void *ctx;
};

struct cp_report; /* what was read and worked out */

/* Reads everything; opts and what it points to must outlive the report. No record at all
 * is an error (exit 4), as are duplicate samples. */
int cp_report_load(const struct cp_report_opts *opts, struct cp_report **ret,
		   struct cp_err *err);
void cp_report_free(struct cp_report *report); /* NULL is fine */

/* The table in the layout of Jiang 2017 (results/published), 72 columns. MB = 10^6 bytes.
 */
void cp_report_text(const struct cp_report *report, FILE *out);
/* Behind it, where there is any: short forms of completion modes, what the page path
 * bypassed, what an application gets, and swap; 72 columns. */
void cp_report_text_paths(const struct cp_report *report, FILE *out);

/* The profiles of two arms side by side, as the page has them; nothing without any. Arms
 * and symbols are as they are named. */
void cp_report_profile_text(const struct cp_report *report, FILE *out);

/*
 * Write the report into dir: aside first (dir.tmp.PID), then renamed, so that dir is the
 * old report or the new one, never half of one. A dir that holds anything else than a
 * report is refused (exit 2). Without gnuplot the page has a note in place of figures and
 * a warning is given. The default dir of a command is cp_report_default_dir().
 */
int cp_report_write(struct cp_report *report, const char *dir, struct cp_err *err);
int cp_report_default_dir(const struct cp_report_opts *opts, char *buf, size_t size);

#endif
