// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/plan/corunner.h"

#define MIB (UINT64_C(1) << 20)

/* Description: a spec is read with its defaults and settings. */
static void test_parse(void **state)
{
	static const struct {
		const char *text;
		struct cp_corunner is;
	} cases[] = {
		{"none", {.kind = CP_CORUNNER_NONE, .cpu = -1}},
		{"compute", {.kind = CP_CORUNNER_COMPUTE, .cpu = -1}},
		{"compute:sched=idle", {.kind = CP_CORUNNER_COMPUTE, .cpu = -1}},
		{"compute:sched=other,cpu=0",
		 {.kind = CP_CORUNNER_COMPUTE, .equal = true, .cpu = 0}},
		{"stream", {.kind = CP_CORUNNER_STREAM, .cpu = -1}},
		{"stream:size=64k",
		 {.kind = CP_CORUNNER_STREAM, .bytes = 65536, .cpu = -1}},
		{"pointer-chase:cpu=1023,size=1g",
		 {.kind = CP_CORUNNER_CHASE, .bytes = 1024 * MIB, .cpu = 1023}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_corunner got = {.kind = 77};
		struct cp_err err = {0};

		assert_int_equal(cp_corunner_parse(cases[i].text, &got, &err), 0);
		assert_int_equal(got.kind, cases[i].is.kind);
		assert_int_equal(got.equal, cases[i].is.equal);
		assert_int_equal(got.bytes, cases[i].is.bytes);
		assert_int_equal(got.cpu, cases[i].is.cpu);
	}
}

/* Description: what is wrong with a spec is named, and nothing is written. */
static void test_parse_bad(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"streams",
		 "unknown corunner 'streams'; expected none, compute, stream or "
		 "pointer-chase"},
		{"compute:size=64k",
		 "compute: unknown setting 'size'; expected sched, cpu"},
		{"none:cpu=1", "none: unknown setting 'cpu'; expected none"},
		{"stream:sice=64k",
		 "stream: unknown setting 'sice'; expected sched, size, "
		 "cpu (did you mean 'size'?)"},
		{"stream:size=32k",
		 "stream: size '32k' is out of range; expected a size of "
		 "64k to 1t"},
		{"pointer-chase:size=2t", "pointer-chase: size '2t' is out of range; "
					  "expected a size of 64k to 1t"},
		{"stream:size=much",
		 "stream: size 'much' is not a size; expected a size of "
		 "64k to 1t"},
		{"compute:sched=fifo",
		 "compute: unknown sched 'fifo'; expected idle (what "
		 "the I/O leaves) or other (an equal share)"},
		{"compute:cpu=1024",
		 "compute: cpu '1024' is out of range; expected 0 to 1023"},
		{"compute:cpu=-1",
		 "compute: cpu '-1' is not a whole number; expected 0 to 1023"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_corunner got = {.kind = 77};
		struct cp_err err = {0};

		assert_true(cp_corunner_parse(cases[i].text, &got, &err) < 0);
		assert_string_equal(err.msg, cases[i].message);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_int_equal(got.kind, 77);
	}
}

/* Description: it runs where the submitters are, on all CPUs where they are not pinned,
 * or where it was told to. */
static void test_cpus(void **state)
{
	const struct cp_plan plan = {.nr_cpus = 3, .cpus = {4, 6, 9}};
	static const struct {
		uint32_t numjobs;
		int cpu;
		unsigned nr, cpus[3];
	} cases[] = {{1, -1, 1, {4}},	     {2, -1, 2, {4, 6}}, {3, -1, 3, {4, 6, 9}},
		     {16, -1, 3, {4, 6, 9}}, {1, 2, 1, {2}},	 {16, 9, 1, {9}}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cp_corunner corunner = {.kind = CP_CORUNNER_COMPUTE,
						     .cpu = cases[i].cpu};
		const struct cp_plan_cell cell = {.context.numjobs = cases[i].numjobs};
		unsigned cpus[CP_PLAN_CPUS_MAX] = {77, 77, 77, 77};

		assert_int_equal(cp_corunner_cpus(&corunner, &plan, &cell, cpus),
				 cases[i].nr);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(cpus[k],
					 k < cases[i].nr ? cases[i].cpus[k] : 77);
	}
}

