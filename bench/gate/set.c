/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/gate/set.h"
#include "engines/base/units.h"
#include "policies/learn.h"

#define CELL_KEY_MAX 4096

void cp_gate_set_init(struct cp_gate_set *set)
{
	memset(set, 0, sizeof(*set));
	set->index = json_object();
	set->seen = json_object();
}

void cp_gate_set_free(struct cp_gate_set *set)
{
	for (size_t i = 0; i < set->nr_cells; i++) {
		free(set->cells[i].key);
		free(set->cells[i].label);
		free(set->cells[i].samples);
	}
	free(set->cells);
	json_decref(set->index);
	json_decref(set->seen);
	if (set->has_manifest)
		cp_manifest_free(&set->manifest);
	memset(set, 0, sizeof(*set));
}

const struct cp_gate_cell *cp_gate_set_find(const struct cp_gate_set *set,
					    const char *key)
{
	const json_t *place = json_object_get(set->index, key);

	return place ? &set->cells[json_integer_value(place)] : NULL;
}

bool cp_gate_provenance_same(const struct cp_provenance *a, const struct cp_provenance *b)
{
	return !strcmp(a->media, b->media) && !strcmp(a->attr, b->attr) &&
	       !strcmp(a->dma, b->dma);
}

const char *cp_gate_provenance_format(const struct cp_provenance *provenance, char *buf,
				      size_t size)
{
	snprintf(buf, size, "media %s, attr %s, dma %s", provenance->media,
		 provenance->attr, provenance->dma);
	return buf;
}

/* "read bs=64k numjobs=1 iodepth=16 cpu/nt", then what is not as usual. */
static char *cell_label(const struct cp_context *context, const struct cp_arm *arm)
{
	static const char *const always[] = {"rw", "bs", "numjobs", "iodepth", NULL};
	char text[1024], value[CP_SPEC_TEXT_MAX], usual[CP_SPEC_TEXT_MAX], bs[24];
	struct cp_context plain;

	cp_context_init(&plain);
	plain.segments = (uint32_t)((context->bs + 4095) / 4096);
	int len = snprintf(text, sizeof(text), "%s bs=%s numjobs=%u iodepth=%u %s",
			   context->rw, cp_size_format(context->bs, bs, sizeof(bs)),
			   context->numjobs, context->iodepth, arm->name);

	for (const struct cp_field *f = cp_context_fields; f->name; f++) {
		bool named = false;

		for (unsigned i = 0; always[i]; i++)
			named |= !strcmp(f->name, always[i]);
		cp_field_format(f, context, false, value, sizeof(value));
		cp_field_format(f, &plain, false, usual, sizeof(usual));
		if (named || !strcmp(value, usual) || len >= (int)sizeof(text))
			continue;
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %s=%s", f->name,
				value);
	}
	return strdup(text);
}

static struct cp_gate_cell *add_cell(struct cp_gate_set *set, const char *key,
				     const struct cp_record *record)
{
	if (set->nr_cells == set->capacity) {
		size_t capacity = set->capacity ? 2 * set->capacity : 32;
		struct cp_gate_cell *cells =
			reallocarray(set->cells, capacity, sizeof(*cells));

		if (!cells)
			return NULL;
		set->cells = cells;
		set->capacity = capacity;
	}
	struct cp_gate_cell *cell = &set->cells[set->nr_cells];

	memset(cell, 0, sizeof(*cell));
	cell->key = strdup(key);
	cell->label = cell_label(&record->context, &record->arm);
	cell->context = record->context;
	cell->arm = record->arm;
	cell->provenance = record->provenance;
	if (!cell->key || !cell->label ||
	    json_object_set_new_nocheck(set->index, key,
					json_integer((json_int_t)set->nr_cells))) {
		free(cell->key);
		free(cell->label);
		return NULL;
	}
	set->nr_cells++;
	return cell;
}

static int add_sample(struct cp_gate_cell *cell, const struct cp_record *record)
{
	if (cell->nr_samples == cell->capacity) {
		size_t capacity = cell->capacity ? 2 * cell->capacity : 32;
		struct cp_gate_sample *samples =
			reallocarray(cell->samples, capacity, sizeof(*samples));

		if (!samples)
			return -ENOMEM;
		cell->samples = samples;
		cell->capacity = capacity;
	}
	struct cp_gate_sample *sample = &cell->samples[cell->nr_samples++];

	for (int m = 0; m < CP_GATE_NR_ALL; m++)
		sample->value[m] = cp_gate_metric_value(record, (enum cp_gate_metric)m);
	return 0;
}

/* Two lines with the same run, host, cell and sample are one measurement told twice. */
static int check_duplicate(struct cp_gate_set *set, const struct cp_gate_cell *cell,
			   const struct cp_record *record)
{
	char key[CP_NAME_MAX * 2 + 64];

	snprintf(key, sizeof(key), "%s\n%s\n%zu\n%u", record->run, record->host,
		 (size_t)(cell - set->cells), record->sample);
	if (json_object_get(set->seen, key)) {
		if (!set->nr_duplicates++)
			snprintf(set->duplicate, sizeof(set->duplicate),
				 "sample %u of '%.300s'", record->sample, cell->label);
		return 0;
	}
	return json_object_set_new_nocheck(set->seen, key, json_true()) ? -ENOMEM : 0;
}

