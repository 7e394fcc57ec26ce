/* SPDX-License-Identifier: GPL-2.0-only */
/* Adjacent I/Os merged into one request before the decision: which, when, and their
 * bytes.
 */
#include "engines/queue/t/rig.h"
#include "engines/queue/t/script.h"

#define NR	     48U
#define ROOM	     8192U /* of an I/O's near buffer: no two are adjacent */
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char near[NR][ROOM];
static struct cp_io ios[NR], *done[NR];

static unsigned char pattern(uint64_t at)
{
	return (unsigned char)(at * 7 + (at >> 12) * 3 + 1);
}

static struct rig open_merging(const char *settings, uint64_t segment, const char *dma)
{
	char text[200];

	snprintf(text, sizeof(text), "queue_mode=mq dma=%s %s", dma, settings);
	struct cp_dev_cfg cfg = config(text);

	cfg.iodepth = NR;
	cfg.segment = segment;
	struct rig rig = rig_open(&cfg);

	script_start(&rig);
	return rig;
}

static void hand_in(struct rig *rig, unsigned i, uint64_t offset, uint64_t bytes,
		    enum cp_dir dir)
{
	ios[i] = (struct cp_io){
		.near = near[i], .offset = offset, .bytes = bytes, .dir = dir};
	assert_int_equal(cp_sub_queue(rig->sub, &ios[i]), 0);
}

static void hand_back_all(struct rig *rig, unsigned n)
{
	cp_sub_commit(rig->sub);
	for (unsigned got = 0; got < n;)
		got += cp_sub_reap(rig->sub, 1, NR, done);
	assert_int_equal(cp_sub_reap(rig->sub, 1, NR, done), 0);
}

/* What is handed in, a letter each: r, w the next 4k in order; R, W the 4k before the
 * first; h, t 2k reads in order; j skips 4k; s sync, p read with preflush, f write with
 * fua; x a read out of range. */
struct sequence {
	const char *text, *settings;
	uint64_t segment;
	unsigned requests, merged;
	const char *transactions; /* each "KiB/segments", read in order */
};

static void hand_in_text(struct rig *rig, const char *text)
{
	uint64_t first = 1 << 20, at = first;
	unsigned i = 0;

	for (const char *c = text; *c; c++) {
		enum cp_dir dir = strchr("wWf", *c) ? CP_DIR_WRITE : CP_DIR_READ;
		uint64_t bytes = *c == 'h' ? 2048 : 4096;

		if (*c == 'j') {
			at += 4096;
			continue;
		}
		ios[i] = (struct cp_io){.near = near[i], .bytes = bytes, .dir = dir};
		ios[i].sync = *c == 's';
		ios[i].preflush = *c == 'p';
		ios[i].fua = *c == 'f';
		if (*c == 'R' || *c == 'W')
			ios[i].offset = first -= bytes;
		else if (*c == 'x')
			ios[i].offset = MEDIA_BYTES;
		else if (*c != 's')
			ios[i].offset = at, at += bytes;
		assert_int_equal(cp_sub_queue(rig->sub, &ios[i++]), 0);
	}
	hand_back_all(rig, i);
	for (unsigned k = 0; k < i; k++)
		assert_int_equal(ios[k].error, ios[k].offset == MEDIA_BYTES ? EINVAL : 0);
}

/* Description: I/Os that are adjacent, in either order, and of one direction become one
 * transaction, as large as max_merge, 128 segments and 32 I/Os allow, and never across a
 * barrier or an I/O that is refused. */
