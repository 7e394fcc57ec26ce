// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous memory: DRAM that stands in for the far side when there is none. Small pages,
 * as tmpfs has, so that figures of the two compare. Each page gets contents of its own:
 * pages never written would all read from one shared zero page, in cache.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/media/kinds.h"

/* splitmix64's finaliser: any two pages differ in all words. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static void fill(unsigned char *base, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t words = page / sizeof(uint64_t);

	for (size_t at = 0; at < bytes; at += page) {
		uint64_t *word = (uint64_t *)(void *)(base + at);
		uint64_t seed = mix(at / page + 1);

		for (size_t i = 0; i < words; i++)
			word[i] = seed + i * 0x9e3779b97f4a7c15ULL;
	}
}

static int anon_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		     struct cp_err *err)
{
	size_t bytes = cp_media_map_bytes(cfg->bytes);
	int rc = cp_media_no_settings(cfg, err);

	if (!rc)
		rc = cp_media_persistent_check(cfg, false, err);
	if (rc)
		return rc;
	rc = cp_media_memory_check("media 'anon'", bytes, err);
	if (rc)
		return rc;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (map == MAP_FAILED)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "media 'anon': cannot map %zu bytes: %s", bytes,
				  strerror(errno));
	/* fails only where the kernel has no large pages, and then pages are small */
	madvise(map, bytes, MADV_NOHUGEPAGE);
	if (cfg->fault_in)
		fill(map, bytes);
	/* after filling: a read-only run must not be able to change what it reads */
	if (!cfg->writable && mprotect(map, bytes, PROT_READ)) {
		rc = cp_err_set(err, CP_EXIT_INVALID, errno,
				"media 'anon': cannot make it read-only: %s",
				strerror(errno));
		munmap(map, bytes);
		return rc;
	}
	media->base = map;
	media->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

static int anon_sync(struct cp_media *media, uint64_t offset, uint64_t len)
{
	/* memory is as durable as it gets */
	(void)media;
	(void)offset;
	(void)len;
	return 0;
}

static void anon_close(struct cp_media *media)
{
	munmap(media->base, cp_media_map_bytes(media->bytes));
}

static int anon_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

const struct cp_media_ops cp_media_anon_ops = {
	.name = "anon",
	.help = "anonymous memory in small pages",
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.open = anon_open,
	.sync = anon_sync,
	.close = anon_close,
	.probe = anon_probe,
};
