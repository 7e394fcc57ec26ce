// SPDX-License-Identifier: GPL-2.0-only
#include "bench/drive/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/base/clock.h"

#define SLICE_NS 50000000ULL

/*
 * Waits on the leash and nothing else. A word on it is the end of its duty; its end
 * without one is ours: nothing of the program's group may stay behind.
 */
static _Noreturn void guard(int leash)
{
	pid_t group = 0;
	char word;

	setpgid(0, 0);
	if (dup2(leash, 0) < 0)
		_exit(127);
	close_range(1, ~0U, 0); /* pipes, locks and terminals are not its to hold */
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_IGN);
	while (read(0, &group, sizeof(group)) < 0 && errno == EINTR)
		;
	ssize_t n;
	while ((n = read(0, &word, 1)) < 0 && errno == EINTR)
		;
	if (!n && group > 0)
		kill(-group, SIGKILL);
	_exit(0);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static pid_t wait_end(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	return got;
}

/* The guard first: there is no moment at which the program runs without. */
static int start_guard(struct cp_program *program)
{
	int leash[2];

	/* a socket: to a guard that is gone a word is an error, and no signal */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, leash))
		return -errno;
	pid_t pid = fork();
	if (!pid) {
		close(leash[1]);
		guard(leash[0]);
	}
	int errnum = errno;
	close(leash[0]);
	if (pid < 0) {
		close(leash[1]);
		return -errnum;
	}
	program->guard = pid;
	program->leash = leash[1];
	return 0;
}

static void end_guard(struct cp_program *program)
{
	ssize_t n = program->leash >= 0 ? send(program->leash, "q", 1, MSG_NOSIGNAL) : 0;

	(void)n; /* a guard that is gone has nothing to learn */
	close_fd(&program->leash);
	if (program->guard > 0)
		wait_end(program->guard, NULL);
	program->guard = 0;
}

/* fds: stdin 0, 1; stdout 2, 3; report 4, 5. Returns what went wrong as an errno. */
static int start_child(struct cp_program *program, const char *const *argv,
		       const char *dir, int err_fd, int fds[6])
{
	int errnum = 0;
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		cp_child_exec(argv, dir, (const int[]){fds[0], fds[3], err_fd}, parent,
			      fds[5]);
	if (pid < 0)
		return errno;
	setpgid(pid, pid); /* here as well: the guard may need it at once */
	ssize_t n = send(program->leash, &pid, sizeof(pid), MSG_NOSIGNAL);
	(void)n;
	close_fd(&fds[5]);
	do /* closed by exec: 0 bytes; else why exec failed */
		n = read(fds[4], &errnum, sizeof(errnum));
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		wait_end(pid, NULL);
		return errnum;
	}
	program->pid = pid;
	return 0;
}

int cp_program_start(struct cp_program *program, const char *const *argv, const char *dir,
		     int err_fd, size_t max, struct cp_err *err)
{
	int fds[6] = {-1, -1, -1, -1, -1, -1};
	int errnum = 0;

	*program = (struct cp_program){.in = -1, .out = -1, .leash = -1, .max = max};
	cp_child_keep_status();
	program->buf = malloc(max + 2);
	if (!program->buf)
		errnum = ENOMEM;
	else if (pipe2(fds, O_CLOEXEC) || pipe2(fds + 2, O_CLOEXEC) ||
		 pipe2(fds + 4, O_CLOEXEC))
		errnum = errno;
	else
		errnum = -start_guard(program);
	if (!errnum)
		errnum = start_child(program, argv, dir, err_fd, fds);
	program->in = fds[1];
	program->out = fds[2];
	close_fd(&fds[0]);
	for (int i = 3; i < 6; i++)
		close_fd(&fds[i]);
	if (!errnum && (fcntl(program->out, F_SETFL, O_NONBLOCK) ||
			fcntl(program->in, F_SETFL, O_NONBLOCK)))
		errnum = errno;
	if (!errnum)
		return 0;
	cp_program_kill(program, NULL);
	return cp_err_set(err, CP_EXIT_INVALID, errnum, "cannot start '%s': %s", argv[0],
			  strerror(errnum));
}

