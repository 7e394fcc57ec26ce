// SPDX-License-Identifier: GPL-2.0-only
/*
 * The best single setting for a driver that takes one number a knob: per direction one
 * CPU arm, one DMA arm and one threshold, out of the thresholds at which the full table
 * changes to DMA. Its regret is the mean excess of J over what the full table uses, over
 * all rows and points alike, never below 0.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

#define CANDIDATES_MAX 256
#define KEEP_BIO       0.01 /* mq must be 1 % better to leave what runs today */

struct setting {
	const struct cp_arm *cpu, *dma;
	uint64_t thresh; /* 0 = never */
	double cost;	 /* mean excess ln J; NaN = cannot be judged */
};

/* Mean of fn over the points of the rows of a direction. */
struct sum {
	double total;
	unsigned nr;
};

static int curve_of(const struct learn_row *row, const struct cp_arm *arm)
{
	for (unsigned c = 0; arm && c < row->nr_curves; c++)
		if (!strcmp(row->curves[c].arm->name, arm->name) &&
		    cp_arm_same(row->curves[c].arm, arm))
			return (int)c;
	return -1;
}

/* ln J of what the finished policy answers at a point. */
static double table_cost(const struct cp_policy *policy, const struct learn_row *row,
			 unsigned g)
{
	struct cp_context context = row->key;
	struct cp_policy_answer answer;

	context.bs = row->grid[g];
	context.segments = 1;
	cp_policy_answer(policy, &context, &answer);
	for (unsigned c = 0; c < row->nr_curves; c++)
		if (!strcmp(row->curves[c].arm->name, answer.act.name))
			return row->mean[(size_t)c * row->nr_grid + g];
	return NAN;
}

static void excess(const struct cp_policy *policy, const struct learn_row *row,
		   const struct setting *setting, struct sum *sum)
{
	int cpu = curve_of(row, setting->cpu), dma = curve_of(row, setting->dma);

	for (unsigned g = 0; g < row->nr_grid; g++) {
		bool offload = setting->thresh && row->grid[g] >= setting->thresh;
		int curve = offload ? dma : cpu;

		if (curve < 0)
			continue;
		double d = row->mean[(size_t)curve * row->nr_grid + g] -
			   table_cost(policy, row, g);

		if (isnan(d))
			continue;
		sum->total += d;
		sum->nr++;
	}
}

static double setting_cost(const struct cp_learn *learn, const struct cp_policy *policy,
			   enum cp_dir dir, const struct setting *setting)
{
	struct sum sum = {0.0, 0};

	for (size_t r = 0; r < learn->nr_rows; r++)
		if (cp_context_dir(&learn->rows[r].key) == dir)
			excess(policy, &learn->rows[r], setting, &sum);
	return sum.nr ? sum.total / sum.nr : NAN;
}

/* The arm of a kind that costs least where it was measured. */
static const struct cp_arm *best_arm(const struct cp_learn *learn,
				     const struct cp_policy *policy, enum cp_dir dir,
				     const char *path, const char *queue_mode)
{
	const struct cp_arm *best = NULL;
	double least = INFINITY;

	for (size_t r = 0; r < learn->nr_rows; r++) {
		const struct learn_row *row = &learn->rows[r];

		for (unsigned c = 0; c < row->nr_curves; c++) {
			const struct cp_arm *arm = row->curves[c].arm;
			bool dma = !strcmp(path, "dma");
			struct setting setting = {
				.cpu = arm, .dma = arm, .thresh = dma ? 1 : 0};

			if (strcmp(arm->path, path) != 0 ||
			    strcmp(arm->queue_mode, queue_mode) != 0)
				continue;
			double cost = setting_cost(learn, policy, dir, &setting);

			if (cost < least) {
				least = cost;
				best = arm;
			}
		}
	}
	return best;
}

