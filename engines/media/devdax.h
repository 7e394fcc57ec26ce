/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CP_ENGINES_MEDIA_DEVDAX_H
#define CP_ENGINES_MEDIA_DEVDAX_H

#include "engines/copy/flush.h"
#include "engines/media/nd.h"

/* May bytes of this character device be mapped? It must be a dax device, large enough and
 * not in use as system memory (exit 2, by name, with what would work). root as in nd.h.
 */
int cp_devdax_look(const char *root, dev_t dev, const char *name, uint64_t bytes,
		   struct cp_devdax *ret_dax, struct cp_err *err);

/*
 * A dax device has no fsync of its own: its lines are written back here. Covers what this
 * thread has stored, and what others have whose completions it has seen (their NT stores
 * where those were fenced). -EIO when the mapping faults, where nothing is promised.
 */
int cp_devdax_write_back(const struct cp_flush *flush, unsigned char *far, size_t len);

#endif
