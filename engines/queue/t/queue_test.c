/* SPDX-License-Identifier: GPL-2.0-only */
/* The block path in a bare loop: bytes, decisions, tags, counters, sharing. */
#include <pthread.h>

#include "engines/queue/t/rig.h"

static unsigned char pattern(uint64_t i, unsigned salt)
{
	return (unsigned char)((i * 131 + salt) ^ (i >> 8));
}

/* Write a pattern, read it back between guard bytes, and check bytes, guards and
 * counters. */
static void round_trip(struct rig *rig, bool mq, uint64_t offset, uint64_t bytes)
{
	unsigned char *buf = malloc(bytes + 2 * GUARD);
	struct cp_io io = {.offset = offset, .bytes = bytes, .near = buf + GUARD};

	assert_non_null(buf);
	memset(buf, 0xee, bytes + 2 * GUARD);
	for (uint64_t i = 0; i < bytes; i++)
		buf[GUARD + i] = pattern(i, (unsigned)offset);
	io.dir = CP_DIR_WRITE;
	one(rig, &io, mq);
	assert_int_equal(io.error, 0);
	assert_int_equal(io.residue, 0);
	memset(buf, 0xee, bytes + 2 * GUARD);
	io.dir = CP_DIR_READ;
	one(rig, &io, mq);
	assert_int_equal(io.error, 0);
	for (uint64_t i = 0; i < bytes; i++)
		assert_int_equal(buf[GUARD + i], pattern(i, (unsigned)offset));
	for (unsigned i = 0; i < GUARD; i++) {
		assert_int_equal(buf[i], 0xee);
		assert_int_equal(buf[GUARD + bytes + i], 0xee);
	}
	free(buf);
}

/* Description: every arm moves the right bytes, to the byte, and says which way they
 * went. */
static void test_bytes(void **state)
{
	static const struct {
		const char *settings;
		bool mq, dma;
	} cases[] = {
		{"queue_mode=bio copy=memcpy", false, false},
		{"queue_mode=bio copy=nt", false, false},
		{"queue_mode=bio copy=auto", false, false},
		{"queue_mode=mq path=cpu copy=nt", true, false},
		{"queue_mode=mq path=dma dma=sw", true, true},
		{"queue_mode=mq path=dma dma=sw completion=irq", true, true},
		{"queue_mode=mq path=dma dma=sw completion=hybrid", true, true},
		{"queue_mode=mq path=dma dma=sw:threads=2,ring=64", true, true},
		{"queue_mode=mq path=dma dma=auto q_per_node=1 queue_depth=4", true,
		 true},
	};
	static const uint64_t sizes[] = {1,	512,	4096,	4097,
					 65536, 524288, 524289, 2097152};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);
		struct rig rig = rig_open(&cfg);
		uint64_t moved = 0;

		cp_sub_measure_begin(rig.sub);
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			round_trip(&rig, cases[c].mq, 4096 * s + s, sizes[s]);
			moved += 2 * sizes[s];
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, cases[c].dma ? moved : 0);
		assert_int_equal(proof.bytes_cpu, cases[c].dma ? 0 : moved);
		assert_int_equal(proof.errors, 0);
		rig_close(&rig);
	}
}

/* Description: a threshold is per direction, inclusive from its first byte, and 0 is
 * never. */