static unsigned candidates(const struct cp_policy *policy, enum cp_dir dir,
			   uint64_t *thresholds)
{
	unsigned nr = 0;

	thresholds[nr++] = 0;
	for (unsigned r = 0; r < policy->nr_rules; r++) {
		const struct cp_rule *rule = &policy->rules[r];

		if (rule->when.dir != dir)
			continue;
		for (unsigned i = 0; i < rule->nr_sizes && nr < CANDIDATES_MAX; i++) {
			const struct cp_policy_size *size = &rule->sizes[i];

			if (strcmp(size->act.path, "dma") != 0)
				continue;
			uint64_t above = size->above ? size->above
					 : i	     ? rule->sizes[i - 1].upto
						     : 0;

			/* `upto` is inclusive: the first sector above it. */
			thresholds[nr++] = (above / 512 + 1) * 512;
		}
	}
	return nr;
}

static struct setting best_setting(const struct cp_learn *learn,
				   const struct cp_policy *policy, enum cp_dir dir,
				   const char *queue_mode)
{
	uint64_t thresholds[CANDIDATES_MAX];
	struct setting best = {
		.cpu = best_arm(learn, policy, dir, "cpu", queue_mode),
		.cost = NAN,
	};
	unsigned nr = 1;

	thresholds[0] = 0;
	if (!strcmp(queue_mode, "mq")) {
		best.dma = best_arm(learn, policy, dir, "dma", "mq");
		nr = candidates(policy, dir, thresholds);
		/* No CPU arm in mq was measured: bio's stands in. */
		if (!best.cpu)
			best.cpu = best_arm(learn, policy, dir, "cpu", "bio");
	}
	struct setting try = best;

	for (unsigned i = 0; i < nr; i++) {
		try.thresh = thresholds[i];
		try.cost = setting_cost(learn, policy, dir, &try);
		if (isnan(best.cost) || try.cost < best.cost)
			best = try;
	}
	return best;
}

/* Is a mode known wherever the other one is? Else its mean is of other I/Os. */
static bool covers(const struct setting *settings, const struct setting *other)
{
	bool any = false;

	for (unsigned d = 0; d < 2; d++) {
		if (isnan(settings[d].cost) && !isnan(other[d].cost))
			return false;
		any = any || !isnan(settings[d].cost);
	}
	return any;
}

static double both(const struct setting *settings)
{
	double sum = 0.0;
	unsigned nr = 0;

	for (unsigned d = 0; d < 2; d++) {
		if (isnan(settings[d].cost))
			continue;
		sum += settings[d].cost;
		nr++;
	}
	return nr ? sum / nr : NAN;
}

void learn_device(struct cp_learn *learn, struct cp_policy *policy)
{
	struct cp_device *device = &policy->device;
	struct setting bio[2], mq[2];

	for (unsigned d = 0; d < 2; d++) {
		enum cp_dir dir = d ? CP_DIR_WRITE : CP_DIR_READ;

		bio[d] = best_setting(learn, policy, dir, "bio");
		mq[d] = best_setting(learn, policy, dir, "mq");
	}
	double cost_bio = covers(bio, mq) ? both(bio) : NAN, cost_mq = both(mq);
	bool offload = mq[0].thresh || mq[1].thresh;
	bool use_mq = offload && (isnan(cost_bio) || cost_mq + KEEP_BIO < cost_bio);
	double cost = use_mq ? cost_mq : cost_bio; /* of the mode that is set */

	if (!isnan(cost))
		device->regret_pct = round(1000.0 * fmax(0.0, expm1(cost))) / 10.0;
	if (isnan(cost_bio) && !isnan(cost_mq))
		learn_note(learn,
			   "bio was not measured wherever mq was, so the device's "
			   "queue_mode was not compared with it%s",
			   use_mq ? ""
				  : "; it is bio because no single threshold pays in "
				    "mq, and what bio costs is not known");
	if (!use_mq)
		return; /* bio, as cp_policy_init() left it */
	const struct cp_arm *arm = mq[0].thresh ? mq[0].dma : mq[1].dma;

	snprintf(device->queue_mode, sizeof(device->queue_mode), "mq");
	snprintf(device->completion, sizeof(device->completion), "%s",
		 arm && *arm->completion ? arm->completion : "poll");
	device->queue_depth = arm && arm->queue_depth ? arm->queue_depth : 128;
	device->q_per_node = arm && arm->q_per_node ? arm->q_per_node : 8;
	device->dma_thresh_read = mq[0].thresh;
	device->dma_thresh_write = mq[1].thresh;
}
