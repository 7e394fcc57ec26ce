/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequential I/Os, which the queue may merge, over an engine that fails some on purpose,
 * each reconciled with the engine's own log.
 *
 * A transaction is known by its first buffer; it is of the I/Os from that buffer's on,
 * one after the other, as many as its bytes are. What did not arrive is the last of its
 * bytes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/queue/t/rig.h"

#define BS    512U
#define DEPTH 32U
#define NR_SLOTS \
	128U /* buffers, each with its place in the media beside the next one's */
#define IOS 60000U

static const struct {
	const char *dma, *settings;
} cases[] = {
	{"null,error=1%,short=1%,full=1%,reorder=4,seed=1", "max_merge=2m"},
	{"sw,error=1%,short=1%,full=1%,reorder=4,seed=2", "max_merge=2m"},
	{"sw,threads=2,error=1%,short=2%,seed=3", "max_merge=4k"},
	{"sw,error=2%,short=2%,full=1%,seed=4", "max_merge=2m completion=irq"},
};

struct outcome {
	int error;
	uint32_t residue;
	unsigned handed_back, logged;
};

static char dir[64];
static unsigned char *near, *far;
static struct cp_io ios[NR_SLOTS];
static uint32_t current[NR_SLOTS]; /* the I/O that a buffer has, or the log is at */
static struct outcome outcomes[IOS];

/* What the I/O moves, and what was there. */
static unsigned char salt(uint32_t number)
{
	return (unsigned char)(number % 251);
}

static void start(struct rig *rig, uint32_t number, bool moves)
{
	unsigned slot = number % NR_SLOTS;

	ios[slot] = (struct cp_io){.near = near + (size_t)slot * BS,
				   .offset = (uint64_t)slot * BS,
				   .bytes = BS,
				   .dir = CP_DIR_WRITE};
	current[slot] = number;
	if (moves) {
		memset(ios[slot].near, salt(number), BS);
		memset(far + (size_t)slot * BS, 0xff, BS);
	}
	assert_int_equal(cp_sub_queue(rig->sub, &ios[slot]), 0);
}

static void finish(const struct cp_io *io, bool moves)
{
	unsigned slot = (unsigned)(io - ios);
	uint32_t number = current[slot];
	const unsigned char *at = far + (size_t)slot * BS;

	assert_int_equal(!io->error, !io->residue);
	assert_in_range(io->residue, 0, BS);
	for (unsigned i = 0; i < BS && moves; i++)
		assert_int_equal(at[i], i < BS - io->residue ? salt(number) : 0xff);
	outcomes[number].error = io->error;
	outcomes[number].residue = (uint32_t)io->residue;
	outcomes[number].handed_back++;
}

static struct cp_proof run(const struct cp_dev_cfg *cfg, bool moves)
{
	struct rig rig = rig_open(cfg);
	struct cp_io *done[DEPTH];

	cp_sub_measure_begin(rig.sub);
	for (uint32_t number = 0; number < IOS;) {
		for (unsigned i = 0; i < DEPTH && number < IOS; i++)
			start(&rig, number++, moves);
		cp_sub_commit(rig.sub);
		for (unsigned left = (number - 1) % DEPTH + 1; left;) {
			unsigned n = cp_sub_reap(rig.sub, 1, left, done);

			assert_in_range(n, 1, left);
			for (unsigned i = 0; i < n; i++)
				finish(done[i], moves);
			left -= n;
		}
	}
	struct cp_proof proof = proof_of(&rig);

	rig_close(&rig); /* the log is written here */
	return proof;
}

/* A transaction of the log, over the I/Os that it is of. Returns their number. */
static unsigned replay(size_t slot, uint64_t bytes, uint64_t residue)
{
	unsigned nr = (unsigned)(bytes / BS);

	assert_int_equal(bytes % BS, 0);
	assert_true(nr > 0 && slot + nr <= NR_SLOTS);
	for (unsigned i = nr; i-- > 0;) {
		uint32_t number = current[slot + i];
		uint32_t left = residue < BS ? (uint32_t)residue : BS;

		assert_true(number < IOS);
		struct outcome *out = &outcomes[number];

		assert_int_equal(out->handed_back, 1);
		assert_int_equal(out->logged++, 0);
		assert_int_equal(out->residue, left);
		assert_int_equal(out->error, left ? EIO : 0);
		residue -= left;
		current[slot + i] = number + NR_SLOTS;
	}
	assert_int_equal(residue, 0);
	return nr;
}

static void check_log(const struct cp_proof *proof, bool moves)
{
	FILE *file = fopen("log", "r");
	uint64_t moved = 0, failed = 0;
	unsigned nr = 0;
	char line[256];

	assert_non_null(file);
	for (unsigned i = 0; i < NR_SLOTS; i++)
		current[i] = i;
	while (fgets(line, sizeof(line), file)) {
		uint64_t cookie, bytes, residue;
		uintptr_t at;

		if (line[0] == '#' || sscanf(line,
					     "%" SCNu64 " %*s %" SCNxPTR " %*s %" SCNu64
					     " %*s %*s %" SCNu64,
					     &cookie, &at, &bytes, &residue) != 4)
			continue;
		if (!cookie)
			continue; /* told "full", and tried again */
		nr += replay((at - (uintptr_t)near) / BS, bytes, residue);
		moved += bytes - residue;
	}
	fclose(file);
	assert_int_equal(nr, IOS);
	for (uint32_t i = 0; i < IOS; i++)
		failed += outcomes[i].error != 0;
	assert_true(failed > IOS / 200 && failed < IOS / 5);
	assert_int_equal(proof->errors, failed);
	assert_int_equal(moves ? proof->bytes_dma : proof->bytes_simulated, moved);
	assert_int_equal(proof->bytes_cpu, 0);
	/* the test is about transactions of several */
	if (proof->queue.requests)
		assert_true(proof->queue.merged > IOS / 2);
}

/* Description: where adjacent I/Os become one transaction that fails or is cut short,
 * exactly those that it did not reach are reported as failed, with their residue, each is
 * handed back once, and the bytes of the report are those of the engine's log. */
static void merged_are_reconciled(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		bool moves = cases[c].dma[0] == 's';
		char settings[256];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma copy=memcpy %s dma=fault:%s,log=log",
			 cases[c].settings, cases[c].dma);
		struct cp_dev_cfg cfg = config(settings);

		cfg.media = "file";
		cfg.filename = "far";
		cfg.bytes = (uint64_t)NR_SLOTS * BS;
		cfg.iodepth = DEPTH;
		memset(outcomes, 0, sizeof(outcomes));
		struct cp_proof proof = run(&cfg, moves);

		check_log(&proof, moves);
		assert_int_equal(unlink("log"), 0);
	}
}

static int enter(void **state)
{
	size_t bytes = (size_t)NR_SLOTS * BS;
	(void)state;

	snprintf(dir, sizeof(dir), "/tmp/copypath-reconcile-XXXXXX");
	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	int fd = open("far", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return -1;
	far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	near = aligned_alloc(4096, bytes);
	return far == MAP_FAILED || !near;
}

static int leave(void **state)
{
	(void)state;
	munmap(far, (size_t)NR_SLOTS * BS);
	free(near);
	unlink("log");
	unlink("far");
	return chdir("/") || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_are_reconciled),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, enter, leave);
}
