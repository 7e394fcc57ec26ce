/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is served next on a shared hardware queue: with room in its rings, and with tags.
 *
 * A lock alone is not fair: who has just had it takes it again before a sleeper has woken
 * up, and who polls for room finds it taken by who came later. The waiters stand in line
 * instead. Asleep, too, when completions are polled, as blk-mq's submitters sleep for a
 * tag: the first one polls for all, and the others leave it the lock and the CPU.
 */
#include "engines/queue/internal.h"

static void add(struct cp_waiters *line, struct cp_waiter *w)
{
	w->next = NULL;
	w->waits = true;
	if (line->head)
		line->tail->next = w;
	else
		line->head = w;
	line->tail = w;
}

/* How many are in front of it: all, where it does not wait. */
static unsigned in_front(const struct cp_waiters *line, const struct cp_waiter *w)
{
	unsigned nr = 0;

	for (const struct cp_waiter *i = line->head; i && i != w; i = i->next)
		nr++;
	return nr;
}

static void drop(struct cp_waiters *line, struct cp_waiter *w)
{
	struct cp_waiter **at = &line->head, *before = NULL;

	while (*at != w) {
		before = *at;
		at = &before->next;
	}
	*at = w->next;
	if (line->tail == w)
		line->tail = before;
	w->waits = false;
}

void cp_turn_take(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	if (sub->room.waits)
		return; /* it has the turn: nobody returns from here without */
	add(&hctx->room, &sub->room);
	if (hctx->room.head == &sub->room)
		return;
	/* what those in front wait for may be what we have submitted */
	cp_hctx_ring(sub->dev, hctx);
	while (hctx->room.head != &sub->room)
		pthread_cond_wait(&sub->turn, &hctx->lock);
}

void cp_turn_pass(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!sub->room.waits)
		return;
	drop(&hctx->room, &sub->room);
	if (hctx->room.head)
		pthread_cond_signal(&hctx->room.head->sub->turn);
}

/* What it holds is less than all tags by the number of submitters, or nothing. */
static bool below_share(const struct cp_sub *sub)
{
	unsigned share = sub->dev->arm.queue_depth / sub->hctx->nr_subs;

	return sub->nr_staged + sub->in_flight < (share ? share : 1);
}

bool cp_tag_may(struct cp_sub *sub)
{
	struct cp_waiters *line = &sub->hctx->starved;

	if (sub->hctx->nr_free > in_front(line, &sub->tag)) {
		if (sub->tag.waits)
			drop(line, &sub->tag);
		return true;
	}
	if (!sub->tag.waits && below_share(sub))
		add(line, &sub->tag);
	return false;
}

void cp_tag_give_up(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!hctx)
		return;
	cp_hctx_lock(hctx);
	if (sub->tag.waits)
		drop(&hctx->starved, &sub->tag);
	cp_hctx_unlock(hctx);
}
