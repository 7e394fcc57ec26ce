// SPDX-License-Identifier: GPL-2.0-only
/* All copy kernels, and what a name stands for on this machine. */
#include <errno.h>
#include <string.h>

#include "engines/base/yaml.h"
#include "engines/copy/copy.h"
#include "engines/copy/kernels.h"

/* A kernel must beat memcpy by more than this to be preferred: less is noise. */
#define AUTO_MARGIN 1.02

static bool any_cpu(void)
{
	return true;
}

/* NT-store kernels widest last: `nt` takes the last one that is present. */
const struct cp_copy_ops cp_copy_table[] = {
	{
		.name = "memcpy",
		.help = "the C library's memcpy",
		.isa = "",
		.read = true,
		.write = true,
		.present = any_cpu,
		.fn = cp_copy_memcpy,
	},
	{
		.name = "nt-sse2",
		.help = "non-temporal 16-byte stores",
		.isa = "sse2",
		.write = true,
		.present = cp_copy_nt_sse2_present,
		.fn = cp_copy_nt_sse2,
	},
	{
		.name = "nt-avx2",
		.help = "non-temporal 32-byte stores",
		.isa = "avx2",
		.write = true,
		.present = cp_copy_nt_avx2_present,
		.fn = cp_copy_nt_avx2,
	},
	{
		.name = "nt-avx512",
		.help = "non-temporal 64-byte stores",
		.isa = "avx512f",
		.write = true,
		.present = cp_copy_nt_avx512_present,
		.fn = cp_copy_nt_avx512,
	},
	{
		.name = "nt",
		.help = "widest non-temporal stores on writes, memcpy on reads",
		.isa = "",
		.read = true,
		.write = true,
		.present = any_cpu,
		.virtual_ = true,
	},
	{
		.name = "auto",
		.help = "the fastest here, measured once a process",
		.isa = "",
		.read = true,
		.write = true,
		.present = any_cpu,
		.virtual_ = true,
	},
	{.name = NULL},
};

#define NR_ROWS (sizeof(cp_copy_table) / sizeof(cp_copy_table[0]) - 1)

const struct cp_copy_ops *cp_copy_find(const char *name)
{
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!strcmp(ops->name, name))
			return ops;
	}
	return NULL;
}

static int unknown_name(const char *name, struct cp_err *err)
{
	const char *words[NR_ROWS + 1];
	char list[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < NR_ROWS; i++) {
		words[i] = cp_copy_table[i].name;
		int n = snprintf(list + at, sizeof(list) - at, "%s'%s'", i ? ", " : "",
				 words[i]);
		if (n > 0 && (size_t)n < sizeof(list) - at)
			at += (size_t)n;
	}
	words[NR_ROWS] = NULL;
	const char *near = cp_nearest_word(name, words);

	if (near)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown copy '%s'; expected '%s'", name, near);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown copy '%s'; expected one of %s", name, list);
}

static const struct cp_copy_ops *widest_nt(void)
{
	const struct cp_copy_ops *widest = NULL;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!strncmp(ops->name, "nt-", 3) && ops->present())
			widest = ops;
	}
	return widest;
}

/*
 * The fastest by calibration. Kernels within AUTO_MARGIN of it are as fast, and which of
 * them led was noise: of those memcpy, else the widest, so that two processes choose
 * alike.
 */
static const struct cp_copy_ops *measured_best(enum cp_dir dir)
{
	const struct cp_copy_calibration *cal = cp_copy_calibrate();
	const struct cp_copy_ops *plain = cp_copy_find("memcpy"), *best = plain;
	double top = 0;

	for (unsigned i = 0; i < cal->nr; i++) {
		if (cal->rows[i].bytes_per_s[dir] > top)
			top = cal->rows[i].bytes_per_s[dir];
	}
	/* rows go by the table, from narrow to wide */
	for (unsigned i = 0; i < cal->nr; i++) {
		double rate = cal->rows[i].bytes_per_s[dir];

		if (rate <= 0 || rate * AUTO_MARGIN < top)
			continue;
		best = cal->rows[i].ops;
		if (best == plain)
			break;
	}
	return best;
}

int cp_copy_bind(const char *name, enum cp_dir dir, const struct cp_copy_ops **ret_ops,
		 struct cp_err *err)
{
	const struct cp_copy_ops *ops = cp_copy_find(name);

	if (!ops)
		return unknown_name(name, err);
	if (dir == CP_DIR_READ ? !ops->read : !ops->write)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "copy '%s' has no meaning for %s: its non-temporal "
				  "stores go to the far side; expected 'memcpy', 'nt' or "
				  "'auto'",
				  name, dir == CP_DIR_READ ? "reads" : "writes");
	if (!ops->present())
		return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				  "copy '%s' needs the CPU flag '%s', which this machine "
				  "lacks; expected 'auto'",
				  name, ops->isa);
	if (!strcmp(name, "nt")) {
		ops = dir == CP_DIR_READ ? cp_copy_find("memcpy") : widest_nt();
		if (!ops)
			return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
					  "copy 'nt' needs non-temporal stores, which "
					  "this machine lacks; expected 'memcpy'");
	} else if (!strcmp(name, "auto")) {
		ops = measured_best(dir);
	}
	*ret_ops = ops;
	return 0;
}
