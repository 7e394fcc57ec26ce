// SPDX-License-Identifier: GPL-2.0-only
#include "bench/cmd/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bench/cmd/measure.h"
#include "bench/drive/session.h"
#include "engines/base/units.h"

#define FAILURES_SHOWN 10

static void clear_line(const struct cp_progress *progress)
{
	if (progress->terminal)
		fputs("\r\033[K", stderr);
}

void cp_progress_begin(struct cp_progress *progress, const struct cp_measure *measure,
		       size_t nr_profiles)
{
	const struct cp_plan *plan = &measure->plan;
	size_t left = plan->nr_order - measure->nr_stored;
	uint64_t time_s = cp_measure_time_s(plan, left, nr_profiles);

	*progress = (struct cp_progress){
		.quiet = measure->quiet,
		.terminal = !measure->quiet && isatty(STDERR_FILENO),
	};
	if (!measure->quiet)
		fprintf(stderr,
			"copypath: %s: %zu samples%s of %zu cells, about %" PRIu64
			" min %02" PRIu64 " s, into '%s'\n",
			plan->name, left, nr_profiles ? " and the profiles" : "",
			plan->nr_cells, time_s / 60, time_s % 60, measure->dir);
}

static void say_note(struct cp_progress *progress, const char *note)
{
	for (size_t i = 0; i < progress->nr_notes; i++)
		if (!strcmp(progress->notes[i], note))
			return;
	if (progress->nr_notes == sizeof(progress->notes) / sizeof(progress->notes[0]))
		return;
	snprintf(progress->notes[progress->nr_notes++], sizeof(progress->notes[0]), "%s",
		 note);
	clear_line(progress);
	fprintf(stderr, "copypath: note: %s\n", note);
}

/* One note at a time; that of the cache is left out, as the plan has warned of it. */
static void say_notes(struct cp_progress *progress, const char *notes)
{
	while (*notes) {
		char note[sizeof(progress->notes[0])];
		size_t len = strcspn(notes, ";");

		snprintf(note, sizeof(note), "%.*s", (int)len, notes);
		if (strncmp(note, "working set is ", 15) != 0)
			say_note(progress, note);
		notes += len + (notes[len] == ';');
		notes += strspn(notes, " ");
	}
}

static void say_failure(struct cp_progress *progress, const struct cp_record *record,
			bool profile)
{
	char bs[24];
	bool usual = !strcmp(record->context.attr, "wb");

	if (progress->nr_failed++ >= FAILURES_SHOWN)
		return;
	clear_line(progress);
	fprintf(stderr,
		"copypath: failed: %s%s rw=%s bs=%s numjobs=%u iodepth=%u%s%s sample %u: "
		"%s\n",
		profile ? "profile of " : "", record->arm.name, record->context.rw,
		cp_size_format(record->context.bs, bs, sizeof(bs)),
		record->context.numjobs, record->context.iodepth,
		usual ? "" : " attr=", usual ? "" : record->context.attr, record->sample,
		record->failed);
}

void cp_progress_event(void *ctx, const struct cp_session_event *event)
{
	const struct cp_record *record = event->record;
	struct cp_progress *progress = ctx;
	char bs[24];

	if (record->failed[0])
		say_failure(progress, record, event->profile);
	if (event->note[0] && !progress->quiet)
		say_notes(progress, event->note);
	if (!progress->terminal)
		return;
	uint64_t left = event->nr_todo - event->nr_done;
	uint64_t eta_s = event->elapsed_ns / event->nr_done * left / 1000000000;
	clear_line(progress);
	fprintf(stderr, "%s[%zu/%zu] %zu%% ETA %" PRIu64 ":%02" PRIu64 "  %s %s %s",
		event->profile ? "profile " : "", event->nr_done, event->nr_todo,
		event->nr_done * 100 / event->nr_todo, eta_s / 60, eta_s % 60,
		record->arm.name, record->context.rw,
		cp_size_format(record->context.bs, bs, sizeof(bs)));
	if (!record->failed[0])
		fprintf(stderr, " %.2f GB/s", record->metrics[CP_METRIC_BW] / 1e9);
	fflush(stderr);
}

void cp_progress_end(struct cp_progress *progress, const struct cp_measure *measure)
{
	clear_line(progress);
	if (progress->nr_failed > FAILURES_SHOWN)
		fprintf(stderr, "copypath: failed: %zu more\n",
			progress->nr_failed - FAILURES_SHOWN);
	if (measure->quiet)
		return;
	if (measure->nr_profiled || measure->nr_unprofiled)
		fprintf(stderr, "copypath: %s: %zu profiles stored, %zu failed\n",
			measure->plan.name, measure->nr_profiled, measure->nr_unprofiled);
	fprintf(stderr, "copypath: %s: %zu of %zu samples stored, %zu failed%s\n",
		measure->plan.name, measure->nr_stored, measure->plan.nr_order,
		measure->nr_failed, measure->stopped ? "; the budget ended it" : "");
}
