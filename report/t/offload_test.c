/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says of offloaded I/Os: which cells stand beside each other, and what is
 * modelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/offload.h"
#include "report/t/fixture.h"

#define PUBLISHED "results/published/jiang-2017-dma.csv"

static struct cp_report report;
static struct cp_report_opts opts;
static struct cp_err err;

static int add(void *ctx, const struct cp_record *record)
{
	bool (*leave_out)(const struct cp_record *) =
		*(bool (**)(const struct cp_record *))ctx;

	return leave_out && leave_out(record)
		       ? 0
		       : cp_report_add_record(&report, record, &err);
}

static void load(bool (*leave_out)(const struct cp_record *record))
{
	report = (struct cp_report){.opts = &opts};
	assert_int_equal(fixture_offload_each(add, &leave_out), 0);
	assert_int_equal(cp_report_finish_cells(&report, &err), 0);
	report.has_published = !cp_published_dma_read(PUBLISHED, &report.published, &err);
	assert_true(report.has_published);
}

static void unload(void)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = report;
	cp_report_free(copy);
}

static const struct cp_report_cell *first_context(size_t *ret_nr)
{
	size_t at = report.panels[0].first;

	return cp_report_next_context(&report, &report.panels[0], &at, ret_nr);
}

static bool skip_software(const struct cp_record *record)
{
	return !strcmp(record->arm.dma, "sw");
}

static bool skip_engines(const struct cp_record *record)
{
	return strcmp(record->arm.dma, "none") && strcmp(record->arm.dma, "null");
}

/* Description: the fastest of a path stands for it; what is modelled only where nothing
 * else is, and null never. */
