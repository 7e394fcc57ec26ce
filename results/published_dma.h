/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The published table of CPU copies beside offloaded ones
 * (results/published/jiang-2017-dma.csv): its only reader. Its figures are of another
 * machine, kernel and DMA engine, have the provenance `published`, and are compared with
 * ours as ratios only.
 *
 * The file: lines that begin with '#' come first. "# Published: TEXT" names the source
 * and its date, "# Machine: TEXT" the engine and the machine; any other is a note. Then a
 * header and rows of op,bs,numjobs,iodepth,path,bw_mb_s,cpu_pct: op is read or write
 * (sequential), bs is bytes, path is cpu or dma, bandwidth in MB/s (10^6), CPU in percent
 * of one CPU. A row of the same load and path as one before is an error.
 *
 * Threading: pure but for the file; any thread.
 */
#ifndef CP_RESULTS_PUBLISHED_DMA_H
#define CP_RESULTS_PUBLISHED_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

#define CP_PUBLISHED_DMA_ROWS_MAX 64

struct cp_published_dma_row {
	enum cp_dir dir;
	bool dma; /* path */
	uint64_t bs;
	uint32_t numjobs, iodepth;
	double bw_bytes_per_s, cpu_pct; /* above 0 */
};

struct cp_published_dma {
	char source[256];
	char who[256];	  /* source without what is in quotes: the name and the date */
	char machine[64]; /* "ioatdma, Skylake, 2017"; "" = not named */
	char notes[1024]; /* all of them, a blank between; "" = none */
	struct cp_published_dma_row rows[CP_PUBLISHED_DMA_ROWS_MAX];
	size_t nr; /* in the file's order */
};

/* Errors (exit 4) name file and line. A file that is not there: -ENOENT. */
int cp_published_dma_read(const char *path, struct cp_published_dma *ret,
			  struct cp_err *err);
/* The row of this context by this path. NULL: none was published, as of anything random,
 * misaligned, under an attribute, over a layer or beside a co-runner. */
const struct cp_published_dma_row *
cp_published_dma_find(const struct cp_published_dma *published,
		      const struct cp_context *context, bool dma);

#endif
