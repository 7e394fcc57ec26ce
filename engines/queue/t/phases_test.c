/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the time of offloaded I/Os went, by a sample of them. */
#include "engines/queue/t/rig.h"

#include "engines/queue/internal.h"

#define NR	     16U
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char near[NR][65536];
static struct cp_io ios[NR], *done[NR];

static void batch(struct rig *rig, unsigned n, uint64_t bytes)
{
	for (unsigned i = 0; i < n; i++) {
		ios[i] = (struct cp_io){
			.near = near[i], .offset = i * bytes, .bytes = bytes};
		assert_int_equal(cp_sub_queue(rig->sub, &ios[i]), 0);
	}
	cp_sub_commit(rig->sub);
	assert_int_equal(cp_sub_reap(rig->sub, n, n, done), n);
}

static struct cp_sidecar_job report(struct rig *rig, struct cp_hist *lat)
{
	struct cp_sidecar_job out = {.lat = lat};

	cp_sub_measure_end(rig->sub);
	cp_sub_report(rig->sub, &out);
	return out;
}

/* The next commit is looked at, whatever is in it. */
static void look_next(struct rig *rig)
{
	rig->sub->phases.due = 1;
	rig->sub->phases.fresh = false;
}

/* Description: the four phases of an I/O add up to its latency, whatever became of it:
 * alone, split, shared with the CPU, waited for by interrupt, in a plug. */
static void test_sum(void **state)
{
	static const struct {
		const char *settings;
		uint64_t bytes;
	} cases[] = {
		{"path=dma dma=null", 4096},
		{"path=dma dma=null:delay=100us", 4096},
		{"path=dma dma=sw", 65536},
		{"path=dma dma=sw completion=irq", 65536},
		{"path=dma dma=sw:ring=2", 65536},
		{"path=dma dma=sw split_pct=50", 65536},
		{"path=auto dma=sw dma_thresh_read=4k", 4096},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct cp_hist lat;
		char settings[96];

		snprintf(settings, sizeof(settings), "queue_mode=mq %s",
			 cases[c].settings);
		struct cp_dev_cfg cfg = config(settings);

		cfg.segment = 256; /* 65536 are two transactions */
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		look_next(&rig);
		batch(&rig, 1, cases[c].bytes);
		struct cp_sidecar_job out = report(&rig, &lat);
		uint64_t sum = out.phases.prepare_ns + out.phases.submit_ns +
			       out.phases.wait_ns + out.phases.complete_ns;

		assert_int_equal(out.phases.ios, 1);
		/* each is rounded down by itself */
		assert_in_range(lat.sum_ns - sum, 0, 4);
		if (strstr(settings, "delay"))
			assert_in_range(out.phases.wait_ns, 50000, UINT64_MAX);
		rig_close(&rig);
	}
}

/* Description: of a batch, merged or not, one I/O is looked at, and not always the same.
 */
static void test_one_of_many(void **state)
{
	static const char *const arms[] = {"max_merge=0", "max_merge=2m"};

	(void)state;
	for (size_t a = 0; a < NR_OF(arms); a++) {
		char settings[96];
		struct cp_hist lat;
		unsigned looked = 0;

		snprintf(settings, sizeof(settings), "queue_mode=mq path=dma dma=null %s",
			 arms[a]);
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		for (unsigned k = 0; k < 64; k++) {
			look_next(&rig);
			batch(&rig, NR, 4096);
			for (unsigned i = 0; i < NR; i++) {
				if (ios[i].marks & CP_IO_TIMED)
					looked |= 1U << i;
			}
		}
		struct cp_sidecar_job out = report(&rig, &lat);

		assert_int_equal(out.phases.ios, 64);
		assert_in_range(__builtin_popcount(looked), NR / 2, NR);
		rig_close(&rig);
	}
}

/* Description: about one I/O in 256 is looked at, and only while measuring; what the
 * CPU copied, by decision or as a fallback, is no offloaded I/O. */
static void test_sample(void **state)
{
	static const struct {
		const char *settings;
		bool measuring;
		unsigned least, most;
	} cases[] = {
		{"path=dma dma=null", true, 15, 40},
		{"path=dma dma=null", false, 0, 0},
		{"path=cpu", true, 0, 0},
		{"path=auto dma=null dma_thresh_read=1m", true, 0, 0},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		char settings[96];
		struct cp_hist lat;

		snprintf(settings, sizeof(settings), "queue_mode=mq %s",
			 cases[c].settings);
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);

		if (cases[c].measuring)
			cp_sub_measure_begin(rig.sub);
		for (unsigned k = 0; k < 6400; k++)
			batch(&rig, 1, 4096);
		if (!cases[c].measuring)
			cp_sub_measure_begin(rig.sub);
		struct cp_sidecar_job out = report(&rig, &lat);

		assert_in_range(out.phases.ios, cases[c].least, cases[c].most);
		rig_close(&rig);
	}
}

