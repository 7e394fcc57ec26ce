// SPDX-License-Identifier: GPL-2.0-only
/* The fault engine's submission side, and its hooks. fault.h says what each setting does.
 */
#include <errno.h>
#include <stdio.h>

#include "engines/dma/engine.h"
#include "engines/dma/fault.h"

static int fault_probe(struct cp_err *err)
{
	(void)err;
	return 0; /* the wrapped engine is asked when a channel is opened */
}

/* Prepare the first slot->inner bytes with the wrapped engine. */
static int prep_inner(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		      const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		      struct fault_slot *slot)
{
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	size_t left = slot->inner;
	unsigned nr = 0;

	if (slot->action != FAULT_SHORT)
		return chan->set.ops->prep_memcpy_sg(chan->inner, dir, far, near_sg,
						     nr_sg, flags, slot);
	while (left && nr < nr_sg) {
		size_t len = near_sg[nr].len < left ? near_sg[nr].len : left;

		sg[nr] = (struct cp_dma_sg){.addr = near_sg[nr].addr, .len = len};
		left -= len;
		nr++;
	}
	return chan->set.ops->prep_memcpy_sg(chan->inner, dir, far, sg, nr, flags, slot);
}

/* prep answers with an error: in the log that is a line without a cookie. */
static int refuse(struct cp_dma_chan *chan, const struct fault_line *line, int error)
{
	size_t at = fault_log_add(&chan->log, line);

	fault_log_end(&chan->log, at, CP_DMA_OK, line->bytes);
	if (line->action == FAULT_FULL) {
		chan->attempts++;
		fault_wake(chan);
	} else {
		chan->attempts = 0;
		chan->number++;
	}
	return error;
}

static int fault_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		      const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		      void *user)
{
	uint64_t number = chan->number + 1;
	size_t len;

	if (chan->prepared || cp_dma_sg_check(near_sg, nr_sg, &len))
		return -EINVAL;
	if (!chan->nr_free)
		return -EAGAIN;
	if (!fault_log_room(&chan->log))
		return -ENOMEM;

	const struct fault_step *step = fault_step_of(chan, number);
	enum fault_action action = fault_decide(chan, step, number);
	struct fault_line line = {.user = user,
				  .near = near_sg[0].addr,
				  .bytes = len,
				  .action = (uint8_t)action,
				  .dir = (uint8_t)dir};

	if (action == FAULT_FULL || action == FAULT_PREP_ERROR)
		return refuse(chan, &line, action == FAULT_FULL ? -EAGAIN : -EIO);
	/* It must not start before what will not complete. */
	if ((flags & CP_DMA_FENCE) && chan->nr_held)
		action = FAULT_NEVER;

	struct fault_slot *slot = &chan->slots[chan->free_slots[chan->nr_free - 1]];

	*slot = (struct fault_slot){.number = slot->number,
				    .user = user,
				    .bytes = len,
				    .action = action,
				    .fence = flags & CP_DMA_FENCE};
	fault_plan(chan, slot, step, number);
	if (slot->inner) {
		int rc = prep_inner(chan, dir, far, near_sg, nr_sg,
				    flags | chan->more_flags, slot);

		if (rc)
			return rc;
	}
	line.action = (uint8_t)action;
	slot->line = fault_log_add(&chan->log, &line);
	slot->busy = true;
	chan->nr_held += action == FAULT_NEVER;
	chan->nr_free--;
	chan->number = number;
	chan->attempts = 0;
	chan->prepared = slot;
	return 0;
}

static cp_dma_cookie fault_submit(struct cp_dma_chan *chan)
{
	struct fault_slot *slot = chan->prepared;

	if (!slot)
		return 0;
	chan->prepared = NULL;
	slot->cookie = ++chan->cookie;
	fault_log_cookie(&chan->log, slot->line, slot->cookie);
	if (slot->inner) {
		chan->set.ops->submit(chan->inner);
		chan->fresh_inner++;
	} else {
		fault_fifo_push(chan, &chan->fresh, slot);
	}
	return slot->cookie;
}

static unsigned fault_space(struct cp_dma_chan *chan)
{
	return chan->nr_free;
}

static uint64_t fault_cpu_ns(struct cp_dma_chan *chan)
{
	return chan->set.ops->cpu_ns(chan->inner);
}

static const char *fault_describe(struct cp_dma_chan *chan)
{
	snprintf(chan->text, sizeof(chan->text), "fault/%s",
		 chan->set.ops->describe(chan->inner));
	return chan->text;
}

const struct cp_dma_ops cp_dma_fault_ops = {
	.name = "fault",
	.help = "another engine with errors made on purpose (fault:sw,error=1%,seed=7)",
	.traits = {.provenance = "software",
		   .moves_data = true,
		   .irq = true,
		   .threads = true},
	.probe = fault_probe,
	.usable = fault_usable,
	.check = fault_check,
	.traits_of = fault_traits,
	.open = fault_open,
	.space = fault_space,
	.prep_memcpy_sg = fault_prep,
	.submit = fault_submit,
	.issue_pending = fault_issue_pending,
	.reap = fault_reap,
	.wait = fault_wait,
	.cpu_ns = fault_cpu_ns,
	.describe = fault_describe,
	.close = fault_close,
};
