// SPDX-License-Identifier: GPL-2.0-only
/*
 * A base address register of a PCI device, mapped through sysfs: uncached by resourceN,
 * write combining by resourceN_wc. The kernel maps all of its pages at mmap(); nothing is
 * read or written before the first I/O, since a register can act on either.
 *
 * Writes to a device are posted: a store is done for the CPU before the device has it.
 * An I/O ends as its kernel's fence says; sync() waits for the device.
 *
 * A device that goes away, or gets a driver, takes the mapping with it: SIGBUS, which the
 * fault guard makes EIO. One that only stops answering reads as all ones.
 */
#include "engines/media/bar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/guard.h"
#include "engines/media/kinds.h"

#define NATIVES (CP_ATTR_BIT(CP_ATTR_UC) | CP_ATTR_BIT(CP_ATTR_WC))

static int not_verified(const struct cp_pci_root *root, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, EACCES,
			  "'attr_native' wants the attribute of a BAR verified, and the "
			  "kernel does not tell it in '%s'; expected root, debugfs "
			  "mounted and a CPU with PAT, or no attr_native",
			  root->memtypes);
}

static int find_checked(const struct cp_pci_root *root, const struct cp_media_cfg *cfg,
			struct cp_pci_bar *ret_bar, struct cp_err *err)
{
	int rc = cp_pci_bar_find(root, cfg->filename, ret_bar, err);

	if (!rc && !(NATIVES & CP_ATTR_BIT(cfg->attr)))
		rc = cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				"media 'bar' has no memory of this attr; expected attr "
				"uc or wc");
	if (!rc)
		rc = cp_media_persistent_check(cfg, false, err);
	if (!rc)
		rc = cp_pci_bar_check(root, ret_bar, cfg->attr, cfg->bytes, err);
	return rc || !cfg->attr_native || cp_pci_bar_verifiable(root)
		       ? rc
		       : not_verified(root, err);
}

int cp_bar_look(const struct cp_pci_root *root, const struct cp_media_cfg *cfg,
		struct cp_err *err)
{
	struct cp_pci_bar bar;
	char path[CP_PCI_PATH_MAX];
	int rc = find_checked(root, cfg, &bar, err);

	if (rc)
		return rc;
	cp_pci_bar_path(&bar, cfg->attr, path);
	if (access(path, cfg->writable ? R_OK | W_OK : R_OK))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' cannot be %s: %s; expected root", path,
				  cfg->writable ? "read and written" : "read",
				  strerror(errno));
	return 0;
}

static int cannot_map(const char *path, int errnum, struct cp_err *err)
{
	const char *why = strerror(errnum);

	if (errnum == EPERM)
		why = "the kernel is locked down; expected one that is not "
		      "(/sys/kernel/security/lockdown, secure boot)";
	else if (errnum == EINVAL)
		why = "the kernel keeps it for a driver (IO_STRICT_DEVMEM); expected a "
		      "BAR nobody claims, or the boot parameter iomem=relaxed";
	return cp_err_set(err, CP_EXIT_INVALID, errnum, "'%s' cannot be mapped: %s", path,
			  why);
}

/* What it was mapped as is the kernel's word: refused where it is something else. */
static int verify(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		  const struct cp_media_cfg *cfg, struct cp_media *media,
		  struct cp_err *err)
{
	bool verified = false;
	int rc =
		cp_pci_bar_verify(root, bar, cfg->attr, media->map_bytes, &verified, err);

	if (!rc && !verified && cfg->attr_native)
		rc = not_verified(root, err);
	if (!rc && !verified)
		snprintf(media->note, sizeof(media->note),
			 "attribute not verified: the kernel does not list it in %s",
			 root->memtypes);
	return rc;
}

int cp_bar_open(const struct cp_pci_root *root, cp_bar_mmap_fn map_fn,
		struct cp_media *media, const struct cp_media_cfg *cfg,
		struct cp_err *err)
{
	size_t bytes = cp_media_map_bytes(cfg->bytes);
	int prot = PROT_READ | (cfg->writable ? PROT_WRITE : 0);
	struct cp_pci_bar bar;
	char path[CP_PCI_PATH_MAX];
	int rc = find_checked(root, cfg, &bar, err);

