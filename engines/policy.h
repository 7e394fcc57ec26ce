/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy file: read, checked, written; and the compiled table that answers one I/O.
 * The only owner of the format (design: `kind: policy`, schema 1).
 *
 * Reading collects every problem with its place. Writing is whole or not at all, and
 * reading back what was written gives the same policy.
 */
#ifndef CP_ENGINES_POLICY_H
#define CP_ENGINES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engines/base/cell.h"
#include "engines/base/err.h"
#include "engines/base/host.h"

#define CP_POLICY_SIZES_MAX 9 /* intervals a row: at most 8 breakpoints */
#define CP_POLICY_OPEN	    UINT32_MAX

struct cp_range { /* inclusive; min 0 = from the start, max CP_POLICY_OPEN = open */
	uint32_t min, max;
};

struct cp_when {
	enum cp_dir dir; /* rw: read or write */
	char layer[CP_SPEC_TEXT_MAX], attr[CP_WORD_MAX], numa[CP_WORD_MAX];
	uint32_t misalign_near, misalign_far;
	struct cp_range jobs, load, segments;
};

struct cp_action {		/* what can change per I/O */
	char name[CP_NAME_MAX]; /* the arm it came from */
	char path[CP_WORD_MAX]; /* cpu or dma */
	char copy[CP_WORD_MAX]; /* cpu only; "" otherwise */
};

struct cp_policy_size {
	uint64_t upto;	/* bytes, inclusive; UINT64_MAX = max */
	uint64_t above; /* exclusive lower end, when it is not the previous entry's upto;
			   0 = it is. Lets a row be decided on both sides of an undecided
			   gap */
	struct cp_action act;	     /* rules: do; undecided: use */
	struct cp_action best;	     /* undecided only: the arm it leans to */
	double gain_pct, confidence; /* NaN = not given */
	uint32_t samples;
	/* where this interval's upper end really lies; at 0 = not given */
	uint64_t crossover_at, crossover_low, crossover_high;
};

struct cp_rule {
	struct cp_when when;
	bool decided;
	char reason[CP_WORD_MAX]; /* undecided: not_enough_evidence, tie, noise_limited */
	uint32_t samples_needed;  /* undecided: 0 = not known */
	unsigned nr_sizes;
	struct cp_policy_size sizes[CP_POLICY_SIZES_MAX];
};

struct cp_device {
	char queue_mode[CP_WORD_MAX];
	uint32_t queue_depth, q_per_node;
	char completion[CP_WORD_MAX];
	uint64_t dma_thresh_read,
		dma_thresh_write; /* bytes, multiple of 512; 0 = never */
	/* of the writes it was learned from: a device has one for all I/Os */
	char flush[CP_WORD_MAX], fence[CP_WORD_MAX], persist[CP_WORD_MAX];
	double regret_pct; /* against the full table, traffic-weighted; NaN = not known */
};

struct cp_objective {
	char name[CP_WORD_MAX];
	double elapsed, cpu, tail; /* J weights, see policies/objective.h */
	double corunner;	   /* likewise; above 0 the others are 0 */
	double slo_p99_ns;	   /* NaN = null */
	double min_bw_frac;	   /* NaN = null */
};

struct cp_policy {
	char name[CP_NAME_MAX];
	/* learned; "" / 0 when absent */
	unsigned nr_from;
	char from[16][256];
	char host[128];
	char fingerprint[CP_FINGERPRINT_MAX]; /* "" fits any host */
	uint64_t samples;
	char driver[CP_WORD_MAX]; /* who made the I/Os it was learned from: fio, swap,
				     exec */
	struct cp_objective objective;
	char media[CP_WORD_MAX], attr[CP_WORD_MAX], dma[CP_WORD_MAX]; /* provenance */
	struct cp_device device;
	unsigned nr_rules;	/* decided and undecided */
	struct cp_rule *rules;	/* owned */
	struct cp_arm fallback; /* default: queue_mode, path, copy (and dma) */
};

int cp_policy_read(const char *path, struct cp_policy *ret_policy, struct cp_err *err);
int cp_policy_write(const struct cp_policy *policy, const char *path, struct cp_err *err);
/* The same text to a stream (stdout); the caller checks it. 0 or -EIO. */
int cp_policy_print(const struct cp_policy *policy, FILE *out);
void cp_policy_free(struct cp_policy *policy); /* a zeroed one is fine */
void cp_policy_init(struct cp_policy *policy); /* empty: incumbent everywhere */

