// SPDX-License-Identifier: GPL-2.0-only
/* What the learner takes, refuses and reports. */
#include "policies/t/world.h"

/* Description: failed records, those of null and those over an engine that was made to
 * fail are left out and counted; so are those with verify on and those without a metric
 * the objective needs. */
static void test_counts(void **state)
{
	struct cp_learn *learn = new_learn("balanced");
	struct cp_learn_counts counts;
	struct cp_record record;
	struct cp_policy policy;

	(void)state;
	make_record(&cpu, 65536, 0, 1.0, 1.0, &record);
	add(learn, &record);
	snprintf(record.failed, sizeof(record.failed), "no space");
	add(learn, &record);
	make_record(&cpu, 65536, 9, 1.0, 1.0, &record);
	snprintf(record.arm.dma, CP_SPEC_TEXT_MAX, "fault:sw,full=1%%");
	add(learn, &record);
	make_record(&cpu, 65536, 1, 1.0, 1.0, &record);
	snprintf(record.provenance.dma, CP_WORD_MAX, "modelled");
	snprintf(record.arm.dma, sizeof(record.arm.dma), "null");
	add(learn, &record);
	make_record(&cpu, 65536, 2, 1.0, 1.0, &record);
	record.metrics[CP_METRIC_CPU_NS] = record.metrics[CP_METRIC_CPU_PCT] = NAN;
	add(learn, &record);
	for (unsigned n = 0; n < 4; n++) {
		static const char *const words[] = {"crc32c", "other", "off", "pages"};

		make_record(&cpu, 65536, 3 + n, 1.0, 1.0, &record);
		record.has_proof = true;
		record.proof.bytes_cpu = (uint64_t)record.metrics[CP_METRIC_BYTES];
		snprintf(record.proof.verify, CP_WORD_MAX, "%s", words[n]);
		add(learn, &record);
	}
	cp_learn_counts(learn, &counts);
	assert_int_equal(counts.verified, 2);
	assert_int_equal(counts.used, 3);
	assert_int_equal(counts.failed, 2);
	assert_int_equal(counts.modelled, 1);
	assert_int_equal(counts.unusable, 1);
	/* One arm at one size: nothing to choose, and no rule for other sizes. */
	assert_int_equal(solve(learn, &policy), 0);
	assert_int_equal(policy.nr_rules, 1);
	assert_false(policy.rules[0].decided);
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

/* Description: mixed hosts and mixed provenance are refused, with both named. */
static void test_mixed_sources(void **state)
{
	static const struct {
		const char *what, *value, *a, *b;
	} cases[] = {{"host", "g", "'h'", "'g'"},
		     {"media", "emulated", "'native'", "'emulated'"},
		     {"dma", "hardware", "'software'", "'hardware'"},
		     {"dma", "modelled", "'software'", "'modelled'"}};
	const struct curve dma = {"offload", "mq", "dma", "", 600, 0.1, 600, 0.1, 0, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		struct cp_record record;
		struct cp_err err = {0};

		make_record(&dma, 65536, 0, 1.0, 1.0, &record);
		add(learn, &record);
		if (!strcmp(cases[i].what, "host"))
			snprintf(record.host, sizeof(record.host), "%s", cases[i].value);
		else
			snprintf(!strcmp(cases[i].what, "media") ? record.provenance.media
								 : record.provenance.dma,
				 CP_WORD_MAX, "%s", cases[i].value);
		assert_true(cp_learn_add(learn, &record, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_non_null(strstr(err.msg, cases[i].a));
		assert_non_null(strstr(err.msg, cases[i].b));
		cp_learn_free(learn);
	}
}

static void has_what_if(void *ctx, const char *text)
{
	*(bool *)ctx |= strstr(text, "the policy is a what-if") != NULL;
}

/* Description: records of a modelled engine are learned with the CPU's; the policy and a
 * note say that they are modelled. */
static void test_modelled(void **state)
{
	static const struct curve model = {"model", "mq",  "dma", "", 20000,
					   0.05,    20000, 0.05,  0,  0};
	const struct curve *const curves[] = {&cpu, &model};
	struct cp_learn *learn = new_learn("throughput");
	struct cp_policy policy;
	bool noted = false;

	(void)state;
	for (uint32_t n = 0; n < 6; n++)
		for (size_t i = 0; i < NR_SIZES * 2; i++) {
			struct cp_record record;

			make_record(curves[i % 2], sizes[i / 2], n, 1 + 0.001 * n, 1.0,
				    &record);
			if (i % 2) {
				snprintf(record.arm.dma, sizeof(record.arm.dma),
					 "model:bw=20g");
				snprintf(record.provenance.dma, CP_WORD_MAX, "modelled");
			}
			add(learn, &record);
		}
	assert_int_equal(solve(learn, &policy), 2);
	assert_string_equal(policy.dma, "modelled");
	assert_string_equal(policy.rules[0].sizes[0].act.path, "cpu");
	assert_string_equal(policy.rules[0].sizes[1].act.path, "dma");
	cp_learn_notes(learn, has_what_if, &noted);
	assert_true(noted);
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

/* Description: each load's rule ends at the geometric middle to the next one measured and
 * is open at the ends. */
static void test_load_ranges(void **state)
{
	const struct curve slow = {"slow", "mq", "cpu", "nt", 1200,
				   0.20,   1200, 0.20,	0,    0};
	static const uint32_t depths[] = {1, 16, 64};
	static const struct cp_range expected[] = {{1, 4}, {5, 32}, {33, CP_POLICY_OPEN}};
	struct cp_learn *learn = new_learn("balanced");
	struct cp_policy policy;
	struct cp_record record;

	(void)state;
	for (size_t d = 0; d < 3; d++)
		for (uint32_t n = 0; n < 3; n++)
			for (size_t i = 0; i < NR_SIZES; i++) {
				make_record(&cpu, sizes[i], n, 1.0, 1.0, &record);
				record.context.iodepth = depths[d];
				add(learn, &record);
				make_record(&slow, sizes[i], n, 1.0, 1.0, &record);
				record.context.iodepth = depths[d];
				add(learn, &record);
			}
	assert_int_equal(solve(learn, &policy), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(policy.rules[i].when.load.min, expected[i].min);
		assert_int_equal(policy.rules[i].when.load.max, expected[i].max);
		assert_int_equal(policy.rules[i].when.jobs.max, CP_POLICY_OPEN);
	}
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

/* Description: what a policy cannot tell apart at run time is not learned together. */
static void test_conflicts(void **state)
{
	static const char *const cases[] = {"rw", "media", "corunner", "segments"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		struct cp_policy policy;
		struct cp_record record;
		struct cp_err err = {0};
		char filter[64];
		unsigned decided;

		make_record(&cpu, 65536, 0, 1.0, 1.0, &record);
		add(learn, &record);
		if (i == 0)
			snprintf(record.context.rw, CP_WORD_MAX, "randread");
		else if (i == 1)
			snprintf(record.context.media, CP_WORD_MAX, "file");
		else if (i == 2)
			snprintf(record.context.corunner, CP_WORD_MAX, "stream");
		else
			record.context.segments = 1;
		add(learn, &record);
		assert_true(cp_learn_solve(learn, &policy, &decided, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_non_null(strstr(err.msg, cases[i]));
		/* sizes have segments of their own: no one filter parts them */
		snprintf(filter, sizeof(filter), "as with learn --filter %s=", cases[i]);
		assert_int_equal(strstr(err.msg, filter) != NULL, i < 3);
		cp_learn_free(learn);
	}
}

/* Description: mixed provenance names a filter that parts the two, by the field it is of
 * where that differs, else by what does; without a difference none is named. */
static void test_parting_filter(void **state)
{
	static const struct {
		const char *what, *attr, *media, *arm, *expected;
	} cases[] = {{"attr", "uc", "file", "b", "--filter attr=uc"},
		     {"attr", "wb", "bar", "b", "--filter media=bar"},
		     {"media", "uc", "file", "b", "--filter media=file"},
		     {"media", "wb", "anon", "b", "--filter arm=b"},
		     {"media", "wb", "anon", "cpu", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		struct cp_record record;
		struct cp_err err = {0};

		make_record(&cpu, 65536, 0, 1.0, 1.0, &record);
		add(learn, &record);
		snprintf(!strcmp(cases[i].what, "attr") ? record.provenance.attr
							: record.provenance.media,
			 CP_WORD_MAX, "emulated");
		snprintf(record.context.attr, CP_WORD_MAX, "%s", cases[i].attr);
		snprintf(record.context.media, CP_WORD_MAX, "%s", cases[i].media);
		snprintf(record.arm.name, sizeof(record.arm.name), "%s", cases[i].arm);
		assert_true(cp_learn_add(learn, &record, &err) < 0);
		if (cases[i].expected)
			assert_non_null(strstr(err.msg, cases[i].expected));
		else
			assert_null(strstr(err.msg, "--filter"));
		cp_learn_free(learn);
	}
}

/* Description: misaligned buffers are learned, into rules of their own, and say nothing
 * about aligned ones. */
static void test_misaligned_apart(void **state)
{
	static const uint32_t near[] = {0, 8, 8}, far[] = {0, 0, 16};
	const struct curve slow = {"slow", "mq", "cpu", "nt", 1800, 0.3, 1800, 0.3, 0, 0};
	struct cp_learn *learn = new_learn("balanced");
	struct cp_policy policy;
	struct cp_record record;

	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (uint32_t n = 0; n < 3; n++)
			for (size_t i = 0; i < NR_SIZES; i++) {
				const double cost[] = {m ? 9.0 : 1.0, 1.0};

				/* misaligned, the better arm is the other one */
				for (size_t a = 0; a < 2; a++) {
					make_record(a ? &slow : &cpu, sizes[i], n,
						    cost[a], cost[a], &record);
					record.context.misalign_near = near[m];
					record.context.misalign_far = far[m];
					add(learn, &record);
				}
			}
	assert_int_equal(solve(learn, &policy), 3);
	assert_int_equal(policy.nr_rules, 3);
	for (unsigned m = 0; m < 3; m++) {
		struct cp_context context;
		struct cp_policy_answer answer;

		cp_context_init(&context);
		context.bs = sizes[0];
		context.misalign_near = near[m];
		context.misalign_far = far[m];
		assert_true(cp_policy_answer(&policy, &context, &answer));
		assert_int_equal(answer.rule->when.misalign_near, near[m]);
		assert_int_equal(answer.rule->when.misalign_far, far[m]);
		assert_string_equal(answer.act.name, m ? slow.name : cpu.name);
		context.misalign_near = 9;
		assert_false(cp_policy_answer(&policy, &context, &answer));
	}
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

static void count_bio_notes(void *ctx, const char *text)
{
	*(unsigned *)ctx += strstr(text, "bio was not measured") != NULL;
}

/* Description: what a queue mode costs is said only where it was measured: with the mq
 * arms alone, a device that stays in bio has no cost, and a note says why. */
static void test_unmeasured_bio(void **state)
{
	const struct curve curves[] = {
		{"cpu-mq", "mq", "cpu", "memcpy", 600, 0.10, 600, 0.10, 0, 0},
		{"dma", "mq", "dma", "auto", 20000, 0.20, 20000, 0.20, 0, 0},
		{"cpu-bio", "bio", "cpu", "memcpy", 600, 0.10, 600, 0.10, 0, 0},
	};

	(void)state;
	for (unsigned with_bio = 0; with_bio < 2; with_bio++) {
		const struct world world = {curves, 2 + with_bio, 3, 0.0, 0.0};
		struct cp_learn *learn = new_learn("balanced");
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
		struct cp_policy policy;
		unsigned notes = 0;

		feed(learn, &world, rng);
		solve(learn, &policy);
		cp_learn_notes(learn, count_bio_notes, &notes);
		assert_string_equal(policy.device.queue_mode, "bio");
		assert_int_equal(isnan(policy.device.regret_pct), !with_bio);
		assert_int_equal(notes, !with_bio);
		cp_policy_free(&policy);
		cp_learn_free(learn);
		gsl_rng_free(rng);
	}
}

/* Description: no records give an empty policy, with which the default answers. */
static void test_nothing_fed(void **state)
{
	struct cp_learn *learn = new_learn("balanced");
	struct cp_policy policy;

	(void)state;
	assert_int_equal(solve(learn, &policy), 0);
	assert_int_equal(policy.nr_rules, 0);
	assert_string_equal(policy.device.queue_mode, "bio");
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

/* Description: samples without any spread are handled, and a clear gap decided. */
static void test_constant_samples(void **state)
{
	const struct curve curves[] = {
		cpu, {"slow", "mq", "cpu", "nt", 900, 0.15, 900, 0.15, 0, 0}};
	const struct world world = {curves, 2, 3, 0.0, 0.0};
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_policy policy;

	(void)state;
	feed(learn, &world, rng);
	assert_int_equal(solve(learn, &policy), 1);
	assert_string_equal(policy.rules[0].sizes[0].act.name, "cpu");
	assert_true(policy.rules[0].sizes[0].upto == UINT64_MAX);
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

static void find_noise_note(void *ctx, const char *text)
{
	*(bool *)ctx |= strstr(text, "no cell has two samples") != NULL;
}

/* Description: with one sample a cell nothing is decided, however wide the gap: no spread
 * is known. What is used is the incumbent's, no certainty is claimed, and a note says
 * why; a second sample of each cell decides it. */
static void test_one_sample_each(void **state)
{
	const struct curve curves[] = {
		cpu, {"slow", "mq", "cpu", "nt", 6000, 1.0, 6000, 1.0, 0, 0}};

	(void)state;
	for (unsigned samples = 1; samples <= 2; samples++) {
		const struct world world = {curves, 2, samples, 0.01, 0.0};

		for (unsigned long seed = 1; seed <= 5; seed++) {
			struct cp_learn *learn = new_learn("balanced");
			gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
			struct cp_policy policy;
			bool noted = false;

			gsl_rng_set(rng, seed);
			feed(learn, &world, rng);
			assert_int_equal(solve(learn, &policy), samples - 1);
			cp_learn_notes(learn, find_noise_note, &noted);
			assert_int_equal(noted, samples == 1);
			const struct cp_policy_size *size = &policy.rules[0].sizes[0];

			assert_int_equal(isnan(size->confidence), samples == 1);
			assert_string_equal(size->act.name,
					    samples == 1 ? "default" : "cpu");
			assert_int_equal(policy.rules[0].samples_needed, 0);
			cp_policy_free(&policy);
			cp_learn_free(learn);
			gsl_rng_free(rng);
		}
	}
}

/* Description: an arm below min_bw_frac of the best bandwidth is never used. */
static void test_hard_limit(void **state)
{
	const struct curve curves[] = {
		cpu, {"idle", "mq", "dma", "", 2400, 0.40, 10, 0.001, 0, 0}};
	const struct world world = {curves, 2, 5, 0.02, 0.0};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_learn *learn = new_learn("efficiency");
	struct cp_policy policy;

	(void)state;
	feed(learn, &world, rng);
	solve(learn, &policy);
	for (unsigned i = 0; i < policy.nr_rules; i++)
		for (unsigned k = 0; k < policy.rules[i].nr_sizes; k++)
			assert_string_equal(policy.rules[i].sizes[k].act.name, "cpu");
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Description: measured regret is 0 for the best arm, exact for another, and unknown for
 * an arm that was not measured. */
static void test_regret(void **state)
{
	const struct curve curves[] = {
		{"old", "bio", "cpu", "auto", 0, 0.10, 0, 0.10, 0, 0},
		{"half", "bio", "cpu", "nt", 0, 0.05, 0, 0.05, 0, 0}};
	const struct world world = {curves, 2, 3, 0.0, 0.0};
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_policy policy, fallback;
	struct cp_regret regret;
	struct cp_err err = {0};

	(void)state;
	feed(learn, &world, rng);
	solve(learn, &policy);
	assert_int_equal(cp_policy_regret(learn, &policy, &regret, &err), 0);
	assert_int_equal(regret.contexts, NR_SIZES);
	assert_int_equal(regret.unknown, 0);
	assert_true(fabs(regret.worst_pct) < 1e-6);
	cp_policy_init(&fallback);
	assert_int_equal(cp_policy_regret(learn, &fallback, &regret, &err), 0);
	assert_true(fabs(regret.mean_pct - 100.0) < 1e-6);
	snprintf(fallback.fallback.copy, CP_WORD_MAX, "nt-avx2");
	assert_int_equal(cp_policy_regret(learn, &fallback, &regret, &err), 0);
	assert_int_equal(regret.unknown, NR_SIZES);
	assert_true(isnan(regret.mean_pct));
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Description: regret says what it is over: all contexts, or how many of them. */
static void test_regret_span(void **state)
{
	static const struct {
		unsigned contexts, unknown;
		const char *words;
	} cases[] = {{1, 0, "1 context"},
		     {24, 0, "24 contexts"},
		     {24, 6,
		      "18 of 24 contexts (in the other 6 the policy's arm was not "
		      "measured in its queue mode)"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cp_regret regret = {.contexts = cases[i].contexts,
						 .unknown = cases[i].unknown};
		char buf[160];

		assert_string_equal(cp_regret_span_words(&regret, buf, sizeof(buf)),
				    cases[i].words);
	}
}

/* Description: cells come sorted, with medians and Pareto marks. */
static void test_cells(void **state)
{
	const struct curve curves[] = {
		cpu, {"worse", "mq", "cpu", "nt", 900, 0.15, 950, 0.16, 0, 0}};
	const struct world world = {curves, 2, 3, 0.0, 0.0};
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	const struct cp_learn_cell *cells;
	struct cp_err err = {0};
	size_t nr;

	(void)state;
	feed(learn, &world, rng);
	assert_int_equal(cp_learn_cells(learn, &cells, &nr, &err), 0);
	assert_int_equal(nr, 2 * NR_SIZES);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(cells[i].context.bs, sizes[i / 2]);
		assert_string_equal(cells[i].arm.name, i % 2 ? "worse" : "cpu");
		assert_int_equal(cells[i].pareto, i % 2 == 0);
		assert_int_equal(cells[i].n, 3);
		assert_true(cells[i].bw_low <= cells[i].bw_median &&
			    cells[i].bw_median <= cells[i].bw_high);
	}
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_mixed_sources),
		cmocka_unit_test(test_modelled),
		cmocka_unit_test(test_load_ranges),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_parting_filter),
		cmocka_unit_test(test_misaligned_apart),
		cmocka_unit_test(test_nothing_fed),
		cmocka_unit_test(test_unmeasured_bio),
		cmocka_unit_test(test_constant_samples),
		cmocka_unit_test(test_one_sample_each),
		cmocka_unit_test(test_hard_limit),
		cmocka_unit_test(test_regret),
		cmocka_unit_test(test_regret_span),
		cmocka_unit_test(test_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
