/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics against published tables and against brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/stats.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void near_(double got, double want, double tolerance, const char *what, size_t i)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%s, case %zu: %.12g; expected %.12g", what, i, got, want);
}

/* Description: medians, quantiles (type 7), means and deviations of small samples. */
static void test_summaries(void **state)
{
	static const double v[] = {4, 1, 3, 2, 10, 9, 8, 7, 6, 5};

	(void)state;
	near_(cp_stat_median(v, 10), 5.5, 0, "median", 10);
	near_(cp_stat_median(v, 3), 3, 0, "median", 3);
	near_(cp_stat_quantile(v, 10, 0.9), 9.1, 1e-12, "quantile", 0);
	near_(cp_stat_quantile(v, 10, 0), 1, 0, "quantile", 1);
	near_(cp_stat_quantile(v, 10, 1), 10, 0, "quantile", 2);
	near_(cp_stat_mean(v, 10), 5.5, 1e-12, "mean", 0);
	near_(cp_stat_sd(v, 10), 3.0276503540974917, 1e-12, "sd", 0);
	assert_true(v[0] == 4); /* a copy was sorted */
}

/* Description: nothing to summarise, or a NaN, gives NaN. */
static void test_nan(void **state)
{
	static const double v[] = {1, NAN, 2};
	double low, high, adjusted[3];

	(void)state;
	assert_true(isnan(cp_stat_median(v, 0)));
	assert_true(isnan(cp_stat_mean(v, 0)));
	assert_true(isnan(cp_stat_sd(v, 1)));
	assert_true(isnan(cp_stat_median(v, 3)));
	assert_true(isnan(cp_stat_signed_rank_greater(v, 3)));
	assert_true(isnan(cp_stat_hodges_lehmann(v, 3, 0.95, &low, &high)));
	assert_true(isnan(low) && isnan(high));
	assert_true(isnan(cp_stat_median_interval(v, 3, 0.95, &low, &high)));
	cp_stat_holm(v, 3, adjusted);
	assert_true(isnan(adjusted[0]) && isnan(adjusted[2]));
}

/* Description: the interval of the median is the narrowest pair of order statistics that
 * covers enough, and says how much it covers. */
static void test_median_interval(void **state)
{
	static const struct {
		size_t n, low, high;
		double level, covered;
	} cases[] = {
		{1, 1, 1, 0.95, 0},
		{2, 1, 2, 0.95, 0.5},
		{5, 1, 5, 0.95, 0.9375},
		{6, 1, 6, 0.95, 0.96875},
		{10, 2, 9, 0.95, 0.978515625},
		{20, 6, 15, 0.95, 1 - 2 * 21700 / 1048576.0},
		{25, 8, 18, 0.95, 1 - 2 * 726206 / 33554432.0},
		{25, 7, 19, 0.98, 1 - 2 * 245506 / 33554432.0},
	};
	double v[32];

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++)
		v[i] = (double)(i + 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		double low, high;
		double covered = cp_stat_median_interval(v, cases[i].n, cases[i].level,
							 &low, &high);

		near_(low, (double)cases[i].low, 0, "low", i);
		near_(high, (double)cases[i].high, 0, "high", i);
		near_(covered, cases[i].covered, 1e-12, "covered", i);
	}
}

/* Description: one-sided p-values of the published table for n = 10 (Hollander and
 * Wolfe, table A.4) and of all-positive samples. */
static void test_signed_rank_table(void **state)
{
	/* the ranks that are negative, as a mask; P(T- <= sum) in 1024ths */
	static const struct {
		unsigned negative;
		double of_1024;
	} cases[] = {
		{0x000, 1},  /* 0 */
		{0x001, 2},  /* 1 */
		{0x004, 5},  /* 3: p = .0049 */
		{0x010, 10}, /* 5: p = .0098 */
		{0x080, 25}, /* 8: p = .0244 */
		{0x200, 43}, /* 10: p = .0420 */
		{0x3ff, 1024},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double d[10];

		for (unsigned k = 0; k < 10; k++)
			d[k] = (cases[i].negative >> k & 1 ? -1.0 : 1.0) * (k + 1);
		near_(cp_stat_signed_rank_greater(d, 10), cases[i].of_1024 / 1024, 1e-15,
		      "p", i);
	}
	for (size_t n = 1; n <= 40; n++) {
		double d[40];

		for (size_t k = 0; k < n; k++)
			d[k] = 0.1 * (double)(k + 1);
		near_(cp_stat_signed_rank_greater(d, n) * ldexp(1, (int)n), 1, 1e-12,
		      "all positive", n);
	}
}

