// SPDX-License-Identifier: GPL-2.0-only
/* Objectives, the curve model and the prices at which a choice flips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "policies/learn_priv.h"
#include "policies/pareto.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b));
}

/* Description: presets and terms are what they say. */
static void test_objective_values(void **state)
{
	static const struct {
		const char *text;
		double elapsed, cpu, tail, slo_ns, frac;
	} cases[] = {
		{"throughput", 1, 0, 0, NAN, NAN},
		{"balanced", 1, 0.5, 0, NAN, NAN},
		{"efficiency", 0, 1, 0, NAN, 0.5},
		{"elapsed=1,cpu=0.3", 1, 0.3, 0, NAN, NAN},
		{"elapsed=2,tail=1,slo_p99=200us", 2, 0, 1, 200e3, NAN},
		{"cpu=1,min_bw_frac=0.8,slo_p99=null", 0, 1, 0, NAN, 0.8},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_objective obj;
		struct cp_err err = {0};

		assert_int_equal(cp_objective_parse(cases[i].text, &obj, &err), 0);
		assert_true(near(obj.elapsed, cases[i].elapsed));
		assert_true(near(obj.cpu, cases[i].cpu));
		assert_true(near(obj.tail, cases[i].tail));
		assert_true(isnan(cases[i].slo_ns)
				    ? isnan(obj.slo_p99_ns)
				    : near(obj.slo_p99_ns, cases[i].slo_ns));
		assert_true(isnan(cases[i].frac) ? isnan(obj.min_bw_frac)
						 : near(obj.min_bw_frac, cases[i].frac));
	}
}

/* Description: what is no objective is a usage error that names what would do. */
static void test_objective_errors(void **state)
{
	static const char *const cases[][2] = {
		{"balancd", "'balanced'"},
		{"nothing", "throughput"},
		{"delivred", "'delivered'"},
		{"corunner=1,cpu=1", "ratio"},
		{"corunner=1,tail=1,slo_p99=1ms", "ratio"},
		{"min_bw_frac=0.9", "corunner above 0"},
		{"cpu=-1", "cpu"},
		{"cpu=nan", "cpu"},
		{"elapsd=1", "elapsed"},
		{"elapsed=1,cpu", "'cpu'"},
		{"elapsed=0", "weighs nothing"},
		{"tail=1", "slo_p99"},
		{"cpu=1,min_bw_frac=2", "min_bw_frac"},
		{"cpu=1,slo_p99=soon", "'soon'"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_objective obj;
		struct cp_err err = {0};

		assert_true(cp_objective_parse(cases[i][0], &obj, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i][1]))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i][1]);
	}
}

/* Description: J is the weighed sum; a part without weight may be unknown. */
static void test_cost(void **state)
{
	const struct cp_objective obj = {.elapsed = 1,
					 .cpu = 0.5,
					 .tail = 2,
					 .slo_p99_ns = 100,
					 .min_bw_frac = NAN};
	const struct cp_objective plain = {
		.elapsed = 1, .slo_p99_ns = NAN, .min_bw_frac = NAN};
	const struct cp_objective beside = {
		.corunner = 2, .slo_p99_ns = NAN, .min_bw_frac = 0.9};

	(void)state;
	assert_true(near(cp_objective_cost(&obj, 3, 4, 150, NAN, 50), 3 + 2 + 2));
	assert_true(near(cp_objective_cost(&obj, 3, 4, 50, NAN, 50), 3 + 2));
	assert_true(near(cp_objective_cost(&plain, 3, NAN, NAN, NAN, 50), 3));
	assert_true(near(cp_objective_cost(&beside, NAN, NAN, NAN, 1.5, 50), 3));
	assert_true(isnan(cp_objective_cost(&beside, 3, 4, 5, NAN, 50)));
}

/* Description: a set-up cost and a bandwidth are recovered from exact times. */
static void test_line(void **state)
{
	static const double truths[][2] = {{600, 0.1}, {0, 0.05}, {5000, 0}};
	double x[6], y[6], loo[6];

	(void)state;
	for (size_t k = 0; k < NR(truths); k++) {
		struct learn_fit fit;

		for (unsigned i = 0; i < 6; i++) {
			x[i] = 4096.0 * (1U << (2 * i));
			y[i] = log((truths[k][0] + truths[k][1] * x[i]) / x[i]);
		}
		learn_fit_curve(x, y, 6, &fit, loo);
		assert_true(fabs(fit.alpha_ns - truths[k][0]) < 1e-3 * 600);
		assert_true(fabs(fit.beta_ns - truths[k][1]) < 1e-5);
		assert_int_equal(fit.nr_knots, 0);
		for (unsigned i = 0; i < 6; i++)
			assert_true(fabs(loo[i] - y[i]) < 1e-3);
	}
}

