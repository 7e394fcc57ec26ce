/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening a hardware queue's DMA channel, and where its engine's threads run. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "engines/queue/internal.h"

/*
 * The CPU for an engine thread: one on the submitter's node that neither a submitter nor
 * another channel has, the last such, since submitters are placed from the first on. -1
 * when there is none: the scheduler places it then.
 */
static int pick_cpu(const struct cp_dev *dev, int submitter)
{
	const struct cp_topo *topo = dev->cfg.topo;
	unsigned node = submitter >= 0 ? topo->cpus[submitter].node : 0;
	unsigned free_cpus = 0;
	int pick = -1;

	for (unsigned c = 0; c < topo->nr_cpus; c++) {
		if (dev->cpu_taken[c])
			continue;
		free_cpus++;
		if (topo->cpus[c].node == node)
			pick = (int)c;
	}
	/* Submitters that have not come yet need the rest. */
	return topo->nr_cpus > dev->cfg.jobs && free_cpus ? pick : -1;
}

static void all_cpus(const struct cp_topo *topo, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (unsigned c = 0; c < topo->nr_cpus; c++)
		CPU_SET(topo->cpus[c].os_index, set);
}

static int open_channel(struct cp_dev *dev, struct cp_hctx *hctx, int submitter,
			struct cp_err *err)
{
	const struct cp_topo *topo = dev->cfg.topo;
	int pick = pick_cpu(dev, submitter);
	struct cp_dma_cfg cfg = {
		.spec = dev->arm.dma,
		.ring = dev->arm.queue_depth,
		.node = dev->media.node,
		.cpu = pick >= 0 ? (int)topo->cpus[pick].os_index : -1,
		.irq = dev->irq,
		/* real: DMA is refused under an emulated one */
		.attr = dev->mapped,
		.copy = dev->arm.copy,
	};
	cpu_set_t mine, all;
	bool have = pthread_getaffinity_np(pthread_self(), sizeof(mine), &mine) == 0;

	if (!strncmp(cfg.spec, "auto", 4))
		cfg.spec = dev->dma->name;
	/* A thread starts with its creator's affinity; an engine thread must not be tied
	 * to the submitter's CPU. */
	all_cpus(topo, &all);
	if (have)
		pthread_setaffinity_np(pthread_self(), sizeof(all), &all);
	int rc = dev->dma->open(&cfg, &hctx->chan, err);

	if (have)
		pthread_setaffinity_np(pthread_self(), sizeof(mine), &mine);
	if (rc) {
		hctx->chan = NULL;
		return rc;
	}
	hctx->chans[0] = hctx->chan;
	hctx->nr_chans = 1;
	if (pick >= 0)
		dev->cpu_taken[pick] = true;
	else if (!dev->simulated)
		dev->crowded = true;
	return 0;
}

int cp_dev_channel(struct cp_dev *dev, struct cp_hctx *hctx, int cpu_index,
		   struct cp_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&dev->lock);
	if (cpu_index >= 0)
		dev->cpu_taken[cpu_index] = true;
	if (dev->dma && !dev->no_channel && !hctx->chan)
		rc = open_channel(dev, hctx, cpu_index, err);
	if (rc)
		rc = cp_dev_no_channel(dev, rc, err);
	pthread_mutex_unlock(&dev->lock);
	return rc;
}

uint64_t cp_dev_engine_cpu_ns(struct cp_dev *dev)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < dev->nr_hctx; i++) {
		if (dev->hctxs[i].chan)
			sum += dev->dma->cpu_ns(dev->hctxs[i].chan);
	}
	return sum;
}
