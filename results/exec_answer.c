/* SPDX-License-Identifier: GPL-2.0-only */
/* What a program of driver exec answers, one line a sample. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/exec.h"
#include "results/record_priv.h"

#define EXTRA_NAME_MAX 64

static bool is_metric(const char *name)
{
	for (int i = 0; i < CP_METRIC_NR; i++)
		if (!strcmp(cp_metric_names[i], name))
			return true;
	return false;
}

/* Figures of other names are the program's own: kept, never interpreted. */
static int decode_extra(const struct cp_json_in *metrics, json_t **ret_extra)
{
	json_t *extra = json_object();
	const char *name;
	json_t *value;
	int rc = extra ? 0
		       : cp_err_set(metrics->err, CP_EXIT_INTERNAL, ENOMEM,
				    "out of memory");

	json_object_foreach((json_t *)(uintptr_t)metrics->object, name, value)
	{
		if (is_metric(name))
			continue;
		if (!json_is_null(value) &&
		    (!json_is_number(value) || !isfinite(json_number_value(value))))
			rc = cp_err_set(metrics->err, CP_EXIT_INVALID, EINVAL,
					"'metrics.%.64s' is no number; expected a finite "
					"one, or null",
					name);
		else if (!name[0] || strlen(name) > EXTRA_NAME_MAX)
			rc = cp_err_set(metrics->err, CP_EXIT_INVALID, ENAMETOOLONG,
					"'metrics' has a name of %zu bytes; expected 1 "
					"to %d",
					strlen(name), EXTRA_NAME_MAX);
		else if (json_object_size(extra) == CP_EXEC_EXTRA_MAX)
			rc = cp_err_set(metrics->err, CP_EXIT_INVALID, E2BIG,
					"'metrics' has too many names of its own; "
					"expected at most %d",
					CP_EXEC_EXTRA_MAX);
		else if (json_object_set(extra, name, value))
			rc = cp_err_set(metrics->err, CP_EXIT_INTERNAL, ENOMEM,
					"out of memory");
		if (rc) {
			json_decref(extra);
			return rc;
		}
	}
	*ret_extra = extra;
	return 0;
}

static int decode_metrics(const struct cp_json_in *metrics, struct cp_record *record,
			  json_t **ret_extra)
{
	json_t *extra = NULL;
	bool any = false;
	int rc = 0;

	for (int i = 0; i < CP_METRIC_NR && !rc; i++) {
		rc = cp_json_in_double(metrics, cp_metric_names[i], CP_JSON_OPTIONAL,
				       &record->metrics[i]);
		any = any || !isnan(record->metrics[i]);
	}
	if (!rc)
		rc = decode_extra(metrics, &extra);
	if (rc)
		return rc;
	if (any || json_object_size(extra)) {
		*ret_extra = extra;
		return 0;
	}
	json_decref(extra);
	return cp_err_set(metrics->err, CP_EXIT_INVALID, ENODATA,
			  "no metric in the answer; expected bytes and elapsed_ns, "
			  "app_ops_per_s or others");
}

static int decode_window(const struct cp_json_in *root, struct cp_record *record)
{
	struct cp_json_in in = {0};
	uint64_t start_ns = 0, end_ns = 0;
	int rc = cp_json_in_object(root, "window", CP_JSON_OPTIONAL, "window", &in);

	if (rc || !in.object)
		return rc;
	rc = cp_json_in_u64(&in, "start_ns", CP_JSON_REQUIRED, 1, UINT64_MAX, &start_ns);
	if (!rc)
		rc = cp_json_in_u64(&in, "end_ns", CP_JSON_REQUIRED, 1, UINT64_MAX,
				    &end_ns);
	if (!rc && end_ns <= start_ns)
		rc = cp_err_set(root->err, CP_EXIT_INVALID, ERANGE,
				"'window' ends before it starts; expected two times of "
				"CLOCK_MONOTONIC");
	if (rc)
		return rc;
	record->window_start_ns = start_ns;
	record->window_end_ns = end_ns;
	return 0;
}

static bool known(double value)
{
	return !isnan(value) && value > 0;
}

/* What follows from what was given, where it was not given itself. */
static void derive(struct cp_record *record)
{
	double *m = record->metrics;
	double elapsed_ns;

	if (isnan(m[CP_METRIC_ELAPSED_NS]) && record->window_end_ns)
		m[CP_METRIC_ELAPSED_NS] =
			(double)(record->window_end_ns - record->window_start_ns);
	elapsed_ns = m[CP_METRIC_ELAPSED_NS];
	if (!known(elapsed_ns))
		return;
	if (isnan(m[CP_METRIC_BW]) && !isnan(m[CP_METRIC_BYTES]))
		m[CP_METRIC_BW] = m[CP_METRIC_BYTES] * 1e9 / elapsed_ns;
	if (isnan(m[CP_METRIC_IOPS]) && !isnan(m[CP_METRIC_BYTES]) && record->context.bs)
		m[CP_METRIC_IOPS] = m[CP_METRIC_BYTES] * 1e9 / elapsed_ns /
				    (double)record->context.bs;
	if (isnan(m[CP_METRIC_CPU_PCT]) && !isnan(m[CP_METRIC_CPU_NS]))
		m[CP_METRIC_CPU_PCT] = 100.0 * m[CP_METRIC_CPU_NS] / elapsed_ns;
}

