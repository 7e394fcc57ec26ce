/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/cp_dma: a channel of the kernel's dmaengine for a user process: copies between
 * ranges of its own memory, done by a DMA device.
 *
 * Calls, on one open file: CP_DMADEV_INFO at any time -> CP_DMADEV_OPEN once -> mmap() of
 * the completion ring -> CP_DMADEV_MAP of each range -> CP_DMADEV_SUBMIT, and completions
 * from the ring -> CP_DMADEV_CLOSE, munmap(), close(). An open file has one channel; for
 * another one, open again. It belongs to the process that made OPEN: the others below are
 * EPERM in any other, also after fork().
 *
 * Compatibility: the numbers of the ioctls hold the size of their structures, and
 * CP_DMADEV_VERSION counts changes of meaning. A caller compares the version of INFO with
 * its own before it does anything else, and goes no further when they differ; a module
 * whose structures have other sizes answers INFO with ENOTTY, which says the same. The
 * module's miscdevice has the name "cp_dma": a caller sees by that, before it opens a
 * device, whose it is. Structures hold no pointer (addresses are __u64) and no hole, so
 * 32-bit callers need no translation. Reserved members are 0 in what comes back; a
 * caller's must be 0, or the call is EINVAL, as are flags that are not in INFO's
 * features.
 *
 * What the module guarantees:
 *  - A transaction touches the bytes of its segments and no others, and those only while
 *    it is in flight: from SUBMIT until its completion is in the ring.
 *  - Each transaction completes exactly once. No completion is lost for want of space:
 *    SUBMIT takes no more than what the ring has room for.
 *  - Before a completion can be seen in the ring, all its bytes are visible to the CPU
 *    that sees it, on machines without coherent DMA too.
 *  - The first bytes - residue bytes of a transaction arrived, in the order of its
 *    segments. What may not have arrived is in the residue.
 *  - After CLOSE, or the last close() of the file, no byte is moved any more. The end of
 *    the process closes it.
 *  - When the device goes away, all that is in flight completes as
 *    CP_DMADEV_ABORTED, with what is known to have arrived, and every call but CLOSE is
 *    ENODEV from then on.
 *  - A range stays pinned while it is mapped. When the process unmaps or replaces its
 *    pages (munmap(), mremap(), MADV_DONTNEED ...), the range is stale: SUBMIT with it is
 *    ESTALE from then on, so that nothing is read from or written to pages that are no
 *    longer at that address. Transactions in flight end on the old pages.
 */
#ifndef _UAPI_CP_DMA_H
#define _UAPI_CP_DMA_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CP_DMADEV_VERSION 1
#define CP_DMADEV_DEVICE  "/dev/cp_dma"

/* Features: cp_dmadev_info.features, a bit each. */
/* all channels are of real devices, none software */
#define CP_DMADEV_HARDWARE  (1U << 0)
#define CP_DMADEV_EVENTFD   (1U << 1) /* OPEN takes one */
#define CP_DMADEV_EXCLUSIVE (1U << 2) /* OPEN can keep others off the channel */
#define CP_DMADEV_FENCE	    (1U << 3) /* SUBMIT takes CP_DMADEV_F_FENCE */

#define CP_DMADEV_SEGS_MAX 128 /* of a transaction */
#define CP_DMADEV_NODE_ANY (-1)
#define CP_DMADEV_CHAN_ANY 0xffffffffU
#define CP_DMADEV_NAME_MAX 32

/**
 * struct cp_dmadev_info - what there is
 * @version:	out: CP_DMADEV_VERSION of the module
 * @features:	out: CP_DMADEV_HARDWARE and so on
 * @nr_chans:	out: channels that can copy memory, in use or not; 0: none
 * @ring_max:	out: the longest ring, a power of two
 * @maps_max:	out: ranges that one open file can have mapped
 * @reserved0:	out: 0
 * @bytes_max:	out: the longest transaction
 * @reserved:	out: 0
 *
 * Never fails on a file of this module, but for EFAULT, and ENODEV as above.
 */
struct cp_dmadev_info {
	__u32 version;
	__u32 features;
	__u32 nr_chans;
	__u32 ring_max;
	__u32 maps_max;
	__u32 reserved0;
	__u64 bytes_max;
	__u64 reserved[4];
};

/* cp_dmadev_open.flags */
#define CP_DMADEV_O_EXCLUSIVE (1U << 0) /* nobody else is given this channel */
#define CP_DMADEV_O_EVENTFD   (1U << 1) /* event_fd is one */

