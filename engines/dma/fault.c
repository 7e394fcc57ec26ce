// SPDX-License-Identifier: GPL-2.0-only
/* The fault engine's data path. fault.h says what each setting does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/dma/engine.h"
#include "engines/dma/fault.h"

static int fault_probe(struct cp_err *err)
{
	(void)err;
	return 0; /* the wrapped engine is asked when a channel is opened */
}

static unsigned fifo_mod(const struct cp_dma_chan *chan, unsigned at)
{
	return at < chan->ring ? at : at - chan->ring;
}

static void fifo_push(const struct cp_dma_chan *chan, struct fault_fifo *fifo,
		      const struct fault_slot *slot)
{
	fifo->at[fifo_mod(chan, fifo->head + fifo->nr++)] = slot->number;
}

static struct fault_slot *fifo_at(struct cp_dma_chan *chan, const struct fault_fifo *fifo,
				  unsigned i)
{
	return &chan->slots[fifo->at[fifo_mod(chan, fifo->head + i)]];
}

static struct fault_slot *fifo_pop(struct cp_dma_chan *chan, struct fault_fifo *fifo)
{
	struct fault_slot *slot = fifo_at(chan, fifo, 0);

	fifo->head = fifo_mod(chan, fifo->head + 1);
	fifo->nr--;
	return slot;
}

/* splitmix64's finaliser over three numbers: what a draw is depends on nothing else. */
static uint64_t draw(uint64_t seed, uint64_t number, uint64_t what)
{
	uint64_t x = seed;

	for (unsigned i = 0; i < 3; i++) {
		x += 0x9e3779b97f4a7c15ULL + (i == 1 ? number : i == 2 ? what : 0);
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
		x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
		x ^= x >> 31;
	}
	return x;
}

/* What is drawn for a transaction; attempts at it are drawn from DRAW_FULL on. */
enum { DRAW_ACTION, DRAW_RESULT, DRAW_LENGTH, DRAW_FULL };

#define DRAW_ORDER UINT64_MAX /* instead of a transaction's number */

static void wake_waiter(const struct cp_dma_chan *chan)
{
	uint64_t one = 1;

	/* can only fail when the counter is full, and then it is readable already */
	if (chan->event_fd >= 0)
		cp_write_all(chan->event_fd, &one, sizeof(one));
}

/* The script's step for transaction `number`, NULL for none. Numbers only rise. */
static const struct fault_step *step_of(struct cp_dma_chan *chan, uint64_t number)
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

	if (draw(set->seed, number, DRAW_FULL + chan->attempts) % FAULT_PPM_ALL <
	    set->ppm[FAULT_FULL])
		return FAULT_FULL;
	uint64_t ppm = draw(set->seed, number, DRAW_ACTION) % FAULT_PPM_ALL;

	for (unsigned a = FAULT_ERROR; a <= FAULT_PREP_ERROR; a++) {
		if (ppm < set->ppm[a])
			return (enum fault_action)a;
		ppm -= set->ppm[a];
	}
	return FAULT_PASS;
}

static enum fault_action decide(struct cp_dma_chan *chan, const struct fault_step *step,
				uint64_t number)
{
	if (!step)
		return chance(chan, number);
	if (step->action != FAULT_FULL)
		return step->action;
	return chan->attempts < (step->has_arg ? step->arg : 1) ? FAULT_FULL : FAULT_PASS;
}

/* How the transaction in `slot` will end, and how much of it is handed on. */
static void plan(struct cp_dma_chan *chan, struct fault_slot *slot,
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
					    draw(seed, number, DRAW_RESULT) % 3);
	if (slot->action == FAULT_ERROR && arg)
		slot->result = (enum cp_dma_result) * arg;
	if (slot->action == FAULT_NEVER) {
		slot->result = CP_DMA_ABORTED;
		slot->hold_ns = arg ? *arg : chan->set.never_for_ns;
	}
	/* at least one byte moves and at least one does not, where there are two */
	if (slot->action == FAULT_SHORT && slot->bytes > 1) {
		slot->inner = 1 + draw(seed, number, DRAW_LENGTH) % (slot->bytes - 1);
		if (arg)
			slot->inner = *arg < slot->bytes ? *arg : slot->bytes - 1;
	}
	slot->residue = slot->bytes - slot->inner;
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
		wake_waiter(chan);
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

	const struct fault_step *step = step_of(chan, number);
	enum fault_action action = decide(chan, step, number);
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
	plan(chan, slot, step, number);
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
		fifo_push(chan, &chan->fresh, slot);
	}
	return slot->cookie;
}

/* When the first of those withheld is due; the caller has changed `held`. */
static void held_changed(struct cp_dma_chan *chan)
{
	uint64_t due_ns = UINT64_MAX;

	for (unsigned i = 0; i < chan->held.nr; i++) {
		const struct fault_slot *slot = fifo_at(chan, &chan->held, i);

		if (slot->due_ns < due_ns)
			due_ns = slot->due_ns;
	}
	/* relaxed: wait() only compares it, nothing is read through it */
	atomic_store_explicit(&chan->due_ns, due_ns, memory_order_relaxed);
}

static void fault_issue_pending(struct cp_dma_chan *chan)
{
	unsigned spoiled = chan->spoiled.nr, held = chan->held.nr;

	while (chan->fresh.nr) {
		struct fault_slot *slot = fifo_pop(chan, &chan->fresh);

		if (slot->action == FAULT_NEVER) {
			slot->due_ns = cp_now_ns() + slot->hold_ns;
			fifo_push(chan, &chan->held, slot);
		} else {
			fifo_push(chan, &chan->spoiled, slot);
		}
	}
	chan->outstanding += chan->fresh_inner + chan->spoiled.nr - spoiled;
	if (chan->fresh_inner)
		chan->set.ops->issue_pending(chan->inner);
	chan->fresh_inner = 0;
	if (chan->held.nr != held)
		held_changed(chan);
	/* Spoiled ones can be reaped now; a waiter has to learn when held ones are due.
	 * It may find less than it was woken for. */
	if (chan->spoiled.nr != spoiled || chan->held.nr != held)
		wake_waiter(chan);
}

