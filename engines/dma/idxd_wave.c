// SPDX-License-Identifier: GPL-2.0-only
/* A transaction as descriptors, and its result from their records. See idxd.h. */
#include "engines/dma/idxd.h"

/* Elements into groups: batches as large as they may be, a single one for the rest. */
static void group_elems(const struct cp_dma_chan *chan, struct idxd_slot *slot)
{
	unsigned at = 0;

	slot->nr_groups = 0;
	while (at < slot->nr_elems) {
		unsigned left = slot->nr_elems - at;
		unsigned n = left < chan->max_batch ? left : chan->max_batch;
		struct idxd_group *group = &slot->group[slot->nr_groups];

		*group = (struct idxd_group){.first = (uint8_t)at, .count = (uint8_t)n};
		if (n < IDXD_BATCH_MIN)
			slot->desc[at].op_flags |= IDXD_FLAG_RECORD_ALWAYS;
		else
			idxd_desc_batch(&slot->wave->batch[slot->nr_groups],
					&slot->desc[at], n,
					&slot->wave->done[slot->nr_groups].record);
		slot->nr_groups++;
		at += n;
	}
	slot->next_group = 0;
	slot->groups_left = slot->nr_groups;
}

void idxd_wave_fill(const struct cp_dma_chan *chan, struct idxd_slot *slot)
{
	unsigned nr = 0;

	while (nr < IDXD_ELEMS && slot->sg_at < slot->nr_sg) {
		const struct cp_dma_sg *sg = &slot->wave->sg[slot->sg_at];
		size_t left = sg->len - slot->sg_done;
		uint32_t n =
			left < chan->max_transfer ? (uint32_t)left : chan->max_transfer;
		unsigned char *near = (unsigned char *)sg->addr + slot->sg_done;
		unsigned char *far = slot->far + slot->far_done;
		bool read = slot->dir == CP_DIR_READ;

		idxd_desc_memmove(&slot->desc[nr], chan->move_flags[slot->dir],
				  read ? near : far, read ? far : near, n,
				  &slot->record[nr]);
		slot->elem[nr] = (struct idxd_elem){.len = n, .left = n};
		nr++;
		slot->far_done += n;
		slot->sg_done += n;
		if (slot->sg_done == sg->len) {
			slot->sg_at++;
			slot->sg_done = 0;
		}
	}
	slot->nr_elems = nr;
	group_elems(chan, slot);
}

static void elem_over(struct idxd_elem *elem, enum cp_dma_result result)
{
	elem->over = true;
	elem->result = result;
	if (result == CP_DMA_OK)
		elem->left = 0;
}

static void elem_done(struct idxd_slot *slot, unsigned e, uint8_t status)
{
	switch (status & IDXD_STATUS_MASK) {
	case IDXD_STATUS_SUCCESS:
		elem_over(&slot->elem[e], CP_DMA_OK);
		break;
	case IDXD_STATUS_PAGE_FAULT:
	case IDXD_STATUS_PAGE_FAULT_REFUSED:
		idxd_elem_fault(&slot->elem[e], &slot->desc[e], &slot->record[e], status);
		break;
	default:
		/* A descriptor the device does not accept, or its own failure: neither
		 * says which side, and nothing of this element is known to have arrived.
		 */
		elem_over(&slot->elem[e], CP_DMA_ABORTED);
	}
}

static void batch_done(struct idxd_slot *slot, const struct idxd_group *group,
		       const struct idxd_record *record, uint8_t status)
{
	status &= IDXD_STATUS_MASK;

	bool known = status == IDXD_STATUS_SUCCESS ||
		     status == IDXD_STATUS_BATCH_FAILED ||
		     status == IDXD_STATUS_BATCH_FAULT;
	unsigned completed =
		status == IDXD_STATUS_BATCH_FAULT ? record->completed : group->count;

	for (unsigned i = 0; i < group->count; i++) {
		unsigned e = group->first + i;
		/* relaxed: written before the batch's own, which was acquired */
		uint8_t own = atomic_load_explicit(&slot->record[e].status,
						   memory_order_relaxed);

		if (known && own != IDXD_STATUS_NONE)
			elem_done(slot, e, own);
		else if (known && i < completed)
			elem_over(&slot->elem[e], CP_DMA_OK);
		/* The device did not get so far. The list it could not read is ours and
		 * was just written, so the next reading finds it; but not for ever. */
		else if (!known || ++slot->elem[e].tries > IDXD_TRIES_MAX)
			elem_over(&slot->elem[e], CP_DMA_ABORTED);
	}
}

void idxd_group_done(struct idxd_slot *slot, unsigned group, uint8_t status)
{
	const struct idxd_group *g = &slot->group[group];

	slot->groups_left--;
	if (g->count < IDXD_BATCH_MIN)
		elem_done(slot, g->first, status);
	else
		batch_done(slot, g, &slot->wave->done[group].record, status);
}

void idxd_group_abort(struct idxd_slot *slot, unsigned group)
{
	const struct idxd_group *g = &slot->group[group];

	slot->groups_left--;
	for (unsigned i = 0; i < g->count; i++)
		elem_over(&slot->elem[g->first + i], CP_DMA_ABORTED);
}

/* What is not over goes to the device again, each element by itself. */
static unsigned again(struct idxd_slot *slot)
{
	unsigned nr = 0;

	for (unsigned e = 0; e < slot->nr_elems; e++) {
		if (slot->elem[e].over)
			continue;
		slot->group[nr++] = (struct idxd_group){.first = (uint8_t)e, .count = 1};
		slot->desc[e].op_flags |= IDXD_FLAG_RECORD_ALWAYS;
		/* relaxed: submission orders it before the device's next store */
		atomic_store_explicit(&slot->record[e].status, IDXD_STATUS_NONE,
				      memory_order_relaxed);
	}
	slot->nr_groups = slot->groups_left = nr;
	slot->next_group = 0;
	return nr;
}

bool idxd_wave_next(const struct cp_dma_chan *chan, struct idxd_slot *slot)
{
	size_t moved = 0;

	slot->result = CP_DMA_OK;
	for (unsigned e = 0; e < slot->nr_elems; e++) {
		const struct idxd_elem *elem = &slot->elem[e];

		moved += elem->len - elem->left;
		if (!elem->over || elem->result == CP_DMA_OK)
			continue;
		/* Nothing behind the first that failed counts, so nothing there is worth
		 * another try. */
		slot->nr_elems = e + 1;
		slot->result = elem->result;
	}
	if (again(slot))
		return true;
	slot->moved += moved;
	if (slot->result == CP_DMA_OK && slot->sg_at < slot->nr_sg) {
		idxd_wave_fill(chan, slot);
		return true;
	}
	return false;
}
