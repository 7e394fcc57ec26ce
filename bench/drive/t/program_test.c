// SPDX-License-Identifier: GPL-2.0-only
/* A program that is asked and answers: every way in which it may not. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/drive/program.h"

#define SECOND_NS 1000000000ULL
#define LINE_MAX_ 64

static void start(struct cp_program *program, const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int fd = memfd_create("err", MFD_CLOEXEC);
	struct cp_err err = {0};

	assert_true(fd >= 0);
	if (cp_program_start(program, argv, "", fd, LINE_MAX_, &err))
		fail_msg("%s", err.msg);
	close(fd);
}

/* Description: what a program says is told apart, and quoted. */
static void test_said(void **state)
{
	static const struct {
		const char *script;
		uint64_t timeout_ns;
		enum cp_program_said said;
		const char *text;
	} cases[] = {
		{"read x; echo \"got $x\"; read y", 60 * SECOND_NS, CP_PROGRAM_LINE,
		 "got ask"},
		/* one write, so that both lines are there at once */
		{"read x; printf 'a\\nb\\n'; read y", 60 * SECOND_NS, CP_PROGRAM_MORE,
		 "a\nb\n"},
		{"read x; printf torn", 60 * SECOND_NS, CP_PROGRAM_ENDED, "torn"},
		{"exit 3", 60 * SECOND_NS, CP_PROGRAM_ENDED, ""},
		{"exec <&-; read y </dev/null; exit 3", 60 * SECOND_NS, CP_PROGRAM_ENDED,
		 ""},
		{"while :; do sleep 60; done", 1000000, CP_PROGRAM_LATE, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_program program;
		const char *line;
		size_t len;

		start(&program, cases[i].script);
		assert_int_equal(cp_program_ask(&program, "ask\n", cases[i].timeout_ns,
						NULL, &line, &len),
				 cases[i].said);
		assert_string_equal(line, cases[i].text);
		assert_int_equal(len, strlen(cases[i].text));
		cp_program_kill(&program, NULL);
	}
}

/* Description: a line of as many bytes as there may be is one, a byte more is too long.
 */
static void test_long(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct cp_program program;
		const char *line;
		char script[80];
		size_t len;

		snprintf(script, sizeof(script), "read x; printf '%%0%dd\\n' 0; read y",
			 LINE_MAX_ - 1 + more);
		start(&program, script);
		assert_int_equal(cp_program_ask(&program, "ask\n", 60 * SECOND_NS, NULL,
						&line, &len),
				 more ? CP_PROGRAM_LONG : CP_PROGRAM_LINE);
		cp_program_kill(&program, NULL);
	}
}

/* Description: one program answers again and again, and what it says unasked is found. */
static void test_again(void **state)
{
	struct cp_program program;
	const char *line;
	size_t len;

	(void)state;
	start(&program, "while read x; do echo \"$x!\"; done");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cp_program_ask(&program, "ask\n", 60 * SECOND_NS, NULL,
						&line, &len),
				 CP_PROGRAM_LINE);
		assert_string_equal(line, "ask!");
	}
	struct cp_child_end end;
	cp_program_finish(&program, 60 * SECOND_NS, NULL, &end);
	assert_int_equal(end.exit_code, 0);
	assert_false(end.timed_out);
}

/* Description: an interrupt ends the waiting at once, and the program's end is told. */
static void test_interrupted(void **state)
{
	volatile int interrupted = 1;
	struct cp_program program;
	struct cp_child_end end;
	const char *line;
	size_t len;

	(void)state;
	start(&program, "read x; read y");
	assert_int_equal(cp_program_ask(&program, "ask\n", 60 * SECOND_NS, &interrupted,
					&line, &len),
			 CP_PROGRAM_INTERRUPTED);
	cp_program_kill(&program, &end);
	assert_int_equal(end.signo, SIGKILL);
	assert_int_equal(program.pid, 0);
}

/* Description: a line that the program does not read ends with the time, not for ever. */
static void test_unread(void **state)
{
	static char much[1U << 20];
	struct cp_program program;
	const char *line;
	size_t len;

	(void)state;
	memset(much, 'x', sizeof(much) - 2);
	much[sizeof(much) - 2] = '\n';
	start(&program, "while :; do sleep 60; done");
	assert_int_equal(cp_program_ask(&program, much, 1000000, NULL, &line, &len),
			 CP_PROGRAM_LATE);
	cp_program_kill(&program, NULL);
}

/* Description: a crash's signal and an exit code are told by finish. */
static void test_ends(void **state)
{
	struct cp_program program;
	struct cp_child_end end;

	(void)state;
	start(&program, "exit 3");
	cp_program_finish(&program, 60 * SECOND_NS, NULL, &end);
	assert_int_equal(end.exit_code, 3);
	assert_int_equal(end.signo, 0);
	start(&program, "kill -SEGV $$; read x");
	cp_program_finish(&program, 60 * SECOND_NS, NULL, &end);
	assert_int_equal(end.signo, SIGSEGV);
	start(&program, "while :; do sleep 60; done");
	cp_program_finish(&program, 1000000, NULL, &end);
	assert_true(end.timed_out);
	assert_int_equal(end.signo, SIGKILL);
}

/* Description: what cannot be started says why, and nothing of it stays. */
static void test_no_start(void **state)
{
	static const struct {
		const char *word, *dir;
	} cases[] = {{"/no/such/program", ""}, {"sh", "/no/such/directory"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const argv[] = {cases[i].word, NULL};
		struct cp_program program;
		struct cp_err err = {0};

		assert_int_equal(
			cp_program_start(&program, argv, cases[i].dir, 2, 64, &err),
			-ENOENT);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_non_null(strstr(err.msg, cases[i].word));
		assert_int_equal(program.pid, 0);
		assert_int_equal(program.guard, 0);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

/* The end of a pipe that everybody of a group holds: it is closed when all are gone. */
static bool all_gone(int fd)
{
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0;
}

/* Description: who starts it is killed, and neither it nor its children stay behind. */
static void test_orphans(void **state)
{
	int held[2], ready[2];
	char byte;

	(void)state;
	/* no CLOEXEC: the program and its child are to hold it */
	assert_int_equal(pipe(held), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		const char *const argv[] = {"sh", "-c",
					    "sleep 3600 & read x; echo up; wait", NULL};
		struct cp_program program;
		struct cp_err err;
		const char *line;
		size_t len;

		close(held[0]);
		if (cp_program_start(&program, argv, "", 2, 64, &err) ||
		    cp_program_ask(&program, "ask\n", 60 * SECOND_NS, NULL, &line,
				   &len) != CP_PROGRAM_LINE ||
		    write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(held[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(all_gone(held[0]));
	close(held[0]);
	close(ready[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_said),	 cmocka_unit_test(test_long),
		cmocka_unit_test(test_again),	 cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_unread),	 cmocka_unit_test(test_ends),
		cmocka_unit_test(test_no_start), cmocka_unit_test(test_orphans),
	};

	alarm(300); /* a guard that does not bite would leave the test waiting */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
