// SPDX-License-Identifier: GPL-2.0-only
/* Driver swap: a copypath-swap process, its line of JSON and its sidecar. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "bench/drive/driver.h"
#include "bench/drive/sample.h"
#include "engines/base/file.h"
#include "engines/swap/swap.h"

#define PROGRAM	   "copypath-swap"
#define OUTPUT_MAX (1U << 20)
/* The program gives up by itself sooner: filling, measuring, checking. */
#define SLACK_NS     120000000000ULL
#define FAULT_MAX_NS 4500000ULL

static const char ours[] = PROGRAM ": error: ";

/* The words of one command line. */
struct words {
	size_t nr, used;
	const char *args[CP_SAMPLE_ARGS_MAX];
	char text[32 << 10];
	bool full;
};

static void add(struct words *words, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct words *words, const char *fmt, ...)
{
	char *at = words->text + words->used;
	size_t room = sizeof(words->text) - words->used;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || words->nr + 1 >= CP_SAMPLE_ARGS_MAX) {
		words->full = true;
		return;
	}
	words->args[words->nr++] = at;
	words->used += (size_t)n + 1;
}

static void add_fields(struct words *words, const struct cp_field *fields,
		       const void *object)
{
	for (; fields->name; fields++) {
		char value[512];

		cp_field_format(fields, object, true, value, sizeof(value));
		if (strcmp(value, fields->def) != 0)
			add(words, "%s=%s", fields->name, value);
	}
}

static void add_cpus(struct words *words, const struct cp_plan *plan)
{
	char list[CP_PLAN_CPUS_MAX * 8] = "";

	for (unsigned i = 0; i < plan->nr_cpus; i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%u", i ? "," : "",
			 plan->cpus[i]);
	}
	if (list[0])
		add(words, "cpus=%s", list);
}

static int make_words(const struct cp_take *take, const struct cp_sample_files *files,
		      struct words *words, struct cp_err *err)
{
	const struct cp_session *session = take->session;
	const struct cp_plan *plan = session->plan;
	const struct cp_context *context = &take->cell->context;
	const char *filename = cp_plan_filename(plan, context->media);

	words->nr = 0;
	words->used = 0;
	words->full = false;
	add(words, "%s/" PROGRAM, session->fio->plugin_dir);
	add_fields(words, cp_context_fields, context);
	add_fields(words, cp_arm_fields, &take->cell->arm);
	add(words, "size=%" PRIu64, plan->size);
	if (filename)
		add(words, "filename=%s", filename);
	if (plan->attr_native)
		add(words, "attr_native=1");
	add(words, "runtime=%" PRIu64 "us", plan->runtime_ns / 1000);
	add(words, "ramp_time=%" PRIu64 "us", plan->ramp_ns / 1000);
	add(words, "seed=%" PRIu64, take->sample->seed);
	add(words, "fio=%s", session->fio->version);
	add_cpus(words, plan);
	add(words, "sidecar=%s", files->sidecar);
	words->args[words->nr] = NULL;
	return words->full ? cp_err_set(err, CP_EXIT_INVALID, E2BIG,
					"the command line of %s is too long", PROGRAM)
			   : 0;
}

/* What was run, a word a line: `xargs -d '\n' -a FILE env` does it again. */
static int write_job(const struct cp_sample_files *files, const struct words *words,
		     struct cp_err *err)
{
	FILE *out = fopen(files->job, "we");
	bool bad = !out;

	for (size_t i = 0; out && i < words->nr; i++)
		fprintf(out, "%s\n", words->args[i]);
	if (out) {
		bad = ferror(out) != 0;
		bad |= fclose(out) != 0;
	}
	return bad ? cp_err_set(err, CP_EXIT_INVALID, errno, "cannot write '%s': %s",
				files->job, strerror(errno))
		   : 0;
}

static bool take_metrics(const json_t *line, struct cp_record *record)
{
	const json_t *metrics = json_object_get(line, "metrics");

	for (int i = CP_METRIC_FAULTS; i <= CP_METRIC_FAULT_SYS; i++) {
		const json_t *value = json_object_get(metrics, cp_metric_names[i]);

		if (!json_is_number(value))
			return false;
		record->metrics[i] = json_number_value(value);
	}
	return true;
}

static uint64_t seen(const json_t *line, const char *key)
{
	const json_t *swap = json_object_get(line, "swap");

	return (uint64_t)json_integer_value(json_object_get(swap, key));
}

