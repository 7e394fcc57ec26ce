// SPDX-License-Identifier: GPL-2.0-only
/* Persistent memory as the kernel lists it: regions, namespaces, dax devices. */
#include "bench/cmd/probe.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/units.h"
#include "engines/media/nd.h"
#include "engines/media/sysfs.h"

/* The first line of dir/name, or null. */
static json_t *attribute(const char *dir, const char *name)
{
	char line[128];
	json_t *text =
		cp_sysfs_line(dir, name, line, sizeof(line)) ? json_string(line) : NULL;

	return text ? text : json_null();
}

/* The same as a number. */
static json_t *number(const char *dir, const char *name)
{
	uint64_t value;

	return cp_sysfs_number(dir, name, &value) && value <= INT64_MAX
		       ? json_integer((json_int_t)value)
		       : json_null();
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_region(json_t *list, const char *dir)
{
	json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o}", "name", name_of(dir),
					      "devtype", attribute(dir, "devtype"),
					      "persistence_domain",
					      attribute(dir, "persistence_domain"),
					      "bytes", number(dir, "size")));
}

static void add_namespace(json_t *list, const char *dir)
{
	json_array_append_new(list, json_string(name_of(dir)));
}

static void add_device(json_t *list, const char *path)
{
	struct cp_devdax dax;
	struct stat st;

	if (stat(path, &st) || !S_ISCHR(st.st_mode) ||
	    cp_devdax_read("", st.st_rdev, &dax))
		return;
	json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:s,s:b,s:b}", "path", path,
					      "bytes", (json_int_t)dax.bytes, "align",
					      (json_int_t)dax.align, "driver", dax.driver,
					      "persistent", dax.nd.pmem, "auto_flush",
					      dax.nd.pmem && dax.nd.auto_flush));
}

static json_t *each(const char *pattern, void (*add)(json_t *list, const char *path))
{
	json_t *list = json_array();
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return list;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add(list, found.gl_pathv[i]);
	globfree(&found);
	return list;
}

json_t *cp_probe_pmem(void)
{
	return json_pack("{s:o,s:o,s:o}", "regions",
			 each("/sys/bus/nd/devices/region*", add_region), "namespaces",
			 each("/sys/bus/nd/devices/namespace*", add_namespace), "dax",
			 each("/dev/dax*.*", add_device));
}
