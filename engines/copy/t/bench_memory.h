/* SPDX-License-Identifier: GPL-2.0-only */
/* Far memory above the last-level cache and one near block of NEAR_BYTES, which whoever
 * includes this defines first. */
#ifndef CP_ENGINES_COPY_T_BENCH_MEMORY_H
#define CP_ENGINES_COPY_T_BENCH_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *far_base, *near_base;
static size_t far_bytes, far_at;

static void open_memory(void)
{
	long llc = sysconf(_SC_LEVEL3_CACHE_SIZE);
	size_t least = 64UL << 20;

	far_bytes = llc > 0 ? 2 * (size_t)llc : least;
	if (far_bytes < least)
		far_bytes = least;
	far_bytes = far_bytes / NEAR_BYTES * NEAR_BYTES;
	void *map = mmap(NULL, far_bytes + NEAR_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED) {
		fprintf(stderr, "error: no memory for %zu bytes\n", far_bytes);
		exit(4);
	}
	/* small pages, as `anon` has; written, so that reads do not hit the zero page */
	madvise(map, far_bytes + NEAR_BYTES, MADV_NOHUGEPAGE);
	memset(map, 0x5a, far_bytes + NEAR_BYTES);
	far_base = map;
	near_base = far_base + far_bytes;
}

#endif
