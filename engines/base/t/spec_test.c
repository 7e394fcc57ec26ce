/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/spec.h"

/* Description: a name and its settings are taken apart in order. */
static void test_parse(void **state)
{
	struct cp_spec spec;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_spec_parse("sw:threads=1,ring=256", &spec, &err), 0);
	assert_string_equal(spec.name, "sw");
	assert_int_equal(spec.nr_keys, 2);
	assert_string_equal(spec.keys[0].key, "threads");
	assert_string_equal(cp_spec_text(&spec, "ring"), "256");
	assert_null(cp_spec_text(&spec, "delay"));
	assert_int_equal(cp_spec_parse("anon", &spec, &err), 0);
	assert_int_equal(spec.nr_keys, 0);
	assert_string_equal(spec.base, "");
	assert_int_equal(cp_spec_parse("idxd:/dev/dsa/wq0.0,a=1", &spec, &err), 0);
	assert_string_equal(spec.base, "/dev/dsa/wq0.0");
	assert_int_equal(spec.nr_keys, 1);
	assert_int_equal(cp_spec_parse("fault:sw", &spec, &err), 0);
	assert_string_equal(spec.base, "sw");
}

/* Description: what is no spec is refused with the part that is wrong. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *msg;
	} cases[] = {
		{"", "'' has no name that fits; expected NAME[:key=value,...]"},
		{":a=1", "':a=1' has no name that fits; expected NAME[:key=value,...]"},
		{"sw:", "setting '' of 'sw' cannot be read; expected key=value"},
		{"sw:ring", "setting 'ring' of 'sw' cannot be read; expected key=value"},
		{"sw:=1", "setting '=1' of 'sw' cannot be read; expected key=value"},
		{"sw:a=", "setting 'a=' of 'sw' cannot be read; expected key=value"},
		{"sw:a=1,", "setting '' of 'sw' cannot be read; expected key=value"},
		{"sw:a=1,a=2", "setting 'a' of 'sw' is given twice; expected it once"},
		{"x:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1",
		 "'x' has too many settings; expected at most 16"},
		{"fault:a=1,sw",
		 "setting 'sw' of 'fault' cannot be read; expected key=value"},
		{"idxd:,a=1", "setting '' of 'idxd' cannot be read; expected key=value"},
	};
	struct cp_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_spec spec = {.name = "kept"};

		assert_int_equal(cp_spec_parse(cases[i].text, &spec, &err), -EINVAL);
		assert_string_equal(err.msg, cases[i].msg);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_string_equal(spec.name, "kept");
	}
}

/* Description: getters keep the default of a key that is absent. */
static void test_getters(void **state)
{
	struct cp_spec spec;
	struct cp_err err;
	uint64_t size = 1, number = 2, time_ns = 3, absent = 4;

	(void)state;
	assert_int_equal(cp_spec_parse("x:s=4k,n=7,t=20us", &spec, &err), 0);
	assert_int_equal(cp_spec_size(&spec, "s", 1, 8192, &size, &err), 0);
	assert_int_equal(cp_spec_uint(&spec, "n", 1, 9, &number, &err), 0);
	assert_int_equal(cp_spec_time(&spec, "t", 1000000, &time_ns, &err), 0);
	assert_int_equal(cp_spec_uint(&spec, "gone", 1, 9, &absent, &err), 0);
	assert_int_equal(size, 4096);
	assert_int_equal(number, 7);
	assert_int_equal(time_ns, 20000);
	assert_int_equal(absent, 4);
}

