/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion hybrid; hybrid.h says how it learns. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "engines/queue/internal.h"

#define NS_PER_S     1000000000U
#define SMALL_BYTES  512U  /* the first class, a power of two */
#define SLEEP_MIN_NS 2000U /* a system call and two switches are not for less */
/* A step up of `expect`, so that a preemption is not taken for a slow device. */
#define CLIMB_MOST 64U
#define STEP_NS	   1000U

int cp_hybrid_init(struct cp_hybrid *hybrid, unsigned flights)
{
	unsigned slots = 1;

	while (slots < flights)
		slots <<= 1;
	*hybrid = (struct cp_hybrid){
		.mask = slots - 1,
		.flights = calloc(slots, sizeof(struct cp_hybrid_flight)),
	};
	return hybrid->flights ? 0 : -ENOMEM;
}

void cp_hybrid_exit(struct cp_hybrid *hybrid)
{
	free(hybrid->flights);
	hybrid->flights = NULL;
}

static unsigned class_of(uint64_t bytes)
{
	unsigned class = 0;

	for (uint64_t upto = SMALL_BYTES; upto < bytes; upto <<= 1) {
		if (++class == CP_HYBRID_CLASSES - 1)
			break;
	}
	return class;
}

static struct cp_hybrid_flight *flight(struct cp_hybrid *hybrid, unsigned at)
{
	return &hybrid->flights[(hybrid->first + at) & hybrid->mask];
}

void cp_hybrid_begin(struct cp_hybrid *hybrid, const void *io, enum cp_dir dir,
		     uint64_t bytes, uint64_t start_ns)
{
	assert(hybrid->nr <= hybrid->mask);
	*flight(hybrid, hybrid->nr++) = (struct cp_hybrid_flight){
		.io = io,
		.start_ns = start_ns,
		.bucket = &hybrid->buckets[dir][class_of(bytes)],
	};
}

