/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cache attributes of the far side: which are real, which are played, and by what.
 *
 * A media has some attributes natively (engines/media/media.h); a copy then needs nothing
 * from here. On write-back memory `uc`, `wc` and `wt` are emulated: a copy of the
 * kernel's word (memcpy, nt, ntload, nt-both; nti on WC stores) is replaced by an
 * instruction sequence that leaves the far lines in the cache, or out of it, as the
 * attribute would, and waits where the attribute would. Cache and ordering instructions
 * only: no delay is tuned and nothing spins. The unit is the line of 64 bytes; the
 * processor's own merging and reading ahead of UC accesses is not played. What each row
 * executes is its `sequence`; docs/method.md says what that is worth.
 *
 * Order of calls: cp_attr_parse() -> cp_attr_check() before anything is opened ->
 * cp_copy_bind() with the attribute, once a direction. Nothing is decided per I/O.
 * All functions are pure but cp_attr_lacks(), which asks the CPU. Any thread.
 */
#ifndef CP_ENGINES_COPY_ATTR_H
#define CP_ENGINES_COPY_ATTR_H

#include "engines/copy/copy.h"

/* One emulated (attribute, word, direction); .ops[] by access width, widest first, the
 * last one (16 bytes) runs wherever cp_attr_lacks() is NULL. Kernels obey cp_copy_fn
 * (copy.h), with one exception that is the point of it: a WC store ends without a fence,
 * so other threads are promised its bytes only after this thread's next fence or locked
 * instruction, which is the caller's as on real WC memory (cp_copy_settle()). The thread
 * that copied always sees them. */
struct cp_attr_row {
	enum cp_attr attr;
	const char *word; /* memcpy, nt-both or nti */
	enum cp_dir dir;
	const char *sequence; /* what is executed, for people */
	struct cp_copy_ops ops[2];
};
/* Ends with an empty word; nothing before it on a machine that is not x86-64. */
extern const struct cp_attr_row cp_attr_rows[];

/* "wb", "uc", "wc", "wt"; unknown: exit 2. */
int cp_attr_parse(const char *name, enum cp_attr *ret_attr, struct cp_err *err);
const char *cp_attr_name(enum cp_attr attr);
/* "native" or "emulated". natives: the media's, CP_ATTR_BIT() each. */
const char *cp_attr_provenance(enum cp_attr attr, unsigned natives);

/* The CPU flag that emulation needs and this machine lacks; NULL when it has all. */
const char *cp_attr_lacks(void);
/* The same from CPUID: leaf 1 ECX and leaf 7 EBX. */
const char *cp_attr_cpuid_lacks(uint32_t leaf1_ecx, uint32_t leaf7_ebx);

/* Can the attribute be had on a media with these native ones? need_native: emulation
 * will not do. lacks: as cp_attr_lacks() says. Emulation plays on write-back memory:
 * where wb is not among the natives there is none. Errors (exit 2) name the attribute and
 * what would give it. */
int cp_attr_check(enum cp_attr attr, unsigned natives, bool need_native,
		  const char *lacks, struct cp_err *err);

/* Does the copy of that word (a kernel, nt, auto) go with an attribute that is native
 * there? All do but `auto`, whose calibration is of write-back memory: its choice says
 * nothing of another. Error (exit 2) with what to write. An emulated attribute is
 * cp_attr_bind()'s to judge: 0. */
int cp_attr_check_copy(const char *word, enum cp_attr attr, unsigned natives,
		       struct cp_err *err);
/* What the copy of a policy's rule is: `auto`, with which policies fill what was not
 * decided, is memcpy under anything but wb; everything else is itself. */
const char *cp_attr_policy_copy(const char *word, enum cp_attr attr);

/*
 * What cp_copy_bind() does for an attribute that is emulated. `nt` is memcpy on reads and
 * nt-both on writes, `ntload` the other way round, as they are under wb. Errors (exit 2):
 * a word without an emulation, and those of cp_attr_check().
 */
int cp_attr_bind(const char *word, enum cp_dir dir, enum cp_attr attr,
		 const struct cp_copy_ops **ret_ops, struct cp_err *err);

#endif