/* Description: a value that does not fit is refused by name, with its range. */
static void test_getters_refuse(void **state)
{
	struct cp_spec spec;
	struct cp_err err;
	uint64_t value = 5;

	(void)state;
	assert_int_equal(cp_spec_parse("sw:s=4x,n=70,t=2s,m=x", &spec, &err), 0);
	assert_int_equal(cp_spec_size(&spec, "s", 1, 8192, &value, &err), -EINVAL);
	assert_string_equal(err.msg,
			    "sw: s '4x' is not a size; expected a size of 1 to 8k");
	assert_int_equal(cp_spec_uint(&spec, "n", 1, 64, &value, &err), -ERANGE);
	assert_string_equal(err.msg, "sw: n '70' is out of range; expected 1 to 64");
	assert_int_equal(cp_spec_uint(&spec, "m", 1, 64, &value, &err), -EINVAL);
	assert_string_equal(err.msg, "sw: m 'x' is not a whole number; expected 1 to 64");
	assert_int_equal(cp_spec_time(&spec, "t", 1000000000, &value, &err), -ERANGE);
	assert_string_equal(err.msg,
			    "sw: t '2s' is out of range; expected a time up to 1s, e.g. "
			    "20us");
	assert_int_equal(value, 5);
}

/* Description: percentages are read in millionths, with their sign; what is none, or is
 * above the most, is refused by name. */
static void test_percentages(void **state)
{
	static const struct {
		const char *text;
		uint32_t max_ppm, ppm;
		const char *msg; /* NULL: read */
	} cases[] = {
		{"0%", 1000000, 0, NULL},
		{"1%", 1000000, 10000, NULL},
		{"100%", 1000000, 1000000, NULL},
		{"0.1%", 1000000, 1000, NULL},
		{"12.3456%", 1000000, 123456, NULL},
		{"0.00010%", 1000000, 1, NULL},
		{"0.00001%", 0, 0, "is not a percentage; expected 0% to 0%, e.g. 0.1%"},
		{"1", 1000000, 0, "x: p '1' is not a percentage; expected 0% to 100%"},
		{"1.%", 1000000, 0, "is not a percentage"},
		{".5%", 1000000, 0, "is not a percentage"},
		{"-1%", 1000000, 0, "is not a percentage"},
		{"1%%", 1000000, 0, "is not a percentage"},
		{"100.1%", 1000000, 0, "x: p '100.1%' is out of range"},
		{"1000%", 1000000, 0, "is out of range"},
		{"99.5%", 990000, 0, "is out of range; expected 0% to 99%"},
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t ppm = 7, absent = 8;
		struct cp_err err = {0};
		struct cp_spec spec;

		snprintf(text, sizeof(text), "x:p=%s", cases[i].text);
		assert_int_equal(cp_spec_parse(text, &spec, &err), 0);
		assert_int_equal(cp_spec_pct(&spec, "q", 1000000, &absent, &err), 0);
		assert_int_equal(absent, 8);
		int rc = cp_spec_pct(&spec, "p", cases[i].max_ppm, &ppm, &err);

		assert_int_equal(ppm, cases[i].msg ? 7 : cases[i].ppm);
		assert_int_equal(rc < 0, cases[i].msg != NULL);
		if (cases[i].msg && !strstr(err.msg, cases[i].msg))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].msg);
	}
}

/* Description: a key that nobody asked for is an error that lists the known ones. */
static void test_finish(void **state)
{
	struct cp_spec spec;
	struct cp_err err;
	uint64_t value;

	(void)state;
	assert_int_equal(cp_spec_parse("sw:ring=4,rung=8", &spec, &err), 0);
	assert_int_equal(cp_spec_uint(&spec, "ring", 1, 64, &value, &err), 0);
	assert_int_equal(cp_spec_finish(&spec, "ring, threads", &err), -EINVAL);
	assert_string_equal(err.msg,
			    "sw: unknown setting 'rung'; expected ring, threads (did you "
			    "mean 'ring'?)");
	assert_non_null(cp_spec_text(&spec, "rung"));
	assert_int_equal(cp_spec_finish(&spec, "ring, rung", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_getters), cmocka_unit_test(test_getters_refuse),
		cmocka_unit_test(test_finish),	cmocka_unit_test(test_percentages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
