// SPDX-License-Identifier: GPL-2.0-only
/* What media ask of the kernel about pages: is there room? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "engines/base/units.h"
#include "engines/media/kinds.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t cp_media_map_bytes(uint64_t bytes)
{
	uint64_t page = page_size();

	if (bytes > (uint64_t)PTRDIFF_MAX - page)
		return 0;
	return (size_t)((bytes + page - 1) / page * page);
}

uint64_t cp_media_memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
		;
	if (file)
		fclose(file);
	return kib << 10;
}

int cp_media_memory_check(const char *what, uint64_t bytes, struct cp_err *err)
{
	uint64_t available = cp_media_memory_available();
	char asked_text[24], available_text[24];

	if (!available || bytes <= available - available / 16)
		return 0;
	/* whole MiB: exact bytes are noise to a reader, and differ each time */
	cp_size_format(bytes, asked_text, sizeof(asked_text));
	cp_size_format(available >> 20 << 20, available_text, sizeof(available_text));
	return cp_err_set(
		err, CP_EXIT_INVALID, ENOMEM,
		"not enough memory for %s: '%s' asked, %s available; expected a "
		"smaller size",
		what, asked_text, available_text);
}