/* Description: one wild size does not bend the line. */
static void test_line_is_robust(void **state)
{
	double x[8], y[8];
	struct learn_fit fit;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		x[i] = 4096.0 * (1U << i);
		y[i] = log((600 + 0.1 * x[i]) / x[i]) + (i == 4 ? 1.0 : 0.0);
	}
	learn_fit_line(x, y, 8, -1, &fit);
	assert_true(fabs(fit.alpha_ns - 600) < 30);
	assert_true(fabs(fit.beta_ns - 0.1) < 0.005);
}

/* Description: a curve with a broad dip gets knots, and is predicted better for it. */
static void test_dip_gets_knots(void **state)
{
	double x[10], y[10], loo[10];
	struct learn_fit fit;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		double d = (double)i - 5.0;

		x[i] = 4096.0 * (1U << i);
		y[i] = log((600 + 0.1 * x[i]) / x[i]) - 0.4 * exp(-d * d / 8.0);
	}
	learn_fit_curve(x, y, 10, &fit, loo);
	assert_true(fit.nr_knots > 0);
	double middle = sqrt(x[5] * x[6]), at = (log2(middle) - 17.0);

	assert_true(
		fabs(learn_fit_eval(&fit, middle) - (log((600 + 0.1 * middle) / middle) -
						     0.4 * exp(-at * at / 8.0))) < 0.05);
}

/* Description: the price of CPU time at which a choice flips is where the costs are
 * equal. */
static void test_flip(void **state)
{
	struct cp_learn_cell cells[3] = {
		{.ns_per_byte = 1.0, .cpu_ns_per_byte = 1.0},
		{.ns_per_byte = 1.6, .cpu_ns_per_byte = 0.2},
		{.ns_per_byte = 0.9, .cpu_ns_per_byte = 1.5},
	};
	struct cp_objective obj = {
		.elapsed = 1, .cpu = 0.5, .slo_p99_ns = NAN, .min_bw_frac = NAN};
	struct cp_flip flip;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		cells[i].cost =
			cp_objective_cost(&obj, cells[i].ns_per_byte,
					  cells[i].cpu_ns_per_byte, NAN, NAN, 1.0);
	assert_int_equal(cp_pareto_flip(&obj, cells, 3, &flip), 0);
	assert_ptr_equal(flip.best, &cells[0]);
	assert_ptr_equal(flip.below, &cells[2]);
	assert_true(near(flip.below_cpu, 0.2));
	assert_ptr_equal(flip.above, &cells[1]);
	assert_true(near(flip.above_cpu, 0.75));
	obj.elapsed = 0;
	assert_int_equal(cp_pareto_flip(&obj, cells, 3, &flip), -ENODATA);
}

/* Description: the front is of bandwidth and CPU time a byte: a slow arm is not on it for
 * being less busy; one without its CPU time is not either. */
static void test_front(void **state)
{
	static const struct {
		double bw, pct, ns;
		bool front;
	} rows[] = {
		{10e9, 100, 0.10, true}, /* the fastest */
		{5e9, 60, 0.12, false},	 /* less CPU %, more a byte */
		{5e9, 40, 0.08, true},	 /* less a byte than the fastest */
		{4e9, 32, 0.08, false},	 /* no less a byte than a faster one */
		{2e9, 10, 0.05, true},	 {1e9, 1, NAN, false},
	};
	const struct cp_objective obj = {
		.elapsed = 1, .slo_p99_ns = NAN, .min_bw_frac = NAN};
	struct cp_learn_cell cells[NR(rows)] = {0};

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		cells[i].bw_median = rows[i].bw;
		cells[i].cpu_pct_median = rows[i].pct;
		cells[i].cpu_ns_per_byte = rows[i].ns;
	}
	learn_pareto(&obj, cells, NR(rows));
	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(cells[i].pareto, rows[i].front);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objective_values),
		cmocka_unit_test(test_objective_errors),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_line_is_robust),
		cmocka_unit_test(test_dip_gets_knots),
		cmocka_unit_test(test_flip),
		cmocka_unit_test(test_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
