/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flushes and fences behind writes: of which bytes, when, and what a fault in one claims.
 * The device's row of instructions is replaced by one that notes its ranges.
 */
#include "engines/queue/t/rig.h"
#include "engines/queue/t/script.h"

#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/flush.h"
#include "engines/queue/internal.h"
#include "engines/queue/t/noting.h"

/* Description: behind a CPU write of ordinary stores the whole range is flushed, once and
 * with its bytes there; behind NT stores only ranges with partial lines, and those at
 * their edges; behind a read, and where nothing was asked for, nothing. What is due is
 * fenced when the I/O is back, with fua or without. */
static void cpu_ranges(void **state)
{
	static const struct {
		const char *settings;
		bool mq;
		uint64_t offset, bytes;
		enum cp_dir dir;
		unsigned all, edges;
	} cases[] = {
		{"copy=memcpy persist=auto", false, 4096, BS, CP_DIR_WRITE, 1, 0},
		{"copy=memcpy flush=clflush", false, 4097, 100, CP_DIR_WRITE, 1, 0},
		{"copy=memcpy persist=auto queue_mode=mq", true, 8192, BS, CP_DIR_WRITE,
		 1, 0},
		{"copy=nt persist=auto", false, 4096, BS, CP_DIR_WRITE, 0, 0},
		{"copy=nt persist=auto", false, 4096, 100, CP_DIR_WRITE, 0, 1},
		{"copy=nt persist=auto", false, 4100, BS, CP_DIR_WRITE, 0, 1},
		{"copy=nt persist=auto queue_mode=mq", true, 4100, 60, CP_DIR_WRITE, 0,
		 1},
		{"copy=memcpy persist=auto queue_mode=page", false, 8192, 4096,
		 CP_DIR_WRITE, 1, 0},
		{"copy=nt persist=auto queue_mode=page", false, 8192, 4096, CP_DIR_WRITE,
		 0, 0},
		{"copy=memcpy persist=auto queue_mode=page", false, 8192, 4096,
		 CP_DIR_READ, 0, 0},
		{"copy=memcpy persist=auto", false, 4096, BS, CP_DIR_READ, 0, 0},
		{"copy=memcpy persist=auto queue_mode=mq", true, 0, BS, CP_DIR_READ, 0,
		 0},
		{"copy=memcpy", false, 4096, BS, CP_DIR_WRITE, 0, 0},
		{"copy=memcpy fence=mfence", false, 4096, BS, CP_DIR_WRITE, 0, 0},
	};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t k = 0; k < 2 * NR_OF(cases); k++) {
		size_t i = k / 2;
		struct rig rig = rig_noting(cases[i].settings);
		struct cp_io io = io_at(0, cases[i].offset, cases[i].bytes, cases[i].dir);

		io.fua = k % 2;
		if (strstr(cases[i].settings, "queue_mode=page"))
			cp_sub_page(rig.sub, &io);
		else
			one(&rig, &io, cases[i].mq);
		assert_int_equal(io.error, 0);
		if (seen.all != cases[i].all || seen.edges != cases[i].edges)
			fail_msg("%s: %u whole ranges, %u edges", cases[i].settings,
				 seen.all, seen.edges);
		if (seen.all + seen.edges) {
			assert_int_equal(seen.offset, cases[i].offset);
			assert_int_equal(seen.len, cases[i].bytes);
		}
		assert_int_equal(seen.stale, 0);
		assert_false(rig.sub->fence_due);
		rig_close(&rig);
	}
}

/* Description: libpmem counts as NT stores only when its environment leaves it at that;
 * else all lines are flushed behind it, and fenced. */
