/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table that is loaded and scanned: rows t(id INTEGER PRIMARY KEY, a INTEGER,
 * b BLOB) in the order of id, `b` of CP_ROW_BYTES. What a row holds follows from seed and
 * id, and the sum over all rows from nothing else, so that a scan proves every byte.
 *
 * One connection, one thread. Errors: negative errno with SQLite's own words (exit 1).
 */
#ifndef CP_BENCH_APPS_SQLITE_TABLE_H
#define CP_BENCH_APPS_SQLITE_TABLE_H

#include <sqlite3.h>

#include "bench/apps/sqlite/file.h"

#define CP_ROW_BYTES	  200
#define CP_ROWS_COMMIT	  4096 /* rows of one transaction */
#define CP_TABLE_CACHE_KB 2048 /* of SQLite's page cache: the rest is I/O */

struct cp_table {
	struct cp_dfile *file;
	uint32_t page_bytes;
	uint64_t seed;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *scan;
	uint64_t rows; /* committed */
	uint64_t sum;  /* of them */
	/* of the scan that is under way */
	uint64_t seen, seen_sum;
};

/* A new, empty database in the file. */
int cp_table_open(struct cp_table *table, struct cp_dfile *file, uint32_t page_bytes,
		  uint64_t seed, struct cp_err *err);
void cp_table_close(struct cp_table *table); /* a zeroed one is fine */
/* One transaction of CP_ROWS_COMMIT rows, durable as PRAGMA synchronous=FULL has it. */
int cp_table_load(struct cp_table *table, struct cp_err *err);
/* The next rows of a scan, at most max. *ret_rows below it: the scan is at its end, its
 * sum was right, and the next call begins anew. */
int cp_table_scan(struct cp_table *table, unsigned max, unsigned *ret_rows,
		  struct cp_err *err);
/* A scan from the first to the last row, and PRAGMA integrity_check. */
int cp_table_check(struct cp_table *table, struct cp_err *err);

#endif
