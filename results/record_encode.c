/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>

#include "results/record_priv.h"

/* Fields of a context that most have nothing to do with: in the file only where they are
 * not the default, so that records of before and of now of one cell look the same. */
static bool left_out(const struct cp_field *field, const void *object)
{
	static const char *const rare[] = {"driver", "rw_page", "resident", "handler"};
	char text[CP_SPEC_TEXT_MAX];

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (!strcmp(field->name, rare[i]))
			return !strcmp(
				cp_field_format(field, object, true, text, sizeof(text)),
				field->def);
	return false;
}

static int encode_fields(const struct cp_json_out *out, const struct cp_field *fields,
			 const void *object)
{
	for (const struct cp_field *f = fields; f->name; f++) {
		if (left_out(f, object))
			continue;
		const char *at = (const char *)object + f->offset;
		uint64_t wide = 0;
		uint32_t narrow = 0;
		int rc = 0;

		switch (f->type) {
		case CP_FIELD_WORD:
		case CP_FIELD_SPEC:
		case CP_FIELD_TEXT:
			rc = cp_json_out_text(out, f->name, at);
			break;
		case CP_FIELD_SIZE:
			memcpy(&wide, at, sizeof(wide));
			rc = cp_json_out_u64(out, f->name, wide);
			break;
		case CP_FIELD_UINT:
			memcpy(&narrow, at, sizeof(narrow));
			rc = cp_json_out_u64(out, f->name, narrow);
			break;
		}
		if (rc)
			return rc;
	}
	return 0;
}

bool cp_metric_integral(enum cp_metric metric)
{
	return metric == CP_METRIC_BYTES || metric == CP_METRIC_ELAPSED_NS ||
	       metric == CP_METRIC_CPU_NS || metric == CP_METRIC_CPU_SUBMIT_NS ||
	       metric == CP_METRIC_CPU_ENGINE_NS || metric == CP_METRIC_FAULTS;
}

static int encode_metrics(const struct cp_json_out *out, const struct cp_record *record)
{
	for (int i = 0; i < CP_METRIC_NR; i++) {
		if (i >= CP_METRIC_CORUNNER_ALONE && isnan(record->metrics[i]))
			continue;
		int rc = cp_json_out_double(out, cp_metric_names[i], record->metrics[i],
					    cp_metric_integral((enum cp_metric)i));
		if (rc)
			return rc;
	}
	return 0;
}

int cp_provenance_encode(const struct cp_json_out *out,
			 const struct cp_provenance *provenance)
{
	int rc = cp_json_out_text(out, "media", provenance->media);

	if (!rc)
		rc = cp_json_out_text(out, "attr", provenance->attr);
	if (!rc)
		rc = cp_json_out_text(out, "dma", provenance->dma);
	return rc;
}

static void put(const struct cp_json_out *out, const char *key, uint64_t value, int *rc)
{
	if (!*rc)
		*rc = cp_json_out_u64(out, key, value);
}

int cp_proof_encode(const struct cp_json_out *out, const struct cp_proof *proof)
{
	struct cp_json_out fallback = {json_object(), "proof.fallback", out->err};
	struct cp_json_out queue = {NULL, "proof.queue", out->err};
	struct cp_json_out page = {NULL, "proof.page", out->err};
	int rc = 0;

	put(out, "bytes_cpu", proof->bytes_cpu, &rc);
	put(out, "bytes_dma", proof->bytes_dma, &rc);
	put(out, "bytes_simulated", proof->bytes_simulated, &rc);
	put(out, "bytes_fallback", proof->bytes_fallback, &rc);
	put(&fallback, "no_channel", proof->fallback.no_channel, &rc);
	put(&fallback, "ring_full", proof->fallback.ring_full, &rc);
	put(&fallback, "error", proof->fallback.error, &rc);
	put(&fallback, "too_many_segments", proof->fallback.too_many_segments, &rc);
	if (rc)
		json_decref(fallback.object);
	else
		rc = cp_json_out_value(out, "fallback", fallback.object);
	if (!rc) {
		queue.object = json_object();
		rc = cp_json_out_value(out, "queue", queue.object);
	}
	put(&queue, "requests", proof->queue.requests, &rc);
	put(&queue, "merged", proof->queue.merged, &rc);
	put(&queue, "transactions", proof->queue.transactions, &rc);
	put(&queue, "split", proof->queue.split, &rc);
	put(&queue, "crossed", proof->queue.crossed, &rc);
	put(&queue, "timed", proof->queue.timed, &rc);
	if (!rc && proof->page.pages + proof->page.off) {
		page.object = json_object();
		rc = cp_json_out_value(out, "page", page.object);
		put(&page, "pages", proof->page.pages, &rc);
		put(&page, "overlapped", proof->page.overlapped, &rc);
		put(&page, "unmerged", proof->page.unmerged, &rc);
		put(&page, "whole_dma", proof->page.whole_dma, &rc);
		put(&page, "unmerged_dma", proof->page.unmerged_dma, &rc);
		put(&page, "off", proof->page.off, &rc);
	}
	put(out, "bytes_split", proof->bytes_split, &rc);
	put(out, "errors", proof->errors, &rc);
	if (!rc)
		rc = cp_json_out_text(out, "verify", proof->verify);
	put(out, "effective_iodepth", proof->effective_iodepth, &rc);
	if (!rc)
		rc = cp_json_out_text(out, "copy", proof->copy);
	if (!rc)
		rc = cp_json_out_text(out, "dma", proof->dma);
	if (!rc)
		rc = cp_json_out_text(out, "flush", proof->flush);
	if (!rc)
		rc = cp_json_out_text(out, "fence", proof->fence);
	if (!rc)
		rc = cp_json_out_value(out, "persistent",
				       proof->persistent < 0
					       ? json_null()
					       : json_boolean(proof->persistent));
	if (!rc)
		rc = cp_json_out_value(out, "node",
				       proof->node < 0 ? json_null()
						       : json_integer(proof->node));
	if (!rc && proof->page_bytes)
		put(out, "page_bytes", proof->page_bytes, &rc);
	else if (!rc)
		rc = cp_json_out_value(out, "page_bytes", json_null());
	return rc;
}

