// SPDX-License-Identifier: GPL-2.0-only
/* All media, and the life every one of them has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/spec.h"
#include "engines/base/units.h"
#include "engines/base/yaml.h"
#include "engines/media/kinds.h"
#include "engines/media/media.h"

const struct cp_media_ops *const cp_media_table[] = {
	&cp_media_anon_ops,
	&cp_media_file_ops,
	&cp_media_dax_ops,
	&cp_media_devdax_ops,
	&cp_media_bar_ops,
	&cp_media_memattr_ops,
	NULL,
};

#define NR_MEDIA (sizeof(cp_media_table) / sizeof(cp_media_table[0]) - 1)

const struct cp_media_ops *cp_media_find(const char *name)
{
	for (size_t i = 0; i < NR_MEDIA; i++) {
		if (!strcmp(cp_media_table[i]->name, name))
			return cp_media_table[i];
	}
	return NULL;
}

const struct cp_media_ops *cp_media_of(const char *spec)
{
	struct cp_spec parsed;
	struct cp_err err;

	return cp_spec_parse(spec, &parsed, &err) ? NULL : cp_media_find(parsed.name);
}

unsigned cp_media_attrs(const char *spec)
{
	const struct cp_media_ops *ops = cp_media_of(spec);

	return ops ? ops->attrs : 0;
}

void cp_media_kind(const char *spec, char *buf, size_t size)
{
	struct cp_spec parsed = {0};
	struct cp_err err;
	const char *page = NULL;
	uint64_t bytes;

	if (!cp_spec_parse(spec, &parsed, &err))
		page = cp_spec_text(&parsed, "page");
	if (page &&
	    (cp_size_parse(page, &bytes) || bytes <= (uint64_t)sysconf(_SC_PAGESIZE)))
		page = NULL;
	snprintf(buf, size, "%.*s%s%s", (int)strcspn(spec, ":"), spec,
		 page ? ":page=" : "", page ? page : "");
}

static int unknown_media(const char *name, struct cp_err *err)
{
	const char *words[NR_MEDIA + 1];
	char list[128];

	for (size_t i = 0; i < NR_MEDIA; i++)
		words[i] = cp_media_table[i]->name;
	words[NR_MEDIA] = NULL;
	const char *near = cp_nearest_word(name, words);

	if (near)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown media '%s'; expected '%s'", name, near);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL, "unknown media '%s'; expected %s",
			  name, cp_words_join(words, list, sizeof(list)));
}

char *cp_media_named(char *buf, size_t size)
{
	const char *words[NR_MEDIA + 1];
	size_t nr = 0;

	for (size_t i = 0; i < NR_MEDIA; i++)
		if (cp_media_table[i]->takes_file || cp_media_table[i]->file_default)
			words[nr++] = cp_media_table[i]->name;
	words[nr] = NULL;
	return cp_words_join(words, buf, size);
}

int cp_media_no_settings(const char *text, struct cp_err *err)
{
	struct cp_spec spec;
	int rc = cp_spec_parse(text, &spec, err);

	return rc ? rc : cp_spec_finish(&spec, "none", err);
}

static int known_media(const char *spec, const struct cp_media_ops **ret_ops,
		       struct cp_err *err)
{
	struct cp_spec parsed;
	int rc = cp_spec_parse(spec, &parsed, err);

	if (rc)
		return rc;
	*ret_ops = cp_media_find(parsed.name);
	return *ret_ops ? (*ret_ops)->check(spec, err) : unknown_media(parsed.name, err);
}

int cp_media_check(const char *spec, struct cp_err *err)
{
	const struct cp_media_ops *ops;

	return known_media(spec, &ops, err);
}

int cp_media_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		  struct cp_err *err)
{
	const struct cp_media_ops *ops;
	int rc = known_media(cfg->spec, &ops, err);

	*ret_memory = 0;
	return rc ? rc : ops->look(cfg, ret_memory, err);
}

int cp_media_size(const char *spec, const char *filename, uint64_t *ret_bytes,
		  struct cp_err *err)
{
	const struct cp_media_ops *ops;
	int rc = known_media(spec, &ops, err);

	if (!rc && !ops->size)
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"media '%s' has no size of its own; expected a size",
				ops->name);
	return rc ? rc : ops->size(filename, ret_bytes, err);
}

int cp_media_persistent_check(const struct cp_media_cfg *cfg, bool persistent,
			      struct cp_err *err)
{
	if (persistent || !cfg->require_persistent)
		return 0;
	const struct cp_media_ops *ops = cp_media_of(cfg->spec);
	bool named = ops && ops->takes_file && cfg->filename && *cfg->filename;

	return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
			  "'persist' is require and %s'%s' is not persistent memory; "
			  "expected a file on a DAX file system over persistent memory, "
			  "media devdax, or persist auto",
			  named ? "" : "media ", named ? cfg->filename : cfg->spec);
}

int cp_media_open(const struct cp_media_cfg *cfg, struct cp_media *ret_media,
		  struct cp_err *err)
{
	const struct cp_media_ops *ops;
	int rc = known_media(cfg->spec, &ops, err);

	if (rc)
		return rc;
	if (!cp_media_map_bytes(cfg->bytes))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "media '%s': size '%llu' cannot be mapped; expected a "
				  "size above 0 that this machine can address",
				  ops->name, (unsigned long long)cfg->bytes);

	struct cp_media media = {
		.ops = ops,
		.bytes = cfg->bytes,
		.node = -1,
		.device_node = -1,
		.provenance = "native",
	};

	rc = ops->open(&media, cfg, err);
	if (rc)
		return rc;
	/* a media that can tell earlier does */
	rc = cp_media_persistent_check(cfg, media.persistent, err);
	if (rc) {
		ops->close(&media);
		return rc;
	}
	/* what is known by now is what the device said */
	media.device_node = media.node;
	if (media.node < 0)
		cp_media_nodes_find(&media, cp_media_ask);
	*ret_media = media;
	return 0;
}

int cp_media_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	if (offset > media->bytes || len > media->bytes - offset)
		return -EINVAL;
	return len ? media->ops->sync(media, offset, len) : 0;
}

void cp_media_close(struct cp_media *media)
{
	if (media->ops)
		media->ops->close(media);
	free(media->extents);
	*media = (struct cp_media){.node = -1, .device_node = -1};
}
