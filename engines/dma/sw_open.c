// SPDX-License-Identifier: GPL-2.0-only
/* The software engine's settings, and how a channel comes and goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/base/spec.h"
#include "engines/copy/guard.h"
#include "engines/dma/engine.h"
#include "engines/dma/sw.h"

struct settings {
	uint64_t threads;
	uint64_t ring; /* 0 = as the channel's user wants */
};

static int settings_read(const char *text, struct settings *ret_settings,
			 struct cp_err *err)
{
	struct cp_spec spec;
	struct settings set = {.threads = 1};
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = cp_spec_uint(&spec, "threads", 1, SW_THREADS_MAX, &set.threads, err);
	if (!rc)
		rc = cp_spec_uint(&spec, "ring", 2, CP_DMA_RING_MAX, &set.ring, err);
	if (!rc)
		rc = cp_spec_finish(&spec, "threads, ring", err);
	if (rc)
		return rc;
	if (set.ring & (set.ring - 1))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "sw: ring '%llu' is not a power of two; expected '%u'",
				  (unsigned long long)set.ring,
				  cp_dma_ring_round((unsigned)set.ring));
	*ret_settings = set;
	return 0;
}

int sw_check(const char *spec, struct cp_err *err)
{
	struct settings set;

	return settings_read(spec, &set, err);
}

/* A kernel may have a meaning in one direction only; then the channel serves that one,
 * and prep refuses the other. */
static int bind_copies(struct cp_dma_chan *chan, const char *copy, struct cp_err *err)
{
	struct cp_copy_opts opts;
	struct cp_err errs[2];
	int rcs[2];

	cp_copy_opts_init(&opts);
	for (unsigned dir = 0; dir < 2; dir++) {
		rcs[dir] = cp_copy_bind_sizes(copy, (enum cp_dir)dir, &opts,
					      &chan->copy[dir], &errs[dir]);
		chan->serves[dir] = !rcs[dir];
	}
	if (!rcs[0] || !rcs[1])
		return 0;
	*err = errs[CP_DIR_WRITE];
	return rcs[CP_DIR_WRITE];
}

void sw_close(struct cp_dma_chan *chan)
{
	/* seq_cst: pairs with wait_work(), as the doorbell does */
	atomic_store(&chan->stop, true);
	for (unsigned i = 0; i < chan->nr_workers; i++)
		sw_worker_join(&chan->workers[i]);
	for (unsigned i = 0; i < chan->nr_workers; i++)
		free(chan->workers[i].entries);
	if (chan->event_ours)
		close(chan->event_fd);
	if (chan->guarded)
		cp_guard_put();
	free(chan->free_slots);
	free(chan->slots);
	free(chan->marks);
	free(chan);
}

static struct cp_dma_chan *chan_alloc(unsigned ring, unsigned nr_workers)
{
	struct cp_dma_chan *chan;
	size_t bytes = sizeof(*chan) + nr_workers * sizeof(chan->workers[0]);
	bool ok;

	chan = aligned_alloc(SW_LINE, bytes); /* a multiple of a line, as its parts are */
	if (!chan)
		return NULL;
	memset(chan, 0, bytes);
	chan->event_fd = -1;
	chan->mask = ring - 1;
	chan->nr_workers = nr_workers;
	chan->nr_free = ring;
	/* every field is written before it is read, so nothing is touched that a shallow
	 * queue never uses */
	chan->slots = aligned_alloc(SW_LINE, ring * sizeof(chan->slots[0]));
	chan->marks = calloc(ring, sizeof(chan->marks[0]));
	chan->free_slots = calloc(ring, sizeof(chan->free_slots[0]));
	ok = chan->slots && chan->marks && chan->free_slots;
	for (unsigned i = 0; i < nr_workers; i++) {
		chan->workers[i].index = i;
		chan->workers[i].chan = chan;
		chan->workers[i].entries = calloc(ring, sizeof(uint32_t));
		ok = ok && chan->workers[i].entries;
	}
	if (!ok) {
		sw_close(chan);
		return NULL;
	}
	for (unsigned i = 0; i < ring; i++)
		chan->free_slots[i] = ring - 1 - i;
	return chan;
}

int sw_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	    struct cp_err *err)
{
	struct settings set;
	int rc = settings_read(cfg->spec, &set, err);

	if (rc)
		return rc;
	if (cfg->ring > CP_DMA_RING_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "sw: a ring of '%u' is too large; expected at most %u",
				  cfg->ring, CP_DMA_RING_MAX);
	unsigned ring = set.ring    ? (unsigned)set.ring
			: cfg->ring ? cp_dma_ring_round(cfg->ring)
				    : CP_DMA_RING_DEFAULT;
	struct cp_dma_chan *chan = chan_alloc(ring, (unsigned)set.threads);

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "sw: no memory for a ring of %u", ring);
	cp_clock_init();
	chan->drain = cfg->attr == CP_ATTR_WC;
	rc = bind_copies(chan, cfg->copy ? cfg->copy : "auto", err);
	if (rc)
		goto out_close;
	rc = cp_guard_get(err);
	if (rc)
		goto out_close;
	chan->guarded = true;
	if (cfg->irq && cfg->event_fd > 0) {
		chan->event_fd = cfg->event_fd;
	} else if (cfg->irq) {
		chan->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (chan->event_fd < 0) {
			rc = cp_err_set(err, CP_EXIT_INVALID, errno,
					"sw: cannot make an eventfd: %s",
					strerror(errno));
			goto out_close;
		}
		chan->event_ours = true;
		for (unsigned i = 0; i < chan->nr_workers; i++)
			atomic_store(&chan->workers[i].wake_at, SW_NEVER);
	}
	for (unsigned i = 0; i < chan->nr_workers; i++) {
		/* one CPU holds one thread; where the others go is the scheduler's
		 * business */
		int cpu = i ? -1 : cfg->cpu;

		rc = sw_worker_start(&chan->workers[i], cpu);
		if (rc) {
			cp_err_set(err, CP_EXIT_INVALID, -rc,
				   "sw: cannot start a helper thread on CPU %d: %s", cpu,
				   strerror(-rc));
			goto out_close;
		}
	}
	*ret_chan = chan;
	return 0;
out_close:
	sw_close(chan);
	return rc;
}
