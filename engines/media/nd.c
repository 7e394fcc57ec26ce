// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/nd.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engines/base/units.h"

/* A device mapper on one on one ...: deeper than anybody stacks. */
#define STACK_MAX 8
/* What device-dax aligns to unless told otherwise. */
#define ALIGN_DEFAULT (UINT64_C(2) << 20)

/* The first line of dir/name; false when there is none. */
static bool line_of(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "re");
	bool read = file && fgets(buf, (int)size, file);

	if (file)
		fclose(file);
	if (read)
		buf[strcspn(buf, "\n")] = '\0';
	return read;
}

static bool size_of(const char *dir, const char *name, uint64_t *ret_bytes)
{
	char text[32];

	return line_of(dir, name, text, sizeof(text)) &&
	       !cp_uint_parse(text, UINT64_MAX, ret_bytes);
}

/* The last part of what a link names: the name of a subsystem or a driver. */
static bool link_name(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX + 64], to[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ssize_t len = readlink(path, to, sizeof(to) - 1);

	if (len <= 0)
		return false;
	to[len] = '\0';
	snprintf(buf, size, "%s", basename(to));
	return true;
}

static bool device_dir(const char *root, enum cp_nd_kind kind, dev_t dev,
		       char real[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/dev/%s/%u:%u", root,
		 kind == CP_ND_BLOCK ? "block" : "char", major(dev), minor(dev));
	return realpath(path, real) != NULL;
}

static bool domain_flushes(const char *region)
{
	char domain[32];

	return line_of(region, "persistence_domain", domain, sizeof(domain)) &&
	       !strcmp(domain, "cpu_cache");
}

/* The libnvdimm region that a device's folder lies in. */
static bool region_above(const char *dir, struct cp_nd *nd)
{
	char at[PATH_MAX], subsystem[32], type[32];

	snprintf(at, sizeof(at), "%s", dir);
	for (char *slash; (slash = strrchr(at, '/')) && slash != at; *slash = '\0') {
		if (strncmp(slash, "/region", 7) != 0 ||
		    !link_name(at, "subsystem", subsystem, sizeof(subsystem)) ||
		    strcmp(subsystem, "nd") != 0)
			continue;
		nd->found = true;
		/* nd_volatile is memory that libnvdimm was given for other uses */
		nd->pmem = line_of(at, "devtype", type, sizeof(type)) &&
			   !strcmp(type, "nd_pmem");
		nd->auto_flush = nd->pmem && domain_flushes(at);
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
	struct cp_nd all = {.pmem = true, .auto_flush = true};
	char pattern[PATH_MAX + 16], real[PATH_MAX];
	glob_t slaves;

	snprintf(pattern, sizeof(pattern), "%s/slaves/*", dir);
	if (glob(pattern, 0, NULL, &slaves))
		return false;
	all.found = slaves.gl_pathc > 0;
	for (size_t i = 0; i < slaves.gl_pathc && all.found; i++) {
		struct cp_nd one = {0};

		all.found =
			realpath(slaves.gl_pathv[i], real) && look(real, depth + 1, &one);
		all.pmem &= one.pmem;
		all.auto_flush &= one.auto_flush;
	}
	globfree(&slaves);
	if (all.found)
		*nd = all;
	return all.found;
}

struct cp_nd cp_nd_of(const char *root, enum cp_nd_kind kind, dev_t dev)
{
	struct cp_nd nd = {0};
	char real[PATH_MAX];

	if (!device_dir(root, kind, dev, real) || !look(real, 0, &nd))
		nd.auto_flush = all_regions_flush(root);
	return nd;
}

int cp_devdax_read(const char *root, dev_t dev, struct cp_devdax *ret_dax)
{
	struct cp_devdax dax = {.align = ALIGN_DEFAULT};
	/* newer kernels have it beside the size, older ones a folder up */
	static const char *const aligns[] = {"align", "device/align",
					     "../dax_region/align", "../align"};
	char real[PATH_MAX], subsystem[32];

	if (!device_dir(root, CP_ND_CHAR, dev, real) ||
	    !link_name(real, "subsystem", subsystem, sizeof(subsystem)) ||
	    strcmp(subsystem, "dax") != 0)
		return -ENODEV;
	if (!size_of(real, "size", &dax.bytes) || !dax.bytes)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++) {
		uint64_t align;

		if (size_of(real, aligns[i], &align) && align >= 4096 &&
		    !(align & (align - 1))) {
			dax.align = align;
			break;
		}
	}
	link_name(real, "driver", dax.driver, sizeof(dax.driver));
	dax.nd = cp_nd_of(root, CP_ND_CHAR, dev);
	*ret_dax = dax;
	return 0;
}
