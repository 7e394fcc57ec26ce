// SPDX-License-Identifier: GPL-2.0-only
/* Records to cells. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/data.h"

int cp_report_grow(void *array, size_t *nr, size_t size, struct cp_err *err)
{
	char *old, *bigger;

	memcpy(&old, array, sizeof(old));
	bigger = old;
	/* capacities are powers of two, so the count says when one is full */
	if (!(*nr & (*nr - 1))) {
		bigger = reallocarray(old, *nr ? *nr * 2 : 1, size);
		if (!bigger)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
					  "not enough memory for the report");
		memcpy(array, &bigger, sizeof(bigger));
	}
	memset(bigger + *nr * size, 0, size);
	(*nr)++;
	return 0;
}

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t cell_hash(const struct cp_record *record, char *text, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	cp_cell_key(&record->context, &record->arm, text, size);
	hash = hash_text(hash, text);
	hash = hash_text(hash, record->arm.name);
	hash = hash_text(hash, record->host);
	hash = hash_text(hash, record->provenance.media);
	hash = hash_text(hash, record->provenance.attr);
	return hash_text(hash, record->provenance.dma);
}

static int find_arm(struct cp_report *report, const struct cp_record *record,
		    unsigned *ret_arm, struct cp_err *err)
{
	for (size_t i = 0; i < report->nr_arms; i++) {
		const struct cp_report_arm *arm = &report->arms[i];

		if (!strcmp(arm->arm.name, record->arm.name) &&
		    !strcmp(arm->dma, record->provenance.dma) &&
		    cp_arm_same(&arm->arm, &record->arm)) {
			*ret_arm = (unsigned)i;
			return 0;
		}
	}
	int rc = cp_report_grow(&report->arms, &report->nr_arms, sizeof(*report->arms),
				err);

	if (rc)
		return rc;
	struct cp_report_arm *arm = &report->arms[report->nr_arms - 1];

	arm->arm = record->arm;
	snprintf(arm->dma, sizeof(arm->dma), "%s", record->provenance.dma);
	arm->simulated = cp_record_harness(record);
	*ret_arm = (unsigned)(report->nr_arms - 1);
	return 0;
}

static int find_cell(struct cp_report *report, const struct cp_record *record,
		     uint64_t key, struct cp_report_cell **ret_cell, struct cp_err *err)
{
	unsigned arm;

	for (size_t i = 0; i < report->nr_cells; i++) {
		if (report->cells[i].key == key) {
			*ret_cell = &report->cells[i];
			return 0;
		}
	}
	int rc = find_arm(report, record, &arm, err);

	if (!rc)
		rc = cp_report_grow(&report->cells, &report->nr_cells,
				    sizeof(*report->cells), err);
	if (rc)
		return rc;
	struct cp_report_cell *cell = &report->cells[report->nr_cells - 1];

	snprintf(cell->host, sizeof(cell->host), "%s", record->host);
	cell->context = record->context;
	cell->provenance = record->provenance;
	cell->arm = arm;
	cell->key = key;
	cell->cost = NAN;
	*ret_cell = cell;
	return 0;
}

static int add_value(struct cp_report_stat *stat, double value, struct cp_err *err)
{
	if (!isfinite(value))
		return 0;
	if (stat->n == stat->cap) {
		size_t cap = stat->cap ? stat->cap * 2 : 8;
		double *samples =
			reallocarray(stat->samples, cap, sizeof(*stat->samples));

		if (!samples)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
					  "not enough memory for the report");
		stat->samples = samples;
		stat->cap = cap;
	}
	stat->samples[stat->n++] = value;
	return 0;
}

static double percent_of(double part, double whole)
{
	return whole > 0 ? 100.0 * part / whole : NAN;
}

