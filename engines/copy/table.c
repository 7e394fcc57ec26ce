// SPDX-License-Identifier: GPL-2.0-only
/* All copy kernels, and what a name stands for on this machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/yaml.h"
#include "engines/copy/attr.h"
#include "engines/copy/copy.h"
#include "engines/copy/isa.h"
#include "engines/copy/kernels.h"

/* Kernels of CP_COPY_DEFINE() store upwards, at most eight lines a turn of which all
 * loads may come first, after less than a line by memcpy: bytes stored lag by less than
 * 10 lines behind any access. guard_test.c looks. */
#define LINES_ORDER 1024

/* Kernels of a kind widest last: `nt` and `ntload` take the last one that is present, and
 * of kernels as fast as each other `auto` does, but for memcpy. */
const struct cp_copy_ops cp_copy_table[] = {
	{
		.name = "memcpy",
		.help = "the C library's memcpy",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
		.fn = cp_copy_memcpy,
	},
	{
		.name = "portable",
		.help = "a loop in plain C",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
		.fn = cp_copy_portable,
		.variants = &cp_copy_portable_variants,
	},
	{
		.name = "movsb",
		.help = "REP MOVSB",
		.isa = "x86-64",
		.read = true,
		.write = true,
		.present = cp_copy_isa_x86_64,
		.fn = cp_copy_movsb,
	},
	{
		.name = "sse2",
		.help = "ordinary 16-byte loads and stores",
		.isa = "sse2",
		.read = true,
		.write = true,
		.present = cp_copy_isa_x86_64,
		.fn = cp_copy_sse2,
		.variants = &cp_copy_sse2_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "avx2",
		.help = "ordinary 32-byte loads and stores",
		.isa = "avx2",
		.read = true,
		.write = true,
		.present = cp_copy_isa_avx2,
		.fn = cp_copy_avx2,
		.variants = &cp_copy_avx2_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "avx512",
		.help = "ordinary 64-byte loads and stores",
		.isa = "avx512f",
		.read = true,
		.write = true,
		.present = cp_copy_isa_avx512f,
		.fn = cp_copy_avx512,
		.variants = &cp_copy_avx512_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "libpmem",
		.help = "pmem_memcpy, non-temporal, one drain",
		.isa = "",
		.write = true,
		.present = cp_copy_libpmem_present,
		.fn = cp_copy_libpmem,
		.nt_stores = true,
		.library = CP_COPY_LIBPMEM,
	},
	{
		.name = "libpmem-temporal",
		.help = "pmem_memcpy, ordinary stores and flushes, one drain",
		.isa = "",
		.write = true,
		.present = cp_copy_libpmem_present,
		.fn = cp_copy_libpmem_temporal,
		.library = CP_COPY_LIBPMEM,
	},
	{
		.name = "movdir64b",
		.help = "direct stores of a line",
		.isa = "movdir64b",
		.write = true,
		.present = cp_copy_isa_movdir64b,
		.fn = cp_copy_movdir64b,
		.nt_stores = true,
		.variants = &cp_copy_movdir64b_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "nti",
		.help = "non-temporal 8-byte stores (MOVNTI)",
		.isa = "x86-64",
		.write = true,
		.present = cp_copy_isa_x86_64,
		.fn = cp_copy_nti,
		.nt_stores = true,
		.variants = &cp_copy_nti_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "nt-stnp",
		.help = "non-temporal pairs of stores",
		.isa = "aarch64",
		.write = true,
		.present = cp_copy_isa_aarch64,
		.fn = cp_copy_nt_stnp,
		.variants = &cp_copy_nt_stnp_variants,
	},
	{
		.name = "nt-sse2",
		.help = "non-temporal 16-byte stores",
		.isa = "sse2",
		.write = true,
		.present = cp_copy_isa_x86_64,
		.fn = cp_copy_nt_sse2,
		.nt_stores = true,
		.variants = &cp_copy_nt_sse2_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "nt-avx2",
		.help = "non-temporal 32-byte stores",
		.isa = "avx2",
		.write = true,
		.present = cp_copy_isa_avx2,
		.fn = cp_copy_nt_avx2,
		.nt_stores = true,
		.variants = &cp_copy_nt_avx2_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "nt-avx512",
		.help = "non-temporal 64-byte stores",
		.isa = "avx512f",
		.write = true,
		.present = cp_copy_isa_avx512f,
		.fn = cp_copy_nt_avx512,
		.nt_stores = true,
		.variants = &cp_copy_nt_avx512_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "ntload-ldnp",
		.help = "non-temporal pairs of loads",
		.isa = "aarch64",
		.read = true,
		.present = cp_copy_isa_aarch64,
		.fn = cp_copy_ntload_ldnp,
		.variants = &cp_copy_ntload_ldnp_variants,
	},
	{
		.name = "ntload-sse41",
		.help = "non-temporal 16-byte loads (MOVNTDQA)",
		.isa = "sse4_1",
		.read = true,
		.present = cp_copy_isa_sse41,
		.fn = cp_copy_ntload_sse41,
		.variants = &cp_copy_ntload_sse41_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "ntload-avx2",
		.help = "non-temporal 32-byte loads",
		.isa = "avx2",
		.read = true,
		.present = cp_copy_isa_avx2,
		.fn = cp_copy_ntload_avx2,
		.variants = &cp_copy_ntload_avx2_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "ntload-avx512",
		.help = "non-temporal 64-byte loads",
		.isa = "avx512f",
		.read = true,
		.present = cp_copy_isa_avx512f,
		.fn = cp_copy_ntload_avx512,
		.variants = &cp_copy_ntload_avx512_variants,
		.order = LINES_ORDER,
	},
	{
		.name = "nt",
		.help = "widest non-temporal stores on writes, memcpy on reads",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
		.virtual_ = true,
	},
	{
		.name = "ntload",
		.help = "widest non-temporal loads on reads, memcpy on writes",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
		.virtual_ = true,
	},
	{
		.name = "nt-both",
		.help = "widest non-temporal loads on reads, stores on writes",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
		.virtual_ = true,
	},
	{
		.name = "auto",
		.help = "the fastest here for the size, measured once a process",
		.isa = "",
		.read = true,
		.write = true,
		.present = cp_copy_isa_any,
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

bool cp_copy_past_caches(const struct cp_copy_ops *ops)
{
	return ops->nt_stores && !(ops->library && cp_copy_libpmem_is_bent());
}

static int unknown_name(const char *name, struct cp_err *err)
{
	const char *words[NR_ROWS + 1];
	char list[480] = "";
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

char *cp_copy_why_absent(const struct cp_copy_ops *ops, char *buf, size_t size)
{
	if (ops->library)
		snprintf(buf, size, "%s cannot be loaded", ops->library);
	else
		cp_copy_isa_lacks(ops->isa, buf, size);
	return buf;
}

static const struct cp_copy_ops *widest(const char *prefix)
{
	const struct cp_copy_ops *found = NULL;

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!ops->virtual_ && !strncmp(ops->name, prefix, strlen(prefix)) &&
		    ops->present())
			found = ops;
	}
	return found;
}

/* What a virtual row stands for; NULL: nothing here. */
static const struct cp_copy_ops *stands_for(const struct cp_copy_ops *ops,
					    enum cp_dir dir)
{
	bool read = dir == CP_DIR_READ;

	if (!strcmp(ops->name, "nt"))
		return read ? cp_copy_find("memcpy") : widest("nt-");
	if (!strcmp(ops->name, "ntload"))
		return read ? widest("ntload-") : cp_copy_find("memcpy");
	if (!strcmp(ops->name, "nt-both"))
		return widest(read ? "ntload-" : "nt-");
	return cp_copy_calibrate()->best[dir][CP_COPY_CLASS_64K];
}

static int absent(const struct cp_copy_ops *ops, enum cp_dir dir, struct cp_err *err)
{
	const char *words[NR_ROWS + 1];
	char why[64], list[480];
	size_t nr = 0;

	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct cp_copy_ops *row = &cp_copy_table[i];

		if (row->present() && (dir == CP_DIR_READ ? row->read : row->write))
			words[nr++] = row->name;
	}
	words[nr] = NULL;
	return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
			  "copy '%s' cannot be had: %s; expected %s", ops->name,
			  cp_copy_isa_lacks(ops->isa, why, sizeof(why)),
			  cp_words_join(words, list, sizeof(list)));
}

