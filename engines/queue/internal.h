/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of this room share. Nobody else includes it. */
#ifndef CP_ENGINES_QUEUE_INTERNAL_H
#define CP_ENGINES_QUEUE_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "engines/copy/attr.h"
#include "engines/copy/copy.h"
#include "engines/copy/flush.h"
#include "engines/queue/hybrid.h"
#include "engines/queue/parts.h"
#include "engines/queue/queue.h"

/* How one decision is carried out. */
#define CP_KERNELS_MAX 32

#define CP_HCTX_CHANS_MAX 8

/* How long an irq wait sleeps before it looks for itself: only a lost interrupt gets this
 * far, and then the I/O is late, not lost. */
#define CP_IRQ_TIMEOUT_NS 100000000ULL

/* I/Os of a merged request, at most */
#define CP_PLUG_IOS 32U

/* What makes an I/O more than one that is done when its last transaction is. */
enum cp_io_marks {
	CP_IO_CHAIN = 1 << 0,	/* head of a merged request, handed to a channel as one */
	CP_IO_TIMED = 1 << 1,	/* its phases are looked at */
	CP_IO_SETTLED = 1 << 2, /* done, and flushed already */
	CP_IO_PAGES = 1 << 3,	/* of several transactions of page mode */
};

struct cp_route {
	bool dma;
	/* By direction and class of sizes; for dma: what a fallback copies with. */
	cp_copy_fn copy[2][CP_COPY_CLASSES];
	/* index of the same in dev->kernels, for the proof */
	uint8_t kernel[2][CP_COPY_CLASSES];
	uint64_t unused; /* to a power of two, so that an index is a shift */
};
static_assert(!(sizeof(struct cp_route) & (sizeof(struct cp_route) - 1)), "see unused");

/* Of a device's measuring window; see measure.c. */
enum { WINDOW_WAITING, WINDOW_OPEN, WINDOW_CLOSED };

struct cp_hctx {
	/* Guards chan, the tags, who waits, and the done rings of this queue's submitters
	 * when shared. */
	pthread_mutex_t lock;
	bool shared;
	struct cp_dma_chan *chan; /* chans[0]; NULL: CPU only */
	/* One, or where the media lies on several nodes one for each of them (dma_node
	 * memory); cp_hctx_chan() picks. */
	unsigned nr_chans;
	struct cp_dma_chan *chans[CP_HCTX_CHANS_MAX];
	int event_fd; /* irq with several channels: the one they share; 0 = none */
	/* No list is kept where tags cannot run out: as many as all submitters have I/Os.
	 */
	bool tagged;
	unsigned nr_free;
	uint32_t *free_tags; /* [queue_depth], LIFO so that the warmest is reused */
	/* irq on a shared queue: one waiter sleeps on the channel, the others on cond.
	 * hybrid: hybrid.c */
	pthread_cond_t cond;
	bool reaper;
	/* Transactions by channel, since open: reaped <= issued <= submitted. */
	unsigned submitted[CP_HCTX_CHANS_MAX];
	unsigned issued[CP_HCTX_CHANS_MAX];
	unsigned reaped[CP_HCTX_CHANS_MAX];
	unsigned progress; /* completions reaped so far: has anything happened since I
			      looked? */
	/* The first has the turn: it alone prepares. Empty: there was room for all. */
	struct cp_waiters room;
	struct cp_waiters starved; /* below their share: the next free tags are theirs */
	unsigned nr_subs;
};

/* Bytes up to `end`, from the end of the one before, belong to chans[chan]. */
struct cp_dev_extent {
	uint64_t end;
	unsigned chan;
};

struct cp_dev {
	struct cp_dev_cfg cfg;
	struct cp_arm arm;
	struct cp_media media;
	unsigned char *far;  /* byte 0 of the device: misalign_far bytes into the media */
	uint64_t far_bytes;  /* from there on; the media is longer */
	enum cp_attr mapped; /* what was asked */
	enum cp_attr attr;   /* what copies emulate; wb where `mapped` is native */
	const char *attr_provenance;
	struct cp_flush flush; /* behind writes; zeros where none will be */
	bool behind_writes;    /* something is: see cp_sub_written() */
	bool mq, page;	       /* queue_mode; neither: bio */
	bool queues;	       /* it has hardware queues: mq, and page with DMA */
	bool ring_full_cpu, simulated;
	bool irq;      /* channels signal: completion irq and hybrid */
	bool hybrid;   /* who waits is cp_hybrid_wait()'s */
	bool unfenced; /* copies may end without a fence; see cp_dev_cfg.locked_handover
			*/

