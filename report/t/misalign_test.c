// SPDX-License-Identifier: GPL-2.0-only
/* The table "Misaligned buffers", and what else a report does with such cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/misalign.h"
#include "report/page.h"
#include "report/t/fixture.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

struct setup {
	struct cp_report report;
	struct cp_report_opts opts;
};

/* One sample: bandwidth in MB/s, NaN for a sample that failed. */
static void put(struct setup *setup, const char *rw, const char *arm, uint32_t near,
		uint32_t far, unsigned sample, double mb)
{
	const struct fixture_arm like = {arm, "bio", "memcpy", "none", 900, 9.5, 1};
	uint64_t state = 1;
	struct cp_record record;
	struct cp_err err = {0};

	fixture_record(&record, &fixture_quick, &like, rw, 4096, 1, sample, &state);
	if (strcmp(arm, "null") == 0) {
		snprintf(record.provenance.dma, CP_WORD_MAX, "modelled");
		snprintf(record.arm.dma, sizeof(record.arm.dma), "null");
		snprintf(record.arm.path, CP_WORD_MAX, "dma");
	}
	record.context.misalign_near = near;
	record.context.misalign_far = far;
	record.metrics[CP_METRIC_BW] = mb * 1e6;
	if (isnan(mb))
		record.proof.errors = 1;
	cp_report_judge_add(&setup->report, &record);
	if (cp_report_add_record(&setup->report, &record, &err))
		fail_msg("%s", err.msg);
}

static void put_cell(struct setup *setup, const char *rw, const char *arm, uint32_t near,
		     uint32_t far, const double mb[3])
{
	for (unsigned s = 0; s < 3; s++)
		put(setup, rw, arm, near, far, s, mb[s]);
}

static struct setup *begin(void)
{
	struct setup *setup = calloc(1, sizeof(*setup));
	struct cp_err err = {0};

	assert_non_null(setup);
	setup->report.opts = &setup->opts;
	cp_policy_init(&setup->report.policy);
	assert_int_equal(cp_report_judge_begin(&setup->report, &err), 0);
	return setup;
}

static void finish(struct setup *setup)
{
	struct cp_err err = {0};

	assert_int_equal(cp_report_finish_cells(&setup->report, &err), 0);
	cp_report_judge_finish(&setup->report);
}

static void end(struct setup *setup)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = setup->report;
	cp_report_free(copy);
	free(setup);
}

static char *csv(const struct setup *setup)
{
	struct cp_report_table table;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	cp_report_misalign_make(&setup->report, &table);
	assert_false(table.failed);
	cp_report_table_csv(&table, out);
	assert_int_equal(fclose(out), 0);
	cp_report_table_free(&table);
	return text;
}

#define HEAD "rw,bs,jobs,iodepth,arm,media,attr,N,aligned MB/s,far"

/* Description: each misaligned cell stands beside the aligned one of its context and arm,
 * as the median of its pairs' ratios with their range; the lowest that lies below 1 as a
 * whole is named. */
static void test_table(void **state)
{
	static const double aligned[] = {1000, 2000, 4000}, half[] = {500, 1100, 1900},
			    same[] = {1010, 1990, 4000}, least[] = {400, 700, 1600},
			    write[] = {500, 500, 500};
	struct setup *setup = begin();

	(void)state;
	/* in the order in which a run has them: not that of the table */
	put_cell(setup, "read", "cpu", 8, 16, least);
	put_cell(setup, "read", "cpu", 0, 0, aligned);
	put_cell(setup, "read", "cpu", 0, 16, same);
	put_cell(setup, "read", "cpu", 8, 0, half);
	put_cell(setup, "write", "cpu", 0, 0, write);
	put_cell(setup, "write", "cpu", 8, 0, write);
	finish(setup);
	char *text = csv(setup);

	assert_string_equal(text,
			    HEAD ",near 0,near 8\n"
				 "read,4k,1,1,cpu,anon native,wb native,3,2000,0,1,"
				 "0.50 (0.47 to 0.55)\n"
				 "read,4k,1,1,cpu,anon native,wb native,3,2000,16,"
				 "1.00 (0.99 to 1.01),worst: 0.40 (0.35 to 0.40)\n"
				 "write,4k,1,1,cpu,anon native,wb native,3,500.0,0,1,"
				 "1.00 (1.00 to 1.00)\n");
	free(text);
	end(setup);
}

/* Description: CPU time a byte is compared likewise, where more is worse; samples that do
 * not know it leave their place empty. */
static void test_cpu(void **state)
{
	static const double mb[] = {1000, 1000, 1000}, half[] = {500, 500, 500};
	struct cp_report_table table;
	struct setup *setup = begin();

	(void)state;
	put_cell(setup, "read", "cpu", 0, 0, mb);
	put_cell(setup, "read", "cpu", 8, 0, mb);
	put_cell(setup, "read", "cpu", 16, 0, half);
	finish(setup);
	/* as if half the bytes had been moved in the same CPU time; and one not known */
	for (size_t i = 0; i < setup->report.nr_cells; i++) {
		struct cp_report_cell *cell = &setup->report.cells[i];
		struct cp_report_stat *stat = &cell->values[VALUE_CPU_BYTE];

		for (unsigned s = 0; s < stat->n; s++)
			stat->samples[s] = cell->context.misalign_near == 16 ? 0.5 : 0.25;
		stat->median = stat->samples[0];
		if (cell->context.misalign_near == 8) {
			stat->n = 0;
			stat->median = NAN;
		}
	}
	cp_report_misalign_cpu_make(&setup->report, &table);
	size_t row = 12;

	assert_int_equal(table.nr_cells, 2 * row);
	assert_string_equal(table.cells[8], "aligned ns/B");
	assert_string_equal(table.cells[row + 8], "0.2500");
	assert_string_equal(table.cells[row + 10], "");
	assert_string_equal(table.cells[row + 11], "worst: 2.00 (2.00 to 2.00)");
	cp_report_table_free(&table);
	end(setup);
}

