// SPDX-License-Identifier: GPL-2.0-only
/* The model engine's settings, and its arithmetic beside the closed form. */
#include "engines/dma/t/model_rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Description: settings are read in the units of the suite, with the defaults of the
 * documentation. */
static void settings_are_read(void **state)
{
	struct cp_model_settings set;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_model_settings_read("model", &set, &err), 0);
	assert_int_equal(set.setup_ns, 20000);
	assert_int_equal(set.lanes, 1);
	assert_true(!set.desc_ns && !set.bw && !set.total && !set.irq_ns);
	assert_true(!set.jitter_ns && !set.ring && !set.overlap && !set.data);
	assert_int_equal(
		cp_model_settings_read("model:setup=1ms,desc=70ns,bw=2g,total=24g,irq=3us"
				       ",jitter=25%,seed=7,overlap=yes,channels=8"
				       ",ring=64,data=yes",
				       &set, &err),
		0);
	assert_int_equal(set.setup_ns, 1000000);
	assert_int_equal(set.desc_ns, 70);
	assert_int_equal(set.bw, 2ULL << 30);
	assert_int_equal(set.total, 24ULL << 30);
	assert_int_equal(set.irq_ns, 3000);
	assert_int_equal(set.jitter_ns, 250000);
	assert_int_equal(set.seed, 7);
	assert_int_equal(set.lanes, 8);
	assert_int_equal(set.ring, 64);
	assert_true(set.overlap && set.data);
	assert_int_equal(cp_model_settings_read("model:jitter=5us", &set, &err), 0);
	assert_int_equal(set.jitter_ns, 5000);
}

