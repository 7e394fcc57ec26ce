/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CP_ENGINES_MEDIA_DEVDAX_H
#define CP_ENGINES_MEDIA_DEVDAX_H

#include "engines/media/nd.h"

/* May bytes of this character device be mapped? It must be a dax device, large enough and
 * not in use as system memory (exit 2, by name, with what would work). root as in nd.h.
 */
int cp_devdax_look(const char *root, dev_t dev, const char *name, uint64_t bytes,
		   struct cp_devdax *ret_dax, struct cp_err *err);

#endif
