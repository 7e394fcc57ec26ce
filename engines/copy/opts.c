// SPDX-License-Identifier: GPL-2.0-only
/* `unroll` and `prefetch`, and the function that they pick. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/copy/kernels.h"

void cp_copy_opts_init(struct cp_copy_opts *opts)
{
	*opts = (struct cp_copy_opts){
		.unroll = CP_COPY_UNROLL_DEFAULT,
		.distance = CP_COPY_DISTANCE_DEFAULT,
	};
}

static int parse_prefetch(const char *text, struct cp_copy_opts *opts, struct cp_err *err)
{
	struct cp_spec spec;
	uint64_t distance = CP_COPY_DISTANCE_DEFAULT;
	int rc = cp_spec_parse(text, &spec, err);

	if (rc)
		return rc;
	if (!strcmp(spec.name, "none"))
		opts->prefetch = CP_PREFETCH_NONE;
	else if (!strcmp(spec.name, "nta"))
		opts->prefetch = CP_PREFETCH_NTA;
	else if (!strcmp(spec.name, "t0"))
		opts->prefetch = CP_PREFETCH_T0;
	else
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown hint '%s'; expected none, nta or t0",
				  spec.name);
	if (opts->prefetch != CP_PREFETCH_NONE)
		rc = cp_spec_size(&spec, "distance", 64, CP_COPY_DISTANCE_MAX, &distance,
				  err);
	if (!rc)
		rc = cp_spec_finish(
			&spec, opts->prefetch != CP_PREFETCH_NONE ? "distance" : "none",
			err);
	opts->distance = (uint32_t)distance;
	return rc;
}

int cp_copy_opts_parse(uint32_t unroll, const char *prefetch,
		       struct cp_copy_opts *ret_opts, struct cp_err *err)
{
	struct cp_copy_opts opts = {.unroll = unroll};

	if (unroll != 1 && unroll != 2 && unroll != 4 && unroll != 8)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'unroll' is %u; expected 1, 2, 4 or 8", unroll);
	int rc = parse_prefetch(prefetch, &opts, err);

	if (rc) {
		cp_err_prefix(err, "'prefetch' is '%s'", prefetch);
		return rc;
	}
	*ret_opts = opts;
	return 0;
}

/*
 * A distance may be any number, so it cannot be a constant of a function of its own. Each
 * place here holds one, beside the variant that takes it, and has a function that passes
 * it on: a jump more an I/O than a kernel without prefetch.
 */
static struct {
	cp_copy_ahead_fn fn;
	size_t distance;
} places[CP_COPY_AHEAD_MAX];
static unsigned nr_places;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A place is written before its function is handed out, and never again: whoever got the
 * function from cp_copy_bind_opts() sees it (same thread, or handed on by the caller). */
#define PLACE(n)                                                                         \
	static size_t place_##n(void *dst, const void *src, size_t len, enum cp_dir dir, \
				enum cp_attr attr)                                       \
	{                                                                                \
		(void)dir;                                                               \
		return places[n].fn(dst, src, len, attr, places[n].distance);            \
	}
#define EACH_8(do, t) \
	do            \
	(t##0) do(t##1) do(t##2) do(t##3) do(t##4) do(t##5) do(t##6) do(t##7)
/* octal, so that a digit put behind gives the number */
#define EACH(do)       \
	EACH_8(do, 00) \
	EACH_8(do, 01) \
	EACH_8(do, 02) \
	EACH_8(do, 03) EACH_8(do, 04) EACH_8(do, 05) EACH_8(do, 06) EACH_8(do, 07)
EACH(PLACE)

#define NAME(n) place_##n,
static const cp_copy_fn place_fns[] = {EACH(NAME)};
_Static_assert(sizeof(place_fns) / sizeof(place_fns[0]) == CP_COPY_AHEAD_MAX,
	       "a place without a function");

static cp_copy_fn place_take(cp_copy_ahead_fn fn, size_t distance)
{
	cp_copy_fn ret = NULL;
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr_places && (places[i].fn != fn || places[i].distance != distance))
		i++;
	if (i < CP_COPY_AHEAD_MAX) {
		if (i == nr_places) {
			places[i].fn = fn;
			places[i].distance = distance;
			nr_places++;
		}
		ret = place_fns[i];
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

static bool are_defaults(const struct cp_copy_opts *opts)
{
	return opts->unroll == CP_COPY_UNROLL_DEFAULT &&
	       opts->prefetch == CP_PREFETCH_NONE;
}

/* Whether the kernel that `name` stands for heeds the settings. ops NULL: it is auto. */
static int check(const char *name, const struct cp_copy_ops *ops,
		 const struct cp_copy_opts *opts, struct cp_err *err)
{
	const char *what = opts->unroll != CP_COPY_UNROLL_DEFAULT ? "unroll" : "prefetch";

	if (are_defaults(opts))
		return 0;
	if (!ops)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is set and copy is auto, which is measured with "
				  "the defaults; expected the name of a kernel",
				  what);
	if (!ops->variants)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is set and copy '%s' %s%s%shas no loop of its "
				  "own; expected unroll 4 and prefetch none, or another "
				  "copy",
				  what, name, strcmp(name, ops->name) ? "is " : "",
				  strcmp(name, ops->name) ? ops->name : "",
				  strcmp(name, ops->name) ? " here, which " : "");
	return 0;
}

