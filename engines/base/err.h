/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One error, as text a person can act on.
 *
 * Libraries never print. A function that can fail in a way worth explaining takes a
 * `struct cp_err *err` (never NULL), fills it and returns a negative errno. The caller
 * that owns the terminal prints err->msg after "error: ".
 *
 * Messages are lower case, quote their subject with '...' and say what would work:
 * "unknown key 'bz'; expected 'bs'".
 *
 * Threading: an err belongs to one thread.
 */
#ifndef CP_ENGINES_BASE_ERR_H
#define CP_ENGINES_BASE_ERR_H

#include <stddef.h>

#define CP_ERR_MSG_MAX 8192 /* ten lines of a YAML check fit */

/* Exit codes of the command; the first of 4, 1, 3, 0 that holds wins (cp_exit_worse()).
 */
enum cp_exit {
	CP_EXIT_OK = 0,
	CP_EXIT_REGRESSED = 1,	  /* a gate regressed, or a sample of a run failed */
	CP_EXIT_USAGE = 2,	  /* usage or bad input; nothing was run */
	CP_EXIT_INCONCLUSIVE = 3, /* not enough evidence */
	CP_EXIT_INVALID = 4,	  /* invalid environment or data, no space */
	CP_EXIT_INTERNAL = 5,
	CP_EXIT_INTERRUPTED = 130,
};

struct cp_err {
	enum cp_exit
		exit; /* what the command should exit with; CP_EXIT_INTERNAL if unset */
	char msg[CP_ERR_MSG_MAX];
};

/*
 * Set err and return -errnum (errnum > 0), so that `return cp_err_set(...)` works.
 * A message that does not fit is cut with "...". exit says who is to blame: CP_EXIT_USAGE
 * for what the user wrote, CP_EXIT_INVALID for the machine or its data.
 */
int cp_err_set(struct cp_err *err, enum cp_exit exit, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Put "prefix: " before the message, keeping exit; for adding the place an error came
 * from. */
void cp_err_prefix(struct cp_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The higher-ranked of two exit codes: 130, 5, 2, 4, 1, 3, 0. */
enum cp_exit cp_exit_worse(enum cp_exit a, enum cp_exit b);

#endif
