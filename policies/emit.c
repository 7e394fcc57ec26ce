// SPDX-License-Identifier: GPL-2.0-only
/* A policy's device settings as kernel module options and as a fio job section. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/fiovalue.h"
#include "policies/emit.h"
#include "policies/objective.h"
#include "policies/words.h"

/* A direction that never offloads, for a knob that has no word for it: the largest whole
 * sector in 32 bits, above any request. */
#define THRESH_NEVER UINT64_C(4294966784)

/* q_per_node is a wish (SCHEMA.md): the queues in effect depend on the machine. */
static const char queues_note[] =
	"q_per_node: no more than the CPUs of a node take effect";

/* Control characters in a name must not start a line of their own. */
static void comment(FILE *out, const char *label, const char *text)
{
	fprintf(out, "# %s", label);
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	fputc('\n', out);
}

static void head(const struct cp_policy *policy, FILE *out)
{
	char words[512], line[1024];

	comment(out, "copypath policy: ", *policy->name ? policy->name : "(no name)");
	cp_objective_words(&policy->objective, words, sizeof(words));
	comment(out, "objective: ", words);
	snprintf(line, sizeof(line),
		 "media %s, attr %s, dma %s; learned on %s from %" PRIu64 " samples",
		 policy->media, policy->attr, policy->dma,
		 *policy->host ? policy->host : "no host", policy->samples);
	comment(out, "provenance: ", policy->samples ? line : "not measured (defaults)");
	if (strcmp(policy->driver, "fio") != 0) {
		snprintf(line, sizeof(line),
			 "warning: learned of the I/Os of driver %s, and of no others",
			 policy->driver);
		comment(out, "", line);
	}
	if (!strcmp(policy->dma, "software"))
		comment(out, "",
			"warning: the DMA figures are of a software engine, not of "
			"hardware");
	if (!strcmp(policy->dma, "modelled"))
		comment(out, "",
			"warning: the DMA figures are of a modelled engine: a what-if, "
			"measure before you rely on it");
}

/* What stands behind a write, where it is not the usual nothing. */
static void promise(const struct cp_device *device, const char *label, FILE *out)
{
	if (strcmp(device->flush, "none") != 0)
		fprintf(out, "%sflush=%s\n", label, device->flush);
	if (strcmp(device->fence, "auto") != 0)
		fprintf(out, "%sfence=%s\n", label, device->fence);
	if (strcmp(device->persist, "none") != 0)
		fprintf(out, "%spersist=%s\n", label, device->persist);
}

/* What is no rule's to choose but selects the rules. A job of another context would run
 * on the policy's default. */
static void selected(const struct cp_policy *policy, FILE *out)
{
	const struct cp_when *first = policy->nr_rules ? &policy->rules[0].when : NULL;
	bool one = true;

	for (unsigned i = 1; i < policy->nr_rules; i++) {
		const struct cp_when *when = &policy->rules[i].when;

		one = one && !strcmp(when->attr, first->attr) &&
		      when->misalign_near == first->misalign_near &&
		      when->misalign_far == first->misalign_far;
	}
	if (!one)
		comment(out, "",
			"the rules are of several attr or misalign: those of the job's "
			"own (attr=, misalign_near=, misalign_far=) are used");
	if (!first || !one)
		return;
	if (*first->attr && strcmp(first->attr, "wb") != 0)
		fprintf(out, "attr=%s\n", first->attr);
	if (first->misalign_near)
		fprintf(out, "misalign_near=%u\n", first->misalign_near);
	if (first->misalign_far)
		fprintf(out, "misalign_far=%u\n", first->misalign_far);
}

static void lost(const struct cp_policy *policy, FILE *out)
{
	unsigned decided = 0, undecided = 0;
	bool copies = false;
	char line[256];

	for (unsigned i = 0; i < policy->nr_rules; i++) {
		*(policy->rules[i].decided ? &decided : &undecided) +=
			policy->rules[i].nr_sizes;
		for (unsigned k = 0; k < policy->rules[i].nr_sizes; k++)
			copies |= *policy->rules[i].sizes[k].act.copy != '\0' &&
				  strcmp(policy->rules[i].sizes[k].act.copy, "auto") != 0;
	}
	if (decided + undecided) {
		/* the intervals that learn and report count */
		snprintf(line, sizeof(line),
			 "not expressed: %u size interval%s decided and %u undecided, of "
			 "rules by jobs and load, folded into one threshold a direction",
			 decided, decided == 1 ? "" : "s", undecided);
		comment(out, "", line);
	}
	if (copies)
		comment(out, "", "not expressed: which CPU copy each rule takes");
	if (!isnan(policy->device.regret_pct)) {
		snprintf(line, sizeof(line),
			 "cost of one setting against the full policy: %.1f %%",
			 policy->device.regret_pct);
		comment(out, "", line);
	} else if (policy->samples) {
		comment(out, "",
			"cost of one setting against the full policy: not measured");
	}
}

