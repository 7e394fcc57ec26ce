/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One I/O in several parts: transactions of at most 128 segments, the CPU's share of a
 * large one, and what the CPU copies when a channel does not take it.
 */
#include "engines/queue/t/rig.h"
#include "engines/queue/t/script.h"

#define BYTES	     (1U << 20)
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char buffer[BYTES + 2 * GUARD];

static unsigned char pattern(uint64_t at)
{
	return (unsigned char)(at * 7 + (at >> 12) * 3 + 1);
}

static struct rig open_scripted(const char *settings, uint64_t segment)
{
	char text[200];

	snprintf(text, sizeof(text), "queue_mode=mq path=dma %s", settings);
	struct cp_dev_cfg cfg = config(text);

	cfg.segment = segment;
	struct rig rig = rig_open(&cfg);

	script_start(&rig);
	return rig;
}

/* One I/O; every byte where it belongs and none beside it. */
static void move(struct rig *rig, uint64_t offset, uint64_t bytes, enum cp_dir dir)
{
	unsigned char *near = buffer + GUARD, *far = rig->dev->far + offset;
	unsigned char *to = dir == CP_DIR_READ ? near : far;
	unsigned char *from = dir == CP_DIR_READ ? far : near;
	struct cp_io io = {.near = near, .offset = offset, .bytes = bytes, .dir = dir};

	memset(from, 0xcc, bytes);
	memset(to - GUARD, 0xee, bytes + 2 * GUARD);
	for (uint64_t i = 0; i < bytes; i++)
		from[i] = pattern(i);
	one(rig, &io, true);
	assert_int_equal(io.error, 0);
	assert_int_equal(io.residue, 0);
	for (uint64_t i = 0; i < bytes; i++)
		assert_int_equal(to[i], pattern(i));
	for (unsigned i = 1; i <= GUARD; i++) {
		assert_int_equal(to[-(ptrdiff_t)i], 0xee);
		assert_int_equal(to[bytes + i - 1], 0xee);
	}
}

/* Description: an I/O above 128 segments goes in as many transactions as it takes, and is
 * counted as split once; one of 128 is not. */
static void test_segments(void **state)
{
	static const struct {
		uint64_t segment, bytes;
		unsigned transactions;
	} cases[] = {
		{4096, 524288, 1}, {4096, 524289, 2}, {4096, BYTES, 2},	 {512, BYTES, 16},
		{512, 65537, 2},   {1000, 128000, 1}, {1000, 128001, 2},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		for (int dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
			struct rig rig = open_scripted("dma=sw", cases[c].segment);

			move(&rig, 4099, cases[c].bytes, (enum cp_dir)dir);
			struct cp_proof proof = proof_of(&rig);

			assert_int_equal(proof.queue.requests, 1);
			assert_int_equal(proof.queue.split, cases[c].transactions > 1);
			assert_int_equal(proof.queue.crossed, 0);
			assert_int_equal(proof.queue.transactions, cases[c].transactions);
			assert_int_equal(script.nr, cases[c].transactions);
			assert_int_equal(proof.bytes_dma, cases[c].bytes);
			rig_close(&rig);
		}
	}
}

/* Description: the CPU copies the last split_pct percent of a request of at least 16k and
 * two segments, from a whole line of the far side on, and smaller ones are the channel's.
 */
