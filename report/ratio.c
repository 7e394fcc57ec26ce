// SPDX-License-Identifier: GPL-2.0-only
/* One cell over another, sample by sample. */
#include <math.h>
#include <stdlib.h>

#include "report/data.h"
#include "results/stats.h"

#define LEVEL 0.95

struct cp_report_ratio cp_report_ratio(const struct cp_report_cell *cell,
				       const struct cp_report_cell *base,
				       enum cp_report_value value)
{
	const struct cp_report_stat *b = &base->values[value];
	const struct cp_report_stat *c = &cell->values[value];
	struct cp_report_ratio ratio = {NAN, NAN, NAN};

	/* what is nothing is no base; both are positive, or the cell is nothing */
	if (!c->n || !b->n || !(b->median > 0))
		return ratio;
	ratio.median = c->median / b->median;
	if (c->n != b->n || cell->failed || base->failed)
		return ratio;
	double *pairs = calloc(c->n, sizeof(*pairs));

	if (!pairs)
		return ratio;
	for (uint32_t i = 0; i < c->n; i++) {
		pairs[i] = c->samples[i] / b->samples[i];
		if (isfinite(pairs[i]))
			continue;
		free(pairs);
		return ratio;
	}
	ratio.median = cp_stat_median(pairs, c->n);
	if (c->n > 1)
		cp_stat_median_interval(pairs, c->n, LEVEL, &ratio.low, &ratio.high);
	free(pairs);
	return ratio;
}
