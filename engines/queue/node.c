/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which NUMA node a DMA channel is wanted on: that of the memory, of the submitter's CPU
 * or of the device, as dma_node of the arm says. By memory that lies on several nodes a
 * hardware queue has a channel for each of them, and a request is cut where they meet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/queue/internal.h"

/* The slot of a node among the channels of a hardware queue; when there are more nodes
 * than slots, nodes share them. */
static unsigned slot_of(struct cp_dev *dev, int node)
{
	for (unsigned i = 0; i < dev->nr_chans; i++) {
		if (dev->chan_node[i] == node)
			return i;
	}
	if (dev->nr_chans == CP_HCTX_CHANS_MAX)
		return (unsigned)node % CP_HCTX_CHANS_MAX;
	dev->chan_node[dev->nr_chans] = node;
	return dev->nr_chans++;
}

/* The media's extents as the device's, a channel each: byte 0 of the device is byte
 * `skip` of them. Neighbours that one channel serves are one. */
static int use_extents(struct cp_dev *dev, const struct cp_node_extent *from, unsigned nr,
		       uint64_t skip, struct cp_err *err)
{
	dev->extents = calloc(nr, sizeof(*dev->extents));
	if (!dev->extents)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
	dev->nr_chans = 0;
	for (unsigned i = 0; i < nr; i++) {
		if (from[i].end <= skip)
			continue;
		uint64_t end = from[i].end - skip;
		unsigned chan = slot_of(dev, from[i].node);

		if (!dev->nr_extents || dev->extents[dev->nr_extents - 1].chan != chan)
			dev->extents[dev->nr_extents++].chan = chan;
		dev->extents[dev->nr_extents - 1].end = end;
		if (end >= dev->far_bytes)
			break;
	}
	if (!dev->nr_chans)
		dev->nr_chans = 1;
	if (dev->nr_extents < 2)
		dev->nr_extents = 0; /* nothing to choose from */
	return 0;
}

static void note_nodes(struct cp_dev *dev)
{
	const struct cp_dev_cfg *cfg = &dev->cfg;
	char words[128], note[160];

	if (!cfg->nr_node_extents) {
		cp_dev_note(dev, dev->media.node_note);
		return;
	}
	cp_node_extents_words(cfg->node_extents, cfg->nr_node_extents, words,
			      sizeof(words));
	snprintf(note, sizeof(note), "media lies on nodes %s", words);
	cp_dev_note(dev, words[0] ? note : "");
}

int cp_dev_nodes(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_dev_cfg *cfg = &dev->cfg;

	note_nodes(dev);
	dev->nr_chans = 1;
	dev->chan_node[0] =
		cfg->nr_node_extents ? cfg->node_extents[0].node : dev->media.node;
	if (!dev->dma || dev->no_channel || strcmp(dev->arm.dma_node, "memory") != 0)
		return 0;
	if (cfg->nr_node_extents)
		return use_extents(dev, cfg->node_extents, cfg->nr_node_extents, 0, err);
	if (dev->media.nr_extents)
		return use_extents(dev, dev->media.extents, dev->media.nr_extents,
				   cfg->misalign_far, err);
	return 0;
}

int cp_dev_chan_node(const struct cp_dev *dev, unsigned chan, int submitter)
{
	const struct cp_topo *topo = dev->cfg.topo;

	if (!strcmp(dev->arm.dma_node, "device"))
		return dev->media.device_node;
	if (!strcmp(dev->arm.dma_node, "cpu"))
		return submitter < 0
			       ? -1
			       : (int)topo->node_os_index[topo->cpus[submitter].node];
	return dev->chan_node[chan];
}

/* Index of the extent of a byte. */
static unsigned extent_at(const struct cp_dev *dev, uint64_t offset)
{
	unsigned low = 0, high = dev->nr_extents - 1;

	while (low < high) {
		unsigned mid = low + (high - low) / 2;

		if (offset < dev->extents[mid].end)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

uint64_t cp_dev_extent_left(const struct cp_dev *dev, uint64_t offset)
{
	unsigned at = extent_at(dev, offset);

	/* nobody said where bytes behind the last one lie */
	return at + 1 == dev->nr_extents ? dev->far_bytes : dev->extents[at].end - offset;
}

unsigned cp_dev_extent_chan(const struct cp_dev *dev, uint64_t offset)
{
	return dev->extents[extent_at(dev, offset)].chan;
}
