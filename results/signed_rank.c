/* SPDX-License-Identifier: GPL-2.0-only */
/* The exact signed-rank test and the estimate that belongs to it. */
#include <math.h>
#include <stdint.h>

#include "results/stats.h"

struct ranked {
	double size; /* |d| */
	int sign;
	unsigned rank2; /* twice the mid-rank, so that it is whole */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->size > y->size) - (x->size < y->size);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Zeros are ranked with the others (Pratt), so the smallest real difference does not
 * count for more where many pairs are equal. -1 when there is a NaN. */
static int rank_all(const double *d, size_t n, struct ranked *ranked)
{
	for (size_t i = 0; i < n; i++) {
		if (isnan(d[i]))
			return -1;
		ranked[i] = (struct ranked){fabs(d[i]), (d[i] > 0) - (d[i] < 0), 0};
	}
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < n;) {
		size_t end = i;

		while (end < n && ranked[end].size == ranked[i].size)
			end++;
		/* places i+1 .. end share the mean of their ranks */
		for (size_t k = i; k < end; k++)
			ranked[k].rank2 = (unsigned)(i + 1 + end);
		i = end;
	}
	return 0;
}

/*
 * The null distribution: each rank counts or does not, by a fair coin. prob[s] becomes
 * the probability that the counted ranks sum to s; halving at each step keeps it one.
 */
static void convolve(double *prob, size_t *total, size_t rank)
{
	size_t sum = *total + rank;

	for (size_t s = sum + 1; s-- > 0;) {
		double without = s <= *total ? prob[s] : 0;
		double with = s >= rank ? prob[s - rank] : 0;

		prob[s] = 0.5 * (without + with);
	}
	*total = sum;
}

double cp_stat_signed_rank_greater(const double *d, size_t n)
{
	struct ranked ranked[CP_SIGNED_RANK_MAX];
	size_t total = 0, positive = 0, all = n * (n + 1); /* doubled ranks */
	double tail = 0;

	if (n > CP_SIGNED_RANK_MAX || rank_all(d, n, ranked))
		return NAN;
	double *prob = calloc(all + 1, sizeof(*prob));

	if (!prob)
		return NAN;
	prob[0] = 1;
	for (size_t i = 0; i < n; i++) {
		if (!ranked[i].sign)
			continue;
		convolve(prob, &total, ranked[i].rank2);
		if (ranked[i].sign > 0)
			positive += ranked[i].rank2;
	}
	/* From the far end: small terms first. */
	for (size_t s = total + 1; s-- > positive;)
		tail += prob[s];
	free(prob);
	return fmin(tail, 1);
}

/* How many of the smallest (and of the largest) Walsh averages lie outside the interval:
 * the largest c with P(T <= c - 1) <= (1 - level) / 2; 0 = none, the interval is open. */
static size_t walsh_outside(size_t n, double level)
{
	size_t total = 0, all = n * (n + 1) / 2, outside = 0;
	double *prob = calloc(all + 1, sizeof(*prob));
	double below = 0;

	if (!prob)
		return 0;
	prob[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		convolve(prob, &total, rank);
	while (2 * (outside + 1) <= all) {
		below += prob[outside];
		if (below > (1 - level) / 2)
			break;
		outside++;
	}
	free(prob);
	return outside;
}

double cp_stat_hodges_lehmann(const double *d, size_t n, double level, double *ret_low,
			      double *ret_high)
{
	size_t nr = n * (n + 1) / 2, at = 0, outside;
	double estimate;

	*ret_low = *ret_high = NAN;
	if (!n || n > CP_SIGNED_RANK_MAX)
		return NAN;
	double *walsh = malloc(nr * sizeof(*walsh));

	if (!walsh)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i; j < n; j++) {
			walsh[at] = (d[i] + d[j]) / 2;
			if (isnan(walsh[at++])) {
				free(walsh);
				return NAN;
			}
		}
	}
	qsort(walsh, nr, sizeof(*walsh), compare_doubles);
	estimate = nr % 2 ? walsh[nr / 2] : (walsh[nr / 2 - 1] + walsh[nr / 2]) / 2;
	outside = walsh_outside(n, level);
	*ret_low = outside ? walsh[outside - 1] : -INFINITY;
	*ret_high = outside ? walsh[nr - outside] : INFINITY;
	free(walsh);
	return estimate;
}

size_t cp_stat_signed_rank_min_n(double alpha)
{
	size_t n = 0;

	if (!(alpha > 0))
		return SIZE_MAX;
	while (ldexp(1, -(int)n) > alpha)
		n++;
	return n;
}
