/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copy kernels: one file or section a kind, one row each in cp_copy_table[].
 *
 * A copy moves len bytes between near memory (the caller's buffer) and far memory (the
 * media). It returns the residue: bytes NOT copied, counted from the end; 0 is success.
 * The residue never claims bytes that did not arrive. dst and src must not overlap (the
 * caller has checked bounds once; kernels do not check again).
 *
 * Ordering: a kernel with NT stores ends with SFENCE, so that its stores are visible to
 * any thread that sees the completion of the I/O; plain stores need none on x86.
 * Durability is not promised here (that is `flush`).
 *
 * Threading: kernels keep no state. Binding is done at open, never per I/O.
 */
#ifndef CP_ENGINES_COPY_COPY_H
#define CP_ENGINES_COPY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

enum cp_attr { CP_ATTR_WB }; /* more attributes come with their media */

typedef size_t (*cp_copy_fn)(void *dst, const void *src, size_t len, enum cp_dir dir,
			     enum cp_attr attr);

struct cp_copy_ops {
	const char *name;
	const char *help;
	const char *isa;       /* "avx512f", "" = any */
	bool read, write;      /* directions in which the kernel has a meaning */
	bool (*present)(void); /* the CPU (and the OS) can run it */
	cp_copy_fn fn;
	bool virtual_; /* nt, auto: stands for another row, fn is NULL */
};
/* NULL-name terminated. */
extern const struct cp_copy_ops cp_copy_table[];

const struct cp_copy_ops *cp_copy_find(const char *name);

/*
 * The kernel that `name` stands for in this direction: itself, the widest present
 * NT-store kernel for `nt` writes, memcpy for `nt` reads (ordinary loads and stores), the
 * measured best for `auto` (see cp_copy_calibrate()). Errors (exit 2): unknown name
 * (nearest suggested), a kernel the CPU lacks (which flag), a direction without meaning.
 */
int cp_copy_bind(const char *name, enum cp_dir dir, const struct cp_copy_ops **ret_ops,
		 struct cp_err *err);

/* Calibration for auto: bytes per second of each present real kernel, per direction, at
 * one size (64k) over a working set larger than the last-level cache; a few ms, done once
 * per process (thread-safe). */
struct cp_copy_calibration {
	unsigned nr;
	struct {
		const struct cp_copy_ops *ops;
		double bytes_per_s[2]; /* by enum cp_dir; 0 = not in this direction */
	} rows[16];
};
const struct cp_copy_calibration *cp_copy_calibrate(void);

#endif
