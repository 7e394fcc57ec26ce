/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copy kernels: one file or section a kind, one row each in cp_copy_table[].
 *
 * A copy moves len bytes between near memory (the caller's buffer) and far memory (the
 * media). It returns the residue: bytes NOT copied, counted from the end; 0 is success.
 * The residue never claims bytes that did not arrive. dst and src must not overlap:
 * cp_copy_overlap() is for whoever takes addresses from outside, once; kernels do not
 * check again.
 *
 * Ordering: a kernel with NT stores ends with SFENCE, so that its stores are visible to
 * any thread that sees the completion of the I/O (cp_copy_opts.unfenced leaves that to
 * the caller). Ordinary stores have no fence behind them: to write-back, write-through
 * and uncached memory they are visible in order on x86. To write-combining memory they
 * are not, and are the caller's to cp_copy_settle() before it says that they are done:
 * kernels do not know what memory they store to. A kernel with NT stores uses them for
 * whole lines of dst only: the bytes before the first and behind the last are in the
 * cache afterwards. Durability is not promised here: flush.h says what stands behind a
 * copy for that.
 *
 * Kernels may be left at any access to dst or src (guard.h): they keep no state, take no
 * lock and allocate nothing. Threading: any. Binding is done at open, never per I/O.
 */
#ifndef CP_ENGINES_COPY_COPY_H
#define CP_ENGINES_COPY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

typedef size_t (*cp_copy_fn)(void *dst, const void *src, size_t len, enum cp_dir dir,
			     enum cp_attr attr);

struct cp_copy_variants;

struct cp_copy_ops {
	const char *name;
	const char *help;
	const char *isa;       /* "avx512f", "" = any */
	bool read, write;      /* directions in which the kernel has a meaning */
	bool (*present)(void); /* the CPU (and the OS, and the library) can run it */
	cp_copy_fn fn;
	bool virtual_; /* nt, ntload, nt-both, auto: stands for another row, fn is NULL */
	/* Whole lines of dst are stored past the caches, and fn ends with the fence that
	 * has them: behind it only partial lines are left in a cache to be flushed. */
	bool nt_stores;
	const struct cp_copy_variants *variants; /* NULL: no unroll, no prefetch */
	const char *library;			 /* loaded when asked for; NULL = none */
	/* Copies upwards: at a fault all bytes more than this before the faulting address
	 * have arrived (see guard.h). 0: no such order, nothing is claimed then. */
	size_t order;
};
/* NULL-name terminated. */
extern const struct cp_copy_ops cp_copy_table[];

const struct cp_copy_ops *cp_copy_find(const char *name);
/* nt_stores hold in this process: libpmem's environment (PMEM_NO_MOVNT, PMEM_NO_FLUSH)
 * can have it leave whole lines in the caches. For opening, not for I/Os. */
bool cp_copy_past_caches(const struct cp_copy_ops *ops);
/* Why present() is false: "the CPU has no avx2". Returns buf. */
char *cp_copy_why_absent(const struct cp_copy_ops *ops, char *buf, size_t size);

/*
 * The kernel that `name` stands for in this direction: itself, the widest present
 * NT-store kernel for writes of `nt` and `nt-both`, the widest present NT-load kernel for
 * reads of `ntload` and `nt-both`, memcpy for `nt` reads and `ntload` writes (ordinary
 * loads and stores), the measured best at 64k for `auto` (other sizes:
 * cp_copy_bind_sizes()). Under an attribute other than wb: what emulates it
 * (cp_attr_bind()). Errors (exit 2): unknown name (nearest suggested), a kernel the CPU
 * lacks (which flag), a direction without meaning, a kernel without an emulation.
 */
int cp_copy_bind(const char *name, enum cp_dir dir, enum cp_attr attr,
		 const struct cp_copy_ops **ret_ops, struct cp_err *err);

/*
 * Settings of a kernel's loop: `unroll` (lines a turn) and `prefetch` (which hint, and
 * how many bytes ahead of the loads). A struct of zeros is no setting; fill it by
 * cp_copy_opts_init() or cp_copy_opts_parse().
 */
enum cp_prefetch { CP_PREFETCH_NONE, CP_PREFETCH_NTA, CP_PREFETCH_T0 };

#define CP_COPY_UNROLL_DEFAULT	 4U
#define CP_COPY_DISTANCE_DEFAULT 512U
#define CP_COPY_DISTANCE_MAX	 (1U << 20)

