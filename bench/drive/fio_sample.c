// SPDX-License-Identifier: GPL-2.0-only
/* Driver fio: a job file, a fio process, its JSON and the engine's sidecar. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bench/drive/child.h"
#include "bench/drive/driver.h"
#include "engines/base/file.h"
#include "results/sidecar.h"

#define TIMEOUT_SLACK_NS 30000000000ULL
#define OUTPUT_MAX	 (16U << 20)
#define STDERR_MAX	 (64U << 10)

struct sample_files {
	char job[4200], out[4200], errors[4200], sidecar[4200];
};

static int name_files(const struct cp_session *session, size_t index,
		      struct sample_files *files)
{
	struct {
		char *buf;
		const char *suffix;
	} names[] = {{files->job, "fio"},
		     {files->out, "json"},
		     {files->errors, "err"},
		     {files->sidecar, "sidecar"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "jobs/%04zu.%s", index, names[i].suffix);
		if (cp_path_join(names[i].buf, sizeof(files->job), session->dir, name))
			return -ENAMETOOLONG;
		if (i) /* of a sample that was interrupted */
			unlink(names[i].buf);
	}
	return 0;
}

static int write_job(const struct cp_session *session,
		     const struct cp_plan_sample *sample,
		     const struct sample_files *files, struct cp_err *err)
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

static int run_fio(const struct cp_take *take, const struct sample_files *files,
		   struct cp_child_end *ret_end, struct cp_err *err)
{
	const struct cp_session *session = take->session;
	const char *const args[] = {session->fio->path, "--output-format=json",
				    files->job, NULL};
	const char *argv[CP_TAKE_PREFIX_MAX + 4];
	const struct cp_plan *plan = session->plan;
	uint64_t timeout_ns = plan->runtime_ns + plan->ramp_ns + TIMEOUT_SLACK_NS;
	int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
	int out_fd = open(files->out, flags, 0644);
	int err_fd = open(files->errors, flags, 0644);
	int ret;

	cp_take_argv(take, args, argv);
	if (out_fd < 0 || err_fd < 0)
		ret = cp_err_set(err, CP_EXIT_INVALID, errno,
				 "cannot write in '%s/jobs': %s", session->dir,
				 strerror(errno));
	else
		ret = cp_child_run(argv, out_fd, err_fd, timeout_ns, session->interrupted,
				   ret_end, err);
	if (out_fd >= 0)
		close(out_fd);
	if (err_fd >= 0)
		close(err_fd);
	return ret;
}

static const char ours[] = "copypath: error: ";

/* The line of fio's stderr that goes with a failure: what the engine said of it, else the
 * first. Was there one of the engine's? */
static bool stderr_line(const struct sample_files *files, char *buf, size_t size)
{
	static char text[STDERR_MAX];
	int fd = open(files->errors, O_RDONLY | O_CLOEXEC);

	buf[0] = '\0';
	if (fd < 0)
		return false;
	cp_fd_text(fd, text, sizeof(text));
	close(fd);
	const char *line = strstr(text, ours);
	snprintf(buf, size, "%.*s", (int)strcspn(line ? line : text, "\n"),
		 line ? line : text);
	return line != NULL;
}

static void add_stderr(const struct sample_files *files, char *failed, size_t size)
{
	char line[1024];
	size_t len = strlen(failed);

	stderr_line(files, line, sizeof(line));
	if (line[0])
		snprintf(failed + len, size - len, "; stderr: %s", line);
}

/* What the engine can only say when all is done, as fio has asked for its errors before:
 * a log or a sidecar that could not be written. */
static void judge_stderr(const struct sample_files *files, struct cp_record *record)
{
	char line[sizeof(record->failed)];

	if (!record->failed[0] && stderr_line(files, line, sizeof(line)))
		snprintf(record->failed, sizeof(record->failed), "engine: %.240s",
			 line + strlen(ours));
}

/* A job that ended with an error has told what it did until then, errors and provenance
 * included; its metrics are of a part of the time that was asked for, and are not kept.
 */
static void keep_proof(const struct cp_plan_cell *cell, const struct sample_files *files,
		       struct cp_record *record, char *note, size_t note_size)
{
	struct cp_record told = *record;
	struct cp_err err;

	if (access(files->sidecar, F_OK))
		return;
	if (cp_sidecar_merge(files->sidecar, cell->context.numjobs, &told, note,
			     note_size, &err)) {
		note[0] = '\0'; /* torn, or not of all jobs */
		return;
	}
	record->has_proof = true;
	record->proof = told.proof;
	record->provenance = told.provenance;
}

/* What the sample is worth: metrics and proof, or why it failed. */
static void judge(const struct cp_session *session, const struct cp_plan_cell *cell,
		  const struct sample_files *files, const struct cp_child_end *end,
		  struct cp_record *record, char *note, size_t note_size)
{
	struct cp_err err = {0};
	char *text = NULL;
	size_t len, size = sizeof(record->failed);

	if (end->timed_out) {
		snprintf(record->failed, size,
			 "fio: not done %u s after it should have been",
			 (unsigned)(TIMEOUT_SLACK_NS / 1000000000));
	} else if (end->signo) {
		snprintf(record->failed, size, "fio: ended by signal %d (%s)", end->signo,
			 strsignal(end->signo));
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
		add_stderr(files, record->failed, size);
		keep_proof(cell, files, record, note, note_size);
		return;
	}
	if (cp_sidecar_merge(files->sidecar, cell->context.numjobs, record, note,
			     note_size, &err)) {
		snprintf(record->failed, size, "sidecar: %.200s", err.msg);
		return;
	}
	record->has_proof = true;
	cp_record_prove(record, record->failed, size);
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
	struct sample_files files;

	(void)state;
	if (name_files(session, take->index, &files))
		return cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
				  "the run directory '%.200s' is too long", session->dir);
	int ret = write_job(session, take->sample, &files, err);
	if (!ret)
		ret = run_fio(take, &files, &end, err);
	if (ret)
		return ret;
	if (end.interrupted)
		return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
	judge(session, take->cell, &files, &end, record, note, note_size);
	if (!record->failed[0]) { /* a failure keeps what explains it */
		unlink(files.out);
		unlink(files.errors);
		unlink(files.sidecar);
	}
	return 0;
}

const struct cp_driver cp_driver_fio = {
	.name = "fio",
	.needs_fio = true,
	.check = fio_check,
	.take = fio_take,
};
