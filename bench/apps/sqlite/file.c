// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/sqlite/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 4096

static int set_open(struct cp_dfile_set *set, uint32_t unit, unsigned depth)
{
	size_t bytes = ((size_t)unit * depth + ALIGN - 1) / ALIGN * ALIGN;

	set->buf = aligned_alloc(ALIGN, bytes);
	set->unit = calloc(depth, sizeof(*set->unit));
	set->ios = calloc(depth, sizeof(*set->ios));
	set->list = calloc(depth, sizeof(*set->list));
	if (!set->buf || !set->unit || !set->ios || !set->list)
		return -ENOMEM;
	memset(set->buf, 0, bytes); /* touched before anything is timed */
	return 0;
}

static void set_close(struct cp_dfile_set *set)
{
	free(set->buf);
	free(set->unit);
	free(set->ios);
	free(set->list);
}

int cp_dfile_open(struct cp_dfile *file, struct cp_sub *sub, uint64_t limit,
		  uint32_t unit, unsigned depth)
{
	*file = (struct cp_dfile){
		.sub = sub, .limit = limit, .unit = unit, .depth = depth};
	int ret = set_open(&file->dirty, unit, depth);

	if (!ret)
		ret = set_open(&file->clean, unit, depth);
	if (ret)
		cp_dfile_close(file);
	return ret;
}

void cp_dfile_close(struct cp_dfile *file)
{
	set_close(&file->dirty);
	set_close(&file->clean);
	*file = (struct cp_dfile){0};
}

/* All of the set at once; the first error of any. */
static int set_run(struct cp_dfile *file, struct cp_dfile_set *set, enum cp_dir dir)
{
	int ret = 0;

	for (unsigned i = 0; i < set->nr; i++) {
		set->ios[i] = (struct cp_io){
			.near = set->buf + (size_t)i * file->unit,
			.offset = set->unit[i] * file->unit,
			.bytes = file->unit,
			.dir = dir,
		};
		set->list[i] = &set->ios[i];
	}
	if (set->nr)
		cp_sub_run(file->sub, set->list, set->nr);
	for (unsigned i = 0; i < set->nr && !ret; i++)
		ret = -set->ios[i].error;
	return ret;
}

static int flush(struct cp_dfile *file)
{
	int ret = set_run(file, &file->dirty, CP_DIR_WRITE);

	if (!ret)
		file->dirty.nr = 0;
	return ret;
}

static unsigned char *set_find(const struct cp_dfile *file,
			       const struct cp_dfile_set *set, uint64_t unit)
{
	for (unsigned i = 0; i < set->nr; i++)
		if (set->unit[i] == unit)
			return set->buf + (size_t)i * file->unit;
	return NULL;
}

/* A unit of the file as it is now; what is fetched besides is of reads in order. */
static int fetch(struct cp_dfile *file, uint64_t unit, const unsigned char **ret_bytes)
{
	uint64_t nr_units = (file->bytes + file->unit - 1) / file->unit;
	unsigned nr = 1;
	const unsigned char *bytes = set_find(file, &file->dirty, unit);

	if (!bytes)
		bytes = set_find(file, &file->clean, unit);
	if (!bytes) {
		/* the media must hold what was written before it is read */
		int ret = flush(file);

		if (ret)
			return ret;
		if (unit == file->next_unit && unit)
			nr = file->depth;
		if (nr > nr_units - unit)
			nr = (unsigned)(nr_units - unit);
		for (unsigned i = 0; i < nr; i++)
			file->clean.unit[i] = unit + i;
		file->clean.nr = nr;
		ret = set_run(file, &file->clean, CP_DIR_READ);
		if (ret) {
			file->clean.nr = 0;
			return ret;
		}
		bytes = file->clean.buf;
	}
	file->next_unit = unit + 1;
	*ret_bytes = bytes;
	return 0;
}

int cp_dfile_read(struct cp_dfile *file, void *buf, uint64_t offset, uint32_t len,
		  bool *ret_short)
{
	unsigned char *to = buf;

	*ret_short = offset + len > file->bytes;
	while (len && offset < file->bytes) {
		uint32_t at = (uint32_t)(offset % file->unit);
		uint32_t part = file->unit - at < len ? file->unit - at : len;
		const unsigned char *bytes;

		if (part > file->bytes - offset)
			part = (uint32_t)(file->bytes - offset);
		int ret = fetch(file, offset / file->unit, &bytes);
		if (ret)
			return ret;
		memcpy(to, bytes + at, part);
		to += part;
		offset += part;
		len -= part;
	}
	memset(to, 0, len);
	return 0;
}

/* The buffer of a unit that is about to change. whole: all of it will. */
static int make_dirty(struct cp_dfile *file, uint64_t unit, bool whole,
		      unsigned char **ret_bytes)
{
	struct cp_dfile_set *dirty = &file->dirty;
	const unsigned char *old = NULL;
	int ret;

	*ret_bytes = set_find(file, dirty, unit);
	if (*ret_bytes)
		return 0;
	if (!whole && unit * file->unit < file->bytes) {
		ret = fetch(file, unit, &old);
		if (ret)
			return ret;
	}
	if (dirty->nr == file->depth) {
		ret = flush(file);
		if (ret)
			return ret;
	}
	*ret_bytes = dirty->buf + (size_t)dirty->nr * file->unit;
	if (old)
		memcpy(*ret_bytes, old, file->unit);
	else if (!whole)
		memset(*ret_bytes, 0, file->unit);
	dirty->unit[dirty->nr++] = unit;
	if (set_find(file, &file->clean, unit))
		file->clean.nr = 0; /* what was fetched is out of date */
	return 0;
}

int cp_dfile_write(struct cp_dfile *file, const void *buf, uint64_t offset, uint32_t len)
{
	const unsigned char *from = buf;

	if (offset > file->limit || len > file->limit - offset)
		return -ENOSPC;
	while (len) {
		uint32_t at = (uint32_t)(offset % file->unit);
		uint32_t part = file->unit - at < len ? file->unit - at : len;
		unsigned char *bytes;
		int ret =
			make_dirty(file, offset / file->unit, part == file->unit, &bytes);

		if (ret)
			return ret;
		memcpy(bytes + at, from, part);
		from += part;
		offset += part;
		len -= part;
		file->bytes = offset > file->bytes ? offset : file->bytes;
	}
	return 0;
}

int cp_dfile_sync(struct cp_dfile *file)
{
	struct cp_io io = {.sync = true, .dir = CP_DIR_WRITE};
	struct cp_io *list[] = {&io};
	int ret = flush(file);

	if (ret)
		return ret;
	cp_sub_run(file->sub, list, 1);
	return -io.error;
}

int cp_dfile_truncate(struct cp_dfile *file, uint64_t bytes)
{
	int ret = bytes ? flush(file) : 0; /* of an empty file nothing is kept */

	if (ret)
		return ret;
	file->dirty.nr = 0;
	file->clean.nr = 0;
	file->next_unit = 0;
	if (bytes < file->bytes)
		file->bytes = bytes;
	return 0;
}
