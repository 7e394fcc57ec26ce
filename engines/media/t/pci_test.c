// SPDX-License-Identifier: GPL-2.0-only
/* Which BARs there are and which may be used, by a tree that looks like sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/media/t/bar_rig.h"

static void expect(int rc, const struct cp_err *err, int errnum, enum cp_exit exit,
		   const char *text)
{
	if (rc != -errnum || err->exit != exit || !strstr(err->msg, text) ||
	    !strstr(err->msg, "; expected "))
		fail_msg("got %d, exit %d, '%s'; expected %d, %d, '%s'", rc,
			 (int)err->exit, err->msg, -errnum, (int)exit, text);
}

/* Description: what a BAR is comes from sysfs, by the bus's link or the device's path. */
static void bar_is_found(void **state)
{
	static const char *const dirs[] = {LINK, DEV};
	static const struct {
		unsigned index;
		uint64_t start, bytes;
		bool prefetchable, has_wc;
	} cases[] = {{0, 0xfebf0000, 256, false, false},
		     {2, 0xfe000000, BAR2, true, true},
		     {4, 0xfebf1000, PAGE, false, false}};
	struct rig rig;

	rig_build(*state, &rig);
	for (size_t i = 0; i < NR(cases) * NR(dirs); i++) {
		unsigned index = cases[i / 2].index;
		struct cp_pci_bar bar;
		struct cp_err err = {0};

		snprintf(rig.bar, sizeof(rig.bar), "%s%s/resource%u", rig.at, dirs[i % 2],
			 index);
		assert_int_equal(cp_pci_bar_find(&rig.root, rig.bar, &bar, &err), 0);
		assert_string_equal(bar.address, "0000:00:04.0");
		assert_int_equal(bar.index, index);
		assert_int_equal(bar.start, cases[i / 2].start);
		assert_int_equal(bar.bytes, cases[i / 2].bytes);
		assert_int_equal(bar.prefetchable, cases[i / 2].prefetchable);
		assert_int_equal(bar.has_wc, cases[i / 2].has_wc);
		assert_string_equal(bar.driver, "");
		assert_int_equal(bar.node, 1);
	}
}

/* Description: a name that is no BAR of memory is refused with what would be one. */
static void wrong_names_are_refused(void **state)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{LINK "/resource1", "is I/O ports"},
		{LINK "/resource3", "is a BAR without addresses"},
		{LINK "/resource6", "is no resource0 to resource5"},
		{LINK "/resource", "is no resource0 to resource5"},
		{LINK "/resource22", "is no resource0 to resource5"},
		{LINK "/config", "is no resource0 to resource5"},
		{LINK "/resource2_wc", "'attr' picks which"},
		{LINK "/power", "is no resource file"},
		{LINK "/resource2/x", "does not exist"},
		{"/bus/devices/0000:00:05.0/resource0", "does not exist"},
		{"/far/resource2", "is not of a PCI device"},
	};
	struct rig rig;

	rig_build(*state, &rig);
	rig_fill(*state, DEV "/resource6", 'r', PAGE);
	rig_fill(*state, DEV "/resource22", 'r', PAGE);
	rig_fill(*state, "/far/resource2", 'f', BAR2);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_pci_bar bar = {.index = 42};
		struct cp_err err = {0};

		snprintf(rig.bar, sizeof(rig.bar), "%s%s", rig.at, cases[i].name);
		int rc = cp_pci_bar_find(&rig.root, rig.bar, &bar, &err);

		expect(rc, &err, EINVAL, CP_EXIT_USAGE, cases[i].text);
		assert_int_equal(bar.index, 42);
	}
	for (size_t i = 0; i < 2; i++) {
		struct cp_pci_bar bar;
		struct cp_err err = {0};

		expect(cp_pci_bar_find(&rig.root, i ? "" : NULL, &bar, &err), &err,
		       EINVAL, CP_EXIT_USAGE, "media 'bar' names no file");
	}
}

/* Description: the kernel's tree is sysfs: a file elsewhere that looks the same is no
 * BAR. */
