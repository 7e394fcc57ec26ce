/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy for people and for other programs: words, and JSON. */
#ifndef CP_POLICIES_WORDS_H
#define CP_POLICIES_WORDS_H

#include <jansson.h>
#include <stdio.h>

#include "engines/policy.h"

/* The whole policy in plain words, rules first. */
void cp_policy_words(const struct cp_policy *policy, FILE *out);
/* One answer and why, one line without its newline. */
void cp_policy_answer_words(const struct cp_policy *policy,
			    const struct cp_context *context, FILE *out);

/* New references; NULL without memory. Sizes are integers in bytes, `upto` null is max,
 * thresholds null are never. */
json_t *cp_policy_json(const struct cp_policy *policy);
/* {"name","arm","decided","confidence","gain_pct","best","reason"} */
json_t *cp_policy_answer_json(const struct cp_policy *policy,
			      const struct cp_context *context);

#endif
