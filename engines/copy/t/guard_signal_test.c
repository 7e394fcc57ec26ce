// SPDX-License-Identifier: GPL-2.0-only
/* The guard's handlers beside those of others: who gets which signal, and who is left. */
#include "engines/copy/t/broken.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "engines/copy/guard.h"

/* How a child tells its test what it saw. */
#define CHILD_OK 40

static sigjmp_buf back;
static volatile sig_atomic_t calls, calls_above;
static void *volatile seen_addr;
static struct sigaction below; /* of handler_above */

static void handler_plain(int number)
{
	(void)number;
	calls++;
	siglongjmp(back, 1);
}

static void handler_info(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	calls++;
	seen_addr = info->si_addr;
	siglongjmp(back, 1);
}

static void handler_count(int number)
{
	(void)number;
	calls++;
}

/* A polite one: hands on what it does not know, which is all. */
static void handler_above(int number, siginfo_t *info, void *context)
{
	calls_above++;
	below.sa_sigaction(number, info, context);
}

static void set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void set_info(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	assert_int_equal(sigaction(number, &action, &below), 0);
}

static void touch(const unsigned char *at)
{
	(void)*(const volatile unsigned char *)at;
}

static size_t guarded_read(const struct broken *mem)
{
	unsigned char near[64];

	return cp_guard_copy(cp_copy_find("memcpy")->fn, near, mem->edge, 64, CP_DIR_READ,
			     CP_ATTR_WB);
}

static void get(void)
{
	struct cp_err err;

	if (cp_guard_get(&err) != 0)
		fail_msg("%s", err.msg);
}

static bool is_installed(int number, void (*handler)(int))
{
	struct sigaction now;

	assert_int_equal(sigaction(number, NULL, &now), 0);
	return now.sa_handler == handler;
}

/* Run it in a child, whose crashes are its own; what waitpid() says. */
static int in_child(void (*body)(const struct broken *), enum broken_way way)
{
	struct broken mem = broken_make(way, 0);
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		body(&mem);
		_exit(CHILD_OK);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	broken_free(&mem);
	return status;
}

#define CHILD_ASSERT(what)         \
	do {                       \
		if (!(what))       \
			_exit(99); \
	} while (0)

static void child_crash(const struct broken *mem)
{
	get();
	CHILD_ASSERT(guarded_read(mem) == 64);
	touch(mem->edge);
}

static void child_crash_ignored(const struct broken *mem)
{
	signal(SIGSEGV, SIG_IGN);
	signal(SIGBUS, SIG_IGN);
	child_crash(mem);
}

/* Description: a fault outside a copy ends the process by that signal when nobody handled
 * it before the guard, or asked to ignore it. */
static void crash_is_a_crash(void **state)
{
	static const struct {
		void (*body)(const struct broken *);
		enum broken_way way;
		int signal;
	} cases[] = {
		{child_crash, BROKEN_TRUNCATED, SIGBUS},
		{child_crash, BROKEN_PROTECTED, SIGSEGV},
		{child_crash_ignored, BROKEN_TRUNCATED, SIGBUS},
		{child_crash_ignored, BROKEN_PROTECTED, SIGSEGV},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = in_child(cases[i].body, cases[i].way);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), cases[i].signal);
	}
}

static void child_other_memory(const struct broken *mem)
{
	unsigned char near[64];

	get();
	/* one byte before the range is not the range */
	cp_guard_rec.src = (uintptr_t)mem->edge + 1;
	cp_guard_rec.dst = (uintptr_t)near;
	cp_guard_rec.len = 64;
	touch(mem->edge);
}

static void child_beyond(const struct broken *mem)
{
	unsigned char near[64];

	get();
	cp_guard_rec.src = (uintptr_t)mem->edge - 64;
	cp_guard_rec.dst = (uintptr_t)near;
	cp_guard_rec.len = 64;
	touch(mem->edge);
}

/* Description: during a copy too, a fault beside its ranges is no fault of the copy. */
static void beside_is_outside(void **state)
{
	(void)state;
	assert_int_equal(WTERMSIG(in_child(child_other_memory, BROKEN_PROTECTED)),
			 SIGSEGV);
	assert_int_equal(WTERMSIG(in_child(child_beyond, BROKEN_PROTECTED)), SIGSEGV);
}

static void child_killed(const struct broken *mem)
{
	(void)mem;
	get();
	kill(getpid(), SIGBUS);
}

static void child_killed_ignoring(const struct broken *mem)
{
	signal(SIGBUS, SIG_IGN);
	get();
	kill(getpid(), SIGBUS);
	CHILD_ASSERT(guarded_read(mem) == 64);
}

/* Description: a signal that somebody sent does what it would have done. */
static void sent_signal_is_passed(void **state)
{
	int status = in_child(child_killed, BROKEN_TRUNCATED);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	status = in_child(child_killed_ignoring, BROKEN_TRUNCATED);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CHILD_OK);
}

static void child_once(const struct broken *mem)
{
	set_handler(SIGSEGV, handler_plain, (int)SA_RESETHAND);
	get();
	if (!sigsetjmp(back, 1))
		touch(mem->edge);
	CHILD_ASSERT(calls == 1);
	CHILD_ASSERT(guarded_read(mem) == 64);
	touch(mem->edge);
}

