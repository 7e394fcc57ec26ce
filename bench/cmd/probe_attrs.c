// SPDX-License-Identifier: GPL-2.0-only
/* Which cache attributes there are, on which media, and the BARs that could be one. */
#include "bench/cmd/probe.h"

#include <string.h>

#include "engines/copy/attr.h"
#include "engines/media/media.h"
#include "engines/media/pci.h"

static const enum cp_attr attrs[] = {CP_ATTR_WB, CP_ATTR_UC, CP_ATTR_WC, CP_ATTR_WT};

#define NR_ATTRS (sizeof(attrs) / sizeof(attrs[0]))

/* A media with a file of its own is asked for this attribute. */
static int can_use(const struct cp_media_ops *media, enum cp_attr attr,
		   struct cp_err *err)
{
	const struct cp_media_cfg cfg = {.spec = media->name, .bytes = 1, .attr = attr};
	uint64_t memory;

	return media->file_default ? media->look(&cfg, &memory, err) : media->probe(err);
}

/* native, emulated or absent; why: of emulated and absent ones, and of native ones where
 * the media itself cannot be used here. */
static json_t *attr_on(const struct cp_media_ops *media, enum cp_attr attr)
{
	const char *state = "absent";
	struct cp_err err = {0};
	bool usable = !cp_attr_check(attr, media->attrs, false, cp_attr_lacks(), &err);

	if (usable) {
		state = cp_attr_provenance(attr, media->attrs);
		if (strcmp(state, "native") != 0)
			snprintf(err.msg, sizeof(err.msg),
				 "cache and ordering instructions on write-back memory");
		usable = !can_use(media, attr, &err);
	}
	return json_pack("{s:s,s:s,s:b,s:s?}", "media", media->name, "state", state,
			 "usable", usable, "why", err.msg[0] ? err.msg : NULL);
}

/* What ordinary memory gives is said of the attribute itself, what each media gives below
 * it. */
json_t *cp_probe_attrs(void)
{
	const unsigned wb = CP_ATTR_BIT(CP_ATTR_WB);
	json_t *list = json_array();

	for (size_t i = 0; i < NR_ATTRS; i++) {
		const char *provenance = cp_attr_provenance(attrs[i], wb);
		struct cp_err err = {0};
		bool usable = !cp_attr_check(attrs[i], wb, false, cp_attr_lacks(), &err);
		json_t *on = json_array();

		if (usable && attrs[i] != CP_ATTR_WB)
			snprintf(err.msg, sizeof(err.msg),
				 "cache and ordering instructions on write-back memory");
		for (size_t k = 0; cp_media_table[k]; k++)
			json_array_append_new(on, attr_on(cp_media_table[k], attrs[i]));
		json_array_append_new(
			list, json_pack("{s:s,s:b,s:s?,s:s?,s:o}", "name",
					cp_attr_name(attrs[i]), "usable", usable,
					"provenance", usable ? provenance : NULL, "why",
					err.msg[0] ? err.msg : NULL, "media", on));
	}
	return list;
}

static void add_bar(void *ctx, const struct cp_pci_bar *bar, const char *why)
{
	json_t *list = ctx, *can = json_array();
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource%u", bar->address,
		 bar->index);
	json_array_append_new(can, json_string("uc"));
	if (bar->has_wc)
		json_array_append_new(can, json_string("wc"));
	json_array_append_new(
		list, json_pack("{s:s,s:s,s:I,s:b,s:o,s:s?,s:o,s:b,s:s?}", "path", path,
				"device", bar->address, "bytes", (json_int_t)bar->bytes,
				"prefetchable", bar->prefetchable, "attrs", can, "driver",
				bar->driver[0] ? bar->driver : NULL, "node",
				bar->node < 0 ? json_null() : json_integer(bar->node),
				"usable", !why, "why", why));
}

json_t *cp_probe_bars(void)
{
	json_t *list = json_array();

	cp_pci_bar_each(&cp_pci_root_kernel, add_bar, list);
	return list;
}
