/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a report works on: cells (context x arm x provenance x host) with medians and
 * intervals, grouped into panels (everything of a context but bs), and the policy's
 * choice in each context. Private to report/.
 */
#ifndef CP_REPORT_DATA_H
#define CP_REPORT_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/policy.h"
#include "policies/learn.h"
#include "report/report.h"
#include "results/published_dma.h"
#include "results/record.h"
#include "results/run.h"

enum cp_report_value {
	VALUE_BW,	  /* bytes/s */
	VALUE_CPU,	  /* percent of one CPU, the whole process */
	VALUE_CPU_SUBMIT, /* percent: submitters */
	VALUE_CPU_ENGINE, /* percent: engine threads */
	VALUE_CPU_BYTE,	  /* CPU ns a byte */
	VALUE_IOPS,	  /* I/Os per second of the wall clock */
	VALUE_IOPS_CPU,	  /* I/Os per second of the submitters' CPU time */
	VALUE_P50,	  /* ns */
	VALUE_P99,	  /* ns */
	VALUE_LAT_MEAN,	  /* ns, of all I/Os */
	/* ns: where the time of an offloaded I/O went */
	VALUE_DMA_PREPARE,
	VALUE_DMA_SUBMIT,
	VALUE_DMA_WAIT,
	VALUE_DMA_COMPLETE,
	/* CPU ns an I/O: the submitters', the engine's threads (who wakes others among
	 * them), all */
	VALUE_IO_SUBMIT,
	VALUE_IO_ENGINE,
	VALUE_IO_CPU,
	/* what ran beside the I/O: work per second beside it, before it, and of the one
	 * over the other in percent; work per second of its own CPU time */
	VALUE_CORUNNER,
	VALUE_CORUNNER_ALONE,
	VALUE_CORUNNER_SHARE,
	VALUE_CORUNNER_CPU,
	VALUE_CORUNNER_ALONE_CPU,
	VALUE_STEAL, /* percent of its CPUs' time */
	VALUE_FAULTS_PER_S,
	VALUE_FAULT_P50, /* ns */
	VALUE_FAULT_P99,
	VALUE_FAULT_P999,
	VALUE_FAULT_USER, /* CPU ns a fault */
	VALUE_FAULT_SYS,
	VALUE_APP, /* what an application calls its work, per second */
	VALUE_NR,
};

struct cp_report_stat {
	uint32_t n;
	double median, low, high; /* NaN when n is 0 */
	double level;		  /* what [low, high] really covers */
	double *samples;
	size_t cap;
};

/* A counter of perf, per I/O. */
struct cp_report_counter {
	char name[sizeof(((struct cp_perf_counter *)0)->name)];
	uint32_t unsupported; /* samples in which it was asked for and not there */
	struct cp_report_stat stat;
};

#define REPORT_LABEL_MAX 160
struct cp_report_arm {
	struct cp_arm arm;
	char dma[CP_WORD_MAX];	      /* provenance */
	char label[REPORT_LABEL_MAX]; /* visible, unique in the report */
	unsigned place;		      /* order of first sight, while collecting */
	bool simulated;		      /* null: the harness's own cost */
};

struct cp_report_cell {
	char host[CP_NAME_MAX];
	struct cp_context context;
	struct cp_provenance provenance;
	unsigned arm; /* index */
	uint64_t key; /* hash of all of the above */
	uint32_t n, failed;
	char copy[CP_SPEC_TEXT_MAX]; /* kernel the samples copied with; "" = DMA, or they
				   differ */
	char copies[REPORT_LABEL_MAX]; /* all that samples copied with, "a; b" */
	struct cp_report_stat values[VALUE_NR];
	/* bytes, fallbacks and counters of the queue, summed over its samples; no other
	 * member is set */
	struct cp_proof sums;
	double faults;			    /* of driver swap, summed likewise */
	struct cp_report_counter *counters; /* owned; in the order of first sight */
	size_t nr_counters;
	uint32_t depth; /* the most I/Os of a job in flight in any sample; 0 not known */
	/* the same with nothing misaligned, where this one is and that was measured */
	const struct cp_report_cell *aligned;
	/* from the learner; NaN and false where it did not take the cell */
	double cost;
	bool judged, pareto, excluded;
	bool chosen; /* shows what the policy's answer costs in this context */
	/* the arm the rule says, where another one, or it in another mode than the
	 * device's, shows its cost (policies/served.h); else "" */
	char stands_for[CP_NAME_MAX];
};

/* One host, media, layer, ..., direction and load; cells [first, first + nr) by size. */
struct cp_report_panel {
	const struct cp_report_cell *like; /* its first cell */
	size_t first, nr;
	unsigned nr_sizes; /* distinct bs */
};

struct cp_report_failure {
	char run[CP_NAME_MAX], host[CP_NAME_MAX], cell[512], reason[256];
	uint32_t sample;
};

struct cp_report_run {
	const char *path;
	bool has_manifest;
	struct cp_manifest manifest;
};

struct cp_report_attrs;	   /* attrs.h */
struct cp_report_profiles; /* profile.h */

struct cp_report {
	const struct cp_report_opts *opts;
	char title[512];
	struct cp_report_run *runs;
	size_t nr_runs;
	uint64_t nr_samples, nr_failed, nr_verified;

	struct cp_report_arm *arms;
	size_t nr_arms;
	struct cp_report_cell *cells;
	size_t nr_cells;
	struct cp_report_panel *panels;
	size_t nr_panels;
	struct cp_report_failure *failures;
	size_t nr_failures;
	uint64_t *sample_keys; /* for duplicates */
	size_t nr_sample_keys;
	struct cp_report_attrs *attrs;	     /* owned; NULL: no more than one attribute */
	struct cp_report_profiles *profiles; /* owned */
	struct cp_published_dma published;   /* of CPU beside DMA */
	bool has_published;

