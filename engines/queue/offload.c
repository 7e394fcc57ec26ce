/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An I/O or a merged request handed to DMA channels: its pieces, what happens when a
 * channel does not take one, and the CPU's share of a large one.
 *
 * What the CPU copies of an I/O is always its end: [0, bytes - fallback_bytes -
 * split_bytes) is the channels' (persist.c relies on that).
 */
#include <assert.h>
#include <errno.h>
#include <sched.h>

#include "engines/queue/internal.h"

/* A smaller I/O is not shared: its half is done sooner than two parts are prepared and
 * met again. */
#define SPLIT_MIN_BYTES (16U << 10)

/* Bytes of the piece at `at`, which ends at `end` or where its segments or its node end.
 */
static uint64_t piece_bytes(const struct cp_dev *dev, const struct cp_io *io, uint64_t at,
			    uint64_t end)
{
	uint64_t most = dev->segment * CP_DMA_SEGMENTS_MAX;
	uint64_t run = cp_dev_node_run(dev, io->offset + at);
	uint64_t len = end - at;

	if (len > run)
		len = run;
	return len > most ? most : len;
}

static unsigned gather(const struct cp_dev *dev, const struct cp_io *io, uint64_t at,
		       uint64_t bytes, struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX])
{
	unsigned char *near = (unsigned char *)io->near + at;
	unsigned nr = 0;

	while (bytes) {
		size_t len = (size_t)(bytes < dev->segment ? bytes : dev->segment);

		sg[nr].addr = near;
		sg[nr].len = len;
		nr++;
		near += len;
		bytes -= len;
	}
	return nr;
}

unsigned cp_io_gather_merged(const struct cp_dev *dev, const struct cp_io *head,
			     struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX])
{
	const unsigned char *end = NULL; /* of the last segment */
	unsigned nr = 0;

	for (const struct cp_io *io = head; io; io = io->next) {
		unsigned char *near = io->near;
		uint64_t left = io->bytes;

		while (left) {
			bool on = near == end && sg[nr - 1].len < dev->segment;
			uint64_t room = dev->segment - (on ? sg[nr - 1].len : 0);
			size_t len = (size_t)(left < room ? left : room);

			if (!on) {
				assert(nr < CP_DMA_SEGMENTS_MAX); /* the plug counts */
				sg[nr++] = (struct cp_dma_sg){.addr = near};
			}
			sg[nr - 1].len += len;
			near += len;
			end = near;
			left -= len;
		}
	}
	return nr;
}

static bool busy(const struct cp_hctx *hctx)
{
	for (unsigned c = 0; c < hctx->nr_chans; c++) {
		if (hctx->reaped[c] != hctx->submitted[c])
			return true;
	}
	return false;
}

/* A place in a ring may come free. Locked before and after, not in between. */
static void wait_for_room(struct cp_sub *sub)
{
	struct cp_hctx *hctx = sub->hctx;

	cp_hctx_ring(sub->dev, hctx);
	if (cp_hctx_reap(sub))
		return;
	/* A channel that refuses with nothing of ours in it has nothing to wait for: its
	 * hardware may be full of others' work. */
	bool ours = busy(hctx);

	cp_hctx_unlock(hctx);
	if (ours)
		cp_sub_wait(sub);
	else
		sched_yield();
	cp_hctx_lock(hctx);
}

int cp_io_transact(struct cp_sub *sub, unsigned c, struct cp_io *io, void *far,
		   const struct cp_dma_sg *sg, unsigned nr_sg)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	unsigned flags = dev->irq ? CP_DMA_INTERRUPT : 0;

	for (;;) {
		if (cp_turn_due(hctx, sub))
			cp_turn_take(sub);
		int rc = dev->dma->prep_memcpy_sg(hctx->chans[c], io->dir, far, sg, nr_sg,
						  flags, io);

		if (!rc)
			break;
		if (rc != -EAGAIN || dev->ring_full_cpu)
			return rc;
		cp_turn_take(sub);
		wait_for_room(sub);
	}
	hctx->submitted[c]++;
	dev->dma->submit(hctx->chans[c]);
	sub->proof.queue.transactions += sub->measuring;
	return 0;
}

/* Pieces of [0, end) until a channel refuses one. Locked. Returns where it ended. */
static uint64_t offload(struct cp_sub *sub, struct cp_io *io, uint64_t end, int *ret_rc)
{
	struct cp_dev *dev = sub->dev;
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	uint64_t at = 0;

	*ret_rc = 0;
	while (at < end) {
		uint64_t len = piece_bytes(dev, io, at, end);
		unsigned nr = gather(dev, io, at, len, sg);
		unsigned c = cp_hctx_chan(dev, sub->hctx, io->offset + at);

		assert(len);
		/* before the channel has it: another submitter may see it complete */
		io->pieces++;
		io->dma_bytes += len;
		*ret_rc = cp_io_transact(sub, c, io, dev->far + io->offset + at, sg, nr);
		if (*ret_rc) {
			io->pieces--;
			io->dma_bytes -= len;
			break;
		}
		at += len;
	}
	cp_turn_pass(sub);
	return at;
}

/* What became of the I/O's pieces, planned up to `end` and taken by channels up to
 * `taken`: several for the segments, for the nodes, or neither. */
