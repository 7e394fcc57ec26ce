/* SPDX-License-Identifier: GPL-2.0-only */
/* The real kernels, for the table. Each has the contract of cp_copy_fn in copy.h. */
#ifndef CP_ENGINES_COPY_KERNELS_H
#define CP_ENGINES_COPY_KERNELS_H

#include "engines/copy/copy.h"

size_t cp_copy_memcpy(void *dst, const void *src, size_t len, enum cp_dir dir,
		      enum cp_attr attr);

/* Non-temporal stores by vector width. On a machine that is not x86-64 present() is false
 * and the kernel must not be called. */
bool cp_copy_nt_sse2_present(void);
bool cp_copy_nt_avx2_present(void);
bool cp_copy_nt_avx512_present(void);
size_t cp_copy_nt_sse2(void *dst, const void *src, size_t len, enum cp_dir dir,
		       enum cp_attr attr);
size_t cp_copy_nt_avx2(void *dst, const void *src, size_t len, enum cp_dir dir,
		       enum cp_attr attr);
size_t cp_copy_nt_avx512(void *dst, const void *src, size_t len, enum cp_dir dir,
			 enum cp_attr attr);

#endif
