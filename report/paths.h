/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said of the page path, completion modes, what an application gets, swap and the
 * counters of perf: a table each, what to make of it, and a short form as text. Private
 * to report/.
 *
 * A table without rows has no section. Nothing is compared across contexts, and ratios
 * are cp_report_ratio()'s.
 */
#ifndef CP_REPORT_PATHS_H
#define CP_REPORT_PATHS_H

#include "report/page.h"

/* --- what the tables share (paths.c) --- */

/* Host and what is unusual of the context. */
void cp_report_add_where(struct cp_report_table *table,
			 const struct cp_report_cell *cell);
/* Two columns: the median, and "low to high"; "-" and "" where it was not measured. */
void cp_report_add_stat(struct cp_report_table *table, const struct cp_report_stat *stat,
			double unit);
/* The median alone, "-" where it was not measured. */
void cp_report_add_median(struct cp_report_table *table,
			  const struct cp_report_stat *stat, double unit);
/* "1.05 (1.02 to 1.08)", "1.05" without an interval, "-" where it is not known. */
void cp_report_add_ratio(struct cp_report_table *table, struct cp_report_ratio ratio);
/* Does the cell have samples, and is its completion this one? */
bool cp_report_completes_by(const struct cp_report *report,
			    const struct cp_report_cell *cell, const char *completion);
/*
 * The arm in mq to hold a page arm against, among the cells of its context: it has the
 * same path, copy and provenance of its DMA, and of these the one that shares most of
 * engine and completion, then the one with more I/Os a second. NULL: none was measured.
 */
const struct cp_report_cell *cp_report_mq_beside(const struct cp_report *report,
						 const struct cp_report_cell *cells,
						 size_t nr,
						 const struct cp_report_cell *page);
/* Calls put() with the cells of each context, those of the same host and place. */
void cp_report_each_context(const struct cp_report *report,
			    void (*put)(void *ctx, const struct cp_report_cell *cells,
					size_t nr),
			    void *ctx);

/* --- completion modes (completion.c) --- */

/* A row an arm of those that differ in nothing but completion, and beside them the
 * fastest synchronous one of each queue mode. */
void cp_report_completion_table(const struct cp_report *report,
				struct cp_report_table *table);
void cp_report_completion_write(const struct cp_report_page *page,
				struct cp_report_doc *doc);
void cp_report_completion_text(const struct cp_report *report, FILE *out);

/* --- what the page path bypassed (bypass.c) --- */

void cp_report_bypass_table(const struct cp_report *report,
			    struct cp_report_table *table);
void cp_report_bypass_write(const struct cp_report_page *page, struct cp_report_doc *doc);
void cp_report_bypass_text(const struct cp_report *report, FILE *out);

/* --- delivered to an application (delivered.c) --- */

#define CP_REPORT_DELIVERED_BW 0.9 /* of the best bandwidth, as objective delivered */

enum cp_report_delivers {
	DELIVERS_UNKNOWN, /* nothing of it was measured */
	DELIVERS_APART,	  /* modelled beside what is not, or null: not compared */
	DELIVERS_BELOW,	  /* too little bandwidth */
	DELIVERS_LESS,
	DELIVERS_MOST,
};
/* How a cell stands among those of its context. best_bw: bytes/s, NaN: not known; meets:
 * how many others that have the bandwidth have an interval that meets the best one's. */
struct cp_report_delivered {
	double best_bw;
	const struct cp_report_cell *most; /* NULL: none */
	bool of_app; /* judged by the application's work, as nothing ran beside it */
	unsigned meets;
};
void cp_report_delivered_judge(const struct cp_report *report,
			       const struct cp_report_cell *cells, size_t nr,
			       struct cp_report_delivered *ret);
enum cp_report_delivers cp_report_delivers(const struct cp_report *report,
					   const struct cp_report_delivered *judged,
					   const struct cp_report_cell *cell);
void cp_report_delivered_table(const struct cp_report *report,
			       struct cp_report_table *table);
int cp_report_delivered_write(const struct cp_report_page *page,
			      struct cp_report_doc *doc, struct cp_err *err);
void cp_report_delivered_text(const struct cp_report *report, FILE *out);

/* --- swap (swap.c), counters of perf (perf.c) --- */

void cp_report_swap_table(const struct cp_report *report, struct cp_report_table *table);
void cp_report_swap_write(const struct cp_report_page *page, struct cp_report_doc *doc);
void cp_report_swap_text(const struct cp_report *report, FILE *out);

/* A row an event and arm of a context, so that the arms of an event stand together. */
void cp_report_perf_table(const struct cp_report *report, struct cp_report_table *table);
void cp_report_perf_write(const struct cp_report_page *page, struct cp_report_doc *doc);

/* --- as text --- */

/* The head of a block of the short forms: "randread 4k: 1 task queuedepth=1", and in a
 * line below what is unusual. */
void cp_report_text_context(const struct cp_report_cell *like, FILE *out);
/* An arm's name for a line of text; buf is returned. */
const char *cp_report_text_arm(const struct cp_report *report,
			       const struct cp_report_cell *cell, char *buf, size_t size);

#endif
