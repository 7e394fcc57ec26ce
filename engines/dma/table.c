// SPDX-License-Identifier: GPL-2.0-only
/* All DMA engines, with stubs for the hooks they lack. */
#include <errno.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/base/yaml.h"
#include "engines/dma/channel.h"
#include "engines/dma/engine.h"

/* Engines that are real hardware first, best first: `auto` takes the first that is usable
 * and moves data, else sw. */
static const struct cp_dma_ops *const engines[] = {
	&cp_dma_kernel_ops,
	&cp_dma_sw_ops,
	&cp_dma_null_ops,
	&cp_dma_fault_ops,
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

static const struct cp_dma_ops *find_auto(struct cp_err *err)
{
	const struct cp_dma_ops *software = NULL;

	for (size_t i = 0; i < NR_ENGINES; i++) {
		struct cp_dma_traits traits;

		if (engines[i] == &cp_dma_sw_ops)
			software = &filled[i];
		cp_dma_traits(&filled[i], filled[i].name, &traits);
		if (traits.moves_data && !strcmp(traits.provenance, "hardware") &&
		    !filled[i].probe(err))
			return &filled[i];
	}
	/* hardware that software plays is no better than our own */
	return software && !software->probe(err) ? software : NULL;
}

const struct cp_dma_ops *cp_dma_find(const char *spec, struct cp_err *err)
{
	const char *words[NR_ENGINES + 2];
	char list[160];
	struct cp_spec parsed;

	if (cp_spec_parse(spec, &parsed, err))
		return NULL;
	if (!strcmp(parsed.name, "auto")) {
		if (cp_spec_finish(&parsed, "none", err))
			return NULL;
		return find_auto(err);
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
