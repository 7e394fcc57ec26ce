// SPDX-License-Identifier: GPL-2.0-only
/* Which cells of one context no other beats in bandwidth and in CPU time a byte at once.
 */
#include <errno.h>
#include <math.h>

#include "engines/base/units.h"
#include "policies/learn_priv.h"
#include "policies/pareto.h"

/* Not in CPU %: a slow arm has less of that because it does less. */
static bool dominates(const struct cp_learn_cell *a, const struct cp_learn_cell *b)
{
	if (!(a->bw_median >= b->bw_median && a->cpu_ns_per_byte <= b->cpu_ns_per_byte))
		return false;
	return a->bw_median > b->bw_median || a->cpu_ns_per_byte < b->cpu_ns_per_byte;
}

void learn_pareto(const struct cp_objective *objective, struct cp_learn_cell *cells,
		  size_t nr)
{
	bool slo = !isnan(objective->slo_p99_ns) && !(objective->tail > 0.0),
	     kept = false;
	double fastest = 0.0;

	for (size_t i = 0; i < nr; i++) {
		fastest = fmax(fastest, cells[i].bw_median);
		kept |= cells[i].p99_ns <= objective->slo_p99_ns;
	}
	for (size_t i = 0; i < nr; i++) {
		struct cp_learn_cell *cell = &cells[i];

		cell->pareto = !isnan(cell->bw_median) && !isnan(cell->cpu_ns_per_byte);
		for (size_t k = 0; k < nr && cell->pareto; k++)
			cell->pareto = k == i || !dominates(&cells[k], cell);
		cell->excluded = (!isnan(objective->min_bw_frac) &&
				  cell->bw_median < objective->min_bw_frac * fastest) ||
				 (slo && kept && cell->p99_ns > objective->slo_p99_ns);
	}
}

/* Where a line with another slope meets the best one, on the wanted side. */
static void meet(const struct cp_objective *objective, const struct cp_learn_cell *cell,
		 struct cp_flip *flip)
{
	double slope = cell->cpu_ns_per_byte - flip->best->cpu_ns_per_byte;
	double rise = objective->elapsed * (flip->best->ns_per_byte - cell->ns_per_byte);
	double at = rise / slope;

	if (!isfinite(at) || at < 0.0)
		return;
	if (slope > 0.0 && at <= objective->cpu &&
	    (!flip->below || at > flip->below_cpu)) {
		flip->below = cell;
		flip->below_cpu = at;
	}
	if (slope < 0.0 && at >= objective->cpu &&
	    (!flip->above || at < flip->above_cpu)) {
		flip->above = cell;
		flip->above_cpu = at;
	}
}

int cp_pareto_flip(const struct cp_objective *objective,
		   const struct cp_learn_cell *cells, size_t nr, struct cp_flip *ret_flip)
{
	struct cp_flip flip = {.below_cpu = NAN, .above_cpu = NAN};

	for (size_t i = 0; i < nr; i++)
		if (!cells[i].excluded && isfinite(cells[i].cost) &&
		    (!flip.best || cells[i].cost < flip.best->cost))
			flip.best = &cells[i];
	if (!flip.best || !(objective->elapsed > 0.0) || objective->tail > 0.0)
		return -ENODATA;
	for (size_t i = 0; i < nr; i++)
		if (!cells[i].excluded && &cells[i] != flip.best)
			meet(objective, &cells[i], &flip);
	*ret_flip = flip;
	return 0;
}

static json_t *flip_json(const struct cp_learn_cell *to, double cpu)
{
	return to ? json_pack("{s:f, s:s}", "cpu", cpu, "to", to->arm.name) : json_null();
}

static json_t *context_json(const struct cp_objective *objective,
			    const struct cp_learn_cell *cells, size_t nr)
{
	const struct cp_context *context = &cells[0].context;
	json_t *front = json_array();
	struct cp_flip flip;

	for (size_t i = 0; i < nr; i++)
		if (cells[i].pareto)
			json_array_append_new(front, json_string(cells[i].arm.name));
	json_t *obj = json_pack("{s:s, s:I, s:i, s:i, s:o}", "rw", context->rw, "bs",
				(json_int_t)context->bs, "numjobs", (int)context->numjobs,
				"iodepth", (int)context->iodepth, "front", front);

	if (!obj || cp_pareto_flip(objective, cells, nr, &flip))
		return obj;
	json_object_set_new(obj, "best", json_string(flip.best->arm.name));
	json_object_set_new(obj, "below", flip_json(flip.below, flip.below_cpu));
	json_object_set_new(obj, "above", flip_json(flip.above, flip.above_cpu));
	return obj;
}

json_t *cp_pareto_json(const struct cp_objective *objective,
		       const struct cp_learn_cell *cells, size_t nr)
{
	json_t *list = json_array();

	for (size_t i = 0, end; i < nr; i = end) {
		end = i + 1;
		while (end < nr &&
		       cp_context_same(&cells[i].context, &cells[end].context))
			end++;
		json_array_append_new(list, context_json(objective, &cells[i], end - i));
	}
	return list;
}

/* The nearest price at which any context's best arm changes, on each side. */
void cp_pareto_words(const struct cp_objective *objective,
		     const struct cp_learn_cell *cells, size_t nr, FILE *out)
{
	struct cp_flip below = {.below_cpu = 0.0}, above = {.above_cpu = INFINITY};

	for (size_t i = 0, end; i < nr; i = end) {
		struct cp_flip flip;

		end = i + 1;
		while (end < nr &&
		       cp_context_same(&cells[i].context, &cells[end].context))
			end++;
		if (cp_pareto_flip(objective, &cells[i], end - i, &flip))
			continue;
		if (flip.below && (!below.below || flip.below_cpu > below.below_cpu))
			below = flip;
		if (flip.above && (!above.above || flip.above_cpu < above.above_cpu))
			above = flip;
	}
	for (unsigned side = 0; side < 2; side++) {
		const struct cp_flip *flip = side ? &above : &below;
		const struct cp_learn_cell *to = side ? flip->above : flip->below;
		char size[24];

		if (!to)
			continue;
		fprintf(out,
			"were a CPU-microsecond worth %s than %.2g, %s of %s at depth %u "
			"would go from %s to %s\n",
			side ? "more" : "less",
			(side ? flip->above_cpu : flip->below_cpu) / objective->elapsed,
			to->context.rw,
			cp_size_format(to->context.bs, size, sizeof(size)),
			to->context.iodepth, flip->best->arm.name, to->arm.name);
	}
}
