/* SPDX-License-Identifier: GPL-2.0-only */
/* A submitter: hand in, commit, hand back. */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engines/queue/internal.h"

void cp_sub_bio(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_dev *dev = sub->dev;

	cp_sub_watch(sub);
	cp_io_start(sub, io);
	io->submit_ticks = cp_sub_stamp(sub);
	if (!io->sync && !cp_io_in_bounds(dev, io)) {
		cp_io_refuse(io);
		cp_io_account(sub, &io, 1, io->submit_ticks);
		return;
	}
	if (__builtin_expect(io->sync || io->preflush || io->fua, 0)) {
		cp_sub_bio_barrier(sub, io);
		return;
	}
	cp_io_copy(sub, io, cp_dev_decide(dev, io->dir, io->bytes, 0), 0);
	if (__builtin_expect(dev->flush.active, 0))
		cp_sub_settle(sub, NULL, 0);
	cp_io_account(sub, &io, 1, cp_sub_stamp(sub));
}

static bool take_tag(struct cp_sub *sub, struct cp_io *io)
{
	struct cp_hctx *hctx = sub->hctx;

	cp_hctx_lock(hctx);
	bool got = cp_tag_may(sub);

	if (got)
		io->tag = hctx->free_tags[--hctx->nr_free];
	cp_hctx_unlock(hctx);
	return got;
}

static inline int stage(struct cp_sub *sub, struct cp_io *io)
{
	cp_io_start(sub, io);
	sub->staged[sub->nr_staged++] = io;
	return 0;
}

static __attribute__((noinline)) int queue_slow(struct cp_sub *sub, struct cp_io *io)
{
	cp_sub_watch(sub);
	if (sub->nr_staged + sub->in_flight >= sub->cap)
		return -EBUSY;
	if (sub->hctx->tagged && !take_tag(sub, io))
		return -EBUSY;
	if (!sub->nr_staged)
		sub->batch_ticks = cp_ticks();
	return stage(sub, io);
}

int cp_sub_queue(struct cp_sub *sub, struct cp_io *io)
{
	/* Apart, so that nothing is saved for calls on the way that most of a batch goes.
	 */
	if (!sub->nr_staged || sub->hctx->tagged || cp_sub_stale(sub) ||
	    sub->nr_staged + sub->in_flight >= sub->cap)
		return queue_slow(sub, io);
	return stage(sub, io);
}

/*
 * When each I/O of the batch was handed in. A stamp costs 10 ns, so a batch of several
 * has two, at its first I/O and here, and the others lie evenly between them: a submitter
 * fills a batch in a plain loop.
 */
static void stamp_batch(struct cp_sub *sub, unsigned n)
{
	uint64_t first = sub->batch_ticks, step = 0;

	if (n > 1)
		step = cp_ticks_since(first, cp_ticks()) / n;
	for (unsigned i = 0; i < n; i++)
		sub->staged[i]->submit_ticks = first + i * step;
}

void cp_sub_commit(struct cp_sub *sub)
{
	unsigned n = sub->nr_staged;

	if (!n)
		return;
	stamp_batch(sub, n);
	if (__builtin_expect(sub->hybrid != NULL, 0))
		cp_hybrid_started(sub, sub->staged, n);
	sub->nr_staged = 0;
	sub->phases.due -= (int)n;
	if (__builtin_expect(sub->phases.due <= 0, 0))
		cp_phases_arm(sub, n);
	if (sub->dev->max_merge)
		cp_plug_dispatch(sub, sub->staged, n);
	else
		cp_io_dispatch(sub, sub->staged, n);
	cp_sub_ring(sub);
	if (sub->measuring && sub->in_flight > sub->proof.effective_iodepth)
		sub->proof.effective_iodepth = sub->in_flight;
}

/*
 * irq on a shared queue. One waiter sleeps on the channel's eventfd and reaps for all;
 * the others sleep on the condition until something was reaped or the reaper leaves.
 * Whoever finds that something was reaped since it last looked does not sleep at all.
 */
static void wait_shared_irq(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	pthread_mutex_lock(&hctx->lock);
	while (hctx->reaper && hctx->progress == sub->seen_progress)
		pthread_cond_wait(&hctx->cond, &hctx->lock);
	if (hctx->progress != sub->seen_progress) {
		sub->seen_progress = hctx->progress;
	} else {
		hctx->reaper = true;
		pthread_mutex_unlock(&hctx->lock);
		sub->dev->dma->wait(hctx->chan, CP_IRQ_TIMEOUT_NS);
		pthread_mutex_lock(&hctx->lock);
		hctx->reaper = false;
		cp_hctx_reap(sub);
		/* also with nothing reaped: somebody else has to sleep on the channel now
		 */
		pthread_cond_broadcast(&hctx->cond);
	}
	pthread_mutex_unlock(&hctx->lock);
}

