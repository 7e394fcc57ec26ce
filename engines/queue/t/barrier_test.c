/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FLUSH before and FUA after: what is asked of the media, when, and what an I/O claims
 * when it fails. The media's sync is replaced by one that notes its ranges and looks at
 * the bytes.
 */
#include "engines/queue/t/recorder.h"
#include "engines/queue/t/rig.h"

#include "engines/queue/internal.h"

#define BS	     65536U
#define NR	     4U
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char near[NR][BS];
static struct cp_io ios[NR];

static struct {
	unsigned nr;
	int rc;
	uint64_t offset[8], len[8];
	/* of which I/Os the first and the last byte was in the media at the time, a bit
	 * each */
	unsigned there[8];
} seen;

static unsigned arrived(const unsigned char *base)
{
	unsigned there = 0;

	for (unsigned i = 0; i < NR; i++) {
		const unsigned char *far = base + ios[i].offset;

		if (ios[i].bytes && far[0] == i + 1 && far[ios[i].bytes - 1] == i + 1)
			there |= 1U << i;
	}
	return there;
}

static uint32_t misalign;

static int note_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	assert_in_range(seen.nr, 0, NR_OF(seen.len) - 1);
	seen.offset[seen.nr] = offset;
	seen.len[seen.nr] = len;
	seen.there[seen.nr] = arrived(media->base + misalign);
	seen.nr++;
	return seen.rc;
}

static struct cp_media_ops ops;

static struct rig open_noting(const char *settings, uint32_t misalign_far)
{
	struct cp_dev_cfg cfg = config(settings);

	cfg.misalign_far = misalign = misalign_far;
	struct rig rig = rig_open(&cfg);

	ops = *rig.dev->media.ops;
	ops.sync = note_sync;
	rig.dev->media.ops = &ops;
	memset(&seen, 0, sizeof(seen));
	memset(rig.dev->far, 0xff, (size_t)NR * BS);
	for (unsigned i = 0; i < NR; i++) {
		memset(near[i], (int)i + 1, BS);
		ios[i] = (struct cp_io){.near = near[i],
					.offset = (uint64_t)i * BS,
					.bytes = BS,
					.dir = CP_DIR_WRITE};
	}
	cp_sub_measure_begin(rig.sub);
	return rig;
}

/* Each handed back before the next; by cp_sub_run(); all staged, then reaped one by one.
 */
enum way { ONE_BY_ONE, TOGETHER, STAGED };

static void run_all(struct rig *rig, enum way way)
{
	struct cp_io *done[NR], *list[NR];

	for (unsigned i = 0; i < NR; i++)
		list[i] = &ios[i];
	for (unsigned i = 0; i < NR && way == ONE_BY_ONE; i++)
		cp_sub_run(rig->sub, &list[i], 1);
	if (way == TOGETHER)
		cp_sub_run(rig->sub, list, NR);
	if (way != STAGED)
		return;
	for (unsigned i = 0; i < NR; i++)
		assert_int_equal(cp_sub_queue(rig->sub, &ios[i]), 0);
	cp_sub_commit(rig->sub);
	for (unsigned got = 0; got < NR;)
		got += cp_sub_reap(rig->sub, 1, 1, done);
}

static const struct {
	const char *settings;
	enum way way;
} paths[] = {
	{"copy=memcpy", ONE_BY_ONE},
	{"copy=nt", ONE_BY_ONE},
	{"queue_mode=page copy=nt", ONE_BY_ONE},
	{"queue_mode=page copy=nt", TOGETHER},
	{"queue_mode=page path=dma dma=sw", ONE_BY_ONE},
	{"queue_mode=page path=dma dma=sw", TOGETHER},
	{"queue_mode=page path=dma dma=sw persist=auto", TOGETHER},
	{"queue_mode=mq path=cpu copy=nt", STAGED},
	{"queue_mode=mq path=dma dma=sw", STAGED},
	{"queue_mode=mq path=dma dma=sw completion=irq", STAGED},
	{"queue_mode=mq path=dma dma=sw completion=hybrid", STAGED},
	{"queue_mode=mq path=dma dma=sw max_merge=2m", STAGED},
	{"queue_mode=mq path=auto dma=sw max_merge=2m dma_thresh_write=128k", STAGED},
	{"queue_mode=mq path=dma dma=sw split_pct=30", STAGED},
	{"queue_mode=mq path=dma dma=sw persist=auto", STAGED},
};

