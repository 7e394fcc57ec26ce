// SPDX-License-Identifier: GPL-2.0-only
/* All media, and the life every one of them has. */
#include <errno.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/base/yaml.h"
#include "engines/media/kinds.h"
#include "engines/media/media.h"

const struct cp_media_ops *const cp_media_table[] = {
	&cp_media_anon_ops,
	&cp_media_file_ops,
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

static int unknown_media(const char *name, struct cp_err *err)
{
	const char *words[NR_MEDIA + 1];

	for (size_t i = 0; i < NR_MEDIA; i++)
		words[i] = cp_media_table[i]->name;
	words[NR_MEDIA] = NULL;
	const char *near = cp_nearest_word(name, words);

	if (near)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown media '%s'; expected '%s'", name, near);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown media '%s'; expected 'anon' or 'file'", name);
}

int cp_media_no_settings(const struct cp_media_cfg *cfg, struct cp_err *err)
{
	struct cp_spec spec;
	int rc = cp_spec_parse(cfg->spec, &spec, err);

	return rc ? rc : cp_spec_finish(&spec, "none", err);
}

int cp_media_persistent_check(const struct cp_media_cfg *cfg, bool persistent,
			      struct cp_err *err)
{
	if (persistent || !cfg->require_persistent)
		return 0;
	return cp_err_set(
		err, CP_EXIT_USAGE, ENOTSUP,
		"'persist' is require and '%s' is not persistent memory; expected a file "
		"on a DAX file system over it, media devdax, or persist auto",
		cfg->filename && *cfg->filename ? cfg->filename : cfg->spec);
}

int cp_media_open(const struct cp_media_cfg *cfg, struct cp_media *ret_media,
		  struct cp_err *err)
{
	struct cp_spec spec;
	int rc = cp_spec_parse(cfg->spec, &spec, err);

	if (rc)
		return rc;
	const struct cp_media_ops *ops = cp_media_find(spec.name);

	if (!ops)
		return unknown_media(spec.name, err);
	if (!cp_media_map_bytes(cfg->bytes))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "media '%s': size '%llu' cannot be mapped; expected a "
				  "size above 0 that this machine can address",
				  spec.name, (unsigned long long)cfg->bytes);

	struct cp_media media = {
		.ops = ops,
		.bytes = cfg->bytes,
		.node = -1,
		.provenance = "native",
	};

	rc = ops->open(&media, cfg, err);
	if (rc)
		return rc;
	rc = cp_media_persistent_check(cfg, media.persistent, err);
	if (rc) {
		ops->close(&media);
		return rc;
	}
	cp_media_node_find(&media);
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
	*media = (struct cp_media){.node = -1};
}
