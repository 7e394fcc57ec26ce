// SPDX-License-Identifier: GPL-2.0-only
/* The `arms` list: each entry is a sweep of ways to serve, named by what it swept. */
#include "bench/plan/load.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "engines/base/fiovalue.h"
#include "engines/dma/channel.h"
#include "engines/dma/engine.h"
#include "engines/policy.h"

static const char *const later_keys[] = {"engine", NULL};

static bool name_good(const char *name)
{
	if (!name[0])
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._/+-", *c))
			return false;
	return true;
}

/* only: {rw: write, bs: [4k, 64k]} */
static void load_only(struct cp_load *load, const struct cp_yaml_node *map,
		      struct cp_load_only **ret_only, size_t *ret_nr)
{
	const char *keys[32];
	struct cp_context scratch;
	size_t nr = 0;

	if (!map)
		return;
	for (size_t i = 0; cp_context_fields[i].name && nr < 31; i++)
		keys[nr++] = cp_context_fields[i].name;
	keys[nr] = NULL;
	if (!cp_yaml_keys(load->doc, map, "only", keys) || !map->nr_children)
		return;
	struct cp_load_only *only = calloc(map->nr_children, sizeof(*only));
	if (!only) {
		load->failed = true;
		return;
	}
	load->only[load->nr_only++] = only;
	nr = 0;
	for (size_t i = 0; i < map->nr_children; i++) {
		const struct cp_yaml_node *node = map->children[i];
		const struct cp_field *field =
			cp_field_find(cp_context_fields, node->key);
		struct cp_axes axes = {0};

		if (!field)
			continue;
		cp_context_init(&scratch);
		cp_axes_add(load, &axes, field->name, field, &scratch, node);
		if (!axes.nr)
			continue;
		struct cp_load_only *one = &only[nr++];
		one->field = field;
		for (size_t k = 0; k < axes.axis[0].nr; k++) {
			cp_axis_apply(&axes.axis[0], k, &scratch);
			cp_field_format(field, &scratch, true, one->values[one->nr++],
					sizeof(one->values[0]));
		}
	}
	*ret_only = only;
	*ret_nr = nr;
}

/* The place of an arm's error: the field that its text names first, else the arm. */
static const struct cp_yaml_node *place(const struct cp_yaml_node *map,
					const struct cp_err *err)
{
	char word[64];
	const char *start = strchr(err->msg, '\'');
	const char *end = start ? strchr(start + 1, '\'') : NULL;

	if (!end || (size_t)(end - start) > sizeof(word))
		return map;
	memcpy(word, start + 1, (size_t)(end - start - 1));
	word[end - start - 1] = '\0';
	const struct cp_yaml_node *node = cp_yaml_get(map, word);
	return node && node->type == CP_YAML_SCALAR ? node : map;
}

/* Absolute, as fio may run elsewhere, and of good form; what it means for a context:
 * cp_load_policy(). */
static int check_policy(struct cp_arm *arm, struct cp_err *err)
{
	struct cp_policy policy = {0};
	char path[PATH_MAX];

	if (arm->policy_force && !arm->policy[0])
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'policy_force' is given without a policy; expected "
				  "one, or no such key");
	if (!arm->policy[0])
		return 0;
	if (!realpath(arm->policy, path) || strlen(path) >= sizeof(arm->policy))
		return cp_err_set(err, CP_EXIT_USAGE, ENOENT,
				  "'policy' names '%s', which cannot be opened; "
				  "expected a policy file",
				  arm->policy);
	if (cp_fio_value_check(CP_FIO_VALUE_PATH, "'policy'", path, err))
		return -EINVAL;
	if (cp_policy_read(path, &policy, err)) {
		cp_err_prefix(err, "'policy'");
		return -EINVAL;
	}
	cp_policy_free(&policy);
	memcpy(arm->policy, path, strlen(path) + 1);
	return 0;
}

/* What only this machine or the file system can say of an arm. */
static int arm_check(struct cp_arm *arm, bool external, struct cp_err *err)
{
	if (!external && strcmp(arm->dma, "none") != 0 &&
	    strcmp(arm->queue_mode, "bio") != 0) {
		struct cp_dma_cfg cfg = {.spec = arm->dma,
					 .ring = arm->queue_depth,
					 .node = -1,
					 .cpu = -1,
					 .irq = cp_arm_signals(arm)};
		struct cp_err passed;
		const struct cp_dma_ops *dma = cp_dma_choose(&cfg, &passed, err);

		if (!dma)
			return -EINVAL;
		if (dma->check(cfg.spec, err)) {
			cp_err_prefix(err, "'dma' is '%s'", arm->dma);
			return -EINVAL;
		}
		if (arm->queue_depth > CP_DMA_RING_MAX)
			return cp_err_set(err, CP_EXIT_USAGE, ERANGE,
					  "'queue_depth' is %u, more than a DMA ring "
					  "holds; expected at most %u",
					  arm->queue_depth, CP_DMA_RING_MAX);
		/* auto falls back; a named engine is wanted for itself */
		if (strncmp(arm->dma, "auto", 4) != 0 && cp_dma_usable(dma, &cfg, err)) {
			cp_err_prefix(err, "'dma' is '%s'", arm->dma);
			return -EINVAL;
		}
		struct cp_dma_traits traits;

		cp_dma_traits(dma, cfg.spec, &traits);
		if (cfg.irq && !traits.irq)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "'completion' is '%s' but '%s' cannot signal; "
					  "expected poll",
					  arm->completion, arm->dma);
	}
	return check_policy(arm, err);
}

