/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion hybrid on a channel: what it asks of an engine that does what the test says.
 */
#include <sys/prctl.h>
#include <unistd.h>

#include "engines/queue/internal.h"
#include "engines/queue/t/rig.h"

#define MQ   "queue_mode=mq path=dma dma=sw completion=hybrid"
#define LONG (10 * CP_IRQ_TIMEOUT_NS)

struct cp_dma_chan {
	void *users[16];
	unsigned nr, rung;
};

/* Completions are there after so many looks at what was rung, or after so many waits. */
static struct {
	struct cp_dma_chan chan;
	unsigned looks, waits, looks_due, waits_due;
	unsigned not_signalled; /* transactions without CP_DMA_INTERRUPT */
	uint64_t longest_ns;
	bool irq, fail;
} fake;

static int fake_ok(struct cp_err *err)
{
	(void)err;
	return 0;
}

static int fake_check(const char *spec, struct cp_err *err)
{
	(void)spec;
	(void)err;
	return 0;
}

static int fake_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		     struct cp_err *err)
{
	(void)err;
	fake.irq = cfg->irq;
	*ret_chan = &fake.chan;
	return 0;
}

static unsigned fake_space(struct cp_dma_chan *chan)
{
	return 16 - chan->nr;
}

static int fake_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far, void *near,
		    size_t len, unsigned flags, void *user)
{
	(void)dir;
	(void)far;
	(void)near;
	(void)len;
	fake.not_signalled += !(flags & CP_DMA_INTERRUPT);
	assert_true(chan->nr < 16);
	chan->users[chan->nr++] = user;
	return 0;
}

static int fake_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		     const struct cp_dma_sg *near_sg, unsigned nr_sg, unsigned flags,
		     void *user)
{
	assert_int_equal(nr_sg, 1);
	return fake_one(chan, dir, far, near_sg->addr, near_sg->len, flags, user);
}

static cp_dma_cookie fake_submit(struct cp_dma_chan *chan)
{
	return chan->nr;
}

static void fake_ring(struct cp_dma_chan *chan)
{
	chan->rung = chan->nr;
	fake.looks = 0;
	fake.waits = 0;
	fake.longest_ns = 0;
}

static unsigned fake_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			  unsigned max)
{
	if (!chan->rung || fake.looks++ < fake.looks_due || fake.waits < fake.waits_due)
		return 0;
	assert_true(max >= 1);
	done[0] = (struct cp_dma_completion){.user = chan->users[0], .cookie = 1};
	if (fake.fail)
		done[0].result = CP_DMA_READ_FAILED;
	memmove(chan->users, chan->users + 1, sizeof(chan->users) - sizeof(void *));
	chan->nr--;
	chan->rung--;
	return 1;
}

/* No time passes: every interrupt is lost. */
static int fake_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	(void)chan;
	fake.waits++;
	if (timeout_ns > fake.longest_ns)
		fake.longest_ns = timeout_ns;
	return -ETIMEDOUT;
}

