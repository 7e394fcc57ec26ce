/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "results/record_priv.h"

/* What a record cannot leave out: without these it is not known what was measured. */
static enum cp_json_need context_need(const char *name)
{
	static const char *const required[] = {"rw", "bs", "numjobs", "iodepth", "media"};

	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		if (!strcmp(name, required[i]))
			return CP_JSON_REQUIRED;
	}
	return CP_JSON_OPTIONAL;
}

static enum cp_json_need arm_need(const char *name)
{
	return strcmp(name, "queue_mode") && strcmp(name, "path") ? CP_JSON_OPTIONAL
								  : CP_JSON_REQUIRED;
}

/* Words are copied, not looked up: a record of a build that serves more is still read.
 * Numbers keep the range of their type, from min or what the field takes below it. */
static int decode_fields(const struct cp_json_in *in, const struct cp_field *fields,
			 enum cp_json_need (*need)(const char *name), uint32_t min,
			 void *object)
{
	for (const struct cp_field *f = fields; f->name; f++) {
		char *at = (char *)object + f->offset;
		uint64_t wide = 0;
		uint32_t narrow = 0;
		uint32_t least = f->min < min ? (uint32_t)f->min : min;
		int rc = 0;

		switch (f->type) {
		case CP_FIELD_WORD:
		case CP_FIELD_SPEC:
		case CP_FIELD_TEXT:
			rc = cp_json_in_text(in, f->name, need(f->name), at, f->size);
			break;
		case CP_FIELD_SIZE:
			memcpy(&wide, at, sizeof(wide));
			rc = cp_json_in_u64(in, f->name, need(f->name), least, UINT64_MAX,
					    &wide);
			memcpy(at, &wide, sizeof(wide));
			break;
		case CP_FIELD_UINT:
			memcpy(&narrow, at, sizeof(narrow));
			rc = cp_json_in_u32(in, f->name, need(f->name), least, UINT32_MAX,
					    &narrow);
			memcpy(at, &narrow, sizeof(narrow));
			break;
		}
		if (rc)
			return rc;
	}
	return 0;
}

int cp_context_decode(const struct cp_json_in *root, struct cp_context *context)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "context", CP_JSON_REQUIRED, "context", &in);

	if (!rc)
		rc = decode_fields(&in, cp_context_fields, context_need, 1, context);
	if (rc)
		return rc;
	if (strcmp(context->rw, "read") != 0 && strcmp(context->rw, "write") != 0 &&
	    strcmp(context->rw, "randread") != 0 && strcmp(context->rw, "randwrite") != 0)
		return cp_err_set(
			in.err, CP_EXIT_INVALID, EINVAL,
			"'context.rw' is '%s'; expected read, write, randread or "
			"randwrite",
			context->rw);
	if (!json_object_get(in.object, "segments")) {
		uint64_t segments = context->bs / 4096 + (context->bs % 4096 != 0);

		if (segments > UINT32_MAX)
			return cp_err_set(in.err, CP_EXIT_INVALID, ERANGE,
					  "'context.bs' is %" PRIu64
					  "; expected a size of one i/o",
					  context->bs);
		context->segments = (uint32_t)segments;
	}
	return 0;
}

int cp_arm_decode(const struct cp_json_in *root, struct cp_arm *arm)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "arm", CP_JSON_REQUIRED, "arm", &in);

	if (!rc)
		rc = cp_json_in_text(&in, "name", CP_JSON_REQUIRED, arm->name,
				     sizeof(arm->name));
	if (!rc)
		rc = decode_fields(&in, cp_arm_fields, arm_need, 0, arm);
	if (rc)
		return rc;
	if (!arm->name[0])
		return cp_err_set(in.err, CP_EXIT_INVALID, EINVAL,
				  "'arm.name' is empty; expected a name");

	/* What the line says was asked for: 0 is never, not the default. */
	arm->dma_thresh_read_set = json_object_get(in.object, "dma_thresh_read");
	arm->dma_thresh_write_set = json_object_get(in.object, "dma_thresh_write");

	/* Options left out follow from those that are there, as in a workload; an arm
	 * that this build cannot serve keeps the plain defaults. */
	for (const struct cp_field *f = cp_arm_fields; f->name; f++) {
		struct cp_arm resolved = *arm;
		struct cp_err ignored = {0};

		if (json_object_get(in.object, f->name))
			continue;
		if (!cp_arm_resolve(&resolved, &ignored))
			*arm = resolved;
		break;
	}
	return 0;
}

