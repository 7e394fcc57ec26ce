// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/nd.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/media/sysfs.h"

/* A device mapper on one on one ...: deeper than anybody stacks. */
#define STACK_MAX 8
/* What device-dax aligns to unless told otherwise. */
#define ALIGN_DEFAULT (UINT64_C(2) << 20)

static bool domain_flushes(const char *region)
{
	char domain[32];

	return cp_sysfs_line(region, "persistence_domain", domain, sizeof(domain)) &&
	       !strcmp(domain, "cpu_cache");
}

/* The libnvdimm region that a device's folder lies in. */
static bool region_above(const char *dir, struct cp_nd *nd)
{
	char at[PATH_MAX], subsystem[32], type[32];

	snprintf(at, sizeof(at), "%s", dir);
	for (char *slash; (slash = strrchr(at, '/')) && slash != at; *slash = '\0') {
		if (strncmp(slash, "/region", 7) != 0 ||
		    !cp_sysfs_link(at, "subsystem", subsystem, sizeof(subsystem)) ||
		    strcmp(subsystem, "nd") != 0)
			continue;
		nd->found = true;
		/* nd_volatile is memory that libnvdimm was given for other uses */
		nd->pmem = cp_sysfs_line(at, "devtype", type, sizeof(type)) &&
			   !strcmp(type, "nd_pmem");
		nd->auto_flush = nd->pmem && domain_flushes(at);
		nd->node = cp_sysfs_node(dir);
		return true;
	}
	return false;
}

static bool all_regions_flush(const char *root)
{
	char pattern[PATH_MAX];
	bool all;
	glob_t regions;

	snprintf(pattern, sizeof(pattern), "%s/sys/bus/nd/devices/region*", root);
	if (glob(pattern, 0, NULL, &regions))
		return false;
	all = regions.gl_pathc > 0;
	for (size_t i = 0; i < regions.gl_pathc && all; i++)
		all = domain_flushes(regions.gl_pathv[i]);
	globfree(&regions);
	return all;
}

static bool below_all(const char *dir, unsigned depth, struct cp_nd *nd);

static bool look(const char *dir, unsigned depth, struct cp_nd *nd)
{
	return region_above(dir, nd) || (depth < STACK_MAX && below_all(dir, depth, nd));
}

/* Of the devices that a stacked one is made of; all must be known. */
static bool below_all(const char *dir, unsigned depth, struct cp_nd *nd)
{
	struct cp_nd all = {.pmem = true, .auto_flush = true, .node = -1};
	char pattern[PATH_MAX + 16], real[PATH_MAX];
	glob_t slaves;

	snprintf(pattern, sizeof(pattern), "%s/slaves/*", dir);
	if (glob(pattern, 0, NULL, &slaves))
		return false;
	all.found = slaves.gl_pathc > 0;
	for (size_t i = 0; i < slaves.gl_pathc && all.found; i++) {
		struct cp_nd one = {.node = -1};

		all.found =
			realpath(slaves.gl_pathv[i], real) && look(real, depth + 1, &one);
		all.pmem &= one.pmem;
		all.auto_flush &= one.auto_flush;
		all.node = i == 0 || one.node == all.node ? one.node : -1;
	}
	globfree(&slaves);
	if (all.found)
		*nd = all;
	return all.found;
}

struct cp_nd cp_nd_of(const char *root, enum cp_nd_kind kind, dev_t dev)
{
	struct cp_nd nd = {.node = -1};
	char real[PATH_MAX];
	bool shown =
		cp_sysfs_device(root, kind == CP_ND_BLOCK ? "block" : "char", dev, real);

	if (!shown || !look(real, 0, &nd))
		nd.auto_flush = all_regions_flush(root);
	if (shown && !nd.found)
		nd.node = cp_sysfs_node(real);
	return nd;
}

int cp_devdax_read(const char *root, dev_t dev, struct cp_devdax *ret_dax)
{
	struct cp_devdax dax = {.align = ALIGN_DEFAULT};
	/* newer kernels have it beside the size, older ones a folder up */
	static const char *const aligns[] = {"align", "device/align",
					     "../dax_region/align", "../align"};
	char real[PATH_MAX], subsystem[32];

	if (!cp_sysfs_device(root, "char", dev, real) ||
	    !cp_sysfs_link(real, "subsystem", subsystem, sizeof(subsystem)) ||
	    strcmp(subsystem, "dax") != 0)
		return -ENODEV;
	if (!cp_sysfs_number(real, "size", &dax.bytes) || !dax.bytes)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++) {
		uint64_t align;

		if (cp_sysfs_number(real, aligns[i], &align) && align >= 4096 &&
		    !(align & (align - 1))) {
			dax.align = align;
			break;
		}
	}
	cp_sysfs_link(real, "driver", dax.driver, sizeof(dax.driver));
	dax.nd = cp_nd_of(root, CP_ND_CHAR, dev);
	*ret_dax = dax;
	return 0;
}
