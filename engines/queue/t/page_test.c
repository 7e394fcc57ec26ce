// SPDX-License-Identifier: GPL-2.0-only
/* The page path in a bare loop: bytes, ways, overlap, fallbacks, what a failure claims.
 */
#include <pthread.h>

#include "engines/queue/t/rig.h"
#include "engines/queue/t/script.h"

#define PAGE CP_PAGE_BYTES

static unsigned char pattern(uint64_t i, unsigned salt)
{
	return (unsigned char)((i * 131 + salt) ^ (i >> 8));
}

static void fill(unsigned char *buf, uint64_t bytes, unsigned salt)
{
	memset(buf, 0xee, bytes + 2 * GUARD);
	for (uint64_t i = 0; i < bytes; i++)
		buf[GUARD + i] = pattern(i, salt);
}

static void check(const unsigned char *buf, uint64_t bytes, unsigned salt)
{
	for (uint64_t i = 0; i < bytes; i++)
		assert_int_equal(buf[GUARD + i], pattern(i, salt));
	for (unsigned i = 0; i < GUARD; i++) {
		assert_int_equal(buf[i], 0xee);
		assert_int_equal(buf[GUARD + bytes + i], 0xee);
	}
}

/* Description: pages reach their place to the byte, by every way, and the proof says
 * which it was. */
static void test_bytes(void **state)
{
	static const struct {
		const char *settings;
		bool dma;
	} cases[] = {
		{"queue_mode=page copy=memcpy", false},
		{"queue_mode=page copy=nt", false},
		{"queue_mode=page path=dma dma=sw", true},
		{"queue_mode=page path=dma dma=sw completion=irq", true},
		{"queue_mode=page path=dma dma=sw:threads=2,ring=64 queue_depth=64",
		 true},
		{"queue_mode=page path=dma dma=sw queue_depth=4 q_per_node=1", true},
		{"queue_mode=page path=auto dma=sw dma_thresh_read=4k "
		 "dma_thresh_write=4k",
		 true},
		{"queue_mode=page path=auto dma=sw", false},
	};
	static const uint64_t sizes[] = {1, 2, 16, 128, 129, 512};
	unsigned char *buf = malloc(512 * PAGE + 2 * GUARD);
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);
		struct rig rig = rig_open(&cfg);
		uint64_t pages = 0;

		cp_sub_measure_begin(rig.sub);
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			uint64_t bytes = sizes[s] * PAGE;
			struct cp_io io = {.near = buf + GUARD,
					   .offset = 512 * s,
					   .bytes = bytes,
					   .dir = CP_DIR_WRITE};

			fill(buf, bytes, (unsigned)s);
			cp_sub_page(rig.sub, &io);
			assert_int_equal(io.error, 0);
			memset(buf + GUARD, 0, bytes);
			io.dir = CP_DIR_READ;
			cp_sub_page(rig.sub, &io);
			assert_int_equal(io.error, 0);
			assert_int_equal(io.residue, 0);
			check(buf, bytes, (unsigned)s);
			pages += 2 * sizes[s];
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, cases[c].dma ? pages * PAGE : 0);
		assert_int_equal(proof.bytes_cpu, cases[c].dma ? 0 : pages * PAGE);
		assert_int_equal(proof.queue.transactions, cases[c].dma ? pages : 0);
		assert_int_equal(proof.queue.requests, 0);
		assert_int_equal(proof.page.pages, pages);
		assert_int_equal(proof.errors, 0);
		rig_close(&rig);
	}
	free(buf);
}

/* Description: an I/O that is no whole number of pages, or out of range, is refused whole
 * and touches nothing; a sync is none. */
static void test_refused(void **state)
{
	static const struct {
		uint64_t offset, bytes;
	} cases[] = {{0, 1},
		     {0, PAGE - 1},
		     {0, PAGE + 512},
		     {MEDIA_BYTES, PAGE},
		     {MEDIA_BYTES - 512, PAGE},
		     {0, MEDIA_BYTES + PAGE}};
	unsigned char buf[2 * PAGE];
	(void)state;

	for (unsigned on = 0; on < 2; on++) {
		struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=sw");
		struct rig rig = rig_open(&cfg);

		cp_dev_rw_page(rig.dev, on);
		memset(buf, 0xee, sizeof(buf));
		for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
			struct cp_io io = {.near = buf,
					   .offset = cases[c].offset,
					   .bytes = cases[c].bytes};

			cp_sub_page(rig.sub, &io);
			assert_int_equal(io.error, EINVAL);
			assert_int_equal(io.residue, io.bytes);
		}
		for (size_t i = 0; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0xee);
		struct cp_io sync = {.sync = true};

		cp_sub_page(rig.sub, &sync);
		assert_int_equal(sync.error, 0);
		rig_close(&rig);
	}
}

