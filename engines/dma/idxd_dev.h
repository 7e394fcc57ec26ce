/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DSA work queues as the idxd engine sees them: facts of each, a way to choose one, and a
 * port to submit descriptors through. All of it comes from a source, which is
 * libaccel-config and the device files, or in tests an emulated device.
 */
#ifndef CP_ENGINES_DMA_IDXD_DEV_H
#define CP_ENGINES_DMA_IDXD_DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/dma/channel.h"
#include "engines/dma/idxd_desc.h"

#define IDXD_WQS_MAX 128 /* 16 devices of 8 queues; more are not looked at */

enum idxd_wq_state { IDXD_WQ_DISABLED, IDXD_WQ_ENABLED, IDXD_WQ_OTHER };
enum idxd_wq_type { IDXD_WQ_NONE, IDXD_WQ_KERNEL, IDXD_WQ_USER };

struct idxd_wq {
	char device[16]; /* "dsa0" */
	char name[16];	 /* "wq0.0" */
	char path[64];	 /* "/dev/dsa/wq0.0" */
	int node;	 /* NUMA, -1 unknown */
	bool device_enabled;
	int open_errno;	     /* why this process may not open path for both; 0 = it may */
	bool pasid;	     /* the device shares the process's address space (SVA) */
	bool first_version;  /* DSA 1.x; see idxd_port.batches */
	bool cache_control;  /* IDXD_FLAG_CACHE_CONTROL is known */
	bool readback;	     /* IDXD_FLAG_DEST_READBACK is known */
	bool block_on_fault; /* IDXD_FLAG_BLOCK_ON_FAULT is allowed */
	enum idxd_wq_state state;
	enum idxd_wq_type type;
	bool dedicated;
	unsigned size;	       /* descriptors it holds */
	unsigned threshold;    /* of a shared one: how many of them ENQCMD may fill */
	unsigned clients;      /* that have it open */
	unsigned max_batch;    /* descriptors; 0 or 1 = no batches */
	uint64_t max_transfer; /* bytes of one descriptor */
};

struct idxd_port {
	/* Hand one descriptor over; it is copied. 0; -EAGAIN: a shared queue is full,
	 * submit it again later; another -errno: never will be. */
	int (*submit)(struct idxd_port *port, const struct idxd_desc *desc);
	const char *how;       /* "movdir64b", "enqcmd", "write" */
	unsigned char *portal; /* page of 64 slots; NULL: by write() on fd */
	unsigned at;	       /* offset of the next slot */
	int fd;
	/* BATCH is taken. Not by write() from a device of version 1: Linux refuses it
	 * there, since it cannot look into the list. */
	bool batches;
	/* NULL where submission does not pass earlier stores; see idxd_port_order() */
	void (*order)(struct idxd_port *port);
	void *owner; /* the source's own */
};

struct idxd_source {
	/* Up to max queues, and how many, or -errno: why there are none (exit 4). */
	int (*list)(struct idxd_wq *wqs, unsigned max, struct cp_err *err);
	/* Errors (exit 4): no permission, in use (-EBUSY), no way to submit. */
	int (*open)(const struct idxd_wq *wq, struct idxd_port *ret_port,
		    struct cp_err *err);
	/* When it returns the device touches no memory of this port's descriptors. */
	void (*close)(struct idxd_port *port);
};

extern const struct idxd_source idxd_hardware;
/* Where queues come from; changed by tests, before anything is opened. */
extern const struct idxd_source *idxd_source;

/* What this thread stored so far is visible to the device when it gets what is submitted
 * behind this. MOVDIR64B and ENQCMD are not ordered with earlier stores, SFENCE orders
 * them; write() needs nothing. */
static inline void idxd_port_order(struct idxd_port *port)
{
	if (port->order)
		port->order(port);
}

/* The next slot of the portal: the device takes descriptors at any of them, and writes to
 * one address after the other could be combined on their way. */
static inline unsigned char *idxd_port_slot(struct idxd_port *port)
{
	unsigned char *slot = port->portal + port->at;

	port->at = (port->at + 64) % IDXD_PORTAL_BYTES;
	return slot;
}

/* How many descriptors one may have in a queue. */
static inline unsigned idxd_wq_entries(const struct idxd_wq *wq)
{
	return !wq->dedicated && wq->threshold ? wq->threshold : wq->size;
}

/* Usable at all? 0, or -errno with what is wrong with it and what would enable it. */
int idxd_wq_check(const struct idxd_wq *wq, struct cp_err *err);

/*
 * The queue to open: the one of that path, or with "" the best usable one, by room for
 * cfg->ring, then cfg->node, then a dedicated one when cfg->exclusive and else a shared
 * one, which takes other channels too, then size. Those with a bit in `tried` are left
 * out. Errors: unknown (exit 2), unusable, shared or in use where exclusive is asked
 * (-EBUSY), cfg->ring above its entries (exit 2).
 */
int idxd_wq_pick(const struct idxd_wq *wqs, unsigned nr, const char *path,
		 const struct cp_dma_cfg *cfg, const bool *tried, unsigned *ret_index,
		 struct cp_err *err);

#endif