/* A new object below key of root, filled by nobody yet. */
static int add_object(const struct cp_json_out *root, const char *key,
		      struct cp_json_out *ret_out)
{
	json_t *object = json_object();
	int rc = cp_json_out_value(root, key, object);

	if (!rc)
		*ret_out = (struct cp_json_out){object, key, root->err};
	return rc;
}

int cp_cell_encode(const struct cp_json_out *root, const struct cp_context *context,
		   const struct cp_arm *arm)
{
	struct cp_json_out out;
	int rc = add_object(root, "context", &out);

	if (!rc)
		rc = encode_fields(&out, cp_context_fields, context);
	if (!rc)
		rc = add_object(root, "arm", &out);
	if (!rc)
		rc = cp_json_out_text(&out, "name", arm->name);
	if (!rc)
		rc = encode_fields(&out, cp_arm_fields, arm);
	return rc;
}

static int encode_results(const struct cp_json_out *root, const struct cp_record *record)
{
	struct cp_json_out out;
	int rc = add_object(root, "provenance", &out);

	if (!rc)
		rc = cp_provenance_encode(&out, &record->provenance);
	if (!rc)
		rc = add_object(root, "metrics", &out);
	if (!rc)
		rc = encode_metrics(&out, record);
	if (!rc && record->has_proof) {
		rc = add_object(root, "proof", &out);
		if (!rc)
			rc = cp_proof_encode(&out, &record->proof);
	} else if (!rc) {
		rc = cp_json_out_value(root, "proof", json_null());
	}
	return rc;
}

/* Keys that this build does not know stay where the reader found them. */
static int keep_unknown(json_t *object, json_t *raw)
{
	static const char *const objects[] = {"context", "arm", "provenance", "metrics",
					      "proof"};
	json_t *failed = json_object_get(object, "failed");
	int rc = 0;

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]) && !rc; i++) {
		json_t *into = json_object_get(object, objects[i]);
		json_t *from = json_object_get(raw, objects[i]);

		if (json_is_object(into) && json_is_object(from))
			rc = json_object_update_missing(into, from);
	}
	if (!rc)
		rc = json_object_update_missing(object, raw);
	/* What failed is the record's word, not the line's. */
	if (!rc && !failed && json_object_get(object, "failed"))
		rc = json_object_del(object, "failed");
	return rc;
}

/* What the line that was read says, number for number; else what was counted. */
static int encode_perf(const struct cp_json_out *root, const struct cp_record *record)
{
	json_t *raw = record->raw ? json_object_get(record->raw, "perf") : NULL;
	struct cp_json_out out;

	if (raw || !record->nr_perf)
		return cp_json_out_value(root, "perf",
					 raw ? json_incref(raw) : json_null());
	int rc = add_object(root, "perf", &out);

	for (size_t i = 0; !rc && i < record->nr_perf; i++)
		rc = cp_json_out_double(&out, record->perf[i].name, record->perf[i].value,
					false);
	return rc;
}

static int encode_line(const struct cp_json_out *root, const struct cp_record *record)
{
	int rc = cp_json_out_u64(root, "schema", CP_RECORD_SCHEMA);

	if (!rc)
		rc = cp_json_out_text(root, "run", record->run);
	if (!rc)
		rc = cp_json_out_u64(root, "sample", record->sample);
	if (!rc)
		rc = cp_json_out_text(root, "t", record->t);
	if (!rc)
		rc = cp_json_out_text(root, "host", record->host);
	if (!rc)
		rc = cp_cell_encode(root, &record->context, &record->arm);
	if (!rc)
		rc = encode_results(root, record);
	if (!rc)
		rc = encode_perf(root, record);
	if (!rc && record->notes[0])
		rc = cp_json_out_quote(root, "notes", record->notes);
	if (!rc && record->failed[0])
		rc = cp_json_out_quote(root, "failed", record->failed);
	if (!rc && record->raw && keep_unknown(root->object, record->raw))
		rc = cp_err_set(root->err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	return rc;
}

char *cp_record_encode(const struct cp_record *record, struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	char *line = NULL;

	if (!root.object) {
		cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
		return NULL;
	}
	if (!encode_line(&root, record)) {
		line = json_dumps(root.object, CP_RECORD_DUMP_FLAGS);
		if (!line)
			cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	}
	json_decref(root.object);
	return line;
}
