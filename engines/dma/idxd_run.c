// SPDX-License-Identifier: GPL-2.0-only
/* The data path of a DSA channel. See idxd.h for the way of a transaction. */
#include <errno.h>

#include "engines/base/clock.h"
#include "engines/dma/engine.h"
#include "engines/dma/idxd.h"

/* A full shared queue is asked so often in one doorbell, with twice as long between; then
 * its descriptors wait for the next doorbell or reap. */
#define ASKS_MAX 4

unsigned idxd_space(struct cp_dma_chan *chan)
{
	return chan->nr_free;
}

/* One element that is all of the transaction. */
static void fill_one(const struct cp_dma_chan *chan, struct idxd_slot *slot, void *near)
{
	bool read = slot->dir == CP_DIR_READ;

	slot->desc = &slot->desc_one;
	slot->record = &slot->record_one;
	slot->elem = &slot->elem_one;
	slot->group = &slot->group_one;
	idxd_desc_memmove(slot->desc,
			  chan->move_flags[slot->dir] | IDXD_FLAG_RECORD_ALWAYS,
			  read ? near : slot->far, read ? slot->far : near,
			  (uint32_t)slot->len, slot->record);
	slot->elem_one = (struct idxd_elem){
		.len = (uint32_t)slot->len,
		.left = (uint32_t)slot->len,
	};
	slot->group_one = (struct idxd_group){.first = 0, .count = 1};
	slot->nr_elems = slot->nr_groups = slot->groups_left = 1;
	slot->next_group = 0;
	slot->nr_sg = slot->sg_at = 0;
}

/* Neighbours in memory are one segment: far memory has no gaps anyway. */
static void fill_many(const struct cp_dma_chan *chan, struct idxd_slot *slot,
		      const struct cp_dma_sg *near_sg, unsigned nr_sg)
{
	struct idxd_wave *wave = slot->wave;
	unsigned nr = 0;

	wave->sg[0] = near_sg[0];
	for (unsigned i = 1; i < nr_sg; i++) {
		struct cp_dma_sg *last = &wave->sg[nr];

		if ((unsigned char *)last->addr + last->len == near_sg[i].addr)
			last->len += near_sg[i].len;
		else
			wave->sg[++nr] = near_sg[i];
	}
	slot->nr_sg = nr + 1;
	slot->sg_at = 0;
	if (!nr && slot->len <= chan->max_transfer) {
		fill_one(chan, slot, wave->sg[0].addr);
		return;
	}
	slot->sg_done = slot->far_done = 0;
	slot->desc = wave->desc;
	slot->record = wave->record;
	slot->elem = wave->elem;
	slot->group = wave->group;
	idxd_wave_fill(chan, slot);
}

int idxd_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
	      const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags, void *user)
{
	size_t len;

	if (chan->prepared || cp_dma_sg_check(near_sg, nr_sg, &len))
		return -EINVAL;
	if (!chan->nr_free)
		return -EAGAIN;

	struct idxd_slot *slot = &chan->slots[chan->free_slots[--chan->nr_free]];

	slot->user = user;
	slot->far = far;
	slot->len = len;
	slot->moved = 0;
	slot->dir = dir;
	slot->flags = flags;
	slot->started = false;
	if (nr_sg == 1 && len <= chan->max_transfer)
		fill_one(chan, slot, near_sg[0].addr);
	else
		fill_many(chan, slot, near_sg, nr_sg);
	chan->prepared = slot;
	return 0;
}

cp_dma_cookie idxd_submit(struct cp_dma_chan *chan)
{
	struct idxd_slot *slot = chan->prepared;

	if (!slot)
		return 0;
	chan->prepared = NULL;
	slot->cookie = ++chan->cookie;
	idxd_fifo_push(chan, &chan->pending, slot);
	return slot->cookie;
}

static int ask(struct cp_dma_chan *chan, const struct idxd_desc *desc)
{
	int rc = chan->port.submit(&chan->port, desc);

	for (unsigned i = 1; rc == -EAGAIN && i < ASKS_MAX; i++) {
		for (unsigned k = 0; k < 8U << i; k++)
			cp_cpu_relax();
		rc = chan->port.submit(&chan->port, desc);
	}
	return rc;
}

