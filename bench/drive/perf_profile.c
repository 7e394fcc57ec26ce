// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile of a cell, by perf record around an extra run of it. What the run delivered
 * while it was sampled is stored with the profile, and nowhere else.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/drive/beside.h"
#include "bench/drive/perf.h"
#include "engines/base/file.h"

struct sampling {
	struct cp_perf_control control;
	const char *event;
	char frequency[16];
	char data[4200]; /* perf.data */
};

static int profile_check(const struct cp_plan *plan, struct cp_err *err)
{
	const char *event;
	int ret = 0;

	if (plan->profile)
		ret = cp_perf_profile_event(&event, err);
	if (plan->profile && !ret)
		ret = cp_perf_try_record(event, err);
	if (ret)
		cp_err_prefix(err, "'run.profile'");
	return ret;
}

static int profile_begin(struct cp_take *take, void **ret_state, struct cp_err *err)
{
	struct sampling *sampling;
	char name[64];

	if (!take->profile)
		return 0;
	sampling = calloc(1, sizeof(*sampling));
	if (!sampling)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	snprintf(name, sizeof(name), "jobs/%04zu.perf.data", take->index);
	int ret = cp_path_join(sampling->data, sizeof(sampling->data), take->session->dir,
			       name);

	if (ret)
		ret = cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
				 "the run directory '%.200s' is too long",
				 take->session->dir);
	if (!ret)
		ret = cp_perf_profile_event(&sampling->event, err);
	if (!ret)
		ret = cp_perf_control_make(
			&sampling->control,
			cp_driver_find(take->session->plan->driver)->window, err);
	if (ret) {
		free(sampling);
		return ret;
	}
	snprintf(sampling->frequency, sizeof(sampling->frequency), "%d",
		 CP_PERF_FREQUENCY);
	const char *const words[] = {"perf", "record",	      "-q", "-N",
				     "-e",   sampling->event, "-F", sampling->frequency,
				     "-o",   sampling->data,  NULL};

	cp_perf_prefix(take, &sampling->control, words);
	*ret_state = sampling;
	return 0;
}

/* What perf sampled, as symbols; why not, in record->failed. */
static void read_data(const struct sampling *sampling, struct cp_profile *profile)
{
	const char *const report[] = {"env",
				      "LC_ALL=C",
				      "perf",
				      "report",
				      "-i",
				      sampling->data,
				      "--stdio",
				      "-q",
				      "-t",
				      "|",
				      "-F",
				      "sample,period,dso,sym",
				      "-g",
				      "none",
				      "--percent-limit",
				      "0",
				      "--no-children",
				      NULL};
	const char *const evlist[] = {"env", "LC_ALL=C",     "perf", "evlist",
				      "-i",  sampling->data, NULL};
	struct cp_record *record = &profile->record;
	struct cp_err why = {0};
	char *text = NULL;
	int ret = cp_perf_output(evlist, &text, &why);

	if (!ret)
		cp_perf_evlist_parse(text, profile->event, sizeof(profile->event));
	free(text);
	text = NULL;
	if (!ret)
		ret = cp_perf_output(report, &text, &why);
	if (!ret)
		ret = cp_perf_report_parse(text, profile, &why);
	free(text);
	size_t len = strlen(profile->event);

	profile->user_only = len > 2 && !strcmp(profile->event + len - 2, ":u");
	snprintf(profile->unit, sizeof(profile->unit), "%s",
		 strncmp(profile->event, "cpu-clock", 9) ? "cycles" : "ns");
	if (!ret && !profile->samples)
		ret = cp_err_set(&why, CP_EXIT_INVALID, ENODATA,
				 "perf took no samples; expected some of the measuring "
				 "window");
	if (ret)
		snprintf(record->failed, sizeof(record->failed), "profile: %.200s",
			 why.msg);
}

int cp_perf_profile_path(const struct cp_session *session, size_t cell, char *buf,
			 size_t size)
{
	char name[128], path[160];

	cp_profile_name(cell, session->plan->cells[cell].arm.name, name, sizeof(name));
	snprintf(path, sizeof(path), "profiles/%s", name);
	return cp_path_join(buf, size, session->dir, path);
}

static int store(const struct cp_take *take, const struct sampling *sampling,
		 struct cp_record *record, struct cp_err *err)
{
	struct cp_profile profile;
	char path[4200];

	cp_profile_init(&profile);
	profile.frequency = CP_PERF_FREQUENCY;
	profile.windowed = sampling->control.windowed;
	profile.record = *record;
	read_data(sampling, &profile);
	snprintf(record->failed, sizeof(record->failed), "%s", profile.record.failed);
	int ret = 0;

	if (!record->failed[0]) {
		ret = cp_perf_profile_path(take->session, take->sample->cell, path,
					   sizeof(path))
			      ? cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
					   "the run directory '%.200s' is too long",
					   take->session->dir)
			      : cp_profile_write(path, &profile, err);
	}
	cp_profile_free(&profile);
	return ret;
}

static int profile_end(const struct cp_take *take, void *state, struct cp_record *record,
		       struct cp_err *err)
{
	struct sampling *sampling = state;
	int ret = 0;

	if (record && !record->failed[0])
		ret = store(take, sampling, record, err);
	unlink(sampling->data);
	cp_perf_control_remove(&sampling->control);
	free(sampling);
	return ret;
}

const struct cp_beside cp_beside_profile = {
	.name = "profile",
	.check = profile_check,
	.begin = profile_begin,
	.end = profile_end,
};
