/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command's verbs: one file a verb in bench/cmd/, one row each in bench/main.c.
 *
 * A verb parses its own options with getopt_long (cp_cmd_* helpers below), prints results
 * to stdout and everything else to stderr, and returns an exit code.
 */
#ifndef CP_BENCH_CMD_CMD_H
#define CP_BENCH_CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "engines/base/err.h"

struct cp_verb {
	const char *name;
	const char *summary; /* one line, for `copypath --help` */
	const char *usage;   /* the whole --help text, under 25 lines */
	enum cp_exit (*run)(int argc, char **argv); /* argv[0] is the verb */
};

/* One per file in bench/cmd/. */
extern const struct cp_verb cp_verb_probe, cp_verb_run, cp_verb_learn, cp_verb_tune,
	cp_verb_explain, cp_verb_emit, cp_verb_gate, cp_verb_compare, cp_verb_report,
	cp_verb_export;

/* "copypath: error: MSG" or, when msg already holds "file:line:col: error:" lines, those;
 * to stderr. Returns err->exit (INTERNAL when unset is 0). */
enum cp_exit cp_cmd_fail(const struct cp_err *err);
/* "copypath VERB: error: ..." plus "try 'copypath VERB --help'"; returns CP_EXIT_USAGE.
 */
enum cp_exit cp_cmd_usage(const char *verb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cp_cmd_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cp_cmd_warn_cb(void *ctx, const char *text); /* cp_record_read_opts.warn */
/* Flush stdout; a full disk or a closed pipe becomes exit 4. */
enum cp_exit cp_cmd_finish(enum cp_exit code);

/* Set by SIGINT and SIGTERM once cp_cmd_catch_signals() was called. */
extern volatile int cp_cmd_interrupted;
void cp_cmd_catch_signals(void);

/* The directory of the running program (plug-ins are beside it or in LIBDIR/copypath),
 * the data directory (policies/default.yaml, configs): COPYPATH_DATA, the source tree, or
 * PREFIX/share/copypath. */
const char *cp_cmd_plugin_dir(void);
const char *cp_cmd_data_dir(void);

#define CP_VERSION_STRING CP_VERSION /* from the Makefile */

#endif