static void test_thresholds(void **state)
{
	static const struct {
		const char *settings;
		enum cp_dir dir;
		uint64_t bytes;
		bool dma;
	} cases[] = {
		{"dma_thresh_read=64k dma_thresh_write=8k", CP_DIR_READ, 65535, false},
		{"dma_thresh_read=64k dma_thresh_write=8k", CP_DIR_READ, 65536, true},
		{"dma_thresh_read=64k dma_thresh_write=8k", CP_DIR_WRITE, 8191, false},
		{"dma_thresh_read=64k dma_thresh_write=8k", CP_DIR_WRITE, 8192, true},
		{"dma_thresh_read=0 dma_thresh_write=8k", CP_DIR_READ, 2097152, false},
		{"dma_thresh_read=4k dma_min_segments=2", CP_DIR_READ, 4096, false},
		{"dma_thresh_read=4k dma_min_segments=2", CP_DIR_READ, 4097, true},
	};
	unsigned char *buf = calloc(1, 2097152);
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char settings[160];

		snprintf(settings, sizeof(settings), "queue_mode=mq path=auto dma=sw %s",
			 cases[c].settings);
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {
			.near = buf, .bytes = cases[c].bytes, .dir = cases[c].dir};

		cp_sub_measure_begin(rig.sub);
		one(&rig, &io, true);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, cases[c].dma ? cases[c].bytes : 0);
		assert_int_equal(proof.bytes_cpu, cases[c].dma ? 0 : cases[c].bytes);
		rig_close(&rig);
	}
	free(buf);
}

/* Description: an I/O outside the media fails whole with EINVAL and touches nothing. */
static void test_bounds(void **state)
{
	static const struct {
		uint64_t offset, bytes;
	} cases[] = {
		{MEDIA_BYTES, 1},
		{MEDIA_BYTES - 4095, 4096},
		{UINT64_MAX - 4095, 4096},
		{0, MEDIA_BYTES + 1},
	};
	static const char *const arms[] = {"queue_mode=bio", "queue_mode=mq path=cpu",
					   "queue_mode=mq path=dma dma=sw"};
	unsigned char near[1] = {7};
	(void)state;

	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
			struct cp_io io = {.near = near,
					   .offset = cases[c].offset,
					   .bytes = cases[c].bytes,
					   .dir = CP_DIR_READ};
			one(&rig, &io, a > 0);
			assert_int_equal(io.error, EINVAL);
			assert_int_equal(io.residue, cases[c].bytes);
			assert_int_equal(near[0], 7);
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.errors, 4);
		assert_int_equal(proof.bytes_cpu + proof.bytes_dma, 0);
		rig_close(&rig);
	}
}

/* Description: queue_depth bounds the tags; the one above is BUSY until one is handed
 * back. */
static void test_tags(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null queue_depth=4");
	struct rig rig = rig_open(&cfg);
	struct cp_io ios[5] = {0}, *done[5];
	(void)state;

	for (unsigned i = 0; i < 5; i++) {
		ios[i].bytes = 4096;
		ios[i].near = &ios; /* null never touches it */
		assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), i < 4 ? 0 : -EBUSY);
	}
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(ios[i].tag, ios[k].tag);
	}
	cp_sub_commit(rig.sub);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, done), 1);
	assert_int_equal(cp_sub_queue(rig.sub, &ios[4]), 0);
	assert_int_equal(cp_sub_reap(rig.sub, 4, 5, done), 4);
	rig_close(&rig);
}

/* Description: reap never hands back more than max, and keeps the rest for the next call.
 */
static void test_reap_max(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=cpu copy=memcpy");
	struct rig rig = rig_open(&cfg);
	unsigned char buf[16][512];
	struct cp_io ios[16] = {0}, *done[16];
	unsigned got = 0;
	(void)state;

	for (unsigned i = 0; i < 16; i++) {
		ios[i].near = buf[i];
		ios[i].bytes = 512;
		assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
	}
	cp_sub_commit(rig.sub);
	while (got < 16) {
		unsigned n = cp_sub_reap(rig.sub, 1, 3, done);

		assert_in_range(n, 1, 3);
		for (unsigned i = 0; i < n; i++)
			assert_ptr_equal(done[i], &ios[got + i]);
		got += n;
	}
	assert_int_equal(cp_sub_reap(rig.sub, 1, 16, done), 0);
	rig_close(&rig);
}

/* Description: an I/O of more transactions than the ring holds goes piece by piece when
 * told to wait, and nothing falls back; when told so, the CPU copies the rest, which is
 * counted by its reason, and the bytes are right all the same. */
