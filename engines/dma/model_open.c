// SPDX-License-Identifier: GPL-2.0-only
/* The model engine's devices, and how a channel comes and goes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/random.h"
#include "engines/copy/guard.h"
#include "engines/dma/engine.h"
#include "engines/dma/model_priv.h"

static uint64_t clock_now(void)
{
	return cp_ticks_to_ns(cp_ticks());
}

uint64_t (*cp_model_now)(void) = clock_now;

int model_check(const char *spec, struct cp_err *err)
{
	struct cp_model_settings set;

	return cp_model_settings_read(spec, &set, err);
}

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct model_device *devices;

/* Join the device of these settings, the first time a new one. */
static int join(struct cp_dma_chan *chan, const char *spec)
{
	struct model_device *device;
	int rc = 0;

	pthread_mutex_lock(&devices_lock);
	for (device = devices; device; device = device->next)
		if (!strcmp(device->spec, spec))
			break;
	if (!device) {
		device = calloc(1, sizeof(*device));
		if (!device) {
			rc = -ENOMEM;
			goto out_unlock;
		}
		snprintf(device->spec, sizeof(device->spec), "%s", spec);
		pthread_mutex_init(&device->lock, NULL);
		device->next = devices;
		devices = device;
	}
	device->users++;
	pthread_mutex_lock(&device->lock);
	/* an odd factor keeps seeds apart, and the last bit keeps the state from 0 */
	chan->random = (chan->set.seed + ++device->opened) * CP_RANDOM_GOLDEN | 1;
	chan->device = device;
	chan->next = device->members;
	device->members = chan;
	pthread_mutex_unlock(&device->lock);
out_unlock:
	pthread_mutex_unlock(&devices_lock);
	return rc;
}

static void leave(struct cp_dma_chan *chan)
{
	struct model_device *device = chan->device;

	if (!device)
		return;
	pthread_mutex_lock(&devices_lock);
	pthread_mutex_lock(&device->lock);
	for (struct cp_dma_chan **at = &device->members; *at; at = &(*at)->next) {
		if (*at == chan) {
			*at = chan->next;
			break;
		}
	}
	pthread_mutex_unlock(&device->lock);
	if (--device->users == 0) {
		struct model_device **at = &devices;

		while (*at != device)
			at = &(*at)->next;
		*at = device->next;
		pthread_mutex_destroy(&device->lock);
		free(device);
	}
	pthread_mutex_unlock(&devices_lock);
}

void model_close(struct cp_dma_chan *chan)
{
	model_irq_close(chan);
	leave(chan);
	if (chan->guarded)
		cp_guard_put();
	free(chan->slots);
	free(chan->sgs);
	free(chan->free_slots);
	free(chan->ring);
	free(chan->heap);
	free(chan);
}

static struct cp_dma_chan *chan_alloc(unsigned ring, bool data)
{
	struct cp_dma_chan *chan = calloc(1, sizeof(*chan));

	if (!chan)
		return NULL;
	chan->timer_fd = -1;
	chan->event_fd = -1;
	atomic_init(&chan->look_ns, MODEL_NEVER);
	chan->mask = ring - 1;
	chan->slots = calloc(ring, sizeof(chan->slots[0]));
	chan->free_slots = calloc(ring, sizeof(chan->free_slots[0]));
	chan->ring = calloc(ring, sizeof(chan->ring[0]));
	chan->heap = calloc(ring, sizeof(chan->heap[0]));
	if (data)
		chan->sgs =
			calloc((size_t)ring * CP_DMA_SEGMENTS_MAX, sizeof(chan->sgs[0]));
	if (!chan->slots || !chan->free_slots || !chan->ring || !chan->heap ||
	    (data && !chan->sgs)) {
		model_close(chan);
		return NULL;
	}
	for (unsigned i = 0; i < ring; i++) {
		chan->free_slots[i] = ring - 1 - i;
		if (data)
			chan->slots[i].sg = &chan->sgs[(size_t)i * CP_DMA_SEGMENTS_MAX];
	}
	chan->nr_free = ring;
	return chan;
}

/* A kernel may have a meaning in one direction only; then the channel serves that one. */
static int open_data(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		     struct cp_err *err)
{
	struct cp_copy_opts opts;
	int rc = 0;

	cp_copy_opts_init(&opts);
	for (int dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
		rc = cp_copy_bind_sizes(cfg->copy ? cfg->copy : "auto", (enum cp_dir)dir,
					&opts, &chan->copy[dir], err);
		chan->serves[dir] = !rc;
	}
	if (!chan->serves[CP_DIR_READ] && !chan->serves[CP_DIR_WRITE])
		return rc;
	rc = cp_guard_get(err);
	chan->guarded = !rc;
	chan->drain = cfg->attr == CP_ATTR_WC;
	return rc;
}

int model_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	       struct cp_err *err)
{
	struct cp_model_settings set;
	int rc = cp_model_settings_read(cfg->spec, &set, err);

	if (rc)
		return rc;
	if (cfg->ring > CP_DMA_RING_MAX)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"model: a ring of '%u' is too large; expected at most %u",
			cfg->ring, CP_DMA_RING_MAX);
	unsigned ring = set.ring    ? (unsigned)set.ring
			: cfg->ring ? cp_dma_ring_round(cfg->ring)
				    : CP_DMA_RING_DEFAULT;
	struct cp_dma_chan *chan = chan_alloc(ring, set.data);

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "model: no memory for a ring of %u", ring);
	cp_clock_init();
	chan->set = set;
	chan->shared = set.total > 0;
	chan->serves[CP_DIR_READ] = chan->serves[CP_DIR_WRITE] = true;
	if (set.data)
		rc = open_data(chan, cfg, err);
	if (rc)
		goto out_close;
	rc = join(chan, cfg->spec);
	if (rc) {
		cp_err_set(err, CP_EXIT_INVALID, -rc, "model: no memory for a device");
		goto out_close;
	}
	chan->irq = cfg->irq;
	rc = cfg->irq ? model_irq_open(chan, cfg->event_fd > 0 ? cfg->event_fd : -1) : 0;
	if (rc) {
		cp_err_set(err, CP_EXIT_INVALID, -rc,
			   "model: cannot make a timer for interrupts: %s",
			   strerror(-rc));
		goto out_close;
	}
	*ret_chan = chan;
	return 0;
out_close:
	model_close(chan);
	return rc;
}
