// SPDX-License-Identifier: GPL-2.0-only
/* The channel contract, over every engine; the devices of idxd and kernel are ours. */
#include "engines/dma/t/idxd_emu.h"
#include "engines/dma/t/kernel_fake.h"
#include "engines/dma/t/rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 32U

static void cookies_rise_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, false);
	struct cp_dma_completion done[8];
	unsigned char far[8] = {0}, near[8] = {0};

	assert_int_equal(rig.ops->submit(rig.chan), 0);
	for (cp_dma_cookie cookie = 1; cookie <= 200;) {
		unsigned char seen[8] = {0};
		cp_dma_cookie first = cookie;

		for (unsigned i = 0; i < 8; i++, cookie++)
			assert_int_equal(rig_submit(&rig, CP_DIR_READ, far + i, near + i,
						    1, 0, &seen[i]),
					 cookie);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 8);
		for (unsigned i = 0; i < 8; i++) {
			unsigned char *user = done[i].user;

			assert_int_equal(done[i].result, CP_DMA_OK);
			assert_int_equal(done[i].residue, 0);
			assert_true(user >= seen && user < seen + 8);
			assert_int_equal(done[i].cookie,
					 first + (cp_dma_cookie)(user - seen));
			assert_int_equal((*user)++, 0);
		}
	}
	assert_int_equal(rig.ops->reap(rig.chan, done, 8), 0);
	rig_close(&rig);
}

/* Description: cookies rise from 1, each completion comes once with its own user and
 * cookie, and a submit without a prepared transaction has no cookie. */
static void cookies_rise(void **state)
{
	(void)state;
	rig_for_each(cookies_rise_each);
}

static void bad_prep_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, false);
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX + 1];
	struct cp_dma_completion done;
	unsigned char far[256], near[256] = {0};
	int marker;

	for (unsigned i = 0; i <= CP_DMA_SEGMENTS_MAX; i++)
		sg[i] = (struct cp_dma_sg){.addr = near + i, .len = 1};
#define PREP(nr) rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_WRITE, far, sg, nr, 0, &marker)
	unsigned space = rig.ops->space(rig.chan);

	assert_int_equal(PREP(0), -EINVAL);
	assert_int_equal(PREP(CP_DMA_SEGMENTS_MAX + 1), -EINVAL);
	sg[1].len = 0;
	assert_int_equal(PREP(2), -EINVAL);
	sg[1].len = SIZE_MAX;
	assert_int_equal(PREP(2), -EINVAL);
	sg[1].len = 1;
	assert_int_equal(rig.ops->space(rig.chan), space);
	assert_int_equal(PREP(CP_DMA_SEGMENTS_MAX), 0);
	/* prepared, not submitted */
	assert_int_equal(PREP(1), -EINVAL);
#undef PREP
	assert_int_equal(rig.ops->submit(rig.chan), 1);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, &done, 1);
	assert_ptr_equal(done.user, &marker);
	rig_close(&rig);
}

/* Description: no, empty, too many or overflowing segments, and a second prep before the
 * submit, are -EINVAL and take no ring space. */
static void bad_prep_is_refused(void **state)
{
	(void)state;
	rig_for_each(bad_prep_each);
}

static void ring_full_each(const char *spec)
{
	struct rig rig = rig_open(spec, 5, false);
	struct cp_dma_completion *done;
	static unsigned char far[512], near[512];
	struct cp_dma_sg sg = {.addr = near, .len = 1};
	unsigned ring = rig.ops->space(rig.chan);

	/* rounded up, or as the spec says; fewer than the places that follow */
	assert_true(ring >= 5 && ring < sizeof(near));
	done = calloc(ring, sizeof(*done));
	assert_non_null(done);
	for (unsigned i = 0; i < ring; i++) {
		assert_int_equal(rig.ops->space(rig.chan), ring - i);
		rig_submit(&rig, CP_DIR_READ, far + i, near + i, 1, 0, NULL);
	}
	assert_int_equal(rig.ops->space(rig.chan), 0);
	assert_int_equal(
		rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, far, &sg, 1, 0, NULL),
		-EAGAIN);
	assert_int_equal(rig.ops->submit(rig.chan), 0);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 1);
	assert_int_equal(rig.ops->space(rig.chan), 1);
	rig_submit(&rig, CP_DIR_READ, far, near + ring, 1, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, ring);
	assert_int_equal(rig.ops->space(rig.chan), ring);
	free(done);
	rig_close(&rig);
}

