/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading values out of a loaded document. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/base/yaml.h"

const struct cp_yaml_node *cp_yaml_get(const struct cp_yaml_node *map, const char *key)
{
	if (!map || map->type != CP_YAML_MAP)
		return NULL;
	for (size_t i = 0; i < map->nr_children; i++) {
		if (!strcmp(map->children[i]->key, key))
			return map->children[i];
	}
	return NULL;
}

bool cp_yaml_is_null(const struct cp_yaml_node *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (!node || node->type != CP_YAML_SCALAR || node->quoted)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		if (!strcmp(node->text, nulls[i]))
			return true;
	}
	return false;
}

static const char *kind(const struct cp_yaml_node *node)
{
	switch (node->type) {
	case CP_YAML_SCALAR:
		return "a single value";
	case CP_YAML_LIST:
		return "a list";
	case CP_YAML_MAP:
		return "a map";
	}
	return "unreadable";
}

static bool word_in(const char *const *words, const char *text)
{
	for (; words && *words; words++) {
		if (!strcmp(*words, text))
			return true;
	}
	return false;
}

bool cp_yaml_keys_but(struct cp_yaml *doc, const struct cp_yaml_node *map,
		      const char *what, const char *const *keys, const char *const *but)
{
	char list[512];

	if (!map || map->type != CP_YAML_MAP) {
		if (!map)
			cp_yaml_problem(doc, NULL, "missing '%s'; expected a map", what);
		else
			cp_yaml_problem(doc, map, "'%s' is %s; expected a map", what,
					cp_yaml_is_null(map) ? "empty" : kind(map));
		return false;
	}
	for (size_t i = 0; i < map->nr_children; i++) {
		const struct cp_yaml_node *child = map->children[i];

		if (word_in(keys, child->key) || word_in(but, child->key))
			continue;
		const char *near = cp_nearest_word(child->key, keys);

		if (near)
			cp_yaml_problem_key(doc, child, "unknown key '%s'; expected '%s'",
					    child->key, near);
		else
			cp_yaml_problem_key(doc, child, "unknown key '%s'; expected %s",
					    child->key,
					    cp_words_join(keys, list, sizeof(list)));
	}
	return true;
}

bool cp_yaml_keys(struct cp_yaml *doc, const struct cp_yaml_node *map, const char *what,
		  const char *const *keys)
{
	return cp_yaml_keys_but(doc, map, what, keys, NULL);
}

/* The text of a scalar, or NULL with a problem; `expected` ends the message. */
static const char *scalar(struct cp_yaml *doc, const struct cp_yaml_node *node,
			  const char *what, const char *expected)
{
	if (!node)
		cp_yaml_problem(doc, NULL, "missing '%s'; expected %s", what, expected);
	else if (node->type != CP_YAML_SCALAR)
		cp_yaml_problem(doc, node, "'%s' is %s; expected %s", what, kind(node),
				expected);
	else if (cp_yaml_is_null(node))
		cp_yaml_problem(doc, node, "'%s' is empty; expected %s", what, expected);
	else
		return node->text;
	return NULL;
}

static void number_problem(struct cp_yaml *doc, const struct cp_yaml_node *node,
			   const char *what, int ret, const char *expected)
{
	cp_yaml_problem(doc, node, "%s '%s' is %s; expected %s", what, node->text,
			ret == -ERANGE ? "out of range" : "unreadable", expected);
}

static int parse_uint(const char *text, uint64_t *ret_value)
{
	return cp_uint_parse(text, UINT64_MAX, ret_value);
}

/* What sizes, times and counts have in common: one parser each, one range. */
static bool integer(struct cp_yaml *doc, const struct cp_yaml_node *node,
		    const char *what, const char *expected,
		    int (*parse)(const char *, uint64_t *), uint64_t min, uint64_t max,
		    uint64_t *ret_value)
{
	const char *text = scalar(doc, node, what, expected);
	uint64_t value;

	if (!text)
		return false;
	int ret = parse(text, &value);

	if (!ret && (value < min || value > max))
		ret = -ERANGE;
	if (ret) {
		number_problem(doc, node, what, ret, expected);
		return false;
	}
	*ret_value = value;
	return true;
}

bool cp_yaml_size(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min, uint64_t max, uint64_t *ret_value)
{
	char low[24], high[24], expected[96];

	cp_size_format(min, low, sizeof(low));
	if (max == UINT64_MAX)
		snprintf(expected, sizeof(expected), "a size of at least %s", low);
	else
		snprintf(expected, sizeof(expected), "a size of %s to %s", low,
			 cp_size_format(max, high, sizeof(high)));
	return integer(doc, node, what, expected, cp_size_parse, min, max, ret_value);
}

bool cp_yaml_time(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
	char low[24], high[24], expected[96];

	cp_time_format(min_ns, low, sizeof(low));
	if (max_ns == UINT64_MAX)
		snprintf(expected, sizeof(expected), "a time of at least %s", low);
	else
		snprintf(expected, sizeof(expected), "a time of %s to %s", low,
			 cp_time_format(max_ns, high, sizeof(high)));
	return integer(doc, node, what, expected, cp_time_parse, min_ns, max_ns, ret_ns);
}

bool cp_yaml_uint(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min, uint64_t max, uint64_t *ret_value)
{
	char expected[96];

	if (max == UINT64_MAX)
		snprintf(expected, sizeof(expected),
			 "a whole number of at least %" PRIu64, min);
	else if (min == max)
		snprintf(expected, sizeof(expected), "%" PRIu64, min);
	else
		snprintf(expected, sizeof(expected),
			 "a whole number of %" PRIu64 " to %" PRIu64, min, max);
	return integer(doc, node, what, expected, parse_uint, min, max, ret_value);
}

bool cp_yaml_double(struct cp_yaml *doc, const struct cp_yaml_node *node,
		    const char *what, double min, double max, double *ret_value)
{
	char expected[96];
	double value;

	snprintf(expected, sizeof(expected), "a number of %.12g to %.12g", min, max);
	const char *text = scalar(doc, node, what, expected);

	if (!text)
		return false;
	int ret = cp_double_parse(text, &value);

	if (!ret && (value < min || value > max))
		ret = -ERANGE;
	if (ret) {
		number_problem(doc, node, what, ret, expected);
		return false;
	}
	*ret_value = value;
	return true;
}

bool cp_yaml_bool(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  bool *ret_value)
{
	static const char *const words[] = {"true", "yes", "on", "false", "no", "off"};
	const char *text = scalar(doc, node, what, "true or false");

	if (!text)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		*ret_value = i < 3;
		return true;
	}
	number_problem(doc, node, what, -EINVAL, "true or false");
	return false;
}

bool cp_yaml_text(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  char *buf, size_t size)
{
	const char *text = scalar(doc, node, what, "text");

	if (!text)
		return false;
	if (strlen(text) >= size) {
		cp_yaml_problem(doc, node,
				"'%s' is too long; expected at most %zu characters", what,
				size - 1);
		return false;
	}
	memcpy(buf, text, strlen(text) + 1);
	return true;
}

int cp_yaml_word(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		 const char *const *words)
{
	char list[256];
	const char *text;

	cp_words_join(words, list, sizeof(list));
	text = scalar(doc, node, what, list);
	if (!text)
		return -1;
	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
	}
	const char *near = cp_nearest_word(text, words);

	cp_yaml_problem(doc, node, "unknown %s '%s'; expected %s%s%s%s", what, text, list,
			near ? " (did you mean '" : "", near ? near : "",
			near ? "'?)" : "");
	return -1;
}
