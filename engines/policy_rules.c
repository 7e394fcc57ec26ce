// SPDX-License-Identifier: GPL-2.0-only
/* The rules of a policy file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/policy_read.h"

/* What a table can tell apart: see the class arrays of struct cp_policy_table. */
#define JOBS_TOP     64
#define LOAD_TOP     256
#define SEGMENTS_TOP 1024
#define UPTO_MAX     ((uint64_t)UINT32_MAX - 1)

static const char *const dirs[] = {"read", "write", NULL};
static const char *const reasons[] = {"not_enough_evidence", "tie", "noise_limited",
				      NULL};

static void read_range(struct cp_yaml *doc, const struct cp_yaml_node *map,
		       const char *key, uint32_t top, struct cp_range *range)
{
	static const char *const keys[] = {"min", "max", NULL};
	const struct cp_yaml_node *node = cp_yaml_get(map, key);

	if (!node || !cp_yaml_keys(doc, node, key, keys))
		return;
	cp_policy_read_uint(doc, node, "min", UINT32_MAX - 1, &range->min);
	cp_policy_read_uint(doc, node, "max", UINT32_MAX - 1, &range->max);
	if (range->min > range->max)
		cp_yaml_problem(doc, node,
				"%s from %u to %u is empty; expected min <= max", key,
				range->min, range->max);
	else if (range->min > top)
		cp_yaml_problem(doc, node,
				"%s min '%u' can never hold; expected at most %u (%u and "
				"above are one class)",
				key, range->min, top, top);
}

static void read_when(struct cp_yaml *doc, const struct cp_yaml_node *rule,
		      struct cp_when *when)
{
	static const char *const keys[] = {
		"rw",		"layer", "attr", "numa",     "misalign_near",
		"misalign_far", "jobs",	 "load", "segments", NULL};
	const struct cp_yaml_node *map = cp_yaml_get(rule, "when");

	snprintf(when->layer, sizeof(when->layer), "none");
	snprintf(when->attr, sizeof(when->attr), "wb");
	snprintf(when->numa, sizeof(when->numa), "local");
	when->misalign_near = when->misalign_far = 0;
	when->jobs = when->load = when->segments = (struct cp_range){0, CP_POLICY_OPEN};
	if (!map) {
		cp_yaml_problem(doc, rule,
				"rule has no 'when'; expected when: {rw: ...}");
		return;
	}
	if (!cp_yaml_keys(doc, map, "when", keys))
		return;
	const struct cp_yaml_node *rw = cp_yaml_get(map, "rw");

	if (!rw)
		cp_yaml_problem(doc, map, "'when' has no 'rw'; expected read or write");
	int dir = rw ? cp_yaml_word(doc, rw, "rw", dirs) : -1;

	when->dir = dir == 1 ? CP_DIR_WRITE : CP_DIR_READ;
	cp_policy_read_text(doc, map, "layer", when->layer, sizeof(when->layer));
	cp_policy_read_text(doc, map, "attr", when->attr, sizeof(when->attr));
	cp_policy_read_text(doc, map, "numa", when->numa, sizeof(when->numa));
	cp_policy_read_uint(doc, map, "misalign_near", 4095, &when->misalign_near);
	cp_policy_read_uint(doc, map, "misalign_far", 4095, &when->misalign_far);
	read_range(doc, map, "jobs", JOBS_TOP, &when->jobs);
	read_range(doc, map, "load", LOAD_TOP, &when->load);
	read_range(doc, map, "segments", SEGMENTS_TOP, &when->segments);
}

