// SPDX-License-Identifier: GPL-2.0-only
/* The software engine over memory that fails: result by side, residue, life after. */
#include "engines/copy/t/broken.h"
#include "engines/dma/t/rig.h"

#include <string.h>

#define SEG  1000U
#define SEGS 4U
#define LEN  (SEG * SEGS)

/* Four segments, of which the one with byte `at` is the first that fails. */
static struct cp_dma_completion transact(struct rig *rig, enum cp_dir dir, void *far,
					 unsigned char *near)
{
	struct cp_dma_sg sg[SEGS];
	struct cp_dma_completion done;

	for (unsigned i = 0; i < SEGS; i++)
		sg[i] = (struct cp_dma_sg){.addr = near + (size_t)i * SEG, .len = SEG};
	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, dir, far, sg, SEGS,
						  CP_DMA_INTERRUPT, rig),
			 0);
	rig->ops->submit(rig->chan);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	return done;
}

static void check(struct rig *rig, enum cp_dir dir, enum broken_way far_way,
		  enum broken_way near_way, size_t at, enum cp_dma_result result)
{
	struct broken far = broken_make(far_way, 1), near = broken_make(near_way, 2);
	unsigned char *far_at = far.edge - (far_way ? at : LEN);
	unsigned char *near_at = near.edge - (near_way ? at : LEN);
	struct cp_dma_completion done = transact(rig, dir, far_at, near_at);
	const unsigned char *src = dir == CP_DIR_READ ? far_at : near_at;
	const unsigned char *dst = dir == CP_DIR_READ ? near_at : far_at;

	assert_int_equal(done.result, result);
	/* memcpy claims nothing of the segment that failed, all of those before it */
	assert_int_equal(done.residue, LEN - at / SEG * SEG);
	assert_memory_equal(src, dst, LEN - done.residue);
	broken_free(&far);
	broken_free(&near);
}

/* Description: a transaction over a bad page has the result of the side that failed and a
 * residue that claims the segments before it, and the channel goes on. */
static void fault_is_a_result(void **state)
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
	static const size_t ats[] = {0, 1, SEG - 1, SEG, LEN / 2 + 7, LEN - 1};
	static const char *const specs[] = {"sw", "sw:threads=2"};
	(void)state;

	for (size_t s = 0; s < 2; s++) {
		struct rig rig = rig_open(specs[s], 8, s > 0);

		for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
			for (size_t a = 0; a < sizeof(ats) / sizeof(ats[0]); a++)
				check(&rig, cases[c].dir, cases[c].far, cases[c].near,
				      ats[a], cases[c].result);
		}
		struct broken good = broken_make(BROKEN_NOT, 3);
		struct cp_dma_completion done = transact(&rig, CP_DIR_READ, good.base,
							 good.base + BROKEN_GOOD / 2);

		assert_int_equal(done.result, CP_DMA_OK);
		assert_int_equal(done.residue, 0);
		broken_free(&good);
		rig_close(&rig);
	}
}

/* Description: a bad transaction among good ones spoils none of them. */
static void neighbours_are_whole(void **state)
{
	struct rig rig = rig_open("sw:threads=2", 16, false);
	struct broken far = broken_make(BROKEN_TRUNCATED, 1);
	static unsigned char near[8][SEG];
	struct cp_dma_completion done[8];
	(void)state;

	memset(near, 0, sizeof(near));
	for (unsigned i = 0; i < 8; i++)
		rig_submit(&rig, CP_DIR_READ, far.edge - (i % 2 ? 1 : SEG), near[i], SEG,
			   0, near[i]);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 8);
	for (unsigned i = 0; i < 8; i++) {
		bool bad = ((unsigned char(*)[SEG])done[i].user - near) % 2;

		assert_int_equal(done[i].result, bad ? CP_DMA_READ_FAILED : CP_DMA_OK);
		assert_int_equal(done[i].residue, bad ? SEG : 0);
		if (!bad)
			assert_memory_equal(done[i].user, far.edge - SEG, SEG);
	}
	broken_free(&far);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_is_a_result),
		cmocka_unit_test(neighbours_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
