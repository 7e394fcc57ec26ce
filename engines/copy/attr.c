// SPDX-License-Identifier: GPL-2.0-only
/* Attributes by name, what they need, and the kernel that stands in for one. */
#include "engines/copy/attr.h"

#include <errno.h>
#include <stdio.h>
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

const char *cp_attr_provenance(enum cp_attr attr, unsigned natives)
{
	return natives & CP_ATTR_BIT(attr) ? "native" : "emulated";
}

/* "uc or wc" */
static const char *list_natives(unsigned natives, char *buf, size_t size)
{
	unsigned left = natives;
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < NR_NAMES; i++) {
		if (!(left & CP_ATTR_BIT(i)))
			continue;
		left &= ~CP_ATTR_BIT(i);
		int n = snprintf(buf + at, size - at, "%s%s",
				 !at	? ""
				 : left ? ", "
					: " or ",
				 names[i]);
		at += n > 0 && (size_t)n < size - at ? (size_t)n : 0;
	}
	return buf;
}

int cp_attr_check(enum cp_attr attr, unsigned natives, bool need_native,
		  const char *lacks, struct cp_err *err)
{
	char list[32];

	if (natives & CP_ATTR_BIT(attr))
		return 0;
	if (!(natives & CP_ATTR_BIT(CP_ATTR_WB)))
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"attr '%s' cannot be had on this media, nor emulated: it is "
			"no write-back memory; expected attr %s",
			names[attr], list_natives(natives, list, sizeof(list)));
	if (need_native)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"attr '%s' is emulated on this media and 'attr_native' wants it "
			"real; expected attr wb, no attr_native, or a media that has "
			"it: bar (uc, wc) or memattr (all)",
			names[attr]);
	if (lacks)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"attr '%s' is emulated, which needs the CPU flag '%s' that "
			"this machine lacks; expected attr wb",
			names[attr], lacks);
	return 0;
}

int cp_attr_check_copy(const char *word, enum cp_attr attr, unsigned natives,
		       struct cp_err *err)
{
	if (attr == CP_ATTR_WB || !(natives & CP_ATTR_BIT(attr)) ||
	    strcmp(word, "auto") != 0)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "copy 'auto' was calibrated on write-back memory, which says "
			  "nothing of attr '%s'; expected a copy by name, as 'memcpy', "
			  "'nt', 'nt-both' or 'avx2', or attr wb",
			  names[attr]);
}

const char *cp_attr_policy_copy(const char *word, enum cp_attr attr)
{
	return attr != CP_ATTR_WB && !strcmp(word, "auto") ? "memcpy" : word;
}

/* `nt` and `ntload` keep their meaning: each is non-temporal in its own direction and
 * ordinary in the other. */
static const char *row_word(const char *word, enum cp_dir dir)
{
	if (!strcmp(word, "nt"))
		return dir == CP_DIR_READ ? "memcpy" : "nt-both";
	if (!strcmp(word, "ntload"))
		return dir == CP_DIR_READ ? "nt-both" : "memcpy";
	return word;
}

static const struct cp_copy_ops *widest(const struct cp_attr_row *row)
{
	return row->ops[0].present() ? &row->ops[0] : &row->ops[1];
}

int cp_attr_bind(const char *word, enum cp_dir dir, enum cp_attr attr,
		 const struct cp_copy_ops **ret_ops, struct cp_err *err)
{
	int rc =
		cp_attr_check(attr, CP_ATTR_BIT(CP_ATTR_WB), false, cp_attr_lacks(), err);

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
		"'nt', 'ntload' or 'nt-both'%s, or attr wb",
		word, names[attr], attr == CP_ATTR_WC ? " (writes: 'nti' too)" : "");
}