static void read_action(struct cp_yaml *doc, const struct cp_yaml_node *size,
			const char *key, bool required, struct cp_action *act)
{
	static const char *const keys[] = {"name", "path", "copy", NULL};
	const struct cp_yaml_node *map = cp_yaml_get(size, key);

	memset(act, 0, sizeof(*act));
	if (!map) {
		if (required)
			cp_yaml_problem(doc, size,
					"size has no '%s'; expected %s: {path: "
					"...}",
					key, key);
		return;
	}
	if (!cp_yaml_keys(doc, map, key, keys))
		return;
	if (!cp_yaml_get(map, "path"))
		cp_yaml_problem(doc, map, "'%s' has no 'path'; expected cpu or dma", key);
	cp_policy_read_word(doc, map, "path", cp_policy_paths, act->path,
			    sizeof(act->path));
	cp_policy_read_field(doc, map, "copy", act->copy, sizeof(act->copy));
	if (!strcmp(act->path, "dma") && *act->copy)
		cp_yaml_problem_key(doc, cp_yaml_get(map, "copy"),
				    "'copy' has no meaning with path dma; expected none");
	if (!strcmp(act->path, "cpu") && !*act->copy)
		snprintf(act->copy, sizeof(act->copy), "auto");
	cp_policy_read_text(doc, map, "name", act->name, sizeof(act->name));
	if (!*act->name)
		snprintf(act->name, sizeof(act->name), "%s%s%s", act->path,
			 *act->copy ? "/" : "", act->copy);
}

/* The interval's ends: rising, `max` only at the end. */
static void read_bounds(struct cp_yaml *doc, const struct cp_yaml_node *map,
			uint64_t before, struct cp_policy_size *size)
{
	const struct cp_yaml_node *upto = cp_yaml_get(map, "upto");
	const struct cp_yaml_node *above = cp_yaml_get(map, "above");

	size->upto = UINT64_MAX;
	if (!upto)
		cp_yaml_problem(doc, map, "size has no 'upto'; expected bytes or max");
	else if (upto->type != CP_YAML_SCALAR || strcmp(upto->text, "max") != 0)
		cp_yaml_size(doc, upto, "upto", 1, UPTO_MAX, &size->upto);
	if (above && cp_yaml_size(doc, above, "above", 0, UPTO_MAX, &size->above)) {
		if (size->above < before || size->above >= size->upto)
			cp_yaml_problem(doc, above,
					"above '%s' is outside of its interval; expected "
					"between the previous upto and its own",
					above->text);
		if (size->above == before)
			size->above = 0;
	}
	if (before == UINT64_MAX)
		cp_yaml_problem(doc, map,
				"size after 'upto: max'; expected max only last");
	else if (upto && size->upto <= before)
		cp_yaml_problem(doc, upto,
				"upto '%s' does not rise; expected more than "
				"the one before",
				upto->text);
}

static void read_crossover(struct cp_yaml *doc, const struct cp_yaml_node *map,
			   struct cp_policy_size *size)
{
	static const char *const keys[] = {"at", "low", "high", NULL};
	const struct {
		const char *key;
		uint64_t *value;
	} ends[] = {{"at", &size->crossover_at},
		    {"low", &size->crossover_low},
		    {"high", &size->crossover_high}};

	if (!map || !cp_yaml_keys(doc, map, "crossover", keys))
		return;
	for (size_t i = 0; i < 3; i++) {
		const struct cp_yaml_node *node = cp_yaml_get(map, ends[i].key);

		if (!node)
			cp_yaml_problem(doc, map,
					"crossover has no '%s'; expected at, "
					"low and high",
					ends[i].key);
		else
			cp_yaml_size(doc, node, ends[i].key, 1, 1ULL << 62,
				     ends[i].value);
	}
}

