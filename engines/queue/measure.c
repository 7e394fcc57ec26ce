/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The measuring window of a device and of its submitters.
 *
 * Timed submitters share one window: it opens when the last of them is ready and closes
 * when the first of them ends, so that bytes, elapsed time and every CPU clock speak of
 * the same span, in which all of them ran. Whoever opens or closes it reads the clocks of
 * all threads at that moment; each submitter starts and stops counting at its next I/O.
 *
 * Others (a lone submitter, or jobs that end with their bytes) count everything from
 * their own begin to their own end, and the device's window is the union. fio ends a job
 * once before it verifies and again behind that, so of a mark perf
 * (engines/base/window.h) is not told: only of the end, at the report or the close at the
 * latest.
 */
#include <stdio.h>
#include <string.h>

#include "engines/base/window.h"
#include "engines/queue/internal.h"

static void start_counting(struct cp_sub *sub)
{
	memset(&sub->proof, 0, sizeof(sub->proof));
	memset(sub->kernels_used, 0, sizeof(sub->kernels_used));
	cp_hist_reset(&sub->lat);
	sub->ios = 0;
	sub->bytes = 0;
	sub->bytes_moved = 0;
	sub->bytes_offloaded = 0;
	sub->flushed = false;
	sub->fenced = false;
	sub->fenced_by_copy = false;
	cp_phases_reset(&sub->phases);
	memset(&sub->run, 0, sizeof(sub->run));
	if (!sub->dev->mq)
		sub->proof.effective_iodepth = 1;
	sub->measuring = true;
	sub->window_ticks = cp_ticks();
}

void cp_io_account_each(struct cp_sub *sub, struct cp_io *const *ios, unsigned n,
			uint64_t now)
{
	uint64_t count = 0, bytes = 0, moved = 0, offloaded = 0, fallback = 0, split = 0;
	uint64_t errors = 0;
	struct cp_hist_sum lat = CP_HIST_SUM_EMPTY;

	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = ios[i];
		uint64_t arrived = io->bytes - io->residue;

		if (__builtin_expect(io->sync, 0))
			continue;
		moved += arrived;
		offloaded += io->dma_bytes;
		fallback += io->fallback_bytes;
		split += io->split_bytes;
		if (__builtin_expect(io->error, 0)) {
			errors++;
			/* Of the CPU's part at the end nothing is counted that it did not
			 * copy. */
			uint64_t by_cpu = arrived - io->dma_bytes;
			uint64_t meant = io->fallback_bytes + io->split_bytes;

			if (meant > by_cpu) {
				uint64_t back = io->fallback_bytes < by_cpu
							? io->fallback_bytes
							: by_cpu;

				fallback -= io->fallback_bytes - back;
				split -= io->split_bytes - (by_cpu - back);
			}
			continue;
		}
		count++;
		bytes += arrived;
		if (io->submit_ticks >= sub->window_ticks)
			cp_hist_count(
				&sub->lat, &lat,
				cp_ticks_to_ns(cp_ticks_since(io->submit_ticks, now)));
	}
	cp_hist_sum_add(&sub->lat, &lat);
	sub->ios += count;
	sub->bytes += bytes;
	sub->bytes_moved += moved;
	sub->bytes_offloaded += offloaded;
	sub->proof.bytes_fallback += fallback;
	sub->proof.bytes_split += split;
	sub->proof.errors += errors;
}

void cp_sub_window(struct cp_sub *sub, int window)
{
	sub->seen = window;
	if (!sub->dev->cfg.timed)
		return; /* counts by itself */
	if (window == WINDOW_OPEN)
		start_counting(sub);
	else
		sub->measuring = false;
}

/* The caller holds dev->lock, in these two. */
static void open_window(struct cp_dev *dev)
{
	for (unsigned i = 0; i < dev->nr_subs; i++)
		dev->subs[i]->start_cpu_ns = cp_clock_read_ns(dev->subs[i]->cpu_clock);
	dev->start_ns = cp_now_ns();
	dev->start_process_ns = cp_process_cpu_ns();
	dev->start_engine_ns = cp_dev_engine_cpu_ns(dev);
	/* release: the start_* above are visible to the submitter that sees it open */
	atomic_store_explicit(&dev->window, WINDOW_OPEN, memory_order_release);
}

static void read_device(struct cp_dev *dev, struct cp_sub *sub)
{
	sub->dev_end_ns = cp_now_ns();
	sub->dev_process_ns = cp_process_cpu_ns() - dev->start_process_ns;
	sub->dev_engine_ns = cp_dev_engine_cpu_ns(dev) - dev->start_engine_ns;
}

static void close_window(struct cp_dev *dev, struct cp_sub *first)
{
	read_device(dev, first);
	for (unsigned i = 0; i < dev->nr_subs; i++) {
		struct cp_sub *sub = dev->subs[i];

		sub->end_cpu_ns = cp_clock_read_ns(sub->cpu_clock);
		sub->start_ns = dev->start_ns;
		sub->end_ns = first->dev_end_ns;
		sub->dev_end_ns = first->dev_end_ns;
		sub->dev_process_ns = first->dev_process_ns;
		sub->dev_engine_ns = first->dev_engine_ns;
	}
	/* release: its submitters' end_* and dev_* above are visible to each of them that
	 * sees it closed */
	atomic_store_explicit(&dev->window, WINDOW_CLOSED, memory_order_release);
}

static void tell_begin(struct cp_sub *sub)
{
	if (!sub->told)
		cp_window_open();
	sub->told = true;
}

void cp_sub_tell_end(struct cp_sub *sub)
{
	if (sub->told)
		cp_window_close();
	sub->told = false;
}

