/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The published table of cache attributes (results/published/elliott-2015-*.csv): its
 * only reader, and what it means to stand in the same order. Its figures are of another
 * machine and kernel, have the provenance `published`, and are compared with ours as
 * ratios only.
 *
 * The file: lines that begin with '#' come first. "# Published: TEXT" names the source
 * and its date, "# Load: random|sequential SIZE" what the figures are of; any other is a
 * note. Then a header and rows of attr,copy,read_iops,write_iops. Attributes are in
 * capitals there; nt-rd+nt-wr, nt-rd and nt-wr are what an arm's `copy` calls nt-both,
 * ntload and nt. A row with the same attribute and copy as one before is an error.
 *
 * Threading: pure but for the file; any thread.
 */
#ifndef CP_RESULTS_PUBLISHED_H
#define CP_RESULTS_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

#define CP_PUBLISHED_ROWS_MAX 64

/* Rows that differ by more than this factor in the table are expected to stand in the
 * same order elsewhere; nearer ones may change places with the machine. */
#define CP_PUBLISHED_FAR 2.5

struct cp_published_row {
	char attr[CP_WORD_MAX], copy[CP_WORD_MAX]; /* in the words of a context and arm */
	double iops[2];				   /* by direction, above 0 */
};

struct cp_published {
	char source[256];
	char who[256];	  /* source without what is in quotes: the name and the date */
	char notes[1024]; /* all of them, a blank between; "" = none */
	bool random;	  /* the access pattern */
	uint64_t bs;	  /* bytes */
	struct cp_published_row rows[CP_PUBLISHED_ROWS_MAX]; /* in the file's order */
	size_t nr;
};

/* Errors (exit 4) name file and line. A file that is not there: -ENOENT. */
int cp_published_read(const char *path, struct cp_published *ret, struct cp_err *err);
/* NULL: no such row. */
const struct cp_published_row *cp_published_find(const struct cp_published *published,
						 const char *attr, const char *copy);

struct cp_published_order {
	unsigned pairs; /* more than CP_PUBLISHED_FAR apart in `published` */
	unsigned kept;	/* of them, in the same order in `ours` */
	double nearest; /* the least of ours, upper row over lower; NaN without pairs */
};

/*
 * Compare all pairs of nr rows, figures as rates of one direction. A row that is NaN on
 * either side is left out. wrong(), which may be NULL, is told the rows of each pair that
 * does not stand in the same order; equal is not the same order.
 */
void cp_published_compare(const double *published, const double *ours, size_t nr,
			  void (*wrong)(void *ctx, size_t upper, size_t lower), void *ctx,
			  struct cp_published_order *ret);

#endif
