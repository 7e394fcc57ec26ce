/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of the record format. Private to results/. */
#ifndef CP_RESULTS_RECORD_PRIV_H
#define CP_RESULTS_RECORD_PRIV_H

#include "results/json_in.h"
#include "results/record.h"

#define CP_RECORD_LINE_MAX (1U << 20)
/* 15 digits: every measured figure to the last digit that means something, and what was
 * written as 0.1 stays 0.1. */
#define CP_RECORD_DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* As cp_record_decode(), but ret_record->raw holds a reference that the caller drops;
 * *ret_column is where the line is wrong, 1 when it is its content. */
int cp_record_decode_raw(const char *line, size_t len, struct cp_record *ret_record,
			 unsigned *ret_column, struct cp_err *err);

/* The "context" and "arm" objects, which requests of driver exec have too. */
int cp_cell_encode(const struct cp_json_out *root, const struct cp_context *context,
		   const struct cp_arm *arm);
int cp_context_decode(const struct cp_json_in *root, struct cp_context *context);
int cp_arm_decode(const struct cp_json_in *root, struct cp_arm *arm);

/* Counted rather than computed: written without a fraction. */
bool cp_metric_integral(enum cp_metric metric);
/* A JSON object as text with a newline; free() it. */
char *cp_exec_line(const json_t *object, struct cp_err *err);

/* The "proof" and "provenance" objects, which the sidecar shares with the record. */
int cp_proof_encode(const struct cp_json_out *out, const struct cp_proof *proof);
int cp_proof_decode(const struct cp_json_in *in, enum cp_json_need need,
		    struct cp_proof *proof);
int cp_provenance_encode(const struct cp_json_out *out,
			 const struct cp_provenance *provenance);
int cp_provenance_decode(const struct cp_json_in *in, struct cp_provenance *provenance);

#endif
