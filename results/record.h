/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.jsonl: one sample a line. The only reader and writer of the format;
 * results/SCHEMA.md documents it.
 *
 * Writing appends one line with a single write() and fsyncs, so a killed run loses at
 * most the sample in flight. Reading streams: one record at a time reaches a callback, so
 * memory does not grow with the file. Unknown keys are kept (raw). A torn last line is
 * dropped with a warning (or refused when strict); any other bad line is an error with
 * its number. Numbers that are not finite, negative sizes and wrong types are bad lines.
 *
 * A metric that was not measured is NaN here and null in the file.
 */
#ifndef CP_RESULTS_RECORD_H
#define CP_RESULTS_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

#define CP_RECORD_SCHEMA 1

enum cp_metric {
	CP_METRIC_BYTES,
	CP_METRIC_ELAPSED_NS,
	CP_METRIC_BW, /* bw_bytes_per_s */
	CP_METRIC_IOPS,
	CP_METRIC_LAT_MEAN, /* lat_ns_*: our stamps */
	CP_METRIC_LAT_P50,
	CP_METRIC_LAT_P99,
	CP_METRIC_LAT_P999,
	CP_METRIC_CPU_NS, /* process total over the window */
	CP_METRIC_CPU_SUBMIT_NS,
	CP_METRIC_CPU_ENGINE_NS,
	CP_METRIC_CPU_PCT,	/* of one CPU */
	CP_METRIC_CORUNNER,	/* corunner_ops_per_s */
	CP_METRIC_FIO_LAT_MEAN, /* fio_lat_ns_*, fio_slat_, fio_clat_: fio's own, as a
				   check */
	CP_METRIC_FIO_LAT_P50,	/* clat p50 of fio is a percentile of clat; see SCHEMA */
	CP_METRIC_FIO_SLAT_MEAN,
	CP_METRIC_FIO_CLAT_MEAN,
	/* dma_*_ns_mean: where the latency of an offloaded I/O went; they add up to its
	   lat */
	CP_METRIC_DMA_PREPARE,	/* handed in until its descriptors are written */
	CP_METRIC_DMA_SUBMIT,	/* the doorbell, and the CPU's part by split_pct */
	CP_METRIC_DMA_WAIT,	/* until its completion is found */
	CP_METRIC_DMA_COMPLETE, /* until it is handed back */
	/* Those from here on are in the file only where they were measured. */
	CP_METRIC_CORUNNER_ALONE,     /* corunner_alone_ops_per_s: before the I/O */
	CP_METRIC_CORUNNER_CPU,	      /* corunner_ops_per_cpu_s: of its own CPU time */
	CP_METRIC_CORUNNER_ALONE_CPU, /* corunner_alone_ops_per_cpu_s */
	CP_METRIC_STEAL_PCT, /* steal_pct: of its CPUs' time, taken by the hypervisor */
	CP_METRIC_FAULTS,    /* driver swap: faults, and of each ... */
	CP_METRIC_FAULTS_PER_S,
	CP_METRIC_FAULT_P50, /* fault_ns_p50: raised until the thread goes on */
	CP_METRIC_FAULT_P99,
	CP_METRIC_FAULT_P999,
	CP_METRIC_FAULT_USER, /* fault_user_ns: user time of all threads a fault */
	CP_METRIC_FAULT_SYS,  /* fault_sys_ns */
	CP_METRIC_APP,	      /* app_ops_per_s: driver exec: what it calls its work */
	CP_METRIC_NR,
};
extern const char
	*const cp_metric_names[CP_METRIC_NR + 1]; /* the JSON keys; NULL-terminated */

