/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on the page, whatever its form. Private to report/. */
#ifndef CP_REPORT_PAGE_H
#define CP_REPORT_PAGE_H

#include "report/data.h"
#include "report/doc.h"
#include "report/figures.h"

enum cp_report_table_id {
	TABLE_ATTRS,	  /* cache attributes beside the published table */
	TABLE_ATTR_ORDER, /* whether their order is the published one */
	TABLE_CELLS,	  /* every cell: medians, intervals, CPU split, latency */
	TABLE_RULES,	  /* the policy, an interval a row */
	TABLE_REGRET,	  /* this policy and the default one */
	TABLE_HARNESS,	  /* null: the harness's own cost */
	TABLE_FAILURES,	  /* samples that are not in the figures */
	TABLE_MACHINE,	  /* environment and fingerprint */
	TABLE_MISALIGN_CPU,
	TABLE_MISALIGN,	  /* bandwidth of misaligned buffers beside aligned ones */
	TABLE_OFFLOAD,	  /* CPU beside DMA, and as published */
	TABLE_PHASES,	  /* where an offloaded I/O's time goes */
	TABLE_REQUESTS,	  /* merged, split, crossed, fallen back */
	TABLE_COMPLETION, /* poll, irq and hybrid side by side */
	TABLE_BYPASS,	  /* what the page path went past */
	TABLE_DELIVERED,  /* what is left for an application beside the I/O */
	TABLE_SWAP,	  /* faults */
	TABLE_PERF,	  /* counters per I/O */
	TABLE_PROFILES,	  /* every symbol; on the page two arms stand side by side */
	TABLE_NR,
};

/* Fills tables[TABLE_NR]; free each. */
int cp_report_tables_make(const struct cp_report *report, struct cp_report_table *tables,
			  struct cp_err *err);

/* Was the depth in effect below what was asked for? In bio it is 1 as everybody knows, so
 * not there. */
bool cp_report_depth_capped(const struct cp_report *report,
			    const struct cp_report_cell *cell);
/* rw, bs, jobs and iodepth ("64 (2 in effect)"): the first four columns of tables of
 * cells. */
void cp_report_table_load(struct cp_report_table *table, const struct cp_report *report,
			  const struct cp_report_cell *cell);
void cp_report_cells_table(const struct cp_report *report, struct cp_report_table *table);

struct cp_report_page {
	const struct cp_report *report;
	const struct cp_report_table *tables;
	const struct cp_report_figures *figures;
	const char *no_figures; /* why figures are missing; "" when they are not */
	const char *seed_table; /* cp_report_text() */
};
/* The drawn figures of a kind, as a group of pictures; without one, nothing. */
int cp_report_page_pictures(const struct cp_report_page *page, struct cp_report_doc *doc,
			    enum cp_report_figure_kind kind, struct cp_err *err);
int cp_report_page_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			 struct cp_err *err);
/* Cache attributes (attr_page.c): nothing when there is no more than one. */
void cp_report_attrs_table(const struct cp_report *report, struct cp_report_table *table);
void cp_report_attr_order_table(const struct cp_report *report,
				struct cp_report_table *table);
int cp_report_attrs_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			  struct cp_err *err);
/* The first screen. */
void cp_report_summary_write(const struct cp_report *report, struct cp_report_doc *doc);
/* Its parts: what the policy brings, how sure that is, what was real, on what machine. */
void cp_report_gains_write(const struct cp_report *report, struct cp_report_doc *doc);
void cp_report_certainty_write(const struct cp_report *report, struct cp_report_doc *doc);
void cp_report_reality_write(const struct cp_report *report, struct cp_report_doc *doc);
void cp_report_machine_write(const struct cp_report *report, struct cp_report_doc *doc);
unsigned cp_report_count_intervals(const struct cp_report *report, bool decided);

#endif
