// SPDX-License-Identifier: GPL-2.0-only
/* The policy file: what is written reads back, what is wrong is told with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engines/t/policy_rig.h"

static bool same_double(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a >= b && a <= b);
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
		assert_true(same_double(a.objective.elapsed, b.objective.elapsed));
		assert_true(same_double(a.objective.corunner, b.objective.corunner));
		assert_string_equal(a.driver, b.driver);
		assert_string_equal(a.device.queue_mode, b.device.queue_mode);
		assert_string_equal(a.device.completion, b.device.completion);
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
	{HEAD "default: {queue_mode: mq, path: dma, dma: ioat}\n",
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
	{HEAD "default: {queue_mode: bio, path: dma}\n", ":3:34: ", "mq or page"},
	{HEAD "learned: {fingerprint: abc}\n", ":3:24: ", "fingerprint"},
	{HEAD "learned: {driver: dd}\n", ":3:19: ", "fio, swap or exec"},
	{HEAD "objective: {elapsed: 1, cpu: 0, corunner: 1}\n", ":3:43: ", "at 0"},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_error_places),
		cmocka_unit_test(test_all_problems),
		cmocka_unit_test(test_documented_form),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