	const struct cp_dma_ops *dma; /* NULL: none */
	struct cp_dma_traits traits;  /* of arm.dma */
	/* node.c. nr_extents 0: one channel does for all bytes. */
	unsigned nr_extents;
	struct cp_dev_extent *extents;
	unsigned nr_chans;		  /* of each hardware queue */
	int chan_node[CP_HCTX_CHANS_MAX]; /* by memory; the system's numbers, -1 any */
	unsigned nr_kernels;		  /* that routes use */
	const struct cp_copy_ops *kernels[CP_KERNELS_MAX];
	uint32_t past_caches; /* a bit each: cp_copy_past_caches() */
	unsigned nr_hctx;
	struct cp_hctx *hctxs;
	uint16_t map[CP_TOPO_CPUS_MAX];
	bool cpu_taken[CP_TOPO_CPUS_MAX]; /* by a submitter or a channel's thread */
	bool crowded; /* an engine thread has no CPU of its own: polling must yield to it
		       */

	/* decision: a compiled policy (routes by action), or thresholds */
	struct cp_policy_table *table;
	struct cp_route routes[CP_PICK_ACTIONS_MAX];
	struct cp_route cpu_route, dma_route;
	/* By direction, for the jobs and load of this device: of the first class of
	 * segments, the others follow. NULL: thresholds decide. */
	const struct cp_policy_row *row[2];
	bool by_segments;   /* the decision depends on them */
	uint64_t thresh[2]; /* UINT64_MAX = never, 0 = always */
	uint32_t min_segments;
	uint64_t max_merge; /* 0: no plug */
	uint32_t split_pct;
	uint64_t segment;
	int segment_shift; /* -1 when no power of two */
	bool no_channel;

	pthread_mutex_t lock; /* window, submitters, opening channels, notes */
	_Atomic bool rw_page;
	_Atomic int window;
	unsigned nr_ready;
	uint64_t start_ns, start_process_ns, start_engine_ns;
	unsigned nr_subs, subs_room;
	struct cp_sub **subs;
	char notes[512];
};

struct cp_sub {
	struct cp_dev *dev;
	struct cp_hctx *hctx;
	unsigned cap;		       /* of the arrays below: what can be in flight */
	unsigned nr_staged, in_flight; /* in flight: held ones too */
	unsigned nr_fua;	       /* of those in flight */
	struct cp_plug plug;
	unsigned seen_progress; /* of the hctx */
	bool alone;    /* page: its hardware queue is its own, and has one channel */
	bool ring_due; /* something may be submitted that no doorbell covers */
	uint64_t batch_ticks; /* when the first of the staged was handed in */
	struct cp_io **staged;

	/* Finished I/Os not yet handed back. Written under the hctx lock by whoever reaps
	 * the channel, read by the owner: done_tail's release makes the slots, and
	 * through them the copied bytes, visible to it. */
	struct cp_io **done;
	unsigned done_mask;
	unsigned done_head;
	_Atomic unsigned done_tail;

	clockid_t cpu_clock; /* of the submitting thread */
	int seen;	     /* of dev->window */
	bool measuring;
	bool told; /* who counts beside us: our window is open; see measure.c */
	/* What was executed behind writes in this window: a flush, dev->flush.fence, and
	 * an SFENCE that a copy with NT stores brought along. */
	bool flushed, fenced, fenced_by_copy;
	bool fence_due;		  /* flushed, and not yet fenced */
	uint32_t kernels_used[2]; /* by direction, a bit each */
	uint64_t window_ticks;
	uint64_t start_ns, start_cpu_ns;
	uint64_t end_ns, end_cpu_ns;
	uint64_t dev_end_ns, dev_process_ns, dev_engine_ns;
	uint64_t ios, bytes;
	uint64_t bytes_moved, bytes_offloaded; /* also of I/Os that failed half way */
	struct cp_proof proof;
	struct cp_phases phases;
	struct cp_page_run run;
	struct cp_waiter room, tag;
	pthread_cond_t turn;	  /* signalled when room is the first */
	struct cp_hybrid *hybrid; /* NULL: another completion */
	pthread_t hybrid_thread;  /* whose timer slack is off */
	struct cp_hist lat;
};

