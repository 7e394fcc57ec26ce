// SPDX-License-Identifier: GPL-2.0-only
/* Channels of the kernel as sysfs shows them. */
#include "engines/dma/found.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"

#define DRIVERS_MAX 16 /* more share the last; a machine has two or three */

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_line(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX + 64], line[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "re");
	bool read = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	snprintf(buf, size, "%.*s", (int)size - 1, read && *line ? line : "unknown");
}

/* -1 where it is no number, and -1 is what a device says that is on no node. */
static int64_t read_number(const char *dir, const char *name)
{
	char line[32];
	uint64_t value;

	read_line(dir, name, line, sizeof(line));
	return cp_uint_parse(line, INT64_MAX, &value) ? -1 : (int64_t)value;
}

static void driver_of(const char *channel, char *buf, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/device/driver", channel);
	snprintf(buf, size, "%.31s", realpath(path, real) ? name_of(real) : "unknown");
}

void cp_dma_drivers(const char *root,
		    void (*fn)(void *ctx, const struct cp_dma_driver *driver), void *ctx)
{
	struct cp_dma_driver drivers[DRIVERS_MAX];
	char pattern[PATH_MAX], name[32];
	unsigned nr = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/sys/class/dma/dma*", root);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *channel = found.gl_pathv[i];
		unsigned d = 0;

		driver_of(channel, name, sizeof(name));
		while (d < nr && strcmp(drivers[d].name, name) != 0)
			d++;
		if (d == nr && nr < DRIVERS_MAX) {
			drivers[nr] = (struct cp_dma_driver){0};
			memcpy(drivers[nr].name, name, sizeof(name));
			snprintf(drivers[nr].first, sizeof(drivers[nr].first), "%.31s",
				 name_of(channel));
			nr++;
		}
		d = d < nr ? d : nr - 1;
		drivers[d].channels++;
		drivers[d].in_use += read_number(channel, "in_use") > 0;
		snprintf(pattern, sizeof(pattern), "%.4000s/device", channel);
		int64_t node = read_number(pattern, "numa_node");

		if (node >= 0 && node < 64)
			drivers[d].nodes |= UINT64_C(1) << node;
	}
	globfree(&found);
	for (unsigned d = 0; d < nr; d++)
		fn(ctx, &drivers[d]);
}