/* More of its output into buf; 0 at its end, negative errno. */
static ssize_t read_more(struct cp_program *program)
{
	ssize_t n;

	do
		n = read(program->out, program->buf + program->len,
			 program->max + 1 - program->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	program->len += (size_t)n;
	program->buf[program->len] = '\0';
	return n;
}

/* The whole line, as far as the program takes it; to one that is gone it is an error, and
 * no signal. */
static bool write_all(struct cp_program *program, const char *line, uint64_t end_ns,
		      const volatile int *interrupted)
{
	size_t len = strlen(line), at = 0;

	while (at < len) {
		struct pollfd fd = {.fd = program->in, .events = POLLOUT};
		ssize_t n = write(program->in, line + at, len - at);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
		else if ((interrupted && *interrupted) || cp_now_ns() > end_ns)
			return true; /* the reading side finds out */
		else
			poll(&fd, 1, (int)(SLICE_NS / 1000000));
	}
	return true;
}

static bool write_line(struct cp_program *program, const char *line, uint64_t end_ns,
		       const volatile int *interrupted)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	sigaction(SIGPIPE, &ignore, &before);
	bool good = write_all(program, line, end_ns, interrupted);
	sigaction(SIGPIPE, &before, NULL);
	return good;
}

static enum cp_program_said look(const struct cp_program *program)
{
	const char *newline = memchr(program->buf, '\n', program->len);

	if (!newline)
		return program->len >= program->max ? CP_PROGRAM_LONG : CP_PROGRAM_LATE;
	if ((size_t)(newline - program->buf) >= program->max)
		return CP_PROGRAM_LONG;
	return newline + 1 == program->buf + program->len ? CP_PROGRAM_LINE
							  : CP_PROGRAM_MORE;
}

enum cp_program_said cp_program_ask(struct cp_program *program, const char *line,
				    uint64_t timeout_ns, const volatile int *interrupted,
				    const char **ret_line, size_t *ret_len)
{
	uint64_t end_ns = cp_now_ns() + timeout_ns;
	enum cp_program_said said;

	program->len = 0;
	program->buf[0] = '\0';
	*ret_line = program->buf;
	*ret_len = 0;
	if (read_more(program) > 0) { /* nobody has asked yet */
		*ret_len = program->len;
		return CP_PROGRAM_MORE;
	}
	if (!write_line(program, line, end_ns, interrupted))
		return CP_PROGRAM_ENDED;
	for (;;) {
		struct pollfd fd = {.fd = program->out, .events = POLLIN};
		uint64_t now_ns = cp_now_ns();
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;

		if (interrupted && *interrupted)
			return CP_PROGRAM_INTERRUPTED;
		if (!left_ns)
			return CP_PROGRAM_LATE;
		left_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;
		poll(&fd, 1, (int)(left_ns / 1000000) + 1);
		ssize_t n = read_more(program);

		if (n == -EAGAIN)
			continue;
		if (n <= 0) {
			said = CP_PROGRAM_ENDED;
			break;
		}
		said = look(program);
		if (said != CP_PROGRAM_LATE)
			break;
	}
	*ret_len = program->len;
	if (said == CP_PROGRAM_LINE)
		program->buf[--*ret_len] = '\0';
	return said;
}

static void release(struct cp_program *program)
{
	end_guard(program);
	close_fd(&program->in);
	close_fd(&program->out);
	free(program->buf);
	*program = (struct cp_program){.in = -1, .out = -1, .leash = -1};
}

static void told(int status, struct cp_child_end *ret_end)
{
	if (!ret_end)
		return;
	ret_end->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ret_end->signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void cp_program_finish(struct cp_program *program, uint64_t grace_ns,
		       const volatile int *interrupted, struct cp_child_end *ret_end)
{
	uint64_t end_ns = cp_now_ns() + grace_ns;
	int status = 0;

	*ret_end = (struct cp_child_end){.exit_code = -1};
	if (program->pid <= 0) {
		release(program);
		return;
	}
	close_fd(&program->in);
	for (;;) {
		siginfo_t info = {0};

		/* left as it is, so that its number stays its own until the group is gone
		 */
		if (waitid(P_PID, (id_t)program->pid, &info,
			   WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid == program->pid)
			break;
		ret_end->interrupted = interrupted && *interrupted;
		ret_end->timed_out = !ret_end->interrupted && cp_now_ns() > end_ns;
		if (ret_end->interrupted || ret_end->timed_out)
			break;
		cp_sleep_ns(1000000);
	}
	kill(-program->pid, SIGKILL); /* and whom it left behind */
	wait_end(program->pid, &status);
	told(status, ret_end);
	release(program);
}

void cp_program_kill(struct cp_program *program, struct cp_child_end *ret_end)
{
	int status = 0;

	if (ret_end)
		*ret_end = (struct cp_child_end){.exit_code = -1};
	if (program->pid > 0) {
		kill(-program->pid, SIGKILL);
		wait_end(program->pid, &status);
		told(status, ret_end);
	}
	release(program);
}
