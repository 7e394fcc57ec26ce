/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a kernel that goes line by line is made. Its file has one inline function, the
 * step, which copies one line; CP_COPY_DEFINE() makes of it the kernel and its variants:
 * unroll 1, 2, 4 or 8 lines a turn of the loop, without prefetch or with a hint some
 * distance ahead. All that differs between variants is a constant here, so that none of
 * it is decided while copying.
 *
 * Only whole cache lines of the side that is named are copied by steps: of dst for
 * kernels with special stores, since a write-combining buffer that is filled completely
 * goes out as one line write and a partly filled one as a slow partial write; of src for
 * kernels with special loads, which fault when not aligned. What lies before the first
 * and behind the last whole line is copied by memcpy, so by ordinary loads and stores.
 */
#ifndef CP_ENGINES_COPY_VARIANTS_H
#define CP_ENGINES_COPY_VARIANTS_H

#include <stdint.h>
#include <string.h>

#include "engines/copy/kernels.h"

#define CP_COPY_LINE 64U

#define CP_COPY_INLINE static inline __attribute__((always_inline))

CP_COPY_INLINE void cp_copy_ahead(const unsigned char *src, enum cp_prefetch hint,
				  size_t distance)
{
	/* past the end of src too: a prefetch never faults */
	const void *at = (const void *)((uintptr_t)src + distance);

	if (hint == CP_PREFETCH_NTA)
		__builtin_prefetch(at, 0, 0);
	else if (hint == CP_PREFETCH_T0)
		__builtin_prefetch(at, 0, 3);
}

/* Line k of a turn; k and unroll are constants. */
#define CP_COPY_TURN(step, k)                                                  \
	do {                                                                   \
		if ((k) < unroll) {                                            \
			cp_copy_ahead(src + (k)*CP_COPY_LINE, hint, distance); \
			step(dst + (k)*CP_COPY_LINE, src + (k)*CP_COPY_LINE);  \
		}                                                              \
	} while (0)

/* target: the step's target attribute or nothing; side: dst or src; before(attr) and
 * after(): fences, or cp_copy_no_fence. */
#define CP_COPY_FRAME(name, target, step, side, before, after)                        \
	target CP_COPY_INLINE size_t name##_frame(                                    \
		void *dst_v, const void *src_v, size_t len, enum cp_attr attr,        \
		unsigned unroll, enum cp_prefetch hint, size_t distance, bool fenced) \
	{                                                                             \
		unsigned char *dst = dst_v;                                           \
		const unsigned char *src = src_v;                                     \
		size_t head = (size_t)(-(uintptr_t)side & (CP_COPY_LINE - 1));        \
                                                                                      \
		before(attr);                                                         \
		if (len < head + CP_COPY_LINE) {                                      \
			memcpy(dst, src, len);                                        \
			return 0;                                                     \
		}                                                                     \
		memcpy(dst, src, head);                                               \
		dst += head;                                                          \
		src += head;                                                          \
		size_t lines = (len - head) / CP_COPY_LINE;                           \
		size_t tail = (len - head) % CP_COPY_LINE;                            \
                                                                                      \
		for (; lines >= unroll; lines -= unroll) {                            \
			CP_COPY_TURN(step, 0);                                        \
			CP_COPY_TURN(step, 1);                                        \
			CP_COPY_TURN(step, 2);                                        \
			CP_COPY_TURN(step, 3);                                        \
			CP_COPY_TURN(step, 4);                                        \
			CP_COPY_TURN(step, 5);                                        \
			CP_COPY_TURN(step, 6);                                        \
			CP_COPY_TURN(step, 7);                                        \
			dst += (size_t)unroll * CP_COPY_LINE;                         \
			src += (size_t)unroll * CP_COPY_LINE;                         \
		}                                                                     \
		for (; lines; lines--) {                                              \
			step(dst, src);                                               \
			dst += CP_COPY_LINE;                                          \
			src += CP_COPY_LINE;                                          \
		}                                                                     \
		memcpy(dst, src, tail);                                               \
		if (fenced)                                                           \
			after();                                                      \
		return 0;                                                             \
	}

#define CP_COPY_PLAIN(name, target, suffix, linkage, unroll)                          \
	target linkage size_t name##suffix(void *dst, const void *src, size_t len,    \
					   enum cp_dir dir, enum cp_attr attr)        \
	{                                                                             \
		(void)dir;                                                            \
		return name##_frame(dst, src, len, attr, unroll, CP_PREFETCH_NONE, 0, \
				    true);                                            \
	}

