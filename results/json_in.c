/* SPDX-License-Identifier: GPL-2.0-only */
#include "results/json_in.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_TEXT 256
#define NESTING_MAX   64

/* jansson recurses as deep as its own limit of 2048 lets it; ours is checked before, on
 * the text, so that the stack of any thread is enough. */
static bool nested_too_deep(const char *text, size_t len, unsigned *ret_column)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
			continue;
		}
		if (text[i] == '"')
			in_string = true;
		else if ((text[i] == '}' || text[i] == ']') && depth)
			depth--;
		else if ((text[i] == '{' || text[i] == '[') && ++depth > NESTING_MAX) {
			*ret_column = (unsigned)i + 1;
			return true;
		}
	}
	return false;
}

int cp_json_parse(const char *text, size_t len, json_t **ret_value, unsigned *ret_column,
		  struct cp_err *err)
{
	unsigned column = 1;
	json_error_t error;
	json_t *value;

	if (!ret_column)
		ret_column = &column;
	*ret_column = 1;
	if (nested_too_deep(text, len, ret_column))
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "nested more than %d deep; expected a flat object",
				  NESTING_MAX);
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!value) {
		if (error.position > 0)
			*ret_column = (unsigned)error.position;
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "not JSON: %s; expected one object", error.text);
	}
	if (!json_is_object(value)) {
		json_decref(value);
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "not an object; expected {...}");
	}
	*ret_value = value;
	return 0;
}

static const char *kind_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a truth value";
	case JSON_NULL:
		return "null";
	}
	return "unknown";
}

static const char *key_path(const char *path, const char *key, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", path, *path ? "." : "", key);
	return buf;
}

static int wrong(const struct cp_json_in *in, const char *key, const json_t *value,
		 const char *expected)
{
	char buf[PATH_MAX_TEXT];

	return cp_err_set(in->err, CP_EXIT_INVALID, EINVAL, "'%s' is %s; expected %s",
			  key_path(in->path, key, buf, sizeof(buf)), kind_of(value),
			  expected);
}

/* 1 when there is a value, 0 when there is none and none is needed. */
static int find(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		const char *expected, const json_t **ret_value)
{
	const json_t *value = in->object ? json_object_get(in->object, key) : NULL;
	char buf[PATH_MAX_TEXT];

	if (value && !json_is_null(value)) {
		*ret_value = value;
		return 1;
	}
	if (need == CP_JSON_OPTIONAL)
		return 0;
	return cp_err_set(in->err, CP_EXIT_INVALID, EINVAL, "'%s' is %s; expected %s",
			  key_path(in->path, key, buf, sizeof(buf)),
			  value ? "null" : "missing", expected);
}

int cp_json_in_object(const struct cp_json_in *in, const char *key,
		      enum cp_json_need need, const char *path, struct cp_json_in *ret_in)
{
	const json_t *value = NULL;
	int rc = find(in, key, need, "an object", &value);

	if (rc < 0)
		return rc;
	if (rc && !json_is_object(value))
		return wrong(in, key, value, "an object");
	*ret_in = (struct cp_json_in){.object = value, .path = path, .err = in->err};
	return 0;
}

int cp_json_in_text(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		    char *buf, size_t size)
{
	const json_t *value = NULL;
	int rc = find(in, key, need, "a text", &value);
	char path[PATH_MAX_TEXT];

	if (rc <= 0)
		return rc;
	if (!json_is_string(value))
		return wrong(in, key, value, "a text");

	size_t len = json_string_length(value);

	if (len >= size)
		return cp_err_set(in->err, CP_EXIT_INVALID, ENAMETOOLONG,
				  "'%s' has %zu bytes; expected at most %zu",
				  key_path(in->path, key, path, sizeof(path)), len,
				  size - 1);
	memcpy(buf, json_string_value(value), len + 1);
	return 0;
}

int cp_json_in_u64(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		   uint64_t min, uint64_t max, uint64_t *value)
{
	const json_t *found = NULL;
	int rc = find(in, key, need, "an integer", &found);
	char path[PATH_MAX_TEXT];

	if (rc <= 0)
		return rc;
	if (!json_is_integer(found))
		return wrong(in, key, found, "an integer");

	json_int_t number = json_integer_value(found);

	if (max > INT64_MAX)
		max = INT64_MAX;
	if (number < 0 || (uint64_t)number < min || (uint64_t)number > max)
		return cp_err_set(in->err, CP_EXIT_INVALID, ERANGE,
				  "'%s' is %lld; expected %" PRIu64 " to %" PRIu64,
				  key_path(in->path, key, path, sizeof(path)),
				  (long long)number, min, max);
	*value = (uint64_t)number;
	return 0;
}

