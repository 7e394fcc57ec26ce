// SPDX-License-Identifier: GPL-2.0-only
/* What can serve an I/O here: copy kernels, media, attributes, DMA engines. */
#include "bench/cmd/probe.h"

#include <glob.h>
#include <string.h>

#include "engines/copy/copy.h"
#include "engines/copy/flush.h"
#include "engines/dma/channel.h"
#include "engines/media/media.h"

/* A name that stands for another kernel: for which, by direction and size. stands_for is
 * what it is at 64k. */
static json_t *virtual_copy(const struct cp_copy_ops *ops)
{
	struct cp_copy_bound bounds[2];
	const char *stands[2][CP_COPY_CLASSES] = {{NULL}};
	json_t *by_size = json_array();
	struct cp_copy_opts opts;
	struct cp_err err = {0};
	bool usable = false;

	cp_copy_opts_init(&opts);
	for (unsigned d = 0; d < 2; d++) {
		if (cp_copy_bind_sizes(ops->name, (enum cp_dir)d, &opts, &bounds[d],
				       &err))
			continue;
		usable = true;
		for (unsigned class = 0; class < CP_COPY_CLASSES; class ++)
			stands[d][class] = bounds[d].ops[class]->name;
	}
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++)
		json_array_append_new(by_size,
				      json_pack("{s:I,s:s?,s:s?}", "from",
						(json_int_t)cp_copy_class_from[class],
						"read", stands[CP_DIR_READ][class],
						"write", stands[CP_DIR_WRITE][class]));
	return json_pack(
		"{s:s,s:s,s:b,s:o,s:{s:s?,s:s?},s:o}", "name", ops->name, "isa", ops->isa,
		"usable", usable, "why", usable ? json_null() : json_string(err.msg),
		"stands_for", "read", stands[CP_DIR_READ][CP_COPY_CLASS_64K], "write",
		stands[CP_DIR_WRITE][CP_COPY_CLASS_64K], "stands_for_by_size", by_size);
}

/* {"bytes","read_bytes_per_s","read_fastest", the same of writes}: what the calibration
 * saw of a kernel at one size. A rate that was not measured is null, and so is whether it
 * is one of the fastest. */
static json_t *measured_at(const struct cp_copy_calibration *measured, unsigned row,
			   unsigned class)
{
	json_t *at = json_pack("{s:I}", "bytes", (json_int_t)cp_copy_class_bytes[class]);
	static const char *const dirs[2] = {"read", "write"};

	for (unsigned d = 0; d < 2; d++) {
		bool known = row < measured->nr &&
			     measured->rows[row].bytes_per_s[d][class] > 0;
		char key[32];

		snprintf(key, sizeof(key), "%s_bytes_per_s", dirs[d]);
		json_object_set_new(
			at, key,
			known ? json_real(measured->rows[row].bytes_per_s[d][class])
			      : json_null());
		snprintf(key, sizeof(key), "%s_fastest", dirs[d]);
		json_object_set_new(
			at, key,
			known ? json_boolean(measured->rows[row].fastest[d][class])
			      : json_null());
	}
	return at;
}

/* A kernel and what the calibration saw of it; what has no size is that of 64k. */
static json_t *real_copy(const struct cp_copy_ops *ops)
{
	const struct cp_copy_calibration *measured = cp_copy_calibrate();
	bool present = ops->present();
	json_t *by_size = json_array();
	unsigned row = 0;
	char why[64];

	while (row < measured->nr && measured->rows[row].ops != ops)
		row++;
	for (unsigned class = 0; present && class < CP_COPY_CLASSES; class ++)
		json_array_append_new(by_size, measured_at(measured, row, class));
	cp_copy_why_absent(ops, why, sizeof(why));
	json_t *part = json_pack("{s:s,s:s,s:b,s:o}", "name", ops->name, "isa", ops->isa,
				 "usable", present, "why",
				 present ? json_null() : json_string(why));
	json_t *at_64k = measured_at(measured, row, CP_COPY_CLASS_64K);

	json_object_del(at_64k, "bytes");
	json_object_update(part, at_64k);
	json_decref(at_64k);
	json_object_set_new(part, "by_size", by_size);
	return part;
}

json_t *cp_probe_copy(void)
{
	json_t *list = json_array();

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++)
		json_array_append_new(list,
				      ops->virtual_ ? virtual_copy(ops) : real_copy(ops));
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
		/* depends on where the file lies, or which device it is; memory that is
		 * not write back never is */
		bool maybe = ops->takes_file && (ops->attrs & CP_ATTR_BIT(CP_ATTR_WB));

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:b,s:o,s:o}", "name", ops->name, "help",
				  ops->help, "usable", usable, "why",
				  usable ? json_null() : json_string(err.msg),
				  "persistent", maybe ? json_null() : json_false()));
	}
	return json_pack("{s:o,s:o}", "kinds", list, "pmem_namespaces",
			 names_of("/sys/bus/nd/devices/namespace*"));
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
					"provenance", ops->traits.provenance, "moves_data",
					ops->traits.moves_data));
	}
	add_hardware(list, "idxd", "/sys/bus/dsa/devices/dsa*", "/sys/bus/dsa");
	add_hardware(list, "ioat", "/sys/class/dma/*", "/sys/class/dma");
	return list;
}
