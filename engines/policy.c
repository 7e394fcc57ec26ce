// SPDX-License-Identifier: GPL-2.0-only
/* Reading a policy file: every problem is collected with its place. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/policy_read.h"

const char *const cp_policy_paths[] = {"cpu", "dma", NULL};
static const char *const queue_modes[] = {"bio", "mq", "page", NULL};
static const char *const completions[] = {"sync", "poll", "irq", "hybrid", NULL};
static const char *const drivers[] = {"fio", "swap", "exec", NULL};

void cp_policy_init(struct cp_policy *policy)
{
	memset(policy, 0, sizeof(*policy));
	snprintf(policy->objective.name, sizeof(policy->objective.name), "balanced");
	policy->objective.elapsed = 1.0;
	policy->objective.cpu = 0.5;
	policy->objective.slo_p99_ns = NAN;
	policy->objective.min_bw_frac = NAN;
	snprintf(policy->driver, sizeof(policy->driver), "fio");
	snprintf(policy->media, sizeof(policy->media), "native");
	snprintf(policy->attr, sizeof(policy->attr), "native");
	snprintf(policy->dma, sizeof(policy->dma), "none");
	snprintf(policy->device.queue_mode, sizeof(policy->device.queue_mode), "bio");
	snprintf(policy->device.completion, sizeof(policy->device.completion), "sync");
	snprintf(policy->device.flush, sizeof(policy->device.flush), "none");
	snprintf(policy->device.fence, sizeof(policy->device.fence), "auto");
	snprintf(policy->device.persist, sizeof(policy->device.persist), "none");
	policy->device.regret_pct = NAN;
	cp_arm_init(&policy->fallback);
	snprintf(policy->fallback.name, sizeof(policy->fallback.name), "default");
	snprintf(policy->fallback.queue_mode, sizeof(policy->fallback.queue_mode), "bio");
	snprintf(policy->fallback.path, sizeof(policy->fallback.path), "cpu");
	snprintf(policy->fallback.copy, sizeof(policy->fallback.copy), "auto");
	snprintf(policy->fallback.dma, sizeof(policy->fallback.dma), "none");
}

void cp_policy_free(struct cp_policy *policy)
{
	free(policy->rules);
	policy->rules = NULL;
	policy->nr_rules = 0;
}

/* A word out of a list into buf; a missing key leaves buf alone. */
void cp_policy_read_word(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, const char *const *words, char *buf,
			 size_t size)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, key);
	int index = node ? cp_yaml_word(doc, node, key, words) : -1;

	if (index >= 0)
		snprintf(buf, size, "%s", words[index]);
}

void cp_policy_read_text(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, char *buf, size_t size)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, key);

	if (node && !cp_yaml_is_null(node))
		cp_yaml_text(doc, node, key, buf, size);
}

void cp_policy_read_field(struct cp_yaml *doc, const struct cp_yaml_node *map,
			  const char *key, char *buf, size_t size)
{
	const struct cp_field *field = cp_field_find(cp_arm_fields, key);
	const struct cp_yaml_node *node = cp_yaml_get(map, key);
	struct cp_err err = {0};
	char text[CP_SPEC_TEXT_MAX];
	struct cp_arm arm;

	if (!node || cp_yaml_is_null(node) ||
	    !cp_yaml_text(doc, node, key, text, sizeof(text)))
		return;
	cp_arm_init(&arm);
	if (cp_field_parse(field, &arm, text, &err))
		cp_yaml_problem(doc, node, "%s", err.msg);
	else
		snprintf(buf, size, "%s", text);
}

void cp_policy_read_uint(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, uint64_t max, uint32_t *ret)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, key);
	uint64_t value;

	if (node && cp_yaml_uint(doc, node, key, 0, max, &value))
		*ret = (uint32_t)value;
}

void cp_policy_read_double(struct cp_yaml *doc, const struct cp_yaml_node *map,
			   const char *key, double min, double max, double *ret)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, key);
	double value;

	if (node && !cp_yaml_is_null(node) &&
	    cp_yaml_double(doc, node, key, min, max, &value))
		*ret = value;
}

