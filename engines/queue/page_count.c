/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What page mode bypassed: of the pages handed in, how many mq would have had in the
 * request of the one before, had they been handed in together, and what of them would
 * then have been enough for DMA. The rules are the plug's (merge.c), up to the default of
 * max_merge; the decision is the device's own.
 */
#include "engines/queue/internal.h"

/* Bytes of a run that the CPU copied a page at a time, and that a channel would have
 * moved. */
static uint64_t unmerged_dma(const struct cp_sub *sub, const struct cp_page_run *run)
{
	if (!run->cpu_bytes || !sub->hctx || !sub->hctx->chan)
		return 0;
	return cp_dev_decide(sub->dev, run->dir, run->end - run->start, run->segments)
			       ->dma
		       ? run->cpu_bytes
		       : 0;
}

static bool joins(const struct cp_dev *dev, struct cp_page_run *run,
		  const struct cp_io *io)
{
	uint64_t start = run->start, end = run->end, segments;

	if (end == io->offset)
		end += io->bytes;
	else if (io->offset + io->bytes == start)
		start = io->offset;
	else
		return false;
	segments = (uint64_t)run->segments + cp_dev_segments(dev, io->bytes);
	if (!run->ios || io->dir != run->dir || io->preflush || io->fua ||
	    run->ios >= CP_PLUG_IOS || end - start > CP_MAX_MERGE_DEFAULT ||
	    segments > CP_DMA_SEGMENTS_MAX || end - start > cp_dev_node_run(dev, start))
		return false;
	run->start = start;
	run->end = end;
	run->segments = (unsigned)segments;
	run->ios++;
	return true;
}

void cp_pages_count(struct cp_sub *sub, const struct cp_io *io, uint64_t cpu_bytes)
{
	struct cp_page_run *run = &sub->run;
	uint64_t pages = io->bytes / CP_PAGE_BYTES;

	sub->proof.page.pages += pages;
	if (!pages)
		return;
	sub->proof.page.unmerged += pages - 1;
	if (joins(sub->dev, run, io)) {
		sub->proof.page.unmerged++;
		run->cpu_bytes += cpu_bytes;
		return;
	}
	sub->proof.page.unmerged_dma += unmerged_dma(sub, run);
	*run = (struct cp_page_run){
		.start = io->offset,
		.end = io->offset + io->bytes,
		.cpu_bytes = cpu_bytes,
		.dir = io->dir,
		.ios = io->preflush || io->fua ? CP_PLUG_IOS : 1,
		.segments = cp_dev_segments(sub->dev, io->bytes),
	};
}

void cp_pages_report(const struct cp_sub *sub, struct cp_proof *proof)
{
	proof->page.unmerged_dma += unmerged_dma(sub, &sub->run);
}
