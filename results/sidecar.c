/* SPDX-License-Identifier: GPL-2.0-only */
/* The sidecar's line: encode, decode. Merging is in sidecar_merge.c. */
#include "results/sidecar.h"

#include <errno.h>
#include <inttypes.h>

#include "results/record_priv.h"

static int encode_hist(const struct cp_json_out *root, const struct cp_hist *hist)
{
	struct cp_json_out out = {json_object(), "lat", root->err};
	json_t *buckets = json_array();
	int rc = cp_json_out_value(root, "lat", out.object);

	if (!rc)
		rc = cp_json_out_u64(&out, "count", hist->count);
	if (!rc)
		rc = cp_json_out_u64(&out, "sum_ns", hist->sum_ns);
	if (!rc && hist->count)
		rc = cp_json_out_u64(&out, "min_ns", hist->min_ns);
	if (!rc && hist->count)
		rc = cp_json_out_u64(&out, "max_ns", hist->max_ns);
	for (unsigned i = 0; i < CP_HIST_BUCKETS && !rc; i++) {
		if (!hist->buckets[i])
			continue;
		json_t *pair = json_pack("[iI]", (int)i, (json_int_t)hist->buckets[i]);

		if (!pair || json_array_append_new(buckets, pair))
			rc = cp_err_set(root->err, CP_EXIT_INTERNAL, ENOMEM,
					"out of memory");
	}
	if (rc) {
		json_decref(buckets);
		return rc;
	}
	return cp_json_out_value(&out, "buckets", buckets);
}

/* The numbers of a job, in the order of the line. What an engine of before does not tell
 * is not required. */
struct number {
	enum cp_json_need need;
	const char *key;
	size_t offset, size;
};
#define NUMBER_OF(key_, field, need_)                                  \
	{                                                              \
		need_, key_, offsetof(struct cp_sidecar_job, field),   \
			sizeof(((struct cp_sidecar_job *)NULL)->field) \
	}
#define NUMBER(key_, field) NUMBER_OF(key_, field, CP_JSON_REQUIRED)
#define PHASE(field)	    NUMBER_OF("phase_" #field, phases.field, CP_JSON_OPTIONAL)
static const struct number numbers[] = {
	NUMBER("job", job),
	NUMBER("start_ns", start_ns),
	NUMBER("end_ns", end_ns),
	NUMBER("ios", ios),
	NUMBER("bytes", bytes),
	NUMBER("cpu_submit_ns", cpu_submit_ns),
	NUMBER("dev_start_ns", dev_start_ns),
	NUMBER("dev_end_ns", dev_end_ns),
	NUMBER("dev_cpu_process_ns", dev_cpu_process_ns),
	NUMBER("dev_cpu_engine_ns", dev_cpu_engine_ns),
	NUMBER("llc_bytes", llc_bytes),
	NUMBER("media_bytes", media_bytes),
	NUMBER("nr_hctx", nr_hctx),
	NUMBER("queue_depth", queue_depth),
	PHASE(ios),
	PHASE(prepare_ns),
	PHASE(submit_ns),
	PHASE(wait_ns),
	PHASE(complete_ns),
};
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int encode_numbers(const struct cp_json_out *out, const struct cp_sidecar_job *job)
{
	int rc = 0;

	for (size_t i = 0; i < NR_NUMBERS && !rc; i++) {
		const char *at = (const char *)job + numbers[i].offset;
		uint32_t narrow = 0;
		uint64_t wide = 0;

		if (numbers[i].size == sizeof(narrow)) {
			memcpy(&narrow, at, sizeof(narrow));
			wide = narrow;
		} else {
			memcpy(&wide, at, sizeof(wide));
		}
		rc = cp_json_out_u64(out, numbers[i].key, wide);
	}
	return rc;
}

static int decode_numbers(const struct cp_json_in *in, struct cp_sidecar_job *job)
{
	int rc = 0;

	for (size_t i = 0; i < NR_NUMBERS && !rc; i++) {
		char *at = (char *)job + numbers[i].offset;
		uint32_t narrow = 0;
		uint64_t wide = 0;

		if (numbers[i].size == sizeof(narrow)) {
			rc = cp_json_in_u32(in, numbers[i].key, numbers[i].need, 0,
					    UINT32_MAX, &narrow);
			memcpy(at, &narrow, sizeof(narrow));
		} else {
			rc = cp_json_in_u64(in, numbers[i].key, numbers[i].need, 0,
					    UINT64_C(1) << 62, &wide);
			memcpy(at, &wide, sizeof(wide));
		}
	}
	return rc;
}

static int encode_job(const struct cp_json_out *root, const struct cp_sidecar_job *job)
{
	struct cp_json_out proof = {NULL, "proof", root->err};
	struct cp_json_out provenance = {NULL, "provenance", root->err};
	int rc = cp_json_out_u64(root, "schema", CP_SIDECAR_SCHEMA);

	if (!rc)
		rc = cp_json_out_text(root, "build", job->build);
	if (!rc)
		rc = cp_json_out_text(root, "fio", job->fio);
	if (!rc)
		rc = encode_numbers(root, job);
	if (!rc)
		rc = cp_json_out_quote(root, "notes", job->notes);
	if (!rc) {
		proof.object = json_object();
		rc = cp_json_out_value(root, "proof", proof.object);
	}
	if (!rc)
		rc = cp_proof_encode(&proof, &job->proof);
	if (!rc) {
		provenance.object = json_object();
		rc = cp_json_out_value(root, "provenance", provenance.object);
	}
	if (!rc)
		rc = cp_provenance_encode(&provenance, &job->provenance);
	if (!rc)
		rc = encode_hist(root, job->lat);
	return rc;
}

