// SPDX-License-Identifier: GPL-2.0-only
#include "bench/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/plan/t/text.h"
#include "engines/base/units.h"

#define ANON  "target: {media: anon, size: 64m}\n"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define MANY                                                                         \
	HEAD ANON "workload: {rw: [read, write], bs: [4k, 64k], iodepth: [1, 16]}\n" \
		  "arms:\n"                                                          \
		  "  - {name: cpu, queue_mode: mq, copy: [memcpy, nt]}\n"            \
		  "  - {name: off, queue_mode: mq, path: dma, dma: sw, "             \
		  "only: {rw: write, bs: 64k}}\n"                                    \
		  "run: {samples: 3, seed: 7, runtime: 100ms, ramp_time: 50ms}\n"    \
		  "fio: {thinktime: 5us}\nobjective: throughput\n"                   \
		  "budget: {samples: 9, time: 1m}\n"

/* Description: the plan is the cross product of every list, arms restricted by `only`. */
static void test_cross_product(void **state)
{
	struct cp_plan plan;
	size_t nr_off = 0;

	(void)state;
	load_good(MANY, &plan);
	/* 8 contexts x 2 copies, and off in 2 of them */
	assert_int_equal(plan.nr_cells, 18);
	for (size_t i = 0; i < plan.nr_cells; i++) {
		if (strcmp(plan.cells[i].arm.name, "off") != 0)
			continue;
		nr_off++;
		assert_string_equal(plan.cells[i].context.rw, "write");
		assert_int_equal(plan.cells[i].context.bs, 65536);
	}
	assert_int_equal(nr_off, 2);
	cp_plan_free(&plan);
}

