// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: kernel_bench [MEDIA [FILE [BYTES]]]      (default: anon, none, 2m)
 *
 * What the block path adds to a copy: every kernel of this machine through a device (bio,
 * with stamps, guard, histogram and proof), beside the same kernel in a bare loop on the
 * same far and near memory, blocks in random order, in alternating pairs by this thread's
 * CPU time. Prints the median of the ratios of rates (device over bare) with its
 * interval; exits 1 when one is below 0.95.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/random.h"
#include "engines/base/units.h"
#include "engines/copy/copy.h"
#include "engines/queue/internal.h"
#include "results/stats.h"

#define PAIRS	    31U
#define MEDIA_BYTES (128UL << 20)
#define ROUND_BYTES (16UL << 20) /* copied a side and pair */
#define ASKED	    0.95

struct bench {
	struct cp_dev *dev;
	struct cp_sub *sub;
	const struct cp_copy_ops *ops;
	enum cp_dir dir;
	unsigned char *near;
	size_t bytes;
	uint64_t at; /* of the order of blocks */
};

/* Blocks in random order: with a short period each side would have blocks of
 * its own, and blocks differ in where their pages are. */
static uint64_t next_offset(struct bench *bench)
{
	return cp_random_xorshift(&bench->at) % (MEDIA_BYTES / bench->bytes) *
	       bench->bytes;
}

static void bare_one(struct bench *bench)
{
	unsigned char *far = bench->dev->media.base + next_offset(bench);
	bool read = bench->dir == CP_DIR_READ;

	bench->ops->fn(read ? bench->near : far, read ? far : bench->near, bench->bytes,
		       bench->dir, CP_ATTR_WB);
}

static void device_one(struct bench *bench)
{
	struct cp_io io = {
		.near = bench->near,
		.offset = next_offset(bench),
		.bytes = bench->bytes,
		.dir = bench->dir,
	};

	cp_sub_bio(bench->sub, &io);
	if (io.error) {
		fprintf(stderr, "error: an I/O failed: %s\n", strerror(io.error));
		exit(4);
	}
}

static uint64_t time_of(void (*one)(struct bench *), struct bench *bench)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	one(bench);
	return cp_thread_cpu_ns() - start_ns;
}

static bool beside(struct bench *bench)
{
	double ratio[PAIRS], rate[PAIRS], low, high;

	for (unsigned i = 0; i < PAIRS; i++) {
		uint64_t bare_ns = 0, device_ns = 0;

		/* I/O by I/O, ABBA, so that a drift of the machine hits both alike */
		for (size_t done = 0; done < ROUND_BYTES; done += 2 * bench->bytes) {
			bare_ns += time_of(bare_one, bench);
			device_ns += time_of(device_one, bench);
			device_ns += time_of(device_one, bench);
			bare_ns += time_of(bare_one, bench);
		}
		ratio[i] = (double)bare_ns / (double)device_ns;
		rate[i] = (double)ROUND_BYTES / (double)device_ns;
	}
	double median = cp_stat_median(ratio, PAIRS);
	bool met = median >= ASKED;
	char size[24];

	cp_stat_median_interval(ratio, PAIRS, 0.95, &low, &high);
	printf("%-5s %3s %-13s in bio / bare loop %.3f [%.3f..%.3f] of %u pairs, asked "
	       ">= "
	       "%.2f: %s (%.1f GB/s)\n",
	       bench->dir == CP_DIR_READ ? "read" : "write",
	       cp_size_format(bench->bytes, size, sizeof(size)), bench->ops->name, median,
	       low, high, PAIRS, ASKED, met ? "met" : "NOT MET",
	       cp_stat_median(rate, PAIRS));
	return met;
}

static bool one_kernel(struct bench *bench, const struct cp_dev_cfg *given)
{
	struct cp_dev_cfg cfg = *given;
	struct cp_err err;
	bool met;

	for (unsigned d = 0; d < 2; d++)
		cfg.dir_used[d] = d == (unsigned)bench->dir;
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "%s", bench->ops->name);
	if (cp_dev_open(&cfg, &bench->dev, &err) ||
	    cp_sub_open(bench->dev, &bench->sub, &err)) {
		fprintf(stderr, "error: %s\n", err.msg);
		exit((int)err.exit);
	}
	cp_sub_measure_begin(bench->sub);
	met = beside(bench);
	cp_sub_measure_end(bench->sub);
	cp_sub_close(bench->sub);
	cp_dev_close(bench->dev);
	return met;
}

static bool all_kernels(struct bench *bench, const struct cp_dev_cfg *cfg)
{
	bool met = true;

	for (unsigned d = 0; d < 2; d++) {
		bench->dir = (enum cp_dir)d;
		for (bench->ops = cp_copy_table; bench->ops->name; bench->ops++) {
			bool meant = d ? bench->ops->write : bench->ops->read;

			if (!bench->ops->virtual_ && meant && bench->ops->present())
				met &= one_kernel(bench, cfg);
		}
	}
	return met;
}

int main(int argc, char **argv)
{
	static struct cp_topo topo;
	struct cp_dev_cfg cfg = {
		.media = argc > 1 ? argv[1] : "anon",
		.filename = argc > 2 && *argv[2] ? argv[2] : NULL,
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = MEDIA_BYTES,
		.writable = true,
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		.fio_version = "",
		.topo = &topo,
	};
	struct bench bench = {.bytes = 2UL << 20, .at = CP_RANDOM_XORSHIFT_START};
	struct cp_err err = {.exit = CP_EXIT_USAGE, .msg = "BYTES is no power of two"};
	uint64_t bytes = bench.bytes;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "bio");
	if ((argc > 3 && cp_size_parse(argv[3], &bytes)) || bytes > MEDIA_BYTES ||
	    !bytes || (bytes & (bytes - 1)) || cp_topo_load(NULL, &topo, &err)) {
		fprintf(stderr, "error: %s\n", err.msg);
		return (int)err.exit;
	}
	bench.bytes = bytes;
	bench.near = aligned_alloc(4096, bytes < 4096 ? 4096 : bytes);
	if (!bench.near) {
		fprintf(stderr, "error: no memory for %zu bytes\n", bench.bytes);
		return 4;
	}
	memset(bench.near, 0x5a, bench.bytes);
	bool met = all_kernels(&bench, &cfg);

	free(bench.near);
	return met ? 0 : 1;
}
