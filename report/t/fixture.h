/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of a machine that does not exist, from a formula and a seed: for tests of what
 * a report does with records, and nothing else. Shared by report/t and
 * tests/helpers/report_records.c.
 */
#ifndef CP_REPORT_T_FIXTURE_H
#define CP_REPORT_T_FIXTURE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/random.h"
#include "results/record.h"

struct fixture_arm {
	const char *name, *queue_mode, *copy, *dma; /* dma: none, sw, null */
	double setup_ns, bytes_per_ns, cpu_share;   /* of one I/O; CPUs that are busy */
};

struct fixture {
	const char *name; /* of the run and host */
	const struct fixture_arm *arms;
	size_t nr_arms;
	const uint64_t *sizes;
	size_t nr_sizes;
	const uint32_t *depths;
	size_t nr_depths;
	unsigned samples;
	uint64_t seed;
};

/* Uniform in [0, 1). */
static inline double fixture_random(uint64_t *state)
{
	return (double)(cp_random_next(state) >> 11) / 9007199254740992.0;
}

static inline void fixture_metrics(struct cp_record *record,
				   const struct fixture_arm *arm, uint64_t *state)
{
	double bs = (double)record->context.bs, depth = record->context.iodepth;
	/* two CPUs and one memory: depth hides setup, not bytes */
	double ns = (arm->setup_ns / fmin(depth, 4) + bs / arm->bytes_per_ns) *
		    (0.97 + 0.06 * fixture_random(state));
	double elapsed = 4e8, ios = floor(elapsed / ns), cpu = elapsed * arm->cpu_share;

	record->metrics[CP_METRIC_BYTES] = ios * bs;
	record->metrics[CP_METRIC_ELAPSED_NS] = elapsed;
	record->metrics[CP_METRIC_BW] = ios * bs / elapsed * 1e9;
	record->metrics[CP_METRIC_IOPS] = ios / elapsed * 1e9;
	record->metrics[CP_METRIC_LAT_MEAN] = ns * depth;
	record->metrics[CP_METRIC_LAT_P50] = ns * depth;
	record->metrics[CP_METRIC_LAT_P99] = ns * depth * 1.6;
	record->metrics[CP_METRIC_LAT_P999] = ns * depth * 3;
	record->metrics[CP_METRIC_CPU_NS] = cpu;
	record->metrics[CP_METRIC_CPU_ENGINE_NS] = arm->cpu_share > 1 ? cpu - elapsed : 0;
	record->metrics[CP_METRIC_CPU_SUBMIT_NS] =
		cpu - record->metrics[CP_METRIC_CPU_ENGINE_NS];
	record->metrics[CP_METRIC_CPU_PCT] = 100 * arm->cpu_share;
}

static inline void fixture_record(struct cp_record *record, const struct fixture *f,
				  const struct fixture_arm *arm, const char *rw,
				  uint64_t bs, uint32_t depth, unsigned sample,
				  uint64_t *state)
{
	bool null = !strcmp(arm->dma, "null"), dma = strcmp(arm->dma, "none") != 0;

	cp_record_init(record);
	snprintf(record->run, sizeof(record->run), "%s", f->name);
	snprintf(record->host, sizeof(record->host), "%s", f->name);
	snprintf(record->t, sizeof(record->t), "2026-11-30T12:00:00Z");
	record->sample = sample;
	snprintf(record->context.rw, sizeof(record->context.rw), "%s", rw);
	record->context.bs = bs;
	record->context.iodepth = depth;
	record->context.segments = (uint32_t)((bs + 4095) / 4096);
	snprintf(record->arm.name, sizeof(record->arm.name), "%s", arm->name);
	snprintf(record->arm.queue_mode, CP_WORD_MAX, "%s", arm->queue_mode);
	snprintf(record->arm.path, CP_WORD_MAX, "%s", dma ? "dma" : "cpu");
	snprintf(record->arm.copy, CP_WORD_MAX, "%s", arm->copy);
	snprintf(record->arm.dma, sizeof(record->arm.dma), "%s", arm->dma);
	snprintf(record->arm.completion, CP_WORD_MAX, "%s",
		 strcmp(arm->queue_mode, "bio") ? "poll" : "sync");
	if (strcmp(arm->queue_mode, "bio") != 0) {
		record->arm.q_per_node = 8;
		record->arm.queue_depth = 128;
	}
	snprintf(record->provenance.media, CP_WORD_MAX, "native");
	snprintf(record->provenance.attr, CP_WORD_MAX, "native");
	snprintf(record->provenance.dma, CP_WORD_MAX, "%s",
		 null  ? "modelled"
		 : dma ? "software"
		       : "none");
	fixture_metrics(record, arm, state);
	record->has_proof = true;
	record->proof.effective_iodepth = strcmp(arm->queue_mode, "bio") ? depth : 1;
	uint64_t bytes = (uint64_t)record->metrics[CP_METRIC_BYTES];

	*(null	? &record->proof.bytes_simulated
	  : dma ? &record->proof.bytes_dma
		: &record->proof.bytes_cpu) = bytes;
	snprintf(record->proof.copy, CP_WORD_MAX, "%s",
		 dma			   ? ""
		 : strcmp(arm->copy, "nt") ? "memcpy"
					   : "nt-avx512");
	snprintf(record->proof.dma, sizeof(record->proof.dma), "%s", dma ? arm->dma : "");
}

