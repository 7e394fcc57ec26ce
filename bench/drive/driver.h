/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who makes the I/Os of a sample: fio, the swap program, a program of the user's. A
 * driver is one file with a const struct cp_driver, listed in driver.c.
 *
 * Order of calls: check() before anything is measured or written; open() once a session;
 * take() for each sample, never two at a time; close(). One thread.
 */
#ifndef CP_BENCH_DRIVE_DRIVER_H
#define CP_BENCH_DRIVE_DRIVER_H

#include "bench/drive/session.h"

#define CP_TAKE_PREFIX_MAX 48

/* One sample to be taken. */
struct cp_take {
	struct cp_session *session;
	size_t index; /* in plan->order */
	const struct cp_plan_sample *sample;
	const struct cp_plan_cell *cell;
	bool profile; /* an extra run of the cell, for its profile; it is no sample */
	/* What the driver's program is to be started by ("perf stat ... --"), words that
	 * stand before its own; see cp_take_argv(). */
	size_t nr_prefix;
	const char *prefix[CP_TAKE_PREFIX_MAX];
};

struct cp_driver {
	const char *name;
	/* Its program says when its measuring window opens and closes
	 * (engines/base/window.h). */
	bool window;
	bool needs_fio; /* else cp_fio.version may be "none", and the rest empty */
	/* Can this plan be measured here? exit 4 or 2, and what to do, else. */
	int (*check)(const struct cp_plan *plan, const struct cp_fio *fio,
		     struct cp_err *err);
	int (*open)(struct cp_session *session, void **ret_state, struct cp_err *err);
	/*
	 * Fill metrics, proof, provenance and window of a record that has its identity
	 * already, or `failed`, and note ("" = nothing to say). An error is what makes
	 * going on pointless (exit 4), or an interrupt (exit 130).
	 */
	int (*take)(void *state, const struct cp_take *take, struct cp_record *record,
		    char *note, size_t note_size, struct cp_err *err);
	void (*close)(void *state);
};

extern const struct cp_driver cp_driver_fio, cp_driver_swap, cp_driver_exec;

/* By the driver of a plan; never NULL for one that was loaded. */
const struct cp_driver *cp_driver_find(const char *name);

/* prefix + args (NULL-terminated) into argv, which has room for CP_TAKE_PREFIX_MAX more
 * than args. */
void cp_take_argv(const struct cp_take *take, const char *const *args, const char **argv);

#endif
