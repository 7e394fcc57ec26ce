/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One child process: started without a shell, in a process group of its own (so that a
 * terminal's Ctrl-C reaches us first), dying with us, ended by its pid.
 */
#ifndef CP_BENCH_DRIVE_CHILD_H
#define CP_BENCH_DRIVE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engines/base/err.h"

struct cp_child_end {
	bool timed_out, interrupted; /* it was ended by us, and why */
	int exit_code;		     /* -1 when a signal ended it */
	int signo;		     /* 0 when it exited */
};

/*
 * Run argv[0] (looked up in PATH) to its end with stdin empty and stdout, stderr on the
 * given descriptors. After timeout_ns, or when *interrupted (may be NULL) becomes
 * non-zero, it gets SIGINT and 3 s later SIGKILL. 0 when it was started, whatever came of
 * it; exit 4 when it could not be, or when its end was somebody else's to learn. An
 * ignored SIGCHLD is set to its default, without which there is no end to learn.
 */
int cp_child_run(const char *const *argv, int out_fd, int err_fd, uint64_t timeout_ns,
		 const volatile int *interrupted, struct cp_child_end *ret_end,
		 struct cp_err *err);

/* Where whoever started us ignores SIGCHLD, children leave no status behind: it is set to
 * its default. Before each fork(). */
void cp_child_keep_status(void);

/*
 * What a child does between fork() and exec: dies with `parent`, leads a process group,
 * has the signals of a fresh program, fds as stdin, stdout, stderr, and dir ("" = ours)
 * to run in. Where exec fails its errno goes to report_fd.
 */
_Noreturn void cp_child_exec(const char *const *argv, const char *dir, const int fds[3],
			     pid_t parent, int report_fd);

/* The whole of what a descriptor holds (from its start) as text in buf, cut at size - 1.
 */
void cp_fd_text(int fd, char *buf, size_t size);

#endif
