/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What page mode bypassed: of the I/Os handed in, how many mq would have had in the
 * request of the one before, had they been handed in together; and what would have been
 * enough for DMA, as the request of one I/O already, or merged only. The rules are the
 * plug's (merge.c), up to the default of max_merge; the decision is the device's own.
 */
#include "engines/queue/internal.h"

static bool by_dma(const struct cp_sub *sub, enum cp_dir dir, uint64_t bytes,
		   uint32_t segments)
{
	return sub->hctx && sub->hctx->chan &&
	       cp_dev_decide(sub->dev, dir, bytes, segments)->dma;
}

/* Bytes of a run that the CPU copied a page at a time, and that a channel would have
 * moved, but none of its I/Os alone. */
static uint64_t unmerged_dma(const struct cp_sub *sub, const struct cp_page_run *run)
{
	return run->cpu_bytes &&
			       by_dma(sub, run->dir, run->end - run->start, run->segments)
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
	if (cpu_bytes && pages > 1 && by_dma(sub, io->dir, io->bytes, 0)) {
		sub->proof.page.whole_dma += cpu_bytes;
		cpu_bytes = 0;
	}
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
