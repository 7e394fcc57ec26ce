// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one decision costs: cp_dev_decide(), the function that the data path calls, on an
 * open device, over I/Os of sizes and directions drawn beforehand. By a policy of eight
 * breakpoints a row, by one whose rules also ask for segments, and by thresholds.
 *
 * throughput: decisions that do not wait for each other. dependent: the I/O of each is
 * found through the answer of the one before. cold: one decision with the device's part
 * of it and the row flushed from the caches, less an empty pair of stamps; nothing is
 * asked of it. Medians of ROUNDS by this thread's CPU time, with their range; exits 1
 * when one is not what was asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "engines/queue/internal.h"
#include "results/stats.h"

#define ROUNDS	      21
#define DECISIONS     (1U << 19) /* a round */
#define COLD	      2000U	 /* single ones a round */
#define NR_IOS	      512U
#define THROUGHPUT_NS 3.0
#define DEPENDENT_NS  15.0

static struct cp_topo topo;
static struct cp_io ios[NR_IOS];

static void die(const char *text, int code)
{
	fprintf(stderr, "error: %s\n", text);
	exit(code);
}

/* 512 bytes to 2 MiB, as many below each power of two as above it, and off the powers. */
static void draw_ios(void)
{
	uint64_t state = 1;

	for (unsigned i = 0; i < NR_IOS; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		ios[i].bytes = 512ULL << (state >> 60) % 13;
		ios[i].bytes += (state >> 40) % ios[i].bytes;
		ios[i].dir = state >> 39 & 1 ? CP_DIR_WRITE : CP_DIR_READ;
	}
}

static void put_rule(FILE *out, const char *rw, unsigned from, bool last, unsigned shift)
{
	fprintf(out, "  - when: {rw: %s, segments: {min: %u", rw, from);
	if (!last)
		fprintf(out, ", max: %u", from + 15);
	fprintf(out, "}}\n    sizes:\n");
	for (unsigned i = 0; i < 8; i++)
		fprintf(out,
			"      - {upto: %llu, do: {name: a%u, path: cpu, copy: %s}}\n",
			(2048ULL << i) + shift, i % 2, i % 2 ? "memcpy" : "auto");
	fprintf(out, "      - {upto: max, do: {name: a0, path: cpu, copy: auto}}\n");
}

static void put_policy(const char *path, bool by_segments)
{
	FILE *out = fopen(path, "w");

	if (!out)
		die("cannot write the policy", CP_EXIT_INVALID);
	fprintf(out, "schema: 1\nkind: policy\nname: bench\nrules:\n");
	for (unsigned d = 0; d < 2; d++) {
		for (unsigned s = 0; s < (by_segments ? 4 : 1); s++)
			put_rule(out, d ? "write" : "read", s ? s * 16 : 0,
				 s == (by_segments ? 3 : 0), 512 * s);
	}
	if (fclose(out) != 0)
		die("cannot write the policy", CP_EXIT_INVALID);
}

static struct cp_dev *open_dev(const char *policy, unsigned min_segments)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = 1U << 20,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 16,
		.fio_version = "",
		.topo = &topo,
	};
	struct cp_dev *dev;
	struct cp_err err;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "mq");
	snprintf(cfg.arm.path, sizeof(cfg.arm.path), "auto");
	snprintf(cfg.arm.dma, sizeof(cfg.arm.dma), "null");
	snprintf(cfg.arm.policy, sizeof(cfg.arm.policy), "%s", policy);
	cfg.arm.dma_thresh_read = 32768;
	cfg.arm.dma_thresh_write = 65536;
	cfg.arm.dma_min_segments = min_segments;
	if (cp_dev_open(&cfg, &dev, &err) != 0)
		die(err.msg, (int)err.exit);
	return dev;
}

/* As dispatch and bio call it. */
static inline const struct cp_route *decide(const struct cp_dev *dev,
					    const struct cp_io *io)
{
	return cp_dev_decide(dev, io->dir, io->bytes, 0);
}

/* A loop of its own for either, or the one that waits would be in both. */
static inline __attribute__((always_inline)) double
round_ns(const struct cp_dev *dev, const bool dependent, uintptr_t *sink)
{
	uint64_t start_ns = cp_thread_cpu_ns();
	uintptr_t sum = 0, last = 0;

	for (unsigned i = 0; i < DECISIONS; i++) {
		/* no address has its highest bit set, which the compiler does not know */
		unsigned at = i + (dependent ? (unsigned)(last >> 63) : 0);

		last = (uintptr_t)decide(dev, &ios[at % NR_IOS]);
		sum += last;
	}
	*sink += sum;
	return (double)(cp_thread_cpu_ns() - start_ns) / DECISIONS;
}