/* Description: a full ring answers -EAGAIN, and each reaped completion frees one place.
 */
static void full_ring_is_eagain(void **state)
{
	(void)state;
	rig_for_each(ring_full_each);
}

static void doorbell_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, false), other = rig_open(spec, 8, false);
	struct cp_dma_completion done[8];
	unsigned char far[64], near[64], far2[64], near2[64] = {0};

	memset(far, 0xaa, sizeof(far));
	memset(near, 0x55, sizeof(near));
	rig_submit(&rig, CP_DIR_WRITE, far, near, sizeof(near), 0, NULL);
	/* time in which this engine can do a lot */
	for (unsigned i = 0; i < 50; i++) {
		rig_submit(&other, CP_DIR_WRITE, far2, near2, sizeof(near2), 0, NULL);
		other.ops->issue_pending(other.chan);
		rig_reap(&other, done, 1);
	}
	assert_int_equal(rig.ops->reap(rig.chan, done, 8), 0);
	for (unsigned i = 0; i < sizeof(far); i++)
		assert_int_equal(far[i], 0xaa);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 1);
	assert_int_equal(far[63], rig.traits.moves_data ? 0x55 : 0xaa);
	rig_close(&rig);
	rig_close(&other);
}

/* Description: nothing moves and nothing completes before issue_pending. */
static void nothing_moves_before_doorbell(void **state)
{
	(void)state;
	rig_for_each(doorbell_each);
}

#define FAR_LEN (128U * 129U / 2)

/* Segments of 1, 2, ... nr bytes in a buffer with guards between them. */
static unsigned char *segments_make(struct cp_dma_sg *sg, unsigned nr, size_t *ret_size)
{
	size_t size = GUARD, at = GUARD;

	for (unsigned i = 0; i < nr; i++)
		size += i + 1 + GUARD;
	unsigned char *near = malloc(size);

	assert_non_null(near);
	for (size_t i = 0; i < size; i++)
		near[i] = (unsigned char)(i * 7 + 1);
	for (unsigned i = 0; i < nr; i++) {
		/* the last in memory is the first of the list */
		sg[nr - 1 - i] = (struct cp_dma_sg){.addr = near + at, .len = i + 1};
		at += i + 1 + GUARD;
	}
	*ret_size = size;
	return near;
}

static void sg_run(struct rig *rig, enum cp_dir dir, unsigned nr)
{
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];
	struct cp_dma_completion done;
	unsigned char far[GUARD + FAR_LEN + GUARD], far_expect[sizeof(far)];
	size_t size, at = GUARD;
	unsigned char *near = segments_make(sg, nr, &size), *expect = malloc(size);

	assert_non_null(expect);
	for (size_t i = 0; i < sizeof(far); i++)
		far[i] = far_expect[i] = (unsigned char)(i * 13 + 5);
	memcpy(expect, near, size);
	for (unsigned i = 0; i < nr && rig->traits.moves_data; i++) {
		size_t near_at = (size_t)((unsigned char *)sg[i].addr - near);

		if (dir == CP_DIR_READ)
			memcpy(expect + near_at, far + at, sg[i].len);
		else
			memcpy(far_expect + at, near + near_at, sg[i].len);
		at += sg[i].len;
	}
	assert_int_equal(
		rig->ops->prep_memcpy_sg(rig->chan, dir, far + GUARD, sg, nr, 0, near),
		0);
	/* the array is the caller's again */
	memset(sg, 0, sizeof(sg));
	rig->ops->submit(rig->chan);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	assert_ptr_equal(done.user, near);
	assert_memory_equal(far, far_expect, sizeof(far));
	assert_memory_equal(near, expect, size);
	free(near);
	free(expect);
}

static void sg_each(const char *spec)
{
	static const unsigned counts[] = {1, 2, 3, 17, 127, 128};
	struct rig rig = rig_open(spec, 8, false);

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sg_run(&rig, CP_DIR_READ, counts[i]);
		sg_run(&rig, CP_DIR_WRITE, counts[i]);
	}
	rig_close(&rig);
}

/* Description: segments of odd lengths are gathered and scattered in their order, in both
 * directions, and no byte beside them is touched. */
static void segments_are_exact(void **state)
{
	(void)state;
	rig_for_each(sg_each);
}