static int add_metrics(struct cp_report_cell *cell, const double *m, struct cp_err *err)
{
	double ios = m[CP_METRIC_IOPS] * m[CP_METRIC_ELAPSED_NS] / 1e9;
	double an_io = ios > 0 ? 1 / ios : NAN;
	const double values[VALUE_NR] = {
		[VALUE_BW] = m[CP_METRIC_BW],
		[VALUE_CPU] = m[CP_METRIC_CPU_PCT],
		[VALUE_CPU_SUBMIT] =
			percent_of(m[CP_METRIC_CPU_SUBMIT_NS], m[CP_METRIC_ELAPSED_NS]),
		[VALUE_CPU_ENGINE] =
			percent_of(m[CP_METRIC_CPU_ENGINE_NS], m[CP_METRIC_ELAPSED_NS]),
		[VALUE_CPU_BYTE] = m[CP_METRIC_BYTES] > 0
					   ? m[CP_METRIC_CPU_NS] / m[CP_METRIC_BYTES]
					   : NAN,
		[VALUE_IOPS] = m[CP_METRIC_IOPS],
		[VALUE_IOPS_CPU] = m[CP_METRIC_CPU_SUBMIT_NS] > 0
					   ? m[CP_METRIC_IOPS] * m[CP_METRIC_ELAPSED_NS] /
						     m[CP_METRIC_CPU_SUBMIT_NS]
					   : NAN,
		[VALUE_P50] = m[CP_METRIC_LAT_P50],
		[VALUE_P99] = m[CP_METRIC_LAT_P99],
		[VALUE_LAT_MEAN] = m[CP_METRIC_LAT_MEAN],
		[VALUE_DMA_PREPARE] = m[CP_METRIC_DMA_PREPARE],
		[VALUE_DMA_SUBMIT] = m[CP_METRIC_DMA_SUBMIT],
		[VALUE_DMA_WAIT] = m[CP_METRIC_DMA_WAIT],
		[VALUE_DMA_COMPLETE] = m[CP_METRIC_DMA_COMPLETE],
		[VALUE_IO_SUBMIT] = m[CP_METRIC_CPU_SUBMIT_NS] * an_io,
		[VALUE_IO_ENGINE] = m[CP_METRIC_CPU_ENGINE_NS] * an_io,
		[VALUE_IO_CPU] = m[CP_METRIC_CPU_NS] * an_io,
		[VALUE_CORUNNER] = m[CP_METRIC_CORUNNER],
		[VALUE_CORUNNER_ALONE] = m[CP_METRIC_CORUNNER_ALONE],
		[VALUE_CORUNNER_SHARE] =
			percent_of(m[CP_METRIC_CORUNNER], m[CP_METRIC_CORUNNER_ALONE]),
		[VALUE_CORUNNER_CPU] = m[CP_METRIC_CORUNNER_CPU],
		[VALUE_CORUNNER_ALONE_CPU] = m[CP_METRIC_CORUNNER_ALONE_CPU],
		[VALUE_STEAL] = m[CP_METRIC_STEAL_PCT],
		[VALUE_FAULTS_PER_S] = m[CP_METRIC_FAULTS_PER_S],
		[VALUE_FAULT_P50] = m[CP_METRIC_FAULT_P50],
		[VALUE_FAULT_P99] = m[CP_METRIC_FAULT_P99],
		[VALUE_FAULT_P999] = m[CP_METRIC_FAULT_P999],
		[VALUE_FAULT_USER] = m[CP_METRIC_FAULT_USER],
		[VALUE_FAULT_SYS] = m[CP_METRIC_FAULT_SYS],
		[VALUE_APP] = m[CP_METRIC_APP],
	};
	int rc = 0;

	for (int v = 0; v < VALUE_NR && !rc; v++)
		rc = add_value(&cell->values[v], values[v], err);
	return rc;
}

/* What a sample did, as often as it did it: I/Os, or faults where its driver makes those.
 * NaN: not known. */
static double operations(const struct cp_record *record)
{
	const double *m = record->metrics;

	if (m[CP_METRIC_FAULTS] > 0)
		return m[CP_METRIC_FAULTS];
	return m[CP_METRIC_IOPS] * m[CP_METRIC_ELAPSED_NS] / 1e9;
}

static struct cp_report_counter *find_counter(struct cp_report_cell *cell,
					      const char *name, struct cp_err *err)
{
	for (size_t i = 0; i < cell->nr_counters; i++)
		if (!strcmp(cell->counters[i].name, name))
			return &cell->counters[i];
	if (cp_report_grow(&cell->counters, &cell->nr_counters, sizeof(*cell->counters),
			   err))
		return NULL;
	struct cp_report_counter *counter = &cell->counters[cell->nr_counters - 1];

	snprintf(counter->name, sizeof(counter->name), "%s", name);
	return counter;
}

