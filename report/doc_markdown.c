// SPDX-License-Identifier: GPL-2.0-only
/* report.md: the page for where HTML is not shown (a mail, a pull request). */
#include <string.h>

#include "report/doc.h"
#include "report/escape.h"

static void md_begin(struct cp_report_doc *doc, const char *title)
{
	fputs("# ", doc->out);
	cp_escape_markdown(doc->out, title);
	fputs("\n", doc->out);
}

static void md_end(struct cp_report_doc *doc)
{
	(void)doc;
}

static void md_section(struct cp_report_doc *doc, const char *title)
{
	fputs("\n## ", doc->out);
	cp_escape_markdown(doc->out, title);
	fputs("\n", doc->out);
}

static void md_group(struct cp_report_doc *doc, bool begin)
{
	if (!begin)
		fputs("\n", doc->out);
}

static void md_card(struct cp_report_doc *doc, const char *title)
{
	if (!title)
		return;
	fputs("\n### ", doc->out);
	cp_escape_markdown(doc->out, title);
	fputs("\n", doc->out);
}

static void md_list(struct cp_report_doc *doc, bool begin)
{
	if (begin)
		fputs("\n", doc->out);
}

static void md_item(struct cp_report_doc *doc, const char *text)
{
	fputs("- ", doc->out);
	cp_escape_markdown(doc->out, text);
	fputs("\n", doc->out);
}

static void md_para(struct cp_report_doc *doc, const char *text)
{
	fputs("\n", doc->out);
	cp_escape_markdown(doc->out, text);
	fputs("\n", doc->out);
}

static void md_note(struct cp_report_doc *doc, const char *text)
{
	fputs("\n> **Note:** ", doc->out);
	cp_escape_markdown(doc->out, text);
	fputs("\n", doc->out);
}

/* Indented, not fenced: no text can end an indented block early. */
static void md_pre(struct cp_report_doc *doc, const char *text)
{
	fputs("\n", doc->out);
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(doc->out, "    %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void md_fold(struct cp_report_doc *doc, const char *title, const char *text)
{
	md_para(doc, title);
	md_pre(doc, text);
}

static void md_row(struct cp_report_doc *doc, const struct cp_report_table *table,
		   size_t first, const bool *shown)
{
	fputs("|", doc->out);
	for (size_t c = 0; table->align[c]; c++) {
		if (!shown[c])
			continue;
		fputs(" ", doc->out);
		cp_escape_markdown(doc->out, table->cells[first + c]);
		fputs(" |", doc->out);
	}
	fputs("\n", doc->out);
}

static void md_table(struct cp_report_doc *doc, const struct cp_report_table *table)
{
	size_t columns = strlen(table->align);
	bool shown[CP_REPORT_COLUMNS_MAX];
	char caption[1024];

	if (!columns || columns > CP_REPORT_COLUMNS_MAX ||
	    !cp_report_table_fold(table, shown, caption, sizeof(caption)))
		return;
	fputs("\n", doc->out);
	cp_escape_markdown(doc->out, caption);
	fputs("\n\n", doc->out);
	md_row(doc, table, 0, shown);
	for (size_t c = 0; c < columns; c++)
		if (shown[c])
			fputs(table->align[c] == 'r' ? "|---:" : "|:---", doc->out);
	fputs("|\n", doc->out);
	for (size_t i = columns; i < table->nr_cells; i += columns)
		md_row(doc, table, i, shown);
}

static int md_picture(struct cp_report_doc *doc, const struct cp_report_picture *picture,
		      struct cp_err *err)
{
	(void)err;
	fprintf(doc->out, "\n![%s](figures/%s.png)\n\n", picture->name, picture->name);
	cp_escape_markdown(doc->out, picture->caption);
	fprintf(doc->out,
		" ([SVG](figures/%s.svg), [data](figures/%s.csv), "
		"[script](figures/%s.gp))\n",
		picture->name, picture->name, picture->name);
	return 0;
}

const struct cp_report_doc_ops cp_report_doc_markdown = {
	.file = "report.md",
	.begin = md_begin,
	.end = md_end,
	.section = md_section,
	.cards = md_group,
	.card = md_card,
	.list = md_list,
	.item = md_item,
	.para = md_para,
	.note = md_note,
	.pre = md_pre,
	.fold = md_fold,
	.table = md_table,
	.pictures = md_group,
	.picture = md_picture,
};
