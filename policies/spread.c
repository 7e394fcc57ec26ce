// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a cell's typical ln J may be off.
 *
 * Two samples a cell say almost nothing about their own variance, but all cells together
 * say much: variances are shrunk to a common one by empirical Bayes. Source: G. K. Smyth,
 * "Linear models and empirical Bayes methods for assessing differential expression",
 * Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2: ln
 * s^2 has mean ln s0^2 + psi(d/2) - psi(d0/2) - ln(d/d0) and variance psi'(d/2) +
 * psi'(d0/2), which gives d0 and s0^2 by moments; then s^2 = (d0 s0^2 + d s^2) / (d0 + d)
 * with d0 + d degrees of freedom.
 */
#include <gsl/gsl_sf_psi.h>
#include <math.h>
#include <stdlib.h>

#include "policies/learn_priv.h"
#include "results/stats.h"

/* A spread below 0.1 % is luck or a constant, not knowledge. */
#define VAR_FLOOR 1e-6
/* 5 %: where no cell has two samples; nothing is decided then, and the weights need some
 * number */
#define VAR_UNKNOWN  0.0025
#define DOF_MAX	     200.0
#define HUBER	     1.345
#define HUBER_ROUNDS 6

double learn_cost(const struct cp_objective *objective, const double *ns, double bytes)
{
	return cp_objective_cost(objective, ns[PART_ELAPSED], ns[PART_CPU], ns[PART_P99],
				 ns[PART_SLOWDOWN], bytes);
}

double learn_ln_cost(const struct cp_objective *objective, const double *ns, double bytes)
{
	return log(fmax(learn_cost(objective, ns, bytes), 1e-9));
}

/* Huber's location: the mean, with far values pulled in. sd 0 = plain mean. */
static double location(const double *values, unsigned n, double sd)
{
	double at =
		sd > 0.0 && n > 2 ? cp_stat_median(values, n) : cp_stat_mean(values, n);

	for (unsigned round = 0; round < HUBER_ROUNDS && sd > 0.0; round++) {
		double sum = 0.0, weight = 0.0;

		for (unsigned i = 0; i < n; i++) {
			double w =
				fmin(1.0, HUBER * sd / fmax(fabs(values[i] - at), 1e-12));

			sum += w * values[i];
			weight += w;
		}
		at = sum / weight;
	}
	return at;
}

static void cell_values(const struct learn_cell *cell, const struct cp_objective *obj,
			double *values)
{
	for (unsigned i = 0; i < cell->n; i++)
		values[i] =
			learn_ln_cost(obj, cell->samples[i].ns, (double)cell->context.bs);
}

static void cell_parts(struct learn_cell *cell, double *values)
{
	for (unsigned p = 0; p < PART_NR; p++) {
		unsigned n = 0;

		for (unsigned i = 0; i < cell->n; i++)
			if (!isnan(cell->samples[i].ns[p]))
				values[n++] = log(fmax(cell->samples[i].ns[p], 1e-6));
		cell->ln_part[p] = n ? location(values, n, sqrt(cell->var)) : NAN;
	}
}

/* x with psi'(x) = value, by Newton on 1/psi'. Source: Smyth 2004, appendix. */
static double trigamma_inverse(double value)
{
	double x = 0.5 + 1.0 / value;

	for (unsigned i = 0; i < 50; i++) {
		double tri = gsl_sf_psi_1(x);
		double step = tri * (1.0 - tri / value) / gsl_sf_psi_n(2, x);

		x += step;
		if (fabs(step) < 1e-8 * x)
			break;
	}
	return x;
}

struct prior {
	double dof, var;
	unsigned cells; /* it rests on */
};

static struct prior find_prior(const struct cp_learn *learn)
{
	struct prior prior = {DOF_MAX, VAR_UNKNOWN, 0};
	double sum = 0.0, square = 0.0, noise = 0.0, dof = 0.0, ss = 0.0;
	unsigned nr = 0;

	for (size_t i = 0; i < learn->nr_cells; i++) {
		const struct learn_cell *cell = &learn->cells[i];

		if (isnan(cell->var_0))
			continue;
		double d = cell->n - 1.0;
		double e = log(fmax(cell->var_0, VAR_FLOOR)) - gsl_sf_psi(d / 2.0) +
			   log(d / 2.0);

		sum += e;
		square += e * e;
		noise += gsl_sf_psi_1(d / 2.0);
		dof += d;
		ss += d * fmax(cell->var_0, VAR_FLOOR);
		nr++;
	}
	prior.cells = nr;
	if (!nr) {
		prior.dof = 4.0;
		return prior;
	}
	prior.var = ss / dof;
	prior.dof = fmin(dof, DOF_MAX);
	if (nr < 4)
		return prior; /* too few to see how much cells differ: one pool */
	double mean = sum / nr;
	double extra = (square - nr * mean * mean) / (nr - 1) - noise / nr;

	if (extra > 1e-3) {
		double half = trigamma_inverse(extra);

		/* Under one degree, cells differ so much that moments say nothing. */
		prior.dof = fmin(fmax(2.0 * half, 1.0), prior.dof);
		/* The larger of the two estimates: the moments' one is a geometric mean
		 * at heart and sits low when a few cells are noisy. */
		prior.var = fmax(prior.var, exp(mean + gsl_sf_psi(half) - log(half)));
	}
	return prior;
}

int learn_spread(struct cp_learn *learn, struct cp_err *err)
{
	unsigned most = 1;

	for (size_t i = 0; i < learn->nr_cells; i++)
		most = learn->cells[i].n > most ? learn->cells[i].n : most;
	double *values = calloc(most, sizeof(*values));

	if (!values)
		return learn_no_memory(err);
	for (size_t i = 0; i < learn->nr_cells; i++) {
		struct learn_cell *cell = &learn->cells[i];

		cell_values(cell, &learn->objective, values);
		double sd = cp_stat_sd(values, cell->n);

		cell->var_0 = cell->n > 1 ? sd * sd : NAN;
	}
	struct prior prior = find_prior(learn);

	/* One process more says nothing of what the next will take: without a repeated
	 * cell any spread is a guess, and a rule must not rest on one. */
	learn->noise_known = prior.cells > 0;
	if (!learn->noise_known && learn->nr_cells)
		learn_note(learn,
			   "no cell has two samples, so nothing is known of the noise "
			   "and nothing is decided; expected run: {samples: 3} or more");

	for (size_t i = 0; i < learn->nr_cells; i++) {
		struct learn_cell *cell = &learn->cells[i];
		double d = cell->n > 1 ? cell->n - 1.0 : 0.0;
		double own = d > 0.0 ? cell->var_0 : 0.0;

		cell->dof = prior.dof + d;
		cell->var =
			fmax((prior.dof * prior.var + d * own) / cell->dof, VAR_FLOOR);
		cell_values(cell, &learn->objective, values);
		cell->ln_cost = location(values, cell->n, sqrt(cell->var));
		cell_parts(cell, values);
	}
	free(values);
	return 0;
}