	struct cp_learn *learn; /* NULL: the learner refused, see judge_note */
	char judge_note[CP_ERR_MSG_MAX];
	char objective_note[CP_ERR_MSG_MAX]; /* where the objective comes from; "" */
	bool has_policy, policy_learned_here;
	char policy_path[4096];
	struct cp_policy policy;
	bool has_regret, has_default_regret;
	struct cp_regret regret, default_regret;
};

/* Collecting (collect.c). */
int cp_report_add_record(struct cp_report *report, const struct cp_record *record,
			 struct cp_err *err);
/* Medians, order, panels; duplicates are an error. */
int cp_report_finish_cells(struct cp_report *report, struct cp_err *err);
/* Grow *array (of nr elements) to hold one more; the new element is zeroed. */
int cp_report_grow(void *array, size_t *nr, size_t size, struct cp_err *err);

/* Judging (judge.c). */
int cp_report_judge_begin(struct cp_report *report, struct cp_err *err);
void cp_report_judge_add(struct cp_report *report, const struct cp_record *record);
void cp_report_judge_finish(struct cp_report *report);

/* The policy's answer for a cell's context. */
bool cp_report_answer(const struct cp_report *report, const struct cp_context *context,
		      struct cp_policy_answer *ret_answer);
/* Index of the arm an action stands for among `cells`, or -1. */
const struct cp_report_cell *cp_report_action_cell(const struct cp_report *report,
						   const struct cp_report_cell *cells,
						   size_t nr,
						   const struct cp_action *act);
/* The cells of one context within a panel: from *at, sets *ret_nr, moves *at on. */
const struct cp_report_cell *cp_report_next_context(const struct cp_report *report,
						    const struct cp_report_panel *panel,
						    size_t *at, size_t *ret_nr);
/* The incumbent (bio, CPU copy) among cells of one context, or NULL. */
const struct cp_report_cell *cp_report_incumbent(const struct cp_report *report,
						 const struct cp_report_cell *cells,
						 size_t nr);

/* Rivals (rivals.c). What an interval's arm was compared with at the sizes measured. */
struct cp_report_rivals {
	char next[REPORT_LABEL_MAX * 2]; /* runner-up, "a or b" by size; "" = not known */
	/* J of the rule's own arm over the incumbent's, where no rule can choose that;
	 * NaN = none such was measured */
	double incumbent_pct;
	unsigned nr_incumbent;	/* contexts it is a mean of */
	char mode[CP_WORD_MAX]; /* in which the rule's own arm was measured */
};
void cp_report_rivals(const struct cp_report *report, const struct cp_policy_size *size,
		      struct cp_report_rivals *ret);
/* Was the policy learned from these samples? */
bool cp_report_is_of_policy(const struct cp_report *report);
/* Do the rules answer every I/O of the layers, attributes and NUMA places they name? */
bool cp_report_rules_cover(const struct cp_report *report);

/* Over another cell's (ratio.c). Samples of one round are a pair: the figure is the
 * median of the pairs' ratios, with its interval from order statistics. Where the counts
 * differ, or a sample failed, there are no pairs: the ratio of the medians, and no
 * interval. */
struct cp_report_ratio {
	double median, low, high; /* NaN: not known */
};
struct cp_report_ratio cp_report_ratio(const struct cp_report_cell *cell,
				       const struct cp_report_cell *base,
				       enum cp_report_value value);

/* "1 job x iodepth 16" and the like; buf is returned. */
char *cp_report_load_words(const struct cp_context *context, char *buf, size_t size);
/* "read, 1 job x iodepth 16, media file, layer btt": only what is not the default. */
char *cp_report_panel_words(const struct cp_report *report,
			    const struct cp_report_panel *panel, char *buf, size_t size);
/* "media anon native, DMA software, null modelled". */
char *cp_report_panel_provenance(const struct cp_report *report,
				 const struct cp_report_panel *panel, bool with_simulated,
				 char *buf, size_t size);
/* ", driver swap, resident 64m, handler apart", "": fio's I/Os to a target that takes
 * pages. What no fio job has is said of it alone. Returns buf. */
char *cp_report_driver_words(const struct cp_context *context, char *buf, size_t size);
/* Are its figures of faults and not of I/Os? They stand in a section of their own and in
 * no figure or table of bandwidth. */
bool cp_report_is_swap(const struct cp_context *context);
/* Two contexts as one in what a driver adds to them. */
bool cp_report_same_driver(const struct cp_context *a, const struct cp_context *b);
char *cp_report_size_words(uint64_t bytes, char *buf, size_t size);
/* What a context or a rule has beside direction, size and load, only what is not usual:
 * ", media file native, attr uc emulated, misaligned near 8"; "" for anon memory as it
 * is. Without provenance (NULL) it is left out. Returns buf. */
char *cp_report_context_words(const struct cp_context *context,
			      const struct cp_provenance *provenance, char *buf,
			      size_t size);
char *cp_report_when_words(const struct cp_policy *policy, const struct cp_when *when,
			   char *buf, size_t size);
/* "up to 4k", "above 4k up to 64k", "at 4k", "above 64k", "every size". */
char *cp_report_interval_words(const struct cp_rule *rule, unsigned s, char *buf,
			       size_t size);
const char *cp_report_dir_word(enum cp_dir dir);
void cp_report_warn(const struct cp_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
