// SPDX-License-Identifier: GPL-2.0-only
/* The config of manifests, across versions. */
#include "bench/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What contexts and arms were written with before they got more fields. A change here is
 * a change of every hash: a new field belongs among those left out at their default. */
static const char *const context_keys[] = {
	"rw",	 "bs",	 "numjobs", "iodepth",	"segments", "numa",
	"layer", "attr", "media",   "corunner", NULL,
};
static const char *const arm_keys[] = {
	"queue_mode",
	"path",
	"copy",
	"unroll",
	"prefetch",
	"flush",
	"completion",
	"dma",
	"dma_thresh_read",
	"dma_thresh_write",
	"dma_min_segments",
	"ring_full",
	"q_per_node",
	"queue_depth",
	"max_merge",
	"batch",
	"policy",
	"policy_force",
	"name",
	NULL,
};

static void load(const char *workload, const char *arm, struct cp_plan *plan)
{
	char path[] = "/tmp/manifest_test.XXXXXX";
	struct cp_err err = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	dprintf(fd,
		"schema: 1\nkind: workload\nname: t\ntarget: {media: anon, size: 1m}\n"
		"workload: {rw: write, bs: 4k%s}\narms: [{name: a%s}]\n",
		workload, arm);
	close(fd);
	int ret = cp_plan_load(path, plan, &err);
	unlink(path);
	if (ret)
		fail_msg("%s", err.msg);
}

static json_t *cell_part(const json_t *config, const char *part)
{
	return json_object_get(json_array_get(json_object_get(config, "cells"), 0), part);
}

static void assert_keys(const json_t *object, const char *const *keys)
{
	size_t nr = 0;

	for (; keys[nr]; nr++)
		if (!json_object_get(object, keys[nr]))
			fail_msg("'%s' is missing", keys[nr]);
	assert_int_equal(json_object_size(object), nr);
}

/* Description: a workload that uses nothing new has the config that it always had. */
static void test_defaults_absent(void **state)
{
	struct cp_plan plan;

	(void)state;
	load("", "", &plan);
	json_t *config = cp_plan_to_json(&plan);
	assert_keys(cell_part(config, "context"), context_keys);
	assert_keys(cell_part(config, "arm"), arm_keys);
	json_decref(config);
	cp_plan_free(&plan);
}

/* Description: a later field that says something is written, makes another config, and is
 * read back. */
static void test_later_kept(void **state)
{
	static const struct {
		const char *workload, *arm, *part, *key;
	} cases[] = {
		{", misalign_near: 8", "", "context", "misalign_near"},
		{", misalign_far: 16", "", "context", "misalign_far"},
		{"", ", fence: mfence", "arm", "fence"},
		{"", ", persist: auto", "arm", "persist"},
	};
	struct cp_plan plain, plan, back;

	(void)state;
	load("", "", &plain);
	json_t *before = cp_plan_to_json(&plain);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};

		load(cases[i].workload, cases[i].arm, &plan);
		json_t *config = cp_plan_to_json(&plan);
		assert_non_null(
			json_object_get(cell_part(config, cases[i].part), cases[i].key));
		assert_false(json_equal(config, before));
		if (cp_plan_from_json(config, &back, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(
			cp_plan_find(&back, &plan.cells[0].context, &plan.cells[0].arm),
			0);
		assert_int_equal(
			cp_plan_find(&back, &plain.cells[0].context, &plain.cells[0].arm),
			-1);
		json_decref(config);
		cp_plan_free(&plan);
		cp_plan_free(&back);
	}
	json_decref(before);
	cp_plan_free(&plain);
}

/* Description: a config that spells the defaults out is the same plan. */
static void test_defaults_spelt_out(void **state)
{
	struct cp_plan plan, back;
	struct cp_err err = {0};

	(void)state;
	load("", "", &plan);
	json_t *config = cp_plan_to_json(&plan), *spelt = json_deep_copy(config);
	json_object_set_new(cell_part(spelt, "context"), "misalign_near",
			    json_integer(0));
	json_object_set_new(cell_part(spelt, "arm"), "fence", json_string("auto"));
	json_object_set_new(cell_part(spelt, "arm"), "persist", json_string("none"));
	if (cp_plan_from_json(spelt, &back, &err))
		fail_msg("%s", err.msg);
	json_t *again = cp_plan_to_json(&back);
	assert_true(json_equal(config, again));
	json_decref(config);
	json_decref(spelt);
	json_decref(again);
	cp_plan_free(&plan);
	cp_plan_free(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_absent),
		cmocka_unit_test(test_later_kept),
		cmocka_unit_test(test_defaults_spelt_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