static void test_which(void **state)
{
	static const struct sequence cases[] = {
		{"rrrr", "max_merge=2m", 4096, 1, 3, "16/4"},
		{"RRRR", "max_merge=2m", 4096, 1, 3, "16/4"},
		{"rRrR", "max_merge=2m", 4096, 1, 3, "16/4"},
		{"wwwW", "max_merge=2m", 4096, 1, 3, "16/4"},
		{"rrjrr", "max_merge=2m", 4096, 2, 2, "8/2 8/2"},
		{"rjrjr", "max_merge=2m", 4096, 3, 0, "4/1 4/1 4/1"},
		{"rrww", "max_merge=2m", 4096, 2, 2, "8/2 8/2"},
		{"rrrr", "max_merge=0", 4096, 4, 0, "4/1 4/1 4/1 4/1"},
		{"rrrr", "max_merge=8k", 4096, 2, 2, "8/2 8/2"},
		{"rrrr", "max_merge=11k", 4096, 2, 2, "8/2 8/2"},
		{"rrrr", "max_merge=2k", 4096, 4, 0, "4/1 4/1 4/1 4/1"},
		{"rrrrr", "max_merge=2m", 128, 2, 3, "16/128 4/32"},
		{"hhh", "max_merge=2m", 4096, 1, 2, "6/3"},
		{"rrsrr", "max_merge=2m", 4096, 2, 2, "8/2 8/2"},
		{"rrprr", "max_merge=2m", 4096, 3, 2, "8/2 4/1 8/2"},
		{"wwfww", "max_merge=2m", 4096, 3, 2, "8/2 4/1 8/2"},
		{"rrxrr", "max_merge=2m", 4096, 2, 2, "8/2 8/2"},
		{"rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr", "max_merge=2m", 4096, 2, 34,
		 "128/32 16/4"},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		char settings[64], text[512] = "";
		size_t used = 0;

		snprintf(settings, sizeof(settings), "path=dma %s", cases[c].settings);
		struct rig rig = open_merging(settings, cases[c].segment, "null");

		hand_in_text(&rig, cases[c].text);
		struct cp_proof proof = proof_of(&rig);

		for (unsigned i = 0; i < script.nr; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%lu/%u", i ? " " : "",
						 script.seen[i].bytes >> 10,
						 script.seen[i].nr_sg);
		if (strcmp(text, cases[c].transactions) != 0)
			fail_msg("%s, %s: %s, expected %s", cases[c].text,
				 cases[c].settings, text, cases[c].transactions);
		assert_int_equal(proof.queue.requests, cases[c].requests);
		assert_int_equal(proof.queue.merged, cases[c].merged);
		assert_int_equal(proof.queue.transactions, script.nr);
		rig_close(&rig);
	}
}

/* Description: near buffers that are adjacent too are joined up to the size of a segment.
 */
static void test_joined(void **state)
{
	static const struct {
		uint64_t segment;
		unsigned nr_sg;
	} cases[] = {{4096, 2}, {1024, 8}, {512, 16}, {1536, 6}};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct rig rig =
			open_merging("path=dma max_merge=2m", cases[c].segment, "null");

		for (unsigned i = 0; i < 16; i++) {
			hand_in(&rig, i, i * 512, 512, CP_DIR_READ);
			ios[i].near = near[0] + (size_t)i * 512;
		}
		hand_back_all(&rig, 16);
		assert_int_equal(script.nr, 1);
		assert_int_equal(script.seen[0].nr_sg, cases[c].nr_sg);
		assert_int_equal(script.seen[0].bytes, 16 * 512);
		rig_close(&rig);
	}
}

/* Description: commit holds an I/O back until one comes that cannot be merged with it,
 * the request is full, or the submitter would wait; what is held is in flight. */
static void test_when(void **state)
{
	struct rig rig = open_merging("path=dma max_merge=16k", 4096, "null");

	(void)state;
	hand_in(&rig, 0, 0, 4096, CP_DIR_READ);
	cp_sub_commit(rig.sub);
	hand_in(&rig, 1, 4096, 4096, CP_DIR_READ);
	cp_sub_commit(rig.sub);
	assert_int_equal(script.nr, 0);
	assert_int_equal(rig.sub->in_flight, 2);
	hand_in(&rig, 2, 1 << 20, 4096, CP_DIR_READ); /* not adjacent */
	cp_sub_commit(rig.sub);
	assert_int_equal(script.issued, 1);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, done), 1);
	assert_ptr_equal(done[0], &ios[0]);
	/* the other one is at hand: nothing waits */
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, done), 1);
	assert_int_equal(script.nr, 1);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, done), 1);
	assert_ptr_equal(done[0], &ios[2]);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(script.nr, 2);
		hand_in(&rig, i, i * 4096, 4096, CP_DIR_READ);
		cp_sub_commit(rig.sub);
	}
	assert_int_equal(script.issued, 3); /* full */
	assert_int_equal(cp_sub_reap(rig.sub, 4, 4, done), 4);
	hand_in(&rig, 0, 0, 4096, CP_DIR_READ);
	cp_sub_commit(rig.sub);
	cp_sub_drain(rig.sub);
	assert_int_equal(script.issued, 4);
	rig_close(&rig);
}

