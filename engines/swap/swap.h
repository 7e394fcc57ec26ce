/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pager: a region of memory of which only so many pages may be resident. A miss is
 * served by a page-in, room is made by page-outs, both as I/Os of 4k through a device
 * (engines/queue), so that an application's page faults drive it.
 *
 * Order of calls: cp_swap_check() -> cp_dev_open() for a writable device of nr_pages
 * pages -> cp_swap_open() -> cp_swap_join() in each thread that touches the region ->
 * touch cp_swap_region() -> cp_swap_leave() -> cp_swap_close() -> cp_dev_close().
 *
 * How. The region is under userfaultfd, for missing and for write-protected pages. A
 * thread of the pager's own reads the faults and is the device's submitter. A page that
 * was never paged out is filled with zeros. Room is made first in, first out, `batch`
 * pages at a time, whose page-outs are all handed in before any is waited for; so are
 * the page-ins of faults that were read together.
 *
 * No store is lost: a page is write-protected before it is copied out and dropped after,
 * so a store in between raises a fault, which is answered with a wake when the page is
 * gone; the store is tried again, misses, and meets the page as it was copied out.
 *
 * I/O errors. A page-in that fails is SIGBUS for the access (by UFFDIO_POISON, or on
 * kernels before 6.6 by mapping a file of no bytes over the page), until cp_swap_heal()
 * lets the next access try again. A page-out that fails keeps its page resident, dirty,
 * and last in turn. When nothing can be paged out, the access that wants room gets
 * SIGBUS. Nobody is ever shown other bytes than were stored.
 *
 * Threading: the region is touched by any thread that has joined. The other calls may be
 * made by any thread that has not blocked SIGBUS, but open and close, which are one
 * thread's. The region must not be touched before open has returned nor after close was
 * called, nor be given to system calls (they may get EFAULT). Not across fork().
 */
#ifndef CP_ENGINES_SWAP_SWAP_H
#define CP_ENGINES_SWAP_SWAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/err.h"
#include "engines/queue/queue.h"
#include "results/sidecar.h"

#define CP_SWAP_PAGE	     ((uint64_t)CP_PAGE_BYTES)
#define CP_SWAP_RESIDENT_MIN 32 /* pages: room for all faults read at once */
#define CP_SWAP_BATCH_MAX    16
#define CP_SWAP_THREADS_MAX  64

enum cp_swap_sigbus {
	CP_SWAP_SIGBUS_AUTO, /* poison where the kernel has it, else map */
	CP_SWAP_SIGBUS_MAP,
};

struct cp_swap;

struct cp_swap_cfg {
	struct cp_dev *dev;
	uint64_t nr_pages; /* of the region */
	uint64_t resident; /* pages: CP_SWAP_RESIDENT_MIN to nr_pages */
	unsigned batch;	   /* pages of an eviction, 1 to CP_SWAP_BATCH_MAX */
	/* Pages that were not written since their page-in are dropped without a page-out;
	 * a first store to one costs a fault to tell. */
	bool clean;
	int cpu; /* of the pager's thread; -1: any */
	enum cp_swap_sigbus sigbus;
	/* For tests of the rule above, 0 otherwise: no write protection, and so long
	 * between copying out and dropping. Loses stores. */
	uint64_t unprotected_gap_ns;
};

/* Since open. */
struct cp_swap_stats {
	uint64_t page_ins, page_outs; /* without error */
	uint64_t zero_fills;	      /* pages that were never paged out */
	uint64_t dropped_clean;	      /* evicted without a page-out */
	uint64_t misses;	      /* faults of missing pages, joined ones included */
	uint64_t protected_faults;    /* stores to write-protected pages, and of them */
	uint64_t stale;		      /* those of pages that were gone by then */
	uint64_t in_errors, out_errors; /* I/Os */
	uint64_t no_room;		/* misses refused as nothing could be paged out */
};

/* A thread's own. */
struct cp_swap_thread {
	_Alignas(64) _Atomic uint64_t misses; /* of its accesses; set before it goes on */
	_Atomic int tid;		      /* 0: free */
};

/* Can this process have one? Exit 4, and what to change, else. */
int cp_swap_check(struct cp_err *err);

/* Errors (exit 4): as of cp_swap_check(), memory, a CPU that cannot be had, and those of
 * cp_sub_open(). */
int cp_swap_open(const struct cp_swap_cfg *cfg, struct cp_swap **ret_swap,
		 struct cp_err *err);
void cp_swap_close(struct cp_swap *swap); /* NULL is fine */
void *cp_swap_region(const struct cp_swap *swap);
/* How an I/O error becomes SIGBUS here: "poison" or "map". */
const char *cp_swap_sigbus_name(const struct cp_swap *swap);

/* The calling thread's, until it leaves; NULL when there are CP_SWAP_THREADS_MAX. */
struct cp_swap_thread *cp_swap_join(struct cp_swap *swap);
void cp_swap_leave(struct cp_swap_thread *thread);

/* After a SIGBUS at that page: the next access tries again. With "map", another thread's
 * access meanwhile may raise SIGSEGV; it is to be tried again. */
void cp_swap_heal(struct cp_swap *swap, uint64_t page);

/* The submitter's measuring window (engines/queue/queue.h). */
void cp_swap_measure_begin(struct cp_swap *swap);
void cp_swap_measure_end(struct cp_swap *swap);
/* As cp_sub_report(), and the counters; either may be NULL. */
void cp_swap_report(struct cp_swap *swap, struct cp_sidecar_job *out,
		    struct cp_swap_stats *ret_stats);
/* A negative errno when faults cannot be answered any longer: threads that wait for one
 * will wait until close. 0: all is well. */
int cp_swap_broken(const struct cp_swap *swap);

#endif
