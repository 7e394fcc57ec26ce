// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file on a DAX file system: loads and stores go to the persistent memory itself.
 * Unlike `file` it refuses a file that is anywhere else. MAP_SYNC decides; libpmem is
 * asked as a check where it is installed.
 */
#include "engines/media/dax.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/copy.h"
#include "engines/media/backing.h"
#include "engines/media/kinds.h"
#include "engines/media/nd.h"

#define ON_DAX                                                              \
	"a file on a file system mounted with -o dax (a dax device: media " \
	"devdax; a page-cached or tmpfs file: media file)"

static const struct cp_backing dax_backing = {"dax", S_IFREG, ON_DAX};

int cp_dax_map(int fd, size_t bytes, bool writable, void **ret_map)
{
	void *map = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0),
			 MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret_map = map;
	return 0;
}

void cp_dax_judge(const char *root, dev_t device, enum cp_pmemlib pmemlib,
		  const char *pmemlib_why, struct cp_media *media)
{
	struct cp_nd nd = cp_nd_of(root, CP_ND_BLOCK, device);
	const char *libpmem = pmemlib == CP_PMEMLIB_YES	 ? "libpmem agrees"
			      : pmemlib == CP_PMEMLIB_NO ? "libpmem says no: not "
							   "counted as persistent"
							 : pmemlib_why;

	media->persistent = pmemlib != CP_PMEMLIB_NO && (nd.pmem || !nd.found);
	media->auto_flush = media->persistent && nd.auto_flush;
	/* its pages are none that move_pages() would tell of */
	media->node = nd.node;
	media->node_pct = nd.node < 0 ? 0 : 100;
	snprintf(media->note, sizeof(media->note), "mapped with MAP_SYNC, %s%s%s",
		 libpmem,
		 !nd.found  ? ", its region is unknown"
		 : !nd.pmem ? ", its region is volatile: not persistent"
			    : "",
		 media->auto_flush ? ", caches are flushed on power loss" : "");
}

void cp_dax_verdict(const struct cp_media_cfg *cfg, int fd, struct cp_media *media)
{
	const char *why = "libpmem was not asked about a file to be read";
	enum cp_pmemlib pmemlib = CP_PMEMLIB_SILENT;
	struct stat st;

	char path[32];

	/* what was mapped, whatever the name is of by now */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (cfg->writable)
		pmemlib = cp_pmemlib_ask(CP_COPY_LIBPMEM, path, &why);
	/* a file system without a device of its own is in no list of sysfs */
	cp_dax_judge("", fstat(fd, &st) ? 0 : st.st_dev, pmemlib, why, media);
}

static int not_dax(const char *name, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, EOPNOTSUPP,
			  "'%s' is not on a DAX file system; expected " ON_DAX, name);
}

/* Of what was opened, or (fd AT_FDCWD) of a name. */
static int check_dax(int fd, const char *path, const char *name, struct cp_err *err)
{
#ifdef STATX_ATTR_DAX
	struct statx stx;

	if (!statx(fd, path, path[0] ? 0 : AT_EMPTY_PATH, 0, &stx) &&
	    (stx.stx_attributes_mask & STATX_ATTR_DAX) &&
	    !(stx.stx_attributes & STATX_ATTR_DAX))
		return not_dax(name, err);
#else
	(void)fd;
	(void)path;
	(void)name;
	(void)err;
#endif
	return 0;
}

static int dax_size(const char *filename, uint64_t *ret_bytes, struct cp_err *err)
{
	return cp_backing_size(&dax_backing, filename, ret_bytes, err);
}

/* What can be told from its name; a kernel before 5.8 does not say, and then only the
 * mapping will. */
static int dax_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		    struct cp_err *err)
{
	struct stat st;
	int rc = cp_backing_look(&dax_backing, cfg, &st, err);

	*ret_memory = 0;
	return rc ? rc : check_dax(AT_FDCWD, cfg->filename, cfg->filename, err);
}

static int cannot_map(const char *name, int rc, struct cp_err *err)
{
	if (rc == -EOPNOTSUPP)
		return cp_err_set(err, CP_EXIT_USAGE, EOPNOTSUPP,
				  "'%s' cannot be mapped with MAP_SYNC: no DAX file "
				  "system, or its device keeps no store without fsync; "
				  "expected " ON_DAX,
				  name);
	return cp_err_set(err, CP_EXIT_INVALID, -rc, "'%s' cannot be mapped: %s", name,
			  strerror(-rc));
}

static int dax_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		    struct cp_err *err)
{
	size_t bytes = cp_media_map_bytes(cfg->bytes);
	uint64_t memory;
	void *map = NULL;
	int fd = -1, rc = dax_look(cfg, &memory, err);

	if (!rc)
		rc = cp_backing_open(&dax_backing, cfg, &fd, err);
	if (rc)
		return rc;
	rc = check_dax(fd, "", cfg->filename, err); /* the name may have moved on */
	if (rc)
		goto out_close;
	rc = cp_dax_map(fd, bytes, cfg->writable, &map);
	if (rc) {
		rc = cannot_map(cfg->filename, rc, err);
		goto out_close;
	}
	cp_dax_verdict(cfg, fd, media);
	rc = cp_media_persistent_check(cfg, media->persistent, err);
	if (!rc && cfg->fault_in)
		rc = cp_backing_fault_in(map, bytes, cfg, err);
	if (rc) {
		munmap(map, bytes);
		goto out_close;
	}
	/* page_bytes stays unknown: the kernel counts no large pages of such a mapping */
	media->base = media->map = map;
	media->map_bytes = bytes;
out_close:
	close(fd); /* the mapping keeps the file */
	return rc;
}

static void dax_close(struct cp_media *media)
{
	munmap(media->map, media->map_bytes);
}

bool cp_dax_mounted(const char *root, char *buf, size_t size)
{
	char path[512];
	struct mntent *mount;
	bool found = false;

	snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
	FILE *mounts = setmntent(path, "re");

	if (!mounts)
		return false;
	while (!found && (mount = getmntent(mounts))) {
		const char *dax = hasmntopt(mount, "dax");

		found = dax && strncmp(dax, "dax=never", 9) != 0 &&
			strncmp(dax, "dax=inode", 9) != 0;
		if (found)
			snprintf(buf, size, "%s", mount->mnt_dir);
	}
	endmntent(mounts);
	return found;
}

static int dax_probe(struct cp_err *err)
{
	char folder[256];

	if (cp_dax_mounted("", folder, sizeof(folder)))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
			  "no file system is mounted with dax (mkfs.ext4 /dev/pmem0; "
			  "mount -o dax /dev/pmem0 DIR)");
}

const struct cp_media_ops cp_media_dax_ops = {
	.name = "dax",
	.help = "a file on a DAX file system, mapped with MAP_SYNC",
	.takes_file = true,
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.check = cp_media_no_settings,
	.size = dax_size,
	.look = dax_look,
	.open = dax_open,
	.sync = cp_backing_sync,
	.close = dax_close,
	.probe = dax_probe,
};
