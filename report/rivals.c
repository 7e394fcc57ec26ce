// SPDX-License-Identifier: GPL-2.0-only
/* What a rule's arm was compared with, and what no rule holds for. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/data.h"

#define POINTS_MAX 64

/* The rule's own arm among the cells of one context. */
static const struct cp_report_cell *own_cell(const struct cp_report *report,
					     const struct cp_report_cell *cells,
					     size_t nr, const struct cp_action *act)
{
	for (size_t i = 0; i < nr; i++)
		if (cells[i].judged && isfinite(cells[i].cost) &&
		    !strcmp(report->arms[cells[i].arm].arm.name, act->name))
			return &cells[i];
	return NULL;
}

/* A queue mode cannot change per I/O: where mq's CPU copies were measured, the rules are
 * among mq's arms (policies/learn.h). */
static bool has_mq_copy(const struct cp_report *report,
			const struct cp_report_panel *panel)
{
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const struct cp_arm *arm = &report->arms[report->cells[i].arm].arm;

		if (report->cells[i].judged && !strcmp(arm->queue_mode, "mq") &&
		    !strcmp(arm->path, "cpu"))
			return true;
	}
	return false;
}

static const struct cp_report_cell *runner_up(const struct cp_report *report,
					      const struct cp_report_cell *cells,
					      size_t nr, const struct cp_report_cell *own,
					      bool mq_only)
{
	const struct cp_report_cell *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct cp_arm *arm = &report->arms[cells[i].arm].arm;

		if (&cells[i] == own || !cells[i].judged || cells[i].excluded ||
		    !isfinite(cells[i].cost) ||
		    (mq_only && strcmp(arm->queue_mode, "mq") != 0))
			continue;
		if (!best || cells[i].cost < best->cost)
			best = &cells[i];
	}
	return best;
}

static void add_name(char *names, size_t size, const char *name)
{
	size_t used = strlen(names), len = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at++)
		if ((at == names || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return;
	snprintf(names + used, size - used, "%s%s", used ? " or " : "", name);
}

void cp_report_rivals(const struct cp_report *report, const struct cp_policy_size *size,
		      struct cp_report_rivals *ret)
{
	double sum = 0;

	*ret = (struct cp_report_rivals){.incumbent_pct = NAN};
	for (size_t p = 0; p < report->nr_panels; p++) {
		const struct cp_report_panel *panel = &report->panels[p];
		bool mq_only = has_mq_copy(report, panel);
		size_t at = panel->first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, panel, &at, &nr))) {
			const struct cp_report_cell *own, *next, *incumbent;
			struct cp_policy_answer answer;

			cp_report_answer(report, &cells->context, &answer);
			own = own_cell(report, cells, nr, &answer.act);
			if (answer.size != size || !own)
				continue;
			next = runner_up(report, cells, nr, own, mq_only);
			if (next)
				add_name(ret->next, sizeof(ret->next),
					 report->arms[next->arm].label);
			incumbent = cp_report_incumbent(report, cells, nr);
			if (!mq_only || !incumbent || incumbent == own ||
			    !isfinite(incumbent->cost))
				continue;
			sum += log(own->cost / incumbent->cost);
			ret->nr_incumbent++;
			snprintf(ret->mode, sizeof(ret->mode), "%s",
				 report->arms[own->arm].arm.queue_mode);
		}
	}
	if (ret->nr_incumbent)
		ret->incumbent_pct = 100 * (exp(sum / ret->nr_incumbent) - 1);
}

/* Gains in a policy that was learned from other samples are of arms not seen here. */
bool cp_report_is_of_policy(const struct cp_report *report)
{
	struct cp_learn_counts counts = {0};

	if (report->policy_learned_here)
		return true;
	if (!report->learn)
		return false;
	cp_learn_counts(report->learn, &counts);
	for (size_t i = 0; i < report->nr_runs; i++)
		if (report->runs[i].has_manifest && report->policy.fingerprint[0] &&
		    strcmp(report->runs[i].manifest.fingerprint,
			   report->policy.fingerprint) != 0)
			return false;
	return counts.used && counts.used == report->policy.samples;
}

