/* SPDX-License-Identifier: GPL-2.0-only */
/* Between compression and rules: the pieces of a row. Inside of the learner. */
#ifndef CP_POLICIES_PIECES_H
#define CP_POLICIES_PIECES_H

#include "policies/learn_priv.h"

struct piece {
	unsigned first, last; /* points of the grid */
	bool decided;
	unsigned lean; /* the arm chosen or leaned to */
	int use;       /* curve, -1 = the default */
	uint64_t upto, above;
};

struct pieces {
	unsigned nr;
	struct piece p[LEARN_GRID_MAX];
};

/* At most CP_POLICY_SIZES_MAX pieces, with their ends and what each uses. */
void pieces_make(const struct learn_row *row, struct pieces *pieces);

/* ln J of an arm at a point; NaN where it is not known or a hard limit excludes it. */
double pieces_mean(const struct learn_row *row, unsigned c, unsigned g);
/* The size at which a and b cost the same, between point g and the next, a being the
 * cheaper one before; 0 = not here. */
double pieces_crossing(const struct learn_row *row, unsigned a, unsigned b, unsigned g);

/* evidence.c: fills gain, confidence, samples and crossover of piece i. */
void pieces_evidence(const struct learn_row *row, const struct pieces *pieces, unsigned i,
		     struct cp_policy_size *size);
/* How many more samples would decide a piece, 0 = not known; noisy is set when that is
 * out of all reason. */
uint32_t pieces_samples_needed(const struct learn_row *row, const struct piece *piece,
			       bool *noisy);

#endif
