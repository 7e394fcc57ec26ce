// SPDX-License-Identifier: GPL-2.0-only
/* A policy and its answers as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policies/objective.h"
#include "policies/words.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *bytes_or_null(uint64_t bytes, uint64_t none)
{
	return bytes == none ? json_null() : json_integer((json_int_t)bytes);
}

static json_t *action_json(const struct cp_action *act)
{
	if (!*act->path)
		return json_null();
	json_t *obj = json_pack("{s:s, s:s}", "name", act->name, "path", act->path);

	if (obj && *act->copy)
		json_object_set_new(obj, "copy", json_string(act->copy));
	return obj;
}

static json_t *range_json(const struct cp_range *range)
{
	return json_pack("{s:I, s:o}", "min", (json_int_t)range->min, "max",
			 bytes_or_null(range->max, CP_POLICY_OPEN));
}

static json_t *when_json(const struct cp_when *when)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "rw",
			 when->dir == CP_DIR_READ ? "read" : "write", "layer",
			 when->layer, "attr", when->attr, "numa", when->numa,
			 "misalign_near", (json_int_t)when->misalign_near, "misalign_far",
			 (json_int_t)when->misalign_far, "jobs", range_json(&when->jobs),
			 "load", range_json(&when->load), "segments",
			 range_json(&when->segments));
}

static json_t *size_json(const struct cp_rule *rule, unsigned i)
{
	const struct cp_policy_size *size = &rule->sizes[i];
	uint64_t above = size->above ? size->above : i ? rule->sizes[i - 1].upto : 0;
	json_t *cross = size->crossover_at
				? json_pack("{s:I, s:I, s:I}", "at",
					    (json_int_t)size->crossover_at, "low",
					    (json_int_t)size->crossover_low, "high",
					    (json_int_t)size->crossover_high)
				: json_null();
	json_t *obj = json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:I, s:o}", "above", (json_int_t)above, "upto",
		bytes_or_null(size->upto, UINT64_MAX), rule->decided ? "do" : "use",
		action_json(&size->act), "gain_pct", number(size->gain_pct), "confidence",
		number(size->confidence), "samples", (json_int_t)size->samples,
		"crossover", cross);

	if (obj && !rule->decided)
		json_object_set_new(obj, "best", action_json(&size->best));
	return obj;
}

static json_t *rule_json(const struct cp_rule *rule)
{
	json_t *sizes = json_array();

	for (unsigned i = 0; i < rule->nr_sizes; i++)
		json_array_append_new(sizes, size_json(rule, i));
	json_t *obj =
		json_pack("{s:o, s:o}", "when", when_json(&rule->when), "sizes", sizes);

	if (obj && !rule->decided) {
		json_object_set_new(obj, "reason", json_string(rule->reason));
		json_object_set_new(obj, "samples_needed",
				    bytes_or_null(rule->samples_needed, 0));
	}
	return obj;
}

static json_t *rules_json(const struct cp_policy *policy, bool decided)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < policy->nr_rules; i++)
		if (policy->rules[i].decided == decided)
			json_array_append_new(list, rule_json(&policy->rules[i]));
	return list;
}

static json_t *learned_json(const struct cp_policy *policy)
{
	json_t *from = json_array();

	for (unsigned i = 0; i < policy->nr_from; i++)
		json_array_append_new(from, json_string(policy->from[i]));
	return json_pack("{s:o, s:s, s:s, s:I, s:s}", "from", from, "host", policy->host,
			 "fingerprint", policy->fingerprint, "samples",
			 (json_int_t)policy->samples, "driver", policy->driver);
}

static json_t *objective_json(const struct cp_objective *objective)
{
	char words[512];

	cp_objective_words(objective, words, sizeof(words));
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o, s:o, s:s}", "name",
			 objective->name, "elapsed", objective->elapsed, "cpu",
			 objective->cpu, "tail", objective->tail, "corunner",
			 objective->corunner, "slo_p99_ns", number(objective->slo_p99_ns),
			 "min_bw_frac", number(objective->min_bw_frac), "words", words);
}

static json_t *device_json(const struct cp_device *device)
{
	return json_pack("{s:s, s:i, s:i, s:s, s:{s:o, s:o}, s:s, s:s, s:s, s:o}",
			 "queue_mode", device->queue_mode, "queue_depth",
			 (int)device->queue_depth, "q_per_node", (int)device->q_per_node,
			 "completion", device->completion, "dma_thresh", "read",
			 bytes_or_null(device->dma_thresh_read, 0), "write",
			 bytes_or_null(device->dma_thresh_write, 0), "flush",
			 device->flush, "fence", device->fence, "persist",
			 device->persist, "regret_pct", number(device->regret_pct));
}

json_t *cp_policy_json(const struct cp_policy *policy)
{
	return json_pack("{s:i, s:s, s:s, s:o, s:o, s:{s:s, s:s, s:s}, s:o, s:o, s:o, "
			 "s:{s:s, s:s, s:s}}",
			 "schema", 1, "kind", "policy", "name", policy->name, "learned",
			 learned_json(policy), "objective",
			 objective_json(&policy->objective), "provenance", "media",
			 policy->media, "attr", policy->attr, "dma", policy->dma,
			 "device", device_json(&policy->device), "rules",
			 rules_json(policy, true), "undecided", rules_json(policy, false),
			 "default", "queue_mode", policy->fallback.queue_mode, "path",
			 policy->fallback.path, "copy", policy->fallback.copy);
}

/* Does the answer need the queue mode that the policy does not set? bio never uses DMA,
 * so a rule for it tells what mq would do. */
