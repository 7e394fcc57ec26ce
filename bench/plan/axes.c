// SPDX-License-Identifier: GPL-2.0-only
/* Lists that sweep: the values of a key, and the cross product of keys. */
#include "bench/plan/load.h"

#include <string.h>

#include "engines/base/units.h"

void cp_load_problem(struct cp_load *load, const struct cp_yaml_node *node,
		     const struct cp_err *err)
{
	cp_yaml_problem(load->doc, node, "%s", err->msg);
}

static bool has_word(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

/* The keys of map that are another section's, each said so; at most max of them. */
static size_t misplaced(struct cp_load *load, const struct cp_yaml_node *map,
			const char *what, const char *const *keys,
			const char *const *later, const char **ret_keys, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; map && map->type == CP_YAML_MAP && i < map->nr_children; i++) {
		const struct cp_yaml_node *node = map->children[i];
		const char *section = cp_load_section_of(node->key);

		if (nr == max || !section || has_word(keys, node->key) ||
		    has_word(later, node->key))
			continue;
		ret_keys[nr++] = node->key;
		bool arm = !strcmp(section, "arm");

		cp_yaml_problem_key(load->doc, node,
				    "'%s' is of %s%s and no %s's; expected it %s '%s'",
				    node->key, arm ? "an " : "the ", section, what,
				    arm ? "in an entry of" : "under",
				    arm ? "arms" : section);
	}
	return nr;
}

bool cp_load_keys(struct cp_load *load, const struct cp_yaml_node *map, const char *what,
		  const char *const *keys, const char *const *later)
{
	const char *told[64];
	size_t nr = misplaced(load, map, what, keys, later, told, 40);

	for (size_t i = 0; later[i] && nr < 63; i++)
		told[nr++] = later[i];
	told[nr] = NULL;
	if (!cp_yaml_keys_but(load->doc, map, what, keys, told))
		return false;
	for (size_t i = 0; later[i]; i++) {
		const struct cp_yaml_node *node = cp_yaml_get(map, later[i]);

		if (node)
			cp_yaml_problem_key(load->doc, node,
					    "'%s' is not available in this version; "
					    "expected no such key",
					    later[i]);
	}
	return true;
}

static bool value_good(struct cp_load *load, const char *name,
		       const struct cp_field *field, void *obj,
		       const struct cp_yaml_node *node)
{
	struct cp_err err = {0};
	uint64_t size;

	if (node->type != CP_YAML_SCALAR) {
		cp_yaml_problem(load->doc, node,
				"'%s' is no single value; expected a value or a list of "
				"values",
				name);
		return false;
	}
	if (!field)
		return cp_yaml_size(load->doc, node, name,
				    strcmp(name, "segment") ? 0 : 1, 1ULL << 40, &size);
	if (!cp_field_parse_asked(field, obj, node->text, &err))
		return true;
	cp_load_problem(load, node, &err);
	return false;
}

/* Two spellings of one value would be one cell twice. */
static bool value_new(struct cp_load *load, const struct cp_axis *axis, void *obj,
		      const struct cp_yaml_node *node)
{
	char text[256], other[256];
	uint64_t size = 0, other_size = 0;
	struct cp_err err;

	if (axis->field)
		cp_field_format(axis->field, obj, true, text, sizeof(text));
	else
		cp_size_parse(node->text, &size);
	for (size_t i = 0; i < axis->nr; i++) {
		if (axis->field) {
			cp_field_parse(axis->field, obj, axis->nodes[i]->text, &err);
			cp_field_format(axis->field, obj, true, other, sizeof(other));
		} else {
			cp_size_parse(axis->nodes[i]->text, &other_size);
		}
		if (axis->field ? strcmp(text, other) != 0 : size != other_size)
			continue;
		cp_yaml_problem(load->doc, node,
				"'%s' has the value '%s' twice; expected it once",
				axis->name, node->text);
		return false;
	}
	return true;
}

void cp_axes_add(struct cp_load *load, struct cp_axes *axes, const char *name,
		 const struct cp_field *field, void *obj, const struct cp_yaml_node *node)
{
	if (!node)
		return;
	struct cp_axis *axis = &axes->axis[axes->nr];
	bool list = node->type == CP_YAML_LIST;
	size_t nr = list ? node->nr_children : 1;

	if (axes->nr == AXES_MAX || nr > AXIS_VALUES_MAX) {
		cp_yaml_problem(load->doc, node,
				"'%s' has too many values; expected at "
				"most %d",
				name, AXIS_VALUES_MAX);
		return;
	}
	if (!nr)
		cp_yaml_problem(load->doc, node,
				"'%s' is an empty list; expected at least one value",
				name);
	*axis = (struct cp_axis){.name = name, .field = field, .swept = list};
	for (size_t i = 0; i < nr; i++) {
		const struct cp_yaml_node *value = list ? node->children[i] : node;

		if (value_good(load, name, field, obj, value) &&
		    value_new(load, axis, obj, value))
			axis->nodes[axis->nr++] = value;
	}
	if (axis->nr)
		axes->nr++;
}

bool cp_axes_next(const struct cp_axes *axes, size_t *digits)
{
	for (size_t i = axes->nr; i-- > 0;) {
		if (++digits[i] < axes->axis[i].nr)
			return true;
		digits[i] = 0;
	}
	return false;
}

void cp_axis_apply(const struct cp_axis *axis, size_t digit, void *obj)
{
	const char *text = axis->nodes[digit]->text;
	struct cp_err err;

	if (axis->field) {
		cp_field_parse(axis->field, obj, text, &err);
	} else if (!strcmp(axis->name, "dma_thresh")) {
		cp_field_parse(cp_field_find(cp_arm_fields, "dma_thresh_read"), obj, text,
			       &err);
		cp_field_parse(cp_field_find(cp_arm_fields, "dma_thresh_write"), obj,
			       text, &err);
	}
}
