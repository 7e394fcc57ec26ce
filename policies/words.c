// SPDX-License-Identifier: GPL-2.0-only
/* A policy in plain words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "policies/objective.h"
#include "policies/words.h"

/* Names come from files: what could steer a terminal is shown as '?'. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, out);
}

/* 166.5k: half sectors of a KiB are common here, whole bytes are not. */
static const char *size_text(uint64_t bytes, char buf[24])
{
	if (bytes < 1024 || bytes % 1024 == 0)
		return cp_size_format(bytes, buf, 24);
	snprintf(buf, 24, "%.1fk", (double)bytes / 1024.0);
	return buf;
}

static void put_range(FILE *out, const char *what, const struct cp_range *range)
{
	if (range->max == CP_POLICY_OPEN && range->min <= 1)
		return;
	if (range->max == CP_POLICY_OPEN)
		fprintf(out, ", %s %u and more", what, range->min);
	else if (range->min == range->max)
		fprintf(out, ", %s %u", what, range->min);
	else
		fprintf(out, ", %s %u to %u", what, range->min, range->max);
}

/* Nothing where all is aligned. */
static void put_misalign(FILE *out, const char *before, uint32_t near, uint32_t far)
{
	if (near || far)
		fprintf(out, "%smisalign_near %u, misalign_far %u", before, near, far);
}

static void put_unusual(FILE *out, const char *what, const char *value, const char *usual)
{
	if (!strcmp(value, usual))
		return;
	fprintf(out, ", %s ", what);
	put_name(out, value);
}

static void put_when(FILE *out, const struct cp_when *when)
{
	fputs(when->dir == CP_DIR_READ ? "reads" : "writes", out);
	put_range(out, "jobs", &when->jobs);
	put_range(out, "I/Os in flight", &when->load);
	put_range(out, "segments", &when->segments);
	put_unusual(out, "layer", when->layer, "none");
	put_unusual(out, "attr", when->attr, "wb");
	put_unusual(out, "numa", when->numa, "local");
	put_misalign(out, ", ", when->misalign_near, when->misalign_far);
	fputs(":\n", out);
}

static void put_action(FILE *out, const struct cp_action *act)
{
	if (!strcmp(act->path, "dma"))
		fputs("DMA", out);
	else
		fprintf(out, "CPU copy %s", act->copy);
	fputs(" (", out);
	put_name(out, act->name);
	fputc(')', out);
}

static uint64_t lower_end(const struct cp_rule *rule, unsigned i)
{
	if (rule->sizes[i].above)
		return rule->sizes[i].above;
	return i ? rule->sizes[i - 1].upto : 0;
}

static void put_bounds(FILE *out, uint64_t above, uint64_t upto)
{
	char a[24], b[24];

	if (upto == UINT64_MAX && !above)
		fputs("  all sizes: ", out);
	else if (upto == UINT64_MAX)
		fprintf(out, "  above %s: ", size_text(above, a));
	else if (above && above + 1 == upto)
		fprintf(out, "  at %s: ", size_text(upto, b));
	else if (above)
		fprintf(out, "  above %s, up to %s: ", size_text(above, a),
			size_text(upto, b));
	else
		fprintf(out, "  up to %s: ", size_text(upto, b));
}

static void put_evidence(FILE *out, const struct cp_policy_size *size, bool decided)
{
	char at[24], low[24], high[24];

	if (decided && !isnan(size->gain_pct))
		fprintf(out, "; costs %.1f %% %s than the runner-up",
			fabs(size->gain_pct), size->gain_pct < 0.0 ? "more" : "less");
	if (!isnan(size->confidence))
		fprintf(out, "%s confidence %.1f %%", decided ? ";" : ",",
			100.0 * size->confidence);
	if (size->samples)
		fprintf(out, ", %u samples", size->samples);
	if (size->crossover_at)
		fprintf(out, "; the crossover lies at %s, between %s and %s",
			size_text(size->crossover_at, at),
			size_text(size->crossover_low, low),
			size_text(size->crossover_high, high));
	fputc('\n', out);
}

