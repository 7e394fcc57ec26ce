// SPDX-License-Identifier: GPL-2.0-only
/* Queue modes weighed against each other, and what must not be learned together. */
#include "policies/t/world.h"

#define PAGE(cost)                                                            \
	{                                                                     \
		"page", "page", "cpu", "memcpy", cost, 0.10, cost, 0.10, 0, 0 \
	}
#define BIO                                                               \
	{                                                                 \
		"bio", "bio", "cpu", "memcpy", 700, 0.10, 700, 0.10, 0, 0 \
	}
#define OFFLOAD                                                         \
	{                                                               \
		"offload", "mq", "dma", "", 6000, 0.05, 600, 0.01, 0, 0 \
	}
#define PAGE_DMA                                                          \
	{                                                                 \
		"page/dma", "page", "dma", "", 300, 0.05, 300, 0.01, 0, 0 \
	}

struct notes {
	char text[4096];
};

static void take_note(void *ctx, const char *text)
{
	struct notes *notes = ctx;
	size_t used = strlen(notes->text);

	snprintf(notes->text + used, sizeof(notes->text) - used, "%s\n", text);
}

static void learn_of(const struct curve *curves, unsigned nr, struct cp_policy *policy,
		     struct notes *notes)
{
	const struct world world = {curves, nr, 3, 0.01, 0.0};
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	feed(learn, &world, rng);
	solve(learn, policy);
	notes->text[0] = '\0';
	cp_learn_notes(learn, take_note, notes);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Every action is of an arm in that mode, by the names above. */
static void check_actions(const struct cp_policy *policy, bool page)
{
	assert_true(policy->nr_rules > 0);
	for (unsigned r = 0; r < policy->nr_rules; r++)
		for (unsigned i = 0; i < policy->rules[r].nr_sizes; i++)
			if (policy->rules[r].decided)
				assert_int_equal(
					!strncmp(policy->rules[r].sizes[i].act.name,
						 "page", 4),
					page);
}

/* Description: page is the device's mode, and the rules are among its arms, when it costs
 * less wherever the other mode is known; else neither; and the note says by how much. */
static void test_page_is_weighed(void **state)
{
	static const struct {
		struct curve curves[3];
		unsigned nr;
		const char *mode, *completion, *note;
		bool thresh;
	} cases[] = {
		{{BIO, PAGE(200)}, 2, "page", "sync", "less than bio", false},
		{{BIO, PAGE(2000)}, 2, "bio", "sync", "more than bio", false},
		/* within 1 %: what runs today stays */
		{{BIO, PAGE(699)}, 2, "bio", "sync", "than bio", false},
		{{BIO, PAGE_DMA, PAGE(500)}, 3, "page", "poll", "less than bio", true},
		{{cpu, OFFLOAD, PAGE(5000)}, 3, "mq", "poll", "more than mq", true},
		{{PAGE(200)}, 1, "page", "sync", "nothing to choose between", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_policy policy;
		struct notes notes;
		struct curve curves[3];

		memcpy(curves, cases[i].curves, sizeof(curves));
		learn_of(curves, cases[i].nr, &policy, &notes);
		if (strcmp(policy.device.queue_mode, cases[i].mode) != 0)
			fail_msg("case %zu: %s, as '%s'", i, policy.device.queue_mode,
				 notes.text);
		assert_string_equal(policy.device.completion, cases[i].completion);
		assert_int_equal(policy.device.dma_thresh_read != 0, cases[i].thresh);
		if (!strstr(notes.text, cases[i].note))
			fail_msg("case %zu: '%s' lacks '%s'", i, notes.text,
				 cases[i].note);
		check_actions(&policy, !strcmp(cases[i].mode, "page"));
		cp_policy_free(&policy);
	}
}

/* Description: where page was not measured at every size of the other mode, or a size is
 * no multiple of 4k, the device is not page however fast it is, and a note says why. */
static void test_page_needs_all(void **state)
{
	static const struct {
		uint64_t bs; /* of one more record in bio */
		const char *note;
	} cases[] = {{4194304, "page was not measured wherever bio was"},
		     {6144, "bs 6144 is no multiple of 4k"}};
	static const struct curve curves[] = {BIO, PAGE(100)};
	const struct world world = {curves, 2, 3, 0.01, 0.0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
		struct notes notes = {""};
		struct cp_policy policy;
		struct cp_record record;

		feed(learn, &world, rng);
		make_record(&curves[0], cases[i].bs, 0, 1.0, 1.0, &record);
		add(learn, &record);
		solve(learn, &policy);
		assert_string_equal(policy.device.queue_mode, "bio");
		check_actions(&policy, false);
		cp_learn_notes(learn, take_note, &notes);
		assert_non_null(strstr(notes.text, cases[i].note));
		cp_policy_free(&policy);
		cp_learn_free(learn);
		gsl_rng_free(rng);
	}
}

/* Description: a mode that breaks a hard limit wins nothing by being cheap. */
static void test_page_keeps_limit(void **state)
{
	/* half the bandwidth for a tenth of the CPU */
	static const struct curve curves[] = {
		BIO, {"page", "page", "cpu", "memcpy", 2000, 0.25, 70, 0.01, 0, 0}};
	static const char *const cases[][2] = {{"cpu=1,min_bw_frac=0.8", "bio"},
					       {"cpu=1", "page"}};
	const struct world world = {curves, 2, 3, 0.01, 0.0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct cp_learn *learn = new_learn(cases[i][0]);
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
		struct cp_policy policy;

		feed(learn, &world, rng);
		solve(learn, &policy);
		assert_string_equal(policy.device.queue_mode, cases[i][1]);
		cp_policy_free(&policy);
		cp_learn_free(learn);
		gsl_rng_free(rng);
	}
}

/* Description: pages that went by bio, as the target's rw_page was off, are no page arm:
 * left out and counted; other arms of that target are learned. */
static void test_page_off(void **state)
{
	static const struct curve page = PAGE(100), bio = BIO;
	static const struct {
		const struct curve *curve;
		uint32_t rw_page;
		uint64_t off;
		bool used;
	} cases[] = {{&page, 1, 0, true}, {&page, 0, 0, false}, {&bio, 0, 0, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		struct cp_learn_counts counts;
		struct cp_record record;

		make_record(cases[i].curve, 65536, 0, 1.0, 1.0, &record);
		record.context.rw_page = cases[i].rw_page;
		record.has_proof = true;
		snprintf(record.proof.verify, CP_WORD_MAX, "off");
		record.proof.bytes_cpu = (uint64_t)record.metrics[CP_METRIC_BYTES];
		record.proof.page.off = cases[i].off;
		add(learn, &record);
		cp_learn_counts(learn, &counts);
		assert_int_equal(counts.used, cases[i].used);
		assert_int_equal(counts.page_off, !cases[i].used);
		cp_learn_free(learn);
	}
}

static void set_context(struct cp_context *context, const char *key, const char *value)
{
	struct cp_err err = {0};

	if (cp_field_parse(cp_field_find(cp_context_fields, key), context, value, &err))
		fail_msg("%s", err.msg);
}

/* Description: contexts that a policy cannot tell apart at run time are refused together,
 * with the filter that parts them; each alone is learned. */
static void test_contexts_apart(void **state)
{
	static const char *const cases[][3] = {
		{"driver", "swap", "--filter driver=swap"},
		{"driver", "exec", "--filter driver=exec"},
		{"rw_page", "0", "--filter rw_page=0"},
		{"resident", "4m", "--filter resident=4m"},
		{"handler", "apart", "--filter handler=apart"},
		{"corunner", "compute:sched=idle",
		 "--filter corunner=compute:sched=idle"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned mixed = 0; mixed < 2; mixed++) {
			struct cp_learn *learn = new_learn("balanced");
			struct cp_policy policy;
			struct cp_err err = {0};
			unsigned decided;
			int rc = 0;

			for (unsigned n = 0; n < 2 && !rc; n++) {
				struct cp_record record;

				make_record(&cpu, 4096, n, 1.0, 1.0, &record);
				if (n || !mixed)
					set_context(&record.context, cases[i][0],
						    cases[i][1]);
				rc = cp_learn_add(learn, &record, &err);
			}
			if (!rc)
				rc = cp_learn_solve(learn, &policy, &decided, &err);
			if (mixed) {
				assert_true(rc < 0);
				assert_int_equal(err.exit, CP_EXIT_INVALID);
				if (!strstr(err.msg, cases[i][2]))
					fail_msg("'%s' lacks '%s'", err.msg, cases[i][2]);
			} else {
				assert_int_equal(rc, 0);
				assert_string_equal(policy.driver,
						    i < 2 ? cases[i][1] : "fio");
				cp_policy_free(&policy);
			}
			cp_learn_free(learn);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_is_weighed),
		cmocka_unit_test(test_page_needs_all),
		cmocka_unit_test(test_page_keeps_limit),
		cmocka_unit_test(test_page_off),
		cmocka_unit_test(test_contexts_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