/* Description: a submitter that only ever looks (min 0) gets what is held too. */
static void test_looking(void **state)
{
	struct rig rig = open_merging("path=dma max_merge=2m", 4096, "sw");
	unsigned got = 0;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		hand_in(&rig, i, (uint64_t)i << 20, 4096, CP_DIR_READ);
	cp_sub_commit(rig.sub);
	while (got < 3)
		got += cp_sub_reap(rig.sub, 0, 1, done);
	rig_close(&rig);
}

/* Description: what is held counts against queue_depth. */
static void test_tags(void **state)
{
	struct rig rig =
		open_merging("path=dma max_merge=2m queue_depth=4", 4096, "null");

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		hand_in(&rig, i, i * 4096, 4096, CP_DIR_READ);
	cp_sub_commit(rig.sub);
	ios[4] = ios[0];
	assert_int_equal(cp_sub_queue(rig.sub, &ios[4]), -EBUSY);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, done), 1);
	assert_int_equal(cp_sub_queue(rig.sub, &ios[4]), 0);
	hand_back_all(&rig, 4);
	rig_close(&rig);
}

/* Description: the decision sees the bytes and the segments of the whole request, and
 * where it is the CPU each I/O is copied by itself. */
static void test_decision(void **state)
{
	static const struct {
		const char *settings;
		unsigned nr;
		bool dma;
	} cases[] = {
		{"dma_thresh_read=64k", 15, false},
		{"dma_thresh_read=64k", 16, true},
		{"dma_thresh_read=64k max_merge=32k", 16, false},
		{"dma_thresh_read=64k max_merge=0", 16, false},
		{"dma_thresh_read=4k dma_min_segments=3", 2, false},
		{"dma_thresh_read=4k dma_min_segments=3", 3, true},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct cp_proof proof;
		char settings[96];

		snprintf(settings, sizeof(settings), "path=auto %s", cases[c].settings);
		struct rig rig = open_merging(settings, 4096, "sw");

		for (unsigned i = 0; i < cases[c].nr; i++)
			hand_in(&rig, i, i * 4096, 4096, CP_DIR_READ);
		hand_back_all(&rig, cases[c].nr);
		proof = proof_of(&rig);
		assert_int_equal(proof.bytes_dma, cases[c].dma ? cases[c].nr * 4096 : 0);
		assert_int_equal(proof.bytes_cpu, cases[c].dma ? 0 : cases[c].nr * 4096);
		assert_int_equal(proof.bytes_fallback, 0);
		rig_close(&rig);
	}
}

/* Description: every byte of a merged request arrives where its own I/O wants it, in both
 * directions and all engines, and no other byte is touched. */
static void test_bytes(void **state)
{
	static const char *const arms[] = {
		"path=dma",
		"path=dma completion=irq",
		"path=auto dma_thresh_read=64k dma_thresh_write=64k",
		"path=auto dma_thresh_read=1g dma_thresh_write=1g",
		"path=dma q_per_node=1 queue_depth=64 ring_full=cpu",
	};
	static const char *const engines[] = {"sw", "sw:threads=2", "sw:ring=2"};
	/* bytes before the I/O, and of it */
	static const uint64_t sizes[] = {4096, 512, 4097, 1, 8000, 63, 65, 4096};
	const uint64_t base = 12345;

	(void)state;
	for (size_t a = 0; a < NR_OF(arms) * NR_OF(engines); a++) {
		char settings[128];

		snprintf(settings, sizeof(settings), "%s max_merge=2m",
			 arms[a % NR_OF(arms)]);
		struct rig rig = open_merging(settings, 1024, engines[a / NR_OF(arms)]);
		unsigned char *far = rig.dev->far;

		for (int dir = CP_DIR_WRITE; dir >= CP_DIR_READ; dir--) {
			uint64_t at = base;

			memset(near, 0xee, sizeof(near));
			if (dir == CP_DIR_WRITE)
				memset(far, 0xdd, 1 << 20);
			for (unsigned i = 0; i < NR; i++) {
				uint64_t bytes = sizes[i % NR_OF(sizes)];

				for (uint64_t b = 0; b < bytes && dir; b++)
					near[i][32 + b] = pattern(at + b);
				hand_in(&rig, i, at, bytes, (enum cp_dir)dir);
				ios[i].near = near[i] + 32;
				at += bytes;
			}
			hand_back_all(&rig, NR);
			for (unsigned i = 0; i < NR; i++) {
				const unsigned char *buf = near[i] + 32;

				assert_int_equal(ios[i].error, 0);
				for (uint64_t b = 0; b < ios[i].bytes; b++)
					assert_int_equal(buf[b],
							 pattern(ios[i].offset + b));
				assert_int_equal(buf[-1], 0xee);
				assert_int_equal(buf[ios[i].bytes], 0xee);
			}
			for (uint64_t b = base; b < at; b++)
				assert_int_equal(far[b], pattern(b));
			assert_int_equal(far[base - 1], 0xdd);
			assert_int_equal(far[at], 0xdd);
		}
		rig_close(&rig);
	}
}