static void fastest_test(void **state)
{
	static const struct {
		bool (*leave_out)(const struct cp_record *record);
		const char *cpu, *dma; /* NULL: nothing */
	} cases[] = {
		{NULL, "bio-nt", "dma-sw"},
		{skip_software, "bio-nt", "what-if"},
		{skip_engines, "bio-nt", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t nr;

		load(cases[i].leave_out);
		const struct cp_report_cell *cells = first_context(&nr);
		const struct cp_report_cell *cpu =
			cp_report_fastest(&report, cells, nr, "cpu");
		const struct cp_report_cell *dma =
			cp_report_fastest(&report, cells, nr, "dma");

		assert_string_equal(report.arms[cpu->arm].arm.name, cases[i].cpu);
		if (cases[i].dma)
			assert_string_equal(report.arms[dma->arm].arm.name, cases[i].dma);
		else
			assert_null(dma);
		unload();
	}
}

/* Description: of what is modelled only null is the harness's cost; the rest is labelled,
 * and so is what differs from it. */
static void modelled_test(void **state)
{
	(void)state;
	load(NULL);
	for (size_t a = 0; a < report.nr_arms; a++) {
		const struct cp_report_arm *arm = &report.arms[a];

		assert_int_equal(arm->simulated, !strcmp(arm->arm.name, "null"));
		if (!strcmp(arm->arm.name, "what-if"))
			assert_string_equal(arm->label, "what-if (modelled)");
		else if (!strcmp(arm->arm.name, "dma-sw"))
			assert_string_equal(arm->label, "dma-sw (software)");
		else
			assert_string_equal(arm->label, arm->arm.name);
	}
	unload();
	load(skip_software);
	for (size_t a = 0; a < report.nr_arms; a++)
		if (!strcmp(report.arms[a].arm.name, "what-if"))
			assert_string_equal(report.arms[a].label, "what-if (modelled)");
	unload();
}

static const char *at(const struct cp_report_table *table, size_t row, const char *column)
{
	size_t columns = strlen(table->align), c = 0;

	while (c < columns && strcmp(table->cells[c], column) != 0)
		c++;
	assert_true(c < columns);
	return table->cells[(row + 1) * columns + c];
}

static size_t find_row(const struct cp_report_table *table, const char *rw,
		       const char *bs, const char *jobs, const char *dma)
{
	size_t row = 0;

	while (row < cp_report_table_rows(table) &&
	       (strcmp(at(table, row, "rw"), rw) || strcmp(at(table, row, "bs"), bs) ||
		strcmp(at(table, row, "jobs"), jobs) ||
		strcmp(at(table, row, "DMA arm"), dma)))
		row++;
	assert_true(row < cp_report_table_rows(table));
	return row;
}

/* Description: a row has both sides with bandwidth, CPU and their ratios, and says which
 * ratio lies where the published one does. */
static void beside_test(void **state)
{
	static const struct {
		const char *rw, *bs, *jobs, *dma, *published, *cpu, *same;
	} cases[] = {
		/* ours is slower in all of them; software needs more CPU, the model less
		 */
		{"read", "64k", "1", "dma-sw (software)", "0.32", "0.54", "MB/s"},
		/* a model may be made of the very figures: none stand beside it */
		{"read", "64k", "1", "what-if (modelled)", "-", "-", "-"},
		{"read", "2m", "16", "dma-sw (software)", "1.18", "0.11", "neither"},
		{"write", "2m", "1", "dma-sw (software)", "1.46", "0.58", "neither"},
	};
	struct cp_report_table table;

	(void)state;
	load(NULL);
	cp_report_offload_table(&report, &table);
	assert_false(table.failed);
	assert_int_equal(cp_report_table_rows(&table), 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t row = find_row(&table, cases[i].rw, cases[i].bs, cases[i].jobs,
				      cases[i].dma);

		assert_string_equal(at(&table, row, "published MB/s DMA/CPU"),
				    cases[i].published);
		assert_string_equal(at(&table, row, "published CPU % DMA/CPU"),
				    cases[i].cpu);
		assert_string_equal(at(&table, row, "same side of 1"), cases[i].same);
		assert_string_equal(at(&table, row, "CPU arm"), "bio-nt");
	}
	size_t row = find_row(&table, "read", "64k", "1", "dma-sw (software)");

	assert_string_equal(at(&table, row, "published CPU MB/s"), "7631");
	assert_string_equal(at(&table, row, "published DMA CPU %"), "54.0");
	assert_string_equal(at(&table, row, "CPU % DMA/CPU"), "1.40");
	assert_string_equal(at(&table, row, "DMA is"), "software");
	cp_report_table_free(&table);
	unload();
}

/* Description: phases are of cells that offloaded, and add up to their latency. */
static void phases_test(void **state)
{
	struct cp_report_table table;
	unsigned with = 0;

	(void)state;
	load(NULL);
	for (size_t i = 0; i < report.nr_cells; i++) {
		const struct cp_report_cell *cell = &report.cells[i];

		assert_int_equal(cp_report_has_phases(cell),
				 strcmp(report.arms[cell->arm].arm.dma, "none") != 0);
		if (!cp_report_has_phases(cell))
			continue;
		with++;
		double lat = cell->values[VALUE_P50].median;

		assert_true(fabs(cp_report_phases_ns(cell) / lat - 1) < 1e-9);
	}
	cp_report_phases_table(&report, &table);
	assert_int_equal(cp_report_table_rows(&table), with);
	assert_string_equal(at(&table, 0, "wait %"), "85.0");
	assert_string_equal(at(&table, 0, "timed"), "33");
	assert_string_equal(at(&table, 0, "timed/all"), "1.00");
	assert_string_equal(at(&table, 0, "sum us"), at(&table, 0, "mean us"));
	cp_report_table_free(&table);
	unload();
}

static struct cp_report_cell *first_offloaded(void)
{
	size_t i = 0;

	while (i < report.nr_cells && !cp_report_has_phases(&report.cells[i]))
		i++;
	assert_true(i < report.nr_cells);
	return &report.cells[i];
}

/* Description: phases of a few I/Os are not drawn, and where the timed I/Os took another
 * time than all of them that is known. */
static void timed_test(void **state)
{
	static const struct {
		uint64_t timed;
		double all; /* mean of all I/Os over that of the timed */
		bool drawn, off;
	} cases[] = {
		{29, 1, false, false},	 {30, 1, true, false},	 {0, 1, false, false},
		{99, 0.82, true, false}, {99, 0.7, true, true},	 {99, 1.3, true, false},
		{99, 1.4, true, true},	 {99, NAN, true, false},
	};

	(void)state;
	load(NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_report_cell *cell = first_offloaded();

		cell->sums.queue.timed = cases[i].timed;
		cell->values[VALUE_LAT_MEAN].median =
			cases[i].all * cp_report_phases_ns(cell);
		assert_int_equal(cp_report_phases_drawn(cell), cases[i].drawn);
		assert_int_equal(cp_report_phases_off(cell), cases[i].off);
	}
	unload();
}

static int add_capped(void *ctx, const struct cp_record *record)
{
	struct cp_record copy = *record;

	(void)ctx;
	/* it differs from sample to sample: the most counts */
	if (copy.context.iodepth > 1 && strcmp(copy.arm.queue_mode, "bio") != 0)
		copy.proof.effective_iodepth = copy.sample ? 2 : 1;
	return cp_report_add_record(&report, &copy, &err);
}

/* Description: a depth that did not take effect is told beside the one asked for; bio's 1
 * is not. */
static void depth_test(void **state)
{
	struct cp_report_table table;
	unsigned capped = 0;

	(void)state;
	report = (struct cp_report){.opts = &opts};
	assert_int_equal(fixture_offload_each(add_capped, NULL), 0);
	assert_int_equal(cp_report_finish_cells(&report, &err), 0);
	cp_report_cells_table(&report, &table);
	for (size_t row = 0; row < cp_report_table_rows(&table); row++) {
		const struct cp_report_cell *cell = &report.cells[row];
		bool bio = !strcmp(report.arms[cell->arm].arm.queue_mode, "bio");
		bool deep = cell->context.iodepth > 1;

		assert_string_equal(at(&table, row, "iodepth"),
				    !deep ? "1"
				    : bio ? "16"
					  : "16 (2 in effect)");
		capped += deep && !bio;
	}
	assert_int_equal(capped, 12);
	cp_report_table_free(&table);
	unload();
}

/* Description: where no byte went by the engine, no engine is named. */
static void all_fell_back_test(void **state)
{
	struct cp_report_table table;
	struct cp_report_cell *cell;

	(void)state;
	load(NULL);
	cell = first_offloaded();
	cell->sums.bytes_cpu = cell->sums.bytes_dma + cell->sums.bytes_simulated;
	cell->sums.bytes_dma = cell->sums.bytes_simulated = 0;
	cell->sums.fallback.no_channel = 4;
	cell->sums.fallback.ring_full = cell->sums.fallback.error = 0;
	cp_report_requests_table(&report, &table);
	assert_string_equal(at(&table, 0, "DMA is"), "-");
	assert_string_equal(at(&table, 0, "fell back"), "4 without a channel");
	assert_string_equal(at(&table, 1, "DMA is"), "modelled");
	cp_report_table_free(&table);
	unload();
}

/* Description: counters are summed over samples; a cell of plain CPU copies has none. */
static void requests_test(void **state)
{
	struct cp_report_table table;

	(void)state;
	load(NULL);
	cp_report_requests_table(&report, &table);
	assert_int_equal(cp_report_table_rows(&table), 24);
	for (size_t row = 0; row < 24; row++) {
		bool large = !strcmp(at(&table, row, "bs"), "2m");

		assert_string_equal(at(&table, row, "merged"), "300");
		assert_string_equal(at(&table, row, "fell back"),
				    "21 ring full, 3 refused by the engine");
		assert_int_equal(strcmp(at(&table, row, "split"), "0") != 0, large);
		assert_string_equal(
			at(&table, row, "modelled bytes %"),
			strcmp(at(&table, row, "DMA is"), "modelled") ? "0.0" : "100.0");
	}
	cp_report_table_free(&table);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fastest_test),	 cmocka_unit_test(modelled_test),
		cmocka_unit_test(beside_test),	 cmocka_unit_test(phases_test),
		cmocka_unit_test(requests_test), cmocka_unit_test(timed_test),
		cmocka_unit_test(depth_test),	 cmocka_unit_test(all_fell_back_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
