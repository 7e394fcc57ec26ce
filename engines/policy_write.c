// SPDX-License-Identifier: GPL-2.0-only
/* Writing a policy file so that reading it back gives the same policy. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engines/base/file.h"
#include "engines/base/units.h"
#include "engines/policy.h"

/* Plain is what YAML can take for nothing but this text, in a flow map too. */
static bool is_plain(const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./-";
	static const char *const reserved[] = {"null", "true", "false", "yes",
					       "no",   "on",   "off",	"y",
					       "n",    "max",  "never", NULL};

	if (!*text || text[strspn(text, safe)] || (*text >= '0' && *text <= '9') ||
	    *text == '-' || *text == '.')
		return false;
	for (size_t i = 0; reserved[i]; i++)
		if (!strcasecmp(text, reserved[i]))
			return false;
	return true;
}

/* One UTF-8 sequence at *text; the code point, or '?' for a byte that is none. */
static uint32_t next_code(const unsigned char **text)
{
	const unsigned char *p = *text;
	unsigned extra = *p < 0x80 ? 0 : *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
	uint32_t code = extra ? *p & (0x3fU >> extra) : *p;

	*text = p + 1;
	if ((*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
		return '?';
	for (unsigned i = 1; i <= extra; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return '?';
		code = (code << 6) | (p[i] & 0x3f);
	}
	*text = p + 1 + extra;
	return code;
}

static void put_text(FILE *out, const char *text)
{
	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', out);
	while (*p) {
		const unsigned char *start = p;
		uint32_t code = next_code(&p);

		if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
			fprintf(out, "\\x%02x", code);
		else if ((code >= 0xd800 && code < 0xe000) || code == 0xfeff ||
			 code == 0xfffe || code == 0xffff || code > 0x10ffff)
			fputc('?', out);
		else if (code < 0x80)
			fputc((int)code, out);
		else
			fwrite(start, 1, (size_t)(p - start), out);
	}
	fputc('"', out);
}

static void put_key_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s: ", key);
	put_text(out, text);
}

/* The shortest text that reads back as the same double. */
static void put_double(FILE *out, const char *key, double value)
{
	char buf[40];

	if (isnan(value)) {
		fprintf(out, "%s: null", key);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		double back;

		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (!cp_double_parse(buf, &back) && back >= value && back <= value)
			break;
	}
	fprintf(out, "%s: %s", key, buf);
}

static void put_size(FILE *out, const char *key, uint64_t bytes)
{
	char buf[32];

	fprintf(out, "%s: %s", key, cp_size_format(bytes, buf, sizeof(buf)));
}

static void put_time(FILE *out, const char *key, double value_ns)
{
	uint64_t ns = isnan(value_ns) ? 0 : (uint64_t)value_ns, back;
	char buf[32];

	if (isnan(value_ns)) {
		fprintf(out, "%s: null", key);
		return;
	}
	cp_time_format(ns, buf, sizeof(buf));
	if (cp_time_parse(buf, &back) || back != ns)
		snprintf(buf, sizeof(buf), "%" PRIu64 "ns", ns);
	fprintf(out, "%s: %s", key, buf);
}

static void put_thresh(FILE *out, const char *key, uint64_t bytes)
{
	if (bytes)
		put_size(out, key, bytes);
	else
		fprintf(out, "%s: never", key);
}

static void put_range(FILE *out, const char *key, const struct cp_range *range)
{
	fprintf(out, ", %s: {min: %u", key, range->min);
	if (range->max != CP_POLICY_OPEN)
		fprintf(out, ", max: %u", range->max);
	fputc('}', out);
}

static void put_when(FILE *out, const struct cp_when *when)
{
	fprintf(out, "{rw: %s, ", when->dir == CP_DIR_READ ? "read" : "write");
	put_key_text(out, "layer", when->layer);
	put_key_text(out, ", attr", when->attr);
	put_key_text(out, ", numa", when->numa);
	if (when->misalign_near || when->misalign_far)
		fprintf(out, ", misalign_near: %u, misalign_far: %u", when->misalign_near,
			when->misalign_far);
	put_range(out, "jobs", &when->jobs);
	put_range(out, "load", &when->load);
	put_range(out, "segments", &when->segments);
	fputs("}\n", out);
}

static void put_action(FILE *out, const char *key, const struct cp_action *act)
{
	fprintf(out, ", %s: {", key);
	put_key_text(out, "name", act->name);
	put_key_text(out, ", path", act->path);
	if (*act->copy)
		put_key_text(out, ", copy", act->copy);
	fputc('}', out);
}

static void put_interval(FILE *out, const struct cp_policy_size *size, bool decided)
{
	fputs("      - {", out);
	if (size->above) {
		put_size(out, "above", size->above);
		fputs(", ", out);
	}
	if (size->upto == UINT64_MAX)
		fputs("upto: max", out);
	else
		put_size(out, "upto", size->upto);
	put_action(out, decided ? "do" : "use", &size->act);
	if (!decided && *size->best.path)
		put_action(out, "best", &size->best);
	if (!isnan(size->gain_pct))
		put_double(out, ", gain_pct", size->gain_pct);
	if (!isnan(size->confidence))
		put_double(out, ", confidence", size->confidence);
	if (size->samples)
		fprintf(out, ", samples: %u", size->samples);
	if (size->crossover_at) {
		put_size(out, ", crossover: {at", size->crossover_at);
		put_size(out, ", low", size->crossover_low);
		put_size(out, ", high", size->crossover_high);
		fputc('}', out);
	}
	fputs("}\n", out);
}

static void put_rules(FILE *out, const struct cp_policy *policy, bool decided)
{
	bool any = false;

	for (unsigned i = 0; i < policy->nr_rules; i++) {
		const struct cp_rule *rule = &policy->rules[i];

		if (rule->decided != decided)
			continue;
		if (!any)
			fputs(decided ? "rules:\n" : "undecided:\n", out);
		any = true;
		fputs("  - when: ", out);
		put_when(out, &rule->when);
		if (!decided) {
			put_key_text(out, "    reason", rule->reason);
			if (rule->samples_needed)
				fprintf(out, "\n    samples_needed: %u",
					rule->samples_needed);
			fputc('\n', out);
		}
		fputs("    sizes:\n", out);
		for (unsigned k = 0; k < rule->nr_sizes; k++)
			put_interval(out, &rule->sizes[k], decided);
	}
	if (!any)
		fputs(decided ? "rules: []\n" : "undecided: []\n", out);
}

/* A word that says nothing is left out, as readers of before do not know it. */
static void put_word(FILE *out, const char *key, const char *text, const char *usual)
{
	if (strcmp(text, usual) != 0)
		put_key_text(out, key, text);
}

static void put_learned(FILE *out, const struct cp_policy *policy)
{
	fputs("learned: {from: [", out);
	for (unsigned i = 0; i < policy->nr_from; i++) {
		fputs(i ? ", " : "", out);
		put_text(out, policy->from[i]);
	}
	put_key_text(out, "], host", policy->host);
	put_key_text(out, ", fingerprint", policy->fingerprint);
	fprintf(out, ", samples: %" PRIu64, policy->samples);
	put_word(out, ", driver", policy->driver, "fio");
	fputs("}\n", out);
}

static void put_head(FILE *out, const struct cp_policy *policy)
{
	const struct cp_objective *objective = &policy->objective;

	fputs("schema: 1\nkind: policy\n", out);
	put_key_text(out, "name", policy->name);
	fputc('\n', out);
	if (policy->nr_from || policy->samples || *policy->host || *policy->fingerprint ||
	    strcmp(policy->driver, "fio") != 0)
		put_learned(out, policy);
	put_key_text(out, "objective: {name", objective->name);
	put_double(out, ", elapsed", objective->elapsed);
	put_double(out, ", cpu", objective->cpu);
	put_double(out, ", tail", objective->tail);
	if (objective->corunner > 0.0)
		put_double(out, ", corunner", objective->corunner);
	put_time(out, ", slo_p99", objective->slo_p99_ns);
	put_double(out, ", min_bw_frac", objective->min_bw_frac);
	put_key_text(out, "}\nprovenance: {media", policy->media);
	put_key_text(out, ", attr", policy->attr);
	put_key_text(out, ", dma", policy->dma);
	fputs("}\n", out);
}

static void put_device(FILE *out, const struct cp_device *device)
{
	put_key_text(out, "device: {queue_mode", device->queue_mode);
	fprintf(out, ", queue_depth: %u, q_per_node: %u", device->queue_depth,
		device->q_per_node);
	put_key_text(out, ", completion", device->completion);
	put_thresh(out, ", dma_thresh: {read", device->dma_thresh_read);
	put_thresh(out, ", write", device->dma_thresh_write);
	fputc('}', out);
	put_word(out, ", flush", device->flush, "none");
	put_word(out, ", fence", device->fence, "auto");
	put_word(out, ", persist", device->persist, "none");
	if (!isnan(device->regret_pct))
		put_double(out, ", regret_pct", device->regret_pct);
	fputs("}\n", out);
}

int cp_policy_print(const struct cp_policy *policy, FILE *out)
{
	put_head(out, policy);
	put_device(out, &policy->device);
	put_rules(out, policy, true);
	put_rules(out, policy, false);
	put_key_text(out, "default: {queue_mode", policy->fallback.queue_mode);
	put_key_text(out, ", path", policy->fallback.path);
	if (*policy->fallback.copy)
		put_key_text(out, ", copy", policy->fallback.copy);
	if (*policy->fallback.dma && strcmp(policy->fallback.dma, "none") != 0)
		put_key_text(out, ", dma", policy->fallback.dma);
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}

int cp_policy_write(const struct cp_policy *policy, const char *path, struct cp_err *err)
{
	struct cp_file_new file;
	int rc = cp_file_new_open(path, &file, err);

	if (rc)
		return rc;
	cp_policy_print(policy, file.stream); /* commit checks the stream */
	return cp_file_new_commit(&file, err);
}