/**
 * struct cp_dmadev_open - the channel of this open file
 * @flags:	in: CP_DMADEV_O_*
 * @chan:	in: which, from 0, or CP_DMADEV_CHAN_ANY. out: which it is.
 * @node:	in: NUMA node it should be on, or CP_DMADEV_NODE_ANY; another one is
 *		given where that has none. out: its device's node, -1 unknown.
 * @ring:	in: transactions in flight, at least 1. out: entries of the ring, a power
 *		of two at least as large
 * @event_fd:	in: with CP_DMADEV_O_EVENTFD: an eventfd to which 1 is added when a
 *		transaction with CP_DMADEV_F_INTERRUPT has completed; several channels may
 *		have the same. Else 0.
 * @hardware:	out: 1 where this channel is of a real device, 0 of software
 * @ring_bytes:	out: what mmap() of the ring takes
 * @name:	out: of the channel, as in /sys/class/dma, "" padded with 0
 * @reserved:	in: 0
 *
 * Errors; the file has no channel then:
 * EINVAL	ring 0, unknown flags, reserved not 0
 * ENXIO	no such channel
 * E2BIG	ring above info.ring_max
 * EBUSY	exclusive, and somebody has it; or somebody has it exclusively
 * EALREADY	this file has its channel
 * EBADF	event_fd is no eventfd
 * ENOMEM	no memory for the ring
 */
struct cp_dmadev_open {
	__u32 flags;
	__u32 chan;
	__s32 node;
	__u32 ring;
	__s32 event_fd;
	__u32 hardware;
	__u64 ring_bytes;
	char name[CP_DMADEV_NAME_MAX];
	__u64 reserved[4];
};

/* cp_dmadev_map.flags: what the device may do with the range; one or both */
#define CP_DMADEV_M_READ  (1U << 0)
#define CP_DMADEV_M_WRITE (1U << 1)

/**
 * struct cp_dmadev_map - a range of memory that transactions may use
 * @addr:	in: where it begins, a multiple of the page size
 * @bytes:	in: how long it is, a multiple of the page size, above 0
 * @flags:	in: CP_DMADEV_M_*
 * @map:	out: its number, below info.maps_max
 * @reserved:	in: 0
 *
 * Pins the pages. Ranges may overlap.
 *
 * EINVAL	not whole pages, no or unknown flags, reserved not 0
 * ENOTCONN	before OPEN
 * EFAULT	not all of it is mapped, or not writable with CP_DMADEV_M_WRITE, or its
 *		pages cannot be pinned
 * ENOSPC	the file has info.maps_max of them
 * ENOMEM	RLIMIT_MEMLOCK, or no memory
 */
struct cp_dmadev_map {
	__u64 addr;
	__u64 bytes;
	__u32 flags;
	__u32 map;
	__u64 reserved[2];
};

/**
 * struct cp_dmadev_unmap - the range is no longer used
 * @map:	in: its number
 * @reserved:	in: 0
 *
 * ENOENT	no such range
 * EBUSY	a transaction in flight uses it
 */
struct cp_dmadev_unmap {
	__u32 map;
	__u32 reserved;
};

/**
 * struct cp_dmadev_seg - a piece of a range
 * @offset:	from the range's begin
 * @bytes:	above 0
 * @map:	number of the range
 */
struct cp_dmadev_seg {
	__u64 offset;
	__u32 bytes;
	__u32 map;
};

/* cp_dmadev_xfer.dir */
#define CP_DMADEV_GATHER 0 /* from the far range into the segments, in their order */
#define CP_DMADEV_SPREAD 1 /* from the segments, in their order, to the far range */

/* cp_dmadev_xfer.flags */
#define CP_DMADEV_F_INTERRUPT (1U << 0) /* wake poll() and signal the eventfd */
/* Starts when all submitted before it have completed. Others complete in any order. */
#define CP_DMADEV_F_FENCE (1U << 1)

/**
 * struct cp_dmadev_xfer - one transaction
 * @user:	comes back with the completion, unchanged
 * @segs:	address of an array of struct cp_dmadev_seg: the near side. Read before
 *		SUBMIT returns.
 * @nr_segs:	its length, 1 to CP_DMADEV_SEGS_MAX
 * @dir:	CP_DMADEV_GATHER or CP_DMADEV_SPREAD
 * @far_offset:	from the begin of the far range
 * @far_map:	number of the far range
 * @flags:	CP_DMADEV_F_*
 */
struct cp_dmadev_xfer {
	__u64 user;
	__u64 segs;
	__u32 nr_segs;
	__u32 dir;
	__u64 far_offset;
	__u32 far_map;
	__u32 flags;
};