#define CP_COPY_AHEAD(name, target, suffix, unroll, hint)                               \
	target static size_t name##suffix(void *dst, const void *src, size_t len,       \
					  enum cp_attr attr, size_t distance)           \
	{                                                                               \
		return name##_frame(dst, src, len, attr, unroll, hint, distance, true); \
	}

#define CP_COPY_UNFENCED(name, target, suffix, unroll)                                \
	target static size_t name##suffix(void *dst, const void *src, size_t len,     \
					  enum cp_dir dir, enum cp_attr attr)         \
	{                                                                             \
		(void)dir;                                                            \
		return name##_frame(dst, src, len, attr, unroll, CP_PREFETCH_NONE, 0, \
				    false);                                           \
	}

/* The kernel `name` and name##_variants. */
#define CP_COPY_DEFINE(name, target, step, side, before, after)    \
	CP_COPY_FUNCTIONS(name, target, step, side, before, after) \
	const struct cp_copy_variants name##_variants = {CP_COPY_FENCED(name)};

/* The same for a kernel with a fence behind it, which can be left out. */
#define CP_COPY_DEFINE_NT(name, target, step, side, before, after)                    \
	CP_COPY_FUNCTIONS(name, target, step, side, before, after)                    \
	CP_COPY_UNFENCED(name, target, _open1, 1)                                     \
	CP_COPY_UNFENCED(name, target, _open2, 2)                                     \
	CP_COPY_UNFENCED(name, target, _open4, 4)                                     \
	CP_COPY_UNFENCED(name, target, _open8, 8)                                     \
	const struct cp_copy_variants name##_variants = {                             \
		CP_COPY_FENCED(name),                                                 \
		.unfenced = {name##_open1, name##_open2, name##_open4, name##_open8}, \
	};

#define CP_COPY_FENCED(name)                                         \
	.plain = {name##_u1, name##_u2, name, name##_u8},            \
	.nta = {name##_nta1, name##_nta2, name##_nta4, name##_nta8}, \
	.t0 = {name##_t01, name##_t02, name##_t04, name##_t08}

/* Unrolled by 4 enough loads are in flight to hide their latency: that is the default. */
#define CP_COPY_FUNCTIONS(name, target, step, side, before, after) \
	CP_COPY_FRAME(name, target, step, side, before, after)     \
	CP_COPY_PLAIN(name, target, , , 4)                         \
	CP_COPY_PLAIN(name, target, _u1, static, 1)                \
	CP_COPY_PLAIN(name, target, _u2, static, 2)                \
	CP_COPY_PLAIN(name, target, _u8, static, 8)                \
	CP_COPY_AHEAD(name, target, _nta1, 1, CP_PREFETCH_NTA)     \
	CP_COPY_AHEAD(name, target, _nta2, 2, CP_PREFETCH_NTA)     \
	CP_COPY_AHEAD(name, target, _nta4, 4, CP_PREFETCH_NTA)     \
	CP_COPY_AHEAD(name, target, _nta8, 8, CP_PREFETCH_NTA)     \
	CP_COPY_AHEAD(name, target, _t01, 1, CP_PREFETCH_T0)       \
	CP_COPY_AHEAD(name, target, _t02, 2, CP_PREFETCH_T0)       \
	CP_COPY_AHEAD(name, target, _t04, 4, CP_PREFETCH_T0)       \
	CP_COPY_AHEAD(name, target, _t08, 8, CP_PREFETCH_T0)

/* A kernel of another architecture: its row stays in the table, so that its name is known
 * and refused with the reason; present() is false and it is never bound. */
#define CP_COPY_ABSENT(name)                                                 \
	size_t name(void *dst, const void *src, size_t len, enum cp_dir dir, \
		    enum cp_attr attr)                                       \
	{                                                                    \
		(void)dst;                                                   \
		(void)src;                                                   \
		(void)dir;                                                   \
		(void)attr;                                                  \
		return len;                                                  \
	}                                                                    \
	const struct cp_copy_variants name##_variants = {.plain = {NULL}};

CP_COPY_INLINE void cp_copy_no_fence(void)
{
}

CP_COPY_INLINE void cp_copy_no_fence_before(enum cp_attr attr)
{
	(void)attr;
}

#endif