static int check_row(const struct cp_copy_ops *ops, enum cp_dir dir, struct cp_err *err)
{
	if (dir == CP_DIR_READ && !ops->read)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"copy '%s' has no meaning for reads: it is a way in which "
			"stores go to the far side; expected 'memcpy', 'nt' or "
			"'auto'",
			ops->name);
	if (dir == CP_DIR_WRITE && !ops->write)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "copy '%s' has no meaning for writes: its non-temporal "
				  "loads come from the far side; expected 'memcpy', "
				  "'ntload' or 'auto'",
				  ops->name);
	if (ops->present())
		return 0;
	if (ops->library)
		return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				  "copy '%s' needs the library '%s', which cannot be "
				  "loaded; expected it to be installed, or 'nt'",
				  ops->name, ops->library);
	return absent(ops, dir, err);
}

int cp_copy_bind(const char *name, enum cp_dir dir, enum cp_attr attr,
		 const struct cp_copy_ops **ret_ops, struct cp_err *err)
{
	const struct cp_copy_ops *ops = cp_copy_find(name);

	if (!ops)
		return unknown_name(name, err);
	int rc = check_row(ops, dir, err);

	if (rc)
		return rc;
	if (attr != CP_ATTR_WB)
		return cp_attr_bind(name, dir, attr, ret_ops, err);
	if (ops->virtual_)
		ops = stands_for(ops, dir);
	if (!ops)
		return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				  "copy '%s' needs non-temporal %s, which this machine "
				  "lacks; expected 'memcpy'",
				  name, dir == CP_DIR_READ ? "loads" : "stores");
	*ret_ops = ops;
	return 0;
}
