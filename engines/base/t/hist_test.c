/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/hist.h"
#include "engines/base/random.h"

#define NR_VALUES 20000

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Description: every bucket begins where the one before it ends, and holds its ends. */
static void test_buckets_tile(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (unsigned i = 0; i < CP_HIST_BUCKETS; i++) {
		uint64_t low = cp_hist_bucket_low_ns(i),
			 width = cp_hist_bucket_width_ns(i);

		assert_true(low == next);
		assert_int_equal(cp_hist_bucket(low), i);
		assert_int_equal(cp_hist_bucket(low + width - 1), i);
		assert_true(low < CP_HIST_SUB || width <= low / CP_HIST_SUB);
		next = low + width;
	}
	assert_true(next == UINT64_C(1) << CP_HIST_MAX_BITS);
	assert_int_equal(cp_hist_bucket(UINT64_MAX), CP_HIST_BUCKETS - 1);
}

/* Description: quantiles are within 1/64 of those of the sorted values, over shapes from
 * a few nanoseconds to minutes. */
static void test_quantile_bound(void **state)
{
	static const double quantiles[] = {0.0001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
	static uint64_t values[NR_VALUES];
	static struct cp_hist hist;
	uint64_t seed = 42;

	(void)state;
	for (unsigned bits = 3; bits <= 38; bits += 5) {
		cp_hist_reset(&hist);
		for (size_t i = 0; i < NR_VALUES; i++) {
			/* log-uniform below 2^bits */
			unsigned shift = (unsigned)(cp_random_xorshift(&seed) % bits);

			values[i] = cp_random_xorshift(&seed) >> (64 - bits) >> shift;
			cp_hist_add(&hist, values[i]);
		}
		qsort(values, NR_VALUES, sizeof(values[0]), by_value);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
			size_t rank = (size_t)ceil(quantiles[i] * NR_VALUES);
			double exact = (double)values[rank - 1];
			double got = cp_hist_quantile_ns(&hist, quantiles[i]);

			if (fabs(got - exact) > exact / 64)
				fail_msg("%u bits, q %g: got %g, exact %g", bits,
					 quantiles[i], got, exact);
		}
	}
}

/* Description: below 64 ns quantiles are exact. */
static void test_quantile_small(void **state)
{
	static struct cp_hist hist;

	(void)state;
	cp_hist_reset(&hist);
	for (uint64_t ns = 1; ns <= 10; ns++)
		cp_hist_add(&hist, ns);
	assert_true(cp_hist_quantile_ns(&hist, 0.5) == 5);
	assert_true(cp_hist_quantile_ns(&hist, 0.51) == 6);
	assert_true(cp_hist_quantile_ns(&hist, 1) == 10);
}

/* Description: nothing measured, or no quantile at all, is NaN and never 0. */
static void test_empty(void **state)
{
	static struct cp_hist hist;

	(void)state;
	cp_hist_reset(&hist);
	assert_true(isnan(cp_hist_quantile_ns(&hist, 0.5)));
	assert_true(isnan(cp_hist_mean_ns(&hist)));
	assert_true(hist.min_ns == UINT64_MAX);
	cp_hist_add(&hist, 5);
	assert_true(isnan(cp_hist_quantile_ns(&hist, 0)));
	assert_true(isnan(cp_hist_quantile_ns(&hist, 1.5)));
	assert_true(isnan(cp_hist_quantile_ns(&hist, NAN)));
}

/* Description: one value is every quantile exactly, also above the last bucket. */
static void test_single(void **state)
{
	static const uint64_t values[] = {0, 1, 1000, 123456789, UINT64_C(1) << 45};
	static struct cp_hist hist;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		cp_hist_reset(&hist);
		cp_hist_add(&hist, values[i]);
		assert_true(cp_hist_quantile_ns(&hist, 0.01) == (double)values[i]);
		assert_true(cp_hist_quantile_ns(&hist, 1) == (double)values[i]);
		assert_true(cp_hist_mean_ns(&hist) == (double)values[i]);
	}
}

/* Description: merging two histograms is the histogram of all values. */
static void test_merge(void **state)
{
	static struct cp_hist a, b, all;
	uint64_t seed = 7;

	(void)state;
	cp_hist_reset(&a);
	cp_hist_reset(&b);
	cp_hist_reset(&all);
	for (int i = 0; i < 1000; i++) {
		uint64_t ns = cp_random_xorshift(&seed) >> 40;

		cp_hist_add(i % 3 ? &a : &b, ns);
		cp_hist_add(&all, ns);
	}
	cp_hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(all));
	cp_hist_reset(&b);
	cp_hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_tile),
		cmocka_unit_test(test_quantile_bound),
		cmocka_unit_test(test_quantile_small),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
