// SPDX-License-Identifier: GPL-2.0-only
/* Driver exec: a program of the user's, asked for one sample a line. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/drive/driver.h"
#include "bench/drive/program.h"
#include "bench/plan/corunner.h"
#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/base/units.h"
#include "results/exec.h"

#define DEATHS_MAX 3
#define END_NS	   1000000000ULL  /* for one that closed its output to be gone */
#define PERF_NS	   10000000000ULL /* for what wraps it to write its figures */
#define STDERR_MAX 4096

struct exec_state {
	struct cp_program program; /* pid 0: none is running */
	struct cp_session *session;
	char errors[4200]; /* path of its stderr */
	int err_fd;
	uint64_t asked_ns; /* when the last line was given to it */
	unsigned nr_cpus;  /* that the program runs on; 0: wherever we may */
	unsigned cpus[CP_PLAN_CPUS_MAX];
	unsigned deaths; /* ends without an answer, as long as there was none at all */
	bool answered;	 /* ever */
	json_t *extra;	 /* of the last record; owned */
};

static int exec_check(const struct cp_plan *plan, const struct cp_fio *fio,
		      struct cp_err *err)
{
	const char *program = plan->exec[0];
	struct stat st;

	(void)fio;
	if (!stat(program, &st) && S_ISREG(st.st_mode) && !access(program, X_OK))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, ENOENT,
			  "the driver's program '%s' cannot be run; expected the one "
			  "that the workload named",
			  program);
}

static int exec_open(struct cp_session *session, void **ret_state, struct cp_err *err)
{
	struct exec_state *state = calloc(1, sizeof(*state));
	char path[4200];
	int ret = -ENOMEM;

	if (!state)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	state->session = session;
	state->err_fd = -1;
	if (cp_path_join(path, sizeof(path), session->dir, "jobs") ||
	    cp_path_join(state->errors, sizeof(state->errors), path, "exec.err")) {
		ret = cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				 "the run directory '%.200s' is too long", session->dir);
		goto out_free;
	}
	ret = cp_dir_make(path, err);
	if (ret)
		goto out_free;
	/* append: of a run that goes on, what was said before stays */
	state->err_fd =
		open(state->errors, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (state->err_fd < 0) {
		ret = cp_err_set(err, CP_EXIT_INVALID, errno, "cannot write '%s': %s",
				 state->errors, strerror(errno));
		goto out_free;
	}
	*ret_state = state;
	return 0;
out_free:
	free(state);
	return ret;
}

static void exec_close(void *opaque)
{
	struct exec_state *state = opaque;
	struct cp_child_end end;

	if (state->program.pid > 0)
		cp_program_finish(&state->program, END_NS, state->session->interrupted,
				  &end);
	close(state->err_fd);
	json_decref(state->extra);
	free(state);
}

/* The last line it said since `from`, which is where most programs say what is wrong. */
static void add_stderr(const struct exec_state *state, off_t from, char *buf, size_t size)
{
	char text[STDERR_MAX + 1], *line;
	off_t end = lseek(state->err_fd, 0, SEEK_END);
	size_t len = strlen(buf);

	if (end <= from)
		return;
	if (end - from > STDERR_MAX)
		from = end - STDERR_MAX;
	ssize_t n = pread(state->err_fd, text, STDERR_MAX, from);
	while (n > 0 && strchr("\r\n\t ", text[n - 1]))
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	line = strrchr(text, '\n');
	snprintf(buf + len, size - len, "; stderr: %.*s", 120, line ? line + 1 : text);
}

/* Beside a co-runner the program is held where fio's jobs would be: who shares no CPU
 * with it takes nothing from it. Elsewhere it runs wherever we may. Is that how it runs
 * now? */
static int place(const struct exec_state *state, const struct cp_take *take,
		 unsigned *ret_cpus, unsigned *ret_nr, bool *ret_same, struct cp_err *err)
{
	struct cp_corunner corunner;
	int ret = cp_corunner_parse(take->cell->context.corunner, &corunner, err);

	if (ret)
		return ret;
	corunner.cpu = -1; /* the submitters', wherever the co-runner is */
	*ret_nr = corunner.kind == CP_CORUNNER_NONE
			  ? 0
			  : cp_corunner_cpus(&corunner, take->session->plan, take->cell,
					     ret_cpus);
	*ret_same = *ret_nr == state->nr_cpus &&
		    !memcmp(ret_cpus, state->cpus, *ret_nr * sizeof(*ret_cpus));
	return 0;
}

static int start_there(struct exec_state *state, const char *const *argv,
		       struct cp_err *err)
{
	const struct cp_plan *plan = state->session->plan;
	cpu_set_t before, there;

