// SPDX-License-Identifier: GPL-2.0-only
/* All DMA engines, with stubs for the hooks they lack. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/base/yaml.h"
#include "engines/dma/channel.h"
#include "engines/dma/engine.h"

/* Engines that are real hardware first, best first: `auto` takes the first that is usable
 * and moves data, else sw. */
static const struct cp_dma_ops *const engines[] = {
	&cp_dma_idxd_ops, &cp_dma_kernel_ops, &cp_dma_sw_ops,
	&cp_dma_null_ops, &cp_dma_model_ops,  &cp_dma_fault_ops,
};

#define NR_ENGINES (sizeof(engines) / sizeof(engines[0]))

static struct cp_dma_ops filled[NR_ENGINES];

const struct cp_dma_ops *cp_dma_table[NR_ENGINES + 1];

static int no_probe(struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, ENOSYS,
			  "this DMA engine cannot tell whether it is usable");
}

static int no_check(const char *spec, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, ENOSYS,
			  "'%s': this DMA engine cannot be configured", spec);
}

static int no_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		   struct cp_err *err)
{
	(void)ret_chan;
	return cp_err_set(err, CP_EXIT_INVALID, ENOSYS,
			  "'%s': this DMA engine cannot be opened", cfg->spec);
}

static unsigned no_space(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static int no_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		   const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		   void *user)
{
	(void)chan;
	(void)dir;
	(void)far;
	(void)near_sg;
	(void)nr_sg;
	(void)flags;
	(void)user;
	return -ENOSYS;
}

static int no_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far, void *near,
			 size_t len, unsigned flags, void *user)
{
	(void)chan;
	(void)dir;
	(void)far;
	(void)near;
	(void)len;
	(void)flags;
	(void)user;
	return -ENOSYS;
}

static cp_dma_cookie no_submit(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static void no_chan(struct cp_dma_chan *chan)
{
	(void)chan;
}

static unsigned no_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			unsigned max)
{
	(void)chan;
	(void)done;
	(void)max;
	return 0;
}

static int no_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	(void)chan;
	(void)timeout_ns;
	return -ENOSYS;
}

