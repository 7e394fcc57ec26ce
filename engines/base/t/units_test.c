/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/units.h"

#define NR(a)	  (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED 4711U

struct parse_case {
	const char *text;
	int ret;
	uint64_t value;
};

static void parse_check(const struct parse_case *c, const char *what, int ret,
			uint64_t value)
{
	if (ret != c->ret || value != (c->ret ? UNTOUCHED : c->value))
		fail_msg("%s '%s': got %d, %ju; expected %d, %ju", what, c->text, ret,
			 (uintmax_t)value, c->ret, (uintmax_t)c->value);
}

/* Description: sizes parse as fio's; nonsense is refused and the output left alone. */
static void test_size_parse(void **state)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"512b", 0, 512},
		{"4k", 0, 4096},
		{"4K", 0, 4096},
		{"4kb", 0, 4096},
		{"4KiB", 0, 4096},
		{"2m", 0, 2097152},
		{"1g", 0, 1073741824},
		{"1t", 0, UINT64_C(1) << 40},
		{"18446744073709551615", 0, UINT64_MAX},
		{"16777215t", 0, UINT64_C(16777215) << 40},
		{"16777216t", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"k", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1 k", -EINVAL, 0},
		{"1.5k", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"4ib", -EINVAL, 0},
		{"4kk", -EINVAL, 0},
		{"4x", -EINVAL, 0},
		{"4,", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t value = UNTOUCHED;
		int ret = cp_size_parse(cases[i].text, &value);

		parse_check(&cases[i], "size", ret, value);
	}
}

/* Description: times parse with fio's suffixes, seconds without one. */
static void test_time_parse(void **state)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},
		{"1", 0, 1000000000},
		{"1s", 0, 1000000000},
		{"1.5s", 0, 1500000000},
		{"0.25", 0, 250000000},
		{"400ms", 0, 400000000},
		{"20us", 0, 20000},
		{"20US", 0, 20000},
		{"7ns", 0, 7},
		{"2m", 0, UINT64_C(120000000000)},
		{"1h", 0, UINT64_C(3600000000000)},
		{"1.000000001s", 0, 1000000001},
		{"1.0000000010s", 0, 1000000001},
		{"1.0000000001s", -EINVAL, 0},
		{"1.5ns", -EINVAL, 0},
		{"1.s", -EINVAL, 0},
		{".5s", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1d", -EINVAL, 0},
		{"1msx", -EINVAL, 0},
		{"5124096h", -ERANGE, 0},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t value = UNTOUCHED;
		int ret = cp_time_parse(cases[i].text, &value);

		parse_check(&cases[i], "time", ret, value);
	}
}

/* Description: whole numbers are digits only and at most max. */
static void test_uint_parse(void **state)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},	     {"100", 0, 100},	 {"101", -ERANGE, 0},
		{"", -EINVAL, 0},    {"1k", -EINVAL, 0}, {"-0", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t value = UNTOUCHED;
		int ret = cp_uint_parse(cases[i].text, 100, &value);

		parse_check(&cases[i], "uint", ret, value);
	}
}

/* Description: decimals are finite, whole and decimal; nan, inf and hex are refused. */
static void test_double_parse(void **state)
{
	static const struct {
		const char *text;
		int ret;
		double value;
	} cases[] = {
		{"0.5", 0, 0.5},       {"-2", 0, -2},	      {"1e3", 0, 1000},
		{".5", 0, 0.5},	       {"nan", -EINVAL, 0},   {"inf", -EINVAL, 0},
		{"0x1p3", -EINVAL, 0}, {"", -EINVAL, 0},      {" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},    {"1e", -EINVAL, 0},    {"1e999", -ERANGE, 0},
		{"-", -EINVAL, 0},     {"1.2.3", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		double value = 4711;

		assert_int_equal(cp_double_parse(cases[i].text, &value), cases[i].ret);
		assert_true(value == (cases[i].ret ? 4711 : cases[i].value));
	}
}

/* Description: a size is written with the largest suffix that is exact. */
static void test_size_format(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0"},
		{1, "1"},
		{1023, "1023"},
		{1024, "1k"},
		{1536, "1536"},
		{65536, "64k"},
		{2097152, "2m"},
		{UINT64_C(3) << 30, "3g"},
		{UINT64_C(5) << 40, "5t"},
		{UINT64_C(1) << 50, "1024t"},
		{UINT64_MAX, "18446744073709551615"},
	};
	char buf[24];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t back = 0;

		assert_string_equal(cp_size_format(cases[i].bytes, buf, sizeof(buf)),
				    cases[i].text);
		assert_int_equal(cp_size_parse(buf, &back), 0);
		assert_true(back == cases[i].bytes);
	}
}

/* Description: a time is written in the largest unit with at most three decimals, and
 * reads back as the same. */
static void test_time_format(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{1, "1ns"},
		{999, "999ns"},
		{1000, "1us"},
		{1234, "1.234us"},
		{20000, "20us"},
		{1234567, "1234.567us"},
		{400000000, "400ms"},
		{1500000000, "1.5s"},
		{1050000000, "1.05s"},
		{1005000000, "1.005s"},
		{1000500000, "1000.5ms"},
		{UINT64_C(90000000000), "90s"},
		{UINT64_C(120000000000), "2m"},
		{UINT64_C(7200000000000), "2h"},
		{UINT64_MAX, "18446744073709551.615us"},
	};
	char buf[24];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t back = 1;

		assert_string_equal(cp_time_format(cases[i].ns, buf, sizeof(buf)),
				    cases[i].text);
		assert_int_equal(cp_time_parse(buf, &back), 0);
		assert_true(back == cases[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_parse),  cmocka_unit_test(test_time_parse),
		cmocka_unit_test(test_uint_parse),  cmocka_unit_test(test_double_parse),
		cmocka_unit_test(test_size_format), cmocka_unit_test(test_time_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
