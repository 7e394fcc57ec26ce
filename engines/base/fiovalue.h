/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can stand behind `key=` in a fio job file. fio 3.33 cuts a line at the first ';'
 * or '#', trims blanks (strip_blank_end() of its parse.c), replaces ${NAME} and keywords
 * such as $pagesize (options.c), and reads at most 4095 characters of a line. It has no
 * escape for any of these, so a value that holds them is refused before it is written:
 * fio would silently take another one.
 * Its filename alone has one: it is a list, split at each ':' without a '\' before it.
 */
#ifndef CP_ENGINES_BASE_FIOVALUE_H
#define CP_ENGINES_BASE_FIOVALUE_H

#include <stddef.h>

#include "engines/base/err.h"

#define CP_FIO_VALUE_MAX 4000

enum cp_fio_value {
	CP_FIO_VALUE_TEXT,     /* an option's value; '...' would name a file to fio */
	CP_FIO_VALUE_PATH,     /* a path that fio hands on as it is */
	CP_FIO_VALUE_FILENAME, /* fio's filename, which is to be written escaped */
};

/* 0, or -EINVAL (exit 2) with why; `what` is the subject of the message:
 * "'filename'", "the plug-in directory '/x'". */
int cp_fio_value_check(enum cp_fio_value kind, const char *what, const char *text,
		       struct cp_err *err);

/* name as fio's filename= takes it, with '\' before each ':'. Returns buf; twice as long
 * as the name, and 1, is always enough. */
char *cp_fio_filename_escape(const char *name, char *buf, size_t size);

#endif
