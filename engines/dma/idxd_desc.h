/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a DSA device reads and writes in memory: the 64-byte descriptor and the 32-byte
 * completion record, little endian.
 *
 * Source: Intel Data Streaming Accelerator Architecture Specification (341204), chapters
 * "Descriptor" and "Completion Record"; the same numbers are in Linux's
 * include/uapi/linux/idxd.h. Checked in t/idxd_desc_test.c against bytes written from the
 * specification and against that header.
 *
 * Our definitions, not that header: the installed one may be older than the code here
 * needs, and its status is volatile, where we want a release that can be acquired.
 */
#ifndef CP_ENGINES_DMA_IDXD_DESC_H
#define CP_ENGINES_DMA_IDXD_DESC_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum idxd_opcode {
	IDXD_OP_NOOP = 0x00,
	IDXD_OP_BATCH = 0x01,
	IDXD_OP_MEMMOVE = 0x03,
};

/* Bits 0 to 23 of the second dword; the opcode is above them. Bit 0, Fence, is for
 * descriptors of a batch and reserved in others, so a fence between transactions is not
 * one of these: idxd_run.c holds the transaction back. */
enum idxd_flags {
	IDXD_FLAG_BLOCK_ON_FAULT = 1 << 1,
	IDXD_FLAG_RECORD_VALID = 1 << 2,  /* a record is written on errors ... */
	IDXD_FLAG_RECORD_ALWAYS = 1 << 3, /* ... and also on success */
	/* destination to the last-level cache; without it writes may go to memory */
	IDXD_FLAG_CACHE_CONTROL = 1 << 8,
	/* the record is written when a read has shown that the data are where they go:
	 * writes are posted, and may be on their way yet */
	IDXD_FLAG_DEST_READBACK = 1 << 14,
};

enum idxd_status {
	IDXD_STATUS_NONE = 0x00, /* not written yet */
	IDXD_STATUS_SUCCESS = 0x01,
	IDXD_STATUS_PAGE_FAULT = 0x03,	       /* and it was not to block on it */
	IDXD_STATUS_PAGE_FAULT_REFUSED = 0x04, /* it blocked, and the OS said no */
	IDXD_STATUS_BATCH_FAILED = 0x05,       /* some descriptor of it did not succeed */
	IDXD_STATUS_BATCH_FAULT = 0x06,	       /* on the list of descriptors itself */
	/* of descriptors that are not accepted */
	IDXD_STATUS_BAD_OPCODE = 0x10,
	IDXD_STATUS_BAD_FLAGS = 0x11,
	IDXD_STATUS_BAD_RESERVED = 0x12,
	IDXD_STATUS_BAD_SIZE = 0x13,
	IDXD_STATUS_BAD_COUNT = 0x14,
	IDXD_STATUS_BAD_LIST = 0x18, /* alignment of a batch's list */
	IDXD_STATUS_HW_ERROR = 0x20,
};

#define IDXD_STATUS_MASK  0x7f
#define IDXD_STATUS_WRITE 0x80 /* the access that faulted was a write */

#define IDXD_BATCH_MIN 2U /* a batch of one is BAD_COUNT */
#define IDXD_TRANSFER_MAX                                                               \
	(1UL << 31)		      /* the size is 32 bits, a limit is a power of two \
				       */
#define IDXD_PORTAL_BYTES  4096U      /* each of its 64 slots takes descriptors */
#define IDXD_CAP_CACHE_MEM (1UL << 2) /* GENCAP: CACHE_CONTROL is not reserved */
#define IDXD_CAP_READBACK  (1UL << 8) /* GENCAP: DEST_READBACK is not either */

struct idxd_desc {
	_Alignas(64) uint32_t pasid; /* of the queue, or of ENQCMD's MSR: 0 here */
	uint32_t op_flags;
	uint64_t record; /* address, a multiple of 32 */
	uint64_t src;	 /* of a batch: its list, a multiple of 64 */
	uint64_t dst;
	uint32_t size; /* bytes; of a batch: descriptors */
	uint16_t interrupt;
	uint16_t reserved;
	uint64_t more[3]; /* of other operations */
};
static_assert(sizeof(struct idxd_desc) == 64, "descriptor");
static_assert(offsetof(struct idxd_desc, record) == 8, "descriptor");
static_assert(offsetof(struct idxd_desc, size) == 32, "descriptor");

struct idxd_record {
	/* The device writes it last; acquire it, and all else of the record and all bytes
	 * that were moved are visible. */
	_Alignas(32) _Atomic uint8_t status;
	uint8_t result; /* of a faulted move: 1 = it went from the end */
	uint16_t reserved;
	uint32_t completed; /* bytes; of a batch: descriptors */
	uint64_t fault_addr;
	uint64_t more[2];
};
static_assert(sizeof(struct idxd_record) == 32, "record");
static_assert(offsetof(struct idxd_record, completed) == 4, "record");
static_assert(offsetof(struct idxd_record, fault_addr) == 8, "record");

static inline uint64_t idxd_addr(const void *ptr)
{
	return (uint64_t)(uintptr_t)ptr;
}

/* All encoders clear the record's status, which is what is polled. */
static inline void idxd_desc_fill(struct idxd_desc *desc, enum idxd_opcode op,
				  unsigned flags, struct idxd_record *record)
{
	*desc = (struct idxd_desc){
		.op_flags = (uint32_t)op << 24 | flags | IDXD_FLAG_RECORD_VALID,
		.record = idxd_addr(record),
	};
	/* relaxed: what submits the descriptor orders it before the device's own store */
	atomic_store_explicit(&record->status, IDXD_STATUS_NONE, memory_order_relaxed);
}

static inline void idxd_desc_noop(struct idxd_desc *desc, struct idxd_record *record)
{
	idxd_desc_fill(desc, IDXD_OP_NOOP, IDXD_FLAG_RECORD_ALWAYS, record);
}

static inline void idxd_desc_memmove(struct idxd_desc *desc, unsigned flags, void *dst,
				     const void *src, uint32_t bytes,
				     struct idxd_record *record)
{
	idxd_desc_fill(desc, IDXD_OP_MEMMOVE, flags, record);
	desc->src = idxd_addr(src);
	desc->dst = idxd_addr(dst);
	desc->size = bytes;
}

static inline void idxd_desc_batch(struct idxd_desc *desc, const struct idxd_desc *list,
				   uint32_t count, struct idxd_record *record)
{
	idxd_desc_fill(desc, IDXD_OP_BATCH, IDXD_FLAG_RECORD_ALWAYS, record);
	desc->src = idxd_addr(list);
	desc->size = count;
}

#endif
