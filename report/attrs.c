// SPDX-License-Identifier: GPL-2.0-only
/* Finding what differs in its cache attribute, and comparing it with what was published.
 */
#include "report/attrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"

#define BASE_ATTR "wb"
#define BASE_COPY "memcpy"

static bool is_random(const struct cp_context *context)
{
	return !strncmp(context->rw, "rand", 4);
}

/* Everything of a cell that its group shares. */
static bool same_group(const struct cp_report *report, const struct cp_report_cell *a,
		       const struct cp_report_cell *b)
{
	struct cp_context contexts[2] = {a->context, b->context};
	struct cp_arm arms[2] = {report->arms[a->arm].arm, report->arms[b->arm].arm};

	for (int i = 0; i < 2; i++) {
		snprintf(contexts[i].rw, sizeof(contexts[i].rw), "%s",
			 is_random(&contexts[i]) ? "randread" : "read");
		snprintf(contexts[i].attr, sizeof(contexts[i].attr), BASE_ATTR);
		snprintf(arms[i].copy, sizeof(arms[i].copy), BASE_COPY);
		arms[i].name[0] = '\0';
	}
	return !strcmp(a->host, b->host) &&
	       !strcmp(a->provenance.media, b->provenance.media) &&
	       cp_context_same(&contexts[0], &contexts[1]) &&
	       cp_arm_same(&arms[0], &arms[1]);
}

/* An attribute is in the copies of the CPU. */
static bool takes_part(const struct cp_report *report, const struct cp_report_cell *cell)
{
	return cell->n && !strcmp(report->arms[cell->arm].arm.path, "cpu");
}

static int add_cell(const struct cp_report *report, struct cp_report_attr_group *group,
		    const struct cp_report_cell *cell, struct cp_err *err)
{
	const char *copy = report->arms[cell->arm].arm.copy;
	enum cp_dir dir = cp_context_dir(&cell->context);

	for (size_t i = 0; i < group->nr; i++) {
		struct cp_report_attr_row *row = &group->rows[i];

		if (row->cells[dir] || strcmp(row->attr, cell->context.attr) != 0 ||
		    strcmp(row->copy, copy) != 0 ||
		    strcmp(row->provenance, cell->provenance.attr) != 0)
			continue;
		row->cells[dir] = cell;
		return 0;
	}
	int rc = cp_report_grow(&group->rows, &group->nr, sizeof(*group->rows), err);

	if (rc)
		return rc;
	struct cp_report_attr_row *row = &group->rows[group->nr - 1];

	row->attr = cell->context.attr;
	row->copy = copy;
	row->provenance = cell->provenance.attr;
	row->cells[dir] = cell;
	return 0;
}

static bool has_two_attributes(const struct cp_report_attr_group *group)
{
	for (int d = 0; d < 2; d++) {
		const char *first = NULL;

		for (size_t i = 0; i < group->nr; i++) {
			if (!group->rows[i].cells[d])
				continue;
			first = first ? first : group->rows[i].attr;
			if (strcmp(group->rows[i].attr, first) != 0)
				return true;
		}
	}
	return false;
}

/* Rows that were published for this load, and those of them nobody measured here. */
static int add_published(const struct cp_report_attrs *attrs,
			 struct cp_report_attr_group *group, struct cp_err *err)
{
	const struct cp_published *published = &attrs->published;
	const struct cp_context *context = &group->like->context;

	/* it is of the block layer, whose pages are not misaligned */
	if (context->misalign_near || context->misalign_far ||
	    strcmp(context->driver, "fio") != 0)
		return 0;
	if (!attrs->has_published || published->bs != context->bs ||
	    published->random != is_random(context))
		return 0;
	group->published_base = cp_published_find(published, BASE_ATTR, BASE_COPY);
	for (size_t i = 0; i < group->nr; i++)
		group->rows[i].published = cp_published_find(
			published, group->rows[i].attr, group->rows[i].copy);
	for (size_t p = 0; p < published->nr; p++) {
		size_t i = 0;

		while (i < group->nr && group->rows[i].published != &published->rows[p])
			i++;
		if (i < group->nr)
			continue;
		int rc = cp_report_grow(&group->rows, &group->nr, sizeof(*group->rows),
					err);

		if (rc)
			return rc;
		group->rows[group->nr - 1] = (struct cp_report_attr_row){
			.attr = published->rows[p].attr,
			.copy = published->rows[p].copy,
			.provenance = "",
			.published = &published->rows[p],
		};
	}
	return 0;
}

/* Where a word is first seen in the published table; behind all of it where it is not. */
static size_t rank(const struct cp_published *published, const char *word, size_t offset)
{
	size_t i = 0;

	while (i < published->nr &&
	       strcmp((const char *)&published->rows[i] + offset, word) != 0)
		i++;
	return i;
}

