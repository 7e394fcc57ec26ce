/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/yaml.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static struct cp_yaml *load(const char *text)
{
	struct cp_yaml *doc = NULL;
	struct cp_err err = {0};

	if (cp_yaml_load_text("f", text, strlen(text), &doc, &err))
		fail_msg("'%s': %s", text, err.msg);
	return doc;
}

/* Description: the tree holds types, texts, quoting and the place of keys and values. */
static void test_tree(void **state)
{
	struct cp_yaml *doc = load("a: 1\nb: [x, 'y']\nc:\n  d: {e: ~}\n");
	const struct cp_yaml_node *root = cp_yaml_root(doc), *b, *e;

	(void)state;
	assert_int_equal(root->type, CP_YAML_MAP);
	assert_int_equal(root->nr_children, 3);
	assert_string_equal(root->children[0]->key, "a");
	assert_string_equal(root->children[0]->text, "1");
	b = cp_yaml_get(root, "b");
	assert_int_equal(b->type, CP_YAML_LIST);
	assert_int_equal(b->nr_children, 2);
	assert_int_equal(b->key_line, 2);
	assert_int_equal(b->key_column, 1);
	assert_int_equal(b->children[1]->line, 2);
	assert_int_equal(b->children[1]->column, 8);
	assert_false(b->children[0]->quoted);
	assert_true(b->children[1]->quoted);
	assert_null(b->children[0]->key);
	e = cp_yaml_get(cp_yaml_get(cp_yaml_get(root, "c"), "d"), "e");
	assert_int_equal(e->key_line, 4);
	assert_int_equal(e->key_column, 7);
	assert_int_equal(e->column, 10);
	assert_true(cp_yaml_is_null(e));
	assert_string_equal(cp_yaml_path(doc), "f");
	cp_yaml_free(doc);
}

/* Description: a key is found in a map only; NULL and other nodes have none. */
static void test_get(void **state)
{
	struct cp_yaml *doc = load("a: [b]\n");
	const struct cp_yaml_node *root = cp_yaml_root(doc);

	(void)state;
	assert_null(cp_yaml_get(root, "z"));
	assert_null(cp_yaml_get(NULL, "a"));
	assert_null(cp_yaml_get(cp_yaml_get(root, "a"), "b"));
	cp_yaml_free(doc);
}

/* Description: null is what YAML says it is, unless quoted. */
static void test_null(void **state)
{
	struct cp_yaml *doc = load(
		"-\n- ~\n- null\n- Null\n- NULL\n- 'null'\n- ''\n- nul\n- []\n- 0\n");
	const struct cp_yaml_node *root = cp_yaml_root(doc);

	(void)state;
	for (size_t i = 0; i < root->nr_children; i++)
		assert_int_equal(cp_yaml_is_null(root->children[i]), i < 5);
	assert_false(cp_yaml_is_null(NULL));
	cp_yaml_free(doc);
}