/* All groups of the wave are over. */
static void wave_over(struct cp_dma_chan *chan, struct idxd_slot *slot)
{
	if (idxd_wave_next(chan, slot)) {
		idxd_fifo_push(chan, &chan->redo, slot);
		return;
	}
	chan->active--;
	idxd_fifo_push(chan, &chan->finished, slot);
}

/* Give the slot's groups to the device. False: some are left, for another time. */
static bool send_groups(struct cp_dma_chan *chan, struct idxd_slot *slot)
{
	while (slot->next_group < slot->nr_groups) {
		unsigned g = slot->next_group;
		unsigned first = slot->group[g].first;
		bool single = slot->group[g].count < IDXD_BATCH_MIN;
		const struct idxd_desc *desc =
			single ? &slot->desc[first] : &slot->wave->batch[g];

		/* A dedicated queue drops what it has no room for. */
		if (chan->nr_flights == chan->entries)
			return false;
		int rc = ask(chan, desc);

		if (rc == -EAGAIN)
			return false;
		slot->next_group++;
		if (rc) {
			idxd_group_abort(slot, g);
			continue;
		}
		chan->flights[chan->nr_flights++] = (struct idxd_flight){
			.record = single ? &slot->record[first]
					 : &slot->wave->done[g].record,
			.slot = (uint16_t)(slot - chan->slots),
			.group = (uint8_t)g,
		};
	}
	return true;
}

/*
 * Everything that may go to the device now, and that it takes. The hardware has no fence
 * between descriptors of a queue, so a fenced transaction waits here until all before it
 * have finished, and those behind it wait with it.
 */
static void pump(struct cp_dma_chan *chan)
{
	bool again = chan->redo.head != chan->redo.tail;

	if (!again && chan->pending.head == chan->issued)
		return;
	/* The device reads descriptor lists, source bytes and the cleared status of
	 * records when it has the descriptor: our stores to them must be visible to it
	 * before. */
	idxd_port_order(&chan->port);
	while (chan->redo.head != chan->redo.tail) {
		struct idxd_slot *slot = idxd_fifo_first(chan, &chan->redo);

		if (!send_groups(chan, slot))
			return;
		chan->redo.head++;
		if (!slot->groups_left)
			wave_over(chan, slot);
	}
	while (chan->pending.head != chan->issued) {
		struct idxd_slot *slot = idxd_fifo_first(chan, &chan->pending);

		if (!slot->started) {
			if ((slot->flags & CP_DMA_FENCE) && chan->active)
				return;
			slot->started = true;
			chan->active++;
		}
		if (!send_groups(chan, slot))
			return;
		chan->pending.head++;
		if (!slot->groups_left)
			wave_over(chan, slot);
	}
}

void idxd_issue_pending(struct cp_dma_chan *chan)
{
	chan->issued = chan->pending.tail;
	pump(chan);
}

void idxd_poll(struct cp_dma_chan *chan)
{
	unsigned left = 0;

	for (unsigned i = 0; i < chan->nr_flights; i++) {
		struct idxd_flight *flight = &chan->flights[i];
		/* acquire: the rest of the record, the records of a batch's elements and
		 * the bytes that were moved, all written before it, must be visible to us
		 * and to our caller */
		uint8_t status = atomic_load_explicit(&flight->record->status,
						      memory_order_acquire);

		if (status == IDXD_STATUS_NONE) {
			chan->flights[left++] = *flight;
			continue;
		}
		struct idxd_slot *slot = &chan->slots[flight->slot];

		idxd_group_done(slot, flight->group, status);
		if (!slot->groups_left)
			wave_over(chan, slot);
	}
	chan->nr_flights = left;
}

unsigned idxd_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done, unsigned max)
{
	unsigned nr = 0;

	if (chan->finished.tail - chan->finished.head < max) {
		idxd_poll(chan);
		pump(chan);
	}
	for (; nr < max && chan->finished.head != chan->finished.tail; nr++) {
		const struct idxd_slot *slot = idxd_fifo_first(chan, &chan->finished);

		done[nr] = (struct cp_dma_completion){
			.user = slot->user,
			.cookie = slot->cookie,
			.result = slot->result,
			.residue = slot->len - slot->moved,
		};
		chan->finished.head++;
		chan->free_slots[chan->nr_free++] = (uint16_t)(slot - chan->slots);
	}
	return nr;
}
