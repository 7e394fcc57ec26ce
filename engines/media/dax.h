/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a mapped file is really persistent, for the media file and dax. */
#ifndef CP_ENGINES_MEDIA_DAX_H
#define CP_ENGINES_MEDIA_DAX_H

#include <sys/stat.h>

#include "engines/media/media.h"
#include "engines/media/pmemlib.h"

/*
 * Map the file of fd with MAP_SYNC: the kernel lets that succeed only where a store that
 * has left the CPU's caches needs no fsync (a DAX file system whose device says so).
 * Touches nothing. -EOPNOTSUPP where it is not so.
 */
int cp_dax_map(int fd, size_t bytes, bool writable, void **ret_map);

/*
 * The verdict on a file that was mapped so: persistent, unless sysfs says that the memory
 * behind its device is volatile or libpmem says no; auto_flush and node as
 * engines/media/nd.h. The note says who said what, and who did not. root: "" but in
 * tests.
 */
void cp_dax_judge(const char *root, dev_t device, enum cp_pmemlib pmemlib,
		  const char *pmemlib_why, struct cp_media *media);
/* The same, asking libpmem about the file where it may be opened for writing. */
void cp_dax_verdict(const struct cp_media_cfg *cfg, int fd, struct cp_media *media);

/* A file system of root/proc/mounts that is mounted with dax: its folder in buf. */
bool cp_dax_mounted(const char *root, char *buf, size_t size);

#endif
