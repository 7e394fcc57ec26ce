/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy for people and for other programs: words, and JSON. */
#ifndef CP_POLICIES_WORDS_H
#define CP_POLICIES_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "engines/policy.h"

/* The answer is a DMA copy and the device is set to a queue mode that never uses DMA: it
 * takes effect with queue_mode=mq only. */
#define CP_POLICY_NEEDS_MQ "dma_needs_queue_mode_mq"
bool cp_policy_needs_mq(const struct cp_policy *policy,
			const struct cp_policy_answer *answer);

bool cp_policy_has_dma(const struct cp_policy *policy); /* in any rule */

/* The whole policy in plain words, rules first. */
void cp_policy_words(const struct cp_policy *policy, FILE *out);
/* One answer and why, one line without its newline. */
void cp_policy_answer_words(const struct cp_policy *policy,
			    const struct cp_context *context, FILE *out);

/* New references; NULL without memory. Sizes are integers in bytes, `upto` null is max,
 * thresholds null are never. */
json_t *cp_policy_json(const struct cp_policy *policy);
/* {"name","arm","decided","confidence","gain_pct","best","reason"}. reason is null, why
 * it is undecided, "no_rule", and CP_POLICY_NEEDS_MQ where that holds. */
json_t *cp_policy_answer_json(const struct cp_policy *policy,
			      const struct cp_context *context);

#endif