uint64_t cp_hybrid_ask(struct cp_hybrid *hybrid, uint64_t now_ns)
{
	hybrid->looked = true;
	if (!hybrid->nr)
		return 0; /* what is waited for is another submitter's */
	const struct cp_hybrid_flight *oldest = flight(hybrid, 0);
	uint64_t until_ns =
		oldest->start_ns + oldest->bucket->expect_ns - oldest->bucket->lead_ns;
	uint64_t least_ns =
		hybrid->late_ns > SLEEP_MIN_NS ? hybrid->late_ns : SLEEP_MIN_NS;

	if (until_ns > now_ns && until_ns - now_ns >= least_ns)
		return until_ns - now_ns;
	hybrid->polled_for = oldest->io;
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void cp_hybrid_woke(struct cp_hybrid *hybrid, uint64_t until_ns, uint64_t now_ns)
{
	hybrid->sleeps++;
	hybrid->slept_for = hybrid->nr ? flight(hybrid, 0)->io : NULL;
	hybrid->woke_ns = now_ns;
	hybrid->looked = false;
	if (now_ns < until_ns)
		return; /* an interrupt, or nothing */
	uint64_t late_ns = now_ns - until_ns, known_ns = hybrid->late_ns;

	/* Steps of a quarter either way end at the median: a machine that takes the CPU
	 * away for milliseconds now and then does not keep it from sleeping. */
	hybrid->late_ns = late_ns > known_ns
				  ? least(late_ns, known_ns + known_ns / 4 + STEP_NS)
				  : most(late_ns, known_ns - known_ns / 4);
}

/* Take it out of those in flight: most are the oldest. */
static bool forget(struct cp_hybrid *hybrid, const void *io,
		   struct cp_hybrid_flight *ret_flight)
{
	unsigned at = 0;

	while (at < hybrid->nr && flight(hybrid, at)->io != io)
		at++;
	if (at == hybrid->nr)
		return false;
	*ret_flight = *flight(hybrid, at);
	for (; at; at--)
		*flight(hybrid, at) = *flight(hybrid, at - 1);
	hybrid->first++;
	hybrid->nr--;
	return true;
}

static void expect(struct cp_hybrid_bucket *bucket, uint64_t took_ns, bool overslept)
{
	uint64_t most_ns = bucket->expect_ns / CLIMB_MOST + 1;

	if (took_ns < bucket->expect_ns) {
		bucket->expect_ns -= (bucket->expect_ns - took_ns) / 8;
	} else if (!overslept) { /* else it took less than that, and nobody knows what */
		uint64_t step_ns = (took_ns - bucket->expect_ns) / 8;

		bucket->expect_ns += step_ns < most_ns ? step_ns : most_ns;
	}
}

/*
 * The lead grows by a quarter when overslept, and falls by a sixteenth of what was polled
 * after waking. In balance a sleep in ten or so is too long where they are late by much
 * the same, and what is polled in vain is about as long as they differ.
 */
static void lead(struct cp_hybrid *hybrid, struct cp_hybrid_bucket *bucket,
		 uint64_t now_ns)
{
	uint64_t less_ns = (now_ns - hybrid->woke_ns) / 16;

	if (!hybrid->looked)
		bucket->lead_ns += bucket->lead_ns / 4 + bucket->expect_ns / 64;
	else
		bucket->lead_ns -= less_ns < bucket->lead_ns ? less_ns : bucket->lead_ns;
}

void cp_hybrid_done(struct cp_hybrid *hybrid, const void *io, uint64_t now_ns, bool learn)
{
	struct cp_hybrid_flight done;

	if (!forget(hybrid, io, &done))
		return;
	struct cp_hybrid_bucket *bucket = done.bucket;
	uint64_t took_ns = now_ns > done.start_ns ? now_ns - done.start_ns : 1;
	bool slept = hybrid->slept_for == io, polled = hybrid->polled_for == io;
	bool overslept = hybrid->woke_ns > done.start_ns && !hybrid->looked;

	if (slept) {
		hybrid->slept_for = NULL;
		hybrid->overslept += overslept;
	}
	if (polled)
		hybrid->polled_for = NULL;
	if (!learn)
		return;
	if (!bucket->expect_ns) {
		bucket->expect_ns = took_ns;
		bucket->lead_ns = took_ns / 2;
		return;
	}
	expect(bucket, took_ns, overslept);
	if (slept) {
		lead(hybrid, bucket, now_ns);
	} else if (polled) {
		/* Try again one day: neither is for ever. */
		bucket->lead_ns -= bucket->lead_ns / 64;
		hybrid->late_ns -= hybrid->late_ns / 1024;
	}
	if (bucket->lead_ns > bucket->expect_ns)
		bucket->lead_ns = bucket->expect_ns;
}

/* Sleeps end up to this much later than asked (50 us for most threads), so that wake-ups
 * fall together. The thread's, not the submitter's: it may have several. */
static _Thread_local unsigned slack_users;
static _Thread_local int slack_before;

static void slack_off(void)
{
	if (slack_users++)
		return;
	slack_before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

static void slack_back(void)
{
	if (!slack_users || --slack_users)
		return;
	/* 0 would be the default of the thread that made this one */
	if (slack_before > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)slack_before, 0, 0, 0);
}

int cp_hybrid_open(struct cp_sub *sub)
{
	if (!sub->dev->hybrid)
		return 0;
	sub->hybrid = malloc(sizeof(*sub->hybrid));
	if (!sub->hybrid)
		return -ENOMEM;
	int rc = cp_hybrid_init(sub->hybrid, sub->cap);

	if (rc) {
		free(sub->hybrid);
		sub->hybrid = NULL;
		return rc;
	}
	sub->hybrid_thread = pthread_self();
	slack_off();
	return 0;
}

void cp_hybrid_close(struct cp_sub *sub)
{
	if (!sub->hybrid)
		return;
	if (pthread_equal(sub->hybrid_thread, pthread_self()))
		slack_back();
	cp_hybrid_exit(sub->hybrid);
	free(sub->hybrid);
	sub->hybrid = NULL;
}

static uint64_t now(void)
{
	return cp_ticks_to_ns(cp_ticks());
}

void cp_hybrid_started(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = ios[i];
		uint64_t ticks = io->submit_ticks ? io->submit_ticks : cp_ticks();

		cp_hybrid_begin(sub->hybrid, io, io->dir, io->bytes,
				cp_ticks_to_ns(ticks));
	}
}

