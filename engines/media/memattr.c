// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the module cp_memattr: ordinary memory, mapped with the attribute that was
 * asked. What the module promises is in kmod/include/uapi/cp_memattr.h.
 */
#include "engines/media/memattr.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/units.h"
#include "engines/media/kinds.h"
#include "engines/media/sysfs.h"
#include "kmod/include/uapi/cp_memattr.h"

/* The numbers of the ioctls hold these sizes: another size is another interface. */
static_assert(sizeof(struct cp_memattr_query) == 64, "CP_MEMATTR_QUERY");
static_assert(sizeof(struct cp_memattr_alloc) == 48, "CP_MEMATTR_ALLOC");

static int sys_open(const char *path, int flags)
{
	return open(path, flags);
}

static int sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

const struct cp_memattr_sys cp_memattr_sys_kernel = {
	.stat = stat,
	.fstat = fstat,
	.open = sys_open,
	.ioctl = sys_ioctl,
	.mmap = mmap,
	.close = close,
	.root = "",
};

static const struct {
	const char *name;
	uint32_t number;
} attrs[] = {
	[CP_ATTR_WB] = {"wb", CP_MEMATTR_WB},
	[CP_ATTR_UC] = {"uc", CP_MEMATTR_UC},
	[CP_ATTR_WC] = {"wc", CP_MEMATTR_WC},
	[CP_ATTR_WT] = {"wt", CP_MEMATTR_WT},
};

static const char *device_of(const struct cp_media_cfg *cfg)
{
	return cfg->filename && cfg->filename[0] ? cfg->filename : CP_MEMATTR_DEVICE;
}

static int no_driver(const char *name, int errnum, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, errnum,
			  "'%s' has no driver; expected the module cp_memattr, which is "
			  "not part of this version",
			  name);
}

/*
 * Is it the module's, by its name alone? Opening a device can act on it (a watchdog
 * starts, a tape rewinds) and so can an ioctl that means something else to its driver, so
 * sysfs is asked whose the number is.
 */
static int look_at(const struct cp_memattr_sys *sys, const char *name, dev_t *ret_dev,
		   struct cp_err *err)
{
	char dir[PATH_MAX], subsystem[16];
	struct stat st;

	if (sys->stat(name, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return cp_err_set(
				err, CP_EXIT_USAGE, errno,
				"'%s' does not exist; expected the device of the "
				"module cp_memattr, which is not part of this version",
				name);
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot look at '%s': %s",
				  name, strerror(errno));
	}
	if (!S_ISCHR(st.st_mode))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is no character device; expected that of the "
				  "module cp_memattr, " CP_MEMATTR_DEVICE,
				  name);
	if (!cp_sysfs_device(sys->root, "char", st.st_rdev, dir))
		return no_driver(name, ENODEV, err);
	cp_sysfs_link(dir, "subsystem", subsystem, sizeof(subsystem));
	if (strcmp(subsystem, "misc") != 0 ||
	    strcmp(strrchr(dir, '/') + 1, "cp_memattr") != 0)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENODEV,
			"'%s' is the device of something else than the module "
			"cp_memattr ('%s' to the kernel); expected " CP_MEMATTR_DEVICE,
			name, strrchr(dir, '/') + 1);
	*ret_dev = st.st_rdev;
	return 0;
}

static int open_device(const struct cp_memattr_sys *sys, const char *name, int *ret_fd,
		       struct cp_err *err)
{
	struct stat st;
	dev_t dev;
	int rc = look_at(sys, name, &dev, err);

