/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A document that does not know its form: page.c says what is on it once, doc_html.c and
 * doc_markdown.c say how it looks. All text given to a document is plain; each form
 * escapes it. Write errors are the stream's. Private to report/.
 */
#ifndef CP_REPORT_DOC_H
#define CP_REPORT_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "engines/base/err.h"

/* Rows of text. Filled cell by cell, row after row. */
struct cp_report_table {
	const char *name;  /* of tables/NAME.csv */
	const char *title; /* caption */
	const char *
		align; /* one of l, r, w (wraps) a column; so its length is the columns */
	char **cells;  /* owned; the header is the first row */
	size_t nr_cells;
	bool failed; /* out of memory on the way */
	bool fold;   /* on a page, a column that says one thing goes into the caption */
	const char *dim; /* on a page, rows whose last cell says this are set dim; NULL
			    none */
};

void cp_report_table_init(struct cp_report_table *table, const char *name,
			  const char *title, const char *align,
			  const char *const *header);
void cp_report_table_add(struct cp_report_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A number as text: `digits` decimals, "" when it is not finite. */
void cp_report_table_number(struct cp_report_table *table, double value, int digits);
void cp_report_table_free(struct cp_report_table *table);
size_t cp_report_table_rows(const struct cp_report_table *table); /* header left out */
/* Which columns a page shows, shown[columns]; what the others say, ". All rows: jobs 1",
 * is appended to the caption in buf. Returns how many are shown. */
size_t cp_report_table_fold(const struct cp_report_table *table, bool *shown, char *buf,
			    size_t size);
void cp_report_table_csv(const struct cp_report_table *table, FILE *out);

#define CP_REPORT_COLUMNS_MAX 32 /* of a table */

struct cp_report_picture {
	const char *name; /* figures/NAME.svg, .png, .csv, .gp */
	const char *caption;
};

struct cp_report_doc {
	FILE *out;
	const char *dir; /* where figures/ is while the document is written */
	const struct cp_report_doc_ops *ops;
	unsigned nr_pictures;
};

struct cp_report_doc_ops {
	const char *file; /* index.html */
	void (*begin)(struct cp_report_doc *doc, const char *title);
	void (*end)(struct cp_report_doc *doc);
	void (*section)(struct cp_report_doc *doc, const char *title);
	void (*cards)(struct cp_report_doc *doc, bool begin);
	void (*card)(struct cp_report_doc *doc, const char *title); /* NULL ends it */
	void (*list)(struct cp_report_doc *doc, bool begin);
	void (*item)(struct cp_report_doc *doc, const char *text);
	void (*para)(struct cp_report_doc *doc, const char *text);
	void (*note)(struct cp_report_doc *doc, const char *text);
	void (*pre)(struct cp_report_doc *doc, const char *text);
	/* as pre, out of the way until it is asked for where the form can */
	void (*fold)(struct cp_report_doc *doc, const char *title, const char *text);
	void (*table)(struct cp_report_doc *doc, const struct cp_report_table *table);
	void (*pictures)(struct cp_report_doc *doc, bool begin);
	int (*picture)(struct cp_report_doc *doc, const struct cp_report_picture *picture,
		       struct cp_err *err);
};
extern const struct cp_report_doc_ops cp_report_doc_html, cp_report_doc_markdown;

void cp_report_doc_item(struct cp_report_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cp_report_doc_para(struct cp_report_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cp_report_doc_note(struct cp_report_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
