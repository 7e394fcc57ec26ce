/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs says of the memory behind a device: is it a region of persistent memory
 * (libnvdimm), and what does the platform do with its CPU caches when the power goes.
 * root goes before each path: "" but in tests. Reads only; nothing is opened but sysfs.
 *
 * Sources: Documentation/ABI/testing/sysfs-bus-nfit and sysfs-bus-nvdimm of Linux
 * (persistence_domain: "cpu_cache" = caches are flushed on power loss), sysfs-bus-dax.
 */
#ifndef CP_ENGINES_MEDIA_ND_H
#define CP_ENGINES_MEDIA_ND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engines/base/err.h"

struct cp_nd {
	bool found;	 /* a region of libnvdimm is behind the device */
	bool pmem;	 /* and it is a persistent one (devtype nd_pmem) */
	bool auto_flush; /* its CPU caches are in the persistence domain */
	int node; /* NUMA node of the region, or of a device without one; of a stacked
		   * device the one that all below it are on; -1 unknown */
};

/*
 * Of the block or character device. A stacked block device is pmem, and auto-flushed,
 * when all below it are. Where no region is found, auto_flush is true only when the
 * machine has regions and all of them say so, as libpmem takes it.
 */
enum cp_nd_kind { CP_ND_BLOCK, CP_ND_CHAR };
struct cp_nd cp_nd_of(const char *root, enum cp_nd_kind kind, dev_t dev);

struct cp_devdax {
	uint64_t bytes, align; /* of the device; a mapping is of whole aligns */
	char driver[32];       /* "device_dax", "kmem" (system memory), "" unknown */
	struct cp_nd nd;
};

/* Of a character device: -ENODEV when it is no dax device, -EINVAL when sysfs lacks its
 * size. *ret_dax is written on success only. */
int cp_devdax_read(const char *root, dev_t dev, struct cp_devdax *ret_dax);

#endif