static void libpmem_is_flushed_when_bent(void **state)
{
	static const char *const bends[] = {NULL, "PMEM_NO_MOVNT", "PMEM_NO_FLUSH"};
	char note[64];

	(void)state;
	if (!can_flush())
		skip();
	if (!cp_copy_find("libpmem")->present()) {
		print_message(
			"not asserted: %s\n",
			cp_copy_why_absent(cp_copy_find("libpmem"), note, sizeof(note)));
		skip();
	}
	struct cp_dev_cfg cfg = config("copy=libpmem persist=auto");

	cfg.dir_used[CP_DIR_READ] = false;
	for (size_t i = 0; i < NR_OF(bends); i++) {
		if (bends[i])
			assert_int_equal(setenv(bends[i], "1", 1), 0);
		struct rig rig = rig_noting_cfg(&cfg);
		struct cp_io io = io_at(0, 4096, BS, CP_DIR_WRITE);

		one(&rig, &io, false);
		assert_int_equal(seen.all, bends[i] != NULL);
		assert_int_equal(seen.edges, 0);
		assert_int_equal(rig.sub->fenced, bends[i] != NULL);
		rig_close(&rig);
		if (bends[i])
			unsetenv(bends[i]);
	}
}

static const char *const dma_arms[] = {
	"queue_mode=mq path=dma dma=sw persist=auto",
	"queue_mode=mq path=dma dma=sw persist=auto completion=irq",
	"queue_mode=mq path=dma dma=sw:ring=2 ring_full=cpu persist=auto copy=memcpy",
	"queue_mode=mq path=auto dma=sw dma_thresh_write=32k persist=auto copy=memcpy",
	"queue_mode=mq path=dma dma=sw split_pct=40 persist=auto copy=memcpy",
	"queue_mode=mq path=dma dma=sw max_merge=2m persist=auto",
	"queue_mode=page path=dma dma=sw persist=auto",
	"queue_mode=page path=dma dma=sw persist=auto completion=irq",
};

/* Description: what a channel wrote is flushed when its bytes are there and before its
 * completion is handed back, every byte once, also of an I/O of which the CPU copied a
 * part; reads beside it are not. */
static void dma_before_completion(void **state)
{
	(void)state;
	if (!can_flush())
		skip();
	for (size_t a = 0; a < NR_OF(dma_arms); a++) {
		bool page = strstr(dma_arms[a], "queue_mode=page") != NULL;
		struct rig rig = rig_noting_at(dma_arms[a], 8);
		struct cp_io ios[NR], *done[NR];
		uint64_t written = 0;

		for (unsigned i = 0; i < NR; i++) {
			ios[i] = io_at(i, i * 65536UL + i, page ? BS : BS - i,
				       i % 4 == 3 ? CP_DIR_READ : CP_DIR_WRITE);
			assert_int_equal(page ? cp_sub_page_submit(rig.sub, &ios[i])
					      : cp_sub_queue(rig.sub, &ios[i]),
					 0);
		}
		if (!page)
			cp_sub_commit(rig.sub);
		for (unsigned got = 0; got < NR;) {
			unsigned n = cp_sub_reap(rig.sub, 1, 3, done);

			for (unsigned i = 0; i < n; i++) {
				assert_int_equal(done[i]->error, 0);
				if (done[i]->dir == CP_DIR_WRITE)
					written += done[i]->bytes;
			}
			got += n;
			assert_true(seen.bytes >= written);
			assert_false(rig.sub->fence_due);
		}
		if (seen.bytes != written || seen.stale)
			fail_msg("%s: %lu bytes flushed of %lu, %u too early",
				 dma_arms[a], seen.bytes, written, seen.stale);
		assert_int_equal(seen.edges, 0);
		rig_close(&rig);
	}
}

/* Description: of an I/O of which the CPU copied pages in the middle the channels' pages
 * behind them are flushed, too; one page alone is flushed by each way to hand it in. */
static void pages_are_flushed(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned refuse; /* pages behind the first */
	} cases[] = {{4096, 0}, {BS, 0}, {BS, 1}, {BS, 2}};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t i = 0; i < 2 * NR_OF(cases); i++) {
		struct rig rig = rig_noting("queue_mode=page path=dma dma=sw "
					    "ring_full=cpu copy=nt persist=auto");
		uint64_t bytes = cases[i / 2].bytes;
		struct cp_io io = io_at(0, 8192, bytes, CP_DIR_WRITE), *done;

		if (bytes == BS) {
			script_start(&rig);
			script.refuse = cases[i / 2].refuse;
			script.refuse_after = 1;
			script.refuse_rc = -EAGAIN;
		}
		if (i % 2) {
			assert_int_equal(cp_sub_page_submit(rig.sub, &io), 0);
			assert_int_equal(cp_sub_reap(rig.sub, 1, 1, &done), 1);
		} else {
			cp_sub_page(rig.sub, &io);
		}
		assert_int_equal(io.error, 0);
		assert_int_equal(io.fallback_bytes, cases[i / 2].refuse * 4096UL);
		assert_int_equal(seen.offset, 8192);
		assert_int_equal(seen.len, bytes);
		assert_int_equal(seen.stale, 0);
		assert_false(rig.sub->fence_due);
		assert_true(rig.sub->fenced);
		rig_close(&rig);
	}
}

