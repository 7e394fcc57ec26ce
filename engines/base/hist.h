/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log-linear histogram of nanoseconds: 64 buckets an octave, so a reported quantile is
 * within 1/64 (1.6 %) of the true one; values above 2^42 ns land in the last bucket.
 * Sum, count, min and max are exact. Not thread-safe: one owner, merge afterwards.
 */
#ifndef CP_ENGINES_BASE_HIST_H
#define CP_ENGINES_BASE_HIST_H

#include <stdint.h>

#define CP_HIST_SUB_BITS 6
#define CP_HIST_SUB	 (1U << CP_HIST_SUB_BITS)
#define CP_HIST_MAX_BITS 42
#define CP_HIST_BUCKETS	 ((CP_HIST_MAX_BITS - CP_HIST_SUB_BITS + 1) * CP_HIST_SUB)

struct cp_hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* UINT64_MAX when empty */
	uint64_t max_ns;
	uint32_t buckets[CP_HIST_BUCKETS];
};

void cp_hist_reset(struct cp_hist *hist);
void cp_hist_merge(struct cp_hist *into, const struct cp_hist *from);
/* The q-quantile (0 < q <= 1), interpolated inside its bucket, clamped to [min, max]; NaN
 * when empty. */
double cp_hist_quantile_ns(const struct cp_hist *hist, double q);
double cp_hist_mean_ns(const struct cp_hist *hist); /* NaN when empty */
/* The bucket's lower bound, and its width. */
uint64_t cp_hist_bucket_low_ns(unsigned bucket);
uint64_t cp_hist_bucket_width_ns(unsigned bucket);

static inline unsigned cp_hist_bucket(uint64_t ns)
{
	if (ns < CP_HIST_SUB)
		return (unsigned)ns;
	unsigned msb = 63U - (unsigned)__builtin_clzll(ns);
	if (msb >= CP_HIST_MAX_BITS)
		return CP_HIST_BUCKETS - 1;
	unsigned shift = msb - CP_HIST_SUB_BITS;
	return (shift + 1) * CP_HIST_SUB + (unsigned)((ns >> shift) & (CP_HIST_SUB - 1));
}

static inline void cp_hist_add(struct cp_hist *hist, uint64_t ns)
{
	hist->count++;
	hist->sum_ns += ns;
	if (ns < hist->min_ns)
		hist->min_ns = ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	hist->buckets[cp_hist_bucket(ns)]++;
}

/*
 * Adding a batch: sums in a local (registers), buckets in place, one cp_hist_sum_add() at
 * the end. The same result as cp_hist_add() for each, at a fraction of its cost.
 */
struct cp_hist_sum {
	uint64_t count, sum_ns, min_ns, max_ns;
};
#define CP_HIST_SUM_EMPTY           \
	{                           \
		0, 0, UINT64_MAX, 0 \
	}

static inline void cp_hist_count(struct cp_hist *hist, struct cp_hist_sum *sum,
				 uint64_t ns)
{
	sum->count++;
	sum->sum_ns += ns;
	sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	hist->buckets[cp_hist_bucket(ns)]++;
}

/* The bucket alone; count, sum, min and max of a batch are the caller's to add. */
static inline void cp_hist_bump(struct cp_hist *hist, uint64_t ns)
{
	hist->buckets[cp_hist_bucket(ns)]++;
}

static inline void cp_hist_sum_add(struct cp_hist *hist, const struct cp_hist_sum *sum)
{
	hist->count += sum->count;
	hist->sum_ns += sum->sum_ns;
	if (sum->min_ns < hist->min_ns)
		hist->min_ns = sum->min_ns;
	if (sum->max_ns > hist->max_ns)
		hist->max_ns = sum->max_ns;
}

#endif
