/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CP_FLUSH_DEFINE(name, isa, instruction): name_all() and name_edges() of a row of
 * cp_flush_table[] (flush.h), made of what writes back the line of one address.
 *
 * The first line is flushed by the range's first byte and the others by theirs: an
 * address outside of the range would not be known to the fault guard as the write's.
 *
 * edges: a line is partial where the range begins or ends inside of it. `tail` is what of
 * its last line lies before the range's end; when that is more than the range, the last
 * line is the first one.
 */
#ifndef CP_ENGINES_COPY_FLUSH_LINES_H
#define CP_ENGINES_COPY_FLUSH_LINES_H

#include <stdint.h>

#include "engines/copy/flush.h"

#define CP_FLUSH_DEFINE(name, isa, instruction)                                       \
	__attribute__((target(isa))) static size_t name##_all(                        \
		void *dst, const void *src, size_t len, enum cp_dir dir,              \
		enum cp_attr attr)                                                    \
	{                                                                             \
		unsigned char *far = dst;                                             \
		size_t line = CP_LINE_BYTES - ((uintptr_t)far & (CP_LINE_BYTES - 1)); \
                                                                                      \
		(void)src;                                                            \
		(void)dir;                                                            \
		(void)attr;                                                           \
		for (size_t at = 0; at < len; at += line, line = CP_LINE_BYTES)       \
			instruction(far + at);                                        \
		return 0;                                                             \
	}                                                                             \
                                                                                      \
	__attribute__((target(isa))) static size_t name##_edges(                      \
		void *dst, const void *src, size_t len, enum cp_dir dir,              \
		enum cp_attr attr)                                                    \
	{                                                                             \
		unsigned char *far = dst;                                             \
		size_t tail = ((uintptr_t)far + len) & (CP_LINE_BYTES - 1);           \
                                                                                      \
		(void)src;                                                            \
		(void)dir;                                                            \
		(void)attr;                                                           \
		if (len && ((uintptr_t)far & (CP_LINE_BYTES - 1)))                    \
			instruction(far);                                             \
		if (tail && tail <= len)                                              \
			instruction(far + len - tail);                                \
		return 0;                                                             \
	}

#endif
