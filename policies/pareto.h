/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * At which price of CPU time the measured best arm of a context changes.
 *
 * With J = elapsed * e + w * c (e, c: the cells' medians) the best arm as w grows walks
 * the lower convex hull of the Pareto front. Point estimates: they say where a choice
 * hangs, not how sure it is. Only for objectives with elapsed above 0.
 */
#ifndef CP_POLICIES_PARETO_H
#define CP_POLICIES_PARETO_H

#include <jansson.h>
#include <stdio.h>

#include "policies/learn.h"

struct cp_flip {
	const struct cp_learn_cell *best;	   /* at the objective's own price */
	const struct cp_learn_cell *below, *above; /* NULL: none, however cheap or dear */
	double below_cpu, above_cpu; /* the objective's `cpu` at which it changes */
};

/* cells: all of one context, as cp_learn_cells() returns them. -ENODATA when there is
 * nothing to compare. */
int cp_pareto_flip(const struct cp_objective *objective,
		   const struct cp_learn_cell *cells, size_t nr,
		   struct cp_flip *ret_flip);

/* All contexts of cp_learn_cells(): [{rw, bs, numjobs, iodepth, front, best, below: {cpu,
 * to}, above}]. */
json_t *cp_pareto_json(const struct cp_objective *objective,
		       const struct cp_learn_cell *cells, size_t nr);
/* At most two lines: the nearest changes, were CPU time cheaper or dearer. */
void cp_pareto_words(const struct cp_objective *objective,
		     const struct cp_learn_cell *cells, size_t nr, FILE *out);

#endif
