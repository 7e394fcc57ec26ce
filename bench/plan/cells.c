// SPDX-License-Identifier: GPL-2.0-only
/* Contexts x arms = cells, and what makes a cell impossible. */
#include "bench/plan/load.h"

#include <errno.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/copy/attr.h"
#include "engines/copy/copy.h"
#include "engines/copy/flush.h"
#include "engines/dma/channel.h"
#include "engines/media/media.h"

/* Contexts that differ in what an arm can do. */
#define KINDS_MAX 16

static const struct cp_axis *axis_find(const struct cp_load *load, const char *name)
{
	for (size_t i = 0; i < load->axes.nr; i++)
		if (!strcmp(load->axes.axis[i].name, name))
			return &load->axes.axis[i];
	return NULL;
}

static void check_bs(struct cp_load *load, const struct cp_axis *bs)
{
	char size[24];

	cp_size_format(load->plan->size, size, sizeof(size));
	for (size_t i = 0; bs && i < bs->nr; i++) {
		uint64_t bytes = 0;

		cp_size_parse(bs->nodes[i]->text, &bytes);
		if (bytes % 512)
			cp_yaml_problem(load->doc, bs->nodes[i],
					"'bs' is '%s', which is no whole number of "
					"sectors; expected a multiple of 512",
					bs->nodes[i]->text);
		if (bytes > load->plan->size)
			cp_yaml_problem(load->doc, bs->nodes[i],
					"'bs' is '%s', larger than the target; expected "
					"at most its size, %s",
					bs->nodes[i]->text, size);
	}
}

static void check_regions(struct cp_load *load, const struct cp_axis *bs,
			  const struct cp_axis *numjobs)
{
	for (size_t n = 0; bs && numjobs && n < numjobs->nr; n++) {
		uint64_t jobs = 1;

		cp_uint_parse(numjobs->nodes[n]->text, UINT32_MAX, &jobs);
		for (size_t i = 0; i < bs->nr; i++) {
			uint64_t bytes = 0;

			cp_size_parse(bs->nodes[i]->text, &bytes);
			if (bytes > load->plan->size || bytes <= load->plan->size / jobs)
				continue;
			cp_yaml_problem(load->doc, numjobs->nodes[n],
					"'numjobs' is '%s', but the target has no room "
					"for a 'bs' of '%s' in each job's own region; "
					"expected fewer jobs or a larger size",
					numjobs->nodes[n]->text, bs->nodes[i]->text);
			break;
		}
	}
}

static const char *segment_text(const struct cp_axis *segment, size_t digit)
{
	return segment ? segment->nodes[digit]->text : "4k";
}

static void make_contexts(struct cp_load *load)
{
	const struct cp_axis *segment = axis_find(load, "segment");
	size_t digits[AXES_MAX] = {0}, product = 1;

	for (size_t i = 0; i < load->axes.nr; i++) {
		product *= load->axes.axis[i].nr;
		if (product > CP_PLAN_CELLS_MAX) {
			cp_yaml_problem(load->doc, NULL,
					"the cross product has more than %d contexts; "
					"expected shorter lists",
					CP_PLAN_CELLS_MAX);
			return;
		}
	}
	load->contexts = calloc(product, sizeof(*load->contexts));
	if (!load->contexts) {
		load->failed = true;
		return;
	}
	do {
		struct cp_load_context *one = &load->contexts[load->nr_contexts];
		size_t at = segment ? digits[segment - load->axes.axis] : 0;

		cp_context_init(&one->context);
		memcpy(one->context.driver, load->plan->driver,
		       sizeof(one->context.driver));
		for (size_t i = 0; i < load->axes.nr; i++)
			cp_axis_apply(&load->axes.axis[i], digits[i], &one->context);
		cp_size_parse(segment_text(segment, at), &one->segment_bytes);
		uint64_t nr =
			(one->context.bs + one->segment_bytes - 1) / one->segment_bytes;
		one->context.segments = nr < UINT32_MAX ? (uint32_t)nr : UINT32_MAX;
		bool same = false; /* two segment sizes above bs are one context */
		for (size_t i = 0; segment && i < load->nr_contexts && !same; i++)
			same = cp_context_same(&load->contexts[i].context, &one->context);
		load->nr_contexts += !same;
	} while (cp_axes_next(&load->axes, digits));
}

