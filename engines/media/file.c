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

#include "engines/media/backing.h"
#include "engines/media/dax.h"
#include "engines/media/huge.h"
#include "engines/media/kinds.h"

static const struct cp_backing regular = {"file", S_IFREG, "a regular file"};

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

static int file_size(const char *filename, uint64_t *ret_bytes, struct cp_err *err)
{
	return cp_backing_size(&regular, filename, ret_bytes, err);
}

static int file_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		     struct cp_err *err)
{
	struct stat st;

	*ret_memory = 0;
	return cp_backing_look(&regular, cfg, &st, err);
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

static int file_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		     struct cp_err *err)
{
	size_t bytes = cp_media_map_bytes(cfg->bytes);
	void *map = NULL;
	int fd = -1, rc = cp_backing_open(&regular, cfg, &fd, err);

	if (rc)
		return rc;
	rc = cfg->fault_in ? check_memory(fd, cfg, err) : 0;
	if (rc)
		goto out_close;
	/* Only the file system knows whether stores reach persistence without msync, and
	 * MAP_SYNC is how it says so. */
	if (!cp_dax_map(fd, bytes, cfg->writable, &map))
		cp_dax_verdict(cfg, fd, media);
	else
		map = mmap(NULL, bytes, PROT_READ | (cfg->writable ? PROT_WRITE : 0),
			   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno, "'%s' cannot be mapped: %s",
				cfg->filename, strerror(errno));
		goto out_close;
	}
	rc = cp_media_persistent_check(cfg, media->persistent, err);
	if (!rc && cfg->fault_in)
		rc = cp_backing_fault_in(map, bytes, cfg, err);
	if (rc) {
		munmap(map, bytes);
		goto out_close;
	}
	media->base = media->map = map;
	media->map_bytes = bytes;
	/* a mapping of DAX is in no count of pages */
	if (cfg->fault_in && !media->note[0])
		media->page_bytes = cp_huge_of_range(map, bytes);
out_close:
	close(fd); /* the mapping keeps the file */
	return rc;
}

static void file_close(struct cp_media *media)
{
	munmap(media->map, media->map_bytes);
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
	.may_make = true,
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.check = cp_media_no_settings,
	.size = file_size,
	.look = file_look,
	.open = file_open,
	.sync = cp_backing_sync,
	.close = file_close,
	.probe = file_probe,
};
