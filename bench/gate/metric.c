/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdio.h>

#include "bench/gate/metric.h"

const struct cp_gate_metric_def cp_gate_metrics[CP_GATE_NR_ALL] = {
	[CP_GATE_BW] = {"bw", true, 2.0},
	[CP_GATE_IOPS] = {"iops", true, 2.0},
	[CP_GATE_CPU] = {"cpu", false, 2.0},
	[CP_GATE_P50] = {"p50", false, 3.0},
	[CP_GATE_P99] = {"p99", false, 8.0},
	[CP_GATE_P999] = {"p999", false, 15.0},
	[CP_GATE_ERRORS] = {"errors", false, 0.0},
	[CP_GATE_FALLBACKS] = {"fallbacks", false, 0.0},
	[CP_GATE_CORUNNER] = {"corunner", true, 0.0},
	[CP_GATE_CORUNNER_CPU] = {"corunner_cpu", true, 0.0},
	[CP_GATE_APP] = {"app", true, 0.0},
	[CP_GATE_FAULTS] = {"faults", true, 0.0},
	[CP_GATE_FAULT_P50] = {"fault_p50", false, 0.0},
	[CP_GATE_FAULT_P99] = {"fault_p99", false, 0.0},
	[CP_GATE_FAULT_USER] = {"fault_user", false, 0.0},
	[CP_GATE_FAULT_SYS] = {"fault_sys", false, 0.0},
};

const char *const cp_gate_metric_words[CP_GATE_NR_TIMED + 1] = {
	"bw", "iops", "cpu", "p50", "p99", "p999", NULL,
};

double cp_gate_metric_value(const struct cp_record *record, enum cp_gate_metric metric)
{
	const double *m = record->metrics;
	const struct cp_proof *proof = &record->proof;

	switch (metric) {
	case CP_GATE_BW:
		return m[CP_METRIC_BW];
	case CP_GATE_IOPS:
		return m[CP_METRIC_IOPS];
	case CP_GATE_CPU:
		/* no bytes, no figure: the division must not make an infinity of it */
		return m[CP_METRIC_BYTES] > 0 ? m[CP_METRIC_CPU_NS] / m[CP_METRIC_BYTES]
					      : NAN;
	case CP_GATE_P50:
		return m[CP_METRIC_LAT_P50];
	case CP_GATE_P99:
		return m[CP_METRIC_LAT_P99];
	case CP_GATE_P999:
		return m[CP_METRIC_LAT_P999];
	case CP_GATE_ERRORS:
		return record->has_proof ? (double)proof->errors : NAN;
	case CP_GATE_FALLBACKS:
		return record->has_proof
			       ? (double)proof->fallback.no_channel +
					 (double)proof->fallback.ring_full +
					 (double)proof->fallback.error +
					 (double)proof->fallback.too_many_segments
			       : NAN;
	case CP_GATE_CORUNNER:
		return m[CP_METRIC_CORUNNER];
	case CP_GATE_CORUNNER_CPU:
		return m[CP_METRIC_CORUNNER_CPU];
	case CP_GATE_APP:
		return m[CP_METRIC_APP];
	case CP_GATE_FAULTS:
		return m[CP_METRIC_FAULTS_PER_S];
	case CP_GATE_FAULT_P50:
		return m[CP_METRIC_FAULT_P50];
	case CP_GATE_FAULT_P99:
		return m[CP_METRIC_FAULT_P99];
	case CP_GATE_FAULT_USER:
		return m[CP_METRIC_FAULT_USER];
	case CP_GATE_FAULT_SYS:
		return m[CP_METRIC_FAULT_SYS];
	case CP_GATE_NR_ALL:
		break;
	}
	return NAN;
}

double cp_gate_d(enum cp_gate_metric metric, double pct)
{
	double d = log1p(pct / 100.0);

	return cp_gate_metrics[metric].more_is_better ? -d : d;
}

double cp_gate_pct(enum cp_gate_metric metric, double d)
{
	return 100.0 * expm1(cp_gate_metrics[metric].more_is_better ? -d : d);
}

static const char *scaled(double value, const char *const *units, char *buf, size_t size)
{
	unsigned i = 0;

	while (fabs(value) >= 1000.0 && units[i + 1]) {
		value /= 1000.0;
		i++;
	}
	snprintf(buf, size, "%.4g%s", value, units[i]);
	return buf;
}

const char *cp_gate_value_format(enum cp_gate_metric metric, double value, char *buf,
				 size_t size)
{
	static const char *const bytes[] = {" B/s",  " kB/s", " MB/s",
					    " GB/s", " TB/s", NULL};
	static const char *const counts[] = {"", "k", "M", "G", NULL};
	static const char *const times[] = {" ns", " us", " ms", " s", NULL};

	if (isnan(value)) {
		snprintf(buf, size, "-");
		return buf;
	}
	switch (metric) {
	case CP_GATE_BW:
		return scaled(value, bytes, buf, size);
	case CP_GATE_CPU:
		snprintf(buf, size, "%.4g ns/B", value);
		return buf;
	case CP_GATE_P50:
	case CP_GATE_P99:
	case CP_GATE_P999:
	case CP_GATE_FAULT_P50:
	case CP_GATE_FAULT_P99:
	case CP_GATE_FAULT_USER:
	case CP_GATE_FAULT_SYS:
		return scaled(value, times, buf, size);
	case CP_GATE_IOPS:
	case CP_GATE_ERRORS:
	case CP_GATE_FALLBACKS:
	case CP_GATE_CORUNNER:
	case CP_GATE_CORUNNER_CPU:
	case CP_GATE_APP:
	case CP_GATE_FAULTS:
	case CP_GATE_NR_ALL:
		break;
	}
	return scaled(value, counts, buf, size);
}