static double throughput_ns(const struct cp_dev *dev, uintptr_t *sink)
{
	return round_ns(dev, false, sink);
}

static double dependent_ns(const struct cp_dev *dev, uintptr_t *sink)
{
	return round_ns(dev, true, sink);
}

#if defined(__x86_64__)
static uint64_t one_cold(const struct cp_dev *dev, const struct cp_io *io, bool with,
			 uintptr_t *sink)
{
	_mm_clflush(&dev->row);
	_mm_clflush(&dev->thresh);
	if (dev->row[io->dir])
		_mm_clflush(dev->row[io->dir]);
	_mm_mfence();
	_mm_lfence();
	uint64_t start = cp_ticks();

	_mm_lfence();
	if (with)
		*sink += (uintptr_t)decide(dev, io);
	_mm_lfence();
	return cp_ticks_to_ns(cp_ticks_since(start, cp_ticks()));
}

/* Medians: one that was interrupted counts as one. */
static void cold(const char *name, const struct cp_dev *dev, uintptr_t *sink)
{
	static double with[COLD], empty[COLD];
	double ns[ROUNDS];

	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < COLD; i++) {
			empty[i] = (double)one_cold(dev, &ios[i % NR_IOS], false, sink);
			with[i] = (double)one_cold(dev, &ios[i % NR_IOS], true, sink);
		}
		ns[r] = cp_stat_median(with, COLD) - cp_stat_median(empty, COLD);
	}
	printf("decision, %-22s cold       %6.2f ns [%.2f..%.2f] of %d rounds (no aim)\n",
	       name, cp_stat_median(ns, ROUNDS), cp_stat_quantile(ns, ROUNDS, 0),
	       cp_stat_quantile(ns, ROUNDS, 1), ROUNDS);
}
#else
static void cold(const char *name, const struct cp_dev *dev, uintptr_t *sink)
{
	(void)dev;
	(void)sink;
	printf("decision, %-22s cold: not measured, no cache flush here\n", name);
}
#endif

static bool measure(const char *name, const char *policy, unsigned min_segments,
		    uintptr_t *sink)
{
	struct cp_dev *dev = open_dev(policy, min_segments);
	bool all_met = true;

	for (unsigned dependent = 0; dependent < 2; dependent++) {
		double asked = dependent ? DEPENDENT_NS : THROUGHPUT_NS;
		double ns[ROUNDS];

		for (unsigned r = 0; r < ROUNDS; r++)
			ns[r] = dependent ? dependent_ns(dev, sink)
					  : throughput_ns(dev, sink);
		bool met = cp_stat_median(ns, ROUNDS) < asked;

		printf("decision, %-22s %-10s %6.2f ns [%.2f..%.2f] of %d rounds, asked "
		       "< "
		       "%.0f: %s\n",
		       name, dependent ? "dependent" : "throughput",
		       cp_stat_median(ns, ROUNDS), cp_stat_quantile(ns, ROUNDS, 0),
		       cp_stat_quantile(ns, ROUNDS, 1), ROUNDS, asked,
		       met ? "met" : "NOT MET");
		all_met &= met;
	}
	cold(name, dev, sink);
	cp_dev_close(dev);
	return all_met;
}

int main(void)
{
	char path[] = "/tmp/cp-decide-XXXXXX";
	int fd = mkstemp(path);
	struct cp_err err;
	uintptr_t sink = 0;
	bool met;

	if (fd < 0)
		die("cannot make a file in '/tmp'", CP_EXIT_INVALID);
	close(fd);
	if (cp_topo_load(NULL, &topo, &err) != 0)
		die(err.msg, (int)err.exit);
	draw_ios();
	put_policy(path, false);
	met = measure("policy", path, 0, &sink);
	put_policy(path, true);
	met &= measure("policy with segments", path, 0, &sink);
	met &= measure("thresholds", "", 0, &sink);
	met &= measure("dma_min_segments", "", 8, &sink);
	unlink(path);
	return met && sink != 1 ? 0 : 1; /* sink keeps the decisions */
}