/*
 * The rule and interval that answer a context; false: the default answers. The first rule
 * in the file whose `when` and one of whose size intervals hold wins (decided rules come
 * first). Jobs of 64 and more, loads of 256 and more and 1024 segments and more are one
 * class each, as in the compiled table.
 */
struct cp_policy_answer {
	const struct cp_rule *rule;	   /* NULL: default */
	const struct cp_policy_size *size; /* NULL: default */
	struct cp_action act;		   /* what to use, always filled */
};
bool cp_policy_answer(const struct cp_policy *policy, const struct cp_context *context,
		      struct cp_policy_answer *ret_answer);

/*
 * The compiled table: one 64-byte row of 8 breakpoints and 8+1 actions for each
 * (direction, jobs, load, segments) class. Immutable once compiled; any number of threads
 * may look up.
 */
#define CP_PICK_ACTIONS_MAX 32
struct cp_policy_row {
	/* Inclusive, rising, as cp_policy_key() of the bytes, whose highest pads; larger
	 * sizes: last action. */
	int32_t upto[8];
	uint16_t act[16]; /* index into actions; act[number of upto below bytes] */
} __attribute__((aligned(64)));

struct cp_policy_table {
	struct cp_policy_row *rows;
	uint8_t jobs_class[65];	      /* by min(jobs, 64) */
	uint8_t load_class[257];      /* by min(load, 256) */
	uint8_t segments_class[1025]; /* by min(segments, 1024) */
	uint8_t nr_jobs, nr_load, nr_segments;
	unsigned nr_rules; /* of the context; 0: the default answers everything */
	unsigned nr_actions;
	struct cp_action actions[CP_PICK_ACTIONS_MAX];
};

/* Select the rules of the layer, attr, numa, misalign_near and misalign_far of a context
 * and compile them; where several rules match, the first in the file wins; where none
 * does, the default answers. */
int cp_policy_compile(const struct cp_policy *policy, const struct cp_context *context,
		      struct cp_policy_table **ret_table, struct cp_err *err);
void cp_policy_table_free(struct cp_policy_table *table);

static inline unsigned cp_policy_segments_class(const struct cp_policy_table *table,
						uint32_t segments)
{
	return table->segments_class[segments < 1024 ? segments : 1024];
}

/* Rows of the same direction, jobs and load follow each other by class of segments: a
 * submitter, whose jobs and load are fixed, looks up those once. */
static inline const struct cp_policy_row *
cp_policy_row(const struct cp_policy_table *table, enum cp_dir dir, uint32_t jobs,
	      uint32_t load, uint32_t segments)
{
	unsigned j = table->jobs_class[jobs < 64 ? jobs : 64];
	unsigned l = table->load_class[load < 256 ? load : 256];
	unsigned s = cp_policy_segments_class(table, segments);

	return &table->rows[((((unsigned)dir * table->nr_jobs) + j) * table->nr_load +
			     l) * table->nr_segments +
			    s];
}

/* Bytes, at most UINT32_MAX of them, less 2^31: SSE2 compares signed numbers only. */
static inline int32_t cp_policy_key(uint64_t bytes)
{
	uint32_t size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;

	return (int32_t)(size ^ 1U << 31);
}

/* Index into table->actions, by a row. Without a branch: the breakpoints rise, so those
 * below bytes are the leading ones of a comparison with all eight. */
static inline unsigned cp_policy_row_pick(const struct cp_policy_row *row, uint64_t bytes)
{
#if defined(__SSE2__)
	const __m128i key = _mm_set1_epi32(cp_policy_key(bytes));
	const __m128i *upto = (const __m128i *)row->upto;
	__m128i low = _mm_cmpgt_epi32(key, _mm_load_si128(upto));
	__m128i high = _mm_cmpgt_epi32(key, _mm_load_si128(upto + 1));
	/* two bits each; the upper half of the word is none, which ends the count */
	unsigned mask = (unsigned)_mm_movemask_epi8(_mm_packs_epi32(low, high));

	return row->act[(unsigned)__builtin_ctz(~mask) / 2];
#else
	int32_t key = cp_policy_key(bytes);
	unsigned below = 0;

	for (unsigned i = 0; i < 8; i++)
		below += key > row->upto[i];
	return row->act[below];
#endif
}

/* The same, the row looked up too. */
static inline unsigned cp_policy_pick(const struct cp_policy_table *table,
				      enum cp_dir dir, uint64_t bytes, uint32_t jobs,
				      uint32_t load, uint32_t segments)
{
	return cp_policy_row_pick(cp_policy_row(table, dir, jobs, load, segments), bytes);
}

#endif
