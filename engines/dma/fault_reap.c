// SPDX-License-Identifier: GPL-2.0-only
/* The fault engine's completion side: from the doorbell to reap() and wait(). */
#include <errno.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/dma/fault.h"

void fault_wake(const struct cp_dma_chan *chan)
{
	uint64_t one = 1;

	/* can only fail when the counter is full, and then it is readable already */
	if (chan->event_fd >= 0)
		cp_write_all(chan->event_fd, &one, sizeof(one));
}

/* When the first of those withheld is due; the caller has changed `held`. */
static void held_changed(struct cp_dma_chan *chan)
{
	uint64_t due_ns = UINT64_MAX;

	for (unsigned i = 0; i < chan->held.nr; i++) {
		const struct fault_slot *slot = fault_fifo_at(chan, &chan->held, i);

		if (slot->due_ns < due_ns)
			due_ns = slot->due_ns;
	}
	/* relaxed: wait() only compares it, nothing is read through it */
	atomic_store_explicit(&chan->due_ns, due_ns, memory_order_relaxed);
}

void fault_issue_pending(struct cp_dma_chan *chan)
{
	unsigned spoiled = chan->spoiled.nr, held = chan->held.nr;

	while (chan->fresh.nr) {
		struct fault_slot *slot = fault_fifo_pop(chan, &chan->fresh);

		if (slot->action == FAULT_NEVER) {
			slot->due_ns = cp_now_ns() + slot->hold_ns;
			fault_fifo_push(chan, &chan->held, slot);
		} else {
			fault_fifo_push(chan, &chan->spoiled, slot);
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
		fault_wake(chan);
}

/* Complete; from here on reorder alone withholds it. */
static void complete(struct cp_dma_chan *chan, struct fault_slot *slot)
{
	slot->busy = false;
	chan->outstanding--;
	fault_fifo_push(chan, &chan->window, slot);
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
		struct fault_slot *slot = fault_fifo_pop(chan, &chan->spoiled);

		if (slot->fence && !earlier_complete(chan, slot))
			fault_fifo_push(chan, &chan->spoiled, slot);
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
		struct fault_slot *slot = fault_fifo_pop(chan, &chan->held);

		if (slot->due_ns > now_ns || (slot->fence && kept)) {
			kept++;
			fault_fifo_push(chan, &chan->held, slot);
			continue;
		}
		slot->busy = false;
		chan->nr_held--;
		fault_fifo_push(chan, &chan->out, slot);
	}
	if (chan->held.nr != before)
		held_changed(chan);
}

/* Which of the window goes next: any, but a fenced one only behind all earlier ones. */
static unsigned pick(struct cp_dma_chan *chan)
{
	const struct fault_fifo *window = &chan->window;
	uint64_t drawn = fault_draw(chan->set.seed, FAULT_DRAW_ORDER, ++chan->shuffles);
	unsigned at = window->nr > 1 ? (unsigned)(drawn % window->nr) : 0;

	if (!fault_fifo_at(chan, window, at)->fence)
		return at;
	for (unsigned i = 0; i < window->nr; i++) {
		if (fault_fifo_at(chan, window, i)->cookie <
		    fault_fifo_at(chan, window, at)->cookie)
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
			uint32_t *picked =
				&window->at[fault_fifo_mod(chan, window->head + at)];
			uint32_t number = *head;

			*head = *picked;
			*picked = number;
		}
		fault_fifo_push(chan, &chan->out, fault_fifo_pop(chan, window));
	}
}

unsigned fault_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
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
		const struct fault_slot *slot = fault_fifo_pop(chan, &chan->out);

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

int fault_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
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
