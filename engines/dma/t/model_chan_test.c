// SPDX-License-Identifier: GPL-2.0-only
/* What channels of the model engine do beside each other, and to whom waits for them. */
#include "engines/dma/t/model_rig.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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
		assert_false(rig.traits.threads);
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

/* Description: close ends the thread that passes interrupts on, also when it is about to
 * set its timer anew. */
static void close_ends_the_thread(void **state)
{
	struct cp_dma_cfg cfg = {.spec = "model:setup=40us",
				 .ring = 8,
				 .node = -1,
				 .cpu = -1,
				 .irq = true,
				 .event_fd = eventfd(0, EFD_NONBLOCK)};
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find("model", &err)};
	struct cp_dma_completion done;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
		hand_in(&rig, 1, 1, CP_DMA_INTERRUPT, NULL);
		rig.ops->issue_pending(rig.chan);
		/* as its timer fires there is nothing left to look for */
		while (!rig.ops->reap(rig.chan, &done, 1))
			cp_cpu_relax();
		rig_close(&rig);
	}
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
		cmocka_unit_test_setup_teardown(total_is_shared, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(jitter_is_seeded, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(fence_waits, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(short_ones_pass, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(irq_is_added, fake_clock, real_clock),
		cmocka_unit_test_setup_teardown(data_moves_when_asked, fake_clock,
						real_clock),
		cmocka_unit_test(one_eventfd_for_two),
		cmocka_unit_test(close_ends_the_thread),
		cmocka_unit_test(threads_share_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
