/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts on sets made in memory: what is judged, what is refused, what is traded. */
#include "bench/gate/t/fixture.h"

#define NR_SAMPLES 32

struct pair {
	struct cp_gate_set a, b;
	struct cp_gate_rules rules;
	struct cp_gate_opts opts;
	struct cp_gate_report report;
	uint64_t state;
};

static void pair_init(struct pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->state = 42;
	cp_gate_rules_init(&pair->rules);
	fill_set(&pair->a, "a", 1, NR_SAMPLES, 0.0, 0.01, &pair->state);
	fill_set(&pair->b, "b", 1, NR_SAMPLES, 0.0, 0.01, &pair->state);
}

static void pair_judge(struct pair *pair)
{
	struct cp_err err = {0};

	assert_int_equal(cp_gate_judge(&pair->a, &pair->b, &pair->rules, &pair->opts,
				       &pair->report, &err),
			 0);
}

static void pair_free(struct pair *pair)
{
	cp_gate_report_free(&pair->report);
	cp_gate_set_free(&pair->a);
	cp_gate_set_free(&pair->b);
}

static double *value(struct cp_gate_set *set, size_t sample, enum cp_gate_metric metric)
{
	return &set->cells[0].samples[sample].value[metric];
}

static void scale(struct cp_gate_set *set, enum cp_gate_metric metric, double factor)
{
	for (size_t i = 0; i < set->cells[0].nr_samples; i++)
		*value(set, i, metric) *= factor;
}

static void fill(struct cp_gate_set *set, enum cp_gate_metric metric, double with)
{
	for (size_t i = 0; i < set->cells[0].nr_samples; i++)
		*value(set, i, metric) = with;
}

/* Description: the same twice is OK, exit 0, with every timed metric judged. */
static void test_same(void **unused)
{
	struct pair pair;

	(void)unused;
	pair_init(&pair);
	pair_judge(&pair);
	assert_int_equal(pair.report.verdict, CP_VERDICT_OK);
	assert_int_equal(pair.report.exit, CP_EXIT_OK);
	assert_int_equal(pair.report.nr_rows, CP_GATE_NR_TIMED);
	pair_free(&pair);
}

/* Description: each timed metric that gets 25 % worse regresses alone, in its direction.
 */
static void test_each_direction(void **unused)
{
	(void)unused;
	for (int m = 0; m < CP_GATE_NR_TIMED; m++) {
		bool more = cp_gate_metrics[m].more_is_better;
		struct pair pair;

		pair_init(&pair);
		scale(&pair.b, (enum cp_gate_metric)m, more ? 0.75 : 1.25);
		pair_judge(&pair);
		assert_int_equal(pair.report.exit, CP_EXIT_REGRESSED);
		assert_int_equal(pair.report.counts[CP_VERDICT_REGRESSED], 1);
		assert_int_equal(pair.report.rows[0].id, m);
		pair_free(&pair);

		pair_init(&pair);
		scale(&pair.b, (enum cp_gate_metric)m, more ? 1.4 : 0.7);
		pair_judge(&pair);
		assert_int_equal(pair.report.verdict, CP_VERDICT_IMPROVED);
		assert_int_equal(pair.report.exit, CP_EXIT_OK);
		pair_free(&pair);
	}
}

/* Description: percentages and d agree in both directions and invert each other. */
static void test_units(void **unused)
{
	(void)unused;
	assert_near(cp_gate_d(CP_GATE_BW, -10), -log(0.9), 1e-12);
	assert_near(cp_gate_d(CP_GATE_P99, 8), log(1.08), 1e-12);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		assert_near(cp_gate_pct((enum cp_gate_metric)m,
					cp_gate_d((enum cp_gate_metric)m, -12.5)),
			    -12.5, 1e-9);
}

/* Description: fewer than 30 pairs are inconclusive however large the change, and say 30.
 */
