// SPDX-License-Identifier: GPL-2.0-only
/* Counters of each sample, by perf stat. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/drive/beside.h"
#include "bench/drive/perf.h"
#include "engines/base/file.h"

#define OUTPUT_MAX (64U << 10)

struct counting {
	struct cp_perf_control control;
	char events[CP_PERF_MAX * 50]; /* "a,b,c" */
	char output[4200];
};

static int stat_check(const struct cp_plan *plan, struct cp_err *err)
{
	for (size_t i = 0; i < plan->nr_perf; i++) {
		bool supported;
		int ret = cp_perf_try(plan->perf[i], &supported, err);

		if (ret && plan->config[0] && plan->perf_at[i][0])
			cp_err_prefix(err, "%s:%u:%u: error", plan->config,
				      plan->perf_at[i][0], plan->perf_at[i][1]);
		if (ret)
			return ret;
	}
	return 0;
}

static int name_output(const struct cp_take *take, struct counting *counting,
		       struct cp_err *err)
{
	char name[64];

	snprintf(name, sizeof(name), "jobs/%04zu.perf", take->index);
	if (cp_path_join(counting->output, sizeof(counting->output), take->session->dir,
			 name))
		return cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
				  "the run directory '%.200s' is too long",
				  take->session->dir);
	unlink(counting->output); /* of a sample that was interrupted */
	return 0;
}

static int stat_begin(struct cp_take *take, void **ret_state, struct cp_err *err)
{
	const struct cp_plan *plan = take->session->plan;
	struct counting *counting;
	size_t used = 0;

	if (!plan->nr_perf || take->profile)
		return 0;
	counting = calloc(1, sizeof(*counting));
	if (!counting)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	int ret = name_output(take, counting, err);

	if (!ret)
		ret = cp_perf_control_make(&counting->control,
					   cp_driver_find(plan->driver)->window, err);
	if (ret) {
		free(counting);
		return ret;
	}
	for (size_t i = 0; i < plan->nr_perf; i++)
		used += (size_t)snprintf(counting->events + used,
					 sizeof(counting->events) - used, "%s%s",
					 i ? "," : "", plan->perf[i]);
	const char *const words[] = {"perf", "stat",	       "-x", ";",
				     "-o",   counting->output, "-e", counting->events,
				     NULL};

	cp_perf_prefix(take, &counting->control, words);
	*ret_state = counting;
	return 0;
}

static int stat_end(const struct cp_take *take, void *state, struct cp_record *record,
		    struct cp_err *err)
{
	const struct cp_plan *plan = take->session->plan;
	struct counting *counting = state;
	struct cp_err why;
	char *text = NULL;
	size_t len;

	(void)err;
	if (record) {
		bool got = !cp_file_read(counting->output, OUTPUT_MAX, &text, &len, &why);

		cp_perf_stat_parse(got ? text : "", plan->perf, plan->nr_perf, record);
		if (!counting->control.windowed)
			cp_perf_note(record,
				     "perf: counted over the whole process, as "
				     "driver '%s' tells no window",
				     plan->driver);
	}
	free(text);
	if (record && !record->failed[0])
		unlink(counting->output);
	cp_perf_control_remove(&counting->control);
	free(counting);
	return 0;
}

const struct cp_beside cp_beside_perf = {
	.name = "perf",
	.check = stat_check,
	.begin = stat_begin,
	.end = stat_end,
};
