/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up records of the page path, completion modes, what runs beside a sample, swap and
 * programs, from a formula: for tests of what a report does with them, and nothing else.
 */
#ifndef CP_REPORT_T_FIXTURE_PATHS_H
#define CP_REPORT_T_FIXTURE_PATHS_H

#include <math.h>

#include "report/t/fixture.h"

/* One cell; a 0 or NULL is the default. */
struct fixture_path {
	const char *arm, *queue_mode, *completion,
		*dma; /* dma: none, sw, model:..., null */
	const char *rw;
	uint64_t bs;
	double lat_ns;		     /* median */
	double submit_ns, engine_ns; /* CPU of one I/O */
	const char *corunner;	     /* its share left, and the same of its CPU time */
	double share, cpu_share;
	const char *driver, *handler; /* swap: lat_ns is of a fault */
	uint32_t jobs;
	uint32_t unmerged_pct;	  /* page: of its I/Os */
	bool past_dma, whole_dma; /* 96 % of its bytes: merged only, or unmerged too */
	bool rw_page_off, perf;
};

#define FIXTURE_MODEL "model:setup=1ms"

static const struct fixture_path fixture_paths[] = {
	/* completion modes, and the synchronous arms beside them */
	{"mq-model/poll", "mq", "poll", FIXTURE_MODEL, "randread", 4096, 1.003e6, 1.001e6,
	 0, .perf = true},
	{"mq-model/irq", "mq", "irq", FIXTURE_MODEL, "randread", 4096, 1.041e6, 9e3, 14e3,
	 .perf = true},
	{"mq-model/hybrid", "mq", "hybrid", FIXTURE_MODEL, "randread", 4096, 1.011e6,
	 310e3, 0, .perf = true},
	{"page-model/poll", "page", "poll", FIXTURE_MODEL, "randread", 4096, 1.002e6,
	 1.0e6, 0, .jobs = 1},
	{"bio-cpu", "bio", "sync", "none", "randread", 4096, 520, 700, 0, .perf = true},
	{"mq-cpu", "mq", "poll", "none", "randread", 4096, 900, 1100, 0, .perf = true},
	{"page-cpu", "page", "sync", "none", "randread", 4096, 540, 720, 0, .perf = true},
	/* merging would have reached DMA, and in mq it does */
	{"page-auto/poll", "page", "poll", "sw", "write", 16384, 4200, 4500, 0,
	 .unmerged_pct = 96, .past_dma = true},
	{"page-auto/poll", "page", "poll", "sw", "write", 32768, 8000, 8100, 0, .jobs = 1,
	 .whole_dma = true},
	{"mq-auto/poll", "mq", "poll", "sw", "write", 16384, 3900, 900, 3600, .jobs = 1},
	/* a target that takes no pages */
	{"page-cpu", "page", "sync", "none", "randread", 4096, 560, 740, 0,
	 .rw_page_off = true},
	/* beside a co-runner */
	{"bio-memcpy", "bio", "sync", "none", "write", 65536, 8000, 8100, 0, "compute",
	 49, 98, .jobs = 1},
	{"bio-nt", "bio", "sync", "none", "write", 65536, 7000, 7100, 0, "compute", 50,
	 99, .jobs = 1},
	{"dma-sw/irq", "mq", "irq", "sw", "write", 65536, 7400, 900, 6800, "compute", 78,
	 96, .jobs = 1},
	{"dma-sw/poll", "mq", "poll", "sw", "write", 65536, 9900, 9900, 6800, "compute",
	 45, 96, .jobs = 1},
	{"bio-memcpy", "bio", "sync", "none", "write", 2097152, 250e3, 250e3, 0,
	 "compute", 48, 97, .jobs = 1},
	{"dma-sw/irq", "mq", "irq", "sw", "write", 2097152, 240e3, 9e3, 231e3, "compute",
	 83, 95, .jobs = 1},
	{"null", "mq", "poll", "null", "write", 65536, 700, 800, 0, "compute", 51, 99,
	 .jobs = 1},
	/* faults, by queue mode and CPU of who serves them */
	{"mq-cpu", "mq", "poll", "none", "read", 4096, 11.2e3, 0, 0, .driver = "swap",
	 .handler = "beside", .perf = true},
	{"page-cpu", "page", "sync", "none", "read", 4096, 10.4e3, 0, 0, .driver = "swap",
	 .handler = "beside", .perf = true},
	{"mq-cpu", "mq", "poll", "none", "read", 4096, 114e3, 0, 0, .driver = "swap",
	 .handler = "apart"},
	{"page-cpu", "page", "sync", "none", "read", 4096, 112e3, 0, 0, .driver = "swap",
	 .handler = "apart"},
	{"page-cpu", "page", "sync", "none", "randread", 4096, 21e3, 0, 0,
	 .driver = "swap", .handler = "beside", .jobs = 4},
	/* a program of the user's, alone and beside a co-runner */
	{"bulk-load/bio", "bio", "sync", "none", "write", 4096, 0, 0, 0,
	 .driver = "exec"},
	{"bulk-load/page", "page", "sync", "none", "write", 4096, 0, 0, 0,
	 .driver = "exec"},
	{"bulk-load/bio", "bio", "sync", "none", "write", 4096, 0, 0, 0, "stream", 61, 92,
	 .driver = "exec"},
	{"bulk-load/page", "page", "sync", "none", "write", 4096, 0, 0, 0, "stream", 66,
	 94, .driver = "exec"},
};
#define FIXTURE_PATHS (sizeof(fixture_paths) / sizeof(fixture_paths[0]))

