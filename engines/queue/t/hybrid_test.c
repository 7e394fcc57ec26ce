/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion hybrid: what it learns, by a device and a clock of the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "engines/base/random.h"
#include "engines/queue/hybrid.h"

#define LOOK_NS 100U /* between two looks that find nothing */
#define US	1000U
#define MS	1000000U

/* A device, and a machine that wakes sleepers late. */
struct world {
	uint64_t takes_ns, jitter_ns; /* an I/O: takes +- jitter */
	uint64_t late_ns, late_jitter_ns;
	uint64_t taken_ns; /* one wake-up in eight is so much later: others run */
	uint64_t now_ns, random;
	bool interrupts; /* an I/O that is done earlier ends the sleep */
	enum cp_dir dir;
	uint64_t bytes;
};

struct tally {
	uint64_t ios, slept, overslept, polled_ns, latency_ns, device_ns;
};

static uint64_t spread(struct world *w, uint64_t mid, uint64_t by)
{
	return by ? mid - by + cp_random_xorshift(&w->random) % (2 * by + 1) : mid;
}

static void one_io(struct cp_hybrid *h, struct world *w, struct tally *t)
{
	uint64_t start = w->now_ns, takes = spread(w, w->takes_ns, w->jitter_ns);
	uint64_t done = start + takes;
	bool slept = false, looked = true;

	cp_hybrid_begin(h, w, w->dir, w->bytes, start);
	while (w->now_ns < done) {
		uint64_t ask = cp_hybrid_ask(h, w->now_ns);

		looked = true;
		if (!ask) {
			w->now_ns += LOOK_NS;
			t->polled_ns += LOOK_NS;
			continue;
		}
		uint64_t until = w->now_ns + ask, end = until;

		if (w->interrupts && done < end)
			end = done;
		w->now_ns = end + spread(w, w->late_ns, w->late_jitter_ns);
		if (w->taken_ns && cp_random_xorshift(&w->random) % 8 == 0)
			w->now_ns += w->taken_ns;
		cp_hybrid_woke(h, until, w->now_ns);
		slept = true;
		looked = false;
	}
	cp_hybrid_done(h, w, w->now_ns, true);
	t->ios++;
	t->slept += slept;
	t->overslept += slept && !looked;
	t->latency_ns += w->now_ns - start;
	t->device_ns += takes;
	w->now_ns += 500;
}

static struct tally ios(struct cp_hybrid *h, struct world *w, unsigned n)
{
	struct tally t = {0};

	while (n--)
		one_io(h, w, &t);
	return t;
}

static struct world world(uint64_t takes_ns, uint64_t late_ns)
{
	return (struct world){.takes_ns = takes_ns,
			      .late_ns = late_ns,
			      .now_ns = 1,
			      .interrupts = true,
			      .random = CP_RANDOM_XORSHIFT_START,
			      .bytes = 4096};
}

static void open_hybrid(struct cp_hybrid *h)
{
	assert_int_equal(cp_hybrid_init(h, 16), 0);
}

/* Description: the first I/O of a bucket is polled: nothing is known of it. */
static void the_first_is_polled(void **state)
{
	struct world w = world(MS, 40 * US);
	struct cp_hybrid h;

	(void)state;
	open_hybrid(&h);
	assert_int_equal(ios(&h, &w, 1).slept, 0);
	assert_int_equal(ios(&h, &w, 1).slept, 1);
	w.dir = CP_DIR_WRITE;
	assert_int_equal(ios(&h, &w, 1).slept, 0);
	w.bytes = 65536;
	assert_int_equal(ios(&h, &w, 1).slept, 0);
	cp_hybrid_exit(&h);
}

/* Description: once it has learned it sleeps for most of the time, few sleeps are too
 * long, and I/Os are handed back hardly later than by polling; whether or not interrupts
 * end a sleep, with devices and wake-ups that vary. */