/* --- where no rule holds --- */

struct points { /* one in every stretch in which the answer is the same */
	uint64_t at[POINTS_MAX];
	size_t nr;
	bool full;
};

static void add_point(struct points *points, uint64_t value)
{
	for (size_t i = 0; i < points->nr; i++)
		if (points->at[i] == value)
			return;
	if (points->nr < POINTS_MAX)
		points->at[points->nr++] = value;
	else
		points->full = true;
}

static void add_range(struct points *points, const struct cp_range *range)
{
	add_point(points, range->min ? range->min : 1);
	if (range->max != CP_POLICY_OPEN)
		add_point(points, (uint64_t)range->max + 1);
}

struct edges {
	struct points jobs, load, segments, sizes;
};

static void add_edges(struct edges *edges, const struct cp_rule *rule)
{
	add_range(&edges->jobs, &rule->when.jobs);
	add_range(&edges->load, &rule->when.load);
	add_range(&edges->segments, &rule->when.segments);
	for (unsigned s = 0; s < rule->nr_sizes; s++) {
		add_point(&edges->sizes, rule->sizes[s].upto);
		if (rule->sizes[s].upto != UINT64_MAX)
			add_point(&edges->sizes, rule->sizes[s].upto + 1);
		if (rule->sizes[s].above)
			add_point(&edges->sizes, rule->sizes[s].above);
	}
}

static bool covers_sizes(const struct cp_report *report, const struct edges *edges,
			 struct cp_context *context)
{
	struct cp_policy_answer answer;

	for (size_t g = 0; g < edges->segments.nr; g++) {
		for (size_t s = 0; s < edges->sizes.nr; s++) {
			context->segments = (uint32_t)edges->segments.at[g];
			context->bs = edges->sizes.at[s];
			if (!cp_report_answer(report, context, &answer))
				return false;
		}
	}
	return true;
}

static bool covers_place(const struct cp_report *report, const struct edges *edges,
			 const struct cp_when *when)
{
	static const char *const rws[] = {"read", "write"};
	struct cp_context context;

	cp_context_init(&context);
	snprintf(context.layer, sizeof(context.layer), "%s", when->layer);
	snprintf(context.attr, sizeof(context.attr), "%s", when->attr);
	snprintf(context.numa, sizeof(context.numa), "%s", when->numa);
	context.misalign_near = when->misalign_near;
	context.misalign_far = when->misalign_far;
	for (size_t r = 0; r < 2; r++) {
		snprintf(context.rw, sizeof(context.rw), "%s", rws[r]);
		for (size_t j = 0; j < edges->jobs.nr; j++) {
			uint64_t jobs = edges->jobs.at[j];

			for (size_t l = 0; l < edges->load.nr; l++) {
				uint64_t load = edges->load.at[l];

				context.numjobs = (uint32_t)jobs;
				context.iodepth = (uint32_t)((load + jobs - 1) / jobs);
				if (!covers_sizes(report, edges, &context))
					return false;
			}
		}
	}
	return true;
}

bool cp_report_rules_cover(const struct cp_report *report)
{
	const struct cp_policy *policy = &report->policy;
	struct edges edges = {0};

	add_point(&edges.jobs, 1);
	add_point(&edges.load, 1);
	add_point(&edges.segments, 1);
	add_point(&edges.sizes, 512);
	for (unsigned r = 0; r < policy->nr_rules; r++)
		add_edges(&edges, &policy->rules[r]);
	if (!policy->nr_rules || edges.jobs.full || edges.load.full ||
	    edges.segments.full || edges.sizes.full)
		return false;
	for (unsigned r = 0; r < policy->nr_rules; r++)
		if (!covers_place(report, &edges, &policy->rules[r].when))
			return false;
	return true;
}
