// SPDX-License-Identifier: GPL-2.0-only
/* Every kernel this machine has, against a copy byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/kernels.h"

#define GUARD	  128U
#define LARGE_MAX (1U << 20)
#define AREA	  (LARGE_MAX + 64U + 2 * GUARD)

#include "engines/copy/t/areas.h"

/* A function to try: a kernel, or a variant of one with its distance. */
struct trial {
	const struct cp_copy_ops *ops;
	enum cp_dir dir;
	cp_copy_fn fn;
	cp_copy_ahead_fn ahead; /* instead of fn */
	size_t distance;
	unsigned unroll;
};

static size_t copy(const struct trial *trial, void *dst, const void *src, size_t len)
{
	if (trial->ahead)
		return trial->ahead(dst, src, len, CP_ATTR_WB, trial->distance);
	return trial->fn(dst, src, len, trial->dir, CP_ATTR_WB);
}

/* Copy len bytes between these offsets of two lines; all of dst within a guard's reach
 * must be what a copy byte by byte leaves. */
static void check(const struct areas *areas, const struct trial *trial, size_t dst_off,
		  size_t src_off, size_t len)
{
	size_t span = 64 + len + 2 * GUARD;
	unsigned char *dst = areas->dst + GUARD + dst_off;
	const unsigned char *src = areas->src + GUARD + src_off;

	memcpy(areas->dst, areas->fresh, span);
	memcpy(areas->expect, areas->fresh, span);
	for (size_t i = 0; i < len; i++)
		areas->expect[GUARD + dst_off + i] = src[i];
	size_t residue = copy(trial, dst, src, len);

	if (residue || memcmp(areas->dst, areas->expect, span) ||
	    memcmp(areas->src, areas->src_was, span))
		fail_msg("%s: unroll %u, distance %zu, len %zu, dst at %zu, src at %zu, "
			 "residue %zu",
			 trial->ops->name, trial->unroll, trial->distance, len, dst_off,
			 src_off, residue);
}

typedef void (*each_fn)(const struct areas *areas, const struct trial *trial);

/* Call `each` for every real kernel of this machine and each of its directions. */
static void for_kernels(const struct areas *areas, each_fn each)
{
	unsigned nr = 0;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		struct trial trial = {.ops = ops, .fn = ops->fn, .unroll = 4};
		char why[64];

		if (ops->virtual_)
			continue;
		if (!ops->present()) {
			print_message("not asserted: '%s', %s\n", ops->name,
				      cp_copy_why_absent(ops, why, sizeof(why)));
			continue;
		}
		for (unsigned d = 0; d < 2; d++) {
			trial.dir = d ? CP_DIR_WRITE : CP_DIR_READ;
			if (d ? ops->write : ops->read)
				each(areas, &trial);
		}
		nr++;
	}
	assert_true(nr > 0);
}

static const size_t distances[] = {512, 64, 100000};
#define NR_DISTANCES (sizeof(distances) / sizeof(distances[0]))

static void variants_of(const struct areas *areas, const struct cp_copy_ops *ops,
			size_t nr_distances, each_fn each)
{
	const struct cp_copy_variants *v = ops->variants;

	for (unsigned log2 = 0; log2 < CP_COPY_UNROLLS; log2++) {
		struct trial trial = {
			.ops = ops,
			.dir = ops->read ? CP_DIR_READ : CP_DIR_WRITE,
			.fn = v->plain[log2],
			.unroll = 1U << log2,
		};

		each(areas, &trial);
		if (v->unfenced[log2]) {
			trial.fn = v->unfenced[log2];
			each(areas, &trial);
		}
		for (size_t i = 0; i < nr_distances; i++) {
			trial.distance = distances[i];
			trial.ahead = v->nta[log2];
			each(areas, &trial);
			trial.ahead = v->t0[log2];
			each(areas, &trial);
		}
	}
}

/* Call `each` for every unroll, hint and so many distances of every kernel that has them.
 */
static void for_variants(const struct areas *areas, size_t nr_distances, each_fn each)
{
	unsigned nr = 0;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!ops->variants || !ops->present())
			continue;
		variants_of(areas, ops, nr_distances, each);
		nr++;
	}
	assert_true(nr > 0);
}

static void each_length(const struct areas *areas, const struct trial *trial)
{
	static const size_t offsets[][2] = {{0, 0}, {1, 0}, {0, 1}, {63, 17}};

	for (size_t len = 0; len <= 4200; len++) {
		for (size_t i = 0; i < 4; i++)
			check(areas, trial, offsets[i][0], offsets[i][1], len);
	}
}

/* Description: each length from 0 to 4200 is copied exactly, nothing beside it touched.
 */
