/* SPDX-License-Identifier: GPL-2.0-only */
/* Files written whole or not at all, and the few path helpers everyone needs. */
#ifndef CP_ENGINES_BASE_FILE_H
#define CP_ENGINES_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engines/base/err.h"

/* The whole file as malloc'ed text with a NUL behind it; at most max bytes (-EFBIG). */
int cp_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len,
		 struct cp_err *err);

/*
 * Write aside (path.tmp.PID, O_EXCL, no links followed), fsync, rename. On any failure
 * the old file stays and the temporary one is removed; err says why (exit 4; no space is
 * named).
 */
struct cp_file_new {
	FILE *stream; /* write here */
	char path[4096];
	char tmp[4096];
};
int cp_file_new_open(const char *path, struct cp_file_new *ret_file, struct cp_err *err);
int cp_file_new_commit(struct cp_file_new *file, struct cp_err *err);
void cp_file_new_abort(struct cp_file_new *file);

/* mkdir -p. */
int cp_dir_make(const char *path, struct cp_err *err);
/* snprintf into buf or -ENAMETOOLONG. */
int cp_path_join(char *buf, size_t size, const char *dir, const char *name);
/* All of it, over EINTR and short writes; negative errno. */
int cp_write_all(int fd, const void *data, size_t len);

#endif
