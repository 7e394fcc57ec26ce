// SPDX-License-Identifier: GPL-2.0-only
/* Which flush and which fence stand behind a write. The instructions: flush_x86.c. */
#include "engines/copy/flush.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/copy/attr.h"

static bool is(const char *value, const char *word)
{
	return !strcmp(value, word);
}

unsigned cp_flush_present(void)
{
	unsigned present = 0;

	for (unsigned i = 0; cp_flush_table[i].name; i++)
		present |= cp_flush_table[i].present() ? 1U << i : 0;
	return present;
}

char *cp_flush_why_absent(const struct cp_flush_ops *ops, char *buf, size_t size)
{
	snprintf(buf, size, "the CPU has no %s", ops->isa);
	return buf;
}

const char *cp_fence_name(enum cp_fence fence)
{
	return fence == CP_FENCE_SFENCE	  ? "sfence"
	       : fence == CP_FENCE_MFENCE ? "mfence"
					  : "";
}

/* "flush clflushopt, clflush or none": what there is instead. */
static void alternatives(unsigned present, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; cp_flush_table[i].name; i++) {
		if (!(present & 1U << i))
			continue;
		int n = snprintf(buf + at, size - at, "%s%s", at ? ", " : "",
				 cp_flush_table[i].name);

		if (n > 0 && (size_t)n < size - at)
			at += (size_t)n;
	}
	snprintf(buf + at, size - at, "%snone", at ? " or " : "");
}

/* The row that is named, or with persist the best there is; NULL where none is wanted. */
static int pick(const struct cp_arm *arm, unsigned present,
		const struct cp_flush_ops **ret_ops, struct cp_err *err)
{
	bool named = !is(arm->flush, "none");
	char list[80];

	*ret_ops = NULL;
	if (!named && is(arm->persist, "none"))
		return 0;
	for (unsigned i = 0; cp_flush_table[i].name; i++) {
		if (named && !is(cp_flush_table[i].name, arm->flush))
			continue;
		if (present & 1U << i) {
			*ret_ops = &cp_flush_table[i];
			return 0;
		}
	}
	alternatives(present, list, sizeof(list));
	if (named)
		return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				  "'flush' is %s, an instruction that this CPU lacks; "
				  "expected flush %s",
				  arm->flush, list);
	return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
			  "'persist' is %s, and no flush instruction of this CPU is "
			  "known; expected persist none",
			  arm->persist);
}

static int pick_fence(const struct cp_arm *arm, const struct cp_flush *flush,
		      unsigned present, enum cp_fence *ret_fence, struct cp_err *err)
{
	bool needed = flush->ops ? !flush->ops->ordered : flush->promised;

	if (is(arm->fence, "none") && needed && flush->promised)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'fence' is none and persist is %s, which here needs "
				  "one before completion is reported; expected fence "
				  "auto, sfence or mfence",
				  arm->persist);
	if (!present && (is(arm->fence, "sfence") || is(arm->fence, "mfence")))
		return cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				  "'fence' is %s, an instruction that this CPU lacks; "
				  "expected fence auto or none",
				  arm->fence);
	if (is(arm->fence, "mfence"))
		*ret_fence = CP_FENCE_MFENCE;
	else if (is(arm->fence, "sfence") || (is(arm->fence, "auto") && needed))
		*ret_fence = CP_FENCE_SFENCE;
	else
		*ret_fence = CP_FENCE_NONE;
	return 0;
}

int cp_flush_resolve(const struct cp_arm *arm, unsigned present, bool auto_flush,
		     struct cp_flush *ret, struct cp_err *err)
{
	struct cp_flush flush = {.promised = !is(arm->persist, "none")};
	int rc = pick(arm, present, &flush.ops, err);

	if (rc)
		return rc;
	if (flush.promised && auto_flush)
		flush.ops = NULL;
	rc = pick_fence(arm, &flush, present, &flush.fence, err);
	if (rc)
		return rc;
	flush.active = flush.ops || flush.fence != CP_FENCE_NONE;
	*ret = flush;
	return 0;
}

int cp_flush_check(const struct cp_arm *arm, enum cp_attr attr, unsigned present,
		   struct cp_err *err)
{
	const char *field = !is(arm->persist, "none") ? "persist"
			    : !is(arm->flush, "none") ? "flush"
			    : is(arm->fence, "sfence") || is(arm->fence, "mfence")
				    ? "fence"
				    : NULL;
	struct cp_flush flush;

	if (field && attr != CP_ATTR_WB)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'%s' is %s and attr is %s, whose stores are flushed "
			"or pass the caches by themselves; expected flush none, fence "
			"auto and persist none, or attr wb",
			field,
			*field == 'p'	  ? arm->persist
			: field[1] == 'l' ? arm->flush
					  : arm->fence,
			cp_attr_name(attr));
	return cp_flush_resolve(arm, present, false, &flush, err);
}