static void sleeps_end_just_before(void **state)
{
	static const struct {
		uint64_t takes, jitter, late, late_jitter;
		unsigned polled_pct, latency_pct, overslept_pct; /* at most */
	} cases[] = {
		{MS, 0, 40 * US, 0, 2, 101, 15},
		{MS, 0, 40 * US, 20 * US, 4, 101, 15},
		{MS, 50 * US, 40 * US, 20 * US, 8, 102, 15},
		{MS, 300 * US, 40 * US, 20 * US, 25, 103, 30},
		{200 * US, 0, 40 * US, 20 * US, 15, 102, 15},
		{20 * MS, MS, 60 * US, 50 * US, 8, 102, 20},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world(cases[i / 2].takes, cases[i / 2].late);
		struct cp_hybrid h;

		w.jitter_ns = cases[i / 2].jitter;
		w.late_jitter_ns = cases[i / 2].late_jitter;
		w.interrupts = i % 2;
		open_hybrid(&h);
		ios(&h, &w, 300);
		struct tally t = ios(&h, &w, 3000);

		assert_in_range(t.slept * 100 / t.ios, 90, 100);
		assert_in_range(t.polled_ns * 100 / t.device_ns, 0,
				cases[i / 2].polled_pct);
		assert_in_range(t.latency_ns * 100 / t.device_ns, 100,
				cases[i / 2].latency_pct);
		assert_in_range(t.overslept * 100 / t.ios, 0, cases[i / 2].overslept_pct);
		cp_hybrid_exit(&h);
	}
}

/* Description: a wait shorter than sleeps are late is polled, but for a try now and then;
 * so is one that is not worth a system call. */
static void short_waits_are_polled(void **state)
{
	static const struct {
		uint64_t takes, late;
	} cases[] = {{20 * US, 40 * US}, {50 * US, 300 * US}, {1500, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = world(cases[i].takes, cases[i].late);
		struct cp_hybrid h;

		open_hybrid(&h);
		ios(&h, &w, 50);
		assert_in_range(ios(&h, &w, 5000).slept, 0, 50);
		cp_hybrid_exit(&h);
	}
}

/* Description: a device that becomes faster or slower, and a machine that wakes sooner,
 * are followed. */
static void changes_are_followed(void **state)
{
	static const uint64_t takes[] = {MS, 300 * US, 2 * MS, 400 * US};
	struct world w = world(200 * US, 600 * US);
	struct cp_hybrid h;

	(void)state;
	open_hybrid(&h);
	ios(&h, &w, 500);
	assert_in_range(ios(&h, &w, 500).slept, 0, 25);
	w.late_ns = 40 * US;
	ios(&h, &w, 2000);
	assert_in_range(ios(&h, &w, 500).slept, 400, 500);
	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
		w.takes_ns = takes[i];
		ios(&h, &w, 400);
		struct tally t = ios(&h, &w, 500);

		assert_in_range(t.slept, 450, 500);
		assert_in_range(t.polled_ns * 100 / t.device_ns, 0, 10);
		assert_in_range(t.latency_ns * 100 / t.device_ns, 100, 103);
	}
	cp_hybrid_exit(&h);
}

/* Description: on a machine that takes the CPU away now and then, for far longer than an
 * I/O takes, it sleeps all the same. */
static void a_busy_machine_sleeps_too(void **state)
{
	struct world w = world(MS, 40 * US);
	struct cp_hybrid h;

	(void)state;
	w.late_jitter_ns = 20 * US;
	w.taken_ns = 4 * MS;
	open_hybrid(&h);
	ios(&h, &w, 500);
	struct tally t = ios(&h, &w, 5000);

	assert_in_range(t.slept * 100 / t.ios, 90, 100);
	assert_in_range(t.polled_ns * 100 / t.device_ns, 0, 40);
	cp_hybrid_exit(&h);
}

/* Description: directions and classes of sizes are learned apart. */
static void buckets_are_apart(void **state)
{
	struct world worlds[] = {world(100 * US, 10 * US), world(MS, 10 * US),
				 world(3 * MS, 10 * US)};
	struct cp_hybrid h;

	(void)state;
	worlds[1].dir = CP_DIR_WRITE;
	worlds[2].bytes = 1U << 20;
	open_hybrid(&h);
	for (unsigned i = 0; i < 900; i++) {
		struct tally t = {0};

		one_io(&h, &worlds[i % 3], &t);
	}
	/* 512 is class 0: 4k is 3, 1m is 11 */
	assert_in_range(h.buckets[CP_DIR_READ][3].expect_ns, 98 * US, 102 * US);
	assert_in_range(h.buckets[CP_DIR_WRITE][3].expect_ns, 980 * US, 1020 * US);
	assert_in_range(h.buckets[CP_DIR_READ][11].expect_ns, 2940 * US, 3060 * US);
	for (unsigned b = 0; b < 2 * CP_HYBRID_CLASSES; b++) {
		bool used = b == 3 || b == 11 || b == CP_HYBRID_CLASSES + 3;

		assert_int_equal(used,
				 h.buckets[b / CP_HYBRID_CLASSES][b % CP_HYBRID_CLASSES]
						 .expect_ns != 0);
	}
	cp_hybrid_exit(&h);
}

