// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/policy.h"

/* The table of the plain case, which most tests compile. */
static struct cp_context aligned;

static char tmp_dir[] = "/tmp/cp-policy-XXXXXX";
static char tmp_path[64];

static int make_dir(void **state)
{
	cp_context_init(&aligned);
	(void)state;
	if (!mkdtemp(tmp_dir))
		return -1;
	snprintf(tmp_path, sizeof(tmp_path), "%s/policy.yaml", tmp_dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(tmp_path);
	return rmdir(tmp_dir);
}

static void put_file(const char *text)
{
	FILE *file = fopen(tmp_path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* --- a random policy --- */

static uint64_t rng_state;

static uint32_t rng(uint32_t below)
{
	rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(rng_state >> 33) % below;
}

static struct cp_range random_range(uint32_t top)
{
	struct cp_range range = {rng(3) ? rng(top) : 0, CP_POLICY_OPEN};

	if (rng(3))
		range.max = range.min + rng(top);
	return range;
}

static void random_action(struct cp_action *act)
{
	static const char *const copies[] = {"memcpy", "nt", "auto"};
	static const char *const names[] = {"cpu", "cpu/nt", "off: \"x\", {y}",
					    "\xc3\xa9\\"};

	memset(act, 0, sizeof(*act));
	snprintf(act->name, sizeof(act->name), "%s", names[rng(4)]);
	snprintf(act->path, sizeof(act->path), "%s", rng(2) ? "cpu" : "dma");
	if (!strcmp(act->path, "cpu"))
		snprintf(act->copy, sizeof(act->copy), "%s", copies[rng(3)]);
}

static void random_size(struct cp_policy_size *size, uint64_t before, bool decided)
{
	size->upto = before + 1 + rng(3) * 512ULL + rng(200000);
	if (rng(4) == 0)
		size->above = before + rng((uint32_t)(size->upto - before));
	if (size->above == before)
		size->above = 0;
	random_action(&size->act);
	if (!decided && rng(2))
		random_action(&size->best);
	size->gain_pct = rng(2) ? NAN : rng(1000) / 7.0;
	size->confidence = rng(2) ? NAN : rng(1000) / 1000.0;
	size->samples = rng(3) ? rng(100) : 0;
	if (rng(3) == 0) {
		size->crossover_at = 1 + rng(100000);
		size->crossover_low = 1 + rng(100000);
		size->crossover_high = 1 + rng(100000);
	}
}

static void random_rule(struct cp_rule *rule, bool decided)
{
	uint64_t before = 0;

	memset(rule, 0, sizeof(*rule));
	rule->decided = decided;
	rule->when.dir = rng(2) ? CP_DIR_WRITE : CP_DIR_READ;
	snprintf(rule->when.layer, sizeof(rule->when.layer), "%s",
		 rng(5) ? "none" : "btt");
	snprintf(rule->when.attr, sizeof(rule->when.attr), "wb");
	snprintf(rule->when.numa, sizeof(rule->when.numa), "local");
	rule->when.misalign_near = rng(8) ? 0 : rng(4096);
	rule->when.misalign_far = rng(8) ? 0 : rng(4096);
	rule->when.jobs = random_range(40);
	rule->when.load = random_range(200);
	rule->when.segments = random_range(900);
	if (!decided) {
		snprintf(rule->reason, sizeof(rule->reason), "not_enough_evidence");
		rule->samples_needed = rng(30);
	}
	rule->nr_sizes = 1 + rng(4);
	for (unsigned i = 0; i < rule->nr_sizes; i++) {
		random_size(&rule->sizes[i], before, decided);
		before = rule->sizes[i].upto;
	}
	if (rng(2)) {
		rule->sizes[rule->nr_sizes - 1].upto = UINT64_MAX;
	}
}

static void random_policy(struct cp_policy *policy)
{
	cp_policy_init(policy);
	snprintf(policy->name, sizeof(policy->name), "%s", rng(2) ? "quick" : "null");
	policy->nr_from = rng(3);
	for (unsigned i = 0; i < policy->nr_from; i++)
		snprintf(policy->from[i], sizeof(policy->from[i]), "%s",
			 i ? "runs/r 1, #2" : "results/runs/r1");
	policy->samples = rng(1000);
	policy->objective.cpu = rng(100) / 3.0;
	policy->objective.slo_p99_ns = rng(2) ? (double)NAN : (double)rng(1000000);
	policy->objective.min_bw_frac = rng(2) ? NAN : 0.1 + rng(8) / 10.0;
	policy->device.dma_thresh_read = rng(3) ? 0 : rng(1000) * 512ULL;
	policy->device.regret_pct = rng(2) ? NAN : rng(100) / 10.0;
	policy->device.queue_depth = rng(1000);
	snprintf(policy->device.persist, CP_WORD_MAX, "%s", rng(2) ? "auto" : "none");
	snprintf(policy->device.flush, CP_WORD_MAX, "%s", rng(2) ? "clwb" : "none");
	snprintf(policy->device.fence, CP_WORD_MAX, "%s", rng(2) ? "mfence" : "auto");
	unsigned decided = rng(3);

	policy->nr_rules = decided + rng(3);
	policy->rules = calloc(policy->nr_rules + 1UL, sizeof(*policy->rules));
	assert_non_null(policy->rules);
	for (unsigned i = 0; i < policy->nr_rules; i++)
		random_rule(&policy->rules[i], i < decided);
}

static bool same_double(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static void assert_same_action(const struct cp_action *a, const struct cp_action *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->path, b->path);
	assert_string_equal(a->copy, b->copy);
}

static void assert_same_rule(const struct cp_rule *a, const struct cp_rule *b)
{
	assert_int_equal(a->decided, b->decided);
	assert_memory_equal(&a->when.jobs, &b->when.jobs, sizeof(a->when.jobs));
	assert_memory_equal(&a->when.load, &b->when.load, sizeof(a->when.load));
	assert_memory_equal(&a->when.segments, &b->when.segments,
			    sizeof(a->when.segments));
	assert_int_equal(a->when.dir, b->when.dir);
	assert_string_equal(a->when.layer, b->when.layer);
	assert_int_equal(a->when.misalign_near, b->when.misalign_near);
	assert_int_equal(a->when.misalign_far, b->when.misalign_far);
	assert_string_equal(a->reason, b->reason);
	assert_int_equal(a->samples_needed, b->samples_needed);
	assert_int_equal(a->nr_sizes, b->nr_sizes);
	for (unsigned i = 0; i < a->nr_sizes; i++) {
		const struct cp_policy_size *x = &a->sizes[i], *y = &b->sizes[i];

		assert_true(x->upto == y->upto && x->above == y->above);
		assert_same_action(&x->act, &y->act);
		assert_same_action(&x->best, &y->best);
		assert_true(same_double(x->gain_pct, y->gain_pct));
		assert_true(same_double(x->confidence, y->confidence));
		assert_int_equal(x->samples, y->samples);
		assert_true(x->crossover_at == y->crossover_at &&
			    x->crossover_low == y->crossover_low &&
			    x->crossover_high == y->crossover_high);
	}
}

/* Description: what was written reads back as the same policy. */
static void test_round_trip(void **state)
{
	(void)state;
	rng_state = 11;
	for (unsigned n = 0; n < 300; n++) {
		struct cp_policy a, b;
		struct cp_err err = {0};

		random_policy(&a);
		assert_int_equal(cp_policy_write(&a, tmp_path, &err), 0);
		if (cp_policy_read(tmp_path, &b, &err))
			fail_msg("%s", err.msg);
		assert_string_equal(a.name, b.name);
		assert_int_equal(a.nr_from, b.nr_from);
		for (unsigned i = 0; i < a.nr_from; i++)
			assert_string_equal(a.from[i], b.from[i]);
		assert_true(a.samples == b.samples);
		assert_true(same_double(a.objective.cpu, b.objective.cpu));
		assert_true(same_double(a.objective.slo_p99_ns, b.objective.slo_p99_ns));
		assert_true(
			same_double(a.objective.min_bw_frac, b.objective.min_bw_frac));
		assert_true(a.device.dma_thresh_read == b.device.dma_thresh_read);
		assert_int_equal(a.device.queue_depth, b.device.queue_depth);
		assert_string_equal(a.device.persist, b.device.persist);
		assert_string_equal(a.device.flush, b.device.flush);
		assert_string_equal(a.device.fence, b.device.fence);
		assert_true(same_double(a.device.regret_pct, b.device.regret_pct));
		assert_int_equal(a.nr_rules, b.nr_rules);
		for (unsigned i = 0; i < a.nr_rules; i++)
			assert_same_rule(&a.rules[i], &b.rules[i]);
		cp_policy_free(&a);
		cp_policy_free(&b);
	}
}

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

#define HEAD "schema: 1\nkind: policy\n"
#define RULE HEAD "rules:\n  - when: {rw: read}\n    sizes:\n"

static const struct {
	const char *text, *place, *what;
} bad_files[] = {
	{"kind: policy\n", ":1:1: ", "no 'schema'"},
	{"schema: 1\nkind: workload\n", ":2:7: ", "kind"},
	{"schema: 2\nkind: policy\n", ":1:9: ", "schema"},
	{HEAD "ruls: []\n", ":3:1: ", "'rules'"},
	{HEAD "rules: {a: 1}\n", ":3:8: ", "no list"},
	{HEAD "rules:\n  - sizes: [{upto: max, do: {path: cpu}}]\n",
	 ":4:5: ", "no 'when'"},
	{HEAD "rules:\n  - when: {rw: reed}\n    sizes: [{upto: max, do: {path: "
	      "cpu}}]\n",
	 ":4:16: ", "reed"},
	{HEAD "rules:\n  - when: {rw: read}\n", ":4:5: ", "no sizes"},
	{RULE "      - {upto: 4q, do: {path: cpu}}\n", ":6:16: ", "upto"},
	{RULE "      - {upto: 4k, do: {path: fpga}}\n", ":6:31: ", "fpga"},
	{RULE "      - {upto: 4k}\n", ":6:9: ", "no 'do'"},
	{RULE "      - {upto: 4k, do: {path: dma, copy: nt}}\n", ":6:36: ", "copy"},
	{RULE "      - {upto: 4k, do: {path: cpu, copy: nonsense}}\n",
	 ":6:42: ", "nonsense"},
	{RULE "      - {upto: 4k, do: {path: cpu, copy: nt-avx}}\n",
	 ":6:42: ", "did you mean 'nt-avx2'"},
	{HEAD "undecided:\n  - when: {rw: read}\n    sizes: [{upto: max, use: {path: "
	      "cpu}, best: {path: cpu, copy: mempcy}}]\n",
	 ":5:67: ", "memcpy"},
	{HEAD "default: {copy: nonsense}\n", ":3:17: ", "nonsense"},
	{HEAD "default: {queue_mode: mq, path: dma, dma: nonsense}\n",
	 ":3:43: ", "nonsense"},
	{HEAD "default: {queue_mode: mq, path: dma, dma: idxd}\n",
	 ":3:43: ", "not available in this version"},
	{RULE "      - {upto: 4k, do: {path: cpu}}\n"
	      "      - {upto: 4k, do: {path: cpu}}\n",
	 ":7:16: ", "does not rise"},
	{RULE "      - {upto: max, do: {path: cpu}}\n"
	      "      - {upto: 8k, do: {path: cpu}}\n",
	 ":7:9: ", "only last"},
	{RULE "      - {upto: 4k, above: 8k, do: {path: cpu}}\n", ":6:27: ", "above"},
	{RULE "      - {upto: 4k, do: {path: cpu}, confidence: 2}\n",
	 ":6:49: ", "confidence"},
	{HEAD "rules:\n  - when: {rw: read, jobs: {min: 4, max: 2}}\n"
	      "    sizes: [{upto: max, do: {path: cpu}}]\n",
	 ":4:28: ", "empty"},
	{HEAD "rules:\n  - when: {rw: read, jobs: {min: 65}}\n"
	      "    sizes: [{upto: max, do: {path: cpu}}]\n",
	 ":4:28: ", "at most 64"},
	{HEAD "device: {dma_thresh: {read: 1000}}\n", ":3:29: ", "512"},
	{HEAD "device: {persist: always}\n", ":3:19: ", "expected none, auto or require"},
	{HEAD "default: {queue_mode: bio, path: dma}\n", ":3:34: ", "impossible"},
	{HEAD "learned: {fingerprint: abc}\n", ":3:24: ", "fingerprint"},
	{HEAD "objective: {slo_p99: fast}\n", ":3:22: ", "slo_p99"},
	{HEAD "undecided:\n  - when: {rw: read}\n    reason: boredom\n"
	      "    sizes: [{upto: max, use: {path: cpu}}]\n",
	 ":5:13: ", "boredom"},
};

/* Description: each thing that can be wrong is reported with its line and column. */
static void test_error_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		struct cp_policy policy;
		struct cp_err err = {0};
		char place[128];

		put_file(bad_files[i].text);
		snprintf(place, sizeof(place), "%s%s", tmp_path, bad_files[i].place);
		if (!cp_policy_read(tmp_path, &policy, &err))
			fail_msg("case %zu was accepted", i);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, place) || !strstr(err.msg, bad_files[i].what))
			fail_msg("case %zu: '%s' lacks '%s' or '%s'", i, err.msg, place,
				 bad_files[i].what);
	}
}

