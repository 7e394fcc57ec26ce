// SPDX-License-Identifier: GPL-2.0-only
/* The compiled table: it picks what the rules answer, or is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engines/t/policy_rig.h"

/* Description: the compiled table picks what the walk over the rules answers. */
static void test_table_is_reference(void **state)
{
	unsigned compiled = 0;

	(void)state;
	rng_state = 7;
	for (unsigned n = 0; n < 400; n++) {
		struct cp_policy policy;
		struct cp_policy_table *table;
		struct cp_err err = {0};

		random_policy(&policy);
		if (cp_policy_compile(&policy, &aligned, &table, &err)) {
			assert_non_null(strstr(err.msg, "more than"));
			cp_policy_free(&policy);
			continue;
		}
		compiled++;
		for (unsigned k = 0; k < 200; k++) {
			struct cp_context context;
			struct cp_policy_answer answer;

			cp_context_init(&context);
			snprintf(context.rw, sizeof(context.rw), "%s",
				 rng(2) ? "write" : "randread");
			context.bs = rng(2) ? 1 + rng(700000) : 1ULL << (9 + rng(26));
			context.numjobs = 1 + rng(100);
			context.iodepth = 1 + rng(20);
			context.segments = 1 + rng(1500);
			snprintf(context.layer, sizeof(context.layer), "none");
			cp_policy_answer(&policy, &context, &answer);
			unsigned index = cp_policy_pick(table, cp_context_dir(&context),
							context.bs, context.numjobs,
							context.numjobs * context.iodepth,
							context.segments);

			assert_true(index < table->nr_actions);
			assert_same_action(&table->actions[index], &answer.act);
		}
		cp_policy_table_free(table);
		cp_policy_free(&policy);
	}
	assert_true(compiled > 200);
}

/* Description: an interval's upper end is inclusive, to the byte. */
static void test_upto_is_inclusive(void **state)
{
	struct cp_policy policy;
	struct cp_policy_table *table;
	struct cp_err err = {0};

	(void)state;
	put_file("schema: 1\nkind: policy\nrules:\n"
		 "  - when: {rw: read}\n"
		 "    sizes: [{upto: 16k, do: {path: cpu, copy: nt}}, {upto: max, do: "
		 "{path: "
		 "dma}}]\n");
	assert_int_equal(cp_policy_read(tmp_path, &policy, &err), 0);
	assert_int_equal(cp_policy_compile(&policy, &aligned, &table, &err), 0);
	static const struct {
		uint64_t bytes;
		const char *path;
	} cases[] = {{1, "cpu"},       {16384, "cpu"},	    {16385, "dma"},
		     {1 << 30, "dma"}, {UINT64_MAX, "dma"}, {UINT32_MAX, "dma"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			table->actions[cp_policy_pick(table, CP_DIR_READ, cases[i].bytes,
						      1, 1, 1)]
				.path,
			cases[i].path);
	cp_policy_table_free(table);
	cp_policy_free(&policy);
}

/* Description: a row with more than eight breakpoints is refused, not cut. */
static void test_too_many_breakpoints(void **state)
{
	struct cp_policy policy;
	struct cp_policy_table *table;
	struct cp_err err = {0};

	(void)state;
	cp_policy_init(&policy);
	policy.rules = calloc(2, sizeof(*policy.rules));
	assert_non_null(policy.rules);
	policy.nr_rules = 2;
	for (unsigned r = 0; r < 2; r++) {
		rng_state = r;
		random_rule(&policy.rules[r], true);
		struct cp_rule *rule = &policy.rules[r];

		rule->when.dir = CP_DIR_READ;
		snprintf(rule->when.layer, sizeof(rule->when.layer), "none");
		rule->when.jobs = rule->when.load = rule->when.segments =
			(struct cp_range){0, CP_POLICY_OPEN};
		rule->nr_sizes = 6;
		for (unsigned i = 0; i < 6; i++) {
			rule->sizes[i] =
				(struct cp_policy_size){.upto = 1000 * (6 * r + i + 1)};
			snprintf(rule->sizes[i].act.path, CP_WORD_MAX, "%s",
				 i % 2 ? "cpu" : "dma");
		}
	}
	assert_int_equal(cp_policy_compile(&policy, &aligned, &table, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "8 breakpoints"));
	cp_policy_free(&policy);
}

/* Five intervals all alike, nine ends: each upto, and each above but the first. */
static void same_action_rule(struct cp_rule *rule, unsigned nth)
{
	rule->decided = true;
	rule->when.dir = CP_DIR_READ;
	snprintf(rule->when.layer, sizeof(rule->when.layer), "none");
	snprintf(rule->when.attr, sizeof(rule->when.attr), "wb");
	snprintf(rule->when.numa, sizeof(rule->when.numa), "local");
	rule->when.jobs = rule->when.load = rule->when.segments =
		(struct cp_range){0, CP_POLICY_OPEN};
	rule->nr_sizes = 5;
	for (unsigned i = 0; i < rule->nr_sizes; i++) {
		struct cp_policy_size *size = &rule->sizes[i];

		size->upto = 512ULL * (5 * nth + i + 1);
		snprintf(size->act.path, sizeof(size->act.path), "cpu");
		snprintf(size->act.copy, sizeof(size->act.copy), "auto");
	}
}

/* Description: more ends of intervals than a row gathers are refused, not left out: the
 * table would answer otherwise than the reference. One fewer is served, like it. */
static void test_too_many_ends(void **state)
{
	static const struct {
		unsigned rules;
		int rc;
	} cases[] = {{113, 0}, {114, -E2BIG}}; /* of nine ends: 1023 are kept */

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_policy policy;
		struct cp_policy_table *table;
		struct cp_err err = {0};

		cp_policy_init(&policy);
		policy.rules = calloc(cases[c].rules, sizeof(*policy.rules));
		assert_non_null(policy.rules);
		policy.nr_rules = cases[c].rules;
		for (unsigned r = 0; r < policy.nr_rules; r++)
			same_action_rule(&policy.rules[r], r);
		assert_int_equal(cp_policy_compile(&policy, &aligned, &table, &err),
				 cases[c].rc);
		if (cases[c].rc)
			assert_non_null(strstr(err.msg, "ends of intervals"));
		else
			cp_policy_table_free(table);
		cp_policy_free(&policy);
	}
}