/* Calls put() for every sample. */
static inline int fixture_each(const struct fixture *f,
			       int (*put)(void *ctx, const struct cp_record *record),
			       void *ctx)
{
	static const char *const rws[] = {"read", "write"};
	uint64_t state = f->seed;
	struct cp_record record;
	int rc = 0;

	for (unsigned s = 0; s < f->samples; s++)
		for (size_t r = 0; r < 2; r++)
			for (size_t b = 0; b < f->nr_sizes; b++)
				for (size_t d = 0; d < f->nr_depths; d++)
					for (size_t a = 0; a < f->nr_arms && !rc; a++) {
						fixture_record(&record, f, &f->arms[a],
							       rws[r], f->sizes[b],
							       f->depths[d], s, &state);
						rc = put(ctx, &record);
					}
	return rc;
}

/* A row of cache attributes: 4k random, one job, in bio. */
struct fixture_attr {
	const char *attr, *copy, *provenance;
	double iops[2];	  /* by direction, of the wall clock; 0 = not measured */
	double cpu_share; /* of the submitter, so I/Os a CPU second are iops over it */
};

static inline void fixture_attr_record(struct cp_record *record,
				       const struct fixture_attr *row, int dir,
				       unsigned sample)
{
	const struct fixture_arm arm = {row->copy, "bio", row->copy, "none", 1, 1, 1};
	const struct fixture f = {.name = "made-up"};
	double elapsed = 1e9, ios = row->iops[dir];
	uint64_t state = 1;

	fixture_record(record, &f, &arm, dir ? "randwrite" : "randread", 4096, 1, sample,
		       &state);
	snprintf(record->context.attr, sizeof(record->context.attr), "%s", row->attr);
	snprintf(record->provenance.attr, CP_WORD_MAX, "%s", row->provenance);
	record->metrics[CP_METRIC_ELAPSED_NS] = elapsed;
	record->metrics[CP_METRIC_IOPS] = ios;
	record->metrics[CP_METRIC_BYTES] = record->metrics[CP_METRIC_BW] = ios * 4096;
	record->metrics[CP_METRIC_CPU_NS] = record->metrics[CP_METRIC_CPU_SUBMIT_NS] =
		elapsed * row->cpu_share;
	record->proof.bytes_cpu = (uint64_t)(ios * 4096);
}

/* Three samples of what was measured of each row. */
static inline int
fixture_attrs_each(const struct fixture_attr *rows, size_t nr,
		   int (*put)(void *ctx, const struct cp_record *record), void *ctx)
{
	struct cp_record record;
	int rc = 0;

	for (unsigned s = 0; s < 3; s++)
		for (size_t i = 0; i < nr; i++)
			for (int d = 0; d < 2 && !rc; d++) {
				if (!(rows[i].iops[d] > 0))
					continue;
				fixture_attr_record(&record, &rows[i], d, s);
				rc = put(ctx, &record);
			}
	return rc;
}

/* Out of order by the wall clock: a WC load above the others; in order by CPU time. */
static const struct fixture_attr fixture_attrs[] = {
	{"wb", "memcpy", "native", {1000e3, 800e3}, 0.5},
	{"wb", "nt-both", "native", {960e3, 1200e3}, 0.5},
	{"wb", "nti", "native", {0, 900e3}, 0.5},
	{"uc", "memcpy", "emulated", {40e3, 30e3}, 0.5},
	{"uc", "nt-both", "emulated", {400e3, 500e3}, 0.5},
	{"wc", "memcpy", "emulated", {1200e3, 2000e3}, 1},
	{"wc", "nt-both", "emulated", {1000e3, 2100e3}, 0.5},
	{"wc", "avx512", "emulated", {1100e3, 2000e3}, 0.5},
};

