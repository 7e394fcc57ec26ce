/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block path: a device (media, hardware queues, DMA channels, policy), the submitters
 * that share it, and the I/Os they pass through it. Knows nothing of fio: a bare loop or
 * a page-fault handler can drive it.
 *
 * Life:
 *   cp_dev_open() -> cp_sub_open() in each submitting thread -> I/O -> cp_sub_close()
 *   -> cp_dev_close() after the last submitter.
 *
 * bio: cp_sub_bio() copies inside the call. Never DMA.
 * mq:  cp_sub_queue() stages, cp_sub_commit() dispatches all staged I/Os and rings each
 *      doorbell once, cp_sub_reap() hands back finished ones. CPU copies are done by the
 *      submitter inside commit, as blk-mq runs queue_rq in the submitter's context.
 *      With max_merge commit holds back what the next I/O may be merged with, and
 *      dispatches it when that cannot be merged, when the request is full, or in a
 *      cp_sub_reap() that has nothing left to hand back (engines/queue/merge.c).
 * page: cp_sub_page() is the whole I/O, page by page (CP_PAGE_BYTES): no request, no tag,
 *      no merging. A page is copied inside the call, or is a transaction of its own, and
 *      the completion queue is looked at with every submit; the pages of one I/O overlap.
 * One decision, that for a page, does for all of them. A page that no channel takes is
 *      copied, and the next one tries again. A failed I/O: by the CPU alone its residue
 *      is what lies behind the first byte that did not arrive; of one page by DMA it is
 *      the channel's; of several transactions it is all, as which one failed is not
 *      known (the figures count what moved). cp_sub_page_submit() does not wait.
 *
 * A write is flushed and fenced as the arm asks (flush, fence, persist) before it is
 * handed back, by its submitter; a flush that faults is EIO and claims no byte
 * (persist.c).
 *
 * An I/O is one fill, one decision, one submit, one reap: stamped when it is handed in
 * and when it is handed back. The decision is one for all I/Os of a merged request. An
 * I/O above 128 segments, or over a border between NUMA nodes, becomes several DMA
 * transactions and is done when all are; a merged request is one. Errors reach io->error
 * as a positive errno with the residue beside it; a copy that faults is EIO
 * (engines/copy/guard.h: submitting threads must not block SIGSEGV or SIGBUS while they
 * copy).
 *
 * Nodes: the arm's dma_node says whose NUMA node a channel is wanted on. By memory that
 * lies on several a hardware queue has a channel for each, and an I/O over a border is
 * one transaction or more on either side of it.
 *
 * Threading: a submitter belongs to the thread that opened it. Submitters of one hardware
 * queue share its channel under the queue's lock, and wait for room in its ring in the
 * order of coming, asleep whatever the completion mode, until it is their turn.
 *
 * Measuring: nothing is counted until cp_sub_measure_begin(); I/Os that finish after it
 * count, latency only of those also handed in after it. With cfg.timed counting starts
 * when all submitters have begun and stops when the first ends (engines/queue/measure.c).
 */
#ifndef CP_ENGINES_QUEUE_QUEUE_H
#define CP_ENGINES_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/clock.h"
#include "engines/base/err.h"
#include "engines/base/hist.h"
#include "engines/base/topo.h"
#include "engines/dma/channel.h"
#include "engines/media/media.h"
#include "engines/policy.h"
#include "results/sidecar.h"

#define CP_SEGMENT_DEFAULT 4096

struct cp_dev;
struct cp_sub;

