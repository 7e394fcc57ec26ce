/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures of a program of driver exec that cannot all be true. */
#include <errno.h>
#include <math.h>

#include "results/exec.h"

#define WITHIN	     0.01
#define WINDOW_NS    1e6
#define WALL_NS	     1e6
#define CPU_TICKS_NS 1e7		 /* CPU time may be counted in ticks */
#define MOST	     72057594037927936.0 /* 2^56 */

static bool off(double value, double want, double slack)
{
	return !isnan(value) && !isnan(want) &&
	       fabs(value - want) > fmax(want * WITHIN, slack);
}

static int differs(enum cp_metric metric, double value, const char *of, double want,
		   struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
			  "'%s' is %.17g, but %s is %.17g; expected them within 1 %%",
			  cp_metric_names[metric], value, of, want);
}

static int check_order(const double *m, struct cp_err *err)
{
	static const enum cp_metric orders[][2] = {
		{CP_METRIC_LAT_P50, CP_METRIC_LAT_P99},
		{CP_METRIC_LAT_P99, CP_METRIC_LAT_P999},
		{CP_METRIC_LAT_P50, CP_METRIC_LAT_P999},
		{CP_METRIC_FAULT_P50, CP_METRIC_FAULT_P99},
		{CP_METRIC_FAULT_P99, CP_METRIC_FAULT_P999},
		{CP_METRIC_FAULT_P50, CP_METRIC_FAULT_P999},
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		enum cp_metric low = orders[i][0], high = orders[i][1];

		if (m[low] > m[high])
			return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
					  "'%s' is %.17g, above '%s' of %.17g; expected "
					  "percentiles in order",
					  cp_metric_names[low], m[low],
					  cp_metric_names[high], m[high]);
	}
	return 0;
}

int cp_exec_figures_check(const struct cp_record *record, struct cp_err *err)
{
	const double *m = record->metrics;
	double elapsed_ns = m[CP_METRIC_ELAPSED_NS], bytes = m[CP_METRIC_BYTES];
	double window_ns = (double)(record->window_end_ns - record->window_start_ns);

	if (bytes > MOST)
		return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
				  "'bytes' is %.17g; expected at most %.0f", bytes, MOST);
	if (record->window_end_ns && off(elapsed_ns, window_ns, WINDOW_NS))
		return differs(CP_METRIC_ELAPSED_NS, elapsed_ns, "the window's length",
			       window_ns, err);
	if (elapsed_ns > 0) {
		double bw = bytes * 1e9 / elapsed_ns;
		double iops = record->context.bs && !record->has_proof
				      ? bw / (double)record->context.bs
				      : NAN;
		double cpu_pct = 100 * m[CP_METRIC_CPU_NS] / elapsed_ns;

		if (off(m[CP_METRIC_BW], bw, 1))
			return differs(CP_METRIC_BW, m[CP_METRIC_BW],
				       "bytes / elapsed_ns", bw, err);
		if (off(m[CP_METRIC_IOPS], iops, 1))
			return differs(CP_METRIC_IOPS, m[CP_METRIC_IOPS],
				       "bytes / bs / elapsed_ns", iops, err);
		if (off(m[CP_METRIC_CPU_PCT], cpu_pct, 1))
			return differs(CP_METRIC_CPU_PCT, m[CP_METRIC_CPU_PCT],
				       "cpu_ns / elapsed_ns in %", cpu_pct, err);
	}
	return check_order(m, err);
}

int cp_exec_wall_check(const struct cp_record *record, uint64_t wall_ns, unsigned nr_cpus,
		       struct cp_err *err)
{
	static const enum cp_metric cpu[] = {CP_METRIC_CPU_NS, CP_METRIC_CPU_SUBMIT_NS,
					     CP_METRIC_CPU_ENGINE_NS};
	const double *m = record->metrics;
	double elapsed_ns = m[CP_METRIC_ELAPSED_NS], wall = (double)wall_ns;
	/* what it did not time took no longer than the sample */
	double most = (isnan(elapsed_ns) ? wall : elapsed_ns) * nr_cpus * (1 + WITHIN) +
		      CPU_TICKS_NS;

	if (elapsed_ns > wall * (1 + WITHIN) + WALL_NS)
		return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
				  "'elapsed_ns' is %.17g, but the sample took %.17g; "
				  "expected no more",
				  elapsed_ns, wall);
	for (size_t i = 0; i < sizeof(cpu) / sizeof(cpu[0]); i++)
		if (m[cpu[i]] > most)
			return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
					  "'%s' is %.17g, but %u CPUs had %.17g; "
					  "expected no more",
					  cp_metric_names[cpu[i]], m[cpu[i]], nr_cpus,
					  most);
	if (elapsed_ns > 0 && m[CP_METRIC_CPU_PCT] > 100 * most / elapsed_ns)
		return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
				  "'cpu_pct' is %.17g, but %u CPUs have %.17g; expected "
				  "no more",
				  m[CP_METRIC_CPU_PCT], nr_cpus, 100 * most / elapsed_ns);
	return 0;
}
