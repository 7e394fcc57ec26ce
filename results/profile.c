// SPDX-License-Identifier: GPL-2.0-only
#include "results/profile.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "results/json_in.h"

#define PROFILE_SCHEMA 1
#define FILE_SIZE_MAX  (4U << 20)

void cp_profile_init(struct cp_profile *profile)
{
	*profile = (struct cp_profile){0};
	cp_record_init(&profile->record);
}

void cp_profile_free(struct cp_profile *profile)
{
	free(profile->symbols);
	profile->symbols = NULL;
	profile->nr_symbols = 0;
}

int cp_profile_add(struct cp_profile *profile, const struct cp_profile_symbol *symbol)
{
	struct cp_profile_symbol *at = NULL;

	for (size_t i = 0; i < profile->nr_symbols && !at; i++)
		if (profile->symbols[i].kernel == symbol->kernel &&
		    !strcmp(profile->symbols[i].symbol, symbol->symbol) &&
		    !strcmp(profile->symbols[i].dso, symbol->dso))
			at = &profile->symbols[i];
	if (at) {
		at->samples += symbol->samples;
		at->weight += symbol->weight;
	} else {
		at = realloc(profile->symbols, (profile->nr_symbols + 1) * sizeof(*at));
		if (!at)
			return -ENOMEM;
		profile->symbols = at;
		at[profile->nr_symbols++] = *symbol;
	}
	profile->samples += symbol->samples;
	profile->weight += symbol->weight;
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct cp_profile_symbol *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	int order = strcmp(x->symbol, y->symbol);

	return order ? order : strcmp(x->dso, y->dso);
}

void cp_profile_finish(struct cp_profile *profile)
{
	if (profile->nr_symbols)
		qsort(profile->symbols, profile->nr_symbols, sizeof(*profile->symbols),
		      by_weight);
	while (profile->nr_symbols > CP_PROFILE_SYMBOLS_MAX) {
		const struct cp_profile_symbol *last =
			&profile->symbols[--profile->nr_symbols];

		profile->nr_rest++;
		profile->rest_samples += last->samples;
		profile->rest_weight += last->weight;
	}
}

double cp_profile_work(const struct cp_profile *profile, const char **ret_word)
{
	static const struct {
		enum cp_metric a_second;
		const char *word;
	} works[] = {{CP_METRIC_FAULTS_PER_S, "fault"},
		     {CP_METRIC_IOPS, "I/O"},
		     {CP_METRIC_APP, "op"}};
	const double *metrics = profile->record.metrics;

	if (ret_word)
		*ret_word = "I/O";
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		double work =
			metrics[works[i].a_second] * metrics[CP_METRIC_ELAPSED_NS] / 1e9;

		if (!isfinite(work) || work <= 0.0)
			continue;
		if (ret_word)
			*ret_word = works[i].word;
		return work;
	}
	return NAN;
}

/* CPU time in which the event counts. A run knows its user time only where it timed its
 * faults; elsewhere none of the kernel's may pass for it. */
static double counted_ns(const struct cp_profile *profile)
{
	const double *metrics = profile->record.metrics;

	if (!profile->user_only)
		return metrics[CP_METRIC_CPU_NS];
	return metrics[CP_METRIC_FAULT_USER] * metrics[CP_METRIC_FAULTS];
}

double cp_profile_ns(const struct cp_profile *profile, double weight)
{
	double work = cp_profile_work(profile, NULL);

	if (!strcmp(profile->unit, "ns"))
		return weight / work;
	if (!(profile->weight > 0.0))
		return NAN;
	return weight / profile->weight * counted_ns(profile) / work;
}

char *cp_profile_name(size_t cell, const char *arm, char *buf, size_t size)
{
	char slug[80];
	size_t len = 0;

	for (; arm[len] && len < sizeof(slug) - 1; len++)
		slug[len] = isalnum((unsigned char)arm[len]) || strchr("._+", arm[len])
				    ? arm[len]
				    : '-';
	slug[len] = '\0';
	snprintf(buf, size, "%04zu-%s.json", cell, slug);
	return buf;
}

static int encode_symbol(json_t *list, const struct cp_profile_symbol *symbol,
			 struct cp_err *err)
{
	struct cp_json_out out = {json_object(), "symbols", err};
	int rc = cp_json_out_quote(&out, "symbol", symbol->symbol);