struct cp_dev_cfg {
	struct cp_arm arm;    /* cp_dev_open() resolves its copy */
	const char *media;    /* spec */
	const char *filename; /* NULL for anon */
	const char *layer, *attr, *numa;
	bool attr_native; /* an emulated attribute will not do */
	uint64_t bytes;	  /* used range, from 0 */
	/* Bytes. far: byte 0 is this byte of the media, which is so much longer. near:
	 * what the callers say of their buffers, which are theirs to place. */
	uint32_t misalign_near, misalign_far;
	bool writable;
	bool dir_used[2]; /* directions that will be used: their kernels must exist */
	uint64_t segment; /* bytes of one near segment; > 0 */
	uint32_t jobs;	  /* submitters that will share it */
	uint32_t iodepth; /* of each, as asked: jobs x iodepth is the policy's load */
	bool timed;	  /* submitters run by the clock: they share one window */
	/* Another thread reads far bytes, or syncs them, only behind a lock that the
	 * submitter took after their I/O was handed back. That is a locked instruction,
	 * and on x86 those drain NT stores and stores to write-combining memory as SFENCE
	 * does (docs/method.md, Copy kernels, has the sources): such stores of copies are
	 * visible to that thread without a fence behind each copy. Heeded where nothing
	 * else but the submitter reads: without a DMA engine.
	 *
	 * false: the bytes of an I/O are visible to whoever sees, by any means, that it
	 * was handed back. NT kernels keep their SFENCE, and under wc, where ordinary
	 * stores wait in buffers too, there is one behind each write. */
	bool locked_handover;
	bool rw_page_off;	    /* cp_dev_rw_page() from the start */
	bool policy_force;	    /* use a policy of another fingerprint */
	const char *fio_version;    /* for the fingerprint; "" outside fio */
	const struct cp_topo *topo; /* must outlive the device */
	/*
	 * For tests, and for layers and embedders that know better; NULL and 0 otherwise.
	 * They must outlive the device.
	 *
	 * node_extents: where the device's bytes are taken to lie, instead of what the
	 * kernel says of the media's pages. From byte 0 of the device, the last up to its
	 * end.
	 * dma: the engine behind arm.dma, which names it in messages only. All its hooks
	 * are set but traits_of, which may be NULL.
	 */
	const struct cp_node_extent *node_extents;
	unsigned nr_node_extents;
	const struct cp_dma_ops *dma;
};

/* One I/O. The caller owns it and keeps it until it is handed back. */
struct cp_io {
	void *near;
	uint64_t offset; /* in the media */
	uint64_t bytes;
	enum cp_dir dir;
	/* No data: wait for what this submitter has in flight, then cp_media_sync(). It
	 * covers what this submitter was handed back or has in flight, and of others the
	 * I/Os whose bytes are visible to it: with locked_handover those whose
	 * completion it learned behind the lock, without it all whose completion it saw.
	 * What another submitter has in flight, or wrote under locked_handover and told
	 * nobody of, may be in that CPU's buffers yet. */
	bool sync;
	/*
	 * With data, as the kernel's REQ_PREFLUSH and REQ_FUA. preflush: what a sync
	 * would cover is durable before this one starts. fua: the bytes of this write are
	 * durable before it is handed back (on a read it means nothing). An I/O with
	 * either is no part of a merged request, and nothing is merged across it. What
	 * cannot be made durable fails whole: with preflush nothing was copied, with fua
	 * no byte is claimed.
	 */
	bool preflush;
	bool fua;
	uint8_t marks; /* the queue's own: enum cp_io_marks */
	void *user;

	/* filled when handed back */
	int error; /* positive errno, 0 = all bytes arrived */

	/* the queue's own, but for the residue; what starts as 0 is together, so that it
	 * is a few wide stores */
	uint32_t pieces;  /* DMA transactions not yet complete, and one for the CPU's part
			   */
	uint64_t residue; /* bytes that did not arrive, when handed back */
	struct cp_io *next; /* merged: the next of its request, by offset */
	uint64_t dma_bytes; /* handed to a channel; less what it left undone */
	/* At its end, copied by the CPU: meant for a channel, then the CPU's own share.
	 */
	uint64_t fallback_bytes, split_bytes;
	struct cp_sub *sub;
	uint64_t submit_ticks;
	uint32_t tag;
};

/* What a context and an arm say of a device; the rest is zero and the caller's: bytes,
 * filename, writable, dir_used, timed, locked_handover. Both must outlive the device. */
void cp_dev_cfg_of(const struct cp_context *context, const struct cp_arm *arm,
		   const struct cp_topo *topo, struct cp_dev_cfg *ret_cfg);

/* Errors: media, policy and engine errors as their headers say; no engine, or
 * none that opens a channel, when "auto" was asked is no error: back to CPU copies, said
 * in notes ("forced back to bio, no DMA: REASON") and counted as no_channel. */
int cp_dev_open(const struct cp_dev_cfg *cfg, struct cp_dev **ret_dev,
		struct cp_err *err);
