// SPDX-License-Identifier: GPL-2.0-only
/*
 * Few intervals: dynamic programming over the points of a row.
 *
 * Cost: excess ln J over the best arm, weighed by octaves of size; one breakpoint costs
 * as much as 1 % over one octave (hysteresis), and at most 8 are allowed. Where an arm is
 * decided, only decided arms may be chosen; the incumbent wins ties within half a
 * percent.
 */
#include <math.h>
#include <stdlib.h>

#include "policies/learn_priv.h"

#define BREAKS_MAX  (CP_POLICY_SIZES_MAX - 1)
#define BREAK_COST  0.01
#define CHANGE_COST 0.005
#define NOT_SURE    1.0
#define IMPOSSIBLE  1e6

struct step {
	double cost;
	int from; /* the arm one point before */
	bool broke;
};

static double octaves(const struct learn_row *row, unsigned g)
{
	unsigned left = g ? g - 1 : 0, right = g + 1 < row->nr_grid ? g + 1 : g;

	if (left == right)
		return 1.0;
	return log2((double)row->grid[right] / (double)row->grid[left]) / 2.0;
}

static void point_costs(const struct learn_row *row, unsigned g, double *costs)
{
	double best = INFINITY;
	bool decided = false;

	for (unsigned a = 0; a < row->nr_curves; a++) {
		size_t at = (size_t)a * row->nr_grid + g;

		if (isnan(row->mean[at]) || row->excluded[at])
			continue;
		best = fmin(best, row->mean[at]);
		decided |= row->sure[at] >= LEARN_SURE;
	}
	for (unsigned a = 0; a < row->nr_curves; a++) {
		size_t at = (size_t)a * row->nr_grid + g;

		costs[a] = IMPOSSIBLE;
		if (isnan(row->mean[at]) || row->excluded[at])
			continue;
		costs[a] = row->mean[at] - best;
		if (decided && row->sure[at] < LEARN_SURE)
			costs[a] += NOT_SURE;
		if ((int)a != row->incumbent[g])
			costs[a] += CHANGE_COST;
		costs[a] *= octaves(row, g);
	}
}

/* steps[(g * (BREAKS_MAX + 1) + k) * arms + a]: the cheapest way to be at point g with
 * arm a and at most k breaks behind. */
static void forward(const struct learn_row *row, struct step *steps)
{
	double costs[LEARN_ARMS_MAX];
	unsigned arms = row->nr_curves;

	for (unsigned g = 0; g < row->nr_grid; g++) {
		point_costs(row, g, costs);
		for (unsigned k = 0; k <= BREAKS_MAX; k++) {
			struct step *here = &steps[(g * (BREAKS_MAX + 1) + k) * arms];
			const struct step *stay =
				g ? here - (BREAKS_MAX + 1) * arms : NULL;
			const struct step *leave = g && k ? stay - arms : NULL;
			unsigned best = 0;

			for (unsigned a = 0; leave && a < arms; a++)
				if (leave[a].cost < leave[best].cost)
					best = a;
			for (unsigned a = 0; a < arms; a++) {
				here[a] = (struct step){costs[a], (int)a, false};
				if (!stay)
					continue;
				here[a].cost += stay[a].cost;
				if (!leave ||
				    leave[best].cost + BREAK_COST >= stay[a].cost)
					continue;
				here[a] = (struct step){costs[a] + leave[best].cost +
								BREAK_COST,
							(int)best, true};
			}
		}
	}
}

int learn_compress(struct learn_row *row, struct cp_err *err)
{
	unsigned arms = row->nr_curves, k = BREAKS_MAX, at = 0;
	struct step *steps =
		calloc((size_t)row->nr_grid * (BREAKS_MAX + 1) * arms, sizeof(*steps));

	if (!steps)
		return learn_no_memory(err);
	forward(row, steps);
	const struct step *last =
		&steps[((row->nr_grid - 1) * (BREAKS_MAX + 1) + k) * arms];

	for (unsigned a = 1; a < arms; a++)
		if (last[a].cost < last[at].cost)
			at = a;
	for (unsigned g = row->nr_grid; g-- > 0;) {
		const struct step *step = &steps[(g * (BREAKS_MAX + 1) + k) * arms + at];

		row->choice[g] = (int)at;
		at = (unsigned)step->from;
		k -= step->broke;
	}
	free(steps);
	return 0;
}
