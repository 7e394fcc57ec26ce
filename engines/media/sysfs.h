/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs says of a device, in files of one line and in links: the one reader of both.
 * Opens nothing else. What is not there reads as nothing; nothing here is an error.
 */
#ifndef CP_ENGINES_MEDIA_SYSFS_H
#define CP_ENGINES_MEDIA_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The first line of dir/name, without its end; false, and "", when there is none. */
bool cp_sysfs_line(const char *dir, const char *name, char *buf, size_t size);
/* The same as a number; *ret is written on success only. */
bool cp_sysfs_number(const char *dir, const char *name, uint64_t *ret_value);
/* The last part of what the link dir/name points at: the name of a subsystem or a driver.
 * false, and "", when there is none. */
bool cp_sysfs_link(const char *dir, const char *name, char *buf, size_t size);
/* The NUMA node of a device: what its folder, or the nearest above it, has in numa_node;
 * -1 unknown. */
int cp_sysfs_node(const char *dir);

/* The folder of a device, links resolved. kind: "block" or "char"; root goes before the
 * path: "" but in tests. false where the kernel shows no such device. */
bool cp_sysfs_device(const char *root, const char *kind, dev_t dev, char real[PATH_MAX]);

#endif
