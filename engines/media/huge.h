/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages larger than the machine's own: the pools of reserved ones, transparent ones, and
 * what a mapping really got. root goes before each path: "" but in tests.
 */
#ifndef CP_ENGINES_MEDIA_HUGE_H
#define CP_ENGINES_MEDIA_HUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_PAGE_2M (UINT64_C(2) << 20)
#define CP_PAGE_1G (UINT64_C(1) << 30)

/* Pages of the pool of that size that are free and promised to nobody; 0 also where the
 * kernel has no such pool. */
uint64_t cp_huge_free(const char *root, uint64_t page_bytes);

/* Are transparent pages of that size given to a mapping that asks for them? */
bool cp_huge_transparent(const char *root, uint64_t page_bytes);

/*
 * The page size of all of [base, base + bytes), after it was faulted in: the kernel's own
 * for that mapping, or that of transparent pages when nothing but those are mapped there.
 * 0: mixed, or the kernel does not say. Neighbours of the range that the kernel keeps in
 * one mapping with it count too, so keep a guard of another protection around it where
 * transparent pages matter. Reads /proc/self/smaps: a walk over all page tables.
 */
uint64_t cp_huge_of_range(const void *base, size_t bytes);
/* The same from the text of an smaps file, with transparent pages of pmd_bytes. */
uint64_t cp_huge_of_smaps(const char *path, uint64_t pmd_bytes, uintptr_t start,
			  uintptr_t end);

#endif
