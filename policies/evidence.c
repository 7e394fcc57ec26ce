// SPDX-License-Identifier: GPL-2.0-only
/* What a piece rests on: its gain, its samples, its crossover, and what would decide it.
 */
#include <math.h>
#include <stdlib.h>

#include "policies/pieces.h"

#define SAMPLES_SENSELESS 1000U /* more than this for one cell: noise, not thrift */

/* Where lean and the next piece's lean cost the same, nearest to the boundary, with the
 * sizes between which neither is confidently better. */
static void set_crossover(const struct learn_row *row, const struct pieces *pieces,
			  unsigned i, struct cp_policy_size *size)
{
	unsigned a = pieces->p[i].lean, end = pieces->p[i].last, k = i + 1;
	unsigned at = row->nr_grid;

	while (k < pieces->nr && pieces->p[k].lean == a)
		if (pieces->p[k++].decided)
			return; /* that one has it */
	if (k >= pieces->nr)
		return;
	unsigned b = pieces->p[k].lean, stop = pieces->p[k].last;

	for (unsigned g = pieces->p[i].first; g < stop && g + 1 < row->nr_grid; g++)
		if (pieces_crossing(row, a, b, g) > 0.0 &&
		    (at == row->nr_grid ||
		     abs((int)g - (int)end) < abs((int)at - (int)end)))
			at = g;
	if (at == row->nr_grid)
		return;
	unsigned low = at, high = at + 1;

	while (low > 0 && !(learn_better(row, a, b, low, 0.0) >= LEARN_SURE))
		low--;
	while (high + 1 < row->nr_grid &&
	       !(learn_better(row, b, a, high, 0.0) >= LEARN_SURE))
		high++;
	size->crossover_at = (uint64_t)llround(pieces_crossing(row, a, b, at));
	size->crossover_low = row->grid[low];
	size->crossover_high = row->grid[high];
}

/* Percent of the runner-up's J that the arm saves, mean over the piece in octaves. */
static double gain_pct(const struct learn_row *row, const struct piece *piece,
		       unsigned arm)
{
	double sum = 0.0;
	unsigned nr = 0;

	for (unsigned g = piece->first; g <= piece->last; g++) {
		double runner = INFINITY;

		for (unsigned b = 0; b < row->nr_curves; b++)
			if (b != arm && !isnan(pieces_mean(row, b, g)))
				runner = fmin(runner, pieces_mean(row, b, g));
		if (!isfinite(runner) || isnan(pieces_mean(row, arm, g)))
			continue;
		sum += runner - pieces_mean(row, arm, g);
		nr++;
	}
	return nr ? round(1000.0 * (1.0 - exp(-sum / nr))) / 10.0 : NAN;
}

static uint32_t samples_in(const struct learn_row *row, const struct piece *piece)
{
	uint64_t low = row->grid[piece->first], high = row->grid[piece->last];
	uint32_t nr = 0, around = 0;

	for (unsigned c = 0; c < row->nr_curves; c++) {
		const struct learn_curve *curve = &row->curves[c];

		for (unsigned i = 0; i < curve->nr; i++) {
			uint64_t bs = curve->cells[i]->context.bs;

			if (bs >= low && bs <= high)
				nr += curve->cells[i]->n;
			/* Between two sizes: it rests on both. */
			else if ((bs < low && (i + 1 == curve->nr ||
					       curve->cells[i + 1]->context.bs > low)) ||
				 (bs > high &&
				  (i == 0 || curve->cells[i - 1]->context.bs < high)))
				around += curve->cells[i]->n;
		}
	}
	return nr ? nr : around;
}

/* The rival that keeps the leaning arm from being sure at g. */
static int worst_rival(const struct learn_row *row, unsigned lean, unsigned g)
{
	double most = 0.0;
	int rival = -1;

	for (unsigned b = 0; b < row->nr_curves; b++) {
		if (b == lean || isnan(pieces_mean(row, b, g)) ||
		    isnan(pieces_mean(row, lean, g)))
			continue;
		double doubt = 1.0 - learn_better(row, lean, b, g, LEARN_REGRET);

		if (rival < 0 || doubt > most) {
			most = doubt;
			rival = (int)b;
		}
	}
	return rival;
}

static const struct learn_cell *nearest(const struct learn_curve *curve, uint64_t bytes)
{
	const struct learn_cell *best = curve->cells[0];

	for (unsigned i = 1; i < curve->nr; i++)
		if (fabs(log2((double)curve->cells[i]->context.bs / (double)bytes)) <
		    fabs(log2((double)best->context.bs / (double)bytes)))
			best = curve->cells[i];
	return best;
}

/*
 * Samples each of two cells needs in all so that their difference is known to
 * (2 % + lead) / 1.645: n = 2 s^2 (1.645 / (ln 1.02 + lead))^2, less what is there, at
 * least one; for both contenders, at every measured size in the piece.
 */
uint32_t pieces_samples_needed(const struct learn_row *row, const struct piece *piece,
			       bool *noisy)
{
	double most = 1.0;
	unsigned sizes = 0;

	for (unsigned g = piece->first; g <= piece->last; g++) {
		int rival = worst_rival(row, piece->lean, g);

		if (rival < 0)
			continue;
		const struct learn_cell *a =
			nearest(&row->curves[piece->lean], row->grid[g]);
		const struct learn_cell *b = nearest(&row->curves[rival], row->grid[g]);
		double lead = fmax(0.0, pieces_mean(row, (unsigned)rival, g) -
						pieces_mean(row, piece->lean, g));
		double need = (a->var + b->var) * pow(1.645 / (LEARN_REGRET + lead), 2.0);

		sizes += a->context.bs == row->grid[g];
		most = fmax(most, ceil(need) - fmin(a->n, b->n));
	}
	if (row->nr_curves < 2 || !row->noise_known)
		return 0;
	*noisy |= most > SAMPLES_SENSELESS;
	return (uint32_t)fmin(most * 2.0 * fmax(sizes, 1.0), 1e9);
}

void pieces_evidence(const struct learn_row *row, const struct pieces *pieces, unsigned i,
		     struct cp_policy_size *size)
{
	const struct piece *p = &pieces->p[i];
	double sure = 1.0;

	for (unsigned g = p->first; g <= p->last; g++)
		sure = fmin(sure, row->sure[(size_t)p->lean * row->nr_grid + g]);
	/* Never 1: the model behind it is one. */
	size->confidence = fmin(floor(sure * 1000.0) / 1000.0, 0.999);
	/* compared with nothing, or by nothing */
	if (row->nr_curves == 1 || !row->noise_known)
		size->confidence = NAN;
	size->gain_pct = gain_pct(row, p, p->lean);
	size->samples = samples_in(row, p);
	set_crossover(row, pieces, i, size);
}
