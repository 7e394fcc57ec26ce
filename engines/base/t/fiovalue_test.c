// SPDX-License-Identifier: GPL-2.0-only
#include "engines/base/fiovalue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Description: what fio would cut, split or replace is refused as bad input, with the
 * character named; the rest passes. */
static void test_values(void **state)
{
	static const struct {
		enum cp_fio_value kind;
		const char *text, *words; /* NULL: good */
	} cases[] = {
		{CP_FIO_VALUE_FILENAME, "/dir/a file-1.bin", NULL},
		{CP_FIO_VALUE_FILENAME, "/dir/victim#1", "holds '#'"},
		{CP_FIO_VALUE_FILENAME, "/dir/victim;1", "holds ';'"},
		{CP_FIO_VALUE_FILENAME, "/dir/a:b", NULL},
		{CP_FIO_VALUE_FILENAME, "/dir/a\\:b", "holds '\\'"},
		{CP_FIO_VALUE_FILENAME, "/dir/$ncpus", "holds '$'"},
		{CP_FIO_VALUE_FILENAME, "/dir/a%b", "holds '%'"},
		{CP_FIO_VALUE_FILENAME, "/dir/a ", "begins or ends with a blank"},
		{CP_FIO_VALUE_FILENAME, " a", "begins or ends with a blank"},
		{CP_FIO_VALUE_FILENAME, "", "is empty"},
		{CP_FIO_VALUE_PATH, "/dir/a:b/c d.yaml", NULL},
		{CP_FIO_VALUE_PATH, "/dir/a#b", "holds '#'"},
		{CP_FIO_VALUE_PATH, "/dir/a\nb", "control characters"},
		{CP_FIO_VALUE_PATH, "a\t", "control characters"},
		{CP_FIO_VALUE_TEXT, "zipf:1.1", NULL},
		{CP_FIO_VALUE_TEXT, "\"abcd\"-120xdeadface", NULL},
		{CP_FIO_VALUE_TEXT, "'/etc/passwd'", "holds '''"},
		{CP_FIO_VALUE_TEXT, "5 ; rw=write", "holds ';'"},
		{CP_FIO_VALUE_TEXT, "1\nrw=write", "control characters"},
		{CP_FIO_VALUE_TEXT, "${HOME}", "holds '$'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		int ret = cp_fio_value_check(cases[i].kind, "'it'", cases[i].text, &err);

		assert_int_equal(ret != 0, cases[i].words != NULL);
		if (!cases[i].words)
			continue;
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (strncmp(err.msg, "'it' ", 5) != 0 ||
		    !strstr(err.msg, cases[i].words) || !strstr(err.msg, "; expected"))
			fail_msg("'%s': %s", cases[i].text, err.msg);
	}
}

/* Description: a value that would not fit into fio's line is refused. */
static void test_long(void **state)
{
	static char text[CP_FIO_VALUE_MAX + 2];
	struct cp_err err = {0};

	(void)state;
	memset(text, 'a', CP_FIO_VALUE_MAX);
	assert_int_equal(cp_fio_value_check(CP_FIO_VALUE_PATH, "'it'", text, &err), 0);
	text[CP_FIO_VALUE_MAX] = 'a';
	assert_int_not_equal(cp_fio_value_check(CP_FIO_VALUE_PATH, "'it'", text, &err),
			     0);
	assert_non_null(strstr(err.msg, "too long"));
	/* a colon is written as two characters */
	text[CP_FIO_VALUE_MAX] = '\0';
	assert_int_equal(cp_fio_value_check(CP_FIO_VALUE_FILENAME, "'it'", text, &err),
			 0);
	text[10] = ':';
	assert_int_not_equal(
		cp_fio_value_check(CP_FIO_VALUE_FILENAME, "'it'", text, &err), 0);
}

/* Description: each ':' of a filename gets a '\\' before it, and what does not fit is cut
 * between characters, with a zero behind it. */
static void test_escape(void **state)
{
	static const struct {
		const char *name, *expect;
		size_t size;
	} cases[] = {
		{"/dir/file", "/dir/file", 32},
		{"/sys/bus/pci/devices/0000:00:04.0/resource2",
		 "/sys/bus/pci/devices/0000\\:00\\:04.0/resource2", 96},
		{":", "\\:", 3},
		{"::", "\\:", 4},
		{"", "", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[97];

		memset(buf, '!', sizeof(buf));
		assert_ptr_equal(
			cp_fio_filename_escape(cases[i].name, buf, cases[i].size), buf);
		assert_string_equal(buf, cases[i].expect);
		assert_int_equal(buf[cases[i].size], '!');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_escape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
