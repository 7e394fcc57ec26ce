/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/gate/compare.h"

static const char *interval_text(const struct cp_compare_row *row, char *buf, size_t size)
{
	/* exp(-inf) is 0: too few pairs for any bound */
	if (!isfinite(row->high) || !(row->low > 0))
		snprintf(buf, size, "too few");
	else
		snprintf(buf, size, "%.3f-%.3f", row->low, row->high);
	return buf;
}

static const char *provenance_text(const struct cp_compare_row *row, char *buf,
				   size_t size)
{
	const struct cp_provenance *a = &row->a->provenance, *b = &row->b->provenance;
	int len = snprintf(buf, size, "%s/%s/%s", b->media, b->attr, b->dma);

	if (!cp_gate_provenance_same(a, b) && len < (int)size)
		snprintf(buf + len, size - (size_t)len, " (was %s/%s/%s)", a->media,
			 a->attr, a->dma);
	return buf;
}

void cp_compare_write_text(const struct cp_compare *compare, FILE *out)
{
	int width = 4, metric = 6;

	fprintf(out, "A          %s\nB          %s\n", compare->a->path,
		compare->b->path);
	fprintf(out, "machine    fingerprint %s\n", compare->fingerprint);
	for (unsigned i = 0; i < compare->nr_notes; i++)
		fprintf(out, "note       %s\n", compare->notes[i]);
	for (size_t i = 0; i < compare->nr_rows; i++)
		if ((int)strlen(compare->rows[i].a->label) > width)
			width = (int)strlen(compare->rows[i].a->label);
	for (size_t i = 0; i < compare->nr_rows; i++) {
		int len = (int)strlen(cp_gate_metrics[compare->rows[i].metric].name);

		metric = len > metric ? len : metric;
	}
	fprintf(out, "\n%-*s  %-*s  %11s  %11s  %6s  %-13s  %-7s  %7s  %s\n", width,
		"cell", metric, "metric", "A", "B", "B/A", "95% interval", "from",
		"samples", "media/attr/dma");
	for (size_t i = 0; i < compare->nr_rows; i++) {
		const struct cp_compare_row *row = &compare->rows[i];
		char a[32], b[32], ratio[16], interval[32], provenance[256], n[48];

		if (isnan(row->ratio))
			snprintf(ratio, sizeof(ratio), "-");
		else
			snprintf(ratio, sizeof(ratio), "%.3f", row->ratio);
		snprintf(n, sizeof(n), "%zu/%zu", row->a->nr_samples, row->b->nr_samples);
		fprintf(out, "%-*s  %-*s  %11s  %11s  %6s  %-13s  %-7s  %7s  %s\n", width,
			row->a->label, metric, cp_gate_metrics[row->metric].name,
			cp_gate_value_format(row->metric, row->median_a, a, sizeof(a)),
			cp_gate_value_format(row->metric, row->median_b, b, sizeof(b)),
			ratio, interval_text(row, interval, sizeof(interval)),
			row->paired ? "pairs" : "medians", n,
			provenance_text(row, provenance, sizeof(provenance)));
	}
	for (size_t i = 0; i < compare->nr_only_a; i++)
		fprintf(out, "only in A: %s\n", compare->only_a[i]);
	for (size_t i = 0; i < compare->nr_only_b; i++)
		fprintf(out, "only in B: %s\n", compare->only_b[i]);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *provenance_json(const struct cp_provenance *p)
{
	return json_pack("{s:s,s:s,s:s}", "media", p->media, "attr", p->attr, "dma",
			 p->dma);
}

static json_t *row_json(const struct cp_compare_row *row)
{
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:s,s:I,s:I,s:o,s:o}", "cell",
			 row->a->label, "metric", cp_gate_metrics[row->metric].name, "a",
			 number(row->median_a), "b", number(row->median_b), "ratio",
			 number(row->ratio), "low",
			 row->low > 0 ? number(row->low) : json_null(), "high",
			 number(row->high), "interval", row->paired ? "pairs" : "medians",
			 "samples_a", (json_int_t)row->a->nr_samples, "samples_b",
			 (json_int_t)row->b->nr_samples, "provenance_a",
			 provenance_json(&row->a->provenance), "provenance_b",
			 provenance_json(&row->b->provenance));
}

int cp_compare_write_json(const struct cp_compare *compare, FILE *out)
{
	json_t *rows = json_array(), *notes = json_array();
	json_t *only_a = json_array(), *only_b = json_array();
	int rc = 0;

	for (size_t i = 0; i < compare->nr_rows; i++)
		rc |= json_array_append_new(rows, row_json(&compare->rows[i]));
	for (unsigned i = 0; i < compare->nr_notes; i++)
		rc |= json_array_append_new(notes, json_string(compare->notes[i]));
	for (size_t i = 0; i < compare->nr_only_a; i++)
		rc |= json_array_append_new(only_a, json_string(compare->only_a[i]));
	for (size_t i = 0; i < compare->nr_only_b; i++)
		rc |= json_array_append_new(only_b, json_string(compare->only_b[i]));
	json_t *root =
		json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "a", compare->a->path, "b",
			  compare->b->path, "fingerprint", compare->fingerprint, "rows",
			  rows, "only_a", only_a, "only_b", only_b, "notes", notes);

	if (rc || !root) {
		json_decref(root);
		return -ENOMEM;
	}
	rc = json_dumpf(root, out, JSON_INDENT(2)) ? -EIO : 0;
	fputc('\n', out);
	json_decref(root);
	return rc;
}
