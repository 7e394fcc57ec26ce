// SPDX-License-Identifier: GPL-2.0-only
/* Finding a BAR: the file's name, the device's directory, its line of `resource`. */
#include "engines/media/pci.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "engines/media/sysfs.h"

/* linux/ioport.h, which is not for user space; `resource` prints them (sysfs-pci.rst). */
#define IORESOURCE_IO	    0x00000100ULL
#define IORESOURCE_MEM	    0x00000200ULL
#define IORESOURCE_PREFETCH 0x00002000ULL
#define IORESOURCE_UNSET    0x20000000ULL

#define BARS 6U /* PCI_STD_NUM_BARS */

const struct cp_pci_root cp_pci_root_kernel = {
	.devices = "/sys/bus/pci/devices",
	.iomem = "/proc/iomem",
	.memtypes = "/sys/kernel/debug/x86/pat_memtype_list",
	.mtrrs = "/proc/mtrr",
	.sysfs = true,
};

static int not_a_bar(const char *name, const char *what, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'%s' %s; expected a BAR that is memory, "
			  "/sys/bus/pci/devices/ADDRESS/resourceN (copypath probe lists "
			  "them)",
			  name, what);
}

/* N of ".../resourceN", or -1. */
static int index_of(const char *filename, bool *ret_wc)
{
	static const char stem[] = "resource";
	const char *base = strrchr(filename, '/');

	base = base ? base + 1 : filename;
	if (strncmp(base, stem, sizeof(stem) - 1) != 0)
		return -1;
	base += sizeof(stem) - 1;
	if (*base < '0' || *base >= '0' + (char)BARS)
		return -1;
	*ret_wc = !strcmp(base + 1, "_wc");
	return base[1] && !*ret_wc ? -1 : *base - '0';
}

/* Line N of `resource`: first address, last address, flags. */
static int read_line(const char *dir, unsigned index, uint64_t ret_word[3])
{
	char path[CP_PCI_PATH_MAX], line[128];
	int rc = -ENOENT;

	snprintf(path, sizeof(path), "%s/resource", dir);
	FILE *file = fopen(path, "re");
	if (!file)
		return -errno;
	for (unsigned i = 0; i <= index && fgets(line, sizeof(line), file); i++)
		if (i == index && sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64,
					 &ret_word[0], &ret_word[1], &ret_word[2]) == 3)
			rc = 0;
	fclose(file);
	return rc;
}

/* Links in the directory's path are resolved, but the file's own name is as given. */
static int find_dir(const char *filename, char dir[PATH_MAX], struct cp_err *err)
{
	char given[PATH_MAX], subsystem[16];

	snprintf(given, sizeof(given), "%s", filename);
	char *slash = strrchr(given, '/');

	if (slash == given)
		slash++;
	if (slash)
		*slash = '\0';
	if (!realpath(slash ? given : ".", dir))
		return not_a_bar(filename, "is in no directory", err);
	cp_sysfs_link(dir, "subsystem", subsystem, sizeof(subsystem));
	return strcmp(subsystem, "pci") != 0
		       ? not_a_bar(filename, "is not of a PCI device", err)
		       : 0;
}

static int check_file(const struct cp_pci_root *root, const char *filename,
		      struct stat *ret_stat, struct cp_err *err)
{
	struct statfs fs;

	if (!filename || !filename[0])
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "media 'bar' names no file; expected 'filename', "
				  "/sys/bus/pci/devices/ADDRESS/resourceN");
	if (stat(filename, ret_stat) || statfs(filename, &fs))
		return not_a_bar(filename,
				 errno == ENOENT || errno == ENOTDIR
					 ? "does not exist"
					 : "cannot be looked at",
				 err);
	if (root->sysfs && fs.f_type != SYSFS_MAGIC)
		return not_a_bar(filename, "is not in sysfs", err);
	return S_ISREG(ret_stat->st_mode)
		       ? 0
		       : not_a_bar(filename, "is no resource file", err);
}

/* The BAR by its device's own files; whether there is a file to map is not asked. */
static int describe(const char *filename, const char *dir, unsigned index,
		    struct cp_pci_bar *bar, struct cp_err *err)
{
	uint64_t word[3] = {0};
	char path[CP_PCI_PATH_MAX];