static bool only_matches(const struct cp_load_arm *arm, const struct cp_context *context)
{
	for (size_t i = 0; i < arm->nr_only; i++) {
		const struct cp_load_only *only = &arm->only[i];
		char value[CP_SPEC_TEXT_MAX];
		bool any = false;

		cp_field_format(only->field, context, true, value, sizeof(value));
		for (size_t k = 0; k < only->nr && !any; k++)
			any = !strcmp(value, only->values[k]);
		if (!any)
			return false;
	}
	return true;
}

/* The first arm of queue_mode page that is to serve this block size; NULL: none. */
static const struct cp_load_arm *page_arm(const struct cp_load *load, uint64_t bs)
{
	for (size_t k = 0; k < load->nr_arms; k++) {
		const struct cp_load_arm *arm = &load->arms[k];

		if (strcmp(arm->arm.queue_mode, "page") != 0)
			continue;
		for (size_t i = 0; load->contexts && i < load->nr_contexts; i++) {
			const struct cp_context *context = &load->contexts[i].context;

			if (context->bs == bs && only_matches(arm, context))
				return arm;
		}
	}
	return NULL;
}

/* Pages are whole. Each size once, with the first arm that takes it by pages. */
static void check_pages(struct cp_load *load, const struct cp_axis *bs)
{
	for (size_t i = 0; bs && i < bs->nr; i++) {
		uint64_t bytes = 0;

		cp_size_parse(bs->nodes[i]->text, &bytes);
		/* other sizes are good, or no block sizes at all */
		if (bytes % CP_PAGE_BYTES == 0 || bytes % 512)
			continue;
		const struct cp_load_arm *arm = page_arm(load, bytes);

		if (arm)
			cp_yaml_problem(load->doc, bs->nodes[i],
					"'bs' is '%s' and arm '%s' has queue_mode page, "
					"which takes whole pages; expected a multiple "
					"of 4k, or an 'only' with such sizes in the arm",
					bs->nodes[i]->text, arm->arm.name);
	}
}

/* An emulated attribute is in the copies of the CPU. */
static int check_attr(const struct cp_arm *arm, enum cp_attr attr, unsigned natives,
		      struct cp_err *err)
{
	if (natives & CP_ATTR_BIT(attr) || !strcmp(arm->dma, "none"))
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'dma' of arm '%s' is '%s', which would go around the "
			  "emulation of attr '%s'; expected dma none, or "
			  "only: {attr: wb}",
			  arm->name, arm->dma, cp_attr_name(attr));
}

/* Of writes only. Files are looked at by cp_plan_target_check(). */
static int check_persist(const struct cp_arm *arm, const struct cp_context *context,
			 enum cp_attr attr, struct cp_err *err)
{
	if (cp_context_dir(context) == CP_DIR_READ)
		return 0;
	if (!strcmp(arm->persist, "require") && !strncmp(context->media, "anon", 4))
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"'persist' of arm '%s' is require and media '%s' is not "
			"persistent; expected media file on a DAX file system, "
			"devdax, or persist auto",
			arm->name, context->media);
	return cp_flush_check(arm, attr, cp_flush_present(), err);
}

/* Errors begin with the option in quotes, which is where they are shown. */
static int check_copy(const struct cp_arm *arm, enum cp_dir dir, enum cp_attr attr,
		      unsigned natives, struct cp_err *err)
{
	const char *copy =
		arm->policy[0] ? cp_attr_policy_copy(arm->copy, attr) : arm->copy;
	struct cp_copy_opts opts;
	int rc = cp_attr_check_copy(copy, attr, natives, err);

	if (rc) {
		cp_err_prefix(err, "'copy' of arm '%s'", arm->name);
		return rc;
	}
	rc = cp_copy_opts_parse(arm->unroll, arm->prefetch, &opts, err);

	if (rc || !strcmp(arm->path, "dma"))
		return 0; /* said by check_arm() once, not once a direction */
	if (natives & CP_ATTR_BIT(attr))
		attr = CP_ATTR_WB; /* nothing to emulate: any copy will do */
	else if (cp_attr_lacks())
		return 0; /* said of the target already */
	opts.attr = attr;
	rc = cp_copy_check_opts(copy, dir, &opts, err);
	if (rc && err->msg[0] != '\'')
		cp_err_prefix(err, "'copy' of arm '%s'", arm->name);
	return rc;
}