/* Description: when a merged request fails, the I/Os before the residue are whole, the
 * one it cuts is short, those behind have nothing, and only what arrived is counted. */
static void test_failed(void **state)
{
	static const struct {
		size_t residue;
		uint64_t left[4]; /* of each I/O */
		unsigned errors;
	} cases[] = {
		{4096, {0, 0, 0, 4096}, 1},
		{4097, {0, 0, 1, 4096}, 2},
		{8192, {0, 0, 4096, 4096}, 2},
		{16384, {4096, 4096, 4096, 4096}, 4},
		{16383, {4095, 4096, 4096, 4096}, 4},
		{0, {0, 0, 0, 0}, 1}, /* it failed all the same */
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct rig rig = open_merging("path=dma max_merge=2m", 4096, "sw");
		uint64_t arrived = 16384 - cases[c].residue;

		script.fail = 1;
		script.residue = cases[c].residue;
		for (unsigned i = 0; i < 4; i++)
			hand_in(&rig, i, i * 4096, 4096, CP_DIR_WRITE);
		hand_back_all(&rig, 4);
		for (unsigned i = 0; i < 4; i++) {
			bool short_of = i >= 4 - cases[c].errors;

			assert_int_equal(ios[i].error, short_of ? EIO : 0);
			assert_int_equal(ios[i].residue, cases[c].left[i]);
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.errors, cases[c].errors);
		assert_int_equal(proof.bytes_dma, arrived);
		assert_int_equal(proof.bytes_cpu, 0);
		rig_close(&rig);
	}
}

/* Description: of a merged request that a channel refuses each I/O falls back, counted
 * once by its reason, and its bytes arrive. */
static void test_refused(void **state)
{
	static const struct {
		const char *ring_full;
		int rc;
		unsigned full, error;
	} cases[] = {
		{"cpu", -EAGAIN, 4, 0},
		{"wait", -EAGAIN, 0, 0},
		{"cpu", -EIO, 0, 4},
		{"wait", -EINVAL, 0, 4},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		char settings[96];
		unsigned fell = cases[c].full + cases[c].error;

		snprintf(settings, sizeof(settings), "path=dma max_merge=2m ring_full=%s",
			 cases[c].ring_full);
		struct rig rig = open_merging(settings, 4096, "sw");

		script.refuse = 1;
		script.refuse_rc = cases[c].rc;
		for (unsigned i = 0; i < 4; i++)
			hand_in(&rig, i, i * 4096, 4096, CP_DIR_READ);
		memset(near, 0xee, sizeof(near));
		hand_back_all(&rig, 4);
		struct cp_proof proof = proof_of(&rig);

		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(ios[i].error, 0);
			assert_memory_equal(near[i], rig.dev->far + i * 4096, 4096);
			assert_int_equal(near[i][4096], 0xee);
		}
		assert_int_equal(proof.fallback.ring_full, cases[c].full);
		assert_int_equal(proof.fallback.error, cases[c].error);
		assert_int_equal(proof.bytes_fallback, fell * 4096);
		assert_int_equal(proof.bytes_cpu, fell * 4096);
		assert_int_equal(proof.bytes_dma, 4 * 4096 - fell * 4096);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),	cmocka_unit_test(test_joined),
		cmocka_unit_test(test_when),	cmocka_unit_test(test_looking),
		cmocka_unit_test(test_tags),	cmocka_unit_test(test_decision),
		cmocka_unit_test(test_bytes),	cmocka_unit_test(test_failed),
		cmocka_unit_test(test_refused),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
