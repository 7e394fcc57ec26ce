/* SPDX-License-Identifier: GPL-2.0-only */
/* What the arm and the policy ask for, turned into routes that a decision only points at.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/host.h"
#include "engines/dma/hardware.h"
#include "engines/queue/internal.h"

static uint8_t kernel_index(struct cp_dev *dev, const struct cp_copy_ops *ops)
{
	for (unsigned i = 0; i < dev->nr_kernels; i++) {
		if (dev->kernels[i] == ops)
			return (uint8_t)i;
	}
	/* the table of kernels is shorter than this */
	assert(dev->nr_kernels < CP_KERNELS_MAX);
	dev->kernels[dev->nr_kernels] = ops;
	if (cp_copy_past_caches(ops))
		dev->past_caches |= 1U << dev->nr_kernels;
	return (uint8_t)dev->nr_kernels++;
}

/* Kernels of one copy word. A direction that will not be measured (a verify pass) reads
 * and writes with memcpy, so that nt-avx512 writes can be verified. */
static int bind(struct cp_dev *dev, const char *copy, const struct cp_copy_opts *opts,
		struct cp_route *route, struct cp_err *err)
{
	struct cp_copy_opts asked = *opts, plain;

	cp_copy_opts_init(&plain);
	int rc = cp_attr_check_copy(copy, dev->mapped, cp_media_attrs(dev->cfg.media),
				    err);

	if (rc)
		return rc;
	asked.attr = dev->attr;
	asked.unfenced = dev->unfenced;
	plain.attr = dev->attr;
	for (int d = 0; d < 2; d++) {
		bool used = dev->cfg.dir_used[d];
		struct cp_copy_bound bound;

		rc = cp_copy_bind_sizes(used ? copy : "memcpy", (enum cp_dir)d,
					used ? &asked : &plain, &bound, err);
		if (rc)
			return rc;
		for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
			route->copy[d][class] = bound.fn[class];
			route->kernel[d][class] = kernel_index(dev, bound.ops[class]);
		}
	}
	return 0;
}

/* A policy belongs to the machine, media and DMA engines it was learned on. */
static int check_fingerprint(struct cp_dev *dev, const struct cp_policy *policy,
			     struct cp_err *err)
{
	char here[CP_FINGERPRINT_MAX], kind[CP_SPEC_TEXT_MAX], engines[256];
	char note[192];
	struct cp_host host;

	if (!policy->fingerprint[0])
		return 0;
	int rc = cp_host_read(&host, err);

	if (rc)
		return rc;
	cp_media_kind(dev->cfg.media, kind, sizeof(kind));
	cp_dma_hardware_names(engines, sizeof(engines));
	cp_host_fingerprint(&host, dev->cfg.fio_version, kind, engines, here);
	if (!strcmp(here, policy->fingerprint))
		return 0;
	if (dev->cfg.policy_force) {
		snprintf(note, sizeof(note),
			 "policy '%.100s' of another machine used by force",
			 policy->name);
		cp_dev_note(dev, note);
		return 0;
	}
	return cp_err_set(
		err, CP_EXIT_INVALID, EINVAL,
		"policy '%s' was learned on host '%s' with another fingerprint; "
		"learn one here, or set policy_force=1 to use it all the same",
		policy->name, policy->host);
}

/* With a policy the arm's copy is for what no rule names, and its `auto` is the policy's.
 */
static const char *arm_copy(const struct cp_dev *dev)
{
	return dev->arm.policy[0] ? cp_attr_policy_copy(dev->arm.copy, dev->mapped)
				  : dev->arm.copy;
}

static int route_action(struct cp_dev *dev, const struct cp_action *act,
			struct cp_route *route, struct cp_err *err)
{
	struct cp_copy_opts opts;

	route->dma = !strcmp(act->path, "dma") && (dev->mq || dev->page);
	/* the arm's settings are of the arm's kernel; a policy names none */
	cp_copy_opts_init(&opts);
	if (act->copy[0])
		return bind(dev, cp_attr_policy_copy(act->copy, dev->mapped), &opts,
			    route, err);
	int rc = cp_copy_opts_parse(dev->arm.unroll, dev->arm.prefetch, &opts, err);

	return rc ? rc : bind(dev, arm_copy(dev), &opts, route, err);
}

/* The arm decides; whoever reads the record should know that the policy meant another. */
static void note_promise(struct cp_dev *dev, const struct cp_policy *policy)
{
	char note[224];

	if (!dev->cfg.dir_used[CP_DIR_WRITE] ||
	    !strcmp(policy->device.persist, dev->arm.persist))
		return;
	snprintf(note, sizeof(note),
		 "policy '%.60s' is of writes with persist %s, these have %s",
		 policy->name, policy->device.persist, dev->arm.persist);
	cp_dev_note(dev, note);
}