/* By bio, as the target takes no pages, nothing goes to DMA. */
static int check_rw_page(const struct cp_arm *arm, const struct cp_context *context,
			 struct cp_err *err)
{
	if (context->rw_page || strcmp(arm->queue_mode, "page") != 0 ||
	    strcmp(arm->path, "dma") != 0)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'path' of arm '%s' is dma, and with queue_mode page and "
			  "'rw_page' false every I/O goes by bio, which never uses DMA; "
			  "expected rw_page true, or path cpu or auto",
			  arm->name);
}

/* Only pages can be turned off: another arm would be measured twice as the same. */
static int check_rw_page_swept(const struct cp_load *load, const struct cp_arm *arm,
			       const struct cp_context *context, struct cp_err *err)
{
	bool swept = false;

	if (context->rw_page || arm->policy[0] || !strcmp(arm->queue_mode, "page"))
		return 0;
	for (size_t i = 0; i < load->nr_contexts; i++)
		swept = swept || load->contexts[i].context.rw_page;
	if (!swept && load->nr_arms > 1)
		return 0; /* beside arms that may be pages */
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'rw_page' false has no use for arm '%s' of queue_mode %s; "
			  "expected queue_mode page, or 'only: {rw_page: true}'",
			  arm->name, arm->queue_mode);
}

/* What an arm cannot do in a context. */
static int check_context(const struct cp_load *load, const struct cp_arm *arm,
			 const struct cp_context *context, struct cp_err *err)
{
	enum cp_dir dir = cp_context_dir(context);
	unsigned natives = cp_media_attrs(context->media);
	enum cp_attr attr;
	bool verify = strcmp(load->plan->verify, "off") != 0;
	bool swap = cp_load_is_swap(load);

	if (cp_plan_external(load->plan))
		return 0; /* words are checked; what they take is the program's business
			   */
	if (cp_attr_parse(context->attr, &attr, err) ||
	    check_attr(arm, attr, natives, err) || check_rw_page(arm, context, err) ||
	    check_rw_page_swept(load, arm, context, err) ||
	    check_persist(arm, context, attr, err) ||
	    check_copy(arm, dir, attr, natives, err) ||
	    (swap &&
	     (check_copy(arm, !dir, attr, natives, err) || cp_load_swap_arm(arm, err))))
		return -EINVAL;
	if (arm->policy[0] && cp_load_policy(arm, context, err)) {
		cp_err_prefix(err, "'policy' of arm '%s'", arm->name);
		return -EINVAL;
	}
	if (!verify && !swap)
		return 0;
	const struct cp_dma_ops *dma =
		strcmp(arm->dma, "none") != 0 ? cp_dma_find(arm->dma, err) : NULL;
	struct cp_dma_traits traits = {.moves_data = true};

	if (dma)
		cp_dma_traits(dma, arm->dma, &traits);
	if (swap)
		return traits.moves_data
			       ? 0
			       : cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					    "'dma' of arm '%s' is '%s', which moves "
					    "nothing, "
					    "and driver swap checks every page; expected "
					    "another engine",
					    arm->name, arm->dma);
	if (!traits.moves_data)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'dma' of arm '%s' is '%s', which moves nothing, so "
				  "'verify' would fail; expected verify off or another "
				  "engine",
				  arm->name, arm->dma);
	if (dir == CP_DIR_READ)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'verify' has nothing to compare a read with; expected "
			"rw write or randwrite, which reads back what it wrote");
	return 0;
}

