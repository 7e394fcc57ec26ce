// SPDX-License-Identifier: GPL-2.0-only
/* Every kernel this machine has, against a copy byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engines/copy/copy.h"

#define GUARD	  128U
#define LARGE_MAX (1U << 20)
#define AREA	  (LARGE_MAX + 64U + 2 * GUARD)

struct areas {
	unsigned char *src, *src_was;
	unsigned char *dst, *fresh, *expect; /* fresh: dst before each copy */
};

static unsigned char byte_at(size_t i, unsigned salt)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ULL + salt;

	return (unsigned char)(x >> 56 ^ x >> 24);
}

static int setup(void **state)
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

static int teardown(void **state)
{
	struct areas *areas = *state;

	free(areas->src);
	free(areas);
	return 0;
}

/* Copy len bytes between these offsets of two lines; all of dst within a guard's reach
 * must be what a copy byte by byte leaves. */
static void check(const struct areas *areas, const struct cp_copy_ops *ops,
		  enum cp_dir dir, size_t dst_off, size_t src_off, size_t len)
{
	size_t span = 64 + len + 2 * GUARD;
	unsigned char *dst = areas->dst + GUARD + dst_off;
	const unsigned char *src = areas->src + GUARD + src_off;

	memcpy(areas->dst, areas->fresh, span);
	memcpy(areas->expect, areas->fresh, span);
	for (size_t i = 0; i < len; i++)
		areas->expect[GUARD + dst_off + i] = src[i];
	size_t residue = ops->fn(dst, src, len, dir, CP_ATTR_WB);

	if (residue || memcmp(areas->dst, areas->expect, span) ||
	    memcmp(areas->src, areas->src_was, span))
		fail_msg("%s: len %zu, dst at %zu, src at %zu, residue %zu", ops->name,
			 len, dst_off, src_off, residue);
}

/* Call `each` for every real kernel of this machine and each of its directions. */
static void for_kernels(const struct areas *areas,
			void (*each)(const struct areas *, const struct cp_copy_ops *,
				     enum cp_dir))
{
	unsigned nr = 0;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (ops->virtual_)
			continue;
		if (!ops->present()) {
			print_message("not asserted: '%s', this CPU lacks '%s'\n",
				      ops->name, ops->isa);
			continue;
		}
		if (ops->read)
			each(areas, ops, CP_DIR_READ);
		if (ops->write)
			each(areas, ops, CP_DIR_WRITE);
		nr++;
	}
	assert_true(nr > 0);
}

static void each_length(const struct areas *areas, const struct cp_copy_ops *ops,
			enum cp_dir dir)
{
	static const size_t offsets[][2] = {{0, 0}, {1, 0}, {0, 1}, {63, 17}};

	for (size_t len = 0; len <= 600; len++) {
		for (size_t i = 0; i < 4; i++)
			check(areas, ops, dir, offsets[i][0], offsets[i][1], len);
	}
}

/* Description: each length from 0 to 600 is copied exactly, nothing beside it touched. */
static void lengths_are_exact(void **state)
{
	for_kernels(*state, each_length);
}

static void each_alignment(const struct areas *areas, const struct cp_copy_ops *ops,
			   enum cp_dir dir)
{
	static const size_t lengths[] = {1, 65, 128, 323, 600};

	for (size_t dst = 0; dst < 64; dst++) {
		for (size_t src = 0; src < 64; src++) {
			for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
				check(areas, ops, dir, dst, src, lengths[i]);
		}
	}
}

/* Description: all 64 x 64 alignments of both sides are copied exactly. */
static void alignments_are_exact(void **state)
{
	for_kernels(*state, each_alignment);
}

static void each_large(const struct areas *areas, const struct cp_copy_ops *ops,
		       enum cp_dir dir)
{
	static const size_t lengths[] = {4096,	4097,	     65536,
					 65599, 262144 + 13, LARGE_MAX};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check(areas, ops, dir, 0, 0, lengths[i]);
		check(areas, ops, dir, 41, 7, lengths[i]);
	}
}

/* Description: large copies are exact, aligned and not. */
static void large_copies_are_exact(void **state)
{
	for_kernels(*state, each_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lengths_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(alignments_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(large_copies_are_exact, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
