// SPDX-License-Identifier: GPL-2.0-only
/* The page from top to bottom, and the report as a whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policies/objective.h"
#include "report/escape.h"
#include "report/offload.h"
#include "report/paths.h"
#include "report/profile.h"

static const char *const figure_titles[] = {
	[FIGURE_BANDWIDTH] = "Bandwidth by block size",
	[FIGURE_CPU] = "CPU against bandwidth",
	[FIGURE_MAP] = "The policy as a map",
};

static size_t count_drawn(const struct cp_report_page *page,
			  enum cp_report_figure_kind kind)
{
	size_t drawn = 0;

	for (size_t i = 0; i < page->figures->nr; i++)
		drawn += page->figures->list[i].kind == kind &&
			 page->figures->list[i].drawn;
	return drawn;
}

int cp_report_page_pictures(const struct cp_report_page *page, struct cp_report_doc *doc,
			    enum cp_report_figure_kind kind, struct cp_err *err)
{
	int rc = 0;

	if (!count_drawn(page, kind))
		return 0;
	doc->ops->pictures(doc, true);
	for (size_t i = 0; i < page->figures->nr && !rc; i++) {
		const struct cp_report_figure *figure = &page->figures->list[i];
		const struct cp_report_picture picture = {.name = figure->name,
							  .caption = figure->caption};

		if (figure->kind == kind && figure->drawn)
			rc = doc->ops->picture(doc, &picture, err);
	}
	doc->ops->pictures(doc, false);
	return rc;
}

static int put_figures(const struct cp_report_page *page, struct cp_report_doc *doc,
		       enum cp_report_figure_kind kind, struct cp_err *err)
{
	if (!count_drawn(page, kind))
		return 0;
	doc->ops->section(doc, figure_titles[kind]);
	return cp_report_page_pictures(page, doc, kind, err);
}

static void put_table(const struct cp_report_page *page, struct cp_report_doc *doc,
		      enum cp_report_table_id id, const char *section)
{
	if (!cp_report_table_rows(&page->tables[id]))
		return;
	doc->ops->section(doc, section);
	doc->ops->table(doc, &page->tables[id]);
}

static void put_objective(const struct cp_report *report, struct cp_report_doc *doc)
{
	char words[1024];

	if (!report->has_policy)
		return;
	cp_objective_words(&report->policy.objective, words, sizeof(words));
	cp_report_doc_para(doc, "Objective %s: %s.", report->policy.objective.name,
			   words);
}

/* The command that measured, in the words of a shell; NULL: the manifest has none. */
static char *argv_words(const struct cp_manifest *manifest)
{
	char *text = NULL;
	size_t len, nr = json_array_size(manifest->argv);
	FILE *out = nr ? open_memstream(&text, &len) : NULL;

	if (!out)
		return NULL;
	fputs("copypath", out);
	for (size_t i = 0; i < nr; i++) {
		const char *word = json_string_value(json_array_get(manifest->argv, i));

		fputc(' ', out);
		cp_escape_shell(out, word ? word : "");
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* The resolved settings but for the cells, which are in the table. */
static void put_config(const json_t *config, struct cp_report_doc *doc)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)config);
	size_t cells = json_array_size(json_object_get(copy, "cells"));
	char title[120], *text;

	json_object_del(copy, "cells");
	text = json_dumps(copy, JSON_INDENT(2));
	json_decref(copy);
	if (!text)
		return;
	snprintf(title, sizeof(title),
		 "Its settings as they were resolved, less its %zu cells "
		 "(for reading; this is no workload file)",
		 cells);
	doc->ops->fold(doc, title, text);
	free(text);
}

static void put_run_again(const struct cp_manifest *manifest, struct cp_report_doc *doc)
{
	char *command = argv_words(manifest);

	if (command) {
		cp_report_doc_para(
			doc,
			"The measurements of %s again, where its workload file is (the "
			"manifest does not hold that; it is the same workload when the "
			"new "
			"manifest's config_hash is %s):",
			manifest->run, manifest->config_hash);
		doc->ops->pre(doc, command);
		free(command);
	} else {
		cp_report_doc_para(doc,
				   "How %s was made is not in its manifest: its workload "
				   "file (config_hash %s) is needed to do it again.",
				   manifest->run, manifest->config_hash);
	}
	if (manifest->config)
		put_config(manifest->config, doc);
}

/* What a person needs to do the same again. */
static void put_again(const struct cp_report *report, struct cp_report_doc *doc)
{
	doc->ops->section(doc, "How to reproduce");
	cp_report_doc_para(doc, "The report again:");
	doc->ops->pre(doc, report->opts->command);
	cp_report_doc_para(doc,
			   "A figure again, in figures/: gnuplot NAME.gp (its data is "
			   "NAME.csv). Tables are in tables/ as CSV.");
	for (size_t i = 0; i < report->nr_runs; i++)
		if (report->runs[i].has_manifest)
			put_run_again(&report->runs[i].manifest, doc);
}

/* What "64 (2 in effect)" means, where it stands anywhere. */
static void put_depth(const struct cp_report *report, struct cp_report_doc *doc)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		if (!cp_report_depth_capped(report, &report->cells[i]))
			continue;
		cp_report_doc_para(
			doc, "iodepth N (M in effect): no job ever had more than M I/Os "
			     "in flight, as the queue's tags (queue_depth), the ring or "
			     "the harness allowed no more; the figures are of depth M.");
		return;
	}
}

