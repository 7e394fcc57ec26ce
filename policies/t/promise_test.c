/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes of different promise: no rivals to the learner, to regret or to each other. */
#include "policies/t/world.h"

#include "policies/served.h"

static const struct curve durable = {"durable", "mq", "cpu", "memcpy", 900,
				     0.20,	900,  0.20,  0,	       0};

/* One sample of an arm with these words behind its writes. */
static void add_write(struct cp_learn *learn, const struct curve *curve, const char *rw,
		      const char *persist, const char *flush, uint64_t bs, uint32_t n)
{
	struct cp_record record;

	make_record(curve, bs, n, 1.0 + n * 0.001, 1.0, &record);
	snprintf(record.context.rw, sizeof(record.context.rw), "%s", rw);
	snprintf(record.arm.persist, sizeof(record.arm.persist), "%s", persist);
	snprintf(record.arm.flush, sizeof(record.arm.flush), "%s", flush);
	add(learn, &record);
}

/* Description: writes that differ in persist, flush or fence are refused with both values
 * and the way out; reads may differ as they like. */
static void test_mixture(void **state)
{
	static const struct {
		const char *rw, *persist, *flush;
		const char *msg; /* NULL: learned together with persist auto */
	} cases[] = {
		{"write", "none", "none",
		 "writes with persist 'auto' (arm 'durable') and 'none' (arm 'cpu') are "
		 "no rivals: a policy has one persist for all I/Os; expected one of "
		 "them, as with learn --filter persist=none"},
		{"write", "auto", "clflush",
		 "writes with flush 'none' (arm 'durable') and 'clflush' (arm 'cpu')"},
		{"read", "none", "none", NULL},
		{"write", "auto", "none", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_learn *learn = new_learn("balanced");
		struct cp_policy policy;
		struct cp_err err = {0};
		unsigned decided;

		add_write(learn, &durable, "write", "auto", "none", 65536, 0);
		add_write(learn, &cpu, cases[i].rw, cases[i].persist, cases[i].flush,
			  65536, 0);
		int rc = cp_learn_solve(learn, &policy, &decided, &err);

		assert_int_equal(rc != 0, cases[i].msg != NULL);
		if (rc) {
			assert_int_equal(err.exit, CP_EXIT_INVALID);
			if (strncmp(err.msg, cases[i].msg, strlen(cases[i].msg)) != 0)
				fail_msg("'%s'", err.msg);
		} else {
			assert_string_equal(policy.device.persist, "auto");
			assert_string_equal(policy.device.fence, "auto");
			cp_policy_free(&policy);
		}
		cp_learn_free(learn);
	}
}

/* Description: a faster arm that promises less is on a front of its own, and no regret of
 * a policy whose writes are durable. */
static void test_no_rival(void **state)
{
	struct cp_learn *learn = new_learn("throughput");
	const struct cp_learn_cell *cells;
	struct cp_policy policy;
	struct cp_regret regret;
	struct cp_err err = {0};
	unsigned decided;
	size_t nr;

	(void)state;
	for (uint32_t n = 0; n < 3; n++)
		add_write(learn, &durable, "write", "auto", "none", 65536, n);
	assert_int_equal(cp_learn_solve(learn, &policy, &decided, &err), 0);
	/* what the policy answers at that size */
	snprintf(policy.fallback.name, sizeof(policy.fallback.name), "durable");
	snprintf(policy.fallback.queue_mode, CP_WORD_MAX, "mq");
	snprintf(policy.fallback.copy, CP_WORD_MAX, "memcpy");
	policy.nr_rules = 0;
	for (uint32_t n = 0; n < 3; n++)
		add_write(learn, &cpu, "write", "none", "none", 65536, n);
	assert_int_equal(cp_learn_cells(learn, &cells, &nr, &err), 0);
	assert_int_equal(nr, 2);
	assert_true(cells[0].pareto && cells[1].pareto);
	assert_int_equal(cp_policy_regret(learn, &policy, &regret, &err), 0);
	assert_int_equal(regret.contexts, 1);
	assert_int_equal(regret.unknown, 0);
	assert_true(regret.worst_pct < 1e-9);
	cp_policy_free(&policy);
	cp_learn_free(learn);
}

/* Description: an arm of another promise shows no cost of a policy's writes, whatever its
 * name; of its reads it does. */
static void test_served_promise(void **state)
{
	struct cp_policy policy;
	struct cp_arm arm;
	const struct cp_served_arm served = {&arm, "memcpy"};
	struct cp_rule rule = {.decided = true};
	struct cp_policy_answer answer = {.rule = &rule};

	(void)state;
	cp_policy_init(&policy);
	cp_arm_init(&arm);
	snprintf(arm.name, sizeof(arm.name), "a");
	snprintf(arm.copy, sizeof(arm.copy), "memcpy");
	snprintf(answer.act.name, sizeof(answer.act.name), "a");
	snprintf(answer.act.path, sizeof(answer.act.path), "cpu");
	snprintf(answer.act.copy, sizeof(answer.act.copy), "memcpy");
	assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_WRITE, &served, 1), 0);
	snprintf(policy.device.persist, sizeof(policy.device.persist), "auto");
	assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_WRITE, &served, 1),
			 -1);
	assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_READ, &served, 1), 0);
	snprintf(arm.persist, sizeof(arm.persist), "auto");
	assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_WRITE, &served, 1), 0);
	snprintf(arm.fence, sizeof(arm.fence), "mfence");
	assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_WRITE, &served, 1),
			 -1);
	cp_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_no_rival),
		cmocka_unit_test(test_served_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
