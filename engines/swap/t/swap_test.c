// SPDX-License-Identifier: GPL-2.0-only
/* A pager by itself: what its pages hold, what it does for them, what errors do. */
#include "engines/swap/t/rig.h"

#include <unistd.h>

#include "engines/base/clock.h"

#define PAGES	 64U
#define RESIDENT 32U
#define WORDS	 (unsigned)(CP_SWAP_PAGE / sizeof(uint64_t))

static uint64_t value(uint64_t page, unsigned word)
{
	return page * 1000003 + word + 1;
}

static void write_page(struct rig *rig, uint64_t page)
{
	for (unsigned w = 0; w < WORDS; w++)
		*rig_word(rig, page, w) = value(page, w);
}

static void check_page(struct rig *rig, uint64_t page)
{
	for (unsigned w = 0; w < WORDS; w++)
		assert_int_equal(*rig_word(rig, page, w), value(page, w));
}

static const struct cp_swap_cfg usual = {
	.nr_pages = PAGES, .resident = RESIDENT, .batch = 8, .clean = true, .cpu = -1};

/* Description: pages keep their bytes across evictions, by every way of serving. */
static void pages_keep_their_bytes(void **state)
{
	static const char *const arms[] = {
		"queue_mode=bio path=cpu",
		"queue_mode=page path=cpu",
		"queue_mode=mq path=cpu",
		"queue_mode=mq path=dma dma=sw completion=poll",
		"queue_mode=mq path=dma dma=sw completion=irq",
		"queue_mode=mq path=dma dma=sw queue_depth=2",
		"queue_mode=mq path=dma dma=fault:sw,reorder=4,full=20%,seed=3",
	};

	(void)state;
	need_uffd();
	for (size_t i = 0; i < sizeof(arms) / sizeof(arms[0]); i++) {
		struct rig rig;

		rig_open(&rig, arms[i], &usual);
		for (uint64_t page = 0; page < PAGES; page++)
			write_page(&rig, page);
		for (unsigned round = 0; round < 3; round++)
			for (uint64_t page = 0; page < PAGES; page++)
				check_page(&rig, (page * 37 + round) % PAGES);
		rig_close(&rig);
	}
}

/* Description: a page that was never written reads as zeros, without an I/O, and again
 * after its eviction. */
static void fresh_pages_are_zeros(void **state)
{
	struct rig rig;

	(void)state;
	need_uffd();
	rig_open(&rig, "queue_mode=bio", &usual);
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t page = 0; page < PAGES; page++)
			for (unsigned w = 0; w < WORDS; w += 63)
				assert_int_equal(*rig_word(&rig, page, w), 0);
	struct cp_swap_stats stats = rig_stats(&rig);

	assert_int_equal(stats.page_ins, 0);
	assert_int_equal(stats.page_outs, 0);
	assert_int_equal(stats.zero_fills, 2 * PAGES);
	rig_close(&rig);
}

/* Description: never more than `resident` pages are in memory, evictions are `batch`
 * pages at a time, and clean pages go without a page-out unless all are to be written. */
static void evictions_are_counted(void **state)
{
	static const struct {
		bool clean;
		unsigned batch;
		uint64_t outs_after_write, outs_after_read;
	} cases[] = {
		/* 64 stores, 32 stay: 32 out; then 64 loads, of which the first 32 push
		 * out dirty ones and the rest clean ones */
		{true, 1, 32, 64},
		{true, 8, 32, 64},
		{false, 1, 32, 96},
		{false, 8, 32, 96},
	};

	(void)state;
	need_uffd();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_swap_cfg cfg = usual;
		struct rig rig;

		cfg.clean = cases[i].clean;
		cfg.batch = cases[i].batch;
		rig_open(&rig, "queue_mode=bio", &cfg);
		for (uint64_t page = 0; page < PAGES; page++)
			write_page(&rig, page);
		struct cp_swap_stats stats = rig_stats(&rig);

		assert_int_equal(stats.page_outs, cases[i].outs_after_write);
		for (uint64_t page = 0; page < PAGES; page++)
			check_page(&rig, page);
		stats = rig_stats(&rig);
		assert_int_equal(stats.page_ins, PAGES);
		assert_int_equal(stats.page_outs, cases[i].outs_after_read);
		assert_int_equal(stats.misses, 2 * PAGES);
		rig_close(&rig);
	}
}

/* Description: a store to a page that was read in is noticed, and is in the page the next
 * time it is paged in. */
static void store_to_a_clean_page_is_kept(void **state)
{
	struct rig rig;

	(void)state;
	need_uffd();
	rig_open(&rig, "queue_mode=mq path=dma dma=sw", &usual);
	for (uint64_t page = 0; page < PAGES; page++)
		write_page(&rig, page);
	for (uint64_t page = 0; page < PAGES; page++) {
		assert_int_equal(*rig_word(&rig, page, 5), value(page, 5));
		*rig_word(&rig, page, 7) = 42 + page;
	}
	assert_int_equal(rig_stats(&rig).protected_faults, PAGES);
	for (uint64_t page = 0; page < PAGES; page++) {
		assert_int_equal(*rig_word(&rig, page, 7), 42 + page);
		assert_int_equal(*rig_word(&rig, page, 6), value(page, 6));
	}
	rig_close(&rig);
}

/* Description: a thread is told of each of its own misses, and of no hit. */
static void misses_are_told_to_their_thread(void **state)
{
	struct rig rig;

	(void)state;
	need_uffd();
	rig_open(&rig, "queue_mode=bio", &usual);
	struct cp_swap_thread *me = cp_swap_join(rig.swap);

	assert_non_null(me);
	for (uint64_t page = 0; page < PAGES; page++) {
		*rig_word(&rig, page, 0) = 1;
		assert_int_equal(atomic_load(&me->misses), page + 1);
		*rig_word(&rig, page, 1) = 1;
		assert_int_equal(atomic_load(&me->misses), page + 1);
	}
	cp_swap_leave(me);
	rig_close(&rig);
}

static void write_script(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Description: a page-in that fails is SIGBUS for the access, by either way of raising
 * it, and after healing the page is read again, whole. */
static void failed_page_in_is_sigbus(void **state)
{
	(void)state;
	need_uffd();
	catch_bus();
	for (int how = CP_SWAP_SIGBUS_AUTO; how <= CP_SWAP_SIGBUS_MAP; how++) {
		char path[] = "/tmp/cp-swap-XXXXXX", settings[128];
		struct cp_swap_cfg cfg = usual;
		struct rig rig;
		uint64_t got = 0;

		/* 1 to 8: the page-outs of the first eviction; 9, 10: page-ins */
		write_script(path, "9 error\n10 short 512\n");
		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=fault:sw,script=%s", path);
		cfg.sigbus = (enum cp_swap_sigbus)how;
		rig_open(&rig, settings, &cfg);
		for (uint64_t page = 0; page <= RESIDENT; page++)
			write_page(&rig, page);
		assert_int_equal(rig_stats(&rig).page_outs, 8);
		for (unsigned i = 0; i < 2; i++) {
			assert_false(access_word(rig_word(&rig, 3, 0), NULL, &got));
			/* until it is healed it stays so, without an I/O */
			assert_false(access_word(rig_word(&rig, 3, 9), NULL, &got));
			cp_swap_heal(rig.swap, 3);
			cp_swap_heal(rig.swap, 3); /* twice is once */
		}
		check_page(&rig, 3);
		struct cp_swap_stats stats = rig_stats(&rig);

		assert_int_equal(stats.in_errors, 2);
		assert_int_equal(stats.page_ins, 1);
		for (uint64_t page = 0; page <= RESIDENT; page++)
			check_page(&rig, page);
		rig_close(&rig);
		unlink(path);
	}
}

/* Description: pages that cannot be paged out stay, unharmed; who wants their room gets
 * SIGBUS. */
static void failed_page_outs_keep_their_pages(void **state)
{
	const uint64_t one = 1;
	struct rig rig;

	(void)state;
	need_uffd();
	catch_bus();
	rig_open(&rig, "queue_mode=mq path=dma dma=fault:sw,error=100%", &usual);
	for (uint64_t page = 0; page < RESIDENT; page++)
		write_page(&rig, page);
	assert_false(access_word(rig_word(&rig, RESIDENT, 0), &one, NULL));
	struct cp_swap_stats stats = rig_stats(&rig);

	assert_int_equal(stats.no_room, 1);
	assert_int_equal(stats.out_errors, RESIDENT);
	assert_int_equal(stats.page_outs, 0);
	for (uint64_t page = 0; page < RESIDENT; page++) {
		check_page(&rig, page);
		write_page(&rig, page); /* and are no longer protected */
	}
	assert_int_equal(rig_stats(&rig).misses, RESIDENT + 1);
	assert_int_equal(rig_stats(&rig).protected_faults, 0);
	rig_close(&rig);
}

/* Description: a page whose page-out failed once is paged out when its turn comes again,
 * with what was stored meanwhile. */
static void failed_page_out_is_tried_again(void **state)
{
	char path[] = "/tmp/cp-swap-XXXXXX", settings[128];
	struct rig rig;

	(void)state;
	need_uffd();
	write_script(path, "1 error\n3 short 100\n8 error\n");
	snprintf(settings, sizeof(settings),
		 "queue_mode=mq path=dma dma=fault:sw,script=%s", path);
	rig_open(&rig, settings, &usual);
	for (uint64_t page = 0; page < PAGES; page++)
		write_page(&rig, page);
	assert_int_equal(rig_stats(&rig).out_errors, 3);
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t page = 0; page < PAGES; page++)
			check_page(&rig, page);
	rig_close(&rig);
	unlink(path);
}

/* Description: the window of the submitter holds the I/Os made between its two calls. */
static void window_counts_the_ios_in_it(void **state)
{
	struct cp_hist lat;
	struct cp_sidecar_job out = {.lat = &lat};
	struct rig rig;

	(void)state;
	need_uffd();
	rig_open(&rig, "queue_mode=bio", &usual);
	for (uint64_t page = 0; page < PAGES; page++)
		write_page(&rig, page);
	cp_swap_measure_begin(rig.swap);
	for (uint64_t page = 0; page < PAGES; page++)
		write_page(&rig, page);
	cp_swap_measure_end(rig.swap);
	cp_swap_report(rig.swap, &out, NULL);
	assert_int_equal(out.ios, 2 * PAGES);
	assert_int_equal(out.bytes, 2 * PAGES * CP_SWAP_PAGE);
	assert_int_equal(lat.count, 2 * PAGES);
	assert_true(out.end_ns > out.start_ns);
	rig_close(&rig);
}

/* Description: a CPU that cannot be had is an error of open, in words. */
static void impossible_cpu_is_refused(void **state)
{
	struct cp_swap_cfg cfg = usual;
	struct cp_swap *swap = NULL;
	struct cp_err err;
	struct rig rig;

	(void)state;
	need_uffd();
	rig_open(&rig, "queue_mode=bio", &usual);
	cfg.dev = rig.dev;
	cfg.cpu = 100000;
	assert_true(cp_swap_open(&cfg, &swap, &err) < 0);
	assert_null(swap);
	assert_string_equal(err.msg, "the pager cannot run on CPU 100000: Invalid "
				     "argument");
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_keep_their_bytes),
		cmocka_unit_test(fresh_pages_are_zeros),
		cmocka_unit_test(evictions_are_counted),
		cmocka_unit_test(store_to_a_clean_page_is_kept),
		cmocka_unit_test(misses_are_told_to_their_thread),
		cmocka_unit_test(failed_page_in_is_sigbus),
		cmocka_unit_test(failed_page_outs_keep_their_pages),
		cmocka_unit_test(failed_page_out_is_tried_again),
		cmocka_unit_test(window_counts_the_ios_in_it),
		cmocka_unit_test(impossible_cpu_is_refused),
	};

	cp_clock_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