static void test_share(void **state)
{
	static const struct {
		const char *settings;
		uint64_t segment, offset, bytes, cpu;
	} cases[] = {
		{"dma=sw split_pct=25", 4096, 4096, 65536, 16384},
		{"dma=sw split_pct=50", 4096, 4096, 16384, 8192},
		{"dma=sw split_pct=50", 4096, 4096, 16383, 0},
		{"dma=sw split_pct=50", 16384, 4096, 16384, 0},
		{"dma=sw split_pct=50", 16383, 4096, 16384, 8192},
		{"dma=sw split_pct=1", 4096, 4096, 65536, 640},	   /* of 655 */
		{"dma=sw split_pct=99", 4096, 4096, 65536, 64832}, /* of 64880 */
		{"dma=sw split_pct=25", 4096, 4099, 65536, 16323}, /* 61 to a line */
		{"dma=sw split_pct=50", 512, 4096, BYTES, BYTES / 2},
		{"dma=sw:ring=2 split_pct=30", 512, 64, 500000, 149984},
		{"dma=sw completion=irq split_pct=40", 4096, 4096, 163840, 65536},
		{"dma=sw:threads=2 split_pct=40", 4096, 4096, 163840, 65536},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		for (int dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
			struct rig rig =
				open_scripted(cases[c].settings, cases[c].segment);

			move(&rig, cases[c].offset, cases[c].bytes, (enum cp_dir)dir);
			struct cp_proof proof = proof_of(&rig);

			assert_int_equal(proof.bytes_split, cases[c].cpu);
			assert_int_equal(proof.bytes_cpu, cases[c].cpu);
			assert_int_equal(proof.bytes_dma, cases[c].bytes - cases[c].cpu);
			assert_int_equal(proof.bytes_fallback, 0);
			assert_int_equal(proof.errors, 0);
			rig_close(&rig);
		}
	}
}

/* Description: what a channel does not take the CPU copies, counted once an I/O by the
 * reason, and all bytes arrive; told to wait for a ring, nothing falls back. */
static void test_refused(void **state)
{
	static const struct {
		const char *settings;
		unsigned after, times;
		int rc;
		uint64_t fallback, split;
		unsigned full, error, many;
	} cases[] = {
		/* 1m of 512 byte segments: 16 transactions of 64k */
		{"dma=sw", 0, 7, -EAGAIN, 0, 0, 0, 0, 0},
		{"dma=sw completion=irq", 3, 2, -EAGAIN, 0, 0, 0, 0, 0},
		{"dma=sw", 0, 1, -EIO, BYTES, 0, 0, 1, 0},
		{"dma=sw", 1, 1, -EINVAL, BYTES - 65536, 0, 0, 1, 0},
		{"dma=sw", 3, 1, -EINVAL, BYTES - 196608, 0, 0, 1, 0},
		{"dma=sw ring_full=cpu", 0, 1, -EAGAIN, BYTES, 0, 1, 0, 0},
		{"dma=sw ring_full=cpu", 15, 1, -EAGAIN, 65536, 0, 1, 0, 0},
		{"dma=sw:ring=8 ring_full=cpu", 99, 0, 0, BYTES / 2, 0, 0, 0, 1},
		{"dma=sw:ring=16 ring_full=cpu", 15, 1, -EAGAIN, 65536, 0, 1, 0, 0},
		{"dma=sw split_pct=25 ring_full=cpu", 0, 1, -EAGAIN, BYTES / 4 * 3,
		 BYTES / 4, 1, 0, 0},
		{"dma=sw split_pct=25", 11, 1, -EIO, 65536, BYTES / 4, 0, 1, 0},
		{"dma=sw:ring=2 split_pct=25", 99, 0, 0, 0, BYTES / 4, 0, 0, 0},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		for (int dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
			struct rig rig = open_scripted(cases[c].settings, 512);
			uint64_t cpu = cases[c].fallback + cases[c].split;

			script.refuse_after = cases[c].after;
			script.refuse = cases[c].times;
			script.refuse_rc = cases[c].rc;
			move(&rig, 4096, BYTES, (enum cp_dir)dir);
			struct cp_proof proof = proof_of(&rig);

			assert_int_equal(proof.bytes_fallback, cases[c].fallback);
			/* of several transactions only where a channel took several */
			assert_int_equal(proof.queue.transactions, script.nr);
			assert_int_equal(proof.queue.split, script.nr > 1);
			assert_int_equal(proof.bytes_split, cases[c].split);
			assert_int_equal(proof.bytes_cpu, cpu);
			assert_int_equal(proof.bytes_dma, BYTES - cpu);
			assert_int_equal(proof.fallback.ring_full, cases[c].full);
			assert_int_equal(proof.fallback.error, cases[c].error);
			assert_int_equal(proof.fallback.too_many_segments, cases[c].many);
			assert_int_equal(proof.fallback.no_channel, 0);
			rig_close(&rig);
		}
	}
}