/* The value of the arm in a list that sweeps; another node is itself. */
static const struct cp_yaml_node *swept_value(const struct cp_yaml_node *node,
					      const struct cp_arm *arm)
{
	const struct cp_field *field =
		node && node->key ? cp_field_find(cp_arm_fields, node->key) : NULL;
	char value[CP_SPEC_TEXT_MAX];

	if (!field || node->type != CP_YAML_LIST)
		return node;
	cp_field_format(field, arm, false, value, sizeof(value));
	for (size_t i = 0; i < node->nr_children; i++)
		if (node->children[i]->type == CP_YAML_SCALAR &&
		    !strcmp(node->children[i]->text, value))
			return node->children[i];
	return node;
}

/* A copy of one direction is no mistake in an arm that is kept to it. */
static void suggest_only(const struct cp_load *load, enum cp_dir dir, struct cp_err *err)
{
	/* a pager goes both ways, whatever is touched */
	if (!strstr(err->msg, "has no meaning for") || cp_load_is_swap(load))
		return;
	for (size_t i = 0; i < load->nr_contexts; i++) {
		const struct cp_context *other = &load->contexts[i].context;

		if (cp_context_dir(other) == dir)
			continue;
		cp_err_set(err, err->exit, EINVAL, "%s, or 'only: {rw: %s}'", err->msg,
			   other->rw);
		return;
	}
}

static const struct cp_yaml_node *direction_place(const struct cp_load *load,
						  const struct cp_load_arm *arm,
						  const struct cp_err *err)
{
	const struct cp_yaml_node *node = NULL;

	if (!strncmp(err->msg, "'verify'", 8))
		node = cp_yaml_get(cp_yaml_get(cp_yaml_root(load->doc), "run"), "verify");
	else if (!strncmp(err->msg, "'policy'", 8))
		node = cp_yaml_get(arm->map, "policy");
	else if (!strncmp(err->msg, "'copy'", 6))
		node = cp_yaml_get(arm->map, "copy");
	else if (!strncmp(err->msg, "'unroll'", 8))
		node = cp_yaml_get(arm->map, "unroll");
	else if (!strncmp(err->msg, "'prefetch'", 10))
		node = cp_yaml_get(arm->map, "prefetch");
	else if (!strncmp(err->msg, "'flush'", 7))
		node = cp_yaml_get(arm->map, "flush");
	else if (!strncmp(err->msg, "'fence'", 7))
		node = cp_yaml_get(arm->map, "fence");
	else if (!strncmp(err->msg, "'persist'", 9))
		node = cp_yaml_get(arm->map, "persist");
	else if (!strncmp(err->msg, "'path'", 6))
		node = cp_yaml_get(arm->map, "path");
	else if (!strncmp(err->msg, "'dma'", 5))
		node = cp_yaml_get(arm->map, "dma");
	else if (!strncmp(err->msg, "'batch'", 7))
		node = cp_yaml_get(arm->map, "batch");
	node = swept_value(node, &arm->arm);
	return node && node->type == CP_YAML_SCALAR ? node : arm->map;
}

/* What an arm can do depends on these alone. */
static bool same_kind(const struct cp_context *a, const struct cp_context *b)
{
	return !strcmp(a->layer, b->layer) && !strcmp(a->attr, b->attr) &&
	       !strcmp(a->numa, b->numa) && a->misalign_near == b->misalign_near &&
	       a->misalign_far == b->misalign_far && a->rw_page == b->rw_page &&
	       !strcmp(a->media, b->media);
}

struct kinds {
	unsigned nr;
	const struct cp_context *of[KINDS_MAX];
};

/* One more than there is room for is looked at again: it costs time only. */
static bool kind_seen(struct kinds *kinds, const struct cp_context *context)
{
	for (unsigned i = 0; i < kinds->nr; i++) {
		if (same_kind(kinds->of[i], context))
			return true;
	}
	if (kinds->nr < KINDS_MAX)
		kinds->of[kinds->nr++] = context;
	return false;
}

