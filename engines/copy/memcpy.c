// SPDX-License-Identifier: GPL-2.0-only
/* The C library's memcpy: what a CPU copy is when nobody asks for more. */
#include <string.h>

#include "engines/copy/kernels.h"

size_t cp_copy_memcpy(void *dst, const void *src, size_t len, enum cp_dir dir,
		      enum cp_attr attr)
{
	(void)dir;
	(void)attr;
	memcpy(dst, src, len);
	return 0;
}