int cp_gate_set_add(struct cp_gate_set *set, const struct cp_record *record,
		    struct cp_err *err)
{
	char key[CELL_KEY_MAX], why[256];
	int len = snprintf(key, sizeof(key), "%s\n", record->arm.name);

	cp_cell_key(&record->context, &record->arm, key + len, sizeof(key) - (size_t)len);
	const json_t *place = json_object_get(set->index, key);
	struct cp_gate_cell *cell = place ? &set->cells[json_integer_value(place)]
					  : add_cell(set, key, record);

	if (!cell || check_duplicate(set, cell, record))
		return cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	if (!set->nr_records++) {
		memcpy(set->run, record->run, sizeof(set->run));
		memcpy(set->host, record->host, sizeof(set->host));
	} else if (strcmp(set->host, record->host) != 0 && !set->other_host[0]) {
		memcpy(set->other_host, record->host, sizeof(set->other_host));
	}
	if (cp_record_failed(record, why, sizeof(why))) {
		set->nr_failed++;
		if (!cell->nr_failed++)
			snprintf(cell->failed, sizeof(cell->failed), "sample %u: %s",
				 record->sample, why);
		return 0;
	}
	if (cp_learn_is_verified(record)) {
		set->nr_verified++;
		cell->nr_verified++;
		return 0;
	}
	if (!cell->nr_samples)
		cell->provenance = record->provenance;
	cell->mixed |= !cp_gate_provenance_same(&cell->provenance, &record->provenance);
	if (add_sample(cell, record))
		return cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	return 0;
}

struct reader {
	struct cp_gate_set *set;
	struct cp_err *err;
	bool fatal;
};

static int read_one(void *ctx, struct cp_record *record, unsigned line)
{
	struct reader *reader = ctx;
	int rc = cp_gate_set_add(reader->set, record, reader->err);

	(void)line;
	reader->fatal = rc != 0;
	return rc;
}

int cp_gate_set_read(const char *path, bool strict,
		     void (*warn)(void *ctx, const char *text),
		     struct cp_gate_set *ret_set, struct cp_err *err)
{
	struct cp_record_read_opts opts = {.strict = strict, .warn = warn};
	struct cp_err why = {0};
	struct reader reader = {.set = ret_set, .err = &why};
	struct stat st;
	int rc;

	if (stat(path, &st))
		return cp_err_set(err, CP_EXIT_USAGE, errno,
				  "cannot read '%s': %s; expected a run directory or a "
				  ".jsonl file",
				  path, strerror(errno));
	cp_gate_set_init(ret_set);
	snprintf(ret_set->path, sizeof(ret_set->path), "%s", path);
	rc = cp_manifest_read(path, &ret_set->manifest, &why);
	ret_set->has_manifest = rc == 0;
	if (rc && rc != -ENOENT) {
		snprintf(ret_set->broken, sizeof(ret_set->broken), "%s", why.msg);
		return 0;
	}
	memset(&why, 0, sizeof(why));
	rc = cp_record_read(path, &opts, read_one, &reader, &why);
	if (reader.fatal) {
		cp_gate_set_free(ret_set);
		*err = why;
		return rc;
	}
	if (rc)
		snprintf(ret_set->broken, sizeof(ret_set->broken), "%s",
			 why.msg[0] ? why.msg : strerror(-rc));
	else if (!ret_set->nr_records)
		snprintf(ret_set->broken, sizeof(ret_set->broken),
			 "'%.900s' holds no samples", path);
	return 0;
}

static const char *json_word(const json_t *value, char *buf, size_t size)
{
	if (json_is_string(value)) {
		snprintf(buf, size, "%s", json_string_value(value));
		return buf;
	}
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	snprintf(buf, size, "%s", text ? text : "unknown");
	free(text);
	return buf;
}

const char *cp_gate_hard_diff(const struct cp_manifest *a, const struct cp_manifest *b,
			      char *buf, size_t size)
{
	char was[96], is[96];
	const char *key;
	json_t *value, *all = json_object();
	size_t len = 0;

	json_object_update(all, a->hard);
	json_object_update(all, b->hard);
	buf[0] = '\0';
	json_object_foreach(all, key, value)
	{
		const json_t *x = json_object_get(a->hard, key);
		const json_t *y = json_object_get(b->hard, key);

		if ((x && y && json_equal(x, y)) || len >= size)
			continue;
		len += (size_t)snprintf(
			buf + len, size - len, "%s%s '%s' -> '%s'", len ? ", " : "", key,
			json_word(x, was, sizeof(was)), json_word(y, is, sizeof(is)));
	}
	json_decref(all);
	if (!buf[0])
		snprintf(buf, size, "the recorded facts agree, their hash does not");
	return buf;
}
