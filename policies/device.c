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

/* Mean of fn over the points of the rows of a direction. */
struct sum {
	double total;
	unsigned unknown; /* points where what the table does was not measured */
	unsigned nr,
		beyond; /* points counted; points that break a hard limit, uncounted */
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

/* The cheapest of the rules' arms at a point. */
static double least_cost(const struct learn_row *row, unsigned g)
{
	double least = NAN;

	for (unsigned c = 0; c < row->nr_curves; c++)
		if (!row->excluded[(size_t)c * row->nr_grid + g])
			least = fmin(least, row->mean[(size_t)c * row->nr_grid + g]);
	return least;
}

static bool has_pages(const struct learn_row *row)
{
	for (unsigned c = 0; c < row->nr_curves; c++)
		if (!strcmp(row->curves[c].arm->queue_mode, "page"))
			return true;
	return false;
}

static void excess(const struct cp_policy *policy, const struct learn_row *row,
		   const struct learn_setting *setting, struct sum *sum)
{
	int cpu = curve_of(row, setting->cpu), dma = curve_of(row, setting->dma);
	bool pages = has_pages(row);

	for (unsigned g = 0; g < row->nr_grid; g++) {
		bool offload = setting->thresh && row->grid[g] >= setting->thresh;
		int curve = offload ? dma : cpu;

		if (curve < 0)
			continue;
		double table = table_cost(policy, row, g);

		/* An arm without a rival in its mode is in no rule, and is weighed
		 * against page, or page against it, all the same. */
		if (isnan(table) && pages) {
			table = least_cost(row, g);
			sum->unknown++;
		}
		double d = row->mean[(size_t)curve * row->nr_grid + g] - table;

		if (isnan(d))
			continue;
		/* To starve the I/O is no gain, whatever it saves. */
		if (row->beyond[(size_t)curve * row->nr_grid + g]) {
			sum->beyond++;
			continue;
		}
		sum->total += d;
		sum->nr++;
	}
}

static void setting_judge(const struct cp_learn *learn, const struct cp_policy *policy,
			  enum cp_dir dir, struct learn_setting *setting)
{
	struct sum sum = {0.0, 0, 0, 0};

