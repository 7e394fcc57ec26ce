// SPDX-License-Identifier: GPL-2.0-only
/* --filter key=value, over the fields of context and arm. */
#include "bench/plan/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/yaml.h"

struct term {
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
	char list[768], quoted[80];

	if (near)
		snprintf(quoted, sizeof(quoted), "'%s'", near);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown key '%s' in --filter; expected %s", key,
			  near ? quoted : cp_words_join(words, list, sizeof(list)));
}

static int filter_parse(const char *text, struct term *ret, struct cp_err *err)
{
	const char *equals = strchr(text, '=');
	struct cp_context context;
	struct cp_arm arm;

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(ret->key))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "filter '%s' is no key=value; expected e.g. rw=read",
				  text);
	*ret = (struct term){.text = text, .value = equals + 1};
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

struct cp_filter {
	size_t nr;
	struct term terms[];
};

static bool filter_matches(const struct term *filter, const struct cp_context *context,
			   const struct cp_arm *arm)
{
	char have[CP_SPEC_TEXT_MAX];

	if (!filter->field)
		return !fnmatch(filter->value, arm->name, 0);
	const void *obj = filter->of_arm ? (const void *)arm : (const void *)context;
	cp_field_format(filter->field, obj, true, have, sizeof(have));
	return !strcmp(have, filter->want);
}

bool cp_filter_matches(const struct cp_filter *filter, const struct cp_context *context,
		       const struct cp_arm *arm)
{
	const struct term *filters = filter->terms;
	size_t nr = filter->nr;

	for (size_t i = 0; i < nr; i++) {
		bool any = false;

		for (size_t k = 0; k < nr && !any; k++)
			any = !strcmp(filters[i].key, filters[k].key) &&
			      filter_matches(&filters[k], context, arm);
		if (!any)
			return false;
	}
	return true;
}

int cp_filter_parse(const char *const *texts, size_t nr, struct cp_filter **ret,
		    struct cp_err *err)
{
	struct cp_filter *filter = calloc(1, sizeof(*filter) + nr * sizeof(struct term));

	if (!filter)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	filter->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		int rc = filter_parse(texts[i], &filter->terms[i], err);

		if (rc) {
			free(filter);
			return rc;
		}
	}
	*ret = filter;
	return 0;
}

void cp_filter_free(struct cp_filter *filter)
{
	free(filter);
}
