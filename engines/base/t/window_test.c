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

#include "engines/base/window.h"

/* Plays perf: both FIFOs open for both ways, as perf has them; every order is answered
 * and kept. */
struct fake {
	char dir[64], control[96], ack[96], env[256];
	int control_fd, ack_fd;
	pthread_t thread;
	char heard[256];
};

static void *answer(void *arg)
{
	struct fake *fake = arg;
	size_t len = 0;

	while (len < sizeof(fake->heard) - 1) {
		ssize_t n = read(fake->control_fd, fake->heard + len, 1);

		if (n <= 0 || fake->heard[len] == '.')
			break;
		if (fake->heard[len++] == '\n' && write(fake->ack_fd, "ack\n", 5) != 5)
			break;
	}
	fake->heard[len] = '\0';
	return NULL;
}

static int setup(void **state)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	snprintf(fake->dir, sizeof(fake->dir), "/tmp/copypath-window.XXXXXX");
	if (!mkdtemp(fake->dir))
		return -1;
	snprintf(fake->control, sizeof(fake->control), "%s/control", fake->dir);
	snprintf(fake->ack, sizeof(fake->ack), "%s/ack", fake->dir);
	snprintf(fake->env, sizeof(fake->env), "%s,%s", fake->control, fake->ack);
	if (mkfifo(fake->control, 0600) || mkfifo(fake->ack, 0600))
		return -1;
	fake->control_fd = open(fake->control, O_RDWR);
	fake->ack_fd = open(fake->ack, O_RDWR);
	*state = fake;
	return setenv(CP_WINDOW_ENV, fake->env, 1) ||
	       pthread_create(&fake->thread, NULL, answer, fake);
}

/* What was heard until now. */
static const char *stop(struct fake *fake)
{
	assert_int_equal(write(fake->control_fd, ".", 1), 1);
	pthread_join(fake->thread, NULL);
	return fake->heard;
}

static int teardown(void **state)
{
	struct fake *fake = *state;

	close(fake->control_fd);
	close(fake->ack_fd);
	unlink(fake->control);
	unlink(fake->ack);
	rmdir(fake->dir);
	free(fake);
	return unsetenv(CP_WINDOW_ENV);
}

/* Description: a window turns the counters on and off, and each again. */
static void test_one_after_the_other(void **state)
{
	cp_window_open();
	cp_window_close();
	cp_window_open();
	cp_window_close();
	assert_string_equal(stop(*state), "enable\ndisable\nenable\ndisable\n");
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
	assert_string_equal(stop(*state), "enable\ndisable\nenable\ndisable\n");
}

/* Description: nothing in the environment, nonsense, or nobody at the FIFO's other end:
 * no error, no wait, nothing made. */
static void test_nobody(void **state)
{
	struct fake *fake = *state;
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
	assert_string_equal(stop(fake), "");
	close(fake->control_fd);
	fake->control_fd = open(fake->dir, O_RDONLY);
	setenv(CP_WINDOW_ENV, fake->env, 1);
	cp_window_open(); /* ENXIO */
	cp_window_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_after_the_other, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
