// SPDX-License-Identifier: GPL-2.0-only
/* The idxd engine on an emulated device: what it sends, where it waits, how it opens. */
#include "engines/dma/t/idxd_rig.h"

#include <errno.h>

/* Description: near segments that touch are one descriptor; others are batches of at most
 * the queue's size with one record each, and a last one by itself. */
static void segments_become_batches(void **state)
{
	static const struct {
		const char *spec;
		unsigned nr;
		size_t len, gap;
		unsigned batches, moves, records;
	} cases[] = {
		{DEDICATED, 1, 100, 0, 0, 1, 1},
		{DEDICATED, 128, 100, 0, 0, 1, 1},
		{DEDICATED, 2, 100, 1, 1, 2, 1},
		{DEDICATED, 32, 100, 1, 1, 32, 1},
		{DEDICATED, 33, 100, 1, 1, 33, 2},
		{DEDICATED, 34, 100, 1, 2, 34, 2},
		{DEDICATED, 128, 100, 1, 4, 128, 4},
		{SHARED, 128, 4096, 64, 4, 128, 4},
		{DEDICATED ",batch=1", 5, 9, 1, 0, 5, 5},
		{DEDICATED ",batch=4", 9, 9, 1, 2, 9, 3},
		/* cut at the largest transfer: 64 + 64 + 22 */
		{SMALL, 1, 150, 0, 1, 3, 1},
		{SMALL, 2, 150, 1, 2, 6, 2},
		{SMALL, 1, 64, 0, 0, 1, 1},
		{SMALL, 2, 32, 0, 0, 1, 1},
		/* 128 x 3 elements are three rounds of 32 batches */
		{SMALL, 128, 150, 1, 96, 384, 96},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (enum cp_dir dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
			struct rig rig = rig_open(cases[i].spec, 8, false);
			size_t size = cases[i].nr * (cases[i].len + cases[i].gap);
			unsigned char *near = pattern(size, 1), *far = pattern(size, 77);
			struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
			uint64_t batches = emu->counts.batches;
			uint64_t moves = emu->counts.moves;
			uint64_t records = emu->counts.records;

			segments(sg, near, cases[i].nr, cases[i].len, cases[i].gap);
			struct cp_dma_completion done =
				transact(&rig, dir, far, sg, cases[i].nr);

			assert_int_equal(done.result, CP_DMA_OK);
			assert_int_equal(done.residue, 0);
			check_moved(far, sg, cases[i].nr, SIZE_MAX);
			assert_int_equal(emu->counts.batches - batches, cases[i].batches);
			assert_int_equal(emu->counts.moves - moves, cases[i].moves);
			assert_int_equal(emu->counts.records - records, cases[i].records);
			rig_close(&rig);
			free(near);
			free(far);
		}
	}
	assert_int_equal(emu->counts.refused, 0);
	assert_int_equal(emu->counts.dropped, 0);
}

static bool note_flags(void *arg, const struct idxd_emu_desc *desc,
		       struct idxd_emu_act *act)
{
	(void)act;
	*(uint32_t *)arg = desc->flags;
	return false;
}

/* Description: reads go to the cache where the device knows how and writes go past it;
 * the device blocks on a fault where the queue allows it. */
static void flags_are_the_queues(void **state)
{
	static const struct {
		const char *spec;
		enum cp_dir dir;
		uint32_t flags;
	} cases[] = {
		{DEDICATED, CP_DIR_READ, 0x10c},
		{DEDICATED, CP_DIR_WRITE, 0x00c},
		{SMALL, CP_DIR_READ, 0x00e},
		{SMALL, CP_DIR_WRITE, 0x00e},
	};
	unsigned char far[8] = {0}, near[8] = {0};
	struct cp_dma_sg sg = {.addr = near, .len = 8};
	uint32_t flags = 0;

	(void)state;
	emu->script = note_flags;
	emu->arg = &flags;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_open(cases[i].spec, 8, false);

		transact(&rig, cases[i].dir, far, &sg, 1);
		assert_int_equal(flags, cases[i].flags);
		rig_close(&rig);
	}
}

/* Description: writes that are to be durable, and only those, are read back by a device
 * that knows how, alone and in batches; the channel says whether they are. */
