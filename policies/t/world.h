// SPDX-License-Identifier: GPL-2.0-only
/* Known truths for the learner's tests: curves with noise, and samples drawn from them.
 */
#ifndef CP_POLICIES_T_WORLD_H
#define CP_POLICIES_T_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "policies/learn.h"

static const uint64_t sizes[] = {4096, 16384, 65536, 262144, 1048576, 2097152};
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* One arm's truth: ns and CPU ns of one I/O of bs bytes. */
struct curve {
	const char *name, *queue_mode, *path, *copy;
	double alpha_ns, beta_ns; /* elapsed */
	double cpu_alpha_ns, cpu_beta_ns;
	double dip, dip_at; /* ln t is lower by dip around log2 bs dip_at */
};

struct world {
	const struct curve *curves;
	unsigned nr_curves, samples;
	double cv;
	double bursts; /* share of samples that take 30 % longer */
};

static inline double truth_ns(const struct curve *curve, double bs, bool cpu)
{
	double x = log2(bs) - curve->dip_at;
	double t = cpu ? curve->cpu_alpha_ns + curve->cpu_beta_ns * bs
		       : curve->alpha_ns + curve->beta_ns * bs;

	return t * exp(-curve->dip * exp(-x * x));
}

static inline void make_record(const struct curve *curve, uint64_t bs, uint32_t sample,
			       double noise, double cpu_noise, struct cp_record *record)
{
	double ns = truth_ns(curve, (double)bs, false) * noise;
	double cpu = truth_ns(curve, (double)bs, true) * cpu_noise;

	cp_record_init(record);
	snprintf(record->run, sizeof(record->run), "r");
	snprintf(record->host, sizeof(record->host), "h");
	record->sample = sample;
	snprintf(record->context.rw, sizeof(record->context.rw), "read");
	record->context.bs = bs;
	record->context.numjobs = record->context.iodepth = 1;
	record->context.segments = (uint32_t)(bs / 4096);
	snprintf(record->arm.name, sizeof(record->arm.name), "%s", curve->name);
	snprintf(record->arm.queue_mode, sizeof(record->arm.queue_mode), "%s",
		 curve->queue_mode);
	snprintf(record->arm.path, sizeof(record->arm.path), "%s", curve->path);
	snprintf(record->arm.copy, sizeof(record->arm.copy), "%s", curve->copy);
	snprintf(record->arm.completion, sizeof(record->arm.completion), "poll");
	bool dma = !strcmp(curve->path, "dma");

	snprintf(record->arm.dma, sizeof(record->arm.dma), "%s", dma ? "sw" : "none");
	snprintf(record->provenance.media, CP_WORD_MAX, "native");
	snprintf(record->provenance.attr, CP_WORD_MAX, "native");
	snprintf(record->provenance.dma, CP_WORD_MAX, "%s", dma ? "software" : "none");
	record->metrics[CP_METRIC_BYTES] = (double)bs * 1000.0;
	record->metrics[CP_METRIC_ELAPSED_NS] = ns * 1000.0;
	record->metrics[CP_METRIC_BW] = (double)bs / ns * 1e9;
	record->metrics[CP_METRIC_IOPS] = 1e9 / ns;
	record->metrics[CP_METRIC_CPU_NS] = cpu * 1000.0;
	record->metrics[CP_METRIC_CPU_PCT] = 100.0 * cpu / ns;
	record->metrics[CP_METRIC_LAT_P99] = ns * 2.0;
}

static inline struct cp_learn *new_learn(const char *objective)
{
	struct cp_objective obj;
	struct cp_learn *learn;
	struct cp_err err = {0};

	if (cp_objective_parse(objective, &obj, &err) || cp_learn_new(&obj, &learn, &err))
		fail_msg("%s", err.msg);
	return learn;
}

static inline void add(struct cp_learn *learn, const struct cp_record *record)
{
	struct cp_err err = {0};

	if (cp_learn_add(learn, record, &err))
		fail_msg("%s", err.msg);
}

static inline void feed(struct cp_learn *learn, const struct world *world, gsl_rng *rng)
{
	for (unsigned n = 0; n < world->samples; n++)
		for (unsigned c = 0; c < world->nr_curves; c++)
			for (size_t i = 0; i < NR_SIZES; i++) {
				struct cp_record record;
				double noise = exp(gsl_ran_gaussian(rng, world->cv));
				double cpu = exp(gsl_ran_gaussian(rng, world->cv));

				if (world->bursts > 0.0 &&
				    gsl_rng_uniform(rng) < world->bursts)
					noise *= 1.3;

				make_record(&world->curves[c], sizes[i], n, noise, cpu,
					    &record);
				add(learn, &record);
			}
}

static inline unsigned solve(struct cp_learn *learn, struct cp_policy *policy)
{
	struct cp_err err = {0};
	unsigned decided;

	if (cp_learn_solve(learn, policy, &decided, &err))
		fail_msg("%s", err.msg);
	return decided;
}

static const struct curve cpu = {"cpu", "mq", "cpu", "memcpy", 600,
				 0.10,	600,  0.10,  0,	       0};

#endif
