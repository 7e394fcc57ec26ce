/* SPDX-License-Identifier: GPL-2.0-only */
/* Two sets side by side. */
#include "bench/gate/t/fixture.h"

#include "bench/gate/compare.h"

static const struct cp_compare_opts all = {.metrics = (1U << CP_GATE_NR_TIMED) - 1};

static void make(struct cp_compare *compare, const struct cp_gate_set *a,
		 const struct cp_gate_set *b, const struct cp_compare_opts *opts)
{
	struct cp_err err = {0};

	assert_int_equal(cp_compare_make(a, b, opts, compare, &err), 0);
}

/* Description: equal counts pair, and the interval holds the true ratio 1.25. */
static void test_paired(void **unused)
{
	struct cp_gate_set a, b;
	struct cp_compare compare;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 1, 20, 0.0, 0.02, &state);
	fill_set(&b, "b", 1, 20, log(1.25), 0.02, &state);
	make(&compare, &a, &b, &all);
	assert_int_equal(compare.nr_rows, CP_GATE_NR_TIMED);
	for (size_t i = 0; i < compare.nr_rows; i++) {
		const struct cp_compare_row *row = &compare.rows[i];
		double truth = cp_gate_metrics[row->metric].more_is_better ? 0.8 : 1.25;

		assert_true(row->paired);
		assert_true(row->low < row->ratio && row->ratio < row->high);
		assert_near(row->ratio, truth, 0.03);
	}
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: unequal counts are not paired; ratio and interval come from medians. */
static void test_unpaired(void **unused)
{
	struct cp_gate_set a, b;
	struct cp_compare compare;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 1, 12, 0.0, 0.02, &state);
	fill_set(&b, "b", 1, 15, 0.0, 0.02, &state);
	make(&compare, &a, &b, &all);
	for (size_t i = 0; i < compare.nr_rows; i++) {
		const struct cp_compare_row *row = &compare.rows[i];

		assert_false(row->paired);
		assert_near(row->ratio, row->median_b / row->median_a, 1e-12);
		assert_true(row->low <= row->ratio && row->ratio <= row->high);
	}
	assert_non_null(strstr(compare.notes[1], "from medians"));
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: rows come worst first, whichever direction is worse, or by cell. */
static void test_order(void **unused)
{
	struct cp_compare_opts by_cell = all;
	struct cp_gate_set a, b;
	struct cp_compare compare;
	uint64_t state = 1;

	(void)unused;
	by_cell.by_cell = true;
	fill_set(&a, "a", 3, 10, 0.0, 0.02, &state);
	fill_set(&b, "b", 3, 10, 0.0, 0.02, &state);
	for (size_t i = 0; i < 10; i++)
		b.cells[1].samples[i].value[CP_GATE_BW] *= 0.5;
	make(&compare, &a, &b, &all);
	assert_ptr_equal(compare.rows[0].a, &a.cells[1]);
	assert_int_equal(compare.rows[0].metric, CP_GATE_BW);
	for (size_t i = 1; i < compare.nr_rows; i++)
		assert_true(compare.rows[i - 1].worse >= compare.rows[i].worse);
	cp_compare_free(&compare);
	make(&compare, &a, &b, &by_cell);
	assert_ptr_equal(compare.rows[0].a, &a.cells[0]);
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: filters go by the words of contexts and arms, sizes by their value. */
static void test_filter(void **unused)
{
	static const struct {
		const char *text;
		size_t rows;
	} cases[] = {
		{"rw=write", 2 * CP_GATE_NR_TIMED},
		{"rw=read", 0},
		{"bs=64k", 2 * CP_GATE_NR_TIMED},
		{"bs=65536", 2 * CP_GATE_NR_TIMED},
		{"bs=4k", 0},
		{"name=arm1", CP_GATE_NR_TIMED},
	};
	struct cp_gate_set a, b;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 2, 5, 0.0, 0.02, &state);
	fill_set(&b, "b", 2, 5, 0.0, 0.02, &state);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_compare_opts opts = all;
		struct cp_compare compare;
		struct cp_err err = {0};

		assert_int_equal(
			cp_compare_filter_parse(cases[i].text, &opts.filters[0], &err),
			0);
		opts.nr_filters = 1;
		make(&compare, &a, &b, &opts);
		assert_int_equal(compare.nr_rows, cases[i].rows);
		cp_compare_free(&compare);
	}
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: a filter that cannot be meant is refused with exit 2. */
static void test_bad_filter(void **unused)
{
	static const char *const texts[] = {"", "rw", "=read", "bz=4k", "bs=potato"};

	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cp_compare_filter filter;
		struct cp_err err = {0};

		assert_true(cp_compare_filter_parse(texts[i], &filter, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
	}
}

/* Description: machines that differ are compared, and it is said how they differ. */
static void test_fingerprint(void **unused)
{
	struct cp_gate_set a, b;
	struct cp_compare compare;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 1, 5, 0.0, 0.02, &state);
	fill_set(&b, "b", 1, 5, 0.0, 0.02, &state);
	add_manifest(&a, "c", "6.1");
	add_manifest(&b, "c", "6.2");
	make(&compare, &a, &b, &all);
	assert_string_equal(compare.fingerprint, "differs");
	assert_non_null(strstr(compare.notes[0], "kernel '6.1' -> '6.2'"));
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: samples with verify on are left out, and it is said how many. */
static void test_verified(void **unused)
{
	struct cp_gate_set a, b;
	struct cp_compare compare;
	struct cp_record record;
	struct cp_err err;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 1, 5, 0.0, 0.02, &state);
	fill_set(&b, "b", 1, 5, 0.0, 0.02, &state);
	make_record(&record, "b", 0, 900, 5.0, 0.01, &state);
	record.has_proof = true;
	record.proof.bytes_cpu = 1000000000;
	snprintf(record.proof.verify, sizeof(record.proof.verify), "crc32c");
	assert_int_equal(cp_gate_set_add(&b, &record, &err), 0);
	make(&compare, &a, &b, &all);
	assert_int_equal(compare.rows[0].b->nr_samples, 5);
	assert_true(compare.rows[0].ratio > 0.8 && compare.rows[0].ratio < 1.2);
	bool said = false;

	for (unsigned i = 0; i < compare.nr_notes; i++)
		said |= strstr(compare.notes[i], "0 samples of A and 1 of B") != NULL;
	assert_true(said);
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

/* Description: cells of one side only are listed, not dropped. */
static void test_only(void **unused)
{
	struct cp_gate_set a, b;
	struct cp_compare compare;
	uint64_t state = 1;

	(void)unused;
	fill_set(&a, "a", 2, 5, 0.0, 0.02, &state);
	fill_set(&b, "b", 1, 5, 0.0, 0.02, &state);
	make(&compare, &a, &b, &all);
	assert_int_equal(compare.nr_only_a, 1);
	assert_int_equal(compare.nr_only_b, 0);
	assert_string_equal(compare.only_a[0], a.cells[1].label);
	cp_compare_free(&compare);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paired),	   cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_filter),
		cmocka_unit_test(test_bad_filter), cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_only),	   cmocka_unit_test(test_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