int cp_json_in_u32(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		   uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t wide = *value;
	int rc = cp_json_in_u64(in, key, need, min, max, &wide);

	if (!rc)
		*value = (uint32_t)wide;
	return rc;
}

int cp_json_in_bool(const struct cp_json_in *in, const char *key, enum cp_json_need need,
		    bool *value)
{
	const json_t *found = NULL;
	int rc = find(in, key, need, "true or false", &found);

	if (rc <= 0)
		return rc;
	if (!json_is_boolean(found))
		return wrong(in, key, found, "true or false");
	*value = json_is_true(found);
	return 0;
}

int cp_json_in_double(const struct cp_json_in *in, const char *key,
		      enum cp_json_need need, double *value)
{
	const json_t *found = NULL;
	int rc = find(in, key, need, "a number", &found);
	char path[PATH_MAX_TEXT];

	if (rc <= 0)
		return rc;
	if (!json_is_number(found))
		return wrong(in, key, found, "a number or null");

	double number = json_number_value(found);

	if (!isfinite(number) || number < 0)
		return cp_err_set(in->err, CP_EXIT_INVALID, ERANGE,
				  "'%s' is %g; expected a finite number, 0 or more",
				  key_path(in->path, key, path, sizeof(path)), number);
	*value = number;
	return 0;
}

int cp_json_in_schema(const struct cp_json_in *in, uint32_t schema)
{
	uint64_t found = 0;
	int rc = cp_json_in_u64(in, "schema", CP_JSON_REQUIRED, 0, UINT64_MAX, &found);

	if (!rc && found != schema)
		rc = cp_err_set(in->err, CP_EXIT_INVALID, EPROTONOSUPPORT,
				"'schema' is %" PRIu64 "; expected %" PRIu32
				", the one this build knows",
				found, schema);
	return rc;
}

int cp_json_out_value(const struct cp_json_out *out, const char *key, json_t *value)
{
	if (value && !json_object_set_new(out->object, key, value))
		return 0;
	return cp_err_set(out->err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
}

int cp_json_out_text(const struct cp_json_out *out, const char *key, const char *text)
{
	json_t *value = json_string(text);
	char path[PATH_MAX_TEXT];

	if (!value)
		return cp_err_set(out->err, CP_EXIT_INVALID, EILSEQ,
				  "'%s' is not valid UTF-8; expected plain text",
				  key_path(out->path, key, path, sizeof(path)));
	return cp_json_out_value(out, key, value);
}

int cp_json_out_quote(const struct cp_json_out *out, const char *key, const char *text)
{
	json_t *value = json_string(text);

	if (!value) {
		char *plain = strdup(text);

		for (char *c = plain; c && *c; c++) {
			if ((unsigned char)*c >= 0x80)
				*c = '?';
		}
		value = plain ? json_string(plain) : NULL;
		free(plain);
	}
	return cp_json_out_value(out, key, value);
}

int cp_json_out_u64(const struct cp_json_out *out, const char *key, uint64_t value)
{
	char path[PATH_MAX_TEXT];

	if (value > INT64_MAX)
		return cp_err_set(out->err, CP_EXIT_INVALID, EOVERFLOW,
				  "'%s' is %" PRIu64 "; expected at most %" PRId64,
				  key_path(out->path, key, path, sizeof(path)), value,
				  INT64_MAX);
	return cp_json_out_value(out, key, json_integer((json_int_t)value));
}

int cp_json_out_double(const struct cp_json_out *out, const char *key, double value,
		       bool integral)
{
	char path[PATH_MAX_TEXT];

	if (isnan(value))
		return cp_json_out_value(out, key, json_null());
	if (isinf(value) || value < 0)
		return cp_err_set(out->err, CP_EXIT_INVALID, ERANGE,
				  "'%s' is %g; expected a finite number, 0 or more",
				  key_path(out->path, key, path, sizeof(path)), value);
	/* Above 2^53 a double no longer holds every integer: the fraction form says so.
	 */
	if (integral && value <= 9007199254740992.0 && value == floor(value))
		return cp_json_out_value(out, key, json_integer((json_int_t)value));
	return cp_json_out_value(out, key, json_real(value));
}
