// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast each kernel is here, for `auto`.
 *
 * Far memory is larger than the last-level cache and walked once, so that every far block
 * is cold, as it is in the I/O this stands for; the near block is one and warm, as an
 * I/O buffer is. Kernels take turns, so that a slow spell of the machine hits all of
 * them, and the best of the rounds is kept: what disturbs a round only ever makes it
 * slower. One block size, since NT stores lose at 4k and win from 64k on: over both,
 * every process would decide anew which of the two weighs more.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/copy/copy.h"

#define BLOCK	       (64UL << 10)
#define ROUNDS	       21
#define BLOCKS_A_ROUND 16
#define STEP	       1.05
#define FAR_MIN	       (16UL << 20)
#define FAR_MAX	       (256UL << 20)

static struct cp_copy_calibration calibration;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct walk {
	unsigned char *far, *near;
	size_t far_bytes, at;
};

static void copy_block(const struct cp_copy_ops *ops, enum cp_dir dir, struct walk *walk)
{
	unsigned char *far = walk->far + walk->at;

	if (dir == CP_DIR_READ)
		ops->fn(walk->near, far, BLOCK, dir, CP_ATTR_WB);
	else
		ops->fn(far, walk->near, BLOCK, dir, CP_ATTR_WB);
	walk->at += BLOCK;
	if (walk->at == walk->far_bytes)
		walk->at = 0;
}

static double measure(const struct cp_copy_ops *ops, enum cp_dir dir, struct walk *walk)
{
	uint64_t start_ns = cp_now_ns();

	for (unsigned i = 0; i < BLOCKS_A_ROUND; i++)
		copy_block(ops, dir, walk);
	uint64_t elapsed_ns = cp_now_ns() - start_ns;
	return (double)(BLOCKS_A_ROUND * BLOCK) * 1e9 / (double)(elapsed_ns + 1);
}

/* Differences below a step are noise. Steps start at memcpy's own rate, so that a kernel
 * has to be a whole one faster to be taken instead of it, in every process. */
static double in_steps(double rate, double base)
{
	return rate > 0 && base > 0
		       ? base * pow(STEP, floor(log(rate / base) / log(STEP)))
		       : rate;
}

static void measure_all(struct walk *walk)
{
	double best[sizeof(calibration.rows) / sizeof(calibration.rows[0])][2] = {{0}};
	const struct cp_copy_ops *plain = cp_copy_find("memcpy");

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned k = 0; k < calibration.nr; k++) {
			/* there and back again, so that no kernel always follows the same
			 * neighbour */
			unsigned i = round % 2 ? calibration.nr - 1 - k : k;
			const struct cp_copy_ops *ops = calibration.rows[i].ops;

			if (ops->read)
				best[i][CP_DIR_READ] =
					fmax(best[i][CP_DIR_READ],
					     measure(ops, CP_DIR_READ, walk));
			if (ops->write)
				best[i][CP_DIR_WRITE] =
					fmax(best[i][CP_DIR_WRITE],
					     measure(ops, CP_DIR_WRITE, walk));
		}
	}
	for (unsigned dir = 0; dir < 2; dir++) {
		double base = 0;

		for (unsigned i = 0; i < calibration.nr; i++)
			base = calibration.rows[i].ops == plain ? best[i][dir] : base;
		for (unsigned i = 0; i < calibration.nr; i++)
			calibration.rows[i].bytes_per_s[dir] =
				in_steps(best[i][dir], base);
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
