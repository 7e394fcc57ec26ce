/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vocabulary: a context (what the caller asks for), an arm (one way to serve it), and
 * the one table of their fields. The YAML plan, the engine's options, the records, the
 * policies and the reports all go by this table, so that a word means one thing
 * everywhere.
 *
 * A value an arm may hold but this build does not serve is refused by cp_field_parse()
 * with what would work; a table row says which words are served. Of a SPEC only the name
 * is checked here; its settings are its engine's to check.
 */
#ifndef CP_ENGINES_BASE_CELL_H
#define CP_ENGINES_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/err.h"

enum cp_dir { CP_DIR_READ, CP_DIR_WRITE }; /* far to near, near to far */

/* Cache attribute of the far side; which media has which natively: cp_media_attrs(). */
enum cp_attr { CP_ATTR_WB, CP_ATTR_UC, CP_ATTR_WC, CP_ATTR_WT };
#define CP_ATTR_BIT(attr) (1U << (attr))

#define CP_NAME_MAX	 128
#define CP_WORD_MAX	 32
#define CP_SPEC_TEXT_MAX 128
#define CP_CELL_KEY_MAX	 2048

/* Bytes of one page of queue_mode page, whatever the machine's pages are. */
#define CP_PAGE_BYTES 4096

/* What an arm in mq has that names none. */
#define CP_Q_PER_NODE_DEFAULT  8
#define CP_QUEUE_DEPTH_DEFAULT 128
/* What requests are merged up to where there is a decision. */
#define CP_MAX_MERGE_DEFAULT (UINT64_C(2) << 20)

struct cp_context {
	char rw[CP_WORD_MAX]; /* read write randread randwrite */
	uint64_t bs;
	uint32_t numjobs, iodepth;
	uint32_t segments;		 /* bs / segment, rounded up */
	char numa[CP_WORD_MAX];		 /* local */
	char layer[CP_SPEC_TEXT_MAX];	 /* none */
	char attr[CP_WORD_MAX];		 /* wb, uc, wc, wt */
	char media[CP_SPEC_TEXT_MAX];	 /* anon, file, dax, devdax, bar, memattr */
	char corunner[CP_SPEC_TEXT_MAX]; /* none, or compute[:sched=idle] and others */
	uint32_t misalign_near; /* bytes: each caller's buffer starts so far behind a page
				 */
	uint32_t misalign_far;	/* bytes: so does byte 0 of the device in its mapping */
	char driver[CP_WORD_MAX]; /* who makes the I/Os: fio, swap, exec */
	uint32_t rw_page;	  /* 1: the target takes I/O by pages (queue_mode page) */
	uint64_t resident; /* driver swap: bytes of the region that may be in memory */
	char handler[CP_WORD_MAX]; /* driver swap: CPU of who serves the faults: beside,
				      apart */
};

struct cp_arm {
	char name[CP_NAME_MAX];
	char queue_mode[CP_WORD_MAX]; /* bio, mq, page */
	char path[CP_WORD_MAX];	      /* cpu, dma, auto */
	char copy[CP_WORD_MAX];	      /* memcpy, nt, auto, or an ISA kernel */
	/* behind a write: instruction of cache flushes, fence, promise
	 * (engines/copy/flush.h) */
	char flush[CP_WORD_MAX];		    /* none, clwb, clflushopt, clflush */
	char fence[CP_WORD_MAX];		    /* auto, none, sfence, mfence */
	char persist[CP_WORD_MAX];		    /* none, auto, require */
	char completion[CP_WORD_MAX];		    /* sync, poll, irq, hybrid */
	char dma[CP_SPEC_TEXT_MAX];		    /* none, auto, sw[:...], null[:...] */
	uint64_t dma_thresh_read, dma_thresh_write; /* bytes; 0 = never, see below */
	uint32_t dma_min_segments;		    /* 0 = from the first byte */
	char ring_full[CP_WORD_MAX];		    /* wait, cpu */
	uint32_t split_pct; /* of a DMA request, what the CPU copies meanwhile; 0 =
			       nothing */
	char dma_node[CP_WORD_MAX]; /* whose node picks a channel: memory, cpu, device */
	uint32_t q_per_node;	    /* hardware queues a node */
	uint32_t queue_depth;	    /* tags a hardware queue */
	uint64_t max_merge;	    /* 0 = no merging */
	uint32_t batch;		    /* I/Os a doorbell (fio iodepth_batch) */
	char policy[256];	    /* file for path: auto; "" = none */
	uint32_t policy_force;	    /* 1: its fingerprint may be another machine's */
	/* the kernel's loop: lines a turn (1, 2, 4, 8); none, nta or t0[:distance=] */
	uint32_t unroll;
	char prefetch[CP_SPEC_TEXT_MAX];
	/* cp_field_parse() was given a threshold or max_merge: tells "never" from "the
	 * default" until cp_arm_resolve() is done; no part of what an arm is. And
	 * q_per_node: who asks for more than there is room for is told. */
	bool dma_thresh_read_set, dma_thresh_write_set, max_merge_set, q_per_node_set;
};

