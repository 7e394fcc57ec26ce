// SPDX-License-Identifier: GPL-2.0-only
/* Profiles on the page, as CSV, and as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"

#define ROWS_MAX 30 /* of a pair, on a page; the others are one row */
#define MB	 1e6

static const char within_noise[] = "within noise";

void cp_report_profiles_table(const struct cp_report *report,
			      struct cp_report_table *table)
{
	static const char *const header[] = {"rw",    "bs",	 "jobs",    "iodepth",
					     "on",    "arm",	 "symbol",  "in",
					     "event", "samples", "share %", "CPU ns/IO"};
	const struct cp_report_profiles *profiles = report->profiles;

	cp_report_table_init(table, "profiles",
			     "Every symbol of every profile, per I/O of its own run",
			     "lrrrllllrrrr", header);
	for (size_t i = 0; profiles && i < profiles->nr; i++) {
		const struct cp_profile *profile = &profiles->list[i];
		const struct cp_context *c = &profile->record.context;
		char where[400], bs[24];

		for (size_t s = 0; s < profile->nr_symbols; s++) {
			const struct cp_profile_symbol *symbol = &profile->symbols[s];

			cp_report_table_add(table, "%s", c->rw);
			cp_report_table_add(table, "%s",
					    cp_report_size_words(c->bs, bs, sizeof(bs)));
			cp_report_table_add(table, "%u", c->numjobs);
			cp_report_table_add(table, "%u", c->iodepth);
			cp_report_table_add(
				table, "%s%s", profile->record.host,
				cp_report_context_words(c, &profile->record.provenance,
							where, sizeof(where)));
			cp_report_table_add(table, "%s", profile->record.arm.name);
			cp_report_table_add(table, "%s", symbol->symbol);
			cp_report_table_add(table, "%s", symbol->dso);
			cp_report_table_add(table, "%s", profile->event);
			cp_report_table_add(table, "%" PRIu64, symbol->samples);
			cp_report_table_number(table,
					       100 * symbol->weight / profile->weight, 2);
			cp_report_table_number(table,
					       cp_profile_ns(profile, symbol->weight), 2);
		}
	}
}

static void add_row(const struct cp_report_profile_pair *pair,
		    const struct cp_report_profile_row *row,
		    struct cp_report_table *table)
{
	cp_report_table_add(table, "%s", row->symbol);
	cp_report_table_add(table, "%s", row->kernel ? "kernel" : row->dso);
	for (int side = 0; side < 2; side++) {
		cp_report_table_number(table, row->ns[side], 1);
		cp_report_table_number(table, 100 * row->ns[side] / pair->total.ns[side],
				       1);
	}
	if (isfinite(row->change_ns))
		cp_report_table_add(table, "%+.1f", row->change_ns);
	else
		cp_report_table_add(table, "%s", "");
	cp_report_table_number(table, row->noise_ns, 1);
	cp_report_table_add(table, "%" PRIu64 " / %" PRIu64, row->samples[0],
			    row->samples[1]);
	cp_report_table_add(table, "%s", row->sure ? "" : within_noise);
}

/* The rows that are not shown one by one, so that the columns add up to "all". */
static void sum_up(struct cp_report_profile_row *sum,
		   const struct cp_report_profile_row *row)
{
	for (int side = 0; side < 2; side++) {
		sum->samples[side] += row->samples[side];
		sum->ns[side] += row->ns[side];
	}
	sum->change_ns += row->change_ns;
	sum->noise_ns = hypot(sum->noise_ns, row->noise_ns);
	sum->sure = fabs(sum->change_ns) > sum->noise_ns;
}

/* One by one: what changed, and what costs 1 % of a side though it did not. */
static bool worth_a_row(const struct cp_report_profile_pair *pair,
			const struct cp_report_profile_row *row)
{
	return row->sure || row->ns[0] > pair->total.ns[0] / 100 ||
	       row->ns[1] > pair->total.ns[1] / 100;
}

/* Text of the header lives in buf while the table is made (it is copied). */
static void make_pair(const struct cp_report_profile_pair *pair,
		      struct cp_report_table *table)
{
	const char *word;

	cp_profile_work(pair->side[0], &word);
	struct cp_report_profile_row others = {.dso = ""};
	char a[64], b[64], change[64], noise[64], name[64];
	size_t nr_others = 0;
	const char *const header[] = {"symbol", "in",	a,     "A %",		b,
				      "B %",	change, noise, "samples A / B", "note"};

