/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel on a DSA work queue.
 *
 * A transaction is one MEMMOVE, or a wave of up to 128 (its elements: near segments,
 * joined where one begins as another ends, and cut at the queue's largest transfer), and
 * more waves where that is not enough. A wave goes to the device as groups: a BATCH of
 * up to max_batch elements, or a single element. Each group has one record to poll.
 * Elements of a batch have a record that is written only when they fail.
 *
 * A slot holds a transaction from prep to reap and moves between these:
 *
 *	free -> prepared -> pending -> (in flight <-> redo) -> finished -> free
 *
 * pending: submitted; up to `issued` the doorbell was rung. redo: has groups that go to
 * the device before anything pending: the next wave, or what faulted and goes on.
 * Groups that the device does not take stay where they are until the next doorbell or
 * reap.
 */
#ifndef CP_ENGINES_DMA_IDXD_H
#define CP_ENGINES_DMA_IDXD_H

#include "engines/dma/channel.h"
#include "engines/dma/idxd_dev.h"

#define IDXD_ELEMS CP_DMA_SEGMENTS_MAX

/* How often an element that makes no progress is given to the device again. */
#define IDXD_TRIES_MAX 8

struct idxd_elem {
	uint32_t len;  /* at most IDXD_TRANSFER_MAX */
	uint32_t left; /* not yet arrived, its end; valid when it is over */
	uint8_t tries; /* without progress */
	bool over;
	enum cp_dma_result result; /* when over */
};

struct idxd_group {
	uint8_t first, count; /* elements */
};

/* What a transaction of more than one element needs. */
struct idxd_wave {
	struct idxd_desc desc[IDXD_ELEMS];
	struct idxd_desc batch[IDXD_ELEMS / IDXD_BATCH_MIN];
	struct {
		_Alignas(64) struct idxd_record record; /* a line each: they are polled */
	} done[IDXD_ELEMS / IDXD_BATCH_MIN];
	struct idxd_record record[IDXD_ELEMS];
	struct idxd_elem elem[IDXD_ELEMS];
	struct idxd_group group[IDXD_ELEMS];
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
};

struct idxd_slot {
	struct idxd_desc desc_one;
	_Alignas(64) struct idxd_record record_one; /* alone on its line: it is polled */
	_Alignas(64) void *user;
	cp_dma_cookie cookie;
	unsigned char *far;
	size_t len;
	size_t moved; /* in waves that are over, then in all; from the front, no gap */
	enum cp_dir dir;
	unsigned flags;
	enum cp_dma_result result;
	bool started;

	/* this wave; the arrays are of one element here, or wave's */
	struct idxd_desc *desc;
	struct idxd_record *record;
	struct idxd_elem *elem;
	struct idxd_group *group;
	unsigned nr_elems, nr_groups;
	unsigned next_group;  /* first that is not with the device */
	unsigned groups_left; /* that are not over */
	struct idxd_elem elem_one;
	struct idxd_group group_one;

	/* the next wave: from this byte of this segment of wave->sg on */
	unsigned nr_sg, sg_at;
	size_t sg_done, far_done;
	struct idxd_wave *wave;
};

struct idxd_fifo {
	uint16_t *slots; /* [mask + 1] */
	unsigned head, tail;
};

struct idxd_flight {
	struct idxd_record *record; /* that is polled */
	uint16_t slot;
	uint8_t group;
};

struct cp_dma_chan {
	struct idxd_port port;
	struct idxd_wq wq;
	const struct idxd_source *source;
	unsigned entries;   /* groups that may be with the device */
	unsigned max_batch; /* elements; 1: none */
	uint32_t max_transfer;
	unsigned move_flags[2]; /* by direction */

	unsigned ring, mask; /* slots; places of a fifo - 1 */
	struct idxd_slot *slots;
	struct idxd_wave *waves;
	uint16_t *free_slots;
	unsigned nr_free;
	struct idxd_slot *prepared;
	cp_dma_cookie cookie;
	unsigned issued; /* of pending.tail: behind it no doorbell yet */
	unsigned active; /* started, not finished */
	struct idxd_fifo pending, redo, finished;
	struct idxd_flight *flights;
	unsigned nr_flights;
	char text[CP_SPEC_TEXT_MAX]; /* describe() */
};

static inline void idxd_fifo_push(const struct cp_dma_chan *chan, struct idxd_fifo *fifo,
				  const struct idxd_slot *slot)
{
	fifo->slots[fifo->tail++ & chan->mask] = (uint16_t)(slot - chan->slots);
}

static inline struct idxd_slot *idxd_fifo_first(const struct cp_dma_chan *chan,
						const struct idxd_fifo *fifo)
{
	return &chan->slots[fifo->slots[fifo->head & chan->mask]];
}

/* idxd_wave.c: what a transaction is to the device, and what became of it. */
/* Describe the next wave; prep's first one too. */
void idxd_wave_fill(const struct cp_dma_chan *chan, struct idxd_slot *slot);
/* The device has written this group's record. */
void idxd_group_done(struct idxd_slot *slot, unsigned group, uint8_t status);
/* It was refused for good, or never sent. */
void idxd_group_abort(struct idxd_slot *slot, unsigned group);
/* All groups of the wave are over. true: there is more to send; false: result and moved
 * are set. */
bool idxd_wave_next(const struct cp_dma_chan *chan, struct idxd_slot *slot);

/* idxd_fault.c: an element stopped at a page fault. Touch the page; over with the side's
 * result when it cannot be had, else its descriptor is about the rest. */
void idxd_elem_fault(struct idxd_elem *elem, struct idxd_desc *desc,
		     const struct idxd_record *record, uint8_t status);

/* idxd_run.c */
unsigned idxd_space(struct cp_dma_chan *chan);
int idxd_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
	      const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
	      void *user);
cp_dma_cookie idxd_submit(struct cp_dma_chan *chan);
void idxd_issue_pending(struct cp_dma_chan *chan);
unsigned idxd_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
		   unsigned max);
/* Look at the records of what is with the device; nothing new is sent. */
void idxd_poll(struct cp_dma_chan *chan);

#endif
