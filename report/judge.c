// SPDX-License-Identifier: GPL-2.0-only
/* The learner's view of the cells, and the policy's choice among them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policies/served.h"
#include "report/data.h"

int cp_report_judge_begin(struct cp_report *report, struct cp_err *err)
{
	const struct cp_report_opts *opts = report->opts;
	char asked[CP_OBJECTIVE_TEXT_MAX];
	struct cp_objective objective;
	int rc;

	if (report->policy_path[0]) {
		rc = cp_policy_read(report->policy_path, &report->policy, err);
		if (rc)
			return rc;
		report->has_policy = true;
		objective = report->policy.objective;
	} else {
		cp_objective_of_runs(opts->records, opts->nr_records, asked,
				     sizeof(asked), report->objective_note,
				     sizeof(report->objective_note));
		if (opts->objective)
			report->objective_note[0] = '\0';
		rc = cp_objective_parse(opts->objective ? opts->objective : asked,
					&objective, err);
		if (rc)
			return rc;
	}
	return cp_learn_new(&objective, &report->learn, err);
}

/* The learner refuses mixed provenance and hosts. The report then shows what was measured
 * without judging it, and says why. */
void cp_report_judge_add(struct cp_report *report, const struct cp_record *record)
{
	struct cp_err err = {0};

	/* a fault is no I/O that a policy would answer for */
	if (cp_report_is_swap(&record->context))
		return;
	if (!report->learn || !cp_learn_add(report->learn, record, &err))
		return;
	snprintf(report->judge_note, sizeof(report->judge_note), "%s", err.msg);
	cp_learn_free(report->learn);
	report->learn = NULL;
}

static bool same_provenance(const struct cp_provenance *a, const struct cp_provenance *b)
{
	return !strcmp(a->media, b->media) && !strcmp(a->attr, b->attr) &&
	       !strcmp(a->dma, b->dma);
}

static void take_judgement(struct cp_report *report, const struct cp_learn_cell *from)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		struct cp_report_cell *cell = &report->cells[i];
		const struct cp_report_arm *arm = &report->arms[cell->arm];

		if (strcmp(arm->arm.name, from->arm.name) != 0 ||
		    !cp_context_same(&cell->context, &from->context) ||
		    !cp_arm_same(&arm->arm, &from->arm) ||
		    !same_provenance(&cell->provenance, &from->provenance))
			continue;
		cell->judged = true;
		cell->cost = from->cost;
		cell->pareto = from->pareto;
		cell->excluded = from->excluded;
		return;
	}
}

static void note_once(struct cp_report *report, const struct cp_err *err)
{
	if (!report->judge_note[0])
		snprintf(report->judge_note, sizeof(report->judge_note), "%s", err->msg);
}

static void learn_here(struct cp_report *report)
{
	struct cp_err err = {0};
	unsigned decided;

	if (cp_learn_solve(report->learn, &report->policy, &decided, &err)) {
		note_once(report, &err);
		return;
	}
	report->has_policy = true;
	report->policy_learned_here = true;
}

static bool measure_regret(struct cp_report *report, const struct cp_policy *policy,
			   struct cp_regret *ret)
{
	struct cp_err err = {0};

	if (cp_policy_regret(report->learn, policy, ret, &err)) {
		note_once(report, &err);
		return false;
	}
	return true;
}

static void judge_default(struct cp_report *report)
{
	const char *path = report->opts->default_policy;
	struct cp_policy policy;
	struct cp_err err = {0};

	if (!path)
		return;
	if (cp_policy_read(path, &policy, &err)) {
		cp_report_warn(report, "the default policy's regret is not shown: %s",
			       err.msg);
		return;
	}
	report->has_default_regret =
		measure_regret(report, &policy, &report->default_regret);
	cp_policy_free(&policy);
}

/* Arms of one context that a policy is judged among; more are left out. */
#define SERVED_MAX 256

