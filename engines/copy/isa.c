// SPDX-License-Identifier: GPL-2.0-only
#include "engines/copy/isa.h"

#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

/* State that the OS must save on a context switch, in XCR0. */
#define XCR0_AVX    0x06U /* xmm, ymm */
#define XCR0_AVX512 0xe6U /* and k, zmm 0-15 high, zmm 16-31 */

enum reg { EBX, ECX, EDX };

/* Intel SDM volume 2A, CPUID; sub-leaf 0 of each leaf. */
static const struct {
	const char *name;
	unsigned leaf;
	enum reg reg;
	unsigned bit;
	uint32_t xcr0;
} flags[] = {
	{"sse2", 1, EDX, 26, 0},       {"sse4_1", 1, ECX, 19, 0},
	{"avx2", 7, EBX, 5, XCR0_AVX}, {"avx512f", 7, EBX, 16, XCR0_AVX512},
	{"movdir64b", 7, ECX, 28, 0},  {"clflush", 1, EDX, 19, 0},
	{"enqcmd", 7, ECX, 29, 0},     {"clflushopt", 7, EBX, 23, 0},
	{"clwb", 7, EBX, 24, 0},
};

static uint32_t os_saves(void)
{
	uint32_t regs[4], low, high;

	/* without OSXSAVE there is no XGETBV to ask */
	if (!__get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) ||
	    !(regs[2] & bit_OSXSAVE))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static bool cpu_has(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		uint32_t eax, regs[3];

		if (strcmp(flags[i].name, name) != 0)
			continue;
		return __get_cpuid_count(flags[i].leaf, 0, &eax, &regs[EBX], &regs[ECX],
					 &regs[EDX]) &&
		       (regs[flags[i].reg] >> flags[i].bit & 1) &&
		       (os_saves() & flags[i].xcr0) == flags[i].xcr0;
	}
	return !strcmp(name, "x86-64");
}

#elif defined(__aarch64__)

static bool cpu_has(const char *name)
{
	return !strcmp(name, "aarch64");
}

#else

static bool cpu_has(const char *name)
{
	(void)name;
	return false;
}

#endif

bool cp_copy_isa_has(const char *name)
{
	return !*name || cpu_has(name);
}

char *cp_copy_isa_lacks(const char *name, char *buf, size_t size)
{
	bool arch = !strcmp(name, "x86-64") || !strcmp(name, "aarch64");

	snprintf(buf, size, "%s no %s", arch ? "this machine is" : "the CPU has", name);
	return buf;
}

#define DEFINE_HAS(function, name)            \
	bool cp_copy_isa_##function(void)     \
	{                                     \
		return cp_copy_isa_has(name); \
	}

DEFINE_HAS(any, "")
DEFINE_HAS(x86_64, "x86-64")
DEFINE_HAS(sse41, "sse4_1")
DEFINE_HAS(avx2, "avx2")
DEFINE_HAS(avx512f, "avx512f")
DEFINE_HAS(movdir64b, "movdir64b")
DEFINE_HAS(clflush, "clflush")
DEFINE_HAS(clflushopt, "clflushopt")
DEFINE_HAS(clwb, "clwb")
DEFINE_HAS(aarch64, "aarch64")