static int unknown_key(struct cp_err *err, const char *name)
{
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "unknown key '%.64s' in the answer; expected metrics, proof, "
			  "notes, window or error",
			  name);
}

static int check_keys(const struct cp_json_in *root)
{
	static const char *const keys[] = {"metrics", "proof", "notes", "window",
					   "error"};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)root->object, name, value)
	{
		bool good = false;

		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			good = good || !strcmp(keys[i], name);
		if (!good)
			return unknown_key(root->err, name);
	}
	return 0;
}

static int decode_proof(const struct cp_json_in *root, struct cp_record *record)
{
	struct cp_json_in proof = {0};
	int rc = cp_json_in_object(root, "proof", CP_JSON_OPTIONAL, "proof", &proof);

	if (rc || !proof.object)
		return rc;
	record->has_proof = true;
	return cp_proof_decode(&proof, CP_JSON_OPTIONAL, &record->proof);
}

static int decode_answer(const struct cp_json_in *root, struct cp_record *record,
			 json_t **ret_extra)
{
	char text[4096] = "";
	struct cp_json_in metrics = {0};
	int rc = check_keys(root);

	if (!rc)
		rc = cp_json_in_text(root, "notes", CP_JSON_OPTIONAL, record->notes,
				     sizeof(record->notes));
	if (!rc)
		rc = cp_json_in_text(root, "error", CP_JSON_OPTIONAL, text, sizeof(text));
	if (!rc)
		rc = decode_proof(root, record);
	if (!rc)
		rc = decode_window(root, record);
	if (rc)
		return rc;
	if (text[0]) {
		snprintf(record->failed, sizeof(record->failed), "program: %.240s", text);
		return 0;
	}
	rc = cp_json_in_object(root, "metrics", CP_JSON_REQUIRED, "metrics", &metrics);
	return rc ? rc : decode_metrics(&metrics, record, ret_extra);
}

/* Is it the object of metrics alone? */
static bool is_bare(const json_t *object)
{
	static const char *const keys[] = {"metrics", "proof", "notes", "window",
					   "error"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(object, keys[i]))
			return false;
	return true;
}

/* Metrics alone hold numbers: a text among them is a key that we do not know. */
static int check_bare(const json_t *object, struct cp_err *err)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, name, value)
	{
		if (!is_metric(name) && !json_is_number(value) && !json_is_null(value))
			return unknown_key(err, name);
	}
	return 0;
}

int cp_exec_answer_decode(const char *line, size_t len, struct cp_record *record,
			  json_t **ret_extra, struct cp_err *err)
{
	struct cp_record got = *record;
	json_t *object = NULL, *extra = NULL;
	int rc = cp_json_parse(line, len, &object, NULL, err);

	if (rc)
		return rc;
	if (is_bare(object))
		rc = check_bare(object, err);
	else
		rc = decode_answer(&(struct cp_json_in){object, "", err}, &got, &extra);
	if (!rc && is_bare(object))
		rc = decode_metrics(&(struct cp_json_in){object, "metrics", err}, &got,
				    &extra);
	json_decref(object);
	if (rc)
		return rc;
	derive(&got);
	if (!got.failed[0])
		rc = cp_exec_figures_check(&got, err);
	if (rc) {
		json_decref(extra);
		return rc;
	}
	snprintf(got.provenance.media, CP_WORD_MAX, "external");
	snprintf(got.provenance.attr, CP_WORD_MAX, "external");
	snprintf(got.provenance.dma, CP_WORD_MAX, "external");
	*record = got;
	*ret_extra = NULL;
	if (json_object_size(extra)) {
		*ret_extra = json_pack("{s:O}", "metrics", extra);
	}
	json_decref(extra);
	return 0;
}

static int encode_answer(const struct cp_json_out *root, const struct cp_record *record)
{
	struct cp_json_out metrics = {NULL, "metrics", root->err};
	struct cp_json_out proof = {NULL, "proof", root->err};
	struct cp_json_out window = {NULL, "window", root->err};
	int rc;

	if (record->failed[0])
		return cp_json_out_quote(root, "error", record->failed);
	metrics.object = json_object();
	rc = cp_json_out_value(root, "metrics", metrics.object);
	for (int i = 0; i < CP_METRIC_NR && !rc; i++)
		if (!isnan(record->metrics[i]))
			rc = cp_json_out_double(&metrics, cp_metric_names[i],
						record->metrics[i],
						cp_metric_integral((enum cp_metric)i));
	if (!rc && record->has_proof) {
		proof.object = json_object();
		rc = cp_json_out_value(root, "proof", proof.object);
		if (!rc)
			rc = cp_proof_encode(&proof, &record->proof);
	}
	if (!rc && record->notes[0])
		rc = cp_json_out_quote(root, "notes", record->notes);
	if (rc || !record->window_end_ns)
		return rc;
	window.object = json_object();
	rc = cp_json_out_value(root, "window", window.object);
	if (!rc)
		rc = cp_json_out_u64(&window, "start_ns", record->window_start_ns);
	return rc ? rc : cp_json_out_u64(&window, "end_ns", record->window_end_ns);
}

char *cp_exec_answer_encode(const struct cp_record *record, struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	char *line = NULL;

	if (!encode_answer(&root, record))
		line = cp_exec_line(root.object, err);
	json_decref(root.object);
	return line;
}