static void read_size(struct cp_yaml *doc, const struct cp_yaml_node *map, bool decided,
		      uint64_t before, struct cp_policy_size *size)
{
	static const char *const rule_keys[] = {"upto",	     "above",	   "do",
						"gain_pct",  "confidence", "samples",
						"crossover", NULL};
	static const char *const open_keys[] = {"upto",	   "above",	"use",
						"best",	   "gain_pct",	"confidence",
						"samples", "crossover", NULL};

	memset(size, 0, sizeof(*size));
	size->gain_pct = size->confidence = NAN;
	size->upto = UINT64_MAX;
	if (!cp_yaml_keys(doc, map, "sizes", decided ? rule_keys : open_keys))
		return;
	read_bounds(doc, map, before, size);
	read_action(doc, map, decided ? "do" : "use", true, &size->act);
	if (!decided)
		read_action(doc, map, "best", false, &size->best);
	cp_policy_read_double(doc, map, "gain_pct", -1e9, 1e9, &size->gain_pct);
	cp_policy_read_double(doc, map, "confidence", 0.0, 1.0, &size->confidence);
	cp_policy_read_uint(doc, map, "samples", UINT32_MAX - 1, &size->samples);
	read_crossover(doc, cp_yaml_get(map, "crossover"), size);
}

static void read_rule(struct cp_yaml *doc, const struct cp_yaml_node *map, bool decided,
		      struct cp_rule *rule)
{
	static const char *const rule_keys[] = {"when", "sizes", NULL};
	static const char *const open_keys[] = {"when", "reason", "samples_needed",
						"sizes", NULL};

	rule->decided = decided;
	if (!cp_yaml_keys(doc, map, decided ? "rules" : "undecided",
			  decided ? rule_keys : open_keys))
		return;
	read_when(doc, map, &rule->when);
	if (!decided) {
		snprintf(rule->reason, sizeof(rule->reason), "%s", reasons[0]);
		cp_policy_read_word(doc, map, "reason", reasons, rule->reason,
				    sizeof(rule->reason));
		cp_policy_read_uint(doc, map, "samples_needed", UINT32_MAX - 1,
				    &rule->samples_needed);
	}
	const struct cp_yaml_node *sizes = cp_yaml_get(map, "sizes");

	if (!sizes || sizes->type != CP_YAML_LIST || !sizes->nr_children) {
		cp_yaml_problem(doc, sizes ? sizes : map,
				"rule has no sizes; expected a list of {upto: ..., %s: "
				"...}",
				decided ? "do" : "use");
		return;
	}
	if (sizes->nr_children > CP_POLICY_SIZES_MAX)
		cp_yaml_problem(doc, sizes, "rule has %zu sizes; expected at most %d",
				sizes->nr_children, CP_POLICY_SIZES_MAX);
	uint64_t before = 0;

	for (size_t i = 0; i < sizes->nr_children && i < CP_POLICY_SIZES_MAX; i++) {
		read_size(doc, sizes->children[i], decided, before, &rule->sizes[i]);
		before = rule->sizes[i].upto;
		rule->nr_sizes++;
	}
}

static bool check_list(struct cp_yaml *doc, const struct cp_yaml_node *list,
		       const char *what)
{
	if (!list || cp_yaml_is_null(list))
		return false;
	if (list->type != CP_YAML_LIST) {
		cp_yaml_problem(doc, list,
				"'%s' is no list; expected - {when: ..., sizes: "
				"...}",
				what);
		return false;
	}
	return true;
}

int cp_policy_read_rules(struct cp_yaml *doc, const struct cp_yaml_node *root,
			 struct cp_policy *policy, struct cp_err *err)
{
	static const char *const lists[] = {"rules", "undecided"};
	size_t nr = 0;

	for (size_t k = 0; k < 2; k++) {
		const struct cp_yaml_node *list = cp_yaml_get(root, lists[k]);

		if (check_list(doc, list, lists[k]))
			nr += list->nr_children;
	}
	if (!nr)
		return 0;
	policy->rules = calloc(nr, sizeof(*policy->rules));
	if (!policy->rules)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for %zu "
				  "rules",
				  nr);
	for (size_t k = 0; k < 2; k++) {
		const struct cp_yaml_node *list = cp_yaml_get(root, lists[k]);

		if (!list || list->type != CP_YAML_LIST)
			continue;
		for (size_t i = 0; i < list->nr_children; i++)
			read_rule(doc, list->children[i], k == 0,
				  &policy->rules[policy->nr_rules++]);
	}
	return 0;
}
