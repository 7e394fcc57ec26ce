// SPDX-License-Identifier: GPL-2.0-only
/* Persistent memory by sysfs: regions, stacked devices, dax devices. The machine's root
 * is a folder made here, in the shape that kernels give it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/sysmacros.h>

#include "engines/media/dax.h"
#include "engines/media/devdax.h"
#include "engines/media/nd.h"
#include "engines/base/t/tree.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define BUS   "/sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define GIB   (1ULL << 30)

static void region(const char *root, unsigned nr, const char *devtype, const char *domain)
{
	char dir[128], path[192], link[64];

	snprintf(dir, sizeof(dir), BUS "/region%u", nr);
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	tree_link(root, path, "/sys/bus/nd");
	snprintf(path, sizeof(path), "%s/devtype", dir);
	tree_file(root, path, devtype);
	if (domain) {
		snprintf(path, sizeof(path), "%s/persistence_domain", dir);
		tree_file(root, path, domain);
	}
	snprintf(link, sizeof(link), "/sys/bus/nd/devices/region%u", nr);
	tree_link(root, link, dir);
}

/* A block device below a region: 259:minor. */
static void pmem_block(const char *root, unsigned nr, unsigned minor_nr)
{
	char path[160], link[64], dir[128];

	snprintf(dir, sizeof(dir), BUS "/region%u/namespace%u.0/block/pmem%u", nr, nr,
		 nr);
	snprintf(path, sizeof(path), "%s/size", dir);
	tree_file(root, path, "1\n");
	snprintf(link, sizeof(link), "/sys/dev/block/259:%u", minor_nr);
	tree_link(root, link, dir);
}

static void expect_nd(const char *root, unsigned minor_nr, bool found, bool pmem,
		      bool auto_flush)
{
	struct cp_nd nd = cp_nd_of(root, CP_ND_BLOCK, makedev(259, minor_nr));

	assert_int_equal(nd.found, found);
	assert_int_equal(nd.pmem, pmem);
	assert_int_equal(nd.auto_flush, auto_flush);
}

/* Description: a device is what its region is: persistent by devtype, with caches flushed
 * only where the platform's domain says so. */
static void region_decides(void **state)
{
	static const struct {
		const char *devtype, *domain;
		bool pmem, auto_flush;
	} cases[] = {
		{"nd_pmem\n", "cpu_cache\n", true, true},
		{"nd_pmem\n", "memory_controller\n", true, false},
		{"nd_pmem\n", "cpu_cache_not\n", true, false},
		{"nd_pmem\n", "\n", true, false},
		{"nd_pmem\n", NULL, true, false},
		{"nd_volatile\n", "cpu_cache\n", false, false},
		{"nd_volatile\n", NULL, false, false},
	};
	const char *root = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		region(root, (unsigned)i, cases[i].devtype, cases[i].domain);
		pmem_block(root, (unsigned)i, (unsigned)i);
		expect_nd(root, (unsigned)i, true, cases[i].pmem, cases[i].auto_flush);
	}
}

/* Description: the node is the region's; of a device without one its own, or that of what
 * it hangs from; of a stacked one the node that all below it share. */
static void node_is_the_regions(void **state)
{
	static const struct {
		unsigned minor_nr;
		int node;
	} cases[] = {{0, 0}, {1, 3}, {2, -1}, {3, 2}, {10, 3}, {11, -1}, {77, -1}};
	const char *root = *state;

	for (unsigned i = 0; i < 3; i++) {
		region(root, i, "nd_pmem\n", NULL);
		pmem_block(root, i, i);
	}
	tree_file(root, BUS "/region0/numa_node", "0\n");
	tree_file(root, BUS "/region1/numa_node", "3\n");
	tree_file(root, BUS "/region2/numa_node", "-1\n");
	tree_file(root, "/sys/devices/pci/nvme9/size", "1\n");
	tree_file(root, "/sys/devices/pci/numa_node", "2\n");
	tree_link(root, "/sys/dev/block/259:3", "/sys/devices/pci/nvme9");
	for (unsigned i = 0; i < 2; i++) {
		char path[128], to[128];

		for (unsigned below = i ? 0 : 1; below < 2; below++) {
			snprintf(path, sizeof(path),
				 "/sys/devices/virtual/block/dm-%u/slaves/%u", i, below);
			snprintf(to, sizeof(to),
				 BUS "/region%u/namespace%u.0/block/pmem%u", below, below,
				 below);
			tree_link(root, path, to);
		}
		snprintf(path, sizeof(path), "/sys/dev/block/259:%u", 10 + i);
		snprintf(to, sizeof(to), "/sys/devices/virtual/block/dm-%u", i);
		tree_link(root, path, to);
	}
	for (size_t i = 0; i < NR(cases); i++) {
		dev_t dev = makedev(259, cases[i].minor_nr);
		struct cp_media media = {.node = 42};

		assert_int_equal(cp_nd_of(root, CP_ND_BLOCK, dev).node, cases[i].node);
		cp_dax_judge(root, dev, CP_PMEMLIB_YES, "", &media);
		assert_int_equal(media.node, cases[i].node);
		assert_int_equal(media.node_pct, cases[i].node < 0 ? 0 : 100);
	}
}