/* Each impossible direction and attribute of an arm once, not once a context. */
static void check_arm(struct cp_load *load, const struct cp_load_arm *arm)
{
	struct kinds kinds[2] = {0};
	char said[256] = "";
	bool any = false;
	struct cp_copy_opts opts;
	struct cp_err bad;

	if (cp_copy_opts_parse(arm->arm.unroll, arm->arm.prefetch, &opts, &bad))
		cp_load_problem(load, direction_place(load, arm, &bad), &bad);

	if (!load->contexts)
		return;
	for (size_t i = 0; i < load->nr_contexts; i++) {
		const struct cp_context *context = &load->contexts[i].context;
		enum cp_dir dir = cp_context_dir(context);
		struct cp_err err = {0};

		if (!only_matches(arm, context))
			continue;
		any = true;
		if (kind_seen(&kinds[dir], context))
			continue;
		if (!check_context(load, &arm->arm, context, &err) ||
		    !strncmp(said, err.msg, sizeof(said) - 1))
			continue; /* good, or the same for both directions */
		snprintf(said, sizeof(said), "%.255s", err.msg);
		suggest_only(load, dir, &err);
		cp_load_problem(load, direction_place(load, arm, &err), &err);
	}
	if (!any && load->nr_contexts)
		cp_yaml_problem(load->doc, cp_yaml_get(arm->map, "only"),
				"'only' of arm '%s' matches no context; expected values "
				"of this workload",
				arm->arm.name);
}

/* Where its co-runner is asked for. */
static void set_corunner_at(const struct cp_load *load, struct cp_plan_cell *cell)
{
	const struct cp_axis *axis = axis_find(load, "corunner");

	for (size_t i = 0; axis && i < axis->nr; i++) {
		if (strcmp(axis->nodes[i]->text, cell->context.corunner) != 0)
			continue;
		cell->corunner_at[0] = axis->nodes[i]->line;
		cell->corunner_at[1] = axis->nodes[i]->column;
	}
}

static int cell_add(struct cp_load *load, const struct cp_load_context *context,
		    const struct cp_load_arm *arm, size_t first)
{
	struct cp_plan *plan = load->plan;

	for (size_t i = first; i < plan->nr_cells; i++) {
		if (!cp_arm_same(&plan->cells[i].arm, &arm->arm))
			continue;
		cp_yaml_problem(load->doc, arm->map,
				"arm '%s' serves the same way as arm '%s'; expected arms "
				"that differ",
				arm->arm.name, plan->cells[i].arm.name);
		return -EINVAL;
	}
	if (plan->nr_cells == CP_PLAN_CELLS_MAX) {
		cp_yaml_problem(load->doc, NULL,
				"the cross product has more than %d cells; expected "
				"shorter lists",
				CP_PLAN_CELLS_MAX);
		return -E2BIG;
	}
	struct cp_plan_cell *cell = &plan->cells[plan->nr_cells++];
	cell->context = context->context;
	cell->arm = arm->arm;
	cell->segment_bytes = context->segment_bytes;
	const struct cp_yaml_node *policy = cp_yaml_get(arm->map, "policy");
	if (policy) {
		cell->policy_at[0] = policy->line;
		cell->policy_at[1] = policy->column;
	}
	set_corunner_at(load, cell);
	uint64_t region = plan->size / context->context.numjobs;
	cell->job_bytes = region - region % context->context.bs;
	return 0;
}

void cp_load_cells(struct cp_load *load)
{
	const struct cp_axis *bs = axis_find(load, "bs");

	check_bs(load, bs);
	check_regions(load, bs, axis_find(load, "numjobs"));
	make_contexts(load);
	check_pages(load, bs);
	for (size_t i = 0; i < load->nr_arms; i++)
		check_arm(load, &load->arms[i]);
	if (cp_yaml_nr_problems(load->doc) || load->failed)
		return;
	size_t most = load->nr_contexts * load->nr_arms;
	most = most < CP_PLAN_CELLS_MAX ? most : CP_PLAN_CELLS_MAX;
	load->plan->cells = calloc(most, sizeof(*load->plan->cells));
	if (!load->plan->cells) {
		load->failed = true;
		return;
	}
	for (size_t i = 0; i < load->nr_contexts; i++) {
		size_t first = load->plan->nr_cells;

		for (size_t k = 0; k < load->nr_arms; k++)
			if (only_matches(&load->arms[k], &load->contexts[i].context) &&
			    cell_add(load, &load->contexts[i], &load->arms[k], first))
				return;
	}
}
