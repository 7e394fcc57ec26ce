// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine's device: its settings, whether it is there, and what it offers. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

int kernel_settings_read(const char *text, struct kernel_settings *ret_set,
			 struct cp_err *err)
{
	struct kernel_settings set = {.device = CP_DMADEV_DEVICE,
				      .chan = CP_DMADEV_CHAN_ANY};
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
	struct kernel_settings set;

	return kernel_settings_read(spec, &set, err);
}

static int say_open(const char *device, int error, struct cp_err *err)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return cp_err_set(err, CP_EXIT_INVALID, error,
				  "no device '%s'; expected that of the module cp_dma, "
				  "which is not part of this version; dma sw and, with "
				  "Intel DSA, idxd need none",
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
			"can copy memory (ioatdma, idxd)",
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

int kernel_no_chan(const struct kernel_settings *set, const struct cp_dmadev_info *info,
		   struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, ENXIO,
			  "kernel: '%s' has no channel '%" PRIu64
			  "'; expected 0 to %" PRIu32,
			  set->device, set->chan, info->nr_chans - 1);
}

int kernel_device_open(const char *device, int *ret_fd, struct cp_dmadev_info *info,
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
	int fd, rc = kernel_device_open(CP_DMADEV_DEVICE, &fd, &info, err);

	if (!rc)
		kernel_sys->close(fd);
	return rc;
}

int kernel_ring_check(const struct cp_dma_cfg *cfg, const struct cp_dmadev_info *info,
		      struct cp_err *err)
{
	uint32_t max =
		info->ring_max < CP_DMA_RING_MAX ? info->ring_max : CP_DMA_RING_MAX;

	if (cfg->ring <= max && cp_dma_ring_round(cfg->ring) <= max)
		return 0;
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"kernel: a ring of '%u' is too large; expected at most %" PRIu32,
		cfg->ring, max);
}

int kernel_usable(const struct cp_dma_cfg *cfg, struct cp_err *err)
{
	struct cp_dmadev_info info = {0};
	struct kernel_settings set;
	int fd, rc = kernel_settings_read(cfg->spec, &set, err);

	if (!rc)
		rc = kernel_device_open(set.device, &fd, &info, err);
	if (rc)
		return rc;
	kernel_sys->close(fd);
	if (set.chan != CP_DMADEV_CHAN_ANY && set.chan >= info.nr_chans)
		return kernel_no_chan(&set, &info, err);
	return kernel_ring_check(cfg, &info, err);
}

/* Where nothing can be asked, the traits stay those of the table: no figure comes of it.
 */
void kernel_traits(const char *spec, struct cp_dma_traits *ret_traits)
{
	struct cp_dmadev_info info = {0};
	struct kernel_settings set;
	struct cp_err err;
	int fd;

	if (kernel_settings_read(spec, &set, &err) ||
	    kernel_device_open(set.device, &fd, &info, &err))
		return;
	kernel_sys->close(fd);
	ret_traits->provenance =
		info.features & CP_DMADEV_HARDWARE ? "hardware" : "software";
	ret_traits->irq = info.features & CP_DMADEV_EVENTFD;
	/* software channels: threads of the kernel that copy */
	ret_traits->threads = !(info.features & CP_DMADEV_HARDWARE);
}
