/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of the record format. Private to results/. */
#ifndef CP_RESULTS_RECORD_PRIV_H
#define CP_RESULTS_RECORD_PRIV_H

#include "results/json_in.h"
#include "results/record.h"

#define CP_RECORD_LINE_MAX (1U << 20)

/* As cp_record_decode(), but ret_record->raw holds a reference that the caller drops;
 * *ret_column is where the line is wrong, 1 when it is its content. */
int cp_record_decode_raw(const char *line, size_t len, struct cp_record *ret_record,
			 unsigned *ret_column, struct cp_err *err);

/* The "proof" and "provenance" objects, which the sidecar shares with the record. */
int cp_proof_encode(const struct cp_json_out *out, const struct cp_proof *proof);
int cp_proof_decode(const struct cp_json_in *in, enum cp_json_need need,
		    struct cp_proof *proof);
int cp_provenance_encode(const struct cp_json_out *out,
			 const struct cp_provenance *provenance);
int cp_provenance_decode(const struct cp_json_in *in, struct cp_provenance *provenance);

#endif
