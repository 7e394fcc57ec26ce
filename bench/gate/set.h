/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of a comparison: the samples of a run, by cell, in time order, with everything
 * about them that could make a verdict worthless. Memory and time are linear in records.
 *
 * Ownership: cp_gate_set_free(). Threading: one thread a set.
 */
#ifndef CP_BENCH_GATE_SET_H
#define CP_BENCH_GATE_SET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/gate/metric.h"
#include "results/record.h"
#include "results/run.h"

struct cp_gate_sample {
	double value[CP_GATE_NR_ALL];
};

struct cp_gate_cell {
	char *key;   /* context, arm and its name: what must agree to be paired */
	char *label; /* the same, for a person */
	struct cp_context context;
	struct cp_arm arm;
	struct cp_provenance provenance;
	bool mixed; /* its samples differ in provenance */
	size_t nr_samples, capacity;
	struct cp_gate_sample *samples; /* neither failed nor verified */
	uint64_t nr_failed;
	char failed[320];     /* why the first failed one did */
	uint64_t nr_verified; /* checked their data: figures with the check's own time */
};

struct cp_gate_set {
	char path[4096];
	bool has_manifest;
	struct cp_manifest manifest;
	char broken[CP_ERR_MSG_MAX]; /* "": manifest and records could be read whole */
	size_t nr_cells, capacity;
	struct cp_gate_cell *cells; /* in order of appearance */
	uint64_t nr_records, nr_failed, nr_verified, nr_duplicates;
	char duplicate[512]; /* the first one, in words */
	char run[CP_NAME_MAX], host[CP_NAME_MAX], other_host[CP_NAME_MAX];
	json_t *index, *seen; /* cell key -> place; samples met, for duplicates */
};

void cp_gate_set_init(struct cp_gate_set *set);
void cp_gate_set_free(struct cp_gate_set *set);
/* Count one record in, also a failed, verified or duplicated one. */
int cp_gate_set_add(struct cp_gate_set *set, const struct cp_record *record,
		    struct cp_err *err);
/*
 * Read a run directory or .jsonl file. Only a path that is not there (exit USAGE) or no
 * memory is an error: damage is described in set->broken. strict: a torn last line is
 * damage, else a warning.
 */
int cp_gate_set_read(const char *path, bool strict,
		     void (*warn)(void *ctx, const char *text),
		     struct cp_gate_set *ret_set, struct cp_err *err);
/* The cell with that key, or NULL. */
const struct cp_gate_cell *cp_gate_set_find(const struct cp_gate_set *set,
					    const char *key);
/* "media native, attr native, dma software". Returns buf. */
const char *cp_gate_provenance_format(const struct cp_provenance *provenance, char *buf,
				      size_t size);
bool cp_gate_provenance_same(const struct cp_provenance *a,
			     const struct cp_provenance *b);
/* Which hard facts of two manifests differ, as "kernel 6.1 -> 6.2, ...". Returns buf. */
const char *cp_gate_hard_diff(const struct cp_manifest *a, const struct cp_manifest *b,
			      char *buf, size_t size);

#endif
