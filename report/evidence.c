// SPDX-License-Identifier: GPL-2.0-only
/* How sure the report is, of which machine, and what on it was real. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/page.h"

static void interval_item(const struct cp_report *report, struct cp_report_doc *doc)
{
	double level = INFINITY;
	uint32_t fewest = UINT32_MAX;

	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_stat *bw = &report->cells[i].values[VALUE_BW];

		if (!bw->n)
			continue;
		level = fmin(level, bw->level);
		fewest = bw->n < fewest ? bw->n : fewest;
	}
	if (!isfinite(level))
		return;
	if (level >= 0.95)
		cp_report_doc_item(doc,
				   "Bars are intervals of the median at 95 %% or more.");
	else
		cp_report_doc_item(
			doc,
			"Bars are [lowest, highest] where samples are few: with "
			"N = %u they hold the median with only %.0f %%.",
			fewest, 100 * level);
}

/* Without a repeated cell the learner decides nothing, and the page must say why. */
static void no_noise_item(const struct cp_report *report, struct cp_report_doc *doc)
{
	bool judged = false;

	for (size_t i = 0; i < report->nr_cells; i++) {
		if (!report->cells[i].judged)
			continue;
		judged = true;
		if (report->cells[i].n > 1)
			return;
	}
	if (judged && report->policy_learned_here)
		cp_report_doc_item(doc,
				   "No cell has two samples, so nothing is known of the "
				   "noise and nothing is decided; measure with run: "
				   "{samples: 3} or more.");
}

/* The median and the interval of such a cell are of two things. */
static void kernels_item(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_report_cell *first = NULL;
	size_t nr = 0;
	char bs[24];

	for (size_t i = 0; i < report->nr_cells; i++) {
		if (!strchr(report->cells[i].copies, ';'))
			continue;
		first = first ? first : &report->cells[i];
		nr++;
	}
	if (first)
		cp_report_doc_item(
			doc,
			"In %zu cell%s samples copied with different kernels, "
			"and the figures are of all together: %s %s, %s: %s%s.",
			nr, nr == 1 ? "" : "s", first->context.rw,
			cp_size_format(first->context.bs, bs, sizeof(bs)),
			report->arms[first->arm].label, first->copies,
			nr > 1 ? "; the others are in the table of cells" : "");
}

void cp_report_certainty_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	char span[160];

	doc->ops->card(doc, "How sure");
	doc->ops->list(doc, true);
	cp_report_doc_item(doc, "%" PRIu64 " samples in %zu cells; %" PRIu64 " failed%s.",
			   report->nr_samples, report->nr_cells, report->nr_failed,
			   report->nr_failed ? " and are in no figure" : "");
	if (report->nr_verified)
		cp_report_doc_item(doc,
				   "%" PRIu64
				   " samples had verify on: their figures hold the "
				   "time of the check and are in no figure.",
				   report->nr_verified);
	interval_item(report, doc);
	if (report->has_policy)
		cp_report_doc_item(
			doc,
			"Size intervals of the policy: %u decided (regret at most 2 %% "
			"with a probability of 0.95 or more), %u not.",
			cp_report_count_intervals(report, true),
			cp_report_count_intervals(report, false));
	no_noise_item(report, doc);
	kernels_item(report, doc);
	if (report->has_regret && isfinite(report->regret.mean_pct))
		cp_report_doc_item(
			doc,
			"Measured regret of this policy: mean %.1f %%, worst "
			"%.1f %% over %s. Its own samples, so it is flattering.",
			report->regret.mean_pct, report->regret.worst_pct,
			cp_regret_span_words(&report->regret, span, sizeof(span)));
	if (report->has_default_regret && isfinite(report->default_regret.mean_pct))
		cp_report_doc_item(
			doc,
			"Of the default policy: mean %.1f %%, worst %.1f %% over "
			"%s.",
			report->default_regret.mean_pct, report->default_regret.worst_pct,
			cp_regret_span_words(&report->default_regret, span,
					     sizeof(span)));
	if (report->judge_note[0])
		cp_report_doc_item(doc, "Not judged: %s.", report->judge_note);
	doc->ops->list(doc, false);
	doc->ops->card(doc, NULL);
}

