/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening a hardware queue's DMA channels, and where their engines' threads run. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/queue/internal.h"

/* Has the node CPUs that we may use? Its index then, else -1. */
static int node_with_cpus(const struct cp_topo *topo, int node)
{
	for (unsigned c = 0; c < topo->nr_cpus; c++) {
		unsigned index = topo->cpus[c].node;

		if ((int)topo->node_os_index[index] == node)
			return (int)index;
	}
	return -1;
}

/*
 * The CPU for an engine thread: one on the node wanted, or of the submitter's where that
 * is any or has no CPUs, that neither a submitter nor another channel has; the last such,
 * since submitters are placed from the first on. -1 when there is none: the scheduler
 * places it then.
 */
static int pick_cpu(const struct cp_dev *dev, int wanted, int submitter)
{
	const struct cp_topo *topo = dev->cfg.topo;
	int node = node_with_cpus(topo, wanted);
	unsigned free_cpus = 0, here = dev->nr_subs + 1;
	int pick = -1;

	if (node < 0)
		node = submitter >= 0 ? (int)topo->cpus[submitter].node : 0;
	for (unsigned c = 0; c < topo->nr_cpus; c++) {
		if (dev->cpu_taken[c])
			continue;
		free_cpus++;
		if ((int)topo->cpus[c].node == node)
			pick = (int)c;
	}
	/* Submitters that have not come yet need the rest. */
	return free_cpus + here > dev->cfg.jobs ? pick : -1;
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
	int node = cp_dev_chan_node(dev, hctx->nr_chans, submitter);
	int pick = dev->traits.threads ? pick_cpu(dev, node, submitter) : -1;
	struct cp_dma_cfg cfg = {
		.spec = dev->arm.dma,
		.ring = dev->arm.queue_depth,
		.node = node,
		.cpu = pick >= 0 ? (int)topo->cpus[pick].os_index : -1,
		.irq = dev->irq,
		.durable = cp_dev_durable(dev),
		.event_fd = hctx->event_fd,
		/* real: DMA is refused under an emulated one */
		.attr = dev->mapped,
		.far = dev->far,
		.far_bytes = dev->far_bytes,
		.copy = dev->arm.copy,
	};

	if (!strncmp(cfg.spec, "auto", 4))
		cfg.spec = dev->dma->name;
	int rc = dev->dma->open(&cfg, &hctx->chans[hctx->nr_chans], err);

	if (rc)
		return rc;
	hctx->nr_chans++;
	if (pick >= 0)
		dev->cpu_taken[pick] = true;
	else if (dev->traits.threads)
		dev->crowded = true;
	return 0;
}

/* One that a wait for any of the channels sleeps on. Never 0, which would mean none. */
static int open_event(struct cp_hctx *hctx, struct cp_err *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	int errnum = errno;

	if (!fd) {
		fd = fcntl(0, F_DUPFD_CLOEXEC, 1);
		errnum = errno;
		close(0);
	}
	if (fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errnum,
				  "cannot make an eventfd: %s", strerror(errnum));
	hctx->event_fd = fd;
	return 0;
}

static int open_channels(struct cp_dev *dev, struct cp_hctx *hctx, int submitter,
			 struct cp_err *err)
{
	cpu_set_t mine, all;
	bool have = pthread_getaffinity_np(pthread_self(), sizeof(mine), &mine) == 0;
	int rc = 0;

	if (dev->irq && dev->nr_chans > 1)
		rc = open_event(hctx, err);
	/* A thread starts with its creator's affinity; an engine thread must not be tied
	 * to the submitter's CPU. */
	all_cpus(dev->cfg.topo, &all);
	if (have)
		pthread_setaffinity_np(pthread_self(), sizeof(all), &all);
	while (!rc && hctx->nr_chans < dev->nr_chans)
		rc = open_channel(dev, hctx, submitter, err);
	if (have)
		pthread_setaffinity_np(pthread_self(), sizeof(mine), &mine);
	if (rc)
		cp_hctx_close_channels(dev, hctx);
	else
		hctx->chan = hctx->chans[0];
	return rc;
}

void cp_hctx_close_channels(const struct cp_dev *dev, struct cp_hctx *hctx)
{
	while (hctx->nr_chans)
		dev->dma->close(hctx->chans[--hctx->nr_chans]);
	hctx->chan = NULL;
	/* after the channels, which signal it */
	if (hctx->event_fd)
		close(hctx->event_fd);
	hctx->event_fd = 0;
}

int cp_dev_channel(struct cp_dev *dev, struct cp_hctx *hctx, int cpu_index,
		   struct cp_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&dev->lock);
	if (cpu_index >= 0)
		dev->cpu_taken[cpu_index] = true;
	if (dev->dma && !dev->no_channel && !hctx->chan)
		rc = open_channels(dev, hctx, cpu_index, err);
	if (rc)
		rc = cp_dev_no_channel(dev, rc, err);
	pthread_mutex_unlock(&dev->lock);
	return rc;
}

uint64_t cp_dev_engine_cpu_ns(struct cp_dev *dev)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < dev->nr_hctx; i++) {
		for (unsigned c = 0; c < dev->hctxs[i].nr_chans; c++)
			sum += dev->dma->cpu_ns(dev->hctxs[i].chans[c]);
	}
	return sum;
}