static void test_ring_full(void **state)
{
	static const char *const modes[] = {"wait", "cpu"};
	(void)state;

	for (size_t m = 0; m < 2; m++) {
		char settings[128];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=sw:ring=2 ring_full=%s", modes[m]);
		struct cp_dev_cfg cfg = config(settings);

		cfg.segment = 512; /* 2m = 4096 segments = 32 transactions over 2 slots */
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		round_trip(&rig, true, 3, 2097152);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma + proof.bytes_cpu, 2 * 2097152);
		assert_int_equal(proof.bytes_cpu, proof.bytes_fallback);
		assert_int_equal(proof.queue.split, 2);
		assert_int_equal(proof.fallback.ring_full, 0);
		assert_int_equal(proof.fallback.too_many_segments, m == 0 ? 0 : 2);
		if (m == 0)
			assert_int_equal(proof.queue.transactions, 64);
		rig_close(&rig);
	}
}

/* Description: an engine that moves no data counts its bytes as simulated and touches
 * nothing. */
static void test_simulated(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=mq path=dma dma=null");
	struct rig rig = rig_open(&cfg);
	unsigned char buf[4096];
	struct cp_io io = {.near = buf, .bytes = sizeof(buf), .dir = CP_DIR_READ};
	(void)state;

	memset(buf, 0x11, sizeof(buf));
	cp_sub_measure_begin(rig.sub);
	one(&rig, &io, true);
	struct cp_proof proof = proof_of(&rig);

	assert_int_equal(proof.bytes_simulated, sizeof(buf));
	assert_int_equal(proof.bytes_dma + proof.bytes_cpu, 0);
	for (unsigned i = 0; i < sizeof(buf); i++)
		assert_int_equal(buf[i], 0x11);
	assert_true(cp_dev_simulated(rig.dev));
	rig_close(&rig);
}

/* Description: a flush is handed back after the writes that went in before it. */
static void test_sync(void **state)
{
	static const char *const arms[] = {
		"queue_mode=mq path=dma dma=sw",
		"queue_mode=mq path=dma dma=sw completion=irq",
		"queue_mode=mq path=dma dma=sw completion=hybrid",
		"queue_mode=mq path=cpu"};
	unsigned char *buf = calloc(4, 1 << 20);
	(void)state;

	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);
		struct rig rig = rig_open(&cfg);
		struct cp_io ios[5] = {0}, *done[5];

		for (unsigned i = 0; i < 4; i++) {
			ios[i].near = buf + ((size_t)i << 20);
			ios[i].offset = (uint64_t)i << 20;
			ios[i].bytes = 1 << 20;
			ios[i].dir = CP_DIR_WRITE;
			assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
		}
		ios[4].sync = true;
		assert_int_equal(cp_sub_queue(rig.sub, &ios[4]), 0);
		assert_int_equal(cp_sub_reap(rig.sub, 5, 5, done), 5);
		assert_ptr_equal(done[4], &ios[4]);
		assert_int_equal(ios[4].error, 0);
		rig_close(&rig);
	}
	free(buf);
}

struct worker {
	struct cp_dev *dev;
	unsigned id, failed;
};

/* Random writes and reads back of this worker's own quarter, 8 deep. */
static void *worker_run(void *arg)
{
	struct worker *w = arg;
	unsigned char *near = malloc(8 * 65536);
	struct cp_io ios[8] = {0}, *done[8];
	struct cp_sub *sub;
	struct cp_err err;

	w->failed = !near || cp_sub_open(w->dev, &sub, &err) != 0;
	if (w->failed)
		return NULL;
	cp_sub_measure_begin(sub); /* phases are looked at, by whoever reaps */
	for (unsigned round = 0; round < 60; round++) {
		for (int pass = CP_DIR_WRITE; pass >= CP_DIR_READ; pass--) {
			for (unsigned i = 0; i < 8; i++) {
				ios[i].near = near + (size_t)i * 65536;
				ios[i].offset = w->id * (MEDIA_BYTES / 4) + i * 65536;
				ios[i].bytes = 65536;
				ios[i].dir = (enum cp_dir)pass;
				memset(ios[i].near,
				       pass == CP_DIR_WRITE ? (int)(round + i) : 0,
				       65536);
				while (cp_sub_queue(sub, &ios[i]) != 0)
					cp_sub_reap(sub, 1, 8, done);
			}
			for (unsigned left = 8; left;) {
				unsigned n = cp_sub_reap(sub, 1, 8, done);

				if (!n)
					break; /* earlier ones were reaped above */
				left -= n < left ? n : left;
			}
		}
		for (unsigned i = 0; i < 8 * 65536; i++)
			w->failed += near[i] != (unsigned char)(round + i / 65536);
	}
	cp_sub_close(sub);
	free(near);
	return NULL;
}

