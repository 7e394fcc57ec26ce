// SPDX-License-Identifier: GPL-2.0-only
/* The idxd engine on a device that faults, fails, and meets memory that fails. */
#include "engines/copy/t/broken.h"
#include "engines/dma/t/idxd_rig.h"

#include <fcntl.h>

#define SEGS 6U
#define SEG  8000U
#define LEN  (SEGS * SEG)

/* What the device does with the move of which the near or far byte `addr` is part. */
struct plan {
	uint64_t addr;
	struct idxd_emu_act act;
	unsigned times; /* so often, then it succeeds */
	unsigned hits;
	bool page; /* the fault's address is only its page's */
};

static bool by_plan(void *arg, const struct idxd_emu_desc *desc, struct idxd_emu_act *act)
{
	struct plan *plan = arg;
	bool write = plan->act.status & 0x80;
	uint64_t start = write ? desc->dst : desc->src;

	if (desc->op != 0x03 || plan->addr - start >= desc->size ||
	    plan->hits == plan->times)
		return false;
	plan->hits++;
	*act = plan->act;
	if (!act->result)
		act->completed = (uint32_t)(plan->addr - start);
	act->fault_addr = plan->page ? plan->addr & ~4095UL : plan->addr;
	return true;
}

struct rest {
	unsigned char *near, *far;
	struct cp_dma_sg sg[SEGS];
};

static struct rest rest_make(void)
{
	struct rest rest = {.near = pattern(SEGS * (SEG + 16), 3),
			    .far = pattern(LEN, 99)};

	segments(rest.sg, rest.near, SEGS, SEG, 16);
	return rest;
}

static void rest_free(struct rest *rest)
{
	free(rest->near);
	free(rest->far);
}

/* The byte at `at` of the transaction, on the side that the status says. */
static uint64_t byte_at(const struct rest *rest, enum cp_dir dir, uint8_t status,
			size_t at)
{
	bool write = status & 0x80;
	bool far = write == (dir == CP_DIR_WRITE);

	return far ? (uintptr_t)rest->far + at
		   : (uintptr_t)rest->sg[at / SEG].addr + at % SEG;
}

static const size_t ats[] = {0, 1, 4095, SEG - 1, SEG, 2 * SEG + 77, LEN - 1};
static const uint8_t faults[] = {0x03, 0x83, 0x04, 0x84};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Description: a transaction that meets page faults on good memory, at any byte of any
 * element, goes on where the device stopped and moves every byte. */
static void faults_are_resumed(void **state)
{
	static const char *const specs[] = {SHARED, SHARED ",batch=1", DEDICATED};

	(void)state;
	for (size_t i = 0; i < NR(specs) * NR(ats) * NR(faults) * 2; i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_READ : CP_DIR_WRITE;
		uint8_t status = faults[i / 2 % NR(faults)];
		size_t at = ats[i / 2 / NR(faults) % NR(ats)];
		const char *spec = specs[i / 2 / NR(faults) / NR(ats)];
		struct rig rig = rig_open(spec, 8, false);
		struct rest rest = rest_make();
		/* the element stops there twice: the second time without progress */
		struct plan plan = {
			.addr = byte_at(&rest, dir, status, at),
			.act = {.status = status},
			.times = 2,
			.page = i % 3 == 0,
		};

		emu->script = by_plan;
		emu->arg = &plan;
		struct cp_dma_completion done =
			transact(&rig, dir, rest.far, rest.sg, SEGS);

		assert_int_equal(done.result, CP_DMA_OK);
		assert_int_equal(done.residue, 0);
		assert_int_equal(plan.hits, 2);
		check_moved(rest.far, rest.sg, SEGS, SIZE_MAX);
		rest_free(&rest);
		rig_close(&rig);
	}
}

/* Is the page there, and for a store a page of its own (not the shared one of zeros,
 * which a load of memory that was never written maps)? */
static bool is_there(uint64_t page, bool write)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0)
		return true;
	if (pread(fd, &entry, 8, (off_t)(page / 4096 * 8)) != 8)
		entry = 0;
	close(fd);
	return entry >> 63 && (!write || (entry >> 56 & 1));
}