static const char *reason_words(const char *reason)
{
	if (!strcmp(reason, "not_enough_evidence"))
		return "not enough evidence";
	if (!strcmp(reason, "noise_limited"))
		return "the noise is too large";
	return reason;
}

static void put_rule(FILE *out, const struct cp_rule *rule)
{
	fputs(rule->decided ? "" : "undecided, ", out);
	put_when(out, &rule->when);
	for (unsigned i = 0; i < rule->nr_sizes; i++) {
		const struct cp_policy_size *size = &rule->sizes[i];

		put_bounds(out, lower_end(rule, i), size->upto);
		if (!rule->decided)
			fputs("use ", out);
		put_action(out, &size->act);
		if (!rule->decided && *size->best.path &&
		    strcmp(size->best.name, size->act.name) != 0) {
			fputs("; leans to ", out);
			put_action(out, &size->best);
		}
		put_evidence(out, size, rule->decided);
	}
	if (!rule->decided) {
		fprintf(out, "  why: %s", reason_words(rule->reason));
		if (rule->samples_needed)
			fprintf(out, "; about %u more samples would decide",
				rule->samples_needed);
		fputc('\n', out);
	}
}

static void put_thresh(FILE *out, const char *dir, uint64_t bytes)
{
	char buf[24];

	if (bytes)
		fprintf(out, "%s of %s and more to DMA", dir, size_text(bytes, buf));
	else
		fprintf(out, "%s never to DMA", dir);
}

bool cp_policy_has_dma(const struct cp_policy *policy)
{
	for (unsigned r = 0; r < policy->nr_rules; r++)
		for (unsigned i = 0; i < policy->rules[r].nr_sizes; i++)
			if (!strcmp(policy->rules[r].sizes[i].act.path, "dma"))
				return true;
	return false;
}

/* What stands behind a write, where it is not the usual nothing. */
static void put_promise(FILE *out, const struct cp_device *device)
{
	const struct {
		const char *field, *word, *usual;
	} words[] = {{"persist", device->persist, "none"},
		     {"flush", device->flush, "none"},
		     {"fence", device->fence, "auto"}};
	const char *before = "; behind each write: ";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].word, words[i].usual))
			continue;
		fprintf(out, "%s%s %s", before, words[i].field, words[i].word);
		before = ", ";
	}
}

static void put_device(FILE *out, const struct cp_policy *policy)
{
	const struct cp_device *device = &policy->device;

	fprintf(out, "one setting for a driver: queue_mode %s", device->queue_mode);
	bool bio = !strcmp(device->queue_mode, "bio");
	bool offload = device->dma_thresh_read || device->dma_thresh_write;

	if (!strcmp(device->queue_mode, "page"))
		fputs(", 4k pages without a request, so nothing is merged", out);
	if (!bio && (offload || !strcmp(device->queue_mode, "mq")))
		fprintf(out,
			", queue_depth %u, q_per_node %u (no more than the CPUs of a "
			"node take effect), completion %s; ",
			device->queue_depth, device->q_per_node, device->completion);
	else if (offload)
		fprintf(out,
			", every copy by the CPU; for whoever turns mq on: "
			"queue_depth %u, q_per_node %u, ",
			device->queue_depth, device->q_per_node);
	else
		fputs(", every copy by the CPU", out);
	if (!strcmp(device->queue_mode, "mq") || offload) {
		put_thresh(out, "reads", device->dma_thresh_read);
		put_thresh(out, ", writes", device->dma_thresh_write);
	}
	put_promise(out, device);
	if (!isnan(device->regret_pct))
		fprintf(out, "; costs %.1f %% more than the full rules",
			device->regret_pct);
	else if (policy->samples)
		fputs("; what it costs against the full rules was not measured", out);
	fputc('\n', out);
	if (bio && cp_policy_has_dma(policy))
		fprintf(out,
			"the rules for DMA take effect only with queue_mode=mq; in %s "
			"the CPU copies\n",
			device->queue_mode);
}

