/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the media and their table; nothing here is for users of media.h. */
#ifndef CP_ENGINES_MEDIA_KINDS_H
#define CP_ENGINES_MEDIA_KINDS_H

#include "engines/media/media.h"

extern const struct cp_media_ops cp_media_anon_ops;
extern const struct cp_media_ops cp_media_file_ops;
extern const struct cp_media_ops cp_media_dax_ops;
extern const struct cp_media_ops cp_media_devdax_ops;
extern const struct cp_media_ops cp_media_bar_ops;
extern const struct cp_media_ops cp_media_memattr_ops;

/* The spec of a media that takes no settings: an unknown key is an error. */
int cp_media_no_settings(const char *spec, struct cp_err *err);

/* cfg->require_persistent and not `persistent`: refused (exit 2) with what would do. For
 * a media that knows before it touches its pages; cp_media_open() asks again of all. */
int cp_media_persistent_check(const struct cp_media_cfg *cfg, bool persistent,
			      struct cp_err *err);

/* bytes in 4k-or-larger pages of this machine, rounded up; 0 on overflow. */
size_t cp_media_map_bytes(uint64_t bytes);

/*
 * Is this much memory there to be filled? A sixteenth of MemAvailable is left to the rest
 * of the machine. 0, or -ENOMEM with both figures (exit 4). Where /proc/meminfo cannot be
 * read nothing is refused.
 */
int cp_media_memory_check(const char *what, uint64_t bytes, struct cp_err *err);

/* Where anonymous pages of a size come from, for bytes of them. -ENOMEM (exit 4) with
 * what would work when there is no way. root as in huge.h. */
enum cp_anon_source { CP_ANON_SMALL, CP_ANON_RESERVED, CP_ANON_TRANSPARENT };
int cp_anon_source(const char *root, uint64_t page, uint64_t bytes,
		   enum cp_anon_source *ret_source, struct cp_err *err);

/* Fill whole pages, each with contents of its own: pages never written would all read
 * from one shared zero page, in cache, and pages with the same contents can be merged.
 * Plain stores, in order; no fence. */
void cp_media_fill(unsigned char *base, size_t bytes, size_t page);

/* The node of each page, negative when it is not in memory; 0, or -1 where the kernel
 * does not say. cp_media_ask() is move_pages(); tests give pages other nodes. */
typedef int (*cp_media_ask_fn)(const struct cp_media *media, unsigned long nr,
			       void **pages, int *ret_nodes);
int cp_media_ask(const struct cp_media *media, unsigned long nr, void **pages,
		 int *ret_nodes);
/* Fill node, node_pct, extents and node_note of a media that is faulted in; -1 and
 * nothing where it is not known. */
void cp_media_nodes_find(struct cp_media *media, cp_media_ask_fn ask);

#endif
