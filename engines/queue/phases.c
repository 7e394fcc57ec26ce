/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of offloaded I/Os goes, by a sample of them: stamps cost as much as the
 * phases of a small I/O. One in DISTANCE on average is looked at, at random distances so
 * that no pattern of the caller's falls in step: of the commit that the distance ends in
 * any one, so that I/Os of large and small commits come as often as there are. Behind a
 * large one, which three stamps are nothing to and of which a run has few, it is the next
 * commit, or the first after that I/O was handed back: one at a time. How soon depends on
 * the I/O before, never on the one that is picked, so a mix of sizes is sampled as it
 * comes. What the CPU copied after all is dropped.
 *
 *   handed in .. prepare .. descriptors written .. submit .. doorbell rung
 *     .. wait .. completion found by a reap .. complete .. handed back
 */
#include "engines/queue/internal.h"

#define DISTANCE    256U  /* I/Os; a power of two */
#define LARGE_BYTES 65536 /* some us at least: three stamps of 10 ns are under 1 % */

/* Marsaglia's xorshift32: any sequence without a short period will do. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* An I/O that is looked at yet stays so until it is handed back, and is dropped: it has
 * no `prepared` any more. `found` is not the owner's to write while it is in flight. */
void cp_phases_reset(struct cp_phases *phases)
{
	if (!phases->seed)
		phases->seed = 1;
	phases->due = 1;
	phases->fresh = true;
	phases->prepared = 0;
	phases->rung = 0;
	phases->ios = 0;
	phases->prepare_ticks = 0;
	phases->submit_ticks = 0;
	phases->wait_ticks = 0;
	phases->complete_ticks = 0;
}

void cp_phases_arm(struct cp_sub *sub, unsigned n)
{
	struct cp_phases *phases = &sub->phases;
	uint32_t random = next_random(&phases->seed);
	struct cp_io *io = phases->io ? phases->io : sub->staged[(random >> 8) % n];
	bool large = io->bytes >= LARGE_BYTES, fresh = phases->fresh;

	phases->due = large ? 1 : (int)(DISTANCE / 2 + random % DISTANCE);
	phases->fresh = false;
	/* Not the first of all if it is small: it is the slow one too often. */
	if (!sub->measuring || phases->io || io->sync || (fresh && !large))
		return;
	io->marks |= CP_IO_TIMED;
	phases->io = io;
	phases->prepared = 0;
	phases->rung = 0;
	phases->found = 0;
}

static uint64_t at_least(uint64_t least, uint64_t ticks)
{
	return ticks > least ? ticks : least;
}

/* Stamps of several CPUs, and a doorbell that somebody else rang first: each phase ends
 * where the next begins, and none before it has begun. */
static void add(struct cp_phases *phases, uint64_t start, uint64_t end)
{
	uint64_t last = at_least(start, end);
	uint64_t found = phases->found < last ? phases->found : last;
	uint64_t prepared = at_least(start, phases->prepared);

	found = at_least(start, found);
	if (prepared > found)
		prepared = found;
	uint64_t rung = phases->rung && phases->rung < found ? phases->rung : found;

	rung = at_least(prepared, rung);
	phases->ios++;
	phases->prepare_ticks += prepared - start;
	phases->submit_ticks += rung - prepared;
	phases->wait_ticks += found - rung;
	phases->complete_ticks += last - found;
}

void cp_phases_reaped(struct cp_sub *sub, struct cp_io *const *done, unsigned n,
		      uint64_t now)
{
	struct cp_phases *phases = &sub->phases;

	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = done[i];

		if (io != phases->io)
			continue;
		phases->io = NULL;
		if (sub->measuring && phases->prepared && phases->found && !io->error &&
		    !io->fallback_bytes && io->submit_ticks >= sub->window_ticks)
			add(phases, io->submit_ticks, now);
		return;
	}
}