/* Description: in every path, preflush has what went in before it made durable before a
 * byte of its own is copied, and fua has its own range made durable when its bytes are
 * there; without either nothing is asked of the media. */
static void asked_in_order(void **state)
{
	static const struct {
		bool preflush, fua;
	} cases[] = {{false, false}, {true, false}, {false, true}, {true, true}};

	(void)state;
	for (size_t i = 0; i < NR_OF(paths) * NR_OF(cases); i++) {
		const char *settings = paths[i / NR_OF(cases)].settings;
		bool preflush = cases[i % NR_OF(cases)].preflush;
		bool fua = cases[i % NR_OF(cases)].fua;
		uint32_t by = i % 2 ? 0 : 192;

		if (strstr(settings, "persist") && !cp_flush_present())
			continue;
		struct rig rig = open_noting(settings, by);
		unsigned nr = 0;

		ios[2].preflush = preflush;
		ios[2].fua = fua;
		run_all(&rig, paths[i / NR_OF(cases)].way);
		assert_int_equal(seen.nr, preflush + fua);
		if (preflush) {
			assert_int_equal(seen.offset[0], 0);
			assert_int_equal(seen.len[0], rig.dev->media.bytes);
			assert_int_equal(seen.there[nr++], 3); /* 0 and 1 */
		}
		if (fua) {
			assert_int_equal(seen.offset[nr], by + 2 * BS);
			assert_int_equal(seen.len[nr], BS);
			assert_true(seen.there[nr] & 4);
		}
		for (unsigned k = 0; k < NR; k++)
			assert_int_equal(ios[k].error, 0);
		assert_int_equal(arrived(rig.dev->far), 15);
		assert_int_equal(proof_of(&rig).errors, 0);
		rig_close(&rig);
	}
}

/* Description: a read may have a preflush, and a fua on it means nothing. */
static void reads(void **state)
{
	(void)state;
	for (size_t p = 0; p < NR_OF(paths); p++) {
		if (strstr(paths[p].settings, "persist") && !cp_flush_present())
			continue;
		struct rig rig = open_noting(paths[p].settings, 0);

		ios[3].dir = CP_DIR_READ;
		ios[3].offset = 0;
		ios[3].preflush = ios[3].fua = true;
		run_all(&rig, paths[p].way);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(near[3][0], 1);
		assert_int_equal(near[3][BS - 1], 1);
		rig_close(&rig);
	}
}

/* Description: when the media cannot make bytes durable, an I/O with preflush has copied
 * nothing and one with fua claims nothing; both fail with its error. */
static void not_durable(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NR_OF(paths); i++) {
		bool preflush = i & 1;

		if (strstr(paths[i / 2].settings, "persist") && !cp_flush_present())
			continue;
		struct rig rig = open_noting(paths[i / 2].settings, 0);

		ios[1].preflush = preflush;
		ios[1].fua = !preflush;
		seen.rc = -EOPNOTSUPP;
		run_all(&rig, paths[i / 2].way);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(ios[1].error, EOPNOTSUPP);
		assert_int_equal(ios[1].residue, BS);
		assert_int_equal(arrived(rig.dev->far), preflush ? 13 : 15);
		assert_int_equal(proof.errors, 1);
		assert_int_equal(proof.bytes_cpu + proof.bytes_dma, 3 * BS);
		rig_close(&rig);
	}
}

static unsigned flushed; /* bytes, before the media was asked */

static size_t note_flush(void *dst, const void *src, size_t len, enum cp_dir dir,
			 enum cp_attr attr)
{
	(void)dst;
	(void)src;
	(void)dir;
	(void)attr;
	if (!seen.nr)
		flushed += (unsigned)len;
	return 0;
}

/* Description: what channels wrote is flushed before a preflush lets its I/O start,
 * though it was not handed back yet, and only once. */
