// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: misalign_bench [PAIRS]      (default 21)
 *
 * What it costs when buffers are off the lines of the cache: 64 KiB random I/Os through
 * the block path (bio), the near buffer, the far bytes or both 8, 16 or 32 bytes behind a
 * border of 4096, beside the same copy with both on it, for memcpy and NT loads and
 * stores. Both are of one device and one buffer, so that they differ in nothing but where
 * the bytes lie: memory of its own for each side has been worth 15 %;
 * the row "none" is the aligned copy beside itself. Alternating pairs by this thread's
 * CPU time; median of the ratios of rates (misaligned over aligned, below 1 is slower)
 * with their range. Nothing is asked of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/random.h"
#include "engines/copy/copy.h"
#include "engines/queue/queue.h"
#include "results/stats.h"

#define BLOCK	    65536U
#define MEDIA_BYTES (128UL << 20)
#define ROUND_IOS   128U /* a side and pair */
#define PAIRS_MAX   101U
#define ALIGN	    4096U

static struct cp_topo topo;
static uint64_t random_state = CP_RANDOM_XORSHIFT_START;

struct bench {
	struct cp_dev *dev;
	struct cp_sub *sub;
	unsigned char *near;
	const char *copy;
	enum cp_dir dir;
	unsigned nr_pairs;
};

/* Bytes behind a border of ALIGN. */
struct place {
	uint32_t near, far;
};

static void die(const char *text, int code)
{
	fprintf(stderr, "error: %s\n", text);
	exit(code);
}

static void open_device(struct bench *bench)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = MEDIA_BYTES + ALIGN,
		.writable = true,
		.dir_used = {bench->dir == CP_DIR_READ, bench->dir == CP_DIR_WRITE},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		.fio_version = "",
		.topo = &topo,
		/* as under fio, where NT stores do not end with a fence each */
		.locked_handover = true,
	};
	struct cp_err err;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "bio");
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "%s", bench->copy);
	if (cp_dev_open(&cfg, &bench->dev, &err) ||
	    cp_sub_open(bench->dev, &bench->sub, &err))
		die(err.msg, (int)err.exit);
}

/* Random blocks, so that both sides have all of them sooner or later. */
static uint64_t next_offset(void)
{
	return cp_random_xorshift(&random_state) % (MEDIA_BYTES / BLOCK) * BLOCK;
}

/* Bytes a nanosecond of CPU time. */
static double measure(const struct bench *bench, struct place at)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	for (unsigned i = 0; i < ROUND_IOS; i++) {
		struct cp_io io = {
			.near = bench->near + at.near,
			.offset = next_offset() + at.far,
			.bytes = BLOCK,
			.dir = bench->dir,
		};

		cp_sub_bio(bench->sub, &io);
		if (io.error)
			die("an I/O failed", CP_EXIT_INVALID);
	}
	return (double)ROUND_IOS * BLOCK / (double)(cp_thread_cpu_ns() - start_ns + 1);
}

static void beside_aligned(const struct bench *bench, const char *what, struct place at)
{
	const struct place places[2] = {{0, 0}, at};
	double ratio[PAIRS_MAX], rate[2][PAIRS_MAX];
	unsigned nr = bench->nr_pairs;

	for (unsigned p = 0; p < nr; p++) {
		/* ABBA, so that a drift of the machine hits both sides alike */
		rate[p % 2][p] = measure(bench, places[p % 2]);
		rate[!(p % 2)][p] = measure(bench, places[!(p % 2)]);
		ratio[p] = rate[1][p] / rate[0][p];
	}
	printf("%-5s 64k %-7s %-4s by %-2u / aligned %.2f [%.2f..%.2f] of %u pairs (no "
	       "aim) (%.1f against %.1f GB/s)\n",
	       bench->dir == CP_DIR_READ ? "read" : "write", bench->copy, what,
	       at.near > at.far ? at.near : at.far, cp_stat_median(ratio, nr),
	       cp_stat_quantile(ratio, nr, 0), cp_stat_quantile(ratio, nr, 1), nr,
	       cp_stat_median(rate[1], nr), cp_stat_median(rate[0], nr));
}

/* All places of one copy and direction. */
static void one_copy(struct bench *bench)
{
	static const uint32_t by[] = {8, 16, 32};
	const size_t nr = sizeof(by) / sizeof(by[0]);

	open_device(bench);
	beside_aligned(bench, "none", (struct place){0, 0});
	for (size_t i = 0; i < nr; i++)
		beside_aligned(bench, "near", (struct place){by[i], 0});
	for (size_t i = 0; i < nr; i++)
		beside_aligned(bench, "far", (struct place){0, by[i]});
	for (size_t i = 0; i < nr; i++)
		beside_aligned(bench, "both", (struct place){by[i], by[i]});
	cp_sub_close(bench->sub);
	cp_dev_close(bench->dev);
}

int main(int argc, char **argv)
{
	struct bench bench = {.nr_pairs = 21};
	static const char *const copies[] = {"memcpy", "nt-both"};
	struct cp_err err;

	if (argc > 1)
		bench.nr_pairs = (unsigned)strtoul(argv[1], NULL, 10);
	if (bench.nr_pairs < 1 || bench.nr_pairs > PAIRS_MAX)
		die("usage: misalign_bench [PAIRS], 1 to 101", CP_EXIT_USAGE);
	if (cp_topo_load(NULL, &topo, &err))
		die(err.msg, (int)err.exit);
	bench.near = aligned_alloc(ALIGN, BLOCK + ALIGN);
	if (!bench.near)
		die("out of memory", CP_EXIT_INVALID);
	memset(bench.near, 0x5a, BLOCK + ALIGN);
	for (size_t i = 0; i < 2 * sizeof(copies) / sizeof(copies[0]); i++) {
		const struct cp_copy_ops *ops;

		bench.copy = copies[i / 2];
		bench.dir = i % 2 ? CP_DIR_WRITE : CP_DIR_READ;
		if (cp_copy_bind(bench.copy, bench.dir, CP_ATTR_WB, &ops, &err))
			printf("not measured: %s\n", err.msg);
		else
			one_copy(&bench);
	}
	free(bench.near);
	return 0;
}
