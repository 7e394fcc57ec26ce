// SPDX-License-Identifier: GPL-2.0-only
/* Tables as rows of text, and formatted text for documents of any form. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/data.h"
#include "report/doc.h"
#include "report/escape.h"

#define TEXT_MAX 4096

static void add_text(struct cp_report_table *table, const char *text)
{
	struct cp_err err;

	if (table->failed || cp_report_grow(&table->cells, &table->nr_cells,
					    sizeof(*table->cells), &err)) {
		table->failed = true;
		return;
	}
	table->cells[table->nr_cells - 1] = strdup(text);
	if (!table->cells[table->nr_cells - 1])
		table->failed = true;
}

void cp_report_table_init(struct cp_report_table *table, const char *name,
			  const char *title, const char *align, const char *const *header)
{
	*table = (struct cp_report_table){.name = name, .title = title, .align = align};
	for (size_t i = 0; align[i]; i++)
		add_text(table, header[i]);
}

void cp_report_table_add(struct cp_report_table *table, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	add_text(table, text);
}

void cp_report_table_number(struct cp_report_table *table, double value, int digits)
{
	if (isfinite(value))
		cp_report_table_add(table, "%.*f", digits, value);
	else
		add_text(table, "");
}

void cp_report_table_free(struct cp_report_table *table)
{
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct cp_report_table){0};
}

size_t cp_report_table_rows(const struct cp_report_table *table)
{
	return table->nr_cells / strlen(table->align) - 1;
}

static bool says_one_thing(const struct cp_report_table *table, size_t column,
			   size_t columns)
{
	for (size_t i = 2 * columns + column; i < table->nr_cells; i += columns)
		if (strcmp(table->cells[i], table->cells[columns + column]) != 0)
			return false;
	return table->nr_cells > 2 * columns;
}

size_t cp_report_table_fold(const struct cp_report_table *table, bool *shown, char *buf,
			    size_t size)
{
	size_t columns = strlen(table->align), nr = 0, used;
	const char *before = ". All rows: ";

	snprintf(buf, size, "%s", table->title);
	for (size_t c = 0; c < columns; c++) {
		shown[c] = !table->fold || !says_one_thing(table, c, columns);
		nr += shown[c];
		used = strlen(buf);
		if (shown[c] || !table->cells[columns + c][0])
			continue;
		snprintf(buf + used, size - used, "%s%s %s", before, table->cells[c],
			 table->cells[columns + c]);
		before = ", ";
	}
	return nr;
}

void cp_report_table_csv(const struct cp_report_table *table, FILE *out)
{
	size_t columns = strlen(table->align);

	for (size_t i = 0; i < table->nr_cells; i++) {
		cp_escape_csv(out, table->cells[i]);
		fputs((i + 1) % columns ? "," : "\n", out);
	}
}

void cp_report_doc_item(struct cp_report_doc *doc, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	doc->ops->item(doc, text);
}

void cp_report_doc_para(struct cp_report_doc *doc, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	doc->ops->para(doc, text);
}

void cp_report_doc_note(struct cp_report_doc *doc, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	doc->ops->note(doc, text);
}
