// SPDX-License-Identifier: GPL-2.0-only
/* What was measured, cell by cell, for reports and for regret. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"
#include "results/stats.h"

static int context_cmp(const struct cp_context *a, const struct cp_context *b)
{
	const char *const texts[][2] = {
		{a->rw, b->rw},		{a->layer, b->layer},
		{a->attr, b->attr},	{a->numa, b->numa},
		{a->media, b->media},	{a->corunner, b->corunner},
		{a->driver, b->driver}, {a->handler, b->handler}};
	const uint64_t numbers[][2] = {{a->rw_page, b->rw_page},
				       {a->resident, b->resident},
				       {a->misalign_near, b->misalign_near},
				       {a->misalign_far, b->misalign_far},
				       {a->numjobs, b->numjobs},
				       {a->iodepth, b->iodepth},
				       {a->bs, b->bs},
				       {a->segments, b->segments}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int cmp = strcmp(texts[i][0], texts[i][1]);

		if (cmp)
			return cmp;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i][0] != numbers[i][1])
			return numbers[i][0] < numbers[i][1] ? -1 : 1;
	return 0;
}

/* Writes of different promise share a context and no front. */
static int group_cmp(const struct cp_learn_cell *a, const struct cp_learn_cell *b)
{
	int cmp = context_cmp(&a->context, &b->context);

	if (!cmp && cp_context_dir(&a->context) == CP_DIR_WRITE)
		cmp = strcmp(a->arm.persist, b->arm.persist);
	return cmp;
}

static int view_cmp(const void *a, const void *b)
{
	const struct cp_learn_cell *x = a, *y = b;
	int cmp = group_cmp(x, y);

	return cmp ? cmp : strcmp(x->arm.name, y->arm.name);
}

/* The known values of one figure of a cell. */
static unsigned column(const struct learn_cell *cell, size_t offset, double *values)
{
	unsigned n = 0;

	for (unsigned i = 0; i < cell->n; i++) {
		double value;

		memcpy(&value, (const char *)&cell->samples[i] + offset, sizeof(value));
		if (isfinite(value))
			values[n++] = value;
	}
	return n;
}

static double column_median(const struct learn_cell *cell, size_t offset, double *values)
{
	return cp_stat_median(values, column(cell, offset, values));
}

static void interval(const struct learn_cell *cell, size_t offset, double *values,
		     double *median, double *low, double *high)
{
	unsigned n = column(cell, offset, values);

	*median = cp_stat_median(values, n);
	*low = *high = *median;
	if (n)
		cp_stat_median_interval(values, n, 0.95, low, high);
}

#define NS_AT(part) (offsetof(struct learn_sample, ns) + (part) * sizeof(double))

static void view_fill(const struct cp_objective *objective, const struct learn_cell *cell,
		      double *values, struct cp_learn_cell *view)
{
	memset(view, 0, sizeof(*view));
	view->context = cell->context;
	view->arm = cell->arm;
	view->provenance = cell->provenance;
	memcpy(view->copy, cell->copy, sizeof(view->copy));
	view->n = cell->n;
	interval(cell, offsetof(struct learn_sample, bw), values, &view->bw_median,
		 &view->bw_low, &view->bw_high);
	interval(cell, offsetof(struct learn_sample, cpu_pct), values,
		 &view->cpu_pct_median, &view->cpu_pct_low, &view->cpu_pct_high);
	view->ns_per_byte = column_median(cell, NS_AT(PART_ELAPSED), values);
	view->cpu_ns_per_byte = column_median(cell, NS_AT(PART_CPU), values);
	view->p99_ns = column_median(cell, NS_AT(PART_P99), values);
	view->slowdown = column_median(cell, NS_AT(PART_SLOWDOWN), values);
	view->p50_ns = column_median(cell, offsetof(struct learn_sample, p50_ns), values);
	for (unsigned i = 0; i < cell->n; i++)
		values[i] = learn_cost(objective, cell->samples[i].ns,
				       (double)cell->context.bs);
	view->cost = cp_stat_median(values, cell->n);
}

int cp_learn_cells(struct cp_learn *learn, const struct cp_learn_cell **ret_cells,
		   size_t *ret_nr, struct cp_err *err)
{
	unsigned most = 1;

	for (size_t i = 0; i < learn->nr_cells; i++)
		most = learn->cells[i].n > most ? learn->cells[i].n : most;
	double *values = calloc(most, sizeof(*values));
	struct cp_learn_cell *view = calloc(learn->nr_cells + 1, sizeof(*view));

	if (!values || !view) {
		free(values);
		free(view);
		return learn_no_memory(err);
	}
	for (size_t i = 0; i < learn->nr_cells; i++)
		view_fill(&learn->objective, &learn->cells[i], values, &view[i]);
	qsort(view, learn->nr_cells, sizeof(*view), view_cmp);
	for (size_t i = 0, end; i < learn->nr_cells; i = end) {
		for (end = i + 1; end < learn->nr_cells; end++)
			if (group_cmp(&view[i], &view[end]) != 0)
				break;
		learn_pareto(&learn->objective, &view[i], end - i);
	}
	free(values);
	free(learn->view);
	learn->view = view;
	learn->nr_view = learn->nr_cells;
	*ret_cells = view;
	*ret_nr = learn->nr_cells;
	return 0;
}