int cp_provenance_decode(const struct cp_json_in *in, struct cp_provenance *provenance)
{
	int rc = cp_json_in_text(in, "media", CP_JSON_REQUIRED, provenance->media,
				 sizeof(provenance->media));
	if (!rc)
		rc = cp_json_in_text(in, "attr", CP_JSON_REQUIRED, provenance->attr,
				     sizeof(provenance->attr));
	if (!rc)
		rc = cp_json_in_text(in, "dma", CP_JSON_REQUIRED, provenance->dma,
				     sizeof(provenance->dma));
	return rc;
}

/* true, false, or not asked for: null as well as absent. */
static int decode_persistent(const struct cp_json_in *in, struct cp_proof *proof)
{
	const json_t *value = json_object_get(in->object, "persistent");
	bool persistent = false;
	int rc = cp_json_in_bool(in, "persistent", CP_JSON_OPTIONAL, &persistent);

	if (!rc)
		proof->persistent = !value || json_is_null(value) ? -1 : persistent;
	return rc;
}

int cp_proof_decode(const struct cp_json_in *in, enum cp_json_need need,
		    struct cp_proof *proof)
{
	struct cp_json_in fallback = {0};
	uint64_t node = UINT64_MAX;
	struct cp_json_in queue = {0}, page = {0};
	int rc = cp_json_in_object(in, "fallback", need, "proof.fallback", &fallback);

	/* an engine of before has neither */
	if (!rc)
		rc = cp_json_in_object(in, "queue", CP_JSON_OPTIONAL, "proof.queue",
				       &queue);
	if (!rc)
		rc = cp_json_in_object(in, "page", CP_JSON_OPTIONAL, "proof.page", &page);

	if (rc)
		return rc;
	const struct {
		const struct cp_json_in *in;
		const char *key;
		uint64_t *value;
		enum cp_json_need need;
	} counters[] = {
		{in, "bytes_cpu", &proof->bytes_cpu, need},
		{in, "bytes_dma", &proof->bytes_dma, need},
		{in, "bytes_simulated", &proof->bytes_simulated, need},
		{in, "bytes_fallback", &proof->bytes_fallback, need},
		{&fallback, "no_channel", &proof->fallback.no_channel, need},
		{&fallback, "ring_full", &proof->fallback.ring_full, need},
		{&fallback, "error", &proof->fallback.error, need},
		{&fallback, "too_many_segments", &proof->fallback.too_many_segments,
		 need},
		{in, "errors", &proof->errors, need},
		{&queue, "requests", &proof->queue.requests, CP_JSON_OPTIONAL},
		{&queue, "merged", &proof->queue.merged, CP_JSON_OPTIONAL},
		{&queue, "transactions", &proof->queue.transactions, CP_JSON_OPTIONAL},
		{&queue, "split", &proof->queue.split, CP_JSON_OPTIONAL},
		{&queue, "crossed", &proof->queue.crossed, CP_JSON_OPTIONAL},
		{&queue, "timed", &proof->queue.timed, CP_JSON_OPTIONAL},
		{&page, "pages", &proof->page.pages, CP_JSON_OPTIONAL},
		{&page, "overlapped", &proof->page.overlapped, CP_JSON_OPTIONAL},
		{&page, "unmerged", &proof->page.unmerged, CP_JSON_OPTIONAL},
		{&page, "whole_dma", &proof->page.whole_dma, CP_JSON_OPTIONAL},
		{&page, "unmerged_dma", &proof->page.unmerged_dma, CP_JSON_OPTIONAL},
		{&page, "off", &proof->page.off, CP_JSON_OPTIONAL},
		{in, "bytes_split", &proof->bytes_split, CP_JSON_OPTIONAL},
	};
	/* 2^56 bytes are more than any sample moves, and their sums cannot overflow. */
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && !rc; i++)
		rc = cp_json_in_u64(counters[i].in, counters[i].key, counters[i].need, 0,
				    UINT64_C(1) << 56, counters[i].value);
	if (!rc)
		rc = cp_json_in_text(in, "verify", need, proof->verify,
				     sizeof(proof->verify));
	if (!rc)
		rc = cp_json_in_u32(in, "effective_iodepth", need, 0, UINT32_MAX,
				    &proof->effective_iodepth);
	if (!rc)
		rc = cp_json_in_text(in, "copy", CP_JSON_OPTIONAL, proof->copy,
				     sizeof(proof->copy));
	if (!rc)
		rc = cp_json_in_text(in, "dma", CP_JSON_OPTIONAL, proof->dma,
				     sizeof(proof->dma));
	/* an engine of before names neither */
	if (!rc)
		rc = cp_json_in_text(in, "flush", CP_JSON_OPTIONAL, proof->flush,
				     sizeof(proof->flush));
	if (!rc)
		rc = cp_json_in_text(in, "fence", CP_JSON_OPTIONAL, proof->fence,
				     sizeof(proof->fence));
	if (!rc)
		rc = decode_persistent(in, proof);
	if (!rc)
		rc = cp_json_in_u64(in, "node", CP_JSON_OPTIONAL, 0, INT32_MAX, &node);
	if (!rc)
		proof->node = node == UINT64_MAX ? -1 : (int32_t)node;
	if (!rc)
		rc = cp_json_in_u64(in, "page_bytes", CP_JSON_OPTIONAL, 1,
				    UINT64_C(1) << 40, &proof->page_bytes);
	return rc;
}