/* Description: an arm's name gets the values it swept, in the order of its keys. */
static void test_arm_names(void **state)
{
	static const char *const expected[] = {
		"a/64/memcpy/sw:ring=128", "a/64/nt/sw:ring=128",
		"a/128/memcpy/sw:ring=128", "a/128/nt/sw:ring=128"};
	struct cp_plan plan;

	(void)state;
	load_good(HEAD ANON "workload: {rw: write, bs: 4k}\narms:\n"
			    "  - {name: a, queue_mode: mq, path: dma, queue_depth: [64, "
			    "128], copy: [memcpy, nt], dma: [\"sw:ring=128\"]}\n",
		  &plan);
	assert_int_equal(plan.nr_cells, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(plan.cells[i].arm.name, expected[i]);
	cp_plan_free(&plan);
}

/* Description: dma_thresh sets both directions, and a swept one is part of the name. */
static void test_dma_thresh(void **state)
{
	static const uint64_t expected[] = {0, 32768};
	struct cp_plan plan;

	(void)state;
	load_good(HEAD ANON "workload: {rw: write, bs: 4k}\narms:\n"
			    "  - {name: a, queue_mode: mq, path: auto, dma: sw, "
			    "dma_thresh: [0, 32k]}\n",
		  &plan);
	assert_int_equal(plan.nr_cells, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(plan.cells[i].arm.dma_thresh_read, expected[i]);
		assert_int_equal(plan.cells[i].arm.dma_thresh_write, expected[i]);
	}
	assert_string_equal(plan.cells[1].arm.name, "a/32k");
	cp_plan_free(&plan);
}

/* Description: segments is bs / segment, rounded up. */
static void test_segments(void **state)
{
	static const struct {
		const char *bs, *segment;
		uint32_t segments;
	} cases[] = {{"4k", "4k", 1},
		     {"64k", "4k", 16},
		     {"512", "4k", 1},
		     {"12k", "8k", 2},
		     {"2m", "512", 4096}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_plan plan;
		char text[512];

		snprintf(text, sizeof(text),
			 HEAD ANON "workload: {rw: read, bs: %s, segment: %s}\n"
				   "arms: [{name: a}]\n",
			 cases[i].bs, cases[i].segment);
		load_good(text, &plan);
		assert_int_equal(plan.cells[0].context.segments, cases[i].segments);
		cp_plan_free(&plan);
	}
}

/* Description: two segment sizes that give one context give one cell. */
static void test_segments_same(void **state)
{
	struct cp_plan plan;

	(void)state;
	load_good(HEAD ANON "workload: {rw: read, bs: 4k, segment: [4k, 8k]}\n"
			    "arms: [{name: a}]\n",
		  &plan);
	assert_int_equal(plan.nr_cells, 1);
	cp_plan_free(&plan);
}

/* Description: each job has a region of its own, whole blocks inside the target. */
static void test_regions(void **state)
{
	static const struct {
		const char *size, *bs, *numjobs;
		uint64_t job_bytes;
	} cases[] = {{"64m", "4k", "1", 64U << 20},
		     {"64m", "4k", "2", 32U << 20},
		     {"10m", "4m", "1", 8U << 20},
		     {"10m", "1m", "3", 3U << 20}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_plan plan;
		char text[512];

		snprintf(text, sizeof(text),
			 HEAD "target: {media: anon, size: %s}\n"
			      "workload: {rw: read, bs: %s, numjobs: %s}\n"
			      "arms: [{name: a}]\n",
			 cases[i].size, cases[i].bs, cases[i].numjobs);
		load_good(text, &plan);
		assert_int_equal(plan.cells[0].job_bytes, cases[i].job_bytes);
		cp_plan_free(&plan);
	}
}

/* Description: every round visits each cell once, and the rounds differ in order. */
static void test_order_rounds(void **state)
{
	struct cp_err err = {0};
	struct cp_plan plan;
	bool differ = false;

	(void)state;
	load_good(MANY, &plan);
	assert_int_equal(cp_plan_order(&plan, &err), 0);
	assert_int_equal(plan.nr_order, 54);
	for (uint32_t round = 0; round < 3; round++) {
		bool seen[18] = {false};

		for (size_t i = 0; i < 18; i++) {
			const struct cp_plan_sample *s = &plan.order[round * 18 + i];

			assert_int_equal(s->sample, round);
			assert_false(seen[s->cell]);
			seen[s->cell] = true;
			differ |= s->cell != plan.order[i].cell;
		}
	}
	assert_true(differ);
	cp_plan_free(&plan);
}

/* Description: the same seed gives the same order, another seed another. */
static void test_order_seed(void **state)
{
	struct cp_plan a, b;
	struct cp_err err = {0};
	bool differ = false;

	(void)state;
	load_good(MANY, &a);
	load_good(MANY, &b);
	assert_int_equal(cp_plan_order(&a, &err), 0);
	assert_int_equal(cp_plan_order(&b, &err), 0);
	assert_memory_equal(a.order, b.order, a.nr_order * sizeof(*a.order));
	b.seed++;
	assert_int_equal(cp_plan_order(&b, &err), 0);
	for (size_t i = 0; i < a.nr_order; i++)
		differ |= a.order[i].cell != b.order[i].cell;
	assert_true(differ);
	cp_plan_free(&a);
	cp_plan_free(&b);
}

/* Description: arms of one context and replicate get one fio seed, others another. */
static void test_sample_seeds(void **state)
{
	struct cp_err err = {0};
	struct cp_plan plan;

	(void)state;
	load_good(MANY, &plan);
	assert_int_equal(cp_plan_order(&plan, &err), 0);
	for (size_t i = 0; i < plan.nr_order; i++)
		for (size_t k = 0; k < plan.nr_order; k++) {
			const struct cp_plan_sample *a = &plan.order[i],
						    *b = &plan.order[k];
			bool same = a->sample == b->sample &&
				    cp_context_same(&plan.cells[a->cell].context,
						    &plan.cells[b->cell].context);

			assert_int_equal(a->seed == b->seed, same);
			assert_true(a->seed > 0);
		}
	cp_plan_free(&plan);
}

/* Description: what the manifest keeps gives the same plan back. */
static void test_json_round_trip(void **state)
{
	struct cp_plan plan, back;
	struct cp_err err = {0};

	(void)state;
	load_good(MANY, &plan);
	plan.nr_cpus = 2;
	plan.cpus[1] = 5;
	json_t *json = cp_plan_to_json(&plan);
	assert_non_null(json);
	if (cp_plan_from_json(json, &back, &err))
		fail_msg("%s", err.msg);
	json_t *again = cp_plan_to_json(&back);
	assert_true(json_equal(json, again));
	assert_int_equal(back.nr_cells, plan.nr_cells);
	for (size_t i = 0; i < plan.nr_cells; i++)
		assert_int_equal(
			cp_plan_find(&back, &plan.cells[i].context, &plan.cells[i].arm),
			i);
	assert_string_equal(back.options[0].key, "thinktime");
	assert_int_equal(back.cpus[1], 5);
	json_decref(json);
	json_decref(again);
	cp_plan_free(&plan);
	cp_plan_free(&back);
}

/* Description: a config that is no plan, or was cut, is refused as invalid data. */
static void test_json_bad(void **state)
{
	static const char *const keys[] = {"name", "target", "run", "cells", "pinning"};
	struct cp_plan plan, back;

	(void)state;
	load_good(MANY, &plan);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *json = cp_plan_to_json(&plan);
		struct cp_err err = {0};

		json_object_del(json, keys[i]);
		assert_int_not_equal(cp_plan_from_json(json, &back, &err), 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		json_decref(json);
	}
	cp_plan_free(&plan);
}

/* Description: filters keep what matches: same key either, different keys both. */
static void test_filters(void **state)
{
	static const struct {
		const char *filters[3];
		size_t nr, left;
	} cases[] = {
		{{"rw=read"}, 1, 8},
		{{"bs=64k", "rw=write"}, 2, 6},
		{{"bs=65536"}, 1, 10},
		{{"arm=cpu/*"}, 1, 16},
		{{"arm=off", "arm=cpu/nt"}, 2, 10},
		{{"dma=sw"}, 1, 2},
		{{"rw=read", "rw=write", "iodepth=16"}, 3, 9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		struct cp_plan plan;

		load_good(MANY, &plan);
		assert_int_equal(
			cp_plan_filter(&plan, cases[i].filters, cases[i].nr, &err), 0);
		assert_int_equal(plan.nr_cells, cases[i].left);
		cp_plan_free(&plan);
	}
}

/* Description: a bad filter is bad input with what was meant. */
static void test_filters_bad(void **state)
{
	static const struct {
		const char *filter, *words;
	} cases[] = {{"iodeph=1", "expected 'iodepth'"},
		     {"rw", "is no key=value"},
		     {"=read", "is no key=value"},
		     {"rw=wriet", "did you mean 'write'"},
		     {"bs=1m", "no cell matches"}};
	struct cp_plan plan;

	(void)state;
	load_good(MANY, &plan);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};

		if (strstr(cases[i].words, "no cell"))
			assert_int_not_equal(plan.nr_cells, 0);
		assert_int_not_equal(cp_plan_filter(&plan, &cases[i].filter, 1, &err), 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_non_null(strstr(err.msg, cases[i].words));
	}
	cp_plan_free(&plan);
}

/* Description: everything that is wrong is in one error, each with its place. */
static void test_problems_together(void **state)
{
	struct cp_err err = {0};
	struct cp_plan plan;

	(void)state;
	assert_int_not_equal(load_text(HEAD
				       "target: {media: anno, size: 64m}\n"
				       "workload: {rw: read, bs: [4k, 1g]}\n"
				       "arms: [{name: a, queue_mode: bio, path: dma, "
				       "dma: sw}]\nrun: {samples: 0}\n",
				       &plan, &err),
			     0);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, ":4:17: error: unknown media 'anno'"));
	assert_non_null(strstr(err.msg, ":5:31: error: 'bs' is '1g'"));
	assert_non_null(strstr(err.msg, ":6:41: error: 'path' is dma"));
	assert_non_null(strstr(err.msg, ":7:16: error: samples '0'"));
}