void cp_dev_close(struct cp_dev *dev); /* NULL is fine */
/* What is worth saying of how it was opened, with "; " between; "" = nothing. Every job's
 * report has it too. A cp_sub_open() may add to it: not beside one. */
const char *cp_dev_notes(const struct cp_dev *dev);
/* The DMA engine moves no data (null): what is read back is not what was written. */
bool cp_dev_simulated(const struct cp_dev *dev);

/* Does it take I/O by pages (as the queue flag of 2014's NVMe rw_page)? At any time, any
 * thread; I/Os that are under way go on as they began. */
void cp_dev_rw_page(struct cp_dev *dev, bool on);

int cp_sub_open(struct cp_dev *dev, struct cp_sub **ret_sub, struct cp_err *err);
void cp_sub_close(struct cp_sub *sub); /* NULL is fine; waits for what is in flight */
/* Wait for what is in flight and drop it, so that buffers may go. */
void cp_sub_drain(struct cp_sub *sub);

/* bio: the whole I/O. */
void cp_sub_bio(struct cp_sub *sub, struct cp_io *io);

/* page: the whole I/O, a multiple of CP_PAGE_BYTES long (else EINVAL). With rw_page off
 * it is cp_sub_bio(), as the block layer's callers of rw_page fall back, and counted. */
void cp_sub_page(struct cp_sub *sub, struct cp_io *io);
/* The same without waiting, for who sends several before it waits: 0, and cp_sub_reap()
 * hands it back; -EBUSY when iodepth + 1 are in flight (reap first). Not between these
 * two: cp_sub_page(). */
int cp_sub_page_submit(struct cp_sub *sub, struct cp_io *io);

/* Any mode, for who has no loop of his own: hand in all n, and return when all are done;
 * mq in batches of what there are tags for. Nothing else of this submitter is in flight.
 */
void cp_sub_run(struct cp_sub *sub, struct cp_io *const *ios, unsigned n);

/* mq: 0 staged, -EBUSY when queue_depth tags are out (commit and reap first). Whoever was
 * refused while it held less than an equal share of them has the next free one, in the
 * order of refusal, which stays free until it asks again, drains or closes. */
int cp_sub_queue(struct cp_sub *sub, struct cp_io *io);
/* What is staged; valid until the commit. */
unsigned cp_sub_staged(struct cp_sub *sub, struct cp_io ***ret_staged);
/* What it holds back is in flight: its tags are taken, it is no longer staged. */
void cp_sub_commit(struct cp_sub *sub);
/* Hand back at most max, waiting (poll, irq or hybrid) until there are min. min above
 * what is in flight is cut to it. done[] gets them in completion order. */
unsigned cp_sub_reap(struct cp_sub *sub, unsigned min, unsigned max, struct cp_io **done);

void cp_sub_measure_begin(struct cp_sub *sub);
/* An end, as far as is known: I/Os may go on, and a later one is of the same window.
 * Counters of others (engines/base/window.h) go on until the report or the close. */
void cp_sub_measure_mark(struct cp_sub *sub);
/* And the last: theirs stop, too, and I/Os behind it count nowhere. */
void cp_sub_measure_end(struct cp_sub *sub);
/* A window of this submitter was opened and closed: there is something to report. */
bool cp_sub_measured(const struct cp_sub *sub);

/* All figures of this submitter and, as it saw it, of the device. out->lat must point to
 * a histogram; build, fio and job are the caller's. Behind the last end. */
void cp_sub_report(struct cp_sub *sub, struct cp_sidecar_job *out);

/*
 * Hardware queues = min(nodes x q_per_node, CPUs), as blk_mq_alloc_tag_set() caps them,
 * nodes without CPUs counted; *ret_map gives each topo CPU index its queue. As
 * blk_mq_map_queues() spreads them (group_cpus_evenly(), Linux 6.3 and later): a node
 * with CPUs has queues by its share of the CPUs, at least one, numbered from the node
 * with the fewest on, and no queue serves two nodes; siblings of a core go to one queue
 * as long as it has room.
 */
unsigned cp_queue_map(const struct cp_topo *topo, unsigned q_per_node,
		      uint16_t ret_map[CP_TOPO_CPUS_MAX]);
/* Are there fewer than nodes x q_per_node? Then buf says so in words. */
bool cp_queue_capped(const struct cp_topo *topo, unsigned q_per_node, char *buf,
		     size_t size);

#endif
