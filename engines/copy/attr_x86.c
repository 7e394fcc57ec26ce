// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction sequences that make write-back memory behave as UC, WC or WT memory.
 *
 * Every sequence walks the lines of the far side; its first and last line may be partial,
 * and are then moved by ordinary accesses and treated as a line, since non-temporal ones
 * want whole aligned words. Whole lines are moved 64 bytes an access with AVX-512 and
 * 16 bytes an access, four a line, without; the near side may lie anywhere.
 */
#include "engines/copy/attr.h"

#include <string.h>

#include "engines/copy/isa.h"
#include "engines/copy/kernels.h"

/* CPUID leaf 1 ECX and leaf 7 EBX (Intel SDM vol. 2A, CPUID). */
#define ECX_SSE41      (1U << 19)
#define EBX_CLFLUSHOPT (1U << 23)
#define EBX_CLWB       (1U << 24)

const char *cp_attr_cpuid_lacks(uint32_t leaf1_ecx, uint32_t leaf7_ebx)
{
	return !(leaf7_ebx & EBX_CLFLUSHOPT) ? "clflushopt"
	       : !(leaf7_ebx & EBX_CLWB)     ? "clwb"
	       : !(leaf1_ecx & ECX_SSE41)    ? "sse4_1"
					     : NULL;
}

#if defined(__x86_64__)

#include <cpuid.h>

#include "engines/copy/attr_x86.h"

#define UC_NT_LINES 8U /* non-temporal line stores between two fences */
#define SEQUENCE    __attribute__((always_inline, target(NARROW))) static inline void

/* A partial line, as uc_load() has whole ones: MFENCE, the line has left the cache and
 * what was stored to it is visible in memory to every thread before it is loaded; LFENCE,
 * no store is made visible, later loads wait for these. */
__attribute__((target(NARROW))) static void
uc_load_part(unsigned char *dst, const unsigned char *src, size_t len)
{
	if (!len)
		return;
	_mm_clflushopt((void *)(uintptr_t)src);
	_mm_mfence();
	memcpy(dst, src, len);
	_mm_lfence();
}

/* UC load: no line is found in the cache, and a load begins when the one before is done.
 */
SEQUENCE uc_load(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	struct span span = split(src, len);

	uc_load_part(dst, src, span.head);
	dst += span.head;
	src += span.head;
	for (size_t i = 0; i < span.lines; i++, dst += LINE, src += LINE) {
		_mm_clflushopt((void *)(uintptr_t)src);
		/* The line has left the cache, and what earlier I/Os stored to it is
		 * visible in memory to every thread, before it is loaded. */
		_mm_mfence();
		line(dst, src);
		/* No store is made visible here: later loads wait for this one. */
		_mm_lfence();
	}
	uc_load_part(dst, src, span.tail);
}

/* Line by line: store it, then what the attribute asks for before the next one. */
SEQUENCE store_lines(unsigned char *dst, const unsigned char *src, size_t len,
		     line_fn line, void (*settle)(unsigned char *line))
{
	const unsigned char *end = dst + len;

	for (size_t n = to_line_end(dst); dst < end; n = LINE) {
		if (n > (size_t)(end - dst))
			n = (size_t)(end - dst);
		if (n == LINE)
			line(dst, src);
		else
			memcpy(dst, src, n);
		settle(dst);
		dst += n;
		src += n;
	}
}

SEQUENCE uc_settle(unsigned char *line)
{
	_mm_clflushopt(line);
	/* This line's store is visible to every thread, and to a device that reads
	 * memory, before the next line's. */
	_mm_mfence();
}

/* UC store: each line has reached memory before the next is stored. */
SEQUENCE uc_store(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	store_lines(dst, src, len, line, uc_settle);
}

/* UC non-temporal load: nothing is found in the cache, one line after the other. */
SEQUENCE uc_ntload(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	struct span span = split(src, len);

	for (size_t at = 0, n = to_line_end(src); at < len; at += n, n = LINE)
		_mm_clflushopt((void *)(uintptr_t)(src + at));
	/* All lines have left the cache, and what earlier I/Os stored to them is visible
	 * in memory to every thread, before the first is loaded. */
	_mm_mfence();
	memcpy(dst, src, span.head);
	dst += span.head;
	src += span.head;
	for (size_t i = 0; i < span.lines; i++, dst += LINE, src += LINE) {
		line(dst, src);
		/* No store is made visible here: later loads wait for this one. */
		_mm_lfence();
	}
	memcpy(dst, src, span.tail);
}