static void test_too_few(void **unused)
{
	static const unsigned counts[] = {1, 2, 9, 10, 11, 29};

	(void)unused;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct pair pair = {.state = 3};

		cp_gate_rules_init(&pair.rules);
		fill_set(&pair.a, "a", 1, counts[i], 0.0, 0.01, &pair.state);
		fill_set(&pair.b, "b", 1, counts[i], 0.5, 0.01, &pair.state);
		pair_judge(&pair);
		assert_int_equal(pair.report.exit, CP_EXIT_INCONCLUSIVE);
		for (size_t r = 0; r < pair.report.nr_rows; r++)
			assert_int_equal(pair.report.rows[r].needed, 30);
		pair_free(&pair);
	}
}

/* Description: noise above the margin is inconclusive and says how many pairs decide. */
static void test_noisy(void **unused)
{
	struct pair pair = {.state = 8};

	(void)unused;
	cp_gate_rules_init(&pair.rules);
	fill_set(&pair.a, "a", 1, 30, 0.0, 0.2, &pair.state);
	fill_set(&pair.b, "b", 1, 30, 0.0, 0.2, &pair.state);
	pair_judge(&pair);
	const struct cp_gate_row *row = find_row(&pair.report, "bw");

	assert_int_equal(row->verdict, CP_VERDICT_INCONCLUSIVE);
	assert_true(row->needed > 30);
	assert_true(row->mde > row->margin);
	pair_free(&pair);
}

/* Description: --inconclusive changes the exit code and not the verdict. */
static void test_inconclusive_exit(void **unused)
{
	static const struct {
		enum cp_gate_inconclusive how;
		enum cp_exit exit;
	} cases[] = {
		{CP_GATE_EXIT3, CP_EXIT_INCONCLUSIVE},
		{CP_GATE_PASS, CP_EXIT_OK},
		{CP_GATE_FAIL, CP_EXIT_REGRESSED},
	};

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		struct pair pair = {.state = 8, .opts = {.inconclusive = cases[i].how}};

		cp_gate_rules_init(&pair.rules);
		fill_set(&pair.a, "a", 1, 5, 0.0, 0.01, &pair.state);
		fill_set(&pair.b, "b", 1, 5, 0.0, 0.01, &pair.state);
		pair_judge(&pair);
		assert_int_equal(pair.report.verdict, CP_VERDICT_INCONCLUSIVE);
		assert_int_equal(pair.report.exit, cases[i].exit);
		pair_free(&pair);
	}
}

static void spoil_one_missing(struct pair *pair)
{
	*value(&pair->b, 7, CP_GATE_P99) = NAN;
}

static void spoil_all_missing(struct pair *pair)
{
	fill(&pair->a, CP_GATE_P99, NAN);
}

static void spoil_stuck_one(struct pair *pair)
{
	fill(&pair->b, CP_GATE_BW, 5e9);
}

static void spoil_stuck_both(struct pair *pair)
{
	fill(&pair->a, CP_GATE_BW, 5e9);
	fill(&pair->b, CP_GATE_BW, 5e9);
}

static void spoil_zero(struct pair *pair)
{
	*value(&pair->a, 0, CP_GATE_IOPS) = 0;
}

static void spoil_infinite(struct pair *pair)
{
	*value(&pair->b, 0, CP_GATE_IOPS) = INFINITY;
}

static void spoil_provenance(struct pair *pair)
{
	snprintf(pair->b.cells[0].provenance.dma, CP_WORD_MAX, "software");
}

