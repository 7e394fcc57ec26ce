/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel shows of DMA hardware, whether or not an engine here can use it: work
 * queues of Intel DSA (/sys/bus/dsa/devices) and the channels of the kernel's own
 * dmaengine (/sys/class/dma). For `probe`: reads sysfs, opens nothing else. The engine
 * idxd itself asks libaccel-config.
 *
 * Names of files as in the kernel's Documentation/ABI/stable/sysfs-driver-dma-idxd and
 * Documentation/ABI/testing/sysfs-class-dma (`in_use`).
 *
 * root goes before the paths: "" but in tests. Threading: any thread.
 */
#ifndef CP_ENGINES_DMA_FOUND_H
#define CP_ENGINES_DMA_FOUND_H

#include <stdbool.h>
#include <stdint.h>

struct cp_dma_queue {
	char device[32], name[32]; /* dsa0, wq0.0 */
	char path[64];		   /* /dev/dsa/wq0.0, whether or not it is there */
	/* as sysfs has them, "unknown" where it does not tell: enabled, disabled; user,
	 * kernel, none; dedicated, shared */
	char state[32], type[32], mode[32];
	int64_t size;  /* descriptors; -1 unknown */
	int node;      /* of its device, -1 unknown */
	bool usable;   /* as a user's queue, by this process */
	char why[200]; /* "" where usable; else what is wrong and how to change it */
};

struct cp_dma_driver {
	char name[32];	   /* "ioatdma"; "unknown" where sysfs does not tell */
	unsigned channels; /* of its */
	unsigned in_use;   /* of them, by somebody in the kernel */
	char first[32];	   /* "dma0chan0" */
	uint64_t nodes;	   /* bit n: some of them are on NUMA node n; 0 = not known */
};

/* Calls fn for each queue of a dsa device, in the order of their names. */
void cp_dma_queues(const char *root,
		   void (*fn)(void *ctx, const struct cp_dma_queue *queue), void *ctx);
/* Calls fn for each driver that has channels, in the order of its first one. */
void cp_dma_drivers(const char *root,
		    void (*fn)(void *ctx, const struct cp_dma_driver *driver), void *ctx);

#endif
