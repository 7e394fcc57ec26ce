/* SPDX-License-Identifier: GPL-2.0-only */
/* What a record is before it is written: its metrics' names, its defaults, its proof. */
#include "results/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const cp_metric_names[CP_METRIC_NR + 1] = {
	[CP_METRIC_BYTES] = "bytes",
	[CP_METRIC_ELAPSED_NS] = "elapsed_ns",
	[CP_METRIC_BW] = "bw_bytes_per_s",
	[CP_METRIC_IOPS] = "iops",
	[CP_METRIC_LAT_MEAN] = "lat_ns_mean",
	[CP_METRIC_LAT_P50] = "lat_ns_p50",
	[CP_METRIC_LAT_P99] = "lat_ns_p99",
	[CP_METRIC_LAT_P999] = "lat_ns_p999",
	[CP_METRIC_CPU_NS] = "cpu_ns",
	[CP_METRIC_CPU_SUBMIT_NS] = "cpu_submit_ns",
	[CP_METRIC_CPU_ENGINE_NS] = "cpu_engine_ns",
	[CP_METRIC_CPU_PCT] = "cpu_pct",
	[CP_METRIC_CORUNNER] = "corunner_ops_per_s",
	[CP_METRIC_FIO_LAT_MEAN] = "fio_lat_ns_mean",
	[CP_METRIC_FIO_LAT_P50] = "fio_lat_ns_p50",
	[CP_METRIC_FIO_SLAT_MEAN] = "fio_slat_ns_mean",
	[CP_METRIC_FIO_CLAT_MEAN] = "fio_clat_ns_mean",
	[CP_METRIC_DMA_PREPARE] = "dma_prepare_ns_mean",
	[CP_METRIC_DMA_SUBMIT] = "dma_submit_ns_mean",
	[CP_METRIC_DMA_WAIT] = "dma_wait_ns_mean",
	[CP_METRIC_DMA_COMPLETE] = "dma_complete_ns_mean",
	[CP_METRIC_CORUNNER_ALONE] = "corunner_alone_ops_per_s",
	[CP_METRIC_CORUNNER_CPU] = "corunner_ops_per_cpu_s",
	[CP_METRIC_CORUNNER_ALONE_CPU] = "corunner_alone_ops_per_cpu_s",
	[CP_METRIC_STEAL_PCT] = "steal_pct",
	[CP_METRIC_FAULTS] = "faults",
	[CP_METRIC_FAULTS_PER_S] = "faults_per_s",
	[CP_METRIC_FAULT_P50] = "fault_ns_p50",
	[CP_METRIC_FAULT_P99] = "fault_ns_p99",
	[CP_METRIC_FAULT_P999] = "fault_ns_p999",
	[CP_METRIC_FAULT_USER] = "fault_user_ns",
	[CP_METRIC_FAULT_SYS] = "fault_sys_ns",
	[CP_METRIC_APP] = "app_ops_per_s",
};

void cp_record_init(struct cp_record *record)
{
	memset(record, 0, sizeof(*record));
	cp_context_init(&record->context);
	cp_arm_init(&record->arm);
	for (int i = 0; i < CP_METRIC_NR; i++)
		record->metrics[i] = NAN;
	snprintf(record->proof.verify, sizeof(record->proof.verify), "off");
	record->proof.effective_iodepth = 1;
	record->proof.node = -1;
	record->proof.persistent = -1;
}

void cp_proof_add(struct cp_proof *into, const struct cp_proof *from)
{
	into->bytes_cpu += from->bytes_cpu;
	into->bytes_dma += from->bytes_dma;
	into->bytes_simulated += from->bytes_simulated;
	into->bytes_fallback += from->bytes_fallback;
	into->bytes_split += from->bytes_split;
	into->fallback.no_channel += from->fallback.no_channel;
	into->fallback.ring_full += from->fallback.ring_full;
	into->fallback.error += from->fallback.error;
	into->fallback.too_many_segments += from->fallback.too_many_segments;
	into->queue.requests += from->queue.requests;
	into->queue.merged += from->queue.merged;
	into->queue.transactions += from->queue.transactions;
	into->queue.split += from->queue.split;
	into->queue.crossed += from->queue.crossed;
	into->queue.timed += from->queue.timed;
	into->page.pages += from->page.pages;
	into->page.overlapped += from->page.overlapped;
	into->page.unmerged += from->page.unmerged;
	into->page.whole_dma += from->page.whole_dma;
	into->page.unmerged_dma += from->page.unmerged_dma;
	into->page.off += from->page.off;
	into->errors += from->errors;
}

/* The NAME of NAME[:key=value,...] or of a resolved NAME/kernel. */
static bool spec_is(const char *spec, const char *name)
{
	size_t len = strcspn(spec, ":/,");

	return len == strlen(name) && !memcmp(spec, name, len);
}

/* The engine that moved the bytes, or did not: "fault" moves what the one behind it
 * moves.
 */
static const char *engine_of(const struct cp_record *record)
{
	const char *dma = record->proof.dma[0] ? record->proof.dma : record->arm.dma;

	if (spec_is(dma, "fault") && dma[strlen("fault")])
		dma += strlen("fault") + 1;
	return dma;
}

bool cp_record_harness(const struct cp_record *record)
{
	return spec_is(engine_of(record), "null");
}

/* Engines that move no data: what they were given is counted as simulated. */
static bool engine_simulates(const struct cp_record *record)
{
	return cp_record_harness(record) || spec_is(engine_of(record), "model");
}

