/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening and closing a device. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/copy/guard.h"
#include "engines/queue/internal.h"

static int open_dma(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_arm *arm = &dev->arm;

	if (!dev->queues || !strcmp(arm->dma, "none"))
		return 0;
	struct cp_dma_cfg cfg = {.spec = arm->dma,
				 .ring = arm->queue_depth,
				 .node = -1,
				 .cpu = -1,
				 .irq = dev->irq,
				 .durable = cp_dev_durable(dev)};
	struct cp_err passed = {0};

	dev->dma = dev->cfg.dma ? dev->cfg.dma : cp_dma_choose(&cfg, &passed, err);
	if (!dev->dma)
		return cp_dev_no_channel(dev, -EINVAL, err);
	int rc = dev->dma->check(cfg.spec, err);

	if (rc)
		return rc;
	rc = cp_dma_usable(dev->dma, &cfg, err);
	if (rc)
		return cp_dev_no_channel(dev, rc, err);
	if (passed.msg[0]) {
		char note[256];

		snprintf(note, sizeof(note), "auto took %s: %.200s", dev->dma->name,
			 passed.msg);
		cp_dev_note(dev, note);
	}
	cp_dma_traits(dev->dma, cfg.spec, &dev->traits);
	if (dev->irq && !dev->traits.irq)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'completion' is '%s' and dma engine '%s' has no "
				  "interrupt; expected poll",
				  arm->completion, dev->dma->name);
	dev->simulated = !dev->traits.moves_data;
	return 0;
}

/* Before anything is touched: can the attribute be had, and by this path? */
static int open_attr(struct cp_dev *dev, struct cp_err *err)
{
	unsigned natives = cp_media_attrs(dev->cfg.media);
	int rc = cp_attr_parse(dev->cfg.attr, &dev->mapped, err);

	if (rc || !natives) /* cp_media_open() says that there is no such media */
		return rc;
	rc = cp_attr_check(dev->mapped, natives, dev->cfg.attr_native, cp_attr_lacks(),
			   err);
	if (!rc)
		rc = cp_attr_check_copy(dev->arm.copy, dev->mapped, natives, err);
	dev->attr_provenance = cp_attr_provenance(dev->mapped, natives);
	dev->attr = natives & CP_ATTR_BIT(dev->mapped) ? CP_ATTR_WB : dev->mapped;
	if (!rc && dev->attr != CP_ATTR_WB && strcmp(dev->arm.dma, "none") != 0)
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"attr '%s' is emulated by copies of the CPU and 'dma' is "
				"'%s', which would go around them; expected dma none",
				dev->cfg.attr, dev->arm.dma);
	return rc;
}

