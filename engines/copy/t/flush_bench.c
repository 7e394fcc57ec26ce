// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a durable write costs: each flush with its fence behind a copy, beside the copy
 * alone, as ratios of times of alternating rounds, median and range of the pairs. Far
 * memory is larger than the last-level cache and walked once around, near memory is one
 * warm block, copy and flush run under the fault guard: as in an I/O. Times are this
 * thread's CPU time. Nothing is asked of the figures.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/units.h"
#include "engines/copy/flush.h"
#include "engines/copy/guard.h"

#define PAIRS	    21
#define ROUND_BYTES (8UL << 20)
#define NEAR_BYTES  (64UL << 10)

#include "engines/copy/t/bench_memory.h"

struct way {
	const struct cp_copy_ops *copy;
	const struct cp_flush_ops *flush; /* NULL: none */
	enum cp_fence fence;
};

/* As cp_sub_flush() does it. */
static void write_one(const struct way *way, size_t bytes)
{
	unsigned char *far = far_base + far_at;
	cp_copy_fn fn;

	cp_guard_copy(way->copy->fn, far, near_base, bytes, CP_DIR_WRITE, CP_ATTR_WB);
	far_at = (far_at + bytes) % far_bytes;
	if (!way->flush)
		return;
	fn = way->copy->nt_stores ? way->flush->edges : way->flush->all;
	cp_guard_copy(fn, far, far, bytes, CP_DIR_WRITE, CP_ATTR_WB);
	cp_fence(way->fence);
}

/* Nanoseconds a write. */
static double round_of(const struct way *way, size_t bytes)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	for (size_t done = 0; done < ROUND_BYTES; done += bytes)
		write_one(way, bytes);
	return (double)(cp_thread_cpu_ns() - start_ns) /
	       ((double)ROUND_BYTES / (double)bytes);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ABBA, so that a drift of the machine hits both sides alike. */
static void print_pairs(const struct way *way, size_t bytes)
{
	const struct way plain = {.copy = way->copy};
	double ratios[PAIRS], times_ns[PAIRS];
	const char *fence = cp_fence_name(way->fence);
	char size[24];

	for (unsigned i = 0; i < PAIRS; i++) {
		double with, without;

		if (i % 2) {
			without = round_of(&plain, bytes);
			with = round_of(way, bytes);
		} else {
			with = round_of(way, bytes);
			without = round_of(&plain, bytes);
		}
		ratios[i] = with / without;
		times_ns[i] = with;
	}
	qsort(ratios, PAIRS, sizeof(double), compare_doubles);
	qsort(times_ns, PAIRS, sizeof(double), compare_doubles);
	printf("write %3s  %-10s %-10s %-6s  %8.0f ns, %.3f [%.3f..%.3f] of the copy's\n",
	       cp_size_format(bytes, size, sizeof(size)), way->copy->name,
	       way->flush->name, fence, times_ns[PAIRS / 2], ratios[PAIRS / 2], ratios[0],
	       ratios[PAIRS - 1]);
}

static void print_copy(const char *name, size_t bytes)
{
	struct way way;
	struct cp_err err;

	if (cp_copy_bind(name, CP_DIR_WRITE, CP_ATTR_WB, &way.copy, &err)) {
		printf("%s: %s\n", name, err.msg);
		return;
	}
	for (way.flush = cp_flush_table; way.flush->name; way.flush++) {
		way.fence = way.flush->ordered ? CP_FENCE_NONE : CP_FENCE_SFENCE;
		if (way.flush->present())
			print_pairs(&way, bytes);
	}
}

int main(void)
{
	static const size_t sizes[] = {4UL << 10, NEAR_BYTES};
	struct cp_err err = {0};

	if (cp_guard_get(&err)) {
		fprintf(stderr, "error: %s\n", err.msg);
		return (int)err.exit;
	}
	cp_clock_init();
	open_memory();
	printf("a flush and its fence behind a write, %u pairs, median "
	       "[least..greatest], "
	       "far %zu MiB\n",
	       PAIRS, far_bytes >> 20);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		print_copy("memcpy", sizes[i]);
		print_copy("nt", sizes[i]);
	}
	cp_guard_put();
	return 0;
}
