/* SPDX-License-Identifier: GPL-2.0-only */
/* The measuring window of a submitter and of its device. */
#include <stdio.h>
#include <string.h>

#include "engines/queue/internal.h"

void cp_sub_measure_begin(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	memset(&sub->proof, 0, sizeof(sub->proof));
	cp_hist_reset(&sub->lat);
	sub->ios = 0;
	sub->bytes = 0;
	sub->bytes_moved = 0;
	sub->bytes_offloaded = 0;
	if (!dev->mq)
		sub->proof.effective_iodepth = 1;
	pthread_mutex_lock(&dev->lock);
	if (!dev->window_open) {
		dev->window_open = true;
		dev->start_ns = cp_now_ns();
		dev->start_process_ns = cp_process_cpu_ns();
		dev->start_engine_ns = cp_dev_engine_cpu_ns(dev);
	}
	pthread_mutex_unlock(&dev->lock);
	sub->measuring = true;
	sub->start_ns = cp_now_ns();
	sub->start_cpu_ns = cp_thread_cpu_ns();
	sub->window_ticks = cp_ticks();
	sub->end_ns = 0;
}

void cp_sub_measure_end(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	if (!sub->measuring)
		return;
	sub->end_ns = cp_now_ns();
	sub->end_cpu_ns = cp_thread_cpu_ns();
	pthread_mutex_lock(&dev->lock);
	sub->dev_end_ns = cp_now_ns();
	sub->dev_process_ns = cp_process_cpu_ns() - dev->start_process_ns;
	sub->dev_engine_ns = cp_dev_engine_cpu_ns(dev) - dev->start_engine_ns;
	pthread_mutex_unlock(&dev->lock);
}

bool cp_sub_measuring(const struct cp_sub *sub)
{
	return sub->measuring;
}

void cp_sub_report(const struct cp_sub *sub, struct cp_sidecar_job *out)
{
	struct cp_dev *dev = sub->dev;

	out->start_ns = sub->start_ns;
	out->end_ns = sub->end_ns;
	out->ios = sub->ios;
	out->bytes = sub->bytes;
	out->cpu_submit_ns = sub->end_cpu_ns - sub->start_cpu_ns;
	*out->lat = sub->lat;
	out->dev_start_ns = dev->start_ns;
	out->dev_end_ns = sub->dev_end_ns;
	out->dev_cpu_process_ns = sub->dev_process_ns;
	out->dev_cpu_engine_ns = sub->dev_engine_ns;
	out->proof = sub->proof;
	out->proof.bytes_cpu = sub->bytes_moved - sub->bytes_offloaded;
	if (dev->simulated)
		out->proof.bytes_simulated = sub->bytes_offloaded;
	else
		out->proof.bytes_dma = sub->bytes_offloaded;
	out->proof.node = dev->media.node;
	snprintf(out->proof.verify, sizeof(out->proof.verify), "off");
	snprintf(out->proof.copy, sizeof(out->proof.copy), "%s", dev->copy_name);
	snprintf(out->proof.dma, sizeof(out->proof.dma), "%s", dev->dma_name);
	snprintf(out->provenance.media, sizeof(out->provenance.media), "%s",
		 dev->media.provenance);
	snprintf(out->provenance.attr, sizeof(out->provenance.attr), "native");
	snprintf(out->provenance.dma, sizeof(out->provenance.dma), "%s",
		 dev->dma && !dev->no_channel ? dev->dma->provenance : "none");
	out->llc_bytes = dev->cfg.topo->llc_bytes;
	out->media_bytes = dev->media.bytes;
	out->nr_hctx = dev->nr_hctx;
	out->queue_depth = dev->mq ? dev->arm.queue_depth : 0;
	pthread_mutex_lock(&dev->lock);
	snprintf(out->notes, sizeof(out->notes), "%s", dev->notes);
	pthread_mutex_unlock(&dev->lock);
}