	snprintf(bar->dir, sizeof(bar->dir), "%s", dir);
	snprintf(bar->address, sizeof(bar->address), "%.15s", strrchr(dir, '/') + 1);
	bar->index = index;
	if (read_line(dir, index, word))
		return not_a_bar(filename, "is of a device without 'resource'", err);
	if (word[2] & IORESOURCE_IO)
		return not_a_bar(filename, "is I/O ports", err);
	if (!(word[2] & IORESOURCE_MEM) || word[2] & IORESOURCE_UNSET ||
	    word[1] < word[0] || !word[1])
		return not_a_bar(filename, "is a BAR without addresses", err);
	bar->start = word[0];
	bar->bytes = word[1] - word[0] + 1;
	bar->prefetchable = word[2] & IORESOURCE_PREFETCH;
	bar->has_wc = !access(cp_pci_bar_path(bar, CP_ATTR_WC, path), F_OK);
	cp_sysfs_link(dir, "driver", bar->driver, sizeof(bar->driver));
	bar->node = cp_sysfs_node(dir);
	return 0;
}

int cp_pci_bar_find(const struct cp_pci_root *root, const char *filename,
		    struct cp_pci_bar *ret_bar, struct cp_err *err)
{
	struct cp_pci_bar bar = {0};
	char dir[PATH_MAX];
	struct stat st;
	bool wc = false;
	int rc = check_file(root, filename, &st, err);

	if (rc)
		return rc;
	int index = index_of(filename, &wc);

	if (index < 0)
		return not_a_bar(filename, "is no resource0 to resource5", err);
	if (wc)
		return not_a_bar(filename,
				 "is one of two mappings of a BAR, and 'attr' "
				 "picks which",
				 err);
	rc = find_dir(filename, dir, err);
	if (!rc)
		rc = describe(filename, dir, (unsigned)index, &bar, err);
	if (rc)
		return rc;
	if ((uint64_t)st.st_size < bar.bytes)
		bar.bytes = (uint64_t)st.st_size;
	*ret_bar = bar;
	return 0;
}

char *cp_pci_bar_path(const struct cp_pci_bar *bar, enum cp_attr attr, char *buf)
{
	snprintf(buf, CP_PCI_PATH_MAX, "%s/resource%u%s", bar->dir, bar->index,
		 attr == CP_ATTR_WC ? "_wc" : "");
	return buf;
}

/* One of `each`: false when the register holds no memory. */
static bool list_one(const struct cp_pci_root *root, const char *device, unsigned index,
		     struct cp_pci_bar *bar, struct cp_err *why)
{
	char path[PATH_MAX], dir[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/%.200s/resource%u", root->devices, device,
		 index);
	*bar = (struct cp_pci_bar){0};
	*why = (struct cp_err){0};
	if (find_dir(path, dir, why) || describe(path, dir, index, bar, why))
		return false;
	*why = (struct cp_err){0};
	if (access(path, F_OK))
		snprintf(why->msg, sizeof(why->msg),
			 "the kernel has no file 'resource%u' to map it by", index);
	else if (!cp_pci_bar_find(root, path, bar, why))
		cp_pci_bar_check(root, bar, CP_ATTR_UC, 1, why);
	return true;
}

unsigned cp_pci_bar_each(const struct cp_pci_root *root,
			 void (*each)(void *ctx, const struct cp_pci_bar *bar,
				      const char *why),
			 void *ctx)
{
	struct dirent **names;
	int nr_names = scandir(root->devices, &names, NULL, alphasort);
	unsigned nr = 0;

	for (int i = 0; i < nr_names; i++) {
		for (unsigned n = 0; names[i]->d_name[0] != '.' && n < BARS; n++) {
			struct cp_pci_bar bar;
			struct cp_err why;

			if (!list_one(root, names[i]->d_name, n, &bar, &why))
				continue;
			each(ctx, &bar, why.msg[0] ? why.msg : NULL);
			nr++;
		}
		free(names[i]);
	}
	if (nr_names >= 0)
		free(names);
	return nr;
}
