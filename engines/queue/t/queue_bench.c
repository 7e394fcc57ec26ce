/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the block path itself costs, in a bare loop without fio: nanoseconds of this
 * thread's CPU time an I/O, median and range of the rounds. mq runs over the null engine,
 * so that nothing but the path is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/queue/queue.h"
#include "results/stats.h"

#define ROUNDS 11
#define IOS    2000000U
#define DEPTH  16U

static struct cp_topo topo;

static void die(const struct cp_err *err)
{
	fprintf(stderr, "error: %s\n", err->msg);
	exit((int)err->exit);
}

static struct cp_dev_cfg config(bool mq, bool merge)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = 64U << 20,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = DEPTH,
		.fio_version = "",
		.topo = &topo,
	};

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), mq ? "mq" : "bio");
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "memcpy");
	if (mq) {
		snprintf(cfg.arm.path, sizeof(cfg.arm.path), "dma");
		snprintf(cfg.arm.dma, sizeof(cfg.arm.dma), "null");
		cfg.arm.max_merge = merge ? 2U << 20 : 0;
		cfg.arm.max_merge_set = true;
	}
	return cfg;
}

static void run_mq(struct cp_sub *sub, struct cp_io *ios, unsigned batch)
{
	struct cp_io *done[DEPTH];

	for (unsigned i = 0; i < IOS; i += batch) {
		for (unsigned k = 0; k < batch; k++)
			cp_sub_queue(sub, &ios[k]);
		cp_sub_commit(sub);
		for (unsigned left = batch; left;)
			left -= cp_sub_reap(sub, left, left, done);
	}
}

static void run_bio(struct cp_sub *sub, struct cp_io *io)
{
	for (unsigned i = 0; i < IOS; i++)
		cp_sub_bio(sub, io);
}

/* step: bytes from one I/O of a batch to the next */
static void measure(const char *name, bool mq, unsigned batch, uint64_t bytes, bool merge,
		    uint64_t step)
{
	struct cp_dev_cfg cfg = config(mq, merge);
	struct cp_io ios[DEPTH] = {0};
	double ns[ROUNDS], low, high;
	unsigned char *buf = calloc(1, 4096);
	struct cp_dev *dev;
	struct cp_sub *sub;
	struct cp_err err;

	if (cp_dev_open(&cfg, &dev, &err) != 0 || cp_sub_open(dev, &sub, &err) != 0)
		die(&err);
	for (unsigned i = 0; i < DEPTH; i++) {
		ios[i].near = buf;
		ios[i].bytes = bytes;
		ios[i].offset = i * step;
	}
	cp_sub_measure_begin(sub);
	for (unsigned r = 0; r < ROUNDS; r++) {
		uint64_t start = cp_thread_cpu_ns();

		if (mq)
			run_mq(sub, ios, batch);
		else
			run_bio(sub, &ios[0]);
		ns[r] = (double)(cp_thread_cpu_ns() - start) / IOS;
	}
	cp_stat_median_interval(ns, ROUNDS, 0.95, &low, &high);
	printf("%-28s %6.1f ns an I/O [%.1f..%.1f]\n", name, cp_stat_median(ns, ROUNDS),
	       low, high);
	cp_sub_close(sub);
	cp_dev_close(dev);
	free(buf);
}

int main(void)
{
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		die(&err);
	measure("bio, 1 byte", false, 1, 1, false, 0);
	measure("bio, 4k memcpy (in cache)", false, 1, 4096, false, 0);
	measure("mq + null, batch 1", true, 1, 4096, false, 0);
	measure("mq + null, batch 16", true, 16, 4096, false, 0);
	measure("the same, none can be merged", true, 16, 4096, true, 8192);
	measure("the same, all are merged", true, 16, 4096, true, 4096);
	return 0;
}