/* A partial line of a store that leaves no line in the cache; fenced by the caller. */
__attribute__((target(NARROW))) static void out_part(unsigned char *dst,
						     const unsigned char *src, size_t len)
{
	if (!len)
		return;
	memcpy(dst, src, len);
	_mm_clflushopt(dst);
}

/* UC non-temporal store: as many lines as there are write-combining buffers, then a wait
 * until they are empty. */
SEQUENCE uc_ntstore(unsigned char *dst, const unsigned char *src, size_t len,
		    line_fn line)
{
	struct span span = split(dst, len);
	bool ends_partial = span.tail || !span.lines;

	out_part(dst, src, span.head);
	dst += span.head;
	src += span.head;
	while (span.lines) {
		size_t n = span.lines < UC_NT_LINES ? span.lines : UC_NT_LINES;

		for (size_t i = 0; i < n; i++, dst += LINE, src += LINE)
			line(dst, src);
		span.lines -= n;
		/* These lines are visible to every thread before the next ones are. */
		_mm_sfence();
	}
	out_part(dst, src, span.tail);
	/* The partial line is visible to whoever sees the completion of the I/O. */
	if (ends_partial)
		_mm_sfence();
}

/* WC load: no line stays in the cache, but loads may overlap. */
SEQUENCE wc_load(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	const unsigned char *end = src + len;

	for (size_t n = to_line_end(src); src < end; n = LINE) {
		if (n > (size_t)(end - src))
			n = (size_t)(end - src);
		if (n == LINE)
			line(dst, src);
		else
			memcpy(dst, src, n);
		_mm_clflushopt((void *)(uintptr_t)src);
		dst += n;
		src += n;
	}
	/* All lines have left the cache when the I/O ends: the next load of one, by this
	 * thread, comes from memory. */
	_mm_mfence();
}

/* WC store: through the write-combining buffers, which drain when they like. There is no
 * fence, and nobody but this thread is promised to see the bytes before its caller fences
 * (attr.h). */
SEQUENCE wc_store(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	struct span span = split(dst, len);

	out_part(dst, src, span.head);
	dst += span.head;
	src += span.head;
	for (size_t i = 0; i < span.lines; i++, dst += LINE, src += LINE)
		line(dst, src);
	out_part(dst, src, span.tail);
}

/* The kernel's nocache copy to WC memory: MOVNTI, which uses write-combining buffers on
 * WB memory too (Intel SDM vol. 1, 10.4.6.2), and a fence. */
SEQUENCE wc_nti(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	wc_store(dst, src, len, line);
	/* All lines, visible to whoever sees the completion of the I/O, which an ordinary
	 * store publishes. */
	_mm_sfence();
}

SEQUENCE wt_settle(unsigned char *line)
{
	_mm_clwb(line);
	/* This line has been written back, visible to every thread and to a device that
	 * reads memory, before the next is stored. */
	_mm_sfence();
}

/* WT store: each line is written to memory, and stays in the cache where the CPU's clwb
 * leaves it there. */
SEQUENCE wt_store(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	store_lines(dst, src, len, line, wt_settle);
}

__attribute__((target(NARROW))) static void wt_part(unsigned char *dst,
						    const unsigned char *src, size_t len)
{
	if (!len)
		return;
	memcpy(dst, src, len);
	_mm_clwb(dst);
}

/* WT non-temporal store: NT stores pass the cache by under WT as under WB. */
SEQUENCE wt_ntstore(unsigned char *dst, const unsigned char *src, size_t len,
		    line_fn line)
{
	struct span span = split(dst, len);

	wt_part(dst, src, span.head);
	dst += span.head;
	src += span.head;
	for (size_t i = 0; i < span.lines; i++, dst += LINE, src += LINE)
		line(dst, src);
	wt_part(dst, src, span.tail);
	/* All lines, visible to whoever sees the completion of the I/O, which an ordinary
	 * store publishes. */
	_mm_sfence();
}

/* Non-temporal loads as they are: WB, WC and WT do not tell them apart here. */
SEQUENCE ntload(unsigned char *dst, const unsigned char *src, size_t len, line_fn line)
{
	struct span span = split(src, len);

	memcpy(dst, src, span.head);
	dst += span.head;
	src += span.head;
	for (size_t i = 0; i < span.lines; i++, dst += LINE, src += LINE)
		line(dst, src);
	memcpy(dst, src, span.tail);
}

#define DEFINE(sequence, width, isa, line)                               \
	__attribute__((target(isa))) static size_t sequence##_##width(   \
		void *dst, const void *src, size_t len, enum cp_dir dir, \
		enum cp_attr attr)                                       \
	{                                                                \
		(void)dir;                                               \
		(void)attr;                                              \
		sequence(dst, src, len, line);                           \
		return 0;                                                \
	}
