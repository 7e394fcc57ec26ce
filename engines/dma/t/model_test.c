// SPDX-License-Identifier: GPL-2.0-only
/* The model engine's arithmetic, on a clock that stands still unless told. */
#include "engines/dma/t/rig.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/dma/model_priv.h"

#define US 1000U

static uint64_t fake_ns;
static uint64_t (*real_now)(void);

static uint64_t fake_now(void)
{
	return fake_ns;
}

static int fake_clock(void **state)
{
	(void)state;
	real_now = cp_model_now;
	cp_model_now = fake_now;
	fake_ns = 1000000 * US;
	return 0;
}

static int real_clock(void **state)
{
	(void)state;
	cp_model_now = real_now;
	return 0;
}

/* Nothing is touched without data=yes, so any address will do. */
static unsigned char far[1], near[1];

static void hand_in(struct rig *rig, uint64_t bytes, unsigned nr_sg, unsigned flags,
		    void *user)
{
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];

	for (unsigned i = 0; i < nr_sg; i++)
		sg[i] = (struct cp_dma_sg){.addr = near, .len = bytes / nr_sg};
	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, CP_DIR_READ, far, sg, nr_sg,
						  flags, user),
			 0);
	assert_true(rig->ops->submit(rig->chan) > 0);
}

/* To the moment of the channel's next completion, which is reaped. */
static void next_done(struct rig *rig, struct cp_dma_completion *done)
{
	while (!rig->ops->reap(rig->chan, done, 1)) {
		uint64_t look_ns = model_next_look(rig->chan);

		assert_true(look_ns != MODEL_NEVER && look_ns > fake_ns);
		fake_ns = look_ns;
	}
	assert_int_equal(done->result, CP_DMA_OK);
	assert_int_equal(done->residue, 0);
}

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

/* Description: channels of one device share `total`, first come, first served; a channel
 * of other settings does not. */
static void total_is_shared(void **state)
{
	const uint64_t mib = 1U << 20;
	const unsigned path_us = 1000000 / 1024; /* 1 MiB at 1g, in whole us */
	struct rig a = rig_open("model:setup=10us,total=1g", 8, false);
	struct rig b = rig_open("model:setup=10us,total=1g", 8, false);
	struct rig c = rig_open("model:setup=11us,total=1g", 8, false);
	struct cp_dma_completion done;
	uint64_t start_ns = fake_ns;

	(void)state;
	hand_in(&a, mib, 1, 0, NULL);
	hand_in(&a, mib, 1, 0, NULL);
	a.ops->issue_pending(a.chan);
	fake_ns += US;
	hand_in(&b, mib, 1, 0, NULL);
	b.ops->issue_pending(b.chan);
	hand_in(&c, mib, 1, 0, NULL);
	c.ops->issue_pending(c.chan);
	next_done(&a, &done);
	assert_int_equal((fake_ns - start_ns) / US, 10 + path_us);
	next_done(&c, &done);
	assert_int_equal((fake_ns - start_ns) / US, 12 + path_us);
	/* before the second of a, whose setup began only when the first was done */
	next_done(&b, &done);
	assert_int_equal((fake_ns - start_ns) / US, 10 + 2 * mib * 1000000 / (1 << 30));
	next_done(&a, &done);
	assert_int_equal((fake_ns - start_ns) / US, 10 + 3 * mib * 1000000 / (1 << 30));
	rig_close(&a);
	rig_close(&b);
	rig_close(&c);
	/* a new device: nobody is on its path */
	a = rig_open("model:setup=10us,total=1g", 8, false);
	start_ns = fake_ns;
	hand_in(&a, mib, 1, 0, NULL);
	a.ops->issue_pending(a.chan);
	next_done(&a, &done);
	assert_int_equal((fake_ns - start_ns) / US, 10 + path_us);
	rig_close(&a);
}

/* Description: jitter moves setups within its bounds and around their mean, the same with
 * the same seed, otherwise with another, and otherwise in each channel. */
