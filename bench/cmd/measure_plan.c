// SPDX-License-Identifier: GPL-2.0-only
/* The plan in words: one line a cell, with whatever tells it from the others. */
#include "bench/cmd/measure_priv.h"

#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/dma/channel.h"

/* In every line, by hand. */
static bool always(const char *name)
{
	static const char *const names[] = {"rw",	"bs",	 "numjobs", "iodepth",
					    "segments", "media", NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static const void *object(const struct cp_plan_cell *cell, bool of_arm)
{
	return of_arm ? (const void *)&cell->arm : (const void *)&cell->context;
}

/* An arm's field without a default follows from others: is this what it would be had the
 * workload named none but the way? */
static bool follows(const struct cp_plan_cell *cell, const struct cp_field *field)
{
	char is[CP_SPEC_TEXT_MAX], would_be[CP_SPEC_TEXT_MAX];
	struct cp_arm usual;
	struct cp_err err;

	cp_arm_init(&usual);
	memcpy(usual.queue_mode, cell->arm.queue_mode, sizeof(usual.queue_mode));
	memcpy(usual.path, cell->arm.path, sizeof(usual.path));
	memcpy(usual.dma, cell->arm.dma, sizeof(usual.dma));
	memcpy(usual.policy, cell->arm.policy, sizeof(usual.policy));
	if (cp_dma_fit_ring(&usual, &err) || cp_arm_resolve(&usual, &err))
		return true;
	cp_field_format(field, &cell->arm, true, is, sizeof(is));
	cp_field_format(field, &usual, true, would_be, sizeof(would_be));
	return !strcmp(is, would_be);
}

/* Is there a reason to say it: does it vary, or is it not what is usual? */
static bool telling(const struct cp_plan *plan, const struct cp_field *field, bool of_arm)
{
	char first[CP_SPEC_TEXT_MAX], value[CP_SPEC_TEXT_MAX];

	if (!of_arm && always(field->name))
		return false;
	for (size_t i = 0; i < plan->nr_cells; i++) {
		cp_field_format(field, object(&plan->cells[i], of_arm), true, value,
				sizeof(value));
		if (!i)
			memcpy(first, value, sizeof(first));
		if (strcmp(first, value) != 0)
			return true;
		if (of_arm && !*field->def && !follows(&plan->cells[i], field))
			return true;
	}
	return plan->nr_cells && *field->def && strcmp(first, field->def) != 0;
}

#define FIELDS_MAX 64

/* Looked at once, not once a line. */
struct told {
	size_t nr;
	struct {
		const struct cp_field *field;
		bool of_arm;
	} of[FIELDS_MAX];
};

static void choose(const struct cp_plan *plan, bool of_arm, struct told *told)
{
	const struct cp_field *field = of_arm ? cp_arm_fields : cp_context_fields;

	for (; field->name && told->nr < FIELDS_MAX; field++) {
		if (!telling(plan, field, of_arm))
			continue;
		told->of[told->nr].field = field;
		told->of[told->nr++].of_arm = of_arm;
	}
}

void cp_measure_print_plan(const struct cp_plan *plan)
{
	size_t profiles = cp_measure_profiles(plan);
	uint64_t time_s = cp_measure_time_s(plan, plan->nr_order, profiles);
	char bs[24], value[CP_SPEC_TEXT_MAX];
	struct told told = {0};

	choose(plan, false, &told);
	choose(plan, true, &told);
	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_context *c = &plan->cells[i].context;

		printf("%-24s rw=%s bs=%s numjobs=%u iodepth=%u segments=%u media=%s",
		       plan->cells[i].arm.name, c->rw,
		       cp_size_format(c->bs, bs, sizeof(bs)), c->numjobs, c->iodepth,
		       c->segments, c->media);
		for (size_t k = 0; k < told.nr; k++)
			printf(" %s=%s", told.of[k].field->name,
			       cp_field_format(told.of[k].field,
					       object(&plan->cells[i], told.of[k].of_arm),
					       false, value, sizeof(value)));
		putchar('\n');
	}
	printf("%s: %zu cells x %u samples = %zu samples", plan->name, plan->nr_cells,
	       plan->samples, plan->nr_order);
	if (profiles)
		printf(", and %zu profiles", profiles);
	printf(", about %llu min %02llu s\n", (unsigned long long)time_s / 60,
	       (unsigned long long)time_s % 60);
}