int cp_copy_check_opts(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		       struct cp_err *err)
{
	const struct cp_copy_ops *ops = NULL;
	int rc = 0;

	if (strcmp(name, "auto") != 0 || opts->attr != CP_ATTR_WB)
		rc = cp_copy_bind(name, dir, opts->attr, &ops, err);
	return rc ? rc : check(name, ops, opts, err);
}

/* Without a prefetch. */
static cp_copy_fn plain_fn(const struct cp_copy_ops *ops, const struct cp_copy_opts *opts)
{
	unsigned log2 = (unsigned)__builtin_ctz(opts->unroll);

	if (!ops->variants)
		return ops->fn;
	if (opts->unfenced && ops->variants->unfenced[log2])
		return ops->variants->unfenced[log2];
	return ops->variants->plain[log2];
}

int cp_copy_bind_opts(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		      const struct cp_copy_ops **ret_ops, cp_copy_fn *ret_fn,
		      struct cp_err *err)
{
	const struct cp_copy_ops *ops;
	int rc = cp_copy_check_opts(name, dir, opts, err);

	if (!rc)
		rc = cp_copy_bind(name, dir, opts->attr, &ops, err);
	if (rc)
		return rc;
	unsigned log2 = (unsigned)__builtin_ctz(opts->unroll);
	cp_copy_fn fn = plain_fn(ops, opts);

	if (opts->prefetch != CP_PREFETCH_NONE) {
		const struct cp_copy_variants *v = ops->variants;

		fn = place_take(opts->prefetch == CP_PREFETCH_NTA ? v->nta[log2]
								  : v->t0[log2],
				opts->distance);
		if (!fn)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "'prefetch' is the %uth of this process that "
					  "differs in kernel, unroll, hint or distance; "
					  "expected at most %u",
					  CP_COPY_AHEAD_MAX + 1, CP_COPY_AHEAD_MAX);
	}
	*ret_ops = ops;
	*ret_fn = fn;
	return 0;
}

/* auto takes no settings, so what was measured is what runs. */
int cp_copy_bind_sizes(const char *name, enum cp_dir dir, const struct cp_copy_opts *opts,
		       struct cp_copy_bound *ret_bound, struct cp_err *err)
{
	bool by_size = !strcmp(name, "auto");
	const struct cp_copy_ops *ops;
	cp_copy_fn fn;
	int rc = cp_copy_bind_opts(name, dir, opts, &ops, &fn, err);

	if (rc)
		return rc;
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
		if (by_size)
			ops = cp_copy_calibrate()->best[dir][class];
		ret_bound->ops[class] = ops;
		ret_bound->fn[class] = by_size ? plain_fn(ops, opts) : fn;
	}
	return 0;
}

/* Of a function that passes a distance on: what it passes it on to, else NULL. */
static cp_copy_ahead_fn ahead_of(cp_copy_fn fn)
{
	for (unsigned i = 0; i < CP_COPY_AHEAD_MAX; i++) {
		if (place_fns[i] == fn)
			return places[i].fn;
	}
	return NULL;
}

static bool is_variant(const struct cp_copy_variants *v, cp_copy_fn fn,
		       cp_copy_ahead_fn ahead)
{
	for (unsigned i = 0; v && i < 4; i++) {
		if (v->plain[i] == fn || (fn && v->unfenced[i] == fn) ||
		    (ahead && (v->nta[i] == ahead || v->t0[i] == ahead)))
			return true;
	}
	return false;
}

/* Without the lock: a thread that copies with a place's function has seen it written. */
size_t cp_copy_order(cp_copy_fn fn)
{
	cp_copy_ahead_fn ahead = ahead_of(fn);

	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (ops->fn == fn || is_variant(ops->variants, fn, ahead))
			return ops->order;
	}
	return 0;
}
