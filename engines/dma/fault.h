/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault engine: wraps another one and spoils some of its transactions on purpose, so
 * that what lies above can be shown to survive that. "fault:NAME[:...][,key=value,...]";
 * keys that it does not know are the wrapped engine's: fault:sw,threads=2,error=1%.
 *
 * - error=P%: never handed on; completes as read failed, write failed or aborted.
 * - short=P%: only the first bytes are handed on; completes as failed with the rest as
 *   residue, and none of the rest moved.
 * - never=P%: never handed on; its completion is withheld for never_for=TIME (30s,
 *   blk-mq's own time limit), then it completes as aborted, so that nobody above waits
 *   for ever. close() drops it.
 * - prep_error=P%: prep answers -EIO.
 * - full=P%: prep answers -EAGAIN although there is room, and with an irq wakes the
 *   waiter, who would else sleep for a completion that need not come.
 * - reorder=N: completions are handed out N at a time, in seeded order; sooner when
 *   nothing is left to wait for. 0 and 1: as they come.
 * - seed=N: what happens to a channel's Nth transaction depends on seed and N only.
 * - script=FILE: lines "N ACTION [ARG]": what happens to a channel's Nth transaction,
 *   instead of what chance would have done (fault_script.c).
 * - log=FILE: a line for each transaction is appended when a channel is closed
 *   (fault_log.c).
 *
 * Transactions are counted from 1 as prep sees them; one that was told "full" keeps its
 * number for the next attempt. The chances of one transaction exclude each other.
 *
 * Fences keep their meaning. A spoiled transaction is complete as soon as it is issued,
 * with CP_DMA_FENCE once all before it are; a fenced one behind one that is withheld
 * cannot start, and is withheld with it.
 */
#ifndef CP_ENGINES_DMA_FAULT_H
#define CP_ENGINES_DMA_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/spec.h"
#include "engines/dma/channel.h"

#define FAULT_PPM_ALL	   1000000U
#define FAULT_FULL_PPM_MAX 990000U /* some must get through */
#define FAULT_NEVER_FOR_NS 30000000000ULL
#define FAULT_NEVER_MAX_NS 3600000000000ULL
#define FAULT_REORDER_MAX  4096U

enum fault_action {
	FAULT_PASS,
	FAULT_ERROR,
	FAULT_SHORT,
	FAULT_NEVER,
	FAULT_PREP_ERROR,
	FAULT_FULL,
	FAULT_ACTIONS,
};
extern const char *const fault_action_names[FAULT_ACTIONS + 1]; /* NULL-terminated */

/* A line of a script. */
struct fault_step {
	uint64_t number; /* of the transaction, from 1 */
	enum fault_action action;
	bool has_arg;
	/* full: times; error: enum cp_dma_result; short: bytes that move; never: ns */
	uint64_t arg;
};

struct fault_settings {
	const struct cp_dma_ops *ops; /* the wrapped engine */
	char inner[CP_SPEC_MAX];      /* its spec */
	uint32_t ppm[FAULT_ACTIONS];  /* by action; PASS unused */
	uint64_t never_for_ns, seed, reorder;
	char script[64], log[64]; /* paths; "" none */
};

/* What became of one transaction, for the log. */
struct fault_line {
	const void *user, *near; /* its first segment */
	cp_dma_cookie cookie;	 /* 0: refused at prep */
	size_t bytes, residue;
	uint8_t action, result, dir;
	bool ended; /* handed out, or refused */
};

struct fault_log {
	int fd; /* -1: none */
	const char *path;
	struct fault_line *lines;
	size_t nr, room;
};

struct fault_slot {
	void *user;
	cp_dma_cookie cookie; /* 0: not submitted */
	size_t bytes;	      /* of the transaction */
	size_t inner;	      /* of them, handed on */
	size_t residue;
	uint64_t due_ns; /* FAULT_NEVER; once issued */
	uint64_t hold_ns;
	size_t line; /* of the log */
	enum fault_action action;
	enum cp_dma_result result;
	bool busy; /* between prep and completion */
	bool fence;
	uint32_t number; /* its own index */
};

/* A queue of slot numbers, as long as the ring. */
struct fault_fifo {
	uint32_t *at;
	unsigned head, nr;
};

struct cp_dma_chan {
	struct fault_settings set;
	struct fault_step *steps; /* by number */
	size_t nr_steps, next_step;
	struct cp_dma_chan *inner;
	struct fault_log log;
	char text[CP_SPEC_TEXT_MAX]; /* describe() */

	unsigned ring;
	struct fault_slot *slots;
	uint32_t *free_slots;
	unsigned nr_free;
	struct fault_slot *prepared;
	cp_dma_cookie cookie;
	uint64_t number;   /* transactions that prep has seen */
	uint64_t attempts; /* of the next one, that were told "full" */
	uint64_t shuffles; /* draws of the order so far */

	/* Submitted, not issued: spoiled ones, and how many were handed on. */
	struct fault_fifo fresh;
	unsigned fresh_inner;
	struct fault_fifo spoiled; /* issued, to complete by themselves */
	struct fault_fifo held;	   /* issued, never to complete by themselves */
	unsigned nr_held;	   /* those, and such as are not issued yet */
	unsigned more_flags;	   /* of each transaction that is handed on */
	unsigned outstanding;	   /* issued and not complete, held ones aside */
	struct fault_fifo window;  /* complete, withheld by reorder */
	struct fault_fifo out;	   /* to be handed out */

	int event_fd; /* -1 without irq */
	bool event_ours;
	/* For wait(), which runs beside the rest: is there something to hand out; when is
	 * the first of `held` due (UINT64_MAX none)? */
	_Atomic unsigned nr_out;
	_Atomic uint64_t due_ns;
};

static inline unsigned fault_fifo_mod(const struct cp_dma_chan *chan, unsigned at)
{
	return at < chan->ring ? at : at - chan->ring;
}

static inline void fault_fifo_push(const struct cp_dma_chan *chan,
				   struct fault_fifo *fifo, const struct fault_slot *slot)
{
	fifo->at[fault_fifo_mod(chan, fifo->head + fifo->nr++)] = slot->number;
}

static inline struct fault_slot *fault_fifo_at(struct cp_dma_chan *chan,
					       const struct fault_fifo *fifo, unsigned i)
{
	return &chan->slots[fifo->at[fault_fifo_mod(chan, fifo->head + i)]];
}

static inline struct fault_slot *fault_fifo_pop(struct cp_dma_chan *chan,
						struct fault_fifo *fifo)
{
	struct fault_slot *slot = fault_fifo_at(chan, fifo, 0);

	fifo->head = fault_fifo_mod(chan, fifo->head + 1);
	fifo->nr--;
	return slot;
}

#define FAULT_DRAW_ORDER UINT64_MAX /* instead of a transaction's number */

/* fault_plan.c. A draw depends on its three numbers and nothing else. */
uint64_t fault_draw(uint64_t seed, uint64_t number, uint64_t what);
/* The script's step for transaction `number`, NULL for none. Numbers only rise. */
const struct fault_step *fault_step_of(struct cp_dma_chan *chan, uint64_t number);
enum fault_action fault_decide(struct cp_dma_chan *chan, const struct fault_step *step,
			       uint64_t number);
/* How the transaction in `slot` will end, and how much of it is handed on. */
void fault_plan(struct cp_dma_chan *chan, struct fault_slot *slot,
		const struct fault_step *step, uint64_t number);

/* fault_reap.c */
void fault_wake(const struct cp_dma_chan *chan); /* whoever sleeps in wait() */
void fault_issue_pending(struct cp_dma_chan *chan);
unsigned fault_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
		    unsigned max);
