/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source, destination and what the destination should be, filled with bytes that differ
 * by place. The includer says how large they are: AREA, guard bytes included.
 */
#ifndef CP_ENGINES_COPY_T_AREAS_H
#define CP_ENGINES_COPY_T_AREAS_H

#include <stdint.h>
#include <stdlib.h>

struct areas {
	unsigned char *src, *src_was;
	unsigned char *dst, *fresh, *expect; /* fresh: dst before each copy */
};

static inline unsigned char byte_at(size_t i, unsigned salt)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ULL + salt;

	return (unsigned char)(x >> 56 ^ x >> 24);
}

static inline int setup(void **state)
{
	struct areas *areas = calloc(1, sizeof(*areas));
	unsigned char *all = aligned_alloc(64, 5UL * AREA);

	if (!areas || !all) {
		free(areas);
		free(all);
		return -1;
	}
	areas->src = all;
	areas->dst = all + AREA;
	areas->src_was = all + 2UL * AREA;
	areas->expect = all + 3UL * AREA;
	areas->fresh = all + 4UL * AREA;
	for (size_t i = 0; i < AREA; i++) {
		areas->src[i] = areas->src_was[i] = byte_at(i, 1);
		areas->fresh[i] = byte_at(i, 77);
	}
	*state = areas;
	return 0;
}

static inline int teardown(void **state)
{
	struct areas *areas = *state;

	free(areas->src);
	free(areas);
	return 0;
}

#endif
