// SPDX-License-Identifier: GPL-2.0-only
/* May a BAR be mapped: is it free, awake and decoding, and as large as is asked? */
#include "engines/media/pci.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/units.h"
#include "engines/media/sysfs.h"

/* Of config space: linux/pci_regs.h, PCI_COMMAND and PCI_COMMAND_MEMORY. */
#define COMMAND_OFFSET 4U
#define COMMAND_MEMORY 0x2U

/* One line of /proc/iomem: "  d0000000-d0ffffff : 0000:00:04.0", two blanks a level. */
struct region {
	int depth;
	uint64_t start, end;
	char name[64];
};

static bool parse_region(const char *line, struct region *ret)
{
	size_t blanks = strspn(line, " ");

	ret->depth = (int)blanks;
	ret->name[0] = '\0';
	return sscanf(line + blanks, "%" SCNx64 "-%" SCNx64 " : %63[^\n]", &ret->start,
		      &ret->end, ret->name) >= 2;
}

/*
 * Who holds addresses of the BAR: a region inside the device's own, or one that overlaps
 * it without being a bridge's window around it. Where the kernel hides addresses (all
 * zero) nothing is found; opening the BAR needs more rights than reading them.
 */
static bool held_by(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		    char holder[64])
{
	uint64_t last = bar->start + bar->bytes - 1;
	int own = -1; /* depth of the device's own region while in it */
	bool held = false;
	char line[256];
	FILE *file = fopen(root->iomem, "re");

	while (file && !held && fgets(line, sizeof(line), file)) {
		struct region at;

		if (!parse_region(line, &at) || !at.end)
			continue;
		bool around = at.start <= bar->start && at.end >= last;
		bool apart = at.end < bar->start || at.start > last;

		if (own >= 0 && at.depth > own) {
			held = !apart;
		} else {
			own = around && !strcmp(at.name, bar->address) ? at.depth : -1;
			held = !around && !apart;
		}
		if (held)
			snprintf(holder, 64, "%s", at.name);
	}
	if (file)
		fclose(file);
	return held;
}

/*
 * Mapped by somebody, with which attribute? x86 keeps a list, which root sees where
 * debugfs is mounted; a second mapping of another attribute would silently get the first
 * one's. "PAT: [mem 0x00000000fe000000-0x00000000fe400000] write-combining", the end
 * excluded.
 */
static bool mapped_as(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		      char type[32])
{
	bool mapped = false;
	char line[128];
	uint64_t start, end;
	FILE *file = fopen(root->memtypes, "re");

	while (file && !mapped && fgets(line, sizeof(line), file))
		mapped = sscanf(line, "PAT: [mem %" SCNx64 "-%" SCNx64 "] %31s", &start,
				&end, type) == 3 &&
			 start < bar->start + bar->bytes && end > bar->start;
	if (file)
		fclose(file);
	return mapped;
}

static bool decodes(const struct cp_pci_bar *bar)
{
	unsigned char head[COMMAND_OFFSET + 2] = {0};
	char path[CP_PCI_PATH_MAX];

	snprintf(path, sizeof(path), "%s/config", bar->dir);
	FILE *file = fopen(path, "re");
	/* without a buffer: no more of config space is read than this */
	bool got = file && !setvbuf(file, NULL, _IONBF, 0) &&
		   fread(head, sizeof(head), 1, file) == 1;

	if (file)
		fclose(file);
	return got && head[COMMAND_OFFSET] & COMMAND_MEMORY;
}

static int check_free(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		      struct cp_err *err)
{
	char holder[64], type[32];

	if (bar->driver[0])
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "BAR %u of '%s' is in use by driver '%s'; expected a "
				  "device without one: echo %s > "
				  "/sys/bus/pci/devices/%s/driver/unbind",
				  bar->index, bar->address, bar->driver, bar->address,
				  bar->address);
	if (held_by(root, bar, holder))
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "BAR %u of '%s' is in use: '%s' holds its addresses in "
				  "/proc/iomem; expected a BAR nobody uses",
				  bar->index, bar->address, holder);
	if (mapped_as(root, bar, type))
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "BAR %u of '%s' is in use: somebody has it mapped, %s; "
				  "expected a BAR nobody uses",
				  bar->index, bar->address, type);
	return 0;
}

/* Reads of a device that sleeps or does not decode are all ones: figures of nothing. */
static int check_awake(const struct cp_pci_bar *bar, struct cp_err *err)
{
	char runtime[32], power[32];

	cp_sysfs_line(bar->dir, "power/runtime_status", runtime, sizeof(runtime));
	cp_sysfs_line(bar->dir, "power_state", power, sizeof(power));
	if (!strcmp(runtime, "suspended") || !strncmp(power, "D3", 2))
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "'%s' sleeps (%s); expected it awake: echo on > "
				  "/sys/bus/pci/devices/%s/power/control",
				  bar->address,
				  !strcmp(runtime, "suspended") ? runtime : power,
				  bar->address);
	if (!decodes(bar))
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "'%s' does not decode memory accesses, so that every "
				  "read would be all ones; expected it enabled: echo 1 > "
				  "/sys/bus/pci/devices/%s/enable",
				  bar->address, bar->address);
	return 0;
}

int cp_pci_bar_check(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		     enum cp_attr attr, uint64_t bytes, struct cp_err *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char have[24], asked[24];

	if (bytes > bar->bytes) {
		cp_size_format(bar->bytes, have, sizeof(have));
		cp_size_format(bytes, asked, sizeof(asked));
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "BAR %u of '%s' has %s but '%s' is asked; expected a "
				  "smaller size",
				  bar->index, bar->address, have, asked);
	}
	if (attr == CP_ATTR_WC && !bar->has_wc)
		return cp_err_set(
			err, CP_EXIT_USAGE, ENOTSUP,
			"BAR %u of '%s' has no 'resource%u_wc', which %s; expected attr "
			"uc",
			bar->index, bar->address, bar->index,
			bar->prefetchable ? "needs write combining by PAT"
					  : "only a prefetchable BAR has");
	if (bar->start % page)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "BAR %u of '%s' begins inside a page (0x%" PRIx64
				  "), with whatever else is there; expected one on a "
				  "page boundary",
				  bar->index, bar->address, bar->start);
	int rc = check_free(root, bar, err);

	return rc ? rc : check_awake(bar, err);
}
