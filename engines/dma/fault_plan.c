// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a transaction: by the script, else by seeded chance. */
#include "engines/base/random.h"
#include "engines/dma/fault.h"

/* splitmix64's finaliser over three numbers: what a draw is depends on nothing else. */
uint64_t fault_draw(uint64_t seed, uint64_t number, uint64_t what)
{
	uint64_t x = seed;

	for (unsigned i = 0; i < 3; i++) {
		x += CP_RANDOM_GOLDEN + (i == 1 ? number : i == 2 ? what : 0);
		x = cp_random_mix(x);
	}
	return x;
}

/* What is drawn for a transaction; attempts at it are drawn from DRAW_FULL on. */
enum { DRAW_ACTION, DRAW_RESULT, DRAW_LENGTH, DRAW_FULL };

const struct fault_step *fault_step_of(struct cp_dma_chan *chan, uint64_t number)
{
	while (chan->next_step < chan->nr_steps &&
	       chan->steps[chan->next_step].number < number)
		chan->next_step++;
	if (chan->next_step == chan->nr_steps ||
	    chan->steps[chan->next_step].number != number)
		return NULL;
	return &chan->steps[chan->next_step];
}

static enum fault_action chance(const struct cp_dma_chan *chan, uint64_t number)
{
	const struct fault_settings *set = &chan->set;

	if (fault_draw(set->seed, number, DRAW_FULL + chan->attempts) % FAULT_PPM_ALL <
	    set->ppm[FAULT_FULL])
		return FAULT_FULL;
	uint64_t ppm = fault_draw(set->seed, number, DRAW_ACTION) % FAULT_PPM_ALL;

	for (unsigned a = FAULT_ERROR; a <= FAULT_PREP_ERROR; a++) {
		if (ppm < set->ppm[a])
			return (enum fault_action)a;
		ppm -= set->ppm[a];
	}
	return FAULT_PASS;
}

enum fault_action fault_decide(struct cp_dma_chan *chan, const struct fault_step *step,
			       uint64_t number)
{
	if (!step)
		return chance(chan, number);
	if (step->action != FAULT_FULL)
		return step->action;
	return chan->attempts < (step->has_arg ? step->arg : 1) ? FAULT_FULL : FAULT_PASS;
}

void fault_plan(struct cp_dma_chan *chan, struct fault_slot *slot,
		const struct fault_step *step, uint64_t number)
{
	uint64_t seed = chan->set.seed;
	/* what was asked for, where the script asked for this action */
	const uint64_t *arg =
		step && step->has_arg && step->action == slot->action ? &step->arg : NULL;

	slot->inner = slot->bytes;
	slot->result = CP_DMA_OK;
	if (slot->action == FAULT_PASS)
		return;
	slot->inner = 0;
	slot->result = (enum cp_dma_result)(CP_DMA_READ_FAILED +
					    fault_draw(seed, number, DRAW_RESULT) % 3);
	if (slot->action == FAULT_ERROR && arg)
		slot->result = (enum cp_dma_result) * arg;
	if (slot->action == FAULT_NEVER) {
		slot->result = CP_DMA_ABORTED;
		slot->hold_ns = arg ? *arg : chan->set.never_for_ns;
	}
	/* at least one byte moves and at least one does not, where there are two */
	if (slot->action == FAULT_SHORT && slot->bytes > 1) {
		slot->inner =
			1 + fault_draw(seed, number, DRAW_LENGTH) % (slot->bytes - 1);
		if (arg)
			slot->inner = *arg < slot->bytes ? *arg : slot->bytes - 1;
	}
	slot->residue = slot->bytes - slot->inner;
}
