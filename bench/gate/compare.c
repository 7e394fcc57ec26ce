/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/compare.h"
#include "engines/base/yaml.h"
#include "results/stats.h"

static const char *filter_value(const struct cp_compare_filter *filter,
				const struct cp_context *context,
				const struct cp_arm *arm, char *buf, size_t size)
{
	if (!filter->field)
		return arm->name;
	const void *obj = filter->of_arm ? (const void *)arm : (const void *)context;

	return cp_field_format(filter->field, obj, true, buf, size);
}

int cp_compare_filter_parse(const char *text, struct cp_compare_filter *ret_filter,
			    struct cp_err *err)
{
	struct cp_compare_filter filter = {0};
	struct cp_context context;
	struct cp_arm arm;
	char key[64], buf[256];
	const char *eq = strchr(text, '=');

	if (!eq || eq == text || (size_t)(eq - text) >= sizeof(key))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "filter '%s' is not key=value; expected e.g. rw=read",
				  text);
	memcpy(key, text, (size_t)(eq - text));
	key[eq - text] = '\0';
	if (!strcmp(key, "name") || !strcmp(key, "arm")) {
		if (strlen(eq + 1) >= sizeof(filter.value))
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "the name in filter '%.40s...' is too long",
					  text);
		snprintf(filter.value, sizeof(filter.value), "%s", eq + 1);
		*ret_filter = filter;
		return 0;
	}
	cp_context_init(&context);
	cp_arm_init(&arm);
	filter.field = cp_field_find(cp_context_fields, key);
	if (!filter.field) {
		filter.field = cp_field_find(cp_arm_fields, key);
		filter.of_arm = true;
	}
	if (!filter.field)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"unknown key '%s' in a filter; expected a word of a context "
			"or arm such as rw, bs, iodepth, queue_mode, or name",
			key);
	int rc = cp_field_parse(filter.field,
				filter.of_arm ? (void *)&arm : (void *)&context, eq + 1,
				err);

	if (rc) {
		cp_err_prefix(err, "filter '%s': ", text);
		err->exit = CP_EXIT_USAGE;
		return rc;
	}
	snprintf(filter.value, sizeof(filter.value), "%s",
		 filter_value(&filter, &context, &arm, buf, sizeof(buf)));
	*ret_filter = filter;
	return 0;
}

static bool is_wanted(const struct cp_gate_cell *cell, const struct cp_compare_opts *opts)
{
	char buf[256];

	for (unsigned i = 0; i < opts->nr_filters; i++)
		if (strcmp(filter_value(&opts->filters[i], &cell->context, &cell->arm,
					buf, sizeof(buf)),
			   opts->filters[i].value) != 0)
			return false;
	return true;
}

static void note(struct cp_compare *compare, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct cp_compare *compare, const char *fmt, ...)
{
	const unsigned max = sizeof(compare->notes) / sizeof(compare->notes[0]);
	va_list args;

	if (compare->nr_notes == max)
		return;
	va_start(args, fmt);
	vsnprintf(compare->notes[compare->nr_notes++], sizeof(compare->notes[0]), fmt,
		  args);
	va_end(args);
}

static void note_manifests(struct cp_compare *compare)
{
	const struct cp_gate_set *a = compare->a, *b = compare->b;
	char diff[560];

	if (a->nr_failed || b->nr_failed)
		note(compare, "failed samples are left out: %llu of A, %llu of B",
		     (unsigned long long)a->nr_failed, (unsigned long long)b->nr_failed);
	if (a->nr_duplicates || b->nr_duplicates)
		note(compare, "duplicated samples: %llu in A, %llu in B",
		     (unsigned long long)a->nr_duplicates,
		     (unsigned long long)b->nr_duplicates);
	compare->fingerprint = "unknown";
	if (!a->has_manifest || !b->has_manifest) {
		note(compare, "%s no manifest: the machines may differ",
		     a->has_manifest   ? "B has"
		     : b->has_manifest ? "A has"
				       : "neither side has a manifest, so");
		return;
	}
	compare->fingerprint = "same";
	if (strcmp(a->manifest.fingerprint, b->manifest.fingerprint) != 0) {
		compare->fingerprint = "differs";
		note(compare, "the machines differ: %s",
		     cp_gate_hard_diff(&a->manifest, &b->manifest, diff, sizeof(diff)));
	}
	if (!a->manifest.complete || !b->manifest.complete)
		note(compare, "not complete: %s",
		     a->manifest.complete   ? "B"
		     : b->manifest.complete ? "A"
					    : "A and B");
}

static size_t values_of(const struct cp_gate_cell *cell, enum cp_gate_metric metric,
			double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < cell->nr_samples; i++)
		if (!isnan(cell->samples[i].value[metric]))
			values[n++] = cell->samples[i].value[metric];
	return n;
}

