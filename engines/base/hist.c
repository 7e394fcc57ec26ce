/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/hist.h"

#include <math.h>
#include <string.h>

void cp_hist_reset(struct cp_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	hist->min_ns = UINT64_MAX;
}

void cp_hist_merge(struct cp_hist *into, const struct cp_hist *from)
{
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (unsigned i = 0; i < CP_HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t cp_hist_bucket_width_ns(unsigned bucket)
{
	unsigned group = bucket >> CP_HIST_SUB_BITS;

	return group ? UINT64_C(1) << (group - 1) : 1;
}

uint64_t cp_hist_bucket_low_ns(unsigned bucket)
{
	unsigned group = bucket >> CP_HIST_SUB_BITS, sub = bucket & (CP_HIST_SUB - 1);

	return group ? (uint64_t)(CP_HIST_SUB + sub) << (group - 1) : sub;
}

double cp_hist_quantile_ns(const struct cp_hist *hist, double q)
{
	if (!hist->count || !(q > 0) || q > 1)
		return NAN;
	/* nearest rank: the smallest value with at least q of all values at or below it
	 */
	uint64_t rank = (uint64_t)ceil(q * (double)hist->count);
	uint64_t below = 0;
	unsigned i = 0;

	if (rank > hist->count)
		rank = hist->count;
	while (i < CP_HIST_BUCKETS - 1 && below + hist->buckets[i] < rank)
		below += hist->buckets[i++];

	double low = (double)cp_hist_bucket_low_ns(i);
	/* a bucket holds whole nanoseconds, so its last one is low + width - 1; the last
	 * bucket is open and ends at the largest value seen */
	double high = low + (double)(cp_hist_bucket_width_ns(i) - 1);

	if (i == CP_HIST_BUCKETS - 1 && (double)hist->max_ns > high)
		high = (double)hist->max_ns;
	double part = hist->buckets[i] ? (double)(rank - below) / (double)hist->buckets[i]
				       : 1.0;
	double value = low + (high - low) * part;

	return fmin(fmax(value, (double)hist->min_ns), (double)hist->max_ns);
}

double cp_hist_mean_ns(const struct cp_hist *hist)
{
	return hist->count ? (double)hist->sum_ns / (double)hist->count : NAN;
}
