/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which measured arm shows what a policy's answer would cost. A rule says what is done
 * per I/O; it is done in the queue mode that the policy sets for the device, so the
 * figures to look at are those of that mode.
 */
#ifndef CP_POLICIES_SERVED_H
#define CP_POLICIES_SERVED_H

#include "engines/policy.h"

struct cp_served_arm {
	const struct cp_arm *arm;
	const char
		*copy; /* the kernel its copy stood for in its samples; "" = not known */
};

/*
 * Index into arms[nr], all measured in one context, or -1 when none shows it; never a
 * guess. Of writes only arms that keep the policy's promise: with its persist, flush and
 * fence. In order: the rule's own arm in the device's queue mode; an arm of that mode
 * with the same path and copy, by word or by the kernel it stood for. Where nothing at
 * all was measured in that mode, the rule's own arm in the mode it was measured in. The
 * default (no rule) is a whole arm and needs its own queue mode.
 */
int cp_policy_served(const struct cp_policy *policy,
		     const struct cp_policy_answer *answer, enum cp_dir dir,
		     const struct cp_served_arm *arms, size_t nr);

#endif
