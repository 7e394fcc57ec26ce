// SPDX-License-Identifier: GPL-2.0-only
/* The first screen: what to set, what it brings, how sure that is, and of what. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "policies/words.h"
#include "report/page.h"

#define RULES_SHOWN	12
#define UNDECIDED_SHOWN 6U
#define SAMPLES_MANY	300 /* nobody takes so many more to be sure of one rule */

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

static void range_words(const struct cp_policy *policy, const struct cp_rule *rule,
			char *buf, size_t size)
{
	const struct cp_range *load = &rule->when.load, *jobs = &rule->when.jobs;
	char load_text[48] = "any load", jobs_text[48] = "", where[300];

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
	snprintf(buf, size, "%s, %s%s%s", cp_report_dir_word(rule->when.dir), load_text,
		 jobs_text,
		 cp_report_when_words(policy, &rule->when, where, sizeof(where)));
}

/* "12.0 % less", "0.3 % more". */
static char *percent_words(double percent, char *buf, size_t size)
{
	snprintf(buf, size, "%.1f %% %s", fabs(percent), percent > 0 ? "more" : "less");
	return buf;
}

/* " (costs 12.0 % less than the next, offload; 99.0 % sure; ...)", "" when not known. */
static void gain_words(const struct cp_report *report, const struct cp_policy_size *size,
		       char *buf, size_t len)
{
	struct cp_report_rivals rivals = {.incumbent_pct = NAN};
	char less[48], more[48], against[200] = "";

	buf[0] = '\0';
	if (!isfinite(size->gain_pct) || !isfinite(size->confidence))
		return;
	if (cp_report_is_of_policy(report))
		cp_report_rivals(report, size, &rivals);
	if (isfinite(rivals.incumbent_pct))
		snprintf(against, sizeof(against),
			 "; measured in %s, it costs %s than the bio incumbent in %u "
			 "context%s",
			 rivals.mode,
			 percent_words(rivals.incumbent_pct, more, sizeof(more)),
			 rivals.nr_incumbent, rivals.nr_incumbent == 1 ? "" : "s");
	snprintf(buf, len, " (costs %s than the next%s%s, %.1f %% sure%s)",
		 percent_words(-size->gain_pct, less, sizeof(less)),
		 rivals.next[0] ? ", " : "", rivals.next, 100 * size->confidence,
		 against);
}

/* "read, load up to 4: cpu-nt up to 64k (costs 12 % less than ...); ...". */
static void rule_item(const struct cp_report *report, struct cp_report_doc *doc,
		      const struct cp_rule *rule)
{
	char head[420], text[3600] = "", words[80], gain[700];
	size_t used = 0;

	range_words(&report->policy, rule, head, sizeof(head));
	for (unsigned s = 0; s < rule->nr_sizes && used < sizeof(text) - 950; s++) {
		const struct cp_policy_size *size = &rule->sizes[s];

		gain_words(report, size, gain, sizeof(gain));
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%.100s %s%s%s",
			s ? "; " : "", size->act.name,
			size->upto == UINT64_MAX && !size->above && !s ? "at " : "",
			cp_report_interval_words(rule, s, words, sizeof(words)), gain);
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

/* The rules' arms may have been measured in another mode than the one they are for. */
static void mode_item(const struct cp_report *report, struct cp_report_doc *doc)
{
	const char *mode = report->policy.device.queue_mode, *other = NULL;

	for (unsigned r = 0; mode[0] && r < report->policy.nr_rules; r++) {
		const struct cp_rule *rule = &report->policy.rules[r];

		for (unsigned s = 0; s < rule->nr_sizes; s++)
			for (size_t a = 0; a < report->nr_arms; a++) {
				const struct cp_arm *arm = &report->arms[a].arm;

				if (!strcmp(arm->name, rule->sizes[s].act.name) &&
				    strcmp(arm->queue_mode, mode) != 0)
					other = arm->queue_mode;
			}
	}
	if (other)
		cp_report_doc_item(doc,
				   "The rules name arms measured in %s, and here they "
				   "run in %s: what they cost is judged as %s with the "
				   "same kernel; where nothing was measured in %s, as "
				   "they are in %s; else it is not known.",
				   other, mode, mode, mode, other);
}

static void device_items(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_device *device = &report->policy.device;
	char read[32], write[32];

	if (!strcmp(device->queue_mode, "bio"))
		cp_report_doc_item(doc,
				   "Driver: queue_mode=bio, so CPU copies and no DMA%s.",
				   cp_policy_has_dma(&report->policy)
					   ? "; rules for DMA take effect only with "
					     "queue_mode=mq"
					   : "");
	else if (device->queue_mode[0])
		cp_report_doc_item(
			doc,
			"Driver: queue_mode=%s queue_depth=%u q_per_node=%u (no more "
			"than the CPUs of a node take effect) completion=%s, DMA from %s "
			"(read) and %s (write).",
			device->queue_mode, device->queue_depth, device->q_per_node,
			device->completion,
			thresh_words(device->dma_thresh_read, read, sizeof(read)),
			thresh_words(device->dma_thresh_write, write, sizeof(write)));
	/* all on the CPU there is nothing a threshold could lose */
	if (isfinite(device->regret_pct) && cp_policy_has_dma(&report->policy))
		cp_report_doc_item(
			doc,
			"Set once for all I/O, this costs %.1f %% more than the rules "
			"below, by the model the rules rest on; nobody has measured it.",
			device->regret_pct);
	else if (report->policy.samples && cp_policy_has_dma(&report->policy))
		cp_report_doc_item(doc,
				   "What it costs to set this once for all I/O, "
				   "against the rules below, is not known: that queue "
				   "mode was not measured wherever the other was.");
	mode_item(report, doc);
}

static bool incumbent_is_left_out(const struct cp_report *report)
{
	bool bio = false, mq = false;

	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_arm *arm = &report->arms[report->cells[i].arm].arm;
		bool cpu = report->cells[i].judged && !strcmp(arm->path, "cpu");

		bio = bio || (cpu && !strcmp(arm->queue_mode, "bio"));
		mq = mq || (cpu && !strcmp(arm->queue_mode, "mq"));
	}
	return bio && mq;
}

