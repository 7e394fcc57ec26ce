/* SPDX-License-Identifier: GPL-2.0-only */
/* A file to read a policy from, and policies that are made up, for the tests of both the
 * file and the table. */
#ifndef CP_ENGINES_T_POLICY_RIG_H
#define CP_ENGINES_T_POLICY_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static inline int make_dir(void **state)
{
	cp_context_init(&aligned);
	(void)state;
	if (!mkdtemp(tmp_dir))
		return -1;
	snprintf(tmp_path, sizeof(tmp_path), "%s/policy.yaml", tmp_dir);
	return 0;
}

static inline int remove_dir(void **state)
{
	(void)state;
	unlink(tmp_path);
	return rmdir(tmp_dir);
}

static inline void put_file(const char *text)
{
	FILE *file = fopen(tmp_path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static uint64_t rng_state;

static inline uint32_t rng(uint32_t below)
{
	rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(rng_state >> 33) % below;
}

static inline struct cp_range random_range(uint32_t top)
{
	struct cp_range range = {rng(3) ? rng(top) : 0, CP_POLICY_OPEN};

	if (rng(3))
		range.max = range.min + rng(top);
	return range;
}

static inline void random_action(struct cp_action *act)
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

static inline void random_size(struct cp_policy_size *size, uint64_t before, bool decided)
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

static inline void random_rule(struct cp_rule *rule, bool decided)
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

static inline void random_policy(struct cp_policy *policy)
{
	cp_policy_init(policy);
	snprintf(policy->name, sizeof(policy->name), "%s", rng(2) ? "quick" : "null");
	policy->nr_from = rng(3);
	for (unsigned i = 0; i < policy->nr_from; i++)
		snprintf(policy->from[i], sizeof(policy->from[i]), "%s",
			 i ? "runs/r 1, #2" : "results/runs/r1");
	policy->samples = rng(1000);
	policy->objective.cpu = rng(100) / 3.0;
	if (!rng(3)) {
		policy->objective.elapsed = policy->objective.cpu = 0.0;
		policy->objective.corunner = 0.1 + rng(100) / 3.0;
	}
	snprintf(policy->driver, CP_WORD_MAX, "%s",
		 rng(2)	  ? "fio"
		 : rng(2) ? "swap"
			  : "exec");
	snprintf(policy->device.queue_mode, CP_WORD_MAX, "%s", rng(2) ? "page" : "mq");
	snprintf(policy->device.completion, CP_WORD_MAX, "%s",
		 rng(2) ? "hybrid" : "sync");
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

static inline void assert_same_action(const struct cp_action *a,
				      const struct cp_action *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->path, b->path);
	assert_string_equal(a->copy, b->copy);
}

#endif
