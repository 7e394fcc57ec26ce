/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/clock.h"

static int setup(void **state)
{
	(void)state;
	cp_clock_init();
	return 0;
}

/* Description: stamps turned into nanoseconds agree with CLOCK_MONOTONIC to 1 %. */
static void test_ticks_agree(void **state)
{
	(void)state;
	/* being preempted between two readings is not the clock's fault: best of a few */
	double best = INFINITY;

	for (int i = 0; i < 5 && best > 0.01; i++) {
		uint64_t ns = cp_now_ns(), ticks = cp_ticks();

		while (cp_now_ns() - ns < 5000000)
			cp_cpu_relax();
		uint64_t stamp_ns = cp_ticks_to_ns(cp_ticks() - ticks);
		double clock_ns = (double)(cp_now_ns() - ns);

		best = fmin(best, fabs((double)stamp_ns / clock_ns - 1));
	}
	assert_true(best <= 0.01);
}

/* Description: initialising again changes nothing. */
static void test_init_once(void **state)
{
	struct cp_clock before = cp_clock;

	(void)state;
	cp_clock_init();
	assert_int_equal(before.mult, cp_clock.mult);
	assert_int_equal(before.tsc, cp_clock.tsc);
}

/* Description: a difference of stamps is never negative. */
static void test_since(void **state)
{
	(void)state;
	assert_int_equal(cp_ticks_since(10, 25), 15);
	assert_int_equal(cp_ticks_since(25, 10), 0);
}

/* Description: long spans convert without overflow. */
static void test_long_span(void **state)
{
	struct cp_clock saved = cp_clock;

	(void)state;
	cp_clock.mult = UINT64_C(1) << 31; /* 2 GHz */
	assert_true(cp_ticks_to_ns(UINT64_C(1) << 62) == UINT64_C(1) << 61);
	cp_clock = saved;
}

/* Description: CPU clocks move with work, the process's at least as much as the thread's.
 */
static void test_cpu_clocks(void **state)
{
	uint64_t process = cp_process_cpu_ns(), thread = cp_thread_cpu_ns();

	(void)state;
	while (cp_thread_cpu_ns() - thread < 1000000)
		cp_cpu_relax();
	uint64_t thread_used = cp_thread_cpu_ns() - thread;

	assert_true(cp_process_cpu_ns() - process >= thread_used);
}

/* Description: a sleep lasts at least as long as asked. */
static void test_sleep(void **state)
{
	uint64_t start = cp_now_ns();

	(void)state;
	cp_sleep_ns(100000);
	assert_true(cp_now_ns() - start >= 100000);
}

/* Description: the time of day is written in UTC, to the second. */
static void test_time_utc(void **state)
{
	char buf[32], small[4] = "x";
	int year, month, day, hour, minute, second, end = 0;

	(void)state;
	assert_int_equal(strlen(cp_time_utc(buf, sizeof(buf))), 20);
	assert_int_equal(sscanf(buf, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day,
				&hour, &minute, &second, &end),
			 6);
	assert_int_equal(end, 20);
	assert_string_equal(cp_time_utc(small, sizeof(small)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks_agree), cmocka_unit_test(test_init_once),
		cmocka_unit_test(test_since),	    cmocka_unit_test(test_long_span),
		cmocka_unit_test(test_cpu_clocks),  cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_time_utc),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