/* Its line of JSON, or NULL and why. A new reference. */
static json_t *read_line(const struct cp_sample_files *files,
			 const struct cp_child_end *end, char *failed, size_t size)
{
	struct cp_err err = {0};
	json_error_t error;
	json_t *line = NULL;
	char *text = NULL;
	size_t len;

	if (cp_sample_died(end, "swap", SLACK_NS, failed, size))
		return NULL;
	if (cp_file_read(files->out, OUTPUT_MAX, &text, &len, &err))
		snprintf(failed, size, "swap: %.200s", err.msg);
	else
		line = json_loads(text, 0, &error);
	free(text);
	if (!line && !failed[0])
		snprintf(failed, size, "swap: exit code %d, without figures",
			 end->exit_code);
	return line;
}

static void add_note(const json_t *line, char *note, size_t size)
{
	uint64_t sigbus = seen(line, "sigbus"), kept = seen(line, "out_errors");
	size_t len = strlen(note);

	if (!sigbus && !kept)
		return;
	snprintf(note + len, size - len,
		 "%s%" PRIu64 " accesses got SIGBUS, %" PRIu64
		 " pages were kept as they could not be paged out, none was wrong",
		 len ? "; " : "", sigbus, kept);
}

static void judge(const struct cp_sample_files *files, const struct cp_child_end *end,
		  struct cp_record *record, char *note, size_t note_size)
{
	size_t size = sizeof(record->failed);
	json_t *line = read_line(files, end, record->failed, size);
	const char *failed = json_string_value(json_object_get(line, "failed"));

	if (failed)
		snprintf(record->failed, size, "swap: %.200s", failed);
	else if (line && !take_metrics(line, record))
		snprintf(record->failed, size, "swap: its JSON lacks figures");
	if (record->failed[0]) {
		for (int i = CP_METRIC_FAULTS; i <= CP_METRIC_FAULT_SYS; i++)
			record->metrics[i] = NAN;
		cp_sample_fail(files, ours, 1, record, note, note_size);
	} else {
		cp_sample_merge(files, 1, record, note, note_size);
		add_note(line, note, note_size);
		/* I/O errors are in the proof, and exit code 1 is of them. */
		if (!record->failed[0] && end->exit_code) {
			snprintf(record->failed, size, "swap: exit code %d",
				 end->exit_code);
			cp_sample_fail(files, ours, 1, record, note, note_size);
		}
	}
	json_decref(line);
}

static int swap_check(const struct cp_plan *plan, const struct cp_fio *fio,
		      struct cp_err *err)
{
	char path[4200];
	int ret = cp_swap_check(err);

	if (ret) {
		cp_err_prefix(err, "driver swap");
		return ret;
	}
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (!strcmp(plan->cells[i].context.handler, "apart") && plan->nr_cpus < 2)
			return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
					  "'handler' is apart and this process may use "
					  "one CPU; expected two, or handler beside");
	if (cp_path_join(path, sizeof(path), fio->plugin_dir, PROGRAM) ||
	    access(path, X_OK))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot run '%s/" PROGRAM "': %s; expected it beside "
				  "the plug-ins, as 'make' puts it",
				  fio->plugin_dir, strerror(errno));
	return 0;
}

static int swap_take(void *state, const struct cp_take *take, struct cp_record *record,
		     char *note, size_t note_size, struct cp_err *err)
{
	static struct words words;
	uint64_t pages = take->session->plan->size / CP_SWAP_PAGE;
	struct cp_child_end end = {0};
	struct cp_sample_files files;

	(void)state;
	int ret = cp_sample_files_name(take->session, take->index, "swap", &files, err);
	if (!ret)
		ret = make_words(take, &files, &words, err);
	if (!ret)
		ret = write_job(&files, &words, err);
	if (!ret)
		ret = cp_sample_run(take, &files, words.args,
				    SLACK_NS + pages * FAULT_MAX_NS, &end, err);
	if (ret)
		return ret;
	judge(&files, &end, record, note, note_size);
	if (!record->failed[0])
		cp_sample_files_drop(&files);
	return 0;
}

const struct cp_driver cp_driver_swap = {
	.name = "swap",
	.needs_fio = true,
	.window = true,
	.check = swap_check,
	.take = swap_take,
};
