// SPDX-License-Identifier: GPL-2.0-only
/* A row's choices as rules: decided intervals in one, undecided ones in another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/pieces.h"

void learn_action(const struct cp_arm *arm, const struct cp_context *context,
		  uint64_t bytes, struct cp_action *act)
{
	uint64_t thresh = cp_context_dir(context) == CP_DIR_READ ? arm->dma_thresh_read
								 : arm->dma_thresh_write;
	bool dma = !strcmp(arm->path, "dma") ||
		   (!strcmp(arm->path, "auto") && thresh && bytes >= thresh);

	memset(act, 0, sizeof(*act));
	snprintf(act->name, sizeof(act->name), "%s", arm->name);
	snprintf(act->path, sizeof(act->path), "%s", dma ? "dma" : "cpu");
	if (!dma)
		snprintf(act->copy, sizeof(act->copy), "%s",
			 *arm->copy ? arm->copy : "auto");
}

static void fill_size(const struct learn_row *row, const struct pieces *pieces,
		      unsigned i, const struct cp_policy *policy,
		      struct cp_policy_size *size)
{
	const struct piece *p = &pieces->p[i];

	size->upto = p->upto;
	size->above = p->above;
	if (p->use >= 0) {
		learn_action(row->curves[p->use].arm, &row->key, row->grid[p->first],
			     &size->act);
	} else {
		snprintf(size->act.name, sizeof(size->act.name), "default");
		snprintf(size->act.path, sizeof(size->act.path), "%s",
			 policy->fallback.path);
		snprintf(size->act.copy, sizeof(size->act.copy), "%s",
			 policy->fallback.copy);
	}
	if (!p->decided)
		learn_action(row->curves[p->lean].arm, &row->key, row->grid[p->first],
			     &size->best);
	pieces_evidence(row, pieces, i, size);
}

static struct cp_rule *rule_new(const struct learn_row *row, struct cp_policy *policy,
				bool decided)
{
	struct cp_rule *rules =
		reallocarray(policy->rules, policy->nr_rules + 1, sizeof(*rules));

	if (!rules)
		return NULL;
	policy->rules = rules;
	struct cp_rule *rule = &rules[policy->nr_rules++];

	memset(rule, 0, sizeof(*rule));
	rule->decided = decided;
	rule->when.dir = cp_context_dir(&row->key);
	memcpy(rule->when.layer, row->key.layer, sizeof(rule->when.layer));
	memcpy(rule->when.attr, row->key.attr, sizeof(rule->when.attr));
	memcpy(rule->when.numa, row->key.numa, sizeof(rule->when.numa));
	rule->when.misalign_near = row->key.misalign_near;
	rule->when.misalign_far = row->key.misalign_far;
	rule->when.jobs = row->jobs;
	rule->when.load = row->load;
	rule->when.segments = (struct cp_range){1, CP_POLICY_OPEN};
	return rule;
}

static int add_rule(const struct learn_row *row, struct pieces *pieces, bool decided,
		    struct cp_policy *policy, unsigned *count, struct cp_err *err)
{
	struct cp_rule *rule = NULL;
	bool noisy = false;
	uint64_t before = 0;

	for (unsigned i = 0; i < pieces->nr; i++) {
		struct piece *p = &pieces->p[i];

		if (p->decided != decided)
			continue;
		if (!rule)
			rule = rule_new(row, policy, decided);
		if (!rule)
			return learn_no_memory(err);
		struct cp_policy_size *size = &rule->sizes[rule->nr_sizes++];

		fill_size(row, pieces, i, policy, size);
		if (size->above == before)
			size->above = 0;
		before = size->upto;
		if (!decided)
			rule->samples_needed += pieces_samples_needed(row, p, &noisy);
		*count += decided;
	}
	if (rule && !decided)
		snprintf(rule->reason, sizeof(rule->reason), "%s",
			 noisy ? "noise_limited" : "not_enough_evidence");
	return 0;
}

static void note_row(struct cp_learn *learn, const struct learn_row *row,
		     const struct pieces *pieces)
{
	bool bio = false, dma = false;

	if (row->nr_curves == 1)
		learn_note(learn,
			   "%s jobs %u depth %u: only arm '%s' was measured, so there is "
			   "nothing to choose between",
			   row->key.rw, row->key.numjobs, row->key.iodepth,
			   row->curves[0].arm->name);
	if (row->nr_grid == 1)
		learn_note(learn,
			   "%s jobs %u depth %u: only one size was measured; other sizes "
			   "keep the default",
			   row->key.rw, row->key.numjobs, row->key.iodepth);
	for (unsigned i = 0; i < pieces->nr; i++) {
		const struct piece *p = &pieces->p[i];

		/* The incumbent where nothing is known to be better: no claim about mq.
		 */
		if (p->use < 0 || learn_standby(row, (unsigned)p->use))
			continue;
		const struct cp_arm *arm = row->curves[p->use].arm;

		bio |= !strcmp(arm->queue_mode, "bio");
		dma |= !strcmp(arm->path, "dma");
	}
	if (bio && dma)
		learn_note(
			learn,
			"rules for %s mix CPU copies measured in bio with DMA in mq: "
			"mq's "
			"own cost is not in the CPU figures; measure the CPU in mq too",
			row->key.rw);
}

int learn_rules_add(struct cp_learn *learn, const struct learn_row *row,
		    struct cp_policy *policy, unsigned *decided, struct cp_err *err)
{
	struct pieces *pieces = calloc(1, sizeof(*pieces));

	if (!pieces)
		return learn_no_memory(err);
	pieces_make(row, pieces);
	int rc = add_rule(row, pieces, true, policy, decided, err);

	if (!rc)
		rc = add_rule(row, pieces, false, policy, decided, err);
	note_row(learn, row, pieces);
	free(pieces);
	return rc;
}
