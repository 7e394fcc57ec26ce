/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which instructions this CPU and its operating system can run. One table (isa.c) says
 * how CPUID tells; on other architectures what the compiler was told to assume.
 */
#ifndef CP_ENGINES_COPY_ISA_H
#define CP_ENGINES_COPY_ISA_H

#include <stdbool.h>
#include <stddef.h>

/* name as in cp_copy_ops.isa; "" is true everywhere, an unknown name is false. A CPUID
 * traps in a virtual machine (microseconds): for open, not for I/Os. */
bool cp_copy_isa_has(const char *name);

/* Of a name that this machine has not: "the CPU has no avx2", "this machine is no
 * aarch64". Returns buf. */
char *cp_copy_isa_lacks(const char *name, char *buf, size_t size);

/* The same as functions, for `present`. */
bool cp_copy_isa_any(void);
bool cp_copy_isa_x86_64(void);
bool cp_copy_isa_sse41(void);
bool cp_copy_isa_avx2(void);
bool cp_copy_isa_avx512f(void);
bool cp_copy_isa_movdir64b(void);
bool cp_copy_isa_clflush(void);
bool cp_copy_isa_clflushopt(void);
bool cp_copy_isa_clwb(void);
bool cp_copy_isa_aarch64(void);

#endif
