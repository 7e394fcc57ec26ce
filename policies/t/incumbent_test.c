// SPDX-License-Identifier: GPL-2.0-only
/* What an undecided interval uses: the incumbent, whatever the rules choose among. The
 * worlds are laid out like the quick workload: the CPU in mq at every size, bio's auto
 * (which is NT stores on writes) at three of them. */
#include "policies/t/world.h"

#define SAMPLES	  2U
#define SIZES_ALL 0x3fU
#define SIZES_BIO 0x25U /* 4k, 64k, 2m */

/* An arm of the quick workload: what its copy stands for, where it is measured. */
struct quick_arm {
	struct curve curve;
	const char *kernel;
	unsigned at; /* bit i: sizes[i] */
	bool writes_only;
};

static void feed_quick(struct cp_learn *learn, const struct quick_arm *arms, unsigned nr,
		       const char *rw, uint32_t iodepth, double cv, gsl_rng *rng)
{
	for (unsigned n = 0; n < SAMPLES; n++)
		for (unsigned a = 0; a < nr; a++)
			for (size_t i = 0; i < NR_SIZES; i++) {
				struct cp_record record;

				if (!(arms[a].at & 1U << i) ||
				    (arms[a].writes_only && strcmp(rw, "write") != 0))
					continue;
				make_record(&arms[a].curve, sizes[i], n,
					    exp(gsl_ran_gaussian(rng, cv)),
					    exp(gsl_ran_gaussian(rng, cv)), &record);
				snprintf(record.context.rw, sizeof(record.context.rw),
					 "%s", rw);
				record.context.iodepth = iodepth;
				snprintf(record.proof.copy, sizeof(record.proof.copy),
					 "%s", arms[a].kernel);
				add(learn, &record);
			}
}

/* Undecided intervals, and those of them whose use is the CPU copy auto. */
struct used {
	unsigned undecided, automatic, named;
};

static void count_used(const struct cp_policy *policy, struct used *used)
{
	for (unsigned r = 0; r < policy->nr_rules; r++)
		for (unsigned i = 0; i < policy->rules[r].nr_sizes; i++) {
			const struct cp_action *act = &policy->rules[r].sizes[i].act;

			if (policy->rules[r].decided)
				continue;
			used->undecided++;
			used->automatic +=
				!strcmp(act->path, "cpu") && !strcmp(act->copy, "auto");
			used->named += !strcmp(act->name, "incumbent");
		}
}

/* A tie between mq's arms and bio's auto on writes; memcpy is far behind on neither. */
static const struct quick_arm tie[] = {
	{{"cpu-memcpy", "mq", "cpu", "memcpy", 600, 0.1, 600, 0.1, 0, 0},
	 "memcpy",
	 SIZES_ALL,
	 false},
	{{"cpu-nt", "mq", "cpu", "nt", 600, 0.1, 600, 0.1, 0, 0},
	 "nt-avx2",
	 SIZES_ALL,
	 true},
	{{"offload", "mq", "dma", "", 600, 0.1, 600, 0.1, 0, 0}, "", SIZES_ALL, false},
	{{"incumbent", "bio", "cpu", "auto", 600, 0.1, 600, 0.1, 0, 0},
	 "nt-avx2",
	 SIZES_BIO,
	 false},
};

/* Description: undecided, with nothing confidently better, use is the measured bio auto
 * arm though the rules are among mq's; between its sizes it is interpolated; where it was
 * not measured use is the default, and never another arm. */