/* By enumeration of every sign of every difference that is not zero. */
static double brute_force(const double *d, size_t n)
{
	double rank[12], observed = 0;
	unsigned counted = 0, all = 0, zeros = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned smaller = 0, equal = 0;

		for (size_t k = 0; k < n; k++) {
			smaller += fabs(d[k]) < fabs(d[i]);
			equal += fabs(d[k]) == fabs(d[i]);
		}
		rank[i] = smaller + (equal + 1) / 2.0;
		observed += d[i] > 0 ? rank[i] : 0;
		zeros |= (unsigned)(d[i] == 0) << i;
	}
	for (unsigned signs = 0; signs < 1U << n; signs++) {
		double sum = 0;

		if (signs & zeros)
			continue;
		for (size_t i = 0; i < n; i++)
			sum += signs >> i & 1 ? rank[i] : 0;
		all++;
		counted += sum >= observed;
	}
	return (double)counted / all;
}

/* Description: exact under ties and zeros (Pratt), against brute force for n up to 12. */
static void test_signed_rank_brute_force(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (size_t n = 1; n <= 12; n++) {
		for (int round = 0; round < 25; round++) {
			double d[12];

			for (size_t i = 0; i < n; i++) {
				seed = seed * 6364136223846793005ULL +
				       1442695040888963407ULL;
				/* -3 .. 3: many ties, some zeros */
				d[i] = (double)(seed >> 33) / 2147483648.0 * 7 - 3.5;
				d[i] = round % 2 ? d[i] : rint(d[i]);
			}
			near_(cp_stat_signed_rank_greater(d, n), brute_force(d, n), 1e-12,
			      "brute force", n);
		}
	}
}

/* Description: no evidence at all is p = 1; too many values are refused, the largest
 * number that is not still works. */
static void test_signed_rank_ends(void **state)
{
	static double d[CP_SIGNED_RANK_MAX + 1];

	(void)state;
	near_(cp_stat_signed_rank_greater(d, 0), 1, 0, "none", 0);
	near_(cp_stat_signed_rank_greater(d, 20), 1, 0, "zeros", 0);
	assert_true(isnan(cp_stat_signed_rank_greater(d, COUNT(d))));
	for (size_t i = 0; i < COUNT(d); i++)
		d[i] = i % 2 ? -(double)i : (double)i;

	double p = cp_stat_signed_rank_greater(d, CP_SIGNED_RANK_MAX);

	assert_true(p > 0.3 && p < 0.7);
}

