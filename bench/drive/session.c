// SPDX-License-Identifier: GPL-2.0-only
#include "bench/drive/session.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bench/drive/beside.h"
#include "bench/drive/perf.h"
#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/base/units.h"

#define SPACE_MIN     (64U << 10)
#define LONG_SLACK_NS 1e9 /* a busy machine is late too */

/* I/Os that take longer than the runtime stretch a sample: its figures are of few, and
 * the plan's time is no guide. Where verify is on a sample has no runtime. */
static void note_long(const struct cp_plan *plan, const struct cp_record *record,
		      char *note, size_t size)
{
	double ran_ns = record->metrics[CP_METRIC_ELAPSED_NS];
	char ran[24], runtime[24];
	size_t len = strlen(note);

	if (strcmp(plan->verify, "off") != 0 ||
	    !(ran_ns > 2.0 * (double)plan->runtime_ns) ||
	    ran_ns < (double)plan->runtime_ns + LONG_SLACK_NS || len + 1 >= size)
		return;
	snprintf(note + len, size - len, "%sran %s for a runtime of %s", len ? "; " : "",
		 cp_time_format((uint64_t)ran_ns / 100000000 * 100000000, ran,
				sizeof(ran)),
		 cp_time_format(plan->runtime_ns, runtime, sizeof(runtime)));
}

/* A sample that failed because nothing could be written would fail again and again. */
static bool out_of_space(const struct cp_session *session)
{
	struct statvfs fs;

	return !statvfs(session->dir, &fs) && fs.f_blocks &&
	       (uint64_t)fs.f_bavail * fs.f_frsize < SPACE_MIN;
}

static int take_one(const struct cp_driver *driver, void *state, struct cp_take *take,
		    struct cp_record *record, char *note, size_t note_size,
		    struct cp_err *err)
{
	const struct cp_session *session = take->session;

	cp_record_init(record);
	snprintf(record->run, sizeof(record->run), "%s", session->run);
	snprintf(record->host, sizeof(record->host), "%s", session->host);
	record->context = take->cell->context;
	record->arm = take->cell->arm;
	record->sample = take->sample->sample;
	cp_time_utc(record->t, sizeof(record->t));
	int ret = cp_beside_take(driver, state, take, record, note, note_size, err);
	if (ret)
		return ret;
	if (session->interrupted && *session->interrupted)
		return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
	note_long(session->plan, record, note, note_size);
	snprintf(record->notes, sizeof(record->notes), "%s", note);
	if (record->failed[0] && out_of_space(session))
		return cp_err_set(err, CP_EXIT_INVALID, ENOSPC,
				  "no space left in '%.400s'; expected room for jobs and "
				  "records",
				  session->dir);
	return 0;
}

static size_t count_todo(const struct cp_session *session)
{
	size_t nr = 0;

	for (size_t i = 0; i < session->plan->nr_order; i++)
		nr += !session->done[i];
	if (session->max_samples && session->max_samples < nr)
		nr = (size_t)session->max_samples;
	return nr;
}

static bool over_budget(const struct cp_session *session, uint64_t start_ns)
{
	uint64_t one_ns = cp_plan_time_ns(session->plan, 1);

	return (session->max_samples && session->nr_measured >= session->max_samples) ||
	       (session->max_ns && cp_now_ns() - start_ns + one_ns > session->max_ns);
}

static int open_files(const struct cp_session *session, struct cp_record_writer **writer,
		      struct cp_err *err)
{
	char path[4200];

	if (cp_path_join(path, sizeof(path), session->dir, "jobs"))
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "the run directory '%.200s' is too long", session->dir);
	int ret = cp_dir_make(path, err);
	if (ret)
		return ret;
	cp_path_join(path, sizeof(path), session->dir, "records.jsonl");
	return cp_record_writer_open(path, writer, err);
}