/* Description: a handler for one signal only (SA_RESETHAND) gets one. */
static void reset_hand_is_honoured(void **state)
{
	int status = in_child(child_once, BROKEN_PROTECTED);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void child_earlier(const struct broken *mem)
{
	int number = seen_addr ? SIGBUS : SIGSEGV; /* which one is asked for */

	seen_addr = NULL;
	set_info(number, handler_info);
	get();
	CHILD_ASSERT(guarded_read(mem) == 64);
	CHILD_ASSERT(calls == 0);
	if (!sigsetjmp(back, 1))
		touch(mem->edge + 17);
	CHILD_ASSERT(calls == 1 && seen_addr == mem->edge + 17);
	CHILD_ASSERT(guarded_read(mem) == 64);
	if (!sigsetjmp(back, 1))
		touch(mem->edge + 5);
	CHILD_ASSERT(calls == 2 && seen_addr == mem->edge + 5);
	cp_guard_put();
	CHILD_ASSERT(is_installed(number, (void (*)(int))(uintptr_t)handler_info));
}

/* Description: an earlier handler gets faults outside a copy, with their address, and
 * none of a copy's; it is back when the guard has gone. */
static void earlier_handler_lives(void **state)
{
	(void)state;
	seen_addr = NULL;
	assert_int_equal(WEXITSTATUS(in_child(child_earlier, BROKEN_PROTECTED)),
			 CHILD_OK);
	seen_addr = &below;
	assert_int_equal(WEXITSTATUS(in_child(child_earlier, BROKEN_TRUNCATED)),
			 CHILD_OK);
}

static void child_above(const struct broken *mem)
{
	set_handler(SIGSEGV, handler_plain, 0);
	get();
	set_info(SIGSEGV, handler_above);
	CHILD_ASSERT(guarded_read(mem) == 64);
	CHILD_ASSERT(calls_above == 1 && calls == 0);
	/* we cannot leave from below it, and come again on top of it */
	cp_guard_put();
	CHILD_ASSERT(is_installed(SIGSEGV, (void (*)(int))(uintptr_t)handler_above));
	get();
	CHILD_ASSERT(guarded_read(mem) == 64);
	CHILD_ASSERT(calls_above == 1);
	if (!sigsetjmp(back, 1))
		touch(mem->edge);
	CHILD_ASSERT(calls_above == 2 && calls == 1);
	cp_guard_put();
	CHILD_ASSERT(is_installed(SIGSEGV, (void (*)(int))(uintptr_t)handler_above));
	/* it goes, and ours below it serves again, then goes too */
	sigaction(SIGSEGV, &below, NULL);
	get();
	CHILD_ASSERT(guarded_read(mem) == 64);
	cp_guard_put();
	CHILD_ASSERT(is_installed(SIGSEGV, handler_plain));
}

/* Description: with a handler above it that hands on, the guard works, stays below it
 * when its users leave, and never hands a fault round in a ring. */
static void handler_above_is_fine(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(in_child(child_above, BROKEN_PROTECTED)), CHILD_OK);
}

static void child_taken_away(const struct broken *mem)
{
	for (unsigned i = 0; i < 20; i++) {
		get();
		set_handler(SIGSEGV, handler_plain, 0); /* hands nothing on */
		cp_guard_put();
		get();
		CHILD_ASSERT(guarded_read(mem) == 64);
		cp_guard_put();
		CHILD_ASSERT(is_installed(SIGSEGV, handler_plain));
	}
}

/* Description: a guard whose handler was replaced is back with its next user, however
 * often that happens. */
static void replaced_comes_back(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(in_child(child_taken_away, BROKEN_PROTECTED)),
			 CHILD_OK);
}

static void child_counted(const struct broken *mem)
{
	get();
	get();
	cp_guard_put();
	CHILD_ASSERT(guarded_read(mem) == 64);
	CHILD_ASSERT(!is_installed(SIGSEGV, SIG_DFL) && !is_installed(SIGBUS, SIG_DFL));
	cp_guard_put();
	CHILD_ASSERT(is_installed(SIGSEGV, SIG_DFL) && is_installed(SIGBUS, SIG_DFL));
}

/* Description: handlers come with the first user and go with the last. */
static void users_are_counted(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(in_child(child_counted, BROKEN_PROTECTED)),
			 CHILD_OK);
}

/* Stands for the news of a memory error elsewhere in the range, found by a scrubber. */
static size_t hear_news(void *dst, const void *src, size_t len, enum cp_dir dir,
			enum cp_attr attr)
{
	siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_MCEERR_AO};

	(void)dst;
	(void)len;
	(void)dir;
	(void)attr;
	info.si_addr = (void *)(uintptr_t)src;
	info.si_addr_lsb = 12;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info);
	return 0;
}

static void child_news(const struct broken *mem)
{
	unsigned char near[64];

	set_handler(SIGBUS, handler_count, 0);
	get();
	CHILD_ASSERT(cp_guard_copy(hear_news, near, mem->base, 64, CP_DIR_READ,
				   CP_ATTR_WB) == 0);
	CHILD_ASSERT(calls == 1);
}

/* Description: an error that was found elsewhere (BUS_MCEERR_AO) ends no copy and goes to
 * the earlier handler. */
static void news_ends_no_copy(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(in_child(child_news, BROKEN_NOT)), CHILD_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crash_is_a_crash),
		cmocka_unit_test(beside_is_outside),
		cmocka_unit_test(sent_signal_is_passed),
		cmocka_unit_test(reset_hand_is_honoured),
		cmocka_unit_test(earlier_handler_lives),
		cmocka_unit_test(handler_above_is_fine),
		cmocka_unit_test(replaced_comes_back),
		cmocka_unit_test(users_are_counted),
		cmocka_unit_test(news_ends_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
