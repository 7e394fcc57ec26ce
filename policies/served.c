// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "policies/served.h"

/* Reads have nothing behind them. */
static bool keeps_promise(const struct cp_policy *policy, enum cp_dir dir,
			  const struct cp_arm *arm)
{
	const struct cp_device *device = &policy->device;

	return dir == CP_DIR_READ ||
	       (!strcmp(arm->persist, device->persist) &&
		!strcmp(arm->flush, device->flush) && !strcmp(arm->fence, device->fence));
}

static int named(const struct cp_policy *policy, const struct cp_action *act,
		 enum cp_dir dir, const struct cp_served_arm *arms, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(arms[i].arm->name, act->name) &&
		    keeps_promise(policy, dir, arms[i].arm))
			return (int)i;
	return -1;
}

static bool same_way(const struct cp_action *act, const char *kernel,
		     const struct cp_served_arm *served)
{
	if (strcmp(served->arm->path, act->path) != 0)
		return false;
	if (!strcmp(act->path, "dma") || !strcmp(served->arm->copy, act->copy))
		return true;
	return *kernel && !strcmp(served->copy, kernel);
}

int cp_policy_served(const struct cp_policy *policy,
		     const struct cp_policy_answer *answer, enum cp_dir dir,
		     const struct cp_served_arm *arms, size_t nr)
{
	const char *mode =
		answer->rule ? policy->device.queue_mode : policy->fallback.queue_mode;
	int own = answer->rule ? named(policy, &answer->act, dir, arms, nr) : -1;
	const char *kernel = own >= 0 ? arms[own].copy : "";
	bool any = false;
	int way = -1;

	if (own >= 0 && !strcmp(arms[own].arm->queue_mode, mode))
		return own;
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(arms[i].arm->queue_mode, mode) != 0 ||
		    !keeps_promise(policy, dir, arms[i].arm))
			continue;
		any = true;
		if (way < 0 && same_way(&answer->act, kernel, &arms[i]))
			way = (int)i;
	}
	return any ? way : own;
}
