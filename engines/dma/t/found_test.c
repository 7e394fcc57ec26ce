/* SPDX-License-Identifier: GPL-2.0-only */
/* Channels, from folders that look like a machine's sysfs. */
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

struct seen {
	unsigned nr;
	struct cp_dma_driver drivers[8];
};

static void take_driver(void *ctx, const struct cp_dma_driver *driver)
{
	struct seen *seen = ctx;

	assert_true(seen->nr < 8);
	seen->drivers[seen->nr++] = *driver;
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
	cp_dma_drivers("/nonexistent", take_driver, &seen);
	assert_int_equal(seen.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(drivers_test, tree_setup, tree_teardown),
		cmocka_unit_test(nothing_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
