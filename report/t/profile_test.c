// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/profile.h"

struct sampled {
	const char *dso, *symbol;
	uint64_t samples;
};

/* 1 s, one sample a millisecond of CPU. */
static void make(struct cp_profile *profile, const char *arm, double iops,
		 const struct sampled *list, size_t nr)
{
	cp_profile_init(profile);
	snprintf(profile->event, sizeof(profile->event), "cpu-clock");
	snprintf(profile->unit, sizeof(profile->unit), "ns");
	profile->frequency = 1000;
	profile->windowed = true;
	snprintf(profile->record.arm.name, sizeof(profile->record.arm.name), "%s", arm);
	snprintf(profile->record.context.rw, sizeof(profile->record.context.rw), "read");
	profile->record.context.bs = 4096;
	profile->record.context.numjobs = 1;
	profile->record.context.iodepth = 1;
	profile->record.metrics[CP_METRIC_ELAPSED_NS] = 1e9;
	profile->record.metrics[CP_METRIC_IOPS] = iops;
	profile->record.metrics[CP_METRIC_BW] = iops * 4096;
	for (size_t i = 0; i < nr; i++) {
		struct cp_profile_symbol symbol = {.samples = list[i].samples,
						   .weight =
							   (double)list[i].samples * 1e6};

		snprintf(symbol.dso, sizeof(symbol.dso), "%s", list[i].dso);
		snprintf(symbol.symbol, sizeof(symbol.symbol), "%s", list[i].symbol);
		assert_int_equal(cp_profile_add(profile, &symbol), 0);
	}
	profile->record.metrics[CP_METRIC_CPU_NS] = profile->weight;
	cp_profile_finish(profile);
}

static const struct sampled list_a[] = {
	{"libc.so.6", "memmove", 400},
	{"copypath-sync.so", "copy", 100},
	{"fio", "get_io_u", 50},
	{"fio", "gone", 30},
};
static const struct sampled list_b[] = {
	{"libc.so.6", "memmove", 400},
	{"copypath-async.so", "copy", 100},
	{"fio", "get_io_u", 45},
	{"copypath-async.so", "wait", 1},
};

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* Description: a symbol with as many samples of half the I/Os costs twice as much an I/O,
 * and stands first; the plug-ins' code is one; what few samples say is within noise. */
static void test_compare(void **state)
{
	static const struct {
		const char *symbol, *dso;
		double a, b;
		bool sure;
	} rows[] = {
		{"memmove", "libc.so.6", 4000, 8000, true},
		{"copy", "copypath", 1000, 2000, true},
		{"get_io_u", "fio", 500, 900, true},
		{"gone", "fio", 300, 0, true},
		{"wait", "copypath", 0, 20, false},
	};
	struct cp_report_profile_pair pair;
	struct cp_profile a, b;

	(void)state;
	make(&a, "bio", 100000, list_a, NR(list_a));
	make(&b, "mq", 50000, list_b, NR(list_b));
	assert_int_equal(cp_report_profile_compare(&a, &b, &pair), 0);
	assert_int_equal(pair.nr, NR(rows));
	for (size_t i = 0; i < NR(rows); i++) {
		const struct cp_report_profile_row *row = &pair.rows[i];

		assert_string_equal(row->symbol, rows[i].symbol);
		assert_string_equal(row->dso, rows[i].dso);
		assert_true(fabs(row->ns[0] - rows[i].a) < 1e-6);
		assert_true(fabs(row->ns[1] - rows[i].b) < 1e-6);
		assert_int_equal(row->sure, rows[i].sure);
	}
	/* 2 sqrt(400 x 10^2 + 400 x 20^2) */
	assert_true(fabs(pair.rows[0].noise_ns - 2 * sqrt(400 * 100 + 400 * 400)) < 1e-6);
	assert_true(fabs(pair.total.ns[0] - 5800) < 1e-6);
	assert_true(fabs(pair.total.ns[1] - 10920) < 1e-6);
	free(pair.rows);
	cp_profile_free(&a);
	cp_profile_free(&b);
}

/* Description: a profile beside itself has no change that is above the noise. */
static void test_same(void **state)
{
	struct cp_report_profile_pair pair;
	struct cp_profile a, b;

	(void)state;
	make(&a, "bio", 100000, list_a, NR(list_a));
	make(&b, "bio", 100000, list_a, NR(list_a));
	assert_int_equal(cp_report_profile_compare(&a, &b, &pair), 0);
	assert_false(pair.total.sure);
	for (size_t i = 0; i < pair.nr; i++)
		assert_false(pair.rows[i].sure);
	free(pair.rows);
	cp_profile_free(&a);
	cp_profile_free(&b);
}

static const char golden[] =
	"\nCPU time by symbol: read 4k, 1 job, iodepth 1\n"
	"A is bio: 100000 I/Os/s, 410 MB/s, 5800 ns of CPU an I/O, 58 % of one CPU; 580 "
	"samples of cpu-clock at 1000 Hz, 100 % of its CPU time\n"
	"B is mq: 50000 I/Os/s, 205 MB/s, 10920 ns of CPU an I/O, 55 % of one CPU; 546 "
	"samples of cpu-clock at 1000 Hz, 100 % of its CPU time\n"
	"B takes 5120 ns of CPU an I/O more than A (1.88 times as much). Most of what "
	"changed: memmove +4000, copy +1000, get_io_u +400.\n"
	"symbol      in         A ns/I/O    A %  B ns/I/O    B %  change ns/I/O  noise "
	"ns/I/O  samples A / B  note\n"
	"all                      5800.0  100.0   10920.0  100.0        +5120.0        "
	"1051.5      580 / 546\n"
	"memmove     libc.so.6    4000.0   69.0    8000.0   73.3        +4000.0         "
	"894.4      400 / 400\n"
	"copy        copypath     1000.0   17.2    2000.0   18.3        +1000.0         "
	"447.2      100 / 100\n"
	"get_io_u    fio           500.0    8.6     900.0    8.2         +400.0         "
	"303.3        50 / 45\n"
	"gone        fio           300.0    5.2       0.0    0.0         -300.0         "
	"109.5         30 / 0\n"
	"(1 others)                  0.0    0.0      20.0    0.2          +20.0          "
	"40.0          0 / 1  within noise\n";

/* Description: two arms as text: both throughputs, then the symbols per I/O. */
static void test_text(void **state)
{
	static struct cp_report report;
	struct cp_report_profiles profiles = {.nr_pairs = 1};
	struct cp_report_profile_pair pair;
	struct cp_profile a, b;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	make(&a, "bio", 100000, list_a, NR(list_a));
	make(&b, "mq", 50000, list_b, NR(list_b));
	assert_int_equal(cp_report_profile_compare(&a, &b, &pair), 0);
	profiles.pairs = &pair;
	report.profiles = &profiles;
	cp_report_profile_text(&report, out);
	fclose(out);
	assert_string_equal(text, golden);
	free(text);
	free(pair.rows);
	cp_profile_free(&a);
	cp_profile_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
