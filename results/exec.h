/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two lines of driver exec: what a program is asked, one sample a line, and what it
 * answers. Both ends are here, so that the protocol has one home; docs/apps.md is for
 * those who write such a program.
 *
 * Libraries of L1 rules: nothing is printed, outputs are written only on success.
 */
#ifndef CP_RESULTS_EXEC_H
#define CP_RESULTS_EXEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "results/record.h"

#define CP_EXEC_LINE_MAX  (1U << 20) /* of an answer, with its newline */
#define CP_EXEC_CPUS_MAX  64
#define CP_EXEC_EXTRA_MAX 64 /* figures of the program's own */

struct cp_exec_request {
	struct cp_context context;
	struct cp_arm arm;
	uint32_t sample;
	uint64_t seed;	     /* the same for all arms of a context and sample */
	uint64_t size;	     /* bytes of the target */
	char filename[4096]; /* absolute; "" = the workload names none */
	uint64_t runtime_ns, ramp_ns;
	unsigned nr_cpus; /* OS numbers of those the load is to run on; 0 = any */
	unsigned cpus[CP_EXEC_CPUS_MAX];
};

/* One line with its newline; free() it. */
char *cp_exec_request_encode(const struct cp_exec_request *request, struct cp_err *err);
/* Unknown keys are ignored: a later version may ask more. */
int cp_exec_request_decode(const char *line, size_t len,
			   struct cp_exec_request *ret_request, struct cp_err *err);

/*
 * An answer (without its newline) into a record that has its cell: metrics, proof, notes
 * and window, or failed with what the program says of it. The provenance is external. bw,
 * iops (by the context's bs) and cpu_pct follow from bytes, elapsed_ns and cpu_ns where
 * they are missing, elapsed_ns from the window.
 *
 * *ret_extra: metrics of other names as {"metrics":{...}}, a new reference, or NULL when
 * there are none; as record->raw it brings them into the file.
 *
 * Errors are exit 4 and leave the record alone: no JSON, duplicate or unknown keys, wrong
 * types, numbers that are not finite or negative, no metric at all, figures that
 * cp_exec_figures_check() refuses.
 */
int cp_exec_answer_decode(const char *line, size_t len, struct cp_record *record,
			  json_t **ret_extra, struct cp_err *err);
/*
 * Figures that contradict each other: bw, iops (by bs, where no proof is given) and
 * cpu_pct against bytes, cpu_ns and elapsed_ns within 1 %, the window against elapsed_ns
 * within 1 % or 1 ms, percentiles out of order, bytes above 2^56. Exit 4 with both
 * numbers.
 */
int cp_exec_figures_check(const struct cp_record *record, struct cp_err *err);
/* The same against what the harness saw: the wall clock of the sample, and CPUs. */
int cp_exec_wall_check(const struct cp_record *record, uint64_t wall_ns, unsigned nr_cpus,
		       struct cp_err *err);
/* The answer that a record makes, with its newline: what was measured of the metrics,
 * proof, notes and window; or its failure alone. free() it. */
char *cp_exec_answer_encode(const struct cp_record *record, struct cp_err *err);

#endif
