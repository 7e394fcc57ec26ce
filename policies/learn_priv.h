/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the learner. Samples are gathered in cells (context x arm); cells of one
 * context-but-for-size are a row; the cells of one arm in a row are a curve over sizes.
 *
 * The steps, one file each: learn.c (gather), rows.c (rows and curves), spread.c (how
 * much a cell's mean may be off), model.c and curves.c (a curve between and around its
 * sizes), solve.c (their order, and the queue mode of the rules), decide.c (which arm,
 * how sure), compress.c (few intervals), pieces.c,
 * evidence.c and rules.c (the rules and what they rest on), promise.c (whose writes are
 * no rivals), device.c (one setting for a driver).
 */
#ifndef CP_POLICIES_LEARN_PRIV_H
#define CP_POLICIES_LEARN_PRIV_H

#include <stdarg.h>
#include <stdbool.h>

#include "policies/learn.h"

#define LEARN_SIZES_MAX 128 /* distinct sizes of one curve */
#define LEARN_ARMS_MAX	64  /* arms in one row */
#define LEARN_GRID_MAX	512
#define LEARN_REGRET	0.0198026 /* ln 1.02: a regret that does not matter */
#define LEARN_SURE	0.95
#define LEARN_NOTES_MAX 16

enum learn_part { PART_ELAPSED, PART_CPU, PART_P99, PART_SLOWDOWN, PART_NR };

/* Is the part of a whole I/O, or of all of them, and not of a byte? */
static inline bool learn_part_whole(enum learn_part part)
{
	return part == PART_P99 || part == PART_SLOWDOWN;
}

struct learn_sample {
	/* ns/byte, cpu ns/byte, p99 in ns, and the co-runner's slowdown, a ratio; NaN =
	 * null */
	double ns[PART_NR];
	double bw, cpu_pct, p50_ns;
};

struct learn_cell {
	struct cp_context context;
	struct cp_arm arm;
	struct cp_provenance provenance;
	char copy[CP_SPEC_TEXT_MAX]; /* as in cp_learn_cell */
	struct learn_sample *samples;
	unsigned n, room;
	/* derived by learn_spread() */
	double ln_part[PART_NR]; /* of the cell's typical sample, NaN = not known */
	double ln_cost;
	double var;   /* of one sample's ln J, shrunk */
	double dof;   /* of var */
	double var_0; /* as measured in this cell, NaN below 2 samples */
};

struct learn_fit {
	double alpha_ns, beta_ns; /* t = alpha + beta * bs, a whole I/O */
	unsigned nr_knots;
	double knot_x[LEARN_SIZES_MAX]; /* log2 bytes */
	double knot_r[LEARN_SIZES_MAX]; /* ln t's residual there */
};

struct learn_curve {
	const struct cp_arm *arm;
	unsigned nr; /* sizes, rising */
	const struct learn_cell **cells;
	struct learn_fit fits[PART_NR];
	double *loo;	    /* ln J of each size, predicted without it; NaN = cannot */
	double *mean, *var; /* ln J at each size, cell and model together */
	double tau2;	    /* interpolation variance of ln J */
};

struct learn_row {
	struct cp_context key; /* bs and segments mean nothing */
	bool noise_known;      /* as of all records */
	bool page;	       /* the rules are among page arms, else among the others */
	struct cp_range jobs, load;
	unsigned nr_curves;
	struct learn_curve *curves;
	unsigned nr_grid;
	uint64_t *grid;
	/* [curve * nr_grid + point]; NaN mean: the arm is not known there */
	double *mean, *var, *dof, *ln_elapsed, *ln_p99;
	bool *excluded; /* no rule's choice: standby, or beyond a hard limit */
	bool *beyond;	/* a hard limit */
	double *sure;	/* P(regret <= 2 %) */
	int *incumbent; /* curve by point, standby or not; -1 = not known there */
	int *choice;	/* curve by point after compression */
};

