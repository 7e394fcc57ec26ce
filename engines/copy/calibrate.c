// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast each kernel is here, by direction and size, for `auto`.
 *
 * What is timed is what an I/O does. Far memory is larger than the last-level cache, of
 * small pages, and its blocks are visited in an order without a pattern, each once before
 * any is visited again: so a block is cold, its translations too, and nothing has fetched
 * it ahead. In address order the reading ahead of the processor would decide: then memcpy
 * wins at 4k over the NT stores that win there when the order is random. The near block
 * is one and warm, as an I/O buffer is.
 *
 * Kernels take turns, and a kernel's figure is the median of its ratios to memcpy, each
 * within one round: a slow spell of the machine hits both sides of a ratio.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engines/base/clock.h"
#include "engines/copy/copy.h"

#define ROUNDS_MAX 41U
#define FAR_MIN	   (32UL << 20)
#define FAR_MAX	   (128UL << 20)
#define NEAR_BYTES (2UL << 20)
#define ROWS_MAX   (sizeof(calibration.rows) / sizeof(calibration.rows[0]))

const uint32_t cp_copy_class_bytes[CP_COPY_CLASSES] = {512,   4096,   16384,
						       65536, 262144, 2097152};
const uint32_t cp_copy_class_from[CP_COPY_CLASSES] = {0,     1024,   8192,
						      32768, 131072, 1048576};
/* The same by the place of the highest bit. */
const uint8_t cp_copy_class_of_log2[64] = {
	[10 ... 12] = 1, [13 ... 14] = 2, [15 ... 16] = 3,
	[17 ... 19] = 4, [20 ... 63] = 5,
};

/* Blocks a round, untimed first one aside, and rounds: some 15 ms a class. Odd, so that
 * the median is one of them. */
static const struct {
	unsigned blocks, rounds;
} plans[CP_COPY_CLASSES] = {{64, 41}, {16, 41}, {6, 41}, {2, 41}, {1, 31}, {1, 11}};

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

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which that many quarters of the rounds' ratios of a to b are. */
static double quartile(const double *a, const double *b, unsigned rounds,
		       unsigned quarters)
{
	double ratio[ROUNDS_MAX];

	for (unsigned r = 0; r < rounds; r++)
		ratio[r] = a[r] / b[r];
	qsort(ratio, rounds, sizeof(*ratio), compare_doubles);
	return ratio[rounds * quarters / 4];
}

static bool has_meaning(const struct cp_copy_ops *ops, enum cp_dir dir)
{
	return dir == CP_DIR_READ ? ops->read : ops->write;
}

/* From rates by row and round to one rate a row, and the best. Row 0 is memcpy, which is
 * the best to begin with. */
static void settle(enum cp_dir dir, unsigned class, double rates[][ROUNDS_MAX])
{
	static const double ones[ROUNDS_MAX] = {[0 ... ROUNDS_MAX - 1] = 1};
	const double lead = 1.0 + CP_COPY_EQUAL_PCT / 100.0;
	unsigned rounds = plans[class].rounds, top = 0;
	double ratio[ROWS_MAX], plain = quartile(rates[0], ones, rounds, 2);
	bool plain_will_do = false;

	for (unsigned i = 0; i < calibration.nr; i++) {
		ratio[i] = quartile(rates[i], rates[0], rounds, 2);
		top = ratio[i] > ratio[top] ? i : top;
	}
	for (unsigned i = 0; i < calibration.nr; i++) {
		bool equal =
			has_meaning(calibration.rows[i].ops, dir) &&
			(i == top || quartile(rates[top], rates[i], rounds, 1) <= lead);

		plain_will_do = plain_will_do || (i == 0 && equal);
		if (equal && !plain_will_do)
			calibration.best[dir][class] = calibration.rows[i].ops;
		calibration.rows[i].bytes_per_s[dir][class] =
			plain * ratio[equal ? top : i];
	}
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
	double rates[ROWS_MAX][ROUNDS_MAX] = {{0}};
	cp_copy_fn fns[ROWS_MAX] = {NULL};

	for (unsigned i = 0; i < calibration.nr; i++)
		fns[i] = unfenced(calibration.rows[i].ops, dir);

	for (unsigned round = 0; round < plans[class].rounds; round++) {
		for (unsigned k = 0; k < calibration.nr; k++) {
			/* there and back again, so that no kernel always follows the same
			 * neighbour */
			unsigned i = round % 2 ? calibration.nr - 1 - k : k;

			if (fns[i])
				rates[i][round] = measure(fns[i], dir, class, walk);
		}
	}
	settle(dir, class, rates);
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
		if (!ops->virtual_ && ops->present() && calibration.nr < ROWS_MAX)
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