/* Description: without pairs (counts differ, or a sample failed) there is a ratio and no
 * interval; what has no aligned cell of the same arm, and what moved nothing, is left
 * out. */
static void test_unpaired(void **state)
{
	static const double aligned[] = {1000, 2000, 4000}, some[] = {500, NAN, 1000};
	struct setup *setup = begin();

	(void)state;
	put_cell(setup, "read", "cpu", 0, 0, aligned);
	put_cell(setup, "read", "cpu", 8, 0, some);
	put_cell(setup, "read", "cpu", 16, 0, aligned);
	put(setup, "read", "cpu", 16, 0, 3, 3000);
	put_cell(setup, "read", "other", 8, 0, aligned);
	put_cell(setup, "read", "null", 0, 0, aligned);
	put_cell(setup, "read", "null", 8, 0, aligned);
	finish(setup);
	char *text = csv(setup);

	assert_string_equal(text, HEAD
			    ",near 8,near 16\n"
			    "read,4k,1,1,cpu,anon native,wb native,3,2000,0,0.38,1.25\n");
	free(text);
	end(setup);
}

/* Description: records without misaligned cells give no rows, nor do those without
 * aligned ones. */
static void test_nothing_to_compare(void **state)
{
	static const double mb[] = {1000, 2000, 4000};

	(void)state;
	for (uint32_t near = 0; near < 2; near++) {
		struct setup *setup = begin();

		put_cell(setup, "read", "cpu", near, 0, mb);
		finish(setup);
		char *text = csv(setup);

		assert_string_equal(text, HEAD ",near 0\n");
		free(text);
		end(setup);
	}
}

/* Description: a cell is never in a panel with one that is misaligned otherwise; a panel
 * that the table shows whole has no figure of its own, another one has, and says it. */
static void test_panels(void **state)
{
	static const double mb[] = {1000, 2000, 4000};
	static const struct {
		uint32_t near, far;
		bool tabled;
		const char *words;
	} panels[] = {
		{0, 0, false, "read, 1 job, iodepth 1"},
		{0, 8, true, "read, 1 job, iodepth 1, misaligned far 8"},
		{8, 0, false, "read, 1 job, iodepth 1, misaligned near 8"},
		{8, 8, true, "read, 1 job, iodepth 1, misaligned near 8, far 8"},
	};
	struct setup *setup = begin();

	(void)state;
	for (size_t i = 0; i < NR(panels); i++)
		put_cell(setup, "read", "cpu", panels[i].near, panels[i].far, mb);
	put_cell(setup, "read", "lonely", 8, 0, mb);
	finish(setup);
	assert_int_equal(setup->report.nr_panels, NR(panels));
	for (size_t i = 0; i < NR(panels); i++) {
		const struct cp_report_panel *panel = &setup->report.panels[i];
		char words[200];

		assert_int_equal(panel->like->context.misalign_near, panels[i].near);
		assert_int_equal(panel->like->context.misalign_far, panels[i].far);
		assert_int_equal(cp_report_misalign_tabled(&setup->report, panel),
				 panels[i].tabled);
		assert_string_equal(cp_report_panel_words(&setup->report, panel, words,
							  sizeof(words)),
				    panels[i].words);
	}
	end(setup);
}

/* Description: near offsets beyond the columns are left out of the table, and then have
 * figures; all far offsets have rows. */
static void test_many_offsets(void **state)
{
	static const double mb[] = {1000, 2000, 4000};
	struct setup *setup = begin();
	size_t rows = 0;

	(void)state;
	for (uint32_t n = 0; n < 12; n++)
		put_cell(setup, "read", "cpu", 8 * n, 0, mb);
	for (uint32_t f = 1; f < 40; f++)
		put_cell(setup, "read", "cpu", 0, f, mb);
	finish(setup);
	char *text = csv(setup);

	assert_non_null(strstr(text, ",near 72\n"));
	assert_null(strstr(text, "near 80"));
	for (const char *at = text; *at; at++)
		rows += *at == '\n';
	assert_int_equal(rows, 1 + 40);
	for (size_t i = 0; i < setup->report.nr_panels; i++) {
		const struct cp_report_panel *panel = &setup->report.panels[i];
		const struct cp_context *context = &panel->like->context;

		assert_int_equal(cp_report_misalign_tabled(&setup->report, panel),
				 cp_report_is_misaligned(context) &&
					 context->misalign_near <= 72);
	}
	free(text);
	end(setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_nothing_to_compare),
		cmocka_unit_test(test_panels),
		cmocka_unit_test(test_many_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
