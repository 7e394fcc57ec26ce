// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies with non-temporal stores, in three vector widths.
 *
 * Only whole cache lines of dst are stored non-temporally: a write-combining buffer that
 * is filled completely goes out as one line write, a partly filled one as a slow partial
 * write. The bytes before the first and after the last whole line use ordinary stores.
 * Loads are ordinary and may be unaligned.
 */
#include <stdint.h>
#include <string.h>

#include "engines/copy/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define LINE 64U

typedef void (*lines_fn)(unsigned char *dst, const unsigned char *src, size_t lines);

/* One line a step, four steps unrolled: enough loads in flight to hide their latency, and
 * the line's stores stay together so that its write-combining buffer fills at once. */
static void lines_sse2(unsigned char *dst, const unsigned char *src, size_t lines)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < lines; i++, dst += LINE, src += LINE) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)src);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + 32));
		__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + 48));

		_mm_stream_si128((__m128i *)(void *)dst, a);
		_mm_stream_si128((__m128i *)(void *)(dst + 16), b);
		_mm_stream_si128((__m128i *)(void *)(dst + 32), c);
		_mm_stream_si128((__m128i *)(void *)(dst + 48), d);
	}
}

__attribute__((target("avx2"))) static void
lines_avx2(unsigned char *dst, const unsigned char *src, size_t lines)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < lines; i++, dst += LINE, src += LINE) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)src);
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(src + 32));

		_mm256_stream_si256((__m256i *)(void *)dst, a);
		_mm256_stream_si256((__m256i *)(void *)(dst + 32), b);
	}
}

__attribute__((target("avx512f"))) static void
lines_avx512(unsigned char *dst, const unsigned char *src, size_t lines)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < lines; i++, dst += LINE, src += LINE)
		_mm512_stream_si512((__m512i *)(void *)dst, _mm512_loadu_si512(src));
}

static inline size_t copy_nt(void *dst_v, const void *src_v, size_t len, lines_fn lines)
{
	unsigned char *dst = dst_v;
	const unsigned char *src = src_v;
	size_t head = (size_t)(-(uintptr_t)dst & (LINE - 1));

	if (len < head + LINE) {
		memcpy(dst, src, len);
		return 0;
	}
	memcpy(dst, src, head);
	size_t body = (len - head) & ~(size_t)(LINE - 1);
	lines(dst + head, src + head, body / LINE);
	memcpy(dst + head + body, src + head + body, len - head - body);
	/* The NT stores above must be visible to any thread that sees the completion the
	 * caller is about to publish with an ordinary (release) store, which does not
	 * order NT stores by itself. */
	_mm_sfence();
	return 0;
}

bool cp_copy_nt_sse2_present(void)
{
	return true; /* part of x86-64 */
}

bool cp_copy_nt_avx2_present(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
}

bool cp_copy_nt_avx512_present(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f");
}

#define DEFINE_COPY(width)                                                \
	size_t cp_copy_nt_##width(void *dst, const void *src, size_t len, \
				  enum cp_dir dir, enum cp_attr attr)     \
	{                                                                 \
		(void)dir;                                                \
		(void)attr;                                               \
		return copy_nt(dst, src, len, lines_##width);             \
	}

#else

/* The table refuses rows whose present() is false, so nothing here is ever bound. */
#define DEFINE_COPY(width)                                                \
	bool cp_copy_nt_##width##_present(void)                           \
	{                                                                 \
		return false;                                             \
	}                                                                 \
	size_t cp_copy_nt_##width(void *dst, const void *src, size_t len, \
				  enum cp_dir dir, enum cp_attr attr)     \
	{                                                                 \
		(void)dst;                                                \
		(void)src;                                                \
		(void)dir;                                                \
		(void)attr;                                               \
		return len;                                               \
	}

#endif

DEFINE_COPY(sse2)
DEFINE_COPY(avx2)
DEFINE_COPY(avx512)
