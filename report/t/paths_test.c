/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says of completion modes, the page path, delivered work, swap and
 * counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/paths.h"
#include "report/t/fixture_paths.h"

static struct cp_report report;
static struct cp_report_opts opts;
static struct cp_err err;

static int add(void *ctx, const struct cp_record *record)
{
	(void)ctx;
	return cp_report_add_record(&report, record, &err);
}

static void load(void)
{
	report = (struct cp_report){.opts = &opts};
	assert_int_equal(fixture_paths_each(add, NULL), 0);
	assert_int_equal(cp_report_finish_cells(&report, &err), 0);
	assert_int_equal(report.nr_failed, 0);
}

static void unload(void)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = report;
	cp_report_free(copy);
}

static const char *at(const struct cp_report_table *table, size_t row, const char *column)
{
	size_t columns = strlen(table->align), c = 0;

	while (c < columns && strcmp(table->cells[c], column) != 0)
		c++;
	assert_true(c < columns);
	return table->cells[(row + 1) * columns + c];
}

/* The row of an arm whose `on` ends so. */
static size_t find(const struct cp_report_table *table, const char *bs, const char *on,
		   const char *arm)
{
	for (size_t row = 0; row < cp_report_table_rows(table); row++)
		if (!strcmp(at(table, row, "bs"), bs) &&
		    !strcmp(at(table, row, "on"), on) &&
		    !strcmp(at(table, row, "arm"), arm))
			return row;
	fail_msg("no row of %s, %s, %s", bs, on, arm);
	return 0;
}

/* Description: contexts of another driver, target, residence or handler are panels of
 * their own, and faults are in no text of bandwidth. */
static void apart_test(void **state)
{
	char *text = NULL;
	size_t len, swap = 0;

	(void)state;
	load();
	for (size_t p = 0; p < report.nr_panels; p++) {
		const struct cp_report_panel *panel = &report.panels[p];

		swap += cp_report_is_swap(&panel->like->context);
		for (size_t i = panel->first; i < panel->first + panel->nr; i++)
			assert_true(cp_report_same_driver(&report.cells[i].context,
							  &panel->like->context));
	}
	assert_int_equal(swap, 3);
	FILE *out = open_memstream(&text, &len);

	cp_report_text(&report, out);
	fclose(out);
	assert_null(strstr(text, "driver swap, resident"));
	assert_non_null(strstr(text, "rw_page off\n"));
	free(text);
	unload();
}

/* Description: completions stand beside the arm that polls; synchronous arms, which
 * differ in more, have no ratio. */
static void completion_test(void **state)
{
	static const struct {
		const char *arm, *completion, *p50, *submit;
	} cases[] = {
		{"mq-model/poll (modelled)", "poll", "1", "1"},
		{"mq-model/irq (modelled)", "irq", "1.04 (1.03 to 1.05)",
		 "0.009 (0.009 to 0.009)"},
		{"mq-model/hybrid (modelled)", "hybrid", "1.01 (1.01 to 1.01)",
		 "0.31 (0.31 to 0.31)"},
		{"bio-cpu", "sync", "-", "-"},
	};
	struct cp_report_table table;

	(void)state;
	load();
	cp_report_completion_table(&report, &table);
	assert_int_equal(cp_report_table_rows(&table), 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t row = find(&table, "4k", "made-up", cases[i].arm);

		assert_string_equal(at(&table, row, "completion"), cases[i].completion);
		assert_string_equal(at(&table, row, "p50/poll"), cases[i].p50);
		assert_string_equal(at(&table, row, "submit/poll"), cases[i].submit);
	}
	cp_report_table_free(&table);
	unload();
}

/* Description: what pages went past is counted, stands beside mq's arm of the same path,
 * and I/Os that went by bio are none of the page path. */
