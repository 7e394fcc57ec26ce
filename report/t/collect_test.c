/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report makes of records, before it is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/data.h"
#include "report/figures.h"
#include "report/t/fixture.h"

struct setup {
	struct cp_report report;
	struct cp_report_opts opts;
	struct cp_err err;
	/* what to do to a record before it is added */
	void (*change)(struct cp_record *record);
};

static int add(void *ctx, const struct cp_record *record)
{
	struct setup *setup = ctx;
	struct cp_record copy = *record;

	if (setup->change)
		setup->change(&copy);
	cp_report_judge_add(&setup->report, &copy);
	return cp_report_add_record(&setup->report, &copy, &setup->err);
}

static struct setup *load(void (*change)(struct cp_record *record))
{
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	setup->change = change;
	setup->report.opts = &setup->opts;
	cp_policy_init(&setup->report.policy);
	assert_int_equal(cp_report_judge_begin(&setup->report, &setup->err), 0);
	assert_int_equal(fixture_each(&fixture_quick, add, setup), 0);
	assert_int_equal(cp_report_finish_cells(&setup->report, &setup->err), 0);
	cp_report_judge_finish(&setup->report);
	return setup;
}

/* As cp_report_free(), for a report that is part of something. */
static void unload(struct setup *setup)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = setup->report;
	cp_report_free(copy);
	free(setup);
}

static const struct cp_report_cell *find(const struct cp_report *report, const char *rw,
					 uint64_t bs, uint32_t depth, const char *arm)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!strcmp(cell->context.rw, rw) && cell->context.bs == bs &&
		    cell->context.iodepth == depth &&
		    !strcmp(report->arms[cell->arm].label, arm))
			return cell;
	}
	return NULL;
}

/* Description: samples become cells, and cells one panel a direction and load. */
static void grouping_test(void **state)
{
	struct setup *setup = load(NULL);
	const struct cp_report *report = &setup->report;

	(void)state;
	assert_int_equal(report->nr_samples, 240);
	assert_int_equal(report->nr_cells, 120);
	assert_int_equal(report->nr_panels, 4);
	for (size_t p = 0; p < report->nr_panels; p++) {
		assert_int_equal(report->panels[p].nr, 30);
		assert_int_equal(report->panels[p].nr_sizes, 6);
	}
	unload(setup);
}

/* Description: arms have the same place and look however the samples are ordered. */
static void arms_test(void **state)
{
	static const char *const labels[] = {"cpu-memcpy", "cpu-nt", "incumbent",
					     "offload", "null"};
	struct setup *setup = load(NULL);
	const struct cp_report *report = &setup->report;

	(void)state;
	assert_int_equal(report->nr_arms, 5);
	for (unsigned a = 0; a < 5; a++) {
		assert_string_equal(report->arms[a].label, labels[a]);
		assert_int_equal(report->arms[a].simulated, a == 4);
		for (unsigned b = 0; b < a; b++) {
			struct cp_report_look x = cp_report_arm_look(report, a);
			struct cp_report_look y = cp_report_arm_look(report, b);

			assert_true(x.rgb != y.rgb && x.mark != y.mark);
		}
	}
	unload(setup);
}

/* Description: a cell shows the median of its samples, and between what they lie. */
static void median_test(void **state)
{
	struct setup *setup = load(NULL);
	const struct cp_report_cell *cell =
		find(&setup->report, "write", 65536, 16, "offload");

	(void)state;
	assert_non_null(cell);
	const struct cp_report_stat *bw = &cell->values[VALUE_BW];

	assert_int_equal(bw->n, 2);
	assert_true(bw->low < bw->high);
	assert_true(fabs(bw->median - (bw->low + bw->high) / 2) < 1);
	assert_true(fabs(cell->values[VALUE_CPU].median - 160) < 1e-9);
	assert_true(fabs(cell->values[VALUE_CPU_SUBMIT].median - 100) < 1e-9);
	assert_true(fabs(cell->values[VALUE_CPU_ENGINE].median - 60) < 1e-9);
	/* two samples cover the median half of the time, and the page says so */
	assert_true(fabs(bw->level - 0.5) < 1e-9);
	unload(setup);
}

/* Description: the learner's judgement reaches the cells; null is never judged. */
static void judgement_test(void **state)
{
	struct setup *setup = load(NULL);
	const struct cp_report *report = &setup->report;
	const struct cp_report_cell *null = find(report, "read", 65536, 1, "null");

	(void)state;
	assert_true(report->has_policy);
	assert_true(report->policy_learned_here);
	assert_true(report->has_regret);
	assert_false(null->judged);
	assert_false(null->chosen);
	for (size_t i = 0; i < report->nr_cells; i++)
		assert_true(report->cells[i].judged ||
			    report->arms[report->cells[i].arm].simulated);
	assert_true(find(report, "read", 2097152, 1, "offload")->pareto);
	assert_false(find(report, "read", 4096, 1, "offload")->pareto);
	unload(setup);
}

/* Description: at most one arm a context is the policy's choice, and it is one of the
 * device's queue mode wherever any was measured. */
static void choice_test(void **state)
{
	struct setup *setup = load(NULL);
	const struct cp_report *report = &setup->report;
	const char *mode = report->policy.device.queue_mode;
	unsigned marked = 0;

	(void)state;
	for (size_t p = 0; p < report->nr_panels; p++) {
		size_t at = report->panels[p].first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, &report->panels[p], &at,
						       &nr))) {
			unsigned chosen = 0, of_mode = 0, chosen_of_mode = 0;

			for (size_t i = 0; i < nr; i++) {
				bool same = !strcmp(
					report->arms[cells[i].arm].arm.queue_mode, mode);

				chosen += cells[i].chosen;
				of_mode += same;
				chosen_of_mode += same && cells[i].chosen;
			}
			assert_true(chosen <= 1);
			assert_true(!of_mode || chosen == chosen_of_mode);
			marked += chosen;
		}
	}
	assert_true(marked > 0);
	unload(setup);
}

