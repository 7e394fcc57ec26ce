// SPDX-License-Identifier: GPL-2.0-only
#include "bench/drive/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "results/sidecar.h"

#define STDERR_MAX (64U << 10)

int cp_sample_files_name(const struct cp_session *session, size_t index,
			 const char *job_suffix, struct cp_sample_files *ret_files,
			 struct cp_err *err)
{
	const struct {
		char *buf;
		const char *suffix;
	} names[] = {{ret_files->job, job_suffix},
		     {ret_files->out, "json"},
		     {ret_files->errors, "err"},
		     {ret_files->sidecar, "sidecar"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "jobs/%04zu.%s", index, names[i].suffix);
		if (cp_path_join(names[i].buf, sizeof(ret_files->job), session->dir,
				 name))
			return cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
					  "the run directory '%.200s' is too long",
					  session->dir);
		if (i) /* of a sample that was interrupted */
			unlink(names[i].buf);
	}
	return 0;
}

void cp_sample_files_drop(const struct cp_sample_files *files)
{
	unlink(files->out);
	unlink(files->errors);
	unlink(files->sidecar);
}

int cp_sample_run(const struct cp_take *take, const struct cp_sample_files *files,
		  const char *const *args, uint64_t slack_ns,
		  struct cp_child_end *ret_end, struct cp_err *err)
{
	const struct cp_session *session = take->session;
	const char *argv[CP_TAKE_PREFIX_MAX + CP_SAMPLE_ARGS_MAX + 1];
	const struct cp_plan *plan = session->plan;
	uint64_t timeout_ns = plan->runtime_ns + plan->ramp_ns + slack_ns;
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
	if (!ret && ret_end->interrupted)
		ret = cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
	return ret;
}

bool cp_sample_died(const struct cp_child_end *end, const char *name, uint64_t slack_ns,
		    char *failed, size_t size)
{
	if (end->timed_out)
		snprintf(failed, size, "%s: not done %u s after it should have been",
			 name, (unsigned)(slack_ns / 1000000000));
	else if (end->signo)
		snprintf(failed, size, "%s: ended by signal %d (%s)", name, end->signo,
			 strsignal(end->signo));
	return end->timed_out || end->signo;
}

bool cp_sample_stderr(const struct cp_sample_files *files, const char *mark, char *buf,
		      size_t size)
{
	static char text[STDERR_MAX];
	int fd = open(files->errors, O_RDONLY | O_CLOEXEC);

	buf[0] = '\0';
	if (fd < 0)
		return false;
	cp_fd_text(fd, text, sizeof(text));
	close(fd);
	const char *marked = strstr(text, mark);
	const char *line = marked ? marked + strlen(mark) : text;

	while (!marked && !strncmp(line, "Events ", 7)) /* perf says when it counts */
		line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
	snprintf(buf, size, "%.*s", (int)strcspn(line, "\n"), line);
	return marked != NULL;
}

static void keep_proof(const struct cp_sample_files *files, unsigned nr_jobs,
		       struct cp_record *record, char *note, size_t note_size)
{
	struct cp_record told = *record;
	struct cp_err err;

	if (access(files->sidecar, F_OK))
		return;
	if (cp_sidecar_merge(files->sidecar, nr_jobs, &told, note, note_size, &err)) {
		note[0] = '\0'; /* torn, or not of all jobs */
		return;
	}
	record->has_proof = true;
	record->proof = told.proof;
	record->provenance = told.provenance;
}

void cp_sample_fail(const struct cp_sample_files *files, const char *mark,
		    unsigned nr_jobs, struct cp_record *record, char *note,
		    size_t note_size)
{
	size_t len = strlen(record->failed), size = sizeof(record->failed);
	char line[1024];

	bool marked = cp_sample_stderr(files, mark, line, sizeof(line));
	if (line[0])
		snprintf(record->failed + len, size - len, "; stderr: %s%s",
			 marked ? mark : "", line);
	keep_proof(files, nr_jobs, record, note, note_size);
}

void cp_sample_merge(const struct cp_sample_files *files, unsigned nr_jobs,
		     struct cp_record *record, char *note, size_t note_size)
{
	size_t size = sizeof(record->failed);
	struct cp_err err = {0};

	if (cp_sidecar_merge(files->sidecar, nr_jobs, record, note, note_size, &err)) {
		snprintf(record->failed, size, "sidecar: %.200s", err.msg);
		return;
	}
	record->has_proof = true;
	cp_record_prove(record, record->failed, size);
}