void cp_hybrid_found(struct cp_sub *sub, struct cp_io *const *done, unsigned n)
{
	uint64_t now_ns = n ? now() : 0;

	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = done[i];

		cp_hybrid_done(sub->hybrid, io, now_ns,
			       io->dma_bytes && !io->error && !io->fallback_bytes);
	}
}

/* What waits in the done ring, to be handed back later, is not waited for. */
static void found_in_ring(struct cp_sub *sub)
{
	/* acquire: as the owner reads it anywhere, see nr_done() in sub.c */
	unsigned tail = atomic_load_explicit(&sub->done_tail, memory_order_acquire);

	for (unsigned at = sub->done_head; at != tail; at++)
		cp_hybrid_found(sub, &sub->done[at & sub->done_mask], 1);
}

/*
 * A shared queue: one sleeps on the channel, as with irq, until its own I/O is due or an
 * interrupt comes, and reaps for all; the others sleep on the condition, each until its
 * own is due. Who polls reaps beside the sleeper, and may take its completion from under
 * it: that costs it no more than the rest of its sleep, which ends before its I/O is
 * expected. False: something was found since this one looked, and nobody slept.
 */
static bool sleep_shared(struct cp_sub *sub, uint64_t sleep_ns)
{
	struct cp_hctx *hctx = sub->hctx;
	uint64_t until_ns = cp_now_ns() + sleep_ns;
	const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
				       .tv_nsec = (long)(until_ns % NS_PER_S)};
	bool slept = true;

	pthread_mutex_lock(&hctx->lock);
	if (hctx->progress != sub->seen_progress) {
		slept = false;
	} else if (hctx->reaper) {
		int rc = 0;

		while (hctx->reaper && hctx->progress == sub->seen_progress && !rc)
			rc = pthread_cond_timedwait(&hctx->cond, &hctx->lock, &until);
	} else {
		hctx->reaper = true;
		pthread_mutex_unlock(&hctx->lock);
		sub->dev->dma->wait(hctx->chan, sleep_ns);
		pthread_mutex_lock(&hctx->lock);
		hctx->reaper = false;
		cp_hctx_reap(sub);
		/* also with nothing reaped: somebody else has to sleep on the channel now
		 */
		pthread_cond_broadcast(&hctx->cond);
	}
	sub->seen_progress = hctx->progress;
	pthread_mutex_unlock(&hctx->lock);
	return slept;
}

void cp_hybrid_wait(struct cp_sub *sub)
{
	struct cp_hybrid *hybrid = sub->hybrid;

	found_in_ring(sub);
	uint64_t start_ns = now(), sleep_ns = cp_hybrid_ask(hybrid, start_ns);

	if (!sleep_ns) {
		if (sub->dev->crowded)
			sched_yield();
		else
			cp_cpu_relax();
		return;
	}
	if (sleep_ns > CP_IRQ_TIMEOUT_NS)
		sleep_ns = CP_IRQ_TIMEOUT_NS;
	if (sub->hctx->shared && !sleep_shared(sub, sleep_ns))
		return;
	if (!sub->hctx->shared)
		sub->dev->dma->wait(sub->hctx->chan, sleep_ns);
	cp_hybrid_woke(hybrid, start_ns + sleep_ns, now());
}
