// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a transaction costs through the channel contract: `channel_bench [SPEC...]`. For
 * each size and depth the median over rounds of the time from prep to reap, by
 * transaction. With null this is what every harness figure has in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/dma/channel.h"

#define ROUNDS	  9
#define DEPTH_MAX 16U
#define LEN_MAX	  (64UL << 10)
#define FAR_BYTES (64UL << 20)

struct load {
	const struct cp_dma_ops *ops;
	struct cp_dma_chan *chan;
	unsigned char *far, *near;
	size_t len, far_at;
	unsigned depth, count;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Keep depth transactions in flight until count are done; ns each. */
static double run(struct load *load)
{
	struct cp_dma_completion done[DEPTH_MAX];
	unsigned started = 0, ended = 0;
	uint64_t start_ns = cp_now_ns();

	while (ended < load->count) {
		unsigned before = started;

		while (started < load->count && started - ended < load->depth) {
			struct cp_dma_sg sg = {
				.addr = load->near + started % load->depth * LEN_MAX,
				.len = load->len,
			};

			if (load->ops->prep_memcpy_sg(load->chan, CP_DIR_READ,
						      load->far + load->far_at, &sg, 1, 0,
						      NULL))
				break;
			load->ops->submit(load->chan);
			load->far_at = (load->far_at + load->len) % FAR_BYTES;
			started++;
		}
		if (started != before)
			load->ops->issue_pending(load->chan);
		ended += load->ops->reap(load->chan, done, DEPTH_MAX);
	}
	return (double)(cp_now_ns() - start_ns) / load->count;
}

static void report(struct load *load, const char *spec)
{
	static const size_t lengths[] = {4096, LEN_MAX};
	static const unsigned depths[] = {1, DEPTH_MAX};
	double ns[ROUNDS];

	for (size_t l = 0; l < 2; l++) {
		for (size_t d = 0; d < 2; d++) {
			load->len = lengths[l];
			load->depth = depths[d];
			load->count = load->ops->traits.moves_data ? 4000 : 400000;
			for (unsigned i = 0; i < ROUNDS; i++)
				ns[i] = run(load);
			qsort(ns, ROUNDS, sizeof(ns[0]), compare_doubles);
			printf("%-16s len %6zu depth %2u: %9.1f ns (%.1f to %.1f), "
			       "provenance %s\n",
			       spec, load->len, load->depth, ns[ROUNDS / 2], ns[0],
			       ns[ROUNDS - 1], load->ops->traits.provenance);
		}
	}
}

static unsigned char far_memory[FAR_BYTES], near_memory[DEPTH_MAX * LEN_MAX];

int main(int argc, char **argv)
{
	static char sw[] = "sw", null[] = "null";
	char *defaults[] = {null, sw};
	char **specs = argc > 1 ? argv + 1 : defaults;
	int nr_specs = argc > 1 ? argc - 1 : 2;
	struct load load = {.far = far_memory, .near = near_memory};

	memset(load.far, 1, FAR_BYTES);
	memset(load.near, 2, DEPTH_MAX * LEN_MAX);
	for (int i = 0; i < nr_specs; i++) {
		struct cp_dma_cfg cfg = {
			.spec = specs[i], .node = -1, .cpu = -1, .copy = "memcpy"};
		struct cp_err err = {0};

		load.ops = cp_dma_find(specs[i], &err);
		if (!load.ops || load.ops->open(&cfg, &load.chan, &err)) {
			fprintf(stderr, "channel_bench: error: %s\n", err.msg);
			return (int)err.exit;
		}
		report(&load, specs[i]);
		load.ops->close(load.chan);
	}
	return 0;
}
