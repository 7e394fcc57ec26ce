/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers and devices away from a page border: what a report calls them, and how much
 * they cost beside the same thing aligned. Private to report/.
 */
#ifndef CP_REPORT_MISALIGN_H
#define CP_REPORT_MISALIGN_H

#include "report/data.h"
#include "report/doc.h"

bool cp_report_is_misaligned(const struct cp_context *context);
/* "near 8, far 16", "" where both are 0; buf is returned. */
char *cp_report_misalign_words(uint32_t near, uint32_t far, char *buf, size_t size);
/* Sets `aligned` of every cell that has such a one; once all cells stand in order. */
void cp_report_misalign_match(struct cp_report *report);
/* The cells of a misaligned panel all stand in the table, beside an aligned cell each: a
 * figure of their own would only say it again. */
bool cp_report_misalign_tabled(const struct cp_report *report,
			       const struct cp_report_panel *panel);
/*
 * A row an arm and far offset, a column a near offset: bandwidth over that of the aligned
 * cell of the same context and arm, of the same host and provenance. Samples of one round
 * are a pair; the figure is the median of the pairs' ratios, with its interval from order
 * statistics (INTERVAL_LEVEL of order.c). Where the counts differ, or a sample failed,
 * there are no pairs: the ratio of the medians, without an interval. No rows where
 * nothing is misaligned or no aligned cell is there to compare with.
 */
void cp_report_misalign_make(const struct cp_report *report,
			     struct cp_report_table *table);
/* The same of the CPU time a byte, above 1 where misaligned costs more. */
void cp_report_misalign_cpu_make(const struct cp_report *report,
				 struct cp_report_table *table);

#endif
