/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the model engine. Slots hold transactions, taken and given back by the
 * channel's owner. Their numbers wait in a ring, in the order of their submission:
 *
 *	placed <= issued <= submitted
 *
 * Placing one gives it a lane and its times. What is placed is in a heap by the time at
 * which it can be reaped. Without a shared path all is placed at the doorbell. With one,
 * a transaction is placed when the clock reaches the start of its transfer: only then it
 * is known who else was there before.
 *
 * model_settings.c, model_open.c (devices, how a channel comes and goes), model_time.c
 * (placing, the heap, the formula), model.c (the owner's hooks), model_wait.c
 * (interrupts).
 */
#ifndef CP_ENGINES_DMA_MODEL_PRIV_H
#define CP_ENGINES_DMA_MODEL_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "engines/copy/copy.h"
#include "engines/dma/channel.h"
#include "engines/dma/model.h"

#define MODEL_NEVER UINT64_MAX

/* The clock, in ns. A test may put its own here before it opens a channel: then the
 * arithmetic is checked without time. Read by all threads, so not while one is open. */
extern uint64_t (*cp_model_now)(void);

struct model_slot {
	void *user;
	cp_dma_cookie cookie;
	size_t len;
	unsigned nr_sg;
	unsigned flags;
	enum cp_dir dir;
	uint64_t setup_ns;   /* its own, with jitter */
	uint64_t rung_ns;    /* doorbell */
	uint64_t visible_ns; /* can be reaped; once placed */
	/* data=yes */
	void *far;
	struct cp_dma_sg *sg; /* [CP_DMA_SEGMENTS_MAX] */
};

/* What channels with one text of settings share. */
struct model_device {
	struct model_device *next;
	unsigned users;
	char spec[CP_SPEC_TEXT_MAX];
	unsigned opened; /* channels so far: each has its own jitter */
	/* Guards what is below, and of each member the queue and the heap. */
	pthread_mutex_t lock;
	uint64_t path_free_ns;
	struct cp_dma_chan *members;
};

struct model_lane {
	uint64_t setup_free_ns;	   /* the next may be prepared */
	uint64_t transfer_free_ns; /* and transferred */
};

struct cp_dma_chan {
	/* set at open */
	struct cp_model_settings set;
	struct model_device *device;
	bool shared; /* there is a path to share: calls take the device's lock */
	struct cp_dma_chan *next; /* member */
	unsigned mask;
	struct model_slot *slots;
	struct cp_dma_sg *sgs;	      /* of all slots; NULL without data */
	struct cp_copy_bound copy[2]; /* by direction, with data */
	bool serves[2];
	bool drain; /* far memory is write combining: fence behind each copy */
	bool guarded;
	bool irq;

	/* the owner's; under the device's lock where a path is shared */
	uint32_t *free_slots, *ring, *heap; /* of slot numbers */
	unsigned nr_free, nr_heap;
	uint64_t placed, issued, submitted;
	struct model_slot *prepared;
	uint64_t last_ns; /* the last visible_ns of all: what a fence waits for */
	uint64_t random;
	struct model_lane lanes[CP_MODEL_LANES_MAX];

	/* irq */
	/* When to look: something can be reaped, or has to be placed. Written by the
	 * owner, read by whoever waits. */
	_Atomic uint64_t look_ns;
	int timer_fd, event_fd; /* event_fd: the caller's, -1 = wait on timer_fd */
	pthread_t thread;	/* writes event_fd when timer_fd fires */
	clockid_t clock;	/* its CPU time */
	bool started;
	_Atomic bool stop;
};

/* model_open.c; also of one that is half open. */
int model_check(const char *spec, struct cp_err *err);
int model_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	       struct cp_err *err);
void model_close(struct cp_dma_chan *chan);

/* model_time.c */
/* How long preparing takes, each call with a jitter of its own. */
uint64_t model_setup_ns(struct cp_dma_chan *chan, unsigned nr_sg);
/* These three under the device's lock where a path is shared. */
/* Place what has begun its transfer by now (without a shared path: all that was rung). */
void model_advance(struct cp_dma_chan *chan, uint64_t now_ns);
/* The next to be reaped at now_ns, or NULL. It leaves the heap. */
struct model_slot *model_pop(struct cp_dma_chan *chan, uint64_t now_ns);
/* When something can be reaped or has to be placed, MODEL_NEVER = nothing in flight. */
uint64_t model_next_look(struct cp_dma_chan *chan);

/* model_wait.c */
int model_irq_open(struct cp_dma_chan *chan, int event_fd);
void model_irq_close(struct cp_dma_chan *chan);
/* The owner has something new to look for, or no longer has. */
void model_irq_arm(struct cp_dma_chan *chan, uint64_t look_ns);
int model_wait(struct cp_dma_chan *chan, uint64_t timeout_ns);
uint64_t model_cpu_ns(struct cp_dma_chan *chan);

#endif