	if (!rc)
		rc = cp_json_out_quote(&out, "dso", symbol->dso);
	if (!rc)
		rc = cp_json_out_value(&out, "kernel", json_boolean(symbol->kernel));
	if (!rc)
		rc = cp_json_out_u64(&out, "samples", symbol->samples);
	if (!rc)
		rc = cp_json_out_double(&out, "weight", symbol->weight, true);
	if (!rc && json_array_append(list, out.object))
		rc = cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	json_decref(out.object);
	return rc;
}

static int encode_rest(const struct cp_json_out *root, const struct cp_profile *profile)
{
	struct cp_json_out out = {json_object(), "rest", root->err};
	int rc = cp_json_out_value(root, "rest", out.object);

	if (!rc)
		rc = cp_json_out_u64(&out, "symbols", profile->nr_rest);
	if (!rc)
		rc = cp_json_out_u64(&out, "samples", profile->rest_samples);
	if (!rc)
		rc = cp_json_out_double(&out, "weight", profile->rest_weight, true);
	return rc;
}

static int encode_record(const struct cp_json_out *root, const struct cp_record *record)
{
	char *line = cp_record_encode(record, root->err);
	json_t *object = NULL;
	int rc = line ? cp_json_parse(line, strlen(line), &object, NULL, root->err)
		      : -EINVAL;

	free(line);
	return rc ? rc : cp_json_out_value(root, "record", object);
}

static int encode(const struct cp_json_out *root, const struct cp_profile *profile)
{
	int rc = cp_json_out_u64(root, "schema", PROFILE_SCHEMA);

	if (!rc)
		rc = cp_json_out_text(root, "kind", "profile");
	if (!rc)
		rc = cp_json_out_text(root, "event", profile->event);
	if (!rc)
		rc = cp_json_out_u64(root, "frequency", profile->frequency);
	if (!rc)
		rc = cp_json_out_text(root, "unit", profile->unit);
	if (!rc)
		rc = cp_json_out_value(root, "user_only",
				       json_boolean(profile->user_only));
	if (!rc)
		rc = cp_json_out_value(root, "windowed", json_boolean(profile->windowed));
	if (!rc)
		rc = cp_json_out_u64(root, "samples", profile->samples);
	if (!rc)
		rc = cp_json_out_double(root, "weight", profile->weight, true);
	if (!rc)
		rc = encode_record(root, &profile->record);
	json_t *list = json_array();

	for (size_t i = 0; !rc && i < profile->nr_symbols; i++)
		rc = encode_symbol(list, &profile->symbols[i], root->err);
	if (!rc)
		rc = cp_json_out_value(root, "symbols", json_incref(list));
	json_decref(list);
	return rc ? rc : encode_rest(root, profile);
}

int cp_profile_write(const char *path, const struct cp_profile *profile,
		     struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	struct cp_file_new file;
	int rc = encode(&root, profile);

	if (!rc)
		rc = cp_file_new_open(path, &file, err);
	if (!rc) {
		json_dumpf(root.object, file.stream, JSON_INDENT(1));
		fputc('\n', file.stream);
		rc = cp_file_new_commit(&file, err);
	}
	json_decref(root.object);
	return rc;
}

static int decode_symbol(const json_t *value, struct cp_profile *profile,
			 struct cp_err *err)
{
	const struct cp_json_in in = {value, "symbols", err};
	struct cp_profile_symbol *symbol = &profile->symbols[profile->nr_symbols];
	int rc = json_is_object(value)
			 ? 0
			 : cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				      "'symbols' has what is none; expected objects");

	if (!rc)
		rc = cp_json_in_text(&in, "symbol", CP_JSON_REQUIRED, symbol->symbol,
				     sizeof(symbol->symbol));
	if (!rc)
		rc = cp_json_in_text(&in, "dso", CP_JSON_REQUIRED, symbol->dso,
				     sizeof(symbol->dso));
	if (!rc)
		rc = cp_json_in_bool(&in, "kernel", CP_JSON_REQUIRED, &symbol->kernel);
	if (!rc)
		rc = cp_json_in_u64(&in, "samples", CP_JSON_REQUIRED, 0, INT64_MAX,
				    &symbol->samples);
	if (!rc)
		rc = cp_json_in_double(&in, "weight", CP_JSON_REQUIRED, &symbol->weight);
	if (!rc)
		profile->nr_symbols++;
	return rc;
}

static int decode_symbols(const struct cp_json_in *root, struct cp_profile *profile)
{
	const json_t *list = json_object_get(root->object, "symbols");
	size_t nr = json_array_size(list);
	int rc = 0;

	if (!json_is_array(list) || nr > CP_PROFILE_SYMBOLS_MAX)
		return cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				  "'symbols' is no list of up to %d; expected one",
				  CP_PROFILE_SYMBOLS_MAX);
	profile->symbols = calloc(nr + 1, sizeof(*profile->symbols));
	if (!profile->symbols)
		return cp_err_set(root->err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory");
	for (size_t i = 0; i < nr && !rc; i++)
		rc = decode_symbol(json_array_get(list, i), profile, root->err);
	return rc;
}

