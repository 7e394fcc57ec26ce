// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies with ordinary loads and stores: REP MOVSB, which the microcode widens, and
 * vector loops in three widths. Stores are aligned to lines, loads may be unaligned. No
 * fence: ordinary stores are visible in order on x86, but to write-combining memory,
 * where the fence is the caller's (copy.h).
 */
#include "engines/copy/variants.h"

#if defined(__x86_64__)

#include <immintrin.h>

size_t cp_copy_movsb(void *dst, const void *src, size_t len, enum cp_dir dir,
		     enum cp_attr attr)
{
	(void)dir;
	(void)attr;
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len) : : "memory");
	return 0;
}

CP_COPY_INLINE void step_sse2(unsigned char *dst, const unsigned char *src)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)src);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + 16));
	__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + 32));
	__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + 48));

	_mm_store_si128((__m128i *)(void *)dst, a);
	_mm_store_si128((__m128i *)(void *)(dst + 16), b);
	_mm_store_si128((__m128i *)(void *)(dst + 32), c);
	_mm_store_si128((__m128i *)(void *)(dst + 48), d);
}

#define AVX2 __attribute__((target("avx2")))
AVX2 CP_COPY_INLINE void step_avx2(unsigned char *dst, const unsigned char *src)
{
	__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)src);
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(src + 32));

	_mm256_store_si256((__m256i *)(void *)dst, a);
	_mm256_store_si256((__m256i *)(void *)(dst + 32), b);
}

#define AVX512 __attribute__((target("avx512f")))
AVX512 CP_COPY_INLINE void step_avx512(unsigned char *dst, const unsigned char *src)
{
	_mm512_store_si512(dst, _mm512_loadu_si512(src));
}

CP_COPY_DEFINE(cp_copy_sse2, , step_sse2, dst, cp_copy_no_fence_before, cp_copy_no_fence)
CP_COPY_DEFINE(cp_copy_avx2, AVX2, step_avx2, dst, cp_copy_no_fence_before,
	       cp_copy_no_fence)
CP_COPY_DEFINE(cp_copy_avx512, AVX512, step_avx512, dst, cp_copy_no_fence_before,
	       cp_copy_no_fence)

#else

size_t cp_copy_movsb(void *dst, const void *src, size_t len, enum cp_dir dir,
		     enum cp_attr attr)
{
	(void)dst;
	(void)src;
	(void)dir;
	(void)attr;
	return len; /* present() is false: never bound */
}

CP_COPY_ABSENT(cp_copy_sse2)
CP_COPY_ABSENT(cp_copy_avx2)
CP_COPY_ABSENT(cp_copy_avx512)

#endif