/* scratch: room for the samples of a, of b, and of the pairs */
static bool fill_row(struct cp_compare_row *row, double *scratch)
{
	double *va = scratch, *vb = va + row->a->nr_samples, *d = vb + row->b->nr_samples;
	size_t na = values_of(row->a, row->metric, va);
	size_t nb = values_of(row->b, row->metric, vb);
	double low_a, high_a, low_b, high_b;
	bool positive = true;

	/* what few records have is only of use where both do */
	if (row->metric >= CP_GATE_NR ? !na || !nb : !na && !nb)
		return false;
	row->median_a = cp_stat_median(va, na);
	row->median_b = cp_stat_median(vb, nb);
	row->ratio = row->low = row->high = row->worse = NAN;
	for (size_t i = 0; i < na; i++)
		positive &= va[i] > 0;
	for (size_t i = 0; i < nb; i++)
		positive &= vb[i] > 0;
	if (!na || !nb || !positive)
		return true;
	row->paired = na == nb && na == row->a->nr_samples && nb == row->b->nr_samples &&
		      na <= CP_SIGNED_RANK_MAX && !row->a->nr_failed &&
		      !row->b->nr_failed && !row->a->nr_verified && !row->b->nr_verified;
	if (row->paired) {
		for (size_t i = 0; i < na; i++)
			d[i] = log(vb[i] / va[i]);
		row->ratio =
			exp(cp_stat_hodges_lehmann(d, na, 0.95, &row->low, &row->high));
		row->low = exp(row->low);
		row->high = exp(row->high);
	} else {
		row->ratio = row->median_b / row->median_a;
		cp_stat_median_interval(va, na, 0.95, &low_a, &high_a);
		cp_stat_median_interval(vb, nb, 0.95, &low_b, &high_b);
		row->low = low_b / high_a;
		row->high = high_b / low_a;
	}
	row->worse = log(row->ratio);
	if (cp_gate_metrics[row->metric].more_is_better)
		row->worse = -row->worse;
	return true;
}

static int by_cell(const void *x, const void *y)
{
	const struct cp_compare_row *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1; /* order of appearance */
	return (int)a->metric - (int)b->metric;
}

static int by_ratio(const void *x, const void *y)
{
	const struct cp_compare_row *a = x, *b = y;
	/* what has no ratio needs a look first */
	double wa = isnan(a->worse) ? INFINITY : a->worse;
	double wb = isnan(b->worse) ? INFINITY : b->worse;

	if (wa != wb)
		return wa > wb ? -1 : 1;
	return by_cell(x, y);
}

static size_t most_samples(const struct cp_gate_set *set)
{
	size_t most = 0;

	for (size_t i = 0; i < set->nr_cells; i++)
		if (set->cells[i].nr_samples > most)
			most = set->cells[i].nr_samples;
	return most;
}

static void fill_rows(struct cp_compare *compare, const struct cp_compare_opts *opts,
		      double *scratch)
{
	for (size_t i = 0; i < compare->a->nr_cells; i++) {
		const struct cp_gate_cell *x = &compare->a->cells[i];
		const struct cp_gate_cell *y = cp_gate_set_find(compare->b, x->key);

		if (!is_wanted(x, opts))
			continue;
		if (!y) {
			compare->only_a[compare->nr_only_a++] = x->label;
			continue;
		}
		for (int m = 0; m < CP_GATE_NR_ALL; m++) {
			struct cp_compare_row *row = &compare->rows[compare->nr_rows];

			if (!(opts->metrics & 1U << m) ||
			    cp_gate_is_counter((enum cp_gate_metric)m))
				continue;
			memset(row, 0, sizeof(*row));
			row->a = x;
			row->b = y;
			row->metric = (enum cp_gate_metric)m;
			compare->nr_rows += fill_row(row, scratch);
		}
	}
	for (size_t i = 0; i < compare->b->nr_cells; i++) {
		const struct cp_gate_cell *y = &compare->b->cells[i];

		if (is_wanted(y, opts) && !cp_gate_set_find(compare->a, y->key))
			compare->only_b[compare->nr_only_b++] = y->label;
	}
}

static void note_rows(struct cp_compare *compare)
{
	size_t unpaired = 0, provenance = 0;

	for (size_t i = 0; i < compare->nr_rows; i++) {
		const struct cp_compare_row *row = &compare->rows[i];

		unpaired += !row->paired;
		provenance += !cp_gate_provenance_same(&row->a->provenance,
						       &row->b->provenance);
	}
	if (unpaired)
		note(compare,
		     "%zu rows are not paired (unequal, failed or verified samples): "
		     "their ratios "
		     "and "
		     "intervals are from medians",
		     unpaired);
	if (compare->a->nr_verified || compare->b->nr_verified)
		note(compare,
		     "left out: %llu samples of A and %llu of B had verify on, so their "
		     "figures hold the time of the check",
		     (unsigned long long)compare->a->nr_verified,
		     (unsigned long long)compare->b->nr_verified);
	if (provenance)
		note(compare, "%zu rows compare figures of different provenance",
		     provenance);
}

int cp_compare_make(const struct cp_gate_set *a, const struct cp_gate_set *b,
		    const struct cp_compare_opts *opts, struct cp_compare *ret_compare,
		    struct cp_err *err)
{
	struct cp_compare compare = {.a = a, .b = b};
	size_t most = most_samples(a) + most_samples(b);
	double *scratch = calloc(2 * most + 1, sizeof(*scratch));

	compare.rows = calloc(a->nr_cells * CP_GATE_NR_ALL + 1, sizeof(*compare.rows));
	compare.only_a = calloc(a->nr_cells + 1, sizeof(*compare.only_a));
	compare.only_b = calloc(b->nr_cells + 1, sizeof(*compare.only_b));
	if (!scratch || !compare.rows || !compare.only_a || !compare.only_b) {
		free(scratch);
		cp_compare_free(&compare);
		return cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	}
	note_manifests(&compare);
	fill_rows(&compare, opts, scratch);
	free(scratch);
	note_rows(&compare);
	qsort(compare.rows, compare.nr_rows, sizeof(*compare.rows),
	      opts->by_cell ? by_cell : by_ratio);
	*ret_compare = compare;
	return 0;
}

void cp_compare_free(struct cp_compare *compare)
{
	free(compare->rows);
	free(compare->only_a);
	free(compare->only_b);
	memset(compare, 0, sizeof(*compare));
}