static inline uint32_t cp_dev_segments(const struct cp_dev *dev, uint64_t bytes)
{
	uint64_t up = bytes + dev->segment - 1;

	return (uint32_t)(dev->segment_shift >= 0 ? up >> dev->segment_shift
						  : up / dev->segment);
}

/* node.c, of a device with nr_extents */
uint64_t cp_dev_extent_left(const struct cp_dev *dev, uint64_t offset);
unsigned cp_dev_extent_chan(const struct cp_dev *dev, uint64_t offset);

/* Bytes from `offset` on that one channel is to move, at least: more than is asked about
 * where nodes do not matter to the choice of a channel, or there is one. */
static inline uint64_t cp_dev_node_run(const struct cp_dev *dev, uint64_t offset)
{
	if (__builtin_expect(!dev->nr_extents, 1))
		return dev->far_bytes;
	return cp_dev_extent_left(dev, offset);
}

/* Index into hctx->chans[] of the channel for a transaction that begins at `offset`. */
static inline unsigned cp_hctx_chan(const struct cp_dev *dev, const struct cp_hctx *hctx,
				    uint64_t offset)
{
	if (__builtin_expect(hctx->nr_chans < 2, 1))
		return 0;
	return cp_dev_extent_chan(dev, offset);
}

/* In range, and not a copy of the media onto itself: kernels take no ranges that overlap.
 */
static inline bool cp_io_in_bounds(const struct cp_dev *dev, const struct cp_io *io)
{
	return io->bytes <= dev->far_bytes && io->offset <= dev->far_bytes - io->bytes &&
	       !cp_copy_overlap(dev->far + io->offset, io->near, io->bytes);
}

/* Dispatched by itself, whatever is held back. */
static inline bool cp_io_apart(const struct cp_dev *dev, const struct cp_io *io)
{
	return io->sync || io->preflush || io->fua || !cp_io_in_bounds(dev, io);
}

/* Out of range: fails as a whole, before anything is touched. */
static inline void cp_io_refuse(struct cp_io *io)
{
	io->error = EINVAL;
	io->residue = io->bytes;
}

/* One decision: eight breakpoints of a row that open time has looked up, or two
 * comparisons. segments: of a merged request; 0: one I/O, whose segments follow from its
 * bytes. They are looked at only where a rule asks for them. */
static inline const struct cp_route *cp_dev_decide(const struct cp_dev *dev,
						   enum cp_dir dir, uint64_t bytes,
						   uint32_t segments)
{
	const struct cp_policy_row *row = dev->row[dir];

	if (row) {
		if (dev->by_segments)
			row += cp_policy_segments_class(
				dev->table,
				segments ? segments : cp_dev_segments(dev, bytes));
		return &dev->routes[cp_policy_row_pick(row, bytes)];
	}
	bool dma = bytes >= dev->thresh[dir];

	if (dev->by_segments)
		dma &= (segments ? segments : cp_dev_segments(dev, bytes)) >=
		       dev->min_segments;
	return dma ? &dev->dma_route : &dev->cpu_route;
}

/* Nothing of it is done yet. */
static inline void cp_io_start(struct cp_sub *sub, struct cp_io *io)
{
	io->sub = sub;
	io->marks = 0;
	io->error = 0;
	io->pieces = 0;
	io->residue = 0;
	io->next = NULL;
	io->dma_bytes = 0;
	io->fallback_bytes = 0;
	io->split_bytes = 0;
}

/* dispatch.c */
/* [from, from + len) of the I/O by the CPU. Returns what of it did not arrive, at its
 * end; the I/O is not touched. */
