// SPDX-License-Identifier: GPL-2.0-only
/* What every verb needs: how errors look, signals, and where the product's files are. */
#include "bench/cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"

volatile int cp_cmd_interrupted;

enum cp_exit cp_cmd_fail(const struct cp_err *err)
{
	/* Placed errors ("file:line:col: error: what") are whole lines already. */
	if (strstr(err->msg, ": error: "))
		fprintf(stderr, "%s\n", err->msg);
	else
		fprintf(stderr, "copypath: error: %s\n", err->msg);
	return err->exit ? err->exit : CP_EXIT_INTERNAL;
}

enum cp_exit cp_cmd_usage(const char *verb, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "copypath %s: error: ", verb);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\ntry 'copypath %s --help'\n", verb);
	return CP_EXIT_USAGE;
}

void cp_cmd_warn(const char *fmt, ...)
{
	va_list args;

	fputs("copypath: warning: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void cp_cmd_warn_cb(void *ctx, const char *text)
{
	(void)ctx;
	cp_cmd_warn("%s", text);
}

enum cp_exit cp_cmd_finish(enum cp_exit code)
{
	int failed = fflush(stdout) || ferror(stdout);
	int errnum = errno;

	if (!failed)
		return code;
	fprintf(stderr, "copypath: error: cannot write 'stdout': %s\n", strerror(errnum));
	return cp_exit_worse(code, CP_EXIT_INVALID);
}

static void on_signal(int signo)
{
	cp_cmd_interrupted = signo;
}

void cp_cmd_catch_signals(void)
{
	/* No SA_RESTART: a wait for fio must wake up. */
	struct sigaction action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* The directory of the running program, "" when /proc does not say. */
static const char *program_dir(void)
{
	static char dir[PATH_MAX];

	if (dir[0])
		return dir;
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	if (len <= 0) {
		dir[0] = '\0';
		return dir;
	}
	dir[len] = '\0';
	char *slash = strrchr(dir, '/');
	if (slash && slash != dir)
		*slash = '\0';
	return dir;
}

static bool holds(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return !cp_path_join(path, sizeof(path), dir, name) && !access(path, R_OK);
}

const char *cp_cmd_plugin_dir(void)
{
	const char *env = getenv("COPYPATH_PLUGIN_DIR");

	if (env && env[0])
		return env;
	if (holds(program_dir(), "copypath-sync.so"))
		return program_dir();
	if (holds(CP_LIBDIR "/copypath", "copypath-sync.so"))
		return CP_LIBDIR "/copypath";
	return program_dir(); /* so that "missing" names where it should have been */
}

const char *cp_cmd_data_dir(void)
{
	static char dir[PATH_MAX + 8];
	static const char *const up[] = {"/..", "/../.."}; /* build/, build/NAME/ */
	const char *env = getenv("COPYPATH_DATA");

	if (env && env[0])
		return env;
	for (size_t i = 0; i < sizeof(up) / sizeof(up[0]); i++) {
		snprintf(dir, sizeof(dir), "%s%s", program_dir(), up[i]);
		if (holds(dir, "policies/default.yaml"))
			return dir;
	}
	return CP_PREFIX "/share/copypath";
}
