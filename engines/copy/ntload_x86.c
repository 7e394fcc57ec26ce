// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies with non-temporal loads (MOVNTDQA) and ordinary stores. On write-combining
 * memory a MOVNTDQA fetches a line into a streaming buffer, from which the other loads of
 * the line are served; on write-back memory it is a load like any other. src is aligned
 * to lines, as the instruction demands; stores may be unaligned.
 */
#include "engines/copy/variants.h"

#if defined(__x86_64__)

#include <immintrin.h>

CP_COPY_INLINE void fence(enum cp_attr attr)
{
	/* On write-combining memory, stores to src by other agents that came before this
	 * I/O must be visible to the loads below, and a streaming buffer may hold an
	 * older line (Intel SDM volume 1, 12.10.3): MFENCE. Elsewhere a MOVNTDQA is a
	 * load like any other, and loads are ordered. */
	if (attr == CP_ATTR_WC)
		_mm_mfence();
}

#define SSE41 __attribute__((target("sse4.1")))
SSE41 CP_COPY_INLINE __m128i load16(const unsigned char *src)
{
	/* the intrinsic takes no pointer to const */
	return _mm_stream_load_si128((__m128i *)(uintptr_t)src);
}

SSE41 CP_COPY_INLINE void step_sse41(unsigned char *dst, const unsigned char *src)
{
	__m128i a = load16(src), b = load16(src + 16);
	__m128i c = load16(src + 32), d = load16(src + 48);

	_mm_storeu_si128((__m128i *)(void *)dst, a);
	_mm_storeu_si128((__m128i *)(void *)(dst + 16), b);
	_mm_storeu_si128((__m128i *)(void *)(dst + 32), c);
	_mm_storeu_si128((__m128i *)(void *)(dst + 48), d);
}

#define AVX2 __attribute__((target("avx2")))
AVX2 CP_COPY_INLINE void step_avx2(unsigned char *dst, const unsigned char *src)
{
	__m256i a = _mm256_stream_load_si256((__m256i *)(uintptr_t)src);
	__m256i b = _mm256_stream_load_si256((__m256i *)(uintptr_t)(src + 32));

	_mm256_storeu_si256((__m256i *)(void *)dst, a);
	_mm256_storeu_si256((__m256i *)(void *)(dst + 32), b);
}

#define AVX512 __attribute__((target("avx512f")))
AVX512 CP_COPY_INLINE void step_avx512(unsigned char *dst, const unsigned char *src)
{
	_mm512_storeu_si512(dst, _mm512_stream_load_si512((void *)(uintptr_t)src));
}

CP_COPY_DEFINE(cp_copy_ntload_sse41, SSE41, step_sse41, src, fence, cp_copy_no_fence)
CP_COPY_DEFINE(cp_copy_ntload_avx2, AVX2, step_avx2, src, fence, cp_copy_no_fence)
CP_COPY_DEFINE(cp_copy_ntload_avx512, AVX512, step_avx512, src, fence, cp_copy_no_fence)

#else

CP_COPY_ABSENT(cp_copy_ntload_sse41)
CP_COPY_ABSENT(cp_copy_ntload_avx2)
CP_COPY_ABSENT(cp_copy_ntload_avx512)

#endif
