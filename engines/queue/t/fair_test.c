/* SPDX-License-Identifier: GPL-2.0-only */
/* Submitters of one hardware queue that is too small for them: in what order they get
 * room and tags. Counted in transactions and tags, never in time. */
#include <pthread.h>
#include <sched.h>

#include "engines/queue/internal.h"
#include "engines/queue/t/rig.h"

#define SUBS	6U
#define DEPTH	2U
#define PIECES	3U
#define IOS	60U
#define SEGMENT 512U
#define BYTES	((uint64_t)PIECES * CP_DMA_SEGMENTS_MAX * SEGMENT)
#define ORDER	(SUBS * PIECES)

/* The sw engine, with a record of who was given room. Called under the queue's lock. */
static struct {
	const struct cp_dma_ops *real;
	struct cp_dma_ops ops;
	struct cp_hctx *hctx; /* NULL: not looked at */
	_Atomic bool shut;    /* nothing is reaped */
	unsigned nr;
	const struct cp_sub *order[ORDER]; /* of the first ones */
	const struct cp_sub *subs[SUBS];
	unsigned overtaken[SUBS], most; /* transactions of others since it waits */
} gate;

static int gate_prep(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
		     const struct cp_dma_sg *sg, unsigned nr_sg, unsigned flags,
		     void *user)
{
	const struct cp_sub *taker = ((struct cp_io *)user)->sub;
	int rc = gate.real->prep_memcpy_sg(chan, dir, far, sg, nr_sg, flags, user);

	if (rc || !gate.hctx)
		return rc;
	if (gate.nr < ORDER)
		gate.order[gate.nr] = taker;
	gate.nr++;
	for (unsigned i = 0; i < SUBS; i++) {
		const struct cp_sub *sub = gate.subs[i];

		if (!sub || sub == taker || !sub->room.waits)
			gate.overtaken[i] = 0;
		else if (++gate.overtaken[i] > gate.most)
			gate.most = gate.overtaken[i];
	}
	return 0;
}

static int gate_submit_one(struct cp_dma_chan *chan, enum cp_dir dir, void *far,
			   void *near, size_t len, unsigned flags, void *user)
{
	(void)chan;
	(void)dir;
	(void)far;
	(void)near;
	(void)len;
	(void)flags;
	(void)user;
	return -ENOSYS;
}

static unsigned gate_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			  unsigned max)
{
	/* relaxed: it carries nothing */
	if (atomic_load_explicit(&gate.shut, memory_order_relaxed))
		return 0;
	return gate.real->reap(chan, done, max);
}

static struct cp_dev *open_gate(const char *settings, unsigned jobs)
{
	struct cp_dev_cfg cfg = config(settings);
	struct cp_dev *dev;
	struct cp_err err;

	memset(&gate, 0, sizeof(gate));
	gate.real = cp_dma_find(cfg.arm.dma, &err);
	assert_non_null(gate.real);
	gate.ops = *gate.real;
	gate.ops.prep_memcpy_sg = gate_prep;
	gate.ops.submit_one = gate_submit_one;
	gate.ops.reap = gate_reap;
	cfg.dma = &gate.ops;
	cfg.segment = SEGMENT;
	cfg.jobs = jobs;
	if (cp_dev_open(&cfg, &dev, &err) != 0)
		fail_msg("%s", err.msg);
	gate.hctx = &dev->hctxs[0];
	return dev;
}

struct worker {
	struct cp_dev *dev;
	unsigned id, ios, failed;
};

