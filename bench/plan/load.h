/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that read a workload; nobody else includes this. */
#ifndef CP_BENCH_PLAN_LOAD_H
#define CP_BENCH_PLAN_LOAD_H

#include "bench/plan/plan.h"
#include "engines/base/yaml.h"

#define AXIS_VALUES_MAX 64
#define AXES_MAX	24

/* One key that may be swept: the good values of its list. */
struct cp_axis {
	const char *name;
	const struct cp_field *field; /* NULL: segment or dma_thresh, a size */
	bool swept;		      /* it was a list */
	size_t nr;
	const struct cp_yaml_node *nodes[AXIS_VALUES_MAX];
};

struct cp_axes {
	size_t nr;
	struct cp_axis axis[AXES_MAX];
};

struct cp_load_context {
	struct cp_context context;
	uint64_t segment_bytes;
};

struct cp_load_only {
	const struct cp_field *field;
	size_t nr;
	char values[AXIS_VALUES_MAX][CP_SPEC_TEXT_MAX];
};

struct cp_load_arm {
	struct cp_arm arm;
	const struct cp_yaml_node *map;
	size_t nr_only;
	struct cp_load_only
		*only; /* shared by the arm's sweep, owned by cp_load.only[] */
};

struct cp_load {
	struct cp_yaml *doc;
	struct cp_plan *plan;
	struct cp_axes axes; /* of contexts */
	size_t nr_contexts, nr_arms, nr_only;
	struct cp_load_context *contexts; /* owned */
	struct cp_load_arm *arms;	  /* owned */
	struct cp_load_only **only;	  /* owned, one array an arm of the file */
	bool failed;			  /* out of memory */
};

/* Add the values of node (a scalar or a list) as an axis; bad ones are problems and left
 * out. field NULL: sizes. obj is scratch for field (a context or an arm). */
void cp_axes_add(struct cp_load *load, struct cp_axes *axes, const char *name,
		 const struct cp_field *field, void *obj,
		 const struct cp_yaml_node *node);
/* Advance an odometer of nr_axes digits; false after the last. */
bool cp_axes_next(const struct cp_axes *axes, size_t *digits);
/* The value of a field or pseudo-field set in obj. */
void cp_axis_apply(const struct cp_axis *axis, size_t digit, void *obj);

/* A problem from an error without a place. */
void cp_load_problem(struct cp_load *load, const struct cp_yaml_node *node,
		     const struct cp_err *err);
/* Only these keys. One that belongs in another section is told so; those of `later` exist
 * in the language but not in this version. Neither is among what is expected. */
bool cp_load_keys(struct cp_load *load, const struct cp_yaml_node *map, const char *what,
		  const char *const *keys, const char *const *later);

/* The section in which a key of the workload file belongs: "target", "workload", "run",
 * "budget" or "arm"; NULL: in none. Of one that several have, the first. */
const char *cp_load_section_of(const char *key);

/* driver.c: `driver`, which every context of the plan has, and what goes ill with it;
 * run.perf. */
void cp_load_driver(struct cp_load *load, const struct cp_yaml_node *node);
void cp_load_external(struct cp_load *load);
void cp_load_perf(struct cp_load *load, const struct cp_yaml_node *node);
/* corunner.c: the axis `corunner`, if that was the last one added. */
void cp_load_corunner(struct cp_load *load);
/* swap.c: what driver swap cannot be asked for, and what only it can; and of an arm. */
bool cp_load_is_swap(const struct cp_load *load);
void cp_load_swap(struct cp_load *load);
int cp_load_swap_arm(const struct cp_arm *arm, struct cp_err *err);
void cp_load_arms(struct cp_load *load, const struct cp_yaml_node *arms);
/* An option of fio that may be passed through. */
bool cp_load_option_allowed(const char *key);
void cp_load_options(struct cp_load *load, const struct cp_yaml_node *map);
void cp_load_cells(struct cp_load *load);
/* The arm's policy as the engine will use it in this context: readable, compilable, no
 * DMA rule without an engine, every copy there for the context's direction. */
int cp_load_policy(const struct cp_arm *arm, const struct cp_context *context,
		   struct cp_err *err);

#endif