/* Description: where something stands behind writes, NT kernels keep their own fence,
 * also of a caller that hands completions on by locks: for whole lines it is all there
 * is. */
static void kernels_keep_their_fence(void **state)
{
	static const struct {
		const char *settings;
		bool kept;
	} cases[] = {
		{"copy=nt persist=auto", true},
		{"copy=nt flush=clflush", true},
		{"copy=nt fence=mfence", true},
		{"copy=nt persist=auto queue_mode=mq", true},
		{"copy=nt", false},
	};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t i = 0; i < NR_OF(cases); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);

		cfg.locked_handover = true;
		struct rig rig = rig_open(&cfg);
		const struct cp_route *route = &rig.dev->cpu_route;

		for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
			unsigned k = route->kernel[CP_DIR_WRITE][class];
			cp_copy_fn fn = route->copy[CP_DIR_WRITE][class];

			if (rig.dev->kernels[k]->nt_stores)
				assert_int_equal(fn == rig.dev->kernels[k]->fn,
						 cases[i].kept);
		}
		rig_close(&rig);
	}
}

/* Description: nothing is flushed before the owner takes a channel's write back. */
static void not_before_the_owner(void **state)
{
	struct cp_io io = io_at(0, 4096, BS, CP_DIR_WRITE), *done;

	(void)state;
	if (!can_flush())
		skip();
	struct rig rig = rig_noting(dma_arms[0]);

	assert_int_equal(cp_sub_queue(rig.sub, &io), 0);
	cp_sub_commit(rig.sub);
	while (!cp_hctx_reap(rig.sub))
		cp_sub_wait(rig.sub);
	assert_int_equal(seen.all, 0);
	assert_int_equal(cp_sub_reap(rig.sub, 1, 1, &done), 1);
	assert_int_equal(seen.all, 1);
	assert_int_equal(seen.bytes, BS);
	rig_close(&rig);
}

/* Description: an engine that moves nothing has nothing flushed behind it, and the proof
 * names no instruction. */
static void simulated_is_not_flushed(void **state)
{
	struct cp_io io = io_at(0, 4096, BS, CP_DIR_WRITE);

	(void)state;
	if (!can_flush())
		skip();
	struct rig rig = rig_noting("queue_mode=mq path=dma dma=null persist=auto");

	one(&rig, &io, true);
	struct cp_proof proof = proof_of(&rig);

	assert_int_equal(seen.all + seen.edges, 0);
	assert_string_equal(proof.flush, "");
	assert_string_equal(proof.fence, "");
	assert_int_equal(proof.persistent, 0);
	rig_close(&rig);
}

/* Description: a flush that faults is EIO and claims no byte, by CPU and by DMA, and the
 * counters of bytes moved leave it out. */
static void fault_claims_nothing(void **state)
{
	static const struct {
		const char *settings;
		bool mq;
	} cases[] = {
		{"copy=memcpy persist=auto", false},
		{"copy=memcpy persist=auto queue_mode=mq", true},
		{"queue_mode=mq path=dma dma=sw persist=auto", true},
	};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t i = 0; i < NR_OF(cases); i++) {
		struct rig rig = rig_noting(cases[i].settings);
		struct cp_io bad = io_at(0, 4096, BS, CP_DIR_WRITE);
		struct cp_io good = io_at(1, 65536, BS, CP_DIR_WRITE);

		seen.fail = true;
		one(&rig, &bad, cases[i].mq);
		seen.fail = false;
		one(&rig, &good, cases[i].mq);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(bad.error, EIO);
		assert_int_equal(bad.residue, BS);
		assert_int_equal(good.error, 0);
		assert_int_equal(good.residue, 0);
		assert_int_equal(proof.errors, 1);
		assert_int_equal(proof.bytes_cpu + proof.bytes_dma, BS);
		rig_close(&rig);
	}
}