static void spoil_mixed(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 900, 0, 0.01, &pair->state);
	snprintf(record.provenance.media, sizeof(record.provenance.media), "emulated");
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_duplicate(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 3, 0, 0.01, &pair->state);
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_failed(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 900, 0, 0.01, &pair->state);
	snprintf(record.failed, sizeof(record.failed), "fio ended with 1");
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_proof(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 900, 0, 0.01, &pair->state);
	record.has_proof = true;
	record.proof.errors = 1;
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_verified(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 900, 0, 0.01, &pair->state);
	record.has_proof = true;
	record.proof.bytes_cpu = 1000000000;
	snprintf(record.proof.verify, sizeof(record.proof.verify), "crc32c");
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_host(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 0, 900, 0, 0.01, &pair->state);
	snprintf(record.host, sizeof(record.host), "other");
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_cell(struct pair *pair)
{
	struct cp_record record;
	struct cp_err err;

	make_record(&record, "b", 1, 0, 0, 0.01, &pair->state);
	assert_int_equal(cp_gate_set_add(&pair->b, &record, &err), 0);
}

static void spoil_one_manifest(struct pair *pair)
{
	add_manifest(&pair->a, "c1", "6.1");
}

static void spoil_fingerprint(struct pair *pair)
{
	add_manifest(&pair->a, "c1", "6.1");
	add_manifest(&pair->b, "c1", "6.2");
}

static void spoil_config(struct pair *pair)
{
	add_manifest(&pair->a, "c1", "6.1");
	add_manifest(&pair->b, "c2", "6.1");
}

static void spoil_incomplete(struct pair *pair)
{
	add_manifest(&pair->a, "c1", "6.1");
	add_manifest(&pair->b, "c1", "6.1");
	pair->b.manifest.complete = false;
}

static void spoil_short(struct pair *pair)
{
	add_manifest(&pair->a, "c1", "6.1");
	add_manifest(&pair->b, "c1", "6.1");
	pair->a.manifest.planned++;
}

static void spoil_broken(struct pair *pair)
{
	snprintf(pair->a.broken, sizeof(pair->a.broken), "a bad line");
}

static void spoil_all_off(struct pair *pair)
{
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		pair->rules.margin_pct[m] = NAN;
}

static void spoil_all_unmeasured(struct pair *pair)
{
	fill(&pair->a, CP_GATE_ERRORS, 0);
	fill(&pair->b, CP_GATE_ERRORS, 0);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++) {
		fill(&pair->a, (enum cp_gate_metric)m, NAN);
		fill(&pair->b, (enum cp_gate_metric)m, NAN);
	}
}

/* Description: everything that makes figures worthless is INVALID, exit 4, with a reason,
 * also where a metric has regressed as well. */
