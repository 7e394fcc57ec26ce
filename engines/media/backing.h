/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file behind a mapping: looked at, opened and brought in, the same for each media
 * that has one. No file is made, cut or extended, and no byte of it is written.
 */
#ifndef CP_ENGINES_MEDIA_BACKING_H
#define CP_ENGINES_MEDIA_BACKING_H

#include <sys/stat.h>

#include "engines/media/media.h"

/* What a media wants behind it. */
struct cp_backing {
	const char *media;    /* its name, for messages */
	mode_t type;	      /* S_IFREG or S_IFCHR */
	const char *expected; /* in words, behind "expected" */
};

/* It is there and of that type (exit 2, by name, with what would work), by its name
 * alone: opening a device or a FIFO can act on it. */
int cp_backing_stat(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    struct stat *ret_st, struct cp_err *err);
/* The same, and a regular file is long enough. */
int cp_backing_look(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    struct stat *ret_st, struct cp_err *err);
/* The length of a regular file. */
int cp_backing_size(const struct cp_backing *want, const char *filename,
		    uint64_t *ret_bytes, struct cp_err *err);
/* The same twice: of the name, and of what was opened, as cfg->writable wants. */
int cp_backing_open(const struct cp_backing *want, const struct cp_media_cfg *cfg,
		    int *ret_fd, struct cp_err *err);
/* The page faults of a mapping, those of writes too when it is writable; no byte changes.
 */
int cp_backing_fault_in(unsigned char *base, size_t bytes, const struct cp_media_cfg *cfg,
			struct cp_err *err);
/* A sync, by msync: of a page cache its pages are written. On DAX what was flushed behind
 * a write is durable already; of a store that nothing flushed the kernel knows the page,
 * and writes its lines back. */
int cp_backing_sync(struct cp_media *media, uint64_t offset, uint64_t len);

#endif
