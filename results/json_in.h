/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Typed reads from JSON that somebody else wrote. Every error names the key by its path
 * ('context.bs'), what is there and what was expected, and is exit 4 (bad data).
 *
 * A null counts as absent. Outputs are written only on success and only when the key is
 * there, so the caller sets the default first. Private to results/.
 */
#ifndef CP_RESULTS_JSON_IN_H
#define CP_RESULTS_JSON_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/err.h"

enum cp_json_need { CP_JSON_OPTIONAL, CP_JSON_REQUIRED };

struct cp_json_in {
	const json_t *object; /* NULL reads as an empty object */
	const char *path;     /* "context", "" for the document itself */
	struct cp_err *err;
};

/* One JSON object and nothing behind it. Refuses duplicate keys, NULs, numbers that do
 * not fit and nesting above 64. *ret_column (may be NULL) is where text went wrong. */
int cp_json_parse(const char *text, size_t len, json_t **ret_value, unsigned *ret_column,
		  struct cp_err *err);

/* The object below key; ret_in->object is NULL when it is absent. path must live as long
 * as ret_in. */
int cp_json_in_object(const struct cp_json_in *in, const char *key,
		      enum cp_json_need need, const char *path,
		      struct cp_json_in *ret_in);
int cp_json_in_text(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		    char *buf, size_t size);
int cp_json_in_u64(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		   uint64_t min, uint64_t max, uint64_t *value);
int cp_json_in_u32(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		   uint32_t min, uint32_t max, uint32_t *value);
int cp_json_in_bool(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		    bool *value);
/* A finite number, 0 or more. */
int cp_json_in_double(const struct cp_json_in *in, const char *key,
		      enum cp_json_need need, double *value);
/* "schema" must be this number. */
int cp_json_in_schema(const struct cp_json_in *in, uint32_t schema);

/*
 * Writing. Set key, or an error that names it by its path: text that is not UTF-8, a
 * number above INT64_MAX (JSON's integers are read as signed), one that is infinite.
 */
struct cp_json_out {
	json_t *object;
	const char *path;
	struct cp_err *err;
};
int cp_json_out_text(const struct cp_json_out *out, const char *key, const char *text);
/* The same for what others said (a program's last words, cut anywhere): bytes that are
 * not UTF-8 become '?' rather than an error. */
int cp_json_out_quote(const struct cp_json_out *out, const char *key, const char *text);
int cp_json_out_u64(const struct cp_json_out *out, const char *key, uint64_t value);
/* NaN is null; whole numbers are written without a fraction when integral is set. */
int cp_json_out_double(const struct cp_json_out *out, const char *key, double value,
		       bool integral);
/* Takes the reference, also on failure. */
int cp_json_out_value(const struct cp_json_out *out, const char *key, json_t *value);

#endif
