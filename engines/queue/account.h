/* SPDX-License-Identifier: GPL-2.0-only */
/* Finished I/Os into the figures. A part of internal.h, which includes it. */
#ifndef CP_ENGINES_QUEUE_ACCOUNT_H
#define CP_ENGINES_QUEUE_ACCOUNT_H

/* A stamp costs about 10 ns and is for the figures only. 0 is before every window. */
static inline uint64_t cp_sub_stamp(const struct cp_sub *sub)
{
	return sub->measuring ? cp_ticks() : 0;
}

/* measure.c: I/Os of any kind into the figures, one by one. */
void cp_io_account_each(struct cp_sub *sub, struct cp_io *const *ios, unsigned n,
			uint64_t now);

/*
 * Finished I/Os into the figures: moved bytes only, latency only of what was handed in
 * inside the window. This is the batch in which nothing is special. Sums are kept in
 * registers over a batch, in two loops so that they all fit: counters in memory, one I/O
 * at a time, are a chain of dependent stores and loads that costs more than the rest of
 * the path.
 */
static inline void cp_io_account(struct cp_sub *sub, struct cp_io *const *ios, unsigned n,
				 uint64_t now)
{
	uint64_t bytes = 0, offloaded = 0, special = 0, first = now, last = 0, sum_ns = 0;

	if (!sub->measuring || !n)
		return;
	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = ios[i];
		uint64_t start = io->submit_ticks;

		bytes += io->bytes;
		offloaded += io->dma_bytes;
		special |= io->fallback_bytes | io->split_bytes |
			   (uint64_t)(io->error | io->sync);
		first = start < first ? start : first;
		last = start > last ? start : last;
	}
	if (__builtin_expect(special || first < sub->window_ticks, 0)) {
		cp_io_account_each(sub, ios, n, now);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t ns = cp_ticks_to_ns(cp_ticks_since(ios[i]->submit_ticks, now));

		cp_hist_bump(&sub->lat, ns);
		sum_ns += ns;
	}
	cp_hist_sum_add(&sub->lat,
			&(struct cp_hist_sum){
				.count = n,
				.sum_ns = sum_ns,
				.min_ns = cp_ticks_to_ns(cp_ticks_since(last, now)),
				.max_ns = cp_ticks_to_ns(cp_ticks_since(first, now)),
			});
	sub->ios += n;
	sub->bytes += bytes;
	sub->bytes_moved += bytes;
	sub->bytes_offloaded += offloaded;
}

#endif