/* Description: a folder that is called region but is of another bus (CXL) is none. */
static void other_regions_do_not_count(void **state)
{
	const char *root = *state;

	tree_link(root, "/sys/devices/cxl/root0/region0/subsystem", "/sys/bus/cxl");
	tree_file(root, "/sys/devices/cxl/root0/region0/devtype", "nd_pmem\n");
	tree_file(root, "/sys/devices/cxl/root0/region0/block/x/size", "1\n");
	tree_link(root, "/sys/dev/block/259:0", "/sys/devices/cxl/root0/region0/block/x");
	expect_nd(root, 0, false, false, false);
}

/* Description: a stacked device is persistent, and flushed, when all below it are; one
 * that is not known makes all unknown. */
static void stack_is_as_its_worst(void **state)
{
	static const struct {
		unsigned below[2];
		bool found, pmem, auto_flush;
	} cases[] = {
		{{0, 0}, true, true, true},    {{0, 1}, true, true, false},
		{{0, 2}, true, false, false},  {{2, 2}, true, false, false},
		{{0, 9}, false, false, false}, {{9, 9}, false, false, false},
	};
	const char *root = *state;

	region(root, 0, "nd_pmem\n", "cpu_cache\n");
	region(root, 1, "nd_pmem\n", "memory_controller\n");
	region(root, 2, "nd_volatile\n", NULL);
	for (unsigned i = 0; i < 3; i++)
		pmem_block(root, i, i);
	tree_file(root, "/sys/devices/pci/nvme9/size", "1\n"); /* no pmem at all */
	for (unsigned i = 0; i < NR(cases); i++) {
		char path[128], to[128];

		for (unsigned k = 0; k < 2; k++) {
			unsigned nr = cases[i].below[k];

			snprintf(path, sizeof(path),
				 "/sys/devices/virtual/block/dm-%u/slaves/%u", i, k);
			if (nr == 9)
				snprintf(to, sizeof(to), "/sys/devices/pci/nvme9");
			else
				snprintf(to, sizeof(to),
					 BUS "/region%u/namespace%u.0/block/pmem%u", nr,
					 nr, nr);
			tree_link(root, path, to);
		}
		snprintf(path, sizeof(path), "/sys/dev/block/259:%u", 100 + i);
		snprintf(to, sizeof(to), "/sys/devices/virtual/block/dm-%u", i);
		tree_link(root, path, to);
		expect_nd(root, 100 + i, cases[i].found, cases[i].pmem,
			  cases[i].auto_flush);
	}
}

/* Description: a stack that lies on itself ends. */
static void loop_ends(void **state)
{
	const char *root = *state;

	tree_link(root, "/sys/devices/virtual/block/dm-0/slaves/a",
		  "/sys/devices/virtual/block/dm-0");
	tree_link(root, "/sys/dev/block/259:0", "/sys/devices/virtual/block/dm-0");
	expect_nd(root, 0, false, false, false);
}

/* Description: where a device's region is not known, caches count as flushed only when
 * all regions of the machine say so, and there are some. */
static void unknown_goes_by_all(void **state)
{
	const char *root = *state;

	expect_nd(root, 77, false, false, false);
	region(root, 0, "nd_pmem\n", "cpu_cache\n");
	expect_nd(root, 77, false, false, true);
	region(root, 1, "nd_pmem\n", "cpu_cache\n");
	expect_nd(root, 77, false, false, true);
	region(root, 2, "nd_pmem\n", "memory_controller\n");
	expect_nd(root, 77, false, false, false);
}

/* Description: a file mapped with MAP_SYNC is persistent unless its region is volatile or
 * libpmem says no; the note says who said what. */