static void rule_items(const struct cp_report *report, struct cp_report_doc *doc)
{
	unsigned shown = 0, decided = count_rules(report, true);

	for (unsigned r = 0; r < report->policy.nr_rules && shown < RULES_SHOWN; r++) {
		if (!report->policy.rules[r].decided)
			continue;
		rule_item(report, doc, &report->policy.rules[r]);
		shown++;
	}
	if (shown < decided)
		cp_report_doc_item(doc, "%u more rules are in the table below.",
				   decided - shown);
	if (shown && cp_report_is_of_policy(report) && incumbent_is_left_out(report))
		cp_report_doc_item(
			doc, "\"The next\" is among the arms a rule can choose. The "
			     "incumbent in bio is none of them and is left out: a queue "
			     "mode is the device's and cannot change per I/O.");
	if (report->policy.nr_rules && !decided)
		cp_report_doc_item(doc, "No rule was decided: measure more before you "
					"change anything.");
}

/* What answers where no rule does. */
static void default_item(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_arm *fallback = &report->policy.fallback;
	const char *mode = report->policy.device.queue_mode;
	bool dma = !strcmp(fallback->path, "dma");
	char other[120] = "";

	if (cp_report_rules_cover(report))
		return;
	if (mode[0] && strcmp(mode, fallback->queue_mode) != 0)
		snprintf(other, sizeof(other),
			 " (the default names %s; the device is in %s)",
			 fallback->queue_mode, mode);
	cp_report_doc_item(
		doc, "Where no rule holds, the default answers: path %s%s%s%s.",
		fallback->path, dma ? "" : ", copy ", dma ? "" : fallback->copy, other);
}

static void what_to_set(const struct cp_report *report, struct cp_report_doc *doc)
{
	doc->ops->card(doc, "What to set");
	doc->ops->list(doc, true);
	if (report->has_policy) {
		device_items(report, doc);
		rule_items(report, doc);
		default_item(report, doc);
	}
	if (!report->has_policy)
		cp_report_doc_item(doc, "Nothing yet: no policy was given or found, and "
					"none could be learned from these records.");
	else if (report->policy_learned_here)
		cp_report_doc_item(
			doc,
			"No policy was given or found beside the records; this "
			"one was learned from them for this report (%s%s).",
			report->objective_note[0] ? "" : "objective ",
			report->objective_note[0] ? report->objective_note
						  : report->policy.objective.name);
	else
		cp_report_doc_item(doc, "From %s; `copypath emit` gives it to a driver.",
				   report->policy_path);
	doc->ops->list(doc, false);
	doc->ops->card(doc, NULL);
}

static void undecided_item(const struct cp_policy *policy, struct cp_report_doc *doc,
			   const struct cp_rule *rule)
{
	char head[420], needed[96] = "", reason[CP_WORD_MAX];

	snprintf(reason, sizeof(reason), "%s",
		 rule->reason[0] ? rule->reason : "undecided");
	for (char *c = reason; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	range_words(policy, rule, head, sizeof(head));
	if (rule->samples_needed > SAMPLES_MANY)
		snprintf(needed, sizeof(needed),
			 "; the noise here is too large for these samples to decide");
	else if (rule->samples_needed)
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
			doc, "%s, %s: uses %s%s%s%s; %s%s.", head,
			cp_report_interval_words(rule, s, words, sizeof(words)),
			size->act.name, same ? "" : ", leans to ",
			same ? "" : size->best.name, sure, reason, needed);
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
		for (unsigned r = 0;
		     r < report->policy.nr_rules && shown < UNDECIDED_SHOWN; r++) {
			if (report->policy.rules[r].decided)
				continue;
			undecided_item(&report->policy, doc, &report->policy.rules[r]);
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
