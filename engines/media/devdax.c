// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dax device (/dev/daxX.Y): memory as a character device, without a file system. Size
 * and alignment are sysfs's. It is persistent where a persistent region of libnvdimm is
 * behind it; memory that the firmware set apart (hmem), or CXL's, is a dax device too and
 * is not.
 */
#include "engines/media/devdax.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/units.h"
#include "engines/copy/guard.h"
#include "engines/media/backing.h"
#include "engines/media/huge.h"
#include "engines/media/kinds.h"

#define EXPECTED                                                                \
	"a dax device such as /dev/dax0.0 (a file on a DAX file system: media " \
	"dax; others: media file)"

static const struct cp_backing device = {"devdax", S_IFCHR, EXPECTED};

int cp_devdax_look(const char *root, dev_t dev, const char *name, uint64_t bytes,
		   struct cp_devdax *ret_dax, struct cp_err *err)
{
	char have[24], asked[24];
	struct cp_devdax dax;
	int rc = cp_devdax_read(root, dev, &dax);

	if (rc == -ENODEV)
		return cp_err_set(err, CP_EXIT_USAGE, ENODEV,
				  "'%s' is a character device but no dax device; "
				  "expected " EXPECTED,
				  name);
	if (rc)
		return cp_err_set(err, CP_EXIT_INVALID, -rc,
				  "'%s': the kernel does not tell its size; expected one "
				  "in /sys/bus/dax/devices",
				  name);
	if (!strcmp(dax.driver, "kmem"))
		return cp_err_set(err, CP_EXIT_USAGE, EBUSY,
				  "'%s' is in use as system memory; expected one in mode "
				  "devdax (daxctl reconfigure-device -m devdax)",
				  name);
	if (bytes > dax.bytes)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' has %s but '%s' is asked; expected a size of at "
				  "most what the device has",
				  name, cp_size_format(dax.bytes, have, sizeof(have)),
				  cp_size_format(bytes, asked, sizeof(asked)));
	/* a mapping of whole aligns must still fit */
	if ((bytes + dax.align - 1) / dax.align > dax.bytes / dax.align)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' maps in steps of %" PRIu64 " bytes; expected a "
				  "size of at most %" PRIu64,
				  name, dax.align, dax.bytes / dax.align * dax.align);
	*ret_dax = dax;
	return 0;
}

static int look(const struct cp_media_cfg *cfg, struct cp_devdax *ret_dax,
		struct cp_err *err)
{
	struct stat st;
	int rc = cp_backing_stat(&device, cfg, &st, err);

	return rc ? rc
		  : cp_devdax_look("", st.st_rdev, cfg->filename, cfg->bytes, ret_dax,
				   err);
}

static int devdax_size(const char *filename, uint64_t *ret_bytes, struct cp_err *err)
{
	const struct cp_media_cfg cfg = {.spec = "devdax", .filename = filename};
	struct cp_devdax dax;
	int rc = look(&cfg, &dax, err);

	if (!rc)
		*ret_bytes = dax.bytes;
	return rc;
}

static int devdax_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		       struct cp_err *err)
{
	struct cp_devdax dax;

	*ret_memory = 0;
	return look(cfg, &dax, err);
}

/* What a sync does. NULL: nothing that it could do is known on this CPU. */
static struct cp_flush *flush_of(const struct cp_media *media)
{
	static const struct cp_arm arm = {
		.flush = "none", .fence = "auto", .persist = "auto"};
	struct cp_flush *flush = calloc(1, sizeof(*flush));
	struct cp_err err;

	if (flush &&
	    cp_flush_resolve(&arm, cp_flush_present(), media->auto_flush, flush, &err)) {
		free(flush);
		flush = NULL;
	}
	return flush;
}

static int devdax_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		       struct cp_err *err)
{
	struct cp_devdax dax;
	int fd = -1, rc = look(cfg, &dax, err);

	if (!rc)
		rc = cp_backing_open(&device, cfg, &fd, err);
	if (rc)
		return rc;
	size_t bytes = (size_t)((cfg->bytes + dax.align - 1) / dax.align * dax.align);
	void *map = mmap(NULL, bytes, PROT_READ | (cfg->writable ? PROT_WRITE : 0),
			 MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);

	if (map == MAP_FAILED) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno,
				"'%s' cannot be mapped with MAP_SYNC: %s", cfg->filename,
				strerror(errno));
		goto out_close;
	}
	media->persistent = dax.nd.pmem;
	media->auto_flush = dax.nd.pmem && dax.nd.auto_flush;
	/* its pages are none that move_pages() would tell of */
	media->node = dax.nd.node;
	media->node_pct = dax.nd.node < 0 ? 0 : 100;
	snprintf(media->note, sizeof(media->note), "mapped with MAP_SYNC, %s%s",
		 dax.nd.pmem ? "a persistent region is behind it"
			     : "no persistent region is behind it: not persistent",
		 media->auto_flush ? ", caches are flushed on power loss" : "");
	rc = cp_media_persistent_check(cfg, media->persistent, err);
	if (!rc && cfg->fault_in)
		rc = cp_backing_fault_in(map, bytes, cfg, err);
	if (rc) {
		munmap(map, bytes);
		goto out_close;
	}
	media->base = media->map = map;
	media->map_bytes = bytes;
	media->priv = flush_of(media);
	if (cfg->fault_in)
		media->page_bytes = cp_huge_of_range(map, bytes);
out_close:
	close(fd); /* the mapping keeps the device */
	return rc;
}

int cp_devdax_write_back(const struct cp_flush *flush, unsigned char *far, size_t len)
{
	/* The loads that saw the completions of other threads are done before the lines
	 * that those have stored are flushed: CLWB and CLFLUSHOPT are in no order with
	 * earlier loads. */
	cp_fence_loads();
	if (flush->ops &&
	    cp_guard_copy(flush->ops->all, far, far, len, CP_DIR_WRITE, CP_ATTR_WB))
		return -EIO;
	/* The flushed lines, and where the platform flushes by itself the stores, are in
	 * its persistence domain before the store that tells anybody of this sync. */
	cp_fence(flush->fence);
	return 0;
}

static int devdax_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	const struct cp_flush *flush = media->priv;

	if (media->flushed || !media->persistent)
		return 0;
	return flush ? cp_devdax_write_back(flush, media->base + offset, (size_t)len)
		     : -EOPNOTSUPP;
}

static void devdax_close(struct cp_media *media)
{
	free(media->priv);
	munmap(media->map, media->map_bytes);
}

static int devdax_probe(struct cp_err *err)
{
	glob_t found;

	if (glob("/dev/dax*.*", 0, NULL, &found))
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "no /dev/dax* (ndctl create-namespace -m devdax)");
	globfree(&found);
	return 0;
}

const struct cp_media_ops cp_media_devdax_ops = {
	.name = "devdax",
	.help = "a dax device, mapped with MAP_SYNC",
	.takes_file = true,
	.device = true,
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.check = cp_media_no_settings,
	.size = devdax_size,
	.look = devdax_look,
	.open = devdax_open,
	.sync = devdax_sync,
	.close = devdax_close,
	.probe = devdax_probe,
};