static int decode_rest(const struct cp_json_in *root, struct cp_profile *profile)
{
	struct cp_json_in in = {0};
	uint64_t nr = 0;
	int rc = cp_json_in_object(root, "rest", CP_JSON_REQUIRED, "rest", &in);

	if (!rc)
		rc = cp_json_in_u64(&in, "symbols", CP_JSON_REQUIRED, 0, INT64_MAX, &nr);
	if (!rc)
		rc = cp_json_in_u64(&in, "samples", CP_JSON_REQUIRED, 0, INT64_MAX,
				    &profile->rest_samples);
	if (!rc)
		rc = cp_json_in_double(&in, "weight", CP_JSON_REQUIRED,
				       &profile->rest_weight);
	profile->nr_rest = (size_t)nr;
	return rc;
}

static int decode_record(const struct cp_json_in *root, struct cp_record *record)
{
	const json_t *value = json_object_get(root->object, "record");
	char *line = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;
	int rc = line ? cp_record_decode(line, strlen(line), record, root->err)
		      : cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				   "'record' is missing; expected the run it is of");

	free(line);
	return rc;
}

static int check_head(const struct cp_json_in *root, const struct cp_profile *profile,
		      const char *kind)
{
	uint64_t samples = profile->rest_samples;

	if (strcmp(kind, "profile") != 0)
		return cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				  "'kind' is '%s'; expected 'profile'", kind);
	if (strcmp(profile->unit, "ns") != 0 && strcmp(profile->unit, "cycles") != 0)
		return cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				  "'unit' is '%s'; expected ns or cycles", profile->unit);
	for (size_t i = 0; i < profile->nr_symbols; i++)
		samples += profile->symbols[i].samples;
	if (samples != profile->samples)
		return cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				  "its symbols have %llu samples; expected 'samples', "
				  "which is %llu",
				  (unsigned long long)samples,
				  (unsigned long long)profile->samples);
	return 0;
}

static int decode(const struct cp_json_in *root, struct cp_profile *profile)
{
	char kind[32] = "";
	int rc = cp_json_in_schema(root, PROFILE_SCHEMA);

	if (!rc)
		rc = cp_json_in_text(root, "kind", CP_JSON_REQUIRED, kind, sizeof(kind));
	if (!rc)
		rc = cp_json_in_text(root, "event", CP_JSON_REQUIRED, profile->event,
				     sizeof(profile->event));
	if (!rc)
		rc = cp_json_in_u32(root, "frequency", CP_JSON_REQUIRED, 1, UINT32_MAX,
				    &profile->frequency);
	if (!rc)
		rc = cp_json_in_text(root, "unit", CP_JSON_REQUIRED, profile->unit,
				     sizeof(profile->unit));
	if (!rc)
		rc = cp_json_in_bool(root, "user_only", CP_JSON_REQUIRED,
				     &profile->user_only);
	if (!rc)
		rc = cp_json_in_bool(root, "windowed", CP_JSON_REQUIRED,
				     &profile->windowed);
	if (!rc)
		rc = cp_json_in_u64(root, "samples", CP_JSON_REQUIRED, 0, INT64_MAX,
				    &profile->samples);
	if (!rc)
		rc = cp_json_in_double(root, "weight", CP_JSON_REQUIRED,
				       &profile->weight);
	if (!rc)
		rc = decode_record(root, &profile->record);
	if (!rc)
		rc = decode_symbols(root, profile);
	if (!rc)
		rc = decode_rest(root, profile);
	return rc ? rc : check_head(root, profile, kind);
}

int cp_profile_read(const char *path, struct cp_profile *ret, struct cp_err *err)
{
	struct cp_profile profile;
	json_t *object = NULL;
	char *text = NULL;
	size_t len = 0;
	int rc = cp_file_read(path, FILE_SIZE_MAX, &text, &len, err);

	if (rc)
		return rc;
	cp_profile_init(&profile);
	rc = cp_json_parse(text, len, &object, NULL, err);
	free(text);
	if (!rc)
		rc = decode(&(struct cp_json_in){object, "", err}, &profile);
	json_decref(object);
	if (rc) {
		cp_profile_free(&profile);
		cp_err_prefix(err, "'%s'", path);
		return rc;
	}
	*ret = profile;
	return 0;
}
