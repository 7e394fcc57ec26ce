// SPDX-License-Identifier: GPL-2.0-only
/* A plan once it is read: filters, the order of samples, what it holds. */
#include "bench/plan/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

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

struct filter {
	const char *text, *value;
	char key[64];
	const struct cp_field *field; /* NULL: arm name pattern */
	bool of_arm;
	char want[CP_SPEC_TEXT_MAX]; /* as the field is formatted */
};

static int unknown_key(const char *key, struct cp_err *err)
{
	const char *words[48] = {"arm"};
	size_t nr = 1;

	for (size_t i = 0; cp_context_fields[i].name && nr < 47; i++)
		words[nr++] = cp_context_fields[i].name;
	for (size_t i = 0; cp_arm_fields[i].name && nr < 47; i++)
		words[nr++] = cp_arm_fields[i].name;
	words[nr] = NULL;
	const char *near = cp_nearest_word(key, words);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown key '%s' in --filter; expected '%s'", key,
			  near ? near : "arm, rw, bs, numjobs, iodepth, copy or dma");
}

static int filter_parse(const char *text, struct filter *ret, struct cp_err *err)
{
	const char *equals = strchr(text, '=');
	struct cp_context context;
	struct cp_arm arm;

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(ret->key))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "filter '%s' is no key=value; expected e.g. rw=read",
				  text);
	*ret = (struct filter){.text = text, .value = equals + 1};
	memcpy(ret->key, text, (size_t)(equals - text));
	if (!strcmp(ret->key, "arm"))
		return 0;
	ret->field = cp_field_find(cp_context_fields, ret->key);
	if (!ret->field) {
		ret->field = cp_field_find(cp_arm_fields, ret->key);
		ret->of_arm = true;
	}
	if (!ret->field)
		return unknown_key(ret->key, err);
	cp_context_init(&context);
	cp_arm_init(&arm);
	void *obj = ret->of_arm ? (void *)&arm : (void *)&context;
	int rc = cp_field_parse(ret->field, obj, ret->value, err);
	if (rc)
		return rc;
	cp_field_format(ret->field, obj, true, ret->want, sizeof(ret->want));
	return 0;
}

static bool filter_matches(const struct filter *filter, const struct cp_plan_cell *cell)
{
	char have[CP_SPEC_TEXT_MAX];

	if (!filter->field)
		return !fnmatch(filter->value, cell->arm.name, 0);
	const void *obj =
		filter->of_arm ? (const void *)&cell->arm : (const void *)&cell->context;
	cp_field_format(filter->field, obj, true, have, sizeof(have));
	return !strcmp(have, filter->want);
}

/* The same key twice means either; different keys mean both. */
static bool cell_matches(const struct filter *filters, size_t nr,
			 const struct cp_plan_cell *cell)
{
	for (size_t i = 0; i < nr; i++) {
		bool any = false;

		for (size_t k = 0; k < nr && !any; k++)
			any = !strcmp(filters[i].key, filters[k].key) &&
			      filter_matches(&filters[k], cell);
		if (!any)
			return false;
	}
	return true;
}

int cp_plan_filter(struct cp_plan *plan, const char *const *filters, size_t nr_filters,
		   struct cp_err *err)
{
	if (!nr_filters)
		return 0;
	struct filter *parsed = calloc(nr_filters, sizeof(*parsed));
	if (!parsed)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	int ret = 0;
	for (size_t i = 0; i < nr_filters && !ret; i++)
		ret = filter_parse(filters[i], &parsed[i], err);
	if (ret)
		goto out_free;
	size_t nr = 0;
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (cell_matches(parsed, nr_filters, &plan->cells[i]))
			plan->cells[nr++] = plan->cells[i];
	plan->nr_cells = nr;
	if (!nr)
		ret = cp_err_set(err, CP_EXIT_USAGE, ENOENT,
				 "no cell matches filter '%s'; expected values that "
				 "--dry-run lists",
				 filters[0]);
out_free:
	free(parsed);
	return ret;
}

static uint64_t random_next(uint64_t *state) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
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
	return (random_next(&state) >> 16) | 1; /* fio multiplies by it: never 0 */
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
			size_t k = random_next(&state) % i;
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

uint64_t cp_plan_time_ns(const struct cp_plan *plan, size_t nr_samples)
{
	return nr_samples * (plan->runtime_ns + plan->ramp_ns + CP_PLAN_START_NS);
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
