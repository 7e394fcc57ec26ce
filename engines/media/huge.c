// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/huge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engines/media/sysfs.h"

#define THP "/sys/kernel/mm/transparent_hugepage"

static uint64_t number_read(const char *root, const char *dir, const char *name)
{
	char full[512];
	uint64_t value;

	snprintf(full, sizeof(full), "%s%s", root, dir);
	return cp_sysfs_number(full, name, &value) ? value : 0;
}

uint64_t cp_huge_free(const char *root, uint64_t page_bytes)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB",
		 page_bytes >> 10);
	uint64_t unused = number_read(root, dir, "free_hugepages");
	uint64_t promised = number_read(root, dir, "resv_hugepages");

	return unused > promised ? unused - promised : 0;
}

bool cp_huge_transparent(const char *root, uint64_t page_bytes)
{
	char dir[512], line[128];

	snprintf(dir, sizeof(dir), "%s" THP, root);
	cp_sysfs_line(dir, "enabled", line, sizeof(line));
	return (strstr(line, "[always]") || strstr(line, "[madvise]")) &&
	       number_read(root, THP, "hpage_pmd_size") == page_bytes;
}

/* What smaps says of the mappings that hold the range. */
struct range {
	uintptr_t start, end;
	uintptr_t covered; /* up to here, from start */
	bool inside;	   /* the lines read now are of a mapping of the range */
	bool mixed;
	uint64_t page_bytes; /* of the mappings so far; 0 none yet */
	uint64_t pmd_bytes;  /* in transparent pages */
};

static void header_read(struct range *range, uintptr_t start, uintptr_t end)
{
	range->inside = start < range->end && end > range->start;
	if (!range->inside)
		return;
	if (start > range->covered)
		range->mixed = true; /* a hole in the range */
	range->covered = end;
}

static void line_read(struct range *range, const char *line)
{
	static const char *const transparent[] = {
		"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"};
	uint64_t kib;

	if (sscanf(line, "KernelPageSize: %" SCNu64, &kib) == 1) {
		range->mixed |= range->page_bytes && range->page_bytes != kib << 10;
		range->page_bytes = kib << 10;
		return;
	}
	for (size_t i = 0; i < sizeof(transparent) / sizeof(transparent[0]); i++) {
		size_t len = strlen(transparent[i]);

		if (!strncmp(line, transparent[i], len) &&
		    sscanf(line + len, "%" SCNu64, &kib) == 1)
			range->pmd_bytes += kib << 10;
	}
}

uint64_t cp_huge_of_smaps(const char *path, uint64_t pmd_bytes, uintptr_t start,
			  uintptr_t end)
{
	struct range range = {.start = start, .end = end, .covered = start};
	FILE *file = fopen(path, "re");
	uintptr_t from, to;
	bool whole = true; /* the line before was; else this is the rest of it */
	char line[512];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		bool begins = whole;

		whole = strchr(line, '\n') != NULL;
		if (!begins)
			continue;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			header_read(&range, from, to);
		else if (range.inside)
			line_read(&range, line);
	}
	fclose(file);
	if (range.mixed || range.covered < end)
		return 0;
	if (!range.pmd_bytes)
		return range.page_bytes;
	return range.pmd_bytes >= end - start ? pmd_bytes : 0;
}

uint64_t cp_huge_of_range(const void *base, size_t bytes)
{
	uintptr_t start = (uintptr_t)base;

	return cp_huge_of_smaps("/proc/self/smaps",
				number_read("", THP, "hpage_pmd_size"), start,
				start + bytes);
}
