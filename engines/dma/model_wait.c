// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the model engine: a timer that fires when there is something to look for.
 * It is what wait() sleeps on, without a thread. Only where the channels of one owner
 * have an eventfd of the owner's, a thread sleeps on the timer and passes it on; that
 * costs a wake-up more, and its CPU time is reported.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/dma/model_priv.h"

#define NS_PER_S 1000000000U

/* seq_cst: see timer_set(). */
static uint64_t look_ns(struct cp_dma_chan *chan)
{
	return atomic_load(&chan->look_ns);
}

static bool due(struct cp_dma_chan *chan)
{
	return look_ns(chan) <= cp_model_now();
}

/*
 * Owner and waiter may both be here. Whoever set the timer looks again whether its time
 * is still the one to look at: the owner stores look_ns and then sets the timer, so
 * either the owner's setting comes last, or the waiter sees the owner's store (both
 * seq_cst) and sets it once more.
 */
static void timer_set(struct cp_dma_chan *chan)
{
	uint64_t at_ns;

	do {
		uint64_t now_ns = cp_model_now();
		struct itimerspec timer = {0};

		at_ns = look_ns(chan);
		if (at_ns != MODEL_NEVER) {
			/* 0 would be no timer at all */
			uint64_t in_ns = at_ns > now_ns ? at_ns - now_ns : 1;

			timer.it_value.tv_sec = (time_t)(in_ns / NS_PER_S);
			timer.it_value.tv_nsec = (long)(in_ns % NS_PER_S);
		}
		timerfd_settime(chan->timer_fd, 0, &timer, NULL);
	} while (look_ns(chan) != at_ns);
}

void model_irq_arm(struct cp_dma_chan *chan, uint64_t at_ns)
{
	if (look_ns(chan) == at_ns)
		return;
	atomic_store(&chan->look_ns, at_ns);
	timer_set(chan);
}

static void *pass_on(void *arg)
{
	struct cp_dma_chan *chan = arg;
	uint64_t count = 1;

	for (;;) {
		if (read(chan->timer_fd, &count, sizeof(count)) < 0 && errno != EINTR)
			return NULL;
		if (atomic_load(&chan->stop))
			return NULL;
		if (!due(chan)) {
			timer_set(chan); /* the two clocks differ by a little */
			/* seq_cst: close stores stop and then sets the timer; where ours
			 * came after that, and took it back, its store is seen here */
			if (atomic_load(&chan->stop))
				return NULL;
			continue;
		}
		count = 1;
		/* can only fail when the counter is full, and then it is readable */
		cp_write_all(chan->event_fd, &count, sizeof(count));
	}
}

int model_irq_open(struct cp_dma_chan *chan, int event_fd)
{
	int flags = TFD_CLOEXEC | (event_fd < 0 ? TFD_NONBLOCK : 0);
	sigset_t all, before;

	chan->event_fd = event_fd;
	chan->timer_fd = timerfd_create(CLOCK_MONOTONIC, flags);
	if (chan->timer_fd < 0)
		return -errno;
	if (event_fd < 0)
		return 0;
	/* signals are for the threads of the program, not for this one */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&chan->thread, NULL, pass_on, chan);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return -rc;
	chan->started = true;
	pthread_getcpuclockid(chan->thread, &chan->clock);
	return 0;
}

void model_irq_close(struct cp_dma_chan *chan)
{
	if (chan->started) {
		struct itimerspec now = {.it_value.tv_nsec = 1};

		/* seq_cst: see pass_on() */
		atomic_store(&chan->stop, true);
		timerfd_settime(chan->timer_fd, 0, &now, NULL);
		pthread_join(chan->thread, NULL);
	}
	if (chan->timer_fd >= 0)
		close(chan->timer_fd);
}

int model_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	bool own = chan->event_fd < 0;
	struct pollfd poll_fd = {
		.fd = own ? chan->timer_fd : chan->event_fd,
		.events = POLLIN,
	};
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / NS_PER_S),
		.tv_nsec = (long)(timeout_ns % NS_PER_S),
	};
	uint64_t count;

	if (!chan->irq)
		return -ENOSYS;
	/* What is due before we look is seen here; what is due later makes the descriptor
	 * readable. */
	if (due(chan))
		return 0;
	int rc = ppoll(&poll_fd, 1, &timeout, NULL);

	if (rc < 0)
		return errno == EINTR ? 0 : -errno;
	if (rc == 0)
		return due(chan) ? 0 : -ETIMEDOUT;
	/* EAGAIN is another waiter's luck */
	if (read(poll_fd.fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	if (own && !due(chan))
		timer_set(chan);
	return 0;
}

uint64_t model_cpu_ns(struct cp_dma_chan *chan)
{
	return chan->started ? cp_clock_read_ns(chan->clock) : 0;
}