/**
 * struct cp_dmadev_submit - transactions, and one doorbell for all of them
 * @xfers:	in: address of an array of struct cp_dmadev_xfer
 * @nr:		in: its length, above 0
 * @taken:	out: how many of them, from the first on, are in flight (or over). Those
 *		behind were not touched.
 * @cookie:	out: of the first; the others follow. Cookies of a channel start at 1.
 * @reserved:	in: 0
 *
 * An error is of transaction number `taken`, which can be above 0 then:
 * EINVAL	nr 0; no or too many segments, an empty one, an unknown dir or flag
 * ENOTCONN	before OPEN, after CLOSE
 * EAGAIN	no room: those in flight and the completions not consumed are as many as
 *		the ring has entries
 * ENOENT	no such range
 * ERANGE	a segment, or the far side, is not inside its range
 * EACCES	the range was not mapped for that direction
 * E2BIG	longer than info.bytes_max
 * ESTALE	the range is stale: unmap it and map it again
 * EFAULT	xfers or segs cannot be read
 */
struct cp_dmadev_submit {
	__u64 xfers;
	__u32 nr;
	__u32 taken;
	__u64 cookie;
	__u64 reserved[2];
};

/* cp_dmadev_done.result */
#define CP_DMADEV_OK	       0
#define CP_DMADEV_READ_FAILED  1 /* the source */
#define CP_DMADEV_WRITE_FAILED 2 /* the destination */
#define CP_DMADEV_ABORTED      3

/**
 * struct cp_dmadev_done - a completion
 * @user:	of the transaction
 * @cookie:	of the transaction
 * @residue:	bytes that may not have arrived, from the end; 0 with CP_DMADEV_OK
 * @result:	CP_DMADEV_OK and so on
 * @reserved:	0
 */
struct cp_dmadev_done {
	__u64 user;
	__u64 cookie;
	__u64 residue;
	__u32 result;
	__u32 reserved;
};

/**
 * struct cp_dmadev_ring - what mmap() gives
 * @tail:	completions so far, modulo 2^32: the module's to write. A load with
 *		acquire semantics that sees it makes done[] up to it, and the bytes
 *		that were moved, visible.
 * @head:	completions consumed so far: the caller's to write, with release
 *		semantics, once it has read them; the module writes over them after
 *		that.
 * @mask:	entries - 1; the module does not change it
 * @done:	completion number n is at n & mask
 *
 * mmap(): MAP_SHARED, from offset 0, ring_bytes of OPEN, readable and writable. ENXIO
 * before OPEN; EINVAL for other lengths, offsets or MAP_PRIVATE. Not inherited by fork().
 * What a caller writes to it can confuse its own completions and nothing else: the module
 * reads `head` only.
 *
 * poll(): POLLIN where head and tail differ, after a completion with
 * CP_DMADEV_F_INTERRUPT or at the call; POLLHUP when the device is gone.
 */
struct cp_dmadev_ring {
	__u32 tail;
	__u32 pad0[15];
	__u32 head;
	__u32 pad1[15];
	__u32 mask;
	__u32 pad2[15];
	struct cp_dmadev_done done[];
};

/**
 * struct cp_dmadev_close - end the channel
 * @aborted:	out: transactions that were in flight and were aborted
 * @reserved:	in: 0
 *
 * Aborts what is in flight, waits until the device is still, and unpins all ranges. The
 * aborted ones are in the ring when it returns, which stays mapped. ENOTCONN: there is no
 * channel.
 */
struct cp_dmadev_close {
	__u32 aborted;
	__u32 reserved0;
	__u64 reserved;
};

/**
 * struct cp_dmadev_stat - what this channel has done, at any time after OPEN
 * @cpu_ns:	out: CPU time that kernel threads used for its copies, ns; 0 for hardware
 * @xfers:	out: transactions that completed
 * @bytes:	out: that arrived
 * @reserved:	out: 0
 *
 * ENOTCONN	before OPEN
 */
struct cp_dmadev_stat {
	__u64 cpu_ns;
	__u64 xfers;
	__u64 bytes;
	__u64 reserved[5];
};

/* 0xcb: no driver of mainline has its numbers from 0x40 on (ioctl-number.rst); 0x40 and
 * 0x41 are cp_memattr's. */
#define CP_DMADEV_INFO	 _IOR(0xcb, 0x50, struct cp_dmadev_info)
#define CP_DMADEV_OPEN	 _IOWR(0xcb, 0x51, struct cp_dmadev_open)
#define CP_DMADEV_MAP	 _IOWR(0xcb, 0x52, struct cp_dmadev_map)
#define CP_DMADEV_UNMAP	 _IOW(0xcb, 0x53, struct cp_dmadev_unmap)
#define CP_DMADEV_SUBMIT _IOWR(0xcb, 0x54, struct cp_dmadev_submit)
#define CP_DMADEV_CLOSE	 _IOWR(0xcb, 0x55, struct cp_dmadev_close)
#define CP_DMADEV_STAT	 _IOR(0xcb, 0x56, struct cp_dmadev_stat)

/* Other ioctls are ENOTTY. */

#endif
