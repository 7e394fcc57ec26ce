// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file, mapped shared: tmpfs, a page-cached file, or pmem through a DAX file system.
 * The file must be there and long enough; its length is never changed, and no byte of it
 * is written here.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "engines/base/units.h"
#include "engines/media/kinds.h"

#define POPULATE_STEP (16UL << 20)

static int check_kind(const char *name, const struct stat *st, struct cp_err *err)
{
	const char *what = "not a regular file";

	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		what = "a directory";
	else if (S_ISBLK(st->st_mode) || S_ISCHR(st->st_mode))
		what = "a device";
	return cp_err_set(err, CP_EXIT_USAGE, S_ISDIR(st->st_mode) ? EISDIR : EINVAL,
			  "'%s' is %s; expected a regular file", name, what);
}

static int cannot_open(const char *name, bool writable, int errnum, struct cp_err *err)
{
	if (errnum == ENOENT || errnum == ENOTDIR)
		return cp_err_set(
			err, CP_EXIT_USAGE, errnum,
			"'%s' does not exist; expected a file that is there and "
			"long enough",
			name);
	if (errnum == EACCES || errnum == EPERM || errnum == EROFS)
		return cp_err_set(
			err, CP_EXIT_INVALID, errnum,
			"'%s' cannot be opened for %s: %s; expected a file with "
			"that permission",
			name, writable ? "writing" : "reading", strerror(errnum));
	return cp_err_set(err, CP_EXIT_INVALID, errnum, "'%s' cannot be opened: %s", name,
			  strerror(errnum));
}

static int check_length(const char *name, const struct stat *st, uint64_t bytes,
			struct cp_err *err)
{
	char have[24], asked[24];

	if ((uint64_t)st->st_size >= bytes)
		return 0;
	cp_size_format((uint64_t)st->st_size, have, sizeof(have));
	cp_size_format(bytes, asked, sizeof(asked));
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'%s' has %s but '%s' is asked; expected a file at least that "
			  "long, it is never extended",
			  name, have, asked);
}

/* The kind is checked before the open, since opening a device or FIFO can act on it, and
 * again on what was opened. */
static int open_checked(const struct cp_media_cfg *cfg, int *ret_fd, struct cp_err *err)
{
	struct stat st;
	int flags =
		(cfg->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

	if (!cfg->filename || !cfg->filename[0])
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "media 'file' names no file; expected 'filename'");
	if (stat(cfg->filename, &st))
		return cannot_open(cfg->filename, cfg->writable, errno, err);
	int rc = check_kind(cfg->filename, &st, err);
	if (rc)
		return rc;
	int fd = open(cfg->filename, flags);
	if (fd < 0)
		return cannot_open(cfg->filename, cfg->writable, errno, err);
	if (fstat(fd, &st))
		rc = cannot_open(cfg->filename, cfg->writable, errno, err);
	if (!rc)
		rc = check_kind(cfg->filename, &st, err);
	if (!rc)
		rc = check_length(cfg->filename, &st, cfg->bytes, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static uint64_t hole_bytes(int fd, uint64_t bytes)
{
	uint64_t holes = 0;
	off_t at = 0;

	while ((uint64_t)at < bytes) {
		off_t data = lseek(fd, at, SEEK_DATA);
		/* ENXIO: nothing but a hole to the end */
		if (data < 0 && errno != ENXIO)
			break;
		if (data < 0 || (uint64_t)data >= bytes)
			return holes + (bytes - (uint64_t)at);
		holes += (uint64_t)(data - at);
		at = lseek(fd, data, SEEK_HOLE);
		if (at < 0)
			break;
	}
	return holes;
}

/* A page of tmpfs is memory, and touching a hole takes one. */
static int check_memory(int fd, const struct cp_media_cfg *cfg, struct cp_err *err)
{
	struct statfs fs;
	char what[160];

	if (fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return 0;
	snprintf(what, sizeof(what), "the holes of '%.120s'", cfg->filename);
	return cp_media_memory_check(what, hole_bytes(fd, cfg->bytes), err);
}

static bool on_dax(int fd)
{
#ifdef STATX_ATTR_DAX
	struct statx stx;

	return !statx(fd, "", AT_EMPTY_PATH, 0, &stx) &&
	       (stx.stx_attributes & STATX_ATTR_DAX);
#else
	(void)fd;
	return false;
#endif
}

static void touch(const unsigned char *base, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < bytes; at += page)
		(void)*(const volatile unsigned char *)(base + at);
}

/* Populating for writing takes the write faults as well, without changing a byte. */
static int fault_in(unsigned char *base, size_t bytes, const struct cp_media_cfg *cfg,
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

static int file_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		     struct cp_err *err)
{
	size_t bytes = cp_media_map_bytes(cfg->bytes);
	int prot = PROT_READ | (cfg->writable ? PROT_WRITE : 0);
	void *map = MAP_FAILED;
	bool persistent = false;
	int fd = -1, rc = cp_media_no_settings(cfg, err);

	if (rc)
		return rc;
	rc = open_checked(cfg, &fd, err);
	if (rc)
		return rc;
	rc = cfg->fault_in ? check_memory(fd, cfg, err) : 0;
	if (rc)
		goto out_close;
	/* Only the file system knows whether stores reach persistence without msync, and
	 * MAP_SYNC is how it says so. */
	if (on_dax(fd)) {
		map = mmap(NULL, bytes, prot, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
		persistent = map != MAP_FAILED;
	}
	if (map == MAP_FAILED)
		map = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno, "'%s' cannot be mapped: %s",
				cfg->filename, strerror(errno));
		goto out_close;
	}
	rc = cp_media_persistent_check(cfg, persistent, err);
	if (!rc && cfg->fault_in)
		rc = fault_in(map, bytes, cfg, err);
	if (rc) {
		munmap(map, bytes);
		goto out_close;
	}
	media->base = map;
	media->persistent = persistent;
out_close:
	close(fd); /* the mapping keeps the file */
	return rc;
}

static int file_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset / page * page;

	if (msync(media->base + start, (size_t)(offset + len - start), MS_SYNC))
		return -errno;
	return 0;
}

static void file_close(struct cp_media *media)
{
	munmap(media->base, cp_media_map_bytes(media->bytes));
}

static int file_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

const struct cp_media_ops cp_media_file_ops = {
	.name = "file",
	.help = "an existing file, mapped shared",
	.takes_file = true,
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.open = file_open,
	.sync = file_sync,
	.close = file_close,
	.probe = file_probe,
};