/* Description: what must not be read is refused with its place. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *msg;
	} cases[] = {
		{"", "f:1:1: error: file is empty; expected a YAML document"},
		{"# only\n", "f:1:1: error: file is empty; expected a YAML document"},
		{"a: 1\nb: 2\na: 3\n",
		 "f:3:1: error: duplicate key 'a'; expected it once, and line 1 has it"},
		{"x:\n  - {b: 1, c: 2, b: 3}\n",
		 "f:2:18: error: duplicate key 'b'; expected it once, and line 2 has it"},
		{"a: &x 1\n",
		 "f:1:4: error: anchor '&x' is refused; expected plain values"},
		{"a: &x [1]\n",
		 "f:1:4: error: anchor '&x' is refused; expected plain values"},
		{"b: *x\n", "f:1:4: error: alias '*x' is refused; expected plain values"},
		{"a: !!str 1\n",
		 "f:1:4: error: tag 'tag:yaml.org,2002:str' is refused; expected plain "
		 "values"},
		{"a: 1\n---\nb: 2\n", "f:2:1: error: second document; expected only one"},
		{"[a, b]: 1\n", "f:1:1: error: key is no plain word; expected a word"},
		{"a: \"x\\0y\"\n",
		 "f:1:4: error: text with a NUL in it is refused; expected text"},
		{"a: [1\n",
		 "f:2:1: error: not YAML: while parsing a flow sequence, did not "
		 "find expected ',' or ']'; expected a YAML document"},
		{"a: 1\n\tb: 2\n",
		 "f:2:1: error: not YAML: while scanning a plain scalar, found a tab "
		 "character that violates indentation; expected a YAML document"},
		{"a: 1\nbc: \xff\n",
		 "f:2:5: error: not YAML: invalid leading UTF-8 octet; expected a YAML "
		 "document"},
		{"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
		 "f:1:17: error: nested too deeply; expected at most 16 levels"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_yaml *doc = NULL;
		struct cp_err err = {0};
		int ret = cp_yaml_load_text("f", cases[i].text, strlen(cases[i].text),
					    &doc, &err);

		assert_null(doc);
		assert_string_equal(err.msg, cases[i].msg);
		assert_int_equal(ret, -EINVAL);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
	}
}

/* Description: sixteen levels are still fine. */
static void test_depth_allowed(void **state)
{
	(void)state;
	cp_yaml_free(load("[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"));
}

/* Description: a file above 1 MiB is refused unread. */
static void test_too_large(void **state)
{
	const size_t len = (1U << 20) + 1;
	char *text = malloc(len);
	struct cp_yaml *doc;
	struct cp_err err;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	assert_int_equal(cp_yaml_load_text("f", text, len, &doc, &err), -EINVAL);
	assert_string_equal(err.msg,
			    "f:1:1: error: file is too large; expected at most 1m");
	free(text);
	assert_int_equal(cp_yaml_load("/dev/zero", &doc, &err), -EINVAL);
	assert_string_equal(
		err.msg, "/dev/zero:1:1: error: file is too large; expected at most 1m");
}

/* Description: a file that is not there is named. */
static void test_missing_file(void **state)
{
	struct cp_yaml *doc;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_yaml_load("/no/such.yaml", &doc, &err), -ENOENT);
	assert_string_equal(err.msg,
			    "cannot read '/no/such.yaml': no such file or directory");
}

/* Description: all duplicates of a file are told at once. */
static void test_duplicates_all(void **state)
{
	const char *text = "a: 1\na: 2\nm: {b: 1, b: 2}\n";
	struct cp_yaml *doc;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_yaml_load_text("f", text, strlen(text), &doc, &err), -EINVAL);
	assert_string_equal(
		err.msg,
		"f:2:1: error: duplicate key 'a'; expected it once, and line 1 has it\n"
		"f:3:11: error: duplicate key 'b'; expected it once, and line 3 has it");
}

/* Description: problems are collected with their places, and ten at most. */
static void test_problem_cap(void **state)
{
	struct cp_yaml *doc = load("k:\n  v\n");
	const struct cp_yaml_node *k = cp_yaml_get(cp_yaml_root(doc), "k");
	struct cp_err err = {0};
	unsigned lines = 1;

	(void)state;
	assert_int_equal(cp_yaml_check(doc, &err), 0);
	cp_yaml_problem(doc, k, "value");
	cp_yaml_problem_key(doc, k, "key");
	cp_yaml_problem(doc, NULL, "nowhere");
	cp_yaml_problem_key(doc, cp_yaml_root(doc), "no key");
	assert_int_equal(cp_yaml_nr_problems(doc), 4);
	assert_int_equal(cp_yaml_check(doc, &err), -EINVAL);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_string_equal(err.msg, "f:2:3: error: value\nf:1:1: error: key\n"
				     "f:1:1: error: nowhere\nf:1:1: error: no key");
	for (int i = 0; i < 20; i++)
		cp_yaml_problem(doc, k, "more %d", i);
	assert_int_equal(cp_yaml_nr_problems(doc), CP_YAML_PROBLEMS_MAX);
	assert_int_equal(cp_yaml_check(doc, &err), -EINVAL);
	for (const char *p = err.msg; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, CP_YAML_PROBLEMS_MAX);
	assert_non_null(strstr(err.msg, "more 5"));
	assert_null(strstr(err.msg, "more 6"));
	cp_yaml_free(doc);
}

