/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sys/stat.h>

#include "engines/base/file.h"
#include "results/errtext.h"
#include "results/record_priv.h"

/* Lines of a stream, none longer than CP_RECORD_LINE_MAX. */
struct lines {
	FILE *stream;
	char *buf;
	size_t start, used; /* of buf: the next line, the bytes read so far */
	bool eof;
};
#define BUF_SIZE (2U * CP_RECORD_LINE_MAX)

struct line {
	const char *text;
	size_t len;
	bool torn; /* the last one, without its newline */
};

/* 1 and a line, 0 at the end, negative errno. */
static int next_line(struct lines *lines, struct line *ret_line)
{
	for (size_t scanned = 0;;) {
		const char *at = lines->buf + lines->start;
		size_t have = lines->used - lines->start;
		const char *newline = memchr(at + scanned, '\n', have - scanned);
		size_t len = newline ? (size_t)(newline - at) : have;

		if (len > CP_RECORD_LINE_MAX)
			return -EMSGSIZE;
		if (newline || lines->eof) {
			*ret_line = (struct line){at, len, !newline};
			lines->start += newline ? len + 1 : len;
			return newline || len ? 1 : 0;
		}
		scanned = have;
		memmove(lines->buf, at, have);
		lines->start = 0;
		lines->used = have;

		size_t got = fread(lines->buf + have, 1, BUF_SIZE - have, lines->stream);

		if (got < BUF_SIZE - have) {
			if (ferror(lines->stream))
				return errno ? -errno : -EIO;
			lines->eof = true;
		}
		lines->used += got;
	}
}

static void warn(const struct cp_record_read_opts *opts, const char *path, unsigned nr)
{
	char text[512];

	if (!opts || !opts->warn)
		return;
	snprintf(text, sizeof(text), "'%.400s', line %u: torn last line dropped", path,
		 nr);
	opts->warn(opts->ctx, text);
}

static int read_lines(struct lines *lines, const char *path,
		      const struct cp_record_read_opts *opts,
		      int (*fn)(void *ctx, struct cp_record *record, unsigned line),
		      void *ctx, struct cp_err *err)
{
	for (unsigned nr = 1;; nr++) {
		struct cp_record record;
		struct line line = {0};
		char reason[CP_ERRTEXT_MAX];
		unsigned column = 1;
		int rc = next_line(lines, &line);

		if (!rc)
			return 0;
		if (rc == -EMSGSIZE)
			return cp_err_set(err, CP_EXIT_INVALID, EMSGSIZE,
					  "%s:%u:1: error: line too long; expected at "
					  "most %u bytes",
					  path, nr, CP_RECORD_LINE_MAX);
		if (rc < 0)
			return cp_err_set(err, CP_EXIT_INVALID, -rc,
					  "'%s': cannot read: %s", path,
					  cp_errtext(-rc, reason));
		rc = cp_record_decode_raw(line.text, line.len, &record, &column, err);
		if (rc && line.torn && (!opts || !opts->strict)) {
			warn(opts, path, nr);
			return 0;
		}
		if (rc && line.torn)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "%s:%u:1: error: torn last line; expected a "
					  "whole record",
					  path, nr);
		if (rc) {
			cp_err_prefix(err, "%s:%u:%u: error", path, nr, column);
			return rc;
		}
		rc = fn(ctx, &record, nr);
		json_decref(record.raw);
		if (rc)
			return rc;
	}
}

/* The file behind a run directory or a file name. */
static int records_path(const char *path, char *buf, size_t size, struct cp_err *err)
{
	char reason[CP_ERRTEXT_MAX];
	struct stat st;
	int rc;

	if (stat(path, &st))
		return cp_err_set(err, CP_EXIT_USAGE, errno,
				  "'%s': %s; expected a run directory or a .jsonl file",
				  path, cp_errtext(errno, reason));
	if (S_ISDIR(st.st_mode))
		rc = cp_path_join(buf, size, path, "records.jsonl");
	else
		rc = snprintf(buf, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
	if (rc)
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "'%.64s...': path too long", path);
	return 0;
}

int cp_record_read(const char *path, const struct cp_record_read_opts *opts,
		   int (*fn)(void *ctx, struct cp_record *record, unsigned line),
		   void *ctx, struct cp_err *err)
{
	char reason[CP_ERRTEXT_MAX];
	char file[4096];
	struct lines lines = {0};
	int rc = records_path(path, file, sizeof(file), err);

	if (rc)
		return rc;
	lines.stream = fopen(file, "re");
	if (!lines.stream)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s': cannot open: %s; expected records", file,
				  cp_errtext(errno, reason));
	lines.buf = malloc(BUF_SIZE);
	if (lines.buf)
		rc = read_lines(&lines, file, opts, fn, ctx, err);
	else
		rc = cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	free(lines.buf);
	fclose(lines.stream);
	return rc;
}