/* Description: each page has a doorbell of its own, and a look at what has completed
 * behind it. */
static void test_doorbells(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=null");
	struct rig rig = rig_open(&cfg);
	static unsigned char buf[16 * PAGE];
	struct cp_io io = {.near = buf, .bytes = sizeof(buf)};
	(void)state;

	script_start(&rig);
	struct cp_io *done;

	assert_int_equal(cp_sub_page_submit(rig.sub, &io), 0);
	assert_int_equal(script.nr, 16);
	assert_int_equal(script.issued, 16);
	assert_int_equal(script.rings, 16);
	assert_int_equal(script.reaps, 16);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, &done), 1);
	assert_int_equal(io.error, 0);
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(script.seen[i].offset, i * PAGE);
		assert_int_equal(script.seen[i].bytes, PAGE);
	}
	rig_close(&rig);
}

/* Description: a page counts as overlapped when another is in flight as it goes out, of
 * its own I/O or of one before that has not completed by then. */
static void test_overlapped(void **state)
{
	/* so many looks find nothing: the one of the page before is the first */
	static const struct {
		unsigned hold, overlapped;
	} cases[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 4}};
	static unsigned char buf[5 * PAGE];
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=null");
		struct rig rig = rig_open(&cfg);
		struct cp_io before = {.near = buf, .bytes = PAGE};
		struct cp_io io = {.near = buf + PAGE, .bytes = 4 * PAGE};
		struct cp_io *done[2];

		script_start(&rig);
		script.hold = cases[c].hold;
		assert_int_equal(cp_sub_page_submit(rig.sub, &before), 0);
		assert_int_equal(cp_sub_page_submit(rig.sub, &io), 0);
		assert_int_equal(cp_sub_reap(rig.sub, 2, 2, done), 2);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.page.pages, 5);
		assert_int_equal(proof.page.overlapped, cases[c].overlapped);
		rig_close(&rig);
	}
}

/* Description: pages that a channel refuses are the CPU's, the others go on by DMA, and
 * an I/O is counted once for each reason. */
static void test_fallback(void **state)
{
	static const struct {
		int rc;
		uint64_t ring_full, error;
	} cases[] = {{-EAGAIN, 1, 0}, {-EIO, 0, 1}};
	unsigned char *buf = malloc(8 * PAGE + 2 * GUARD);
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg =
			config("queue_mode=page path=dma dma=sw ring_full=cpu");
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {
			.near = buf + GUARD, .bytes = 8 * PAGE, .dir = CP_DIR_WRITE};

		script_start(&rig);
		script.refuse = 2;
		script.refuse_after = 3;
		script.refuse_rc = cases[c].rc;
		fill(buf, 8 * PAGE, 5);
		cp_sub_page(rig.sub, &io);
		assert_int_equal(io.error, 0);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, 6 * PAGE);
		assert_int_equal(proof.bytes_cpu, 2 * PAGE);
		assert_int_equal(proof.bytes_fallback, 2 * PAGE);
		assert_int_equal(proof.fallback.ring_full, cases[c].ring_full);
		assert_int_equal(proof.fallback.error, cases[c].error);
		assert_int_equal(proof.queue.transactions, 6);
		assert_memory_equal(rig.dev->far, buf + GUARD, 8 * PAGE);
		rig_close(&rig);
	}
	free(buf);
}

/* Description: of one page that failed the bytes that arrived are claimed; of several
 * pages none, as which one failed is not known, though all that moved are counted. */
static void test_failed(void **state)
{
	static const struct {
		uint64_t pages, residue;
	} cases[] = {{1, 1000}, {8, 8 * PAGE}};
	static unsigned char buf[8 * PAGE];
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=sw");
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {.near = buf, .bytes = cases[c].pages * PAGE};

		script_start(&rig);
		script.fail = cases[c].pages == 1 ? 1 : 4;
		script.residue = 1000;
		cp_sub_page(rig.sub, &io);
		assert_int_equal(io.error, EIO);
		assert_int_equal(io.residue, cases[c].residue);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.errors, 1);
		assert_int_equal(proof.bytes_dma, cases[c].pages * PAGE - 1000);
		assert_int_equal(proof.bytes_cpu, 0);
		rig_close(&rig);
	}
}

/* Description: several I/Os handed in before the wait are in flight together and all come
 * back, by cp_sub_run() too, in any number. */
