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

static void md_table(struct cp_report_doc *doc, const struct cp_report_table *table)
{
	size_t columns = strlen(table->align);

	fputs("\n", doc->out);
	cp_escape_markdown(doc->out, table->title);
	fputs("\n\n", doc->out);
	for (size_t i = 0; i < table->nr_cells; i++) {
		fputs("| ", doc->out);
		cp_escape_markdown(doc->out, table->cells[i]);
		fputs((i + 1) % columns ? " " : " |\n", doc->out);
		if (i + 1 != columns)
			continue;
		for (size_t k = 0; k < columns; k++)
			fputs(table->align[k] == 'r' ? "|---:" : "|:---", doc->out);
		fputs("|\n", doc->out);
	}
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
	.table = md_table,
	.pictures = md_group,
	.picture = md_picture,
};
