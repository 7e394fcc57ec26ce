/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the DMA engines and their table; nothing here is for users of channel.h. */
#ifndef CP_ENGINES_DMA_ENGINE_H
#define CP_ENGINES_DMA_ENGINE_H

#include <errno.h>

#include "engines/dma/channel.h"

/* An engine leaves the hooks it lacks NULL; the table hands out a filled copy. */
extern const struct cp_dma_ops cp_dma_idxd_ops;
extern const struct cp_dma_ops cp_dma_sw_ops;
extern const struct cp_dma_ops cp_dma_null_ops;
extern const struct cp_dma_ops cp_dma_kernel_ops;
extern const struct cp_dma_ops cp_dma_fault_ops;
extern const struct cp_dma_ops cp_dma_model_ops;

#define CP_DMA_RING_DEFAULT 256U
#define CP_DMA_RING_MAX	    16384U

static inline unsigned cp_dma_ring_round(unsigned wanted)
{
	unsigned ring = 2;

	while (ring < wanted)
		ring <<= 1;
	return ring;
}

/* What prep_memcpy_sg checks of its segments. 0 and the sum of their lengths, or -EINVAL:
 * none or too many, an empty one, or a sum that overflows. */
static inline int cp_dma_sg_check(const struct cp_dma_sg *sg, unsigned nr_sg,
				  size_t *ret_len)
{
	size_t len = 0;

	if (!nr_sg || nr_sg > CP_DMA_SEGMENTS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < nr_sg; i++) {
		if (!sg[i].len || __builtin_add_overflow(len, sg[i].len, &len))
			return -EINVAL;
	}
	*ret_len = len;
	return 0;
}

#endif