/* Description: the media of a plan are a sorted list without repetition. */
static void test_media_list(void **state)
{
	struct cp_plan plan;
	char media[64];

	(void)state;
	load_good(HEAD "target: {media: [file, anon], size: 1m, filename: /tmp/x}\n"
		       "workload: {rw: [read, write], bs: 4k}\narms: [{name: a}]\n",
		  &plan);
	cp_plan_media(&plan, media, sizeof(media));
	assert_string_equal(media, "anon,file");
	cp_plan_free(&plan);
}

static void count_warning(void *ctx, const char *text)
{
	assert_non_null(strstr(text, "0.50 times the last-level cache of 128m"));
	(*(int *)ctx)++;
}

/* Description: a manifest that names what fio would read as something else is refused. */
static void test_json_fio(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {{"thinktime", "5us # x"}, {"unlink", "1"}, {"exec_prerun", "x"}};
	struct cp_plan plan, back;

	(void)state;
	load_good(HEAD "target: {media: file, size: 1m, filename: /tmp/x}\n"
		       "workload: {rw: write, bs: 4k}\narms: [{name: a}]\n",
		  &plan);
	for (size_t i = 0; i <= sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *json = cp_plan_to_json(&plan);
		struct cp_err err = {0};

		if (i)
			json_object_set_new(json_object_get(json, "fio"),
					    cases[i - 1].key,
					    json_string(cases[i - 1].value));
		else
			json_object_set_new(json_object_get(json, "target"), "filename",
					    json_string("/tmp/x#y"));
		assert_int_not_equal(cp_plan_from_json(json, &back, &err), 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		json_decref(json);
	}
	cp_plan_free(&plan);
}

/* Description: a policy's fingerprint of another machine is an environment error with the
 * place of the policy, unless the arm forces it; one without fingerprint fits. */
static void test_policy_fingerprint(void **state)
{
	static const struct {
		const char *learned, *force;
		bool good;
	} cases[] = {
		{"{host: h, samples: 1}", "false", true},
		{"{host: h, samples: 1, fingerprint: \"sha256:" ZEROS "\"}", "false",
		 false},
		{"{host: h, samples: 1, fingerprint: \"sha256:" ZEROS "\"}", "true",
		 true},
	};
	char path[] = "/tmp/plan_test.XXXXXX", text[512];

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		struct cp_plan plan;
		FILE *file = fopen(path, "w");

		fprintf(file, "schema: 1\nkind: policy\nname: p\nlearned: %s\n",
			cases[i].learned);
		fclose(file);
		snprintf(text, sizeof(text),
			 HEAD ANON "workload: {rw: write, bs: 4k}\narms:\n"
				   "  - {name: a, queue_mode: mq, path: auto, dma: sw, "
				   "policy: %s, policy_force: %s}\n",
			 path, cases[i].force);
		load_good(text, &plan);
		assert_true(cp_plan_has_policy(&plan));
		int ret = cp_plan_policy_check(&plan, "fio-3.33", &err);
		assert_int_equal(ret == 0, cases[i].good);
		if (ret) {
			assert_int_equal(err.exit, CP_EXIT_INVALID);
			if (!strstr(err.msg, ":7:60: error: policy"))
				fail_msg("%s", err.msg);
		}
		cp_plan_free(&plan);
	}
	unlink(path);
}