bool cp_policy_needs_mq(const struct cp_policy *policy,
			const struct cp_policy_answer *answer)
{
	return answer->rule && !strcmp(answer->act.path, "dma") &&
	       !strcmp(policy->device.queue_mode, "bio");
}

/* Why the answer is not simply a decided one of the device: null, or words. */
static json_t *reason_json(const struct cp_policy *policy,
			   const struct cp_policy_answer *answer)
{
	bool needs_mq = cp_policy_needs_mq(policy, answer);
	const char *why = !answer->rule		  ? "no_rule"
			  : answer->rule->decided ? ""
						  : answer->rule->reason;
	char text[CP_WORD_MAX + sizeof(CP_POLICY_NEEDS_MQ) + 2];

	snprintf(text, sizeof(text), "%s%s%s", why, *why && needs_mq ? ", " : "",
		 needs_mq ? CP_POLICY_NEEDS_MQ : "");
	return *text ? json_string(text) : json_null();
}

/* The action with the settings the device gives it. DMA in a bio device is shown in mq,
 * where it was measured. */
static json_t *arm_json(const struct cp_policy *policy,
			const struct cp_policy_answer *answer, enum cp_dir dir)
{
	const struct cp_device *device = &policy->device;
	bool dma = !strcmp(answer->act.path, "dma");
	const char *mode = !answer->rule ? policy->fallback.queue_mode
			   : dma && cp_policy_needs_mq(policy, answer)
				   ? "mq"
				   : device->queue_mode;
	const char *engine = !dma				? "none"
			     : !strcmp(policy->dma, "software") ? "sw"
								: "auto";
	/* a page that the CPU copies needs no queue */
	bool queues = !strcmp(mode, "mq") || (!strcmp(mode, "page") && dma);
	json_t *obj =
		json_pack("{s:s, s:s, s:s, s:s}", "name", answer->act.name, "queue_mode",
			  mode, "path", answer->act.path, "dma", engine);

	if (!obj)
		return NULL;
	if (*answer->act.copy)
		json_object_set_new(obj, "copy", json_string(answer->act.copy));
	json_object_set_new(obj, "completion",
			    json_string(!queues ? "sync"
					: strcmp(device->completion, "sync") != 0
						? device->completion
						: "poll"));
	if (dir == CP_DIR_WRITE) {
		json_object_set_new(obj, "flush", json_string(device->flush));
		json_object_set_new(obj, "fence", json_string(device->fence));
		json_object_set_new(obj, "persist", json_string(device->persist));
	}
	if (queues) {
		json_object_set_new(
			obj, "queue_depth",
			json_integer(device->queue_depth ? device->queue_depth : 128));
		json_object_set_new(
			obj, "q_per_node",
			json_integer(device->q_per_node ? device->q_per_node : 8));
	}
	return obj;
}

json_t *cp_policy_answer_json(const struct cp_policy *policy,
			      const struct cp_context *context)
{
	struct cp_policy_answer answer;
	bool found = cp_policy_answer(policy, context, &answer);
	bool decided = found && answer.rule->decided;
	json_t *best = decided || !found ? action_json(&answer.act)
					 : action_json(&answer.size->best);

	return json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o}", "name", answer.act.name,
			 "arm", arm_json(policy, &answer, cp_context_dir(context)),
			 "decided", decided, "confidence",
			 number(found ? answer.size->confidence : NAN), "gain_pct",
			 number(found ? answer.size->gain_pct : NAN), "best", best,
			 "reason", reason_json(policy, &answer));
}