/* A policy of other attributes or alignments looks like one that works. */
static void note_no_rule(struct cp_dev *dev, const struct cp_policy *policy)
{
	char note[224];

	if (!policy->nr_rules || dev->table->nr_rules)
		return;
	snprintf(note, sizeof(note),
		 "policy '%.60s' has no rule for attr %s, misalign_near %u, misalign_far "
		 "%u: its default serves every I/O",
		 policy->name, dev->cfg.attr, dev->cfg.misalign_near,
		 dev->cfg.misalign_far);
	cp_dev_note(dev, note);
}

/* What of the look-up does not change between I/Os. */
static void bind_rows(struct cp_dev *dev)
{
	uint32_t jobs = dev->cfg.jobs, load = jobs * dev->cfg.iodepth;

	for (unsigned d = 0; d < 2; d++)
		dev->row[d] = cp_policy_row(dev->table, (enum cp_dir)d, jobs, load, 0) -
			      cp_policy_segments_class(dev->table, 0);
	dev->by_segments = dev->table->nr_segments > 1;
}

/* A what-if is used like any other policy, but whoever reads the record should know. */
static void note_what_if(struct cp_dev *dev, const struct cp_policy *policy)
{
	char note[224];

	if (!dev->dma || strcmp(policy->dma, "modelled") != 0 ||
	    !strcmp(dev->traits.provenance, "modelled"))
		return;
	snprintf(note, sizeof(note),
		 "policy '%.60s' is a what-if, learned from a modelled DMA engine; this "
		 "one "
		 "is %s",
		 policy->name, dev->traits.provenance);
	cp_dev_note(dev, note);
}

static int policy_routes(struct cp_dev *dev, struct cp_err *err)
{
	struct cp_context context;
	struct cp_policy policy;
	int rc = cp_policy_read(dev->arm.policy, &policy, err);

	if (rc)
		return rc;
	/* what selects a table; all else is looked up an I/O at a time */
	cp_context_init(&context);
	snprintf(context.layer, sizeof(context.layer), "%s", dev->cfg.layer);
	snprintf(context.attr, sizeof(context.attr), "%s", dev->cfg.attr);
	snprintf(context.numa, sizeof(context.numa), "%s", dev->cfg.numa);
	context.misalign_near = dev->cfg.misalign_near;
	context.misalign_far = dev->cfg.misalign_far;
	rc = check_fingerprint(dev, &policy, err);
	note_promise(dev, &policy);
	note_what_if(dev, &policy);
	if (!rc)
		rc = cp_policy_compile(&policy, &context, &dev->table, err);
	if (!rc)
		note_no_rule(dev, &policy);
	for (unsigned i = 0; !rc && i < dev->table->nr_actions; i++) {
		struct cp_action *act = &dev->table->actions[i];

		rc = route_action(dev, act, &dev->routes[i], err);
		if (!rc && dev->routes[i].dma && !dev->dma)
			rc = cp_err_set(
				err, CP_EXIT_USAGE, EINVAL,
				"policy '%s' uses dma ('%s') and 'dma' is 'none'; "
				"set dma=auto or dma=sw",
				policy.name, act->name);
	}
	if (!rc)
		bind_rows(dev);
	if (rc)
		cp_err_prefix(err, "policy");
	cp_policy_free(&policy);
	return rc;
}

int cp_dev_routes(struct cp_dev *dev, struct cp_err *err)
{
	const struct cp_arm *arm = &dev->arm;
	struct cp_copy_opts opts;
	int rc = cp_copy_opts_parse(arm->unroll, arm->prefetch, &opts, err);

	if (!rc)
		rc = bind(dev, arm_copy(dev), &opts, &dev->cpu_route, err);
	if (rc)
		return rc;
	dev->dma_route = dev->cpu_route;
	dev->dma_route.dma = true;
	dev->thresh[CP_DIR_READ] = UINT64_MAX;
	dev->thresh[CP_DIR_WRITE] = UINT64_MAX;
	if (!strcmp(arm->path, "dma")) {
		dev->thresh[CP_DIR_READ] = 0;
		dev->thresh[CP_DIR_WRITE] = 0;
		return 0;
	}
	if (strcmp(arm->path, "auto") != 0)
		return 0;
	if (arm->policy[0])
		return policy_routes(dev, err);
	dev->min_segments = arm->dma_min_segments;
	dev->by_segments = dev->min_segments > 0;
	if (arm->dma_thresh_read && dev->queues)
		dev->thresh[CP_DIR_READ] = arm->dma_thresh_read;
	if (arm->dma_thresh_write && dev->queues)
		dev->thresh[CP_DIR_WRITE] = arm->dma_thresh_write;
	return 0;
}
