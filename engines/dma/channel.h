/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The DMA channel contract, after the kernel's dmaengine client API: prepare a
 * transaction, submit it for a cookie, ring the doorbell once for a batch, reap
 * completions.
 *
 * Transactions. One operation, prep_memcpy_sg, with a direction: CP_DIR_READ gathers from
 * the contiguous far range into the near segments, CP_DIR_WRITE the other way. At most
 * CP_DMA_SEGMENTS_MAX segments; longer requests are split by the caller. prep takes ring
 * space at once or answers -EAGAIN (ring full). Segment arrays are copied: they need not
 * live after prep. The memory they point to must live until the completion is reaped.
 *
 * Order of calls: (prep -> submit)* -> issue_pending -> reap... A prepared transaction
 * must be submitted before the next prep. Nothing moves before issue_pending. Submitted
 * transactions complete in any order unless CP_DMA_FENCE was set, which starts it only
 * after all earlier ones of the channel have completed.
 *
 * Completion. reap() hands out up to max completions, each once, with the caller's `user`
 * pointer, a result and a residue (bytes of the transaction NOT moved, 0 when ok). The
 * first length - residue bytes of the far range arrived, in the order of the segments; an
 * engine that moved more behind a gap does not claim it, nor any byte that may not have
 * arrived. The release store of a completion makes all its
 * bytes visible to the reaping thread. Only the last descriptor of a transaction writes a
 * completion. With CP_DMA_INTERRUPT on the transaction and a channel opened with irq, the
 * engine signals the channel's eventfd after the completion can be reaped; wait() sleeps
 * on it. An engine may moderate its signals: hold one back while others are in flight
 * that a wait() has found there, but never the last of them. Channels of one owner may be
 * given one eventfd: a wait() then ends with a completion of any of them.
 *
 * Threading: a channel belongs to one thread at a time; the caller locks a shared one.
 * wait() and cpu_ns() may be called beside the others, by any thread; a waiter then finds
 * what another thread has reaped gone. The engine's own threads are the engine's
 * business.
 *
 * Teardown: close() with transactions in flight aborts or finishes them before it
 * returns; no byte is moved after it. Completions not reaped are lost with it.
 */
#ifndef CP_ENGINES_DMA_CHANNEL_H
#define CP_ENGINES_DMA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

#define CP_DMA_SEGMENTS_MAX 128

enum cp_dma_flags {
	CP_DMA_INTERRUPT = 1 << 0,
	CP_DMA_FENCE = 1 << 1,
};

enum cp_dma_result {
	CP_DMA_OK,
	CP_DMA_READ_FAILED,  /* source */
	CP_DMA_WRITE_FAILED, /* destination */
	CP_DMA_ABORTED,
};

struct cp_dma_sg {
	void *addr;
	size_t len;
};

typedef uint64_t cp_dma_cookie; /* from 1, rising a channel; 0 is never a cookie */

struct cp_dma_completion {
	void *user;
	cp_dma_cookie cookie;
	enum cp_dma_result result;
	size_t residue;
};

enum cp_dma_durable { CP_DMA_POSTED, CP_DMA_DURABLE_WANTED, CP_DMA_DURABLE_REQUIRED };

struct cp_dma_cfg {
	const char *spec; /* "sw:threads=1,ring=256" */
	unsigned ring; /* transactions in flight wanted (queue_depth); a power of two is
			  not needed here, the engine rounds its ring up */
	int node;      /* preferred NUMA node, as the system numbers it, -1 any */
	int cpu;       /* where an engine thread should be pinned, -1 = engine's choice */
	bool irq;      /* wait() will be used */
	/* with irq: signal this one, which stays the caller's; 0 = one of the channel's
	 * own
	 */
	int event_fd;
	/* Nobody else is to use what lies behind the channel while it is open (as
	 * dmaengine's private channels): -EBUSY where that cannot be had. false: an
	 * engine may put several channels on one piece of hardware. */
	bool exclusive;
	/* What the far memory really is. wc: what the CPU stores there is visible to
	 * nobody else before a fence, which an engine that copies with it makes. */
	enum cp_attr attr;
	/* The far range of all transactions, for engines that have to know memory
	 * beforehand: NULL = not known, and then each range is registered at its first
	 * use. */
	void *far;
	size_t far_bytes;
	/* Writes to the far side: when their completion is seen they have left whatever
	 * the device posts them through, so that flushes and fences behind it hold.
	 * WANTED: where it cannot be had describe() says so; REQUIRED: it is refused. Of
	 * copies by a CPU it always holds. */
	enum cp_dma_durable durable;
	const char
		*copy; /* kernel a software engine copies with ("auto", "memcpy", "nt") */
};

