/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the media `bar` and its test: a tree of devices, and an mmap(), of its own. */
#ifndef CP_ENGINES_MEDIA_BAR_H
#define CP_ENGINES_MEDIA_BAR_H

#include <sys/types.h>

#include "engines/media/media.h"
#include "engines/media/pci.h"

typedef void *(*cp_bar_mmap_fn)(void *at, size_t bytes, int prot, int flags, int fd,
				off_t offset);

/* As ops->open() of the media, in that tree. What is mapped goes to the real munmap(). */
int cp_bar_open(const struct cp_pci_root *root, cp_bar_mmap_fn map_fn,
		struct cp_media *media, const struct cp_media_cfg *cfg,
		struct cp_err *err);
/* As ops->look(): everything that open refuses but what only mmap() can tell. */
int cp_bar_look(const struct cp_pci_root *root, const struct cp_media_cfg *cfg,
		struct cp_err *err);

#endif