static void reap_max_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, false);
	struct cp_dma_completion done[8];
	unsigned char far[8] = {0}, near[8] = {0};
	uint64_t end_ns = cp_now_ns() + RIG_HANG_NS;
	unsigned got = 0;

	for (unsigned i = 0; i < 7; i++)
		rig_submit(&rig, CP_DIR_READ, far + i, near + i, 1, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(rig.ops->reap(rig.chan, done, 0), 0);
	while (got < 7) {
		memset(done, 0x5a, sizeof(done));
		unsigned n = rig.ops->reap(rig.chan, done, 3);

		assert_true(n <= 3);
		/* an entry that was not handed out was not written */
		assert_memory_equal(&done[n], &done[7], sizeof(done[0]));
		got += n;
		if (!n)
			sched_yield();
		assert_true(cp_now_ns() < end_ns);
	}
	assert_int_equal(got, 7);
	rig_close(&rig);
}

/* Description: reap hands out at most max, and the rest later. */
static void reap_max_is_honoured(void **state)
{
	(void)state;
	rig_for_each(reap_max_each);
}

static void wait_times_out_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, false);

	assert_int_equal(rig.ops->wait(rig.chan, 1000), -ENOSYS);
	rig_close(&rig);
	if (!rig.traits.irq)
		return;
	rig = rig_open(spec, 8, true);
	assert_int_equal(rig.ops->wait(rig.chan, 0), -ETIMEDOUT);
	assert_int_equal(rig.ops->wait(rig.chan, 1000000), -ETIMEDOUT);
	rig_close(&rig);
}

/* Description: with nothing in flight wait() times out; without irq there is no waiting.
 */
static void wait_times_out(void **state)
{
	(void)state;
	rig_for_each(wait_times_out_each);
}

static void irq_each(const char *spec)
{
	struct rig rig = rig_open(spec, 8, true);
	struct cp_dma_completion done[8];
	unsigned char far[4096] = {0}, near[4096];

	for (unsigned i = 0; i < 300 && rig.traits.irq; i++) {
		unsigned got = 0, nr = 1 + i % 3;

		for (unsigned k = 0; k < nr; k++)
			rig_submit(&rig, CP_DIR_READ, far + 1024 * k, near + 1024 * k,
				   1024, CP_DMA_INTERRUPT, NULL);
		rig.ops->issue_pending(rig.chan);
		while (got < nr) {
			assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
			/* one at a time: what is left must wake the next wait() too */
			got += rig.ops->reap(rig.chan, done, 1);
		}
	}
	rig_close(&rig);
}

/* Description: the completion of a transaction with CP_DMA_INTERRUPT wakes wait(), and
 * what is left unreaped does not let it sleep. */
static void irq_wakes_wait(void **state)
{
	(void)state;
	rig_for_each(irq_each);
}

static void close_each(const char *spec)
{
	const size_t len = 256U << 10;
	unsigned char *far = malloc(8 * len), *near = malloc(len);
	unsigned char *snapshot = malloc(8 * len);

	assert_true(far && near && snapshot);
	for (unsigned round = 0; round < 20; round++) {
		struct rig rig = rig_open(spec, 8, false);

		memset(far, 0xee, 8 * len);
		memset(near, (int)round, len);
		for (unsigned i = 0; i < 8; i++)
			rig_submit(&rig, CP_DIR_WRITE, far + i * len, near, len,
				   i % 3 == 2 ? CP_DMA_FENCE : 0, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_close(&rig);
		/* not finished, but ended: nothing moves any more */
		memcpy(snapshot, far, 8 * len);
		memset(near, 0xdd, len);
		assert_memory_equal(snapshot, far, 8 * len);
		assert_null(memchr(far, 0xdd, 8 * len));
	}
	free(far);
	free(near);
	free(snapshot);
}

/* Description: closing with transactions in flight returns, and no byte moves after it.
 */
static void close_ends_what_is_in_flight(void **state)
{
	(void)state;
	rig_for_each(close_each);
}

#define DEPTH	    16U
#define LEN_MAX	    600U
#define RANDOM_RUNS 100000U /* of an engine; a fifth of it with each of its settings */

struct flight {
	unsigned char far[LEN_MAX], near[LEN_MAX];
	enum cp_dir dir;
	size_t len;
	unsigned char salt;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void flight_start(struct rig *rig, struct flight *flight, uint64_t *seed)
{
	struct cp_dma_sg sg[4];
	unsigned nr = 0;
	size_t at = 0;

	flight->dir = next_random(seed) % 2 ? CP_DIR_READ : CP_DIR_WRITE;
	flight->len = 1 + next_random(seed) % LEN_MAX;
	flight->salt = (unsigned char)next_random(seed);
	memset(flight->dir == CP_DIR_READ ? flight->far : flight->near, flight->salt,
	       flight->len);
	memset(flight->dir == CP_DIR_READ ? flight->near : flight->far, ~flight->salt,
	       LEN_MAX);
	while (at < flight->len) {
		size_t left = flight->len - at;
		size_t len = nr == 3 ? left : 1 + next_random(seed) % left;

		sg[nr++] = (struct cp_dma_sg){.addr = flight->near + at, .len = len};
		at += len;
	}
	unsigned flags = next_random(seed) % 16 ? 0 : CP_DMA_FENCE;

	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, flight->dir, flight->far, sg,
						  nr, flags, flight),
			 0);
	assert_true(rig->ops->submit(rig->chan) > 0);
}