	CPU_ZERO(&there);
	for (unsigned i = 0; i < state->nr_cpus; i++)
		CPU_SET(state->cpus[i], &there);
	/* ours for a moment: all that the program starts inherits it */
	if (state->nr_cpus && (sched_getaffinity(0, sizeof(before), &before) ||
			       sched_setaffinity(0, sizeof(there), &there)))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot start '%s' on the co-runner's CPUs: %s",
				  argv[0], strerror(errno));
	int ret = cp_program_start(&state->program, argv, plan->exec_dir, state->err_fd,
				   CP_EXEC_LINE_MAX, err);
	if (state->nr_cpus && sched_setaffinity(0, sizeof(before), &before) && !ret)
		ret = cp_err_set(err, CP_EXIT_INVALID, errno,
				 "cannot go back to all CPUs: %s", strerror(errno));
	return ret;
}

static int start(struct exec_state *state, const struct cp_take *take, struct cp_err *err)
{
	const struct cp_plan *plan = take->session->plan;
	const char *args[CP_PLAN_EXEC_MAX + 1];
	const char *argv[CP_TAKE_PREFIX_MAX + CP_PLAN_EXEC_MAX + 1];

	for (size_t i = 0; i < plan->nr_exec; i++)
		args[i] = plan->exec[i];
	args[plan->nr_exec] = NULL;
	cp_take_argv(take, args, argv);
	return start_there(state, argv, err);
}

static char *request_line(const struct cp_take *take, const struct cp_record *record,
			  struct cp_err *err)
{
	const struct cp_plan *plan = take->session->plan;
	struct cp_exec_request request = {
		.context = record->context,
		.arm = record->arm,
		.sample = take->sample->sample,
		.seed = take->sample->seed,
		.size = plan->size,
		.runtime_ns = plan->runtime_ns,
		.ramp_ns = plan->ramp_ns,
	};

	memcpy(request.filename, plan->filename, sizeof(request.filename));
	/* as fio's jobs: one CPU each while there are more CPUs than jobs */
	for (unsigned i = 0; record->context.numjobs < plan->nr_cpus &&
			     i < record->context.numjobs && i < CP_EXEC_CPUS_MAX;
	     i++)
		request.cpus[request.nr_cpus++] = plan->cpus[i];
	return cp_exec_request_encode(&request, err);
}

/* Why there is no answer to judge, in words. */
static void no_answer(enum cp_program_said said, const char *line, uint64_t timeout_ns,
		      const struct cp_child_end *end, char *buf, size_t size)
{
	char time[24];

	if (said == CP_PROGRAM_LATE)
		snprintf(buf, size, "program: no answer in %s",
			 cp_time_format(timeout_ns, time, sizeof(time)));
	else if (said == CP_PROGRAM_LONG)
		snprintf(buf, size, "program: an answer longer than %u bytes",
			 CP_EXEC_LINE_MAX);
	else if (said == CP_PROGRAM_MORE)
		snprintf(buf, size,
			 "program: said more than it was asked; expected one line an "
			 "answer, not '%.80s'",
			 line);
	else if (end->signo)
		snprintf(buf, size, "program: ended by signal %d (%s)", end->signo,
			 strsignal(end->signo));
	else if (end->exit_code >= 0)
		snprintf(buf, size, "program: ended without an answer, exit code %d",
			 end->exit_code);
	else
		snprintf(buf, size, "program: closed its output without an answer");
}

/* A line is an answer, a failure that the program tells, or nothing we can read. */
static bool judge(struct exec_state *state, const char *line, size_t len,
		  struct cp_record *record)
{
	struct cp_err err = {0};

	if (cp_exec_answer_decode(line, len, record, &state->extra, &err) ||
	    (!record->failed[0] &&
	     cp_exec_wall_check(record, cp_now_ns() - state->asked_ns,
				(unsigned)sysconf(_SC_NPROCESSORS_ONLN), &err))) {
		snprintf(record->failed, sizeof(record->failed),
			 "program: answer: %.230s", err.msg);
		return false;
	}
	record->raw = state->extra;
	if (!record->failed[0])
		cp_record_prove(record, record->failed, sizeof(record->failed));
	return true;
}

/* Nobody goes on for hours with a program that never says a word. */
static int count_death(struct exec_state *state, const struct cp_record *record,
		       struct cp_err *err)
{
	if (state->answered || ++state->deaths < DEATHS_MAX)
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
			  "'%s' has given no good answer in its first %d samples (%s); "
			  "expected one line "
			  "of JSON a sample: see '%s', and give it a line of "
			  "'jobs/*.line' by hand",
			  state->session->plan->exec[0], DEATHS_MAX, record->failed,
			  state->errors);
}

