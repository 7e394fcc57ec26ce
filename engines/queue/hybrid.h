/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion hybrid: sleep for a learned share of the time that an I/O takes, then poll,
 * after blk-mq's hybrid polling (Linux 4.10 to 6.2). It slept for half the mean of a
 * bucket; here the share is learned too.
 *
 * By direction and class of sizes: how long I/Os take from their commit until they are
 * found (`expect`), and how long before that the sleep is to end (`lead`). Who finds the
 * I/O done on waking has overslept, and takes a longer lead; who polled for a while after
 * waking takes a shorter one. A wait shorter than sleeps are late is polled, and so is
 * the first I/O of a bucket.
 *
 * These functions know no clock and no channel: times are the caller's, in ns of any one
 * clock. One submitter's, no locking. hybrid.c has the sleeping too (cp_hybrid_wait() in
 * internal.h).
 */
#ifndef CP_ENGINES_QUEUE_HYBRID_H
#define CP_ENGINES_QUEUE_HYBRID_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/base/cell.h"

#define CP_HYBRID_CLASSES 16U /* up to 512 bytes, 1k, 2k .. 8m, above */

struct cp_hybrid_bucket {
	uint64_t expect_ns; /* 0: none has completed */
	uint64_t lead_ns;   /* at most expect_ns */
};

/* One I/O in flight, known by its address. */
struct cp_hybrid_flight {
	const void *io;
	uint64_t start_ns;
	struct cp_hybrid_bucket *bucket;
};

struct cp_hybrid {
	struct cp_hybrid_bucket buckets[2][CP_HYBRID_CLASSES];
	uint64_t late_ns; /* how much later than asked sleeps end, the median */
	/* In flight, the oldest first: it is the one that is waited for. */
	struct cp_hybrid_flight *flights;
	unsigned mask, first, nr;
	const void *slept_for, *polled_for;
	uint64_t woke_ns;
	bool looked; /* a look since waking has found nothing */
	uint64_t sleeps, overslept;
};

/* Room for so many in flight. 0 or -ENOMEM. */
int cp_hybrid_init(struct cp_hybrid *hybrid, unsigned flights);
void cp_hybrid_exit(struct cp_hybrid *hybrid);

/* Handed in, in the order of calls. */
void cp_hybrid_begin(struct cp_hybrid *hybrid, const void *io, enum cp_dir dir,
		     uint64_t bytes, uint64_t start_ns);
/* A look has found nothing: sleep so long, or 0 = look again. */
uint64_t cp_hybrid_ask(struct cp_hybrid *hybrid, uint64_t now_ns);
/* After a sleep that was to end at until_ns, and may have ended early. */
void cp_hybrid_woke(struct cp_hybrid *hybrid, uint64_t until_ns, uint64_t now_ns);
/* Found done. learn: an engine moved all of it and nothing failed. One that is not in
 * flight (any more): nothing. */
void cp_hybrid_done(struct cp_hybrid *hybrid, const void *io, uint64_t now_ns,
		    bool learn);

#endif
