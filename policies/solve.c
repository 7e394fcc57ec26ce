// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of the learner's steps, and the queue mode that the rules are made in.
 *
 * A queue mode is the device's, no I/O's. Rules are made among the arms of bio and mq as
 * learn_standby() has it, and where pages were measured too, among those once more; the
 * one setting that each comes to is weighed over the same I/Os, and the better policy is
 * the answer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

static bool has_rivals(const struct learn_row *row)
{
	for (unsigned c = 0; c < row->nr_curves; c++)
		if (!learn_standby(row, c))
			return true;
	return false;
}

static int solve_row(struct cp_learn *learn, struct learn_row *row,
		     struct cp_policy *policy, unsigned *decided, struct cp_err *err)
{
	int rc = learn_grid_make(row, err);

	if (rc)
		return rc;
	learn_decide(learn, row);
	if (!has_rivals(row)) {
		learn_note(learn, "%s jobs %u depth %u: %s, so there is no rule for it",
			   row->key.rw, row->key.numjobs, row->key.iodepth,
			   row->page ? "no page arm was measured"
				     : "only page arms were measured");
		return 0;
	}
	rc = learn_compress(row, err);
	return rc ? rc : learn_rules_add(learn, row, policy, decided, err);
}

/* In the order of the file, which has decided and undecided rules in lists of their own:
 * what is printed here and what `explain` prints of the file are then the same. */
static int order_rules(struct cp_policy *policy, struct cp_err *err)
{
	struct cp_rule *rules = calloc(policy->nr_rules + 1, sizeof(*rules));
	unsigned nr = 0;

	if (!rules)
		return learn_no_memory(err);
	for (int decided = 1; decided >= 0; decided--)
		for (unsigned i = 0; i < policy->nr_rules; i++)
			if (policy->rules[i].decided == decided)
				rules[nr++] = policy->rules[i];
	free(policy->rules);
	policy->rules = rules;
	return 0;
}

/* Nothing to learn from, and a reason that the user can do something about. */
static int check_corunner(const struct cp_learn *learn, struct cp_err *err)
{
	if (learn->counts.used || !learn->counts.unusable ||
	    !cp_objective_needs_corunner(&learn->objective))
		return 0;
	return cp_err_set(
		err, CP_EXIT_INCONCLUSIVE, ENODATA,
		"objective '%s' weighs the work of a co-runner, and no sample "
		"has what it did alone and beside the I/O; expected records of "
		"a workload with run: {corunner: compute}, or another objective",
		learn->objective.name);
}

static void fill_head(const struct cp_learn *learn, struct cp_policy *policy)
{
	cp_policy_init(policy);
	snprintf(policy->name, sizeof(policy->name), "learned");
	snprintf(policy->host, sizeof(policy->host), "%.*s",
		 (int)sizeof(policy->host) - 1, learn->host);
	policy->samples = learn->counts.used;
	policy->objective = learn->objective;
	if (!learn->any)
		return;
	memcpy(policy->driver, learn->driver, sizeof(policy->driver));
	memcpy(policy->media, learn->provenance.media, sizeof(policy->media));
	memcpy(policy->attr, learn->provenance.attr, sizeof(policy->attr));
	memcpy(policy->dma, learn->provenance.dma, sizeof(policy->dma));
}

/* A policy of rules in one mode, and the setting it comes to. */
struct answer {
	struct cp_policy policy;
	unsigned decided;
	struct learn_setting settings[2];
};

static int solve_mode(struct cp_learn *learn, bool page, struct answer *answer,
		      struct cp_err *err)
{
	fill_head(learn, &answer->policy);
	answer->decided = 0;
	int rc = learn_promise(learn, &answer->policy.device, err);

	for (size_t i = 0; i < learn->nr_rows && !rc; i++) {
		learn_row_forget(&learn->rows[i]);
		learn->rows[i].page = page;
		rc = solve_row(learn, &learn->rows[i], &answer->policy, &answer->decided,
			       err);
	}
	if (!rc)
		rc = order_rules(&answer->policy, err);
	if (rc)
		cp_policy_free(&answer->policy);
	else
		learn_device(learn, &answer->policy, page, answer->settings);
	return rc;
}

