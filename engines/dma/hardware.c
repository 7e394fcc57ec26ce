/* SPDX-License-Identifier: GPL-2.0-only */
/* The DMA engines of the machine, for the fingerprint. */
#include <stdio.h>
#include <string.h>

#include "engines/dma/hardware.h"
#include "engines/dma/channel.h"

void cp_dma_hardware_names(char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; cp_dma_table[i]; i++) {
		const struct cp_dma_ops *ops = cp_dma_table[i];
		struct cp_err why;
		struct cp_dma_traits traits;

		cp_dma_traits(ops, ops->name, &traits);
		if (strcmp(traits.provenance, "hardware") != 0 || ops->probe(&why) != 0)
			continue;
		int n = snprintf(buf + used, size - used, "%s%s", used ? "," : "",
				 ops->name);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
	if (!used)
		snprintf(buf, size, "none");
}
