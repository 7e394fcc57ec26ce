// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine that moves nothing and completes each transaction a set time after its
 * doorbell: with delay 0 what is left is the harness's own cost, with a delay the harness
 * can be checked against a known latency. So everything here is a few nanoseconds, and
 * without a delay no clock is read.
 */
#include <errno.h>
#include <stdlib.h>

#include "engines/base/clock.h"
#include "engines/base/spec.h"
#include "engines/dma/channel.h"
#include "engines/dma/engine.h"

#define DELAY_MAX_NS 10000000000ULL

/* Counts of transactions since open: reaped <= issued <= submitted. */
struct cp_dma_chan {
	uint64_t reaped, issued, submitted; /* submitted is the last cookie */
	unsigned mask;
	bool prepared;
	uint64_t delay_ticks;
	uint64_t *times; /* of the doorbells, in ticks; NULL without a delay */
	void *users[];
};

static int settings_read(const char *text, uint64_t *ret_delay_ns, struct cp_err *err)
{
	struct cp_spec spec;
	uint64_t delay_ns = 0;
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = cp_spec_time(&spec, "delay", DELAY_MAX_NS, &delay_ns, err);
	if (!rc)
		rc = cp_spec_finish(&spec, "delay", err);
	if (!rc)
		*ret_delay_ns = delay_ns;
	return rc;
}

static int null_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

static int null_check(const char *spec, struct cp_err *err)
{
	uint64_t delay_ns;

	return settings_read(spec, &delay_ns, err);
}

static int null_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		     struct cp_err *err)
{
	uint64_t delay_ns = 0;
	int rc = settings_read(cfg->spec, &delay_ns, err);

	if (rc)
		return rc;
	if (cfg->ring > CP_DMA_RING_MAX)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"null: a ring of '%u' is too large; expected at most %u",
			cfg->ring, CP_DMA_RING_MAX);
	unsigned ring = cp_dma_ring_round(cfg->ring ? cfg->ring : CP_DMA_RING_DEFAULT);
	struct cp_dma_chan *chan =
		calloc(1, sizeof(*chan) + ring * sizeof(chan->users[0]));

	if (chan && delay_ns)
		chan->times = calloc(ring, sizeof(chan->times[0]));
	if (!chan || (delay_ns && !chan->times)) {
		free(chan);
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "null: no memory for a ring of %u", ring);
	}
	cp_clock_init();
	chan->mask = ring - 1;
	chan->delay_ticks =
		(uint64_t)(((unsigned __int128)delay_ns << 32) / cp_clock.mult);
	*ret_chan = chan;
	return 0;
}

static unsigned null_space(struct cp_dma_chan *chan)
{
	return chan->mask + 1 - (unsigned)(chan->submitted - chan->reaped);
}

static int null_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		     const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		     void *user)
{
	size_t len;

	/* transactions complete in order, so a fence holds by itself */
	(void)dir;
	(void)far;
	(void)flags;
	if (chan->prepared || cp_dma_sg_check(near_sg, nr_sg, &len))
		return -EINVAL;
	if (chan->submitted - chan->reaped > chan->mask)
		return -EAGAIN;
	chan->users[chan->submitted & chan->mask] = user;
	chan->prepared = true;
	return 0;
}

static cp_dma_cookie null_submit(struct cp_dma_chan *chan)
{
	if (!chan->prepared)
		return 0;
	chan->prepared = false;
	return ++chan->submitted;
}

static int null_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			   void *near, size_t len, unsigned flags, void *user)
{
	uint64_t at = chan->submitted;

	(void)dir;
	(void)far;
	(void)near;
	(void)flags;
	if (chan->prepared || !len)
		return -EINVAL;
	if (at - chan->reaped > chan->mask)
		return -EAGAIN;
	chan->users[at & chan->mask] = user;
	chan->submitted = at + 1;
	return 0;
}

static void null_issue_pending(struct cp_dma_chan *chan)
{
	if (chan->delay_ticks && chan->issued != chan->submitted) {
		uint64_t now = cp_ticks();

		for (uint64_t i = chan->issued; i != chan->submitted; i++)
			chan->times[i & chan->mask] = now;
	}
	chan->issued = chan->submitted;
}

static unsigned null_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			  unsigned max)
{
	uint64_t now = 0;
	unsigned nr = 0;

	if (chan->reaped == chan->issued)
		return 0;
	if (chan->delay_ticks)
		now = cp_ticks();
	for (; nr < max && chan->reaped != chan->issued; nr++) {
		uint64_t at = chan->reaped & chan->mask;

		if (chan->times &&
		    cp_ticks_since(chan->times[at], now) < chan->delay_ticks)
			break;
		done[nr] = (struct cp_dma_completion){
			.user = chan->users[at],
			.cookie = ++chan->reaped,
			.result = CP_DMA_OK,
		};
	}
	return nr;
}

static uint64_t null_cpu_ns(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static const char *null_describe(struct cp_dma_chan *chan)
{
	(void)chan;
	return "null";
}

static void null_close(struct cp_dma_chan *chan)
{
	free(chan->times);
	free(chan);
}

const struct cp_dma_ops cp_dma_null_ops = {
	.name = "null",
	.help = "moves nothing: the harness's own cost (delay=TIME)",
	.traits = {.provenance = "modelled", .moves_data = false, .irq = false},
	.probe = null_probe,
	.check = null_check,
	.open = null_open,
	.space = null_space,
	.prep_memcpy_sg = null_prep,
	.submit = null_submit,
	.submit_one = null_submit_one,
	.issue_pending = null_issue_pending,
	.reap = null_reap,
	.cpu_ns = null_cpu_ns,
	.describe = null_describe,
	.close = null_close,
};
