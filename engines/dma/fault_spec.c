// SPDX-License-Identifier: GPL-2.0-only
/* The fault engine's settings, and how a channel comes and goes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/base/yaml.h"
#include "engines/dma/engine.h"
#include "engines/dma/fault.h"

static const char *const keys[] = {"error",	"short",   "never", "prep_error",
				   "full",	"reorder", "seed",  "script",
				   "never_for", "log",	   NULL};

static int chances_read(struct cp_spec *spec, struct fault_settings *set,
			struct cp_err *err)
{
	uint32_t sum = 0;
	int rc = 0;

	for (unsigned a = FAULT_ERROR; !rc && a < FAULT_ACTIONS; a++) {
		uint32_t max = a == FAULT_FULL ? FAULT_FULL_PPM_MAX : FAULT_PPM_ALL;

		rc = cp_spec_pct(spec, fault_action_names[a], max, &set->ppm[a], err);
		sum += a == FAULT_FULL ? 0 : set->ppm[a];
	}
	if (!rc && sum > FAULT_PPM_ALL)
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"fault: error, short, never and prep_error add up to "
				"'%g%%'; expected at most 100%%",
				sum / 1e4);
	return rc;
}

static int path_read(struct cp_spec *spec, const char *key, char *path, size_t size)
{
	const char *text = cp_spec_text(spec, key);

	return text ? snprintf(path, size, "%s", text) : 0;
}

static bool names(const char *spec, const char *engine)
{
	size_t len = strcspn(spec, ":");

	return len == strlen(engine) && !memcmp(spec, engine, len);
}

/* Any engine of the table but ourselves; auto is no engine. */
static const struct cp_dma_ops *wrappable(const char *base, struct cp_err *err)
{
	const char *words[16], *near;
	char list[160];
	size_t nr = 0;

	for (size_t i = 0; cp_dma_table[i] && nr < 15; i++) {
		const struct cp_dma_ops *ops = cp_dma_table[i];

		if (ops->open == fault_open)
			continue;
		if (names(base, ops->name))
			return ops;
		words[nr++] = ops->name;
	}
	words[nr] = NULL;
	near = cp_nearest_word(base, words);
	if (near)
		cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			   "fault: unknown dma engine '%s'; expected '%s'", base, near);
	else
		cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			   "fault: '%s' is no engine to wrap; expected %s, e.g. "
			   "fault:sw,error=1%%",
			   base, cp_words_join(words, list, sizeof(list)));
	return NULL;
}

/* The wrapped engine, and its spec: what is named, and the keys that are not ours. */
static int inner_read(const struct cp_spec *spec, struct fault_settings *set,
		      struct cp_err *err)
{
	size_t at = (size_t)snprintf(set->inner, sizeof(set->inner), "%s", spec->base);

	set->ops = wrappable(spec->base, err);
	if (!set->ops)
		return -EINVAL;
	/* shorter than the text that they all were read from */
	for (unsigned i = 0; i < spec->nr_keys; i++) {
		if (!spec->keys[i].used)
			at += (size_t)snprintf(set->inner + at, sizeof(set->inner) - at,
					       "%c%s=%s",
					       strchr(set->inner, ':') ? ',' : ':',
					       spec->keys[i].key, spec->keys[i].value);
	}
	return 0;
}

int fault_settings_read(const char *text, struct fault_settings *ret_set,
			struct cp_err *err)
{
	struct fault_settings set = {.never_for_ns = FAULT_NEVER_FOR_NS, .seed = 1};
	struct cp_spec spec;
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = chances_read(&spec, &set, err);
	if (!rc)
		rc = cp_spec_time(&spec, "never_for", FAULT_NEVER_MAX_NS,
				  &set.never_for_ns, err);
	if (!rc)
		rc = cp_spec_uint(&spec, "seed", 0, UINT64_MAX, &set.seed, err);
	if (!rc)
		rc = cp_spec_uint(&spec, "reorder", 0, FAULT_REORDER_MAX, &set.reorder,
				  err);
	if (rc)
		return rc;
	path_read(&spec, "script", set.script, sizeof(set.script));
	path_read(&spec, "log", set.log, sizeof(set.log));
	rc = inner_read(&spec, &set, err);
	if (!rc)
		*ret_set = set;
	return rc;
}

/* A key that the wrapped engine does not know either may be one of ours, mistyped. */
static int say_nearest(const struct fault_settings *set, struct cp_err *err)
{
	struct cp_spec spec;
	struct cp_err ignored;

	cp_err_prefix(err, "fault");
	if (cp_spec_parse(set->inner, &spec, &ignored))
		return -EINVAL;
	for (unsigned i = 0; i < spec.nr_keys; i++) {
		const char *near = cp_nearest_word(spec.keys[i].key, keys);

		if (near)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "fault: unknown setting '%s'; expected '%s'",
					  spec.keys[i].key, near);
	}
	return -EINVAL;
}

