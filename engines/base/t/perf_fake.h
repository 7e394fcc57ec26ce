/* SPDX-License-Identifier: GPL-2.0-only */
/* A perf for tests of who tells it when: setup and teardown of a test whose state it is.
 */
#ifndef CP_ENGINES_BASE_T_PERF_FAKE_H
#define CP_ENGINES_BASE_T_PERF_FAKE_H

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
struct perf_fake {
	char dir[64], control[96], ack[96], env[256];
	int control_fd, ack_fd;
	pthread_t thread;
	char heard[256];
};

static void *perf_fake_answer(void *arg)
{
	struct perf_fake *fake = arg;
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

static inline int perf_fake_setup(void **state)
{
	struct perf_fake *fake = calloc(1, sizeof(*fake));

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
	       pthread_create(&fake->thread, NULL, perf_fake_answer, fake);
}

/* What was heard until now. */
static inline const char *perf_fake_stop(struct perf_fake *fake)
{
	assert_int_equal(write(fake->control_fd, ".", 1), 1);
	pthread_join(fake->thread, NULL);
	return fake->heard;
}

static inline int perf_fake_teardown(void **state)
{
	struct perf_fake *fake = *state;

	close(fake->control_fd);
	close(fake->ack_fd);
	unlink(fake->control);
	unlink(fake->ack);
	rmdir(fake->dir);
	free(fake);
	return unsetenv(CP_WINDOW_ENV);
}

#endif