size_t cp_io_copy_part(struct cp_sub *sub, const struct cp_io *io,
		       const struct cp_route *route, uint64_t from, size_t len);
void cp_io_copy(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route,
		uint64_t from);
/* Dispatch a batch: from here on the I/Os are in flight. */
void cp_io_dispatch(struct cp_sub *sub, struct cp_io *const *ios, unsigned n);
/* A request of one I/O, in bounds; of it and the I/Os behind it. */
void cp_io_dispatch_one(struct cp_sub *sub, struct cp_io *io);
void cp_io_dispatch_merged(struct cp_sub *sub, struct cp_io *head);
/* One that is no part of a merged request: a sync, preflush, fua, or out of bounds.
 * behind: I/Os of the batch that come after it. */
void cp_io_dispatch_apart(struct cp_sub *sub, struct cp_io *io, unsigned behind);
/* Its first half: what must be durable is. false: it is done, with an error or as a sync;
 * else its data are to be moved. */
bool cp_io_apart_begin(struct cp_sub *sub, struct cp_io *io, unsigned behind);
/* Into the done ring of the submitter, whose thread this is. Not locked. */
void cp_io_done_now(struct cp_sub *sub, struct cp_io *io);
/* For an engine without submit_one(): the I/O as one segment. */
int cp_io_submit_two(struct cp_dev *dev, struct cp_dma_chan *chan, struct cp_io *io,
		     unsigned flags);

/* merge.c */
void cp_plug_dispatch(struct cp_sub *sub, struct cp_io *const *ios, unsigned n);
/* Dispatch what is held and ring; nothing is held afterwards. */
void cp_plug_flush(struct cp_sub *sub);

/* offload.c */
/* Hand the I/O to channels, in pieces where it takes several; what they do not take, and
 * the CPU's share of it, is copied here. */
void cp_io_offload(struct cp_sub *sub, struct cp_io *io, const struct cp_route *route);
/* The same for a merged request, which is one transaction or none. */
void cp_io_offload_merged(struct cp_sub *sub, struct cp_io *head,
			  const struct cp_route *route, const struct cp_dma_sg *sg,
			  unsigned nr_sg);
/* Prepare a transaction of channel c and submit it; waits for room and for its turn.
 * Locked. -EAGAIN: the ring is full and the CPU is to copy instead; other errors are the
 * engine's. */
int cp_io_transact(struct cp_sub *sub, unsigned c, struct cp_io *io, void *far,
		   const struct cp_dma_sg *sg, unsigned nr_sg);
/* The near side of a merged request; adjacent segments are joined up to the size of one.
 * Returns how many, at most CP_DMA_SEGMENTS_MAX. */
unsigned cp_io_gather_merged(const struct cp_dev *dev, const struct cp_io *head,
			     struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX]);

/* page.c: what an I/O that failed claims, once it is accounted for. */
void cp_pages_hand_back(struct cp_io *const *done, unsigned n);
/* page_count.c: what there is to say at the end of the last run. */
void cp_pages_report(const struct cp_sub *sub, struct cp_proof *proof);
/* An I/O that goes by pages, of which the CPU was to copy cpu_bytes. While measuring. */
void cp_pages_count(struct cp_sub *sub, const struct cp_io *io, uint64_t cpu_bytes);

/* complete.c; the caller holds the lock in these */
void cp_hctx_ring(const struct cp_dev *dev, struct cp_hctx *hctx);
/* Reap each channel once. Returns completions seen. */
unsigned cp_hctx_reap(struct cp_sub *sub);
/* The same for a queue of one channel that is this submitter's alone and whose done ring
 * is empty: finished I/Os go to ret_done, *ret_nr of at most max, and only what must go
 * another way into the ring. */
unsigned cp_hctx_take(struct cp_sub *sub, struct cp_io **ret_done, unsigned max,
		      unsigned *ret_nr);
/* All its transactions have completed: the I/O, or the I/Os of the request, are done. */
void cp_io_finish(struct cp_io *io);

/* Lock, ring, unlock, where this submitter has submitted anything since; notes when for
 * the I/O that is looked at. What others have submitted is theirs to ring for. */