char *cp_sidecar_encode(const struct cp_sidecar_job *job, struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	char *line = NULL;

	if (!root.object) {
		cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
		return NULL;
	}
	if (!encode_job(&root, job)) {
		line = json_dumps(root.object, JSON_COMPACT);
		if (!line)
			cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	}
	json_decref(root.object);
	if (!line)
		return NULL;

	size_t len = strlen(line);

	if (len + 1 > CP_SIDECAR_LINE_MAX) {
		cp_err_set(err, CP_EXIT_INTERNAL, EMSGSIZE,
			   "a sidecar line of %zu bytes; expected at most %u", len + 1,
			   CP_SIDECAR_LINE_MAX);
		free(line);
		return NULL;
	}
	line[len] = '\n'; /* over the NUL, which gets room behind it */
	char *whole = realloc(line, len + 2);

	if (!whole) {
		free(line);
		cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
		return NULL;
	}
	whole[len + 1] = '\0';
	return whole;
}

static int bad_hist(struct cp_err *err, const char *what)
{
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL, "'lat.buckets' %s", what);
}

static int decode_buckets(const json_t *list, struct cp_hist *hist, struct cp_err *err)
{
	uint64_t count = 0;
	json_int_t last = -1;

	if (!json_is_array(list))
		return bad_hist(err, "is missing; expected [[bucket,count],...]");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *pair = json_array_get(list, i);
		const json_t *bucket = json_array_get(pair, 0);
		const json_t *number = json_array_get(pair, 1);

		if (json_array_size(pair) != 2 || !json_is_integer(bucket) ||
		    !json_is_integer(number))
			return bad_hist(err, "has an entry that is not [bucket,count]");

		json_int_t at = json_integer_value(bucket);
		json_int_t n = json_integer_value(number);

		if (at <= last || at >= (json_int_t)CP_HIST_BUCKETS)
			return bad_hist(err, "are out of order or out of range");
		if (n < 1 || n > (json_int_t)UINT32_MAX)
			return bad_hist(err, "hold a count that is not 1 to 2^32-1");
		hist->buckets[at] = (uint32_t)n;
		count += (uint64_t)n;
		last = at;
	}
	if (count != hist->count)
		return bad_hist(err, "do not add up to 'lat.count'");
	return 0;
}

static int decode_hist(const struct cp_json_in *root, struct cp_hist *hist)
{
	const uint64_t max = UINT64_C(1) << 62;
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "lat", CP_JSON_REQUIRED, "lat", &in);

	cp_hist_reset(hist);
	if (!rc)
		rc = cp_json_in_u64(&in, "count", CP_JSON_REQUIRED, 0, max, &hist->count);
	if (!rc)
		rc = cp_json_in_u64(&in, "sum_ns", CP_JSON_REQUIRED, 0, max,
				    &hist->sum_ns);
	if (!rc && hist->count)
		rc = cp_json_in_u64(&in, "min_ns", CP_JSON_REQUIRED, 0, max,
				    &hist->min_ns);
	if (!rc && hist->count)
		rc = cp_json_in_u64(&in, "max_ns", CP_JSON_REQUIRED, hist->min_ns, max,
				    &hist->max_ns);
	if (!rc)
		rc = decode_buckets(json_object_get(in.object, "buckets"), hist,
				    root->err);
	return rc;
}

static int decode_job(const struct cp_json_in *root, struct cp_sidecar_job *job)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_schema(root, CP_SIDECAR_SCHEMA);

	if (!rc)
		rc = cp_json_in_text(root, "build", CP_JSON_REQUIRED, job->build,
				     sizeof(job->build));
	if (!rc)
		rc = cp_json_in_text(root, "fio", CP_JSON_REQUIRED, job->fio,
				     sizeof(job->fio));
	if (!rc)
		rc = decode_numbers(root, job);
	if (!rc && (job->end_ns < job->start_ns || job->dev_end_ns < job->dev_start_ns))
		rc = cp_err_set(root->err, CP_EXIT_INVALID, ERANGE,
				"job %" PRIu32
				" ends before it starts; expected a window",
				job->job);
	if (!rc)
		rc = cp_json_in_text(root, "notes", CP_JSON_REQUIRED, job->notes,
				     sizeof(job->notes));
	if (!rc)
		rc = cp_json_in_object(root, "proof", CP_JSON_REQUIRED, "proof", &in);
	if (!rc)
		rc = cp_proof_decode(&in, CP_JSON_REQUIRED, &job->proof);
	if (!rc)
		rc = cp_json_in_object(root, "provenance", CP_JSON_REQUIRED, "provenance",
				       &in);
	if (!rc)
		rc = cp_provenance_decode(&in, &job->provenance);
	if (!rc)
		rc = decode_hist(root, job->lat);
	return rc;
}

int cp_sidecar_decode(const char *line, size_t len, struct cp_sidecar_job *ret_job,
		      struct cp_err *err)
{
	struct cp_sidecar_job job = {.lat = ret_job->lat};
	json_t *object = NULL;
	int rc;

	if (len > CP_SIDECAR_LINE_MAX)
		return cp_err_set(err, CP_EXIT_INVALID, EMSGSIZE,
				  "a line of %zu bytes; expected at most %u", len,
				  CP_SIDECAR_LINE_MAX);
	rc = cp_json_parse(line, len, &object, NULL, err);
	if (rc)
		return rc;
	rc = decode_job(&(struct cp_json_in){object, "", err}, &job);
	json_decref(object);
	if (!rc)
		*ret_job = job;
	return rc;
}