void cp_sub_wait(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	if (dev->hybrid)
		cp_hybrid_wait(sub);
	else if (!dev->irq && dev->crowded)
		sched_yield();
	else if (!dev->irq)
		cp_cpu_relax();
	else if (sub->hctx->shared)
		wait_shared_irq(sub);
	else
		dev->dma->wait(sub->hctx->chan, CP_IRQ_TIMEOUT_NS);
}

/* Look at the channel once. On a shared queue that somebody else is looking at, don't
 * queue up behind them: what they find for us reaches our done ring. */
static unsigned look(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	if (!hctx->shared)
		return cp_hctx_reap(sub);
	if (pthread_mutex_trylock(&hctx->lock) != 0)
		return 0;
	unsigned n = cp_hctx_reap(sub);

	pthread_mutex_unlock(&hctx->lock);
	return n;
}

static void make_durable(struct cp_sub *sub, struct cp_io *const *done, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!done[i]->fua)
			continue;
		cp_io_fua(sub, done[i]);
		sub->nr_fua--;
	}
}

static void settle(struct cp_sub *sub, struct cp_io *const *done, unsigned n)
{
	if (__builtin_expect(sub->hybrid != NULL, 0))
		cp_hybrid_found(sub, done, n);
	if (__builtin_expect(sub->dev->flush.active, 0))
		cp_sub_settle(sub, done, n);
	if (__builtin_expect(sub->nr_fua, 0))
		make_durable(sub, done, n);
}

/*
 * Look at the channel, when something is in flight there, and take what is finished.
 * taken: so many in flight have been. *ret_seen: completions that were found; not those
 * that another submitter's look put into our ring.
 */
static unsigned take(struct cp_sub *sub, unsigned taken, unsigned max,
		     struct cp_io **done, unsigned *ret_seen)
{
	const struct cp_hctx *hctx = sub->hctx;
	unsigned in_ring = cp_sub_nr_done(sub), n = 0;
	bool waiting = sub->in_flight > in_ring + taken && hctx && hctx->chan;

	*ret_seen = 0;
	if (waiting && max && !in_ring && !hctx->shared && hctx->nr_chans == 1)
		*ret_seen = cp_hctx_take(sub, done, max, &n);
	else if (waiting)
		*ret_seen = look(sub);
	in_ring = cp_sub_nr_done(sub);
	for (; n < max && in_ring; in_ring--)
		done[n++] = sub->done[sub->done_head++ & sub->done_mask];
	settle(sub, done, n);
	return n;
}

static void free_tags(struct cp_hctx *hctx, struct cp_io *const *done, unsigned n)
{
	cp_hctx_lock(hctx);
	for (unsigned i = 0; i < n; i++)
		hctx->free_tags[hctx->nr_free++] = done[i]->tag;
	cp_hctx_unlock(hctx);
}

/* Nothing is left to be handed back but by what is held. A caller that only looks, with
 * min 0, comes to that point too: else it would look for ever. */
static bool would_wait(const struct cp_sub *sub, unsigned n, unsigned min)
{
	return !cp_sub_nr_done(sub) &&
	       (n < min || (!n && sub->in_flight == sub->plug.nr));
}

unsigned cp_sub_reap(struct cp_sub *sub, unsigned min, unsigned max, struct cp_io **done)
{
	unsigned n = 0;

	if (sub->nr_staged && min > cp_sub_nr_done(sub))
		cp_sub_commit(sub);
	if (min > sub->in_flight)
		min = sub->in_flight;
	for (;;) {
		unsigned seen;

		n += take(sub, n, max - n, done + n, &seen);
		if (sub->plug.nr && max && would_wait(sub, n, min)) {
			cp_plug_flush(sub);
			continue;
		}
		if (n >= min || n == max)
			break;
		if (!seen)
			cp_sub_wait(sub);
	}
	if (!n)
		return 0;
	uint64_t now = cp_ticks();

	cp_io_account(sub, done, n, now);
	if (__builtin_expect(sub->phases.io != NULL, 0))
		cp_phases_reaped(sub, done, n, now);
	if (sub->hctx && sub->hctx->tagged)
		free_tags(sub->hctx, done, n);
	if (__builtin_expect(sub->dev->page, 0))
		cp_pages_hand_back(done, n);
	sub->in_flight -= n;
	return n;
}

