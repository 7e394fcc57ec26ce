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
 * x86 keeps a list of what is mapped under which type, which root sees where debugfs is
 * mounted: "PAT: [mem 0x00000000fe000000-0x00000000fe400000] write-combining", the end
 * excluded. The first entry that overlaps [start, end) and is not of type `but` (NULL:
 * any).
 */
static bool mapped_as(FILE *list, uint64_t start, uint64_t end, const char *but,
		      unsigned *ret_entries, char type[32])
{
	uint64_t from, to;
	char line[128];

	*ret_entries = 0;
	while (list && fgets(line, sizeof(line), list)) {
		if (sscanf(line, "PAT: [mem %" SCNx64 "-%" SCNx64 "] %31s", &from, &to,
			   type) != 3 ||
		    from >= end || to <= start)
			continue;
		++*ret_entries;
		if (!but || strcmp(type, but) != 0)
			return true;
	}
	return false;
}

/* "reg01: base=0x0fe000000 ( 4064MB), size=   16MB, count=1: write-combining", one of
 * which makes a UC- mapping write combining (Intel SDM vol. 3A, effective page-level
 * types). */
static bool mtrr_combines(const struct cp_pci_root *root, uint64_t start, uint64_t end)
{
	bool found = false;
	uint64_t base, size;
	char line[160], unit, type[32];
	FILE *file = fopen(root->mtrrs, "re");

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (sscanf(line,
			   "reg%*d: base=%" SCNx64 " (%*[^)]), size=%" SCNu64
			   "%cB, count=%*d: %31s",
			   &base, &size, &unit, type) != 4)
			continue;
		size <<= unit == 'M' ? 20 : unit == 'K' ? 10 : 0;
		found = !strcmp(type, "write-combining") && base < end &&
			start < base + size;
	}
	if (file)
		fclose(file);
	return found;
}

bool cp_pci_bar_verifiable(const struct cp_pci_root *root)
{
	return !access(root->memtypes, R_OK);
}

int cp_pci_bar_verify(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		      enum cp_attr attr, uint64_t bytes, bool *ret_verified,
		      struct cp_err *err)
{
	/* as x86's cattr_name() has them (arch/x86/mm/pat/memtype.c) */
	const char *want = attr == CP_ATTR_WC ? "write-combining" : "uncached-minus";
	uint64_t end = bar->start + bytes;
	char type[32];
	unsigned entries;
	FILE *list = fopen(root->memtypes, "re");
	bool other = mapped_as(list, bar->start, end, want, &entries, type);
	bool mtrr = attr == CP_ATTR_UC && mtrr_combines(root, bar->start, end);

	if (list)
		fclose(list);
	if (other || mtrr)
		return cp_err_set(
			err, CP_EXIT_INVALID, EBUSY,
			"BAR %u of '%s' is mapped %s and not %s: %s; expected %s",
			bar->index, bar->address, other ? type : "write-combining", want,
			other ? "somebody else mapped it first"
			      : "an MTRR makes it so (/proc/mtrr)",
			other ? "a BAR nobody uses" : "attr wc, or no such MTRR");
	*ret_verified = entries > 0; /* without PAT the list is empty */
	return 0;
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
	uint64_t end = bar->start + bar->bytes;
	char holder[64], type[32];
	unsigned entries;

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
	FILE *list = fopen(root->memtypes, "re");
	bool mapped = mapped_as(list, bar->start, end, NULL, &entries, type);

	if (list)
		fclose(list);
	/* a second mapping under another attribute would silently get the first one's */
	if (mapped)
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
