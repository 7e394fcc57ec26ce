/* SPDX-License-Identifier: GPL-2.0-only */
/* For callers without a loop of their own: a device by a cell, and I/Os to their end. */
#include <string.h>

#include "engines/queue/internal.h"

void cp_dev_cfg_of(const struct cp_context *context, const struct cp_arm *arm,
		   const struct cp_topo *topo, struct cp_dev_cfg *ret_cfg)
{
	uint64_t segment = context->bs / context->segments;

	*ret_cfg = (struct cp_dev_cfg){
		.arm = *arm,
		.media = context->media,
		.layer = context->layer,
		.attr = context->attr,
		.numa = context->numa,
		.misalign_near = context->misalign_near,
		.misalign_far = context->misalign_far,
		.segment = segment ? segment : CP_SEGMENT_DEFAULT,
		.jobs = context->numjobs,
		.iodepth = context->iodepth,
		.rw_page_off = !context->rw_page,
		.policy_force = arm->policy_force != 0,
		.fio_version = "",
		.topo = topo,
	};
}

static void run_mq(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	struct cp_io *done[32];
	unsigned at = 0, left = n;

	while (left) {
		while (at < n && !cp_sub_queue(sub, ios[at]))
			at++;
		cp_sub_commit(sub);
		left -= cp_sub_reap(sub, 1, 32, done);
	}
}

static void run_pages(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	struct cp_io *done[32];
	unsigned at = 0, left = n;

	while (left) {
		while (at < n && !cp_sub_page_submit(sub, ios[at]))
			at++;
		left -= cp_sub_reap(sub, 1, 32, done);
	}
}

void cp_sub_run(struct cp_sub *sub, struct cp_io *const *ios, unsigned n)
{
	const char *mode = sub->dev->arm.queue_mode;

	if (!strcmp(mode, "mq")) {
		run_mq(sub, ios, n);
		return;
	}
	if (!strcmp(mode, "page") && n != 1) {
		run_pages(sub, ios, n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(mode, "page"))
			cp_sub_page(sub, ios[i]);
		else
			cp_sub_bio(sub, ios[i]);
	}
}