static inline void fixture_path_cell(struct cp_record *record,
				     const struct fixture_path *path)
{
	struct cp_context *context = &record->context;
	const char *corunner = path->corunner ? path->corunner : "none";

	snprintf(context->corunner, sizeof(context->corunner), "%s", corunner);
	snprintf(context->driver, sizeof(context->driver), "%s",
		 path->driver ? path->driver : "fio");
	snprintf(context->handler, sizeof(context->handler), "%s",
		 path->handler ? path->handler : "beside");
	context->resident = path->handler ? 64 << 20 : 0;
	context->numjobs = path->jobs ? path->jobs : 1;
	context->rw_page = !path->rw_page_off;
	snprintf(record->arm.completion, CP_WORD_MAX, "%s", path->completion);
	if (!strncmp(path->dma, "model", 5)) {
		record->proof.bytes_simulated = record->proof.bytes_dma;
		record->proof.bytes_dma = 0;
		snprintf(record->provenance.dma, CP_WORD_MAX, "modelled");
	}
	if (!strcmp(context->driver, "exec")) {
		snprintf(record->provenance.media, CP_WORD_MAX, "external");
		snprintf(record->provenance.attr, CP_WORD_MAX, "external");
	}
}

static inline void fixture_path_beside(struct cp_record *record,
				       const struct fixture_path *path, double noise)
{
	double *m = record->metrics;

	if (!path->corunner)
		return;
	m[CP_METRIC_CORUNNER_ALONE] = 2e8;
	m[CP_METRIC_CORUNNER] = 2e6 * path->share * noise;
	m[CP_METRIC_CORUNNER_ALONE_CPU] = 2e8;
	m[CP_METRIC_CORUNNER_CPU] = 2e6 * path->cpu_share * noise;
	m[CP_METRIC_STEAL_PCT] = 0.4;
}

static inline void fixture_path_page(struct cp_record *record,
				     const struct fixture_path *path, uint64_t ios)
{
	if (strcmp(path->queue_mode, "page") != 0)
		return;
	if (path->rw_page_off) {
		record->proof.page.off = ios;
		return;
	}
	record->proof.page.pages = ios * (path->bs / 4096);
	record->proof.page.overlapped = record->proof.page.pages - ios;
	record->proof.page.unmerged = ios * path->unmerged_pct / 100;
	if (path->past_dma || path->whole_dma) {
		uint64_t past = ios * 96 / 100 * path->bs;

		if (path->whole_dma)
			record->proof.page.whole_dma = past;
		else
			record->proof.page.unmerged_dma = past;
		record->proof.bytes_dma -= past;
		record->proof.bytes_cpu += past;
		snprintf(record->arm.path, CP_WORD_MAX, "auto");
	}
}

static inline void fixture_path_metrics(struct cp_record *record,
					const struct fixture_path *path, double noise)
{
	double *m = record->metrics, ns = path->lat_ns * noise, elapsed = 1e9;
	double ios = floor(elapsed / ns);

	m[CP_METRIC_ELAPSED_NS] = elapsed;
	m[CP_METRIC_IOPS] = ios;
	m[CP_METRIC_BYTES] = m[CP_METRIC_BW] = ios * (double)path->bs;
	m[CP_METRIC_LAT_MEAN] = m[CP_METRIC_LAT_P50] = ns;
	m[CP_METRIC_LAT_P99] = 1.4 * ns;
	m[CP_METRIC_LAT_P999] = 2 * ns;
	m[CP_METRIC_CPU_SUBMIT_NS] = ios * path->submit_ns * noise;
	m[CP_METRIC_CPU_ENGINE_NS] = ios * path->engine_ns * noise;
	m[CP_METRIC_CPU_NS] = m[CP_METRIC_CPU_SUBMIT_NS] + m[CP_METRIC_CPU_ENGINE_NS];
	m[CP_METRIC_CPU_PCT] = 100 * m[CP_METRIC_CPU_NS] / elapsed;
}

