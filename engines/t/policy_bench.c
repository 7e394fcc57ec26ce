// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one decision costs: cp_policy_pick() on a compiled table, sizes and loads drawn
 * beforehand. Throughput: independent look-ups. Dependent: each look-up's answer goes
 * into the next one's size. Median of rounds, with the fastest and the slowest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/policy.h"

#define LOOKUPS (1U << 18)
#define ROUNDS	21

struct request {
	uint32_t bytes, jobs, load, segments;
};

static struct request requests[512];

static void draw_requests(void)
{
	uint64_t state = 1;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		requests[i] = (struct request){
			.bytes = (uint32_t)(state >> 43),
			.jobs = 1 + (uint32_t)(state >> 33) % 32,
			.load = 1 + (uint32_t)(state >> 37) % 256,
			.segments = 1 + (uint32_t)(state >> 41) % 512,
		};
	}
}

static int make_table(struct cp_policy_table **ret_table)
{
	struct cp_policy policy;
	struct cp_err err = {0};

	cp_policy_init(&policy);
	policy.rules = calloc(8, sizeof(*policy.rules));
	if (!policy.rules)
		return -1;
	policy.nr_rules = 8;
	for (unsigned r = 0; r < 8; r++) {
		struct cp_rule *rule = &policy.rules[r];

		rule->decided = true;
		rule->when = (struct cp_when){
			.dir = r % 2 ? CP_DIR_WRITE : CP_DIR_READ,
			.layer = "none",
			.attr = "wb",
			.numa = "local",
			.jobs = {0, CP_POLICY_OPEN},
			.load = {r / 2 * 16, r / 2 * 16 + 15},
			.segments = {0, CP_POLICY_OPEN},
		};
		rule->nr_sizes = 8;
		for (unsigned i = 0; i < 8; i++) {
			rule->sizes[i].upto = (4096ULL << i) + 512 * r;
			snprintf(rule->sizes[i].act.path, CP_WORD_MAX, "%s",
				 i % 2 ? "dma" : "cpu");
		}
	}
	struct cp_context aligned;

	cp_context_init(&aligned);
	int rc = cp_policy_compile(&policy, &aligned, ret_table, &err);

	if (rc)
		fprintf(stderr, "%s\n", err.msg);
	cp_policy_free(&policy);
	return rc;
}

static double round_ns(const struct cp_policy_table *table, bool dependent,
		       unsigned *sink)
{
	uint64_t start = cp_thread_cpu_ns();
	unsigned sum = 0;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		const struct request *r = &requests[i % 512];

		sum += cp_policy_pick(table, i & 1 ? CP_DIR_WRITE : CP_DIR_READ,
				      r->bytes + (dependent ? sum & 1 : 0), r->jobs,
				      r->load, r->segments);
	}
	*sink += sum;
	return (double)(cp_thread_cpu_ns() - start) / LOOKUPS;
}

static int double_cmp(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

int main(void)
{
	struct cp_policy_table *table;
	unsigned sink = 0;

	draw_requests();
	if (make_table(&table))
		return 1;
	for (unsigned dependent = 0; dependent < 2; dependent++) {
		double ns[ROUNDS];

		for (unsigned i = 0; i < ROUNDS; i++)
			ns[i] = round_ns(table, dependent, &sink);
		qsort(ns, ROUNDS, sizeof(ns[0]), double_cmp);
		printf("policy pick, %s: %.2f ns (%.2f to %.2f, %d rounds of %u)\n",
		       dependent ? "dependent" : "throughput", ns[ROUNDS / 2], ns[0],
		       ns[ROUNDS - 1], ROUNDS, LOOKUPS);
	}
	cp_policy_table_free(table);
	return sink == 1; /* keeps the look-ups */
}
