// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a policy answers: the reference (a walk over the rules) and the compiled table. A
 * randomised test holds the two together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/policy.h"

#define JOBS_TOP     64U
#define LOAD_TOP     256U
#define SEGMENTS_TOP 1024U
#define CLASSES_MAX  250U   /* class numbers are uint8_t */
#define ROWS_MAX     65536U /* 4 MiB */
#define CUTS_MAX     1024U  /* distinct ends of intervals one row may gather */

struct key {
	enum cp_dir dir;
	uint32_t jobs, load, segments;
};

static bool range_holds(const struct cp_range *range, uint32_t value)
{
	return value >= range->min && value <= range->max;
}

static bool when_holds(const struct cp_when *when, const struct key *key)
{
	return when->dir == key->dir && range_holds(&when->jobs, key->jobs) &&
	       range_holds(&when->load, key->load) &&
	       range_holds(&when->segments, key->segments);
}

/* Does the rule belong to the table that this context selects? */
static bool when_is(const struct cp_when *when, const struct cp_context *context)
{
	return !strcmp(when->layer, context->layer) &&
	       !strcmp(when->attr, context->attr) && !strcmp(when->numa, context->numa) &&
	       when->misalign_near == context->misalign_near &&
	       when->misalign_far == context->misalign_far;
}

static uint64_t size_above(const struct cp_rule *rule, unsigned i)
{
	if (rule->sizes[i].above)
		return rule->sizes[i].above;
	return i ? rule->sizes[i - 1].upto : 0;
}

static const struct cp_policy_size *rule_size(const struct cp_rule *rule, uint64_t bytes)
{
	for (unsigned i = 0; i < rule->nr_sizes; i++) {
		/* An I/O of no bytes belongs to the first interval that starts at 0. */
		uint64_t above = size_above(rule, i);

		if (bytes <= rule->sizes[i].upto && (bytes > above || !above))
			return &rule->sizes[i];
	}
	return NULL;
}

static void default_action(const struct cp_policy *policy, struct cp_action *act)
{
	memset(act, 0, sizeof(*act));
	snprintf(act->name, sizeof(act->name), "%s",
		 *policy->fallback.name ? policy->fallback.name : "default");
	snprintf(act->path, sizeof(act->path), "%s",
		 *policy->fallback.path ? policy->fallback.path : "cpu");
	if (!strcmp(act->path, "cpu"))
		snprintf(act->copy, sizeof(act->copy), "%s",
			 *policy->fallback.copy ? policy->fallback.copy : "auto");
}

static uint32_t least(uint64_t value, uint32_t top)
{
	return value < top ? (uint32_t)value : top;
}

bool cp_policy_answer(const struct cp_policy *policy, const struct cp_context *context,
		      struct cp_policy_answer *ret_answer)
{
	const struct key key = {
		.dir = cp_context_dir(context),
		.jobs = least(context->numjobs, JOBS_TOP),
		.load = least((uint64_t)context->numjobs * context->iodepth, LOAD_TOP),
		.segments = least(context->segments, SEGMENTS_TOP),
	};

	for (unsigned i = 0; i < policy->nr_rules; i++) {
		const struct cp_rule *rule = &policy->rules[i];

		if (!when_is(&rule->when, context) || !when_holds(&rule->when, &key))
			continue;
		const struct cp_policy_size *size = rule_size(rule, context->bs);

		if (!size)
			continue;
		*ret_answer = (struct cp_policy_answer){rule, size, size->act};
		return true;
	}
	memset(ret_answer, 0, sizeof(*ret_answer));
	default_action(policy, &ret_answer->act);
	return false;
}

/* --- the table --- */

struct compile {
	const struct cp_policy *policy;
	const struct cp_rule **rules; /* those of the context's table */
	unsigned nr_rules;
	struct cp_policy_table *table;
	struct cp_err *err;
};

/*
 * Values between the ends of all ranges are one class. class_of[v] for v in [0, top];
 * value[c] is a member of class c.
 */