	snprintf(a, sizeof(a), "A ns/%s", word);
	snprintf(b, sizeof(b), "B ns/%s", word);
	snprintf(change, sizeof(change), "change ns/%s", word);
	snprintf(noise, sizeof(noise), "noise ns/%s", word);
	cp_report_table_init(
		table, "profile-pair",
		"CPU time by symbol, divided by what the run delivered. change: B - A, "
		"the largest first; noise: two standard deviations of it by the samples "
		"(sqrt(n) a side), of one run each: what the machine did between the two "
		"is "
		"not in it. Rows within noise stand last and say nothing of the two arms",
		"llrrrrrrrl", header);
	table->dim = within_noise;
	add_row(pair, &pair->total, table);
	others.symbol = name;
	for (size_t i = 0, shown = 0; i < pair->nr; i++) {
		if (shown < ROWS_MAX && worth_a_row(pair, &pair->rows[i])) {
			add_row(pair, &pair->rows[i], table);
			shown++;
		} else {
			sum_up(&others, &pair->rows[i]);
			nr_others++;
		}
	}
	snprintf(name, sizeof(name), "(%zu others)", nr_others);
	if (nr_others)
		add_row(pair, &others, table);
}

/* What the samples of the cell had, which nobody sampled; NaN without any. */
static double unsampled_iops(const struct cp_report *report,
			     const struct cp_profile *profile)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!strcmp(cell->host, profile->record.host) && cell->n &&
		    cp_context_same(&cell->context, &profile->record.context) &&
		    cp_arm_same(&report->arms[cell->arm].arm, &profile->record.arm))
			return cell->values[VALUE_IOPS].median;
	}
	return NAN;
}

static void delivered(const struct cp_report *report, const struct cp_profile *profile,
		      char *buf, size_t size)
{
	const double *metrics = profile->record.metrics;
	double unsampled = unsampled_iops(report, profile),
	       rate = metrics[CP_METRIC_IOPS];
	const char *word;
	double work = cp_profile_work(profile, &word);
	size_t len;

	if (strcmp(word, "I/O") != 0)
		rate = work / metrics[CP_METRIC_ELAPSED_NS] * 1e9;
	len = (size_t)snprintf(buf, size, "%.0f %ss/s", rate, word);
	if (isfinite(metrics[CP_METRIC_BW]) && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", %.0f MB/s",
					metrics[CP_METRIC_BW] / MB);
	if (isfinite(metrics[CP_METRIC_CPU_NS]) && len < size)
		len += (size_t)snprintf(buf + len, size - len,
					", %.0f ns of CPU an %s, %.0f %% of one CPU",
					metrics[CP_METRIC_CPU_NS] / work, word,
					100 * metrics[CP_METRIC_CPU_NS] /
						metrics[CP_METRIC_ELAPSED_NS]);
	if (isfinite(unsampled) && !strcmp(word, "I/O") && len < size)
		len += (size_t)snprintf(buf + len, size - len,
					" (its samples, without perf: %.0f I/Os/s)",
					unsampled);
	if (len < size)
		len += (size_t)snprintf(
			buf + len, size - len, "; %" PRIu64 " samples of %s at %u Hz",
			profile->samples, profile->event, profile->frequency);
	if (!strcmp(profile->unit, "ns") && isfinite(metrics[CP_METRIC_CPU_NS]) &&
	    len < size)
		len += (size_t)snprintf(
			buf + len, size - len, ", %.0f %% of its CPU time",
			100 * profile->weight / metrics[CP_METRIC_CPU_NS]);
	if (len < size)
		snprintf(buf + len, size - len, "%s%s",
			 profile->user_only ? "; user mode only" : "",
			 profile->windowed ? "" : "; over the whole process");
}

/* What the table says first. false: nothing that is above the noise. */
static bool headline(const struct cp_report_profile_pair *pair, char *buf, size_t size)
{
	const struct cp_report_profile_row *total = &pair->total;
	const char *word;
	size_t len;

	cp_profile_work(pair->side[0], &word);
	if (!isfinite(total->change_ns))
		return false;
	if (!total->sure)
		len = (size_t)snprintf(buf, size,
				       "In sum, A and B do not differ by more than the "
				       "noise of sampling (%.0f ns of CPU an %s).",
				       total->noise_ns, word);
	else
		len = (size_t)snprintf(buf, size,
				       "B takes %.0f ns of CPU an %s %s than A (%.2f "
				       "times as much).",
				       fabs(total->change_ns), word,
				       total->change_ns > 0 ? "more" : "less",
				       total->ns[1] / total->ns[0]);
	for (size_t i = 0; i < pair->nr && i < 3 && pair->rows[i].sure && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s %s %+.0f",
					i ? "," : " Most of what changed:",
					pair->rows[i].symbol, pair->rows[i].change_ns);
	if (len < size && pair->nr && pair->rows[0].sure)
		snprintf(buf + len, size - len, ".");
	return true;
}