static bool measured(const struct cp_learn *learn, bool page)
{
	for (size_t i = 0; i < learn->nr_cells; i++)
		if (!strcmp(learn->cells[i].arm.queue_mode, "page") == page)
			return true;
	return false;
}

/* A device that takes pages alone would refuse some of what was measured. */
static bool all_in_pages(struct cp_learn *learn)
{
	for (size_t i = 0; i < learn->nr_cells; i++) {
		unsigned long long bs = learn->cells[i].context.bs;

		if (bs % CP_PAGE_BYTES == 0)
			continue;
		learn_note(learn,
			   "bs %llu is no multiple of 4k, which page needs, so the "
			   "device's queue_mode is not page",
			   bs);
		return false;
	}
	return true;
}

/* The same with rules among pages, and whichever is better into answer. */
static int weigh_page(struct cp_learn *learn, unsigned first_note, struct answer *answer,
		      struct cp_err *err)
{
	char notes[LEARN_NOTES_MAX][sizeof(learn->notes[0])];
	unsigned nr_notes = learn->nr_notes;
	const char *mode = answer->policy.device.queue_mode;
	struct answer page;

	memcpy(notes, learn->notes, sizeof(notes));
	learn->nr_notes = first_note;
	int rc = solve_mode(learn, true, &page, err);

	if (rc)
		return rc;
	for (unsigned d = 0; d < 2; d++) /* bio, unmeasured: mq was */
		if (answer->settings[d].cpu &&
		    !strcmp(answer->settings[d].cpu->queue_mode, "mq"))
			mode = "mq";
	unsigned page_notes = learn->nr_notes;

	if (learn_page_pays(learn, answer->settings, page.settings, mode)) {
		cp_policy_free(&answer->policy);
		*answer = page;
		return 0;
	}
	/* the verdict goes behind the notes of what is kept */
	if (learn->nr_notes > page_notes && nr_notes < LEARN_NOTES_MAX)
		memcpy(notes[nr_notes++], learn->notes[page_notes], sizeof(notes[0]));
	memcpy(learn->notes, notes, sizeof(notes));
	learn->nr_notes = nr_notes;
	cp_policy_free(&page.policy);
	return 0;
}

static void note_source(struct cp_learn *learn)
{
	learn->nr_notes = 0;
	if (!strcmp(learn->provenance.dma, "modelled"))
		learn_note(
			learn,
			"the DMA engine is modelled: no byte was moved, and what a real "
			"one costs beside its speed is in no figure; the policy is a "
			"what-if, not a measurement");
	if (learn->any && strcmp(learn->driver, "fio") != 0)
		learn_note(learn,
			   "the I/Os are those of driver %s; the policy says so, and "
			   "knows nothing of fio's",
			   learn->driver);
}

int cp_learn_solve(struct cp_learn *learn, struct cp_policy *ret_policy,
		   unsigned *ret_decided, struct cp_err *err)
{
	struct answer answer;

	note_source(learn);
	learn_rows_free(learn);
	int rc = check_corunner(learn, err);

	if (!rc)
		rc = learn_spread(learn, err);
	if (!rc)
		rc = learn_rows_build(learn, err);
	if (!rc)
		rc = learn_curves(learn, err);
	if (rc)
		return rc;
	bool page = measured(learn, true), other = measured(learn, false);
	unsigned first_note = learn->nr_notes;

	rc = solve_mode(learn, page && !other, &answer, err);
	if (!rc && page && other && all_in_pages(learn)) {
		rc = weigh_page(learn, first_note, &answer, err);
		if (rc)
			cp_policy_free(&answer.policy);
	}
	if (rc)
		return rc;
	*ret_policy = answer.policy;
	*ret_decided = answer.decided;
	return 0;
}
