// SPDX-License-Identifier: GPL-2.0-only
/* A plan once it is read: filters, the order of samples, what it holds. */
#include "bench/plan/plan.h"

#include <errno.h>
#include <string.h>

#include "bench/plan/corunner.h"
#include "bench/plan/filter.h"
#include "engines/base/random.h"
#include "engines/base/yaml.h"
#include "engines/media/media.h"

void cp_plan_free(struct cp_plan *plan)
{
	free(plan->cells);
	free(plan->order);
	plan->cells = NULL;
	plan->order = NULL;
	plan->nr_cells = 0;
	plan->nr_order = 0;
}

int cp_plan_filter(struct cp_plan *plan, const char *const *filters, size_t nr_filters,
		   struct cp_err *err)
{
	struct cp_filter *filter;
	size_t nr = 0;

	if (!nr_filters)
		return 0;
	int ret = cp_filter_parse(filters, nr_filters, &filter, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (cp_filter_matches(filter, &plan->cells[i].context,
				      &plan->cells[i].arm))
			plan->cells[nr++] = plan->cells[i];
	plan->nr_cells = nr;
	if (!nr)
		ret = cp_err_set(err, CP_EXIT_USAGE, ENOENT,
				 "no cell matches filter '%s'; expected values that "
				 "--dry-run lists",
				 filters[0]);
	cp_filter_free(filter);
	return ret;
}

/* The context and the replicate, not the arm: arms meet the same access pattern. */
static uint64_t sample_seed(const struct cp_plan *plan, const struct cp_context *context,
			    uint32_t sample)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	char text[CP_SPEC_TEXT_MAX];

	for (size_t i = 0; cp_context_fields[i].name; i++) {
		cp_field_format(&cp_context_fields[i], context, true, text, sizeof(text));
		for (const char *c = text; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
	}
	uint64_t state = hash ^ (plan->seed << 20) ^ sample;
	return (cp_random_next(&state) >> 16) | 1; /* fio multiplies by it: never 0 */
}

int cp_plan_order(struct cp_plan *plan, struct cp_err *err)
{
	size_t nr = plan->nr_cells * plan->samples;
	uint64_t state = plan->seed;

	if (nr > CP_PLAN_SAMPLES_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, E2BIG,
				  "the plan has %zu samples; expected at most %d", nr,
				  CP_PLAN_SAMPLES_MAX);
	struct cp_plan_sample *order = calloc(nr ? nr : 1, sizeof(*order));
	if (!order)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	for (uint32_t round = 0; round < plan->samples; round++) {
		struct cp_plan_sample *part = order + round * plan->nr_cells;

		for (size_t i = 0; i < plan->nr_cells; i++)
			part[i] = (struct cp_plan_sample){
				.cell = (uint32_t)i,
				.sample = round,
				.seed = sample_seed(plan, &plan->cells[i].context, round),
			};
		for (size_t i = plan->nr_cells; i > 1; i--) { /* Fisher-Yates */
			size_t k = cp_random_next(&state) % i;
			struct cp_plan_sample swap = part[i - 1];

			part[i - 1] = part[k];
			part[k] = swap;
		}
	}
	free(plan->order);
	plan->order = order;
	plan->nr_order = nr;
	return 0;
}

/* Driver swap fills its region before it measures, and checks all of it after: a fault a
 * page each. The mean of the cells. */
static uint64_t around_ns(const struct cp_plan *plan)
{
	uint64_t pages = plan->size / CP_PAGE_BYTES, sum_ns = 0;

	for (size_t i = 0; i < plan->nr_cells && !strcmp(plan->driver, "swap"); i++)
		sum_ns += 2 * pages *
			  (strcmp(plan->cells[i].context.handler, "apart") ? 20000
									   : 100000);
	return plan->nr_cells ? sum_ns / plan->nr_cells : 0;
}

uint64_t cp_plan_time_ns(const struct cp_plan *plan, size_t nr_samples)
{
	uint64_t one_ns =
		plan->runtime_ns + plan->ramp_ns + CP_PLAN_START_NS + around_ns(plan);
	size_t nr_beside = 0;

	/* A co-runner is measured alone first, for as long as the sample. */
	for (size_t i = 0; i < plan->nr_cells; i++)
		nr_beside += strcmp(plan->cells[i].context.corunner, "none") != 0;
	if (nr_beside)
		one_ns += (plan->runtime_ns + CP_CORUNNER_START_NS) * nr_beside /
			  plan->nr_cells;
	return nr_samples * one_ns;
}

uint64_t cp_plan_profile_time_ns(const struct cp_plan *plan, size_t nr_profiles)
{
	return cp_plan_time_ns(plan, nr_profiles) + nr_profiles * CP_PLAN_PROFILE_NS;
}

long cp_plan_find(const struct cp_plan *plan, const struct cp_context *context,
		  const struct cp_arm *arm)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (!strcmp(plan->cells[i].arm.name, arm->name) &&
		    cp_context_same(&plan->cells[i].context, context) &&
		    cp_arm_same(&plan->cells[i].arm, arm))
			return (long)i;
	return -1;
}

/* Insert word into the sorted, comma-joined list in buf unless it is there. */
static void list_add(char *buf, size_t size, const char *word)
{
	char old[1024];
	size_t at = 0, len = strlen(word);
	const char *rest;

	snprintf(old, sizeof(old), "%s", buf);
	for (rest = old; *rest;) {
		size_t n = strcspn(rest, ",");
		int order = strncmp(rest, word, n > len ? n : len);

		if (!order)
			return;
		if (order > 0)
			break;
		at += n + (rest[n] == ',');
		rest += n + (rest[n] == ',');
	}
	bool tail = *rest != '\0', head = at > 0 && !tail;
	snprintf(buf, size, "%.*s%s%s%s%s", (int)at, old, head ? "," : "", word,
		 tail ? "," : "", rest);
}

void cp_plan_media(const struct cp_plan *plan, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < plan->nr_cells; i++) {
		const char *spec = plan->cells[i].context.media;
		char word[CP_SPEC_TEXT_MAX];

		cp_media_kind(spec, word, sizeof(word));
		list_add(buf, size, word);
	}
	if (!buf[0])
		snprintf(buf, size, "none");
}