	if (rc)
		return rc;
	/* also for reading only: the memory is filled before it is read */
	int fd = sys->open(name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' cannot be opened: %s; expected root, or a mode "
				  "of the device that lets you read and write",
				  name, strerror(errno));
	if (fd < 0 && (errno == ENXIO || errno == ENODEV))
		return no_driver(name, errno, err);
	if (fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' cannot be opened: %s", name, strerror(errno));
	if (sys->fstat(fd, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != dev) {
		sys->close(fd);
		return cp_err_set(err, CP_EXIT_INVALID, ENXIO,
				  "'%s' became another device while it was opened; "
				  "expected " CP_MEMATTR_DEVICE,
				  name);
	}
	*ret_fd = fd;
	return 0;
}

static int query(const struct cp_memattr_sys *sys, int fd, const char *name,
		 struct cp_memattr_query *ret_query, struct cp_err *err)
{
	*ret_query = (struct cp_memattr_query){0};
	if (sys->ioctl(fd, CP_MEMATTR_QUERY, ret_query))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s': the module cp_memattr does not tell its version "
				  "(%s), so that it is of another one; expected version "
				  "%d: build the module of this copypath, unload the old "
				  "one and load it",
				  name, strerror(errno), CP_MEMATTR_VERSION);
	if (ret_query->version != CP_MEMATTR_VERSION)
		return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
				  "'%s': the module cp_memattr speaks version %u; "
				  "expected version %d: build the module of this "
				  "copypath, unload the old one and load it",
				  name, ret_query->version, CP_MEMATTR_VERSION);
	return 0;
}

static int check_size(const char *name, const struct cp_memattr_query *have,
		      uint64_t bytes, struct cp_err *err)
{
	char asked[24], most[24];

	if (bytes <= have->bytes_max)
		return 0;
	cp_size_format(bytes, asked, sizeof(asked));
	cp_size_format(have->bytes_max, most, sizeof(most));
	return cp_err_set(err, CP_EXIT_INVALID, E2BIG,
			  "'%s' gives at most %s and '%s' is asked; expected a smaller "
			  "size",
			  name, most, asked);
}

static int check_attr(const char *name, const struct cp_memattr_query *have,
		      enum cp_attr attr, struct cp_err *err)
{
	char list[32] = "";
	size_t len = 0;

	if (have->attrs >> attrs[attr].number & 1)
		return 0;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (have->attrs >> attrs[i].number & 1)
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						len ? ", " : "", attrs[i].name);
	return cp_err_set(err, CP_EXIT_INVALID, EOPNOTSUPP,
			  "'%s' cannot give attr '%s' on this machine (is PAT off?); "
			  "expected one of: %s",
			  name, attrs[attr].name, len ? list : "none");
}

/* Open, and everything that can be refused without taking memory. */
static int open_checked(const struct cp_memattr_sys *sys, const struct cp_media_cfg *cfg,
			int *ret_fd, struct cp_err *err)
{
	const char *name = device_of(cfg);
	struct cp_memattr_query have;
	int fd = -1, rc = cp_media_persistent_check(cfg, false, err);

	if (!rc)
		rc = open_device(sys, name, &fd, err);
	if (rc)
		return rc;
	rc = query(sys, fd, name, &have, err);
	if (!rc)
		rc = check_attr(name, &have, cfg->attr, err);
	if (!rc)
		rc = check_size(name, &have, cfg->bytes, err);
	if (rc)
		sys->close(fd);
	else
		*ret_fd = fd;
	return rc;
}

static int alloc(const struct cp_memattr_sys *sys, int fd, const struct cp_media_cfg *cfg,
		 struct cp_memattr_alloc *ret_given, struct cp_err *err)
{
	struct cp_memattr_alloc ask = {
		.bytes = cfg->bytes,
		.attr = attrs[cfg->attr].number,
		.node = CP_MEMATTR_NODE_ANY,
	};
	char asked[24];

	/* An interrupted call took nothing. */
	while (sys->ioctl(fd, CP_MEMATTR_ALLOC, &ask)) {
		if (errno == EINTR)
			continue;
		cp_size_format(cfg->bytes, asked, sizeof(asked));
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' has no '%s' of attr '%s': %s%s", device_of(cfg),
				  asked, attrs[cfg->attr].name, strerror(errno),
				  errno == ENOMEM || errno == E2BIG
					  ? "; expected a smaller size"
					  : "");
	}
	if (ask.bytes < cfg->bytes || ask.bytes != cp_media_map_bytes(ask.bytes))
		return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
				  "'%s' gave %" PRIu64 " bytes for %" PRIu64
				  "; expected whole pages, at least as many: is it the "
				  "module of this copypath?",
				  device_of(cfg), (uint64_t)ask.bytes, cfg->bytes);
	*ret_given = ask;
	return 0;
}

