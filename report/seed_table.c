// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU beside DMA in the layout of Jiang 2017 (results/published) on the mailing list, for
 * a mail:
 *
 * 64k: 1 task queuedepth=1
 * CPU Read:  7631 MB/s  99.7% CPU    DMA Read:  2415 MB/s  54% CPU
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"
#include "report/misalign.h"
#include "report/offload.h"

#define MB	    1e6
#define SHOWN_CHARS 40

/* "7631 MB/s 99.7% CPU", three digits of the CPU as it has them; NaN: not known. */
static void figure_words(double bytes_per_s, double pct, char *buf, size_t size)
{
	double mb = bytes_per_s / MB;
	char bw[32], cpu[32];

	snprintf(bw, sizeof(bw), "%.*f MB/s", mb < 100 ? 1 : 0, mb);
	if (!isfinite(pct))
		snprintf(cpu, sizeof(cpu), "CPU unknown");
	else
		snprintf(cpu, sizeof(cpu), "%.*f%% CPU", pct < 1000 ? 1 : 0, pct);
	snprintf(buf, size, "%10s %11s", bw, cpu);
}

static void figures(const struct cp_report_cell *cell, char *buf, size_t size)
{
	if (cell)
		figure_words(cell->values[VALUE_BW].median,
			     cell->values[VALUE_CPU].median, buf, size);
	else
		snprintf(buf, size, "not measured");
}

static void put_arm(const struct cp_report *report, const struct cp_report_cell *cell,
		    const char *what, FILE *out)
{
	char name[SHOWN_CHARS * 4 + 8], copy[CP_WORD_MAX * 4];

	if (!cell)
		return;
	const struct cp_report_arm *arm = &report->arms[cell->arm];

	cp_text_visible(arm->label, SHOWN_CHARS, name, sizeof(name));
	if (!strcmp(arm->arm.path, "cpu"))
		fprintf(out, "  %s is %s: copy %s, %s\n", what, name,
			cp_text_visible(arm->arm.copy, 20, copy, sizeof(copy)),
			arm->arm.queue_mode);
	else
		fprintf(out, "  %s is %s: %s DMA, %s\n", what, name, arm->dma,
			arm->arm.queue_mode);
}

/* The same of the published table, below: "published: 7631 MB/s 99.7% CPU ...". */
static void put_published(const struct cp_report *report,
			  const struct cp_context *context,
			  const struct cp_report_cell *beside, FILE *out)
{
	char text[2][64];

	for (int dma = 0; dma < 2; dma++) {
		const struct cp_published_dma_row *row =
			cp_report_has_published(report, beside)
				? cp_published_dma_find(&report->published, context, dma)
				: NULL;

		if (!row)
			return;
		figure_words(row->bw_bytes_per_s, row->cpu_pct, text[dma],
			     sizeof(text[dma]));
	}
	fprintf(out, "published: %-22s  published: %s\n", text[0], text[1]);
}

/* Which arms a block's figures are of; one line where both directions have the same. */
static void put_arms(const struct cp_report *report, const struct cp_report_cell *read,
		     const struct cp_report_cell *write, const char *what, FILE *out)
{
	char words[2][16];

	snprintf(words[0], sizeof(words[0]), "%s Read", what);
	snprintf(words[1], sizeof(words[1]), "%s Write", what);
	if (read && write && read->arm == write->arm) {
		put_arm(report, read, what, out);
		return;
	}
	put_arm(report, read, words[0], out);
	put_arm(report, write, words[1], out);
}

static bool is_random(const struct cp_context *context)
{
	return !strncmp(context->rw, "rand", 4);
}

/* Read and write of one load stand under one head. */
static bool same_block(const struct cp_report_cell *a, const struct cp_report_cell *b)
{
	const struct cp_context *x = &a->context, *y = &b->context;

	return x->bs == y->bs && x->numjobs == y->numjobs && x->iodepth == y->iodepth &&
	       is_random(x) == is_random(y) && !strcmp(x->media, y->media) &&
	       !strcmp(x->layer, y->layer) && !strcmp(x->attr, y->attr) &&
	       !strcmp(x->numa, y->numa) && !strcmp(x->corunner, y->corunner) &&
	       x->misalign_near == y->misalign_near &&
	       x->misalign_far == y->misalign_far && cp_report_same_driver(x, y) &&
	       !strcmp(a->host, b->host) &&
	       !strcmp(a->provenance.media, b->provenance.media) &&
	       !strcmp(a->provenance.attr, b->provenance.attr);
}

static const struct cp_report_cell *find_context(const struct cp_report *report,
						 const struct cp_report_cell *like,
						 enum cp_dir dir, size_t *ret_nr)
{
	for (size_t p = 0; p < report->nr_panels; p++) {
		const struct cp_report_panel *panel = &report->panels[p];
		size_t at = panel->first, nr;
		const struct cp_report_cell *cells;

		while ((cells = cp_report_next_context(report, panel, &at, &nr))) {
			if (cp_context_dir(&cells->context) == dir &&
			    same_block(cells, like)) {
				*ret_nr = nr;
				return cells;
			}
		}
	}
	*ret_nr = 0;
	return NULL;
}

