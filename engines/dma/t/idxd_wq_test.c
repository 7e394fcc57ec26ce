// SPDX-License-Identifier: GPL-2.0-only
/* Choosing a work queue, what is said of one that cannot be used, and its portal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engines/dma/idxd_dev.h"

static struct idxd_wq queue(const char *name, int node, bool dedicated, unsigned size)
{
	struct idxd_wq wq = {
		.device = "dsa0",
		.node = node,
		.device_enabled = true,
		.pasid = true,
		.state = IDXD_WQ_ENABLED,
		.type = IDXD_WQ_USER,
		.dedicated = dedicated,
		.size = size,
		.threshold = size,
		.max_batch = 32,
		.max_transfer = 2UL << 20,
	};

	snprintf(wq.name, sizeof(wq.name), "%s", name);
	snprintf(wq.path, sizeof(wq.path), "/dev/dsa/%s", name);
	return wq;
}

static void check_said(const struct cp_err *err, const char *part)
{
	if (!strstr(err->msg, part))
		fail_msg("'%s' lacks '%s'", err->msg, part);
}

struct change {
	const char *what; /* in the message */
	const char *how;  /* to enable it, in the message */
	int rc;
	void (*make)(struct idxd_wq *wq);
};

static void make_device_off(struct idxd_wq *wq)
{
	wq->device_enabled = false;
}

static void make_kernels(struct idxd_wq *wq)
{
	wq->type = IDXD_WQ_KERNEL;
}

static void make_typeless(struct idxd_wq *wq)
{
	wq->type = IDXD_WQ_NONE;
}

static void make_disabled(struct idxd_wq *wq)
{
	wq->state = IDXD_WQ_DISABLED;
}

static void make_locked(struct idxd_wq *wq)
{
	wq->state = IDXD_WQ_OTHER;
}

static void make_forbidden(struct idxd_wq *wq)
{
	wq->open_errno = EACCES;
}

static void make_fileless(struct idxd_wq *wq)
{
	wq->open_errno = ENOENT;
}

static void make_no_pasid(struct idxd_wq *wq)
{
	wq->pasid = false;
}

static void make_empty(struct idxd_wq *wq)
{
	wq->size = wq->threshold = 0;
}

static const struct change changes[] = {
	{"'dsa0' is disabled", "accel-config enable-device dsa0", -ENXIO,
	 make_device_off},
	{"is the kernel's", "--type=user --driver-name=user dsa0/wq0.0", -ENXIO,
	 make_kernels},
	{"is of no type", "--type=user", -ENXIO, make_typeless},
	{"'/dev/dsa/wq0.0' is disabled", "accel-config enable-wq dsa0/wq0.0", -ENXIO,
	 make_disabled},
	{"neither enabled nor disabled", "accel-config enable-wq dsa0/wq0.0", -ENXIO,
	 make_locked},
	{"may not be opened by this user", "chgrp", -EACCES, make_forbidden},
	{"has no device file", "/dev/dsa passed into", -ENXIO, make_fileless},
	{"has no PASID", "intel_iommu=on,sm_on", -ENXIO, make_no_pasid},
	{"holds no descriptors", "--wq-size", -ENXIO, make_empty},
};

/* Description: each state that makes a queue unusable is named with what enables it,
 * whether the queue was named, is the only one, or is one of several. */
static void unusable_queues_say_why(void **state)
{
	struct cp_dma_cfg cfg = {.node = -1};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct idxd_wq wq = queue("wq0.0", 0, false, 16);
		struct idxd_wq both[2] = {wq, queue("wq0.1", 0, false, 16)};
		struct cp_err err = {0};
		unsigned index = 99;

		assert_int_equal(idxd_wq_check(&wq, &err), 0);
		changes[i].make(&wq);
		both[0] = wq;
		assert_int_equal(idxd_wq_check(&wq, &err), changes[i].rc);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		check_said(&err, changes[i].what);
		check_said(&err, changes[i].how);
		memset(&err, 0, sizeof(err));
		assert_int_equal(idxd_wq_pick(&wq, 1, "", &cfg, NULL, &index, &err),
				 changes[i].rc);
		check_said(&err, changes[i].what);
		assert_int_equal(
			idxd_wq_pick(both, 2, "/dev/dsa/wq0.0", &cfg, NULL, &index, &err),
			changes[i].rc);
		check_said(&err, changes[i].what);
		assert_int_equal(index, 99);
		assert_int_equal(idxd_wq_pick(both, 2, "", &cfg, NULL, &index, &err), 0);
		assert_int_equal(index, 1);
	}
}