static int add_counters(struct cp_report_cell *cell, const struct cp_record *record,
			struct cp_err *err)
{
	double ios = operations(record);
	int rc = 0;

	for (size_t i = 0; i < record->nr_perf && !rc; i++) {
		const struct cp_perf_counter *from = &record->perf[i];
		struct cp_report_counter *counter = find_counter(cell, from->name, err);

		if (!counter)
			return -ENOMEM;
		counter->unsupported += isnan(from->value) ? 1 : 0;
		rc = add_value(&counter->stat, ios > 0 ? from->value / ios : NAN, err);
	}
	return rc;
}

static int add_failure(struct cp_report *report, const struct cp_record *record,
		       const char *reason, struct cp_err *err)
{
	int rc = cp_report_grow(&report->failures, &report->nr_failures,
				sizeof(*report->failures), err);

	if (rc)
		return rc;
	struct cp_report_failure *failure = &report->failures[report->nr_failures - 1];
	char bs[24], where[200];

	snprintf(failure->run, sizeof(failure->run), "%s", record->run);
	snprintf(failure->host, sizeof(failure->host), "%s", record->host);
	snprintf(failure->cell, sizeof(failure->cell), "%s %s, %u x iodepth %u%s, %s",
		 record->context.rw, cp_size_format(record->context.bs, bs, sizeof(bs)),
		 record->context.numjobs, record->context.iodepth,
		 cp_report_context_words(&record->context, &record->provenance, where,
					 sizeof(where)),
		 record->arm.name);
	snprintf(failure->reason, sizeof(failure->reason), "%s", reason);
	failure->sample = record->sample;
	return 0;
}

/* `auto` and `nt` may come to another kernel in each process. */
static void add_copy(struct cp_report_cell *cell, const char *copy)
{
	size_t used = strlen(cell->copies), len = strlen(copy);

	for (const char *at = cell->copies; *at; at += strspn(at, "; ")) {
		size_t have = strcspn(at, ";");

		if (have == len && !strncmp(at, copy, len))
			return;
		at += have;
	}
	if (len)
		snprintf(cell->copies + used, sizeof(cell->copies) - used, "%s%s",
			 used ? "; " : "", copy);
}

int cp_report_add_record(struct cp_report *report, const struct cp_record *record,
			 struct cp_err *err)
{
	char text[2048], reason[256] = "";
	uint64_t key = cell_hash(record, text, sizeof(text));
	struct cp_report_cell *cell;
	int rc = find_cell(report, record, key, &cell, err);

	if (!rc)
		rc = cp_report_grow(&report->sample_keys, &report->nr_sample_keys,
				    sizeof(*report->sample_keys), err);
	if (rc)
		return rc;
	snprintf(text, sizeof(text), "%" PRIx64 " %u", key, record->sample);
	report->sample_keys[report->nr_sample_keys - 1] =
		hash_text(hash_text(0xcbf29ce484222325, record->run), text);
	report->nr_samples++;
	/* the decoder set `failed` or the proof is read again: either way it is no figure
	 */
	if (cp_record_failed(record, reason, sizeof(reason))) {
		report->nr_failed++;
		cell->failed++;
		return add_failure(report, record,
				   record->failed[0] ? record->failed : reason, err);
	}
	/* its figures hold the time of the check */
	if (cp_learn_is_verified(record)) {
		report->nr_verified++;
		return 0;
	}
	if (!cell->n)
		memcpy(cell->copy, record->proof.copy, sizeof(cell->copy));
	else if (strcmp(cell->copy, record->proof.copy) != 0)
		cell->copy[0] = '\0';
	add_copy(cell, record->proof.copy);
	cp_proof_add(&cell->sums, &record->proof);
	if (record->has_proof && record->proof.effective_iodepth > cell->depth)
		cell->depth = record->proof.effective_iodepth;
	cell->n++;
	if (record->metrics[CP_METRIC_FAULTS] > 0)
		cell->faults += record->metrics[CP_METRIC_FAULTS];
	rc = add_counters(cell, record, err);
	return rc ? rc : add_metrics(cell, record->metrics, err);
}
