// SPDX-License-Identifier: GPL-2.0-only
/* What the policy gains and costs against the incumbent, where both were measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "results/stats.h"

/* Ratios of the policy's arm to the incumbent in one direction, where they differ. */
struct gains {
	double *bw, *cpu;
	size_t nr, nr_cpu;
	size_t contexts, both, other, incumbents;
	char unknown[160]; /* what the policy uses where only the incumbent is known */
};

static void add_gain(struct gains *gains, const struct cp_report_cell *chosen,
		     const struct cp_report_cell *incumbent)
{
	double bw = chosen->values[VALUE_BW].median / incumbent->values[VALUE_BW].median;
	double cpu = chosen->values[VALUE_CPU_BYTE].median /
		     incumbent->values[VALUE_CPU_BYTE].median;

	gains->both++;
	if (chosen == incumbent)
		return;
	gains->other++;
	if (isfinite(bw))
		gains->bw[gains->nr++] = 100 * (bw - 1);
	if (isfinite(cpu))
		gains->cpu[gains->nr_cpu++] = 100 * (cpu - 1);
}

/* "copy memcpy, nt", "copy nt, DMA". */
static void add_unknown(const struct cp_report *report, const struct cp_context *context,
			struct gains *gains)
{
	struct cp_policy_answer answer;
	char word[CP_WORD_MAX + 8];
	size_t used = strlen(gains->unknown);

	cp_report_answer(report, context, &answer);
	if (!strcmp(answer.act.path, "dma"))
		snprintf(word, sizeof(word), "DMA");
	else
		snprintf(word, sizeof(word), "copy %s",
			 answer.act.copy[0] ? answer.act.copy : "auto");
	if (!strstr(gains->unknown, word))
		snprintf(gains->unknown + used, sizeof(gains->unknown) - used, "%s%s",
			 used ? ", " : "", word);
}

static void collect_gains(const struct cp_report *report, enum cp_dir dir,
			  struct gains *gains)
{
	for (size_t p = 0; p < report->nr_panels; p++) {
		const struct cp_report_panel *panel = &report->panels[p];
		size_t at = panel->first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, panel, &at, &nr))) {
			const struct cp_report_cell *chosen = NULL;
			const struct cp_report_cell *incumbent =
				cp_report_incumbent(report, cells, nr);

			if (cp_context_dir(&cells->context) != dir ||
			    cp_report_is_swap(&cells->context))
				continue;
			gains->contexts++;
			gains->incumbents += incumbent != NULL;
			for (size_t i = 0; i < nr; i++)
				chosen = cells[i].chosen ? &cells[i] : chosen;
			if (chosen && incumbent)
				add_gain(gains, chosen, incumbent);
			else if (incumbent)
				add_unknown(report, &cells->context, gains);
		}
	}
}

static void range_item(struct cp_report_doc *doc, const char *what, const double *values,
		       size_t nr)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < nr; i++) {
		low = fmin(low, values[i]);
		high = fmax(high, values[i]);
	}
	cp_report_doc_item(doc, "%s: %+.1f %% (median; from %+.1f to %+.1f %%).", what,
			   cp_stat_median(values, nr), low, high);
}

static void known_items(struct cp_report_doc *doc, enum cp_dir dir,
			const struct gains *gains)
{
	const char *word = cp_report_dir_word(dir);
	const char *words = dir == CP_DIR_READ ? "Reads" : "Writes";
	char what[80];

	if (!gains->other) {
		cp_report_doc_item(doc,
				   "%s: the policy does what the incumbent does, in all "
				   "%zu contexts where that is known (of %zu).",
				   words, gains->both, gains->contexts);
		return;
	}
	cp_report_doc_item(doc,
			   "%s: %zu of %zu contexts have both measured; in %zu the "
			   "policy does something else, and there:",
			   words, gains->both, gains->contexts, gains->other);
	if (gains->nr) {
		snprintf(what, sizeof(what), "Bandwidth of %ss", word);
		range_item(doc, what, gains->bw, gains->nr);
	}
	if (gains->nr_cpu) {
		snprintf(what, sizeof(what), "CPU a byte of %ss", word);
		range_item(doc, what, gains->cpu, gains->nr_cpu);
	}
}

static void unknown_item(const struct cp_report *report, struct cp_report_doc *doc,
			 enum cp_dir dir, const struct gains *gains)
{
	const char *word = cp_report_dir_word(dir);
	const char *mode = report->policy.device.queue_mode;
	const char *head = gains->both ? "in part" : "not known";

	if (!gains->incumbents)
		cp_report_doc_item(doc, "%ss: not known: the incumbent was not measured.",
				   dir == CP_DIR_READ ? "Read" : "Write");
	else if (gains->unknown[0])
		cp_report_doc_item(
			doc,
			"%ss: %s: %s%s%swhat the policy uses for %ss (%s) was not "
			"measured%s.",
			dir == CP_DIR_READ ? "Read" : "Write", head, mode[0] ? "in " : "",
			mode, mode[0] ? ", " : "", word, gains->unknown,
			gains->both ? " in the other contexts with the incumbent" : "");
}

static void direction_gains(const struct cp_report *report, struct cp_report_doc *doc,
			    enum cp_dir dir)
{
	struct gains gains = {
		.bw = calloc(report->nr_cells + 1, sizeof(double)),
		.cpu = calloc(report->nr_cells + 1, sizeof(double)),
	};

	if (gains.bw && gains.cpu)
		collect_gains(report, dir, &gains);
	if (gains.both)
		known_items(doc, dir, &gains);
	if (gains.contexts)
		unknown_item(report, doc, dir, &gains);
	free(gains.bw);
	free(gains.cpu);
}

void cp_report_gains_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	doc->ops->card(doc, "What it gains and what it costs");
	if (!report->has_policy) {
		cp_report_doc_para(doc, "Not known without a policy.");
	} else {
		cp_report_doc_para(doc, "Against the incumbent, bio with a CPU copy:");
		doc->ops->list(doc, true);
		direction_gains(report, doc, CP_DIR_READ);
		direction_gains(report, doc, CP_DIR_WRITE);
		doc->ops->list(doc, false);
	}
	doc->ops->card(doc, NULL);
}