static int emit_modprobe(const struct cp_policy *policy, const struct cp_emit_opts *opts,
			 FILE *out, struct cp_err *err)
{
	const struct cp_device *device = &policy->device;
	bool mq = !strcmp(device->queue_mode, "mq") &&
		  (device->dma_thresh_read || device->dma_thresh_write);

	(void)opts;
	(void)err;
	head(policy, out);
	lost(policy, out);
	promise(device, "# not expressed, the module knows its own: ", out);
	if (!strcmp(device->queue_mode, "page"))
		comment(out, "",
			"warning: not expressed: queue_mode page, for which the module "
			"has no number; 0 (bio) also makes no request and copies "
			"inside submit");
	else if (strcmp(device->queue_mode, "bio") != 0 && !mq)
		comment(out, "", "DMA never pays here: queue_mode=0 (bio)");
	if (!mq && (device->dma_thresh_read || device->dma_thresh_write))
		comment(out, "",
			"the thresholds count for whoever sets queue_mode=1 (mq) "
			"himself");
	if (!device->dma_thresh_read || !device->dma_thresh_write)
		comment(out, "",
			device->dma_thresh_read ? "writes never go to DMA: their "
						  "threshold is above any request"
			: device->dma_thresh_write
				? "reads never go to DMA: their "
				  "threshold is above any request"
				: "nothing goes to DMA: the thresholds "
				  "are above any request");
	if (mq)
		comment(out, "", queues_note);
	fprintf(out,
		"options cp_pmem queue_mode=%d queue_depth=%u q_per_node=%u "
		"dma_thresh_read=%" PRIu64 " dma_thresh_write=%" PRIu64 "\n",
		mq, device->queue_depth ? device->queue_depth : 128,
		device->q_per_node ? device->q_per_node : 8,
		device->dma_thresh_read ? device->dma_thresh_read : THRESH_NEVER,
		device->dma_thresh_write ? device->dma_thresh_write : THRESH_NEVER);
	return 0;
}

/* A job with dma=auto would run the thresholds of the model on whatever engine is found.
 */
static int check_modelled(const struct cp_policy *policy, const struct cp_emit_opts *opts,
			  struct cp_err *err)
{
	if (opts->force || strcmp(policy->dma, "modelled") != 0 ||
	    !strcmp(policy->device.queue_mode, "bio"))
		return 0;
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"the policy '%.200s' was learned of a modelled DMA engine, and its "
		"thresholds hold for no other; expected a policy of a software or "
		"hardware engine, or --force, which writes dma=auto",
		*policy->name ? policy->name : "(no name)");
}

static int check_path(const char *what, const char *path, struct cp_err *err)
{
	char subject[CP_FIO_VALUE_MAX];

	snprintf(subject, sizeof(subject), "the %s path '%.1000s'", what, path);
	return cp_fio_value_check(CP_FIO_VALUE_PATH, subject, path, err);
}

static int emit_fio(const struct cp_policy *policy, const struct cp_emit_opts *opts,
		    FILE *out, struct cp_err *err)
{
	const struct cp_device *device = &policy->device;
	bool mq = !strcmp(device->queue_mode, "mq");
	bool page = !strcmp(device->queue_mode, "page");
	/* a rule may go to DMA that no single threshold would */
	bool queues =
		mq || (page && (device->dma_thresh_read || device->dma_thresh_write ||
				cp_policy_has_dma(policy)));
	const char *engine = "none";
	int rc = check_path("policy", opts->policy_path, err);

	if (!rc)
		rc = check_path("plug-in", opts->plugin_dir, err);
	if (!rc)
		rc = check_modelled(policy, opts, err);
	if (rc)
		return rc;
	if (!strcmp(policy->dma, "software"))
		engine = "sw";
	else if (!strcmp(policy->dma, "hardware") || !strcmp(policy->dma, "modelled"))
		engine = "auto";
	head(policy, out);
	if (page)
		comment(out, "",
			"queue_mode page: bs must be a multiple of 4k, and nothing is "
			"merged");
	if (queues)
		comment(out, "", queues_note);
	else if (!page)
		comment(out, "", "queue_mode bio: every copy is the CPU's");
	fprintf(out,
		"[global]\n"
		"ioengine=external:%s/copypath-%s.so\n"
		"thread=1\n"
		"queue_mode=%s\n"
		"path=auto\n",
		opts->plugin_dir, mq ? "async" : "sync", device->queue_mode);
	if (queues)
		fprintf(out, "dma=%s\ncompletion=%s\nq_per_node=%u\nqueue_depth=%u\n",
			engine,
			*device->completion && strcmp(device->completion, "sync") != 0
				? device->completion
				: "poll",
			device->q_per_node ? device->q_per_node : 8,
			device->queue_depth ? device->queue_depth : 128);
	else
		fprintf(out, "dma=none\n");
	promise(device, "", out);
	selected(policy, out);
	fprintf(out, "policy=%s\n", opts->policy_path);
	return 0;
}

const struct cp_emit_form cp_emit_table[] = {
	{"modprobe", "options line for the cp_pmem module", emit_modprobe},
	{"fio", "global section of a fio job file", emit_fio},
	{NULL, NULL, NULL},
};