static void read_learned(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 struct cp_policy *policy)
{
	static const char *const keys[] = {"from",    "host",	"fingerprint",
					   "samples", "driver", NULL};

	if (!map || !cp_yaml_keys(doc, map, "learned", keys))
		return;
	const struct cp_yaml_node *from = cp_yaml_get(map, "from");
	const size_t most = sizeof(policy->from) / sizeof(policy->from[0]);

	if (from && from->type == CP_YAML_SCALAR && !cp_yaml_is_null(from)) {
		if (cp_yaml_text(doc, from, "from", policy->from[0],
				 sizeof(policy->from[0])))
			policy->nr_from = 1;
	} else if (from && from->type == CP_YAML_LIST) {
		if (from->nr_children > most)
			cp_yaml_problem(doc, from,
					"'from' has %zu entries; expected at "
					"most %zu",
					from->nr_children, most);
		for (size_t i = 0; i < from->nr_children && i < most; i++)
			if (cp_yaml_text(doc, from->children[i], "from",
					 policy->from[policy->nr_from],
					 sizeof(policy->from[0])))
				policy->nr_from++;
	} else if (from && from->type == CP_YAML_MAP) {
		cp_yaml_problem(doc, from, "'from' is a map; expected a list of paths");
	}
	cp_policy_read_text(doc, map, "host", policy->host, sizeof(policy->host));
	cp_policy_read_text(doc, map, "fingerprint", policy->fingerprint,
			    sizeof(policy->fingerprint));
	const char *print = policy->fingerprint;

	if (*print && (strncmp(print, "sha256:", 7) != 0 || strlen(print) != 71 ||
		       strspn(print + 7, "0123456789abcdef") != 64))
		cp_yaml_problem(doc, cp_yaml_get(map, "fingerprint"),
				"'%s' is no fingerprint; expected 'sha256:' and 64 hex "
				"digits",
				print);
	cp_policy_read_word(doc, map, "driver", drivers, policy->driver,
			    sizeof(policy->driver));
	const struct cp_yaml_node *node = cp_yaml_get(map, "samples");

	if (node)
		cp_yaml_uint(doc, node, "samples", 0, INT64_MAX, &policy->samples);
}

static void read_objective(struct cp_yaml *doc, const struct cp_yaml_node *map,
			   struct cp_objective *objective)
{
	static const char *const keys[] = {"name",     "elapsed", "cpu",	 "tail",
					   "corunner", "slo_p99", "min_bw_frac", NULL};

	if (!map || !cp_yaml_keys(doc, map, "objective", keys))
		return;
	cp_policy_read_text(doc, map, "name", objective->name, sizeof(objective->name));
	cp_policy_read_double(doc, map, "elapsed", 0.0, 1e9, &objective->elapsed);
	cp_policy_read_double(doc, map, "cpu", 0.0, 1e9, &objective->cpu);
	cp_policy_read_double(doc, map, "tail", 0.0, 1e9, &objective->tail);
	cp_policy_read_double(doc, map, "corunner", 0.0, 1e9, &objective->corunner);
	if (objective->corunner > 0.0 &&
	    objective->elapsed + objective->cpu + objective->tail > 0.0)
		cp_yaml_problem(
			doc, cp_yaml_get(map, "corunner"),
			"'corunner' is weighed beside elapsed, cpu or tail, which "
			"are times a byte; expected those at 0, or no corunner");
	cp_policy_read_double(doc, map, "min_bw_frac", 0.0, 1.0, &objective->min_bw_frac);
	const struct cp_yaml_node *node = cp_yaml_get(map, "slo_p99");
	uint64_t slo_ns;

	if (node && !cp_yaml_is_null(node) &&
	    cp_yaml_time(doc, node, "slo_p99", 0, INT64_MAX, &slo_ns))
		objective->slo_p99_ns = (double)slo_ns;
}

static void read_thresh(struct cp_yaml *doc, const struct cp_yaml_node *map,
			const char *key, uint64_t *ret)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, key);
	uint64_t bytes;

	if (!node)
		return;
	if (node->type == CP_YAML_SCALAR && !strcmp(node->text, "never")) {
		*ret = 0;
		return;
	}
	if (!cp_yaml_size(doc, node, key, 0, 1ULL << 40, &bytes))
		return;
	if (bytes % 512)
		cp_yaml_problem(doc, node,
				"dma_thresh %s '%s' is no multiple of 512; expected "
				"whole sectors, or 'never'",
				key, node->text);
	else
		*ret = bytes;
}

static void read_device(struct cp_yaml *doc, const struct cp_yaml_node *map,
			struct cp_device *device)
{
	static const char *const keys[] = {
		"queue_mode", "queue_depth", "q_per_node", "completion", "dma_thresh",
		"regret_pct", "flush",	     "fence",	   "persist",	 NULL};
	static const char *const thresh_keys[] = {"read", "write", NULL};