struct cp_copy_opts {
	uint32_t unroll;	   /* 1, 2, 4 or 8 */
	enum cp_prefetch prefetch; /* hint=none ignores the distance */
	uint32_t distance;	   /* bytes */
	enum cp_attr attr;	   /* of the far side: what cp_copy_bind() is given */
	/* Leave out the fence behind NT stores, where the kernel has a function without
	 * (those of this suite, without prefetch). Other threads are then promised the
	 * bytes only when they see what the thread that copied stored by, or behind, its
	 * next locked instruction or cp_copy_settle(); that thread sees them at once. */
	bool unfenced;
};

void cp_copy_opts_init(struct cp_copy_opts *opts);
/* prefetch: "none", "nta" or "t0", each but none with ":distance=BYTES", 64 to 1m. Errors
 * (exit 2) begin with the option's name in quotes. */
int cp_copy_opts_parse(uint32_t unroll, const char *prefetch,
		       struct cp_copy_opts *ret_opts, struct cp_err *err);

/*
 * As cp_copy_bind(), and the function that does it with these settings. Settings that are
 * not the defaults are refused (exit 2) for a kernel without a loop of its own, and for
 * `auto`, which was measured with the defaults.
 *
 * What a setting picks is a function of its own, except that the distance is kept in one
 * of CP_COPY_AHEAD_MAX places a process has: one for each kernel, unroll, hint and
 * distance that is used. Places are never given back; when all are taken the next is
 * refused. Thread-safe.
 */
#define CP_COPY_AHEAD_MAX 64
int cp_copy_bind_opts(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		      const struct cp_copy_ops **ret_ops, cp_copy_fn *ret_fn,
		      struct cp_err *err);
/*
 * Classes of sizes: `auto` is one kernel a class and direction. A class is measured at
 * one size and serves those around it. All other names are one kernel for all sizes.
 */
#define CP_COPY_CLASSES	  6U
#define CP_COPY_CLASS_64K 3U
extern const uint32_t cp_copy_class_bytes[CP_COPY_CLASSES]; /* measured at */
extern const uint32_t cp_copy_class_from[CP_COPY_CLASSES];  /* least size of the class */
extern const uint8_t cp_copy_class_of_log2[64];

/* Of a copy of this many bytes: a bit scan and a load. */
static inline unsigned cp_copy_class(uint64_t bytes)
{
	return cp_copy_class_of_log2[63 - __builtin_clzll(bytes | 1)];
}

/* What a name stands for in one direction, by class. fn is the kernel's own function. */
struct cp_copy_bound {
	const struct cp_copy_ops *ops[CP_COPY_CLASSES];
	cp_copy_fn fn[CP_COPY_CLASSES];
};
/* As cp_copy_bind_opts(), for all sizes. */
int cp_copy_bind_sizes(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		       struct cp_copy_bound *ret_bound, struct cp_err *err);

/* What cp_copy_bind_opts() would refuse of a name, a direction and settings, but for a
 * full process; no place is taken and nothing is measured. */
int cp_copy_check_opts(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		       struct cp_err *err);

/* Every store of this thread's copies, NT stores without their fence and ordinary stores
 * to write-combining memory among them, is visible to whoever sees a store that this
 * thread makes from now on (SFENCE). */
void cp_copy_settle(void);

/* The order of the row that fn is the function of, or a variant of; 0 when it is of none.
 * To be called from a signal handler too: it only reads. */
size_t cp_copy_order(cp_copy_fn fn);

/* The ranges share a byte. Neither wraps around. */
static inline bool cp_copy_overlap(const void *a, const void *b, size_t len)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y ? x - y : y - x) < len;
}

#define CP_COPY_LIBPMEM "libpmem.so.1"

/*
 * Calibration for auto: bytes per second of each present real kernel with its defaults,
 * per direction and class of sizes; docs/method.md says how it is done and what a lead
 * is (rounds.h). Some 150 ms, once per process (thread-safe). `best` is one of the
 * fastest: memcpy when it is among them, else the last of the table. So it may be slower
 * than another in bytes_per_s by what the rounds cannot tell from noise, never by what
 * they can.
 */
#define CP_COPY_EQUAL_PCT 2
#define CP_COPY_ROWS_MAX  24U
struct cp_copy_calibration {
	unsigned nr;
	struct {
		const struct cp_copy_ops *ops;
		/* by enum cp_dir; as measured, 0 = not in this direction */
		double bytes_per_s[2][CP_COPY_CLASSES];
		/* no other is faster; many are where many are equal */
		bool fastest[2][CP_COPY_CLASSES];
	} rows[CP_COPY_ROWS_MAX];
	const struct cp_copy_ops *best[2][CP_COPY_CLASSES];
};
const struct cp_copy_calibration *cp_copy_calibrate(void);

#endif