static uint64_t no_cpu(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static const char *no_describe(struct cp_dma_chan *chan)
{
	(void)chan;
	return "";
}

#define FILL(ops, hook, stub) ((ops)->hook = (ops)->hook ? (ops)->hook : (stub))

/* Before main() or dlopen() returns, so that the table is never seen half filled. */
__attribute__((constructor)) static void fill(void)
{
	for (size_t i = 0; i < NR_ENGINES; i++) {
		struct cp_dma_ops *ops = &filled[i];

		*ops = *engines[i];
		FILL(ops, probe, no_probe);
		FILL(ops, check, no_check);
		FILL(ops, open, no_open);
		FILL(ops, space, no_space);
		FILL(ops, prep_memcpy_sg, no_prep);
		FILL(ops, submit, no_submit);
		FILL(ops, submit_one, no_submit_one);
		FILL(ops, issue_pending, no_chan);
		FILL(ops, reap, no_reap);
		FILL(ops, wait, no_wait);
		FILL(ops, cpu_ns, no_cpu);
		FILL(ops, describe, no_describe);
		FILL(ops, close, no_chan);
		cp_dma_table[i] = ops;
	}
}

void cp_dma_traits(const struct cp_dma_ops *ops, const char *spec,
		   struct cp_dma_traits *ret_traits)
{
	*ret_traits = ops->traits;
	if (ops->traits_of)
		ops->traits_of(spec, ret_traits);
}

int cp_dma_usable(const struct cp_dma_ops *ops, const struct cp_dma_cfg *cfg,
		  struct cp_err *err)
{
	return ops->usable ? ops->usable(cfg, err) : ops->probe(err);
}

/* What keeps an engine that is here from use; the first that is found. */
static void pass_over(const struct cp_dma_ops *ops, const struct cp_err *why,
		      struct cp_err *ret_passed)
{
	size_t len = strlen(ops->name);
	bool named = !strncmp(why->msg, ops->name, len) && why->msg[len] == ':';

	if (ret_passed->msg[0])
		return;
	*ret_passed = *why;
	if (!named)
		cp_err_prefix(ret_passed, "%s", ops->name);
}

static bool serves(const struct cp_dma_ops *ops, const struct cp_dma_cfg *cfg,
		   struct cp_err *ret_passed)
{
	struct cp_dma_cfg own = *cfg;
	struct cp_dma_traits traits;
	struct cp_err why = {0};

	own.spec = ops->name;
	cp_dma_traits(ops, ops->name, &traits);
	if (!traits.moves_data || strcmp(traits.provenance, "hardware") != 0)
		return false;
	int rc = cp_dma_usable(ops, &own, &why);

	if (!rc && cfg->irq && !traits.irq)
		rc = cp_err_set(&why, CP_EXIT_INVALID, ENOTSUP,
				"it has no interrupt; expected completion poll");
	if (rc && rc != -ENODEV && rc != -ENOENT)
		pass_over(ops, &why, ret_passed);
	return !rc;
}

static const struct cp_dma_ops *choose(const struct cp_dma_cfg *cfg,
				       struct cp_err *ret_passed, struct cp_err *err)
{
	const struct cp_dma_ops *software = NULL;

	ret_passed->msg[0] = '\0';
	for (size_t i = 0; i < NR_ENGINES; i++) {
		if (engines[i] == &cp_dma_sw_ops)
			software = &filled[i];
		if (serves(&filled[i], cfg, ret_passed)) {
			ret_passed->msg[0] = '\0';
			return &filled[i];
		}
	}
	/* hardware that software plays is no better than our own */
	return software && !software->probe(err) ? software : NULL;
}

const struct cp_dma_ops *cp_dma_choose(struct cp_dma_cfg *cfg, struct cp_err *ret_passed,
				       struct cp_err *err)
{
	const struct cp_dma_ops *ops = cp_dma_find(cfg->spec, err);

	ret_passed->msg[0] = '\0';
	if (ops && !strncmp(cfg->spec, "auto", 4)) {
		ops = choose(cfg, ret_passed, err);
		if (ops)
			cfg->spec = ops->name;
	}
	return ops;
}

const struct cp_dma_ops *cp_dma_find(const char *spec, struct cp_err *err)
{
	const char *words[NR_ENGINES + 2];
	char list[160];
	struct cp_spec parsed;
	struct cp_err passed;

	if (cp_spec_parse(spec, &parsed, err))
		return NULL;
	if (!strcmp(parsed.name, "auto")) {
		if (cp_spec_finish(&parsed, "none", err))
			return NULL;
		return choose(&(struct cp_dma_cfg){.spec = spec, .node = -1, .cpu = -1},
			      &passed, err);
	}
	for (size_t i = 0; i < NR_ENGINES; i++) {
		words[i] = filled[i].name;
		if (!strcmp(filled[i].name, parsed.name))
			return &filled[i];
	}
	words[NR_ENGINES] = "auto";
	words[NR_ENGINES + 1] = NULL;
	cp_words_join(words, list, sizeof(list));
	const char *near = cp_nearest_word(parsed.name, words);

	if (near)
		cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			   "unknown dma engine '%s'; expected '%s'", parsed.name, near);
	else
		cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			   "unknown dma engine '%s'; expected %s", parsed.name, list);
	return NULL;
}

int cp_dma_fit_ring(struct cp_arm *arm, struct cp_err *err)
{
	uint64_t ring = UINT32_MAX;
	struct cp_spec spec;
	struct cp_err ignored;

	if (!strcmp(arm->queue_mode, "bio") || !strcmp(arm->path, "cpu") ||
	    cp_spec_parse(arm->dma, &spec, &ignored) ||
	    cp_spec_uint(&spec, "ring", 1, UINT32_MAX, &ring, &ignored))
		return 0;
	if (!arm->queue_depth && ring < CP_QUEUE_DEPTH_DEFAULT)
		arm->queue_depth = (uint32_t)ring;
	if (arm->queue_depth <= ring)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, ERANGE,
			  "'queue_depth' %u is above the ring of %u descriptors that "
			  "'%s' names; expected at most %u, or a larger ring",
			  arm->queue_depth, (unsigned)ring, arm->dma, (unsigned)ring);
}