static void test_invalid(void **unused)
{
	static const struct {
		void (*spoil)(struct pair *pair);
		const char *reason;
	} cases[] = {
		{spoil_one_missing,
		 "missing in 0 of 32 samples of the baseline and 1 of 32"},
		{spoil_all_missing, "missing in 32 of 32"},
		{spoil_stuck_one, "stuck: all 32 values of the candidate are 5e+09"},
		{spoil_stuck_both, "stuck: all 32 values of both sides"},
		{spoil_zero, "a value of the baseline is not above 0"},
		{spoil_infinite, "a value of the candidate is not above 0"},
		{spoil_provenance, "provenance differs"},
		{spoil_mixed, "differ in provenance"},
		{spoil_duplicate, "1 duplicated samples, first sample 3 of"},
		{spoil_failed, "fio ended with 1"},
		{spoil_proof, "1 i/o errors"},
		{spoil_verified, "verify on: 0 of the baseline, 1 of the candidate"},
		{spoil_host, "more than one host"},
		{spoil_cell, "the baseline has no samples of this cell"},
		{spoil_one_manifest, "the candidate has no manifest"},
		{spoil_fingerprint, "kernel '6.1' -> '6.2'"},
		{spoil_config, "different configurations"},
		{spoil_incomplete, "not complete: 32 of 32"},
		{spoil_short, "32 of 33 samples"},
		{spoil_broken, "a bad line"},
		{spoil_all_off, "no metric is left to judge"},
		{spoil_all_unmeasured, "neither side measured anything"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair;

		pair_init(&pair);
		scale(&pair.b, CP_GATE_P50, 1.5);
		cases[i].spoil(&pair);
		pair_judge(&pair);
		assert_int_equal(pair.report.exit, CP_EXIT_INVALID);
		assert_int_equal(pair.report.rows[0].verdict, CP_VERDICT_INVALID);
		if (!strstr(pair.report.rows[0].reason, cases[i].reason))
			fail_msg("case %zu: '%s' lacks '%s'", i,
				 pair.report.rows[0].reason, cases[i].reason);
		pair_free(&pair);
	}
}

/* Description: --ignore-fingerprint judges all the same and says what it overrode. */
static void test_ignore_fingerprint(void **unused)
{
	struct pair pair;
	bool said = false;

	(void)unused;
	pair_init(&pair);
	spoil_fingerprint(&pair);
	pair.opts.ignore_fingerprint = true;
	pair_judge(&pair);
	assert_int_equal(pair.report.verdict, CP_VERDICT_OK);
	for (unsigned i = 0; i < pair.report.nr_notes; i++)
		said |= strstr(pair.report.notes[i], "--ignore-fingerprint: kernel") !=
			NULL;
	assert_true(said);
	pair_free(&pair);
}

/* Description: constants of an external driver compare exactly, without a margin. */
static void test_external_constants(void **unused)
{
	static const struct {
		double bw;
		enum cp_verdict verdict;
	} cases[] = {{5e9, CP_VERDICT_OK},
		     {4.9999e9, CP_VERDICT_REGRESSED},
		     {5.0001e9, CP_VERDICT_IMPROVED}};

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		struct pair pair;

		pair_init(&pair);
		snprintf(pair.a.cells[0].provenance.media, CP_WORD_MAX, "external");
		snprintf(pair.b.cells[0].provenance.media, CP_WORD_MAX, "external");
		fill(&pair.a, CP_GATE_BW, 5e9);
		fill(&pair.b, CP_GATE_BW, cases[i].bw);
		pair_judge(&pair);
		assert_int_equal(find_row(&pair.report, "bw")->verdict, cases[i].verdict);
		pair_free(&pair);
	}
}

/* Description: a counter that is constant in the baseline compares exactly; one that
 * varies there by itself does not regress for varying as before. */
static void test_counters(void **unused)
{
	static const struct {
		double a[2], b[2]; /* values of even and odd samples */
		enum cp_verdict verdict;
	} cases[] = {
		{{0, 0}, {0, 0}, CP_VERDICT_OK},
		{{0, 0}, {0, 1}, CP_VERDICT_REGRESSED},
		{{3, 3}, {2, 2}, CP_VERDICT_IMPROVED},
		{{3, 3}, {2, 3}, CP_VERDICT_IMPROVED},
		{{3, 3}, {2, 4}, CP_VERDICT_REGRESSED},
		{{1, 4}, {4, 1}, CP_VERDICT_OK},
		{{1, 4}, {90, 95}, CP_VERDICT_REGRESSED},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair;

		pair_init(&pair);
		for (size_t s = 0; s < NR_SAMPLES; s++) {
			*value(&pair.a, s, CP_GATE_FALLBACKS) = cases[i].a[s % 2];
			*value(&pair.b, s, CP_GATE_FALLBACKS) = cases[i].b[s % 2];
		}
		pair_judge(&pair);
		const struct cp_gate_row *row = find_row(&pair.report, "fallbacks");

		assert_non_null(row);
		if (row->verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, cp_verdict_names[row->verdict]);
		pair_free(&pair);
	}
}