int fault_check(const char *spec, struct cp_err *err)
{
	struct fault_settings set;
	struct fault_step *steps = NULL;
	size_t nr;
	int rc = fault_settings_read(spec, &set, err);

	if (rc)
		return rc;
	if (set.ops->check(set.inner, err))
		return say_nearest(&set, err);
	if (set.script[0])
		rc = fault_script_read(set.script, &steps, &nr, err);
	free(steps);
	if (!rc && set.log[0])
		rc = fault_log_check(set.log, err);
	return rc;
}

int fault_usable(const struct cp_dma_cfg *cfg, struct cp_err *err)
{
	struct fault_settings set;
	struct cp_dma_cfg inner = *cfg;
	int rc = fault_settings_read(cfg->spec, &set, err);

	if (rc)
		return rc;
	inner.spec = set.inner;
	rc = cp_dma_usable(set.ops, &inner, err);
	if (rc)
		cp_err_prefix(err, "fault");
	return rc;
}

void fault_traits(const char *spec, struct cp_dma_traits *ret_traits)
{
	struct fault_settings set;
	struct cp_err err;

	if (!fault_settings_read(spec, &set, &err))
		cp_dma_traits(set.ops, set.inner, ret_traits);
}

static int fifo_alloc(struct fault_fifo *fifo, unsigned ring)
{
	fifo->at = calloc(ring, sizeof(fifo->at[0]));
	return fifo->at ? 0 : -ENOMEM;
}

static int ring_alloc(struct cp_dma_chan *chan, struct cp_err *err)
{
	unsigned ring = chan->set.ops->space(chan->inner);

	chan->slots = calloc(ring, sizeof(chan->slots[0]));
	chan->free_slots = calloc(ring, sizeof(chan->free_slots[0]));
	if (!ring || !chan->slots || !chan->free_slots ||
	    fifo_alloc(&chan->fresh, ring) || fifo_alloc(&chan->spoiled, ring) ||
	    fifo_alloc(&chan->held, ring) || fifo_alloc(&chan->window, ring) ||
	    fifo_alloc(&chan->out, ring))
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "fault: no memory for a ring of %u", ring);
	chan->ring = ring;
	chan->nr_free = ring;
	for (unsigned i = 0; i < ring; i++) {
		chan->slots[i].number = i;
		chan->free_slots[i] = ring - 1 - i;
	}
	return 0;
}

static int open_event(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		      struct cp_err *err)
{
	struct cp_dma_traits traits;

	cp_dma_traits(chan->set.ops, chan->set.inner, &traits);
	if (!cfg->irq || !traits.irq)
		return 0;
	/* Which transaction is the last to complete may be another one than its owner
	 * thinks, so each has to wake the waiter. */
	chan->more_flags = CP_DMA_INTERRUPT;
	if (cfg->event_fd > 0) {
		chan->event_fd = cfg->event_fd;
		return 0;
	}
	chan->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (chan->event_fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "fault: cannot make an eventfd: %s", strerror(errno));
	chan->event_ours = true;
	return 0;
}

static int open_inner(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		      struct cp_err *err)
{
	struct cp_dma_cfg inner = *cfg;
	int rc = open_event(chan, cfg, err);

	if (rc)
		return rc;
	inner.spec = chan->set.inner;
	inner.irq = chan->event_fd >= 0;
	inner.event_fd = chan->event_fd >= 0 ? chan->event_fd : 0;
	rc = chan->set.ops->open(&inner, &chan->inner, err);
	if (rc)
		chan->inner = NULL;
	return rc;
}

int fault_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	       struct cp_err *err)
{
	struct cp_dma_chan *chan = calloc(1, sizeof(*chan));

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "fault: out of memory");
	chan->event_fd = -1;
	chan->log.fd = -1;
	atomic_init(&chan->due_ns, UINT64_MAX);
	int rc = fault_settings_read(cfg->spec, &chan->set, err);

	if (!rc && chan->set.script[0])
		rc = fault_script_read(chan->set.script, &chan->steps, &chan->nr_steps,
				       err);
	if (!rc)
		rc = open_inner(chan, cfg, err);
	if (!rc)
		rc = ring_alloc(chan, err);
	if (!rc && chan->set.log[0])
		rc = fault_log_open(chan->set.log, &chan->log, err);
	if (rc) {
		fault_close(chan);
		return rc;
	}
	*ret_chan = chan;
	return 0;
}

void fault_close(struct cp_dma_chan *chan)
{
	char text[CP_SPEC_TEXT_MAX] = "";

	if (chan->inner) {
		snprintf(text, sizeof(text), "fault/%s",
			 chan->set.ops->describe(chan->inner));
		chan->set.ops->close(chan->inner);
	}
	fault_log_close(&chan->log, text, chan->set.seed);
	if (chan->event_ours)
		close(chan->event_fd);
	free(chan->fresh.at);
	free(chan->spoiled.at);
	free(chan->held.at);
	free(chan->window.at);
	free(chan->out.at);
	free(chan->free_slots);
	free(chan->slots);
	free(chan->steps);
	free(chan);
}