/* Description: I/Os are looked at as often as there are, whatever the size of the commit
 * that they come in: of commits of 1 and of 15 in turns, about one in 16 is of the
 * former.
 */
static void test_sizes_of_commits(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null");
	struct rig rig = rig_open(&cfg);
	unsigned alone = 0, among = 0;

	(void)state;
	cp_sub_measure_begin(rig.sub);
	for (unsigned k = 0; k < 4096; k++) {
		batch(&rig, 1, 4096);
		alone += (ios[0].marks & CP_IO_TIMED) != 0;
		batch(&rig, 15, 4096);
		for (unsigned i = 0; i < 15; i++)
			among += (ios[i].marks & CP_IO_TIMED) != 0;
	}
	assert_in_range(among, 150, 350);
	assert_in_range(alone, 1, among / 6);
	rig_close(&rig);
}

/* Description: of I/Os from 64k on, from the first one, the next is looked at when the
 * last one has come back; a small one before or between them makes no difference to that
 * but its own distance, and the first of all is looked at only if it is large. */
static void test_large(void **state)
{
	static const struct {
		unsigned ios, each; /* ios I/Os, so many a commit */
		uint64_t bytes;
		unsigned least, most;
	} cases[] = {
		{100, 1, 65536, 100, 100}, {100, 4, 65536, 25, 25}, {100, 1, 65535, 0, 4},
		{1, 1, 65536, 1, 1},	   {1, 1, 4096, 0, 0},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null");
		struct rig rig = rig_open(&cfg);
		struct cp_hist lat;

		cp_sub_measure_begin(rig.sub);
		for (unsigned i = 0; i < cases[c].ios; i += cases[c].each)
			batch(&rig, cases[c].each, cases[c].bytes);
		struct cp_sidecar_job out = report(&rig, &lat);

		assert_in_range(out.phases.ios, cases[c].least, cases[c].most);
		rig_close(&rig);
	}
}

/* Description: a large I/O that is in flight is not joined by a second one: its stamps
 * are its own. */
static void test_one_at_a_time(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null");
	struct rig rig = rig_open(&cfg);
	struct cp_hist lat;

	(void)state;
	cp_sub_measure_begin(rig.sub);
	for (unsigned i = 0; i < 4; i++) {
		ios[i] = (struct cp_io){
			.near = near[i], .offset = i * 65536, .bytes = 65536};
		assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
		cp_sub_commit(rig.sub);
		assert_int_equal(ios[i].marks, i ? 0 : CP_IO_TIMED);
	}
	assert_int_equal(cp_sub_reap(rig.sub, 4, 4, done), 4);
	batch(&rig, 1, 65536);
	assert_int_equal(report(&rig, &lat).phases.ios, 2);
	rig_close(&rig);
}

/* Description: the CPU's share of an I/O is in its submit phase: wait is what only the
 * engine takes, and null takes nothing. */
static void test_share_is_submit(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null split_pct=90");
	struct rig rig = rig_open(&cfg);
	struct cp_hist lat;

	(void)state;
	cp_sub_measure_begin(rig.sub);
	for (unsigned i = 0; i < 64; i++)
		batch(&rig, 1, 65536);
	struct cp_sidecar_job out = report(&rig, &lat);

	assert_int_equal(out.phases.ios, 64);
	assert_true(out.phases.submit_ns > out.phases.wait_ns);
	rig_close(&rig);
}

/* The engine of `fast`, one that has submit_one(): how many went by it. */
static const struct cp_dma_ops *fast_real;
static unsigned fast_ones;

static int fast_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			   void *near_bytes, size_t len, unsigned flags, void *user)
{
	int rc = fast_real->submit_one(chan, dir, far, near_bytes, len, flags, user);

	fast_ones += rc == 0;
	return rc;
}

/* Description: an I/O whose phases are looked at is dispatched and taken as its
 * neighbours are, so that they speak of those too. */
static void test_common_way(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null");
	struct rig rig = rig_open(&cfg);
	struct cp_dma_ops fast = *rig.dev->dma;
	struct cp_hist lat;

	(void)state;
	fast_real = rig.dev->dma;
	fast.submit_one = fast_submit_one;
	rig.dev->dma = &fast;
	fast_ones = 0;
	cp_sub_measure_begin(rig.sub);
	look_next(&rig);
	batch(&rig, NR, 4096);
	assert_int_equal(fast_ones, NR);
	/* the done ring is of the long way */
	assert_int_equal(rig.sub->done_head, 0);
	assert_int_equal(report(&rig, &lat).phases.ios, 1);
	rig.dev->dma = fast_real;
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_one_of_many),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_sizes_of_commits),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_share_is_submit),
		cmocka_unit_test(test_common_way),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
