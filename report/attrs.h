/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cells that differ in the far side's cache attribute, and the published table beside
 * them. A group is everything of a context and an arm but direction, attribute and copy;
 * it is one when a direction of it was measured under more than one attribute. Private to
 * report/.
 *
 * Nothing is merged: a row has one provenance, and published figures are only compared,
 * as ratios to WB memcpy, and only where they are of the same load. The pointers are into
 * the report's cells, which must not move any more.
 */
#ifndef CP_REPORT_ATTRS_H
#define CP_REPORT_ATTRS_H

#include "report/data.h"
#include "results/published.h"

struct cp_report_attr_row {
	const char *attr, *copy;	       /* "wb", "memcpy" */
	const char *provenance;		       /* of the attribute; "" = not measured */
	const struct cp_report_cell *cells[2]; /* by direction; NULL = not measured */
	const struct cp_published_row *published; /* NULL: no such row for this load */
};

struct cp_report_attr_group {
	const struct cp_report_cell *like;
	struct cp_report_attr_row *rows; /* owned; in the published order, then by name */
	size_t nr;
	const struct cp_report_attr_row *base; /* WB memcpy; NULL = not measured */
	const struct cp_published_row *published_base; /* NULL: not of this load */
	/* what ratios are of: VALUE_IOPS_CPU where every sample has it, since whoever
	 * shares the CPU does not count in it, else VALUE_IOPS */
	enum cp_report_value basis;
};

struct cp_report_attrs {
	struct cp_report_attr_group *groups; /* owned */
	size_t nr;
	bool has_published;
	struct cp_published published;
};

/* After cp_report_finish_cells(): report->attrs, NULL when there is no group. A published
 * table that cannot be read is a warning, and the report is without it. */
int cp_report_attrs_find(struct cp_report *report, struct cp_err *err);
void cp_report_attrs_free(struct cp_report_attrs *attrs); /* NULL is fine */

/* "randread and randwrite" is "random" here: "random 4k, 1 job, iodepth 1, bio, media
 * anon native", and host or layer where they are not the usual. */
char *cp_report_attr_group_words(const struct cp_report *report,
				 const struct cp_report_attr_group *group, char *buf,
				 size_t size);

/* Medians; NaN = not measured, or no WB memcpy. */
double cp_report_attr_ratio(const struct cp_report_attr_group *group,
			    const struct cp_report_attr_row *row, enum cp_dir dir,
			    enum cp_report_value value);
double cp_report_attr_published_ratio(const struct cp_report_attr_group *group,
				      const struct cp_report_attr_row *row,
				      enum cp_dir dir);

#define REPORT_ATTR_MEANS 5 /* all rows, then one a provenance */
struct cp_report_attr_order {
	struct cp_published_order order;
	char wrong[1024]; /* "WC memcpy is 0.95 of WC nt-both; ...", "" = none */
	/* geometric means of the ratio of ratios, ours over published, WB memcpy itself
	 * left out */
	struct cp_report_attr_mean {
		const char *provenance; /* "" = all rows */
		unsigned nr;
		double mean;
	} means[REPORT_ATTR_MEANS];
	unsigned nr_means; /* 0 = nothing to compare */
};
void cp_report_attr_order(const struct cp_report_attr_group *group, enum cp_dir dir,
			  enum cp_report_value value, struct cp_report_attr_order *ret);

/* "WB memcpy", as the published table writes attributes; buf is returned. */
char *cp_report_attr_name(const struct cp_report_attr_row *row, char *buf, size_t size);

#endif
