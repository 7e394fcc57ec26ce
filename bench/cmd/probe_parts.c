// SPDX-License-Identifier: GPL-2.0-only
/* What can serve an I/O here: copy kernels, media, attributes, DMA engines. */
#include "bench/cmd/probe.h"

#include <glob.h>
#include <string.h>

#include "engines/copy/attr.h"
#include "engines/copy/copy.h"
#include "engines/copy/flush.h"
#include "engines/dma/channel.h"
#include "engines/media/media.h"

static json_t *rate_or_null(double rate)
{
	return rate > 0 ? json_real(rate) : json_null();
}

/* A name that stands for another kernel: for which, by direction. */
static json_t *virtual_copy(const struct cp_copy_ops *ops)
{
	const struct cp_copy_ops *stands[2] = {NULL, NULL};
	struct cp_err err = {0};

	for (unsigned d = 0; d < 2; d++)
		cp_copy_bind(ops->name, d ? CP_DIR_WRITE : CP_DIR_READ, CP_ATTR_WB,
			     &stands[d], &err);
	bool usable = stands[0] || stands[1];

	return json_pack("{s:s,s:s,s:b,s:o,s:{s:s?,s:s?}}", "name", ops->name, "isa",
			 ops->isa, "usable", usable, "why",
			 usable ? json_null() : json_string(err.msg), "stands_for",
			 "read", stands[CP_DIR_READ] ? stands[CP_DIR_READ]->name : NULL,
			 "write",
			 stands[CP_DIR_WRITE] ? stands[CP_DIR_WRITE]->name : NULL);
}

json_t *cp_probe_copy(void)
{
	const struct cp_copy_calibration *measured = cp_copy_calibrate();
	json_t *list = json_array();

	for (size_t i = 0; cp_copy_table[i].name; i++) {
		const struct cp_copy_ops *ops = &cp_copy_table[i];
		bool present = ops->present();
		double rates[2] = {0, 0};
		char why[64];

		if (ops->virtual_) {
			json_array_append_new(list, virtual_copy(ops));
			continue;
		}
		for (unsigned k = 0; k < measured->nr; k++)
			if (measured->rows[k].ops == ops)
				memcpy(rates, measured->rows[k].bytes_per_s,
				       sizeof(rates));
		cp_copy_why_absent(ops, why, sizeof(why));
		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:b,s:o,s:o,s:o}", "name", ops->name, "isa",
				  ops->isa, "usable", present, "why",
				  present ? json_null() : json_string(why),
				  "read_bytes_per_s", rate_or_null(rates[CP_DIR_READ]),
				  "write_bytes_per_s",
				  rate_or_null(rates[CP_DIR_WRITE])));
	}
	return list;
}

/* {"instructions": [...], "persist_auto": {"flush","fence"} or null with "why"}; on media
 * whose platform flushes by itself auto is the fence alone. */
json_t *cp_probe_flush(void)
{
	json_t *list = json_array(), *on_auto = json_null();
	struct cp_flush flush = {0};
	struct cp_err err = {0};
	struct cp_arm arm;

	for (const struct cp_flush_ops *ops = cp_flush_table; ops->name; ops++) {
		bool usable = ops->present();
		char why[64];

		cp_flush_why_absent(ops, why, sizeof(why));
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:b,s:s?}", "name", ops->name,
						"help", ops->help, "usable", usable,
						"why", usable ? NULL : why));
	}
	cp_arm_init(&arm);
	snprintf(arm.persist, sizeof(arm.persist), "auto");
	if (!cp_flush_resolve(&arm, cp_flush_present(), false, &flush, &err))
		on_auto = json_pack("{s:s,s:s}", "flush", flush.ops->name, "fence",
				    cp_fence_name(flush.fence));
	return json_pack("{s:o,s:o,s:s?}", "instructions", list, "persist_auto", on_auto,
			 "why", flush.ops ? NULL : err.msg);
}

/* Paths that match, as a list of their last components. */
static json_t *names_of(const char *pattern)
{
	json_t *list = json_array();
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return list;
	for (size_t i = 0; i < found.gl_pathc; i++)
		json_array_append_new(list,
				      json_string(strrchr(found.gl_pathv[i], '/') + 1));
	globfree(&found);
	return list;
}

json_t *cp_probe_media(void)
{
	json_t *list = json_array();

	for (size_t i = 0; cp_media_table[i]; i++) {
		const struct cp_media_ops *ops = cp_media_table[i];
		struct cp_err err = {0};
		bool usable = !ops->probe(&err);
		bool anon = !strcmp(ops->name, "anon");

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:b,s:o,s:o}", "name", ops->name,
					"help", ops->help, "usable", usable, "why",
					usable ? json_null() : json_string(err.msg),
					/* a file's depends on where it lies */
					"persistent", anon ? json_false() : json_null()));
	}
	return json_pack("{s:o,s:o}", "kinds", list, "pmem_namespaces",
			 names_of("/sys/bus/nd/devices/namespace*"));
}

/* wb is what the media of this version are; the others are played where the CPU can. */
json_t *cp_probe_attrs(void)
{
	static const enum cp_attr attrs[] = {CP_ATTR_WB, CP_ATTR_UC, CP_ATTR_WC,
					     CP_ATTR_WT};
	const unsigned wb = CP_ATTR_BIT(CP_ATTR_WB);
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		const char *provenance = cp_attr_provenance(attrs[i], wb);
		struct cp_err err = {0};
		bool usable = !cp_attr_check(attrs[i], wb, false, cp_attr_lacks(), &err);

		if (usable && attrs[i] != CP_ATTR_WB)
			snprintf(err.msg, sizeof(err.msg),
				 "cache and ordering instructions on write-back memory; "
				 "no media of this version has it");
		json_array_append_new(list,
				      json_pack("{s:s,s:b,s:s?,s:s?}", "name",
						cp_attr_name(attrs[i]), "usable", usable,
						"provenance", usable ? provenance : NULL,
						"why", err.msg[0] ? err.msg : NULL));
	}
	return list;
}

/* DMA hardware that Linux knows; no engine of this version drives it. */
static void add_hardware(json_t *list, const char *name, const char *pattern,
			 const char *where)
{
	json_t *found = names_of(pattern);
	size_t nr = json_array_size(found);
	char why[256];

	if (nr)
		snprintf(why, sizeof(why),
			 "%zu in %s (first: %.100s), but this version has no engine for "
			 "it",
			 nr, where, json_string_value(json_array_get(found, 0)));
	else
		snprintf(why, sizeof(why), "none in %s", where);
	json_array_append_new(list, json_pack("{s:s,s:b,s:s,s:s,s:o}", "name", name,
					      "usable", 0, "why", why, "provenance",
					      "hardware", "found", found));
}

json_t *cp_probe_dma(void)
{
	json_t *list = json_array();

	for (size_t i = 0; cp_dma_table[i]; i++) {
		const struct cp_dma_ops *ops = cp_dma_table[i];
		struct cp_err err = {0};
		bool usable = !ops->probe(&err);

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:b,s:o,s:s,s:b}", "name", ops->name,
					"help", ops->help, "usable", usable, "why",
					usable ? json_null() : json_string(err.msg),
					"provenance", ops->provenance, "moves_data",
					ops->moves_data));
	}
	add_hardware(list, "idxd", "/sys/bus/dsa/devices/dsa*", "/sys/bus/dsa");
	add_hardware(list, "ioat", "/sys/class/dma/*", "/sys/class/dma");
	return list;
}