static int open_hctx(struct cp_dev *dev, struct cp_hctx *hctx)
{
	unsigned depth = dev->arm.queue_depth;
	pthread_condattr_t attr;

	hctx->tagged =
		dev->mq && depth < (uint64_t)dev->cfg.jobs * (dev->cfg.iodepth + 1);
	if (hctx->tagged) {
		hctx->free_tags = calloc(depth, sizeof(uint32_t));
		if (!hctx->free_tags)
			return -ENOMEM;
		for (unsigned t = 0; t < depth; t++)
			hctx->free_tags[t] = depth - 1 - t;
		hctx->nr_free = depth;
	}
	hctx->shared = dev->cfg.jobs > 1;
	pthread_mutex_init(&hctx->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&hctx->cond, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static int open_queues(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_topo *topo = dev->cfg.topo;

	if (!dev->queues)
		return 0;
	unsigned nr = cp_queue_map(topo, dev->arm.q_per_node, dev->map);
	char note[160];

	/* The default suits large machines, and is capped on most: worth no word. */
	if (dev->arm.q_per_node != CP_Q_PER_NODE_DEFAULT &&
	    cp_queue_capped(topo, dev->arm.q_per_node, note, sizeof(note)))
		cp_dev_note(dev, note);
	dev->hctxs = aligned_alloc(64, (nr * sizeof(struct cp_hctx) + 63) / 64 * 64);
	if (!dev->hctxs)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
	memset(dev->hctxs, 0, nr * sizeof(struct cp_hctx));
	for (unsigned i = 0; i < nr; i++) {
		if (open_hctx(dev, &dev->hctxs[i]) != 0)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
		dev->nr_hctx = i + 1;
	}
	return 0;
}

static void set_segment(struct cp_dev *dev, uint64_t segment)
{
	bool pow2 = (segment & (segment - 1)) == 0;

	dev->segment = segment;
	dev->segment_shift = pow2 ? __builtin_ctzll(segment) : -1;
}

void cp_dev_note(struct cp_dev *dev, const char *note)
{
	size_t used = strlen(dev->notes);

	if (note[0])
		snprintf(dev->notes + used, sizeof(dev->notes) - used, "%s%s",
			 used ? "; " : "", note);
}

int cp_dev_no_channel(struct cp_dev *dev, int rc, const struct cp_err *err)
{
	char note[256];

	if (strncmp(dev->arm.dma, "auto", 4) != 0 || err->exit == CP_EXIT_USAGE)
		return rc;
	if (!dev->no_channel) {
		snprintf(note, sizeof(note), "forced back to bio, no DMA: %.200s",
			 err->msg);
		cp_dev_note(dev, note);
	}
	dev->no_channel = true;
	return 0;
}

const char *cp_dev_notes(const struct cp_dev *dev)
{
	return dev->notes;
}

/* Byte 0 of the device is byte cfg->misalign_far of the media: added here, and nowhere
 * else. */
static int open_media(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_dev_cfg *cfg = &dev->cfg;
	bool fits = cfg->bytes <= UINT64_MAX - cfg->misalign_far;
	const struct cp_media_cfg media = {
		.spec = cfg->media,
		.filename = cfg->filename,
		.bytes = fits ? cfg->bytes + cfg->misalign_far : UINT64_MAX,
		.writable = cfg->writable,
		.attr = dev->mapped,
		.attr_native = cfg->attr_native,
		.require_persistent = dev->cfg.dir_used[CP_DIR_WRITE] &&
				      !strcmp(dev->arm.persist, "require"),
		.fault_in = true,
	};
	int rc = cp_media_open(&media, &dev->media, err);

	if (rc && cfg->misalign_far)
		cp_err_prefix(err, "with misalign_far %u", cfg->misalign_far);
	if (rc)
		return rc;
	dev->far = dev->media.base + cfg->misalign_far;
	dev->far_bytes = cfg->bytes;
	cp_dev_note(dev, dev->media.note);
	return 0;
}

int cp_dev_open(const struct cp_dev_cfg *cfg, struct cp_dev **ret_dev, struct cp_err *err)
{
	struct cp_dev *dev = calloc(1, sizeof(*dev));

	assert(cfg->segment > 0 && cfg->jobs > 0 && cfg->iodepth > 0 && cfg->topo);
	if (!dev)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
	cp_clock_init();
	dev->cfg = *cfg;
	dev->arm = cfg->arm;
	pthread_mutex_init(&dev->lock, NULL);
	int rc = cp_arm_resolve(&dev->arm, err);

	if (!rc)
		rc = open_attr(dev, err);
	if (rc)
		goto out_free;
	dev->mq = !strcmp(dev->arm.queue_mode, "mq");
	dev->page = !strcmp(dev->arm.queue_mode, "page");
	dev->queues = dev->mq || (dev->page && strcmp(dev->arm.dma, "none") != 0);
	dev->irq = cp_arm_signals(&dev->arm);
	dev->hybrid = dev->irq && strcmp(dev->arm.completion, "irq") != 0;
	dev->ring_full_cpu = !strcmp(dev->arm.ring_full, "cpu");
	dev->max_merge = dev->mq ? dev->arm.max_merge : 0;
	dev->split_pct = dev->arm.split_pct;
	cp_dev_rw_page(dev, !cfg->rw_page_off);
	if (dev->page && cfg->rw_page_off)
		cp_dev_note(dev, "rw_page is off: I/O goes by bio");
	set_segment(dev, cfg->segment);
	rc = open_dma(dev, err);
	if (!rc)
		rc = cp_dev_persist_check(dev, err);
	if (rc)
		goto out_free;
	rc = cp_guard_get(err);
	if (rc)
		goto out_free;
	rc = open_media(dev, err);
	if (rc)
		goto out_guard;
	rc = cp_dev_persist_open(dev, err);
	if (!rc)
		rc = cp_dev_routes(dev, err);
	if (!rc)
		rc = cp_dev_nodes(dev, err);
	if (!rc)
		rc = open_queues(dev, err);
	if (rc) {
		cp_dev_close(dev);
		return rc;
	}
	dev->media.flushed = dev->flush.promised; /* nothing is left to a sync */
	*ret_dev = dev;
	return 0;

out_guard:
	cp_guard_put();
out_free:
	pthread_mutex_destroy(&dev->lock);
	free(dev);
	return rc;
}

bool cp_dev_simulated(const struct cp_dev *dev)
{
	return dev->simulated;
}

void cp_dev_close(struct cp_dev *dev)
{
	if (!dev)
		return;
	for (unsigned i = 0; i < dev->nr_hctx; i++) {
		struct cp_hctx *hctx = &dev->hctxs[i];

		cp_hctx_close_channels(dev, hctx);
		free(hctx->free_tags);
		pthread_mutex_destroy(&hctx->lock);
		pthread_cond_destroy(&hctx->cond);
	}
	free(dev->hctxs);
	free(dev->extents);
	free(dev->subs);
	cp_policy_table_free(dev->table);
	cp_media_close(&dev->media);
	cp_guard_put();
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}