/* Stop at the first page of the destination (or source) that is not there yet, as a
 * device does that cannot have pages brought in. */
static bool by_presence(void *arg, const struct idxd_emu_desc *desc,
			struct idxd_emu_act *act)
{
	struct plan *plan = arg;
	bool write = plan->act.status & 0x80;
	uint64_t start = write ? desc->dst : desc->src;

	if (desc->op != 0x03)
		return false;
	for (uint64_t page = start & ~4095UL; page < start + desc->size; page += 4096) {
		if (is_there(page, write))
			continue;
		plan->hits++;
		*act = plan->act;
		act->completed = page > start ? (uint32_t)(page - start) : 0;
		act->fault_addr = page;
		return true;
	}
	return false;
}

/* Description: pages that are not there yet are brought in by the CPU, one a fault, by a
 * load where the device reads and a store where it writes. */
static void absent_pages_are_touched(void **state)
{
	const size_t pages = 20, len = pages * 4096 - 200;

	(void)state;
	emu->script = by_presence;
	for (enum cp_dir dir = CP_DIR_READ; dir <= CP_DIR_WRITE; dir++) {
		struct rig rig = rig_open(SHARED, 8, false);
		unsigned char *far = pattern(len, 5);
		unsigned char *near = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct cp_dma_sg sg = {.addr = near + 100, .len = len};
		struct plan plan = {.act = {.status = dir == CP_DIR_READ ? 0x83 : 0x03}};

		assert_ptr_not_equal(near, MAP_FAILED);
		emu->arg = &plan;
		struct cp_dma_completion done = transact(&rig, dir, far, &sg, 1);

		assert_int_equal(done.result, CP_DMA_OK);
		assert_int_equal(plan.hits, pages);
		check_moved(far, &sg, 1, SIZE_MAX);
		munmap(near, pages * 4096);
		free(far);
		rig_close(&rig);
	}
}

/* Description: a fault that comes again without progress, though its page can be had,
 * ends after a bounded number of tries with the side's result; what arrived before it is
 * claimed, nothing behind it. */
static void endless_fault_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(ats) * NR(faults) * 2; i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_READ : CP_DIR_WRITE;
		uint8_t status = faults[i / 2 % NR(faults)];
		size_t at = ats[i / 2 / NR(faults)];
		struct rig rig = rig_open(SHARED, 8, false);
		struct rest rest = rest_make();
		struct plan plan = {
			.addr = byte_at(&rest, dir, status, at),
			.act = {.status = status},
			.times = 1000000,
		};

		emu->script = by_plan;
		emu->arg = &plan;
		struct cp_dma_completion done =
			transact(&rig, dir, rest.far, rest.sg, SEGS);

		assert_int_equal(done.result, status & 0x80 ? CP_DMA_WRITE_FAILED
							    : CP_DMA_READ_FAILED);
		assert_int_equal(done.residue, LEN - at);
		check_moved(rest.far, rest.sg, SEGS, at);
		assert_in_range(plan.hits, 2, 20);
		emu->script = NULL;
		done = transact(&rig, dir, rest.far, rest.sg, SEGS);
		assert_int_equal(done.result, CP_DMA_OK);
		rest_free(&rest);
		rig_close(&rig);
	}
}

/* Description: a move that went from the end claims nothing of what it did, and is done
 * again from the front. */
static void backward_move_starts_again(void **state)
{
	struct rig rig = rig_open(SHARED, 8, false);
	struct rest rest = rest_make();
	struct plan plan = {
		.addr = byte_at(&rest, CP_DIR_READ, 0x03, SEG + 100),
		.act = {.status = 0x03, .completed = 777, .result = 1},
		.times = 1,
	};

	(void)state;
	emu->script = by_plan;
	emu->arg = &plan;
	struct cp_dma_completion done =
		transact(&rig, CP_DIR_READ, rest.far, rest.sg, SEGS);

	assert_int_equal(plan.hits, 1);
	assert_int_equal(done.result, CP_DMA_OK);
	check_moved(rest.far, rest.sg, SEGS, SIZE_MAX);
	rest_free(&rest);
	rig_close(&rig);
}

struct refusal {
	uint8_t op, status;
	uint32_t completed;
	unsigned times;
};