/* Description: a problem too long for its line is cut and marked, not lost. */
static void test_problem_long(void **state)
{
	struct cp_yaml *doc = load("k: v\n");
	struct cp_err err = {0};
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 10; i++)
		cp_yaml_problem(doc, NULL, "%s", text);
	assert_int_equal(cp_yaml_check(doc, &err), -EINVAL);
	assert_string_equal(err.msg + strlen(err.msg) - 4, "x...");
	cp_yaml_free(doc);
}

/* Description: unknown keys are told at the key, with the nearest or all that are known.
 */
static void test_keys(void **state)
{
	static const char *const keys[] = {"bs", "rw", NULL};
	struct cp_yaml *doc = load("bs: 4k\n  \nbz: 1\nother: 2\nl: [1]\nn:\n");
	const struct cp_yaml_node *root = cp_yaml_root(doc);
	struct cp_err err;

	(void)state;
	assert_true(cp_yaml_keys(doc, root, "workload", keys));
	assert_false(cp_yaml_keys(doc, cp_yaml_get(root, "l"), "l", keys));
	assert_false(cp_yaml_keys(doc, cp_yaml_get(root, "n"), "n", keys));
	assert_false(cp_yaml_keys(doc, NULL, "gone", keys));
	assert_int_equal(cp_yaml_check(doc, &err), -EINVAL);
	assert_string_equal(err.msg,
			    "f:3:1: error: unknown key 'bz'; expected 'bs'\n"
			    "f:4:1: error: unknown key 'other'; expected bs or rw\n"
			    "f:5:1: error: unknown key 'l'; expected bs or rw\n"
			    "f:6:1: error: unknown key 'n'; expected bs or rw\n"
			    "f:5:4: error: 'l' is a list; expected a map\n"
			    "f:6:3: error: 'n' is empty; expected a map\n"
			    "f:1:1: error: missing 'gone'; expected a map");
	cp_yaml_free(doc);
}

/* Description: values that fit are read. */
static void test_values(void **state)
{
	struct cp_yaml *doc =
		load("{s: 64k, t: 20us, u: 7, d: 0.5, b: off, x: 'null', w: mq}\n");
	const struct cp_yaml_node *root = cp_yaml_root(doc);
	static const char *const modes[] = {"bio", "mq", NULL};
	uint64_t s, t, u;
	double d;
	bool b = true;
	char x[5];

	(void)state;
	assert_true(cp_yaml_size(doc, cp_yaml_get(root, "s"), "s", 1, 65536, &s));
	assert_int_equal(s, 65536);
	assert_true(cp_yaml_time(doc, cp_yaml_get(root, "t"), "t", 0, UINT64_MAX, &t));
	assert_int_equal(t, 20000);
	assert_true(cp_yaml_uint(doc, cp_yaml_get(root, "u"), "u", 7, 7, &u));
	assert_int_equal(u, 7);
	assert_true(cp_yaml_double(doc, cp_yaml_get(root, "d"), "d", 0, 1, &d));
	assert_true(d == 0.5);
	assert_true(cp_yaml_bool(doc, cp_yaml_get(root, "b"), "b", &b));
	assert_false(b);
	assert_true(cp_yaml_text(doc, cp_yaml_get(root, "x"), "x", x, sizeof(x)));
	assert_string_equal(x, "null");
	assert_int_equal(cp_yaml_word(doc, cp_yaml_get(root, "w"), "w", modes), 1);
	assert_int_equal(cp_yaml_nr_problems(doc), 0);
	cp_yaml_free(doc);
}

static const char *const modes[] = {"bio", "mq", NULL};

/* Each reads `node` as v in one way, and says whether it could. */
static bool read_size(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	uint64_t value;

	return cp_yaml_size(doc, node, "v", 512, 4096, &value);
}

