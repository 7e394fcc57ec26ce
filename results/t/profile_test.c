// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "results/profile.h"

static void add(struct cp_profile *profile, const char *dso, const char *name,
		uint64_t samples)
{
	struct cp_profile_symbol symbol = {.samples = samples,
					   .weight = (double)samples * 500250};

	snprintf(symbol.dso, sizeof(symbol.dso), "%s", dso);
	snprintf(symbol.symbol, sizeof(symbol.symbol), "%s", name);
	assert_int_equal(cp_profile_add(profile, &symbol), 0);
}

static void fill(struct cp_profile *profile)
{
	cp_profile_init(profile);
	snprintf(profile->event, sizeof(profile->event), "cpu-clock");
	snprintf(profile->unit, sizeof(profile->unit), "ns");
	profile->frequency = 1999;
	profile->windowed = true;
	snprintf(profile->record.run, sizeof(profile->record.run), "r1");
	snprintf(profile->record.host, sizeof(profile->record.host), "h");
	snprintf(profile->record.context.rw, sizeof(profile->record.context.rw), "read");
	snprintf(profile->record.context.media, sizeof(profile->record.context.media),
		 "anon");
	profile->record.context.bs = 4096;
	profile->record.context.numjobs = 1;
	profile->record.context.iodepth = 1;
	snprintf(profile->record.arm.name, sizeof(profile->record.arm.name), "cpu");
	snprintf(profile->record.provenance.media,
		 sizeof(profile->record.provenance.media), "native");
	snprintf(profile->record.provenance.attr, sizeof(profile->record.provenance.attr),
		 "native");
	snprintf(profile->record.provenance.dma, sizeof(profile->record.provenance.dma),
		 "none");
	profile->record.metrics[CP_METRIC_IOPS] = 100000;
	profile->record.metrics[CP_METRIC_ELAPSED_NS] = 2e9;
	profile->record.metrics[CP_METRIC_CPU_NS] = 1e9;
}

static const char *temp_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/copypath-profile-%d.json", (int)getpid());
	return path;
}

/* Description: what is written is read: symbols by weight, the tail in sum, the record.
 */
static void test_round_trip(void **state)
{
	struct cp_profile wrote, got;
	struct cp_err err;
	char name[32];

	(void)state;
	fill(&wrote);
	for (unsigned i = 0; i < CP_PROFILE_SYMBOLS_MAX + 7; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add(&wrote, "fio", name, 10 + i);
	}
	add(&wrote, "fio", "f0", 5000); /* again: summed */
	cp_profile_finish(&wrote);
	assert_int_equal(wrote.nr_symbols, CP_PROFILE_SYMBOLS_MAX);
	assert_int_equal(wrote.nr_rest, 7);
	assert_int_equal(cp_profile_write(temp_path(), &wrote, &err), 0);
	assert_int_equal(cp_profile_read(temp_path(), &got, &err), 0);
	unlink(temp_path());
	assert_string_equal(got.symbols[0].symbol, "f0");
	assert_int_equal(got.symbols[0].samples, 5010);
	assert_int_equal(got.nr_symbols, wrote.nr_symbols);
	assert_int_equal(got.nr_rest, 7);
	assert_int_equal(got.rest_samples, wrote.rest_samples);
	assert_int_equal(got.samples, wrote.samples);
	assert_true(got.weight == wrote.weight);
	assert_string_equal(got.event, "cpu-clock");
	assert_true(got.windowed);
	assert_string_equal(got.record.arm.name, "cpu");
	assert_true(got.record.metrics[CP_METRIC_IOPS] == 100000);
	assert_null(got.record.raw);
	cp_profile_free(&wrote);
	cp_profile_free(&got);
}

/* Description: CPU time an I/O is the sampled time over the I/Os; of cycles the share of
 * the CPU time; of faults and an application's work where those were what it did. */
static void test_per_io(void **state)
{
	struct cp_profile profile;
	const char *word;

	(void)state;
	fill(&profile);
	add(&profile, "fio", "a", 400);
	add(&profile, "fio", "b", 1200);
	assert_true(cp_profile_work(&profile, &word) == 200000);
	assert_string_equal(word, "I/O");
	assert_true(fabs(cp_profile_ns(&profile, 400 * 500250.0) - 1000.5) < 1e-6);
	snprintf(profile.unit, sizeof(profile.unit), "cycles");
	assert_true(fabs(cp_profile_ns(&profile, 400 * 500250.0) - 1250) < 1e-6);
	/* user mode only: nothing of the kernel's time is charged to it */
	profile.user_only = true;
	assert_true(isnan(cp_profile_ns(&profile, 400 * 500250.0)));
	profile.record.metrics[CP_METRIC_FAULT_USER] = 1000;
	profile.record.metrics[CP_METRIC_FAULTS] = 200000;
	assert_true(fabs(cp_profile_ns(&profile, 400 * 500250.0) - 250) < 1e-6);
	profile.user_only = false;
	profile.record.metrics[CP_METRIC_APP] = 5;
	assert_true(cp_profile_work(&profile, &word) == 200000);
	profile.record.metrics[CP_METRIC_IOPS] = NAN;
	assert_true(cp_profile_work(&profile, &word) == 10);
	assert_string_equal(word, "op");
	profile.record.metrics[CP_METRIC_FAULTS_PER_S] = 50;
	assert_true(cp_profile_work(&profile, &word) == 100);
	assert_string_equal(word, "fault");
	profile.record.metrics[CP_METRIC_ELAPSED_NS] = NAN;
	assert_true(isnan(cp_profile_ns(&profile, 1)));
	cp_profile_free(&profile);
}

/* Description: a file's name has the cell and the arm, whatever that is called. */
static void test_name(void **state)
{
	char name[128];

	(void)state;
	assert_string_equal(cp_profile_name(3, "mq/sw", name, sizeof(name)),
			    "0003-mq-sw.json");
	assert_string_equal(
		cp_profile_name(12, "a/fault:sw,error=1%/../x", name, sizeof(name)),
		"0012-a-fault-sw-error-1--..-x.json");
}

/* Description: a file that is no profile is an error that names it and what is wrong. */
static void test_bad_files(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", ""},
		{"[]", ""},
		{"{\"schema\":2}", "schema"},
		{"{\"schema\":1,\"kind\":\"profile\"}", "event"},
		{"{\"schema\":1,\"kind\":\"profile\",\"event\":\"e\",\"frequency\":1,"
		 "\"unit\":\"ns\",\"user_only\":false,\"windowed\":true,\"samples\":1,"
		 "\"weight\":1}",
		 "record"},
	};
	struct cp_profile profile;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		FILE *file = fopen(temp_path(), "w");

		assert_non_null(file);
		fputs(cases[i].text, file);
		fclose(file);
		assert_true(cp_profile_read(temp_path(), &profile, &err) < 0);
		assert_non_null(strstr(err.msg, temp_path()));
		assert_non_null(strstr(err.msg, cases[i].says));
	}
	unlink(temp_path());
}

/* Description: symbols whose samples do not add up to the profile's are refused. */
static void test_sum(void **state)
{
	struct cp_profile profile, got;
	struct cp_err err = {0};

	(void)state;
	fill(&profile);
	add(&profile, "fio", "a", 400);
	profile.samples++;
	assert_int_equal(cp_profile_write(temp_path(), &profile, &err), 0);
	assert_true(cp_profile_read(temp_path(), &got, &err) < 0);
	assert_non_null(strstr(err.msg, "expected 'samples'"));
	unlink(temp_path());
	cp_profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_per_io),
		cmocka_unit_test(test_name),	   cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
