/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "engines/base/file.h"

#include "results/errtext.h"
#include "results/record_priv.h"

struct cp_record_writer {
	int fd;
	off_t end; /* behind the last whole line */
	char path[4096];
};

static int io_error(struct cp_err *err, const char *path, const char *what, int errnum)
{
	char reason[CP_ERRTEXT_MAX];

	if (errnum == ENOSPC || errnum == EDQUOT)
		return cp_err_set(err, CP_EXIT_INVALID, errnum,
				  "'%s': no space left; expected room for the records",
				  path);
	return cp_err_set(err, CP_EXIT_INVALID, errnum, "'%s': cannot %s: %s", path, what,
			  cp_errtext(errnum, reason));
}

/* Where the last line begins: behind the last newline before end, 0 without one. */
static int last_line_start(int fd, off_t end, off_t *ret_start)
{
	char block[4096];

	while (end > 0) {
		size_t want = end < (off_t)sizeof(block) ? (size_t)end : sizeof(block);
		ssize_t got = pread(fd, block, want, end - (off_t)want);

		if (got != (ssize_t)want)
			return got < 0 ? -errno : -EIO;
		const char *newline = memrchr(block, '\n', want);

		if (newline) {
			*ret_start = end - (off_t)want + (newline - block) + 1;
			return 0;
		}
		end -= (off_t)want;
	}
	*ret_start = 0;
	return 0;
}

/* A last line that lacks only its newline is whole: an object ends with its brace. */
static bool tail_is_whole(int fd, off_t start, off_t end)
{
	struct cp_record record;
	struct cp_err ignored = {0};
	size_t len = (size_t)(end - start);
	bool whole = false;

	if (len > CP_RECORD_LINE_MAX)
		return false;
	char *line = malloc(len);

	if (line && pread(fd, line, len, start) == (ssize_t)len)
		whole = !cp_record_decode(line, len, &record, &ignored);
	free(line);
	return whole;
}

static int mend_tail(struct cp_record_writer *writer, struct cp_err *err)
{
	struct stat st;
	off_t start = 0;

	if (fstat(writer->fd, &st))
		return io_error(err, writer->path, "stat", errno);
	if (!S_ISREG(st.st_mode))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is not a regular file; expected a .jsonl file",
				  writer->path);
	writer->end = st.st_size;

	int rc = last_line_start(writer->fd, st.st_size, &start);

	if (rc)
		return io_error(err, writer->path, "read", -rc);
	if (start == st.st_size)
		return 0;
	if (tail_is_whole(writer->fd, start, st.st_size)) {
		rc = cp_write_all(writer->fd, "\n", 1);
		writer->end = st.st_size + 1;
		return rc ? io_error(err, writer->path, "write", -rc) : 0;
	}
	writer->end = start;
	if (ftruncate(writer->fd, start))
		return io_error(err, writer->path, "cut the torn last line off", errno);
	return 0;
}

/* The name of a new file must be on the disk before its first record is said to be. */
static int sync_dir(const char *path, struct cp_err *err)
{
	char dir[4096];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", len ? (int)len : 1, path);
	else
		snprintf(dir, sizeof(dir), ".");

	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return io_error(err, dir, "open", errno);
	/* Some file systems cannot sync a directory and say EINVAL: nothing to do. */
	int rc = fsync(fd) && errno != EINVAL ? io_error(err, dir, "sync", errno) : 0;

	close(fd);
	return rc;
}

int cp_record_writer_open(const char *path, struct cp_record_writer **ret,
			  struct cp_err *err)
{
	struct cp_record_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	if (!writer)
		return cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	writer->fd = -1;
	if (strlen(path) >= sizeof(writer->path)) {
		rc = cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				"'%.64s...': path too long", path);
		goto out_free;
	}
	snprintf(writer->path, sizeof(writer->path), "%s", path);
	writer->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (writer->fd < 0) {
		rc = io_error(err, path, "open", errno);
		goto out_free;
	}
	/* Two writers would each take the other's line in flight for a torn one. */
	if (flock(writer->fd, LOCK_EX | LOCK_NB)) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno,
				"'%s' is being written by another run; expected it free",
				path);
		goto out_close;
	}
	rc = mend_tail(writer, err);
	if (!rc)
		rc = sync_dir(path, err);
	if (rc)
		goto out_close;
	*ret = writer;
	return 0;

out_close:
	close(writer->fd);
out_free:
	free(writer);
	return rc;
}

static int append_line(struct cp_record_writer *writer, const char *line, size_t len,
		       struct cp_err *err)
{
	ssize_t got;

	do
		got = write(writer->fd, line, len);
	while (got < 0 && errno == EINTR);
	if (got == (ssize_t)len) {
		if (fsync(writer->fd))
			return io_error(err, writer->path, "sync", errno);
		writer->end += got;
		return 0;
	}
	/* A write that stops short of a regular file's end means that the disk is full.
	 */
	int errnum = got < 0 ? errno : ENOSPC;

	if (ftruncate(writer->fd, writer->end))
		return io_error(err, writer->path, "cut a half-written line off", errno);
	return io_error(err, writer->path, "write", errnum);
}

int cp_record_write(struct cp_record_writer *writer, const struct cp_record *record,
		    struct cp_err *err)
{
	char *line = cp_record_encode(record, err);
	int rc = -EINVAL;

	if (!line) {
		cp_err_prefix(err, "'%s'", writer->path);
		return rc;
	}
	size_t len = strlen(line);

	if (len >= CP_RECORD_LINE_MAX) {
		rc = cp_err_set(err, CP_EXIT_INVALID, EMSGSIZE,
				"'%s': a record of %zu bytes; expected under %u",
				writer->path, len, CP_RECORD_LINE_MAX);
	} else {
		line[len] = '\n'; /* over the NUL: one write() for line and newline */
		rc = append_line(writer, line, len + 1, err);
	}
	free(line);
	return rc;
}

int cp_record_writer_close(struct cp_record_writer *writer, struct cp_err *err)
{
	int rc = 0;

	if (close(writer->fd))
		rc = io_error(err, writer->path, "close", errno);
	free(writer);
	return rc;
}
