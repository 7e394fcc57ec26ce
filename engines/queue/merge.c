/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plug: with max_merge set, I/Os that were committed are held back while the next may
 * still be merged with them, as the kernel's block layer does until the task would sleep.
 * What is held is one request to be, and it is dispatched when
 *
 *  - an I/O comes that cannot be merged with it, which is then held in its place;
 *  - it cannot grow: max_merge bytes, CP_DMA_SEGMENTS_MAX segments, CP_PLUG_IOS I/Os, or
 * the end of the memory of one node;
 *  - the submitter has nothing left to be handed back and would wait (cp_sub_reap()).
 */
#include "engines/queue/internal.h"

static bool full(const struct cp_dev *dev, const struct cp_plug *plug)
{
	return plug->nr == CP_PLUG_IOS || plug->bytes >= dev->max_merge ||
	       plug->segments >= CP_DMA_SEGMENTS_MAX ||
	       plug->bytes >= cp_dev_node_run(dev, plug->head->offset);
}

/* Is a request of so many bytes from `offset` on, and of so many segments, one? */
static bool fits(const struct cp_dev *dev, uint64_t offset, uint64_t bytes,
		 uint64_t segments)
{
	return bytes <= dev->max_merge && segments <= CP_DMA_SEGMENTS_MAX &&
	       bytes <= cp_dev_node_run(dev, offset);
}

/* Behind what is held. A near buffer that goes on where the last one ended adds to its
 * last segment first. */
static bool join_behind(const struct cp_dev *dev, struct cp_plug *plug, struct cp_io *io)
{
	const struct cp_io *last = plug->tail;
	bool on = (unsigned char *)last->near + last->bytes == (unsigned char *)io->near;
	uint64_t run = on ? plug->run : 0;
	uint64_t segments = (uint64_t)plug->segments +
			    cp_dev_segments(dev, run + io->bytes) -
			    cp_dev_segments(dev, run);

	if (last->offset + last->bytes != io->offset ||
	    !fits(dev, plug->head->offset, plug->bytes + io->bytes, segments))
		return false;
	plug->tail->next = io;
	plug->tail = io;
	plug->nr++;
	plug->segments = (unsigned)segments;
	plug->bytes += io->bytes;
	plug->run = run + io->bytes;
	return true;
}

static bool join_in_front(const struct cp_dev *dev, struct cp_plug *plug,
			  struct cp_io *io)
{
	uint64_t segments = (uint64_t)plug->segments + cp_dev_segments(dev, io->bytes);

	if (io->offset + io->bytes != plug->head->offset ||
	    !fits(dev, io->offset, plug->bytes + io->bytes, segments))
		return false;
	io->next = plug->head;
	plug->head = io;
	plug->nr++;
	plug->segments = (unsigned)segments;
	plug->bytes += io->bytes;
	return true;
}

static bool join(const struct cp_dev *dev, struct cp_plug *plug, struct cp_io *io)
{
	return plug->nr && plug->head->dir == io->dir && io->bytes &&
	       (join_behind(dev, plug, io) || join_in_front(dev, plug, io));
}

static void hold(const struct cp_dev *dev, struct cp_plug *plug, struct cp_io *io)
{
	*plug = (struct cp_plug){
		.head = io,
		.tail = io,
		.nr = 1,
		.segments = cp_dev_segments(dev, io->bytes),
		.bytes = io->bytes,
		.run = io->bytes,
	};
}

static void dispatch_held(struct cp_sub *sub)
{
	struct cp_plug *plug = &sub->plug;
	unsigned nr = plug->nr;

	plug->nr = 0; /* the dispatch may wait, and must not find it again */
	sub->ring_due = true;
	if (nr == 1)
		cp_io_dispatch_one(sub, plug->head);
	else if (nr)
		cp_io_dispatch_merged(sub, plug->head);
}

void cp_plug_flush(struct cp_sub *sub)
{
	dispatch_held(sub);
	cp_sub_ring(sub);
}

void cp_plug_dispatch(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	const struct cp_dev *dev = sub->dev;
	struct cp_plug *plug = &sub->plug;

	sub->in_flight += n;
	for (unsigned i = 0; i < n; i++) {
		if (cp_io_apart(dev, ios[i])) {
			dispatch_held(sub);
			cp_io_dispatch_apart(sub, ios[i], n - i - 1);
			continue;
		}
		if (!join(dev, plug, ios[i])) {
			dispatch_held(sub);
			hold(dev, plug, ios[i]);
		}
		if (full(dev, plug))
			dispatch_held(sub);
	}
}
