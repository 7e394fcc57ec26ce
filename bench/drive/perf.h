/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What perf is asked and what it answers: counters of a sample (perf_stat.c), a profile
 * of a cell (perf_profile.c). Both start the driver's program through take->prefix, with
 * the counters off; the program turns them on for its measuring window by two FIFOs
 * (engines/base/window.h). A driver whose program knows no window (cp_driver.window) is
 * counted from its start to its end, and a note says so.
 *
 * Threading: one thread.
 */
#ifndef CP_BENCH_DRIVE_PERF_H
#define CP_BENCH_DRIVE_PERF_H

#include <limits.h>

#include "bench/drive/driver.h"
#include "results/profile.h"

/* About one sample every half a millisecond of CPU time. */
#define CP_PERF_FREQUENCY 1999

/* The FIFOs of one take, in a directory of their own. */
struct cp_perf_control {
	bool windowed;
	char dir[240], control[256], ack[256];
	char env[600], option[600]; /* COPYPATH_WINDOW=..., --control=fifo:... */
};
int cp_perf_control_make(struct cp_perf_control *control, bool windowed,
			 struct cp_err *err);
void cp_perf_control_remove(const struct cp_perf_control *control);
/* "env LC_ALL=C COPYPATH_WINDOW=..." before perf's own words. */
void cp_perf_prefix(struct cp_take *take, const struct cp_perf_control *control,
		    const char *const *words);

/* Can perf count this event here (perf_check.c)? An unknown event is exit 2, one that may
 * not be counted and no perf at all are exit 4, and err says what to set. *ret_supported
 * is false for an event that this machine has not. */
int cp_perf_try(const char *event, bool *ret_supported, struct cp_err *err);
/* The same of sampling it. */
int cp_perf_try_record(const char *event, struct cp_err *err);
/* What a profile samples here: cycles, or cpu-clock where the machine does not have
 * them. */
int cp_perf_profile_event(const char **ret_event, struct cp_err *err);
/* Run argv to its end, for its stdout. Exit 4 when it fails. free(*ret_text). */
int cp_perf_output(const char *const *argv, char **ret_text, struct cp_err *err);

/*
 * The lines of `perf stat -x ';'` into record->perf, in the order of the events (which is
 * perf's) and under the names that were asked for. Clocks are in ns. What is not
 * supported or was not counted is null; so is a 0 of an event that perf could only count
 * in user mode, as nobody knows whether it was one. What a reader must know (scaled, user
 * mode only, not counted, no window) is appended to record->notes.
 */
void cp_perf_stat_parse(const char *text, const char (*events)[48], size_t nr,
			struct cp_record *record);
/*
 * `perf report -t '|' -F sample,period,dso,sym` into the profile's symbols.
 * -EINVAL (exit 4) with the line that is none.
 */
int cp_perf_report_parse(const char *text, struct cp_profile *profile,
			 struct cp_err *err);
/* The sampled event's name in `perf evlist`: "cycles:u". "" when there is none. */
void cp_perf_evlist_parse(const char *text, char *buf, size_t size);

/* RUN/profiles/NAME.json of a cell. -ENAMETOOLONG. */
int cp_perf_profile_path(const struct cp_session *session, size_t cell, char *buf,
			 size_t size);

/* Append to record->notes; never cuts what is there. */
void cp_perf_note(struct cp_record *record, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
