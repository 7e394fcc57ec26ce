// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/sqlite/table.h"

#include <errno.h>
#include <string.h>

#include "bench/apps/sqlite/vfs.h"
#include "engines/base/random.h"

#define WORDS (CP_ROW_BYTES / 8)

static int failed(const struct cp_table *table, const char *what, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_REGRESSED, EIO, "%s: %s", what,
			  table->db ? sqlite3_errmsg(table->db) : "not enough memory");
}

static int run(struct cp_table *table, const char *sql, struct cp_err *err)
{
	return sqlite3_exec(table->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : failed(table, sql, err);
}

static int prepare(struct cp_table *table, const char *sql, sqlite3_stmt **ret_stmt,
		   struct cp_err *err)
{
	return sqlite3_prepare_v2(table->db, sql, -1, ret_stmt, NULL) == SQLITE_OK
		       ? 0
		       : failed(table, sql, err);
}

int cp_table_open(struct cp_table *table, struct cp_dfile *file, uint32_t page_bytes,
		  uint64_t seed, struct cp_err *err)
{
	char pragmas[512];

	*table = (struct cp_table){.file = file, .page_bytes = page_bytes, .seed = seed};
	cp_dfile_truncate(file, 0);
	if (cp_vfs_serve(file))
		return failed(table, "register the VFS", err);
	if (sqlite3_open_v2("db", &table->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				    SQLITE_OPEN_NOMUTEX,
			    CP_VFS_NAME) != SQLITE_OK) {
		failed(table, "open the database", err);
		cp_table_close(table);
		return -EIO;
	}
	snprintf(pragmas, sizeof(pragmas),
		 "PRAGMA page_size=%u; PRAGMA journal_mode=MEMORY; "
		 "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; "
		 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA mmap_size=0; "
		 "PRAGMA cache_size=-%d; "
		 "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b BLOB)",
		 page_bytes, CP_TABLE_CACHE_KB);
	int ret = run(table, pragmas, err);
	if (!ret)
		ret = prepare(table, "INSERT INTO t VALUES(?1, ?2, ?3)", &table->insert,
			      err);
	if (!ret)
		ret = prepare(table, "SELECT id, a, b FROM t", &table->scan, err);
	if (ret)
		cp_table_close(table);
	return ret;
}

void cp_table_close(struct cp_table *table)
{
	sqlite3_finalize(table->insert);
	sqlite3_finalize(table->scan);
	sqlite3_close(table->db);
	*table = (struct cp_table){0};
}

/* Order counts within a row, not between rows. */
static uint64_t row_sum(uint64_t id, uint64_t a, const uint64_t *words)
{
	uint64_t sum = cp_random_mix(id ^ CP_RANDOM_GOLDEN) + a;

	for (unsigned i = 0; i < WORDS; i++)
		sum = sum * CP_RANDOM_GOLDEN + words[i];
	return cp_random_mix(sum);
}

static int insert_row(struct cp_table *table, uint64_t id, uint64_t *sum,
		      struct cp_err *err)
{
	uint64_t state = table->seed ^ cp_random_mix(id), words[WORDS];
	uint64_t a = cp_random_next(&state) >> 1;

	for (unsigned i = 0; i < WORDS; i++)
		words[i] = cp_random_next(&state);
	*sum += row_sum(id, a, words);
	sqlite3_bind_int64(table->insert, 1, (sqlite3_int64)id);
	sqlite3_bind_int64(table->insert, 2, (sqlite3_int64)a);
	sqlite3_bind_blob(table->insert, 3, words, sizeof(words), SQLITE_STATIC);
	int rc = sqlite3_step(table->insert);

	if (rc != SQLITE_DONE)
		failed(table, "insert a row", err);
	sqlite3_reset(table->insert);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

int cp_table_load(struct cp_table *table, struct cp_err *err)
{
	uint64_t sum = 0;
	int ret = run(table, "BEGIN", err);

	for (unsigned i = 0; i < CP_ROWS_COMMIT && !ret; i++)
		ret = insert_row(table, table->rows + i + 1, &sum, err);
	if (!ret)
		ret = run(table, "COMMIT", err);
	if (ret)
		return ret;
	table->rows += CP_ROWS_COMMIT;
	table->sum += sum;
	return 0;
}

static int end_scan(struct cp_table *table, int rc, struct cp_err *err)
{
	uint64_t seen = table->seen, sum = table->seen_sum;

	if (rc != SQLITE_DONE)
		failed(table, "read a row", err);
	sqlite3_reset(table->scan);
	table->seen = 0;
	table->seen_sum = 0;
	if (rc != SQLITE_DONE)
		return -EIO;
	if (seen == table->rows && sum == table->sum)
		return 0;
	return cp_err_set(err, CP_EXIT_REGRESSED, EIO,
			  "a scan found %llu rows with sum %016llx; expected %llu with "
			  "%016llx",
			  (unsigned long long)seen, (unsigned long long)sum,
			  (unsigned long long)table->rows,
			  (unsigned long long)table->sum);
}

int cp_table_scan(struct cp_table *table, unsigned max, unsigned *ret_rows,
		  struct cp_err *err)
{
	unsigned nr = 0;

	while (nr < max) {
		uint64_t words[WORDS] = {0};
		int rc = sqlite3_step(table->scan);

		if (rc != SQLITE_ROW) {
			*ret_rows = nr;
			return end_scan(table, rc, err);
		}
		const void *blob = sqlite3_column_blob(table->scan, 2);
		if (blob && sqlite3_column_bytes(table->scan, 2) == CP_ROW_BYTES)
			memcpy(words, blob, sizeof(words));
		table->seen_sum +=
			row_sum((uint64_t)sqlite3_column_int64(table->scan, 0),
				(uint64_t)sqlite3_column_int64(table->scan, 1), words);
		table->seen++;
		nr++;
	}
	*ret_rows = nr;
	return 0;
}

static int integrity(void *ctx, int nr, char **texts, char **names)
{
	struct cp_err *err = ctx;

	(void)names;
	if (nr > 0 && texts[0] && strcmp(texts[0], "ok") != 0 && !err->msg[0])
		cp_err_set(err, CP_EXIT_REGRESSED, EIO, "integrity_check: %.200s",
			   texts[0]);
	return 0;
}

int cp_table_check(struct cp_table *table, struct cp_err *err)
{
	struct cp_err told = {0};
	unsigned rows;
	int ret = 0;

	/* one that is under way saw only the end of what it should */
	sqlite3_reset(table->scan);
	table->seen = 0;
	table->seen_sum = 0;
	do
		ret = cp_table_scan(table, 1024, &rows, err);
	while (!ret && rows == 1024);
	if (ret)
		return ret;
	if (sqlite3_exec(table->db, "PRAGMA integrity_check(1)", integrity, &told,
			 NULL) != SQLITE_OK)
		return failed(table, "PRAGMA integrity_check", err);
	if (!told.msg[0])
		return 0;
	*err = told;
	return -EIO;
}