enum cp_field_type {
	CP_FIELD_WORD, /* one of words[] */
	CP_FIELD_SPEC, /* NAME[:key=value,...] with NAME one of words[] */
	CP_FIELD_TEXT, /* any text that fits */
	CP_FIELD_SIZE, /* uint64_t, fio size suffixes */
	CP_FIELD_UINT, /* uint32_t; with max 1 true and false are read too */
};

struct cp_field {
	const char *name;
	enum cp_field_type type;
	size_t offset, size;	  /* in struct cp_context or cp_arm */
	const char *const *words; /* served words, NULL-terminated; NULL = any */
	uint64_t min, max;	  /* SIZE and UINT */
	uint64_t asked_min;	  /* as min, for cp_field_parse_asked(); 0 = the same */
	const char *def;	  /* default as text; "" = follows from other fields, and
				   * is then accepted as a value too */
	const char *help;	  /* one line */
	size_t set_offset;	  /* of a bool that cp_field_parse() sets; 0 = none */
};

/* NULL-name terminated, in the order of the record format. The arm table leaves `name`
 * out. */
extern const struct cp_field cp_context_fields[];
extern const struct cp_field cp_arm_fields[];

const struct cp_field *cp_field_find(const struct cp_field *fields, const char *name);
/* Parse text into the field of obj; err->msg is "what; expected ..." without a place. */
int cp_field_parse(const struct cp_field *field, void *obj, const char *text,
		   struct cp_err *err);
/* The same of what a user wrote: 0 for a number whose 0 stands for "not given" is out of
 * range there (records and manifests of arms without queues have it). */
int cp_field_parse_asked(const struct cp_field *field, void *obj, const char *text,
			 struct cp_err *err);
/* The value as text (sizes as plain bytes when `plain`, else 64k). Returns buf. */
const char *cp_field_format(const struct cp_field *field, const void *obj, bool plain,
			    char *buf, size_t size);

void cp_context_init(struct cp_context *context); /* all defaults */
void cp_arm_init(struct cp_arm *arm);

/*
 * Settings that follow from others, applied after parsing and before comparing: bio has
 * completion sync, dma none, no queues, no thresholds; page the same without dma,
 * and queues as in mq with it; a missing completion in mq is
 * poll; path auto with dma and no policy has the default thresholds. Then what is
 * impossible is an error (exit 2): path dma in bio, path dma with dma none, completion
 * sync in mq ... The text names the arm's field in quotes first.
 * Fence none with persist is an error where no flush is named that needs no fence.
 * Path cpu drops the DMA settings, path dma the thresholds, unroll and prefetch. arm is
 * unchanged on an error, and resolving again changes nothing.
 */
int cp_arm_resolve(struct cp_arm *arm, struct cp_err *err);
/* Of one that is resolved: does its completion need an engine that signals? */
bool cp_arm_signals(const struct cp_arm *arm);

/* Same way of serving (name ignored). */
bool cp_arm_same(const struct cp_arm *a, const struct cp_arm *b);
bool cp_context_same(const struct cp_context *a, const struct cp_context *b);
/* One stable text per cell for hashing and file names:
 * "read bs=65536 numjobs=1 iodepth=16 ... | mq/dma ...". CP_CELL_KEY_MAX always suffices.
 */
void cp_cell_key(const struct cp_context *context, const struct cp_arm *arm, char *buf,
		 size_t size);

enum cp_dir cp_context_dir(const struct cp_context *context);
/* Does it write to the target? Pages are paged out whatever is done to them. */
bool cp_context_writes(const struct cp_context *context);

#endif