/* Description: a rule for misaligned buffers answers these alone, in words and compiled,
 * and one that does not say so only aligned ones; no other distance is near enough. */
static void test_misalignment_selects(void **state)
{
	static const struct {
		uint32_t near, far;
		const char *copy;
	} cases[] = {{0, 0, "memcpy"}, {8, 16, "nt"}, {8, 0, "auto"}, {16, 8, "auto"}};
	struct cp_policy policy;
	struct cp_err err = {0};

	(void)state;
	put_file("schema: 1\nkind: policy\nname: p\nrules:\n"
		 "- when: {rw: read, misalign_near: 8, misalign_far: 16}\n"
		 "  sizes: [{upto: max, do: {path: cpu, copy: nt}}]\n"
		 "- when: {rw: read}\n"
		 "  sizes: [{upto: max, do: {path: cpu, copy: memcpy}}]\n"
		 "default: {queue_mode: bio, path: cpu, copy: auto}\n");
	if (cp_policy_read(tmp_path, &policy, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_context context = aligned;
		struct cp_policy_table *table = NULL;
		struct cp_policy_answer answer;

		context.misalign_near = cases[i].near;
		context.misalign_far = cases[i].far;
		cp_policy_answer(&policy, &context, &answer);
		assert_string_equal(answer.act.copy, cases[i].copy);
		assert_int_equal(cp_policy_compile(&policy, &context, &table, &err), 0);
		unsigned act = cp_policy_pick(table, CP_DIR_READ, 4096, 1, 1, 1);
		assert_string_equal(table->actions[act].copy, cases[i].copy);
		cp_policy_table_free(table);
	}
	cp_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_reference),
		cmocka_unit_test(test_upto_is_inclusive),
		cmocka_unit_test(test_too_many_breakpoints),
		cmocka_unit_test(test_too_many_ends),
		cmocka_unit_test(test_misalignment_selects),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
