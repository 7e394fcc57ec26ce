// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which arm at each size, and how sure.
 *
 * ln J of an arm is taken as Student's t around its mean; arms are independent. The
 * regret of arm a is within 2 % unless some other arm b is better by more: P(regret_a <=
 * 2 %) >= 1 - sum over b of P(ln J_a - ln J_b > ln 1.02) (Bonferroni's bound on the
 * union, exact for two arms). Hard limits come first.
 */
#include <gsl/gsl_cdf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

#define STEPS_PER_OCTAVE 8

static int u64_cmp(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* A size that a person would write near `bytes`. */
static uint64_t round_size(double bytes)
{
	double step = bytes < 16384	? 512
		      : bytes < 65536	? 1024
		      : bytes < 1048576 ? 4096
					: 65536;

	return (uint64_t)(round(bytes / step) * step);
}

static unsigned unique(uint64_t *values, unsigned nr)
{
	unsigned kept = 0;

	qsort(values, nr, sizeof(values[0]), u64_cmp);
	for (unsigned i = 0; i < nr; i++)
		if (!kept || values[kept - 1] != values[i])
			values[kept++] = values[i];
	return kept;
}

static int row_alloc(struct learn_row *row, struct cp_err *err)
{
	size_t nr = (size_t)row->nr_curves * row->nr_grid;

	row->mean = calloc(nr, sizeof(double));
	row->var = calloc(nr, sizeof(double));
	row->dof = calloc(nr, sizeof(double));
	row->ln_elapsed = calloc(nr, sizeof(double));
	row->ln_p99 = calloc(nr, sizeof(double));
	row->excluded = calloc(nr, sizeof(bool));
	row->beyond = calloc(nr, sizeof(bool));
	row->sure = calloc(nr, sizeof(double));
	row->incumbent = calloc(row->nr_grid, sizeof(int));
	row->choice = calloc(row->nr_grid, sizeof(int));
	if (!row->mean || !row->var || !row->dof || !row->ln_elapsed || !row->ln_p99 ||
	    !row->excluded || !row->beyond || !row->sure || !row->incumbent ||
	    !row->choice)
		return learn_no_memory(err);
	return 0;
}

/* The measured sizes, and points between them where there is room. */
int learn_grid_make(struct learn_row *row, struct cp_err *err)
{
	size_t room = (size_t)row->nr_curves * LEARN_SIZES_MAX + LEARN_GRID_MAX;
	unsigned nr = 0;

	row->grid = calloc(room, sizeof(*row->grid));
	if (!row->grid)
		return learn_no_memory(err);
	for (unsigned c = 0; c < row->nr_curves; c++)
		for (unsigned i = 0; i < row->curves[c].nr; i++)
			row->grid[nr++] = row->curves[c].cells[i]->context.bs;
	nr = unique(row->grid, nr);
	if (nr > LEARN_GRID_MAX)
		return cp_err_set(
			err, CP_EXIT_USAGE, E2BIG,
			"records hold %u sizes in one context; expected at most %d", nr,
			LEARN_GRID_MAX);
	unsigned sizes = nr;

	for (unsigned i = 0; i + 1 < sizes; i++) {
		double low = log2((double)row->grid[i]);
		double high = log2((double)row->grid[i + 1]);
		unsigned steps = (unsigned)ceil((high - low) * STEPS_PER_OCTAVE);

		for (unsigned k = 1; k < steps && nr < LEARN_GRID_MAX; k++) {
			uint64_t x = round_size(exp2(low + (high - low) * k / steps));

			if (x > row->grid[i] && x < row->grid[i + 1])
				row->grid[nr++] = x;
		}
	}
	row->nr_grid = unique(row->grid, nr);
	return row_alloc(row, err);
}

/* ln of a part (elapsed, p99) at x, through the cells' own values. */
static double part_at(const struct learn_curve *curve, enum learn_part part, unsigned i,
		      double u, double x)
{
	const struct learn_fit *fit = &curve->fits[part];
	double at = 0.0;

	if (!(fit->alpha_ns + fit->beta_ns > 0.0))
		return NAN;
	for (unsigned k = 0; k < 2; k++) {
		double weight = k ? u : 1.0 - u;

		if (!(weight > 0.0))
			continue;
		const struct learn_cell *cell = curve->cells[i + k];
		double bs = (double)cell->context.bs;
		double y = cell->ln_part[part] - (learn_part_whole(part) ? log(bs) : 0.0);

		at += weight * (y - learn_fit_eval(fit, bs));
	}
	return at + learn_fit_eval(fit, x) + (learn_part_whole(part) ? log(x) : 0.0);
}

static double model_cost(const struct cp_objective *objective,
			 const struct learn_curve *curve, double x)
{
	double ns[PART_NR];

	for (unsigned p = 0; p < PART_NR; p++) {
		const struct learn_fit *fit = &curve->fits[p];

		ns[p] = fit->alpha_ns + fit->beta_ns > 0.0 ? exp(learn_fit_eval(fit, x))
							   : NAN;
		ns[p] *= learn_part_whole(p) ? x : 1.0;
	}
	return learn_ln_cost(objective, ns, x);
}

static void predict(const struct cp_objective *objective, struct learn_row *row,
		    unsigned c, unsigned g)
{
	const struct learn_curve *curve = &row->curves[c];
	size_t at = (size_t)c * row->nr_grid + g;
	uint64_t bytes = row->grid[g];
	double x = (double)bytes, u = 0.0;
	unsigned i = 0;

	row->mean[at] = NAN;
	if (bytes < curve->cells[0]->context.bs ||
	    bytes > curve->cells[curve->nr - 1]->context.bs)
		return;
	while (i + 1 < curve->nr && curve->cells[i + 1]->context.bs <= bytes)
		i++;
	unsigned j = i + 1 < curve->nr ? i + 1 : i;
	double left = (double)curve->cells[i]->context.bs;
	double right = (double)curve->cells[j]->context.bs;

	if (j > i)
		u = log2(x / left) / log2(right / left);
	/* The model's shape between sizes, hung on what is known at both ends. */
	double shape = 0.0;

	if (u > 0.0)
		shape = model_cost(objective, curve, x) -
			(1.0 - u) * model_cost(objective, curve, left) -
			u * model_cost(objective, curve, right);
	row->mean[at] = (1.0 - u) * curve->mean[i] + u * curve->mean[j] + shape;
	/* tau^2 was seen in the middle of a gap twice as wide; a rough curve's variance
	 * grows with the gap (Brownian bridge), so half of it is in the middle here. */
	row->var[at] = (1.0 - u) * (1.0 - u) * curve->var[i] + u * u * curve->var[j] +
		       2.0 * u * (1.0 - u) * curve->tau2;
	row->dof[at] = fmin(curve->cells[i]->dof, curve->cells[j]->dof);
	row->ln_elapsed[at] = part_at(curve, PART_ELAPSED, i, u, x);
	row->ln_p99[at] = part_at(curve, PART_P99, i, u, x);
}

static void limit(const struct cp_objective *objective, struct learn_row *row, unsigned g)
{
	double fastest = INFINITY;
	bool slo = !isnan(objective->slo_p99_ns) && !(objective->tail > 0.0), any = false;

	for (unsigned c = 0; c < row->nr_curves; c++) {
		size_t at = (size_t)c * row->nr_grid + g;

		if (row->excluded[at])
			continue;
		fastest = fmin(fastest, row->ln_elapsed[at]);
		any |= row->ln_p99[at] <= log(objective->slo_p99_ns) &&
		       !isnan(row->mean[at]);
	}
	for (unsigned c = 0; c < row->nr_curves; c++) {
		size_t at = (size_t)c * row->nr_grid + g;

		row->beyond[at] =
			(!isnan(objective->min_bw_frac) &&
			 row->ln_elapsed[at] - fastest > -log(objective->min_bw_frac)) ||
			/* A bound that no arm keeps cannot choose between them. */
			(slo && any && row->ln_p99[at] > log(objective->slo_p99_ns));
		row->excluded[at] |= row->beyond[at];
	}
}

double learn_better(const struct learn_row *row, unsigned a, unsigned b, unsigned point,
		    double slack)
{
	size_t ia = (size_t)a * row->nr_grid + point;
	size_t ib = (size_t)b * row->nr_grid + point;
	double sd = sqrt(row->var[ia] + row->var[ib]);

	if (!row->noise_known || isnan(row->mean[ia]) || isnan(row->mean[ib]))
		return NAN;
	return gsl_cdf_tdist_P((slack + row->mean[ib] - row->mean[ia]) / sd,
			       fmin(row->dof[ia], row->dof[ib]));
}

/*
 * A rule chooses what can change per I/O, and the queue mode cannot. Rules are among page
 * arms, or among the others: solve.c weighs the two. Where the CPU was measured in mq as
 * well, the rules are among mq's arms and bio's are left to device.c,
 * which weighs the modes against each other; where it was not, bio's CPU arms stand in
 * for mq's (and rules.c says so).
 */
bool learn_standby(const struct learn_row *row, unsigned c)
{
	const char *mode = row->curves[c].arm->queue_mode;
	bool page = !strcmp(mode, "page");

	if (row->page || page)
		return row->page != page;
	if (!strcmp(mode, "mq"))
		return false;
	for (unsigned i = 0; i < row->nr_curves; i++) {
		const struct cp_arm *arm = row->curves[i].arm;

		if (!strcmp(arm->queue_mode, "mq") && !strcmp(arm->path, "cpu"))
			return true;
	}
	return false;
}

static bool open_at(const struct learn_row *row, unsigned c, unsigned g)
{
	size_t at = (size_t)c * row->nr_grid + g;

	return !isnan(row->mean[at]) && !row->excluded[at];
}

static void confide(struct learn_row *row, unsigned g)
{
	for (unsigned a = 0; a < row->nr_curves; a++) {
		size_t at = (size_t)a * row->nr_grid + g;
		double doubt = 0.0;
		unsigned rivals = 0;

		if (!open_at(row, a, g))
			continue;
		for (unsigned b = 0; b < row->nr_curves; b++) {
			if (b == a || isnan(row->mean[(size_t)b * row->nr_grid + g]))
				continue;
			if (learn_standby(row, b))
				continue;
			rivals++;
			if (!row->excluded[(size_t)b * row->nr_grid + g])
				doubt += 1.0 - learn_better(row, a, b, g, LEARN_REGRET);
		}
		/* Alone, it was compared with nothing; without noise, with nothing that
		 * says how far a figure may be off. */
		row->sure[at] = rivals && row->noise_known ? fmax(0.0, 1.0 - doubt) : 0.0;
	}
}

/*
 * The incumbent is what ran before there was a policy: the CPU copy `auto` in bio. Where
 * that was not measured the same copy in mq stands for it. Any other arm is a candidate
 * and no incumbent, however much it may look like one: where none of these is known the
 * default holds.
 */
static unsigned incumbency(const struct cp_arm *arm)
{
	if (strcmp(arm->path, "cpu") != 0 || strcmp(arm->copy, "auto") != 0)
		return 0;
	return !strcmp(arm->queue_mode, "bio")	? 2U
	       : !strcmp(arm->queue_mode, "mq") ? 1U
						: 0U;
}

void learn_decide(const struct cp_learn *learn, struct learn_row *row)
{
	for (unsigned g = 0; g < row->nr_grid; g++) {
		unsigned best = 0;

		for (unsigned c = 0; c < row->nr_curves; c++) {
			row->excluded[(size_t)c * row->nr_grid + g] =
				learn_standby(row, c);
			predict(&learn->objective, row, c, g);
			if (isnan(row->mean[(size_t)c * row->nr_grid + g]))
				row->ln_elapsed[(size_t)c * row->nr_grid + g] =
					row->ln_p99[(size_t)c * row->nr_grid + g] = NAN;
		}
		limit(&learn->objective, row, g);
		confide(row, g);
		row->incumbent[g] = -1;
		for (unsigned c = 0; c < row->nr_curves; c++) {
			unsigned rank = incumbency(row->curves[c].arm);

			/* Also one that is no rule's choice (standby) or beyond a limit.
			 */
			if (rank > best &&
			    !isnan(row->mean[(size_t)c * row->nr_grid + g])) {
				best = rank;
				row->incumbent[g] = (int)c;
			}
		}
	}
}