void cp_sub_ring(struct cp_sub *sub);
/* Wait until the channel has made progress, as the completion mode says. */
void cp_sub_wait(struct cp_sub *sub);

/* hybrid.c. open and close: of other completions nothing. The others only where
 * sub->hybrid. */
int cp_hybrid_open(struct cp_sub *sub);
void cp_hybrid_close(struct cp_sub *sub);
/* I/Os that are about to be handed to channels; those without a stamp begin now. */
void cp_hybrid_started(struct cp_sub *sub, struct cp_io *const *ios, unsigned n);
/* They are done: as soon as that is known, so that nobody waits for them. */
void cp_hybrid_found(struct cp_sub *sub, struct cp_io *const *done, unsigned n);
void cp_hybrid_wait(struct cp_sub *sub);

/*
 * turn.c: who shares a hardware queue is served in the order of coming. Locked.
 *
 * Room in the rings: who finds one full, or others waiting, sleeps behind them until it
 * has the turn, and keeps that for the whole request, so that none is in there by half
 * for want of the rest. Never with ring_full cpu, where nobody waits.
 */
static inline bool cp_turn_due(const struct cp_hctx *hctx, const struct cp_sub *sub)
{
	return hctx->room.head && hctx->room.head != &sub->room;
}
/* Returns with the turn; the lock is dropped while others have it. */
void cp_turn_take(struct cp_sub *sub);
/* To the next. Without it: nothing. */
void cp_turn_pass(struct cp_sub *sub);
/* A tag for this submitter? Free ones are kept for those who were refused while they held
 * less than an equal share of all. */
bool cp_tag_may(struct cp_sub *sub);
/* It will not ask again. Not locked. */
void cp_tag_give_up(struct cp_sub *sub);

/* barrier.c: bytes durable before and behind */
/* All that this submitter has in flight, but for the last `but`, is in its done ring. */
void cp_sub_quiesce(struct cp_sub *sub, unsigned but);
/* What a sync covers is durable, as far as this submitter can see to it. 0 or -errno. */
int cp_sub_sync(struct cp_sub *sub);
/* The write is durable, or fails whole. */
void cp_io_fua(struct cp_sub *sub, struct cp_io *io);
/* bio: an I/O that is a barrier. */
void cp_sub_bio_barrier(struct cp_sub *sub, struct cp_io *io);

/* phases.c */
void cp_phases_arm(struct cp_sub *sub, unsigned n);
void cp_phases_reset(struct cp_phases *phases);
void cp_phases_reaped(struct cp_sub *sub, struct cp_io *const *done, unsigned n,
		      uint64_t now);

/* The descriptors of all its pieces are written. */
static inline void cp_phases_prepared(struct cp_sub *sub, const struct cp_io *io)
{
	if (io->marks & CP_IO_TIMED)
		sub->phases.prepared = cp_ticks();
}

/* A doorbell of this submitter has been rung. */
static inline void cp_phases_rung(struct cp_sub *sub)
{
	struct cp_phases *phases = &sub->phases;

	if (__builtin_expect(phases->io && phases->prepared && !phases->rung, 0))
		phases->rung = cp_ticks();
}

/* dev.c: one more of the notes that go into every job's report; "" is none. While the
 * device is opened. */
void cp_dev_note(struct cp_dev *dev, const char *note);
/* No engine is usable, or a channel did not open (rc, err). With dma auto that is no
 * reason to fail, as in the 2017 pmem blk-mq patches: CPUs copy, said once in the notes;
 * 0. What the user wrote wrong, and an engine that was named, is: rc. */
int cp_dev_no_channel(struct cp_dev *dev, int rc, const struct cp_err *err);
/* persist.c: behind writes. check: what can be told before the media is open. */
int cp_dev_persist_check(const struct cp_dev *dev, struct cp_err *err);
int cp_dev_persist_open(struct cp_dev *dev, struct cp_err *err);
/* Must what a channel wrote have left its device when that is reported? Required where
 * the arm promises durability, wanted where a flush stands behind writes or the media is
 * a file or device, whose syncs and fua mean something. Before the media is open, for
 * choosing an engine: required or not. */
