// SPDX-License-Identifier: GPL-2.0-only
/* What the policy gains and costs against the incumbent, where both were measured. */
#include <math.h>
#include <stdlib.h>

#include "report/page.h"
#include "results/stats.h"

/* Ratios of the policy's arm to the incumbent, a direction each. */
struct gains {
	double *bw, *cpu;
	size_t nr, nr_cpu, contexts, other;
};

static void add_gain(struct gains *gains, const struct cp_report_cell *chosen,
		     const struct cp_report_cell *incumbent)
{
	double bw = chosen->values[VALUE_BW].median / incumbent->values[VALUE_BW].median;
	double cpu = chosen->values[VALUE_CPU_BYTE].median /
		     incumbent->values[VALUE_CPU_BYTE].median;

	if (isfinite(bw))
		gains->bw[gains->nr++] = 100 * (bw - 1);
	if (isfinite(cpu))
		gains->cpu[gains->nr_cpu++] = 100 * (cpu - 1);
	gains->other += chosen != incumbent;
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

			if (cp_context_dir(&cells->context) != dir)
				continue;
			gains->contexts++;
			for (size_t i = 0; i < nr; i++)
				chosen = cells[i].chosen ? &cells[i] : chosen;
			if (chosen && incumbent)
				add_gain(gains, chosen, incumbent);
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

static void direction_gains(const struct cp_report *report, struct cp_report_doc *doc,
			    enum cp_dir dir)
{
	const char *word = cp_report_dir_word(dir);
	char what[80];
	struct gains gains = {
		.bw = calloc(report->nr_cells + 1, sizeof(double)),
		.cpu = calloc(report->nr_cells + 1, sizeof(double)),
	};

	if (gains.bw && gains.cpu)
		collect_gains(report, dir, &gains);
	if (gains.nr) {
		cp_report_doc_item(
			doc,
			"%ss: %zu of %zu contexts have both measured; in %zu the "
			"policy uses another arm.",
			dir == CP_DIR_READ ? "Read" : "Write", gains.nr, gains.contexts,
			gains.other);
		snprintf(what, sizeof(what), "Bandwidth of %ss", word);
		range_item(doc, what, gains.bw, gains.nr);
		if (gains.nr_cpu) {
			snprintf(what, sizeof(what), "CPU a byte of %ss", word);
			range_item(doc, what, gains.cpu, gains.nr_cpu);
		}
	} else if (gains.contexts) {
		cp_report_doc_item(
			doc,
			"%ss: not known; the incumbent and the policy's arm were "
			"never measured in the same context.",
			dir == CP_DIR_READ ? "Read" : "Write");
	}
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
