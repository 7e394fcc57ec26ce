// SPDX-License-Identifier: GPL-2.0-only
/* The table "All cells". */
#include <string.h>

#include "engines/base/units.h"
#include "report/misalign.h"
#include "report/page.h"

#define MB 1e6

bool cp_report_depth_capped(const struct cp_report *report,
			    const struct cp_report_cell *cell)
{
	return cell->depth && cell->depth < cell->context.iodepth &&
	       strcmp(report->arms[cell->arm].arm.queue_mode, "bio") != 0;
}

void cp_report_table_load(struct cp_report_table *table, const struct cp_report *report,
			  const struct cp_report_cell *cell)
{
	const struct cp_context *context = &cell->context;
	char bs[24];

	cp_report_table_add(table, "%s", context->rw);
	cp_report_table_add(table, "%s", cp_size_format(context->bs, bs, sizeof(bs)));
	cp_report_table_add(table, "%u", context->numjobs);
	if (cp_report_depth_capped(report, cell))
		cp_report_table_add(table, "%u (%u in effect)", context->iodepth,
				    cell->depth);
	else
		cp_report_table_add(table, "%u", context->iodepth);
}

static void add_interval(struct cp_report_table *table, const struct cp_report_stat *stat,
			 double unit)
{
	int digits = stat->median / unit < 1000 ? 1 : 0;

	cp_report_table_number(table, stat->median / unit, digits);
	if (stat->n > 1)
		cp_report_table_add(table, "%.*f to %.*f", digits, stat->low / unit,
				    digits, stat->high / unit);
	else
		cp_report_table_add(table, "%s", "");
}

/* Writes of one context promise several things: then each promise has its own front. */
static bool promises_differ(const struct cp_report *report,
			    const struct cp_report_cell *cell)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *other = &report->cells[i];

		if (strcmp(report->arms[other->arm].arm.persist,
			   report->arms[cell->arm].arm.persist) != 0 &&
		    cp_context_same(&other->context, &cell->context))
			return cp_context_dir(&cell->context) == CP_DIR_WRITE;
	}
	return false;
}

/* "policy (cpu-memcpy as bio), front", "front of persist auto". */
static void add_verdict(const struct cp_report *report, struct cp_report_table *table,
			const struct cp_report_cell *cell)
{
	const struct cp_arm *arm = &report->arms[cell->arm].arm;
	char words[CP_NAME_MAX + CP_WORD_MAX + 8] = "", front[CP_WORD_MAX + 24] = "";

	if (cell->pareto && promises_differ(report, cell))
		snprintf(front, sizeof(front), "front of persist %s", arm->persist);
	else if (cell->pareto)
		snprintf(front, sizeof(front), "front");
	if (cell->stands_for[0] && !strcmp(cell->stands_for, arm->name))
		snprintf(words, sizeof(words), " (in %s)", arm->queue_mode);
	else if (cell->stands_for[0])
		snprintf(words, sizeof(words), " (%s as %s)", cell->stands_for,
			 arm->queue_mode);

	if (!cell->n)
		cp_report_table_add(table, "failed");
	else if (cell->chosen)
		cp_report_table_add(table, "policy%s%s%s", words, *front ? ", " : "",
				    front);
	else
		cp_report_table_add(table, "%s",
				    cell->excluded ? "below the limit" : front);
}

/* All that tells two cells of one load apart; what is the same in all is in the caption.
 */
static void add_circumstances(const struct cp_report *report,
			      struct cp_report_table *table,
			      const struct cp_report_cell *cell)
{
	const struct cp_context *context = &cell->context;
	char offsets[64], words[160];

	cp_report_table_add(table, "%s", report->arms[cell->arm].label);
	cp_report_table_add(table, "%s", cell->copies);
	cp_report_table_add(table, "%s", cell->host);
	cp_report_table_add(table, "%s %s", context->media, cell->provenance.media);
	cp_report_table_add(table, "%s %s", context->attr, cell->provenance.attr);
	cp_report_table_add(table, "%s", context->layer);
	cp_report_table_add(table, "%s", context->numa);
	cp_report_table_add(table, "%s",
			    cp_report_misalign_words(context->misalign_near,
						     context->misalign_far, offsets,
						     sizeof(offsets)));
	cp_report_table_add(table, "%s", context->corunner);
	cp_report_driver_words(context, words, sizeof(words));
	cp_report_table_add(table, "%s", words[0] ? words + 2 : "");
	cp_report_table_add(table, "%s", report->arms[cell->arm].arm.persist);
	cp_report_table_add(table, "%s", cell->provenance.dma);
}

void cp_report_cells_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {
		"rw",	      "bs",	  "jobs",   "iodepth",	"segments", "arm",
		"kernel",     "host",	  "media",  "attr",	"layer",    "numa",
		"misaligned", "corunner", "driver", "persist",	"DMA",	    "N",
		"MB/s",	      "interval", "CPU %",  "interval", "submit %", "engine %",
		"p50 us",     "p99 us",	  "J",	    "is"};

	cp_report_table_init(
		table, "cells",
		"All cells: medians of N samples, MB = 10^6 bytes, CPU % of "
		"one CPU, latency from submission to completion. J: ns a byte, or the "
		"co-runner's slowdown where the objective weighs that. kernel: what the "
		"CPU "
		"copied with, \"a; b\" where samples differ. media, attr: with their "
		"provenance. front: no other arm of the same context (of writes: and "
		"persist) has more bandwidth for less CPU time a byte. \"policy (A as "
		"bio)\": the rule says A, whose cost is judged as bio with the same "
		"kernel; \"policy (in mq)\": nothing was measured there in the mode that "
		"the policy sets",
		"lrrrrllllllllllllrrrrrrrrrrl", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];
		const struct cp_report_stat *values = cell->values;

		cp_report_table_load(table, report, cell);
		cp_report_table_add(table, "%u", cell->context.segments);
		add_circumstances(report, table, cell);
		cp_report_table_add(table, "%u", cell->n);
		add_interval(table, &values[VALUE_BW], MB);
		add_interval(table, &values[VALUE_CPU], 1);
		cp_report_table_number(table, values[VALUE_CPU_SUBMIT].median, 1);
		cp_report_table_number(table, values[VALUE_CPU_ENGINE].median, 1);
		cp_report_table_number(table, values[VALUE_P50].median / 1000, 2);
		cp_report_table_number(table, values[VALUE_P99].median / 1000, 2);
		cp_report_table_number(table, cell->cost, 4);
		add_verdict(report, table, cell);
	}
}