static const struct fixture_arm fixture_quick_arms[] = {
	{"cpu-memcpy", "mq", "memcpy", "none", 900, 9.5, 0.998},
	{"cpu-nt", "mq", "nt", "none", 1100, 11.5, 0.997},
	{"incumbent", "bio", "auto", "none", 700, 9.0, 0.999},
	{"null", "mq", "memcpy", "null", 600, 1e6, 0.999},
	{"offload", "mq", "memcpy", "sw", 6000, 14.0, 1.6},
};
static const uint64_t fixture_quick_sizes[] = {4096,   16384,	65536,
					       262144, 1048576, 2097152};
static const uint32_t fixture_quick_depths[] = {1, 16};

/* Loads of the published table of CPU beside DMA: 64k and 2m, 1 x 1 and 16 x 16. */
static const struct fixture_arm fixture_offload_arms[] = {
	{"bio-memcpy", "bio", "memcpy", "none", 700, 9.0, 1},
	{"bio-nt", "bio", "nt", "none", 900, 10.0, 1},
	{"dma-sw", "mq", "auto", "sw", 6000, 8.0, 1.4},
	{"what-if", "mq", "auto", "model:setup=20us,bw=8g", 20000, 8.0, 0.3},
	{"null", "mq", "auto", "null", 600, 1e6, 1},
};

/* Phases and counters as of a queue that merges, splits and now and then has no room. */
static inline void fixture_offloaded(struct cp_record *record)
{
	double lat = record->metrics[CP_METRIC_LAT_MEAN];
	uint64_t ios =
		(uint64_t)(record->metrics[CP_METRIC_BYTES] / (double)record->context.bs);

	record->metrics[CP_METRIC_DMA_PREPARE] = 0.10 * lat;
	record->metrics[CP_METRIC_DMA_SUBMIT] = 0.02 * lat;
	record->metrics[CP_METRIC_DMA_WAIT] = 0.85 * lat;
	record->metrics[CP_METRIC_DMA_COMPLETE] = 0.03 * lat;
	record->proof.queue.requests = ios - 100;
	record->proof.queue.merged = 100;
	record->proof.queue.split = record->context.segments > 128 ? ios : 0;
	record->proof.queue.transactions = record->context.segments > 128 ? 4 * ios : ios;
	record->proof.queue.timed = 11; /* 33 in three samples */
	record->proof.fallback.ring_full = 7;
	record->proof.fallback.error = 1;
}

static inline void fixture_offload_sample(struct cp_record *record,
					  const struct fixture_arm *arm, int dir,
					  unsigned load, unsigned sample, uint64_t *state)
{
	static const uint64_t sizes[] = {65536, 2097152};
	static const uint32_t depths[] = {1, 16};
	const struct fixture f = {.name = "made-up"};

	fixture_record(record, &f, arm, dir ? "write" : "read", sizes[load / 2],
		       depths[load % 2], sample, state);
	record->context.numjobs = depths[load % 2];
	if (!strcmp(arm->dma, "none"))
		return;
	if (!strncmp(arm->dma, "model", 5)) {
		record->proof.bytes_simulated = record->proof.bytes_dma;
		record->proof.bytes_dma = 0;
		snprintf(record->provenance.dma, CP_WORD_MAX, "modelled");
	}
	fixture_offloaded(record);
}

static inline int
fixture_offload_each(int (*put)(void *ctx, const struct cp_record *record), void *ctx)
{
	uint64_t state = 3;
	struct cp_record record;
	int rc = 0;

	for (unsigned s = 0; s < 3; s++)
		for (int d = 0; d < 2; d++)
			for (unsigned load = 0; load < 4; load++)
				for (size_t a = 0; a < 5 && !rc; a++) {
					fixture_offload_sample(&record,
							       &fixture_offload_arms[a],
							       d, load, s, &state);
					rc = put(ctx, &record);
				}
	return rc;
}

static const struct fixture fixture_quick = {
	.name = "made-up",
	.arms = fixture_quick_arms,
	.nr_arms = 5,
	.sizes = fixture_quick_sizes,
	.nr_sizes = 6,
	.depths = fixture_quick_depths,
	.nr_depths = 2,
	.samples = 2,
	.seed = 1,
};

#endif
