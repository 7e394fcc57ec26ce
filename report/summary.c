// SPDX-License-Identifier: GPL-2.0-only
/* The first screen: what to set, what it brings, how sure that is, and of what. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/page.h"

#define RULES_SHOWN 12

static char *thresh_words(uint64_t bytes, char *buf, size_t size)
{
	if (!bytes)
		snprintf(buf, size, "never");
	else if (bytes % 1024)
		snprintf(buf, size, "%" PRIu64 " bytes", bytes);
	else
		cp_size_format(bytes, buf, size);
	return buf;
}

static void range_words(const struct cp_rule *rule, char *buf, size_t size)
{
	const struct cp_range *load = &rule->when.load, *jobs = &rule->when.jobs;
	char load_text[48] = "any load", jobs_text[48] = "";

	if (load->max != CP_POLICY_OPEN && load->min <= 1)
		snprintf(load_text, sizeof(load_text), "load up to %u", load->max);
	else if (load->max != CP_POLICY_OPEN)
		snprintf(load_text, sizeof(load_text), "load %u to %u", load->min,
			 load->max);
	else if (load->min > 1)
		snprintf(load_text, sizeof(load_text), "load from %u", load->min);
	if (jobs->max != CP_POLICY_OPEN)
		snprintf(jobs_text, sizeof(jobs_text), ", %u to %u jobs",
			 jobs->min ? jobs->min : 1, jobs->max);
	else if (jobs->min > 1)
		snprintf(jobs_text, sizeof(jobs_text), ", from %u jobs", jobs->min);
	snprintf(buf, size, "%s, %s%s", cp_report_dir_word(rule->when.dir), load_text,
		 jobs_text);
}

/* "read, load up to 4: cpu-nt up to 64k (costs 12 % less than the next, 99 % sure); ...".
 */
static void rule_item(struct cp_report_doc *doc, const struct cp_rule *rule)
{
	char head[160], text[2048] = "", words[80];
	size_t used = 0;

	range_words(rule, head, sizeof(head));
	for (unsigned s = 0; s < rule->nr_sizes && used < sizeof(text) - 300; s++) {
		const struct cp_policy_size *size = &rule->sizes[s];

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%.100s %s%s", s ? "; " : "",
			size->act.name,
			size->upto == UINT64_MAX && !size->above && !s ? "at " : "",
			cp_report_interval_words(rule, s, words, sizeof(words)));
		if (isfinite(size->gain_pct) && isfinite(size->confidence))
			used += (size_t)snprintf(
				text + used, sizeof(text) - used,
				" (costs %.1f %% less than the next, %.1f %% sure)",
				size->gain_pct, 100 * size->confidence);
	}
	cp_report_doc_item(doc, "%s: %s.", head, text);
}

unsigned cp_report_count_intervals(const struct cp_report *report, bool decided)
{
	unsigned nr = 0;

	for (unsigned r = 0; r < report->policy.nr_rules; r++)
		if (report->policy.rules[r].decided == decided)
			nr += report->policy.rules[r].nr_sizes;
	return nr;
}

static unsigned count_rules(const struct cp_report *report, bool decided)
{
	unsigned nr = 0;

	for (unsigned r = 0; r < report->policy.nr_rules; r++)
		nr += report->policy.rules[r].decided == decided;
	return nr;
}

static void device_items(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_device *device = &report->policy.device;
	char read[32], write[32];

	if (!strcmp(device->queue_mode, "bio"))
		cp_report_doc_item(doc,
				   "Driver: queue_mode=bio, so CPU copies and no DMA.");
	else if (device->queue_mode[0])
		cp_report_doc_item(
			doc,
			"Driver: queue_mode=%s queue_depth=%u q_per_node=%u "
			"completion=%s, "
			"DMA from %s (read) and %s (write).",
			device->queue_mode, device->queue_depth, device->q_per_node,
			device->completion,
			thresh_words(device->dma_thresh_read, read, sizeof(read)),
			thresh_words(device->dma_thresh_write, write, sizeof(write)));
	if (isfinite(device->regret_pct))
		cp_report_doc_item(
			doc,
			"Such a single setting costs %.1f %% more than what the "
			"whole policy picks.",
			device->regret_pct);
}

