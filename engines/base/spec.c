/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/base/yaml.h"

static int copy_part(char *buf, size_t size, const char *from, size_t len)
{
	if (!len || len >= size)
		return -EINVAL;
	memcpy(buf, from, len);
	buf[len] = '\0';
	return 0;
}

/* Whose first setting may be a word alone. */
static bool stands_on(const char *name)
{
	return !strcmp(name, "idxd") || !strcmp(name, "kernel") || !strcmp(name, "fault");
}

static int setting_parse(struct cp_spec *spec, const char *text, size_t len,
			 struct cp_err *err)
{
	const char *equals = memchr(text, '=', len);
	unsigned n = spec->nr_keys;

	if (n == CP_SPEC_KEYS_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' has too many settings; expected at most %d",
				  spec->name, CP_SPEC_KEYS_MAX);
	if (!equals ||
	    copy_part(spec->keys[n].key, sizeof(spec->keys[n].key), text,
		      (size_t)(equals - text)) ||
	    copy_part(spec->keys[n].value, sizeof(spec->keys[n].value), equals + 1,
		      len - (size_t)(equals - text) - 1))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "setting '%.*s' of '%s' cannot be read; expected "
				  "key=value",
				  (int)len, text, spec->name);
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(spec->keys[i].key, spec->keys[n].key))
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "setting '%s' of '%s' is given twice; expected "
					  "it once",
					  spec->keys[n].key, spec->name);
	}
	spec->nr_keys++;
	return 0;
}

/* Of "a, b, c" the word that was meant, in word; NULL: none is near. */
static const char *nearest_of(const char *key, const char *expected, char *word,
			      size_t size)
{
	const char *best = NULL;

	for (const char *at = expected; *at && !best; at += strspn(at, ", ")) {
		size_t len = strcspn(at, ",");

		if (len < size) {
			const char *const words[] = {word, NULL};

			memcpy(word, at, len);
			word[len] = '\0';
			best = cp_nearest_word(key, words);
		}
		at += len;
	}
	return best;
}

int cp_spec_parse(const char *text, struct cp_spec *ret_spec, struct cp_err *err)
{
	struct cp_spec spec = {0};
	size_t len = strcspn(text, ":");

	if (strlen(text) >= CP_SPEC_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is too long; expected at most %d characters",
				  text, CP_SPEC_MAX - 1);
	if (copy_part(spec.name, sizeof(spec.name), text, len))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' has no name that fits; expected "
				  "NAME[:key=value,...]",
				  text);
	const char *p = text + len;

	while (*p) { /* at ':' or ',' */
		p++;
		len = strcspn(p, ",");
		if (p == text + strlen(spec.name) + 1 && !memchr(p, '=', len) &&
		    stands_on(spec.name) &&
		    !copy_part(spec.base, sizeof(spec.base), p, len)) {
			p += len;
			continue;
		}
		int ret = setting_parse(&spec, p, len, err);

		if (ret)
			return ret;
		p += len;
	}
	*ret_spec = spec;
	return 0;
}

const char *cp_spec_text(struct cp_spec *spec, const char *key)
{
	for (unsigned i = 0; i < spec->nr_keys; i++) {
		if (strcmp(spec->keys[i].key, key) != 0)
			continue;
		spec->keys[i].used = true;
		return spec->keys[i].value;
	}
	return NULL;
}

int cp_spec_size(struct cp_spec *spec, const char *key, uint64_t min, uint64_t max,
		 uint64_t *value, struct cp_err *err)
{
	const char *text = cp_spec_text(spec, key);
	uint64_t bytes;
	char low[24], high[24];

	if (!text)
		return 0;
	int ret = cp_size_parse(text, &bytes);

	if (!ret && (bytes < min || bytes > max))
		ret = -ERANGE;
	if (ret)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s: %s '%s' %s; expected a size of %s to %s",
				  spec->name, key, text,
				  ret == -ERANGE ? "is out of range" : "is not a size",
				  cp_size_format(min, low, sizeof(low)),
				  cp_size_format(max, high, sizeof(high)));
	*value = bytes;
	return 0;
}

int cp_spec_uint(struct cp_spec *spec, const char *key, uint64_t min, uint64_t max,
		 uint64_t *value, struct cp_err *err)
{
	const char *text = cp_spec_text(spec, key);
	uint64_t number;

	if (!text)
		return 0;
	int ret = cp_uint_parse(text, max, &number);

	if (!ret && number < min)
		ret = -ERANGE;
	if (ret)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s: %s '%s' %s; expected %" PRIu64 " to %" PRIu64,
				  spec->name, key, text,
				  ret == -ERANGE ? "is out of range"
						 : "is not a whole number",
				  min, max);
	*value = number;
	return 0;
}

int cp_spec_time(struct cp_spec *spec, const char *key, uint64_t max_ns,
		 uint64_t *value_ns, struct cp_err *err)
{
	const char *text = cp_spec_text(spec, key);
	uint64_t ns;
	char high[24];

	if (!text)
		return 0;
	int ret = cp_time_parse(text, &ns);

	if (!ret && ns > max_ns)
		ret = -ERANGE;
	if (ret)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s: %s '%s' %s; expected a time up to %s, e.g. 20us",
				  spec->name, key, text,
				  ret == -ERANGE ? "is out of range" : "is not a time",
				  cp_time_format(max_ns, high, sizeof(high)));
	*value_ns = ns;
	return 0;
}

int cp_spec_pct(struct cp_spec *spec, const char *key, uint32_t max_ppm,
		uint32_t *value_ppm, struct cp_err *err)
{
	const char *text = cp_spec_text(spec, key);
	uint32_t ppm;

	if (!text)
		return 0;
	int ret = cp_percent_parse(text, &ppm);

	if (!ret && ppm > max_ppm)
		ret = -ERANGE;
	if (ret)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s: %s '%s' %s; expected 0%% to %g%%, e.g. 0.1%%",
				  spec->name, key, text,
				  ret == -ERANGE ? "is out of range"
						 : "is not a percentage",
				  max_ppm / 1e4);
	*value_ppm = ppm;
	return 0;
}

int cp_spec_finish(const struct cp_spec *spec, const char *expected, struct cp_err *err)
{
	char word[sizeof(spec->keys[0].key)];

	for (unsigned i = 0; i < spec->nr_keys; i++) {
		if (spec->keys[i].used)
			continue;
		const char *near =
			nearest_of(spec->keys[i].key, expected, word, sizeof(word));

		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s: unknown setting '%s'; expected %s%s%s%s",
				  spec->name, spec->keys[i].key, expected,
				  near ? " (did you mean '" : "", near ? near : "",
				  near ? "'?)" : "");
	}
	return 0;
}