static int make_classes(const struct compile *c, size_t range_offset, uint32_t top,
			uint8_t *class_of, uint32_t *value, uint8_t *ret_nr)
{
	unsigned nr = 0;

	for (uint32_t v = 0; v <= top; v++) {
		bool starts = v == 0;

		for (unsigned i = 0; i < c->nr_rules && !starts; i++) {
			struct cp_range range;

			memcpy(&range, (const char *)&c->rules[i]->when + range_offset,
			       sizeof(range));
			starts = range_holds(&range, v) != range_holds(&range, v - 1);
		}
		if (starts) {
			if (nr == CLASSES_MAX)
				return cp_err_set(c->err, CP_EXIT_USAGE, E2BIG,
						  "policy has more than %u different "
						  "ranges; expected fewer",
						  CLASSES_MAX);
			value[nr++] = v;
		}
		class_of[v] = (uint8_t)(nr - 1);
	}
	*ret_nr = (uint8_t)nr;
	return 0;
}

static int action_index(const struct compile *c, const struct cp_action *act,
			uint16_t *ret_index)
{
	struct cp_policy_table *table = c->table;

	for (unsigned i = 0; i < table->nr_actions; i++) {
		const struct cp_action *have = &table->actions[i];

		if (!strcmp(have->name, act->name) && !strcmp(have->path, act->path) &&
		    !strcmp(have->copy, act->copy)) {
			*ret_index = (uint16_t)i;
			return 0;
		}
	}
	if (table->nr_actions == CP_PICK_ACTIONS_MAX)
		return cp_err_set(c->err, CP_EXIT_USAGE, E2BIG,
				  "policy has more than %d different actions; expected "
				  "fewer",
				  CP_PICK_ACTIONS_MAX);
	table->actions[table->nr_actions] = *act;
	*ret_index = (uint16_t)table->nr_actions++;
	return 0;
}

static int cut_cmp(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static int too_many_cuts(const struct compile *c, const struct key *key)
{
	return cp_err_set(c->err, CP_EXIT_USAGE, E2BIG,
			  "policy has more than %u ends of intervals at jobs %u load %u "
			  "segments %u; expected at most %u",
			  CUTS_MAX - 1, key->jobs, key->load, key->segments,
			  CUTS_MAX - 1);
}

static int gather_cuts(const struct compile *c, const struct key *key, uint64_t *cuts,
		       unsigned *ret_nr)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < c->nr_rules; i++) {
		const struct cp_rule *rule = c->rules[i];

		if (!when_holds(&rule->when, key))
			continue;
		for (unsigned k = 0; k < rule->nr_sizes; k++) {
			const uint64_t ends[] = {size_above(rule, k),
						 rule->sizes[k].upto};

			for (unsigned e = 0; e < 2; e++) {
				if (!ends[e] || ends[e] >= UINT32_MAX)
					continue;
				/* One is kept for the last. A cut left out would be a
				 * wrong answer. */
				if (nr + 1 == CUTS_MAX)
					return too_many_cuts(c, key);
				cuts[nr++] = ends[e];
			}
		}
	}
	qsort(cuts, nr, sizeof(cuts[0]), cut_cmp);
	cuts[nr++] = UINT32_MAX; /* stands for every larger size */
	*ret_nr = nr;
	return 0;
}

static int pick_slowly(const struct compile *c, const struct key *key, uint64_t bytes,
		       uint16_t *ret_index)
{
	struct cp_action act;

	for (unsigned i = 0; i < c->nr_rules; i++) {
		if (!when_holds(&c->rules[i]->when, key))
			continue;
		const struct cp_policy_size *size = rule_size(c->rules[i], bytes);

		if (size)
			return action_index(c, &size->act, ret_index);
	}
	default_action(c->policy, &act);
	return action_index(c, &act, ret_index);
}

static int fill_row(const struct compile *c, const struct key *key,
		    struct cp_policy_row *row)
{
	uint64_t cuts[CUTS_MAX];
	unsigned nr_cuts = 0, nr = 0;
	int rc = gather_cuts(c, key, cuts, &nr_cuts);