/* Description: of an NT write that faults half way the whole lines that are claimed have
 * nothing to be flushed; the fence named for them is the guard's, since the kernel did
 * not reach its own. */
static void faulted_copy_is_fenced(void **state)
{
	char file[32];
	struct cp_dev_cfg cfg = config("copy=nt persist=auto");
	struct cp_io io = io_at(0, MEDIA_BYTES / 2 - 4096, BS, CP_DIR_WRITE);
	int fd = memfd_create("far", 0);

	(void)state;
	if (!can_flush())
		skip();
	assert_int_equal(ftruncate(fd, MEDIA_BYTES), 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	cfg.media = "file";
	cfg.filename = file;
	struct rig rig = rig_noting_cfg(&cfg);

	assert_int_equal(ftruncate(fd, MEDIA_BYTES / 2), 0);
	one(&rig, &io, false);
	assert_int_equal(io.error, EIO);
	assert_true(io.residue >= BS - 4096 && io.residue < BS);
	struct cp_proof proof = proof_of(&rig);

	assert_int_equal(seen.all + seen.edges, 0);
	assert_string_equal(proof.flush, "");
	assert_string_equal(proof.fence, "sfence");
	rig_close(&rig);
	close(fd);
}

/* Description: a file that is cut between a DMA write's end and its flush is EIO for that
 * write alone, and nothing of it is claimed. */
static void cut_before_the_flush(void **state)
{
	char file[32];
	struct cp_io ios[2] = {io_at(0, 0, BS, CP_DIR_WRITE),
			       io_at(1, MEDIA_BYTES / 2, BS, CP_DIR_WRITE)};
	struct cp_io *done[2];
	int fd = memfd_create("far", 0);

	(void)state;
	if (!can_flush())
		skip();
	assert_int_equal(ftruncate(fd, MEDIA_BYTES), 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	struct cp_dev_cfg cfg = config(dma_arms[0]);

	cfg.media = "file";
	cfg.filename = file;
	struct rig rig = rig_open(&cfg);

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
	cp_sub_commit(rig.sub);
	for (unsigned got = 0; got < 2;) {
		got += cp_hctx_reap(rig.sub);
		cp_sub_wait(rig.sub);
	}
	assert_int_equal(ftruncate(fd, MEDIA_BYTES / 2), 0);
	assert_int_equal(cp_sub_reap(rig.sub, 2, 2, done), 2);
	assert_int_equal(ios[0].error, 0);
	assert_int_equal(ios[0].residue, 0);
	assert_int_equal(ios[1].error, EIO);
	assert_int_equal(ios[1].residue, BS);
	rig_close(&rig);
	close(fd);
}

/* Description: the proof names the instruction and the fence that were executed behind
 * the writes, the SFENCE of NT stores where there was no other, and that the memory is
 * not persistent; nothing where nothing was asked for, and nothing of reads. fence_test.c
 * looks at what is executed. */
static void proof_says_what(void **state)
{
	static const struct {
		const char *settings;
		enum cp_dir dir;
		const char *flush, *fence; /* flush "*": the best this CPU has */
		int persistent;
	} cases[] = {
		{"copy=memcpy", CP_DIR_WRITE, "", "", -1},
		{"copy=memcpy persist=auto", CP_DIR_WRITE, "*", "sfence", 0},
		{"copy=nt persist=auto", CP_DIR_WRITE, "", "sfence", 0},
		{"copy=nt persist=auto fence=mfence", CP_DIR_WRITE, "", "mfence", 0},
		{"copy=nt flush=clflush", CP_DIR_WRITE, "", "sfence", -1},
		{"copy=memcpy persist=auto fence=mfence", CP_DIR_WRITE, "*", "mfence", 0},
		{"copy=memcpy flush=clflush", CP_DIR_WRITE, "clflush", "", -1},
		{"copy=memcpy flush=clflush persist=auto", CP_DIR_WRITE, "clflush", "",
		 0},
		{"copy=memcpy fence=sfence", CP_DIR_WRITE, "", "sfence", -1},
		{"copy=memcpy persist=auto", CP_DIR_READ, "", "", 0},
	};
	const struct cp_flush_ops *best = cp_flush_table;

	(void)state;
	if (!can_flush())
		skip();
	while (!best->present())
		best++;
	if (best->ordered)
		skip(); /* the fences above are of clwb and clflushopt */
	for (size_t i = 0; i < NR_OF(cases); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);
		struct rig rig = rig_open(&cfg);
		struct cp_io io = io_at(0, 4096, BS, cases[i].dir);
		const char *flush = cases[i].flush;

		cp_sub_measure_begin(rig.sub);
		one(&rig, &io, false);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(io.error, 0);
		assert_string_equal(proof.flush, *flush == '*' ? best->name : flush);
		assert_string_equal(proof.fence, cases[i].fence);
		assert_int_equal(proof.persistent, cases[i].persistent);
		rig_close(&rig);
	}
}

/* Description: the media is told that a sync finds nothing to write back where, and only
 * where, each write is made durable. */
static void media_knows_of_flushes(void **state)
{
	static const struct {
		const char *settings;
		bool flushed;
	} cases[] = {{"copy=memcpy", false},
		     {"copy=memcpy fence=sfence", false},
		     {"copy=memcpy persist=auto", true}};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t i = 0; i < NR_OF(cases); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);
		struct rig rig = rig_open(&cfg);

		assert_int_equal(rig.dev->media.flushed, cases[i].flushed);
		rig_close(&rig);
	}
}

