/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A DMA engine between the device and the one it was opened with: notes each transaction,
 * and refuses or fails those it is told to. One at a time.
 */
#ifndef CP_ENGINES_QUEUE_T_SCRIPT_H
#define CP_ENGINES_QUEUE_T_SCRIPT_H

#include "engines/queue/internal.h"

#define SCRIPT_SEEN 128U

static struct {
	const struct cp_dma_ops *real;
	struct cp_dma_ops ops;
	const unsigned char *base;

	/* the next `refuse` calls of prep behind `refuse_after` end with refuse_rc */
	unsigned refuse, refuse_after;
	int refuse_rc;
	/* the transaction of this cookie fails, with so much left */
	cp_dma_cookie fail;
	size_t residue;

	unsigned calls;	 /* of prep */
	unsigned nr;	 /* transactions taken */
	unsigned issued; /* of them, behind a doorbell */
	unsigned rings, reaps;
	unsigned hold; /* so many reaps find nothing yet */
	struct {
		enum cp_dir dir;
		uint64_t offset, bytes;
		unsigned nr_sg;
	} seen[SCRIPT_SEEN];
} script;

static int script_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		       const struct cp_dma_sg *sg, unsigned nr_sg, unsigned flags,
		       void *user)
{
	unsigned call = script.calls++;

	if (call >= script.refuse_after && script.refuse) {
		script.refuse--;
		return script.refuse_rc;
	}
	int rc = script.real->prep_memcpy_sg(chan, dir, far, sg, nr_sg, flags, user);

	if (rc)
		return rc;
	assert_in_range(script.nr, 0, SCRIPT_SEEN - 1);
	script.seen[script.nr].dir = dir;
	script.seen[script.nr].offset = (uint64_t)((unsigned char *)far - script.base);
	script.seen[script.nr].nr_sg = nr_sg;
	script.seen[script.nr].bytes = 0;
	for (unsigned i = 0; i < nr_sg; i++)
		script.seen[script.nr].bytes += sg[i].len;
	script.nr++;
	return 0;
}

/* Each transaction is to come through script_prep(). */
static int script_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			     void *near, size_t len, unsigned flags, void *user)
{
	(void)chan;
	(void)dir;
	(void)far;
	(void)near;
	(void)len;
	(void)flags;
	(void)user;
	return -ENOSYS;
}

static void script_issue(struct cp_dma_chan *chan)
{
	script.issued = script.nr;
	script.rings++;
	script.real->issue_pending(chan);
}

static unsigned script_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			    unsigned max)
{
	script.reaps++;
	if (script.hold) {
		script.hold--;
		return 0;
	}
	unsigned n = script.real->reap(chan, done, max);

	for (unsigned i = 0; i < n; i++) {
		if (done[i].cookie != script.fail)
			continue;
		done[i].result = CP_DMA_WRITE_FAILED;
		done[i].residue = script.residue;
	}
	return n;
}

/* From here on what the rig hands to its channel is seen. Measuring begins. */
static inline void script_start(struct rig *rig)
{
	memset(&script, 0, sizeof(script));
	script.real = rig->dev->dma;
	script.ops = *script.real;
	script.ops.prep_memcpy_sg = script_prep;
	script.ops.submit_one = script_submit_one;
	script.ops.issue_pending = script_issue;
	script.ops.reap = script_reap;
	script.base = rig->dev->far;
	rig->dev->dma = &script.ops;
	cp_sub_measure_begin(rig->sub);
}

#endif