	if (rc)
		return rc;
	for (unsigned i = 0; i < 8; i++)
		row->upto[i] = cp_policy_key(UINT32_MAX);
	for (unsigned i = 0; i < nr_cuts; i++) {
		uint16_t index;

		rc = pick_slowly(c, key, cuts[i], &index);
		if (rc)
			return rc;
		if (i && index == row->act[nr]) { /* goes on */
			if (nr < 8)
				row->upto[nr] = cp_policy_key(cuts[i]);
			continue;
		}
		if (i && ++nr > 8)
			return cp_err_set(c->err, CP_EXIT_USAGE, E2BIG,
					  "policy has more than 8 breakpoints at jobs %u "
					  "load %u segments %u; expected at most 8",
					  key->jobs, key->load, key->segments);
		row->act[nr] = index;
		if (nr < 8)
			row->upto[nr] = cp_policy_key(cuts[i]);
	}
	/* Counting never goes past the last action; fill the rest so that it may. */
	for (unsigned i = nr + 1; i < 16; i++)
		row->act[i] = row->act[nr];
	return 0;
}

static int fill_rows(const struct compile *c, const uint32_t *jobs, const uint32_t *load,
		     const uint32_t *segments)
{
	struct cp_policy_table *table = c->table;
	struct cp_policy_row *row = table->rows;

	for (unsigned d = 0; d < 2; d++)
		for (unsigned j = 0; j < table->nr_jobs; j++)
			for (unsigned l = 0; l < table->nr_load; l++)
				for (unsigned s = 0; s < table->nr_segments; s++, row++) {
					const struct key key = {
						.dir = d ? CP_DIR_WRITE : CP_DIR_READ,
						.jobs = jobs[j],
						.load = load[l],
						.segments = segments[s],
					};
					int rc = fill_row(c, &key, row);

					if (rc)
						return rc;
				}
	return 0;
}

static int compile(const struct compile *c)
{
	struct cp_policy_table *table = c->table;
	uint32_t jobs[CLASSES_MAX], load[CLASSES_MAX], segments[CLASSES_MAX];
	int rc = make_classes(c, offsetof(struct cp_when, jobs), JOBS_TOP,
			      table->jobs_class, jobs, &table->nr_jobs);

	if (!rc)
		rc = make_classes(c, offsetof(struct cp_when, load), LOAD_TOP,
				  table->load_class, load, &table->nr_load);
	if (!rc)
		rc = make_classes(c, offsetof(struct cp_when, segments), SEGMENTS_TOP,
				  table->segments_class, segments, &table->nr_segments);
	if (rc)
		return rc;
	size_t nr = 2UL * table->nr_jobs * table->nr_load * table->nr_segments;

	if (nr > ROWS_MAX)
		return cp_err_set(c->err, CP_EXIT_USAGE, E2BIG,
				  "policy needs a table of %zu rows; expected at most %u",
				  nr, ROWS_MAX);
	table->rows = aligned_alloc(64, nr * sizeof(*table->rows));
	if (!table->rows)
		return cp_err_set(c->err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for a policy table of %zu rows", nr);
	memset(table->rows, 0, nr * sizeof(*table->rows));
	return fill_rows(c, jobs, load, segments);
}

int cp_policy_compile(const struct cp_policy *policy, const struct cp_context *context,
		      struct cp_policy_table **ret_table, struct cp_err *err)
{
	struct compile c = {.policy = policy, .err = err};
	int rc = 0;

	c.rules = calloc(policy->nr_rules + 1UL, sizeof(*c.rules));
	c.table = calloc(1, sizeof(*c.table));
	if (!c.rules || !c.table) {
		rc = cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				"not enough memory for a policy table");
		goto out_free;
	}
	for (unsigned i = 0; i < policy->nr_rules; i++)
		if (when_is(&policy->rules[i].when, context))
			c.rules[c.nr_rules++] = &policy->rules[i];
	rc = compile(&c);
	if (rc)
		goto out_free;
	c.table->nr_rules = c.nr_rules;
	*ret_table = c.table;
	c.table = NULL;
out_free:
	cp_policy_table_free(c.table);
	free(c.rules);
	return rc;
}

void cp_policy_table_free(struct cp_policy_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table);
}
