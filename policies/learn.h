/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in, policy out. Feed samples one by one (streaming), then solve.
 *
 * What is fed: samples whose proof holds. cp_learn_add() drops failed and verified
 * records, those of the null engine and those of queue_mode page that went by bio, and
 * counts them; mixed provenance, hosts or drivers are an error that names both. Records
 * of a modelled engine are learned among themselves and with the CPU's: the policy then
 * says modelled, and a note that it is a what-if.
 */
#ifndef CP_POLICIES_LEARN_H
#define CP_POLICIES_LEARN_H

#include "engines/policy.h"
#include "policies/objective.h"
#include "results/record.h"

struct cp_learn; /* the collection of samples */

struct cp_learn_counts {
	uint64_t used;
	uint64_t failed;   /* or over an engine that was made to, though no I/O did */
	uint64_t modelled; /* of the null engine, which is no device */
	uint64_t verified; /* took time to check the data, so their figures are no copy's
			    */
	uint64_t page_off; /* of queue_mode page, but rw_page was off, so bio in truth */
	uint64_t unusable; /* lacked a metric (bandwidth, CPU, p99, the co-runner's work)
			      that the objective needs */
};

/* Did the sample check its data (`verify` other than off)? Then its figures hold the time
 * of the check and are fit for no comparison. Not `pages`: driver swap's touches always
 * check the page that they touched, as part of what is measured. */
bool cp_learn_is_verified(const struct cp_record *record);

int cp_learn_new(const struct cp_objective *objective, struct cp_learn **ret,
		 struct cp_err *err);
int cp_learn_add(struct cp_learn *learn, const struct cp_record *record,
		 struct cp_err *err);
void cp_learn_counts(const struct cp_learn *learn, struct cp_learn_counts *ret);
/* Learn. policy->learned fields from/host/fingerprint are the caller's to fill. Returns 0
 * also when nothing was decided: *ret_decided is the number of decided (context, size)
 * intervals. Error (exit 3) when the objective weighs a co-runner that no sample had. */
int cp_learn_solve(struct cp_learn *learn, struct cp_policy *ret_policy,
		   unsigned *ret_decided, struct cp_err *err);
/*
 * A policy cannot change what stands behind a write (persist, flush, fence) from one I/O
 * to the next, and leaving it out is no gain: writes of two arms that differ in it are no
 * rivals. Error (exit 4) naming both; cp_learn_solve() asks this of all writes, and puts
 * what they have into the policy's device.
 */
int cp_learn_check_promise(const struct cp_arm *a, const struct cp_arm *b,
			   struct cp_err *err);
/* What a reader should know about the last solve ("arm 'x' was measured at one size
 * only"), one sentence a call. */
void cp_learn_notes(const struct cp_learn *learn, void (*fn)(void *ctx, const char *text),
		    void *ctx);
void cp_learn_free(struct cp_learn *learn);

/*
 * Measured regret of a policy on samples: per context that was measured, J of what the
 * policy answers against the best measured arm (both medians), in percent. An answer
 * whose arm was not measured there is counted in `unknown`, never guessed.
 */
struct cp_regret {
	unsigned contexts, unknown;
	double mean_pct, p95_pct, worst_pct; /* NaN when nothing was known */
	struct cp_context worst;
};
int cp_policy_regret(struct cp_learn *learn, const struct cp_policy *policy,
		     struct cp_regret *ret, struct cp_err *err);
/* What the figures are over: "24 contexts", or "18 of 24 contexts (in the other 6 ...)".
 * Returns buf. */
const char *cp_regret_span_words(const struct cp_regret *regret, char *buf, size_t size);

/* Per context and arm, what was measured: for reports and explain. Sorted by context,
 * of writes then by persist, then arm name; valid until the learn is freed or added to.
 */
struct cp_learn_cell {
	struct cp_context context;
	struct cp_arm arm;
	struct cp_provenance provenance;
	char copy[CP_SPEC_TEXT_MAX]; /* kernel the samples copied with; "" = DMA, or they
				   differ */
	uint32_t n;
	double bw_median, bw_low, bw_high; /* bytes/s; interval of the median */
	double cpu_pct_median, cpu_pct_low, cpu_pct_high;
	double ns_per_byte, cpu_ns_per_byte, p50_ns, p99_ns; /* medians */
	double slowdown; /* of the co-runner, median; NaN without one */
	double cost;	 /* J */
	bool pareto;	 /* no other arm of the context (of writes: and persist) has more
			    bandwidth for less CPU time a byte */
	bool excluded;	 /* by a hard limit */
};
int cp_learn_cells(struct cp_learn *learn, const struct cp_learn_cell **ret_cells,
		   size_t *ret_nr, struct cp_err *err);

#endif
