/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which kernels are the fastest, from rates measured in rounds. Pure: of the rates alone,
 * so that it can be tried on rates that were made up.
 *
 * Kernel a is faster than b when its rate is above b's in more than three rounds of four,
 * and the median of a's ratio to b, each within one round, is above 1 by more than
 * CP_COPY_EQUAL_PCT. The first says that it is so again and again, the second that it is
 * worth a change. A ratio within one round, since a slow spell of the machine hits both
 * of its sides.
 */
#ifndef CP_ENGINES_COPY_ROUNDS_H
#define CP_ENGINES_COPY_ROUNDS_H

#include "engines/copy/copy.h"

#define CP_ROUNDS_MAX 41U

struct cp_rounds {
	unsigned nr_rows;   /* at most CP_COPY_ROWS_MAX */
	unsigned nr_rounds; /* 1 to CP_ROUNDS_MAX; odd, so that the median is one of them
			     */
	/* Bytes per second. Row 0 is memcpy, the incumbent. A row whose first rate is 0
	 * was not measured. */
	double rates[CP_COPY_ROWS_MAX][CP_ROUNDS_MAX];
};

struct cp_rounds_verdict {
	/* The median of row 0, times the median of the row's ratios to row 0; 0 = not
	 * measured. No verdict changes it. */
	double bytes_per_s[CP_COPY_ROWS_MAX];
	/* No row is faster. Where each row has one that is faster (it takes a circle of
	 * five or more, by noise) the row of the highest rate is the one. */
	bool fastest[CP_COPY_ROWS_MAX];
	/* A row of the fastest: 0 when it is one, else the last. */
	unsigned best;
};

bool cp_rounds_faster(const struct cp_rounds *rounds, unsigned a, unsigned b);
/* Row 0 was measured. */
void cp_rounds_judge(const struct cp_rounds *rounds,
		     struct cp_rounds_verdict *ret_verdict);

#endif