#define DEFINE_BOTH(sequence, line)           \
	DEFINE(sequence, 64, WIDE, line##_64) \
	DEFINE(sequence, 16, NARROW, line##_16)

DEFINE_BOTH(uc_load, line)
DEFINE_BOTH(uc_store, line)
DEFINE_BOTH(uc_ntload, line_ntload)
DEFINE_BOTH(uc_ntstore, line_ntstore)
DEFINE_BOTH(wc_load, line)
DEFINE_BOTH(wc_store, line_ntstore)
DEFINE(wc_nti, 8, NARROW, line_nti)
DEFINE_BOTH(wt_store, line)
DEFINE_BOTH(wt_ntstore, line_ntstore)
DEFINE_BOTH(ntload, line_ntload)

static bool narrow_present(void)
{
	return !cp_attr_lacks();
}

static bool wide_present(void)
{
	return narrow_present() && cp_copy_isa_avx512f();
}

const char *cp_attr_lacks(void)
{
	unsigned a, b, c, d, ecx = 0, ebx = 0;

	if (__get_cpuid(1, &a, &b, &c, &d))
		ecx = c;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		ebx = b;
	return cp_attr_cpuid_lacks(ecx, ebx);
}

#define OPS(name_, dir_, isa_, present_, fn_)                                        \
	{                                                                            \
		.name = (name_), .isa = (isa_), .read = (dir_) == CP_DIR_READ,       \
		.write = (dir_) == CP_DIR_WRITE, .present = (present_), .fn = (fn_), \
	}
#define ROW(attr_, word_, dir_, prefix, fn_, sequence_)                           \
	{                                                                         \
		.attr = CP_ATTR_##attr_, .word = (word_), .dir = CP_DIR_##dir_,   \
		.sequence = (sequence_),                                          \
		.ops = {OPS(prefix "-64", CP_DIR_##dir_, "avx512f", wide_present, \
			    fn_##_64),                                            \
			OPS(prefix "-16", CP_DIR_##dir_, "clwb", narrow_present,  \
			    fn_##_16)},                                           \
	}

const struct cp_attr_row cp_attr_rows[] = {
	ROW(UC, "memcpy", READ, "uc-memcpy", uc_load,
	    "clflushopt, mfence, load, lfence a line"),
	ROW(UC, "memcpy", WRITE, "uc-memcpy", uc_store,
	    "store, clflushopt, mfence a line"),
	ROW(UC, "nt-both", READ, "uc-nt-both", uc_ntload,
	    "clflushopt of the range, mfence, then NT load and lfence a line"),
	ROW(UC, "nt-both", WRITE, "uc-nt-both", uc_ntstore,
	    "NT stores of 8 lines, then sfence, again and again"),
	ROW(WC, "memcpy", READ, "wc-memcpy", wc_load,
	    "load and clflushopt a line, one mfence"),
	ROW(WC, "memcpy", WRITE, "wc-memcpy", wc_store, "NT stores without a fence"),
	ROW(WC, "nt-both", READ, "wc-nt-both", ntload, "NT loads, as under wb"),
	ROW(WC, "nt-both", WRITE, "wc-nt-both", wc_store, "NT stores without a fence"),
	{
		.attr = CP_ATTR_WC,
		.word = "nti",
		.dir = CP_DIR_WRITE,
		.sequence = "NT stores of 8 bytes (MOVNTI) and one sfence",
		.ops = {OPS("wc-nti-8", CP_DIR_WRITE, "clwb", narrow_present, wc_nti_8),
			OPS("wc-nti-8", CP_DIR_WRITE, "clwb", narrow_present, wc_nti_8)},
	},
	{
		.attr = CP_ATTR_WT,
		.word = "memcpy",
		.dir = CP_DIR_READ,
		.sequence = "memcpy, as under wb",
		.ops = {OPS("wt-memcpy", CP_DIR_READ, "", narrow_present, cp_copy_memcpy),
			OPS("wt-memcpy", CP_DIR_READ, "", narrow_present,
			    cp_copy_memcpy)},
	},
	ROW(WT, "memcpy", WRITE, "wt-memcpy", wt_store, "store, clwb, sfence a line"),
	ROW(WT, "nt-both", READ, "wt-nt-both", ntload, "NT loads, as under wb"),
	ROW(WT, "nt-both", WRITE, "wt-nt-both", wt_ntstore, "NT stores and one sfence"),
	{.word = NULL},
};

#else

const char *cp_attr_lacks(void)
{
	return cp_attr_cpuid_lacks(0, 0);
}

const struct cp_attr_row cp_attr_rows[] = {{.word = NULL}};

#endif
