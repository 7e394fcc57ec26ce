/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two profiles side by side: the CPU time of an I/O, symbol by symbol, in both arms, and
 * what each delivered while it was sampled. A list of shares alone cannot be compared: a
 * symbol with the same share of a run that did half the I/Os costs twice as much.
 *
 * Sampling is counting, so a symbol with n samples has a standard deviation of sqrt(n)
 * (Poisson). A change below two of those, of both sides together, is within noise.
 *
 * Private to report/.
 */
#ifndef CP_REPORT_PROFILE_H
#define CP_REPORT_PROFILE_H

#include "report/page.h"
#include "results/profile.h"

struct cp_report_profile_row {
	const char *symbol, *dso; /* of a profile's symbols */
	bool kernel;
	uint64_t samples[2];
	double ns[2];		    /* of CPU for each I/O */
	double change_ns, noise_ns; /* B - A, and two standard deviations of it */
	bool sure;		    /* the change is above the noise */
};

struct cp_report_profile_pair {
	const struct cp_profile *side[2];
	struct cp_report_profile_row total; /* symbol "all" */
	size_t nr;
	struct cp_report_profile_row *rows; /* owned; sure ones first, largest first */
};

struct cp_report_profiles {
	size_t nr;
	struct cp_profile *list; /* owned */
	size_t nr_pairs;
	struct cp_report_profile_pair *pairs; /* owned */
};

/* -ENOMEM. Symbols of our two plug-ins are the same code, and matched as such. */
int cp_report_profile_compare(const struct cp_profile *a, const struct cp_profile *b,
			      struct cp_report_profile_pair *ret);
/*
 * The profiles of all runs, and which are compared: with --profile A,B those two arms in
 * each context; else, in each context, the incumbent (or the fastest CPU arm) with the
 * fastest other that moves its bytes (one that offloads where there is any), and arms
 * that differ in their queue_mode only. Once all cells stand. An arm without a profile in
 * --profile is exit 2.
 */
int cp_report_profiles_load(struct cp_report *report, struct cp_err *err);
void cp_report_profiles_free(struct cp_report *report);

/* Every symbol of every profile, for tables/profiles.csv. */
void cp_report_profiles_table(const struct cp_report *report,
			      struct cp_report_table *table);
void cp_report_profiles_write(const struct cp_report *report, struct cp_report_doc *doc);

#endif
