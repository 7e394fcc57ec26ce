/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes two sets incomparable as a whole, before any figure is looked at. */
#include <errno.h>
#include <string.h>

#include "bench/gate/gate.h"

static int invalid(struct cp_gate_report *report, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int invalid(struct cp_gate_report *report, const char *what, const char *fmt, ...)
{
	struct cp_gate_row *row = cp_gate_row_add(report, "(all)", what);
	va_list args;

	if (!row)
		return -ENOMEM;
	row->verdict = CP_VERDICT_INVALID;
	va_start(args, fmt);
	vsnprintf(row->reason, sizeof(row->reason), fmt, args);
	va_end(args);
	return 0;
}

static int check_side(struct cp_gate_report *report, const struct cp_gate_set *set,
		      const char *side)
{
	const struct cp_manifest *manifest = &set->manifest;
	int rc = 0;

	if (set->broken[0])
		rc |= invalid(report, "records", "%s: %.480s", side, set->broken);
	if (set->has_manifest && !manifest->complete)
		rc |= invalid(
			report, "records",
			"%s: the run is not complete: %llu of %llu samples; finish it "
			"with run --resume",
			side, (unsigned long long)set->nr_records,
			(unsigned long long)manifest->planned);
	else if (set->has_manifest && set->nr_records < manifest->planned)
		rc |= invalid(
			report, "records",
			"%s: the manifest says complete, but %llu of %llu samples are "
			"there",
			side, (unsigned long long)set->nr_records,
			(unsigned long long)manifest->planned);
	if (set->nr_duplicates)
		rc |= invalid(report, "records",
			      "%s: %llu duplicated samples, first %.300s", side,
			      (unsigned long long)set->nr_duplicates, set->duplicate);
	if (set->other_host[0])
		rc |= invalid(
			report, "records",
			"%s: samples of more than one host ('%s', '%s'); expected one",
			side, set->host, set->other_host);
	return rc;
}

static int check_manifests(struct cp_gate_report *report, const struct cp_gate_set *a,
			   const struct cp_gate_set *b, const struct cp_gate_opts *opts)
{
	char diff[420];
	int rc = 0;

	if (!a->has_manifest && !b->has_manifest) {
		cp_gate_note(report, "neither side has a manifest: the fingerprint is "
				     "unknown, the machines may differ");
		return 0;
	}
	if (!a->has_manifest || !b->has_manifest)
		return invalid(
			report, "manifest",
			"the %s has no manifest; expected one on both sides or none",
			a->has_manifest ? "candidate" : "baseline");
	if (strcmp(a->manifest.config_hash, b->manifest.config_hash) != 0)
		rc |= invalid(report, "config",
			      "the runs are of different configurations (%.24s..., "
			      "%.24s...); expected the same",
			      a->manifest.config_hash, b->manifest.config_hash);
	if (strcmp(a->manifest.fingerprint, b->manifest.fingerprint) != 0) {
		cp_gate_hard_diff(&a->manifest, &b->manifest, diff, sizeof(diff));
		if (opts->ignore_fingerprint)
			cp_gate_note(report,
				     "fingerprint mismatch overridden by "
				     "--ignore-fingerprint: %s",
				     diff);
		else
			rc |= invalid(report, "fingerprint", "the machines differ: %s",
				      diff);
	}
	return rc;
}

int cp_gate_check_sets(struct cp_gate_report *report, const struct cp_gate_set *a,
		       const struct cp_gate_set *b, const struct cp_gate_opts *opts)
{
	int rc = check_side(report, a, "baseline");

	rc |= check_side(report, b, "candidate");
	/* what could not be read cannot be compared either */
	if (!a->broken[0] && !b->broken[0])
		rc |= check_manifests(report, a, b, opts);
	if (a->run[0] && !strcmp(a->run, b->run) && !strcmp(a->host, b->host))
		cp_gate_note(report, "both sides are samples of the same run '%.120s'",
			     a->run);
	return rc ? -ENOMEM : 0;
}