bool cp_record_spoiled(const struct cp_record *record)
{
	return spec_is(record->arm.dma, "fault") || spec_is(record->proof.dma, "fault");
}

static bool prove_persistent(const struct cp_record *record, char *buf, size_t size)
{
	if (strcmp(record->arm.persist, "require") != 0 ||
	    cp_context_dir(&record->context) == CP_DIR_READ ||
	    record->proof.persistent == 1)
		return true;
	snprintf(buf, size,
		 "persist require on memory that is not known to be persistent; expected "
		 "proof.persistent true");
	return false;
}

static bool prove_cpu(const struct cp_proof *proof, const char *what, char *buf,
		      size_t size)
{
	if (!proof->bytes_dma && !proof->bytes_simulated)
		return true;
	snprintf(buf, size,
		 "%s moved %" PRIu64 " bytes by dma and simulated %" PRIu64
		 "; expected none",
		 what, proof->bytes_dma, proof->bytes_simulated);
	return false;
}

/* 0.1 % without rounding: parts are far below 2^54. */
static bool above_permille(uint64_t part, uint64_t total)
{
	return (double)part * 1000.0 > (double)total;
}

/* What is known of why, behind what is in buf. */
static void add_reasons(const struct cp_proof *proof, char *buf, size_t size)
{
	const struct {
		uint64_t ios;
		const char *why;
	} reasons[] = {
		{proof->fallback.no_channel, "no channel was to be had"},
		{proof->fallback.ring_full, "the ring was full"},
		{proof->fallback.error, "the engine refused"},
		{proof->fallback.too_many_segments, "longer than the ring"},
		{proof->page.off, "rw_page was off"},
	};
	const char *between = " (";
	size_t len = size ? strlen(buf) : 0;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!reasons[i].ios || len + 1 >= size)
			continue;
		snprintf(buf + len, size - len, "%s%s: %" PRIu64 " I/Os", between,
			 reasons[i].why, reasons[i].ios);
		between = ", ";
		len = strlen(buf);
	}
	if (*between == ',' && len + 1 < size)
		snprintf(buf + len, size - len, ")");
}

static bool prove_dma(const struct cp_record *record, uint64_t total, char *buf,
		      size_t size)
{
	const struct cp_proof *proof = &record->proof;

	if (proof->bytes_simulated && !engine_simulates(record)) {
		snprintf(buf, size,
			 "path dma simulated %" PRIu64
			 " bytes with '%s'; expected them moved",
			 proof->bytes_simulated, record->arm.dma);
		return false;
	}
	/* bytes_fallback is part of bytes_cpu; either alone is enough to fail. What the
	 * arm gave to the CPU fell back on nothing. */
	uint64_t cpu = proof->bytes_cpu > proof->bytes_split
			       ? proof->bytes_cpu - proof->bytes_split
			       : 0;
	uint64_t missed = proof->bytes_fallback > cpu ? proof->bytes_fallback : cpu;

	if (!above_permille(missed, total))
		return true;
	snprintf(buf, size,
		 "path dma left %.3g %% of its bytes to the cpu; expected at most 0.1 %%",
		 100.0 * (double)missed / (double)total);
	add_reasons(proof, buf, size);
	return false;
}

/* The way that the target's rw_page says, and no other. */
static bool prove_page(const struct cp_record *record, char *buf, size_t size)
{
	const struct cp_proof *proof = &record->proof;

	if (strcmp(record->arm.queue_mode, "page") != 0)
		return true;
	if (record->context.rw_page && proof->page.off)
		snprintf(buf, size,
			 "queue_mode page sent %" PRIu64
			 " I/Os by bio, with rw_page on; expected none",
			 proof->page.off);
	else if (!record->context.rw_page && proof->page.pages)
		snprintf(buf, size,
			 "%" PRIu64
			 " pages went by page, with rw_page off; expected none",
			 proof->page.pages);
	else
		return true;
	return false;
}

bool cp_record_prove(const struct cp_record *record, char *buf, size_t size)
{
	const struct cp_proof *proof = &record->proof;
	uint64_t total = proof->bytes_cpu + proof->bytes_dma + proof->bytes_simulated;
	double bytes = record->metrics[CP_METRIC_BYTES];

	if (size)
		buf[0] = '\0';
	if (!record->has_proof)
		return true;
	if (proof->errors) {
		snprintf(buf, size, "%" PRIu64 " i/o errors; expected 0", proof->errors);
		return false;
	}
	if (bytes == 0) {
		snprintf(buf, size, "no bytes were moved; expected some");
		return false;
	}
	if (!isnan(bytes) && (double)total < bytes) {
		snprintf(buf, size,
			 "paths carried %" PRIu64 " bytes; expected the %.0f completed",
			 total, bytes);
		return false;
	}
	if (!prove_persistent(record, buf, size))
		return false;
	if (!strcmp(record->arm.queue_mode, "bio") &&
	    !prove_cpu(proof, "queue_mode bio", buf, size))
		return false;
	if (!prove_page(record, buf, size))
		return false;
	if (!strcmp(record->arm.path, "cpu"))
		return prove_cpu(proof, "path cpu", buf, size);
	if (!strcmp(record->arm.path, "dma"))
		return prove_dma(record, total, buf, size);
	return true;
}

bool cp_record_failed(const struct cp_record *record, char *buf, size_t size)
{
	if (record->failed[0]) {
		snprintf(buf, size, "%s", record->failed);
		return true;
	}
	return !cp_record_prove(record, buf, size);
}
