// SPDX-License-Identifier: GPL-2.0-only
#include "engines/base/window.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"

#define ANSWER_MAX_MS 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned nr_open;

/* perf ignores its FIFO's end of file, so each order may open it anew, and no descriptor
 * stays behind in a process that forks. O_NONBLOCK: nobody there is an error, no wait. */
static void order(const char *control, const char *ack, const char *what)
{
	int out = open(control, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	int in = open(ack, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd answer = {.fd = in, .events = POLLIN};
	char text[16];

	if (out >= 0 && in >= 0 && !cp_write_all(out, what, strlen(what)) &&
	    poll(&answer, 1, ANSWER_MAX_MS) == 1)
		while (read(in, text, sizeof(text)) > 0)
			;
	if (out >= 0)
		close(out);
	if (in >= 0)
		close(in);
}

static void tell(const char *what)
{
	const char *env = getenv(CP_WINDOW_ENV);
	const char *comma = env ? strchr(env, ',') : NULL;
	char control[4200];

	if (comma && (size_t)(comma - env) < sizeof(control)) {
		snprintf(control, sizeof(control), "%.*s", (int)(comma - env), env);
		order(control, comma + 1, what);
	}
}

void cp_window_open(void)
{
	pthread_mutex_lock(&lock);
	if (!nr_open++)
		tell("enable\n");
	pthread_mutex_unlock(&lock);
}

void cp_window_close(void)
{
	pthread_mutex_lock(&lock);
	if (nr_open && !--nr_open)
		tell("disable\n");
	pthread_mutex_unlock(&lock);
}