/* Description: the classes are powers of two, the last one takes all that is larger. */
static void classes_of_sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned class;
	} cases[] = {{1, 0},	{512, 0},	{513, 1},	{4096, 3},
		     {4097, 4}, {8U << 20, 14}, {1U << 30, 15}, {UINT64_MAX, 15}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cp_hybrid h;

		open_hybrid(&h);
		cp_hybrid_begin(&h, &h, CP_DIR_READ, cases[i].bytes, 10);
		cp_hybrid_done(&h, &h, 20, true);
		assert_int_equal(h.buckets[CP_DIR_READ][cases[i].class].expect_ns, 10);
		cp_hybrid_exit(&h);
	}
}

/* Description: one I/O that took very long moves what is expected by a sixty-fourth at
 * most, and one that an engine did not carry whole, not at all. */
static void odd_ones_do_not_count(void **state)
{
	struct world w = world(MS, 40 * US);
	struct cp_hybrid_bucket before, *bucket;
	struct cp_hybrid h;

	(void)state;
	open_hybrid(&h);
	ios(&h, &w, 300);
	bucket = &h.buckets[CP_DIR_READ][3];
	before = *bucket;
	cp_hybrid_begin(&h, &h, CP_DIR_READ, 4096, w.now_ns);
	cp_hybrid_ask(&h, w.now_ns);
	cp_hybrid_done(&h, &h, w.now_ns + 50 * MS, true);
	assert_in_range(bucket->expect_ns, before.expect_ns + 1,
			before.expect_ns + before.expect_ns / 64 + 1);
	before = *bucket;
	cp_hybrid_begin(&h, &h, CP_DIR_READ, 4096, w.now_ns);
	cp_hybrid_done(&h, &h, w.now_ns + 1, false);
	assert_memory_equal(&before, bucket, sizeof(before));
	cp_hybrid_exit(&h);
}

/* Description: with several in flight the oldest is waited for, whatever the order in
 * which they are done; what is not in flight is nobody's. */
static void the_oldest_is_waited_for(void **state)
{
	char io[4];
	struct cp_hybrid h;

	(void)state;
	open_hybrid(&h);
	/* all take 1 ms, and one is woken 100 us early */
	h.buckets[CP_DIR_READ][3] = (struct cp_hybrid_bucket){MS, 100 * US};
	for (unsigned round = 0; round < 40; round++) {
		uint64_t t = (round + 1) * 10ULL * MS;

		for (unsigned i = 0; i < 4; i++)
			cp_hybrid_begin(&h, &io[i], CP_DIR_READ, 4096, t + i * 100U * US);
		assert_int_equal(cp_hybrid_ask(&h, t + 300 * US), 600 * US);
		cp_hybrid_done(&h, &io[2], t + 300 * US, false);
		assert_int_equal(cp_hybrid_ask(&h, t + 300 * US), 600 * US);
		cp_hybrid_done(&h, &io[0], t + 300 * US, false);
		assert_int_equal(cp_hybrid_ask(&h, t + 300 * US), 700 * US);
		cp_hybrid_done(&h, &io[2], t + 300 * US, false);
		cp_hybrid_done(&h, &io[1], t + 300 * US, false);
		assert_int_equal(cp_hybrid_ask(&h, t + 300 * US), 900 * US);
		cp_hybrid_done(&h, &io[3], t + 300 * US, false);
		assert_int_equal(cp_hybrid_ask(&h, t + 300 * US), 0);
		assert_int_equal(h.nr, 0);
	}
	cp_hybrid_exit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_polled),
		cmocka_unit_test(sleeps_end_just_before),
		cmocka_unit_test(short_waits_are_polled),
		cmocka_unit_test(changes_are_followed),
		cmocka_unit_test(a_busy_machine_sleeps_too),
		cmocka_unit_test(buckets_are_apart),
		cmocka_unit_test(classes_of_sizes),
		cmocka_unit_test(odd_ones_do_not_count),
		cmocka_unit_test(the_oldest_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
