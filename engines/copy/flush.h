/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes a write durable behind its copy: which instruction writes lines back from
 * the caches, and which fence orders that before the completion is reported. It concerns
 * writes to write-back memory only.
 *
 * Order of calls: cp_flush_check() for plans and before anything is opened;
 * cp_flush_resolve() once the media is open, since only then it is known whether its
 * platform flushes by itself; then, for each write and after its copy, `all` or `edges`
 * of flush->ops under cp_guard_copy() (a file may be cut short under its mapping), and
 * cp_fence() before the completion is reported: once for several writes is enough.
 *
 * Flushes go by lines, which is what the caches hold (Intel SDM vol. 2A, CLFLUSH, CLWB,
 * CLFLUSHOPT): the line is written back from every cache of the coherence domain, so any
 * CPU may flush what another one, or a device that writes to a cache, has stored. They
 * are ordered behind earlier stores of the same thread to the same line; CLWB and
 * CLFLUSHOPT are ordered with nothing later but by a fence, CLFLUSH is ordered with
 * stores and other CLFLUSHes and needs none.
 *
 * All functions but cp_flush_present() are pure. Any thread.
 */
#ifndef CP_ENGINES_COPY_FLUSH_H
#define CP_ENGINES_COPY_FLUSH_H

#include <stdbool.h>
#include <stddef.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"
#include "engines/copy/copy.h"

#define CP_LINE_BYTES 64U /* of the caches, on every CPU with a row below */

enum cp_fence { CP_FENCE_NONE, CP_FENCE_SFENCE, CP_FENCE_MFENCE };

/*
 * The two functions have the signature of a copy so that they run under the fault guard:
 * dst is the far range, src is not looked at, and 0 is returned. They touch lines of the
 * range and no other, the first and last by a byte of the range itself. No fence inside.
 */
struct cp_flush_ops {
	const char *name; /* a word of the arm's field `flush` */
	const char *help;
	const char *isa;
	bool (*present)(void);
	bool ordered;	  /* needs no fence behind it */
	cp_copy_fn all;	  /* every line of the range */
	cp_copy_fn edges; /* the first and the last line where they are partial: what a
			   * copy with NT stores leaves in the cache (copy.h) */
};
/* The best first, as libpmem ranks them: CLWB may keep the line in the cache, CLFLUSHOPT
 * does not, CLFLUSH does one after the other. NULL-name terminated; empty where no such
 * instruction is known: there flush, fence and persist are refused. */
extern const struct cp_flush_ops cp_flush_table[];

/* A bit for each row of the table that this CPU has. Asks CPUID: not for I/Os. */
unsigned cp_flush_present(void);
/* Why a row cannot be used: "the CPU has no clwb". Returns buf. */
char *cp_flush_why_absent(const struct cp_flush_ops *ops, char *buf, size_t size);

struct cp_flush {
	const struct cp_flush_ops *ops; /* NULL: nothing is written back */
	enum cp_fence fence;
	bool promised; /* persist is not none */
	bool active;   /* there is something to do behind a write */
};

/*
 * What `flush`, `fence` and `persist` of an arm come to. present: as cp_flush_present()
 * says; auto_flush: persistent media whose platform writes the caches back by itself.
 *
 * persist none: `flush` as it is, and nothing is promised. persist auto and require: as
 * libpmem does it, no flush on an auto-flush platform, else the instruction that `flush`
 * names, else the best one; whether the media is persistent changes nothing here.
 * fence auto: SFENCE behind CLWB and CLFLUSHOPT, and where something is promised without
 * a flush (a store is then durable when it is visible); none behind CLFLUSH, and none
 * where nothing is flushed and nothing promised. The copy's own fence is not meant.
 *
 * Errors (exit 2), each beginning with the field in quotes: an instruction that the CPU
 * lacks (what it has is named), a fence or promise that this architecture cannot have,
 * fence none where a fence is what keeps the promise.
 */
int cp_flush_resolve(const struct cp_arm *arm, unsigned present, bool auto_flush,
		     struct cp_flush *ret, struct cp_err *err);
/* What of that does not depend on the media, and what the attribute allows: other memory
 * than wb has flushes of its own, or is in no cache. */
int cp_flush_check(const struct cp_arm *arm, enum cp_attr attr, unsigned present,
		   struct cp_err *err);

/* Loads of this thread before it are done before its flushes behind it: a store of
 * another thread or a device that such a load saw, or that was visible before it, is in
 * the line that is written back. CLWB and CLFLUSHOPT are in no order with earlier loads.
 */
static inline void cp_fence_loads(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#endif
}

/* "sfence", "mfence", "" for none. */
const char *cp_fence_name(enum cp_fence fence);

/* All flushes and stores of this thread before it are in the platform's persistence
 * domain (or, for stores, visible to every thread and device) before any of its stores
 * behind it, of which the one that reports the completion is the first. */
static inline void cp_fence(enum cp_fence fence)
{
#if defined(__x86_64__)
	if (fence == CP_FENCE_SFENCE)
		__builtin_ia32_sfence();
	else if (fence == CP_FENCE_MFENCE)
		__builtin_ia32_mfence();
#else
	(void)fence; /* cp_flush_resolve() gives none here */
#endif
}

#endif