static void put_head(const struct cp_context *context, FILE *out)
{
	char bs[24];

	fprintf(out, "\n%s: %u task%s queuedepth=%u%s\n",
		cp_size_format(context->bs, bs, sizeof(bs)), context->numjobs,
		context->numjobs == 1 ? "" : "s", context->iodepth,
		is_random(context) ? " random" : "");
}

static void put_block(const struct cp_report *report, const struct cp_report_cell *like,
		      FILE *out)
{
	static const char *const dirs[] = {"Read: ", "Write:"};
	const struct cp_report_cell *arms[2][2] = {{NULL}};
	const struct cp_context *context = &like->context;
	char cpu[64], dma[64];
	bool headed = false;

	for (int d = 0; d < 2; d++) {
		size_t nr;
		const struct cp_report_cell *cells =
			find_context(report, like, (enum cp_dir)d, &nr);

		if (!cells)
			continue;
		arms[d][0] = cp_report_fastest(report, cells, nr, "cpu");
		arms[d][1] = cp_report_fastest(report, cells, nr, "dma");
		if (!arms[d][0] && !arms[d][1])
			continue;
		if (!headed)
			put_head(context, out);
		headed = true;
		figures(arms[d][0], cpu, sizeof(cpu));
		figures(arms[d][1], dma, sizeof(dma));
		fprintf(out, "CPU %s %-22s  DMA %s %s\n", dirs[d], cpu, dirs[d], dma);
		put_published(report, &cells->context, arms[d][1], out);
	}
	put_arms(report, arms[0][0], arms[1][0], "CPU", out);
	put_arms(report, arms[0][1], arms[1][1], "DMA", out);
}

static bool first_of_block(const struct cp_report *report, size_t cell)
{
	for (size_t i = 0; i < cell; i++)
		if (same_block(&report->cells[i], &report->cells[cell]))
			return false;
	return true;
}

/* What stays the same over blocks is said once. */
static void put_place(const struct cp_report_cell *cell,
		      const struct cp_report_cell *before, FILE *out)
{
	char host[256], media[512], layer[512], offsets[64], words[160];

	if (before && !strcmp(cell->host, before->host) &&
	    !strcmp(cell->context.media, before->context.media) &&
	    !strcmp(cell->context.layer, before->context.layer) &&
	    !strcmp(cell->context.attr, before->context.attr) &&
	    !strcmp(cell->context.numa, before->context.numa) &&
	    !strcmp(cell->context.corunner, before->context.corunner) &&
	    cell->context.misalign_near == before->context.misalign_near &&
	    cell->context.misalign_far == before->context.misalign_far &&
	    cp_report_same_driver(&cell->context, &before->context) &&
	    !strcmp(cell->provenance.media, before->provenance.media) &&
	    !strcmp(cell->provenance.attr, before->provenance.attr))
		return;
	fprintf(out, "\nhost %s, media %s (%s)\n",
		cp_text_visible(cell->host, 24, host, sizeof(host)),
		cp_text_visible(cell->context.media, 24, media, sizeof(media)),
		cell->provenance.media);
	fprintf(out, "attr %s (%s), layer %s, numa %s, corunner %s\n", cell->context.attr,
		cell->provenance.attr,
		cp_text_visible(cell->context.layer, 20, layer, sizeof(layer)),
		cell->context.numa, cell->context.corunner);
	cp_report_driver_words(&cell->context, words, sizeof(words));
	if (words[0])
		fprintf(out, "%s\n", words + 2);
	if (cp_report_is_misaligned(&cell->context))
		fprintf(out, "misaligned: %s\n",
			cp_report_misalign_words(cell->context.misalign_near,
						 cell->context.misalign_far, offsets,
						 sizeof(offsets)));
}

/* Does any block have figures that were published? */
static bool any_published(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!report->arms[cell->arm].simulated && cell->values[VALUE_BW].n &&
		    !strcmp(report->arms[cell->arm].arm.path, "dma") &&
		    cp_report_has_published(report, cell) &&
		    cp_published_dma_find(&report->published, &cell->context, true))
			return true;
	}
	return false;
}

void cp_report_text(const struct cp_report *report, FILE *out)
{
	const struct cp_report_cell *before = NULL;
	bool apart = false, swap = false;
	char who[256], machine[256];

	fprintf(out, "Medians; MB = 10^6 bytes; %% of one CPU, all threads counted.\n"
		     "CPU: the CPU arm with the most bandwidth; DMA: likewise.\n");
	if (any_published(report))
		fprintf(out, "published: %s, another machine:\n%s. Hardware DMA.\n",
			cp_text_visible(report->published.machine, 24, machine,
					sizeof(machine)),
			cp_text_visible(report->published.who, 48, who, sizeof(who)));
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		swap = swap || cp_report_is_swap(&cell->context);
		apart = apart || cell->aligned;
		if (report->arms[cell->arm].simulated || !cell->values[VALUE_BW].n ||
		    cell->aligned || cp_report_is_swap(&cell->context) ||
		    !first_of_block(report, i))
			continue;
		put_place(cell, before, out);
		put_block(report, cell, out);
		before = cell;
	}
	if (!before)
		fputs("\nno sample that moved data\n", out);
	if (swap)
		fputs("\nFaults of driver swap are none of these: they stand apart.\n",
		      out);
	if (apart)
		fputs("\nMisaligned buffers: tables/misalign.csv of the report.\n", out);
}