static bool read_time(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	uint64_t value;

	return cp_yaml_time(doc, node, "v", 1000000, UINT64_MAX, &value);
}

static bool read_uint(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	uint64_t value;

	return cp_yaml_uint(doc, node, "v", 1, 9, &value);
}

static bool read_one(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	uint64_t value;

	return cp_yaml_uint(doc, node, "v", 1, 1, &value);
}

static bool read_double(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	double value;

	return cp_yaml_double(doc, node, "v", 0, 1, &value);
}

static bool read_bool(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	bool value;

	return cp_yaml_bool(doc, node, "v", &value);
}

static bool read_text(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	char value[4];

	return cp_yaml_text(doc, node, "v", value, sizeof(value));
}

static bool read_word(struct cp_yaml *doc, const struct cp_yaml_node *node)
{
	return cp_yaml_word(doc, node, "v", modes) >= 0;
}

/* Description: each value that does not fit is told with its place and what would. */
static void test_values_refused(void **state)
{
	static const struct {
		const char *text;
		bool (*read)(struct cp_yaml *doc, const struct cp_yaml_node *node);
		const char *msg;
	} cases[] = {
		{"v: 4x", read_size,
		 "1:4: error: v '4x' is unreadable; expected a size of "
		 "512 to 4k"},
		{"v: 8k", read_size,
		 "1:4: error: v '8k' is out of range; expected a size "
		 "of 512 to 4k"},
		{"v: [1]", read_size,
		 "1:4: error: 'v' is a list; expected a size of 512 to "
		 "4k"},
		{"v: {a: 1}", read_size,
		 "1:4: error: 'v' is a map; expected a size of 512 "
		 "to 4k"},
		{"v:", read_size,
		 "1:3: error: 'v' is empty; expected a size of 512 to 4k"},
		{"w: 1", read_size,
		 "1:1: error: missing 'v'; expected a size of 512 to 4k"},
		{"v: 1us", read_time,
		 "1:4: error: v '1us' is out of range; expected a time "
		 "of at least 1ms"},
		{"v: soon", read_time,
		 "1:4: error: v 'soon' is unreadable; expected a time "
		 "of at least 1ms"},
		{"v: 0", read_uint,
		 "1:4: error: v '0' is out of range; expected a whole "
		 "number of 1 to 9"},
		{"v: 10", read_uint,
		 "1:4: error: v '10' is out of range; expected a whole "
		 "number of 1 to 9"},
		{"v: 1.5", read_uint,
		 "1:4: error: v '1.5' is unreadable; expected a whole "
		 "number of 1 to 9"},
		{"v: 2", read_one, "1:4: error: v '2' is out of range; expected 1"},
		{"v: 1.5", read_double,
		 "1:4: error: v '1.5' is out of range; expected a "
		 "number of 0 to 1"},
		{"v: .nan", read_double,
		 "1:4: error: v '.nan' is unreadable; expected a "
		 "number of 0 to 1"},
		{"v: maybe", read_bool,
		 "1:4: error: v 'maybe' is unreadable; expected true "
		 "or false"},
		{"v: long", read_text,
		 "1:4: error: 'v' is too long; expected at most 3 "
		 "characters"},
		{"v: ~", read_text, "1:4: error: 'v' is empty; expected text"},
		{"v: boi", read_word,
		 "1:4: error: unknown v 'boi'; expected bio or mq (did "
		 "you mean 'bio'?)"},
		{"v: page", read_word,
		 "1:4: error: unknown v 'page'; expected bio or mq"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_yaml *doc = load(cases[i].text);
		struct cp_err err = {0};

		assert_false(cases[i].read(doc, cp_yaml_get(cp_yaml_root(doc), "v")));
		assert_int_equal(cp_yaml_check(doc, &err), -EINVAL);
		assert_string_equal(err.msg + 2, cases[i].msg);
		cp_yaml_free(doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_depth_allowed),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_duplicates_all),
		cmocka_unit_test(test_problem_cap),
		cmocka_unit_test(test_problem_long),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
