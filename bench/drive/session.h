/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the samples of a plan, one fresh fio process each, and stores every one of them
 * (records.jsonl, fsynced) before the next begins.
 *
 * Order of calls: fill struct cp_session -> cp_session_run() -> read the results. A
 * failed sample is stored as failed and the session goes on; only what makes going on
 * pointless (no space, no memory, an interrupt) ends it.
 */
#ifndef CP_BENCH_DRIVE_SESSION_H
#define CP_BENCH_DRIVE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/drive/fio.h"
#include "bench/plan/plan.h"

struct cp_session_event {
	const struct cp_record *record;
	size_t nr_done, nr_todo; /* of this session, the sample included */
	uint64_t elapsed_ns;	 /* of this session */
	const char *note;	 /* what the engine noted, "" = nothing */
	bool profile;		 /* of an extra run for a profile, which is no sample */
};

struct cp_session {
	const struct cp_plan *plan;
	const struct cp_fio *fio;
	const char *dir; /* run directory; jobs/ is made in it */
	const char *run; /* id in the records */
	const char *host;
	bool *done;			 /* plan->nr_order; set as samples are stored */
	const volatile int *interrupted; /* non-zero: stop, may be NULL */
	uint64_t max_samples, max_ns;	 /* 0 = all of them; tune's budget */
	bool profile; /* take the profiles that the plan asks for and dir lacks */
	void (*event)(void *ctx, const struct cp_session_event *event); /* may be NULL */
	void *ctx;

	/* results */
	size_t nr_measured, nr_failed;
	size_t nr_profiled, nr_unprofiled; /* taken, and those that failed */
	bool stopped;			   /* by the budget */
};

/* 0, or -EINTR (err->exit 130), or another error (exit 4). The results count either way.
 */
int cp_session_run(struct cp_session *session, struct cp_err *err);
/* Profiles that cp_session_run() would take. */
size_t cp_session_count_profiles(const struct cp_session *session);

#endif