struct cp_learn {
	struct cp_objective objective;
	struct learn_cell *cells;
	size_t nr_cells, room;
	struct cp_learn_counts counts;
	char host[CP_NAME_MAX];
	char driver[CP_WORD_MAX];
	struct cp_provenance provenance;
	struct learn_witness {
		struct cp_context context;
		struct cp_arm arm;
	} media_of, attr_of, dma_of; /* the sample that a provenance is of */
	bool any;
	bool noise_known; /* some cell has two samples or more; set by learn_spread() */
	struct learn_row *rows;
	size_t nr_rows;
	struct cp_learn_cell *view;
	size_t nr_view;
	char notes[LEARN_NOTES_MAX][256];
	unsigned nr_notes;
};

void learn_note(struct cp_learn *learn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int learn_no_memory(struct cp_err *err);

/* J of a sample or of predicted parts, NaN where one that has weight is. */
double learn_cost(const struct cp_objective *objective, const double *ns, double bytes);
/* The same as ln, never below that of a tiny positive number. */
double learn_ln_cost(const struct cp_objective *objective, const double *ns,
		     double bytes);

/* rows.c */
int learn_rows_build(struct cp_learn *learn, struct cp_err *err);
void learn_rows_free(struct cp_learn *learn);
/* What learn_grid_make() and learn_decide() left, for another go. */
void learn_row_forget(struct learn_row *row);

/* spread.c: fills the derived fields of all cells. */
int learn_spread(struct cp_learn *learn, struct cp_err *err);

/*
 * model.c. x: sizes in bytes (rising), y: ln ns per byte at each. skip: index to leave
 * out, -1 = none.
 */
void learn_fit_line(const double *x, const double *y, unsigned nr, int skip,
		    struct learn_fit *fit);
/* With knots where they pay; loo[i] is the prediction of y[i] without it (NaN when nr is
 * 1). */
void learn_fit_curve(const double *x, const double *y, unsigned nr, struct learn_fit *fit,
		     double *loo);
double learn_fit_eval(const struct learn_fit *fit, double bytes); /* ln ns per byte */
/* curves.c: fits of every curve of every row, and what cell and model say together. */
int learn_curves(struct cp_learn *learn, struct cp_err *err);

/* decide.c */
int learn_grid_make(struct learn_row *row, struct cp_err *err);
void learn_decide(const struct cp_learn *learn, struct learn_row *row);
/* Not for rules: an arm of another queue mode than the rules are made in, so page among
 * others or the other way round, and a bio arm where the CPU was measured in mq as well.
 */
bool learn_standby(const struct learn_row *row, unsigned c);
/* P(J of a <= (1 + slack) J of b) at a point, by Student's t. NaN where one of them is
 * not known there, or nothing at all of the noise: no gap is then wide enough. */
double learn_better(const struct learn_row *row, unsigned a, unsigned b, unsigned point,
		    double slack);

/* compress.c: row->choice, then the rules of the row are appended to the policy. */
int learn_compress(struct learn_row *row, struct cp_err *err);

/* rules.c */
int learn_rules_add(struct cp_learn *learn, const struct learn_row *row,
		    struct cp_policy *policy, unsigned *decided, struct cp_err *err);
void learn_action(const struct cp_arm *arm, const struct cp_context *context,
		  uint64_t bytes, struct cp_action *act);

/* promise.c: refuses writes that are no rivals; fills the device's flush, fence, persist.
 */
int learn_promise(const struct cp_learn *learn, struct cp_device *device,
		  struct cp_err *err);

/* device.c */
struct learn_setting {
	const struct cp_arm *cpu, *dma;
	uint64_t thresh; /* 0 = never */
	double cost;   /* mean excess ln J where no hard limit is broken; NaN = cannot be
			  judged */
	double beyond; /* share of the points where one is */
	bool table_known; /* cost is against what the rules do, all of it */
};
/* In bio or mq, or in page. settings[2] by direction: what the device was set to, or
 * where bio is kept unmeasured, mq. */
void learn_device(struct cp_learn *learn, struct cp_policy *policy, bool page,
		  struct learn_setting *settings);
/* Is page, so set, better than the other mode, so set, wherever that is known? Adds a
 * note on how they compare. mode: its name. */
bool learn_page_pays(struct cp_learn *learn, const struct learn_setting *other,
		     const struct learn_setting *page, const char *mode);

/* pareto.c: marks the cells of one context. */
void learn_pareto(const struct cp_objective *objective, struct cp_learn_cell *cells,
		  size_t nr);

#endif