static void test_run(void **state)
{
	static const char *const arms[] = {
		"queue_mode=page", "queue_mode=page path=dma dma=sw",
		"queue_mode=page path=dma dma=sw completion=irq"};
	enum { NR = 100 };
	unsigned char *buf = malloc(NR * PAGE + 2 * GUARD);
	static struct cp_io ios[NR];
	struct cp_io *list[NR];
	(void)state;

	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		fill(buf, NR * PAGE, 9);
		for (unsigned d = 0; d < 2; d++) {
			for (unsigned i = 0; i < NR; i++) {
				ios[i] = (struct cp_io){.near = buf + GUARD + i * PAGE,
							.offset = i * PAGE,
							.bytes = PAGE,
							.dir = d ? CP_DIR_READ
								 : CP_DIR_WRITE};
				list[i] = &ios[i];
			}
			cp_sub_run(rig.sub, list, NR);
			for (unsigned i = 0; i < NR; i++)
				assert_int_equal(ios[i].error, 0);
			if (!d)
				memset(buf + GUARD, 0, NR * PAGE);
		}
		check(buf, NR * PAGE, 9);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.page.pages, 2 * NR);
		if (a)
			assert_in_range(proof.effective_iodepth, 2, 17);
		rig_close(&rig);
	}
	free(buf);
}

/* Description: I/Os that mq would have merged are counted, and the bytes that would have
 * gone by DMA: in the request of their I/O, or merged only. By the device's threshold,
 * runs up to 32 I/Os. The window before has no part in it. */
static void test_unmerged(void **state)
{
	static const struct {
		unsigned ios, step, pages; /* step: in pages; 0 is the same place */
		bool down;
		uint64_t unmerged, whole_dma, unmerged_dma;
	} cases[] = {
		{8, 1, 1, false, 7, 0, 0},	     /* 32k, below 64k */
		{16, 1, 1, false, 15, 0, 16 * PAGE}, /* 64k */
		{16, 1, 1, true, 15, 0, 16 * PAGE},  /* from its end */
		{16, 2, 1, false, 0, 0, 0},	     /* with gaps */
		{40, 1, 1, false, 38, 0, 32 * PAGE}, /* 32 I/Os, and 8 that are too few */
		{1, 16, 16, false, 0, 16 * PAGE, 0}, /* 64k already */
		{2, 16, 16, false, 1, 32 * PAGE, 0}, {2, 8, 8, false, 1, 0, 16 * PAGE},
		{4, 32, 16, false, 0, 64 * PAGE, 0},
	};
	static unsigned char buf[16 * PAGE];
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg =
			config("queue_mode=page path=auto dma=sw dma_thresh_read=64k");
		struct rig rig = rig_open(&cfg);

		struct cp_io before = {.near = buf,
				       .offset = cases[c].ios * cases[c].step * PAGE,
				       .bytes = 8 * PAGE};

		/* of the last window: next to the last I/O, or to the first from the end
		 */
		cp_sub_measure_begin(rig.sub);
		cp_sub_page(rig.sub, &before);
		cp_sub_measure_begin(rig.sub);
		for (unsigned i = 0; i < cases[c].ios; i++) {
			unsigned at = cases[c].down ? cases[c].ios - 1 - i : i;
			struct cp_io io = {.near = buf,
					   .offset = (uint64_t)at * cases[c].step * PAGE,
					   .bytes = cases[c].pages * PAGE};

			cp_sub_page(rig.sub, &io);
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.page.unmerged, cases[c].unmerged);
		assert_int_equal(proof.page.whole_dma, cases[c].whole_dma);
		assert_int_equal(proof.page.unmerged_dma, cases[c].unmerged_dma);
		rig_close(&rig);
	}
}

/* Description: with rw_page off I/Os go by bio, whatever the path, and are counted; on
 * again, by pages. */
static void test_toggle(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=sw");
	static unsigned char buf[2 * PAGE];
	struct cp_io io = {.near = buf, .bytes = 2 * PAGE}, *list[] = {&io};
	(void)state;

	cfg.rw_page_off = true;
	struct rig rig = rig_open(&cfg);

	assert_string_equal(cp_dev_notes(rig.dev), "rw_page is off: I/O goes by bio");
	cp_sub_measure_begin(rig.sub);
	cp_sub_page(rig.sub, &io);
	cp_sub_run(rig.sub, list, 1);
	cp_dev_rw_page(rig.dev, true);
	cp_sub_page(rig.sub, &io);
	struct cp_proof proof = proof_of(&rig);

	assert_int_equal(proof.page.off, 2);
	assert_int_equal(proof.page.pages, 2);
	assert_int_equal(proof.bytes_cpu, 4 * PAGE);
	assert_int_equal(proof.bytes_dma, 2 * PAGE);
	rig_close(&rig);
}

#define THREADS 4