/* Description: the smallest n that can reach a level. */
static void test_min_n(void **state)
{
	static const struct {
		double alpha;
		size_t n;
	} cases[] = {{0.05, 5}, {0.01, 7}, {0.5, 1}, {0.03125, 5}, {1, 0}, {0, SIZE_MAX}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(cp_stat_signed_rank_min_n(cases[i].alpha), cases[i].n);
}

/* Hollander and Wolfe, example 3.1: depression scale before and after. */
static const double hamilton[] = {0.952, -0.147, 1.022,	 0.430, 0.620,
				  0.590, 0.490,	 -0.080, 0.010};

/* Description: the textbook's example: T+ = 40, p = .01953, estimate .46, interval
 * [.010, .786]. */
static void test_textbook(void **state)
{
	double low, high;

	(void)state;
	near_(cp_stat_signed_rank_greater(hamilton, 9), 0.01953125, 1e-12, "p", 0);
	near_(cp_stat_hodges_lehmann(hamilton, 9, 0.95, &low, &high), 0.46, 1e-12,
	      "estimate", 0);
	near_(low, 0.010, 1e-12, "low", 0);
	near_(high, 0.786, 1e-12, "high", 0);
}

/* Description: the interval is open where n cannot reach the level, and is exactly what
 * the test does not reject where it can. */
static void test_hodges_lehmann_interval(void **state)
{
	double low, high, shifted[9];

	(void)state;
	cp_stat_hodges_lehmann(hamilton, 4, 0.95, &low, &high);
	assert_true(isinf(low) && low < 0 && isinf(high) && high > 0);
	cp_stat_hodges_lehmann(hamilton, 5, 0.9375, &low, &high);
	near_(low, -0.147, 1e-12, "n = 5 low", 0);
	near_(high, 1.022, 1e-12, "n = 5 high", 0);

	cp_stat_hodges_lehmann(hamilton, 9, 0.9, &low, &high);
	for (int side = -1; side <= 1; side += 2) {
		for (size_t i = 0; i < 9; i++)
			shifted[i] = hamilton[i] - low - side * 1e-6;

		double p = cp_stat_signed_rank_greater(shifted, 9);

		assert_true(side < 0 ? p <= 0.05 : p > 0.05);
	}
}

/* Description: the estimate moves with the data and turns with its sign. */
static void test_hodges_lehmann_equivariance(void **state)
{
	double moved[9], turned[9], low, high, low2, high2;
	double estimate = cp_stat_hodges_lehmann(hamilton, 9, 0.95, &low, &high);

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		moved[i] = hamilton[i] + 3;
		turned[i] = -hamilton[i];
	}
	near_(cp_stat_hodges_lehmann(moved, 9, 0.95, &low2, &high2), estimate + 3, 1e-12,
	      "moved", 0);
	near_(low2, low + 3, 1e-12, "moved low", 0);
	near_(cp_stat_hodges_lehmann(turned, 9, 0.95, &low2, &high2), -estimate, 1e-12,
	      "turned", 0);
	near_(low2, -high, 1e-12, "turned low", 0);
	near_(high2, -low, 1e-12, "turned high", 0);
}

/* Description: Holm's adjusted p-values keep their places, never fall and never pass 1;
 * the output may be the input. */
static void test_holm(void **state)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, one[] = {0.7, 0.6};
	static const double want[] = {0.03, 0.06, 0.06, 0.02};

	(void)state;
	cp_stat_holm(p, COUNT(p), p);
	for (size_t i = 0; i < COUNT(p); i++)
		near_(p[i], want[i], 1e-15, "holm", i);
	cp_stat_holm(one, 2, one);
	near_(one[0], 1, 0, "holm", 4);
	near_(one[1], 1, 0, "holm", 5);
	cp_stat_holm(NULL, 0, NULL);
}

/* Description: the distributions at their tabulated points. */
static void test_distributions(void **state)
{
	(void)state;
	near_(cp_stat_normal_cdf(0), 0.5, 1e-15, "normal", 0);
	near_(cp_stat_normal_cdf(1.959963984540054), 0.975, 1e-12, "normal", 1);
	near_(cp_stat_normal_cdf(-6) * 1e10, 9.865876450376946, 1e-9, "normal", 2);
	near_(cp_stat_student_cdf(2.228138851964939, 10), 0.975, 1e-9, "student", 0);
	near_(cp_stat_student_cdf(0, 3), 0.5, 1e-15, "student", 1);
	near_(cp_stat_student_cdf(INFINITY, 3), 1, 0, "student", 2);
	assert_true(isnan(cp_stat_student_cdf(1, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_nan),
		cmocka_unit_test(test_median_interval),
		cmocka_unit_test(test_signed_rank_table),
		cmocka_unit_test(test_signed_rank_brute_force),
		cmocka_unit_test(test_signed_rank_ends),
		cmocka_unit_test(test_min_n),
		cmocka_unit_test(test_textbook),
		cmocka_unit_test(test_hodges_lehmann_interval),
		cmocka_unit_test(test_hodges_lehmann_equivariance),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_distributions),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