static void rule_items(const struct cp_report *report, struct cp_report_doc *doc)
{
	unsigned shown = 0, decided = count_rules(report, true);

	for (unsigned r = 0; r < report->policy.nr_rules && shown < RULES_SHOWN; r++) {
		if (!report->policy.rules[r].decided)
			continue;
		rule_item(doc, &report->policy.rules[r]);
		shown++;
	}
	if (shown < decided)
		cp_report_doc_item(doc, "%u more rules are in the table below.",
				   decided - shown);
	if (report->policy.nr_rules && !decided)
		cp_report_doc_item(doc, "No rule was decided: measure more before you "
					"change anything.");
}

static void what_to_set(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_arm *fallback = &report->policy.fallback;

	doc->ops->card(doc, "What to set");
	doc->ops->list(doc, true);
	if (report->has_policy) {
		device_items(report, doc);
		rule_items(report, doc);
		cp_report_doc_item(doc, "Elsewhere: queue_mode=%s, path %s, copy %s.",
				   fallback->queue_mode, fallback->path, fallback->copy);
	}
	if (!report->has_policy)
		cp_report_doc_item(doc, "Nothing yet: no policy was given or found, and "
					"none could be learned from these records.");
	else if (report->policy_learned_here)
		cp_report_doc_item(
			doc,
			"No policy was given or found beside the records; this "
			"one was learned from them for this report (objective "
			"%s).",
			report->policy.objective.name);
	else
		cp_report_doc_item(doc, "From %s; `copypath emit` gives it to a driver.",
				   report->policy_path);
	doc->ops->list(doc, false);
	doc->ops->card(doc, NULL);
}

static void undecided_item(struct cp_report_doc *doc, const struct cp_rule *rule)
{
	char head[160], needed[64] = "", reason[CP_WORD_MAX];

	snprintf(reason, sizeof(reason), "%s",
		 rule->reason[0] ? rule->reason : "undecided");
	for (char *c = reason; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	range_words(rule, head, sizeof(head));
	if (rule->samples_needed)
		snprintf(needed, sizeof(needed), "; about %u more samples would decide",
			 rule->samples_needed);
	for (unsigned s = 0; s < rule->nr_sizes; s++) {
		const struct cp_policy_size *size = &rule->sizes[s];
		char words[80], sure[48] = "";
		bool same = !strcmp(size->act.name, size->best.name);

		if (isfinite(size->confidence) && size->confidence > 0)
			snprintf(sure, sizeof(sure), " (%.0f %% sure)",
				 100 * size->confidence);
		cp_report_doc_item(
			doc, "%s, %s: uses %s, leans to %s%s; %s%s.", head,
			cp_report_interval_words(rule, s, words, sizeof(words)),
			size->act.name, same ? "the same" : size->best.name, sure, reason,
			needed);
	}
}

static void undecided(const struct cp_report *report, struct cp_report_doc *doc)
{
	unsigned shown = 0, nr = count_rules(report, false);

	doc->ops->card(doc, "What is undecided");
	if (!report->has_policy || !nr) {
		cp_report_doc_para(doc, report->has_policy ? "Nothing." : "Everything.");
	} else {
		doc->ops->list(doc, true);
		for (unsigned r = 0; r < report->policy.nr_rules && shown < RULES_SHOWN;
		     r++) {
			if (report->policy.rules[r].decided)
				continue;
			undecided_item(doc, &report->policy.rules[r]);
			shown++;
		}
		if (shown < nr)
			cp_report_doc_item(doc, "%u more are in the table of rules.",
					   nr - shown);
		doc->ops->list(doc, false);
	}
	doc->ops->card(doc, NULL);
}

void cp_report_summary_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	doc->ops->cards(doc, true);
	what_to_set(report, doc);
	cp_report_gains_write(report, doc);
	cp_report_certainty_write(report, doc);
	undecided(report, doc);
	cp_report_reality_write(report, doc);
	cp_report_machine_write(report, doc);
	doc->ops->cards(doc, false);
}
