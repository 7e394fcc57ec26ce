/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RUN/profiles/NAME.json: where the CPU time of one cell goes, symbol by symbol, beside
 * what that very run delivered. The only reader and writer of the format;
 * results/SCHEMA.md documents it.
 *
 * A profile is of an extra run of its cell: sampling perturbs, so its record is kept here
 * and never stands among records.jsonl. The long tail of symbols is summed in rest.
 *
 * Threading: pure but for the file; any thread.
 */
#ifndef CP_RESULTS_PROFILE_H
#define CP_RESULTS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/record.h"

#define CP_PROFILE_SYMBOLS_MAX 200 /* that are kept one by one */

struct cp_profile_symbol {
	char dso[96];
	char symbol[160]; /* "(no symbol)": all that have no name, of a stripped file */
	bool kernel;
	uint64_t samples;
	double weight; /* in the profile's unit */
};

struct cp_profile {
	char event[48];	    /* cpu-clock, cycles; as perf has it */
	uint32_t frequency; /* samples a second of CPU time that were asked for */
	char unit[8];	    /* of weight: "ns" of CPU time or "cycles" */
	bool user_only;	    /* the kernel's part was not permitted */
	bool windowed;	    /* of the measuring window; else of the whole process */
	uint64_t samples;
	double weight;
	size_t nr_symbols;		   /* most weight first */
	struct cp_profile_symbol *symbols; /* owned */
	size_t nr_rest;			   /* symbols that are summed */
	uint64_t rest_samples;
	double rest_weight;
	struct cp_record record; /* the run it is of: cell, metrics, proof; raw is NULL */
};

void cp_profile_init(struct cp_profile *profile);
void cp_profile_free(struct cp_profile *profile); /* a zeroed one is fine */
/* A symbol more, in any order; the same twice is summed. -ENOMEM. */
int cp_profile_add(struct cp_profile *profile, const struct cp_profile_symbol *symbol);
/* Sort, and sum the tail; once all are added. */
void cp_profile_finish(struct cp_profile *profile);

/* I/Os of its run, faults where it made those, else what the application calls its work;
 * NaN where none is known. *ret_word (may be NULL): "I/O", "fault" or "op". */
double cp_profile_work(const struct cp_profile *profile, const char **ret_word);
/* CPU ns for each unit of work that `weight` of it stands for: direct where the unit is
 * ns, else the share of the run's CPU time, or of its user time where only that was
 * counted. NaN where it is not known. */
double cp_profile_ns(const struct cp_profile *profile, double weight);

/* "0003-mq-sw.json" for the plan's cell 3, arm "mq/sw". Returns buf. */
char *cp_profile_name(size_t cell, const char *arm, char *buf, size_t size);
/* Whole or not at all. */
int cp_profile_write(const char *path, const struct cp_profile *profile,
		     struct cp_err *err);
/* Errors (exit 4) name the file. */
int cp_profile_read(const char *path, struct cp_profile *ret, struct cp_err *err);

#endif
