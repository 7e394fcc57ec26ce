// SPDX-License-Identifier: GPL-2.0-only
/* Can what is going to be measured be judged by what is asked for? */
#include <errno.h>
#include <string.h>

#include "bench/plan/plan.h"
#include "policies/objective.h"

int cp_plan_objective_check(const struct cp_plan *plan, struct cp_err *err)
{
	struct cp_objective objective;
	int ret = cp_objective_parse(plan->objective, &objective, err);

	/* Another program may have a co-runner of its own. */
	if (ret || !cp_objective_needs_corunner(&objective) ||
	    !strcmp(plan->driver, "exec"))
		return ret;
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (strcmp(plan->cells[i].context.corunner, "none") != 0)
			return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "objective '%s' weighs the work of a co-runner, and none runs; "
			  "expected run: {corunner: compute}, or another objective",
			  plan->objective);
}
