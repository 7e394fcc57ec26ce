// SPDX-License-Identifier: GPL-2.0-only
/* What the tables of paths.h share. */
#include "report/paths.h"

#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"

#define ARM_CHARS 28

void cp_report_add_where(struct cp_report_table *table, const struct cp_report_cell *cell)
{
	char where[400];

	cp_report_context_words(&cell->context, &cell->provenance, where, sizeof(where));
	cp_report_table_add(table, "%s%s", cell->host, where);
}

/* Three digits or more. */
static int digits_of(double value)
{
	double size = fabs(value);

	return size >= 1000 || size == 0 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
}

void cp_report_add_median(struct cp_report_table *table,
			  const struct cp_report_stat *stat, double unit)
{
	double value = stat->median / unit;

	if (stat->n && isfinite(value))
		cp_report_table_add(table, "%.*f", digits_of(value), value);
	else
		cp_report_table_add(table, "-");
}

void cp_report_add_stat(struct cp_report_table *table, const struct cp_report_stat *stat,
			double unit)
{
	int digits = digits_of(stat->median / unit);

	cp_report_add_median(table, stat, unit);
	if (stat->n > 1)
		cp_report_table_add(table, "%.*f to %.*f", digits, stat->low / unit,
				    digits, stat->high / unit);
	else
		cp_report_table_add(table, "%s", "");
}

void cp_report_add_ratio(struct cp_report_table *table, struct cp_report_ratio ratio)
{
	int digits = ratio.median < 0.1 ? 3 : 2;

	if (!isfinite(ratio.median))
		cp_report_table_add(table, "-");
	else if (isfinite(ratio.low))
		cp_report_table_add(table, "%.*f (%.*f to %.*f)", digits, ratio.median,
				    digits, ratio.low, digits, ratio.high);
	else
		cp_report_table_add(table, "%.*f", digits, ratio.median);
}

bool cp_report_completes_by(const struct cp_report *report,
			    const struct cp_report_cell *cell, const char *completion)
{
	return cell->n && !strcmp(report->arms[cell->arm].arm.completion, completion);
}

static int likeness(const struct cp_arm *page, const struct cp_arm *mq)
{
	return 2 * !strcmp(page->dma, mq->dma) +
	       !strcmp(page->completion, mq->completion);
}

const struct cp_report_cell *cp_report_mq_beside(const struct cp_report *report,
						 const struct cp_report_cell *cells,
						 size_t nr,
						 const struct cp_report_cell *page)
{
	const struct cp_report_arm *own = &report->arms[page->arm];
	const struct cp_report_cell *best = NULL;
	int most = -1;

	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];
		int like = likeness(&own->arm, &arm->arm);

		if (!cells[i].n || strcmp(arm->arm.queue_mode, "mq") != 0 ||
		    strcmp(arm->arm.path, own->arm.path) != 0 ||
		    strcmp(arm->arm.copy, own->arm.copy) != 0 ||
		    strcmp(arm->dma, own->dma) != 0 || arm->simulated != own->simulated)
			continue;
		if (like < most || (like == most && !(cells[i].values[VALUE_IOPS].median >
						      best->values[VALUE_IOPS].median)))
			continue;
		best = &cells[i];
		most = like;
	}
	return best;
}

void cp_report_each_context(const struct cp_report *report,
			    void (*put)(void *ctx, const struct cp_report_cell *cells,
					size_t nr),
			    void *ctx)
{
	for (size_t p = 0; p < report->nr_panels; p++) {
		size_t at = report->panels[p].first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, &report->panels[p], &at,
						       &nr)))
			put(ctx, cells, nr);
	}
}

void cp_report_text_context(const struct cp_report_cell *like, FILE *out)
{
	const struct cp_context *context = &like->context;
	char bs[24], words[400], shown[400];

	fprintf(out, "\n%s %s: %u task%s queuedepth=%u\n", context->rw,
		cp_size_format(context->bs, bs, sizeof(bs)), context->numjobs,
		context->numjobs == 1 ? "" : "s", context->iodepth);
	cp_report_context_words(context, &like->provenance, words, sizeof(words));
	if (words[0])
		fprintf(out, "  %s\n",
			cp_text_visible(words + 2, 68, shown, sizeof(shown)));
}

const char *cp_report_text_arm(const struct cp_report *report,
			       const struct cp_report_cell *cell, char *buf, size_t size)
{
	return cp_text_visible(report->arms[cell->arm].label, ARM_CHARS, buf, size);
}

void cp_report_text_paths(const struct cp_report *report, FILE *out)
{
	cp_report_completion_text(report, out);
	cp_report_bypass_text(report, out);
	cp_report_delivered_text(report, out);
	cp_report_swap_text(report, out);
}
