// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device that may not block on a page fault stops there and says where. The CPU then
 * touches that page, under the fault guard since it may be one that cannot be had, and
 * the device goes on with the bytes that are left.
 */
#include "engines/copy/guard.h"
#include "engines/dma/idxd.h"

/* Of one byte: a load, and a store that leaves it as it is. The memory is a transaction's
 * in flight, so nobody else stores there; atomic, since the device may be moving bytes
 * beside it. */
static size_t touch_read(void *dst, const void *src, size_t len, enum cp_dir dir,
			 enum cp_attr attr)
{
	(void)len;
	(void)dir;
	(void)attr;
	*(unsigned char *)dst = *(const volatile unsigned char *)src;
	return 0;
}

static size_t touch_write(void *dst, const void *src, size_t len, enum cp_dir dir,
			  enum cp_attr attr)
{
	(void)src;
	(void)len;
	(void)dir;
	(void)attr;
	__atomic_fetch_or((unsigned char *)dst, 0, __ATOMIC_RELAXED);
	return 0;
}

static bool touch(unsigned char *at, bool write)
{
	unsigned char byte = 0;
	size_t residue =
		write ? cp_guard_copy(touch_write, at, &byte, 1, CP_DIR_WRITE, CP_ATTR_WB)
		      : cp_guard_copy(touch_read, &byte, at, 1, CP_DIR_READ, CP_ATTR_WB);

	cp_guard_take_side();
	return !residue;
}

static bool within(uint64_t addr, uint64_t start, uint64_t len)
{
	return addr - start < len;
}

void idxd_elem_fault(struct idxd_elem *elem, struct idxd_desc *desc,
		     const struct idxd_record *record, uint8_t status)
{
	/* One that went from the end (the ranges overlap, which no caller should pass)
	 * moved nothing at the front: all of it again. */
	uint32_t n = record->result ? 0 : record->completed;
	uint64_t addr = record->fault_addr;
	bool write = (status & IDXD_STATUS_WRITE) != 0;

	if (n > elem->left)
		n = elem->left;
	elem->left -= n;
	desc->src += n;
	desc->dst += n;
	desc->size -= n;
	elem->tries = n ? 0 : (uint8_t)(elem->tries + 1);
	/* Where the address is not in the range, since devices may report the page, it is
	 * the first byte that did not arrive. */
	if (!within(addr, write ? desc->dst : desc->src, desc->size))
		addr = write ? desc->dst : desc->src;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the device's addresses are ours */
	if (elem->left && elem->tries <= IDXD_TRIES_MAX &&
	    touch((unsigned char *)(uintptr_t)addr, write))
		return;
	elem->over = true;
	elem->result = !elem->left ? CP_DMA_OK
		       : write	   ? CP_DMA_WRITE_FAILED
				   : CP_DMA_READ_FAILED;
}