enum cp_dma_durable cp_dev_durable(const struct cp_dev *dev);
/* Only where dev->behind_writes. After a copy by `kernel`, an index, that left a residue:
 * flush what arrived, or have it visible where it is write-combining memory. Returns the
 * residue, which is all when the flush faulted. In mq the fence behind flushes is left to
 * cp_sub_settle(). */
size_t cp_sub_written(struct cp_sub *sub, unsigned char *far, size_t len, size_t residue,
		      unsigned kernel);
/* Before a sync: the submitter's own NT stores, and its stores to write-combining memory,
 * that have no fence behind them are visible to whoever sees what the sync stores or asks
 * of the kernel from now on: they are in what is synced. Those of other submitters are
 * not this thread's to fence; see cp_io.sync. */
static inline void cp_sub_settle_own(const struct cp_sub *sub)
{
	if (sub->dev->unfenced)
		cp_copy_settle();
}
/* I/Os that are about to be handed back: flush what channels wrote, and fence. */
void cp_sub_settle(struct cp_sub *sub, struct cp_io *const *ios, unsigned n);
void cp_sub_persist_report(const struct cp_sub *sub, struct cp_proof *proof);

/* route.c: how decisions are prepared at open */
int cp_dev_routes(struct cp_dev *dev, struct cp_err *err);

/* node.c: after the media is open; and the node that a channel is wanted on, as the
 * system numbers it, -1 any. submitter: index of its CPU, -1 unknown. */
int cp_dev_nodes(struct cp_dev *dev, struct cp_err *err);
int cp_dev_chan_node(const struct cp_dev *dev, unsigned chan, int submitter);

/* channel.c: all channels of a hardware queue, when its first submitter comes, so that no
 * I/O waits for one; and their end. */
void cp_hctx_close_channels(const struct cp_dev *dev, struct cp_hctx *hctx);
int cp_dev_channel(struct cp_dev *dev, struct cp_hctx *hctx, int cpu_index,
		   struct cp_err *err);
uint64_t cp_dev_engine_cpu_ns(struct cp_dev *dev);

/* The release makes the slot, and the bytes that an engine moved, which are visible to
 * the thread that reaped, visible to the owner's acquire. Bytes that the CPU copied are
 * the owner's own stores: cp_dev_cfg.locked_handover says who else sees them, and when.
 */
static inline void cp_sub_done(struct cp_sub *sub, struct cp_io *io)
{
	unsigned tail = atomic_load_explicit(&sub->done_tail, memory_order_relaxed);

	sub->done[tail & sub->done_mask] = io;
	atomic_store_explicit(&sub->done_tail, tail + 1, memory_order_release);
}

/* In its done ring. acquire: slots, and the bytes of their I/Os, that whoever reaped the
 * channel stored before its release in cp_sub_done() or cp_hctx_reap() are visible to the
 * owner. */
static inline unsigned cp_sub_nr_done(const struct cp_sub *sub)
{
	return atomic_load_explicit(&sub->done_tail, memory_order_acquire) -
	       sub->done_head;
}

#include "engines/queue/account.h" /* needs what stands above */

void cp_sub_window(struct cp_sub *sub, int window);
/* measure.c: who counts beside us stops, for this submitter; again = nothing. */
void cp_sub_tell_end(struct cp_sub *sub);

/* Has the device's window opened or closed? Looked at with every I/O handed in.
 * acquire: what the opener or closer of measure.c stored before is visible. */
static inline bool cp_sub_stale(const struct cp_sub *sub)
{
	return atomic_load_explicit(&sub->dev->window, memory_order_acquire) != sub->seen;
}

static inline void cp_sub_watch(struct cp_sub *sub)
{
	if (__builtin_expect(cp_sub_stale(sub), 0))
		cp_sub_window(sub, atomic_load_explicit(&sub->dev->window,
							memory_order_acquire));
}

static inline void cp_hctx_lock(struct cp_hctx *hctx)
{
	if (hctx->shared)
		pthread_mutex_lock(&hctx->lock);
}

static inline void cp_hctx_unlock(struct cp_hctx *hctx)
{
	if (hctx->shared)
		pthread_mutex_unlock(&hctx->lock);
}

#endif