/* Description: a trade excuses a loss only where loss and gain are both sure. */
static void test_trade(void **unused)
{
	static const struct {
		double bw, cpu;
		enum cp_verdict verdict;
	} cases[] = {
		{0.94, 0.60, CP_VERDICT_OK},	     /* both well inside */
		{0.94, 0.80, CP_VERDICT_REGRESSED},  /* gain too small */
		{0.85, 0.60, CP_VERDICT_REGRESSED},  /* loss too large */
		{0.94, 0.699, CP_VERDICT_REGRESSED}, /* gain only by its point estimate */
		{0.901, 0.60, CP_VERDICT_REGRESSED}, /* loss only by its point estimate */
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair;
		struct cp_gate_allow *allow = &pair.rules.allow[0];

		pair_init(&pair);
		for (int m = 0; m < CP_GATE_NR_TIMED; m++)
			allow->limit_pct[m] = allow->if_pct[m] = NAN;
		allow->limit_pct[CP_GATE_BW] = -10;
		allow->if_pct[CP_GATE_CPU] = -30;
		pair.rules.nr_allow = 1;
		scale(&pair.b, CP_GATE_BW, cases[i].bw);
		scale(&pair.b, CP_GATE_CPU, cases[i].cpu);
		pair_judge(&pair);
		if (find_row(&pair.report, "bw")->verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i,
				 cp_verdict_names[find_row(&pair.report, "bw")->verdict]);
		pair_free(&pair);
	}
}

/* Description: every report says that margins are not calibrated and drift is possible.
 */
static void test_notes(void **unused)
{
	struct pair pair;

	(void)unused;
	pair_init(&pair);
	pair_judge(&pair);
	assert_non_null(strstr(pair.report.notes[0], "not calibrated"));
	assert_non_null(strstr(pair.report.notes[1], "drift"));
	pair_free(&pair);
}

/* A row that awaits its verdict: worse or better by 10 %, with these p. */
static void add_open(struct cp_gate_report *report, const char *cell, int flagged,
		     double p)
{
	struct cp_gate_row *row = cp_gate_row_add(report, cell, "bw");

	assert_non_null(row);
	row->id = CP_GATE_BW;
	row->verdict = CP_VERDICT_INCONCLUSIVE;
	row->pairs = 60;
	row->flagged = flagged;
	row->margin = 0.02;
	row->sd = 0.02;
	row->hl = 0.1 * flagged;
	row->lower = row->hl - 0.01;
	row->upper = row->hl + 0.01;
	row->p_worse = flagged > 0 ? p : 1.0;
	row->p_better = flagged > 0 ? 1.0 : p;
}

/* Description: the family of REGRESSED is what was flagged as worse, over all cells:
 * more of those make it stricter, and improvements change neither verdict nor mde. */
static void test_family(void **unused)
{
	static const struct {
		unsigned worse, better;
		size_t regressed;
	} cases[] = {{1, 0, 1}, {2, 0, 2}, {2, 30, 2}, {3, 0, 0}, {3, 30, 0}};
	static const char *const cells[] = {"a", "b", "c"};
	double mde[4] = {NAN, NAN, NAN, NAN};
	struct cp_gate_rules rules;

	(void)unused;
	cp_gate_rules_init(&rules);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_gate_report report = {0};
		size_t regressed = 0;

		for (unsigned k = 0; k < cases[i].worse; k++)
			add_open(&report, cells[k], 1, 0.004);
		for (unsigned k = 0; k < cases[i].better; k++)
			add_open(&report, "better", -1, 1e-6);
		assert_int_equal(cp_gate_decide(&report, &rules), 0);
		for (size_t k = 0; k < report.nr_rows; k++)
			regressed += report.rows[k].verdict == CP_VERDICT_REGRESSED;
		assert_int_equal(regressed, cases[i].regressed);
		assert_int_equal(report.nr_worse, cases[i].worse);
		if (isnan(mde[cases[i].worse]))
			mde[cases[i].worse] = report.rows[0].mde;
		assert_near(report.rows[0].mde, mde[cases[i].worse], 1e-12);
		cp_gate_report_free(&report);
	}
	assert_true(mde[1] < mde[2] && mde[2] < mde[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_each_direction),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_noisy),
		cmocka_unit_test(test_inconclusive_exit),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_ignore_fingerprint),
		cmocka_unit_test(test_external_constants),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_trade),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
