/* SPDX-License-Identifier: GPL-2.0-only */
/* One sample: a device as the cell asks, a database in it, rows loaded or scanned. */
#ifndef CP_BENCH_APPS_SQLITE_SAMPLE_H
#define CP_BENCH_APPS_SQLITE_SAMPLE_H

#include "engines/base/topo.h"
#include "results/exec.h"

/*
 * rw write: rows are loaded, a database is begun anew when its media is three quarters
 * full. rw read: that much is loaded first, and scanned again and again. bs is the
 * database's page size, iodepth how many page I/Os are handed in at once. Afterwards all
 * rows are read and their sum compared, and SQLite checks its own structures.
 *
 * Fills metrics (app_ops_per_s: rows of committed transactions, or rows read, per second
 * of the window), proof, notes and window; or an error in words.
 */
int cp_sample_take(const struct cp_exec_request *request, const struct cp_topo *topo,
		   struct cp_record *record, struct cp_err *err);

#endif
