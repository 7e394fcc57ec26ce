/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/err.h"

/* Description: setting an error fills exit and text and returns the negative errno. */
static void test_set(void **state)
{
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_err_set(&err, CP_EXIT_USAGE, EINVAL, "bad '%s'", "x"),
			 -EINVAL);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_string_equal(err.msg, "bad 'x'");
}

/* Description: a failure can never carry exit code 0. */
static void test_exit_never_ok(void **state)
{
	struct cp_err err = {0};

	(void)state;
	cp_err_set(&err, CP_EXIT_OK, EIO, "odd");
	assert_int_equal(err.exit, CP_EXIT_INTERNAL);
}

/* Description: the arguments may point into the message that is replaced. */
static void test_set_from_itself(void **state)
{
	struct cp_err err = {0};

	(void)state;
	cp_err_set(&err, CP_EXIT_USAGE, EINVAL, "inner");
	cp_err_set(&err, CP_EXIT_USAGE, EINVAL, "outer: %s", err.msg);
	assert_string_equal(err.msg, "outer: inner");
}

/* Description: a prefix goes before the message and leaves exit alone. */
static void test_prefix(void **state)
{
	struct cp_err err = {0};

	(void)state;
	cp_err_set(&err, CP_EXIT_INVALID, EIO, "lost");
	cp_err_prefix(&err, "%s:%d", "f", 3);
	assert_string_equal(err.msg, "f:3: lost");
	assert_int_equal(err.exit, CP_EXIT_INVALID);
}

/* Description: what does not fit is cut and marked, by set and by prefix. */
static void test_cut(void **state)
{
	struct cp_err err = {0};
	char text[CP_ERR_MSG_MAX + 64];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cp_err_set(&err, CP_EXIT_USAGE, EINVAL, "%s", text);
	assert_int_equal(strlen(err.msg), CP_ERR_MSG_MAX - 1);
	assert_string_equal(err.msg + CP_ERR_MSG_MAX - 5, "x...");
	cp_err_prefix(&err, "here");
	assert_int_equal(strlen(err.msg), CP_ERR_MSG_MAX - 1);
	assert_memory_equal(err.msg, "here: xx", 8);
	assert_string_equal(err.msg + CP_ERR_MSG_MAX - 5, "x...");
}

/* Description: of two exit codes the higher-ranked wins, whatever their order. */
static void test_worse(void **state)
{
	static const enum cp_exit rank[] = {
		CP_EXIT_OK,    CP_EXIT_INCONCLUSIVE, CP_EXIT_REGRESSED,	  CP_EXIT_INVALID,
		CP_EXIT_USAGE, CP_EXIT_INTERNAL,     CP_EXIT_INTERRUPTED,
	};
	const size_t nr = sizeof(rank) / sizeof(rank[0]);

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = 0; j < nr; j++)
			assert_int_equal(cp_exit_worse(rank[i], rank[j]),
					 rank[i > j ? i : j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_exit_never_ok),
		cmocka_unit_test(test_set_from_itself),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_worse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