static void a_file_outside_sysfs_is_refused(void **state)
{
	struct cp_pci_bar bar;
	struct cp_err err = {0};
	struct rig rig;

	rig_build(*state, &rig);
	expect(cp_pci_bar_find(&cp_pci_root_kernel, rig.bar, &bar, &err), &err, EINVAL,
	       CP_EXIT_USAGE, "is not in sysfs");
}

enum change {
	SAME,
	DRIVER,
	VFIO,
	HELD,
	OVERLAP,
	MAPPED,
	NO_DECODE,
	NO_CONFIG,
	SUSPENDED,
	D3,
	NO_WC,
	CHANGES,
};

static void make_change(const char *at, enum change change)
{
	char text[1024];

	switch (change) {
	case DRIVER:
		rig_link(at, DEV "/driver", "../../../bus/pci/drivers/nvme");
		break;
	case VFIO:
		rig_link(at, DEV "/driver", "../../../bus/pci/drivers/vfio-pci");
		break;
	case HELD:
		tree_file(at, "/iomem",
			  "c0000000-febfffff : PCI Bus 0000:00\n"
			  "  fe000000-fe003fff : 0000:00:04.0\n"
			  "    fe001000-fe001fff : efifb\n");
		break;
	case OVERLAP:
		snprintf(text, sizeof(text), "%s  fe003000-fe004fff : a neighbour\n",
			 iomem);
		tree_file(at, "/iomem", text);
		break;
	case MAPPED:
		tree_file(at, "/memtypes",
			  "PAT memtype list:\n"
			  "PAT: [mem 0x00000000fd000000-0x00000000fe000000] "
			  "uncached-minus\n"
			  "PAT: [mem 0x00000000fe000000-0x00000000fe001000] "
			  "write-combining\n");
		break;
	case NO_DECODE:
		rig_command(at, 0x5);
		break;
	case NO_CONFIG:
		rig_drop(at, DEV "/config");
		break;
	case SUSPENDED:
		tree_file(at, DEV "/power/runtime_status", "suspended\n");
		break;
	case D3:
		tree_file(at, DEV "/power_state", "D3hot\n");
		break;
	case NO_WC:
		rig_drop(at, DEV "/resource2_wc");
		break;
	case SAME:
	case CHANGES:
		break;
	}
}

/* Description: a BAR that is used, asleep or deaf is refused by name, with the command
 * that would change it; nothing is opened. */
static void what_is_in_use_is_refused(void **state)
{
	static const struct {
		enum change change;
		int errnum;
		enum cp_exit exit;
		const char *text;
	} cases[] = {
		{DRIVER, EBUSY, CP_EXIT_INVALID,
		 "BAR 2 of '0000:00:04.0' is in use by driver 'nvme'; expected a device "
		 "without one: echo 0000:00:04.0 > "},
		{VFIO, EBUSY, CP_EXIT_INVALID, "driver 'vfio-pci'"},
		{HELD, EBUSY, CP_EXIT_INVALID, "'efifb' holds its addresses"},
		{OVERLAP, EBUSY, CP_EXIT_INVALID, "'a neighbour' holds its addresses"},
		{MAPPED, EBUSY, CP_EXIT_INVALID, "somebody has it mapped, write-comb"},
		{NO_DECODE, ENODEV, CP_EXIT_INVALID,
		 "every read would be all ones; expected it enabled: echo 1 > "
		 "/sys/bus/pci/devices/0000:00:04.0/enable"},
		{NO_CONFIG, ENODEV, CP_EXIT_INVALID, "does not decode memory"},
		{SUSPENDED, ENODEV, CP_EXIT_INVALID, "sleeps (suspended)"},
		{D3, ENODEV, CP_EXIT_INVALID, "sleeps (D3hot)"},
		{NO_WC, ENOTSUP, CP_EXIT_USAGE,
		 "no 'resource2_wc', which needs write combining"},
	};
	struct rig rig;

	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_err err = {0};

		rig_build(*state, &rig);
		struct cp_media_cfg cfg = rig_cfg(&rig, CP_ATTR_WC);

		assert_int_equal(cp_bar_look(&rig.root, &cfg, &err), 0);
		make_change(*state, cases[i].change);
		expect(cp_bar_look(&rig.root, &cfg, &err), &err, cases[i].errnum,
		       cases[i].exit, cases[i].text);
		if (cases[i].change == DRIVER || cases[i].change == VFIO)
			rig_drop(*state, DEV "/driver");
		if (cases[i].change == MAPPED)
			rig_drop(*state, "/memtypes");
	}
	assert_int_equal(NR(cases), CHANGES - 1);
}

