// SPDX-License-Identifier: GPL-2.0-only
/* Which kernels are the fastest, of rates that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/copy/rounds.h"

#define ROWS 4U

static uint64_t random_state = 1;

static double random_unit(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(random_state >> 33) / (double)(1ULL << 31);
}

/* Rates around these, each round by up to noise_pct off on its own, and every fourth
 * round in a slow spell of all rows. */
static void make_rounds(const double *rates, double noise_pct, unsigned nr_rounds,
			struct cp_rounds *ret_rounds)
{
	*ret_rounds = (struct cp_rounds){.nr_rows = ROWS, .nr_rounds = nr_rounds};
	for (unsigned r = 0; r < nr_rounds; r++) {
		double spell = r % 4 ? 1 : 0.3;

		for (unsigned i = 0; i < ROWS; i++) {
			double noise = (2 * random_unit() - 1) * noise_pct / 100;

			ret_rounds->rates[i][r] = rates[i] * spell * (1 + noise);
		}
	}
}

/* Description: a lead that the rounds can tell from noise makes its row the fastest, also
 * a small one; one that they cannot leaves memcpy, else the last row of the equal ones. A
 * row that was not measured is none of them. */
static void leads_are_told_from_noise(void **state)
{
	static const struct {
		const char *what;
		double rates[ROWS], noise_pct;
		unsigned best;
		bool fastest[ROWS];
		unsigned least_rounds;
	} cases[] = {
		{"a true lead of 10 %", {100, 110, 90}, 3, 1, {0, 1, 0}, 11},
		{"a true lead of 3 %", {100, 90, 103}, 0.8, 2, {0, 0, 1}, 11},
		{"3 % over another than memcpy", {50, 103, 100}, 0.8, 1, {0, 1, 0}, 11},
		/* of 11 rounds one in thirty has it ahead in nine by chance */
		{"a noisy lead of 3 %", {100, 103, 50}, 20, 0, {1, 1, 0}, 31},
		{"a lead of 1 %", {100, 101, 50}, 0.2, 0, {1, 1, 0}, 11},
		{"memcpy leads", {110, 100, 100, 109}, 0.2, 0, {1, 0, 0, 1}, 11},
		{"all alike", {100, 100, 100, 100}, 5, 0, {1, 1, 1, 1}, 11},
		{"the last of equal ones", {50, 101, 100, 100}, 0.2, 3, {0, 1, 1, 1}, 11},
	};

	(void)state;
	random_state = 1;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		for (unsigned nr = 11; nr <= CP_ROUNDS_MAX; nr += 10) {
			struct cp_rounds_verdict verdict;
			struct cp_rounds rounds;

			if (nr < cases[c].least_rounds)
				continue;
			make_rounds(cases[c].rates, cases[c].noise_pct, nr, &rounds);
			cp_rounds_judge(&rounds, &verdict);
			if (verdict.best != cases[c].best)
				fail_msg("%s: row %u of %u rounds", cases[c].what,
					 verdict.best, nr);
			for (unsigned i = 0; i < ROWS; i++) {
				if (verdict.fastest[i] != cases[c].fastest[i])
					fail_msg("%s: row %u is %d", cases[c].what, i,
						 verdict.fastest[i]);
			}
		}
	}
}

/* Description: a lead in the median alone is not enough, nor is one in nearly all rounds
 * that is too small to be worth it; at the border three rounds of four must be passed. */
static void both_halves_of_a_lead_count(void **state)
{
	static const struct {
		double lead_pct;
		unsigned ahead; /* rounds of 41 */
		bool faster;
	} cases[] = {
		{10, 41, true},	 {10, 31, true},   {10, 30, false},  {10, 21, false},
		{2.1, 41, true}, {1.9, 41, false}, {1.9, 31, false},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_rounds rounds = {.nr_rows = 2, .nr_rounds = 41};

		for (unsigned r = 0; r < rounds.nr_rounds; r++) {
			rounds.rates[0][r] = 100;
			rounds.rates[1][r] =
				r < cases[c].ahead ? 100 + cases[c].lead_pct : 95;
		}
		assert_int_equal(cp_rounds_faster(&rounds, 1, 0), cases[c].faster);
		assert_false(cp_rounds_faster(&rounds, 0, 1));
	}
}

/* Description: rates are what was measured, whoever is equal to whom; slow spells that
 * hit a round whole do not move their ratios. */
static void rates_are_those_measured(void **state)
{
	static const double rates[ROWS] = {100, 101, 60, 104};
	struct cp_rounds_verdict verdict;
	struct cp_rounds rounds;

	(void)state;
	make_rounds(rates, 0, CP_ROUNDS_MAX, &rounds);
	cp_rounds_judge(&rounds, &verdict);
	for (unsigned i = 0; i < ROWS; i++)
		assert_float_equal(verdict.bytes_per_s[i], rates[i], 1e-9);
	assert_int_equal(verdict.best, 3);
}

/* Description: whatever the rates, no row is faster than the best one nor than any of the
 * fastest, and each other row has one that is. */
static void nothing_beats_the_best(void **state)
{
	unsigned beaten = 0;

	(void)state;
	random_state = 7;
	for (unsigned n = 0; n < 3000; n++) {
		struct cp_rounds_verdict verdict;
		struct cp_rounds rounds;
		double rates[ROWS];

		for (unsigned i = 0; i < ROWS; i++)
			rates[i] = 100 + 12 * random_unit();
		make_rounds(rates, 12 * random_unit(), 11 + 10 * (n % 4), &rounds);
		cp_rounds_judge(&rounds, &verdict);
		assert_true(verdict.fastest[verdict.best]);
		for (unsigned i = 0; i < ROWS; i++) {
			bool slower = false;

			for (unsigned k = 0; k < ROWS; k++)
				slower = slower || cp_rounds_faster(&rounds, k, i);
			assert_int_equal(verdict.fastest[i], !slower);
			beaten += slower;
		}
	}
	assert_true(beaten > 1000);
}

/* Description: where noise has each row beaten by another, in a circle, the one of the
 * highest rate is the best. */
static void a_circle_has_a_best(void **state)
{
	struct cp_rounds rounds = {.nr_rows = 5, .nr_rounds = 41};
	struct cp_rounds_verdict verdict;

	(void)state;
	/* round r begins the order at row r % 5: each row is behind the next but once */
	for (unsigned r = 0; r < rounds.nr_rounds; r++) {
		for (unsigned k = 0; k < 5; k++)
			rounds.rates[(r + k) % 5][r] = 100 * (1 + 0.1 * k);
	}
	for (unsigned i = 0; i < 5; i++)
		assert_true(cp_rounds_faster(&rounds, (i + 1) % 5, i));
	cp_rounds_judge(&rounds, &verdict);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(verdict.bytes_per_s[i] <= verdict.bytes_per_s[verdict.best]);
		assert_int_equal(verdict.fastest[i], i == verdict.best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leads_are_told_from_noise),
		cmocka_unit_test(both_halves_of_a_lead_count),
		cmocka_unit_test(rates_are_those_measured),
		cmocka_unit_test(nothing_beats_the_best),
		cmocka_unit_test(a_circle_has_a_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
