// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies whose stores go past the caches: MOVNTI, MOVNTDQ in three widths, and MOVDIR64B,
 * which writes a line in one store that never is split. Loads are ordinary and may be
 * unaligned. The stores of a line stay together, so that its write-combining buffer fills
 * at once.
 */
#include "engines/copy/variants.h"

#if defined(__x86_64__)

#include <immintrin.h>

CP_COPY_INLINE void fence(void)
{
	/* The NT and direct stores of this copy must be visible to any thread that sees
	 * the completion the caller is about to publish with an ordinary (release) store,
	 * which does not order such stores by itself. */
	_mm_sfence();
}

CP_COPY_INLINE void step_nti(unsigned char *dst, const unsigned char *src)
{
	for (unsigned i = 0; i < CP_COPY_LINE; i += sizeof(long long)) {
		long long word;

		memcpy(&word, src + i, sizeof(word));
		_mm_stream_si64((long long *)(void *)(dst + i), word);
	}
}

CP_COPY_INLINE void step_sse2(unsigned char *dst, const unsigned char *src)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)src);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + 16));
	__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + 32));
	__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + 48));

	_mm_stream_si128((__m128i *)(void *)dst, a);
	_mm_stream_si128((__m128i *)(void *)(dst + 16), b);
	_mm_stream_si128((__m128i *)(void *)(dst + 32), c);
	_mm_stream_si128((__m128i *)(void *)(dst + 48), d);
}

#define AVX2 __attribute__((target("avx2")))
AVX2 CP_COPY_INLINE void step_avx2(unsigned char *dst, const unsigned char *src)
{
	__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)src);
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(src + 32));

	_mm256_stream_si256((__m256i *)(void *)dst, a);
	_mm256_stream_si256((__m256i *)(void *)(dst + 32), b);
}

#define AVX512 __attribute__((target("avx512f")))
AVX512 CP_COPY_INLINE void step_avx512(unsigned char *dst, const unsigned char *src)
{
	_mm512_stream_si512((__m512i *)(void *)dst, _mm512_loadu_si512(src));
}

#define MOVDIR64B __attribute__((target("movdir64b")))
MOVDIR64B CP_COPY_INLINE void step_movdir64b(unsigned char *dst, const unsigned char *src)
{
	_movdir64b(dst, src);
}

CP_COPY_DEFINE_NT(cp_copy_nti, , step_nti, dst, cp_copy_no_fence_before, fence)
CP_COPY_DEFINE_NT(cp_copy_nt_sse2, , step_sse2, dst, cp_copy_no_fence_before, fence)
CP_COPY_DEFINE_NT(cp_copy_nt_avx2, AVX2, step_avx2, dst, cp_copy_no_fence_before, fence)
CP_COPY_DEFINE_NT(cp_copy_nt_avx512, AVX512, step_avx512, dst, cp_copy_no_fence_before,
		  fence)
CP_COPY_DEFINE_NT(cp_copy_movdir64b, MOVDIR64B, step_movdir64b, dst,
		  cp_copy_no_fence_before, fence)

void cp_copy_settle(void)
{
	/* NT stores of kernels without their fence, and stores to WC memory: copy.h says
	 * to whom they are visible now. */
	_mm_sfence();
}

#else

CP_COPY_ABSENT(cp_copy_nti)
CP_COPY_ABSENT(cp_copy_nt_sse2)
CP_COPY_ABSENT(cp_copy_nt_avx2)
CP_COPY_ABSENT(cp_copy_nt_avx512)
CP_COPY_ABSENT(cp_copy_movdir64b)

/* No kernel here leaves a fence out; what it stored to memory that is not cached is to be
 * visible to whoever sees a later store of this thread. */
void cp_copy_settle(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif
