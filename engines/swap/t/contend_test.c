// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that store to the same pages while these are evicted: none of their stores is
 * lost, and that the test would see one is shown by taking the write protection out.
 */
#include "engines/swap/t/rig.h"

#include <pthread.h>

#include "engines/base/clock.h"
#include "engines/base/random.h"

#define PAGES	 256U
#define RESIDENT 200U
#define THREADS	 3U
#define GAP_NS	 20000U

struct mutator {
	struct rig *rig;
	pthread_t thread;
	unsigned id;
	uint64_t touches;
	_Atomic uint64_t *lost; /* of all */
	bool until_lost;
	uint64_t last[PAGES]; /* what it stored */
};

/* A word of its own in every page, each in a line of its own. */
static volatile uint64_t *own(const struct mutator *me, uint64_t page)
{
	return rig_word(me->rig, page, me->id * 8);
}

static void *mutate(void *arg)
{
	struct mutator *me = arg;
	uint64_t state = me->id + 1;

	for (uint64_t i = 0; i < me->touches; i++) {
		uint64_t page = cp_random_next(&state) % PAGES;
		uint64_t is = *own(me, page);

		if (is != me->last[page])
			atomic_fetch_add(me->lost, 1);
		me->last[page] = is + 1;
		*own(me, page) = is + 1;
		if (me->until_lost && atomic_load(me->lost))
			break;
	}
	return NULL;
}

/* Returns how many stores were missed. */
static uint64_t contend(const char *settings, uint64_t gap_ns, uint64_t touches,
			struct cp_swap_stats *ret_stats)
{
	static struct mutator mutators[THREADS];
	const struct cp_swap_cfg cfg = {.nr_pages = PAGES,
					.resident = RESIDENT,
					.batch = 4,
					.clean = gap_ns == 0,
					.cpu = -1,
					.unprotected_gap_ns = gap_ns};
	_Atomic uint64_t lost = 0;
	struct rig rig;

	memset(mutators, 0, sizeof(mutators));
	rig_open(&rig, settings, &cfg);
	for (unsigned i = 0; i < THREADS; i++) {
		struct mutator *me = &mutators[i];

		me->rig = &rig;
		me->id = i;
		me->touches = touches;
		me->lost = &lost;
		me->until_lost = gap_ns != 0;
		assert_int_equal(pthread_create(&me->thread, NULL, mutate, me), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(mutators[i].thread, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		for (uint64_t page = 0; page < PAGES; page++)
			if (*own(&mutators[i], page) != mutators[i].last[page])
				lost++;
	*ret_stats = rig_stats(&rig);
	rig_close(&rig);
	return lost;
}

/* Description: no store is lost to an eviction, whoever copies. */
static void no_store_is_lost(void **state)
{
	static const char *const arms[] = {
		"queue_mode=bio",
		"queue_mode=page",
		"queue_mode=mq path=dma dma=sw",
	};

	(void)state;
	need_uffd();
	for (size_t i = 0; i < sizeof(arms) / sizeof(arms[0]); i++) {
		struct cp_swap_stats stats;

		assert_int_equal(contend(arms[i], 0, 10000, &stats), 0);
		/* it was put to the test: pages went while they were wanted */
		assert_true(stats.page_outs > 1000);
	}
}

/* Description: without the write protection stores are lost, and this test sees it. */
static void without_protection_stores_are_lost(void **state)
{
	struct cp_swap_stats stats;

	(void)state;
	need_uffd();
	assert_true(contend("queue_mode=bio", GAP_NS, 1000000, &stats) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_store_is_lost),
		cmocka_unit_test(without_protection_stores_are_lost),
	};

	cp_clock_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