/* How I/Os went, what that cost, and what it left for others. */
static int put_paths(const struct cp_report_page *page, struct cp_report_doc *doc,
		     struct cp_err *err)
{
	cp_report_completion_write(page, doc);
	cp_report_bypass_write(page, doc);
	int rc = cp_report_delivered_write(page, doc, err);

	cp_report_swap_write(page, doc);
	cp_report_perf_write(page, doc);
	return rc;
}

int cp_report_page_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			 struct cp_err *err)
{
	const struct cp_report *report = page->report;
	int rc = 0;

	doc->ops->begin(doc, report->title);
	cp_report_summary_write(report, doc);
	if (page->no_figures[0])
		cp_report_doc_note(doc,
				   "Some or all figures are missing: %s. The tables hold "
				   "the same figures.",
				   page->no_figures);
	rc = cp_report_attrs_write(page, doc, err);
	for (int kind = FIGURE_BANDWIDTH; kind <= FIGURE_MAP && !rc; kind++)
		rc = put_figures(page, doc, (enum cp_report_figure_kind)kind, err);
	cp_report_offload_write(page, doc);
	if (!rc)
		rc = cp_report_phases_write(page, doc, err);
	put_table(page, doc, TABLE_REQUESTS, "Requests");
	if (!rc)
		rc = put_paths(page, doc, err);
	cp_report_profiles_write(report, doc);
	put_table(page, doc, TABLE_MISALIGN, "Misaligned buffers");
	if (cp_report_table_rows(&page->tables[TABLE_MISALIGN_CPU]))
		doc->ops->table(doc, &page->tables[TABLE_MISALIGN_CPU]);
	put_table(page, doc, TABLE_RULES, "Rules");
	if (cp_report_table_rows(&page->tables[TABLE_RULES]))
		put_objective(report, doc);
	put_table(page, doc, TABLE_REGRET, "Regret");
	put_table(page, doc, TABLE_HARNESS, "What the harness itself costs");
	put_table(page, doc, TABLE_FAILURES, "Failed samples");
	put_table(page, doc, TABLE_CELLS, "All cells");
	put_depth(report, doc);
	put_table(page, doc, TABLE_MACHINE, "Environment");
	put_again(report, doc);
	doc->ops->end(doc);
	return rc;
}

static int write_tables(struct cp_report_files *files,
			const struct cp_report_table *tables, struct cp_err *err)
{
	int rc = 0;

	for (int t = 0; t < TABLE_NR && !rc; t++) {
		char name[64];
		FILE *out;

		snprintf(name, sizeof(name), "tables/%s.csv", tables[t].name);
		rc = cp_report_files_open(files, name, &out, err);
		if (rc)
			break;
		cp_report_table_csv(&tables[t], out);
		rc = cp_report_files_close(out, name, err);
	}
	return rc;
}

static int write_pages(const struct cp_report_page *page, struct cp_report_files *files,
		       struct cp_err *err)
{
	const struct cp_report_doc_ops *const forms[] = {&cp_report_doc_html,
							 &cp_report_doc_markdown};
	int rc = 0;

	for (size_t f = 0; f < 2 && !rc; f++) {
		struct cp_report_doc doc = {.dir = files->tmp, .ops = forms[f]};

		rc = cp_report_files_open(files, forms[f]->file, &doc.out, err);
		if (rc)
			break;
		rc = cp_report_page_write(page, &doc, err);
		int close_rc = cp_report_files_close(doc.out, forms[f]->file,
						     rc ? &(struct cp_err){0} : err);

		rc = rc ? rc : close_rc;
	}
	return rc;
}

static int write_text(const struct cp_report *report, struct cp_report_files *files,
		      char **ret_text, struct cp_err *err)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	cp_report_text(report, out);
	if (fclose(out)) {
		free(text);
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	}
	int rc = cp_report_files_open(files, "tables/cpu-dma.txt", &out, err);

	if (!rc) {
		fputs(text, out);
		rc = cp_report_files_close(out, "tables/cpu-dma.txt", err);
	}
	if (rc)
		free(text);
	else
		*ret_text = text;
	return rc;
}

static int write_all(const struct cp_report *report, struct cp_report_files *files,
		     struct cp_report_table *tables, struct cp_err *err)
{
	struct cp_report_figures figures = {0};
	char why[600] = "", *text = NULL;
	int rc = cp_report_tables_make(report, tables, err);

	if (!rc)
		rc = write_tables(files, tables, err);
	if (!rc)
		rc = write_text(report, files, &text, err);
	if (!rc)
		rc = cp_report_figures_write(report, files, &figures, err);
	if (!rc)
		rc = cp_report_figures_draw(&figures, files, why, sizeof(why), err);
	if (!rc && why[0])
		cp_report_warn(report, "the report has no or not all figures: %s", why);
	if (!rc) {
		const struct cp_report_page page = {.report = report,
						    .tables = tables,
						    .figures = &figures,
						    .no_figures = why,
						    .seed_table = text};

		rc = write_pages(&page, files, err);
	}
	cp_report_figures_free(&figures);
	free(text);
	return rc;
}

int cp_report_write(struct cp_report *report, const char *dir, struct cp_err *err)
{
	struct cp_report_table tables[TABLE_NR] = {0};
	struct cp_report_files files;
	int rc = cp_report_files_begin(&files, dir, err);

	if (!rc)
		rc = write_all(report, &files, tables, err);
	if (!rc)
		rc = cp_report_files_commit(&files, err);
	for (int t = 0; t < TABLE_NR; t++)
		cp_report_table_free(&tables[t]);
	cp_report_files_end(&files);
	return rc;
}
