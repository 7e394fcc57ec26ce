/* SPDX-License-Identifier: GPL-2.0-only */
/* The table "All cells": what tells two cells apart stands in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/page.h"
#include "report/t/fixture.h"

static const struct fixture_arm arms[] = {
	{"a/auto", "bio", "auto", "none", 700, 9.0, 0.999},
	{"a/none", "bio", "auto", "none", 600, 9.5, 0.999},
};
static const uint64_t sizes[] = {4096};
static const uint32_t depths[] = {1};
static const struct fixture fixture = {.name = "made-up",
				       .arms = arms,
				       .nr_arms = 2,
				       .sizes = sizes,
				       .nr_sizes = 1,
				       .depths = depths,
				       .nr_depths = 1,
				       .samples = 3,
				       .seed = 1};

struct setup {
	struct cp_report report;
	struct cp_report_opts opts;
	struct cp_report_table table;
	void (*change)(struct cp_record *record);
};

static int add(void *ctx, const struct cp_record *record)
{
	struct setup *setup = ctx;
	struct cp_record copy = *record;
	struct cp_err err;

	setup->change(&copy);
	cp_report_judge_add(&setup->report, &copy);
	return cp_report_add_record(&setup->report, &copy, &err);
}

static struct setup *load(void (*change)(struct cp_record *record))
{
	struct setup *setup = calloc(1, sizeof(*setup));
	struct cp_err err = {0};

	assert_non_null(setup);
	setup->change = change;
	setup->report.opts = &setup->opts;
	cp_policy_init(&setup->report.policy);
	assert_int_equal(cp_report_judge_begin(&setup->report, &err), 0);
	assert_int_equal(fixture_each(&fixture, add, setup), 0);
	assert_int_equal(cp_report_finish_cells(&setup->report, &err), 0);
	cp_report_judge_finish(&setup->report);
	cp_report_cells_table(&setup->report, &setup->table);
	assert_false(setup->table.failed);
	return setup;
}

static void unload(struct setup *setup)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = setup->report;
	cp_report_table_free(&setup->table);
	cp_report_free(copy);
	free(setup);
}

static const char *at(const struct setup *setup, size_t row, const char *column)
{
	size_t columns = strlen(setup->table.align);

	for (size_t c = 0; c < columns; c++)
		if (!strcmp(setup->table.cells[c], column))
			return setup->table.cells[(row + 1) * columns + c];
	fail_msg("no column '%s'", column);
	return NULL;
}

/* Each sample of a cell is of another circumstance, and so of another cell. */
static void circumstance(struct cp_record *record)
{
	struct cp_context *context = &record->context;

	if (record->sample == 1) {
		snprintf(context->attr, CP_WORD_MAX, "uc");
		snprintf(record->provenance.attr, CP_WORD_MAX, "emulated");
		context->segments = 2;
		context->misalign_far = 8;
	} else if (record->sample == 2) {
		snprintf(context->media, sizeof(context->media), "file");
		snprintf(context->layer, sizeof(context->layer), "linear");
		snprintf(context->numa, CP_WORD_MAX, "remote");
		snprintf(context->corunner, CP_WORD_MAX, "stream");
		snprintf(record->arm.persist, CP_WORD_MAX, "auto");
		snprintf(record->host, sizeof(record->host), "other");
	}
}

/* Description: all of a context and its provenance is in the table, so that no two rows
 * of one arm read alike. */
static void circumstances_test(void **state)
{
	static const struct {
		const char *column, *values[3]; /* by sample */
	} cases[] = {{"attr", {"wb native", "uc emulated", "wb native"}},
		     {"segments", {"1", "2", "1"}},
		     {"misaligned", {"", "far 8", ""}},
		     {"media", {"anon native", "anon native", "file native"}},
		     {"layer", {"none", "none", "linear"}},
		     {"numa", {"local", "local", "remote"}},
		     {"corunner", {"none", "none", "stream"}},
		     {"persist", {"none", "none", "auto"}},
		     {"host", {"made-up", "made-up", "other"}}};
	struct setup *setup = load(circumstance);
	size_t rows = cp_report_table_rows(&setup->table);

	(void)state;
	assert_int_equal(rows, 12);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t row = 0; row < rows; row++) {
			size_t sample = !strcmp(at(setup, row, "host"), "other") ? 2
					: at(setup, row, "attr")[0] == 'u'	 ? 1
										 : 0;

			assert_string_equal(at(setup, row, cases[i].column),
					    cases[i].values[sample]);
		}
	unload(setup);
}

static void promise(struct cp_record *record)
{
	snprintf(record->arm.persist, CP_WORD_MAX, "%s", record->arm.name + 2);
	if (!strcmp(record->arm.name, "a/auto") && record->sample == 1)
		snprintf(record->proof.copy, CP_WORD_MAX, "ntload-avx512");
}

/* Description: writes of two promises have a front each, named; reads share one. */
static void front_test(void **state)
{
	struct setup *setup = load(promise);

	(void)state;
	for (size_t row = 0; row < 4; row++) {
		bool none = !strcmp(at(setup, row, "arm"), "a/none");

		if (!strcmp(at(setup, row, "rw"), "read"))
			assert_string_equal(at(setup, row, "is"), none ? "front" : "");
		else
			assert_string_equal(at(setup, row, "is"),
					    none ? "front of persist none"
						 : "front of persist auto");
	}
	unload(setup);
}

/* Description: samples of one cell that copied with different kernels are told, in the
 * table and on the first screen. */
static void kernels_test(void **state)
{
	struct setup *setup = load(promise);
	char *text = NULL;
	size_t len;
	struct cp_report_doc doc = {.out = open_memstream(&text, &len),
				    .ops = &cp_report_doc_markdown};

	(void)state;
	for (size_t row = 0; row < 4; row++)
		assert_string_equal(at(setup, row, "kernel"),
				    !strcmp(at(setup, row, "arm"), "a/none")
					    ? "memcpy"
					    : "memcpy; ntload-avx512");
	assert_non_null(doc.out);
	cp_report_certainty_write(&setup->report, &doc);
	assert_int_equal(fclose(doc.out), 0);
	assert_non_null(strstr(text, "In 2 cells samples copied with different kernels"));
	free(text);
	unload(setup);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(circumstances_test),
		cmocka_unit_test(front_test),
		cmocka_unit_test(kernels_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