/* Complete; from here on reorder alone withholds it. */
static void complete(struct cp_dma_chan *chan, struct fault_slot *slot)
{
	slot->busy = false;
	chan->outstanding--;
	fifo_push(chan, &chan->window, slot);
}

static void reap_inner(struct cp_dma_chan *chan)
{
	struct cp_dma_completion done[32];
	unsigned nr;

	do {
		nr = chan->set.ops->reap(chan->inner, done, 32);
		for (unsigned i = 0; i < nr; i++) {
			struct fault_slot *slot = done[i].user;

			slot->residue = slot->bytes - (slot->inner - done[i].residue);
			if (done[i].result != CP_DMA_OK)
				slot->result = done[i].result;
			complete(chan, slot);
		}
	} while (nr == 32);
}

/* Has everything submitted before it completed? */
static bool earlier_complete(const struct cp_dma_chan *chan,
			     const struct fault_slot *slot)
{
	for (unsigned i = 0; i < chan->ring; i++) {
		const struct fault_slot *other = &chan->slots[i];

		if (other->busy && other->cookie && other->cookie < slot->cookie)
			return false;
	}
	return true;
}

static void reap_spoiled(struct cp_dma_chan *chan)
{
	for (unsigned n = chan->spoiled.nr; n; n--) {
		struct fault_slot *slot = fifo_pop(chan, &chan->spoiled);

		if (slot->fence && !earlier_complete(chan, slot))
			fifo_push(chan, &chan->spoiled, slot);
		else
			complete(chan, slot);
	}
}

/* Withheld long enough: aborted, and handed out next. One behind a fence stays as long as
 * what it stands behind. */
static void reap_held(struct cp_dma_chan *chan)
{
	unsigned before = chan->held.nr, kept = 0;
	uint64_t now_ns = before ? cp_now_ns() : 0;

	for (unsigned n = before; n; n--) {
		struct fault_slot *slot = fifo_pop(chan, &chan->held);

		if (slot->due_ns > now_ns || (slot->fence && kept)) {
			kept++;
			fifo_push(chan, &chan->held, slot);
			continue;
		}
		slot->busy = false;
		chan->nr_held--;
		fifo_push(chan, &chan->out, slot);
	}
	if (chan->held.nr != before)
		held_changed(chan);
}

/* Which of the window goes next: any, but a fenced one only behind all earlier ones. */
static unsigned pick(struct cp_dma_chan *chan)
{
	const struct fault_fifo *window = &chan->window;
	uint64_t drawn = draw(chan->set.seed, DRAW_ORDER, ++chan->shuffles);
	unsigned at = window->nr > 1 ? (unsigned)(drawn % window->nr) : 0;

	if (!fifo_at(chan, window, at)->fence)
		return at;
	for (unsigned i = 0; i < window->nr; i++) {
		if (fifo_at(chan, window, i)->cookie < fifo_at(chan, window, at)->cookie)
			at = i;
	}
	return at;
}

static void empty_window(struct cp_dma_chan *chan)
{
	struct fault_fifo *window = &chan->window;

	while (window->nr) {
		unsigned at = chan->set.reorder > 1 ? pick(chan) : 0;

		if (at) {
			uint32_t *head = &window->at[window->head];
			uint32_t *picked = &window->at[fifo_mod(chan, window->head + at)];
			uint32_t number = *head;

			*head = *picked;
			*picked = number;
		}
		fifo_push(chan, &chan->out, fifo_pop(chan, window));
	}
}

static unsigned fault_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			   unsigned max)
{
	unsigned nr = 0;

	if (chan->out.nr < max) {
		reap_inner(chan);
		reap_spoiled(chan);
		reap_held(chan);
		if (chan->window.nr >= chan->set.reorder || !chan->outstanding)
			empty_window(chan);
	}
	for (; nr < max && chan->out.nr; nr++) {
		const struct fault_slot *slot = fifo_pop(chan, &chan->out);

		done[nr] = (struct cp_dma_completion){
			.user = slot->user,
			.cookie = slot->cookie,
			.result = slot->result,
			.residue = slot->residue,
		};
		fault_log_end(&chan->log, slot->line, slot->result, slot->residue);
		chan->free_slots[chan->nr_free++] = slot->number;
	}
	/* relaxed: wait() only looks whether it is 0, nothing is read through it */
	atomic_store_explicit(&chan->nr_out, chan->out.nr, memory_order_relaxed);
	return nr;
}

static int fault_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	if (chan->event_fd < 0)
		return -ENOSYS;
	/* relaxed, both: hints to try reap(). One that changes after we looked makes the
	 * eventfd readable, so that the wrapped engine's wait() ends. */
	if (atomic_load_explicit(&chan->nr_out, memory_order_relaxed))
		return 0;
	uint64_t due_ns = atomic_load_explicit(&chan->due_ns, memory_order_relaxed);
	uint64_t now_ns = due_ns != UINT64_MAX ? cp_now_ns() : 0;

	if (due_ns <= now_ns)
		return 0;
	if (due_ns - now_ns >= timeout_ns)
		return chan->set.ops->wait(chan->inner, timeout_ns);
	int rc = chan->set.ops->wait(chan->inner, due_ns - now_ns);

	return rc == -ETIMEDOUT ? 0 : rc;
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
	.traits = {.provenance = "software", .moves_data = true, .irq = true},
	.probe = fault_probe,
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