/* Description: wrong settings are refused by check() and open() alike, naming them. */
static void wrong_settings_are_refused(void **state)
{
	static const struct {
		const char *spec, *error;
	} cases[] = {
		{"model:setup=20", "setup '20'"},
		{"model:setup=1h", "setup '1h' is out of range"},
		{"model:setup=-1us", "setup"},
		{"model:desc=x", "desc 'x'"},
		{"model:bw=fast", "bw 'fast' is not a size"},
		{"model:bw=100", "bw '100' is too slow; expected bytes a second"},
		{"model:total=1023", "total '1023' is too slow"},
		{"model:jitter=101%", "jitter '101%' is no share"},
		{"model:jitter=%", "jitter '%'"},
		{"model:jitter=21us", "jitter '21us' is above setup"},
		{"model:overlap=1", "overlap '1' is neither; expected yes or no"},
		{"model:data=maybe", "data 'maybe'"},
		{"model:channels=0", "channels '0'"},
		{"model:channels=65", "expected 1 to 64"},
		{"model:ring=3", "ring '3' is not a power of two; expected '4'"},
		{"model:ring=1", "ring"},
		{"model:delay=1us", "'delay'"},
		{"model:seed=x", "seed 'x'"},
	};
	struct cp_err err = {0};
	const struct cp_dma_ops *ops = cp_dma_find("model", &err);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {.spec = cases[i].spec, .node = -1, .cpu = -1};
		struct cp_dma_chan *chan = NULL;

		assert_true(ops->check(cases[i].spec, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
	}
}

/* Description: the closed form, against figures worked out by hand. */
static void closed_form_by_hand(void **state)
{
	static const struct {
		const char *spec;
		struct cp_model_load load;
		double latency_us;
	} cases[] = {
		/* bw 1024m: 1 MiB takes 976.5625 us */
		{"model", {4096, 1, 1, false}, 20},
		{"model", {4096, 1, 16, false}, 320},
		{"model:channels=8", {4096, 1, 4, false}, 20},
		{"model:channels=8", {4096, 1, 64, false}, 160},
		{"model:desc=1us", {4096, 10, 1, false}, 30},
		{"model:bw=1g", {1U << 20, 1, 1, false}, 20 + 976.562},
		{"model:bw=1g", {1U << 20, 1, 2, false}, 2 * (20 + 976.562)},
		{"model:bw=1g,overlap=yes", {1U << 20, 1, 1, false}, 20 + 976.562},
		{"model:bw=1g,overlap=yes", {1U << 20, 1, 2, false}, 2 * 976.562},
		{"model:bw=1g,total=512m", {1U << 20, 1, 1, false}, 20 + 1953.125},
		{"model:bw=1g,total=2g,channels=8", {1U << 20, 1, 8, false}, 8 * 488.281},
		{"model:irq=7us", {4096, 1, 1, false}, 20},
		{"model:irq=7us", {4096, 1, 1, true}, 27},
		{"model:irq=7us", {4096, 1, 2, true}, 40},
		/* 512 segments are four transactions */
		{"model", {2U << 20, 512, 1, false}, 80},
		{"model:channels=4", {2U << 20, 512, 1, false}, 20},
		{"model:channels=3", {2U << 20, 512, 1, false}, 40},
		{"model:bw=1g,overlap=yes", {1U << 20, 256, 1, false}, 20 + 976.562},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_model_settings set;
		struct cp_model_answer answer;
		struct cp_err err = {0};

		assert_int_equal(cp_model_settings_read(cases[i].spec, &set, &err), 0);
		cp_model_closed_form(&set, &cases[i].load, &answer);
		if (fabs(answer.latency_ns / 1000 - cases[i].latency_us) > 0.002)
			fail_msg("%s, %zu: %g us, expected %g", cases[i].spec, i,
				 answer.latency_ns / 1000, cases[i].latency_us);
		double bytes = (double)cases[i].load.bytes * cases[i].load.iodepth;

		assert_true(fabs(answer.bw_bytes_per_s * answer.latency_ns / 1e9 / bytes -
				 1) < 1e-9);
	}
}

#define DEPTH_MAX 64U

struct flight {
	uint64_t start_ns;
	unsigned parts; /* not yet done */
};

static void flight_start(struct rig *rig, struct flight *flight, uint64_t bytes,
			 unsigned segments)
{
	unsigned parts = (segments + CP_DMA_SEGMENTS_MAX - 1) / CP_DMA_SEGMENTS_MAX;

	flight->start_ns = fake_ns;
	flight->parts = parts;
	for (unsigned i = 0; i < parts; i++)
		hand_in(rig, bytes / parts, segments / parts, CP_DMA_INTERRUPT, flight);
	rig->ops->issue_pending(rig->chan);
}

/* Keep iodepth I/Os in flight; after a warm-up, mean latency and bytes a second. */
static void closed_loop(struct rig *rig, const struct cp_model_load *load,
			struct cp_model_answer *ret)
{
	struct flight flights[DEPTH_MAX];
	const unsigned warm_up = 4 * load->iodepth, counted = 8 * load->iodepth;
	uint64_t sum_ns = 0, start_ns = 0;
	struct cp_dma_completion done;

	for (unsigned i = 0; i < load->iodepth; i++)
		flight_start(rig, &flights[i], load->bytes, load->segments);
	for (unsigned ended = 0; ended < warm_up + counted;) {
		next_done(rig, &done);
		struct flight *flight = done.user;

		if (--flight->parts)
			continue;
		if (++ended == warm_up)
			start_ns = fake_ns;
		if (ended > warm_up)
			sum_ns += fake_ns - flight->start_ns;
		flight_start(rig, flight, load->bytes, load->segments);
	}
	ret->latency_ns = (double)sum_ns / counted;
	ret->bw_bytes_per_s =
		(double)load->bytes * counted * 1e9 / (double)(fake_ns - start_ns);
}

static unsigned loop_check(const char *spec, uint64_t bytes, unsigned segments,
			   unsigned iodepth, bool irq)
{
	const struct cp_model_load load = {bytes, segments, iodepth, irq};
	struct cp_model_settings set;
	struct cp_model_answer form, loop;
	struct cp_err err = {0};
	struct rig rig = rig_open(spec, 512, irq);

	assert_int_equal(cp_model_settings_read(spec, &set, &err), 0);
	cp_model_closed_form(&set, &load, &form);
	closed_loop(&rig, &load, &loop);
	rig_close(&rig);
	double latency = loop.latency_ns / form.latency_ns;
	double bw = loop.bw_bytes_per_s / form.bw_bytes_per_s;

	if (fabs(latency - 1) > 1e-3 || fabs(bw - 1) > 1e-3)
		fail_msg("%s bs %llu segments %u iodepth %u: latency %.4f, bandwidth "
			 "%.4f of the closed form",
			 spec, (unsigned long long)bytes, segments, iodepth, latency, bw);
	return 1;
}

/* Description: in a closed loop the engine's virtual times are the closed form's, over
 * sizes, depths, channels, segments, overlap, shared bandwidth and interrupts. */
static void loops_meet_the_closed_form(void **state)
{
	static const char *const specs[] = {
		"",
		",bw=2g",
		",bw=2g,desc=300ns",
		",bw=2g,overlap=yes",
		",bw=2g,total=5g",
		",bw=2g,total=5g,overlap=yes",
		",total=3g",
		",bw=1g,irq=15us",
	};
	static const struct {
		uint64_t bytes;
		unsigned segments;
	} sizes[] = {
		{4096, 1}, {65536, 16}, {262144, 1}, {2U << 20, 128}, {2U << 20, 512}};
	unsigned nr = 0;

	(void)state;
	for (size_t s = 0; s < sizeof(specs) / sizeof(specs[0]); s++)
		for (unsigned lanes = 1; lanes <= 8; lanes *= 2)
			for (size_t b = 0; b < sizeof(sizes) / sizeof(sizes[0]); b++)
				for (unsigned d = 1; d <= DEPTH_MAX; d *= 4) {
					char spec[64];

					snprintf(spec, sizeof(spec),
						 "model:channels=%u%s", lanes, specs[s]);
					nr += loop_check(spec, sizes[b].bytes,
							 sizes[b].segments, d, s == 7);
				}
	assert_int_equal(nr, 8 * 4 * 5 * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(closed_form_by_hand),
		cmocka_unit_test_setup_teardown(loops_meet_the_closed_form, fake_clock,
						real_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
