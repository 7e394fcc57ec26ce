// SPDX-License-Identifier: GPL-2.0-only
#include "engines/copy/rounds.h"

#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned nr)
{
	double sorted[CP_ROUNDS_MAX];

	memcpy(sorted, values, nr * sizeof(*values));
	qsort(sorted, nr, sizeof(*sorted), compare_doubles);
	return sorted[nr / 2];
}

static double median_ratio(const struct cp_rounds *rounds, unsigned a, unsigned b)
{
	double ratios[CP_ROUNDS_MAX];

	for (unsigned r = 0; r < rounds->nr_rounds; r++)
		ratios[r] = rounds->rates[a][r] / rounds->rates[b][r];
	return median(ratios, rounds->nr_rounds);
}

static bool is_measured(const struct cp_rounds *rounds, unsigned row)
{
	return rounds->rates[row][0] > 0;
}

bool cp_rounds_faster(const struct cp_rounds *rounds, unsigned a, unsigned b)
{
	const double lead = 1.0 + CP_COPY_EQUAL_PCT / 100.0;
	unsigned ahead = 0;

	for (unsigned r = 0; r < rounds->nr_rounds; r++)
		ahead += rounds->rates[a][r] > rounds->rates[b][r];
	return 4 * ahead > 3 * rounds->nr_rounds && median_ratio(rounds, a, b) > lead;
}

static bool none_is_faster(const struct cp_rounds *rounds, unsigned row)
{
	for (unsigned k = 0; k < rounds->nr_rows; k++) {
		if (is_measured(rounds, k) && cp_rounds_faster(rounds, k, row))
			return false;
	}
	return true;
}

void cp_rounds_judge(const struct cp_rounds *rounds,
		     struct cp_rounds_verdict *ret_verdict)
{
	struct cp_rounds_verdict verdict = {.best = CP_COPY_ROWS_MAX};
	double plain = median(rounds->rates[0], rounds->nr_rounds);
	unsigned top = 0;

	for (unsigned i = 0; i < rounds->nr_rows; i++) {
		if (!is_measured(rounds, i))
			continue;
		verdict.bytes_per_s[i] = plain * median_ratio(rounds, i, 0);
		verdict.fastest[i] = none_is_faster(rounds, i);
		if (verdict.bytes_per_s[i] > verdict.bytes_per_s[top])
			top = i;
		if (verdict.fastest[i] && verdict.best != 0)
			verdict.best = i;
	}
	if (verdict.best == CP_COPY_ROWS_MAX) {
		verdict.fastest[top] = true;
		verdict.best = top;
	}
	*ret_verdict = verdict;
}