static uint64_t fake_cpu(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static const char *fake_name(struct cp_dma_chan *chan)
{
	(void)chan;
	return "fake";
}

static void fake_close(struct cp_dma_chan *chan)
{
	(void)chan;
}

static const struct cp_dma_ops ops = {
	.name = "fake",
	.traits = {.provenance = "software", .moves_data = true, .irq = true},
	.probe = fake_ok,
	.check = fake_check,
	.open = fake_open,
	.space = fake_space,
	.prep_memcpy_sg = fake_prep,
	.submit = fake_submit,
	.submit_one = fake_one,
	.issue_pending = fake_ring,
	.reap = fake_reap,
	.wait = fake_wait,
	.cpu_ns = fake_cpu,
	.describe = fake_name,
	.close = fake_close,
};

static struct rig open_fake(const char *settings)
{
	struct cp_dev_cfg cfg = config(settings);

	memset(&fake, 0, sizeof(fake));
	cfg.dma = &ops;
	return rig_open(&cfg);
}

static struct cp_hybrid_bucket *bucket(struct rig *rig)
{
	return &rig->sub->hybrid->buckets[CP_DIR_READ][3]; /* 4k */
}

static const char *const modes[] = {MQ,
				    "queue_mode=page path=dma dma=sw completion=hybrid"};

static void run_one(struct rig *rig)
{
	static unsigned char buf[4096];
	struct cp_io io = {.near = buf, .bytes = sizeof(buf)}, *ios = &io;

	cp_sub_run(rig->sub, &ios, 1);
	assert_int_equal(io.error, 0);
	assert_int_equal(io.residue, 0);
}

/* Description: with nothing known, or when it is due, an I/O is polled; else the channel
 * is waited on, with an interrupt asked for, until it is due, and no longer at a time
 * than a lost interrupt may cost. */
static void waits_until_due(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		struct rig rig = open_fake(modes[m]);

		assert_true(fake.irq);
		fake.looks_due = 5;
		run_one(&rig);
		assert_int_equal(fake.waits, 0);
		assert_int_equal(fake.not_signalled, 0);
		assert_true(bucket(&rig)->expect_ns > 0);

		fake.looks_due = 0;
		fake.waits_due = 3;
		*bucket(&rig) = (struct cp_hybrid_bucket){LONG, LONG / 10};
		rig.sub->hybrid->late_ns = 0;
		run_one(&rig);
		assert_int_equal(fake.waits, 3);
		assert_int_equal(fake.longest_ns, CP_IRQ_TIMEOUT_NS);
		assert_int_equal(rig.sub->hybrid->overslept, 1);
		assert_true(bucket(&rig)->lead_ns > LONG / 10);

		fake.waits_due = 1;
		*bucket(&rig) = (struct cp_hybrid_bucket){CP_IRQ_TIMEOUT_NS / 2, 0};
		run_one(&rig);
		assert_in_range(fake.longest_ns, 1, CP_IRQ_TIMEOUT_NS / 2);

		fake.waits_due = 0;
		*bucket(&rig) = (struct cp_hybrid_bucket){LONG, LONG};
		fake.looks_due = 3;
		run_one(&rig);
		assert_int_equal(fake.waits, 0);
		rig_close(&rig);
	}
}

/* Description: a sleep that ends without the I/O done, by somebody's interrupt, is gone
 * on with until it is due. */
static void sleeps_again(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		struct rig rig = open_fake(modes[m]);

		fake.waits_due = 20;
		*bucket(&rig) = (struct cp_hybrid_bucket){LONG, 0};
		run_one(&rig);
		assert_int_equal(fake.waits, 20);
		rig_close(&rig);
	}
}

/* Description: nothing is learned from an I/O that failed. */
static void failed_teaches_nothing(void **state)
{
	static unsigned char buf[4096];
	(void)state;

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		for (unsigned fail = 0; fail < 2; fail++) {
			struct rig rig = open_fake(modes[m]);
			struct cp_io io = {.near = buf, .bytes = sizeof(buf)}, *ios = &io;

			fake.fail = fail;
			cp_sub_run(rig.sub, &ios, 1);
			assert_int_equal(io.error, fail ? EIO : 0);
			assert_int_equal(bucket(&rig)->expect_ns == 0, fail);
			rig_close(&rig);
		}
	}
}

static struct rig open_shared(const char *settings)
{
	struct cp_dev_cfg cfg = config(settings);

	memset(&fake, 0, sizeof(fake));
	cfg.dma = &ops;
	cfg.jobs = 2;
	return rig_open(&cfg);
}

/* Description: what is done, and waits in the ring to be handed back, is not waited for:
 * it would be overdue, and poll for all behind it. Of a queue that is shared, too. */