/* Description: a transaction that fails makes its I/O fail, with the bytes of all its
 * parts that did not arrive; it is not tried again, and what arrived is counted. */
static void test_failed(void **state)
{
	static const struct {
		const char *settings;
		cp_dma_cookie fail;
		size_t residue;
		uint64_t split;
	} cases[] = {
		{"dma=sw", 1, 65536, 0},
		{"dma=sw", 16, 1, 0},
		{"dma=sw", 7, 0, 0},
		{"dma=sw split_pct=25", 3, 4096, BYTES / 4},
		{"dma=sw:ring=2 completion=irq", 9, 65536, 0},
	};

	(void)state;
	for (size_t c = 0; c < NR_OF(cases); c++) {
		struct rig rig = open_scripted(cases[c].settings, 512);
		struct cp_io io = {.near = buffer, .bytes = BYTES, .dir = CP_DIR_WRITE};
		uint64_t arrived = BYTES - cases[c].residue;

		script.fail = cases[c].fail;
		script.residue = cases[c].residue;
		one(&rig, &io, true);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(io.error, EIO);
		assert_int_equal(io.residue, cases[c].residue);
		assert_int_equal(proof.errors, 1);
		assert_int_equal(proof.bytes_split, cases[c].split);
		assert_int_equal(proof.bytes_cpu, cases[c].split);
		assert_int_equal(proof.bytes_dma, arrived - cases[c].split);
		assert_int_equal(proof.bytes_fallback, 0);
		assert_int_equal(script.nr, cases[c].split ? 12 : 16);
		rig_close(&rig);
	}
}

static int open_fails(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		      struct cp_err *err)
{
	(void)cfg;
	(void)ret_chan;
	return cp_err_set(err, CP_EXIT_INVALID, EBUSY, "all work queues are taken");
}

/* Description: a channel that does not open is no error where any engine would do: CPUs
 * copy, said once with the reason and counted for each I/O; of a named engine it is one.
 */
static void test_no_channel(void **state)
{
	static const char *const engines[] = {"auto", "sw"};

	(void)state;
	for (unsigned named = 0; named < 2; named++) {
		char settings[64];
		struct cp_sub *second;
		struct cp_dma_ops ops;
		struct cp_err err;
		struct rig rig;

		snprintf(settings, sizeof(settings), "queue_mode=mq path=dma dma=%s",
			 engines[named]);
		struct cp_dev_cfg cfg = config(settings);

		assert_int_equal(cp_dev_open(&cfg, &rig.dev, &err), 0);
		ops = *rig.dev->dma;
		ops.open = open_fails;
		rig.dev->dma = &ops;
		int rc = cp_sub_open(rig.dev, &rig.sub, &err);

		if (named) {
			assert_int_equal(rc, -EBUSY);
			cp_dev_close(rig.dev);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(cp_sub_open(rig.dev, &second, &err), 0);
		cp_sub_close(second);
		assert_string_equal(
			cp_dev_notes(rig.dev),
			"forced back to bio, no DMA: all work queues are taken");
		cp_sub_measure_begin(rig.sub);
		move(&rig, 4096, BYTES, CP_DIR_READ);
		move(&rig, 4096, 512, CP_DIR_WRITE);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.fallback.no_channel, 2);
		assert_int_equal(proof.bytes_fallback, BYTES + 512);
		assert_int_equal(proof.bytes_cpu, BYTES + 512);
		assert_int_equal(proof.queue.transactions, 0);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),   cmocka_unit_test(test_share),
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_failed),
		cmocka_unit_test(test_no_channel),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
