// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast each kernel is here, by direction and size, for `auto`.
 *
 * What is timed is what an I/O does where it may leave out the fence behind NT stores
 * (under fio; cp_copy_opts.unfenced): elsewhere small NT stores are slower than here. Far
 * memory is larger than the last-level cache, of small pages, and its blocks are visited
 * in an order without a pattern, each once before any is visited again: so a block is
 * cold, its translations too, and nothing has fetched it ahead. In address order the
 * reading ahead of the processor would decide: then memcpy wins at 4k over the NT stores
 * that win there when the order is random. The near block is one and warm, as an I/O
 * buffer is.
 *
 * Kernels take turns; rounds.h says what is made of their rates.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engines/base/clock.h"
#include "engines/copy/rounds.h"

#define FAR_MIN	   (32UL << 20)
#define FAR_MAX	   (128UL << 20)
#define NEAR_BYTES (2UL << 20)

const uint32_t cp_copy_class_bytes[CP_COPY_CLASSES] = {512,   4096,   16384,
						       65536, 262144, 2097152};
const uint32_t cp_copy_class_from[CP_COPY_CLASSES] = {0,     1024,   8192,
						      32768, 131072, 1048576};
/* The same by the place of the highest bit. */
const uint8_t cp_copy_class_of_log2[64] = {
	[10 ... 12] = 1, [13 ... 14] = 2, [15 ... 16] = 3,
	[17 ... 19] = 4, [20 ... 63] = 5,
};

/* Blocks a round, untimed first one aside, and rounds: some 15 ms a class, more at 2m,
 * where a round is one block and in 11 rounds a kernel was faster than itself 7 times of
 * 60. */
static const struct {
	unsigned blocks, rounds;
} plans[CP_COPY_CLASSES] = {{64, 41}, {16, 41}, {6, 41}, {2, 41}, {1, 31}, {1, 31}};

static struct cp_copy_calibration calibration;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct walk {
	unsigned char *far, *near;
	size_t far_bytes; /* a power of two */
	uint64_t at;
};

/* The next block of an order that visits all before it comes again to the first: a linear
 * congruential sequence whose modulus, the number of blocks, is a power of two. */
static unsigned char *next_block(struct walk *walk, size_t bytes)
{
	walk->at =
		(walk->at * 0x9e3779b1UL + 0x7f4a7c15UL) & (walk->far_bytes / bytes - 1);
	return walk->far + walk->at * bytes;
}

static void copy_block(cp_copy_fn fn, enum cp_dir dir, size_t bytes, struct walk *walk)
{
	unsigned char *far = next_block(walk, bytes);

	if (dir == CP_DIR_READ)
		fn(walk->near, far, bytes, dir, CP_ATTR_WB);
	else
		fn(far, walk->near, bytes, dir, CP_ATTR_WB);
}

/* The first block has the kernel's code and the near block fetched. */
static double measure(cp_copy_fn fn, enum cp_dir dir, unsigned class, struct walk *walk)
{
	size_t bytes = cp_copy_class_bytes[class];
	unsigned blocks = plans[class].blocks;

	if (blocks > 1)
		copy_block(fn, dir, bytes, walk);
	uint64_t start = cp_ticks();

	for (unsigned i = 0; i < blocks; i++)
		copy_block(fn, dir, bytes, walk);
	cp_copy_settle(); /* one for all: NT stores on their way are part of the work */
	uint64_t ns = cp_ticks_to_ns(cp_ticks_since(start, cp_ticks()));

	return (double)(blocks * bytes) * 1e9 / (double)(ns + 1);
}

/* The rates of one direction and class, judged and kept. */
static void keep(enum cp_dir dir, unsigned class, const struct cp_rounds *rounds)
{
	struct cp_rounds_verdict verdict;

	cp_rounds_judge(rounds, &verdict);
	for (unsigned i = 0; i < calibration.nr; i++) {
		calibration.rows[i].bytes_per_s[dir][class] = verdict.bytes_per_s[i];
		calibration.rows[i].fastest[dir][class] = verdict.fastest[i];
	}
	calibration.best[dir][class] = calibration.rows[verdict.best].ops;
}

/* What an I/O of fio's runs of this kernel; NULL: nothing in this direction. */
static cp_copy_fn unfenced(const struct cp_copy_ops *ops, enum cp_dir dir)
{
	const struct cp_copy_ops *same;
	struct cp_copy_opts opts;
	struct cp_err err;
	cp_copy_fn fn;

	cp_copy_opts_init(&opts);
	opts.unfenced = true;
	return cp_copy_bind_opts(ops->name, dir, &opts, &same, &fn, &err) ? NULL : fn;
}

static void measure_class(enum cp_dir dir, unsigned class, struct walk *walk)
{
	struct cp_rounds rounds = {
		.nr_rows = calibration.nr,
		.nr_rounds = plans[class].rounds,
	};
	cp_copy_fn fns[CP_COPY_ROWS_MAX] = {NULL};

	for (unsigned i = 0; i < calibration.nr; i++)
		fns[i] = unfenced(calibration.rows[i].ops, dir);

	for (unsigned round = 0; round < rounds.nr_rounds; round++) {
		for (unsigned k = 0; k < calibration.nr; k++) {
			/* there and back again, so that no kernel always follows the same
			 * neighbour */
			unsigned i = round % 2 ? calibration.nr - 1 - k : k;

			if (fns[i])
				rounds.rates[i][round] =
					measure(fns[i], dir, class, walk);
		}
	}
	keep(dir, class, &rounds);
}

/* As Linux says it: some virtual machines tell the C library the sum of many caches. */
static size_t llc_size(void)
{
	size_t largest = 0;

	for (unsigned i = 0; i < 8; i++) {
		char path[80];
		unsigned long kib;

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);
		FILE *file = fopen(path, "re");

		if (!file)
			break;
		if (fscanf(file, "%luK", &kib) == 1 && kib << 10 > largest)
			largest = kib << 10;
		fclose(file);
	}
	return largest;
}

static size_t far_size(void)
{
	size_t least = 4 * llc_size(), bytes = FAR_MIN;

	while (bytes < least && bytes < FAR_MAX)
		bytes *= 2;
	return bytes;
}

static void calibrate(void)
{
	const struct cp_copy_ops *plain = cp_copy_find("memcpy");

	cp_clock_init();
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!ops->virtual_ && ops->present() && calibration.nr < CP_COPY_ROWS_MAX)
			calibration.rows[calibration.nr++].ops = ops;
	}
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++)
		calibration.best[0][class] = calibration.best[1][class] = plain;

	struct walk walk = {.far_bytes = far_size()};
	size_t all = walk.far_bytes + NEAR_BYTES;
	void *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return; /* all rates 0: auto is then memcpy */
	/* small pages, as tmpfs and `anon` have */
	madvise(map, all, MADV_NOHUGEPAGE);
	if (madvise(map, all, MADV_POPULATE_WRITE))
		memset(map, 0x5a, all);
	walk.far = map;
	walk.near = walk.far + walk.far_bytes;
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
		measure_class(CP_DIR_READ, class, &walk);
		measure_class(CP_DIR_WRITE, class, &walk);
	}
	munmap(map, all);
}

const struct cp_copy_calibration *cp_copy_calibrate(void)
{
	pthread_once(&once, calibrate);
	return &calibration;
}
