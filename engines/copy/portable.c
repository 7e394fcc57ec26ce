// SPDX-License-Identifier: GPL-2.0-only
/* A loop in plain C, for any machine: eight words a line, at any alignment of src. What
 * instructions come of it is the compiler's choice. */
#include "engines/copy/variants.h"

CP_COPY_INLINE void step(unsigned char *dst, const unsigned char *src)
{
	uint64_t words[CP_COPY_LINE / sizeof(uint64_t)];

	memcpy(words, src, sizeof(words));
	memcpy(dst, words, sizeof(words));
}

CP_COPY_DEFINE(cp_copy_portable, , step, dst, cp_copy_no_fence_before, cp_copy_no_fence)