static void test_undecided_uses_incumbent(void **state)
{
	static const struct {
		const char *rw;
		unsigned incumbent_at; /* sizes of the bio arm */
		bool named;	       /* use bears its name */
	} cases[] = {{"read", SIZES_BIO, true},
		     {"write", SIZES_BIO, true},
		     {"write", SIZES_ALL, true},
		     {"read", 0, false},
		     {"write", 0, false}};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct quick_arm arms[4];
		struct used used = {0, 0, 0};

		memcpy(arms, tie, sizeof(arms));
		arms[3].at = cases[c].incumbent_at;
		for (unsigned seed = 1; seed <= 20; seed++) {
			struct cp_learn *learn = new_learn("balanced");
			gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
			struct cp_policy policy;

			gsl_rng_set(rng, seed);
			feed_quick(learn, arms, 4, cases[c].rw, 1, 0.05, rng);
			solve(learn, &policy);
			count_used(&policy, &used);
			cp_policy_free(&policy);
			cp_learn_free(learn);
			gsl_rng_free(rng);
		}
		assert_true(used.undecided >= 20);
		/* Noise makes another arm look confidently better now and then. */
		assert_true(used.automatic * 20 >= used.undecided * 19);
		if (cases[c].named)
			assert_int_equal(used.named, used.automatic);
		else
			assert_int_equal(used.named, 0);
		if (!cases[c].incumbent_at)
			assert_int_equal(used.automatic, used.undecided);
	}
}

/* Description: outside of the sizes at which the incumbent was measured the default
 * holds, not an arm that is near. */