int fault_wait(struct cp_dma_chan *chan, uint64_t timeout_ns);

/* fault_spec.c */
int fault_settings_read(const char *text, struct fault_settings *ret_set,
			struct cp_err *err);
int fault_usable(const struct cp_dma_cfg *cfg, struct cp_err *err);
int fault_check(const char *spec, struct cp_err *err);
void fault_traits(const char *spec, struct cp_dma_traits *ret_traits);
int fault_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
	       struct cp_err *err);
void fault_close(struct cp_dma_chan *chan);

/* fault_script.c: the steps of a file, in order of their numbers; free() them. Errors
 * have file, line and column. */
int fault_script_read(const char *path, struct fault_step **ret_steps, size_t *ret_nr,
		      struct cp_err *err);

/* fault_log.c. Can the log be opened now? Nothing is made. */
int fault_log_check(const char *path, struct cp_err *err);
/* path must outlive the log. */
int fault_log_open(const char *path, struct fault_log *ret_log, struct cp_err *err);
/* Room for one more line: false when there is no memory. */
bool fault_log_room(struct fault_log *log);
/* Of what fault_log_room() answered for. Returns its index. */
size_t fault_log_add(struct fault_log *log, const struct fault_line *line);
void fault_log_cookie(struct fault_log *log, size_t line, cp_dma_cookie cookie);
void fault_log_end(struct fault_log *log, size_t line, enum cp_dma_result result,
		   size_t residue);
/* Append all lines, between two that say whose they are; a log that could not be written
 * whole lacks the second one, and says so on standard error. */
void fault_log_close(struct fault_log *log, const char *engine, uint64_t seed);

#endif
