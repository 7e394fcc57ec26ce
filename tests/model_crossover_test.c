// SPDX-License-Identifier: GPL-2.0-only
/* The learner on figures that the model engine's closed form gives: a known truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engines/dma/model.h"
#include "policies/learn.h"

/* One sample: the closed form's figure, off by `noise`. */
static void add(struct cp_learn *learn, const char *name, const char *spec, uint64_t bs,
		uint32_t iodepth, uint32_t sample, double noise)
{
	struct cp_model_load load = {.bytes = bs, .iodepth = iodepth};
	struct cp_model_settings settings;
	struct cp_model_answer answer;
	struct cp_record record;
	struct cp_err err = {0};

	load.segments = (uint32_t)((bs + 16383) / 16384);
	assert_int_equal(cp_model_settings_read(spec, &settings, &err), 0);
	cp_model_closed_form(&settings, &load, &answer);
	cp_record_init(&record);
	snprintf(record.run, sizeof(record.run), "r");
	snprintf(record.host, sizeof(record.host), "h");
	record.sample = sample;
	snprintf(record.context.rw, CP_WORD_MAX, "read");
	record.context.bs = bs;
	record.context.iodepth = iodepth;
	record.context.segments = load.segments;
	snprintf(record.arm.name, sizeof(record.arm.name), "%s", name);
	snprintf(record.arm.queue_mode, CP_WORD_MAX, "mq");
	snprintf(record.arm.path, CP_WORD_MAX, "dma");
	snprintf(record.arm.completion, CP_WORD_MAX, "poll");
	snprintf(record.arm.dma, sizeof(record.arm.dma), "%s", spec);
	snprintf(record.provenance.media, CP_WORD_MAX, "native");
	snprintf(record.provenance.attr, CP_WORD_MAX, "native");
	snprintf(record.provenance.dma, CP_WORD_MAX, "modelled");
	double seconds = noise * (double)bs * 1000 / answer.bw_bytes_per_s;

	record.metrics[CP_METRIC_BYTES] = (double)bs * 1000;
	record.metrics[CP_METRIC_ELAPSED_NS] = seconds * 1e9;
	record.metrics[CP_METRIC_CPU_NS] = seconds * 1e9; /* polls */
	record.metrics[CP_METRIC_BW] = answer.bw_bytes_per_s / noise;
	if (cp_learn_add(learn, &record, &err))
		fail_msg("%s", err.msg);
}

/* Description: the crossover that is learned from two devices at a few sizes is within
 * 10 % of the one that follows from their settings, at several depths. */
static void crossover_is_found(void **state)
{
	static const struct {
		const char *quick, *wide;
		uint32_t iodepth;
		double expected; /* bytes */
	} cases[] = {
		/* s1 + b / r1 = s2 + b / r2, whatever the depth on one channel */
		{"model:setup=20us,bw=2g", "model:setup=60us,bw=8g", 1, 114532},
		{"model:setup=20us,bw=2g", "model:setup=60us,bw=8g", 16, 114532},
		{"model:setup=20us,bw=1g", "model:setup=100us,bw=4g", 1, 114532},
		{"model:setup=50us,bw=4g", "model:setup=200us,bw=16g", 1, 858993},
		/* overlapped: the wide one's setup, the quick one's transfer */
		{"model:setup=20us,bw=2g,overlap=yes",
		 "model:setup=200us,bw=16g,overlap=yes", 16, 429497},
	};
	static const uint64_t sizes[] = {4096, 16384, 65536, 262144, 1048576, 2097152};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_objective objective;
		struct cp_policy policy;
		struct cp_learn *learn;
		struct cp_err err = {0};
		unsigned decided;
		double at = 0;

		assert_int_equal(cp_objective_parse("throughput", &objective, &err), 0);
		assert_int_equal(cp_learn_new(&objective, &learn, &err), 0);
		for (uint32_t n = 0; n < 5; n++)
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
				double noise = 1 + 0.002 * ((double)((n + i) % 5) - 2);

				add(learn, "quick", cases[c].quick, sizes[i],
				    cases[c].iodepth, n, noise);
				add(learn, "wide", cases[c].wide, sizes[i],
				    cases[c].iodepth, n, 2 - noise);
			}
		assert_int_equal(cp_learn_solve(learn, &policy, &decided, &err), 0);
		assert_true(decided >= 2);
		for (unsigned i = 0; i < policy.rules[0].nr_sizes && !at; i++)
			at = (double)policy.rules[0].sizes[i].crossover_at;
		if (at < 0.9 * cases[c].expected || at > 1.1 * cases[c].expected)
			fail_msg("case %zu: crossover at %.0f, expected %.0f", c, at,
				 cases[c].expected);
		cp_policy_free(&policy);
		cp_learn_free(learn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crossover_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
