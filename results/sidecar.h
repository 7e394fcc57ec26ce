/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the engine tells the harness: one bounded JSON line a job, appended to the sidecar
 * file with a single write(). Encoded by the engine, decoded and merged here, so that the
 * format has one home. The first line that counts for the device (CPU of the process and
 * of the engine's threads, device window) is the one with "device": each job writes it
 * and the merge takes the widest window, so that nothing is counted twice.
 */
#ifndef CP_RESULTS_SIDECAR_H
#define CP_RESULTS_SIDECAR_H

#include <stdint.h>

#include "engines/base/err.h"
#include "engines/base/hist.h"
#include "results/record.h"

#define CP_SIDECAR_SCHEMA   1
#define CP_SIDECAR_LINE_MAX (256U << 10)

struct cp_sidecar_job {
	char build[64]; /* copypath version of the plug-in */
	char fio[32];	/* the fio it was built for */
	uint32_t job;	/* fio's thread number, from 1 */
	uint64_t start_ns,
		end_ns;		/* CLOCK_MONOTONIC window of this job, after ramp_time */
	uint64_t ios, bytes;	/* completed without error in the window */
	uint64_t cpu_submit_ns; /* this thread over its window */
	struct cp_hist *lat;	/* submit to completion; owned by the caller */
	/* of the whole device over [dev_start_ns, dev_end_ns], as this job saw it at its
	 * end */
	uint64_t dev_start_ns, dev_end_ns;
	uint64_t dev_cpu_process_ns, dev_cpu_engine_ns;
	/* Where the time of offloaded I/Os went, in sums over those that were looked at
	 * (a sample of all: a stamp costs as much as a small I/O's phases). submit: also
	 * the CPU's own share of an I/O, by split_pct. */
	struct {
		uint64_t ios, prepare_ns, submit_ns, wait_ns, complete_ns;
	} phases;
	struct cp_proof proof; /* this job's bytes and counters */
	struct cp_provenance provenance;
	uint64_t llc_bytes, media_bytes;
	uint32_t nr_hctx, queue_depth; /* as they took effect */
	char notes[512]; /* e.g. "forced back to bio, no DMA"; one line, "; " between */
};

/* One line with its newline, at most CP_SIDECAR_LINE_MAX; free() it. */
char *cp_sidecar_encode(const struct cp_sidecar_job *job, struct cp_err *err);
/* ret_job->lat must point to a histogram. */
int cp_sidecar_decode(const char *line, size_t len, struct cp_sidecar_job *ret_job,
		      struct cp_err *err);

/* Read a sidecar of exactly nr_jobs jobs and fill a record's metrics (own stamps, bytes,
 * elapsed, CPU split, percentages), proof and provenance. Notes go to notes[size]. A
 * missing or surplus job is an error. fio_* metrics are left alone. */
int cp_sidecar_merge(const char *path, unsigned nr_jobs, struct cp_record *record,
		     char *notes, size_t size, struct cp_err *err);

/* The same of lines in memory: who has its own jobs needs no file. */
int cp_sidecar_merge_text(const char *text, size_t len, unsigned nr_jobs,
			  struct cp_record *record, char *notes, size_t size,
			  struct cp_err *err);

#endif
