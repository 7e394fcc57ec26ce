/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <string.h>

#include "bench/gate/output.h"

#define MDE_FORMULA "margin + (z(1 - 0.01/k) + z(0.80)) * sd(d) * sqrt((pi/3) / n)"
#define MDE_WORDS   "k metrics flagged as worse, n confirming pairs"

double cp_gate_row_pct(const struct cp_gate_row *row, double d)
{
	if (row->id < 0 || isnan(d))
		return NAN;
	if (cp_gate_is_counter((enum cp_gate_metric)row->id))
		return NAN;
	return fabs(cp_gate_pct((enum cp_gate_metric)row->id, d));
}

static bool is_ratio(const struct cp_gate_row *row)
{
	return row->id >= 0 && !cp_gate_is_counter((enum cp_gate_metric)row->id) &&
	       !isnan(row->hl);
}

const char *cp_gate_row_words(const struct cp_gate_row *row, char *buf, size_t size)
{
	enum cp_gate_metric metric = (enum cp_gate_metric)row->id;

	if (!is_ratio(row)) {
		snprintf(buf, size, "%s: %s", row->metric,
			 row->reason[0] ? row->reason : "as before");
		return buf;
	}
	int len = snprintf(buf, size, "%s %+.1f %%", row->metric,
			   cp_gate_pct(metric, row->hl));

	if (isfinite(row->upper) && len < (int)size)
		len += snprintf(buf + len, size - (size_t)len, " (at worst %+.1f %%)",
				cp_gate_pct(metric, row->upper));
	if (len < (int)size)
		len += snprintf(buf + len, size - (size_t)len, ", margin %.1f %%",
				cp_gate_row_pct(row, row->margin));
	if (row->reason[0] && len < (int)size)
		snprintf(buf + len, size - (size_t)len, "; %s", row->reason);
	return buf;
}

static const char *pct_text(double pct, bool sign, char *buf, size_t size)
{
	if (isfinite(pct))
		snprintf(buf, size, sign ? "%+.1f%%" : "%.1f%%", pct);
	else
		snprintf(buf, size, "-");
	return buf;
}