static void count_pieces(struct cp_sub *sub, const struct cp_io *io, uint64_t end,
			 uint64_t taken)
{
	const struct cp_dev *dev = sub->dev;
	bool crossed = false, split = false;

	for (uint64_t at = 0, len; at < taken; at += len) {
		len = piece_bytes(dev, io, at, end);
		if (at + len == taken)
			break; /* no transaction behind it */
		if (len == cp_dev_node_run(dev, io->offset + at))
			crossed = true;
		else
			split = true;
	}
	sub->proof.queue.crossed += crossed;
	sub->proof.queue.split += split;
}

/* More transactions than the ring of its (first) channel holds: with ring_full cpu it
 * could never go whole. Locked. */
static bool never_fits(const struct cp_sub *sub, const struct cp_io *io, uint64_t end)
{
	const struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	unsigned c = cp_hctx_chan(dev, hctx, io->offset);
	uint64_t ring =
		dev->dma->space(hctx->chans[c]) + hctx->submitted[c] - hctx->reaped[c];
	uint64_t pieces = 0;

	for (uint64_t at = 0; at < end; at += piece_bytes(dev, io, at, end))
		pieces++;
	return pieces > ring;
}

static void count_fallback(struct cp_sub *sub, const struct cp_io *io, uint64_t end,
			   int rc)
{
	if (!sub->measuring)
		return;
	if (rc != -EAGAIN)
		sub->proof.fallback.error++;
	else if (never_fits(sub, io, end))
		sub->proof.fallback.too_many_segments++;
	else
		sub->proof.fallback.ring_full++;
}

/* The CPU's part, from byte `from`, while channels move the rest. Locked before and
 * after. */
static void copy_end(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route,
		     uint64_t from)
{
	/* pieces in flight may touch error and residue */
	struct cp_io part = *io;

	cp_hctx_unlock(sub->hctx);
	part.error = 0;
	part.residue = 0;
	cp_io_copy(sub, &part, route, from);
	cp_hctx_lock(sub->hctx);
	io->residue += part.residue;
	if (part.error)
		io->error = part.error;
}

/*
 * Where the CPU's share begins: the last split_pct percent, from a whole line of the far
 * side on, so that no line is written by both. io->bytes: it has none.
 */
static uint64_t share_from(const struct cp_dev *dev, const struct cp_io *io)
{
	uintptr_t far = (uintptr_t)dev->far + io->offset;
	uint64_t from;

	if (!dev->split_pct || io->bytes < SPLIT_MIN_BYTES || io->bytes <= dev->segment)
		return io->bytes;
	from = io->bytes - io->bytes / 100 * dev->split_pct -
	       io->bytes % 100 * dev->split_pct / 100;
	from += -(far + from) & (CP_LINE_BYTES - 1);
	return from < io->bytes ? from : io->bytes;
}

void cp_io_offload(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;
	uint64_t end = share_from(dev, io);
	int rc;

	sub->ring_due = true;
	cp_hctx_lock(hctx);
	/* Our own piece: without it another submitter that reaps could see the I/O
	 * finished between two of its transactions. */
	io->pieces = 1;
	uint64_t from = offload(sub, io, end, &rc);

	cp_phases_prepared(sub, io);
	if (sub->measuring)
		count_pieces(sub, io, end, from);
	if (from < io->bytes) {
		io->fallback_bytes = end - from;
		io->split_bytes = io->bytes - end;
		if (rc)
			count_fallback(sub, io, end, rc);
		cp_hctx_ring(dev, hctx);
		/* The CPU's part keeps the submitter as its doorbells do: it is in
		 * `submit`, not in the time that only the engine takes. Of an I/O before
		 * this one in the batch the doorbell alone. */
		if (!(io->marks & CP_IO_TIMED))
			cp_phases_rung(sub);
		copy_end(sub, io, route, from);
		cp_phases_rung(sub);
	}
	if (--io->pieces == 0)
		cp_io_finish(io);
	cp_hctx_unlock(hctx);
}

/* A merged request was refused: each I/O of it has fallen back. Locked. */
static void copy_merged(struct cp_sub *sub, struct cp_io *head,
			const struct cp_route *route, int rc)
{
	for (struct cp_io *io = head, *next; io; io = next) {
		next = io->next;
		io->next = NULL;
		io->pieces = 1; /* the CPU's */
		io->dma_bytes = 0;
		io->fallback_bytes = io->bytes;
		if (sub->measuring && rc == -EAGAIN)
			sub->proof.fallback.ring_full++;
		else if (sub->measuring)
			sub->proof.fallback.error++;
		copy_end(sub, io, route, 0);
		io->pieces = 0;
		cp_io_finish(io);
	}
}

void cp_io_offload_merged(struct cp_sub *sub, struct cp_io *head,
			  const struct cp_route *route, const struct cp_dma_sg *sg,
			  unsigned nr_sg)
{
	struct cp_dev *dev = sub->dev;
	struct cp_hctx *hctx = sub->hctx;

	sub->ring_due = true;
	cp_hctx_lock(hctx);
	head->pieces = 1;
	head->marks |= CP_IO_CHAIN;
	for (struct cp_io *io = head; io; io = io->next)
		io->dma_bytes = io->bytes;
	int rc = cp_io_transact(sub, cp_hctx_chan(dev, hctx, head->offset), head,
				dev->far + head->offset, sg, nr_sg);

	cp_turn_pass(sub);
	if (rc) {
		head->marks &= (uint8_t)~CP_IO_CHAIN;
		cp_hctx_ring(dev, hctx);
		copy_merged(sub, head, route, rc);
	} else if (sub->phases.io) {
		/* it waits for a doorbell, and so for the lock */
		for (const struct cp_io *io = head; io; io = io->next)
			cp_phases_prepared(sub, io);
	}
	cp_hctx_unlock(hctx);
}
