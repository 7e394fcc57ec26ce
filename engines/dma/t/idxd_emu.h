/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A DSA device in software, for tests: a thread behind portal pages decodes 64-byte
 * descriptors as the specification lays them out (not through the engine's own header),
 * checks them as a device does, moves the bytes and writes completion records.
 *
 * It stands in for the engine's source of queues, so that everything above runs as in the
 * product. What it is not: the instructions MOVDIR64B and ENQCMD, address translation and
 * PASIDs; its portals are plain memory, of which each slot is emptied before it is used
 * again.
 *
 * Control is for the test's thread, while nothing is in flight where it says so.
 */
#ifndef CP_ENGINES_DMA_T_IDXD_EMU_H
#define CP_ENGINES_DMA_T_IDXD_EMU_H

#include <stdatomic.h>

#include "engines/dma/idxd_dev.h"

#define IDXD_EMU_WQS_MAX 8
#define IDXD_EMU_LINE	 64

/* What the script wants instead of success. */
struct idxd_emu_act {
	uint8_t status;	    /* of the record, with IDXD_STATUS_WRITE */
	uint32_t completed; /* bytes that are moved before */
	uint8_t result;	    /* 1: they are the last ones of it, it went from the end */
	uint64_t fault_addr;
};

/* A descriptor's fields, from its bytes. */
struct idxd_emu_desc {
	uint8_t op;
	uint32_t flags, size;
	uint64_t record, src, dst;
	bool in_batch;
};

/* On the device's thread, of each MEMMOVE and BATCH: true when *act holds. */
typedef bool idxd_emu_script(void *arg, const struct idxd_emu_desc *desc,
			     struct idxd_emu_act *act);

struct idxd_emu_counts {
	_Atomic uint64_t taken; /* descriptors out of portals */
	_Atomic uint64_t moves; /* MEMMOVEs, in batches too */
	_Atomic uint64_t batches;
	_Atomic uint64_t records;   /* written */
	_Atomic uint64_t refused;   /* not accepted: a status of 0x10 and above */
	_Atomic uint64_t retries;   /* submissions to a full shared queue */
	_Atomic uint64_t dropped;   /* written to a full dedicated queue: lost */
	_Atomic uint64_t unordered; /* with strict_order: not ordered behind stores */
};

struct idxd_emu {
	struct idxd_wq wqs[IDXD_EMU_WQS_MAX];
	unsigned nr_wqs;
	/* set while nothing is in flight */
	idxd_emu_script *script;
	void *arg;
	bool reorder;	   /* complete in random order */
	bool no_portal;	   /* submission by write() */
	bool strict_order; /* each submission wants an idxd_port_order() of its own */
	int submit_rc;	   /* each submission fails with it */
	int open_rc;	   /* each open fails with it */
	bool absent;	   /* no device is found */
	/* any time */
	_Atomic bool paused; /* takes no descriptors, so queues fill up */
	/* with reorder: the move from this address is taken, and not yet done */
	_Atomic uint64_t hold;
	struct idxd_emu_counts counts;
};

/* Two queues, wq0.0 dedicated and wq0.1 shared, on dsa0 of node 0, unless the test
 * changes emu->wqs before it opens a channel. Not twice at a time. */
struct idxd_emu *idxd_emu_start(void);
/* All channels are closed. */
void idxd_emu_stop(void);

#endif
