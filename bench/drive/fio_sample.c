// SPDX-License-Identifier: GPL-2.0-only
/* Driver fio: a job file, a fio process, its JSON and the engine's sidecar. */
#include <errno.h>
#include <string.h>

#include "bench/drive/driver.h"
#include "bench/drive/sample.h"
#include "engines/base/file.h"

#define SLACK_NS   30000000000ULL
#define OUTPUT_MAX (16U << 20)

static const char ours[] = "copypath: error: ";

static int write_job(const struct cp_session *session,
		     const struct cp_plan_sample *sample,
		     const struct cp_sample_files *files, struct cp_err *err)
{
	const struct cp_plan_cell *cell = &session->plan->cells[sample->cell];
	FILE *out = fopen(files->job, "we");

	if (!out)
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot write '%s': %s",
				  files->job, strerror(errno));
	cp_fio_job_print(out, session->fio, session->plan, cell, sample->seed,
			 files->sidecar);
	bool bad = ferror(out) != 0;
	if (fclose(out) || bad)
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot write '%s': %s",
				  files->job, strerror(errno));
	return 0;
}

/* What the engine can only say when all is done, as fio has asked for its errors before:
 * a log or a sidecar that could not be written. */
static void judge_stderr(const struct cp_sample_files *files, struct cp_record *record)
{
	char line[sizeof(record->failed)];

	if (!record->failed[0] && cp_sample_stderr(files, ours, line, sizeof(line)))
		snprintf(record->failed, sizeof(record->failed), "engine: %.240s", line);
}

/* What the sample is worth: metrics and proof, or why it failed. */
static void judge(const struct cp_session *session, const struct cp_plan_cell *cell,
		  const struct cp_sample_files *files, const struct cp_child_end *end,
		  struct cp_record *record, char *note, size_t note_size)
{
	unsigned nr_jobs = cell->context.numjobs;
	size_t len, size = sizeof(record->failed);
	struct cp_err err = {0};
	char *text = NULL;

	if (cp_sample_died(end, "fio", SLACK_NS, record->failed, size)) {
		/* told */
	} else if (cp_file_read(files->out, OUTPUT_MAX, &text, &len, &err) ||
		   cp_fio_output_parse(text, cp_context_dir(&cell->context), record,
				       record->failed, size)) {
		if (!record->failed[0])
			snprintf(record->failed, size, "fio: %.200s", err.msg);
	} else if (end->exit_code) {
		snprintf(record->failed, size, "fio: exit code %d", end->exit_code);
	}
	free(text);
	if (record->failed[0]) {
		cp_sample_fail(files, ours, nr_jobs, record, note, note_size);
		return;
	}
	cp_sample_merge(files, nr_jobs, record, note, note_size);
	if (!record->has_proof)
		return;
	if (!record->failed[0] &&
	    strcmp(record->proof.verify, session->plan->verify) != 0)
		snprintf(record->failed, size, "verify was '%s'; expected '%s'",
			 record->proof.verify, session->plan->verify);
	judge_stderr(files, record);
}

static int fio_check(const struct cp_plan *plan, const struct cp_fio *fio,
		     struct cp_err *err)
{
	const char *tried[2] = {NULL, NULL};

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const char *name = cp_fio_plugin(&plan->cells[i].arm);

		if (name == tried[0] || name == tried[1])
			continue;
		tried[tried[0] != NULL] = name;
		int ret = cp_fio_try(fio, plan, &plan->cells[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int fio_take(void *state, const struct cp_take *take, struct cp_record *record,
		    char *note, size_t note_size, struct cp_err *err)
{
	const struct cp_session *session = take->session;
	struct cp_child_end end = {0};
	struct cp_sample_files files;
	const char *const args[] = {session->fio->path, "--output-format=json", files.job,
				    NULL};

	(void)state;
	int ret = cp_sample_files_name(session, take->index, "fio", &files, err);
	if (!ret)
		ret = write_job(session, take->sample, &files, err);
	if (!ret)
		ret = cp_sample_run(take, &files, args, SLACK_NS, &end, err);
	if (ret)
		return ret;
	judge(session, take->cell, &files, &end, record, note, note_size);
	if (!record->failed[0])
		cp_sample_files_drop(&files);
	return 0;
}

const struct cp_driver cp_driver_fio = {
	.name = "fio",
	.window = true,
	.needs_fio = true,
	.check = fio_check,
	.take = fio_take,
};
