/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel shows of the channels of its own dmaengine (/sys/class/dma), whether or
 * not an engine here can use them. For `probe`: reads sysfs, opens nothing else.
 *
 * Names of files as in the kernel's Documentation/ABI/testing/sysfs-class-dma (`in_use`).
 *
 * root goes before the paths: "" but in tests. Threading: any thread.
 */
#ifndef CP_ENGINES_DMA_FOUND_H
#define CP_ENGINES_DMA_FOUND_H

#include <stdint.h>

struct cp_dma_driver {
	char name[32];	   /* "ioatdma"; "unknown" where sysfs does not tell */
	unsigned channels; /* of its */
	unsigned in_use;   /* of them, by somebody in the kernel */
	char first[32];	   /* "dma0chan0" */
	uint64_t nodes;	   /* bit n: some of them are on NUMA node n; 0 = not known */
};

/* Calls fn for each driver that has channels, in the order of its first one. */
void cp_dma_drivers(const char *root,
		    void (*fn)(void *ctx, const struct cp_dma_driver *driver), void *ctx);

#endif
