// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of an arm a policy cannot choose from one I/O to the next: what stands behind a
 * write. To leave a flush out is no gain where the flush was the point, so writes of
 * different promise are no rivals; and a policy's action has no flush or fence to change.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policies/learn_priv.h"

int cp_learn_check_promise(const struct cp_arm *a, const struct cp_arm *b,
			   struct cp_err *err)
{
	const struct {
		const char *field, *a, *b;
	} words[] = {{"persist", a->persist, b->persist},
		     {"flush", a->flush, b->flush},
		     {"fence", a->fence, b->fence}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].a, words[i].b) != 0)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "writes with %s '%s' (arm '%s') and '%s' (arm "
					  "'%s') are no "
					  "rivals: a policy has one %s for all I/Os; "
					  "expected one of "
					  "them, as with learn --filter %s=%s",
					  words[i].field, words[i].a, a->name, words[i].b,
					  b->name, words[i].field, words[i].field,
					  words[i].b);
	return 0;
}

int learn_promise(const struct cp_learn *learn, struct cp_device *device,
		  struct cp_err *err)
{
	const struct cp_arm *first = NULL;

	for (size_t i = 0; i < learn->nr_cells; i++) {
		const struct learn_cell *cell = &learn->cells[i];

		if (cp_context_dir(&cell->context) == CP_DIR_READ)
			continue;
		if (!first)
			first = &cell->arm;
		int rc = cp_learn_check_promise(first, &cell->arm, err);

		if (rc)
			return rc;
	}
	if (!first)
		return 0;
	memcpy(device->flush, first->flush, sizeof(device->flush));
	memcpy(device->fence, first->fence, sizeof(device->fence));
	memcpy(device->persist, first->persist, sizeof(device->persist));
	return 0;
}
