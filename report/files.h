/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of one report: made aside in dir.tmp.PID, listed in the marker, and put in
 * place of an older report in one step. Private to report/.
 */
#ifndef CP_REPORT_FILES_H
#define CP_REPORT_FILES_H

#include <stddef.h>
#include <stdio.h>

#include "engines/base/err.h"

struct cp_report_files {
	char dir[4096];	     /* where the report will be */
	char tmp[4096 + 64]; /* where it is made */
	char **names;	     /* owned; relative to both */
	size_t nr;
};

/* Refuses a dir that is no report (exit 2); makes tmp with figures/ and tables/. */
int cp_report_files_begin(struct cp_report_files *files, const char *dir,
			  struct cp_err *err);
int cp_report_files_add(struct cp_report_files *files, const char *name,
			struct cp_err *err);
/* Add and open for writing. */
int cp_report_files_open(struct cp_report_files *files, const char *name, FILE **ret,
			 struct cp_err *err);
/* Close; a write that failed is an error (exit 4). out may be NULL. */
int cp_report_files_close(FILE *out, const char *name, struct cp_err *err);
/* Write the marker and swap. The older report is removed afterwards. */
int cp_report_files_commit(struct cp_report_files *files, struct cp_err *err);
/* After begin, in any case: removes tmp if it is still there. */
void cp_report_files_end(struct cp_report_files *files);

#endif
