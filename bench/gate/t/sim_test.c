/* SPDX-License-Identifier: GPL-2.0-only */
/* Error rates of the gate on simulated runs with a known truth. */
#include "bench/gate/t/fixture.h"

static enum cp_verdict judge(unsigned cells, unsigned samples, double worse, double sd,
			     const struct cp_gate_rules *rules, uint64_t *state,
			     size_t *counts)
{
	struct cp_gate_set a, b;
	struct cp_gate_report report;
	struct cp_gate_opts opts = {0};
	struct cp_err err = {0};

	fill_set(&a, "a", cells, samples, 0.0, sd, state);
	fill_set(&b, "b", cells, samples, worse, sd, state);
	assert_int_equal(cp_gate_judge(&a, &b, rules, &opts, &report, &err), 0);
	enum cp_verdict verdict = report.verdict;

	for (int v = 0; counts && v < CP_VERDICT_NR; v++)
		counts[v] += report.counts[v];
	cp_gate_report_free(&report);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
	return verdict;
}

/* Description: of 300 A/A runs with 18 metrics each, at most the nominal 1 % regress. */
static void test_same_against_same(void **unused)
{
	static const double sds[] = {0.005, 0.02, 0.10};
	struct cp_gate_rules rules;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (size_t i = 0; i < 3; i++) {
		uint64_t state = 77 + i;
		size_t regressed = 0, counts[CP_VERDICT_NR] = {0};

		for (int family = 0; family < 100; family++)
			regressed += judge(3, 30, 0.0, sds[i], &rules, &state, counts) ==
				     CP_VERDICT_REGRESSED;
		assert_true(regressed <= 3);
		assert_int_equal(counts[CP_VERDICT_INVALID], 0);
	}
}

/* Description: a quiet A/A run of 30 pairs is OK, not merely inconclusive. */
static void test_quiet_same_is_ok(void **unused)
{
	struct cp_gate_rules rules;
	uint64_t state = 5;
	size_t ok = 0;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int family = 0; family < 50; family++)
		ok += judge(1, 30, 0.0, 0.01, &rules, &state, NULL) == CP_VERDICT_OK;
	assert_true(ok >= 48);
}

/* Description: with no margin at all, A/A runs regress in at most the nominal 1 %. */
static void test_same_without_margin(void **unused)
{
	struct cp_gate_rules rules;
	uint64_t state = 99;
	size_t regressed = 0;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		rules.margin_pct[m] = 0;
	for (int family = 0; family < 300; family++)
		regressed += judge(3, 30, 0.0, 0.03, &rules, &state, NULL) ==
			     CP_VERDICT_REGRESSED;
	/* 300 x 1 % plus three binomial standard deviations */
	assert_true(regressed <= 8);
}

/* Description: a 10 % slowdown under 3 % noise is found. */
static void test_slowdown_is_found(void **unused)
{
	struct cp_gate_rules rules;
	uint64_t state = 11;
	size_t found = 0;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int family = 0; family < 100; family++)
		found += judge(2, 30, log(1.10), 0.03, &rules, &state, NULL) ==
			 CP_VERDICT_REGRESSED;
	assert_true(found >= 99);
}

/* Description: a 10 % gain is IMPROVED and nothing regresses. */
static void test_gain_is_found(void **unused)
{
	struct cp_gate_rules rules;
	uint64_t state = 12;
	size_t counts[CP_VERDICT_NR] = {0};

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int family = 0; family < 50; family++)
		judge(1, 30, -log(1.10), 0.02, &rules, &state, counts);
	assert_int_equal(counts[CP_VERDICT_REGRESSED], 0);
	assert_true(counts[CP_VERDICT_IMPROVED] >= 150);
}

/* Description: a difference exactly at the margin is flagged in at most 1 % of runs. */
static void test_at_the_margin(void **unused)
{
	static const double sds[] = {0.003, 0.02};
	struct cp_gate_rules rules;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		rules.margin_pct[m] = m == CP_GATE_BW ? 2.0 : NAN;
	for (size_t i = 0; i < 2; i++) {
		uint64_t state = 1234 + i;
		const double trials = 3000;
		double flagged = 0;

		for (int k = 0; k < (int)trials; k++)
			flagged +=
				judge(1, 30, cp_gate_margin_d(&rules, CP_GATE_BW), sds[i],
				      &rules, &state, NULL) == CP_VERDICT_REGRESSED;
		assert_true(flagged / trials <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials));
	}
}

/* Description: the stated minimum detectable effect is found in about 80 % of runs. */
static void test_mde_holds(void **unused)
{
	struct cp_gate_rules rules;
	struct cp_gate_opts opts = {0};
	uint64_t state = 4321;
	double mde = 0, found = 0;
	const double sd = 0.02;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		rules.margin_pct[m] = m == CP_GATE_P50 ? 3.0 : NAN;
	for (int k = 0; k < 50; k++) {
		struct cp_gate_set a, b;
		struct cp_gate_report report;
		struct cp_err err = {0};

		fill_set(&a, "a", 1, 40, 0.0, sd, &state);
		fill_set(&b, "b", 1, 40, 0.0, sd, &state);
		assert_int_equal(cp_gate_judge(&a, &b, &rules, &opts, &report, &err), 0);
		mde += find_row(&report, "p50")->mde / 50;
		cp_gate_report_free(&report);
		cp_gate_set_free(&a);
		cp_gate_set_free(&b);
	}
	for (int k = 0; k < 400; k++)
		found += judge(1, 40, mde, sd, &rules, &state, NULL) ==
			 CP_VERDICT_REGRESSED;
	assert_true(found / 400 > 0.70 && found / 400 < 0.90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_against_same),
		cmocka_unit_test(test_quiet_same_is_ok),
		cmocka_unit_test(test_same_without_margin),
		cmocka_unit_test(test_slowdown_is_found),
		cmocka_unit_test(test_gain_is_found),
		cmocka_unit_test(test_at_the_margin),
		cmocka_unit_test(test_mde_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
