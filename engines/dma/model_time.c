// SPDX-License-Identifier: GPL-2.0-only
/* Virtual time: when transactions begin and end, and what that comes to in the long run.
 */
#include <math.h>

#include "engines/base/random.h"
#include "engines/dma/model_priv.h"

#define NS_PER_S 1000000000U

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ns for the bytes at a rate, to the nearest; 0 = no limit. */
static uint64_t carry_ns(uint64_t bytes, uint64_t rate)
{
	if (!rate)
		return 0;
	return (uint64_t)(((unsigned __int128)bytes * NS_PER_S + rate / 2) / rate);
}

uint64_t model_setup_ns(struct cp_dma_chan *chan, unsigned nr_sg)
{
	uint64_t jitter_ns = chan->set.jitter_ns;
	uint64_t ns = chan->set.setup_ns + nr_sg * chan->set.desc_ns;

	if (!jitter_ns)
		return ns;
	/* jitter is at most setup, so this stays above 0 */
	return ns - jitter_ns + cp_random_xorshift(&chan->random) % (2 * jitter_ns + 1);
}

/* Ties go by the order of submission: a fenced one must not pass what it waits for. */
static bool before(const struct cp_dma_chan *chan, uint32_t a, uint32_t b)
{
	const struct model_slot *x = &chan->slots[a], *y = &chan->slots[b];

	return x->visible_ns != y->visible_ns ? x->visible_ns < y->visible_ns
					      : x->cookie < y->cookie;
}

static void heap_push(struct cp_dma_chan *chan, uint32_t number)
{
	unsigned at = chan->nr_heap++;

	while (at && before(chan, number, chan->heap[(at - 1) / 2])) {
		chan->heap[at] = chan->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	chan->heap[at] = number;
}

struct model_slot *model_pop(struct cp_dma_chan *chan, uint64_t now_ns)
{
	uint32_t top = chan->heap[0], last;
	unsigned at = 0, child;

	if (!chan->nr_heap || chan->slots[top].visible_ns > now_ns)
		return NULL;
	last = chan->heap[--chan->nr_heap];
	while ((child = 2 * at + 1) < chan->nr_heap) {
		if (child + 1 < chan->nr_heap &&
		    before(chan, chan->heap[child + 1], chan->heap[child]))
			child++;
		if (before(chan, last, chan->heap[child]))
			break;
		chan->heap[at] = chan->heap[child];
		at = child;
	}
	chan->heap[at] = last;
	return &chan->slots[top];
}

/* What the oldest of a channel that is not placed would do, on the lane that lets it
 * begin its transfer first. */
struct next {
	struct cp_dma_chan *chan;
	struct model_lane *lane;
	uint64_t ready_ns; /* prepared */
	uint64_t begin_ns; /* of its transfer */
};

static bool next_of(struct cp_dma_chan *chan, struct next *next)
{
	if (chan->placed == chan->issued)
		return false;
	const struct model_slot *slot =
		&chan->slots[chan->ring[chan->placed & chan->mask]];
	uint64_t from_ns = slot->rung_ns;

	if (slot->flags & CP_DMA_FENCE)
		from_ns = max_u64(from_ns, chan->last_ns);
	next->chan = chan;
	next->begin_ns = MODEL_NEVER;
	for (unsigned i = 0; i < chan->set.lanes; i++) {
		struct model_lane *lane = &chan->lanes[i];
		uint64_t ready_ns =
			max_u64(from_ns, lane->setup_free_ns) + slot->setup_ns;
		uint64_t begin_ns = max_u64(ready_ns, lane->transfer_free_ns);

		if (begin_ns >= next->begin_ns)
			continue;
		next->lane = lane;
		next->ready_ns = ready_ns;
		next->begin_ns = begin_ns;
	}
	return true;
}

static void place(const struct next *next)
{
	struct cp_dma_chan *chan = next->chan;
	uint32_t number = chan->ring[chan->placed++ & chan->mask];
	struct model_slot *slot = &chan->slots[number];
	uint64_t end_ns = next->begin_ns + carry_ns(slot->len, chan->set.bw);

	if (chan->shared) {
		uint64_t *free_ns = &chan->device->path_free_ns;

		*free_ns = max_u64(*free_ns, next->begin_ns) +
			   carry_ns(slot->len, chan->set.total);
		end_ns = max_u64(end_ns, *free_ns);
	}
	next->lane->transfer_free_ns = end_ns;
	next->lane->setup_free_ns = chan->set.overlap ? next->ready_ns : end_ns;
	slot->visible_ns = end_ns;
	if (chan->irq && (slot->flags & CP_DMA_INTERRUPT))
		slot->visible_ns += chan->set.irq_ns;
	chan->last_ns = max_u64(chan->last_ns, slot->visible_ns);
	heap_push(chan, number);
}

void model_advance(struct cp_dma_chan *chan, uint64_t now_ns)
{
	struct next next, first;

	if (!chan->shared) {
		while (next_of(chan, &next))
			place(&next);
		return;
	}
	for (;;) {
		bool any = false;

		for (struct cp_dma_chan *c = chan->device->members; c; c = c->next) {
			if (!next_of(c, &next) ||
			    (any && next.begin_ns >= first.begin_ns))
				continue;
			first = next;
			any = true;
		}
		if (!any || first.begin_ns > now_ns)
			return;
		place(&first);
	}
}

uint64_t model_next_look(struct cp_dma_chan *chan)
{
	uint64_t look_ns = MODEL_NEVER;
	struct next next;

	if (chan->nr_heap)
		look_ns = chan->slots[chan->heap[0]].visible_ns;
	if (next_of(chan, &next) && next.begin_ns < look_ns)
		look_ns = next.begin_ns;
	return look_ns;
}

void cp_model_closed_form(const struct cp_model_settings *settings,
			  const struct cp_model_load *load,
			  struct cp_model_answer *ret_answer)
{
	double parts = ceil(load->segments / (double)CP_DMA_SEGMENTS_MAX);
	uint64_t bytes = (uint64_t)((double)load->bytes / parts + 0.5);
	double lanes = (double)settings->lanes;
	double depth = load->iodepth * parts;
	double setup = (double)settings->setup_ns +
		       load->segments / parts * (double)settings->desc_ns;
	double path = (double)carry_ns(bytes, settings->total);
	double transfer = fmax((double)carry_ns(bytes, settings->bw), path);
	double alone = setup + transfer;
	double busy = settings->overlap ? fmax(setup, transfer) : alone;
	double first =
		fmax(alone + (ceil(parts / lanes) - 1.0) * busy, setup + parts * path);
	double irq = load->irq ? (double)settings->irq_ns : 0.0;
	double latency = fmax(first + irq, fmax(depth * busy / lanes, depth * path));

	ret_answer->latency_ns = latency;
	ret_answer->bw_bytes_per_s =
		(double)load->bytes * load->iodepth * NS_PER_S / latency;
}