static void ring_is_not_waited_for(void **state)
{
	static unsigned char buf[2][4096];
	(void)state;

	for (unsigned shared = 0; shared < 2; shared++) {
		struct rig rig = shared ? open_shared(MQ " q_per_node=1") : open_fake(MQ);
		struct cp_io ios[2] = {{.near = buf[0], .bytes = 4096},
				       {.near = buf[1],
					.offset = 8192,
					.bytes = 4096,
					.dir = CP_DIR_WRITE}};
		struct cp_io *done[2];

		assert_int_equal(rig.sub->hctx->shared, shared);
		rig.sub->hybrid->buckets[CP_DIR_READ][3] =
			(struct cp_hybrid_bucket){1, 1};
		rig.sub->hybrid->buckets[CP_DIR_WRITE][3] =
			(struct cp_hybrid_bucket){LONG, 0};
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
		cp_sub_commit(rig.sub);
		cp_hctx_lock(rig.sub->hctx);
		assert_int_equal(cp_hctx_reap(rig.sub), 1);
		rig.sub->seen_progress = rig.sub->hctx->progress;
		cp_hctx_unlock(rig.sub->hctx);
		cp_hybrid_wait(rig.sub);
		assert_int_equal(fake.waits, 1);
		assert_int_equal(cp_sub_reap(rig.sub, 2, 2, done), 2);
		rig_close(&rig);
	}
}

/* Description: who finds another asleep on the channel sleeps until its own I/O is due,
 * and not until the other ends. */
static void beside_a_sleeper(void **state)
{
	static unsigned char buf[4096];
	struct rig rig = open_shared(MQ " q_per_node=1");
	struct cp_io io = {.near = buf, .bytes = sizeof(buf)}, *done;
	struct cp_hctx *hctx = rig.sub->hctx;
	(void)state;

	*bucket(&rig) = (struct cp_hybrid_bucket){1000000, 0};
	assert_int_equal(cp_sub_queue(rig.sub, &io), 0);
	cp_sub_commit(rig.sub);
	rig.sub->seen_progress = hctx->progress;
	hctx->reaper = true; /* one that never wakes */
	alarm(20);	     /* ends a test that hangs */
	cp_hybrid_wait(rig.sub);
	alarm(0);
	assert_int_equal(fake.waits, 0);
	hctx->reaper = false;
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, &done), 1);
	rig_close(&rig);
}

/* Description: timer slack is off from a thread's first submitter to its last, whatever
 * the order in which they close, and is then what it was; other completions leave it. */
static void slack_is_put_back(void **state)
{
	int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	struct cp_sub *second;
	struct cp_err err;

	(void)state;
	assert_true(before > 1);
	struct rig rig = open_fake("queue_mode=mq path=dma dma=sw completion=irq");

	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), before);
	rig_close(&rig);
	rig = open_fake(MQ);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
	assert_int_equal(cp_sub_open(rig.dev, &second, &err), 0);
	cp_sub_close(rig.sub);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
	cp_sub_close(second);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), before);
	cp_dev_close(rig.dev);
}

/* Description: a submitter's CPU time is its own; who wakes it is the engine's: the
 * thread of sw, and nobody for model, whose timer needs no thread. */
static void who_wakes_is_the_engines(void **state)
{
	static const struct {
		const char *settings;
		bool thread;
	} cases[] = {
		{"queue_mode=mq path=dma dma=sw completion=irq", true},
		{"queue_mode=mq path=dma dma=sw completion=hybrid", true},
		{"queue_mode=mq path=dma dma=model completion=irq", false},
		{"queue_mode=mq path=dma dma=model completion=hybrid", false},
		{"queue_mode=mq path=dma dma=null:delay=1us completion=poll", false},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);
		struct rig rig = rig_open(&cfg);
		struct cp_hist lat;
		struct cp_sidecar_job out = {.lat = &lat};

		uint64_t start_ns = cp_thread_cpu_ns();

		cp_sub_measure_begin(rig.sub);
		for (unsigned i = 0; i < 200; i++)
			run_one(&rig);
		cp_sub_measure_end(rig.sub);
		cp_sub_report(rig.sub, &out);
		assert_int_equal(out.dev_cpu_engine_ns > 0, cases[c].thread);
		/* of this thread alone */
		assert_in_range(out.cpu_submit_ns, 1, cp_thread_cpu_ns() - start_ns);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_until_due),
		cmocka_unit_test(sleeps_again),
		cmocka_unit_test(failed_teaches_nothing),
		cmocka_unit_test(ring_is_not_waited_for),
		cmocka_unit_test(beside_a_sleeper),
		cmocka_unit_test(slack_is_put_back),
		cmocka_unit_test(who_wakes_is_the_engines),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
