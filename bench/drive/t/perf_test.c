// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/drive/perf.h"

#define NONE (-1.0) /* null */

struct stat_case {
	const char *text;
	const char *events[3];
	double values[3];
	const char *note; /* a part of the notes; NULL: none at all */
};

/* Description: counts of perf stat, and null for what was none, never 0. */
static void test_stat_lines(void **state)
{
	static const struct stat_case cases[] = {
		{"# started on Tue Dec  1 03:20:12 2026\n\n"
		 "1351.51;msec;task-clock;1351514787;100.00;0.062;CPUs utilized\n"
		 "399;;context-switches;1351514787;100.00;295.224;/sec\n",
		 {"task-clock", "context-switches"},
		 {1351510000, 399},
		 NULL},
		{"<not supported>;;cycles;0;100.00;;\n7;;instructions;5;100.00;;\n",
		 {"cycles", "instructions"},
		 {NONE, 7},
		 NULL},
		/* it really was none */
		{"0;;context-switches;5;100.00;0.000;/sec\n",
		 {"context-switches"},
		 {0},
		 NULL},
		/* a decimal comma of another locale */
		{"2,50;msec;task-clock;5;100,00;;\n", {"task-clock"}, {2500000}, NULL},
		/* multiplexed */
		{"900;;cycles;5;33.10;;\n",
		 {"cycles"},
		 {900},
		 "'cycles' was counted 33 %"},
		{"<not counted>;msec;task-clock;0;100.00;;\n"
		 "<not supported>;;cycles;0;100.00;;\n",
		 {"task-clock", "cycles"},
		 {NONE, NONE},
		 "no window opened"},
		/* no right to the kernel's part: what is counted there is not 0 */
		{"0.59;msec;task-clock:u;589366;100.00;;\n"
		 "0;;context-switches:u;589366;100.00;;\n",
		 {"task-clock", "context-switches"},
		 {590000, NONE},
		 "user mode only"},
		/* asked for so: then 0 is an answer */
		{"0;;cycles:u;589366;100.00;;\n", {"cycles:u"}, {0}, NULL},
		/* one event that stands for two: nobody knows whose the counts are */
		{"1;;cpu_core/cycles/;5;100.00;;\n2;;cpu_atom/cycles/;5;100.00;;\n",
		 {"cycles"},
		 {NONE},
		 "2 counts for 1 events"},
		{"", {"cycles"}, {NONE}, "0 counts for 1 events"},
		{"garbage\n;;\nnan;;cycles;5;100;;\n",
		 {"cycles", "x"},
		 {NONE, NONE},
		 NULL},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		static struct cp_record record;
		char events[3][48] = {0};
		size_t nr = 0;

		cp_record_init(&record);
		for (; nr < 3 && cases[c].events[nr]; nr++)
			snprintf(events[nr], sizeof(events[nr]), "%s",
				 cases[c].events[nr]);
		cp_perf_stat_parse(cases[c].text, events, nr, &record);
		assert_int_equal(record.nr_perf, nr);
		for (size_t i = 0; i < nr; i++) {
			assert_string_equal(record.perf[i].name, cases[c].events[i]);
			if (cases[c].values[i] < 0)
				assert_true(isnan(record.perf[i].value));
			else
				assert_true(record.perf[i].value == cases[c].values[i]);
		}
		if (cases[c].note)
			assert_non_null(strstr(record.notes, cases[c].note));
		else
			assert_string_equal(record.notes, "");
	}
}

/* Description: symbols of perf report, with the kernel's told from the others, those
 * without a name summed, and a separator within a name kept. */
static void test_report_lines(void **state)
{
	static const char text[] =
		" 243        | 121560750  |libc.so.6        |[.] _int_free\n"
		" 40         | 20010000   |[kernel.kallsyms]|[k] do_syscall_64\n"
		"\n"
		" 2          | 1000500    |fio              |[.] 0x0000000000071957\n"
		" 1          | 500250     |fio              |[.] 0x000000000004e16f\n"
		" 5          | 2501250    |libx.so          |[.] operator|(int, int)\n";
	struct cp_profile profile;
	struct cp_err err;

	(void)state;
	cp_profile_init(&profile);
	assert_int_equal(cp_perf_report_parse(text, &profile, &err), 0);
	assert_int_equal(profile.nr_symbols, 4);
	assert_int_equal(profile.samples, 291);
	assert_true(profile.weight == 121560750 + 20010000 + 1500750 + 2501250);
	assert_string_equal(profile.symbols[0].symbol, "_int_free");
	assert_string_equal(profile.symbols[0].dso, "libc.so.6");
	assert_false(profile.symbols[0].kernel);
	assert_string_equal(profile.symbols[1].symbol, "do_syscall_64");
	assert_true(profile.symbols[1].kernel);
	assert_string_equal(profile.symbols[2].symbol, "operator|(int, int)");
	assert_string_equal(profile.symbols[3].symbol, "(no symbol)");
	assert_int_equal(profile.symbols[3].samples, 3);
	cp_profile_free(&profile);
}

/* Description: a line of perf report that is none is an error that shows it. */
static void test_report_bad(void **state)
{
	static const char *const bad[] = {"1|2|fio", "x|2|fio|[.] a", "1|-2|fio|[.] a",
					  "Error: no samples"};
	struct cp_profile profile;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cp_err err = {0};

		cp_profile_init(&profile);
		assert_true(cp_perf_report_parse(bad[i], &profile, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_non_null(strstr(err.msg, bad[i]));
		cp_profile_free(&profile);
	}
}

/* Description: the event that was sampled, as perf narrowed it; perf's own dummy is none.
 */
static void test_evlist(void **state)
{
	static const struct {
		const char *text, *event;
	} cases[] = {
		{"cpu-clock\ndummy:HG\n# Tip: use 'perf evlist -g'\n", "cpu-clock"},
		{"dummy:HG\ncycles:u\n", "cycles:u"},
		{"", ""},
	};
	struct {
		char text[16], guard;
	} buf;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf.guard = 0x5a;
		cp_perf_evlist_parse(cases[i].text, buf.text, sizeof(buf.text));
		assert_string_equal(buf.text, cases[i].event);
		assert_int_equal(buf.guard, 0x5a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat_lines),
		cmocka_unit_test(test_report_lines),
		cmocka_unit_test(test_report_bad),
		cmocka_unit_test(test_evlist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
