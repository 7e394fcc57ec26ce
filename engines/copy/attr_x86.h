/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving one line of 64 bytes, in the two access widths, and the lines of a range. Only
 * for attr_x86.c, on x86-64. The far side of a non-temporal access is a whole line;
 * everything else may lie anywhere.
 */
#ifndef CP_ENGINES_COPY_ATTR_X86_H
#define CP_ENGINES_COPY_ATTR_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE   64U
#define NARROW "sse4.1,clflushopt,clwb"
#define WIDE   NARROW ",avx512f"

typedef void (*line_fn)(unsigned char *dst, const unsigned char *src);

struct span {
	size_t head, lines, tail; /* bytes, whole lines, bytes */
};

/* From here to the next line's first byte. */
static inline size_t to_line_end(const void *far)
{
	return LINE - ((uintptr_t)far & (LINE - 1));
}

static inline struct span split(const void *far, size_t len)
{
	struct span span = {.head = (size_t)(-(uintptr_t)far & (LINE - 1))};

	if (span.head > len)
		span.head = len;
	span.lines = (len - span.head) / LINE;
	span.tail = (len - span.head) % LINE;
	return span;
}

__attribute__((target(NARROW))) static inline void line_16(unsigned char *dst,
							   const unsigned char *src)
{
	for (unsigned i = 0; i < LINE; i += 16)
		_mm_storeu_si128(
			(__m128i *)(void *)(dst + i),
			_mm_loadu_si128((const __m128i *)(const void *)(src + i)));
}

__attribute__((target(WIDE))) static inline void line_64(unsigned char *dst,
							 const unsigned char *src)
{
	_mm512_storeu_si512(dst, _mm512_loadu_si512(src));
}

/* src is a whole line */
__attribute__((target(NARROW))) static inline void
line_ntload_16(unsigned char *dst, const unsigned char *src)
{
	for (unsigned i = 0; i < LINE; i += 16)
		_mm_storeu_si128((__m128i *)(void *)(dst + i),
				 _mm_stream_load_si128((__m128i *)(uintptr_t)(src + i)));
}

__attribute__((target(WIDE))) static inline void line_ntload_64(unsigned char *dst,
								const unsigned char *src)
{
	_mm512_storeu_si512(dst, _mm512_stream_load_si512((void *)(uintptr_t)src));
}

/* dst is a whole line */
__attribute__((target(NARROW))) static inline void
line_ntstore_16(unsigned char *dst, const unsigned char *src)
{
	for (unsigned i = 0; i < LINE; i += 16)
		_mm_stream_si128(
			(__m128i *)(void *)(dst + i),
			_mm_loadu_si128((const __m128i *)(const void *)(src + i)));
}

__attribute__((target(WIDE))) static inline void line_ntstore_64(unsigned char *dst,
								 const unsigned char *src)
{
	_mm512_stream_si512((__m512i *)(void *)dst, _mm512_loadu_si512(src));
}

/* dst is a whole line; MOVNTI */
static inline void line_nti(unsigned char *dst, const unsigned char *src)
{
	for (unsigned i = 0; i < LINE; i += sizeof(long long)) {
		long long word;

		memcpy(&word, src + i, sizeof(word));
		_mm_stream_si64((long long *)(void *)(dst + i), word);
	}
}

#endif