static void verdict_needs_both(void **state)
{
	static const struct {
		unsigned minor_nr;
		enum cp_pmemlib pmemlib;
		bool persistent, auto_flush;
		const char *note;
	} cases[] = {
		{0, CP_PMEMLIB_YES, true, true,
		 "mapped with MAP_SYNC, libpmem agrees, caches are flushed on power "
		 "loss"},
		{0, CP_PMEMLIB_SILENT, true, true,
		 "mapped with MAP_SYNC, nobody asked, c"},
		{0, CP_PMEMLIB_NO, false, false,
		 "libpmem says no: not counted as persistent"},
		{1, CP_PMEMLIB_YES, true, false, "mapped with MAP_SYNC, libpmem agrees"},
		{2, CP_PMEMLIB_YES, false, false,
		 "its region is volatile: not persistent"},
		{9, CP_PMEMLIB_YES, true, false, "libpmem agrees, its region is unknown"},
		{9, CP_PMEMLIB_SILENT, true, false,
		 "nobody asked, its region is unknown"},
	};
	const char *root = *state;

	region(root, 0, "nd_pmem\n", "cpu_cache\n");
	region(root, 1, "nd_pmem\n", "memory_controller\n");
	region(root, 2, "nd_volatile\n", "cpu_cache\n");
	for (unsigned i = 0; i < 3; i++)
		pmem_block(root, i, i);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_media media = {.persistent = i % 2, .auto_flush = i % 2};

		cp_dax_judge(root, makedev(259, cases[i].minor_nr), cases[i].pmemlib,
			     "nobody asked", &media);
		assert_int_equal(media.persistent, cases[i].persistent);
		assert_int_equal(media.auto_flush, cases[i].auto_flush);
		if (!strstr(media.note, cases[i].note))
			fail_msg("case %zu: '%s'", i, media.note);
	}
}

/* A dax device, 250:minor, of that size below dir. */
static void dax_device(const char *root, unsigned minor_nr, const char *dir,
		       const char *size, const char *align)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/subsystem", dir);
	tree_link(root, path, "/sys/bus/dax");
	if (size) {
		snprintf(path, sizeof(path), "%s/size", dir);
		tree_file(root, path, size);
	}
	if (align) {
		snprintf(path, sizeof(path), "%s/align", dir);
		tree_file(root, path, align);
	}
	snprintf(path, sizeof(path), "/sys/dev/char/250:%u", minor_nr);
	tree_link(root, path, dir);
}

/* Description: a dax device tells its size, alignment and driver, and is persistent where
 * a persistent region is above it: not when the firmware set the memory apart (hmem). */
static void devdax_is_read(void **state)
{
	static const struct {
		const char *dir, *size, *align, *driver;
		int rc;
		uint64_t bytes, step;
		bool pmem, auto_flush;
	} cases[] = {
		{BUS "/region0/dax0.0/dax0.0", "1073741824\n", "4096\n", "device_dax", 0,
		 GIB, 4096, true, true},
		{BUS "/region1/dax1.0/dax1.0", "1073741824\n", "2097152\n", "kmem", 0,
		 GIB, 2 << 20, true, false},
		/* no alignment: the kernel's usual one */
		{BUS "/region0/dax0.1/dax0.1", "1073741824\n", NULL, "device_dax", 0, GIB,
		 2 << 20, true, true},
		{BUS "/region0/dax0.2/dax0.2", "1073741824\n", "3\n", "device_dax", 0,
		 GIB, 2 << 20, true, true},
		{"/sys/devices/platform/hmem.0/dax2.0", "1073741824\n", "2097152\n",
		 "device_dax", 0, GIB, 2 << 20, false, false},
		{BUS "/region0/dax0.3/dax0.3", NULL, "4096\n", "device_dax", -EINVAL, 0,
		 0, false, false},
		{BUS "/region0/dax0.4/dax0.4", "0\n", "4096\n", "device_dax", -EINVAL, 0,
		 0, false, false},
		{BUS "/region0/dax0.5/dax0.5", "-1\n", "4096\n", "device_dax", -EINVAL, 0,
		 0, false, false},
	};
	const char *root = *state;

	region(root, 0, "nd_pmem\n", "cpu_cache\n");
	region(root, 1, "nd_pmem\n", "memory_controller\n");
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_devdax dax = {.bytes = 7};
		char path[192], driver[64];

		dax_device(root, (unsigned)i, cases[i].dir, cases[i].size,
			   cases[i].align);
		snprintf(path, sizeof(path), "%s/driver", cases[i].dir);
		snprintf(driver, sizeof(driver), "/sys/bus/dax/drivers/%s",
			 cases[i].driver);
		tree_link(root, path, driver);
		assert_int_equal(cp_devdax_read(root, makedev(250, (unsigned)i), &dax),
				 cases[i].rc);
		if (cases[i].rc) {
			assert_int_equal(dax.bytes, 7);
			continue;
		}
		assert_int_equal(dax.bytes, cases[i].bytes);
		assert_int_equal(dax.align, cases[i].step);
		assert_string_equal(dax.driver, cases[i].driver);
		assert_int_equal(dax.nd.pmem, cases[i].pmem);
		assert_int_equal(dax.nd.auto_flush, cases[i].auto_flush);
	}
}

