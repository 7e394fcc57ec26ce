/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that is asked and answers, a line each: started without a shell, in a process
 * group of its own, with stdin and stdout ours and stderr in a file. It ends when we do:
 * a guard process kills the group even when we are killed.
 *
 * Order of calls: cp_program_start() -> cp_program_ask()* -> cp_program_finish() or
 * cp_program_kill(). One thread. A program that has not answered is of no use any more:
 * kill it.
 */
#ifndef CP_BENCH_DRIVE_PROGRAM_H
#define CP_BENCH_DRIVE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/drive/child.h"
#include "engines/base/err.h"

struct cp_program {
	pid_t pid, guard; /* 0: not running */
	int in, out;	  /* its stdin and stdout, ours to write and read */
	int leash;	  /* the guard kills when it closes without a word */
	size_t len;	  /* of buf: what was read and is no whole line */
	char *buf;	  /* owned; max + 1 bytes */
	size_t max;
};

enum cp_program_said {
	CP_PROGRAM_LINE,	/* one line, and nothing behind it */
	CP_PROGRAM_MORE,	/* more than one line, or one unasked */
	CP_PROGRAM_LONG,	/* a line longer than max */
	CP_PROGRAM_ENDED,	/* end of its output, or it does not read */
	CP_PROGRAM_LATE,	/* nothing in time */
	CP_PROGRAM_INTERRUPTED, /* *interrupted became non-zero */
};

/*
 * argv[0] is looked up in PATH; dir ("" = ours) is where it runs; max: bytes of an
 * answer. Exit 4 when it cannot be started.
 */
int cp_program_start(struct cp_program *program, const char *const *argv, const char *dir,
		     int err_fd, size_t max, struct cp_err *err);
/*
 * Hand in a line with its newline, wait for one. *ret_line (without its newline, with a
 * NUL) is the program's, until the next call; it is what there is of it for all but LATE.
 */
enum cp_program_said cp_program_ask(struct cp_program *program, const char *line,
				    uint64_t timeout_ns, const volatile int *interrupted,
				    const char **ret_line, size_t *ret_len);
/* Close its stdin and wait for its end; after grace_ns, or when *interrupted, kill it. */
void cp_program_finish(struct cp_program *program, uint64_t grace_ns,
		       const volatile int *interrupted, struct cp_child_end *ret_end);
/* End it now, with its whole group. ret_end may be NULL. A program that is not running is
 * fine. */
void cp_program_kill(struct cp_program *program, struct cp_child_end *ret_end);

#endif