/* Description: a working set below the last-level cache is a warning with the ratio. */
static void test_llc_warning(void **state)
{
	static struct cp_topo topo = {.nr_nodes = 1, .llc_bytes = 128U << 20};
	struct cp_err err = {0};
	struct cp_plan plan;
	int warnings = 0;

	(void)state;
	load_good(MANY, &plan);
	assert_int_equal(
		cp_plan_target_check(&plan, &topo, count_warning, &warnings, &err), 0);
	assert_int_equal(warnings, 1);
	topo.llc_bytes = 32U << 20;
	assert_int_equal(
		cp_plan_target_check(&plan, &topo, count_warning, &warnings, &err), 0);
	assert_int_equal(warnings, 1);
	cp_plan_free(&plan);
}

static void count_capped(void *ctx, const char *text)
{
	if (strstr(text, " x 1 node capped to 2 hardware queues, one a CPU"))
		(*(int *)ctx)++;
}

/* Description: hardware queues that are fewer than a workload asks for are a warning,
 * once a number; the default asks for nothing, nor does a run that is resumed. */
static void test_capped_warning(void **state)
{
	static const struct {
		const char *queues;
		int warnings;
	} cases[] = {
		{"", 0},
		{", q_per_node: 2", 0},
		{", q_per_node: 8", 1},
		{", q_per_node: [1, 3, 8], copy: [memcpy, nt]", 2},
	};
	static struct cp_topo topo = {.nr_nodes = 1, .nr_cpus = 2};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char text[512];
		struct cp_plan plan, resumed;
		struct cp_err err = {0};
		int warnings = 0;

		snprintf(text, sizeof(text),
			 HEAD ANON "workload: {rw: [read, write], bs: 4k}\n"
				   "arms: [{name: d, queue_mode: mq, copy: sse2}, "
				   "{name: a, queue_mode: mq%s}]\n",
			 cases[c].queues);
		load_good(text, &plan);
		assert_int_equal(
			cp_plan_target_check(&plan, &topo, count_capped, &warnings, &err),
			0);
		assert_int_equal(warnings, cases[c].warnings);
		json_t *json = cp_plan_to_json(&plan);

		assert_int_equal(cp_plan_from_json(json, &resumed, &err), 0);
		json_decref(json);
		assert_int_equal(cp_plan_target_check(&resumed, &topo, count_capped,
						      &warnings, &err),
				 0);
		assert_int_equal(warnings, cases[c].warnings);
		cp_plan_free(&resumed);
		cp_plan_free(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cross_product),
		cmocka_unit_test(test_arm_names),
		cmocka_unit_test(test_dma_thresh),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_segments_same),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_order_rounds),
		cmocka_unit_test(test_order_seed),
		cmocka_unit_test(test_sample_seeds),
		cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_json_bad),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_filters_bad),
		cmocka_unit_test(test_problems_together),
		cmocka_unit_test(test_media_list),
		cmocka_unit_test(test_json_fio),
		cmocka_unit_test(test_policy_fingerprint),
		cmocka_unit_test(test_llc_warning),
		cmocka_unit_test(test_capped_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