static void write_pair(const struct cp_report *report,
		       const struct cp_report_profile_pair *pair,
		       struct cp_report_doc *doc)
{
	const struct cp_record *record = &pair->side[0]->record;
	struct cp_report_table table;
	char load[120], where[400], bs[24], text[600];

	snprintf(text, sizeof(text), "Profiles: %s beside %s", record->arm.name,
		 pair->side[1]->record.arm.name);
	doc->ops->section(doc, text);
	cp_report_doc_para(doc, "%s %s, %s, %s%s", record->context.rw,
			   cp_report_size_words(record->context.bs, bs, sizeof(bs)),
			   cp_report_load_words(&record->context, load, sizeof(load)),
			   record->host,
			   cp_report_context_words(&record->context, &record->provenance,
						   where, sizeof(where)));
	doc->ops->list(doc, true);
	for (int side = 0; side < 2; side++) {
		const struct cp_profile *profile = pair->side[side];

		delivered(report, profile, text, sizeof(text));
		cp_report_doc_item(doc, "%s is %s: %s", side ? "B" : "A",
				   profile->record.arm.name, text);
	}
	doc->ops->list(doc, false);
	if (strcmp(pair->side[0]->event, pair->side[1]->event) != 0)
		cp_report_doc_note(doc,
				   "A was sampled by %s, B by %s: compare with care.",
				   pair->side[0]->event, pair->side[1]->event);
	if (headline(pair, text, sizeof(text)))
		doc->ops->para(doc, text);
	make_pair(pair, &table);
	if (!table.failed)
		doc->ops->table(doc, &table);
	cp_report_table_free(&table);
}

void cp_report_profiles_write(const struct cp_report *report, struct cp_report_doc *doc)
{
	const struct cp_report_profiles *profiles = report->profiles;

	for (size_t i = 0; profiles && i < profiles->nr_pairs; i++)
		write_pair(report, &profiles->pairs[i], doc);
}

/* Columns as wide as their widest; text to the left, numbers to the right. */
static void print_table(const struct cp_report_table *table, FILE *out)
{
	size_t columns = strlen(table->align);
	int widths[CP_REPORT_COLUMNS_MAX] = {0};

	for (size_t i = 0; i < table->nr_cells; i++) {
		int len = (int)strlen(table->cells[i]);

		if (len > widths[i % columns])
			widths[i % columns] = len;
	}
	for (size_t i = 0; i < table->nr_cells; i++) {
		size_t c = i % columns;
		bool last = c + 1 == columns;
		int width = last ? 0 : table->align[c] == 'l' ? -widths[c] : widths[c];

		if (last) /* no blanks at the end of a line */
			fprintf(out, "%s%s\n", table->cells[i][0] ? "  " : "",
				table->cells[i]);
		else
			fprintf(out, "%s%*s", c ? "  " : "", width, table->cells[i]);
	}
}

void cp_report_profile_text(const struct cp_report *report, FILE *out)
{
	const struct cp_report_profiles *profiles = report->profiles;

	for (size_t i = 0; profiles && i < profiles->nr_pairs; i++) {
		const struct cp_report_profile_pair *pair = &profiles->pairs[i];
		const struct cp_context *c = &pair->side[0]->record.context;
		struct cp_report_table table;
		char load[120], bs[24], text[600];

		fprintf(out, "\nCPU time by symbol: %s %s, %s\n", c->rw,
			cp_report_size_words(c->bs, bs, sizeof(bs)),
			cp_report_load_words(c, load, sizeof(load)));
		for (int side = 0; side < 2; side++) {
			delivered(report, pair->side[side], text, sizeof(text));
			fprintf(out, "%s is %s: %s\n", side ? "B" : "A",
				pair->side[side]->record.arm.name, text);
		}
		if (headline(pair, text, sizeof(text)))
			fprintf(out, "%s\n", text);
		make_pair(pair, &table);
		if (!table.failed)
			print_table(&table, out);
		cp_report_table_free(&table);
	}
}