static void put_origin(FILE *out, const struct cp_policy *policy)
{
	fputs("policy ", out);
	put_name(out, *policy->name ? policy->name : "(no name)");
	if (!policy->samples) {
		fputs(": not measured\n", out);
	} else {
		fputs(": learned on host ", out);
		put_name(out, *policy->host ? policy->host : "(unknown)");
		fprintf(out, " from %" PRIu64 " samples", policy->samples);
		for (unsigned i = 0; i < policy->nr_from; i++) {
			fputs(i ? ", " : " in ", out);
			put_name(out, policy->from[i]);
		}
		fputc('\n', out);
	}
	if (strcmp(policy->driver, "fio") != 0)
		fprintf(out,
			"of I/Os that driver %s made; it says nothing of fio's, nor of "
			"another program's\n",
			policy->driver);
	if (!*policy->fingerprint)
		fputs("fits any host (no fingerprint)\n", out);
}

void cp_policy_words(const struct cp_policy *policy, FILE *out)
{
	char words[512];

	put_origin(out, policy);
	cp_objective_words(&policy->objective, words, sizeof(words));
	fputs("objective ", out);
	put_name(out, policy->objective.name);
	fprintf(out, ": %s\nprovenance: media ", words);
	put_name(out, policy->media);
	fputs(", attr ", out);
	put_name(out, policy->attr);
	fputs(", DMA engine ", out);
	put_name(out, policy->dma);
	fputs("\n", out);
	if (!strcmp(policy->dma, "modelled"))
		fputs("a what-if: no byte was moved by the modelled DMA engine\n", out);
	fputc('\n', out);
	for (unsigned i = 0; i < policy->nr_rules; i++)
		put_rule(out, &policy->rules[i]);
	fprintf(out, "%selse: ", policy->nr_rules ? "" : "no rules; ");
	struct cp_policy_answer answer;
	struct cp_context context;
	struct cp_policy none = *policy;

	cp_context_init(&context);
	none.nr_rules = 0;
	cp_policy_answer(&none, &context, &answer);
	put_action(out, &answer.act);
	fprintf(out, " in %s\n\n", policy->fallback.queue_mode);
	put_device(out, policy);
}

void cp_policy_answer_words(const struct cp_policy *policy,
			    const struct cp_context *context, FILE *out)
{
	struct cp_policy_answer answer;
	char buf[24];
	bool found = cp_policy_answer(policy, context, &answer);

	fprintf(out, "%s bs=%s numjobs=%u iodepth=%u", context->rw,
		size_text(context->bs, buf), context->numjobs, context->iodepth);
	put_unusual(out, "layer", context->layer, "none");
	put_unusual(out, "attr", context->attr, "wb");
	put_unusual(out, "numa", context->numa, "local");
	put_misalign(out, ", ", context->misalign_near, context->misalign_far);
	fputs(": ", out);
	put_action(out, &answer.act);
	if (!found) {
		fputs("; no rule covers it, so the default holds", out);
		return;
	}
	const struct cp_rule *rule = answer.rule;
	const struct cp_policy_size *size = answer.size;

	if (rule->decided) {
		fputs("; decided", out);
		if (!isnan(size->gain_pct))
			fprintf(out, ", costs %.1f %% less than the runner-up",
				size->gain_pct);
	} else {
		fprintf(out, "; undecided, %s", reason_words(rule->reason));
		if (*size->best.path && strcmp(size->best.name, size->act.name) != 0) {
			fputs(", leans to ", out);
			put_action(out, &size->best);
		}
		if (rule->samples_needed)
			fprintf(out, ", about %u more samples would decide",
				rule->samples_needed);
	}
	if (!isnan(size->confidence))
		fprintf(out, ", confidence %.1f %%", 100.0 * size->confidence);
	if (cp_policy_needs_mq(policy, &answer))
		fprintf(out,
			"; takes effect only with queue_mode=mq, and the device is set "
			"to %s",
			policy->device.queue_mode);
}
