// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine's device and settings, and how a channel comes and goes. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/base/spec.h"
#include "engines/dma/engine.h"
#include "engines/dma/kernel.h"

/* The numbers of the ioctls hold these sizes: another size is another interface. */
static_assert(sizeof(struct cp_dmadev_info) == 64, "CP_DMADEV_INFO");
static_assert(sizeof(struct cp_dmadev_open) == 96, "CP_DMADEV_OPEN");
static_assert(sizeof(struct cp_dmadev_map) == 40, "CP_DMADEV_MAP");
static_assert(sizeof(struct cp_dmadev_unmap) == 8, "CP_DMADEV_UNMAP");
static_assert(sizeof(struct cp_dmadev_seg) == 16, "of CP_DMADEV_SUBMIT");
static_assert(sizeof(struct cp_dmadev_xfer) == 40, "of CP_DMADEV_SUBMIT");
static_assert(sizeof(struct cp_dmadev_submit) == 40, "CP_DMADEV_SUBMIT");
static_assert(sizeof(struct cp_dmadev_done) == 32, "of the ring");
static_assert(sizeof(struct cp_dmadev_ring) == 192, "of the ring");
static_assert(sizeof(struct cp_dmadev_close) == 16, "CP_DMADEV_CLOSE");
static_assert(sizeof(struct cp_dmadev_stat) == 64, "CP_DMADEV_STAT");
static_assert(CP_DMADEV_SEGS_MAX == CP_DMA_SEGMENTS_MAX, "segments of a transaction");

#define MAPS_MAX 65536U /* more than any module should offer: the table is ours */

struct settings {
	char device[64];
	uint64_t chan; /* CP_DMADEV_CHAN_ANY */
};

static int settings_read(const char *text, struct settings *ret_set, struct cp_err *err)
{
	struct settings set = {.device = CP_DMADEV_DEVICE, .chan = CP_DMADEV_CHAN_ANY};
	struct cp_spec spec;
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = cp_spec_uint(&spec, "chan", 0, CP_DMADEV_CHAN_ANY - 1, &set.chan,
				  err);
	if (!rc)
		rc = cp_spec_finish(&spec, "chan", err);
	if (rc)
		return rc;
	if (spec.base[0] && spec.base[0] != '/')
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "kernel: '%s' is no path of a device; expected e.g. "
				  "kernel:" CP_DMADEV_DEVICE,
				  spec.base);
	if (spec.base[0])
		memcpy(set.device, spec.base, sizeof(set.device));
	*ret_set = set;
	return 0;
}

int kernel_check(const char *spec, struct cp_err *err)
{
	struct settings set;

	return settings_read(spec, &set, err);
}

static int say_open(const char *device, int error, struct cp_err *err)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "no device '%s'; expected the module cp_dma (kmod/), "
				  "loaded, and a DMA channel that it may use (modprobe "
				  "cp_dma; cp_softdma has channels in software)",
				  device);
	case EACCES:
	case EPERM:
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "no permission for '%s'; expected root, or a mode of "
				  "the device that lets you read and write",
				  device);
	case ENOTTY:
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "'%s' is not the device of the module cp_dma; expected "
				  "kernel:" CP_DMADEV_DEVICE,
				  device);
	default:
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "'%s' cannot be opened: %s; expected the device of the "
				  "module cp_dma",
				  device, strerror(error));
	}
}

static int read_info(int fd, const char *device, struct cp_dmadev_info *info,
		     struct cp_err *err)
{
	int rc = kernel_sys->ioctl(fd, CP_DMADEV_INFO, info);

	if (rc && rc != -ENOTTY)
		return cp_err_set(err, CP_EXIT_INVALID, -rc, "'%s' does not answer: %s",
				  device, strerror(-rc));
	if (rc)
		return cp_err_set(err, CP_EXIT_INVALID, ENOTTY,
				  "'%s' has another version of the interface; expected "
				  "version %d: the module and the program of one build",
				  device, CP_DMADEV_VERSION);
	if (info->version != CP_DMADEV_VERSION)
		return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
				  "'%s' has version %" PRIu32
				  " of the interface; expected "
				  "version %d: the module and the program of one build",
				  device, info->version, CP_DMADEV_VERSION);
	if (!info->nr_chans)
		return cp_err_set(
			err, CP_EXIT_INVALID, ENODEV,
			"'%s' has no DMA channel; expected a device whose driver "
			"can copy memory (ioatdma, idxd), or the module "
			"cp_softdma",
			device);
	if (!info->maps_max || info->maps_max > MAPS_MAX || !info->ring_max ||
	    !(info->features & CP_DMADEV_FENCE))
		return cp_err_set(err, CP_EXIT_INVALID, EPROTO,
				  "'%s' offers %" PRIu32 " ranges, rings of %" PRIu32
				  " and features %#" PRIx32
				  "; expected some of each, and "
				  "fences",
				  device, info->maps_max, info->ring_max, info->features);
	return 0;
}

static int open_device(const char *device, int *ret_fd, struct cp_dmadev_info *info,
		       struct cp_err *err)
{
	int fd = kernel_sys->open(device);

	if (fd < 0)
		return say_open(device, -fd, err);
	int rc = read_info(fd, device, info, err);

	if (rc)
		kernel_sys->close(fd);
	else
		*ret_fd = fd;
	return rc;
}

int kernel_probe(struct cp_err *err)
{
	struct cp_dmadev_info info = {0};
	int fd, rc = open_device(CP_DMADEV_DEVICE, &fd, &info, err);

	if (!rc)
		kernel_sys->close(fd);
	return rc;
}

/* Where nothing can be asked, the traits stay those of the table: no figure comes of it.
 */
void kernel_traits(const char *spec, struct cp_dma_traits *ret_traits)
{
	struct cp_dmadev_info info = {0};
	struct settings set;
	struct cp_err err;
	int fd;

	if (settings_read(spec, &set, &err) || open_device(set.device, &fd, &info, &err))
		return;
	kernel_sys->close(fd);
	ret_traits->provenance =
		info.features & CP_DMADEV_HARDWARE ? "hardware" : "software";
	ret_traits->irq = info.features & CP_DMADEV_EVENTFD;
}

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

static int say_chan(const struct settings *set, const struct cp_dmadev_open *open,
		    const struct cp_dmadev_info *info, int error, struct cp_err *err)
{
	if (error == ENXIO)
		return cp_err_set(err, CP_EXIT_USAGE, error,
				  "kernel: '%s' has no channel '%" PRIu64
				  "'; expected 0 to %" PRIu32,
				  set->device, set->chan, info->nr_chans - 1);
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
		     const struct settings *set, struct cp_err *err)
{
	unsigned ring = cp_dma_ring_round(cfg->ring ? cfg->ring : CP_DMA_RING_DEFAULT);
	struct cp_dmadev_open open = {
		.chan = (uint32_t)set->chan,
		.node = cfg->node >= 0 ? cfg->node : CP_DMADEV_NODE_ANY,
		.ring = ring,
	};

	if (cfg->ring > CP_DMA_RING_MAX || ring > chan->info.ring_max)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "kernel: a ring of '%u' is too large; expected at most "
				  "%" PRIu32,
				  cfg->ring, chan->info.ring_max);
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
	int rc = kernel_sys->ioctl(chan->fd, CP_DMADEV_OPEN, &open);

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
	struct settings set;

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "kernel: out of memory");
	chan->fd = -1;
	chan->event_fd = -1;
	int rc = settings_read(cfg->spec, &set, err);

	if (!rc)
		rc = open_device(set.device, &chan->fd, &chan->info, err);
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