static void *submitter(void *arg)
{
	struct cp_dev *dev = arg;
	unsigned char *buf = aligned_alloc(PAGE, 4 * PAGE);
	struct cp_sub *sub;
	struct cp_err err;
	static _Atomic unsigned next;
	unsigned me = next++ % THREADS;

	if (!buf || cp_sub_open(dev, &sub, &err) != 0)
		return "cannot open";
	cp_sub_measure_begin(sub);
	char *bad = NULL;

	for (unsigned i = 0; i < 500 && !bad; i++) {
		struct cp_io io = {.near = buf,
				   .offset = me * (MEDIA_BYTES / THREADS) +
					     i % 64 * 4 * PAGE,
				   .bytes = (1 + i % 4) * PAGE,
				   .dir = CP_DIR_WRITE};

		memset(buf, (int)(me * 50 + i % 50), 4 * PAGE);
		cp_sub_page(sub, &io);
		memset(buf, 0xff, 4 * PAGE);
		io.dir = CP_DIR_READ;
		if (!io.error)
			cp_sub_page(sub, &io);
		if (io.error || buf[0] != me * 50 + i % 50 ||
		    buf[io.bytes - 1] != me * 50 + i % 50)
			bad = "wrong bytes";
	}
	cp_sub_measure_end(sub);
	cp_sub_close(sub);
	free(buf);
	return bad;
}

/* Description: submitters share a small ring of one hardware queue, and each gets its own
 * bytes, in every completion mode. */
static void test_shared(void **state)
{
	static const char *const arms[] = {
		"queue_mode=page path=dma dma=sw q_per_node=1 queue_depth=2",
		"queue_mode=page path=dma dma=sw q_per_node=1 queue_depth=2 "
		"completion=irq",
		"queue_mode=page path=dma dma=sw q_per_node=1 queue_depth=2 "
		"ring_full=cpu"};
	(void)state;

	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);
		pthread_t threads[THREADS];
		struct cp_dev *dev;
		struct cp_err err;

		cfg.jobs = THREADS;
		assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(
				pthread_create(&threads[i], NULL, submitter, dev), 0);
		for (unsigned i = 0; i < THREADS; i++) {
			void *bad;

			pthread_join(threads[i], &bad);
			if (bad)
				fail_msg("%s: %s", arms[a], (const char *)bad);
		}
		cp_dev_close(dev);
	}
}

/* Description: a border between nodes cuts the page that lies over it, for the channel of
 * each. */
static void test_nodes(void **state)
{
	static const struct cp_node_extent extents[] = {{.end = PAGE + 512, .node = 0},
							{.end = MEDIA_BYTES, .node = 1}};
	struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=sw q_per_node=1");
	unsigned char *buf = malloc(3 * PAGE + 2 * GUARD);
	struct cp_io io = {.near = buf + GUARD, .bytes = 3 * PAGE, .dir = CP_DIR_WRITE};
	(void)state;

	cfg.node_extents = extents;
	cfg.nr_node_extents = 2;
	struct rig rig = rig_open(&cfg);

	script_start(&rig);
	fill(buf, 3 * PAGE, 3);
	cp_sub_page(rig.sub, &io);
	assert_int_equal(io.error, 0);
	assert_memory_equal(rig.dev->far, buf + GUARD, 3 * PAGE);
	struct cp_proof proof = proof_of(&rig);

	assert_int_equal(proof.queue.transactions, 4);
	assert_int_equal(proof.queue.crossed, 1);
	assert_int_equal(proof.page.pages, 3);
	assert_int_equal(script.seen[1].bytes, 512);
	assert_int_equal(script.seen[2].bytes, PAGE - 512);
	rig_close(&rig);
	free(buf);
}

/* Description: fua and preflush keep their meaning, by pages and with others in flight.
 */
static void test_barriers(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=page path=dma dma=sw");
	static unsigned char buf[4 * PAGE];
	struct cp_io ios[3] = {
		{.near = buf, .bytes = 2 * PAGE, .dir = CP_DIR_WRITE},
		{.near = buf,
		 .bytes = PAGE,
		 .dir = CP_DIR_WRITE,
		 .preflush = true,
		 .fua = true},
		{.sync = true},
	};
	struct cp_io *list[] = {&ios[0], &ios[1], &ios[2]};
	struct rig rig = rig_open(&cfg);
	(void)state;

	cp_sub_run(rig.sub, list, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ios[i].error, 0);
		assert_int_equal(ios[i].residue, 0);
	}
	cp_sub_page(rig.sub, &ios[1]);
	assert_int_equal(ios[1].error, 0);
	rig_close(&rig);
}

static int setup(void **state)
{
	struct cp_err err;

	(void)state;
	return cp_topo_load(NULL, &topo, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_doorbells), cmocka_unit_test(test_overlapped),
		cmocka_unit_test(test_fallback),  cmocka_unit_test(test_failed),
		cmocka_unit_test(test_run),	  cmocka_unit_test(test_unmerged),
		cmocka_unit_test(test_toggle),	  cmocka_unit_test(test_shared),
		cmocka_unit_test(test_nodes),	  cmocka_unit_test(test_barriers),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