static bool refuse_op(void *arg, const struct idxd_emu_desc *desc,
		      struct idxd_emu_act *act)
{
	struct refusal *refusal = arg;

	if (desc->op != refusal->op || !refusal->times)
		return false;
	refusal->times--;
	act->status = refusal->status;
	act->completed = refusal->completed;
	return true;
}

/* Description: other statuses, of a move or of a whole batch, abort the transaction and
 * claim nothing, and the channel goes on. */
static void other_statuses_abort(void **state)
{
	static const uint8_t statuses[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x18,
					   0x1a, 0x1f, 0x20, 0x21, 0x22, 0x7f, 0x02};
	static const uint8_t ops[] = {0x01, 0x03};
	struct rig rig = rig_open(SHARED, 8, false);
	struct rest rest = rest_make();

	(void)state;
	emu->script = refuse_op;
	for (size_t i = 0; i < 2 * NR(statuses); i++) {
		struct refusal refusal = {
			.op = ops[i % 2], .status = statuses[i / 2], .times = 1};

		emu->arg = &refusal;
		struct cp_dma_completion done =
			transact(&rig, CP_DIR_WRITE, rest.far, rest.sg, SEGS);

		assert_int_equal(refusal.times, 0);
		assert_int_equal(done.result, CP_DMA_ABORTED);
		assert_int_equal(done.residue, LEN);
		done = transact(&rig, CP_DIR_WRITE, rest.far, rest.sg, SEGS);
		assert_int_equal(done.result, CP_DMA_OK);
		check_moved(rest.far, rest.sg, SEGS, SIZE_MAX);
	}
	rest_free(&rest);
	rig_close(&rig);
}

/* Description: a batch whose list the device could not read to its end is finished by
 * itself; one that it can never read is aborted. */
static void unread_list_is_sent_again(void **state)
{
	struct rig rig = rig_open(SHARED, 8, false);

	(void)state;
	emu->script = refuse_op;
	for (uint32_t completed = 0; completed <= SEGS; completed++) {
		struct rest rest = rest_make();
		struct refusal refusal = {
			.op = 0x01, .status = 0x06, .completed = completed, .times = 1};

		emu->arg = &refusal;
		struct cp_dma_completion done =
			transact(&rig, CP_DIR_READ, rest.far, rest.sg, SEGS);

		assert_int_equal(done.result, CP_DMA_OK);
		check_moved(rest.far, rest.sg, SEGS, SIZE_MAX);
		rest_free(&rest);
	}
	rig_close(&rig);
}

/* Description: memory that cannot be had on either side fails with the side's result; the
 * pages before it are claimed, nothing behind, and every claimed byte arrived. */
static void bad_memory_is_a_result(void **state)
{
	static const struct {
		enum cp_dir dir;
		enum broken_way far, near;
		enum cp_dma_result result;
	} cases[] = {
		{CP_DIR_READ, BROKEN_TRUNCATED, BROKEN_NOT, CP_DMA_READ_FAILED},
		{CP_DIR_READ, BROKEN_NOT, BROKEN_PROTECTED, CP_DMA_WRITE_FAILED},
		{CP_DIR_READ, BROKEN_NOT, BROKEN_READ_ONLY, CP_DMA_WRITE_FAILED},
		{CP_DIR_WRITE, BROKEN_TRUNCATED, BROKEN_NOT, CP_DMA_WRITE_FAILED},
		{CP_DIR_WRITE, BROKEN_NOT, BROKEN_UNMAPPED, CP_DMA_READ_FAILED},
	};
	static const char *const specs[] = {SHARED, DEDICATED ",batch=1", SMALL};
	static const size_t good[] = {0, 1, 999, 1000, 4096, 5555, 15999};
	const size_t seg = 1000, len = 16 * seg;

	(void)state;
	for (size_t i = 0; i < NR(cases) * NR(good) * NR(specs); i++) {
		size_t c = i % NR(cases), at = good[i / NR(cases) % NR(good)];
		struct rig rig = rig_open(specs[i / NR(cases) / NR(good)], 8, false);
		struct broken far = broken_make(cases[c].far, 1);
		struct broken near = broken_make(cases[c].near, 2);
		unsigned char *far_at = far.edge - (cases[c].far ? at : len);
		unsigned char *near_at = near.edge - (cases[c].near ? at : len);
		struct cp_dma_sg sg[16];

		for (unsigned k = 0; k < 16; k++)
			sg[k] = (struct cp_dma_sg){.addr = near_at + k * seg, .len = seg};
		struct cp_dma_completion done =
			transact(&rig, cases[c].dir, far_at, sg, 16);

		assert_int_equal(done.result, cases[c].result);
		assert_true(done.residue >= len - at);
		assert_true(done.residue <= len);
		/* at most the page in which it failed is not claimed */
		assert_true(len - done.residue + 4096 > at);
		assert_memory_equal(near_at, far_at, len - done.residue);
		broken_free(&far);
		broken_free(&near);
		rig_close(&rig);
	}
}

