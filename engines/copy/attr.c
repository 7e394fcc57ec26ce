// SPDX-License-Identifier: GPL-2.0-only
/* Attributes by name, what they need, and the kernel that stands in for one. */
#include "engines/copy/attr.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {
	[CP_ATTR_WB] = "wb",
	[CP_ATTR_UC] = "uc",
	[CP_ATTR_WC] = "wc",
	[CP_ATTR_WT] = "wt",
};
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

int cp_attr_parse(const char *name, enum cp_attr *ret_attr, struct cp_err *err)
{
	for (size_t i = 0; i < NR_NAMES; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*ret_attr = (enum cp_attr)i;
		return 0;
	}
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown attr '%s'; expected wb, uc, wc or wt", name);
}

const char *cp_attr_name(enum cp_attr attr)
{
	return names[attr];
}

const char *cp_attr_provenance(enum cp_attr attr)
{
	return attr == CP_ATTR_WB ? "native" : "emulated";
}

int cp_attr_check(enum cp_attr attr, bool need_native, const char *lacks,
		  struct cp_err *err)
{
	if (attr == CP_ATTR_WB)
		return 0;
	if (need_native)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"attr '%s' is emulated on this media and 'attr_native' wants it "
			"real; expected attr wb, or no attr_native (a PCI BAR or "
			"/dev/cp_memattr would give it natively: not in this version)",
			names[attr]);
	if (lacks)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"attr '%s' is emulated, which needs the CPU flag '%s' that "
			"this machine lacks; expected attr wb",
			names[attr], lacks);
	return 0;
}

/* `nt` keeps its meaning: ordinary loads on reads, non-temporal stores on writes. */
static const char *row_word(const char *word, enum cp_dir dir)
{
	if (!strcmp(word, "nt"))
		return dir == CP_DIR_READ ? "memcpy" : "nt-both";
	return word;
}

static const struct cp_copy_ops *widest(const struct cp_attr_row *row)
{
	return row->ops[0].present() ? &row->ops[0] : &row->ops[1];
}

int cp_attr_bind(const char *word, enum cp_dir dir, enum cp_attr attr,
		 const struct cp_copy_ops **ret_ops, struct cp_err *err)
{
	int rc = cp_attr_check(attr, false, cp_attr_lacks(), err);

	if (rc)
		return rc;
	word = row_word(word, dir);
	for (const struct cp_attr_row *row = cp_attr_rows; row->word; row++) {
		if (row->attr != attr || row->dir != dir || strcmp(row->word, word) != 0)
			continue;
		*ret_ops = widest(row);
		return 0;
	}
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"copy '%s' has no emulation under attr '%s'; expected 'memcpy', "
		"'nt' or 'nt-both', or attr wb",
		word, names[attr]);
}