/* Description: the memory that is taken unasked is well above the last-level cache, and
 * not most of a small machine's. */
static void test_bytes_default(void **state)
{
	static const struct {
		uint64_t llc, mem, bytes;
	} cases[] = {{32 * MIB, 65536 * MIB, 128 * MIB},
		     {32 * MIB, 512 * MIB, 64 * MIB},
		     {0, 65536 * MIB, 64 * MIB},
		     {0, 0, 64 * MIB},
		     {0, 1024, CP_CORUNNER_BYTES_MIN}};
	static struct cp_topo topo;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		topo.llc_bytes = cases[i].llc;
		topo.mem_bytes = cases[i].mem;
		assert_int_equal(cp_corunner_bytes_default(&topo), cases[i].bytes);
	}
}

/* Description: a plan with co-runners takes as much longer as they run alone. */
static void test_time(void **state)
{
	struct cp_plan_cell cells[4] = {0};
	struct cp_plan plan = {.runtime_ns = 1000000000, .nr_cells = 4, .cells = cells};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		cp_context_init(&cells[i].context);
	uint64_t without_ns = cp_plan_time_ns(&plan, 8);

	snprintf(cells[1].context.corunner, sizeof(cells[1].context.corunner), "compute");
	snprintf(cells[2].context.corunner, sizeof(cells[2].context.corunner), "stream");
	assert_int_equal(cp_plan_time_ns(&plan, 8) - without_ns,
			 4 * (plan.runtime_ns + CP_CORUNNER_START_NS));
}

static int check(const char *corunner, unsigned cpu, const unsigned at[2],
		 struct cp_err *err)
{
	struct cp_plan_cell cell = {0};
	struct cp_plan plan = {.config = "some.yaml",
			       .size = MIB,
			       .nr_cpus = 1,
			       .cpus = {cpu},
			       .nr_cells = 1,
			       .cells = &cell};

	cp_context_init(&cell.context);
	snprintf(cell.context.corunner, sizeof(cell.context.corunner), "%s", corunner);
	memcpy(cell.corunner_at, at, sizeof(cell.corunner_at));
	return cp_plan_corunner_check(&plan, err);
}

static unsigned first_cpu(const cpu_set_t *set)
{
	unsigned cpu = 0;

	while (!CPU_ISSET(cpu, set))
		cpu++;
	return cpu;
}

/* Description: a co-runner that has a CPU and memory passes, and the check leaves our own
 * CPUs as they were. */
static void test_check(void **state)
{
	static const char *const good[] = {"none", "compute", "stream:size=64k",
					   "pointer-chase:size=1m,sched=other"};
	const unsigned at[2] = {0, 0};
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct cp_err err = {0};

		assert_int_equal(check(good[i], first_cpu(&before), at, &err), 0);
		assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
		assert_true(CPU_EQUAL(&before, &after));
	}
}

/* Description: one without a CPU, or with more memory than there is, is refused with its
 * place and the setting to change; our own CPUs are as they were. */
static void test_check_bad(void **state)
{
	static const struct {
		const char *corunner;
		unsigned at[2];
		const char *begins, *holds;
	} cases[] = {
		{"compute:cpu=1023",
		 {8, 17},
		 "some.yaml:8:17: error: corunner 'compute:cpu=1023': no CPU to run on: "
		 "1023 is not among those that this process may use; expected 'cpu' one "
		 "of ",
		 ""},
		{"stream:size=1t",
		 {0, 0},
		 "corunner 'stream:size=1t': too much memory: 1 of 1t beside the "
		 "target, ",
		 "expected a smaller 'size' in it (stream:size=...)"},
	};
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	if (CPU_ISSET(1023, &before))
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};

		assert_true(check(cases[i].corunner, first_cpu(&before), cases[i].at,
				  &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_memory_equal(err.msg, cases[i].begins, strlen(cases[i].begins));
		assert_non_null(strstr(err.msg, cases[i].holds));
		assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
		assert_true(CPU_EQUAL(&before, &after));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	  cmocka_unit_test(test_parse_bad),
		cmocka_unit_test(test_cpus),	  cmocka_unit_test(test_bytes_default),
		cmocka_unit_test(test_time),	  cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
