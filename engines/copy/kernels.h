/* SPDX-License-Identifier: GPL-2.0-only */
/* The real kernels, for the table. Each has the contract of cp_copy_fn in copy.h. */
#ifndef CP_ENGINES_COPY_KERNELS_H
#define CP_ENGINES_COPY_KERNELS_H

#include "engines/copy/copy.h"

#define CP_COPY_UNROLLS 4U /* 1, 2, 4, 8 lines: by log2 */

/* A kernel with a prefetch: cp_copy_fn but for the distance in bytes. */
typedef size_t (*cp_copy_ahead_fn)(void *dst, const void *src, size_t len,
				   enum cp_attr attr, size_t distance);

/* What `unroll` and `prefetch` pick from; made by variants.h. */
struct cp_copy_variants {
	cp_copy_fn plain[CP_COPY_UNROLLS];
	cp_copy_ahead_fn nta[CP_COPY_UNROLLS], t0[CP_COPY_UNROLLS];
	/* plain without the fence behind it; NULL where there is none */
	cp_copy_fn unfenced[CP_COPY_UNROLLS];
};

#define CP_COPY_KERNEL(name)                                                 \
	size_t name(void *dst, const void *src, size_t len, enum cp_dir dir, \
		    enum cp_attr attr)
#define CP_COPY_LINES_KERNEL(name) \
	CP_COPY_KERNEL(name);      \
	extern const struct cp_copy_variants name##_variants

CP_COPY_KERNEL(cp_copy_memcpy);
CP_COPY_LINES_KERNEL(cp_copy_portable);

/* plain_x86.c: ordinary loads and stores */
CP_COPY_KERNEL(cp_copy_movsb);
CP_COPY_LINES_KERNEL(cp_copy_sse2);
CP_COPY_LINES_KERNEL(cp_copy_avx2);
CP_COPY_LINES_KERNEL(cp_copy_avx512);

/* nt_x86.c: non-temporal and direct stores */
CP_COPY_LINES_KERNEL(cp_copy_nti);
CP_COPY_LINES_KERNEL(cp_copy_nt_sse2);
CP_COPY_LINES_KERNEL(cp_copy_nt_avx2);
CP_COPY_LINES_KERNEL(cp_copy_nt_avx512);
CP_COPY_LINES_KERNEL(cp_copy_movdir64b);

/* ntload_x86.c: non-temporal loads, ordinary stores */
CP_COPY_LINES_KERNEL(cp_copy_ntload_sse41);
CP_COPY_LINES_KERNEL(cp_copy_ntload_avx2);
CP_COPY_LINES_KERNEL(cp_copy_ntload_avx512);

/* nt_arm64.c: STNP for stores, LDNP for loads */
CP_COPY_LINES_KERNEL(cp_copy_nt_stnp);
CP_COPY_LINES_KERNEL(cp_copy_ntload_ldnp);

/* libpmem.c; present when the library can be loaded */
bool cp_copy_libpmem_present(void);
/* Its environment may have it store through the caches, and flush nothing. */
bool cp_copy_libpmem_is_bent(void);
CP_COPY_KERNEL(cp_copy_libpmem);
CP_COPY_KERNEL(cp_copy_libpmem_temporal);

#endif