static int sub_alloc(struct cp_sub *sub, unsigned cap)
{
	unsigned slots = 1;

	while (slots < cap)
		slots <<= 1;
	sub->cap = cap;
	sub->done_mask = slots - 1;
	sub->staged = calloc(cap, sizeof(struct cp_io *));
	sub->done = calloc(slots, sizeof(struct cp_io *));
	return sub->staged && sub->done ? 0 : -ENOMEM;
}

static int add_sub(struct cp_dev *dev, struct cp_sub *sub)
{
	if (dev->nr_subs == dev->subs_room) {
		unsigned room = dev->subs_room ? dev->subs_room * 2 : 4;
		struct cp_sub **subs = reallocarray(dev->subs, room, sizeof(*subs));

		if (!subs)
			return -ENOMEM;
		dev->subs = subs;
		dev->subs_room = room;
	}
	dev->subs[dev->nr_subs++] = sub;
	return 0;
}

static void drop_sub(struct cp_dev *dev, const struct cp_sub *sub)
{
	pthread_mutex_lock(&dev->lock);
	for (unsigned i = 0; i < dev->nr_subs; i++) {
		if (dev->subs[i] == sub) {
			dev->subs[i] = dev->subs[--dev->nr_subs];
			break;
		}
	}
	pthread_mutex_unlock(&dev->lock);
}

static void join_hctx(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	sub->room.sub = sub;
	sub->tag.sub = sub;
	if (!hctx)
		return;
	cp_hctx_lock(hctx);
	hctx->nr_subs++;
	cp_hctx_unlock(hctx);
}

static void leave_hctx(struct cp_hctx *hctx)
{
	if (!hctx)
		return;
	cp_hctx_lock(hctx);
	hctx->nr_subs--;
	cp_hctx_unlock(hctx);
}

int cp_sub_open(struct cp_dev *dev, struct cp_sub **ret_sub, struct cp_err *err)
{
	struct cp_sub *sub = aligned_alloc(64, (sizeof(*sub) + 63) / 64 * 64);
	int cpu = cp_topo_cpu(dev->cfg.topo, (unsigned)sched_getcpu());
	int rc;

	if (!sub)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
	memset(sub, 0, sizeof(*sub));
	sub->dev = dev;
	cp_hist_reset(&sub->lat);
	cp_phases_reset(&sub->phases);
	pthread_cond_init(&sub->turn, NULL);
	pthread_getcpuclockid(pthread_self(), &sub->cpu_clock);
	/* Room for as many as fio may hand in, and one flush. */
	if (sub_alloc(sub, dev->cfg.iodepth + 1) != 0) {
		rc = cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
		goto out_free;
	}
	if (dev->queues) {
		sub->hctx = &dev->hctxs[cpu >= 0 ? dev->map[cpu] : 0];
		rc = cp_dev_channel(dev, sub->hctx, cpu, err);
		if (rc)
			goto out_free;
	}
	/* hybrid learns from cp_sub_reap() */
	sub->alone = sub->hctx && sub->hctx->chan && !sub->hctx->shared &&
		     sub->hctx->nr_chans == 1 && !dev->hybrid;
	if (cp_hybrid_open(sub) != 0) {
		rc = cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
		goto out_free;
	}
	pthread_mutex_lock(&dev->lock);
	rc = add_sub(dev, sub);
	pthread_mutex_unlock(&dev->lock);
	if (rc) {
		cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
		goto out_free;
	}
	join_hctx(sub);
	*ret_sub = sub;
	return 0;

out_free:
	cp_hybrid_close(sub);
	pthread_cond_destroy(&sub->turn);
	free(sub->staged);
	free(sub->done);
	free(sub);
	return rc;
}

unsigned cp_sub_staged(struct cp_sub *sub, struct cp_io ***ret_staged)
{
	*ret_staged = sub->staged;
	return sub->nr_staged;
}

void cp_sub_drain(struct cp_sub *sub)
{
	cp_tag_give_up(sub);
	while (sub->in_flight || sub->nr_staged) {
		struct cp_io *done[32];

		cp_sub_reap(sub, 1, 32, done);
	}
}

void cp_sub_close(struct cp_sub *sub)
{
	if (!sub)
		return;
	cp_sub_drain(sub);
	cp_sub_tell_end(sub);
	drop_sub(sub->dev, sub);
	leave_hctx(sub->hctx);
	cp_hybrid_close(sub);
	pthread_cond_destroy(&sub->turn);
	free(sub->staged);
	free(sub->done);
	free(sub);
}