	if (rc)
		return rc;
	cp_pci_bar_path(&bar, cfg->attr, path);
	int fd = open(path, (cfg->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);

	if (fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' cannot be opened for %s: %s; expected root", path,
				  cfg->writable ? "writing" : "reading", strerror(errno));
	void *map = map_fn(NULL, bytes, prot, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		rc = cannot_map(path, errno, err);
	close(fd); /* the mapping keeps the device's file */
	if (rc)
		return rc;
	struct cp_media mapped = *media;

	mapped.base = mapped.map = map;
	mapped.map_bytes = bytes;
	mapped.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	/* Device memory has no pages that could be asked where they are; it is all where
	 * the device is. */
	mapped.node = bar.node;
	mapped.node_pct = bar.node < 0 ? 0 : 100;
	rc = verify(root, &bar, cfg, &mapped, err);
	if (rc)
		munmap(map, bytes);
	else
		*media = mapped;
	return rc;
}

static size_t read_word(void *dst, const void *src, size_t len, enum cp_dir dir,
			enum cp_attr attr)
{
	(void)len;
	(void)dir;
	(void)attr;
	*(uint32_t *)dst = *(const volatile uint32_t *)src;
	return 0;
}

/*
 * A read must not pass the posted writes before it (PCI Express Base Specification,
 * Transaction Ordering; linux, Documentation/driver-api/device-io.rst), so the answer to
 * one says that the device has them. The word is of the range that the caller uses.
 */
static int bar_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	uint32_t word;

	(void)len;
	/* What this thread stored has left its write-combining buffers for the device,
	 * ahead of the read: under wc alone a load may be made before them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return cp_guard_copy(read_word, &word, media->base + (offset & ~UINT64_C(3)),
			     sizeof(word), CP_DIR_READ, CP_ATTR_UC)
		       ? -EIO
		       : 0;
}

static void bar_close(struct cp_media *media)
{
	munmap(media->map, media->map_bytes);
}

static int bar_size(const char *filename, uint64_t *ret_bytes, struct cp_err *err)
{
	struct cp_pci_bar bar;
	int rc = cp_pci_bar_find(&cp_pci_root_kernel, filename, &bar, err);

	if (!rc)
		*ret_bytes = bar.bytes;
	return rc;
}

static int bar_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		    struct cp_err *err)
{
	*ret_memory = 0;
	return cp_bar_look(&cp_pci_root_kernel, cfg, err);
}

static int bar_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		    struct cp_err *err)
{
	return cp_bar_open(&cp_pci_root_kernel, mmap, media, cfg, err);
}

struct count {
	unsigned usable, all;
	char why[256]; /* the first that is not */
};

static void count_one(void *ctx, const struct cp_pci_bar *bar, const char *why)
{
	struct count *count = ctx;

	(void)bar;
	count->all++;
	count->usable += !why;
	if (why && !count->why[0])
		snprintf(count->why, sizeof(count->why), "%.255s", why);
}

static int bar_probe(struct cp_err *err)
{
	struct count count = {0};

	cp_pci_bar_each(&cp_pci_root_kernel, count_one, &count);
	if (count.usable)
		return 0;
	if (!count.all)
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "no PCI device with a BAR that is memory");
	return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
			  "none of %u BARs can be used; the first: %s", count.all,
			  count.why);
}

const struct cp_media_ops cp_media_bar_ops = {
	.name = "bar",
	.help = "a BAR of a PCI device, through sysfs",
	.takes_file = true,
	.device = true,
	.attrs = NATIVES,
	.check = cp_media_no_settings,
	.size = bar_size,
	.look = bar_look,
	.open = bar_open,
	.sync = bar_sync,
	.close = bar_close,
	.probe = bar_probe,
};