struct cp_proof {
	uint64_t bytes_cpu, bytes_dma, bytes_simulated, bytes_fallback;
	struct {
		uint64_t no_channel, ring_full, error, too_many_segments;
	} fallback; /* I/Os */
	/* What the queue made of the I/Os it was handed; 0 in bio. */
	struct {
		uint64_t requests;     /* decided upon, after merging */
		uint64_t merged;       /* I/Os that became part of another one's */
		uint64_t transactions; /* given to a channel */
		uint64_t split;	       /* I/Os above 128 segments, of several */
		uint64_t crossed; /* I/Os over a border between NUMA nodes, likewise */
		uint64_t timed;	  /* I/Os that the dma_*_ns_mean are means of */
	} queue;
	/* queue_mode page; 0 in the others */
	struct {
		uint64_t pages;	     /* handed in */
		uint64_t overlapped; /* of them, while another was in flight */
		uint64_t unmerged;   /* I/Os next to the one before: mq could have
					merged them */
		/* Bytes that the CPU copied as pages. As the request of their I/O they
		 * would have gone by DMA; merged only. */
		uint64_t whole_dma, unmerged_dma;
		uint64_t off; /* I/Os that went by bio, as rw_page is off */
	} page;
	uint64_t bytes_split; /* part of bytes_cpu: the CPU's share by split_pct */
	uint64_t errors;
	char verify[CP_WORD_MAX]; /* off, crc32c, ... */
	uint32_t effective_iodepth;
	char copy[CP_SPEC_TEXT_MAX]; /* what auto or nt resolved to, "" if no CPU copy */
	char dma[CP_SPEC_TEXT_MAX];  /* what dma auto resolved to */
	int32_t node;		     /* of the media's pages, -1 unknown */
	uint64_t page_bytes;	     /* of its mapping, 0 unknown or mixed */
	/* behind writes: what the arm came to, "" where nothing was done */
	char flush[CP_WORD_MAX], fence[CP_WORD_MAX];
	int32_t persistent; /* persist was asked for and the media really is: 1, is not:
			     * 0; -1: not asked for */
};

struct cp_provenance {
	char media[CP_WORD_MAX], attr[CP_WORD_MAX], dma[CP_WORD_MAX];
};

/* A counter of perf stat over the sample's window. */
struct cp_perf_counter {
	char name[48];
	double value; /* NaN = null: the event is not supported here */
};
#define CP_PERF_MAX 16

struct cp_record {
	char run[CP_NAME_MAX];
	uint32_t sample;
	char t[32];
	char host[CP_NAME_MAX];
	struct cp_context context;
	struct cp_arm arm;
	struct cp_provenance provenance;
	double metrics[CP_METRIC_NR]; /* NaN = null */
	bool has_proof;		      /* exec drivers may have none */
	struct cp_proof proof;
	size_t nr_perf;
	struct cp_perf_counter perf[CP_PERF_MAX]; /* none: null in the file */
	/* What the metrics are of, CLOCK_MONOTONIC; not in the file. 0: not known. */
	uint64_t window_start_ns, window_end_ns;
	char failed[256]; /* "" = ok */
	char notes[512];  /* what the engine said beside its figures, "; " between; ""
			     nothing */
	/* Reading: the whole line, valid in the callback only. Writing: an object whose
	 * keys are written as well where this build has none such; its owner's. */
	json_t *raw;
};

void cp_record_init(struct cp_record *record); /* NaN metrics, default context and arm */

/* The sums of all counters; what is no counter stays. */
void cp_proof_add(struct cp_proof *into, const struct cp_proof *from);
/* Path proof: "" in buf and true when the requested path carried the bytes it claims:
 * errors 0, cpu has no dma bytes, dma at most 0.1 % fallback, bytes add up, persist
 * require was on persistent memory, page went by pages or by bio as rw_page says. Else
 * the reason. */
bool cp_record_prove(const struct cp_record *record, char *buf, size_t size);
/* Its DMA engine was `null`: the figures are the harness's own cost. They are modelled as
 * those of `model` are, but of no device, so they are no arm to choose. */
bool cp_record_harness(const struct cp_record *record);
/* Its DMA engine was made to fail, or to dawdle: the time it took is nobody's. */
bool cp_record_spoiled(const struct cp_record *record);
/* Failed as stored, or by the proof re-derived; reason points into record or buf. */
bool cp_record_failed(const struct cp_record *record, char *buf, size_t size);

/* One line without the newline; free() it. */
char *cp_record_encode(const struct cp_record *record, struct cp_err *err);
int cp_record_decode(const char *line, size_t len, struct cp_record *ret_record,
		     struct cp_err *err);

struct cp_record_writer;
/* append: an existing file is continued (a torn last line is cut off first). */
int cp_record_writer_open(const char *path, struct cp_record_writer **ret,
			  struct cp_err *err);
int cp_record_write(struct cp_record_writer *writer, const struct cp_record *record,
		    struct cp_err *err);
int cp_record_writer_close(struct cp_record_writer *writer, struct cp_err *err);

struct cp_record_read_opts {
	bool strict;				   /* a torn last line is an error */
	void (*warn)(void *ctx, const char *text); /* may be NULL */
	void *ctx;
};
/* fn returns 0 to go on; anything else stops and is returned. line counts from 1. path is
 * a run directory or a .jsonl file. Lines up to 1 MiB. */
int cp_record_read(const char *path, const struct cp_record_read_opts *opts,
		   int (*fn)(void *ctx, struct cp_record *record, unsigned line),
		   void *ctx, struct cp_err *err);

#endif