static void flight_check(const struct rig *rig, const struct flight *flight)
{
	const unsigned char *dst =
		flight->dir == CP_DIR_READ ? flight->near : flight->far;
	size_t moved = rig->traits.moves_data ? flight->len : 0;
	unsigned char expect[LEN_MAX];

	memset(expect, flight->salt, moved);
	memset(expect + moved, ~flight->salt, LEN_MAX - moved);
	assert_int_equal(memcmp(dst, expect, LEN_MAX), 0);
}

static void random_each(const char *spec)
{
	unsigned runs = strchr(spec, ':') ? RANDOM_RUNS / 5 : RANDOM_RUNS;
	struct rig rig = rig_open(spec, DEPTH, false);
	struct flight *flights = calloc(DEPTH, sizeof(*flights));
	struct cp_dma_completion done[DEPTH];
	struct flight *idle[DEPTH];
	unsigned nr_idle = DEPTH, started = 0, ended = 0;
	uint64_t seed = 88172645463325252ULL, end_ns = cp_now_ns() + RIG_HANG_NS;

	assert_non_null(flights);
	for (unsigned i = 0; i < DEPTH; i++)
		idle[i] = &flights[i];
	while (ended < runs) {
		unsigned batch = (unsigned)(next_random(&seed) % DEPTH) + 1;

		for (; batch && nr_idle && started < runs; batch--, started++)
			flight_start(&rig, idle[--nr_idle], &seed);
		rig.ops->issue_pending(rig.chan);
		unsigned n = rig.ops->reap(rig.chan, done,
					   (unsigned)(next_random(&seed) % DEPTH) + 1);

		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(done[i].result, CP_DMA_OK);
			flight_check(&rig, done[i].user);
			idle[nr_idle++] = done[i].user;
		}
		ended += n;
		if (!n)
			sched_yield();
		assert_true(cp_now_ns() < end_ns);
	}
	assert_int_equal(nr_idle, DEPTH);
	free(flights);
	rig_close(&rig);
}

/* Description: random transactions, 100000 an engine, move exactly their bytes, each
 * completes once.
 */
static void random_transactions_are_exact(void **state)
{
	(void)state;
	rig_for_each(random_each);
}

/* With a device that completes out of order. idxd's defaults take the shared queue that
 * holds most; of the others one has small limits and one takes no batches. */
int main(void)
{
	static const char *const more[] = {
		"idxd:/dev/dsa/wq0.2",
		"idxd:batch=1",
		NULL,
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_rise),
		cmocka_unit_test(bad_prep_is_refused),
		cmocka_unit_test(full_ring_is_eagain),
		cmocka_unit_test(nothing_moves_before_doorbell),
		cmocka_unit_test(segments_are_exact),
		cmocka_unit_test(reap_max_is_honoured),
		cmocka_unit_test(wait_times_out),
		cmocka_unit_test(irq_wakes_wait),
		cmocka_unit_test(close_ends_what_is_in_flight),
		cmocka_unit_test(random_transactions_are_exact),
	};

	/* the engine is in the table, the device is ours */
	kernel_sys = &fake_sys;
	fake_reset(true);
	idxd_emu_start()->reorder = true;
	rig_more = more;
	print_message("not asserted: instructions and translation of a real DSA device; "
		      "idxd runs on an emulated one\n");

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	idxd_emu_stop();
	return failed;
}
