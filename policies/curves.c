// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every curve's model, how far the model may be off between sizes, and what a measured
 * cell and the model of its neighbours say together.
 *
 * Interpolation variance tau^2 comes from leave-one-size-out: err^2 minus the sampling
 * variance of the cell left out, shrunk to the mean over all curves. It is measured over
 * gaps twice as wide as those it is used for (see learn_decide()).
 *
 * At a measured size the cell's mean (variance s^2/n) and its prediction by the others
 * (tau^2) are weighed by precision (Fay and Herriot 1979). A cell that contradicts its
 * prediction is believed: its own squared contradiction replaces tau^2 where it is
 * larger. And a prediction is never better than the samples it came from: with p
 * parameters out of m - 1 sizes its sampling variance is at least p / (m - 1) of theirs.
 */
#include <math.h>
#include <stdlib.h>

#include "policies/learn_priv.h"

#define PRIOR_WEIGHT 4.0
#define TAU2_UNKNOWN 0.01 /* 10 %: no curve has an inner size */
#define TAU2_FLOOR   1e-5
/* What interleaving cannot average out (placement, alignment) over one process: 0.3 %. */
#define CELL_FLOOR 1e-5

static double cell_var(const struct learn_cell *cell)
{
	return cell->var / cell->n + CELL_FLOOR;
}

static int curve_fit(const struct cp_objective *objective, struct learn_curve *curve,
		     struct cp_err *err)
{
	double x[LEARN_SIZES_MAX], y[LEARN_SIZES_MAX];
	double loo[PART_NR][LEARN_SIZES_MAX];

	curve->loo = calloc(curve->nr, sizeof(double));
	curve->mean = calloc(curve->nr, sizeof(double));
	curve->var = calloc(curve->nr, sizeof(double));
	if (!curve->loo || !curve->mean || !curve->var)
		return learn_no_memory(err);
	for (unsigned p = 0; p < PART_NR; p++) {
		bool known = true;

		for (unsigned i = 0; i < curve->nr; i++) {
			x[i] = (double)curve->cells[i]->context.bs;
			y[i] = curve->cells[i]->ln_part[p];
			if (learn_part_whole(p)) /* the model is per byte */
				y[i] -= log(x[i]);
			known &= isfinite(y[i]);
			loo[p][i] = NAN;
		}
		/* 0 + 0 * bs: not known, and ln of it is never asked for. */
		curve->fits[p].alpha_ns = curve->fits[p].beta_ns = 0.0;
		if (known)
			learn_fit_curve(x, y, curve->nr, &curve->fits[p], loo[p]);
	}
	for (unsigned i = 0; i < curve->nr; i++) {
		double ns[PART_NR];

		for (unsigned p = 0; p < PART_NR; p++)
			ns[p] = exp(loo[p][i]) * (learn_part_whole(p) ? x[i] : 1.0);
		double cost = learn_cost(objective, ns, x[i]);

		curve->loo[i] = isfinite(cost) ? log(fmax(cost, 1e-9)) : NAN;
	}
	return 0;
}

/* Sum of squared interpolation errors of the inner sizes, less their sampling noise. */
static double curve_errors(const struct learn_curve *curve, unsigned *ret_nr,
			   double *ret_square)
{
	double sum = 0.0, square = 0.0;
	unsigned nr = 0;

	for (unsigned i = 1; i + 1 < curve->nr; i++) {
		const struct learn_cell *cell = curve->cells[i];
		double e = cell->ln_cost - curve->loo[i];

		if (!isfinite(e))
			continue;
		double d = e * e - cell->var / cell->n;

		sum += d;
		square += d * d;
		nr++;
	}
	*ret_nr = nr;
	*ret_square = square;
	return sum;
}

static unsigned most_knots(const struct learn_curve *curve)
{
	unsigned most = 0;

	for (unsigned p = 0; p < PART_NR; p++)
		most = curve->fits[p].nr_knots > most ? curve->fits[p].nr_knots : most;
	return most;
}

static void curve_combine(struct learn_curve *curve)
{
	double borrowed = 0.0;

	for (unsigned i = 0; i < curve->nr; i++)
		borrowed += cell_var(curve->cells[i]) / curve->nr;
	if (curve->nr > 1)
		borrowed *= fmin(1.0, (2.0 + most_knots(curve)) / (curve->nr - 1.0));
	for (unsigned i = 0; i < curve->nr; i++) {
		const struct learn_cell *cell = curve->cells[i];
		double own = cell_var(cell), e = cell->ln_cost - curve->loo[i];
		bool inner = i > 0 && i + 1 < curve->nr && curve->nr >= 4;

		curve->mean[i] = cell->ln_cost;
		curve->var[i] = own;
		if (!inner || !isfinite(e))
			continue;
		double model = fmax(fmax(curve->tau2, e * e - own), borrowed);
		double share = own / (own + model);

		curve->mean[i] = cell->ln_cost - share * e;
		curve->var[i] = own * model / (own + model);
	}
}

int learn_curves(struct cp_learn *learn, struct cp_err *err)
{
	double sum = 0.0, square = 0.0, square_curve;
	unsigned nr = 0, nr_curve;

	for (size_t r = 0; r < learn->nr_rows; r++)
		for (unsigned c = 0; c < learn->rows[r].nr_curves; c++) {
			struct learn_curve *curve = &learn->rows[r].curves[c];
			int rc = curve_fit(&learn->objective, curve, err);

			if (rc)
				return rc;
			sum += curve_errors(curve, &nr_curve, &square_curve);
			square += square_curve;
			nr += nr_curve;
		}
	double mean = nr ? sum / nr : TAU2_UNKNOWN;
	/* One standard error on the safe side. */
	double slack = nr > 1 ? sqrt(fmax(square / nr - mean * mean, 0.0) / nr) : 0.0;
	double common = fmax(mean + slack, TAU2_FLOOR);

	for (size_t r = 0; r < learn->nr_rows; r++)
		for (unsigned c = 0; c < learn->rows[r].nr_curves; c++) {
			struct learn_curve *curve = &learn->rows[r].curves[c];
			double own =
				fmax(0.0, curve_errors(curve, &nr_curve, &square_curve));

			curve->tau2 = fmax((own + PRIOR_WEIGHT * common) /
						   (nr_curve + PRIOR_WEIGHT),
					   TAU2_FLOOR);
			curve_combine(curve);
		}
	return 0;
}