	if (!map || !cp_yaml_keys(doc, map, "device", keys))
		return;
	cp_policy_read_word(doc, map, "queue_mode", queue_modes, device->queue_mode,
			    sizeof(device->queue_mode));
	cp_policy_read_word(doc, map, "completion", completions, device->completion,
			    sizeof(device->completion));
	cp_policy_read_field(doc, map, "flush", device->flush, sizeof(device->flush));
	cp_policy_read_field(doc, map, "fence", device->fence, sizeof(device->fence));
	cp_policy_read_field(doc, map, "persist", device->persist,
			     sizeof(device->persist));
	cp_policy_read_uint(doc, map, "queue_depth", 65536, &device->queue_depth);
	cp_policy_read_uint(doc, map, "q_per_node", 1024, &device->q_per_node);
	cp_policy_read_double(doc, map, "regret_pct", 0.0, 1e9, &device->regret_pct);
	const struct cp_yaml_node *thresh = cp_yaml_get(map, "dma_thresh");

	if (thresh && cp_yaml_keys(doc, thresh, "dma_thresh", thresh_keys)) {
		read_thresh(doc, thresh, "read", &device->dma_thresh_read);
		read_thresh(doc, thresh, "write", &device->dma_thresh_write);
	}
}

static void read_default(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 struct cp_arm *arm)
{
	static const char *const keys[] = {"queue_mode", "path", "copy", "dma", NULL};

	if (!map || !cp_yaml_keys(doc, map, "default", keys))
		return;
	cp_policy_read_word(doc, map, "queue_mode", queue_modes, arm->queue_mode,
			    sizeof(arm->queue_mode));
	cp_policy_read_word(doc, map, "path", cp_policy_paths, arm->path,
			    sizeof(arm->path));
	cp_policy_read_field(doc, map, "copy", arm->copy, sizeof(arm->copy));
	cp_policy_read_field(doc, map, "dma", arm->dma, sizeof(arm->dma));
	if (!strcmp(arm->path, "dma") && !strcmp(arm->queue_mode, "bio"))
		cp_yaml_problem(doc, cp_yaml_get(map, "path"),
				"path 'dma' in queue_mode '%s' is impossible; expected "
				"queue_mode mq or page, or path cpu",
				arm->queue_mode);
}

static void read_head(struct cp_yaml *doc, const struct cp_yaml_node *root)
{
	static const char *const kinds[] = {"policy", NULL};
	const struct cp_yaml_node *schema = cp_yaml_get(root, "schema");
	const struct cp_yaml_node *kind = cp_yaml_get(root, "kind");
	uint64_t value;

	if (!schema)
		cp_yaml_problem(doc, root, "no 'schema'; expected schema: 1");
	else
		cp_yaml_uint(doc, schema, "schema", 1, 1, &value);
	if (!kind)
		cp_yaml_problem(doc, root, "no 'kind'; expected kind: policy");
	else
		cp_yaml_word(doc, kind, "kind", kinds);
}

int cp_policy_read(const char *path, struct cp_policy *ret_policy, struct cp_err *err)
{
	static const char *const keys[] = {"schema",	"kind",	      "name",	"learned",
					   "objective", "provenance", "device", "rules",
					   "undecided", "default",    NULL};
	static const char *const provenance_keys[] = {"media", "attr", "dma", NULL};
	struct cp_yaml *doc;
	struct cp_policy policy;
	int rc = cp_yaml_load(path, &doc, err);

	if (rc && !strstr(err->msg, "expected")) {
		const struct cp_err why = *err;

		return cp_err_set(err, why.exit, -rc, "%s; expected a policy file",
				  why.msg);
	}
	if (rc)
		return rc;
	cp_policy_init(&policy);
	const struct cp_yaml_node *root = cp_yaml_root(doc);

	if (cp_yaml_keys(doc, root, "policy", keys)) {
		const struct cp_yaml_node *node = cp_yaml_get(root, "provenance");

		read_head(doc, root);
		cp_policy_read_text(doc, root, "name", policy.name, sizeof(policy.name));
		read_learned(doc, cp_yaml_get(root, "learned"), &policy);
		read_objective(doc, cp_yaml_get(root, "objective"), &policy.objective);
		if (node && cp_yaml_keys(doc, node, "provenance", provenance_keys)) {
			cp_policy_read_text(doc, node, "media", policy.media,
					    sizeof(policy.media));
			cp_policy_read_text(doc, node, "attr", policy.attr,
					    sizeof(policy.attr));
			cp_policy_read_text(doc, node, "dma", policy.dma,
					    sizeof(policy.dma));
		}
		read_device(doc, cp_yaml_get(root, "device"), &policy.device);
		rc = cp_policy_read_rules(doc, root, &policy, err);
		read_default(doc, cp_yaml_get(root, "default"), &policy.fallback);
	}
	if (!rc)
		rc = cp_yaml_check(doc, err);
	cp_yaml_free(doc);
	if (rc) {
		cp_policy_free(&policy);
		return rc;
	}
	*ret_policy = policy;
	return 0;
}