static void machine_item(struct cp_report_doc *doc, const struct cp_report_run *run)
{
	static const char *const keys[] = {"cpu_model", "nr_cpus", "nr_nodes", "mem_gib",
					   "kernel"};
	static const char *const words[] = {"%s", "CPUs: %s", "NUMA nodes: %s", "%s GiB",
					    "Linux %s"};
	const struct cp_manifest *m = &run->manifest;
	char text[1024] = "", value[200];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *fact = json_object_get(m->hard, keys[i]);
		size_t used = strlen(text), word = strcspn(words[i], "%");

		if (json_is_string(fact))
			snprintf(value, sizeof(value), "%s", json_string_value(fact));
		else if (json_is_integer(fact))
			snprintf(value, sizeof(value), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(fact));
		else
			continue;
		snprintf(text + used, sizeof(text) - used, ", %.*s%s%s", (int)word,
			 words[i], value, words[i] + word + 2);
	}
	cp_report_doc_item(doc, "%s%s; %s, copypath %s, started %s%s.", m->host, text,
			   m->fio, m->copypath, m->t,
			   m->complete ? "" : " (the run is not complete)");
	cp_report_doc_item(doc, "Fingerprint %.19s.", m->fingerprint);
}

void cp_report_machine_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	const char *first = NULL;
	bool differ = false;

	doc->ops->card(doc, "On what machine");
	doc->ops->list(doc, true);
	for (size_t i = 0; i < report->nr_runs; i++) {
		const struct cp_report_run *run = &report->runs[i];

		if (!run->has_manifest) {
			cp_report_doc_item(doc,
					   "%s has no manifest: its machine is "
					   "unknown.",
					   run->path);
			continue;
		}
		machine_item(doc, run);
		differ = differ ||
			 (first && strcmp(first, run->manifest.fingerprint) != 0);
		first = run->manifest.fingerprint;
	}
	if (differ)
		cp_report_doc_item(doc, "The runs' fingerprints differ: their figures do "
					"not compare.");
	if (first && report->policy.fingerprint[0] &&
	    strcmp(first, report->policy.fingerprint) != 0)
		cp_report_doc_item(doc,
				   "The policy was learned on another machine "
				   "(fingerprint %.19s).",
				   report->policy.fingerprint);
	doc->ops->list(doc, false);
	doc->ops->card(doc, NULL);
}

static bool any_dma(const struct cp_report *report, const char *dma)
{
	for (size_t i = 0; i < report->nr_arms; i++)
		if (!report->arms[i].simulated && !strcmp(report->arms[i].dma, dma))
			return true;
	return false;
}

static bool any_external(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nr_cells; i++)
		if (!strcmp(report->cells[i].provenance.media, "external") ||
		    !strcmp(report->cells[i].provenance.dma, "external"))
			return true;
	return false;
}

static bool any_null(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nr_arms; i++)
		if (report->arms[i].simulated)
			return true;
	return false;
}

void cp_report_reality_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	doc->ops->card(doc, "What is real and what is not");
	doc->ops->list(doc, true);
	for (size_t p = 0; p < report->nr_panels; p++) {
		const struct cp_report_cell *like = report->panels[p].like;
		bool seen = false;

		for (size_t k = 0; k < p; k++) {
			const struct cp_report_cell *other = report->panels[k].like;

			seen = seen ||
			       (!strcmp(other->context.media, like->context.media) &&
				!strcmp(other->context.attr, like->context.attr) &&
				!strcmp(other->provenance.media,
					like->provenance.media) &&
				!strcmp(other->provenance.attr, like->provenance.attr));
		}
		if (!seen)
			cp_report_doc_item(doc, "Media %s: %s. Cache attribute %s: %s.",
					   like->context.media, like->provenance.media,
					   like->context.attr, like->provenance.attr);
	}
	if (any_dma(report, "hardware"))
		cp_report_doc_item(doc, "DMA: a hardware engine.");
	if (any_dma(report, "software"))
		cp_report_doc_item(doc,
				   "DMA: software. A helper thread copies, and its CPU "
				   "time is counted; a hardware engine would not have "
				   "that cost.");
	if (any_null(report))
		cp_report_doc_item(doc,
				   "Modelled: the null engine moves nothing. Its figures "
				   "are the harness's own cost, never a choice.");
	if (any_dma(report, "modelled"))
		cp_report_doc_item(doc,
				   "DMA: modelled. A device of given speed in virtual "
				   "time; no byte was moved and no memory was busy. A "
				   "what-if, not a measurement.");
	if (any_external(report))
		cp_report_doc_item(doc,
				   "External: measured by a program of the user's, "
				   "under driver exec. Its figures are its own word.");
	doc->ops->list(doc, false);
	doc->ops->card(doc, NULL);
}
