// SPDX-License-Identifier: GPL-2.0-only
#include "bench/drive/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/base/clock.h"

#define SLICE_MS 100
#define GRACE_NS 3000000000ULL

/* Only async-signal-safe calls between fork and exec. */
_Noreturn void cp_child_exec(const char *const *argv, const char *dir, const int fds[3],
			     pid_t parent, int report_fd)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(fds[0], 0) >= 0 && dup2(fds[1], 1) >= 0 && dup2(fds[2], 2) >= 0 &&
	    (!dir[0] || !chdir(dir)))
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	int errnum = errno;
	ssize_t n = write(report_fd, &errnum, sizeof(errnum));
	(void)n; /* nobody else to tell */
	_exit(127);
}

void cp_child_keep_status(void)
{
	struct sigaction now;

	if (!sigaction(SIGCHLD, NULL, &now) &&
	    (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT)))
		signal(SIGCHLD, SIG_DFL);
}

static int start(const char *const *argv, int out_fd, int err_fd, pid_t *ret_pid,
		 struct cp_err *err)
{
	int report[2], errnum = 0, ret = 0;
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null_fd < 0 || pipe2(report, O_CLOEXEC)) {
		errnum = errno;
		if (null_fd >= 0)
			close(null_fd);
		return cp_err_set(err, CP_EXIT_INVALID, errnum, "cannot start '%s': %s",
				  argv[0], strerror(errnum));
	}
	cp_child_keep_status();
	pid_t parent = getpid(), pid = fork();
	if (!pid)
		cp_child_exec(argv, "", (const int[]){null_fd, out_fd, err_fd}, parent,
			      report[1]);
	if (pid < 0)
		errnum = errno;
	close(report[1]);
	ssize_t n = 0;
	if (pid > 0) {
		do /* closed by exec: 0 bytes; else why exec failed */
			n = read(report[0], &errnum, sizeof(errnum));
		while (n < 0 && errno == EINTR);
	}
	if (pid < 0 || n > 0) {
		ret = cp_err_set(err, CP_EXIT_INVALID, errnum, "cannot start '%s': %s",
				 argv[0], strerror(errnum));
		if (pid > 0)
			waitpid(pid, NULL, 0);
	} else {
		*ret_pid = pid;
	}
	close(report[0]);
	close(null_fd);
	return ret;
}

/* Sleep until the child ended or a slice went by; a signal ends the sleep too. */
static void wait_slice(int pid_fd)
{
	struct pollfd poll_fd = {.fd = pid_fd, .events = POLLIN};

	if (pid_fd >= 0)
		poll(&poll_fd, 1, SLICE_MS);
	else
		poll(NULL, 0, SLICE_MS / 10);
}

int cp_child_run(const char *const *argv, int out_fd, int err_fd, uint64_t timeout_ns,
		 const volatile int *interrupted, struct cp_child_end *ret_end,
		 struct cp_err *err)
{
	struct cp_child_end end = {.exit_code = -1};
	uint64_t start_ns = cp_now_ns(), asked_ns = 0;
	int status = 0;
	pid_t pid = -1;
	int ret = start(argv, out_fd, err_fd, &pid, err);

	if (ret)
		return ret;
	int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		uint64_t now_ns = cp_now_ns();

		if (got == pid)
			break;
		if (got < 0 && errno != EINTR) {
			ret = cp_err_set(err, CP_EXIT_INVALID, errno,
					 "cannot wait for '%s': %s", argv[0],
					 strerror(errno));
			break;
		}
		if (!asked_ns) {
			end.interrupted = interrupted && *interrupted;
			end.timed_out =
				!end.interrupted && now_ns - start_ns > timeout_ns;
			if (end.interrupted || end.timed_out) {
				kill(-pid, SIGINT);
				asked_ns = now_ns;
			}
		} else if (now_ns - asked_ns > GRACE_NS) {
			kill(-pid, SIGKILL);
		}
		wait_slice(pid_fd);
	}
	if (pid_fd >= 0)
		close(pid_fd);
	if (ret)
		return ret;
	if (WIFEXITED(status))
		end.exit_code = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		end.signo = WTERMSIG(status);
	*ret_end = end;
	return 0;
}

void cp_fd_text(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size - 1) {
		ssize_t n = pread(fd, buf + len, size - 1 - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	buf[len] = '\0';
}
