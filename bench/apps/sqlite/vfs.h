/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQLite's way to a cp_dfile: a VFS of one database that opens no other file. Journals
 * and temporary tables are to be kept in memory; a file of any other kind is refused, so
 * that no I/O goes another way. One process, one connection: locks are always granted.
 */
#ifndef CP_BENCH_APPS_SQLITE_VFS_H
#define CP_BENCH_APPS_SQLITE_VFS_H

#include "bench/apps/sqlite/file.h"

#define CP_VFS_NAME "copypath"

/* Make CP_VFS_NAME serve this file, which must outlive every connection; NULL: none.
 * Registers the VFS at its first call. 0 or -EIO. */
int cp_vfs_serve(struct cp_dfile *file);

#endif