static void flushed_before(void **state)
{
	static const struct cp_flush_ops noting = {
		.name = "noting", .all = note_flush, .edges = note_flush};
	static const char *const arms[] = {
		"queue_mode=mq path=dma dma=sw persist=auto",
		"queue_mode=page path=dma dma=sw persist=auto",
	};

	(void)state;
	if (!cp_flush_present())
		skip();
	for (size_t a = 0; a < NR_OF(arms); a++) {
		struct rig rig = open_noting(arms[a], 0);

		if (!rig.dev->flush.ops) {
			rig_close(&rig);
			skip();
		}
		rig.dev->flush.ops = &noting;
		flushed = 0;
		ios[3].preflush = true;
		run_all(&rig, a ? TOGETHER : STAGED);
		assert_int_equal(flushed, 3 * BS);
		rig_close(&rig);
	}
}

/* Another submitter of the queue. It reaps in our doorbell, where we hold the lock: as if
 * it had been there just before we took it. */
static struct cp_sub *other;
static unsigned nr_waits;

static void ring_and_lose(struct cp_dma_chan *chan)
{
	engine_ring(chan);
	assert_int_equal(cp_hctx_reap(other), 1);
}

static int count_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	nr_waits++;
	return engine_wait(chan, timeout_ns);
}

/* Description: a preflush or sync does not sleep for a completion that another submitter
 * has found between its look at the done ring and its own reap. */
static void nothing_to_wait_for(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=sw completion=irq "
				       "q_per_node=1");
	struct cp_dma_ops losing = recorder;
	struct cp_io sync = {.sync = true}, *done[2];
	struct cp_err err;

	(void)state;
	losing.issue_pending = ring_and_lose;
	losing.wait = count_wait;
	cfg.jobs = 2;
	cfg.dma = &losing;
	memset(&engine, 0, sizeof(engine));
	struct rig rig = rig_open(&cfg);

	assert_int_equal(cp_sub_open(rig.dev, &other, &err), 0);
	assert_ptr_equal(other->hctx, rig.sub->hctx);
	nr_waits = 0;
	ios[0] = (struct cp_io){.near = near[0], .bytes = BS};
	assert_int_equal(cp_sub_queue(rig.sub, &ios[0]), 0);
	assert_int_equal(cp_sub_queue(rig.sub, &sync), 0);
	cp_sub_commit(rig.sub);
	assert_int_equal(nr_waits, 0);
	assert_int_equal(cp_sub_reap(rig.sub, 2, 2, done), 2);
	assert_ptr_equal(done[0], &ios[0]);
	assert_ptr_equal(done[1], &sync);
	assert_int_equal(nr_waits, 0);
	cp_sub_close(other);
	rig_close(&rig);
}

/* Description: a fua that is refused takes nothing from the next one: that is durable
 * when it is handed back. */
static void refused_before(void **state)
{
	static const struct {
		const char *settings;
		uint64_t offset, bytes;
	} cases[] = {
		{"queue_mode=page", 0, 512},
		{"queue_mode=page", MEDIA_BYTES, 4096},
		{"queue_mode=page path=dma dma=sw", 0, 512},
		{"queue_mode=page path=dma dma=sw", MEDIA_BYTES, 4096},
		{"queue_mode=mq path=dma dma=sw", MEDIA_BYTES, 4096},
		{"queue_mode=bio", MEDIA_BYTES, 4096},
	};
	(void)state;

	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct rig rig = open_noting(cases[c].settings, 0);
		struct cp_io bad = {.near = near[0],
				    .offset = cases[c].offset,
				    .bytes = cases[c].bytes,
				    .dir = CP_DIR_WRITE,
				    .fua = true};
		struct cp_io *list[] = {&bad, &ios[1]};

		ios[1].fua = true;
		cp_sub_run(rig.sub, list, 2);
		assert_int_equal(bad.error, EINVAL);
		assert_int_equal(ios[1].error, 0);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(seen.offset[0], ios[1].offset);
		assert_int_equal(seen.len[0], BS);
		assert_int_equal(rig.sub->nr_fua, 0);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_in_order),      cmocka_unit_test(reads),
		cmocka_unit_test(not_durable),	       cmocka_unit_test(flushed_before),
		cmocka_unit_test(nothing_to_wait_for), cmocka_unit_test(refused_before),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