static void mark_choice(struct cp_report *report, const struct cp_report_cell *cells,
			size_t nr)
{
	struct cp_served_arm arms[SERVED_MAX];
	const struct cp_report_cell *from[SERVED_MAX];
	struct cp_policy_answer answer;
	size_t nr_arms = 0;

	cp_report_answer(report, &cells->context, &answer);
	for (size_t i = 0; i < nr && nr_arms < SERVED_MAX; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];

		if (!cells[i].n || arm->simulated)
			continue;
		from[nr_arms] = &cells[i];
		arms[nr_arms++] = (struct cp_served_arm){&arm->arm, cells[i].copy};
	}
	int at = cp_policy_served(&report->policy, &answer,
				  cp_context_dir(&cells->context), arms, nr_arms);

	if (at < 0)
		return;
	struct cp_report_cell *cell = &report->cells[from[at] - report->cells];

	cell->chosen = true;
	const char *mode = report->policy.device.queue_mode;

	if (answer.rule && (strcmp(arms[at].arm->name, answer.act.name) != 0 ||
			    (mode[0] && strcmp(arms[at].arm->queue_mode, mode) != 0)))
		snprintf(cell->stands_for, sizeof(cell->stands_for), "%s",
			 answer.act.name);
}

static void mark_choices(struct cp_report *report)
{
	for (size_t p = 0; p < report->nr_panels; p++) {
		const struct cp_report_panel *panel = &report->panels[p];
		size_t at = panel->first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, panel, &at, &nr)))
			if (!cp_report_is_swap(&cells->context))
				mark_choice(report, cells, nr);
	}
}

void cp_report_judge_finish(struct cp_report *report)
{
	const struct cp_learn_cell *cells;
	struct cp_learn_counts counts = {0};
	size_t nr;

	if (report->learn) {
		cp_learn_counts(report->learn, &counts);
		if (!counts.used)
			note_once(report,
				  counts.unusable
					  ? &(struct cp_err){.msg = "no sample has the "
								    "figures that the "
								    "objective weighs"}
					  : &(struct cp_err){.msg = "no sample moved "
								    "data"});
	}
	if (report->learn && counts.used) {
		struct cp_err why = {0};

		if (cp_learn_cells(report->learn, &cells, &nr, &why))
			note_once(report, &why);
		else
			for (size_t i = 0; i < nr; i++)
				take_judgement(report, &cells[i]);
		if (!report->has_policy)
			learn_here(report);
		if (report->has_policy)
			report->has_regret =
				measure_regret(report, &report->policy, &report->regret);
		judge_default(report);
	}
	if (report->has_policy)
		mark_choices(report);
}

bool cp_report_answer(const struct cp_report *report, const struct cp_context *context,
		      struct cp_policy_answer *ret_answer)
{
	return cp_policy_answer(&report->policy, context, ret_answer);
}

const struct cp_report_cell *cp_report_next_context(const struct cp_report *report,
						    const struct cp_report_panel *panel,
						    size_t *at, size_t *ret_nr)
{
	const struct cp_report_cell *first = &report->cells[*at];
	size_t end = panel->first + panel->nr, nr = 0;

	if (*at >= end)
		return NULL;
	while (*at < end && report->cells[*at].context.bs == first->context.bs &&
	       report->cells[*at].context.segments == first->context.segments) {
		(*at)++;
		nr++;
	}
	*ret_nr = nr;
	return first;
}

const struct cp_report_cell *cp_report_action_cell(const struct cp_report *report,
						   const struct cp_report_cell *cells,
						   size_t nr, const struct cp_action *act)
{
	for (size_t i = 0; i < nr; i++)
		if (cells[i].n && !strcmp(report->arms[cells[i].arm].arm.name, act->name))
			return &cells[i];
	/* a policy from elsewhere has other names; the same way of serving will do */
	for (size_t i = 0; i < nr; i++) {
		const struct cp_report_arm *arm = &report->arms[cells[i].arm];

		if (!cells[i].n || arm->simulated ||
		    strcmp(arm->arm.path, act->path) != 0)
			continue;
		if (!strcmp(act->path, "dma") || !strcmp(arm->arm.copy, act->copy))
			return &cells[i];
	}
	return NULL;
}

const struct cp_report_cell *cp_report_incumbent(const struct cp_report *report,
						 const struct cp_report_cell *cells,
						 size_t nr)
{
	const struct cp_report_cell *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct cp_arm *arm = &report->arms[cells[i].arm].arm;

		if (!cells[i].n || strcmp(arm->queue_mode, "bio") != 0 ||
		    strcmp(arm->path, "cpu") != 0)
			continue;
		if (!strcmp(arm->copy, "auto"))
			return &cells[i];
		found = found ? found : &cells[i];
	}
	return found;
}