static void test_outside_of_incumbent_is_default(void **state)
{
	struct quick_arm arms[4];
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_policy_answer answer;
	struct cp_context context;
	struct cp_policy policy;

	(void)state;
	memcpy(arms, tie, sizeof(arms));
	arms[3].at = 1U << 5; /* 2m only */
	/* Above 512k DMA is far ahead, so that the tie below is a piece of its own. */
	arms[2].curve.alpha_ns = arms[2].curve.cpu_alpha_ns = 18000;
	arms[2].curve.beta_ns = arms[2].curve.cpu_beta_ns = 0.01;
	feed_quick(learn, arms, 4, "write", 1, 0.05, rng);
	solve(learn, &policy);
	cp_context_init(&context);
	snprintf(context.rw, sizeof(context.rw), "write");
	context.bs = 4096;
	context.numjobs = context.iodepth = context.segments = 1;
	assert_true(cp_policy_answer(&policy, &context, &answer));
	assert_false(answer.rule->decided);
	assert_string_equal(answer.act.name, "default");
	assert_string_equal(answer.act.path, "cpu");
	assert_string_equal(answer.act.copy, "auto");
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Description: an arm that is confidently better than a standby incumbent is used where
 * two such arms cannot be told apart. */
static void test_better_than_incumbent_is_used(void **state)
{
	struct quick_arm arms[4];
	struct used used = {0, 0, 0};
	struct cp_learn *learn = new_learn("balanced");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_policy policy;

	(void)state;
	memcpy(arms, tie, sizeof(arms));
	arms[3].curve.alpha_ns = arms[3].curve.cpu_alpha_ns = 1200;
	arms[3].curve.beta_ns = arms[3].curve.cpu_beta_ns = 0.2;
	feed_quick(learn, arms, 4, "write", 1, 0.05, rng);
	solve(learn, &policy);
	count_used(&policy, &used);
	assert_true(used.undecided > 0);
	assert_int_equal(used.automatic, 0);
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Description: an incumbent beyond a hard limit is not fallen back to. */
static void test_limit_comes_before_incumbent(void **state)
{
	struct quick_arm arms[4];
	struct used used = {0, 0, 0};
	struct cp_learn *learn = new_learn("cpu=1,min_bw_frac=0.8");
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct cp_policy policy;

	(void)state;
	memcpy(arms, tie, sizeof(arms));
	arms[3].curve.alpha_ns *= 3.0; /* slow, for the same CPU time */
	arms[3].curve.beta_ns *= 3.0;
	feed_quick(learn, arms, 4, "write", 1, 0.05, rng);
	solve(learn, &policy);
	count_used(&policy, &used);
	assert_true(used.undecided > 0);
	assert_int_equal(used.automatic, 0);
	cp_policy_free(&policy);
	cp_learn_free(learn);
	gsl_rng_free(rng);
}

/* Reads: mq costs 300 ns an I/O more than bio, and offload pays above some 100k. Writes:
 * NT stores need half of the time of ordinary ones; offload is close to them. */
static const struct quick_arm quick_reads[] = {
	{{"cpu-memcpy", "mq", "cpu", "memcpy", 700, 0.10, 700, 0.10, 0, 0},
	 "memcpy",
	 SIZES_ALL,
	 false},
	{{"offload", "mq", "dma", "", 9000, 0.10, 9000, 0.09, 0, 0},
	 "",
	 SIZES_ALL,
	 false},
	{{"incumbent", "bio", "cpu", "auto", 400, 0.10, 400, 0.10, 0, 0},
	 "memcpy",
	 SIZES_BIO,
	 false},
};
static const struct quick_arm quick_writes[] = {
	{{"cpu-memcpy", "mq", "cpu", "memcpy", 700, 0.20, 700, 0.20, 0, 0},
	 "memcpy",
	 SIZES_ALL,
	 false},
	{{"cpu-nt", "mq", "cpu", "nt", 700, 0.10, 700, 0.10, 0, 0},
	 "nt-avx2",
	 SIZES_ALL,
	 true},
	{{"offload", "mq", "dma", "", 1000, 0.10, 1000, 0.10, 0, 0},
	 "",
	 SIZES_ALL,
	 false},
	{{"incumbent", "bio", "cpu", "auto", 400, 0.10, 400, 0.10, 0, 0},
	 "nt-avx2",
	 SIZES_BIO,
	 false},
};

/* Description: over 20 seeds of worlds like quick's, at three levels of noise, the
 * measured regret of what was learned is no worse than the default's, beyond two standard
 * errors of the difference. */
static void test_regret_not_worse_than_default(void **state)
{
	static const double cvs[] = {0.05, 0.15, 0.3};

	(void)state;
	for (size_t k = 0; k < sizeof(cvs) / sizeof(cvs[0]); k++) {
		double sum = 0.0, square = 0.0, learned = 0.0;
		const unsigned seeds = 20;

		for (unsigned seed = 1; seed <= seeds; seed++) {
			struct cp_learn *learn = new_learn("balanced");
			gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
			struct cp_policy policy, fallback;
			struct cp_regret mine, its;
			struct cp_err err = {0};

			gsl_rng_set(rng, seed);
			for (uint32_t depth = 1; depth <= 16; depth *= 16) {
				feed_quick(learn, quick_reads, 3, "read", depth, cvs[k],
					   rng);
				feed_quick(learn, quick_writes, 4, "write", depth, cvs[k],
					   rng);
			}
			solve(learn, &policy);
			cp_policy_init(&fallback);
			assert_int_equal(cp_policy_regret(learn, &policy, &mine, &err),
					 0);
			assert_int_equal(cp_policy_regret(learn, &fallback, &its, &err),
					 0);
			assert_true(mine.unknown < mine.contexts);
			double d = mine.mean_pct - its.mean_pct;

			sum += d;
			square += d * d;
			learned += mine.mean_pct / seeds;
			cp_policy_free(&policy);
			cp_policy_free(&fallback);
			cp_learn_free(learn);
			gsl_rng_free(rng);
		}
		double mean = sum / seeds;
		double se = sqrt((square / seeds - mean * mean) / (seeds - 1));

		print_message("cv %g: regret %.2f %%, %+.2f %% (+- %.2f) against the "
			      "default\n",
			      cvs[k], learned, mean, se);
		assert_true(mean <= 2.0 * se);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_undecided_uses_incumbent),
		cmocka_unit_test(test_outside_of_incumbent_is_default),
		cmocka_unit_test(test_better_than_incumbent_is_used),
		cmocka_unit_test(test_limit_comes_before_incumbent),
		cmocka_unit_test(test_regret_not_worse_than_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
