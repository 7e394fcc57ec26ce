// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: stamp_bench [NS]
 *
 * What measuring costs an I/O: two time stamps, a histogram update and the counters.
 * 4 KiB random reads by memcpy through the block path (bio) over memory of eight times
 * what the caches commonly hold, counted (as in a measuring window) beside not counted,
 * in alternating stretches of the same loop, by this thread's CPU time. NS is what one
 * such I/O takes through fio and the plug-in, by CPU time (scripts/bench-engine.sh
 * measures it): the cost is asked to be at most 8 % of that. Without it nothing is asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/random.h"
#include "engines/queue/internal.h"
#include "results/stats.h"

#define PAIRS	    61U
#define IOS	    10000U /* a stretch */
#define BLOCK	    4096U
#define MEDIA_BYTES (256UL << 20)
#define ASKED_PCT   8.0

static uint64_t random_state = CP_RANDOM_XORSHIFT_START;

static void die(const char *text, int code)
{
	fprintf(stderr, "error: %s\n", text);
	exit(code);
}

static uint64_t next_offset(void)
{
	return cp_random_xorshift(&random_state) % (MEDIA_BYTES / BLOCK) * BLOCK;
}

static double io_ns(struct cp_sub *sub, unsigned char *near, bool measuring)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	sub->measuring = measuring;
	for (unsigned i = 0; i < IOS; i++) {
		struct cp_io io = {.near = near, .offset = next_offset(), .bytes = BLOCK};

		cp_sub_bio(sub, &io);
		if (io.error)
			die("an I/O failed", CP_EXIT_INVALID);
	}
	return (double)(cp_thread_cpu_ns() - start_ns) / IOS;
}

static struct cp_dev *open_dev(const struct cp_topo *topo)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = MEDIA_BYTES,
		.writable = true,
		.dir_used = {true, false},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		.fio_version = "",
		.topo = topo,
	};
	struct cp_dev *dev;
	struct cp_err err;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "bio");
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "memcpy");
	if (cp_dev_open(&cfg, &dev, &err) != 0)
		die(err.msg, (int)err.exit);
	return dev;
}

/* True when nothing was asked, or it was met. */
static bool judge(const double *cost, const double *with, double fio_ns)
{
	double ns = cp_stat_median(cost, PAIRS), low, high;

	cp_stat_median_interval(cost, PAIRS, 0.95, &low, &high);
	printf("stamps, histogram, counters: %.1f ns [%.1f..%.1f] of %u pairs; %.1f %% "
	       "of "
	       "4k reads in a bare loop (%.0f ns, no aim)\n",
	       ns, low, high, PAIRS, 100 * ns / cp_stat_median(with, PAIRS),
	       cp_stat_median(with, PAIRS));
	if (!(fio_ns > 0))
		return true;
	bool met = 100 * ns / fio_ns <= ASKED_PCT;

	printf("the same of a 4k read through fio (%.0f ns): %.1f %%, asked <= %.0f: "
	       "%s\n",
	       fio_ns, 100 * ns / fio_ns, ASKED_PCT, met ? "met" : "NOT MET");
	return met;
}

int main(int argc, char **argv)
{
	static struct cp_topo topo;
	double cost[PAIRS], with[PAIRS];
	unsigned char *near = aligned_alloc(BLOCK, BLOCK);
	struct cp_sub *sub;
	struct cp_err err = {.msg = "out of memory"};

	if (!near || cp_topo_load(NULL, &topo, &err) != 0)
		die(err.msg, CP_EXIT_INVALID);
	memset(near, 1, BLOCK);
	struct cp_dev *dev = open_dev(&topo);

	if (cp_sub_open(dev, &sub, &err) != 0)
		die(err.msg, (int)err.exit);
	cp_sub_measure_begin(sub);
	io_ns(sub, near, true);
	for (unsigned p = 0; p < PAIRS; p++) {
		/* ABBA, so that a drift of the machine hits both alike */
		double first = io_ns(sub, near, p % 2 == 0);
		double second = io_ns(sub, near, p % 2 != 0);

		with[p] = p % 2 ? second : first;
		cost[p] = with[p] - (p % 2 ? first : second);
	}
	bool met = judge(cost, with, argc > 1 ? strtod(argv[1], NULL) : 0);

	sub->measuring = true;
	cp_sub_measure_end(sub);
	cp_sub_close(sub);
	cp_dev_close(dev);
	free(near);
	return met ? 0 : 1;
}