	for (size_t r = 0; r < learn->nr_rows; r++)
		if (cp_context_dir(&learn->rows[r].key) == dir)
			excess(policy, &learn->rows[r], setting, &sum);
	setting->cost = sum.nr ? sum.total / sum.nr : NAN;
	setting->table_known = !sum.unknown;
	setting->beyond = sum.beyond ? (double)sum.beyond / (sum.nr + sum.beyond) : 0.0;
}

/* Hard limits first. */
static bool better(const struct learn_setting *a, const struct learn_setting *b)
{
	if (isnan(a->cost) || isnan(b->cost))
		return !isnan(a->cost);
	if (a->beyond < b->beyond || a->beyond > b->beyond)
		return a->beyond < b->beyond;
	return a->cost < b->cost;
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
			struct learn_setting setting = {
				.cpu = arm, .dma = arm, .thresh = dma ? 1 : 0};

			if (strcmp(arm->path, path) != 0 ||
			    strcmp(arm->queue_mode, queue_mode) != 0)
				continue;
			setting_judge(learn, policy, dir, &setting);
			if (setting.cost < least) {
				least = setting.cost;
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

static struct learn_setting best_setting(const struct cp_learn *learn,
					 const struct cp_policy *policy, enum cp_dir dir,
					 const char *queue_mode)
{
	uint64_t thresholds[CANDIDATES_MAX];
	struct learn_setting best = {
		.cpu = best_arm(learn, policy, dir, "cpu", queue_mode),
		.cost = NAN,
		.table_known = true,
	};
	unsigned nr = 1;

	thresholds[0] = 0;
	if (strcmp(queue_mode, "bio") != 0) {
		best.dma = best_arm(learn, policy, dir, "dma", queue_mode);
		nr = candidates(policy, dir, thresholds);
		/* No CPU arm in mq was measured: bio's stands in. */
		if (!best.cpu && !strcmp(queue_mode, "mq"))
			best.cpu = best_arm(learn, policy, dir, "cpu", "bio");
	}
	struct learn_setting try = best;

	for (unsigned i = 0; i < nr; i++) {
		try.thresh = thresholds[i];
		setting_judge(learn, policy, dir, &try);
		if (better(&try, &best))
			best = try;
	}
	return best;
}

/* Is a mode known wherever the other one is? Else its mean is of other I/Os. */
static bool covers(const struct learn_setting *settings,
		   const struct learn_setting *other)
{
	bool any = false;

	for (unsigned d = 0; d < 2; d++) {
		if (isnan(settings[d].cost) && !isnan(other[d].cost))
			return false;
		any = any || !isnan(settings[d].cost);
	}
	return any;
}

/* The directions alike: each known one counts as much. */
static struct learn_setting both(const struct learn_setting *settings)
{
	struct learn_setting sum = {.cost = 0.0, .beyond = 0.0};
	unsigned nr = 0;

	for (unsigned d = 0; d < 2; d++) {
		if (isnan(settings[d].cost))
			continue;
		sum.cost += settings[d].cost;
		sum.beyond += settings[d].beyond;
		nr++;
	}
	sum.cost = nr ? sum.cost / nr : NAN;
	return sum;
}

static void set_queues(struct cp_device *device, const struct learn_setting *settings)
{
	const struct cp_arm *arm = settings[0].thresh ? settings[0].dma : settings[1].dma;

	snprintf(device->completion, sizeof(device->completion), "%s",
		 arm && *arm->completion ? arm->completion : "poll");
	device->queue_depth =
		arm && arm->queue_depth ? arm->queue_depth : CP_QUEUE_DEPTH_DEFAULT;
	device->q_per_node =
		arm && arm->q_per_node ? arm->q_per_node : CP_Q_PER_NODE_DEFAULT;
	device->dma_thresh_read = settings[0].thresh;
	device->dma_thresh_write = settings[1].thresh;
}

static void set_regret(struct cp_device *device, const struct learn_setting *settings,
		       double cost)
{
	if (!isnan(cost) && settings[0].table_known && settings[1].table_known)
		device->regret_pct = round(1000.0 * fmax(0.0, expm1(cost))) / 10.0;
}

static void page_device(struct cp_learn *learn, struct cp_policy *policy,
			struct learn_setting *settings)
{
	struct cp_device *device = &policy->device;

	for (unsigned d = 0; d < 2; d++)
		settings[d] = best_setting(learn, policy, d ? CP_DIR_WRITE : CP_DIR_READ,
					   "page");
	set_regret(device, settings, both(settings).cost);
	snprintf(device->queue_mode, sizeof(device->queue_mode), "page");
	/* without DMA a page is copied inside submit: no queues, completion sync */
	if (settings[0].thresh || settings[1].thresh)
		set_queues(device, settings);
}

void learn_device(struct cp_learn *learn, struct cp_policy *policy, bool page,
		  struct learn_setting *settings)
{
	struct cp_device *device = &policy->device;
	struct learn_setting bio[2], mq[2];

	if (page) {
		page_device(learn, policy, settings);
		return;
	}
	for (unsigned d = 0; d < 2; d++) {
		enum cp_dir dir = d ? CP_DIR_WRITE : CP_DIR_READ;

		bio[d] = best_setting(learn, policy, dir, "bio");
		mq[d] = best_setting(learn, policy, dir, "mq");
	}
	struct learn_setting all_bio = both(bio), all_mq = both(mq), keep = all_bio;

	if (!covers(bio, mq))
		all_bio.cost = keep.cost = NAN;
	keep.cost -= KEEP_BIO;
	bool offload = mq[0].thresh || mq[1].thresh;
	bool use_mq = offload && better(&all_mq, &keep);

	/* of the mode that is set */
	set_regret(device, use_mq ? mq : bio, use_mq ? all_mq.cost : all_bio.cost);
	memcpy(settings, use_mq || isnan(all_bio.cost) ? mq : bio, sizeof(bio));
	if (isnan(all_bio.cost) && !isnan(all_mq.cost))
		learn_note(learn,
			   "bio was not measured wherever mq was, so the device's "
			   "queue_mode was not compared with it%s",
			   use_mq ? ""
				  : "; it is bio because no single threshold pays in "
				    "mq, and what bio costs is not known");
	if (!use_mq)
		return; /* bio, as cp_policy_init() left it */
	snprintf(device->queue_mode, sizeof(device->queue_mode), "mq");
	set_queues(device, mq);
}

/* How two settings compare at the points where both are known. */
struct match {
	double total; /* ln J of page, less the other's */
	unsigned nr, missing, beyond_page, beyond_other;
};

/* Against all arms of a point, of whatever mode: decide.c knows those of one. */
static bool breaks_limit(const struct cp_objective *objective,
			 const struct learn_row *row, int curve, unsigned g)
{
	double fastest = INFINITY, mine;
	bool slo = !isnan(objective->slo_p99_ns) && !(objective->tail > 0.0);

	for (unsigned c = 0; c < row->nr_curves; c++)
		fastest = fmin(fastest, row->ln_elapsed[(size_t)c * row->nr_grid + g]);
	mine = row->ln_elapsed[(size_t)curve * row->nr_grid + g];
	if (!isnan(objective->min_bw_frac) &&
	    mine - fastest > -log(objective->min_bw_frac))
		return true;
	return slo &&
	       row->ln_p99[(size_t)curve * row->nr_grid + g] > log(objective->slo_p99_ns);
}

static void match_row(const struct cp_objective *objective, const struct learn_row *row,
		      const struct learn_setting *other, const struct learn_setting *page,
		      struct match *match)
{
	for (unsigned g = 0; g < row->nr_grid; g++) {
		const struct learn_setting *const settings[] = {other, page};
		double mean[2] = {NAN, NAN};
		int curve[2];

		for (unsigned k = 0; k < 2; k++) {
			bool dma = settings[k]->thresh &&
				   row->grid[g] >= settings[k]->thresh;

			curve[k] =
				curve_of(row, dma ? settings[k]->dma : settings[k]->cpu);
			if (curve[k] >= 0)
				mean[k] = row->mean[(size_t)curve[k] * row->nr_grid + g];
		}
		if (isnan(mean[0]))
			continue;
		if (isnan(mean[1])) {
			match->missing++;
			continue;
		}
		match->total += mean[1] - mean[0];
		match->nr++;
		match->beyond_other += breaks_limit(objective, row, curve[0], g);
		match->beyond_page += breaks_limit(objective, row, curve[1], g);
	}
}

bool learn_page_pays(struct cp_learn *learn, const struct learn_setting *other,
		     const struct learn_setting *page, const char *mode)
{
	struct match match = {.nr = 0};

	for (size_t r = 0; r < learn->nr_rows; r++) {
		const struct learn_row *row = &learn->rows[r];
		unsigned d = cp_context_dir(&row->key) == CP_DIR_READ ? 0 : 1;

		match_row(&learn->objective, row, &other[d], &page[d], &match);
	}
	if (!match.nr || match.missing) {
		learn_note(learn,
			   "page was not measured wherever %s was, so the device's "
			   "queue_mode was not compared with it",
			   mode);
		return false;
	}
	double mean = match.total / match.nr;
	bool pays = match.beyond_page != match.beyond_other
			    ? match.beyond_page < match.beyond_other
			    : mean < -KEEP_BIO;

	learn_note(learn,
		   "queue_mode page costs %.1f %% %s than %s over the same I/Os%s; the "
		   "device and its rules are %s's",
		   100.0 * fabs(expm1(mean)), mean < 0.0 ? "less" : "more", mode,
		   match.beyond_page > match.beyond_other ? ", and breaks a hard limit"
		   : match.beyond_page < match.beyond_other
			   ? ", which breaks a hard limit"
			   : "",
		   pays ? "page" : mode);
	return pays;
}