/* Description: a character device that is none, a dax device in use as system memory, too
 * small or too small once rounded up to its steps is refused by name, with what would do.
 */
static void devdax_is_refused(void **state)
{
	static const struct {
		unsigned minor_nr;
		uint64_t bytes;
		int errnum;
		const char *text;
	} cases[] = {
		{0, 1, 0, ""},
		{0, GIB, 0, ""},
		{0, GIB + 1, EINVAL,
		 "'/dev/d' has 1g but '1073741825' is asked; expected"},
		{1, 1, EBUSY,
		 "'/dev/d' is in use as system memory; expected one in mode devdax"},
		{2, 3 << 20, EINVAL,
		 "maps in steps of 2097152 bytes; expected a size of "
		 "at most 2097152"},
		{2, 2 << 20, 0, ""},
		{3, 1, ENODEV, "is a character device but no dax device; expected a dax"},
		{4, 1, ENODEV, "is a character device but no dax device"},
		{5, 1, EINVAL, "does not tell its size"},
	};
	const char *root = *state;

	dax_device(root, 0, "/sys/devices/d0", "1073741824\n", "2097152\n");
	dax_device(root, 1, "/sys/devices/d1", "1073741824\n", "2097152\n");
	tree_link(root, "/sys/devices/d1/driver", "/sys/bus/dax/drivers/kmem");
	dax_device(root, 2, "/sys/devices/d2", "3145728\n", "2097152\n");
	tree_link(root, "/sys/devices/tty/subsystem", "/sys/class/tty");
	tree_link(root, "/sys/dev/char/250:3", "/sys/devices/tty");
	dax_device(root, 5, "/sys/devices/d5", NULL, NULL);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_devdax dax = {.bytes = 7};
		struct cp_err err = {0};
		int rc = cp_devdax_look(root, makedev(250, cases[i].minor_nr), "/dev/d",
					cases[i].bytes, &dax, &err);

		if (rc != -cases[i].errnum || !strstr(err.msg, cases[i].text))
			fail_msg("case %zu: got %d, '%s'", i, rc, err.msg);
		assert_true(rc ? dax.bytes == 7 : dax.bytes > 7);
	}
}

/* Description: a mount counts as DAX by its options, not by its name. */
static void dax_mount_is_found(void **state)
{
	static const struct {
		const char *mounts, *expect;
	} cases[] = {
		{"", NULL},
		{"/dev/sda1 / ext4 rw,relatime 0 0\n", NULL},
		{"/dev/pmem0 /mnt/dax ext4 rw 0 0\n", NULL},
		{"/dev/sda1 / ext4 rw 0 0\n/dev/pmem0 /p ext4 rw,relatime,dax 0 0\n",
		 "/p"},
		{"/dev/pmem0 /p xfs rw,dax=always 0 0\n", "/p"},
		{"/dev/pmem0 /p xfs rw,dax=never 0 0\n", NULL},
		{"/dev/pmem0 /a\\040b ext4 dax 0 0\n", "/a b"},
	};
	const char *root = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		char folder[64] = "";

		tree_file(root, "/proc/self/mounts", cases[i].mounts);
		assert_int_equal(cp_dax_mounted(root, folder, sizeof(folder)),
				 cases[i].expect != NULL);
		assert_string_equal(folder, cases[i].expect ? cases[i].expect : "");
	}
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(region_decides),	IN_TREE(other_regions_do_not_count),
		IN_TREE(stack_is_as_its_worst), IN_TREE(loop_ends),
		IN_TREE(unknown_goes_by_all),	IN_TREE(verdict_needs_both),
		IN_TREE(devdax_is_read),	IN_TREE(devdax_is_refused),
		IN_TREE(dax_mount_is_found),	IN_TREE(node_is_the_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
