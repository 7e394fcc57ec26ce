// SPDX-License-Identifier: GPL-2.0-only
/*
 * aarch64's pairs with a non-temporal hint: STNP stores, LDNP loads. The compiler has no
 * builtin for them that gcc and clang share, hence assembly.
 *
 * No fence of their own: unlike x86's, these stores are ordered by the caller's release
 * store as any other store is (Arm ARM, C3.2.4: only loads lose the address dependency,
 * which nothing here leans on).
 */
#include "engines/copy/variants.h"

#if defined(__aarch64__)

CP_COPY_INLINE void step_stnp(unsigned char *dst, const unsigned char *src)
{
	__asm__ volatile("ldp q0, q1, [%1]\n\t"
			 "ldp q2, q3, [%1, #32]\n\t"
			 "stnp q0, q1, [%0]\n\t"
			 "stnp q2, q3, [%0, #32]"
			 :
			 : "r"(dst), "r"(src)
			 : "v0", "v1", "v2", "v3", "memory");
}

CP_COPY_INLINE void step_ldnp(unsigned char *dst, const unsigned char *src)
{
	__asm__ volatile("ldnp q0, q1, [%1]\n\t"
			 "ldnp q2, q3, [%1, #32]\n\t"
			 "stp q0, q1, [%0]\n\t"
			 "stp q2, q3, [%0, #32]"
			 :
			 : "r"(dst), "r"(src)
			 : "v0", "v1", "v2", "v3", "memory");
}

CP_COPY_DEFINE(cp_copy_nt_stnp, , step_stnp, dst, cp_copy_no_fence_before,
	       cp_copy_no_fence)
CP_COPY_DEFINE(cp_copy_ntload_ldnp, , step_ldnp, src, cp_copy_no_fence_before,
	       cp_copy_no_fence)

#else

CP_COPY_ABSENT(cp_copy_nt_stnp)
CP_COPY_ABSENT(cp_copy_ntload_ldnp)

#endif
