/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that lies in copypath's media and is read and written through its device: what
 * the VFS of SQLite needs, without SQLite.
 *
 * All I/Os are whole units (the database's page size), whatever is asked: a part of one
 * is read or changed in a buffer. Writes are gathered until `depth` units wait, a sync or
 * a read that is not served by them; then they go out together and overlap as the arm
 * can. Reads in order fetch `depth` units at once.
 *
 * Order of calls: cp_dfile_open() -> read, write, truncate, sync -> cp_dfile_close(). One
 * thread, which is the device's only submitter. Bytes behind the file's end are nobody's:
 * a new file is empty whatever the media holds.
 */
#ifndef CP_BENCH_APPS_SQLITE_FILE_H
#define CP_BENCH_APPS_SQLITE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/queue/queue.h"

/* Near buffers and I/Os for up to `depth` units. */
struct cp_dfile_set {
	unsigned nr;
	unsigned char *buf;
	uint64_t *unit; /* which unit each buffer holds */
	struct cp_io *ios;
	struct cp_io **list;
};

struct cp_dfile {
	struct cp_sub *sub;
	uint64_t limit; /* bytes of the media */
	uint64_t bytes; /* of the file */
	uint32_t unit;
	unsigned depth;
	uint64_t next_unit; /* behind the last read: the next one is in order */
	struct cp_dfile_set dirty, clean;
};

/* unit: a power of two from 512; limit a multiple of it. */
int cp_dfile_open(struct cp_dfile *file, struct cp_sub *sub, uint64_t limit,
		  uint32_t unit, unsigned depth);
void cp_dfile_close(struct cp_dfile *file); /* a zeroed one is fine; waits for nothing */
/* 0; bytes behind the end are zeroes and *ret_short is set; negative errno. */
int cp_dfile_read(struct cp_dfile *file, void *buf, uint64_t offset, uint32_t len,
		  bool *ret_short);
/* -ENOSPC behind the limit. */
int cp_dfile_write(struct cp_dfile *file, const void *buf, uint64_t offset, uint32_t len);
/* What was written before is durable as far as the media can. */
int cp_dfile_sync(struct cp_dfile *file);
int cp_dfile_truncate(struct cp_dfile *file, uint64_t bytes);

#endif