static void jitter_is_seeded(void **state)
{
	static const char *const specs[] = {"model:jitter=25%,seed=1",
					    "model:jitter=5us,seed=1",
					    "model:jitter=25%,seed=2"};
	enum { RUNS = 2000 };
	static uint64_t took_ns[4][RUNS];

	(void)state;
	for (size_t s = 0; s < 4; s++) {
		struct rig first = rig_open(specs[s % 3], 8, false);
		struct rig second = rig_open(specs[s % 3], 8, false);
		struct rig *rig = s == 3 ? &second : &first;
		uint64_t sum_ns = 0;

		for (unsigned i = 0; i < RUNS; i++) {
			struct cp_dma_completion done;
			uint64_t start_ns = fake_ns;

			hand_in(rig, 1, 1, 0, NULL);
			rig->ops->issue_pending(rig->chan);
			next_done(rig, &done);
			took_ns[s][i] = fake_ns - start_ns;
			assert_in_range(took_ns[s][i], 15 * US, 25 * US);
			sum_ns += took_ns[s][i];
		}
		/* four standard deviations of the mean of RUNS even values */
		assert_in_range(sum_ns / RUNS, 20 * US - 260, 20 * US + 260);
		rig_close(&first);
		rig_close(&second);
	}
	assert_memory_equal(took_ns[0], took_ns[1], sizeof(took_ns[0]));
	assert_memory_not_equal(took_ns[0], took_ns[2], sizeof(took_ns[0]));
	assert_memory_not_equal(took_ns[0], took_ns[3], sizeof(took_ns[0]));
}

/* Description: a fenced transaction begins when all before it are done, and is reaped
 * behind them also where nothing takes any time. */