static inline void fixture_path_driver(struct cp_record *record,
				       const struct fixture_path *path, double noise)
{
	double *m = record->metrics;

	if (path->driver && !strcmp(path->driver, "swap")) {
		bool page = !strcmp(path->queue_mode, "page");

		m[CP_METRIC_FAULTS] = m[CP_METRIC_IOPS];
		m[CP_METRIC_FAULTS_PER_S] = m[CP_METRIC_IOPS];
		m[CP_METRIC_FAULT_P50] = path->lat_ns * noise;
		m[CP_METRIC_FAULT_P99] = 2 * path->lat_ns * noise;
		m[CP_METRIC_FAULT_P999] = 5 * path->lat_ns * noise;
		m[CP_METRIC_FAULT_USER] = (page ? 1400 : 1900) * noise;
		m[CP_METRIC_FAULT_SYS] = (page ? 7100 : 7600) * noise;
	} else if (path->driver) {
		for (int i = 0; i < CP_METRIC_CORUNNER_ALONE; i++)
			m[i] = i == CP_METRIC_CORUNNER ? m[i] : NAN;
		m[CP_METRIC_APP] = (strcmp(path->queue_mode, "page") ? 41e3 : 44e3) *
				   (path->corunner ? 0.7 : 1) * noise;
		record->has_proof = false;
		memset(&record->proof, 0, sizeof(record->proof));
	}
}

static inline void fixture_path_perf(struct cp_record *record, double ios)
{
	record->nr_perf = 3;
	snprintf(record->perf[0].name, sizeof(record->perf[0].name), "task-clock");
	record->perf[0].value = 1.2e9;
	snprintf(record->perf[1].name, sizeof(record->perf[1].name), "context-switches");
	record->perf[1].value = 2 * ios;
	snprintf(record->perf[2].name, sizeof(record->perf[2].name), "instructions");
	record->perf[2].value = NAN;
}

static inline void fixture_path_record(struct cp_record *record,
				       const struct fixture_path *path, unsigned sample,
				       uint64_t *state)
{
	const struct fixture_arm arm = {
		path->arm, path->queue_mode, "memcpy", path->dma, 1, 1, 1};
	const struct fixture f = {.name = "made-up"};
	/* the programs' I/Os are not known */
	struct fixture_path one = *path;
	double noise = 0.99 + 0.02 * fixture_random(state);

	one.lat_ns = path->lat_ns > 0 ? path->lat_ns : 1e3;
	fixture_record(record, &f, &arm, path->rw, path->bs, 1, sample, state);
	fixture_path_metrics(record, &one, noise);
	uint64_t bytes = (uint64_t)record->metrics[CP_METRIC_BYTES];

	record->proof.bytes_simulated = !strcmp(path->dma, "null") ? bytes : 0;
	record->proof.bytes_cpu = !strcmp(path->dma, "none") ? bytes : 0;
	record->proof.bytes_dma =
		strcmp(path->dma, "none") && strcmp(path->dma, "null") ? bytes : 0;
	record->proof.effective_iodepth = 1;
	fixture_path_cell(record, path);
	fixture_path_page(record, path, (uint64_t)record->metrics[CP_METRIC_IOPS]);
	if (!strcmp(path->arm, "mq-auto/poll")) {
		snprintf(record->arm.path, CP_WORD_MAX, "auto");
		record->arm.max_merge = 2097152;
		record->proof.queue.requests =
			(uint64_t)record->metrics[CP_METRIC_IOPS] / 16;
		record->proof.queue.merged = 15 * record->proof.queue.requests;
	}
	if (path->perf)
		fixture_path_perf(record, record->metrics[CP_METRIC_IOPS]);
	fixture_path_beside(record, path, 0.99 + 0.02 * fixture_random(state));
	fixture_path_driver(record, path, noise);
}

/* Five samples of each. */
static inline int
fixture_paths_each(int (*put)(void *ctx, const struct cp_record *record), void *ctx)
{
	uint64_t state = 7;
	struct cp_record record;
	int rc = 0;

	for (unsigned s = 0; s < 5; s++)
		for (size_t i = 0; i < FIXTURE_PATHS && !rc; i++) {
			fixture_path_record(&record, &fixture_paths[i], s, &state);
			rc = put(ctx, &record);
		}
	return rc;
}

#endif
