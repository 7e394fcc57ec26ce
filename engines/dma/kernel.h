/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel engine: channels of the kernel's dmaengine through /dev/cp_dma, whose
 * interface is kmod/include/uapi/cp_dma.h. "kernel[:DEVICE][,chan=N]".
 *
 * Transactions are collected by submit and go down with one SUBMIT a doorbell;
 * completions come from a ring in shared memory, without a system call.
 *
 * Memory that a transaction uses has to be registered (pinned). The far range is, at
 * open, where cfg.far says what it is; any other range is at its first use, page by page,
 * and stays so until there are too many: the one that was not used for longest goes then.
 * A program that unmaps a buffer and gets other memory at its address is safe: the module
 * answers ESTALE and the range is registered again (kernel_maps.c).
 */
#ifndef CP_ENGINES_DMA_KERNEL_H
#define CP_ENGINES_DMA_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/dma/channel.h"
#include "engines/dma/kernel_sys.h"
#include "kmod/include/uapi/cp_dma.h"

#define KERNEL_HINTS 256U /* places to look first for a range; a power of two */

struct kernel_map {
	uintptr_t addr;
	size_t len;
	uint32_t access; /* CP_DMADEV_M_* */
	unsigned users;	 /* transactions, counted for each segment */
	uint64_t used;	 /* when last, in lookups */
	bool registered;
	bool dropped; /* no longer found; unregistered with its last user */
};

struct kernel_slot {
	void *user;
	cp_dma_cookie cookie;
	size_t len;
	bool busy;
	bool again; /* its ranges were registered again */
	struct cp_dmadev_xfer xfer;
};

struct cp_dma_chan {
	int fd;
	struct cp_dmadev_info info;
	char text[CP_SPEC_TEXT_MAX]; /* describe() */
	bool gone;
	int event_fd; /* -1 without irq */
	bool event_ours;

	unsigned ring; /* entries */
	struct cp_dmadev_ring *shared;
	size_t shared_bytes;
	uint32_t head; /* ours of the two, as it is in shared memory */

	struct kernel_slot *slots;
	struct cp_dmadev_seg *segs; /* CP_DMADEV_SEGS_MAX a slot */
	uint32_t *free_slots;
	unsigned nr_free;
	struct kernel_slot *prepared;
	cp_dma_cookie cookie;

	/* Submitted and not sent yet, in order; the first nr_issued had their doorbell.
	 */
	struct cp_dmadev_xfer *pending;
	unsigned nr_pending, nr_issued;
	/* Slots that the module did not take, to be reaped as failed. */
	uint32_t *failed;
	unsigned nr_failed;
	/* For wait(), by any thread: failed ones, and issued ones that are not sent. */
	_Atomic unsigned reapable, unsent;

	struct kernel_map *maps; /* by the module's number, info.maps_max of them */
	uint32_t nr_maps;	 /* numbers that were ever given out lie below */
	uint64_t lookups;
	uint32_t hints[KERNEL_HINTS]; /* by page */
};

/* kernel_maps.c. All return a range's number, or -errno. */

/* The range with these bytes, registered if need be. It has a user more. -EAGAIN: not
 * before a transaction has completed. */
int64_t kernel_map_get(struct cp_dma_chan *chan, const void *addr, size_t len,
		       uint32_t access);
/* One user less. */
void kernel_map_put(struct cp_dma_chan *chan, uint32_t number);
/* The range is stale: another one for these bytes of it, `offset` on, which
 * *ret_offset is then from the begin of. */
int64_t kernel_map_again(struct cp_dma_chan *chan, uint32_t number, uint64_t offset,
			 size_t len, uint32_t access, __u64 *ret_offset);
/* Pages of [addr, addr + len), with as much access as they have. */
int64_t kernel_map_add(struct cp_dma_chan *chan, uintptr_t addr, size_t len,
		       uint32_t access);

/* kernel.c */
void kernel_put_maps(struct cp_dma_chan *chan, struct kernel_slot *slot);
/* Send what had its doorbell. What there is no room for stays, and is tried again by the
 * next doorbell or reap; what is refused for good is reaped as failed. */
void kernel_send(struct cp_dma_chan *chan);

/* kernel_reap.c */
unsigned kernel_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
		     unsigned max);
int kernel_wait(struct cp_dma_chan *chan, uint64_t timeout_ns);

struct kernel_settings {
	char device[64];
	uint64_t chan; /* CP_DMADEV_CHAN_ANY */
};

/* kernel_device.c */
int kernel_settings_read(const char *text, struct kernel_settings *ret_set,
			 struct cp_err *err);
int kernel_no_chan(const struct kernel_settings *set, const struct cp_dmadev_info *info,
		   struct cp_err *err);
/* May a ring of cfg->ring be had? */
int kernel_ring_check(const struct cp_dma_cfg *cfg, const struct cp_dmadev_info *info,
		      struct cp_err *err);
/* A device of our version, with channels. */
int kernel_device_open(const char *device, int *ret_fd, struct cp_dmadev_info *info,
		       struct cp_err *err);
int kernel_probe(struct cp_err *err);
int kernel_usable(const struct cp_dma_cfg *cfg, struct cp_err *err);
int kernel_check(const char *spec, struct cp_err *err);
void kernel_traits(const char *spec, struct cp_dma_traits *ret_traits);

/* kernel_open.c */
int kernel_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		struct cp_err *err);
void kernel_close(struct cp_dma_chan *chan);

#endif
