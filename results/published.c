// SPDX-License-Identifier: GPL-2.0-only
/* Reading the published table, and comparing an order with its. */
#include "results/published.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "engines/base/units.h"

#define FILE_MAX (64U << 10)
#define COLUMNS	 4

static const char header[] = "attr,copy,read_iops,write_iops";

/* What the table calls a copy, and the arm's word for it. */
static const struct {
	const char *published, *word;
} copies[] = {
	{"memcpy", "memcpy"}, {"nt-rd+nt-wr", "nt-both"},
	{"nt-rd", "ntload"},  {"nt-wr", "nt"},
	{"nti", "nti"},
};

struct reading {
	const char *path;
	unsigned line;
	bool has_header;
	struct cp_published *table;
	struct cp_err *err;
};

static int bad(struct reading *reading, const char *text, const char *expected)
{
	return cp_err_set(reading->err, CP_EXIT_INVALID, EINVAL,
			  "%s:%u: error: '%.60s'; expected %s", reading->path,
			  reading->line, text, expected);
}

static int read_load(struct reading *reading, char *text)
{
	static const char expected[] = "a load as 'random 4k' or 'sequential 64k'";
	char *size = strchr(text, ' ');

	if (!size)
		return bad(reading, text, expected);
	*size++ = '\0';
	reading->table->random = !strcmp(text, "random");
	if (!reading->table->random && strcmp(text, "sequential") != 0)
		return bad(reading, text, expected);
	if (cp_size_parse(size, &reading->table->bs) || !reading->table->bs)
		return bad(reading, size, expected);
	return 0;
}

static void read_source(struct cp_published *table, const char *text)
{
	snprintf(table->source, sizeof(table->source), "%s", text);
	snprintf(table->who, sizeof(table->who), "%s", text);
	size_t len = strcspn(table->who, "\"");

	while (len && strchr(", ", table->who[len - 1]))
		len--;
	table->who[len] = '\0';
}

static int read_comment(struct reading *reading, char *text)
{
	static const char source[] = "Published: ", load[] = "Load: ";
	struct cp_published *table = reading->table;
	size_t used = strlen(table->notes);

	text += strspn(text, "# ");
	if (!strncmp(text, load, sizeof(load) - 1))
		return read_load(reading, text + sizeof(load) - 1);
	if (!strncmp(text, source, sizeof(source) - 1))
		read_source(table, text + sizeof(source) - 1);
	else
		snprintf(table->notes + used, sizeof(table->notes) - used, "%s%s",
			 used ? " " : "", text);
	return 0;
}

static int take_attr(struct reading *reading, const char *text,
		     struct cp_published_row *row)
{
	const struct cp_field *field = cp_field_find(cp_context_fields, "attr");

	for (size_t i = 0; i < sizeof(row->attr) - 1 && text[i]; i++)
		row->attr[i] = (char)tolower((unsigned char)text[i]);
	for (size_t i = 0; field->words[i]; i++)
		if (!strcmp(field->words[i], row->attr))
			return 0;
	return bad(reading, text, "a cache attribute: UC, WB, WC or WT");
}

static int take_copy(struct reading *reading, const char *text,
		     struct cp_published_row *row)
{
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		if (strcmp(copies[i].published, text) != 0)
			continue;
		snprintf(row->copy, sizeof(row->copy), "%s", copies[i].word);
		return 0;
	}
	return bad(reading, text, "memcpy, nt-rd+nt-wr, nt-rd, nt-wr or nti");
}

static int read_row(struct reading *reading, char *text)
{
	struct cp_published *table = reading->table;
	struct cp_published_row row = {0};
	char *columns[COLUMNS], *at = text;
	size_t nr = 0;

	for (; at && nr < COLUMNS; nr++)
		columns[nr] = strsep(&at, ",");
	if (nr != COLUMNS || at)
		return bad(reading, text, header);
	int rc = take_attr(reading, columns[0], &row);

	if (!rc)
		rc = take_copy(reading, columns[1], &row);
	for (int d = 0; d < 2 && !rc; d++)
		if (cp_double_parse(columns[2 + d], &row.iops[d]) || row.iops[d] <= 0)
			rc = bad(reading, columns[2 + d], "I/Os per second, above 0");
	if (rc)
		return rc;
	if (cp_published_find(table, row.attr, row.copy))
		return bad(reading, columns[1], "each attribute and copy once");
	if (table->nr == CP_PUBLISHED_ROWS_MAX)
		return bad(reading, columns[0], "at most 64 rows");
	table->rows[table->nr++] = row;
	return 0;
}

static int read_line(struct reading *reading, char *text)
{
	if (text[0] == '#')
		return read_comment(reading, text);
	if (reading->has_header)
		return read_row(reading, text);
	if (strcmp(text, header) != 0)
		return bad(reading, text, header);
	reading->has_header = true;
	return 0;
}

int cp_published_read(const char *path, struct cp_published *ret, struct cp_err *err)
{
	struct cp_published table = {0};
	struct reading reading = {.path = path, .table = &table, .err = err};
	char *text;
	size_t len;
	int rc = cp_file_read(path, FILE_MAX, &text, &len, err);

	if (rc)
		return rc;
	for (char *at = text, *line;
	     !rc && (line = strsep(&at, "\n")) && (*line || at);) {
		reading.line++;
		rc = read_line(&reading, line);
	}
	if (!rc && (!table.source[0] || !table.bs || !table.nr))
		rc = cp_err_set(
			err, CP_EXIT_INVALID, EINVAL,
			"%s: error: no %s; expected '# Published:', '# Load:' and "
			"rows of %s",
			path,
			!table.source[0] ? "source"
			: !table.bs	 ? "load"
					 : "rows",
			header);
	free(text);
	if (!rc)
		*ret = table;
	return rc;
}

const struct cp_published_row *cp_published_find(const struct cp_published *published,
						 const char *attr, const char *copy)
{
	for (size_t i = 0; i < published->nr; i++)
		if (!strcmp(published->rows[i].attr, attr) &&
		    !strcmp(published->rows[i].copy, copy))
			return &published->rows[i];
	return NULL;
}

void cp_published_compare(const double *published, const double *ours, size_t nr,
			  void (*wrong)(void *ctx, size_t upper, size_t lower), void *ctx,
			  struct cp_published_order *ret)
{
	struct cp_published_order order = {.nearest = NAN};

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr; k++) {
			/* false for NaN as well */
			if (!(published[i] > CP_PUBLISHED_FAR * published[k]) ||
			    isnan(ours[i]) || isnan(ours[k]))
				continue;
			order.pairs++;
			order.nearest = fmin(order.nearest, ours[i] / ours[k]);
			if (ours[i] > ours[k])
				order.kept++;
			else if (wrong)
				wrong(ctx, i, k);
		}
	}
	*ret = order;
}