int cp_memattr_look(const struct cp_memattr_sys *sys, const struct cp_media_cfg *cfg,
		    struct cp_err *err)
{
	int fd = -1, rc = open_checked(sys, cfg, &fd, err);

	if (!rc)
		sys->close(fd);
	return rc;
}

int cp_memattr_open(const struct cp_memattr_sys *sys, struct cp_media *media,
		    const struct cp_media_cfg *cfg, struct cp_err *err)
{
	struct cp_memattr_alloc given = {0};
	void *map = MAP_FAILED;
	int fd = -1, rc = open_checked(sys, cfg, &fd, err);

	if (!rc)
		rc = cp_media_memory_check("media 'memattr'", cfg->bytes, err);
	if (!rc)
		rc = alloc(sys, fd, cfg, &given, err);
	if (rc)
		goto out_close;
	size_t bytes = (size_t)given.bytes;

	map = sys->mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno, "'%s' cannot be mapped: %s",
				device_of(cfg), strerror(errno));
		goto out_close;
	}
	/* The only way in: a second mapping under wb would be an alias of another type.
	 */
	if (cfg->fault_in)
		cp_media_fill(map, bytes, (size_t)sysconf(_SC_PAGESIZE));
	/* The pattern has left this CPU's write-combining buffers: every job's thread
	 * sees it, and none of its stores falls into the time that is measured. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!cfg->writable && mprotect(map, bytes, PROT_READ)) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno,
				"'%s': cannot make it read-only: %s", device_of(cfg),
				strerror(errno));
		munmap(map, bytes);
		goto out_close;
	}
	media->base = media->map = map;
	media->map_bytes = bytes;
	media->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	/* The module knows, and keeps all of it on one node; its pages are none that
	 * move_pages() would tell of. */
	media->node = given.node;
	media->node_pct = given.node < 0 ? 0 : 100;
out_close:
	if (fd >= 0)
		sys->close(fd); /* the mapping keeps the memory */
	return rc;
}

static int memattr_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
			struct cp_err *err)
{
	*ret_memory = cfg->bytes;
	return cp_memattr_look(&cp_memattr_sys_kernel, cfg, err);
}

static int memattr_open(struct cp_media *media, const struct cp_media_cfg *cfg,
			struct cp_err *err)
{
	return cp_memattr_open(&cp_memattr_sys_kernel, media, cfg, err);
}

static int memattr_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	(void)media;
	(void)offset;
	(void)len;
	/* What this thread stored is what every thread and device reads from here on:
	 * under wc it has left the write-combining buffers for memory; under wb it may
	 * be in a cache, which is coherent. Nothing of it outlives the module, so that
	 * this is as durable as it gets. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

static void memattr_close(struct cp_media *media)
{
	munmap(media->map, media->map_bytes);
}

static int memattr_probe(struct cp_err *err)
{
	const struct cp_memattr_sys *sys = &cp_memattr_sys_kernel;
	struct cp_memattr_query have;
	int fd = -1, rc = open_device(sys, CP_MEMATTR_DEVICE, &fd, err);

	if (rc)
		return rc;
	rc = query(sys, fd, CP_MEMATTR_DEVICE, &have, err);
	sys->close(fd);
	return rc;
}

const struct cp_media_ops cp_media_memattr_ops = {
	.name = "memattr",
	.help = "memory of the module cp_memattr, under any attribute",
	.file_default = CP_MEMATTR_DEVICE,
	.attrs = CP_ATTR_BIT(CP_ATTR_WB) | CP_ATTR_BIT(CP_ATTR_UC) |
		 CP_ATTR_BIT(CP_ATTR_WC) | CP_ATTR_BIT(CP_ATTR_WT),
	.check = cp_media_no_settings,
	.look = memattr_look,
	.open = memattr_open,
	.sync = memattr_sync,
	.close = memattr_close,
	.probe = memattr_probe,
};