static void fence_waits(void **state)
{
	struct rig rig = rig_open("model:setup=10us,channels=4", 8, false);
	struct cp_dma_completion done[4];
	uint64_t start_ns = fake_ns;
	int marker;

	(void)state;
	hand_in(&rig, 1, 1, 0, NULL);
	hand_in(&rig, 1, 1, 0, NULL);
	hand_in(&rig, 1, 1, CP_DMA_FENCE, &marker);
	rig.ops->issue_pending(rig.chan);
	next_done(&rig, &done[0]);
	next_done(&rig, &done[1]);
	assert_int_equal(fake_ns - start_ns, 10 * US);
	next_done(&rig, &done[2]);
	assert_ptr_equal(done[2].user, &marker);
	assert_int_equal(fake_ns - start_ns, 20 * US);
	rig_close(&rig);
	rig = rig_open("model:setup=0,channels=4", 8, false);
	for (unsigned i = 0; i < 4; i++)
		hand_in(&rig, 1, 1, i % 2 ? CP_DMA_FENCE : 0, NULL);
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(rig.ops->reap(rig.chan, done, 4), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(done[i].cookie, i + 1);
	rig_close(&rig);
}

/* Description: with several channels a short transaction passes a long one. */
static void short_ones_pass(void **state)
{
	struct rig rig = rig_open("model:setup=1us,bw=1g,channels=2", 8, false);
	struct cp_dma_completion done;
	int longer, shorter;

	(void)state;
	hand_in(&rig, 1U << 20, 1, 0, &longer);
	hand_in(&rig, 1U << 10, 1, 0, &shorter);
	rig.ops->issue_pending(rig.chan);
	next_done(&rig, &done);
	assert_ptr_equal(done.user, &shorter);
	next_done(&rig, &done);
	assert_ptr_equal(done.user, &longer);
	rig_close(&rig);
}

/* Description: the interrupt latency is added to what asked for an interrupt, on a
 * channel that has them. */
static void irq_is_added(void **state)
{
	static const struct {
		bool irq;
		unsigned flags, us;
	} cases[] = {{false, 0, 20},
		     {false, CP_DMA_INTERRUPT, 20},
		     {true, 0, 20},
		     {true, CP_DMA_INTERRUPT, 25}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_open("model:irq=5us", 8, cases[i].irq);
		struct cp_dma_completion done;
		uint64_t start_ns = fake_ns;

		hand_in(&rig, 1, 1, cases[i].flags, NULL);
		rig.ops->issue_pending(rig.chan);
		next_done(&rig, &done);
		assert_int_equal(fake_ns - start_ns, cases[i].us * US);
		rig_close(&rig);
	}
}

/* Description: traits, what describe() says and the bytes agree: nothing moves, unless
 * data=yes, and then not before the reap. Either way it is modelled. */
static void data_moves_when_asked(void **state)
{
	static const struct {
		const char *spec, *name;
		bool moves;
	} cases[] = {{"model", "model", false},
		     {"model:data=no", "model", false},
		     {"model:data=yes", "model/data", true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_open(cases[i].spec, 8, false);
		unsigned char from[3] = {1, 2, 3}, to[5] = {9, 9, 9, 9, 9};
		struct cp_dma_completion done;

		assert_string_equal(rig.traits.provenance, "modelled");
		assert_int_equal(rig.traits.moves_data, cases[i].moves);
		assert_string_equal(rig.ops->describe(rig.chan), cases[i].name);
		rig_submit(&rig, CP_DIR_WRITE, to + 1, from, 3, 0, NULL);
		rig.ops->issue_pending(rig.chan);
		fake_ns += 19 * US;
		assert_int_equal(rig.ops->reap(rig.chan, &done, 1), 0);
		fake_ns += US;
		assert_memory_equal(to, "\x9\x9\x9\x9\x9", 5);
		assert_int_equal(rig.ops->reap(rig.chan, &done, 1), 1);
		assert_memory_equal(
			to, cases[i].moves ? "\x9\x1\x2\x3\x9" : "\x9\x9\x9\x9\x9", 5);
		rig_close(&rig);
	}
}

/* Description: with one eventfd for two channels, a completion of either wakes whoever
 * waits on the other; that takes a thread, whose CPU time is counted. A channel alone
 * needs none. */
static void one_eventfd_for_two(void **state)
{
	struct cp_dma_cfg cfg = {.spec = "model",
				 .ring = 8,
				 .node = -1,
				 .cpu = -1,
				 .irq = true,
				 .event_fd = eventfd(0, EFD_NONBLOCK)};
	struct cp_err err = {0};
	struct rig a = {.ops = cp_dma_find("model", &err)}, b = a;
	struct rig alone = rig_open("model", 8, true);
	struct cp_dma_completion done;

	(void)state;
	assert_true(cfg.event_fd > 0);
	assert_int_equal(a.ops->open(&cfg, &a.chan, &err), 0);
	assert_int_equal(b.ops->open(&cfg, &b.chan, &err), 0);
	for (unsigned i = 0; i < 20; i++) {
		struct rig *busy = i % 2 ? &a : &b, *idle = i % 2 ? &b : &a;

		hand_in(busy, 1, 1, CP_DMA_INTERRUPT, NULL);
		busy->ops->issue_pending(busy->chan);
		do {
			assert_int_equal(idle->ops->wait(idle->chan, RIG_HANG_NS), 0);
		} while (!busy->ops->reap(busy->chan, &done, 1));
		hand_in(&alone, 1, 1, CP_DMA_INTERRUPT, NULL);
		alone.ops->issue_pending(alone.chan);
		do {
			assert_int_equal(alone.ops->wait(alone.chan, RIG_HANG_NS), 0);
		} while (!alone.ops->reap(alone.chan, &done, 1));
	}
	assert_true(a.ops->cpu_ns(a.chan) > 0 && b.ops->cpu_ns(b.chan) > 0);
	assert_int_equal(alone.ops->cpu_ns(alone.chan), 0);
	rig_close(&a);
	rig_close(&b);
	rig_close(&alone);
	close(cfg.event_fd);
}

enum { THREAD_RUNS = 2000 };

static void *drive(void *arg)
{
	struct rig *rig = arg;
	struct cp_dma_completion done[4];

	for (unsigned ended = 0; ended < THREAD_RUNS;) {
		for (unsigned i = 0; i < 4; i++)
			hand_in(rig, 4096, 1, CP_DMA_INTERRUPT, NULL);
		rig->ops->issue_pending(rig->chan);
		rig_reap(rig, done, 4);
		ended += 4;
	}
	return NULL;
}

static atomic_bool waiting;

static void *wait_on(void *arg)
{
	struct rig *rig = arg;

	while (atomic_load(&waiting))
		rig->ops->wait(rig->chan, 100000);
	return NULL;
}

/* Description: channels of one device work in a thread each, and anybody may wait beside.
 */
static void threads_share_a_device(void **state)
{
	static const char spec[] = "model:setup=1us,total=8g,irq=1us,channels=2";
	struct rig rigs[2] = {rig_open(spec, 8, true), rig_open(spec, 8, true)};
	pthread_t drivers[2], waiter;

	(void)state;
	atomic_store(&waiting, true);
	assert_int_equal(pthread_create(&waiter, NULL, wait_on, &rigs[0]), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&drivers[i], NULL, drive, &rigs[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(drivers[i], NULL);
	atomic_store(&waiting, false);
	pthread_join(waiter, NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct cp_dma_completion done;

		assert_int_equal(rigs[i].ops->reap(rigs[i].chan, &done, 1), 0);
		assert_int_equal(rigs[i].ops->space(rigs[i].chan), 8);
		rig_close(&rigs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(closed_form_by_hand),
		cmocka_unit_test_setup_teardown(loops_meet_the_closed_form, fake_clock,
						real_clock),
		cmocka_unit_test_setup_teardown(total_is_shared, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(jitter_is_seeded, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(fence_waits, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(short_ones_pass, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(irq_is_added, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(data_moves_when_asked, fake_clock,
						real_clock),
		cmocka_unit_test(one_eventfd_for_two),
		cmocka_unit_test(threads_share_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
