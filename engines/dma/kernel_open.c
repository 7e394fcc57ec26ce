// SPDX-License-Identifier: GPL-2.0-only
/* How a channel of the kernel engine comes and goes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/dma/engine.h"
#include "engines/dma/kernel.h"

static int open_event(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		      struct cp_err *err)
{
	if (!cfg->irq || !(chan->info.features & CP_DMADEV_EVENTFD))
		return 0;
	if (cfg->event_fd > 0) {
		chan->event_fd = cfg->event_fd;
		return 0;
	}
	chan->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (chan->event_fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "kernel: cannot make an eventfd: %s", strerror(errno));
	chan->event_ours = true;
	return 0;
}

static int say_chan(const struct kernel_settings *set, const struct cp_dmadev_open *open,
		    const struct cp_dmadev_info *info, int error, struct cp_err *err)
{
	if (error == ENXIO)
		return kernel_no_chan(set, info, err);
	if (error == EBUSY)
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "kernel: no channel of '%s' is free; expected one that "
				  "nobody else has%s",
				  set->device,
				  open->flags & CP_DMADEV_O_EXCLUSIVE ? " at all"
								      : " exclusively");
	return cp_err_set(err, CP_EXIT_INVALID, error,
			  "kernel: '%s' gives no channel: %s", set->device,
			  strerror(error));
}

static int open_chan(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		     const struct kernel_settings *set, struct cp_err *err)
{
	unsigned ring = cp_dma_ring_round(cfg->ring ? cfg->ring : CP_DMA_RING_DEFAULT);
	struct cp_dmadev_open open = {
		.chan = (uint32_t)set->chan,
		.node = cfg->node >= 0 ? cfg->node : CP_DMADEV_NODE_ANY,
		.ring = ring,
	};

	int rc = kernel_ring_check(cfg, &chan->info, err);

	if (rc)
		return rc;
	if (cfg->exclusive && !(chan->info.features & CP_DMADEV_EXCLUSIVE))
		return cp_err_set(
			err, CP_EXIT_INVALID, EBUSY,
			"kernel: '%s' keeps no channel for one user; expected a "
			"shared one to be enough",
			set->device);
	if (cfg->exclusive)
		open.flags |= CP_DMADEV_O_EXCLUSIVE;
	if (chan->event_fd >= 0) {
		open.flags |= CP_DMADEV_O_EVENTFD;
		open.event_fd = chan->event_fd;
	}
	rc = kernel_sys->ioctl(chan->fd, CP_DMADEV_OPEN, &open);
	if (rc)
		return say_chan(set, &open, &chan->info, -rc, err);
	if (open.ring < 1 || open.ring > CP_DMA_RING_MAX || open.ring & (open.ring - 1) ||
	    open.ring_bytes < sizeof(struct cp_dmadev_ring) +
				      open.ring * sizeof(struct cp_dmadev_done))
		return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
				  "kernel: '%s' gives a ring of %" PRIu32 " in %" PRIu64
				  " bytes; expected a power of two that fits",
				  set->device, (uint32_t)open.ring,
				  (uint64_t)open.ring_bytes);
	chan->ring = open.ring;
	chan->shared_bytes = open.ring_bytes;
	snprintf(chan->text, sizeof(chan->text), "kernel/%.*s", CP_DMADEV_NAME_MAX,
		 open.name);
	chan->shared = kernel_sys->mmap(chan->shared_bytes, chan->fd);
	if (!chan->shared)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "kernel: the ring of '%s' cannot be mapped",
				  set->device);
	/* relaxed: nobody else has it yet */
	chan->head = __atomic_load_n(&chan->shared->head, __ATOMIC_RELAXED);
	return 0;
}

static int tables_alloc(struct cp_dma_chan *chan, struct cp_err *err)
{
	unsigned ring = chan->ring;

	chan->slots = calloc(ring, sizeof(chan->slots[0]));
	chan->segs = calloc((size_t)ring * CP_DMADEV_SEGS_MAX, sizeof(chan->segs[0]));
	chan->free_slots = calloc(ring, sizeof(chan->free_slots[0]));
	chan->pending = calloc(ring, sizeof(chan->pending[0]));
	chan->failed = calloc(ring, sizeof(chan->failed[0]));
	chan->maps = calloc(chan->info.maps_max, sizeof(chan->maps[0]));
	if (!chan->slots || !chan->segs || !chan->free_slots || !chan->pending ||
	    !chan->failed || !chan->maps)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "kernel: no memory for a ring of %u", ring);
	chan->nr_free = ring;
	for (unsigned i = 0; i < ring; i++)
		chan->free_slots[i] = ring - 1 - i;
	return 0;
}

/* The far range, once and for all. */
static int map_far(struct cp_dma_chan *chan, const struct cp_dma_cfg *cfg,
		   struct cp_err *err)
{
	if (!cfg->far)
		return 0;
	int64_t map = kernel_map_add(chan, (uintptr_t)cfg->far, cfg->far_bytes,
				     CP_DMADEV_M_READ);

	if (map >= 0)
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, (int)-map,
			  "kernel: %zu bytes of media cannot be pinned: %s; expected "
			  "memory for them, and RLIMIT_MEMLOCK (ulimit -l) above that",
			  cfg->far_bytes, strerror((int)-map));
}

int kernel_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		struct cp_err *err)
{
	struct cp_dma_chan *chan = calloc(1, sizeof(*chan));
	struct kernel_settings set;

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "kernel: out of memory");
	chan->fd = -1;
	chan->event_fd = -1;
	int rc = kernel_settings_read(cfg->spec, &set, err);

	if (!rc)
		rc = kernel_device_open(set.device, &chan->fd, &chan->info, err);
	if (!rc)
		rc = open_event(chan, cfg, err);
	if (!rc)
		rc = open_chan(chan, cfg, &set, err);
	if (!rc)
		rc = tables_alloc(chan, err);
	if (!rc)
		rc = map_far(chan, cfg, err);
	if (rc) {
		kernel_close(chan);
		return rc;
	}
	*ret_chan = chan;
	return 0;
}

void kernel_close(struct cp_dma_chan *chan)
{
	struct cp_dmadev_close end = {0};

	if (chan->fd >= 0) {
		/* fails where there is no channel yet, and close() ends it too */
		kernel_sys->ioctl(chan->fd, CP_DMADEV_CLOSE, &end);
		if (chan->shared)
			kernel_sys->munmap(chan->shared, chan->shared_bytes);
		kernel_sys->close(chan->fd);
	}
	if (chan->event_ours)
		close(chan->event_fd);
	free(chan->slots);
	free(chan->segs);
	free(chan->free_slots);
	free(chan->pending);
	free(chan->failed);
	free(chan->maps);
	free(chan);
}
