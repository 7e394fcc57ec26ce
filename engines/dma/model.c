// SPDX-License-Identifier: GPL-2.0-only
/* The model engine's channel: the owner's side. model.h says what is modelled. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/copy/guard.h"
#include "engines/dma/engine.h"
#include "engines/dma/model_priv.h"

static int model_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

static void model_traits_of(const char *spec, struct cp_dma_traits *ret_traits)
{
	struct cp_model_settings set;
	struct cp_err err;

	if (!cp_model_settings_read(spec, &set, &err))
		ret_traits->moves_data = set.data;
}

static unsigned model_space(struct cp_dma_chan *chan)
{
	return chan->nr_free;
}

static int model_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		      const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		      void *user)
{
	size_t len;

	if (chan->prepared || !chan->serves[dir] || cp_dma_sg_check(near_sg, nr_sg, &len))
		return -EINVAL;
	if (!chan->nr_free)
		return -EAGAIN;
	struct model_slot *slot = &chan->slots[chan->free_slots[--chan->nr_free]];

	slot->user = user;
	slot->len = len;
	slot->nr_sg = nr_sg;
	slot->flags = flags;
	slot->dir = dir;
	slot->setup_ns = model_setup_ns(chan, nr_sg);
	slot->far = far;
	if (slot->sg)
		memcpy(slot->sg, near_sg, nr_sg * sizeof(*near_sg));
	chan->prepared = slot;
	return 0;
}

static cp_dma_cookie model_submit(struct cp_dma_chan *chan)
{
	struct model_slot *slot = chan->prepared;

	if (!slot)
		return 0;
	chan->prepared = NULL;
	/* the ring has as many entries as there are slots, so it is never full */
	chan->ring[chan->submitted & chan->mask] = (uint32_t)(slot - chan->slots);
	slot->cookie = ++chan->submitted;
	return slot->cookie;
}

static void lock(struct cp_dma_chan *chan)
{
	if (chan->shared)
		pthread_mutex_lock(&chan->device->lock);
}

static void unlock(struct cp_dma_chan *chan)
{
	if (chan->shared)
		pthread_mutex_unlock(&chan->device->lock);
}

static void model_issue_pending(struct cp_dma_chan *chan)
{
	uint64_t look_ns = MODEL_NEVER;

	if (chan->issued == chan->submitted)
		return;
	uint64_t now_ns = cp_model_now();

	lock(chan);
	for (uint64_t i = chan->issued; i != chan->submitted; i++)
		chan->slots[chan->ring[i & chan->mask]].rung_ns = now_ns;
	chan->issued = chan->submitted;
	model_advance(chan, now_ns);
	if (chan->irq)
		look_ns = model_next_look(chan);
	unlock(chan);
	if (chan->irq)
		model_irq_arm(chan, look_ns);
}

/* data=yes: the bytes arrive now, in the thread that reaps. */
static void move(const struct cp_dma_chan *chan, const struct model_slot *slot,
		 struct cp_dma_completion *done)
{
	cp_copy_fn copy = chan->copy[slot->dir].fn[cp_copy_class(slot->len)];
	enum cp_attr attr = chan->drain ? CP_ATTR_WC : CP_ATTR_WB;
	unsigned char *far = slot->far;
	size_t left = slot->len, residue = 0;

	for (unsigned i = 0; i < slot->nr_sg && !residue; i++) {
		void *near = slot->sg[i].addr;
		size_t len = slot->sg[i].len;
		bool read = slot->dir == CP_DIR_READ;

		residue = cp_guard_copy(copy, read ? near : far, read ? far : near, len,
					slot->dir, attr);
		left -= len - residue;
		far += len;
	}
	done->residue = left;
	if (!residue)
		return;
	/* a kernel that says so itself can only mean the far side */
	enum cp_guard_side side = cp_guard_take_side();

	if (side == CP_GUARD_NONE)
		side = slot->dir == CP_DIR_READ ? CP_GUARD_SRC : CP_GUARD_DST;
	done->result = side == CP_GUARD_SRC ? CP_DMA_READ_FAILED : CP_DMA_WRITE_FAILED;
}

static unsigned model_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			   unsigned max)
{
	uint64_t look_ns = MODEL_NEVER;
	unsigned nr = 0;

	if (chan->nr_free > chan->mask) /* nothing in flight: no clock, no lock */
		return 0;
	uint64_t now_ns = cp_model_now();

	while (nr < max) {
		lock(chan);
		if (chan->shared && !nr)
			model_advance(chan, now_ns);
		const struct model_slot *slot = model_pop(chan, now_ns);

		unlock(chan);
		if (!slot)
			break;
		done[nr] = (struct cp_dma_completion){
			.user = slot->user,
			.cookie = slot->cookie,
			.result = CP_DMA_OK,
		};
		if (slot->sg)
			move(chan, slot, &done[nr]);
		chan->free_slots[chan->nr_free++] = (uint32_t)(slot - chan->slots);
		nr++;
	}
	if (chan->irq) {
		lock(chan);
		look_ns = model_next_look(chan);
		unlock(chan);
		model_irq_arm(chan, look_ns);
	}
	return nr;
}

static const char *model_describe(struct cp_dma_chan *chan)
{
	return chan->set.data ? "model/data" : "model";
}

const struct cp_dma_ops cp_dma_model_ops = {
	.name = "model",
	.help = "a device of given speed in virtual time (setup=TIME, bw=SIZE, ...)",
	.traits = {.provenance = "modelled", .moves_data = false, .irq = true},
	.probe = model_probe,
	.check = model_check,
	.traits_of = model_traits_of,
	.open = model_open,
	.space = model_space,
	.prep_memcpy_sg = model_prep,
	.submit = model_submit,
	.issue_pending = model_issue_pending,
	.reap = model_reap,
	.wait = model_wait,
	.cpu_ns = model_cpu_ns,
	.describe = model_describe,
	.close = model_close,
};