/* Description: what cannot be promised is refused at open, by name, with what would do;
 * where only reads are made nothing is promised and nothing refused. */
static void refused_at_open(void **state)
{
	static const struct {
		const char *settings, *attr, *msg;
	} cases[] = {
		{"persist=require", "wb",
		 "'persist' is require and media 'anon' is not persistent memory; "
		 "expected a "
		 "file on a DAX file system"},
		{"copy=memcpy persist=auto", "uc", "'persist' is auto and attr is uc"},
		{"copy=memcpy flush=clflush", "wt", "'flush' is clflush and attr is wt"},
		{"queue_mode=mq path=dma dma=null persist=require", "wb",
		 "'persist' is require and dma engine 'null' moves no data"},
		{"persist=auto fence=none", "wb", "'fence' is none but persist is auto"},
	};

	(void)state;
	if (!can_flush())
		skip();
	for (size_t i = 0; i < NR_OF(cases); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);
		struct cp_dev *dev = NULL;
		struct cp_err err = {0};

		cfg.attr = cases[i].attr;
		assert_true(cp_dev_open(&cfg, &dev, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (strncmp(err.msg, cases[i].msg, strlen(cases[i].msg)) != 0)
			fail_msg("'%s'", err.msg);
		assert_null(dev);
	}
	struct cp_dev_cfg cfg = config("persist=require");

	cfg.dir_used[CP_DIR_WRITE] = false;
	struct rig rig = rig_open(&cfg);

	assert_int_equal(proof_of(&rig).persistent, -1);
	rig_close(&rig);
}

static int load_topo(void **state)
{
	struct cp_err err;

	(void)state;
	return cp_topo_load(NULL, &topo, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_ranges),
		cmocka_unit_test(libpmem_is_flushed_when_bent),
		cmocka_unit_test(dma_before_completion),
		cmocka_unit_test(pages_are_flushed),
		cmocka_unit_test(kernels_keep_their_fence),
		cmocka_unit_test(not_before_the_owner),
		cmocka_unit_test(simulated_is_not_flushed),
		cmocka_unit_test(fault_claims_nothing),
		cmocka_unit_test(faulted_copy_is_fenced),
		cmocka_unit_test(cut_before_the_flush),
		cmocka_unit_test(proof_says_what),
		cmocka_unit_test(media_knows_of_flushes),
		cmocka_unit_test(refused_at_open),
	};

	return cmocka_run_group_tests(tests, load_topo, NULL);
}