/* Description: attributes, sizes and places that a BAR does not have are refused. */
static void what_a_bar_lacks_is_refused(void **state)
{
	static const struct {
		unsigned index;
		enum cp_attr attr;
		uint64_t bytes;
		int errnum;
		const char *text;
	} cases[] = {
		{2, CP_ATTR_WB, PAGE, ENOTSUP, "expected attr uc or wc"},
		{2, CP_ATTR_WT, PAGE, ENOTSUP, "expected attr uc or wc"},
		{2, CP_ATTR_UC, BAR2 + 1, EINVAL, "has 16k but '16385' is asked"},
		{0, CP_ATTR_UC, PAGE, EINVAL, "has 256 but '4k' is asked"},
		{4, CP_ATTR_WC, PAGE, ENOTSUP, "which only a prefetchable BAR has"},
		{5, CP_ATTR_UC, 64, EINVAL, "begins inside a page (0xfebf2800)"},
	};
	struct rig rig;

	rig_build(*state, &rig);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_media_cfg cfg = rig_cfg(&rig, cases[i].attr);
		struct cp_media media = {.node = 42};
		struct cp_err err = {0};

		snprintf(rig.bar, sizeof(rig.bar), "%s" LINK "/resource%u", rig.at,
			 cases[i].index);
		cfg.bytes = cases[i].bytes;
		expect(cp_bar_open(&rig.root, mmap, &media, &cfg, &err), &err,
		       cases[i].errnum, CP_EXIT_USAGE, cases[i].text);
		assert_int_equal(media.node, 42);
	}
}

struct seen {
	unsigned nr, usable;
	char last_why[512];
};

static void see(void *ctx, const struct cp_pci_bar *bar, const char *why)
{
	struct seen *seen = ctx;

	assert_string_equal(bar->address, "0000:00:04.0");
	seen->nr++;
	seen->usable += !why;
	if (why)
		snprintf(seen->last_why, sizeof(seen->last_why), "%s", why);
}

/* Description: all BARs of memory are listed, and those in use say by whom. */
static void bars_are_listed(void **state)
{
	struct seen seen = {0};
	struct rig rig;

	rig_build(*state, &rig);
	assert_int_equal(cp_pci_bar_each(&rig.root, see, &seen), 4);
	assert_int_equal(seen.nr, 4);
	assert_int_equal(seen.usable, 3);
	assert_non_null(strstr(seen.last_why, "begins inside a page"));
	make_change(*state, DRIVER);
	seen = (struct seen){0};
	cp_pci_bar_each(&rig.root, see, &seen);
	assert_int_equal(seen.usable, 0);
	rig_drop(*state, DEV "/driver");
	rig_drop(*state, DEV "/resource4");
	seen = (struct seen){0};
	assert_int_equal(cp_pci_bar_each(&rig.root, see, &seen), 4);
	assert_int_equal(seen.usable, 2);
	rig.root.devices = "/nowhere";
	assert_int_equal(cp_pci_bar_each(&rig.root, see, &seen), 0);
}

#define TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(bar_is_found),
		TREE(wrong_names_are_refused),
		TREE(a_file_outside_sysfs_is_refused),
		TREE(what_is_in_use_is_refused),
		TREE(what_a_bar_lacks_is_refused),
		TREE(bars_are_listed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pci", tests, NULL, NULL);
}