static int take_all(struct cp_session *session, const struct cp_driver *driver,
		    void *state, struct cp_err *err)
{
	struct cp_record_writer *writer;
	uint64_t start_ns = cp_now_ns();
	size_t nr_todo = count_todo(session);
	int ret = open_files(session, &writer, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < session->plan->nr_order && !ret; i++) {
		const struct cp_plan_sample *sample = &session->plan->order[i];
		struct cp_take take = {.session = session,
				       .index = i,
				       .sample = sample,
				       .cell = &session->plan->cells[sample->cell]};
		struct cp_record record;
		char note[512] = "";

		if (session->done[i])
			continue;
		if (over_budget(session, start_ns)) {
			session->stopped = true;
			break;
		}
		if (session->interrupted && *session->interrupted)
			ret = cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
		else
			ret = take_one(driver, state, &take, &record, note, sizeof(note),
				       err);
		if (!ret)
			ret = cp_record_write(writer, &record, err);
		if (ret)
			break;
		session->done[i] = true;
		session->nr_measured++;
		session->nr_failed += record.failed[0] != '\0';
		if (session->event) {
			const struct cp_session_event event = {
				.record = &record,
				.nr_done = session->nr_measured,
				.nr_todo = nr_todo,
				.elapsed_ns = cp_now_ns() - start_ns,
				.note = note,
			};
			session->event(session->ctx, &event);
		}
	}
	struct cp_err close_err = {0};
	if (cp_record_writer_close(writer, &close_err) && !ret) {
		*err = close_err;
		ret = -EIO;
	}
	return ret;
}

/* The profile of a cell: an extra run, with what its first sample was run with. */
static int take_profile(struct cp_session *session, const struct cp_driver *driver,
			void *state, size_t cell, struct cp_record *record,
			struct cp_err *err)
{
	const struct cp_plan *plan = session->plan;
	struct cp_take take = {.session = session,
			       .index = plan->nr_order + cell,
			       .cell = &plan->cells[cell],
			       .profile = true};
	char note[512] = "";

	for (size_t i = 0; i < plan->nr_order && !take.sample; i++)
		if (plan->order[i].cell == cell && !plan->order[i].sample)
			take.sample = &plan->order[i];
	return take_one(driver, state, &take, record, note, sizeof(note), err);
}

static bool has_profile(const struct cp_session *session, size_t cell)
{
	char path[4200];

	return !cp_perf_profile_path(session, cell, path, sizeof(path)) &&
	       !access(path, F_OK);
}

size_t cp_session_count_profiles(const struct cp_session *session)
{
	size_t nr = 0;

	for (size_t i = 0; session->plan->profile && i < session->plan->nr_cells; i++)
		nr += !has_profile(session, i);
	return nr;
}

/* Behind the samples, which it must not come between. */
static int take_profiles(struct cp_session *session, const struct cp_driver *driver,
			 void *state, struct cp_err *err)
{
	const struct cp_plan *plan = session->plan;
	struct cp_session_event event = {.nr_todo = cp_session_count_profiles(session),
					 .note = "",
					 .profile = true};
	uint64_t start_ns = cp_now_ns();
	char path[4200];
	int ret = 0;

	if (!event.nr_todo)
		return 0;
	if (!cp_path_join(path, sizeof(path), session->dir, "profiles"))
		ret = cp_dir_make(path, err);
	for (size_t i = 0; i < plan->nr_cells && !ret; i++) {
		struct cp_record record;

		if (has_profile(session, i))
			continue;
		ret = take_profile(session, driver, state, i, &record, err);
		if (ret)
			break;
		event.nr_done++;
		event.record = &record;
		event.elapsed_ns = cp_now_ns() - start_ns;
		session->nr_profiled += !record.failed[0];
		session->nr_unprofiled += record.failed[0] != '\0';
		if (session->event)
			session->event(session->ctx, &event);
	}
	return ret;
}

int cp_session_run(struct cp_session *session, struct cp_err *err)
{
	const struct cp_driver *driver = cp_driver_find(session->plan->driver);
	void *state = NULL;
	int ret = driver->open ? driver->open(session, &state, err) : 0;

	if (ret)
		return ret;
	ret = take_all(session, driver, state, err);
	if (!ret && session->profile)
		ret = take_profiles(session, driver, state, err);
	if (driver->close)
		driver->close(state);
	return ret;
}
