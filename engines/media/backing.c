// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/units.h"

#define POPULATE_STEP (16UL << 20)

static const char *type_words(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a regular file";
	case S_IFDIR:
		return "a directory";
	case S_IFBLK:
		return "a block device";
	case S_IFCHR:
		return "a character device";
	case S_IFIFO:
		return "a FIFO";
	default:
		return "no file";
	}
}

static int check_type(const struct cp_backing *want, const char *name,
		      const struct stat *st, struct cp_err *err)
{
	if ((st->st_mode & S_IFMT) == want->type)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, S_ISDIR(st->st_mode) ? EISDIR : EINVAL,
			  "'%s' is %s; expected %s", name, type_words(st->st_mode),
			  want->expected);
}

static int cannot_open(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		       int errnum, struct cp_err *err)
{
	const char *name = cfg->filename;

	if (errnum == ENOENT || errnum == ENOTDIR)
		return cp_err_set(err, CP_EXIT_USAGE, errnum,
				  "'%s' does not exist, and is not made; expected %s",
				  name, want->expected);
	if (errnum == EACCES || errnum == EPERM || errnum == EROFS)
		return cp_err_set(
			err, CP_EXIT_INVALID, errnum,
			"'%s' cannot be opened for %s: %s; expected a file with "
			"that permission",
			name, cfg->writable ? "writing" : "reading", strerror(errnum));
	return cp_err_set(err, CP_EXIT_INVALID, errnum, "'%s' cannot be opened: %s", name,
			  strerror(errnum));
}

static int check_length(const struct cp_media_cfg *cfg, const struct stat *st,
			struct cp_err *err)
{
	char have[24], asked[24];

	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size >= cfg->bytes)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'%s' has %s but '%s' is asked; expected a file at least that "
			  "long, it is never extended",
			  cfg->filename,
			  cp_size_format((uint64_t)st->st_size, have, sizeof(have)),
			  cp_size_format(cfg->bytes, asked, sizeof(asked)));
}

int cp_backing_stat(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    struct stat *ret_st, struct cp_err *err)
{
	if (!cfg->filename || !cfg->filename[0])
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "media '%s' names no file; expected 'filename'",
				  want->media);
	if (stat(cfg->filename, ret_st))
		return cannot_open(want, cfg, errno, err);
	return check_type(want, cfg->filename, ret_st, err);
}

int cp_backing_look(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    struct stat *ret_st, struct cp_err *err)
{
	int rc = cp_backing_stat(want, cfg, ret_st, err);

	return rc ? rc : check_length(cfg, ret_st, err);
}

int cp_backing_size(const struct cp_backing *want, const char *filename,
		    uint64_t *ret_bytes, struct cp_err *err)
{
	const struct cp_media_cfg cfg = {.spec = want->media, .filename = filename};
	struct stat st;
	int rc = cp_backing_stat(want, &cfg, &st, err);

	if (!rc)
		*ret_bytes = (uint64_t)st.st_size;
	return rc;
}

int cp_backing_open(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    int *ret_fd, struct cp_err *err)
{
	struct stat st;
	int flags =
		(cfg->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int rc = cp_backing_stat(want, cfg, &st, err);

	if (rc)
		return rc;
	dev_t device = st.st_rdev;
	int fd = open(cfg->filename, flags);

	if (fd < 0)
		return cannot_open(want, cfg, errno, err);
	if (fstat(fd, &st))
		rc = cannot_open(want, cfg, errno, err);
	if (!rc)
		rc = check_type(want, cfg->filename, &st, err);
	if (!rc && st.st_rdev != device)
		rc = cannot_open(want, cfg, ENXIO, err); /* another one meanwhile */
	if (!rc)
		rc = check_length(cfg, &st, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static void touch(const unsigned char *base, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < bytes; at += page)
		(void)*(const volatile unsigned char *)(base + at);
}

/* Populating for writing takes the write faults as well, without changing a byte. */
int cp_backing_fault_in(unsigned char *base, size_t bytes, const struct cp_media_cfg *cfg,
			struct cp_err *err)
{
	int advice = cfg->writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	for (size_t at = 0; at < bytes;) {
		size_t step = bytes - at < POPULATE_STEP ? bytes - at : POPULATE_STEP;

		if (!madvise(base + at, step, advice)) {
			at += step;
		} else if (errno == EINVAL) {
			touch(base + at, bytes - at); /* a kernel before 5.14 */
			break;
		} else if (errno != EINTR) {
			return cp_err_set(err, CP_EXIT_INVALID, errno,
					  "'%s': pages cannot be brought in: %s%s",
					  cfg->filename, strerror(errno),
					  errno == EFAULT ? " (no space left, or a bad "
							    "block)"
							  : "");
		}
	}
	return 0;
}

int cp_backing_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset / page * page;

	if (msync(media->base + start, (size_t)(offset + len - start), MS_SYNC))
		return -errno;
	return 0;
}
