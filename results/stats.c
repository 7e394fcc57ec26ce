/* SPDX-License-Identifier: GPL-2.0-only */
/* Summaries, distributions and corrections; the signed-rank test is in signed_rank.c. */
#include "results/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A sorted copy, or NULL when there is nothing, a NaN among it, or no memory. */
static double *sorted_copy(const double *values, size_t n)
{
	double *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i])) {
			free(copy);
			return NULL;
		}
		copy[i] = values[i];
	}
	qsort(copy, n, sizeof(*copy), compare_doubles);
	return copy;
}

double cp_stat_median(const double *values, size_t n)
{
	return cp_stat_quantile(values, n, 0.5);
}

double cp_stat_quantile(const double *values, size_t n, double q)
{
	double *sorted = q >= 0 && q <= 1 ? sorted_copy(values, n) : NULL;

	if (!sorted)
		return NAN;

	double at = q * (double)(n - 1);
	size_t low = (size_t)at;
	double part = at - (double)low;
	double value = sorted[low];

	if (part > 0) /* never reaches past the end; keeps inf - inf out */
		value += part * (sorted[low + 1] - sorted[low]);
	free(sorted);
	return value;
}

double cp_stat_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / (double)n : NAN;
}

double cp_stat_sd(const double *values, size_t n)
{
	double mean = cp_stat_mean(values, n), sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

double cp_stat_median_interval(const double *values, size_t n, double level,
			       double *ret_low, double *ret_high)
{
	double *sorted = sorted_copy(values, n);

	if (!sorted) {
		*ret_low = *ret_high = NAN;
		return NAN;
	}

	/* [x(k), x(n+1-k)] misses the median with probability 2 P(B <= k-1), B binomial
	 * (n, 1/2). Take the largest k that misses rarely enough, 1 when none does. */
	double log_all = lgamma((double)n + 1) - (double)n * M_LN2;
	double below = exp(-(double)n * M_LN2); /* P(B <= k-1) for k = 1 */
	size_t k = 1;

	while (2 * (k + 1) <= n + 1) {
		double next = below + exp(log_all - lgamma((double)k + 1) -
					  lgamma((double)(n - k) + 1));
		if (1 - 2 * next < level)
			break;
		below = next;
		k++;
	}
	*ret_low = sorted[k - 1];
	*ret_high = sorted[n - k];
	free(sorted);
	return fmax(1 - 2 * below, 0);
}

struct place {
	double p;
	size_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->p != y->p)
		return x->p > y->p ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

void cp_stat_holm(const double *p, size_t n, double *ret_adjusted)
{
	struct place *places = n ? malloc(n * sizeof(*places)) : NULL;
	bool whole = places != NULL;
	double worst = 0;

	for (size_t i = 0; i < n && whole; i++) {
		places[i] = (struct place){p[i], i};
		whole = !isnan(p[i]);
	}
	if (whole)
		qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n; i++) {
		if (!whole) {
			ret_adjusted[i] = NAN;
			continue;
		}
		worst = fmax(worst, fmin(1, places[i].p * (double)(n - i)));
		ret_adjusted[places[i].at] = worst;
	}
	free(places);
}

double cp_stat_normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

double cp_stat_student_cdf(double t, double dof)
{
	if (isnan(t) || !(dof > 0))
		return NAN;
	if (isinf(t))
		return t > 0 ? 1 : 0;
	return gsl_cdf_tdist_P(t, dof);
}
