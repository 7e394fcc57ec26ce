// SPDX-License-Identifier: GPL-2.0-only
/* Measured regret: what a policy answers against the best measured arm, never a guess. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"
#include "policies/served.h"
#include "results/stats.h"

static double context_regret(const struct cp_learn_cell *cells, size_t nr,
			     const struct cp_policy *policy)
{
	struct cp_served_arm arms[LEARN_ARMS_MAX];
	struct cp_policy_answer answer;
	double best = INFINITY;

	cp_policy_answer(policy, &cells[0].context, &answer);
	for (size_t i = 0; i < nr && i < LEARN_ARMS_MAX; i++)
		arms[i] = (struct cp_served_arm){&cells[i].arm, cells[i].copy};
	enum cp_dir dir = cp_context_dir(&cells[0].context);
	int at = cp_policy_served(policy, &answer, dir, arms,
				  nr < LEARN_ARMS_MAX ? nr : LEARN_ARMS_MAX);
	const struct cp_learn_cell *cell = at >= 0 ? &cells[at] : NULL;

	/* An arm that promises something else is no rival. */
	for (size_t i = 0; i < nr; i++)
		if (!cells[i].excluded &&
		    (dir == CP_DIR_READ ||
		     !strcmp(cells[i].arm.persist, policy->device.persist)))
			best = fmin(best, cells[i].cost);
	if (!cell || !isfinite(cell->cost) || !isfinite(best))
		return NAN;
	return fmax(0.0, 100.0 * (cell->cost / best - 1.0));
}

int cp_policy_regret(struct cp_learn *learn, const struct cp_policy *policy,
		     struct cp_regret *ret, struct cp_err *err)
{
	const struct cp_learn_cell *cells;
	struct cp_regret regret = {.mean_pct = NAN, .p95_pct = NAN, .worst_pct = NAN};
	size_t nr, nr_known = 0;
	int rc = cp_learn_cells(learn, &cells, &nr, err);

	if (rc)
		return rc;
	double *values = calloc(nr + 1, sizeof(*values));

	if (!values)
		return learn_no_memory(err);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr; end++)
			if (!cp_context_same(&cells[i].context, &cells[end].context))
				break;
		double pct = context_regret(&cells[i], end - i, policy);

		regret.contexts++;
		if (isnan(pct)) {
			regret.unknown++;
			continue;
		}
		if (isnan(regret.worst_pct) || pct > regret.worst_pct) {
			regret.worst_pct = pct;
			regret.worst = cells[i].context;
		}
		values[nr_known++] = pct;
	}
	if (nr_known) {
		regret.mean_pct = cp_stat_mean(values, nr_known);
		regret.p95_pct = cp_stat_quantile(values, nr_known, 0.95);
	}
	free(values);
	*ret = regret;
	return 0;
}

const char *cp_regret_span_words(const struct cp_regret *regret, char *buf, size_t size)
{
	const char *plural = regret->contexts == 1 ? "" : "s";

	if (!regret->unknown)
		snprintf(buf, size, "%u context%s", regret->contexts, plural);
	else
		snprintf(buf, size,
			 "%u of %u context%s (in the other %u the policy's arm was not "
			 "measured in its queue mode)",
			 regret->contexts - regret->unknown, regret->contexts, plural,
			 regret->unknown);
	return buf;
}
