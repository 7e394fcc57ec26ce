/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A DMA engine for cp_dev_cfg.dma that records the channels it opens and the transactions
 * it is given, and moves their bytes in the doorbell. One thread's, and one device's at a
 * time.
 */
#ifndef CP_ENGINES_QUEUE_T_RECORDER_H
#define CP_ENGINES_QUEUE_T_RECORDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "engines/dma/channel.h"

#define CHANS_MAX 16
#define MOVES_MAX 64

/* One transaction, moved at the doorbell. */
struct move {
	unsigned chan;
	enum cp_dir dir;
	unsigned char *far;
	size_t len;
	bool rung, reaped;
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	unsigned nr_sg;
	void *user;
};

struct cp_dma_chan {
	struct cp_dma_cfg cfg;
	unsigned index;
	bool open;
};

static struct {
	struct cp_dma_chan chans[CHANS_MAX];
	unsigned nr_chans, nr_open;
	unsigned fail_at; /* this many channels open, no more; 0 = all */
	struct move moves[MOVES_MAX];
	unsigned nr_moves;
} engine;

static int engine_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

static int engine_check(const char *spec, struct cp_err *err)
{
	(void)spec;
	(void)err;
	return 0;
}

static int engine_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		       struct cp_err *err)
{
	struct cp_dma_chan *chan = &engine.chans[engine.nr_chans];

	if (engine.fail_at && engine.nr_chans == engine.fail_at)
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY, "no more channels");
	assert_true(engine.nr_chans < CHANS_MAX);
	chan->cfg = *cfg;
	chan->index = engine.nr_chans++;
	chan->open = true;
	engine.nr_open++;
	*ret_chan = chan;
	return 0;
}

static unsigned engine_space(struct cp_dma_chan *chan)
{
	(void)chan;
	return MOVES_MAX - engine.nr_moves;
}

static int engine_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		       const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		       void *user)
{
	struct move *move = &engine.moves[engine.nr_moves];

	assert_true(chan->open && engine.nr_moves < MOVES_MAX);
	assert_int_equal(flags, chan->cfg.irq ? CP_DMA_INTERRUPT : 0);
	*move = (struct move){.chan = chan->index, .dir = dir, .far = far, .user = user};
	memcpy(move->sg, near_sg, nr_sg * sizeof(*near_sg));
	move->nr_sg = nr_sg;
	for (unsigned i = 0; i < nr_sg; i++)
		move->len += near_sg[i].len;
	return 0;
}

static int engine_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			     void *near, size_t len, unsigned flags, void *user)
{
	(void)chan;
	(void)dir;
	(void)far;
	(void)near;
	(void)len;
	(void)flags;
	(void)user;
	return -ENOSYS; /* as an engine without it: prep and submit follow */
}

static cp_dma_cookie engine_submit(struct cp_dma_chan *chan)
{
	(void)chan;
	return ++engine.nr_moves;
}

static void engine_ring(struct cp_dma_chan *chan)
{
	for (unsigned i = 0; i < engine.nr_moves; i++) {
		struct move *move = &engine.moves[i];
		unsigned char *far = move->far;

		if (move->chan != chan->index || move->rung)
			continue;
		move->rung = true;
		for (unsigned k = 0; k < move->nr_sg; far += move->sg[k++].len) {
			if (move->dir == CP_DIR_READ)
				memcpy(move->sg[k].addr, far, move->sg[k].len);
			else
				memcpy(far, move->sg[k].addr, move->sg[k].len);
		}
	}
}

static unsigned engine_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			    unsigned max)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < engine.nr_moves && nr < max; i++) {
		struct move *move = &engine.moves[i];

		if (move->chan != chan->index || !move->rung || move->reaped)
			continue;
		move->reaped = true;
		done[nr++] =
			(struct cp_dma_completion){.user = move->user, .cookie = i + 1};
	}
	return nr;
}

static int engine_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	(void)chan;
	(void)timeout_ns;
	return 0;
}

static uint64_t engine_cpu_ns(struct cp_dma_chan *chan)
{
	(void)chan;
	return 1000; /* each */
}

static const char *engine_describe(struct cp_dma_chan *chan)
{
	(void)chan;
	return "recorder";
}

static void engine_close(struct cp_dma_chan *chan)
{
	assert_true(chan->open);
	chan->open = false;
	engine.nr_open--;
}

static const struct cp_dma_ops recorder = {
	.name = "recorder",
	.traits = {.provenance = "software",
		   .moves_data = true,
		   .irq = true,
		   .threads = true},
	.probe = engine_probe,
	.check = engine_check,
	.open = engine_open,
	.space = engine_space,
	.prep_memcpy_sg = engine_prep,
	.submit = engine_submit,
	.submit_one = engine_submit_one,
	.issue_pending = engine_ring,
	.reap = engine_reap,
	.wait = engine_wait,
	.cpu_ns = engine_cpu_ns,
	.describe = engine_describe,
	.close = engine_close,
};

#endif