/* Description: a bad transaction among good ones spoils none of them, also when its
 * failed element is in the middle of a batch. */
static void neighbours_are_whole(void **state)
{
	struct rig rig = rig_open(SHARED, 16, false);
	struct broken far = broken_make(BROKEN_TRUNCATED, 1);
	static unsigned char near[16][3][64];
	struct cp_dma_completion done[16];

	(void)state;
	emu->reorder = true;
	memset(near, 0, sizeof(near));
	for (unsigned i = 0; i < 16; i++) {
		/* of every other one the second of three segments is bad */
		unsigned char *from = far.edge - (i % 2 ? 48 : 96);
		struct cp_dma_sg sg[3];

		segments(sg, near[i][0], 3, 32, 32);
		assert_int_equal(rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, from, sg,
							 3, 0, near[i]),
				 0);
		rig.ops->submit(rig.chan);
	}
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 16);
	for (unsigned i = 0; i < 16; i++) {
		unsigned char(*got)[64] = done[i].user;
		bool bad = (got - near[0]) / 3 % 2;

		assert_int_equal(done[i].result, bad ? CP_DMA_READ_FAILED : CP_DMA_OK);
		for (unsigned k = 0; k < (bad ? 1 : 3); k++)
			assert_memory_equal(got[k], far.edge - (bad ? 48 : 96) + 32 * k,
					    32);
		/* the first segment, and at most the whole bytes of the second */
		assert_in_range(done[i].residue, bad ? 48 : 0, bad ? 64 : 0);
	}
	broken_free(&far);
	rig_close(&rig);
}

static bool fault_once(void *arg, const struct idxd_emu_desc *desc,
		       struct idxd_emu_act *act)
{
	unsigned *left = arg;

	if (!*left || desc->op != 0x03)
		return false;
	--*left;
	*act = (struct idxd_emu_act){.status = 0x03, .fault_addr = desc->src};
	return true;
}

/* Description: all stores to descriptors and records are ordered before a submission: the
 * first one of a channel, those of a doorbell, and what is sent again after a fault. */
static void stores_are_ordered_before_submission(void **state)
{
	unsigned char far[64] = {0}, near[128] = {0};
	struct cp_dma_sg sg[8];
	unsigned once = 1;

	(void)state;
	emu->strict_order = true;
	struct rig rig = rig_open(SHARED, 8, false);

	assert_int_equal(emu->counts.unordered, 0);
	segments(sg, near, 8, 4, 4);
	transact(&rig, CP_DIR_WRITE, far, sg, 1);
	transact(&rig, CP_DIR_READ, far, sg, 8);
	emu->script = fault_once;
	emu->arg = &once;
	transact(&rig, CP_DIR_WRITE, far, sg, 1);
	assert_int_equal(once, 0);
	assert_int_equal(emu->counts.taken, 5);
	assert_int_equal(emu->counts.unordered, 0);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		emu_test(faults_are_resumed),
		emu_test(absent_pages_are_touched),
		emu_test(endless_fault_fails),
		emu_test(backward_move_starts_again),
		emu_test(other_statuses_abort),
		emu_test(unread_list_is_sent_again),
		emu_test(bad_memory_is_a_result),
		emu_test(neighbours_are_whole),
		emu_test(stores_are_ordered_before_submission),
	};

	print_message("not asserted: faults of a real device's address translation\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