static void durable_writes_are_read_back(void **state)
{
	static const struct {
		const char *spec;
		enum cp_dma_durable durable;
		enum cp_dir dir;
		uint32_t readback;
		const char *text;
	} cases[] = {
		{DEDICATED, CP_DMA_POSTED, CP_DIR_WRITE, 0, "(dedicated)"},
		{DEDICATED, CP_DMA_DURABLE_WANTED, CP_DIR_WRITE, 0x4000,
		 "(dedicated, readback)"},
		{DEDICATED, CP_DMA_DURABLE_REQUIRED, CP_DIR_WRITE, 0x4000,
		 "(dedicated, readback)"},
		{DEDICATED, CP_DMA_DURABLE_REQUIRED, CP_DIR_READ, 0,
		 "(dedicated, readback)"},
		{SMALL, CP_DMA_DURABLE_WANTED, CP_DIR_WRITE, 0, "(shared, no readback)"},
	};
	unsigned char far[32] = {0}, near[64] = {0};
	struct cp_dma_sg sg[8];
	uint32_t flags = 0;

	(void)state;
	segments(sg, near, 8, 4, 4);
	emu->script = note_flags;
	emu->arg = &flags;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		size_t c = i / 2;
		struct cp_dma_cfg cfg = {.spec = cases[c].spec,
					 .node = -1,
					 .cpu = -1,
					 .durable = cases[c].durable};
		struct cp_err err = {0};
		struct rig rig = {.ops = cp_dma_find(cfg.spec, &err)};

		assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
		/* of the last descriptor: the one, or the batch's last */
		struct cp_dma_completion done =
			transact(&rig, cases[c].dir, far, sg, i % 2 ? 8 : 1);

		assert_int_equal(done.result, CP_DMA_OK);
		assert_int_equal(flags & 0x4000, cases[c].readback);
		assert_non_null(strstr(rig.ops->describe(rig.chan), cases[c].text));
		rig_close(&rig);
	}
}

/* Description: a dedicated queue is never given more than it holds, however many
 * descriptors the transactions are. */
static void dedicated_queue_never_overflows(void **state)
{
	struct cp_dma_completion done[32];
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	const size_t size = 128UL * 9;
	unsigned char *near[32], *far[32];

	(void)state;
	struct rig rig = rig_open(DEDICATED ",batch=1", 32, false);

	atomic_store(&emu->paused, true);
	for (unsigned i = 0; i < 32; i++) {
		near[i] = pattern(size, i);
		far[i] = pattern(size, i + 100);
		segments(sg, near[i], 128, 8, 1);
		assert_int_equal(rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_WRITE, far[i],
							 sg, 128, 0, near[i]),
				 0);
		rig.ops->submit(rig.chan);
	}
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(rig.ops->reap(rig.chan, done, 32), 0);
	atomic_store(&emu->paused, false);
	rig_reap(&rig, done, 32);
	assert_int_equal(emu->counts.dropped, 0);
	assert_int_equal(emu->counts.moves, 32 * 128);
	for (unsigned i = 0; i < 32; i++) {
		segments(sg, near[i], 128, 8, 1);
		check_moved(far[i], sg, 128, SIZE_MAX);
		free(near[i]);
		free(far[i]);
	}
	rig_close(&rig);
}

/* Description: what a full shared queue does not take is asked again a bounded number of
 * times, waits for the next doorbell or reap, and is neither lost nor sent twice. */
static void full_shared_queue_loses_nothing(void **state)
{
	struct rig rigs[2] = {rig_open(SHARED, 24, false), rig_open(SHARED, 24, false)};
	unsigned char far[48] = {0}, near[48];
	struct cp_dma_completion done[24];

	(void)state;
	memset(near, 7, sizeof(near));
	atomic_store(&emu->paused, true);
	for (unsigned i = 0; i < 48; i++)
		rig_submit(&rigs[i / 24], CP_DIR_WRITE, far + i, near + i, 1, 0, NULL);
	rigs[0].ops->issue_pending(rigs[0].chan);
	assert_int_equal(emu->counts.retries, 0);
	rigs[1].ops->issue_pending(rigs[1].chan);
	uint64_t retries = emu->counts.retries;

	/* of one descriptor: those behind it need not be tried */
	assert_in_range(retries, 1, 16);
	assert_int_equal(rigs[1].ops->reap(rigs[1].chan, done, 24), 0);
	assert_true(emu->counts.retries > retries);
	atomic_store(&emu->paused, false);
	rig_reap(&rigs[0], done, 24);
	rig_reap(&rigs[1], done, 24);
	assert_memory_equal(far, near, 48);
	assert_int_equal(emu->counts.moves, 48);
	rig_close(&rigs[0]);
	rig_close(&rigs[1]);
}

