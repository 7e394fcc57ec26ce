// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/base/t/perf_fake.h"

/* Description: a window turns the counters on and off, and each again. */
static void test_one_after_the_other(void **state)
{
	cp_window_open();
	cp_window_close();
	cp_window_open();
	cp_window_close();
	assert_string_equal(perf_fake_stop(*state), "enable\ndisable\nenable\ndisable\n");
}

/* Description: windows that overlap are one; a close too many is none. */
static void test_overlap(void **state)
{
	cp_window_open();
	cp_window_open();
	cp_window_close();
	cp_window_close();
	cp_window_close();
	cp_window_open();
	cp_window_close();
	assert_string_equal(perf_fake_stop(*state), "enable\ndisable\nenable\ndisable\n");
}

/* Description: nothing in the environment, nonsense, or nobody at the FIFO's other end:
 * no error, no wait, nothing made. */
static void test_nobody(void **state)
{
	struct perf_fake *fake = *state;
	static const char *const envs[] = {"", "nonsense", "/nowhere/a,/nowhere/b", ","};

	for (size_t i = 0; i < sizeof(envs) / sizeof(envs[0]); i++) {
		setenv(CP_WINDOW_ENV, envs[i], 1);
		cp_window_open();
		cp_window_close();
	}
	unsetenv(CP_WINDOW_ENV);
	cp_window_open();
	cp_window_close();
	assert_int_equal(access("nonsense", F_OK), -1);
	assert_string_equal(perf_fake_stop(fake), "");
	close(fake->control_fd);
	fake->control_fd = open(fake->dir, O_RDONLY);
	setenv(CP_WINDOW_ENV, fake->env, 1);
	cp_window_open(); /* ENXIO */
	cp_window_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_after_the_other, perf_fake_setup,
						perf_fake_teardown),
		cmocka_unit_test_setup_teardown(test_overlap, perf_fake_setup,
						perf_fake_teardown),
		cmocka_unit_test_setup_teardown(test_nobody, perf_fake_setup,
						perf_fake_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
