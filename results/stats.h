/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one home of statistics. All functions are pure; NaN inputs are the caller's error
 * and give NaN. No sample is ever dropped.
 */
#ifndef CP_RESULTS_STATS_H
#define CP_RESULTS_STATS_H

#include <stddef.h>

/* Sorts a copy. NaN when n is 0. */
double cp_stat_median(const double *values, size_t n);
double cp_stat_quantile(const double *values, size_t n, double q); /* type 7 */
double cp_stat_mean(const double *values, size_t n);
double cp_stat_sd(const double *values, size_t n); /* n - 1; NaN below 2 */

/*
 * A distribution-free interval of the median from order statistics (binomial), at least
 * `level` (0.95) where n allows it. Returns the level really covered; with too few values
 * the interval is [min, max] and the returned level says how little that is.
 */
double cp_stat_median_interval(const double *values, size_t n, double level,
			       double *ret_low, double *ret_high);

/*
 * Exact one-sample Wilcoxon signed-rank test, conditional on ties and zeros (Pratt: zeros
 * are ranked, then left out). One-sided, alternative "location > 0". n <=
 * CP_SIGNED_RANK_MAX. Source: Pratt (1959); the conditional null distribution by dynamic
 * programming over doubled mid-ranks.
 */
#define CP_SIGNED_RANK_MAX 512
double cp_stat_signed_rank_greater(const double *d, size_t n);

/* Hodges-Lehmann estimate (median of Walsh averages) and the interval that inverts the
 * signed-rank test at `level` two-sided; interval ends are -inf/inf when n is too small.
 * Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3.2-3.3. */
double cp_stat_hodges_lehmann(const double *d, size_t n, double level, double *ret_low,
			      double *ret_high);

/* Smallest n at which the signed-rank test can reach p <= alpha at all:
 * ceil(log2(1/alpha)). */
size_t cp_stat_signed_rank_min_n(double alpha);

/* Holm's step-down: adjusted p-values in place order. */
void cp_stat_holm(const double *p, size_t n, double *ret_adjusted);

double cp_stat_normal_cdf(double z);
double cp_stat_student_cdf(double t, double dof);

#endif
