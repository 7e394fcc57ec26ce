/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to be minimised: J = elapsed * ns/byte + cpu * cpu_ns/byte
 *                              + tail * max(0, p99 - slo)/byte,
 * or, for work delivered to an application, J = corunner * slowdown: what the co-runner
 * did in a second alone, over what it did in a second beside the I/O, both of one sample,
 * so that a machine that drifts between samples drifts in both. A ratio and times a byte
 * do not add up, so the corunner term stands alone.
 * Hard limits are applied before J: an arm below min_bw_frac of the context's best
 * bandwidth is out, whatever it saves.
 */
#ifndef CP_POLICIES_OBJECTIVE_H
#define CP_POLICIES_OBJECTIVE_H

#include "engines/policy.h"

/* throughput (1, 0), balanced (1, 0.5), efficiency (0, 1, min_bw_frac 0.5), delivered
 * (corunner 1, min_bw_frac 0.9). Also
 * "elapsed=1,cpu=0.3,tail=0,slo_p99=200us,min_bw_frac=0.8" or
 * "corunner=1,min_bw_frac=0.8" terms, name "custom". */
int cp_objective_parse(const char *text, struct cp_objective *ret, struct cp_err *err);
#define CP_OBJECTIVE_DEFAULT  "balanced"
#define CP_OBJECTIVE_TEXT_MAX 256
/*
 * What to take where nobody says: the `objective` of the workload when the runs of all
 * these records (run directories or .jsonl files) have the same in their manifests, else
 * CP_OBJECTIVE_DEFAULT. ret[CP_OBJECTIVE_TEXT_MAX] parses. note is a sentence on where it
 * comes from, or "" where it is the default and no run asked for anything else.
 * Manifests that cannot be read count as none: whoever reads the records reports that.
 */
void cp_objective_of_runs(const char *const *paths, size_t nr, char *ret, size_t size,
			  char *note, size_t note_size);
/* "one CPU-microsecond is worth 0.5 microseconds of elapsed time; ..." */
void cp_objective_words(const struct cp_objective *objective, char *buf, size_t size);
/* J of one I/O class. What has no weight may be NaN. */
double cp_objective_cost(const struct cp_objective *objective, double ns_per_byte,
			 double cpu_ns_per_byte, double p99_ns, double slowdown,
			 double bytes);
/* Does it weigh what a co-runner did? Then samples without one say nothing. */
bool cp_objective_needs_corunner(const struct cp_objective *objective);

#endif