/* A program that wrote no answer, or one that is none, is not trusted with the next. */
static int take_line(struct exec_state *state, const struct cp_take *take,
		     const char *line, struct cp_record *record, struct cp_err *err)
{
	const struct cp_session *session = take->session;
	const struct cp_plan *plan = session->plan;
	uint64_t timeout_ns = plan->runtime_ns + plan->ramp_ns + plan->exec_timeout_ns;
	off_t from = lseek(state->err_fd, 0, SEEK_END);
	struct cp_child_end end = {.exit_code = -1};
	const char *answer;
	size_t len;
	state->asked_ns = cp_now_ns();
	enum cp_program_said said = cp_program_ask(&state->program, line, timeout_ns,
						   session->interrupted, &answer, &len);

	if (said == CP_PROGRAM_INTERRUPTED) {
		cp_program_kill(&state->program, NULL);
		return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
	}
	if (said == CP_PROGRAM_LINE && judge(state, answer, len, record)) {
		state->answered = true;
		if (take->nr_prefix)
			cp_program_finish(&state->program, PERF_NS, session->interrupted,
					  &end);
		if (record->failed[0])
			add_stderr(state, from, record->failed, sizeof(record->failed));
		return 0;
	}
	if (said != CP_PROGRAM_LINE) {
		char said_text[96];

		snprintf(said_text, sizeof(said_text), "%.*s", (int)strcspn(answer, "\n"),
			 answer);
		if (said == CP_PROGRAM_ENDED)
			cp_program_finish(&state->program, END_NS, session->interrupted,
					  &end);
		no_answer(said, said_text, timeout_ns, &end, record->failed,
			  sizeof(record->failed));
	}
	cp_program_kill(&state->program, NULL);
	add_stderr(state, from, record->failed, sizeof(record->failed));
	return count_death(state, record, err);
}

/* A failure keeps what explains it: what was asked. */
static void keep_line(const struct cp_take *take, const char *line)
{
	char name[64], path[4200];

	snprintf(name, sizeof(name), "jobs/%04zu.line", take->index);
	if (cp_path_join(path, sizeof(path), take->session->dir, name))
		return;
	FILE *out = fopen(path, "we");
	if (!out)
		return; /* the record says what failed all the same */
	fputs(line, out);
	fclose(out);
}

/* A program that runs elsewhere than this cell wants it is started anew: its threads and
 * children are its own to know. */
static int start_for(struct exec_state *state, const struct cp_take *take,
		     struct cp_err *err)
{
	unsigned cpus[CP_PLAN_CPUS_MAX], nr;
	struct cp_child_end end;
	bool same;
	int ret = place(state, take, cpus, &nr, &same, err);

	if (ret)
		return ret;
	/* what wraps it is of one sample: a program of its own for each */
	if (take->nr_prefix && state->program.pid > 0)
		cp_program_kill(&state->program, NULL);
	else if (!same && state->program.pid > 0)
		cp_program_finish(&state->program, END_NS, state->session->interrupted,
				  &end);
	if (state->program.pid > 0)
		return 0;
	memcpy(state->cpus, cpus, nr * sizeof(*cpus));
	state->nr_cpus = nr;
	return start(state, take, err);
}

static int exec_take(void *opaque, const struct cp_take *take, struct cp_record *record,
		     char *note, size_t note_size, struct cp_err *err)
{
	struct exec_state *state = opaque;
	int ret;

	json_decref(state->extra);
	state->extra = NULL;
	char *line = request_line(take, record, err);
	if (!line)
		return -ENOMEM;
	snprintf(record->provenance.media, CP_WORD_MAX, "external");
	snprintf(record->provenance.attr, CP_WORD_MAX, "external");
	snprintf(record->provenance.dma, CP_WORD_MAX, "external");
	ret = start_for(state, take, err);
	if (!ret)
		ret = take_line(state, take, line, record, err);
	if (ret || record->failed[0])
		keep_line(take, line);
	free(line);
	if (!ret && !record->failed[0] && !record->has_proof) {
		size_t len = strlen(record->notes);

		snprintf(record->notes + len, sizeof(record->notes) - len,
			 "%spath not proven: the program gave no proof", len ? "; " : "");
	}
	snprintf(note, note_size, "%s", record->notes);
	record->notes[0] = '\0'; /* what goes on beside adds its own there */
	return ret;
}

const struct cp_driver cp_driver_exec = {
	.name = "exec",
	.check = exec_check,
	.open = exec_open,
	.take = exec_take,
	.close = exec_close,
};
