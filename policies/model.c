// SPDX-License-Identifier: GPL-2.0-only
/*
 * A curve over sizes: ln t = ln(alpha + beta * bs) + r(log2 bs), r piecewise linear.
 *
 * The line is fitted with relative weights and Huber's, alpha and beta >= 0. A real curve
 * can dip, so r may have knots at measured sizes; one is kept only when it lowers the
 * leave-one-size-out error by more than one standard error of that reduction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

#define HUBER	     1.345
#define HUBER_ROUNDS 8

/* Residual at log2 size x: linear between knots, constant beyond, 0 without knots. */
static double knots_at(const double *kx, const double *kr, unsigned nr, double x)
{
	if (!nr)
		return 0.0;
	if (x <= kx[0])
		return kr[0];
	for (unsigned i = 1; i < nr; i++) {
		if (x > kx[i])
			continue;
		double u = (x - kx[i - 1]) / (kx[i] - kx[i - 1]);

		return kr[i - 1] + u * (kr[i] - kr[i - 1]);
	}
	return kr[nr - 1];
}

static double line_at(const struct learn_fit *fit, double bytes)
{
	return log((fit->alpha_ns + fit->beta_ns * bytes) / bytes);
}

double learn_fit_eval(const struct learn_fit *fit, double bytes)
{
	return line_at(fit, bytes) +
	       knots_at(fit->knot_x, fit->knot_r, fit->nr_knots, log2(bytes));
}

/* min sum w (alpha/t + beta x/t - 1)^2 with both >= 0: two unknowns, so the corners are
 * tried by hand. */
static void solve_two(const double *x, const double *y, const double *w, unsigned nr,
		      int skip, struct learn_fit *fit)
{
	double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;

	for (unsigned i = 0; i < nr; i++) {
		if ((int)i == skip)
			continue;
		double t = exp(y[i]) * x[i], a = 1.0 / t, b = x[i] / t;

		aa += w[i] * a * a;
		ab += w[i] * a * b;
		bb += w[i] * b * b;
		a1 += w[i] * a;
		b1 += w[i] * b;
	}
	double det = aa * bb - ab * ab;
	double alpha = det > 1e-12 * aa * bb ? (a1 * bb - b1 * ab) / det : 0.0;
	double beta = det > 1e-12 * aa * bb ? (b1 * aa - a1 * ab) / det : b1 / bb;

	if (alpha < 0.0) {
		alpha = 0.0;
		beta = b1 / bb;
	} else if (beta < 0.0) {
		beta = 0.0;
		alpha = a1 / aa;
	}
	fit->alpha_ns = alpha;
	fit->beta_ns = beta;
}

static int double_cmp(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

void learn_fit_line(const double *x, const double *y, unsigned nr, int skip,
		    struct learn_fit *fit)
{
	double w[LEARN_SIZES_MAX], r[LEARN_SIZES_MAX], sorted[LEARN_SIZES_MAX];

	for (unsigned i = 0; i < nr; i++)
		w[i] = 1.0;
	fit->nr_knots = 0;
	for (unsigned round = 0; round < HUBER_ROUNDS; round++) {
		unsigned used = 0;

		solve_two(x, y, w, nr, skip, fit);
		for (unsigned i = 0; i < nr; i++) {
			r[i] = fabs(y[i] - line_at(fit, x[i]));
			if ((int)i != skip)
				sorted[used++] = r[i];
		}
		qsort(sorted, used, sizeof(sorted[0]), double_cmp);
		/* A tenth of a percent is no outlier on any machine. */
		double scale = fmax(1.4826 * sorted[used / 2], 1e-3);

		for (unsigned i = 0; i < nr; i++)
			w[i] = fmin(1.0, HUBER * scale / fmax(r[i], 1e-12));
	}
}

/* y[i] predicted from the others, with the knots of `on` but i. */
static double predict_out(const double *x, const double *y, unsigned nr,
			  const struct learn_fit *lines, const bool *on, unsigned i)
{
	double kx[LEARN_SIZES_MAX], kr[LEARN_SIZES_MAX];
	unsigned nr_knots = 0;

	for (unsigned k = 0; k < nr; k++) {
		if (!on[k] || k == i)
			continue;
		kx[nr_knots] = log2(x[k]);
		kr[nr_knots++] = y[k] - line_at(&lines[i], x[k]);
	}
	return line_at(&lines[i], x[i]) + knots_at(kx, kr, nr_knots, log2(x[i]));
}

/* Squared leave-one-size-out errors. */
static double errors_out(const double *x, const double *y, unsigned nr,
			 const struct learn_fit *lines, const bool *on, double *err2)
{
	double sum = 0.0;

	for (unsigned i = 0; i < nr; i++) {
		double e = y[i] - predict_out(x, y, nr, lines, on, i);

		err2[i] = e * e;
		sum += err2[i];
	}
	return sum;
}

/* Is the mean reduction more than one standard error above 0? */
static bool pays(const double *before, const double *after, unsigned nr)
{
	double sum = 0.0, square = 0.0;

	for (unsigned i = 0; i < nr; i++) {
		double d = before[i] - after[i];

		sum += d;
		square += d * d;
	}
	double mean = sum / nr, var = (square - nr * mean * mean) / (nr - 1);

	/* Under (0.1 %)^2 there is nothing to gain. */
	return mean > 1e-6 && mean > sqrt(fmax(var, 0.0) / nr);
}

static void choose_knots(const double *x, const double *y, unsigned nr,
			 const struct learn_fit *lines, bool *on)
{
	double have[LEARN_SIZES_MAX], with[LEARN_SIZES_MAX];

	errors_out(x, y, nr, lines, on, have);
	for (;;) {
		double best = INFINITY;
		unsigned knot = nr;

		for (unsigned k = 0; k < nr; k++) {
			if (on[k])
				continue;
			on[k] = true;
			double sum = errors_out(x, y, nr, lines, on, with);

			on[k] = false;
			if (sum < best) {
				best = sum;
				knot = k;
			}
		}
		if (knot == nr)
			break;
		on[knot] = true;
		errors_out(x, y, nr, lines, on, with);
		if (!pays(have, with, nr)) {
			on[knot] = false;
			break;
		}
		memcpy(have, with, nr * sizeof(have[0]));
	}
	/* Knots one at a time can miss a bend that needs them all. */
	bool all[LEARN_SIZES_MAX];

	memset(all, true, sizeof(all));
	errors_out(x, y, nr, lines, all, with);
	if (pays(have, with, nr))
		memset(on, true, nr * sizeof(on[0]));
}

void learn_fit_curve(const double *x, const double *y, unsigned nr, struct learn_fit *fit,
		     double *loo)
{
	bool on[LEARN_SIZES_MAX] = {false};
	struct learn_fit *lines = nr > 1 ? calloc(nr, sizeof(*lines)) : NULL;

	learn_fit_line(x, y, nr, -1, fit);
	for (unsigned i = 0; i < nr; i++)
		loo[i] = NAN;
	if (!lines) /* one size; or no memory, and then the line alone is what there is */
		return;
	for (unsigned i = 0; i < nr; i++)
		learn_fit_line(x, y, nr, (int)i, &lines[i]);
	if (nr >= 4)
		choose_knots(x, y, nr, lines, on);
	for (unsigned i = 0; i < nr; i++) {
		loo[i] = predict_out(x, y, nr, lines, on, i);
		if (!on[i])
			continue;
		fit->knot_x[fit->nr_knots] = log2(x[i]);
		fit->knot_r[fit->nr_knots++] = y[i] - line_at(fit, x[i]);
	}
	free(lines);
}
