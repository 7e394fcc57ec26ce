/* SPDX-License-Identifier: GPL-2.0-only */
/* Hardware queues over synthetic machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/queue/queue.h"

static struct cp_topo topo;

static void load(const char *synthetic)
{
	struct cp_err err;

	if (cp_topo_load(synthetic, &topo, &err))
		fail_msg("%s", err.msg);
}

/* A machine whose nodes have cpus[i] CPUs, numbered on from node to node. */
static void build(const unsigned *cpus, unsigned nr_nodes)
{
	memset(&topo, 0, sizeof(topo));
	topo.nr_nodes = nr_nodes;
	for (unsigned n = 0; n < nr_nodes; n++) {
		topo.node_os_index[n] = n;
		for (unsigned i = 0; i < cpus[n]; i++, topo.nr_cpus++) {
			topo.cpus[topo.nr_cpus].os_index = topo.nr_cpus;
			topo.cpus[topo.nr_cpus].core = topo.nr_cpus;
			topo.cpus[topo.nr_cpus].node = n;
		}
	}
}

static void check_map(unsigned q_per_node, unsigned queues, const uint16_t *expected)
{
	uint16_t map[CP_TOPO_CPUS_MAX];

	assert_int_equal(cp_queue_map(&topo, q_per_node, map), queues);
	for (unsigned i = 0; i < topo.nr_cpus; i++)
		assert_int_equal(map[i], expected[i]);
}

/* Description: queues = min(nodes x q_per_node, CPUs), CPUs spread evenly, nodes kept
 * apart. */
static void test_even(void **state)
{
	static const struct {
		const char *synthetic;
		unsigned q_per_node, queues;
		uint16_t map[8];
	} cases[] = {
		{"numa:1 core:2 pu:1", 8, 2, {0, 1}},
		{"numa:1 core:4 pu:1", 1, 1, {0, 0, 0, 0}},
		{"numa:1 core:4 pu:1", 2, 2, {0, 0, 1, 1}},
		{"numa:1 core:4 pu:1", 3, 3, {0, 0, 1, 2}},
		{"numa:1 core:4 pu:1", 8, 4, {0, 1, 2, 3}},
		{"numa:2 core:4 pu:1", 1, 2, {0, 0, 0, 0, 1, 1, 1, 1}},
		{"numa:2 core:4 pu:1", 2, 4, {0, 0, 1, 1, 2, 2, 3, 3}},
		{"numa:2 core:3 pu:1", 2, 4, {0, 0, 1, 2, 2, 3}},
		{"numa:2 core:2 pu:1", 8, 4, {0, 1, 2, 3}},
		/* a node of memory only: 4 x 1 queues, of which the last package has two
		 */
		{"[numa] pack:3 [numa] core:2 pu:1", 1, 4, {0, 0, 1, 1, 2, 3}},
		{"pack:2 [numa] [numa] core:2 pu:1", 1, 4, {0, 1, 2, 3}},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		load(cases[c].synthetic);
		check_map(cases[c].q_per_node, cases[c].queues, cases[c].map);
	}
}

/* Description: the whole set is capped, not each node: queues go by the share of CPUs,
 * from the smallest node on, and nodes without CPUs count for how many there are. */
