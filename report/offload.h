/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said of offloaded I/Os beside their figures: CPU copies and DMA beside each
 * other and beside what was published, where an offloaded I/O's time goes, and what the
 * queue made of the I/Os. Private to report/.
 */
#ifndef CP_REPORT_OFFLOAD_H
#define CP_REPORT_OFFLOAD_H

#include "report/page.h"

#define CP_REPORT_PHASES 4
/* VALUE_DMA_PREPARE and on. */
extern const char *const cp_report_phase_names[CP_REPORT_PHASES];

/* The cell with the most bandwidth of those that copy this way, among cells of one
 * context. One that is modelled stands only where nothing else does, null never. NULL:
 * none was measured. */
const struct cp_report_cell *cp_report_fastest(const struct cp_report *report,
					       const struct cp_report_cell *cells,
					       size_t nr, const char *path);
/* Can published figures stand beside this cell of an offloading arm? Not where its engine
 * is modelled: no record says which figures that was made from, so a likeness may be
 * theirs put in, and a difference says nothing of the machine. */
bool cp_report_has_published(const struct cp_report *report,
			     const struct cp_report_cell *dma);
/* A row a context and DMA arm, beside the fastest CPU arm of that context and what was
 * published of it. No rows where nothing was offloaded. */
void cp_report_offload_table(const struct cp_report *report,
			     struct cp_report_table *table);
/* Under the heading "CPU beside DMA": the text table, the table, and what to make of it.
 */
void cp_report_offload_write(const struct cp_report_page *page,
			     struct cp_report_doc *doc);

/* Are all four phases known? They are of no cell that offloaded nothing. */
bool cp_report_has_phases(const struct cp_report_cell *cell);
/* Are they of enough I/Os to draw? */
#define CP_REPORT_TIMED_MIN 30
bool cp_report_phases_drawn(const struct cp_report_cell *cell);
/* The mean of the timed I/Os is more than CP_REPORT_PHASES_OFF away from that of all: the
 * shares are of I/Os unlike the others. */
#define CP_REPORT_PHASES_OFF 0.25
bool cp_report_phases_off(const struct cp_report_cell *cell);
/* The sum of a cell's phases, ns. */
double cp_report_phases_ns(const struct cp_report_cell *cell);
void cp_report_phases_table(const struct cp_report *report,
			    struct cp_report_table *table);
int cp_report_phases_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			   struct cp_err *err);
/* A row a cell of which the queue has something to say: anything but I/Os that went
 * their way one by one on the CPU. */
void cp_report_requests_table(const struct cp_report *report,
			      struct cp_report_table *table);

#endif