/* Description: submitters that share one hardware queue get all of their own I/Os, once.
 */
static void test_shared(void **state)
{
	static const char *const arms[] = {
		"queue_mode=mq path=dma dma=sw q_per_node=1 queue_depth=128",
		"queue_mode=mq path=dma dma=sw q_per_node=1 completion=irq",
		"queue_mode=mq path=dma dma=sw q_per_node=1 completion=hybrid",
		"queue_mode=mq path=dma dma=sw:ring=2 q_per_node=1 completion=hybrid "
		"max_merge=128k queue_depth=8",
		"queue_mode=mq path=dma dma=model:setup=300us,channels=4,data=yes "
		"q_per_node=1 completion=hybrid",
		"queue_mode=mq path=dma dma=sw:ring=4 q_per_node=1 queue_depth=8",
		"queue_mode=mq path=dma dma=sw:ring=4 q_per_node=1 completion=irq "
		"queue_depth=8",
		"queue_mode=mq path=dma dma=sw q_per_node=1 max_merge=256k",
		"queue_mode=mq path=dma dma=sw:ring=2 q_per_node=1 max_merge=128k "
		"completion=irq split_pct=30",
		"queue_mode=mq path=auto dma=sw q_per_node=1 dma_thresh_read=256k "
		"dma_thresh_write=64k ring_full=cpu split_pct=30",
	};
	(void)state;

	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);
		struct worker workers[4];
		pthread_t threads[4];
		struct cp_dev *dev;
		struct cp_err err;

		cfg.jobs = 4;
		assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
		for (unsigned i = 0; i < 4; i++) {
			workers[i] = (struct worker){.dev = dev, .id = i};
			pthread_create(&threads[i], NULL, worker_run, &workers[i]);
		}
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(workers[i].failed, 0);
		}
		cp_dev_close(dev);
	}
}

/* Description: what cannot be served is refused at open, in words. */
static void test_refused(void **state)
{
	static const struct {
		const char *settings, *text;
	} cases[] = {
		{"queue_mode=bio path=dma", "dma"},
		{"queue_mode=mq path=dma", "dma"},
		{"queue_mode=mq path=dma dma=sw:ring=3", "ring"},
		{"queue_mode=mq path=dma dma=sw:bogus=1", "bogus"},
		{"queue_mode=mq path=dma dma=null completion=irq", "irq"},
		{"queue_mode=mq path=dma dma=null completion=hybrid", "hybrid"},
		{"queue_mode=mq path=auto dma=sw policy=/nonexistent", "/nonexistent"},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);
		struct cp_dev *dev = NULL;
		struct cp_sub *sub = NULL;
		struct cp_err err = {0};
		int rc = cp_dev_open(&cfg, &dev, &err);

		if (!rc)
			rc = cp_sub_open(dev, &sub, &err);
		assert_true(rc < 0);
		assert_non_null(strstr(err.msg, cases[c].text));
		cp_dev_close(dev);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	  cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_bounds),	  cmocka_unit_test(test_tags),
		cmocka_unit_test(test_reap_max),  cmocka_unit_test(test_ring_full),

		cmocka_unit_test(test_simulated), cmocka_unit_test(test_sync),
		cmocka_unit_test(test_shared),	  cmocka_unit_test(test_refused),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