struct cp_dma_chan; /* each engine has its own */

/* What may depend on a spec: fault:null moves as little as null, model:data=yes moves. */
struct cp_dma_traits {
	const char *provenance; /* hardware, software, modelled: of the figures */
	bool moves_data;	/* false: bytes are bytes_simulated, verify is refused */
	bool irq;		/* can signal an eventfd */
	/* Its transfers are done by threads, of this process or of the kernel, on CPUs
	 * that submitters want too; not one that only passes on an interrupt. */
	bool threads;
};

struct cp_dma_ops {
	const char *name;
	const char *help;
	struct cp_dma_traits traits; /* with the engine's defaults */

	/* Usable on this machine? 0, or -errno with err saying why and what would enable
	 * it. */
	int (*probe)(struct cp_err *err);
	/* Could open() with this work now? As probe, and of the spec's own device and the
	 * ring; nothing is held. -ENODEV and -ENOENT: no such hardware, or not its
	 * driver, is here at all. Without the hook probe is what there is to say. */
	int (*usable)(const struct cp_dma_cfg *cfg, struct cp_err *err);
	/* Check the spec's settings only (no resources): for plans. */
	int (*check)(const char *spec, struct cp_err *err);
	/* Of a spec that check() passed. Without the hook those above hold. */
	void (*traits_of)(const char *spec, struct cp_dma_traits *ret_traits);
	int (*open)(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		    struct cp_err *err);
	/* Free transactions in the ring right now. */
	unsigned (*space)(struct cp_dma_chan *chan);
	/* 0, -EAGAIN (ring full), -EINVAL (segments, lengths). */
	int (*prep_memcpy_sg)(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			      const struct cp_dma_sg *near_sg, unsigned nr_sg,
			      unsigned flags, void *user);
	cp_dma_cookie (*submit)(struct cp_dma_chan *chan);
	/* Both in one call, for the common transaction: one segment. What prep answers;
	 * an engine without it answers -ENOSYS. */
	int (*submit_one)(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			  void *near, size_t len, unsigned flags, void *user);
	void (*issue_pending)(struct cp_dma_chan *chan);
	unsigned (*reap)(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			 unsigned max);
	/* Sleep until something can be reaped, at most timeout_ns. 0 (which may be early:
	 * reap and look), -ETIMEDOUT, -ENOSYS (no irq here). */
	int (*wait)(struct cp_dma_chan *chan, uint64_t timeout_ns);
	/* CPU time of the engine's threads for this channel so far, ns. Any thread. */
	uint64_t (*cpu_ns)(struct cp_dma_chan *chan);
	/* What the engine copies with, for proof.dma: "sw/nt-avx512". */
	const char *(*describe)(struct cp_dma_chan *chan);
	void (*close)(struct cp_dma_chan *chan);
};

/* Missing hooks are filled with -ENOSYS stubs by the table, so no caller tests NULL. */
extern const struct cp_dma_ops *cp_dma_table[]; /* NULL-terminated; read only */

/* The traits of a spec (of `ops`, which checked it). */
void cp_dma_traits(const struct cp_dma_ops *ops, const char *spec,
		   struct cp_dma_traits *ret_traits);

/*
 * Tags for more transactions than there are descriptors are a mistake. Of an arm in mq
 * whose dma names a ring ("sw:ring=64"), before cp_arm_resolve(): a queue_depth that is
 * not given is at most that; one above it is an error with both numbers (exit 2). A ring
 * that the engine will not have is check()'s to tell.
 */
int cp_dma_fit_ring(struct cp_arm *arm, struct cp_err *err);

/* Of a spec that check() passed: 0, or as probe() or open() would say it. */
int cp_dma_usable(const struct cp_dma_ops *ops, const struct cp_dma_cfg *cfg,
		  struct cp_err *err);

/* By the NAME of a spec; "auto" is the best usable engine that is real hardware, else sw;
 * it never picks one that moves no data. NULL with err (exit 2, nearest suggested). */
const struct cp_dma_ops *cp_dma_find(const char *spec, struct cp_err *err);
/* The same for a channel that is about to be opened: auto takes an engine that has what
 * cfg asks (irq, durable), and cfg->spec becomes that engine's name. When that is sw, and
 * hardware is here that it takes the place of, ret_passed->msg says what keeps that from
 * use ("idxd: ..."); else it is empty. */
const struct cp_dma_ops *cp_dma_choose(struct cp_dma_cfg *cfg, struct cp_err *ret_passed,
				       struct cp_err *err);

#endif