static const char *p_text(double p, char *buf, size_t size)
{
	if (isnan(p))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%.2g", p);
	return buf;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void write_side(const char *name, const struct cp_gate_set *set, FILE *out)
{
	fprintf(out, "%-9s  %s (%llu sample%s in %zu cell%s", name, set->path,
		(unsigned long long)set->nr_records, plural((size_t)set->nr_records),
		set->nr_cells, plural(set->nr_cells));
	if (set->has_manifest)
		fprintf(out, ", copypath %s, fingerprint %.15s", set->manifest.copypath,
			set->manifest.fingerprint);
	else
		fprintf(out, ", fingerprint unknown");
	fprintf(out, ")\n");
}

static void write_rules(const struct cp_gate_rules *rules, FILE *out)
{
	fprintf(out, "rules      %s:", rules->name);
	for (int m = 0; m < CP_GATE_NR_TIMED; m++)
		if (isnan(rules->margin_pct[m]))
			fprintf(out, " %s off", cp_gate_metric_words[m]);
		else
			fprintf(out, " %s %g%%", cp_gate_metric_words[m],
				rules->margin_pct[m]);
	if (rules->nr_allow)
		fprintf(out, ", %u trade rule%s", rules->nr_allow,
			plural(rules->nr_allow));
	fprintf(out, "\n");
}

/* Counters that are as before say nothing and would bury what does. */
static bool is_quiet(const struct cp_gate_row *row)
{
	return row->id >= 0 && cp_gate_is_counter((enum cp_gate_metric)row->id) &&
	       row->verdict == CP_VERDICT_OK;
}

/* "native/native/software", as every figure carries it; "-" where there is no figure. */
static const char *provenance_text(const struct cp_gate_row *row, char *buf, size_t size)
{
	const struct cp_provenance *p = row->provenance;

	if (p)
		snprintf(buf, size, "%s/%s/%s", p->media, p->attr, p->dma);
	else
		snprintf(buf, size, "-");
	return buf;
}

static void write_row(const struct cp_gate_row *row, int width, FILE *out)
{
	char provenance[3 * CP_WORD_MAX + 4];
	char a[32], b[32], change[16], worst[16], margin[16], p[16], mde[16];
	enum cp_gate_metric metric =
		row->id < 0 ? CP_GATE_NR_ALL : (enum cp_gate_metric)row->id;
	bool ratio = is_ratio(row);

	fprintf(out,
		"%-12s  %-*s  %-9s  %10s  %10s  %8s  %8s  %6s  %8s  %5zu  %7s  "
		"%s\n",
		cp_verdict_names[row->verdict], width, row->cell, row->metric,
		cp_gate_value_format(metric, row->median_a, a, sizeof(a)),
		cp_gate_value_format(metric, row->median_b, b, sizeof(b)),
		pct_text(ratio ? cp_gate_pct(metric, row->hl) : NAN, true, change,
			 sizeof(change)),
		pct_text(ratio ? cp_gate_pct(metric, row->upper) : NAN, true, worst,
			 sizeof(worst)),
		pct_text(cp_gate_row_pct(row, row->margin), false, margin,
			 sizeof(margin)),
		p_text(row->p, p, sizeof(p)), row->pairs,
		pct_text(cp_gate_row_pct(row, row->mde), false, mde, sizeof(mde)),
		provenance_text(row, provenance, sizeof(provenance)));
	if (row->reason[0])
		fprintf(out, "%-12s  %s\n", "", row->reason);
}

static void write_counts(const struct cp_gate_report *report, FILE *out)
{
	for (int v = CP_VERDICT_NR - 1; v >= 0; v--)
		if (report->counts[v])
			fprintf(out, "%zu %s%s", report->counts[v], cp_verdict_names[v],
				v == CP_VERDICT_OK ? "" : ", ");
	fprintf(out, "\n");
}

void cp_gate_write_text(const struct cp_gate_output *output, FILE *out)
{
	const struct cp_gate_report *report = output->report;
	int width = 4;

	fprintf(out, "gate: %s (exit %d)\n", cp_verdict_names[report->verdict],
		(int)report->exit);
	write_side("baseline", output->baseline, out);
	write_side("candidate", output->candidate, out);
	write_rules(output->rules, out);
	for (unsigned i = 0; i < report->nr_notes; i++)
		fprintf(out, "note       %s\n", report->notes[i]);
	for (size_t i = 0; i < report->nr_rows; i++)
		if ((int)strlen(report->rows[i].cell) > width)
			width = (int)strlen(report->rows[i].cell);
	fprintf(out,
		"\n%-12s  %-*s  %-9s  %10s  %10s  %8s  %8s  %6s  %8s  %5s  %7s  %s\n",
		"verdict", width, "cell", "metric", "baseline", "candidate", "change",
		"at worst", "margin", "p", "pairs", "mde", "media/attr/dma");
	for (size_t i = 0; i < report->nr_rows; i++)
		if (!is_quiet(&report->rows[i]))
			write_row(&report->rows[i], width, out);
	fprintf(out, "\n");
	write_counts(report, out);
	fprintf(out, "change    Hodges-Lehmann estimate of the confirming pairs; at "
		     "worst: its one-sided "
		     "95%% bound\n"
		     "p         exact signed-rank on d - margin, Holm-adjusted where the "
		     "screen flagged\n"
		     "mde       " MDE_FORMULA ",\n          " MDE_WORDS "\n");
}

/* Markdown table cells: a pipe would end one, '<' could start HTML. */
static void write_md(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\' || *text == '`' || *text == '*' ||
		    *text == '_')
			fputc('\\', out);
		if (*text == '<')
			fputs("&lt;", out);
		else
			fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

void cp_gate_write_markdown(const struct cp_gate_output *output, FILE *out)
{
	const struct cp_gate_report *report = output->report;
	char text[1024], mde[16], provenance[3 * CP_WORD_MAX + 4];

	fprintf(out, "## copypath gate: %s\n\n", cp_verdict_names[report->verdict]);
	fprintf(out, "Baseline ");
	write_md(output->baseline->path, out);
	fprintf(out, ", candidate ");
	write_md(output->candidate->path, out);
	fprintf(out, ": ");
	write_counts(report, out);
	fprintf(out, "\n");
	for (unsigned i = 0; i < report->nr_notes; i++) {
		fprintf(out, "- ");
		write_md(report->notes[i], out);
		fprintf(out, "\n");
	}
	fprintf(out, "\n| verdict | cell | what | p | pairs | mde | media/attr/dma |\n"
		     "|---|---|---|--:|--:|--:|---|\n");
	for (size_t i = 0; i < report->nr_rows; i++) {
		const struct cp_gate_row *row = &report->rows[i];
		char p[16];

		if (is_quiet(row))
			continue;
		fprintf(out, "| %s | ", cp_verdict_names[row->verdict]);
		write_md(row->cell, out);
		fprintf(out, " | ");
		write_md(cp_gate_row_words(row, text, sizeof(text)), out);
		fprintf(out, " | %s | %zu | %s | ", p_text(row->p, p, sizeof(p)),
			row->pairs,
			pct_text(cp_gate_row_pct(row, row->mde), false, mde,
				 sizeof(mde)));
		write_md(provenance_text(row, provenance, sizeof(provenance)), out);
		fprintf(out, " |\n");
	}
	fprintf(out, "\nmde: " MDE_FORMULA ", " MDE_WORDS "\n");
}