static void lengths_are_exact(void **state)
{
	for_kernels(*state, each_length);
}

static void each_alignment(const struct areas *areas, const struct trial *trial)
{
	static const size_t lengths[] = {1, 65, 128, 323, 600, 1111};

	for (size_t dst = 0; dst < 64; dst++) {
		for (size_t src = 0; src < 64; src++) {
			for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
				check(areas, trial, dst, src, lengths[i]);
		}
	}
}

/* Description: all 64 x 64 alignments of both sides are copied exactly. */
static void alignments_are_exact(void **state)
{
	for_kernels(*state, each_alignment);
}

static void each_large(const struct areas *areas, const struct trial *trial)
{
	static const size_t lengths[] = {4096,	4097,	     65536,
					 65599, 262144 + 13, LARGE_MAX};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check(areas, trial, 0, 0, lengths[i]);
		check(areas, trial, 41, 7, lengths[i]);
	}
}

/* Description: large copies are exact, aligned and not. */
static void large_copies_are_exact(void **state)
{
	for_kernels(*state, each_large);
}

/* Every number of lines up to two turns of the longest loop, and what is left over. */
static void each_turn(const struct areas *areas, const struct trial *trial)
{
	for (size_t len = 0; len <= 17 * 64 + 70; len += 1 + len % 3) {
		check(areas, trial, 0, 0, len);
		check(areas, trial, 24, 40, len);
	}
}

static void each_length_once(const struct areas *areas, const struct trial *trial)
{
	for (size_t len = 0; len <= 4200; len++)
		check(areas, trial, len % 64, len * 7 % 64, len);
}

/* Description: each unroll and prefetch copies each length from 0 to 4200 exactly. */
static void variants_lengths_are_exact(void **state)
{
	for_variants(*state, 1, each_length_once);
}

static void each_alignment_once(const struct areas *areas, const struct trial *trial)
{
	for (size_t i = 0; i < 64 * 64UL; i++)
		check(areas, trial, i / 64, i % 64, 64 + i % 1237);
}

/* Description: each unroll and prefetch copies exactly between all 64 x 64 alignments. */
static void variants_alignments_are_exact(void **state)
{
	for_variants(*state, 1, each_alignment_once);
}

/* Description: each unroll and prefetch copies exactly, whatever is left over by turns.
 */
static void variants_are_exact(void **state)
{
	for_variants(*state, NR_DISTANCES, each_turn);
}

/* A page between two that may not be touched. */
static unsigned char *fenced_page(size_t page)
{
	unsigned char *map =
		mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_READ | PROT_WRITE), 0);
	return map + page;
}

/* areas is not used: these ranges have to lie at the ends of pages. */
static void each_edge(const struct areas *areas, const struct trial *trial)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *src = fenced_page(page), *dst = fenced_page(page);

	memcpy(src, areas->src, page);
	for (size_t len = 0; len <= 600; len += 1 + len / 64) {
		copy(trial, dst + page - len, src, len);
		assert_memory_equal(dst + page - len, src, len);
		copy(trial, dst, src + page - len, len);
		assert_memory_equal(dst, src + page - len, len);
	}
	munmap(src - page, 3 * page);
	munmap(dst - page, 3 * page);
}

/* Description: nothing outside the ranges is loaded or stored: at the first and at the
 * last byte of a page with no access beside it, no kernel faults. */
static void nothing_outside_is_touched(void **state)
{
	for_kernels(*state, each_edge);
	for_variants(*state, NR_DISTANCES, each_edge);
}

/* Description: a kernel with NT loads copies exactly under an attribute that needs its
 * fence too. */
static void other_attributes_are_exact(void **state)
{
	const struct areas *areas = *state;
	/* any value but write-back's; the media and its names are elsewhere */
	const enum cp_attr other = (enum cp_attr)(CP_ATTR_WB + 1);
	unsigned asserted = 0;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (strncmp(ops->name, "ntload-", 7) != 0 || !ops->present())
			continue;
		memset(areas->dst, 0, 4096);
		assert_int_equal(
			ops->fn(areas->dst, areas->src, 4096, CP_DIR_READ, other), 0);
		assert_memory_equal(areas->dst, areas->src, 4096);
		asserted++;
	}
	if (!asserted) {
		print_message("not asserted: no kernel with NT loads here\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lengths_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(alignments_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(large_copies_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(variants_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(variants_lengths_are_exact, setup,
						teardown),
		cmocka_unit_test_setup_teardown(variants_alignments_are_exact, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nothing_outside_is_touched, setup,
						teardown),
		cmocka_unit_test_setup_teardown(other_attributes_are_exact, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
