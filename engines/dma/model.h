/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model engine: a DMA device in virtual time, served against the wall clock. When a
 * doorbell rings, the times at which its transactions would be done are computed, and
 * from then on they can be reaped. No thread and, by default, no data: what is measured
 * is our own path with a device of known speed behind it.
 *
 * The device. A channel of ours (struct cp_dma_chan) has `channels` lanes, each of which
 * serves one transaction at a time. Transactions are served in the order of their
 * doorbells, each by the lane that is free first. A transaction of n segments and b bytes
 * takes
 *
 *	S = setup + n * desc		preparing; then
 *	X = max(b / bw, W)		its transfer, with
 *	W = b / total			on the path to memory that all channels share.
 *
 * The shared path is first come, first served: it carries one transfer at a time, at
 * `total` bytes a second, in the order in which transfers begin, and a lane waits for it.
 * All channels of one process that have the same text of settings are one device. Without
 * bw or total (0) that term is 0.
 *
 * overlap=no: a lane does nothing else from the start of S to the end of X. overlap=yes:
 * it prepares the next transaction during the transfer of the one before, as an engine
 * that fetches its descriptors ahead does.
 *
 * With completion irq what is done can be reaped `irq` later; that delays nobody else.
 * jitter moves each setup by a value that is even in [-jitter, +jitter], from a generator
 * that `seed` sets, so that a run can be repeated. Times are in whole nanoseconds,
 * rounded to the nearest.
 */
#ifndef CP_ENGINES_DMA_MODEL_H
#define CP_ENGINES_DMA_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/base/err.h"

#define CP_MODEL_LANES_MAX 64U

struct cp_model_settings {
	uint64_t setup_ns; /* of a transaction */
	uint64_t desc_ns;  /* of each of its segments */
	uint64_t bw;	   /* bytes/s of a lane; 0 = no limit */
	uint64_t total;	   /* bytes/s of all lanes of the device; 0 = no limit */
	uint64_t irq_ns;   /* interrupt latency */
	uint64_t jitter_ns;
	uint64_t seed;
	uint64_t lanes; /* channels= */
	uint64_t ring;	/* transactions in flight; 0 = as the channel's user wants */
	bool overlap;
	bool data; /* copies when a transaction is reaped, in that thread */
};

/* Of "model[:key=value,...]". 0, or -EINVAL with err (usage); sizes take k, m, g, t for
 * powers of 1024, as everywhere. */
int cp_model_settings_read(const char *spec, struct cp_model_settings *ret_settings,
			   struct cp_err *err);

/* A closed loop: as soon as one I/O is done the next is handed in. */
struct cp_model_load {
	uint64_t bytes;	   /* of an I/O; > 0 */
	uint32_t segments; /* of an I/O; > 0 */
	uint32_t iodepth;  /* I/Os in flight; > 0 */
	bool irq;	   /* completion irq */
};

struct cp_model_answer {
	double latency_ns; /* of an I/O, doorbell to reapable, mean */
	double bw_bytes_per_s;
};

/*
 * What one channel does under the load, alone on its device, without what the CPU takes
 * to hand in and reap, and without jitter. With D the iodepth, L the lanes, and an I/O in
 * P = segments / 128 (up) transactions (CP_DMA_SEGMENTS_MAX) of b / P bytes and
 * segments / P segments each, as the queue splits it:
 *
 *	T = S + X			alone
 *	B = T, with overlap max(S, X)	time a lane takes for one after the other
 *	A = max(T + (P/L (up) - 1) * B, S + P * W)	one I/O alone
 *
 *	latency = max(A + irq, D * P * B / L, D * P * W)
 *	bandwidth = D * b / latency
 *
 * Source: asymptotic bounds of a closed queueing network without think time: D over the
 * total demand below saturation, one over the demand of the slowest station above it
 * (Denning and Buzen, "The Operational Analysis of Queueing Network Models", ACM
 * Computing Surveys 10(3), 1978), and Little's law for the latency. Here every demand is
 * constant, so nothing waits before a station is saturated and the bounds are reached.
 * That holds when D * P is at most L or a multiple of it (else some lanes hold one more
 * than others, and both figures are bounds).
 */
void cp_model_closed_form(const struct cp_model_settings *settings,
			  const struct cp_model_load *load,
			  struct cp_model_answer *ret_answer);

#endif
