// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engines/base/units.h"

#define PATH_ROOM (PATH_MAX + 64)

bool cp_sysfs_line(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "re");
	bool read = file && fgets(buf, (int)size, file);

	if (file)
		fclose(file);
	buf[read ? strcspn(buf, "\n") : 0] = '\0';
	return read;
}

bool cp_sysfs_number(const char *dir, const char *name, uint64_t *ret_value)
{
	char text[32];

	return cp_sysfs_line(dir, name, text, sizeof(text)) &&
	       !cp_uint_parse(text, UINT64_MAX, ret_value);
}

bool cp_sysfs_link(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_ROOM], to[PATH_MAX];

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ssize_t len = readlink(path, to, sizeof(to) - 1);

	if (len <= 0)
		return false;
	to[len] = '\0';
	const char *slash = strrchr(to, '/');

	snprintf(buf, size, "%.*s", (int)size - 1, slash ? slash + 1 : to);
	return true;
}

int cp_sysfs_node(const char *dir)
{
	char at[PATH_MAX];
	uint64_t node;

	snprintf(at, sizeof(at), "%s", dir);
	for (char *slash; (slash = strrchr(at, '/')) && slash != at; *slash = '\0')
		/* -1 of a device that does not know is no number here */
		if (cp_sysfs_number(at, "numa_node", &node) && node <= INT_MAX)
			return (int)node;
	return -1;
}

bool cp_sysfs_device(const char *root, const char *kind, dev_t dev, char real[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/dev/%s/%u:%u", root, kind, major(dev),
		 minor(dev));
	return realpath(path, real) != NULL;
}
