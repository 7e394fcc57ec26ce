// SPDX-License-Identifier: GPL-2.0-only
/* CLWB, CLFLUSHOPT and CLFLUSH over the lines of a range. */
#include "engines/copy/flush_lines.h"
#include "engines/copy/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

CP_FLUSH_DEFINE(clwb, "clwb", _mm_clwb)
CP_FLUSH_DEFINE(clflushopt, "clflushopt", _mm_clflushopt)
CP_FLUSH_DEFINE(clflush, "sse2", _mm_clflush)

const struct cp_flush_ops cp_flush_table[] = {
	{
		.name = "clwb",
		.help = "write a line back, and keep it where the CPU can",
		.isa = "clwb",
		.present = cp_copy_isa_clwb,
		.all = clwb_all,
		.edges = clwb_edges,
	},
	{
		.name = "clflushopt",
		.help = "write a line back and evict it",
		.isa = "clflushopt",
		.present = cp_copy_isa_clflushopt,
		.all = clflushopt_all,
		.edges = clflushopt_edges,
	},
	{
		.name = "clflush",
		.help = "write a line back and evict it, one after the other",
		.isa = "clflush",
		.present = cp_copy_isa_clflush,
		.ordered = true,
		.all = clflush_all,
		.edges = clflush_edges,
	},
	{.name = NULL},
};

#else

const struct cp_flush_ops cp_flush_table[] = {{.name = NULL}};

#endif