/* Description: of usable queues the one with room for the ring is taken, then one on the
 * memory's node, then dedicated for an exclusive channel and shared for others, then the
 * larger. */
static void best_queue_is_picked(void **state)
{
	struct idxd_wq wqs[] = {
		queue("wq0.0", 0, true, 16),  queue("wq0.1", 0, false, 32),
		queue("wq0.2", 0, false, 64), queue("wq2.0", 1, true, 8),
		queue("wq2.1", 1, false, 8),  queue("wq2.2", 1, true, 64),
	};
	static const struct {
		int node;
		bool exclusive;
		unsigned ring, index;
	} cases[] = {
		{-1, false, 0, 2}, {-1, true, 0, 5}, {0, false, 0, 2},
		{0, true, 0, 0},   {1, false, 0, 4}, {1, true, 0, 5},
		{0, true, 17, 5},  {1, false, 9, 5}, {7, false, 0, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {
			.node = cases[i].node,
			.exclusive = cases[i].exclusive,
			.ring = cases[i].ring,
		};
		struct cp_err err = {0};
		unsigned index = 99;

		if (idxd_wq_pick(wqs, 6, "", &cfg, NULL, &index, &err))
			fail_msg("case %zu: %s", i, err.msg);
		if (index != cases[i].index)
			fail_msg("case %zu: %s", i, wqs[index].path);
	}
}

/* Description: a queue that was tried or is dedicated and in use is not picked again. */
static void taken_queues_are_passed_over(void **state)
{
	struct idxd_wq wqs[] = {queue("wq0.0", 0, true, 64), queue("wq0.1", 0, true, 32),
				queue("wq0.2", 0, true, 16)};
	struct cp_dma_cfg cfg = {.node = -1};
	bool tried[3] = {false};
	struct cp_err err = {0};
	unsigned index = 99;

	(void)state;
	wqs[0].clients = 1;
	assert_int_equal(idxd_wq_pick(wqs, 3, "", &cfg, tried, &index, &err), 0);
	assert_int_equal(index, 1);
	tried[1] = true;
	assert_int_equal(idxd_wq_pick(wqs, 3, "", &cfg, tried, &index, &err), 0);
	assert_int_equal(index, 2);
	tried[2] = true;
	assert_int_equal(idxd_wq_pick(wqs, 3, "", &cfg, tried, &index, &err), -EBUSY);
	check_said(&err, "'/dev/dsa/wq0.0'");
	check_said(&err, "dedicated and in use");
	tried[0] = true;
	assert_int_equal(idxd_wq_pick(wqs, 3, "", &cfg, tried, &index, &err), -ENXIO);
	check_said(&err, "no work queue is left");
}

/* Description: unknown names, rings above a queue, and a shared queue for an exclusive
 * channel are refused, with what would do. */
static void wrong_wishes_are_refused(void **state)
{
	struct idxd_wq wqs[] = {queue("wq0.0", 0, true, 16),
				queue("wq0.1", 0, false, 32)};
	static const struct {
		const char *path;
		unsigned nr, ring;
		bool exclusive;
		int rc;
		enum cp_exit exit;
		const char *what, *expected;
	} cases[] = {
		{"/dev/dsa/wq3.1", 2, 0, false, -ENOENT, CP_EXIT_USAGE,
		 "unknown work queue '/dev/dsa/wq3.1'",
		 "expected /dev/dsa/wq0.0, /dev/dsa/wq0.1"},
		{"/dev/dsa/wq0.0", 0, 0, false, -ENOENT, CP_EXIT_USAGE,
		 "unknown work queue", "no device here has one"},
		{"/dev/dsa/wq0.0", 2, 17, false, -EINVAL, CP_EXIT_USAGE,
		 "a ring of '17' is above the 16 descriptors that '/dev/dsa/wq0.0' takes",
		 "expected at most 16, no ring (what has no room waits), or "
		 "'accel-config config-wq --wq-size=17 dsa0/wq0.0'"},
		{"", 2, 33, false, -EINVAL, CP_EXIT_USAGE, "a ring of '33'",
		 "expected at most 32"},
		{"/dev/dsa/wq0.1", 2, 0, true, -EBUSY, CP_EXIT_INVALID,
		 "shared and cannot be had alone", "--mode=dedicated"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {
			.node = -1,
			.ring = cases[i].ring,
			.exclusive = cases[i].exclusive,
		};
		struct cp_err err = {0};
		unsigned index = 99;

		assert_int_equal(idxd_wq_pick(wqs, cases[i].nr, cases[i].path, &cfg, NULL,
					      &index, &err),
				 cases[i].rc);
		assert_int_equal(err.exit, cases[i].exit);
		check_said(&err, cases[i].what);
		check_said(&err, cases[i].expected);
		assert_int_equal(index, 99);
	}
}

/* Description: where durable writes are required a queue that reads them back is taken,
 * and one that cannot is refused; where they are only wanted any does. */
static void durable_writes_need_readback(void **state)
{
	struct idxd_wq wqs[] = {queue("wq0.0", 0, false, 64),
				queue("wq0.1", 1, false, 16)};
	struct cp_dma_cfg cfg = {.node = 0, .durable = CP_DMA_DURABLE_WANTED};
	struct cp_err err = {0};
	unsigned index = 99;

	(void)state;
	wqs[1].readback = true;
	assert_int_equal(idxd_wq_pick(wqs, 2, "", &cfg, NULL, &index, &err), 0);
	assert_int_equal(index, 0);
	cfg.durable = CP_DMA_DURABLE_REQUIRED;
	assert_int_equal(idxd_wq_pick(wqs, 2, "", &cfg, NULL, &index, &err), 0);
	assert_int_equal(index, 1);
	assert_int_equal(idxd_wq_pick(wqs, 2, wqs[0].path, &cfg, NULL, &index, &err),
			 -ENXIO);
	check_said(&err, "'/dev/dsa/wq0.0' of 'dsa0' cannot read back what it wrote");
	check_said(&err, "expected persist auto");
	assert_int_equal(idxd_wq_pick(wqs, 1, "", &cfg, NULL, &index, &err), -ENXIO);
	check_said(&err, "cannot read back");
}

/* Description: a shared queue takes as many as its threshold says, not its size. */
static void threshold_is_the_limit(void **state)
{
	struct idxd_wq wq = queue("wq0.1", 0, false, 32);

	(void)state;
	wq.threshold = 8;
	assert_int_equal(idxd_wq_entries(&wq), 8);
	wq.threshold = 0;
	assert_int_equal(idxd_wq_entries(&wq), 32);
	wq.threshold = 8;
	wq.dedicated = true;
	assert_int_equal(idxd_wq_entries(&wq), 32);
}

/* Description: descriptors go to one slot of the portal after the other, and from the
 * last to the first: none beside its page. */
static void slots_go_round_the_page(void **state)
{
	static unsigned char page[3 * IDXD_PORTAL_BYTES];
	struct idxd_port port = {.portal = page + IDXD_PORTAL_BYTES};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_ptr_equal(idxd_port_slot(&port), port.portal + i % 64UL * 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unusable_queues_say_why),
		cmocka_unit_test(best_queue_is_picked),
		cmocka_unit_test(taken_queues_are_passed_over),
		cmocka_unit_test(wrong_wishes_are_refused),
		cmocka_unit_test(durable_writes_need_readback),
		cmocka_unit_test(threshold_is_the_limit),
		cmocka_unit_test(slots_go_round_the_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