static void start_io(struct worker *w, struct cp_io *io, unsigned nr)
{
	io->offset = (w->id * DEPTH + nr % DEPTH) * BYTES;
	io->bytes = BYTES;
	io->dir = CP_DIR_WRITE;
	memset(io->near, (int)(nr + w->id), BYTES);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	unsigned char *near = malloc(DEPTH * BYTES);
	struct cp_io ios[DEPTH] = {0}, *done[DEPTH];
	unsigned started = 0, ended = 0;
	struct cp_sub *sub;
	struct cp_err err;

	w->failed = !near || cp_sub_open(w->dev, &sub, &err) != 0;
	if (w->failed)
		return NULL;
	pthread_mutex_lock(&gate.hctx->lock);
	gate.subs[w->id] = sub;
	pthread_mutex_unlock(&gate.hctx->lock);
	for (unsigned i = 0; i < DEPTH; i++) {
		ios[i].near = near + i * BYTES;
		done[i] = &ios[i];
	}
	for (unsigned idle = DEPTH; ended < w->ios; ended += idle) {
		for (; idle && started < w->ios; started++) {
			start_io(w, done[--idle], started);
			w->failed += cp_sub_queue(sub, done[idle]) != 0;
			cp_sub_commit(sub);
		}
		idle = cp_sub_reap(sub, 1, DEPTH, done);
		for (unsigned i = 0; i < idle; i++)
			w->failed += done[i]->error != 0 ||
				     memcmp(done[i]->near, w->dev->far + done[i]->offset,
					    BYTES) != 0;
	}
	pthread_mutex_lock(&gate.hctx->lock);
	gate.subs[w->id] = NULL;
	pthread_mutex_unlock(&gate.hctx->lock);
	cp_sub_close(sub);
	free(near);
	return NULL;
}

static const char *const arms[] = {
	"queue_mode=mq path=dma dma=sw:ring=2 q_per_node=1 completion=poll",
	"queue_mode=mq path=dma dma=sw:ring=2 q_per_node=1 completion=irq",
	"queue_mode=mq path=dma dma=sw:ring=2 q_per_node=1 completion=hybrid",
	"queue_mode=mq path=dma dma=sw:ring=4,threads=2 q_per_node=1 completion=irq "
	"max_merge=1m",
};

/* Description: of submitters that wait for room none is overtaken by more than one I/O of
 * each other, by polls and interrupts, and all get all of theirs, with the right bytes.
 */
static void test_turns(void **state)
{
	(void)state;
	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev *dev = open_gate(arms[a], SUBS);
		struct worker workers[SUBS];
		pthread_t threads[SUBS];

		for (unsigned i = 0; i < SUBS; i++) {
			workers[i] = (struct worker){.dev = dev, .id = i, .ios = IOS};
			pthread_create(&threads[i], NULL, worker_run, &workers[i]);
		}
		for (unsigned i = 0; i < SUBS; i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(workers[i].failed, 0);
		}
		assert_int_equal(gate.nr, SUBS * IOS * PIECES);
		assert_in_range(gate.most, 1, (SUBS - 1) * PIECES);
		assert_null(gate.hctx->room.head);
		cp_dev_close(dev);
	}
}

static unsigned nr_waiting(void)
{
	unsigned nr = 0;

	pthread_mutex_lock(&gate.hctx->lock);
	for (const struct cp_waiter *w = gate.hctx->room.head; w; w = w->next)
		nr++;
	pthread_mutex_unlock(&gate.hctx->lock);
	return nr;
}

/* Description: room goes to those who wait in the order of coming, to each for all pieces
 * of its I/O. */
static void test_order(void **state)
{
	struct cp_dev *dev = open_gate(arms[0], SUBS);
	struct worker workers[SUBS];
	pthread_t threads[SUBS];
	const struct cp_sub *subs[SUBS];
	(void)state;

	atomic_store(&gate.shut, true);
	for (unsigned i = 0; i < SUBS; i++) {
		/* the first one's third piece has no room, and the others come one by one
		 */
		workers[i] = (struct worker){.dev = dev, .id = i, .ios = 1};
		pthread_create(&threads[i], NULL, worker_run, &workers[i]);
		while (nr_waiting() <= i)
			sched_yield();
	}
	pthread_mutex_lock(&gate.hctx->lock);
	memcpy(subs, gate.subs, sizeof(subs));
	pthread_mutex_unlock(&gate.hctx->lock);
	atomic_store(&gate.shut, false);
	for (unsigned i = 0; i < SUBS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].failed, 0);
	}
	for (unsigned i = 0; i < ORDER; i++)
		assert_ptr_equal(gate.order[i], subs[i / PIECES]);
	cp_dev_close(dev);
}

