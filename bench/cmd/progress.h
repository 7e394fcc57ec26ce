/* SPDX-License-Identifier: GPL-2.0-only */
/* How a run looks while it goes on: a line with ETA on a terminal, else a start and an
 * end line. All on stderr. */
#ifndef CP_BENCH_CMD_PROGRESS_H
#define CP_BENCH_CMD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct cp_measure;
struct cp_session_event;

struct cp_progress {
	bool quiet, terminal;
	size_t nr_failed;
	size_t nr_notes;
	char notes[8][512]; /* each is said once */
};

void cp_progress_begin(struct cp_progress *progress, const struct cp_measure *measure,
		       size_t nr_profiles);
void cp_progress_event(void *ctx, const struct cp_session_event *event);
void cp_progress_end(struct cp_progress *progress, const struct cp_measure *measure);

#endif