/* Description: a fenced transaction sees what all before it moved, on a device that
 * completes in random order, and those behind it may not overtake it. */
static void fences_hold(void **state)
{
	const size_t len = 2048;
	unsigned char far[3 * 2048], in[3 * 2048], out[3 * 2048];
	struct rig rig = rig_open(SHARED, 16, false);
	struct cp_dma_completion done[5];

	(void)state;
	emu->reorder = true;
	for (unsigned i = 0; i < 500; i++) {
		memset(in, (int)(i % 251) + 1, sizeof(in));
		memset(out, 0, sizeof(out));
		for (unsigned k = 0; k < 3; k++)
			rig_submit(&rig, CP_DIR_WRITE, far + k * len, in + k * len, len,
				   0, NULL);
		rig_submit(&rig, CP_DIR_READ, far, out, sizeof(out), CP_DMA_FENCE, NULL);
		rig_submit(&rig, CP_DIR_WRITE, far, in, 1, CP_DMA_FENCE, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 5);
		assert_memory_equal(in, out, sizeof(in));
		assert_int_equal(done[3].cookie, 5 * i + 4);
		assert_int_equal(done[4].cookie, 5 * i + 5);
	}
	rig_close(&rig);
}

/* Description: completions are handed out as the device writes them, not in the order of
 * submission: one that takes its time holds up nobody. */
static void order_is_the_devices(void **state)
{
	unsigned char far[16] = {0}, near[16] = {0};
	struct rig rig = rig_open(SHARED, 16, false);
	struct cp_dma_completion done[16];
	uint64_t seen = 0;

	(void)state;
	emu->reorder = true;
	atomic_store(&emu->hold, (uintptr_t)&far[3]);
	for (unsigned i = 0; i < 16; i++)
		rig_submit(&rig, CP_DIR_READ, far + i, near + i, 1, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 15);
	for (unsigned i = 0; i < 15; i++)
		seen |= 1ULL << done[i].cookie;
	assert_int_equal(seen, 0x1fffe & ~(1U << 4));
	assert_int_equal(rig.ops->reap(rig.chan, done, 16), 0);
	atomic_store(&emu->hold, 0);
	rig_reap(&rig, done, 1);
	assert_int_equal(done[0].cookie, 4);
	rig_close(&rig);
}

/* Description: without a mapped portal descriptors go through write(), as no batch on a
 * device of the first version, where Linux refuses those, and in batches on later ones.
 */
static void write_submits(void **state)
{
	static const struct {
		bool first_version;
		unsigned batches;
	} cases[] = {{true, 0}, {false, 1}};
	unsigned char near[64], far[32] = {0};
	struct cp_dma_sg sg[8];

	(void)state;
	emu->no_portal = true;
	for (size_t i = 0; i < 2; i++) {
		uint64_t before = emu->counts.batches;

		emu->wqs[0].first_version = cases[i].first_version;
		struct rig rig = rig_open(DEDICATED, 8, false);

		memset(near, (int)i + 1, sizeof(near));
		segments(sg, near, 8, 4, 4);
		assert_int_equal(transact(&rig, CP_DIR_WRITE, far, sg, 8).result,
				 CP_DMA_OK);
		check_moved(far, sg, 8, SIZE_MAX);
		assert_int_equal(emu->counts.batches - before, cases[i].batches);
		assert_string_equal(rig.ops->describe(rig.chan),
				    "idxd/dsa0/wq0.0 (dedicated, write)");
		rig_close(&rig);
	}
}

/* Description: a submission that fails for good aborts its transaction, claims nothing,
 * and leaves the channel in use. */
static void failed_submission_is_aborted(void **state)
{
	unsigned char near[64] = {0}, far[32] = {0};
	struct cp_dma_sg sg[8];

	(void)state;
	emu->no_portal = true;
	struct rig rig = rig_open(DEDICATED, 8, false);

	segments(sg, near, 8, 4, 4);
	for (unsigned nr = 1; nr <= 8; nr += 7) {
		emu->submit_rc = -EIO;
		struct cp_dma_completion done = transact(&rig, CP_DIR_WRITE, far, sg, nr);

		assert_int_equal(done.result, CP_DMA_ABORTED);
		assert_int_equal(done.residue, 4 * nr);
		emu->submit_rc = 0;
		done = transact(&rig, CP_DIR_WRITE, far, sg, nr);
		assert_int_equal(done.result, CP_DMA_OK);
	}
	rig_close(&rig);
}

/* Description: a channel says which queue it is on, uses no CPU, cannot wait, and has as
 * many places as were asked for, whatever the queue has, or were not, and the queue has.
 */
