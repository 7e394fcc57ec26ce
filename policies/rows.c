// SPDX-License-Identifier: GPL-2.0-only
/* Cells into rows (a context but for its size) of curves (an arm over sizes). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

void learn_row_forget(struct learn_row *row)
{
	free(row->grid);
	free(row->mean);
	free(row->var);
	free(row->dof);
	free(row->ln_elapsed);
	free(row->ln_p99);
	free(row->excluded);
	free(row->beyond);
	free(row->sure);
	free(row->incumbent);
	free(row->choice);
	row->grid = NULL;
	row->mean = row->var = row->dof = row->ln_elapsed = row->ln_p99 = NULL;
	row->excluded = row->beyond = NULL;
	row->sure = NULL;
	row->incumbent = row->choice = NULL;
	row->nr_grid = 0;
}

static void row_free(struct learn_row *row)
{
	for (unsigned i = 0; i < row->nr_curves; i++) {
		free(row->curves[i].cells);
		free(row->curves[i].loo);
		free(row->curves[i].mean);
		free(row->curves[i].var);
	}
	free(row->curves);
	learn_row_forget(row);
}

void learn_rows_free(struct cp_learn *learn)
{
	for (size_t i = 0; i < learn->nr_rows; i++)
		row_free(&learn->rows[i]);
	free(learn->rows);
	learn->rows = NULL;
	learn->nr_rows = 0;
}

static struct cp_context row_key(const struct cp_context *context)
{
	struct cp_context key = *context;

	key.bs = 0;
	key.segments = 0;
	return key;
}

static struct learn_row *find_row(struct cp_learn *learn,
				  const struct cp_context *context)
{
	struct cp_context key = row_key(context);

	for (size_t i = 0; i < learn->nr_rows; i++)
		if (cp_context_same(&learn->rows[i].key, &key))
			return &learn->rows[i];
	struct learn_row *row = &learn->rows[learn->nr_rows++];

	row->key = key;
	row->noise_known = learn->noise_known;
	return row;
}

static struct learn_curve *find_curve(struct learn_row *row, const struct cp_arm *arm)
{
	for (unsigned i = 0; i < row->nr_curves; i++)
		if (!strcmp(row->curves[i].arm->name, arm->name) &&
		    cp_arm_same(row->curves[i].arm, arm))
			return &row->curves[i];
	if (row->nr_curves == LEARN_ARMS_MAX)
		return NULL;
	if (!row->curves)
		row->curves = calloc(LEARN_ARMS_MAX, sizeof(*row->curves));
	if (!row->curves)
		return NULL;
	struct learn_curve *curve = &row->curves[row->nr_curves++];

	curve->arm = arm;
	return curve;
}

/* Keeps the curve's cells in the order of their sizes. */
static int insert(struct learn_curve *curve, const struct learn_cell *cell,
		  struct cp_err *err)
{
	unsigned at = curve->nr;

	if (!curve->cells)
		curve->cells = calloc(LEARN_SIZES_MAX, sizeof(struct learn_cell *));
	if (!curve->cells)
		return learn_no_memory(err);
	if (curve->nr == LEARN_SIZES_MAX)
		return cp_err_set(
			err, CP_EXIT_INVALID, E2BIG,
			"arm '%s' has more than %d sizes in one context; expected "
			"fewer",
			cell->arm.name, LEARN_SIZES_MAX);
	while (at > 0 && curve->cells[at - 1]->context.bs > cell->context.bs)
		at--;
	if (at > 0 && curve->cells[at - 1]->context.bs == cell->context.bs)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "records hold bs %llu with %u and with %u segments; "
				  "expected one segment size",
				  (unsigned long long)cell->context.bs,
				  curve->cells[at - 1]->context.segments,
				  cell->context.segments);
	memmove(&curve->cells[at + 1], &curve->cells[at],
		(curve->nr - at) * sizeof(curve->cells[0]));
	curve->cells[at] = cell;
	curve->nr++;
	return 0;
}

static bool same_table(const struct cp_context *a, const struct cp_context *b)
{
	return cp_context_dir(a) == cp_context_dir(b) && !strcmp(a->layer, b->layer) &&
	       !strcmp(a->attr, b->attr) && !strcmp(a->numa, b->numa) &&
	       a->misalign_near == b->misalign_near && a->misalign_far == b->misalign_far;
}

/* A policy cannot tell these apart at run time, so it must not average over them. */
static int check_conflict(const struct cp_context *a, const struct cp_context *b,
			  struct cp_err *err)
{
	static const char *const names[] = {"rw",      "media",	   "corunner",
					    "rw_page", "resident", "handler"};
	char mine[CP_SPEC_TEXT_MAX], other[CP_SPEC_TEXT_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct cp_field *field = cp_field_find(cp_context_fields, names[i]);

		cp_field_format(field, a, false, mine, sizeof(mine));
		cp_field_format(field, b, false, other, sizeof(other));
		if (strcmp(mine, other) != 0)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "records hold %s '%s' and '%s', which a policy "
					  "cannot tell apart; expected one of them, as "
					  "with learn --filter %s=%s",
					  names[i], mine, other, names[i], other);
	}
	return 0;
}

static uint32_t load_of(const struct cp_context *context)
{
	uint64_t load = (uint64_t)context->numjobs * context->iodepth;

	return load < CP_POLICY_OPEN ? (uint32_t)load : CP_POLICY_OPEN - 1;
}

static void narrow(struct cp_range *range, uint32_t mine, uint32_t other)
{
	uint32_t middle = (uint32_t)sqrt((double)mine * (double)other);

	/* Up to the geometric middle is the smaller one's. */
	if (other > mine && middle < range->max)
		range->max = middle;
	if (other < mine && middle + 1 > range->min)
		range->min = middle + 1;
}

static int set_ranges(struct cp_learn *learn, struct learn_row *row, struct cp_err *err)
{
	row->jobs = row->load = (struct cp_range){1, CP_POLICY_OPEN};
	for (size_t i = 0; i < learn->nr_rows; i++) {
		const struct cp_context *other = &learn->rows[i].key;

		if (!same_table(&row->key, other))
			continue;
		if (other->numjobs != row->key.numjobs) {
			narrow(&row->jobs, row->key.numjobs, other->numjobs);
			continue;
		}
		if (load_of(other) != load_of(&row->key)) {
			narrow(&row->load, load_of(&row->key), load_of(other));
			continue;
		}
		int rc = check_conflict(&row->key, other, err);

		if (rc)
			return rc;
	}
	return 0;
}

int learn_rows_build(struct cp_learn *learn, struct cp_err *err)
{
	learn->rows = calloc(learn->nr_cells + 1, sizeof(*learn->rows));
	if (!learn->rows)
		return learn_no_memory(err);
	for (size_t i = 0; i < learn->nr_cells; i++) {
		const struct learn_cell *cell = &learn->cells[i];
		struct learn_row *row = find_row(learn, &cell->context);
		struct learn_curve *curve = find_curve(row, &cell->arm);

		if (!curve)
			return cp_err_set(
				err, CP_EXIT_INVALID, E2BIG,
				"records hold more than %d arms in one context; "
				"expected fewer",
				LEARN_ARMS_MAX);
		int rc = insert(curve, cell, err);

		if (rc)
			return rc;
	}
	for (size_t i = 0; i < learn->nr_rows; i++) {
		int rc = set_ranges(learn, &learn->rows[i], err);

		if (rc)
			return rc;
	}
	return 0;
}