void cp_sub_measure_begin(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	pthread_mutex_lock(&dev->lock);
	bool waiting = atomic_load_explicit(&dev->window, memory_order_relaxed) ==
		       WINDOW_WAITING;

	if (dev->cfg.timed) {
		dev->nr_ready++;
		if (waiting && dev->nr_ready == dev->cfg.jobs) {
			cp_window_open();
			open_window(dev);
		}
	} else {
		tell_begin(sub);
		if (waiting)
			open_window(dev);
		start_counting(sub);
		sub->start_ns = cp_now_ns();
		sub->start_cpu_ns = cp_clock_read_ns(sub->cpu_clock);
	}
	pthread_mutex_unlock(&dev->lock);
	cp_sub_watch(sub);
}

void cp_sub_measure_mark(struct cp_sub *sub)
{
	struct cp_dev *dev = sub->dev;

	pthread_mutex_lock(&dev->lock);
	int window = atomic_load_explicit(&dev->window, memory_order_relaxed);

	if (dev->cfg.timed && window == WINDOW_OPEN) {
		close_window(dev, sub);
		cp_window_close();
	} else if (!dev->cfg.timed && sub->measuring) {
		sub->end_ns = cp_now_ns();
		sub->end_cpu_ns = cp_clock_read_ns(sub->cpu_clock);
		read_device(dev, sub);
	}
	pthread_mutex_unlock(&dev->lock);
	cp_sub_watch(sub);
}

void cp_sub_measure_end(struct cp_sub *sub)
{
	cp_sub_measure_mark(sub);
	/* what comes behind is in no time that was taken */
	if (!sub->dev->cfg.timed)
		sub->measuring = false;
	cp_sub_tell_end(sub);
}

bool cp_sub_measured(const struct cp_sub *sub)
{
	return sub->end_ns != 0;
}

/* The kernels that really copied, each once: "memcpy/nt-avx512". */
static void name_kernels(const struct cp_sub *sub, char *name, size_t size)
{
	const struct cp_dev *dev = sub->dev;
	size_t used = 0;

	name[0] = '\0';
	for (unsigned d = 0; d < 2; d++) {
		for (unsigned k = 0; k < dev->nr_kernels; k++) {
			const char *kernel = dev->kernels[k]->name;
			bool again = d && (sub->kernels_used[0] & 1U << k);

			if (!(sub->kernels_used[d] & 1U << k) || again)
				continue;
			int n = snprintf(name + used, size - used, "%s%s",
					 used ? "/" : "", kernel);
			if (n < 0 || (size_t)n >= size - used) {
				name[used] = '\0'; /* whole names only */
				return;
			}
			used += (size_t)n;
		}
	}
}

static void name_dma(const struct cp_sub *sub, char *name, size_t size)
{
	struct cp_hctx *hctx = sub->hctx;

	name[0] = '\0';
	if (!hctx || !hctx->chan)
		return;
	cp_hctx_lock(hctx);
	snprintf(name, size, "%s", sub->dev->dma->describe(hctx->chan));
	cp_hctx_unlock(hctx);
}

static bool has_channel(struct cp_dev *dev)
{
	bool any = false;

	pthread_mutex_lock(&dev->lock);
	for (unsigned i = 0; i < dev->nr_hctx; i++)
		any |= dev->hctxs[i].chan != NULL;
	pthread_mutex_unlock(&dev->lock);
	return any;
}

void cp_sub_report(struct cp_sub *sub, struct cp_sidecar_job *out)
{
	struct cp_dev *dev = sub->dev;

	cp_sub_tell_end(sub);
	out->start_ns = sub->start_ns;
	out->end_ns = sub->end_ns;
	out->ios = sub->ios;
	out->bytes = sub->bytes;
	out->cpu_submit_ns = sub->end_cpu_ns - sub->start_cpu_ns;
	*out->lat = sub->lat;
	out->phases.ios = sub->phases.ios;
	out->phases.prepare_ns = cp_ticks_to_ns(sub->phases.prepare_ticks);
	out->phases.submit_ns = cp_ticks_to_ns(sub->phases.submit_ticks);
	out->phases.wait_ns = cp_ticks_to_ns(sub->phases.wait_ticks);
	out->phases.complete_ns = cp_ticks_to_ns(sub->phases.complete_ticks);
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
	out->proof.node = dev->media.node_pct == 100 ? dev->media.node : -1;
	out->proof.page_bytes = dev->media.page_bytes;
	cp_sub_persist_report(sub, &out->proof);
	cp_pages_report(sub, &out->proof);
	snprintf(out->proof.verify, sizeof(out->proof.verify), "off");
	name_kernels(sub, out->proof.copy, sizeof(out->proof.copy));
	name_dma(sub, out->proof.dma, sizeof(out->proof.dma));
	snprintf(out->provenance.media, sizeof(out->provenance.media), "%s",
		 dev->media.provenance);
	snprintf(out->provenance.attr, sizeof(out->provenance.attr), "%s",
		 dev->attr_provenance);
	snprintf(out->provenance.dma, sizeof(out->provenance.dma), "%s",
		 has_channel(dev) ? dev->traits.provenance : "none");
	out->llc_bytes = dev->cfg.topo->llc_bytes;
	out->media_bytes = dev->far_bytes;
	out->nr_hctx = dev->nr_hctx;
	out->queue_depth = dev->queues ? dev->arm.queue_depth : 0;
	pthread_mutex_lock(&dev->lock);
	snprintf(out->notes, sizeof(out->notes), "%s", dev->notes);
	pthread_mutex_unlock(&dev->lock);
}
