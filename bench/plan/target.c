// SPDX-License-Identifier: GPL-2.0-only
/* What the plan asks of the machine: memory, and a target that may be used. */
#include "bench/plan/target.h"

#include <errno.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/copy/attr.h"
#include "engines/media/media.h"
#include "engines/queue/queue.h"

bool cp_target_takes_file(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->takes_file && !media->device;
}

static bool is_device(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->device;
}

/* What it names must be there: a plan makes none. */
static bool must_exist(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->takes_file && !media->may_make;
}

const char *cp_plan_filename(const struct cp_plan *plan, const char *spec)
{
	const struct cp_media_ops *media = cp_media_of(spec);
	bool taken = false;

	for (size_t i = 0; i < plan->nr_cells; i++)
		taken = taken || cp_target_takes_file(&plan->cells[i]) ||
			is_device(&plan->cells[i]);
	if (!plan->filename[0] || !media ||
	    !(media->takes_file || (media->file_default && !taken)))
		return NULL;
	return plan->filename;
}

static enum cp_attr attr_of(const struct cp_plan_cell *cell)
{
	enum cp_attr attr = CP_ATTR_WB;
	struct cp_err err;

	cp_attr_parse(cell->context.attr, &attr, &err); /* checked with the workload */
	return attr;
}

/* What the target of a cell takes of MemAvailable; files and devices that were named are
 * looked at with their place. */
static int target_memory(const struct cp_plan *plan, const struct cp_plan_cell *cell,
			 uint64_t *ret_bytes, struct cp_err *err)
{
	const struct cp_media_cfg cfg = {
		.spec = cell->context.media,
		.filename = cp_plan_filename(plan, cell->context.media),
		.bytes = plan->size + cell->context.misalign_far,
		.writable = cp_context_writes(&cell->context),
		.attr = attr_of(cell),
		.attr_native = plan->attr_native,
	};

	*ret_bytes = 0;
	if (cp_target_takes_file(cell) || is_device(cell))
		return 0;
	int ret = cp_media_look(&cfg, ret_bytes, err);

	if (ret && plan->place[0])
		cp_err_prefix(err, "%s: error", plan->place);
	return ret;
}

int cp_plan_cell_memory(const struct cp_plan *plan, const struct cp_plan_cell *cell,
			uint64_t *ret_bytes, struct cp_err *err)
{
	const struct cp_context *c = &cell->context;
	uint64_t bytes;
	int ret = target_memory(plan, cell, &bytes, err);

	if (!ret)
		*ret_bytes = bytes + (uint64_t)c->numjobs * c->iodepth * c->bs;
	return ret;
}

static int check_memory(const struct cp_plan *plan, struct cp_err *err)
{
	uint64_t most = 0, available = cp_media_memory_available();
	char need[24], have[24];

	for (size_t i = 0; i < plan->nr_cells; i++) {
		uint64_t bytes;
		int ret = cp_plan_cell_memory(plan, &plan->cells[i], &bytes, err);

		if (ret)
			return ret;
		most = bytes > most ? bytes : most;
	}
	/* A twentieth is left to everybody else. */
	if (!available || most + most / 20 <= available)
		return 0;
	return cp_err_set(
		err, CP_EXIT_INVALID, ENOMEM,
		"not enough memory: target and buffers need %s, %s are "
		"available; expected a smaller 'size'",
		cp_size_format((most + (1U << 20) - 1) >> 20 << 20, need, sizeof(need)),
		cp_size_format(available >> 20 << 20, have, sizeof(have)));
}

/* Each media that a plan makes no file for looks at what was named. A device is used as
 * it is, or not at all. */
static int check_named(const struct cp_plan *plan, struct cp_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < plan->nr_cells && !ret; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		const struct cp_media_cfg cfg = {
			.spec = cell->context.media,
			.filename = plan->filename,
			.bytes = plan->size + cell->context.misalign_far,
			.writable = cp_context_writes(&cell->context),
			.attr = attr_of(cell),
			.attr_native = plan->attr_native,
		};
		uint64_t memory;

		if (!must_exist(cell))
			continue;
		ret = cp_media_look(&cfg, &memory, err);
		if (!ret && is_device(cell) && cfg.writable && !plan->allow_overwrite)
			ret = cp_err_set(err, CP_EXIT_USAGE, EEXIST,
					 "'%s' is a device and the workload writes; "
					 "expected 'allow_overwrite: true'",
					 plan->filename);
	}
	return ret;
}

static bool asks_for_queues(const struct cp_arm *arm)
{
	/* of bio, and of page without DMA, it is 0 by now */
	return arm->q_per_node_set && arm->q_per_node;
}

/* Of what a workload asks for, not of the default: each number once. */
static void warn_capped(const struct cp_plan *plan, const struct cp_topo *topo,
			void (*warn)(void *ctx, const char *text), void *ctx)
{
	char text[160];

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_arm *arm = &plan->cells[i].arm;
		size_t k = 0;

		if (!asks_for_queues(arm))
			continue;
		while (k < i && (!asks_for_queues(&plan->cells[k].arm) ||
				 plan->cells[k].arm.q_per_node != arm->q_per_node))
			k++;
		if (k == i && cp_queue_capped(topo, arm->q_per_node, text, sizeof(text)))
			warn(ctx, text);
	}
}

int cp_plan_target_check(const struct cp_plan *plan, const struct cp_topo *topo,
			 void (*warn)(void *ctx, const char *text), void *ctx,
			 struct cp_err *err)
{
	char text[256], size[24], llc[24];

	if (cp_plan_external(plan))
		return 0;
	int ret = check_memory(plan, err);

	if (!ret) {
		ret = check_named(plan, err);
		if (!ret && cp_target_has_file(plan))
			ret = cp_target_check_file(plan, err);
		if (ret && plan->place[0])
			cp_err_prefix(err, "%s: error", plan->place);
	}
	if (!ret) {
		ret = cp_target_check_persistent(plan, err);
		if (ret && plan->place[0])
			cp_err_prefix(err, "%s: error", plan->place);
	}
	if (ret || !warn)
		return ret;
	warn_capped(plan, topo, warn, ctx);
	if (topo->llc_bytes && plan->size <= topo->llc_bytes) {
		snprintf(text, sizeof(text),
			 "the target of %s is %.2f times the last-level cache of %s: "
			 "figures are of the cache, not of memory",
			 cp_size_format(plan->size, size, sizeof(size)),
			 (double)plan->size / (double)topo->llc_bytes,
			 cp_size_format(topo->llc_bytes, llc, sizeof(llc)));
		warn(ctx, text);
	}
	return 0;
}
