/* SPDX-License-Identifier: GPL-2.0-only */
/* The page path: an I/O page by page, without a request. */
#include <errno.h>

#include "engines/queue/internal.h"

void cp_dev_rw_page(struct cp_dev *dev, bool on)
{
	/* relaxed: nothing is published by it */
	atomic_store_explicit(&dev->rw_page, on, memory_order_relaxed);
}

void cp_sub_page(struct cp_sub *sub, struct cp_io *io)
{
	cp_sub_bio(sub, io);
}