static bool arm_append(struct cp_load *load, const struct cp_load_arm *arm)
{
	if (load->nr_arms == CP_PLAN_CELLS_MAX) {
		cp_yaml_problem(load->doc, arm->map,
				"'arms' has too many arms; expected at most %d",
				CP_PLAN_CELLS_MAX);
		return false;
	}
	for (size_t i = 0; i < load->nr_arms; i++) {
		if (strcmp(load->arms[i].arm.name, arm->arm.name) != 0)
			continue;
		cp_yaml_problem(load->doc, cp_yaml_get(arm->map, "name"),
				"arm '%s' is there twice; expected a name of its own",
				arm->arm.name);
		return false;
	}
	struct cp_load_arm *arms =
		reallocarray(load->arms, load->nr_arms + 1, sizeof(*arms));
	if (!arms) {
		load->failed = true;
		return false;
	}
	load->arms = arms;
	arms[load->nr_arms++] = *arm;
	return true;
}

/* One arm of the file: every combination of what it sweeps. */
static void arm_expand(struct cp_load *load, const struct cp_axes *axes, const char *name,
		       const struct cp_load_arm *from)
{
	size_t digits[AXES_MAX] = {0};

	do {
		struct cp_load_arm arm = *from;
		struct cp_err err = {0};
		char value[CP_SPEC_TEXT_MAX];
		size_t len = strlen(name);

		memcpy(arm.arm.name, name, len + 1);
		for (size_t i = 0; i < axes->nr; i++) {
			const struct cp_axis *axis = &axes->axis[i];

			cp_axis_apply(axis, digits[i], &arm.arm);
			if (!axis->swept)
				continue;
			const char *text = axis->nodes[digits[i]]->text;
			if (axis->field)
				text = cp_field_format(axis->field, &arm.arm, false,
						       value, sizeof(value));
			int n = snprintf(arm.arm.name + len, CP_NAME_MAX - len, "/%s",
					 text);
			len += (size_t)n;
			if (len >= CP_NAME_MAX) {
				cp_yaml_problem(load->doc, arm.map,
						"arm '%s' has a name that is too long; "
						"expected at most %d characters",
						name, CP_NAME_MAX - 1);
				return;
			}
		}
		if (cp_dma_fit_ring(&arm.arm, &err) || cp_arm_resolve(&arm.arm, &err) ||
		    arm_check(&arm.arm, cp_plan_external(load->plan), &err)) {
			cp_load_problem(load, place(arm.map, &err), &err);
			return; /* its other combinations would say the same */
		}
		if (!arm_append(load, &arm))
			return;
	} while (cp_axes_next(axes, digits));
}

static void load_arm(struct cp_load *load, const struct cp_yaml_node *map)
{
	const char *keys[48] = {"name", "only", "dma_thresh"};
	struct cp_load_arm arm = {.map = map};
	struct cp_axes axes = {0};
	char name[CP_NAME_MAX] = "";
	struct cp_arm scratch;
	size_t nr = 3;

	for (size_t i = 0; cp_arm_fields[i].name && nr < 47; i++)
		keys[nr++] = cp_arm_fields[i].name;
	keys[nr] = NULL;
	if (!cp_load_keys(load, map, "arm", keys, later_keys))
		return;
	const struct cp_yaml_node *node = cp_yaml_get(map, "name");
	if (!node) {
		cp_yaml_problem(load->doc, map, "an arm has no 'name'; expected one");
		return;
	}
	if (!cp_yaml_text(load->doc, node, "name", name, sizeof(name)))
		return;
	if (!name_good(name)) {
		cp_yaml_problem(load->doc, node,
				"'%s' is no arm name; expected letters, digits and . _ / "
				"+ -",
				name);
		return;
	}
	unsigned before = cp_yaml_nr_problems(load->doc);
	load_only(load, cp_yaml_get(map, "only"), &arm.only, &arm.nr_only);
	cp_arm_init(&arm.arm);
	cp_arm_init(&scratch);
	for (size_t i = 0; i < map->nr_children; i++) {
		const struct cp_yaml_node *child = map->children[i];
		const struct cp_field *field = cp_field_find(cp_arm_fields, child->key);

		if (field || !strcmp(child->key, "dma_thresh"))
			cp_axes_add(load, &axes, child->key, field, &scratch, child);
	}
	/* A bad value would only give a second, misleading problem. */
	if (cp_yaml_nr_problems(load->doc) == before)
		arm_expand(load, &axes, name, &arm);
}

void cp_load_arms(struct cp_load *load, const struct cp_yaml_node *arms)
{
	if (!arms || arms->type != CP_YAML_LIST || !arms->nr_children) {
		cp_yaml_problem(load->doc, arms,
				"'arms' is missing or no list; expected at least one "
				"arm");
		return;
	}
	load->only = calloc(arms->nr_children, sizeof(*load->only));
	if (!load->only) {
		load->failed = true;
		return;
	}
	for (size_t i = 0; i < arms->nr_children; i++)
		load_arm(load, arms->children[i]);
}
