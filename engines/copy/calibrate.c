// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast each kernel is here, for `auto`.
 *
 * Far memory is larger than the last-level cache and walked once, so that every far block
 * is cold, as it is in the I/O this stands for; the near block is one and warm, as an
 * I/O buffer is. Kernels take turns, so that a slow spell of the machine hits all of
 * them, and the median over the rounds is kept.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/copy/copy.h"

#define SMALL	       (4UL << 10)
#define BLOCK	       (64UL << 10) /* a multiple of SMALL */
#define ROUNDS	       21
#define BLOCKS_A_ROUND 16
#define STEP	       1.02
#define FAR_MIN	       (16UL << 20)
#define FAR_MAX	       (256UL << 20)

static struct cp_copy_calibration calibration;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct walk {
	unsigned char *far, *near;
	size_t far_bytes, at;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void copy_block(const struct cp_copy_ops *ops, enum cp_dir dir, struct walk *walk,
		       size_t bytes)
{
	unsigned char *far = walk->far + walk->at;

	if (dir == CP_DIR_READ)
		ops->fn(walk->near, far, bytes, dir, CP_ATTR_WB);
	else
		ops->fn(far, walk->near, bytes, dir, CP_ATTR_WB);
	walk->at += bytes;
	if (walk->at == walk->far_bytes)
		walk->at = 0;
}

/* As many bytes in small blocks as in large ones. */
static double measure(const struct cp_copy_ops *ops, enum cp_dir dir, struct walk *walk)
{
	uint64_t start_ns = cp_now_ns();

	for (unsigned i = 0; i < BLOCKS_A_ROUND; i++) {
		copy_block(ops, dir, walk, BLOCK);
		for (size_t part = 0; part < BLOCK; part += SMALL)
			copy_block(ops, dir, walk, SMALL);
	}
	uint64_t elapsed_ns = cp_now_ns() - start_ns;
	return (double)(2 * BLOCKS_A_ROUND * BLOCK) * 1e9 / (double)(elapsed_ns + 1);
}

/* Differences below a step are noise: two such rates are one. */
static double in_steps(double rate)
{
	return rate > 0 ? pow(STEP, floor(log(rate) / log(STEP))) : 0;
}

static void measure_all(struct walk *walk)
{
	static double rates[sizeof(calibration.rows) / sizeof(calibration.rows[0])][2]
			   [ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned k = 0; k < calibration.nr; k++) {
			/* there and back again, so that no kernel always follows the same
			 * neighbour */
			unsigned i = round % 2 ? calibration.nr - 1 - k : k;
			const struct cp_copy_ops *ops = calibration.rows[i].ops;

			if (ops->read)
				rates[i][CP_DIR_READ][round] =
					measure(ops, CP_DIR_READ, walk);
			if (ops->write)
				rates[i][CP_DIR_WRITE][round] =
					measure(ops, CP_DIR_WRITE, walk);
		}
	}
	for (unsigned i = 0; i < calibration.nr; i++) {
		for (unsigned dir = 0; dir < 2; dir++) {
			qsort(rates[i][dir], ROUNDS, sizeof(double), compare_doubles);
			calibration.rows[i].bytes_per_s[dir] =
				in_steps(rates[i][dir][ROUNDS / 2]);
		}
	}
}

static size_t far_size(void)
{
	long llc = sysconf(_SC_LEVEL3_CACHE_SIZE);
	size_t bytes = llc > 0 ? 2 * (size_t)llc : FAR_MIN;

	bytes = bytes < FAR_MIN ? FAR_MIN : bytes > FAR_MAX ? FAR_MAX : bytes;
	return bytes / BLOCK * BLOCK;
}

static void calibrate(void)
{
	const unsigned rows_max = sizeof(calibration.rows) / sizeof(calibration.rows[0]);

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!ops->virtual_ && ops->present() && calibration.nr < rows_max)
			calibration.rows[calibration.nr++].ops = ops;
	}

	struct walk walk = {.far_bytes = far_size()};
	void *map = mmap(NULL, walk.far_bytes + BLOCK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return; /* all rates 0: auto is then memcpy */
	/* Large pages only make the touching quick; kernels are compared on the same
	 * pages. */
	madvise(map, walk.far_bytes + BLOCK, MADV_HUGEPAGE);
	memset(map, 0x5a, walk.far_bytes + BLOCK);
	walk.far = map;
	walk.near = walk.far + walk.far_bytes;
	measure_all(&walk);
	munmap(map, walk.far_bytes + BLOCK);
}

const struct cp_copy_calibration *cp_copy_calibrate(void)
{
	pthread_once(&once, calibrate);
	return &calibration;
}
