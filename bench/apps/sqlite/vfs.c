// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/sqlite/vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

static struct cp_dfile *served;

struct vfs_file {
	sqlite3_file base;
	struct cp_dfile *file;
};

static struct cp_dfile *file_of(sqlite3_file *base)
{
	return ((struct vfs_file *)base)->file;
}

static int file_close(sqlite3_file *base)
{
	(void)base; /* the file is its owner's */
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *buf, int len, sqlite3_int64 offset)
{
	bool short_read;

	if (cp_dfile_read(file_of(base), buf, (uint64_t)offset, (uint32_t)len,
			  &short_read))
		return SQLITE_IOERR_READ;
	return short_read ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *buf, int len, sqlite3_int64 offset)
{
	int ret = cp_dfile_write(file_of(base), buf, (uint64_t)offset, (uint32_t)len);

	if (ret == -ENOSPC)
		return SQLITE_FULL;
	return ret ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 bytes)
{
	return cp_dfile_truncate(file_of(base), (uint64_t)bytes) ? SQLITE_IOERR_TRUNCATE
								 : SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
	(void)flags; /* there is one kind of sync */
	return cp_dfile_sync(file_of(base)) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_bytes)
{
	*ret_bytes = (sqlite3_int64)file_of(base)->bytes;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level)
{
	(void)base;
	(void)level;
	return SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *ret_locked)
{
	(void)base;
	*ret_locked = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	(void)base;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
	return (int)file_of(base)->unit;
}

static int file_traits(sqlite3_file *base)
{
	(void)base;
	return 0; /* nothing is promised of a write that is cut off */
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		    int *ret_flags)
{
	struct vfs_file *file = (struct vfs_file *)base;

	(void)vfs;
	(void)name;
	memset(file, 0, sizeof(*file));
	if (!(flags & SQLITE_OPEN_MAIN_DB) || !served)
		return SQLITE_CANTOPEN;
	file->base.pMethods = &methods;
	file->file = served;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
	(void)vfs;
	(void)name;
	(void)sync_dir;
	return SQLITE_OK; /* there is no journal that could be there */
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_there)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*ret_there = 0;
	return SQLITE_OK;
}

static int vfs_path(sqlite3_vfs *vfs, const char *name, int size, char *buf)
{
	(void)vfs;
	snprintf(buf, (size_t)size, "%s", name);
	return SQLITE_OK;
}

int cp_vfs_serve(struct cp_dfile *file)
{
	static sqlite3_vfs vfs;

	served = file;
	if (vfs.zName)
		return 0;
	const sqlite3_vfs *host = sqlite3_vfs_find(NULL);
	if (!host)
		return -EIO;
	/* The clock and random numbers of the system's own; none of its files. */
	vfs = *host;
	vfs.zName = CP_VFS_NAME;
	vfs.szOsFile = sizeof(struct vfs_file);
	vfs.pNext = NULL;
	vfs.xOpen = vfs_open;
	vfs.xDelete = vfs_delete;
	vfs.xAccess = vfs_access;
	vfs.xFullPathname = vfs_path;
	return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? 0 : -EIO;
}
