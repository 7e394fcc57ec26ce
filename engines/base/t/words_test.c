/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/yaml.h"

/* Description: the nearest word is suggested when it is near, and none when not. */
static void test_nearest(void **state)
{
	static const char *const words[] = {"bs",      "read", "write",	     "randread",
					    "iodepth", "sw",   "queue_mode", NULL};
	static const struct {
		const char *text, *word;
	} cases[] = {
		{"bz", "bs"},
		{"raed", "read"},
		{"reads", "read"},
		{"READ", "read"},
		{"wrte", "write"},
		{"iodpeht", "iodepth"},
		{"queuemode", "queue_mode"},
		{"queue-mode", "queue_mode"},
		{"randrea", "randread"},
		{"x", NULL},
		{"", NULL},
		{"xyz", NULL},
		{"rexx", NULL},
		{"quick", NULL},
		{"write-through", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *near = cp_nearest_word(cases[i].text, words);

		if ((near == NULL) != (cases[i].word == NULL) ||
		    (near && strcmp(near, cases[i].word) != 0))
			fail_msg("'%s': got %s", cases[i].text, near ? near : "none");
	}
}

/* Description: a text longer than any word is handled. */
static void test_nearest_long(void **state)
{
	static const char *const words[] = {"read", NULL};
	char text[500];

	(void)state;
	memset(text, 'r', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_null(cp_nearest_word(text, words));
}

/* Description: a list of words reads as a sentence would, without the words that do
 * not fit. */
static void test_join(void **state)
{
	static const char *const none[] = {NULL}, *const one[] = {"a", NULL},
				 *const three[] = {"a", "b", "c", NULL};
	char buf[32], small[8], tiny[5];

	(void)state;
	assert_string_equal(cp_words_join(none, buf, sizeof(buf)), "");
	assert_string_equal(cp_words_join(one, buf, sizeof(buf)), "a");
	assert_string_equal(cp_words_join(three, buf, sizeof(buf)), "a, b or c");
	assert_string_equal(cp_words_join(three, small, sizeof(small)), "a, ...");
	assert_string_equal(cp_words_join(three, tiny, sizeof(tiny)), "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_nearest_long),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
