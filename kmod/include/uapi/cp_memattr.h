/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/cp_memattr: memory of this machine under a cache attribute of the caller's choice.
 *
 * Calls, on one open file: CP_MEMATTR_QUERY at any time -> CP_MEMATTR_ALLOC once ->
 * mmap() -> loads and stores -> munmap(), close(). The memory belongs to the open file,
 * and is freed when that and all its mappings are gone (a mapping holds the file, so the
 * descriptor may be closed right after mmap()). A file has one allocation: for another
 * one, open again.
 *
 * Compatibility: the numbers of the ioctls hold the size of their structures, and
 * CP_MEMATTR_VERSION counts changes of meaning. A caller compares the version of QUERY
 * with its own before it does anything else, and goes no further when they differ; a
 * module whose structures have other sizes answers QUERY with ENOTTY, which says the
 * same. The module's miscdevice has the name "cp_memattr": a caller sees by that, before
 * it opens a device, whose it is. Structures hold no pointer and no hole, so 32-bit
 * callers need no translation. Reserved members are 0 in what comes back; a caller's must
 * be 0, or the call is EINVAL.
 *
 * What the module guarantees:
 *  - User PTEs of the mapping carry the attribute that was asked, or the call fails: an
 *    attribute is never replaced by another one. x86: UC is strong uncached (not UC-,
 *    which an MTRR may turn into WC).
 *  - While a mapping under uc, wc or wt exists, nobody reaches the pages under a type
 *    that conflicts: the kernel's own mapping is changed where the kernel has a function
 *    for that, else it is written back and not used until the pages are freed (and the
 *    caches are written back again before they are used as wb).
 *  - Pages are zeroed before ALLOC returns, and no line of them is left in a cache.
 *  - They are whole pages of query.page_bytes, on the node that was asked (never another
 *    one instead), pinned, not swapped and not migrated.
 *  - mmap() maps all of them at once: no access to the mapping faults later.
 */
#ifndef _UAPI_CP_MEMATTR_H
#define _UAPI_CP_MEMATTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CP_MEMATTR_VERSION 1
#define CP_MEMATTR_DEVICE  "/dev/cp_memattr"

/* Cache attributes; also bits of cp_memattr_query.attrs, 1 << attribute. */
#define CP_MEMATTR_WB 0
#define CP_MEMATTR_UC 1
#define CP_MEMATTR_WC 2
#define CP_MEMATTR_WT 3

#define CP_MEMATTR_NODE_ANY (-1)

/**
 * struct cp_memattr_query - what there is
 * @version:	out: CP_MEMATTR_VERSION of the module
 * @attrs:	out: attributes it can give on this machine, a bit each. One that needs a
 *		PAT that the CPU or the boot command line takes away is not among them.
 * @page_bytes:	out: of a mapping's pages
 * @reserved0:	out: 0
 * @bytes_max:	out: the most that one ALLOC is given, a multiple of page_bytes (the
 *		module's own limit; memory can be short before that)
 * @bytes_used:	out: allocated now, over all open files
 * @reserved:	out: 0
 *
 * Never fails on a file of this module, but for EFAULT.
 */
struct cp_memattr_query {
	__u32 version;
	__u32 attrs;
	__u32 page_bytes;
	__u32 reserved0;
	__u64 bytes_max;
	__u64 bytes_used;
	__u64 reserved[4];
};

/**
 * struct cp_memattr_alloc - memory for this open file
 * @bytes:	in: how much, above 0. out: rounded up to whole pages.
 * @attr:	in: CP_MEMATTR_WB, _UC, _WC or _WT
 * @node:	in: NUMA node, or CP_MEMATTR_NODE_ANY: the caller's. out: where it is.
 * @reserved:	in: 0
 *
 * Errors; nothing is allocated then:
 * EINVAL	bytes 0, an unknown attribute, reserved not 0
 * EOPNOTSUPP	an attribute that is not in query.attrs
 * ENXIO	no such node, or it is not online, or has no memory
 * E2BIG	bytes above query.bytes_max
 * ENOMEM	not so much memory on that node
 * EBUSY	this file has its memory already
 * EINTR	a signal while pages were taken
 */
struct cp_memattr_alloc {
	__u64 bytes;
	__u32 attr;
	__s32 node;
	__u64 reserved[4];
};

/* 0xcb: no driver of mainline has its numbers from 0x40 on (ioctl-number.rst). */
#define CP_MEMATTR_QUERY _IOR(0xcb, 0x40, struct cp_memattr_query)
#define CP_MEMATTR_ALLOC _IOWR(0xcb, 0x41, struct cp_memattr_alloc)

/*
 * mmap(): MAP_SHARED, from offset 0, at most the bytes of ALLOC (whole pages), readable
 * or writable as the file was opened, any number of times; all mappings have the same
 * attribute. They are not inherited by fork() and cannot grow.
 * ENXIO	before ALLOC
 * EINVAL	MAP_PRIVATE, another offset, longer than what was allocated
 * EACCES	PROT_WRITE on a file opened for reading, PROT_EXEC
 *
 * Other ioctls are ENOTTY.
 */

#endif