/* Description: several problems are reported at once. */
static void test_all_problems(void **state)
{
	struct cp_policy policy;
	struct cp_err err = {0};

	(void)state;
	put_file(HEAD "device: {queue_mode: fast, completion: never}\n"
		      "default: {path: gpu}\n");
	assert_int_equal(cp_policy_read(tmp_path, &policy, &err), -EINVAL);
	assert_non_null(strstr(err.msg, ":3:22: "));
	assert_non_null(strstr(err.msg, ":3:40: "));
	assert_non_null(strstr(err.msg, ":4:17: "));
}

/* Description: a policy of the documented form is read with every value. */
static void test_documented_form(void **state)
{
	struct cp_policy policy;
	struct cp_policy_answer answer;
	struct cp_context context;
	struct cp_err err = {0};

	(void)state;
	put_file(HEAD
		 "name: quick\n"
		 "learned: {from: [results/runs/r1], host: h, samples: 240}\n"
		 "objective: {name: balanced, elapsed: 1.0, cpu: 0.5, tail: 0.0, "
		 "slo_p99: null, "
		 "min_bw_frac: null}\n"
		 "provenance: {media: native, attr: native, dma: software}\n"
		 "device: {queue_mode: mq, queue_depth: 128, q_per_node: 8, completion: "
		 "hybrid, "
		 "dma_thresh: {read: 64k, write: 32k}}\n"
		 "rules:\n"
		 "  - when: {rw: read, layer: none, attr: wb, numa: local, jobs: {min: "
		 "1, max: "
		 "4}, load: {min: 1, max: 32}, segments: {min: 1}}\n"
		 "    sizes:\n"
		 "      - {upto: 16k, do: {name: cpu/nt, path: cpu, copy: nt}, gain_pct: "
		 "35.2, "
		 "confidence: 0.99, samples: 40, crossover: {at: 16k, low: 14k, high: "
		 "19k}}\n"
		 "      - {upto: max, do: {name: offload, path: dma}, gain_pct: 12.0, "
		 "confidence: 0.97, samples: 40}\n"
		 "undecided:\n"
		 "  - {when: {rw: write}, reason: not_enough_evidence, samples_needed: "
		 "12,\n"
		 "     sizes: [{upto: 64k, use: {name: cpu, path: cpu}, best: {name: "
		 "offload, "
		 "path: dma}, confidence: 0.71}]}\n"
		 "default: {queue_mode: bio, path: cpu, copy: auto}\n");
	if (cp_policy_read(tmp_path, &policy, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(policy.device.dma_thresh_write, 32768);
	assert_int_equal(policy.nr_rules, 2);
	assert_int_equal(policy.rules[0].sizes[0].crossover_high, 19 * 1024);
	cp_context_init(&context);
	snprintf(context.rw, sizeof(context.rw), "randread");
	context.bs = 65536;
	context.numjobs = 4;
	context.iodepth = 8;
	context.segments = 16;
	assert_true(cp_policy_answer(&policy, &context, &answer));
	assert_string_equal(answer.act.name, "offload");
	context.iodepth = 9; /* load 36 is outside */
	assert_false(cp_policy_answer(&policy, &context, &answer));
	assert_string_equal(answer.act.copy, "auto");
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
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_table_is_reference),
		cmocka_unit_test(test_upto_is_inclusive),
		cmocka_unit_test(test_error_places),
		cmocka_unit_test(test_all_problems),
		cmocka_unit_test(test_documented_form),
		cmocka_unit_test(test_too_many_breakpoints),
		cmocka_unit_test(test_too_many_ends),
		cmocka_unit_test(test_misalignment_selects),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
