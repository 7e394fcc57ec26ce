/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/topo.h"

/* Description: two synthetic nodes have their CPUs, cores and memory told apart. */
static void test_two_nodes(void **state)
{
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_topo_load("numa:2 core:4 pu:1", &topo, &err), 0);
	assert_int_equal(topo.nr_nodes, 2);
	assert_int_equal(topo.nr_cpus, 8);
	for (unsigned i = 0; i < topo.nr_cpus; i++) {
		assert_int_equal(topo.cpus[i].node, i / 4);
		assert_int_equal(topo.cpus[i].core, i);
	}
	assert_true(topo.node_bytes[0] > 0);
	assert_true(topo.mem_bytes == topo.node_bytes[0] + topo.node_bytes[1]);
}

/* Description: a node of memory only, beside the packages or in one, has no CPUs. */
static void test_memory_only(void **state)
{
	static const struct {
		const char *synthetic;
		unsigned nodes[4]; /* of the packages */
	} cases[] = {
		{"[numa] pack:3 [numa] core:2 pu:1", {0, 1, 2}},
		{"pack:2 [numa] [numa] core:2 pu:1", {0, 2}},
	};
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		assert_int_equal(cp_topo_load(cases[c].synthetic, &topo, &err), 0);
		assert_int_equal(topo.nr_nodes, 4);
		for (unsigned i = 0; i < topo.nr_cpus; i++)
			assert_int_equal(topo.cpus[i].node, cases[c].nodes[i / 2]);
	}
}

/* Description: SMT siblings share a core. */
static void test_smt(void **state)
{
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_topo_load("numa:1 core:2 pu:2", &topo, &err), 0);
	assert_int_equal(topo.nr_cpus, 4);
	assert_int_equal(topo.cpus[0].core, topo.cpus[1].core);
	assert_int_equal(topo.cpus[2].core, topo.cpus[3].core);
	assert_int_not_equal(topo.cpus[0].core, topo.cpus[2].core);
}

/* Description: the last-level cache is the largest of the outermost level; none is 0. */
static void test_llc(void **state)
{
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_topo_load("numa:1 l3:2(size=8388608) l2:2(size=1048576) "
				      "core:1 pu:1",
				      &topo, &err),
			 0);
	assert_int_equal(topo.llc_bytes, 8388608);
	assert_int_equal(cp_topo_load("numa:1 core:1 pu:1", &topo, &err), 0);
	assert_int_equal(topo.llc_bytes, 0);
}

/* Description: a CPU is found by the number the system gives it. */
static void test_find_cpu(void **state)
{
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_topo_load("numa:1 core:2 pu:2(indexes=0,2,1,3)", &topo, &err),
			 0);
	assert_int_equal(cp_topo_cpu(&topo, 2), 1);
	assert_int_equal(cp_topo_cpu(&topo, 99), -1);
}

/* Description: what hwloc cannot read, or has too many nodes, is refused by name. */
static void test_refused(void **state)
{
	static struct cp_topo topo;
	struct cp_err err;

	(void)state;
	topo.nr_cpus = 77;
	assert_int_equal(cp_topo_load("nonsense", &topo, &err), -EINVAL);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, "'nonsense'"));
	assert_int_equal(cp_topo_load("numa:65 pu:1", &topo, &err), -E2BIG);
	assert_int_equal(cp_topo_load("numa:1 pu:1025", &topo, &err), -E2BIG);
	assert_int_equal(topo.nr_cpus, 77);
}

/* Description: of this machine only the CPUs that the process may use are listed. */
static void test_affinity(void **state)
{
	static struct cp_topo topo;
	cpu_set_t all, one;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_topo_load(NULL, &topo, &err), 0);
	assert_true(topo.nr_nodes >= 1);
	assert_true(topo.mem_bytes > 0);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(topo.nr_cpus, CPU_COUNT(&all));

	unsigned last = topo.cpus[topo.nr_cpus - 1].os_index;

	CPU_ZERO(&one);
	CPU_SET(last, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	int ret = cp_topo_load(NULL, &topo, &err);

	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(ret, 0);
	assert_int_equal(topo.nr_cpus, 1);
	assert_int_equal(topo.cpus[0].os_index, last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_nodes), cmocka_unit_test(test_memory_only),
		cmocka_unit_test(test_smt),	  cmocka_unit_test(test_llc),
		cmocka_unit_test(test_find_cpu),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