static void test_uneven(void **state)
{
	static const struct {
		unsigned cpus[4], nr_nodes, q_per_node, queues;
		uint16_t map[8];
	} cases[] = {
		/* 2 x 4 capped to one a CPU: the large node has more than 4 */
		{{1, 7}, 2, 4, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
		/* 4 queues over 2 + 4 CPUs: 4 * 2 / 6 = 1 and 3 */
		{{4, 2}, 2, 2, 4, {1, 1, 2, 3, 0, 0}},
		/* as many queues as nodes: by the nodes' own order */
		{{4, 2}, 2, 1, 2, {0, 0, 0, 0, 1, 1}},
		{{3, 1, 1}, 3, 1, 3, {0, 0, 0, 1, 2}},
		/* a memory-only node: 4 x 1 queues, of which the last has two */
		{{2, 2, 2, 0}, 4, 1, 4, {0, 0, 1, 1, 2, 3}},
		{{0, 2, 2, 2}, 4, 2, 6, {0, 1, 2, 3, 4, 5}},
		{{1, 1, 1, 5}, 4, 1, 4, {0, 1, 2, 3, 3, 3, 3, 3}},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		build(cases[c].cpus, cases[c].nr_nodes);
		check_map(cases[c].q_per_node, cases[c].queues, cases[c].map);
	}
}

/* Description: siblings of a core share a queue, whatever their numbers, and what is left
 * of a core when a queue is full goes on in the order of numbers. */
static void test_siblings(void **state)
{
	static const struct {
		const char *synthetic;
		unsigned q_per_node, queues;
		uint16_t map[12]; /* cores are numbered on, siblings side by side */
	} cases[] = {
		{"numa:1 core:2 pu:2(indexes=0,2,1,3)", 2, 2, {0, 0, 1, 1}},
		{"numa:1 core:2 pu:2(indexes=0,2,1,3)", 3, 3, {0, 0, 1, 2}},
		{"numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
		 2,
		 4,
		 {0, 0, 1, 1, 2, 2, 3, 3}},
		/* CPUs 0 6 1 | 2 8 3 | 4 10 5 | 7 9 11 */
		{"numa:1 core:6 pu:2(indexes=0,6,1,7,2,8,3,9,4,10,5,11)",
		 4,
		 4,
		 {0, 0, 0, 3, 1, 1, 1, 3, 2, 2, 2, 3}},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		load(cases[c].synthetic);
		check_map(cases[c].q_per_node, cases[c].queues, cases[c].map);
	}
}

/* Description: over many machines every queue has a CPU, of one node only. */
static void test_properties(void **state)
{
	unsigned cpus[4];
	(void)state;

	for (unsigned code = 1; code < 6 * 6 * 6 * 6; code++) {
		for (unsigned n = 0, rest = code; n < 4; n++, rest /= 6)
			cpus[n] = rest % 6;
		build(cpus, 4);
		for (unsigned q = 1; q < 8; q++) {
			unsigned used[CP_TOPO_CPUS_MAX] = {0}, node[CP_TOPO_CPUS_MAX];
			uint16_t map[CP_TOPO_CPUS_MAX];
			unsigned nr = cp_queue_map(&topo, q, map);

			assert_int_equal(nr, 4 * q < topo.nr_cpus ? 4 * q : topo.nr_cpus);
			for (unsigned c = 0; c < topo.nr_cpus; c++) {
				assert_true(map[c] < nr);
				if (used[map[c]]++)
					assert_int_equal(node[map[c]], topo.cpus[c].node);
				node[map[c]] = topo.cpus[c].node;
			}
			for (unsigned i = 0; i < nr; i++)
				assert_true(used[i] > 0);
		}
	}
}

/* Description: a cap is said in words, with what was asked and what there is. */
static void test_capped(void **state)
{
	char text[160];
	(void)state;

	load("numa:1 core:2 pu:1");
	assert_true(cp_queue_capped(&topo, 8, text, sizeof(text)));
	assert_string_equal(text, "q_per_node 8 x 1 node capped to 2 hardware queues, "
				  "one a CPU");
	assert_false(cp_queue_capped(&topo, 2, text, sizeof(text)));
	load("numa:2 core:4 pu:1");
	assert_true(cp_queue_capped(&topo, 5, text, sizeof(text)));
	assert_string_equal(text, "q_per_node 5 x 2 nodes capped to 8 hardware queues, "
				  "one a CPU");
	assert_false(cp_queue_capped(&topo, 4, text, sizeof(text)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),	 cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_siblings), cmocka_unit_test(test_properties),
		cmocka_unit_test(test_capped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