static int by_rank(const void *a, const void *b, void *ctx)
{
	const struct cp_report_attr_row *x = a, *y = b;
	const struct cp_published *published = ctx;
	size_t attr = offsetof(struct cp_published_row, attr);
	size_t copy = offsetof(struct cp_published_row, copy);
	size_t p = rank(published, x->attr, attr), q = rank(published, y->attr, attr);
	int rc = (p > q) - (p < q);

	rc = rc ? rc : strcmp(x->attr, y->attr);
	p = rank(published, x->copy, copy);
	q = rank(published, y->copy, copy);
	rc = rc ? rc : (p > q) - (p < q);
	rc = rc ? rc : strcmp(x->copy, y->copy);
	return rc ? rc : -strcmp(x->provenance, y->provenance); /* native first */
}

static void finish_group(struct cp_report_attrs *attrs,
			 struct cp_report_attr_group *group)
{
	qsort_r(group->rows, group->nr, sizeof(*group->rows), by_rank, &attrs->published);
	group->basis = VALUE_IOPS_CPU;
	for (size_t i = 0; i < group->nr; i++) {
		const struct cp_report_attr_row *row = &group->rows[i];

		if (!group->base && row->provenance[0] && !strcmp(row->attr, BASE_ATTR) &&
		    !strcmp(row->copy, BASE_COPY))
			group->base = row;
		for (int d = 0; d < 2; d++)
			if (row->cells[d] &&
			    row->cells[d]->values[VALUE_IOPS_CPU].n != row->cells[d]->n)
				group->basis = VALUE_IOPS;
	}
}

static int find_groups(const struct cp_report *report, struct cp_report_attrs *attrs,
		       struct cp_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < report->nr_cells && !rc; i++) {
		const struct cp_report_cell *cell = &report->cells[i];
		size_t g = 0;

		if (!takes_part(report, cell))
			continue;
		while (g < attrs->nr && !same_group(report, attrs->groups[g].like, cell))
			g++;
		if (g == attrs->nr) {
			rc = cp_report_grow(&attrs->groups, &attrs->nr,
					    sizeof(*attrs->groups), err);
			if (rc)
				break;
			attrs->groups[g].like = cell;
		}
		rc = add_cell(report, &attrs->groups[g], cell, err);
	}
	return rc;
}

static void drop_single(struct cp_report_attrs *attrs)
{
	size_t kept = 0;

	for (size_t i = 0; i < attrs->nr; i++) {
		if (has_two_attributes(&attrs->groups[i]))
			attrs->groups[kept++] = attrs->groups[i];
		else
			free(attrs->groups[i].rows);
	}
	attrs->nr = kept;
}

int cp_report_attrs_find(struct cp_report *report, struct cp_err *err)
{
	struct cp_report_attrs *attrs = calloc(1, sizeof(*attrs));
	const char *path = report->opts->published;
	struct cp_err why;

	if (!attrs)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	int rc = find_groups(report, attrs, err);

	drop_single(attrs);
	if (rc || !attrs->nr) {
		cp_report_attrs_free(attrs);
		return rc;
	}
	attrs->has_published = path && !cp_published_read(path, &attrs->published, &why);
	if (path && !attrs->has_published)
		cp_report_warn(report, "the published figures are not shown: %s",
			       why.msg);
	for (size_t i = 0; i < attrs->nr && !rc; i++) {
		rc = add_published(attrs, &attrs->groups[i], err);
		finish_group(attrs, &attrs->groups[i]);
	}
	if (rc)
		cp_report_attrs_free(attrs);
	else
		report->attrs = attrs;
	return rc;
}

void cp_report_attrs_free(struct cp_report_attrs *attrs)
{
	if (!attrs)
		return;
	for (size_t i = 0; i < attrs->nr; i++)
		free(attrs->groups[i].rows);
	free(attrs->groups);
	free(attrs);
}

char *cp_report_attr_group_words(const struct cp_report *report,
				 const struct cp_report_attr_group *group, char *buf,
				 size_t size)
{
	const struct cp_report_cell *like = group->like;
	const struct cp_context *context = &like->context;
	const struct cp_arm *arm = &report->arms[like->arm].arm;
	char bs[24], load[64], more[5][200] = {"", "", "", "", ""};

	if (strcmp(context->layer, "none") != 0)
		snprintf(more[0], sizeof(more[0]), ", layer %s", context->layer);
	if (strcmp(context->corunner, "none") != 0)
		snprintf(more[1], sizeof(more[1]), ", corunner %s", context->corunner);
	if (context->misalign_near || context->misalign_far)
		snprintf(more[2], sizeof(more[2]), ", misaligned by %u (near), %u (far)",
			 context->misalign_near, context->misalign_far);
	for (size_t i = 0; i < report->nr_cells; i++)
		if (strcmp(report->cells[i].host, like->host) != 0)
			snprintf(more[3], sizeof(more[3]), ", on %s", like->host);
	snprintf(buf, size, "%s %s, %s, %s, media %s %s%s%s%s%s%s",
		 is_random(context) ? "random" : "sequential",
		 cp_size_format(context->bs, bs, sizeof(bs)),
		 cp_report_load_words(context, load, sizeof(load)), arm->queue_mode,
		 context->media, like->provenance.media, more[0], more[1], more[2],
		 more[3], cp_report_driver_words(context, more[4], sizeof(more[4])));
	return buf;
}
