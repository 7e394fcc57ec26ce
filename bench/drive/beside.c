// SPDX-License-Identifier: GPL-2.0-only
/* The table of what goes on beside a sample, and one sample with all of it. */
#include "bench/drive/beside.h"

#include <string.h>

const struct cp_beside *const cp_besides[CP_BESIDE_MAX + 1] = {
	&cp_beside_corunner, /* first: it starts before the others and ends behind them */
	&cp_beside_perf,
	&cp_beside_profile,
	NULL,
};

int cp_beside_check(const struct cp_plan *plan, struct cp_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && cp_besides[i]; i++)
		ret = cp_besides[i]->check(plan, err);
	return ret;
}

int cp_beside_take(const struct cp_driver *driver, void *state, struct cp_take *take,
		   struct cp_record *record, char *note, size_t note_size,
		   struct cp_err *err)
{
	void *states[CP_BESIDE_MAX] = {NULL};
	size_t nr = 0;
	int ret = 0;

	while (!ret && cp_besides[nr]) {
		ret = cp_besides[nr]->begin(take, &states[nr], err);
		nr++;
	}
	if (!ret)
		ret = driver->take(state, take, record, note, note_size, err);
	while (nr--) {
		struct cp_err end_err = {0};
		int end = states[nr] ? cp_besides[nr]->end(take, states[nr],
							   ret ? NULL : record, &end_err)
				     : 0;

		if (end && !ret) {
			*err = end_err;
			ret = end;
		}
	}
	size_t len = strlen(note);

	if (record->notes[0])
		snprintf(note + len, note_size - len, "%s%s", len ? "; " : "",
			 record->notes);
	return ret;
}
