/* SPDX-License-Identifier: GPL-2.0-only */
/* Work queues and channels, from folders that look like a machine's sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engines/base/t/tree.h"
#include "engines/dma/found.h"

#define DEV "/sys/devices/pci0000:6a/0000:6a:01.0"

static void put_queue(const char *root, const char *device, const char *name,
		      const char *state, const char *type, const char *mode)
{
	static const char *const files[] = {"state", "type", "mode", "size"};
	const char *const texts[] = {state, type, mode, "16"};
	char path[128], link[128];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), DEV "/%s/%s/%s", device, name, files[i]);
		tree_file(root, path, texts[i]);
	}
	snprintf(path, sizeof(path), DEV "/%s/%s", device, name);
	snprintf(link, sizeof(link), "/sys/bus/dsa/devices/%s", name);
	tree_link(root, link, path);
}

struct seen {
	unsigned nr;
	struct cp_dma_queue queues[8];
	struct cp_dma_driver drivers[8];
};

static void take_queue(void *ctx, const struct cp_dma_queue *queue)
{
	struct seen *seen = ctx;

	assert_true(seen->nr < 8);
	seen->queues[seen->nr++] = *queue;
}

static void take_driver(void *ctx, const struct cp_dma_driver *driver)
{
	struct seen *seen = ctx;

	assert_true(seen->nr < 8);
	seen->drivers[seen->nr++] = *driver;
}

/* Description: each work queue is listed with its state, and one that cannot be used with
 * why and what to do. */
static void queues_test(void **state)
{
	static const struct {
		const char *name, *device, *words; /* "" = usable */
		int node;
	} want[] = {
		{"wq0.0", "dsa0", "", 1},
		{"wq0.1", "dsa0",
		 "it is disabled; expected 'accel-config enable-wq "
		 "dsa0/wq0.1'",
		 1},
		{"wq0.2", "dsa0", "it is of type kernel; expected user: ", 1},
		{"wq0.3", "dsa0", "there is no /dev/dsa/wq0.3", 1},
		{"wq2.0", "dsa2",
		 "its device is disabled; expected 'accel-config "
		 "enable-device dsa2'",
		 -1},
	};
	struct seen seen = {0};
	const char *root = *state;

	tree_file(root, DEV "/dsa0/state", "enabled");
	tree_file(root, DEV "/dsa0/numa_node", "1");
	tree_file(root, DEV "/dsa2/state", "disabled");
	tree_file(root, DEV "/dsa2/numa_node", "-1");
	tree_file(root, DEV "/iax1/state", "enabled");
	put_queue(root, "dsa0", "wq0.0", "enabled", "user", "dedicated");
	put_queue(root, "dsa0", "wq0.1", "disabled", "user", "shared");
	put_queue(root, "dsa0", "wq0.2", "enabled", "kernel", "dedicated");
	put_queue(root, "dsa0", "wq0.3", "enabled", "user", "shared");
	put_queue(root, "iax1", "wq1.0", "enabled", "user", "dedicated");
	put_queue(root, "dsa2", "wq2.0", "disabled", "none", "shared");
	tree_file(root, "/dev/dsa/wq0.0", "");
	tree_file(root, "/dev/dsa/wq0.1", "");
	cp_dma_queues(root, take_queue, &seen);
	assert_int_equal(seen.nr, 5);
	for (unsigned i = 0; i < seen.nr; i++) {
		const struct cp_dma_queue *queue = &seen.queues[i];

		assert_string_equal(queue->name, want[i].name);
		assert_string_equal(queue->device, want[i].device);
		assert_int_equal(queue->usable, !*want[i].words);
		assert_int_equal(queue->node, want[i].node);
		assert_int_equal(queue->size, 16);
		if (!strstr(queue->why, want[i].words))
			fail_msg("%s: %s", want[i].name, queue->why);
	}
	assert_string_equal(seen.queues[0].mode, "dedicated");
	assert_string_equal(seen.queues[1].state, "disabled");
	assert_string_equal(seen.queues[2].type, "kernel");
	assert_string_equal(seen.queues[0].path, "/dev/dsa/wq0.0");
}

/* Description: channels are counted by their driver, and so are those in use. */
static void drivers_test(void **state)
{
	static const char *const channels[] = {"dma0chan0", "dma0chan1", "dma1chan0"};
	struct seen seen = {0};
	const char *root = *state;
	char path[128];

	tree_file(root, "/sys/bus/pci/drivers/ioatdma/bind", "");
	tree_link(root, DEV "/driver", "/sys/bus/pci/drivers/ioatdma");
	tree_file(root, DEV "/numa_node", "1\n");
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/class/dma/%s/in_use", channels[i]);
		tree_file(root, path, i == 1 ? "1" : "0");
		snprintf(path, sizeof(path), "/sys/class/dma/%s/device", channels[i]);
		if (i < 2)
			tree_link(root, path, DEV);
	}
	cp_dma_drivers(root, take_driver, &seen);
	assert_int_equal(seen.nr, 2);
	assert_string_equal(seen.drivers[0].name, "ioatdma");
	assert_int_equal(seen.drivers[0].channels, 2);
	assert_int_equal(seen.drivers[0].in_use, 1);
	assert_int_equal(seen.drivers[0].nodes, 2);
	assert_string_equal(seen.drivers[0].first, "dma0chan0");
	assert_string_equal(seen.drivers[1].name, "unknown");
	assert_int_equal(seen.drivers[1].channels, 1);
	assert_int_equal(seen.drivers[1].nodes, 0);
}

/* Description: a machine without any has none, and that is no error. */
static void nothing_test(void **state)
{
	struct seen seen = {0};

	(void)state;
	cp_dma_queues("/nonexistent", take_queue, &seen);
	cp_dma_drivers("/nonexistent", take_driver, &seen);
	assert_int_equal(seen.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(queues_test, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(drivers_test, tree_setup, tree_teardown),
		cmocka_unit_test(nothing_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