static void bypass_test(void **state)
{
	static const struct {
		const char *bs, *on, *arm, *mergeable, *past, *merged, *mq;
		bool off;
	} cases[] = {
		{"4k", "made-up", "page-cpu", "0.0", "0.0", "0.0", "mq-cpu", false},
		{"16k", "made-up", "page-auto/poll (software)", "96.0", "0.0", "96.0",
		 "mq-auto/poll (software)", false},
		{"32k", "made-up", "page-auto/poll (software)", "0.0", "96.0", "0.0", "-",
		 false},
		{"4k", "made-up, rw_page off", "page-cpu", "0.0", "0.0", "0.0", "-",
		 true},
	};
	struct cp_report_table table;

	(void)state;
	load();
	cp_report_bypass_table(&report, &table);
	/* not a program's: its counters are not known */
	assert_int_equal(cp_report_table_rows(&table), 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t row = find(&table, cases[i].bs, cases[i].on, cases[i].arm);

		assert_string_equal(at(&table, row, "mergeable %"), cases[i].mergeable);
		assert_string_equal(at(&table, row, "past DMA %"), cases[i].past);
		assert_string_equal(at(&table, row, "past merged DMA %"),
				    cases[i].merged);
		assert_string_equal(at(&table, row, "beside mq"), cases[i].mq);
		assert_int_equal(strcmp(at(&table, row, "by bio"), "0") != 0,
				 cases[i].off);
	}
	cp_report_table_free(&table);
	unload();
}

/* Description: most is delivered by the arm that leaves the co-runner most among those
 * with 0.9 of the best bandwidth; null is compared with none. */
static void delivered_test(void **state)
{
	static const struct {
		const char *bs, *on, *arm, *is;
	} cases[] = {
		{"64k", "made-up, corunner compute", "dma-sw/irq (software)",
		 "delivers most"},
		{"64k", "made-up, corunner compute", "bio-nt", ""},
		{"64k", "made-up, corunner compute", "bio-memcpy",
		 "below 0.9 of the best bandwidth"},
		{"64k", "made-up, corunner compute", "null", "modelled, not compared"},
		{"4k", "made-up, driver exec", "bulk-load/page", "delivers most"},
		{"4k", "made-up, driver exec", "bulk-load/bio", ""},
	};
	struct cp_report_table table;

	(void)state;
	load();
	cp_report_delivered_table(&report, &table);
	assert_int_equal(cp_report_table_rows(&table), 11);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char on[160];

		snprintf(on, sizeof(on), "%s", cases[i].on);
		for (size_t row = 0; row < cp_report_table_rows(&table); row++)
			if (!strcmp(at(&table, row, "arm"), cases[i].arm) &&
			    !strcmp(at(&table, row, "bs"), cases[i].bs) &&
			    strstr(at(&table, row, "on"), strchr(on, ',')) &&
			    !strstr(at(&table, row, "on"), "stream"))
				assert_string_equal(at(&table, row, "is"), cases[i].is);
	}
	cp_report_table_free(&table);
	unload();
}

/* Description: a counter that is not supported is a dash and never 0. */
static void perf_test(void **state)
{
	struct cp_report_table table;
	unsigned missing = 0;

	(void)state;
	load();
	cp_report_perf_table(&report, &table);
	for (size_t row = 0; row < cp_report_table_rows(&table); row++) {
		bool none = !strcmp(at(&table, row, "event"), "instructions");

		assert_int_equal(!strcmp(at(&table, row, "count"), "-"), none);
		if (none)
			assert_string_equal(at(&table, row, "interval"), "not supported");
		else if (!strcmp(at(&table, row, "event"), "context-switches"))
			assert_string_equal(at(&table, row, "count"), "2");
		missing += none;
	}
	assert_int_equal(missing, 8);
	cp_report_table_free(&table);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart_test),  cmocka_unit_test(completion_test),
		cmocka_unit_test(bypass_test), cmocka_unit_test(delivered_test),
		cmocka_unit_test(perf_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
