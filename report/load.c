// SPDX-License-Identifier: GPL-2.0-only
/* Reading what a report is made of, and letting go of it. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/file.h"
#include "report/attrs.h"
#include "report/data.h"
#include "report/escape.h"
#include "report/profile.h"

void cp_report_warn(const struct cp_report *report, const char *fmt, ...)
{
	char text[CP_ERR_MSG_MAX];
	va_list args;

	if (!report->opts->warn)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	report->opts->warn(report->opts->ctx, text);
}

/* The directory a set of records lives in; "." for a bare file name. */
static int records_dir(const char *records, char *buf, size_t size)
{
	struct stat st;
	const char *slash;
	int len;

	if (!stat(records, &st) && S_ISDIR(st.st_mode)) {
		len = snprintf(buf, size, "%s", records);
	} else {
		slash = strrchr(records, '/');
		if (!slash)
			len = snprintf(buf, size, ".");
		else
			len = snprintf(buf, size, "%.*s",
				       (int)(slash == records ? 1 : slash - records),
				       records);
	}
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

int cp_report_default_dir(const struct cp_report_opts *opts, char *buf, size_t size)
{
	char dir[4096];
	int rc = records_dir(opts->records[0], dir, sizeof(dir));

	return rc ? rc : cp_path_join(buf, size, dir, "report");
}

static int find_policy(struct cp_report *report, struct cp_err *err)
{
	const struct cp_report_opts *opts = report->opts;
	char dir[4096];
	struct stat st;
	int len = 0;

	if (opts->policy) {
		len = snprintf(report->policy_path, sizeof(report->policy_path), "%s",
			       opts->policy);
	} else if (!opts->objective && !records_dir(opts->records[0], dir, sizeof(dir)) &&
		   !cp_path_join(report->policy_path, sizeof(report->policy_path), dir,
				 "policy.yaml") &&
		   !stat(report->policy_path, &st)) {
		return 0;
	} else {
		report->policy_path[0] = '\0';
	}
	if (len < 0 || (size_t)len >= sizeof(report->policy_path))
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "the policy's path is too long");
	return 0;
}

static int read_run(struct cp_report *report, const char *path, struct cp_err *err)
{
	int rc = cp_report_grow(&report->runs, &report->nr_runs, sizeof(*report->runs),
				err);

	if (rc)
		return rc;
	struct cp_report_run *run = &report->runs[report->nr_runs - 1];

	run->path = path;
	rc = cp_manifest_read(path, &run->manifest, err);
	run->has_manifest = !rc;
	return rc == -ENOENT ? 0 : rc;
}

static void warn_of_run(const struct cp_report *report, const struct cp_report_run *run)
{
	if (!run->has_manifest)
		cp_report_warn(report,
			       "'%s' has no manifest, so its environment is unknown",
			       run->path);
	else if (!run->manifest.complete)
		cp_report_warn(report, "'%s' is not complete; the report says so",
			       run->path);
}

struct reading {
	struct cp_report *report;
	struct cp_err *err;
};

static int take_record(void *ctx, struct cp_record *record, unsigned line)
{
	struct reading *reading = ctx;

	(void)line;
	cp_report_judge_add(reading->report, record);
	return cp_report_add_record(reading->report, record, reading->err);
}

static void set_title(struct cp_report *report)
{
	size_t used = 0;

	if (report->opts->title) {
		cp_text_visible(report->opts->title, 120, report->title,
				sizeof(report->title));
		return;
	}
	for (size_t i = 0; i < report->nr_runs && used < 120; i++) {
		const struct cp_report_run *run = &report->runs[i];
		char name[200];

		cp_text_visible(run->has_manifest ? run->manifest.run : run->path, 60,
				name, sizeof(name));
		int len = snprintf(report->title + used, sizeof(report->title) - used,
				   "%s%s", i ? ", " : "copypath report: ", name);

		if (len < 0 || (size_t)len >= sizeof(report->title) - used)
			return;
		used += (size_t)len;
	}
}

static int read_all(struct cp_report *report, struct cp_err *err)
{
	const struct cp_report_opts *opts = report->opts;
	const struct cp_record_read_opts read_opts = {.warn = opts->warn,
						      .ctx = opts->ctx};
	struct reading reading = {.report = report, .err = err};

	for (size_t i = 0; i < opts->nr_records; i++) {
		int rc = read_run(report, opts->records[i], err);

		if (!rc)
			rc = cp_record_read(opts->records[i], &read_opts, take_record,
					    &reading, err);
		if (rc)
			return rc;
		warn_of_run(report, &report->runs[i]);
	}
	if (!report->nr_samples)
		return cp_err_set(err, CP_EXIT_INVALID, ENODATA,
				  "'%s' holds no records; expected at least one sample",
				  opts->records[0]);
	return 0;
}

/* Only where it can stand beside something. */
static void read_published(struct cp_report *report)
{
	const char *path = report->opts->published_dma;
	bool offloaded = false;
	struct cp_err why;

	for (size_t i = 0; i < report->nr_arms; i++)
		offloaded = offloaded || (!strcmp(report->arms[i].arm.path, "dma") &&
					  !report->arms[i].simulated);
	if (!path || !offloaded)
		return;
	report->has_published = !cp_published_dma_read(path, &report->published, &why);
	if (!report->has_published)
		cp_report_warn(report, "the published figures are not shown: %s",
			       why.msg);
}

int cp_report_load(const struct cp_report_opts *opts, struct cp_report **ret,
		   struct cp_err *err)
{
	struct cp_report *report = calloc(1, sizeof(*report));

	if (!report)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	report->opts = opts;
	cp_policy_init(&report->policy);
	int rc = find_policy(report, err);

	if (!rc)
		rc = cp_report_judge_begin(report, err);
	if (!rc)
		rc = read_all(report, err);
	if (!rc)
		rc = cp_report_finish_cells(report, err);
	if (!rc)
		rc = cp_report_attrs_find(report, err);
	if (!rc)
		rc = cp_report_profiles_load(report, err);
	if (!rc)
		read_published(report);
	if (rc) {
		cp_report_free(report);
		return rc;
	}
	cp_report_judge_finish(report);
	set_title(report);
	*ret = report;
	return 0;
}

void cp_report_free(struct cp_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->nr_cells; i++) {
		for (int v = 0; v < VALUE_NR; v++)
			free(report->cells[i].values[v].samples);
		for (size_t c = 0; c < report->cells[i].nr_counters; c++)
			free(report->cells[i].counters[c].stat.samples);
		free(report->cells[i].counters);
	}
	for (size_t i = 0; i < report->nr_runs; i++)
		if (report->runs[i].has_manifest)
			cp_manifest_free(&report->runs[i].manifest);
	cp_report_attrs_free(report->attrs);
	cp_report_profiles_free(report);
	cp_learn_free(report->learn);
	cp_policy_free(&report->policy);
	free(report->runs);
	free(report->arms);
	free(report->cells);
	free(report->panels);
	free(report->failures);
	free(report->sample_keys);
	free(report);
}
