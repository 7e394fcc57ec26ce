/* SPDX-License-Identifier: GPL-2.0-only */
/* A tree of files that looks like sysfs with one PCI device, for the tests of BARs. */
#ifndef CP_ENGINES_MEDIA_T_BAR_RIG_H
#define CP_ENGINES_MEDIA_T_BAR_RIG_H

#include "engines/media/bar.h"
#include "engines/base/t/tree.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE  4096U
#define BAR2  (4 * PAGE)
#define DEV   "/devices/pci0000:00/0000:00:04.0"
#define LINK  "/bus/devices/0000:00:04.0"

static const char resource[] =
	"0x00000000febf0000 0x00000000febf00ff 0x0000000000040200\n" /* 256 bytes */
	"0x000000000000c000 0x000000000000c03f 0x0000000000040101\n" /* I/O ports */
	"0x00000000fe000000 0x00000000fe003fff 0x000000000014220c\n" /* BAR2 */
	"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	"0x00000000febf1000 0x00000000febf1fff 0x0000000000040200\n"
	"0x00000000febf2800 0x00000000febf2fff 0x0000000000040200\n" /* inside a page */
	"0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

static const char iomem[] = "00000000-00000fff : Reserved\n"
			    "c0000000-febfffff : PCI Bus 0000:00\n"
			    "  fe000000-fe003fff : 0000:00:04.0\n"
			    "  fe800000-febf1fff : PCI Bus 0000:01\n"
			    "    febf0000-febf00ff : 0000:00:04.0\n"
			    "    febf1000-febf1fff : 0000:00:04.0\n"
			    "  fec00000-fec003ff : IOAPIC 0\n";

struct rig {
	const char *at;
	char devices[256], iomem[256], memtypes[256], mtrrs[256], bar[512];
	struct cp_pci_root root;
};

static inline void rig_fill(const char *at, const char *path, unsigned char byte,
			    size_t bytes)
{
	char full[512];

	tree_path(at, path, full, sizeof(full));
	FILE *file = fopen(full, "w");

	assert_non_null(file);
	for (size_t i = 0; i < bytes; i++)
		putc(byte, file);
	assert_int_equal(fclose(file), 0);
}

static inline void rig_link(const char *at, const char *path, const char *target)
{
	char full[512];

	tree_path(at, path, full, sizeof(full));
	unlink(full);
	assert_int_equal(symlink(target, full), 0);
}

static inline void rig_command(const char *at, unsigned char bits)
{
	char full[512];
	unsigned char config[64] = {0x86, 0x80, 0, 0, bits};

	tree_path(at, DEV "/config", full, sizeof(full));
	FILE *file = fopen(full, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(config, sizeof(config), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* A device with BARs of all sorts, free and awake. */
static inline void rig_build(const char *at, struct rig *rig)
{
	*rig = (struct rig){.at = at};
	snprintf(rig->devices, sizeof(rig->devices), "%s/bus/devices", at);
	snprintf(rig->iomem, sizeof(rig->iomem), "%s/iomem", at);
	snprintf(rig->memtypes, sizeof(rig->memtypes), "%s/memtypes", at);
	snprintf(rig->mtrrs, sizeof(rig->mtrrs), "%s/mtrr", at);
	snprintf(rig->bar, sizeof(rig->bar), "%s" LINK "/resource2", at);
	rig->root = (struct cp_pci_root){.devices = rig->devices,
					 .iomem = rig->iomem,
					 .memtypes = rig->memtypes,
					 .mtrrs = rig->mtrrs};
	tree_file(at, DEV "/resource", resource);
	rig_fill(at, DEV "/resource0", 'a', 256);
	rig_fill(at, DEV "/resource1", 'b', 64);
	rig_fill(at, DEV "/resource2", 'u', BAR2);
	rig_fill(at, DEV "/resource2_wc", 'w', BAR2);
	rig_fill(at, DEV "/resource3", 'x', 0);
	rig_fill(at, DEV "/resource4", 'm', PAGE);
	rig_fill(at, DEV "/resource5", 'p', PAGE / 2);
	rig_command(at, 0x7);
	tree_file(at, DEV "/numa_node", "1\n");
	tree_file(at, DEV "/power/runtime_status", "active\n");
	tree_file(at, DEV "/power_state", "D0\n");
	rig_link(at, DEV "/subsystem", "../../../bus/pci");
	rig_link(at, LINK, "../.." DEV);
	tree_file(at, "/iomem", iomem);
}

static inline void rig_drop(const char *at, const char *path)
{
	char full[512];

	tree_path(at, path, full, sizeof(full));
	assert_int_equal(unlink(full), 0);
}

static inline struct cp_media_cfg rig_cfg(const struct rig *rig, enum cp_attr attr)
{
	return (struct cp_media_cfg){.spec = "bar",
				     .filename = rig->bar,
				     .bytes = BAR2,
				     .writable = true,
				     .attr = attr,
				     .fault_in = true};
}

#endif