static void channels_say_what_they_are(void **state)
{
	static const struct {
		const char *spec;
		unsigned asked, ring;
		const char *text;
	} cases[] = {
		{DEDICATED, 0, 32, "idxd/dsa0/wq0.0 (dedicated)"},
		{DEDICATED, 7, 7, "idxd/dsa0/wq0.0 (dedicated)"},
		{SHARED, 0, 24, "idxd/dsa0/wq0.1 (shared)"},
		{SHARED ",ring=2", 16, 2, "idxd/dsa0/wq0.1 (shared)"},
		{"idxd", 16, 16, "idxd/dsa0/wq0.1 (shared)"},
		/* no queue has so many entries: the rest of them waits */
		{"idxd", 25, 25, "idxd/dsa0/wq0.1 (shared)"},
		{DEDICATED, 128, 128, "idxd/dsa0/wq0.0 (dedicated)"},
		{DEDICATED, 65536, 16384, "idxd/dsa0/wq0.0 (dedicated)"},
		{"idxd:ring=25", 8, 25, "idxd/dsa0/wq0.0 (dedicated)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_open(cases[i].spec, cases[i].asked, true);

		assert_int_equal(rig.ops->space(rig.chan), cases[i].ring);
		assert_string_equal(rig.ops->describe(rig.chan), cases[i].text);
		assert_int_equal(rig.ops->cpu_ns(rig.chan), 0);
		assert_int_equal(rig.ops->wait(rig.chan, 0), -ENOSYS);
		assert_string_equal(rig.traits.provenance, "hardware");
		assert_true(rig.traits.moves_data && !rig.traits.irq);
		assert_false(rig.traits.threads);
		rig_close(&rig);
	}
}

/* What auto is for a channel with an interrupt and a ring of so many. */
static const char *chosen(bool irq, unsigned ring, enum cp_dma_durable durable,
			  const char *passed_over)
{
	struct cp_dma_cfg cfg = {.spec = "auto",
				 .ring = ring,
				 .node = -1,
				 .cpu = -1,
				 .irq = irq,
				 .durable = durable};
	struct cp_err err = {0}, passed = {0};
	const struct cp_dma_ops *ops = cp_dma_choose(&cfg, &passed, &err);

	assert_non_null(ops);
	assert_string_equal(cfg.spec, ops->name);
	if (!*passed_over)
		assert_string_equal(passed.msg, "");
	else if (strncmp(passed.msg, "idxd: ", 6) != 0 ||
		 !strstr(passed.msg, passed_over))
		fail_msg("'%s' lacks '%s'", passed.msg, passed_over);
	return ops->name;
}

/* Description: auto is idxd where it is usable and has what is asked, whatever the depth,
 * else sw, with the reason why; none where there is no device. */
static void auto_prefers_hardware(void **state)
{
	struct cp_err err = {0};

	(void)state;
	assert_string_equal(chosen(false, 8, CP_DMA_POSTED, ""), "idxd");
	assert_string_equal(chosen(true, 8, CP_DMA_POSTED, "it has no interrupt"), "sw");
	assert_string_equal(chosen(false, 1024, CP_DMA_DURABLE_REQUIRED, ""), "idxd");
	assert_string_equal(cp_dma_find("auto", &err)->name, "idxd");
	emu->wqs[0].readback = emu->wqs[1].readback = false;
	assert_string_equal(chosen(false, 8, CP_DMA_DURABLE_WANTED, ""), "idxd");
	assert_string_equal(chosen(false, 8, CP_DMA_DURABLE_REQUIRED, "cannot read back"),
			    "sw");
	emu->wqs[0].state = emu->wqs[1].state = IDXD_WQ_DISABLED;
	emu->wqs[2].pasid = false;
	assert_string_equal(cp_dma_find("auto", &err)->name, "sw");
	assert_string_equal(
		chosen(false, 8, CP_DMA_POSTED, "'/dev/dsa/wq0.0' is disabled"), "sw");
	emu->absent = true;
	assert_string_equal(chosen(false, 8, CP_DMA_POSTED, ""), "sw");
}

/* Description: two dedicated queues serve two channels, a third channel is refused, and a
 * queue that is closed can be had again. */
static void dedicated_queues_are_one_channels(void **state)
{
	const struct cp_dma_ops *ops = cp_dma_find("idxd", &(struct cp_err){0});
	struct cp_dma_cfg cfg = {
		.spec = "idxd", .node = -1, .cpu = -1, .exclusive = true};
	struct cp_dma_chan *chans[3] = {NULL};
	struct cp_err err = {0};

	(void)state;
	emu->wqs[1].dedicated = true;
	emu->nr_wqs = 2;
	assert_int_equal(ops->open(&cfg, &chans[0], &err), 0);
	assert_int_equal(ops->open(&cfg, &chans[1], &err), 0);
	assert_string_not_equal(ops->describe(chans[0]), ops->describe(chans[1]));
	assert_int_equal(ops->open(&cfg, &chans[2], &err), -EBUSY);
	assert_non_null(strstr(err.msg, "dedicated and in use"));
	ops->close(chans[0]);
	assert_int_equal(ops->open(&cfg, &chans[2], &err), 0);
	ops->close(chans[1]);
	ops->close(chans[2]);
}

/* Description: settings that are wrong on any machine are refused by check() and open().
 */
static void wrong_settings_are_refused(void **state)
{
	static const struct {
		const char *spec, *error;
	} cases[] = {
		{"idxd:/dev/dsa", "'/dev/dsa' is no work queue; expected one as"},
		{"idxd:/dev/dsa/wq0", "is no work queue"},
		{"idxd:/dev/dsa/wq0.0x", "is no work queue"},
		{"idxd:ring=0", "ring"},
		{"idxd:ring=16385", "ring"},
		{"idxd:batch=0", "batch"},
		{"idxd:batch=129", "batch"},
		{"idxd:threads=2", "unknown setting 'threads'; expected ring, batch"},
	};
	const struct cp_dma_ops *ops = cp_dma_find("idxd", &(struct cp_err){0});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {.spec = cases[i].spec, .node = -1, .cpu = -1};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};

		assert_true(ops->check(cases[i].spec, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
	}
}

static void make_denied(void)
{
	emu->open_rc = -EACCES;
}

static void make_unwritable(void)
{
	emu->no_portal = true;
	emu->submit_rc = -EINVAL;
}

static void make_nothing(void)
{
}

/* Description: an open that cannot be had says why, and leaves nothing open. */
static void wrong_opens_are_refused(void **state)
{
	static const struct {
		const char *spec;
		unsigned ring;
		void (*make)(void);
		int rc;
		const char *error;
	} cases[] = {
		{"idxd:/dev/dsa/wq9.0", 8, make_nothing, -ENOENT,
		 "expected /dev/dsa/wq0.0"},
		{"idxd:/dev/dsa/wq0.0,ring=33", 8, make_nothing, -EINVAL,
		 "a ring of '33'"},
		{"idxd:ring=64", 8, make_nothing, -EINVAL, "a ring of '64'"},
		{"idxd", 8, make_denied, -EACCES, "opens nothing"},
		{"idxd", 8, make_unwritable, -EINVAL,
		 "takes no descriptor by write: Invalid argument; expected "
		 "CAP_SYS_RAWIO"},
	};
	const struct cp_dma_ops *ops = cp_dma_find("idxd", &(struct cp_err){0});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {
			.spec = cases[i].spec,
			.ring = cases[i].ring,
			.node = -1,
			.cpu = -1,
		};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};

		cases[i].make();
		/* what an open would say can be had without one, where it is the queue's
		 */
		if (cases[i].make == make_nothing) {
			assert_int_equal(cp_dma_usable(ops, &cfg, &err), cases[i].rc);
			assert_non_null(strstr(err.msg, cases[i].error));
		}
		assert_int_equal(ops->open(&cfg, &chan, &err), cases[i].rc);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		emu->open_rc = emu->submit_rc = 0;
		for (unsigned q = 0; q < emu->nr_wqs; q++)
			assert_int_equal(emu->wqs[q].clients, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		emu_test(segments_become_batches),
		emu_test(flags_are_the_queues),
		emu_test(durable_writes_are_read_back),
		emu_test(dedicated_queue_never_overflows),
		emu_test(full_shared_queue_loses_nothing),
		emu_test(fences_hold),
		emu_test(order_is_the_devices),
		emu_test(write_submits),
		emu_test(failed_submission_is_aborted),
		emu_test(channels_say_what_they_are),
		emu_test(auto_prefers_hardware),
		emu_test(dedicated_queues_are_one_channels),
		emu_test(wrong_settings_are_refused),
		emu_test(wrong_opens_are_refused),
	};

	print_message("not asserted: the instructions MOVDIR64B and ENQCMD, write() to a "
		      "device file, SVA: there is no device in a test\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