struct pair {
	struct cp_dev *dev;
	struct cp_sub *sub[3];
	struct cp_io ios[3][4];
	unsigned char near[16];
};

static void open_pair(struct pair *p, unsigned depth, unsigned subs)
{
	char settings[128];
	struct cp_err err;

	snprintf(settings, sizeof(settings),
		 "queue_mode=mq path=cpu copy=memcpy q_per_node=1 queue_depth=%u", depth);
	struct cp_dev_cfg cfg = config(settings);

	memset(p, 0, sizeof(*p));
	cfg.jobs = 3;
	assert_int_equal(cp_dev_open(&cfg, &p->dev, &err), 0);
	for (unsigned i = 0; i < subs; i++) {
		assert_int_equal(cp_sub_open(p->dev, &p->sub[i], &err), 0);
		for (unsigned k = 0; k < 4; k++) {
			p->ios[i][k].near = p->near;
			p->ios[i][k].bytes = sizeof(p->near);
		}
	}
}

static void close_pair(struct pair *p)
{
	for (unsigned i = 0; i < 3; i++)
		cp_sub_close(p->sub[i]);
	cp_dev_close(p->dev);
}

static int ask(struct pair *p, unsigned sub, unsigned io)
{
	return cp_sub_queue(p->sub[sub], &p->ios[sub][io]);
}

static void hand_back(struct pair *p, unsigned sub)
{
	struct cp_io *done;

	assert_int_equal(cp_sub_reap(p->sub[sub], 1, 1, &done), 1);
}

/* Description: a submitter that was refused a tag below its share has the next free ones,
 * until it holds its share; who holds more does not take them again. */
static void test_tag_share(void **state)
{
	struct pair p;
	(void)state;

	open_pair(&p, 4, 2);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(ask(&p, 0, k), 0);
	cp_sub_commit(p.sub[0]);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(ask(&p, 1, k), -EBUSY);
		hand_back(&p, 0);
		assert_int_equal(ask(&p, 0, k), -EBUSY);
		assert_int_equal(ask(&p, 1, k), 0);
	}
	/* two each: nobody's tag is kept for the other */
	assert_int_equal(ask(&p, 1, 2), -EBUSY);
	hand_back(&p, 0);
	assert_int_equal(ask(&p, 0, 0), 0);
	close_pair(&p);
}

/* Description: with fewer tags than submitters they go round in the order of refusal. */
static void test_tag_order(void **state)
{
	struct pair p;
	(void)state;

	open_pair(&p, 1, 3);
	assert_int_equal(ask(&p, 0, 0), 0);
	assert_int_equal(ask(&p, 1, 0), -EBUSY);
	assert_int_equal(ask(&p, 2, 0), -EBUSY);
	for (unsigned i = 0; i < 9; i++) {
		unsigned holder = i % 3, next = (i + 1) % 3, last = (i + 2) % 3;

		hand_back(&p, holder);
		assert_int_equal(ask(&p, holder, 0), -EBUSY);
		assert_int_equal(ask(&p, last, 0), -EBUSY);
		assert_int_equal(ask(&p, next, 0), 0);
	}
	close_pair(&p);
}

/* Description: no tag is kept for a submitter that drains or has left. */
static void test_tag_left(void **state)
{
	struct pair p;
	(void)state;

	open_pair(&p, 1, 3);
	assert_int_equal(ask(&p, 0, 0), 0);
	assert_int_equal(ask(&p, 1, 0), -EBUSY);
	assert_int_equal(ask(&p, 2, 0), -EBUSY);
	hand_back(&p, 0);
	cp_sub_close(p.sub[1]);
	p.sub[1] = NULL;
	cp_sub_drain(p.sub[2]);
	assert_int_equal(ask(&p, 0, 0), 0);
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),	  cmocka_unit_test(test_order),
		cmocka_unit_test(test_tag_share), cmocka_unit_test(test_tag_order),
		cmocka_unit_test(test_tag_left),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
