// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many copies a second go through the idxd engine and the emulated device
 * (provenance: emulated): `idxd_bench [BYTES [DEPTH [ROUNDS]]]`. Keeps DEPTH transactions
 * in flight; the far side of a copy walks through the working set, the near side is one
 * buffer a transaction. The submitter and the device's thread have a CPU each. A figure
 * of this says that the engine and the test device are lean, and nothing about hardware;
 * so each round has a bare loop of the same copies beside it, on the submitter's CPU.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/topo.h"
#include "engines/base/units.h"
#include "engines/dma/t/idxd_emu.h"

#define ASKED	   2500000.0 /* copies of 4k a second at depth 16 */
#define DEPTH_MAX  32U
#define BYTES_MAX  (1UL << 20)
#define ROUNDS_MAX 101U
#define FAR_BYTES  (64UL << 20)
#define COUNT	   50000U

struct load {
	const struct cp_dma_ops *ops;
	struct cp_dma_chan *chan;
	unsigned char *far, *near;
	size_t bytes, set, at;
	unsigned depth;
	bool pinned; /* else the device's thread may want this CPU */
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t next(const struct load *load)
{
	size_t at = load->at + load->bytes;

	return at + load->bytes > load->set ? 0 : at;
}

static unsigned start(struct load *load, unsigned char **idle, unsigned nr_idle,
		      unsigned most)
{
	unsigned nr = 0;

	while (nr_idle && nr < most) {
		struct cp_dma_sg sg = {.addr = idle[nr_idle - 1], .len = load->bytes};

		if (load->ops->prep_memcpy_sg(load->chan, CP_DIR_READ,
					      load->far + load->at, &sg, 1, 0, sg.addr))
			break;
		load->ops->submit(load->chan);
		load->at = next(load);
		nr_idle--;
		nr++;
	}
	if (nr)
		load->ops->issue_pending(load->chan);
	return nr;
}

/* Copies a second of one round; < 0: something failed. */
static double run(struct load *load)
{
	struct cp_dma_completion done[DEPTH_MAX];
	unsigned char *idle[DEPTH_MAX];
	unsigned nr_idle = load->depth, started = 0, ended = 0;

	for (unsigned i = 0; i < load->depth; i++)
		idle[i] = load->near + i * load->bytes;
	uint64_t start_ns = cp_now_ns();

	while (ended < COUNT) {
		unsigned n = start(load, idle, nr_idle, COUNT - started);

		started += n;
		nr_idle -= n;
		n = load->ops->reap(load->chan, done, DEPTH_MAX);
		for (unsigned i = 0; i < n; i++) {
			if (done[i].result != CP_DMA_OK)
				return -1;
			idle[nr_idle++] = done[i].user;
		}
		if (!n && load->pinned)
			cp_cpu_relax();
		else if (!n)
			sched_yield();
		ended += n;
	}
	return COUNT * 1e9 / (double)(cp_now_ns() - start_ns);
}

/* The same copies by this thread; a second. */
static double run_bare(struct load *load)
{
	uint64_t start_ns = cp_now_ns();

	for (unsigned i = 0; i < COUNT; i++) {
		memcpy(load->near + i % load->depth * load->bytes, load->far + load->at,
		       load->bytes);
		load->at = next(load);
	}
	return COUNT * 1e9 / (double)(cp_now_ns() - start_ns);
}

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* 0, or the exit code: 1 when what is asked of it was not met. */
static int measure(struct load *load, unsigned rounds, const char *queue, bool asked)
{
	struct cp_dma_cfg cfg = {
		.spec = queue, .ring = load->depth, .node = -1, .cpu = -1};
	struct cp_err err = {0};
	double rate[ROUNDS_MAX], ratio[ROUNDS_MAX];

	if (load->ops->open(&cfg, &load->chan, &err)) {
		fprintf(stderr, "idxd_bench: error: %s\n", err.msg);
		return (int)err.exit;
	}
	run(load); /* warm */
	for (unsigned i = 0; i < rounds; i++) {
		double bare = run_bare(load);

		rate[i] = run(load);
		if (rate[i] < 0) {
			fprintf(stderr, "idxd_bench: error: a copy failed\n");
			return CP_EXIT_INTERNAL;
		}
		ratio[i] = rate[i] / bare;
	}
	qsort(rate, rounds, sizeof(rate[0]), compare_doubles);
	qsort(ratio, rounds, sizeof(ratio[0]), compare_doubles);
	printf("%-32s %6zu bytes, depth %2u, working set %5zu KiB: median %.3f M "
	       "copies/s (%.3f to %.3f, %u rounds of %u), %.2f of a bare loop (%.2f to "
	       "%.2f), "
	       "provenance emulated",
	       load->ops->describe(load->chan), load->bytes, load->depth,
	       (load->set + load->depth * load->bytes) >> 10, rate[rounds / 2] / 1e6,
	       rate[0] / 1e6, rate[rounds - 1] / 1e6, rounds, COUNT, ratio[rounds / 2],
	       ratio[0], ratio[rounds - 1]);
	load->ops->close(load->chan);
	if (!asked || load->bytes != 4096 || load->depth != 16) {
		printf("\n");
		return 0;
	}
	bool met = rate[rounds / 2] >= ASKED;

	printf("; asked %.1f M: %s\n", ASKED / 1e6, met ? "met" : "NOT MET");
	return met ? 0 : CP_EXIT_REGRESSED;
}

static unsigned long number(const char *text, unsigned long max)
{
	uint64_t value;

	if (!text || cp_size_parse(text, &value) || !value || value > max) {
		fprintf(stderr,
			"usage: idxd_bench [BYTES [DEPTH [ROUNDS]]], at most %lu\n", max);
		exit(CP_EXIT_USAGE);
	}
	return value;
}

int main(int argc, char **argv)
{
	/* What is asked is asked where the copies are the caches' and not the memory's.
	 */
	static const struct {
		const char *queue;
		size_t set;
		bool asked;
	} cases[] = {
		{"idxd:/dev/dsa/wq0.0", 256UL << 10, true},
		{"idxd:/dev/dsa/wq0.1", 256UL << 10, true},
		{"idxd:/dev/dsa/wq0.0", 4UL << 20, false},
		{"idxd:/dev/dsa/wq0.0", FAR_BYTES, false},
	};
	struct load load = {
		.bytes = argc > 1 ? number(argv[1], BYTES_MAX) : 4096,
		.depth = argc > 2 ? (unsigned)number(argv[2], DEPTH_MAX) : 16,
	};
	unsigned rounds = argc > 3 ? (unsigned)number(argv[3], ROUNDS_MAX) : 11;
	static struct cp_topo topo;
	struct cp_err err = {0};
	int rc = cp_topo_load(NULL, &topo, &err);

	load.far = aligned_alloc(4096, FAR_BYTES);
	load.near = aligned_alloc(4096, DEPTH_MAX * load.bytes);
	if (rc || !load.far || !load.near) {
		fprintf(stderr, "idxd_bench: error: %s\n", rc ? err.msg : "no memory");
		return CP_EXIT_INVALID;
	}
	memset(load.far, 1, FAR_BYTES);
	memset(load.near, 2, DEPTH_MAX * load.bytes);
	/* a thread starts where its creator is */
	unsigned last = topo.nr_cpus - 1;
	load.pinned = last && !pin((int)topo.cpus[last].os_index);

	idxd_emu_start();
	load.pinned = load.pinned && !pin((int)topo.cpus[0].os_index);
	load.ops = cp_dma_find("idxd", &err);
	if (load.pinned)
		printf("submitter on CPU %u, device on CPU %u\n", topo.cpus[0].os_index,
		       topo.cpus[last].os_index);
	else
		printf("not pinned: submitter and device share CPUs\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load.set = cases[i].set;
		load.at = 0;
		int one = measure(&load, rounds, cases[i].queue, cases[i].asked);

		rc = one > rc ? one : rc;
	}
	idxd_emu_stop();
	free(load.far);
	free(load.near);
	return rc;
}
