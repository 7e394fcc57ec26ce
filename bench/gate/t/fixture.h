/* SPDX-License-Identifier: GPL-2.0-only */
/* Seeded samples for the tests of this room. */
#ifndef CP_BENCH_GATE_T_FIXTURE_H
#define CP_BENCH_GATE_T_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/gate/gate.h"

/* cmocka of Debian 12 has no assertion on doubles */
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* xorshift64*: good enough for noise, the same everywhere */
static inline double random_unit(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)((*state * 2685821657736338717ULL) >> 11) + 0.5) /
	       9007199254740992.0;
}

static inline double random_normal(uint64_t *state)
{
	double r = sqrt(-2.0 * log(random_unit(state)));

	return r * cos(2.0 * M_PI * random_unit(state));
}

/* A 64k write; each metric has its own noise, `worse` is the true d of all of them. */
static inline void make_record(struct cp_record *record, const char *run, unsigned cell,
			       unsigned sample, double worse, double sd, uint64_t *state)
{
	double *m = record->metrics;

	cp_record_init(record);
	snprintf(record->run, sizeof(record->run), "%s", run);
	snprintf(record->host, sizeof(record->host), "h");
	snprintf(record->arm.name, sizeof(record->arm.name), "arm%u", cell);
	snprintf(record->context.rw, sizeof(record->context.rw), "write");
	snprintf(record->provenance.media, sizeof(record->provenance.media), "native");
	snprintf(record->provenance.attr, sizeof(record->provenance.attr), "native");
	snprintf(record->provenance.dma, sizeof(record->provenance.dma), "none");
	record->context.bs = 65536;
	record->context.segments = 16;
	record->sample = sample;
	m[CP_METRIC_BYTES] = 1e9;
	m[CP_METRIC_ELAPSED_NS] = 1e9;
	m[CP_METRIC_BW] = 5e9 * exp(-worse + sd * random_normal(state));
	m[CP_METRIC_IOPS] = 80000 * exp(-worse + sd * random_normal(state));
	m[CP_METRIC_CPU_NS] = 3e8 * exp(worse + sd * random_normal(state));
	m[CP_METRIC_LAT_P50] = 9000 * exp(worse + sd * random_normal(state));
	m[CP_METRIC_LAT_P99] = 20000 * exp(worse + sd * random_normal(state));
	m[CP_METRIC_LAT_P999] = 60000 * exp(worse + sd * random_normal(state));
}

static inline void fill_set(struct cp_gate_set *set, const char *run, unsigned nr_cells,
			    unsigned nr_samples, double worse, double sd, uint64_t *state)
{
	struct cp_record record;
	struct cp_err err;

	cp_gate_set_init(set);
	for (unsigned s = 0; s < nr_samples; s++)
		for (unsigned c = 0; c < nr_cells; c++) {
			make_record(&record, run, c, s, worse, sd, state);
			assert_int_equal(cp_gate_set_add(set, &record, &err), 0);
		}
}

/* Give a set a manifest as a finished run has it. */
static inline void add_manifest(struct cp_gate_set *set, const char *config,
				const char *kernel)
{
	set->has_manifest = true;
	set->manifest.hard = json_pack("{s:s}", "kernel", kernel);
	set->manifest.planned = set->nr_records;
	set->manifest.complete = true;
	snprintf(set->manifest.config_hash, sizeof(set->manifest.config_hash), "%s",
		 config);
	snprintf(set->manifest.fingerprint, sizeof(set->manifest.fingerprint),
		 "sha256:%s", kernel);
}

static inline const struct cp_gate_row *find_row(const struct cp_gate_report *report,
						 const char *metric)
{
	for (size_t i = 0; i < report->nr_rows; i++)
		if (!strcmp(report->rows[i].metric, metric))
			return &report->rows[i];
	return NULL;
}

#endif