/* Any names; what does not fit is left to `raw`. */
static int decode_perf(const struct cp_json_in *root, struct cp_record *record)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "perf", CP_JSON_OPTIONAL, "perf", &in);
	const char *name;
	json_t *value;

	if (rc || !in.object)
		return rc;
	json_object_foreach((json_t *)(uintptr_t)in.object, name, value)
	{
		struct cp_perf_counter *counter = &record->perf[record->nr_perf];

		if (record->nr_perf == CP_PERF_MAX ||
		    strlen(name) >= sizeof(counter->name))
			continue;
		snprintf(counter->name, sizeof(counter->name), "%s", name);
		counter->value = NAN;
		rc = cp_json_in_double(&in, name, CP_JSON_OPTIONAL, &counter->value);
		if (rc)
			return rc;
		record->nr_perf++;
	}
	return 0;
}

static int decode_results(const struct cp_json_in *root, struct cp_record *record)
{
	struct cp_json_in provenance = {0}, metrics = {0}, proof = {0};
	int rc = cp_json_in_object(root, "provenance", CP_JSON_REQUIRED, "provenance",
				   &provenance);
	if (!rc)
		rc = cp_provenance_decode(&provenance, &record->provenance);
	if (!rc)
		rc = cp_json_in_object(root, "metrics", CP_JSON_REQUIRED, "metrics",
				       &metrics);
	for (int i = 0; i < CP_METRIC_NR && !rc; i++)
		rc = cp_json_in_double(&metrics, cp_metric_names[i], CP_JSON_OPTIONAL,
				       &record->metrics[i]);
	if (!rc)
		rc = cp_json_in_object(root, "proof", CP_JSON_OPTIONAL, "proof", &proof);
	record->has_proof = !rc && proof.object;
	if (record->has_proof)
		rc = cp_proof_decode(&proof, CP_JSON_OPTIONAL, &record->proof);
	return rc;
}

static int decode_root(const struct cp_json_in *root, struct cp_record *record)
{
	int rc = cp_json_in_schema(root, CP_RECORD_SCHEMA);

	if (!rc)
		rc = cp_json_in_text(root, "run", CP_JSON_REQUIRED, record->run,
				     sizeof(record->run));
	if (!rc)
		rc = cp_json_in_u32(root, "sample", CP_JSON_REQUIRED, 0, UINT32_MAX,
				    &record->sample);
	if (!rc)
		rc = cp_json_in_text(root, "t", CP_JSON_OPTIONAL, record->t,
				     sizeof(record->t));
	if (!rc)
		rc = cp_json_in_text(root, "host", CP_JSON_REQUIRED, record->host,
				     sizeof(record->host));
	if (!rc)
		rc = cp_context_decode(root, &record->context);
	if (!rc)
		rc = cp_arm_decode(root, &record->arm);
	if (!rc)
		rc = decode_results(root, record);
	if (!rc)
		rc = decode_perf(root, record);
	if (!rc)
		rc = cp_json_in_text(root, "notes", CP_JSON_OPTIONAL, record->notes,
				     sizeof(record->notes));
	if (!rc)
		rc = cp_json_in_text(root, "failed", CP_JSON_OPTIONAL, record->failed,
				     sizeof(record->failed));
	return rc;
}

int cp_record_decode_raw(const char *line, size_t len, struct cp_record *ret_record,
			 unsigned *ret_column, struct cp_err *err)
{
	struct cp_record record;
	json_t *raw = NULL;
	int rc = cp_json_parse(line, len, &raw, ret_column, err);

	if (rc)
		return rc;
	cp_record_init(&record);
	*ret_column = 1;
	rc = decode_root(&(struct cp_json_in){raw, "", err}, &record);
	if (rc) {
		json_decref(raw);
		return rc;
	}
	record.raw = raw;
	*ret_record = record;
	return 0;
}

int cp_record_decode(const char *line, size_t len, struct cp_record *ret_record,
		     struct cp_err *err)
{
	struct cp_record record;
	unsigned column = 1;
	int rc = cp_record_decode_raw(line, len, &record, &column, err);

	if (rc)
		return rc;
	json_decref(record.raw);
	record.raw = NULL;
	*ret_record = record;
	return 0;
}
