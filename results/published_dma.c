// SPDX-License-Identifier: GPL-2.0-only
/* Reading the published table of CPU copies beside offloaded ones. */
#include "results/published_dma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "engines/base/units.h"

#define FILE_MAX  (64U << 10)
#define COLUMNS	  7
#define MB	  1e6
#define WORD_NONE (-1)

static const char header[] = "op,bs,numjobs,iodepth,path,bw_mb_s,cpu_pct";

struct reading {
	const char *path;
	unsigned line;
	bool has_header;
	struct cp_published_dma *table;
	struct cp_err *err;
};

static int bad(struct reading *reading, const char *text, const char *expected)
{
	return cp_err_set(reading->err, CP_EXIT_INVALID, EINVAL,
			  "%s:%u: error: '%.60s'; expected %s", reading->path,
			  reading->line, text, expected);
}

static void read_comment(struct cp_published_dma *table, const char *text)
{
	static const char source[] = "Published: ", machine[] = "Machine: ";
	size_t used = strlen(table->notes);

	text += strspn(text, "# ");
	if (!strncmp(text, machine, sizeof(machine) - 1)) {
		snprintf(table->machine, sizeof(table->machine), "%s",
			 text + sizeof(machine) - 1);
		return;
	}
	if (strncmp(text, source, sizeof(source) - 1) != 0) {
		snprintf(table->notes + used, sizeof(table->notes) - used, "%s%s",
			 used ? " " : "", text);
		return;
	}
	text += sizeof(source) - 1;
	snprintf(table->source, sizeof(table->source), "%s", text);
	snprintf(table->who, sizeof(table->who), "%s", text);
	size_t len = strcspn(table->who, "\"");

	while (len && strchr(", ", table->who[len - 1]))
		len--;
	table->who[len] = '\0';
}

static int word_of(const char *text, const char *first, const char *second)
{
	return !strcmp(text, first) ? 0 : !strcmp(text, second) ? 1 : WORD_NONE;
}

static const struct cp_published_dma_row *find(const struct cp_published_dma *table,
					       enum cp_dir dir, uint64_t bs,
					       uint32_t numjobs, uint32_t iodepth,
					       bool dma)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct cp_published_dma_row *row = &table->rows[i];

		if (row->dir == dir && row->bs == bs && row->numjobs == numjobs &&
		    row->iodepth == iodepth && row->dma == dma)
			return row;
	}
	return NULL;
}

static int take_load(struct reading *reading, char *const *columns,
		     struct cp_published_dma_row *row)
{
	uint64_t jobs, depth;
	int dir = word_of(columns[0], "read", "write");
	int dma = word_of(columns[4], "cpu", "dma");

	if (dir == WORD_NONE)
		return bad(reading, columns[0], "read or write");
	if (cp_uint_parse(columns[1], UINT32_MAX, &row->bs) || !row->bs)
		return bad(reading, columns[1], "bytes, above 0");
	if (cp_uint_parse(columns[2], UINT32_MAX, &jobs) || !jobs)
		return bad(reading, columns[2], "jobs, above 0");
	if (cp_uint_parse(columns[3], UINT32_MAX, &depth) || !depth)
		return bad(reading, columns[3], "an iodepth, above 0");
	if (dma == WORD_NONE)
		return bad(reading, columns[4], "cpu or dma");
	row->dir = (enum cp_dir)dir;
	row->dma = dma;
	row->numjobs = (uint32_t)jobs;
	row->iodepth = (uint32_t)depth;
	return 0;
}

static int read_row(struct reading *reading, char *text)
{
	struct cp_published_dma *table = reading->table;
	struct cp_published_dma_row row = {0};
	char *columns[COLUMNS], *at = text;
	size_t nr = 0;

	for (; at && nr < COLUMNS; nr++)
		columns[nr] = strsep(&at, ",");
	if (nr != COLUMNS || at)
		return bad(reading, text, header);
	int rc = take_load(reading, columns, &row);

	if (rc)
		return rc;
	if (cp_double_parse(columns[5], &row.bw_bytes_per_s) || row.bw_bytes_per_s <= 0)
		return bad(reading, columns[5], "MB/s, above 0");
	if (cp_double_parse(columns[6], &row.cpu_pct) || row.cpu_pct <= 0)
		return bad(reading, columns[6], "percent of one CPU, above 0");
	row.bw_bytes_per_s *= MB;
	if (find(table, row.dir, row.bs, row.numjobs, row.iodepth, row.dma))
		return bad(reading, columns[4], "each load and path once");
	if (table->nr == CP_PUBLISHED_DMA_ROWS_MAX)
		return bad(reading, columns[0], "at most 64 rows");
	table->rows[table->nr++] = row;
	return 0;
}

static int read_line(struct reading *reading, char *text)
{
	if (text[0] == '#') {
		read_comment(reading->table, text);
		return 0;
	}
	if (reading->has_header)
		return read_row(reading, text);
	if (strcmp(text, header) != 0)
		return bad(reading, text, header);
	reading->has_header = true;
	return 0;
}

int cp_published_dma_read(const char *path, struct cp_published_dma *ret,
			  struct cp_err *err)
{
	struct cp_published_dma table = {0};
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
	if (!rc && (!table.source[0] || !table.nr))
		rc = cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				"%s: error: no %s; expected '# Published:' and rows of "
				"%s",
				path, table.source[0] ? "rows" : "source", header);
	free(text);
	if (!rc)
		*ret = table;
	return rc;
}

const struct cp_published_dma_row *
cp_published_dma_find(const struct cp_published_dma *published,
		      const struct cp_context *context, bool dma)
{
	if (strncmp(context->rw, "rand", 4) == 0 || context->misalign_near ||
	    context->misalign_far || strcmp(context->attr, "wb") != 0 ||
	    strcmp(context->layer, "none") != 0 ||
	    strcmp(context->corunner, "none") != 0 || strcmp(context->driver, "fio") != 0)
		return NULL;
	return find(published, cp_context_dir(context), context->bs, context->numjobs,
		    context->iodepth, dma);
}
