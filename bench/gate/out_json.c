/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "bench/gate/output.h"

/* JSON has no infinity and no NaN. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *provenance(const struct cp_provenance *p)
{
	if (!p)
		return json_null();
	return json_pack("{s:s,s:s,s:s}", "media", p->media, "attr", p->attr, "dma",
			 p->dma);
}

static json_t *row_json(const struct cp_gate_row *row)
{
	bool ratio = row->id >= 0 && row->id < CP_GATE_NR_TIMED;
	double change = ratio ? cp_gate_pct((enum cp_gate_metric)row->id, row->hl) : NAN;

	return json_pack(
		"{s:s,s:s,s:s,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,"
		"s:o}",
		"cell", row->cell, "metric", row->metric, "verdict",
		cp_verdict_names[row->verdict], "hl", number(row->hl), "margin",
		number(row->margin), "p", number(row->p), "pairs", (json_int_t)row->pairs,
		"mde", number(row->mde), "lower", number(row->lower), "upper",
		number(row->upper), "p_screen", number(row->p_screen), "change_pct",
		number(change), "baseline", number(row->median_a), "candidate",
		number(row->median_b), "pairs_needed",
		row->needed ? json_integer((json_int_t)row->needed) : json_null(),
		"reason", row->reason[0] ? json_string(row->reason) : json_null(),
		"provenance", provenance(row->provenance));
}

static json_t *side_json(const struct cp_gate_set *set)
{
	return json_pack("{s:s,s:s,s:I,s:I,s:o}", "path", set->path, "run", set->run,
			 "samples", (json_int_t)set->nr_records, "cells",
			 (json_int_t)set->nr_cells, "fingerprint",
			 set->has_manifest ? json_string(set->manifest.fingerprint)
					   : json_null());
}

int cp_gate_write_json(const struct cp_gate_output *output, FILE *out)
{
	const struct cp_gate_report *report = output->report;
	json_t *metrics = json_array(), *notes = json_array();
	int rc = 0;

	for (size_t i = 0; i < report->nr_rows; i++)
		rc |= json_array_append_new(metrics, row_json(&report->rows[i]));
	for (unsigned i = 0; i < report->nr_notes; i++)
		rc |= json_array_append_new(notes, json_string(report->notes[i]));
	json_t *root =
		json_pack("{s:s,s:i,s:o,s:o,s:o,s:s,s:o}", "verdict",
			  cp_verdict_names[report->verdict], "exit", (int)report->exit,
			  "metrics", metrics, "baseline", side_json(output->baseline),
			  "candidate", side_json(output->candidate), "rules",
			  output->rules->name, "notes", notes);

	if (rc || !root) {
		json_decref(root);
		return -ENOMEM;
	}
	rc = json_dumpf(root, out, JSON_INDENT(2)) ? -EIO : 0;
	fputc('\n', out);
	json_decref(root);
	return rc;
}