static void other_media(struct cp_record *record)
{
	if (record->context.bs == 65536)
		snprintf(record->provenance.media, CP_WORD_MAX, "emulated");
}

/* Description: figures of different provenance stay apart, and are not judged. */
static void provenance_test(void **state)
{
	struct setup *setup = load(other_media);
	const struct cp_report *report = &setup->report;

	(void)state;
	assert_int_equal(report->nr_panels, 8);
	assert_null(report->learn);
	assert_true(report->judge_note[0]);
	assert_false(report->has_policy);
	unload(setup);
}

static void fail_first(struct cp_record *record)
{
	if (record->sample == 0 && !strcmp(record->arm.name, "offload"))
		record->proof.errors = 3;
}

/* Description: a failed sample is listed and counts for no figure. */
static void failed_test(void **state)
{
	struct setup *setup = load(fail_first);
	const struct cp_report *report = &setup->report;
	const struct cp_report_cell *cell = find(report, "read", 4096, 1, "offload");

	(void)state;
	assert_int_equal(report->nr_failed, 24);
	assert_int_equal(report->nr_failures, 24);
	assert_int_equal(cell->n, 1);
	assert_int_equal(cell->failed, 1);
	assert_int_equal(cell->values[VALUE_BW].n, 1);
	assert_non_null(strstr(report->failures[0].reason, "errors"));
	unload(setup);
}

static void untold_first(struct cp_record *record)
{
	if (record->sample || strcmp(record->arm.name, "offload") != 0)
		return;
	snprintf(record->failed, sizeof(record->failed), "fio: no I/O was completed");
	memset(&record->provenance, 0, sizeof(record->provenance));
}

/* Description: a sample that failed before it could tell its provenance takes no arm's
 * name away. */
static void untold_test(void **state)
{
	struct setup *setup = load(untold_first);
	const struct cp_report_cell *cell =
		find(&setup->report, "read", 4096, 1, "offload");

	(void)state;
	assert_non_null(cell);
	assert_int_equal(cell->n, 1);
	assert_int_equal(setup->report.nr_failed, 24);
	assert_non_null(find(&setup->report, "read", 4096, 1, "offload #2"));
	unload(setup);
}

static void verify_first(struct cp_record *record)
{
	if (record->sample == 0 && !strcmp(record->arm.name, "offload"))
		snprintf(record->proof.verify, sizeof(record->proof.verify), "crc32c");
}

/* Description: a sample with verify on counts for no figure, and is counted itself. */
static void verified_test(void **state)
{
	struct setup *setup = load(verify_first);
	const struct cp_report *report = &setup->report;
	const struct cp_report_cell *cell = find(report, "read", 4096, 1, "offload");

	(void)state;
	assert_int_equal(report->nr_verified, 24);
	assert_int_equal(report->nr_failed, 0);
	assert_int_equal(cell->n, 1);
	assert_int_equal(cell->values[VALUE_BW].n, 1);
	unload(setup);
}

static void same_name(struct cp_record *record)
{
	if (!strcmp(record->arm.name, "offload") || !strcmp(record->arm.name, "cpu-nt"))
		snprintf(record->arm.name, sizeof(record->arm.name), "x");
}

/* Description: one name for two arms gives two labels. */
static void label_test(void **state)
{
	struct setup *setup = load(same_name);

	(void)state;
	assert_non_null(find(&setup->report, "read", 4096, 1, "x"));
	assert_non_null(find(&setup->report, "read", 4096, 1, "x #2"));
	unload(setup);
}

static void no_latency(struct cp_record *record)
{
	record->metrics[CP_METRIC_LAT_P99] = NAN;
	record->metrics[CP_METRIC_CPU_PCT] = NAN;
}

/* Description: a metric that was not measured is nothing, not zero. */
static void null_metric_test(void **state)
{
	struct setup *setup = load(no_latency);
	const struct cp_report_cell *cell =
		find(&setup->report, "read", 4096, 1, "cpu-nt");

	(void)state;
	assert_int_equal(cell->values[VALUE_P99].n, 0);
	assert_true(isnan(cell->values[VALUE_P99].median));
	assert_true(isnan(cell->values[VALUE_CPU].median));
	assert_int_equal(cell->values[VALUE_BW].n, 2);
	unload(setup);
}

static void one_sample(struct cp_record *record)
{
	record->sample = 0;
}

/* Description: the same sample twice is an error, not a second observation. */
static void duplicate_test(void **state)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	(void)state;
	assert_non_null(setup);
	setup->change = one_sample;
	setup->report.opts = &setup->opts;
	assert_int_equal(fixture_each(&fixture_quick, add, setup), 0);
	assert_true(cp_report_finish_cells(&setup->report, &setup->err) < 0);
	assert_int_equal(setup->err.exit, CP_EXIT_INVALID);
	unload(setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grouping_test),  cmocka_unit_test(arms_test),
		cmocka_unit_test(median_test),	  cmocka_unit_test(judgement_test),
		cmocka_unit_test(choice_test),	  cmocka_unit_test(provenance_test),
		cmocka_unit_test(failed_test),	  cmocka_unit_test(verified_test),
		cmocka_unit_test(label_test),	  cmocka_unit_test(null_metric_test),
		cmocka_unit_test(duplicate_test), cmocka_unit_test(untold_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
