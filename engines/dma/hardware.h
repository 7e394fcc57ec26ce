/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which DMA engines this machine has: the real ones that probe as usable, comma-joined in
 * table order, "none" when there are none. A hard fact of the fingerprint; what software
 * or a model can imitate anywhere is not one (records say that as provenance).
 */
#ifndef CP_ENGINES_DMA_HARDWARE_H
#define CP_ENGINES_DMA_HARDWARE_H

#include <stddef.h>

void cp_dma_hardware_names(char *buf, size_t size);

#endif
