// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous memory: DRAM that stands in for the far side when there is none. Small pages
 * unless others are asked for, as tmpfs has, so that figures of the two compare. Each
 * page gets contents of its own: pages never written would all read from one shared zero
 * page, in cache.
 *
 * page=2m takes reserved pages where enough are free, else transparent ones, and then
 * looks at what it got: a mapping that the kernel filled with small pages after all is
 * refused. page=1g is there as reserved pages only.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/spec.h"
#include "engines/base/units.h"
#include "engines/media/huge.h"
#include "engines/media/kinds.h"

/* linux/mman.h: the page's log2 stands above the flags. */
#define HUGE_FLAG(page) (__builtin_ctzll(page) << 26)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static uint64_t small_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static int page_parse(const char *text, uint64_t *ret_page, struct cp_err *err)
{
	uint64_t page = small_page();
	struct cp_spec spec;
	char small[24];
	int rc = cp_spec_parse(text, &spec, err);

	cp_size_format(page, small, sizeof(small));
	const char *asked = rc ? NULL : cp_spec_text(&spec, "page");

	if (!rc)
		rc = cp_spec_finish(&spec, "page", err);
	if (rc)
		return rc;
	if (asked && (cp_size_parse(asked, &page) ||
		      (page != small_page() && page != CP_PAGE_2M && page != CP_PAGE_1G)))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "anon: page '%s' is not to be had; expected %s, 2m or "
				  "1g",
				  asked, small);
	*ret_page = page;
	return 0;
}

static int anon_check(const char *spec, struct cp_err *err)
{
	uint64_t page;

	return page_parse(spec, &page, err);
}

int cp_anon_source(const char *root, uint64_t page, uint64_t bytes,
		   enum cp_anon_source *ret_source, struct cp_err *err)
{
	uint64_t need = (bytes + page - 1) / page, unused = cp_huge_free(root, page);
	char size[24], asked[24];

	if (page == small_page() || unused >= need) {
		*ret_source = page == small_page() ? CP_ANON_SMALL : CP_ANON_RESERVED;
		return 0;
	}
	if (page == CP_PAGE_2M && cp_huge_transparent(root, page)) {
		*ret_source = CP_ANON_TRANSPARENT;
		return 0;
	}
	cp_size_format(page, size, sizeof(size));
	cp_size_format(bytes, asked, sizeof(asked));
	return cp_err_set(
		err, CP_EXIT_INVALID, ENOMEM,
		"media 'anon': '%s' in pages of %s needs %" PRIu64
		" reserved ones and %" PRIu64
		" are free; expected as many in /sys/kernel/mm/hugepages/hugepages-"
		"%" PRIu64 "kB/nr_hugepages%s",
		asked, size, need, unused, page >> 10,
		page == CP_PAGE_2M ? ", or madvise in "
				     "/sys/kernel/mm/transparent_hugepage/enabled"
				   : "");
}

static int anon_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		     struct cp_err *err)
{
	enum cp_anon_source source;
	uint64_t page;
	int rc = page_parse(cfg->spec, &page, err);

	if (!rc)
		rc = cp_anon_source("", page, cfg->bytes, &source, err);
	if (rc)
		return rc;
	/* pages of the pool are not in MemAvailable */
	*ret_memory =
		source == CP_ANON_RESERVED ? 0 : (cfg->bytes + page - 1) / page * page;
	return 0;
}

static int cannot_map(size_t bytes, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, errno,
			  "media 'anon': cannot map %zu bytes: %s", bytes,
			  strerror(errno));
}

/* Aligned, with a guard before and behind, so that no neighbour shares the mapping and
 * its count of transparent pages. */
static int map_transparent(struct cp_media *media, size_t bytes, struct cp_err *err)
{
	const size_t guard = CP_PAGE_2M;
	size_t whole = bytes + 2 * guard;
	unsigned char *map = mmap(NULL, whole, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return cannot_map(whole, err);
	size_t skip = guard - (uintptr_t)map % guard;

	if (mprotect(map + skip, bytes, PROT_READ | PROT_WRITE)) {
		int rc = cannot_map(bytes, err);

		munmap(map, whole);
		return rc;
	}
	madvise(map + skip, bytes, MADV_HUGEPAGE); /* what came of it is verified */
	media->base = map + skip;
	media->map = map;
	media->map_bytes = whole;
	return 0;
}

static int map_plain(struct cp_media *media, size_t bytes, int flags, struct cp_err *err)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	if (map == MAP_FAILED)
		return cannot_map(bytes, err);
	/* fails only where the kernel has no large pages, and then pages are small */
	if (!flags)
		madvise(map, bytes, MADV_NOHUGEPAGE);
	media->base = media->map = map;
	media->map_bytes = bytes;
	return 0;
}

static int anon_map(struct cp_media *media, enum cp_anon_source source, uint64_t page,
		    size_t bytes, struct cp_err *err)
{
	if (source == CP_ANON_TRANSPARENT)
		return map_transparent(media, bytes, err);
	return map_plain(media, bytes,
			 source == CP_ANON_RESERVED ? MAP_HUGETLB | HUGE_FLAG(page) : 0,
			 err);
}

/* A page of the pool that this process may not have (cpuset, memory policy) would be a
 * SIGBUS at the first touch: have it told as an error. */
static int populate(struct cp_media *media, size_t bytes, struct cp_err *err)
{
	if (!madvise(media->base, bytes, MADV_POPULATE_WRITE) || errno == EINVAL)
		return 0; /* EINVAL: a kernel before 5.14 */
	return cp_err_set(err, CP_EXIT_INVALID, errno,
			  "media 'anon': pages cannot be brought in: %s",
			  strerror(errno));
}

static int verify_pages(struct cp_media *media, enum cp_anon_source source, uint64_t page,
			size_t bytes, struct cp_err *err)
{
	char size[24], got[24];

	media->page_bytes = cp_huge_of_range(media->base, bytes);
	if (source == CP_ANON_TRANSPARENT && media->page_bytes != page) {
		/* Memory was in pieces when they were touched: have it put together. */
		madvise(media->base, bytes, MADV_COLLAPSE);
		media->page_bytes = cp_huge_of_range(media->base, bytes);
	}
	if (media->page_bytes == page || source == CP_ANON_SMALL)
		return 0;
	cp_size_format(page, size, sizeof(size));
	cp_size_format(media->page_bytes, got, sizeof(got));
	return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
			  "media 'anon': the kernel gave %s pages instead of %s; "
			  "expected free memory in one piece, or reserved pages "
			  "(/sys/kernel/mm/hugepages/hugepages-%" PRIu64
			  "kB/nr_hugepages)",
			  media->page_bytes ? got : "mixed", size, page >> 10);
}

static int fault_in(struct cp_media *media, enum cp_anon_source source, uint64_t page,
		    size_t bytes, struct cp_err *err)
{
	int rc = source == CP_ANON_RESERVED ? populate(media, bytes, err) : 0;

	if (rc)
		return rc;
	cp_media_fill(media->base, bytes, small_page());
	return verify_pages(media, source, page, bytes, err);
}

static int anon_open(struct cp_media *media, const struct cp_media_cfg *cfg,
		     struct cp_err *err)
{
	enum cp_anon_source source = CP_ANON_SMALL;
	uint64_t page;
	int rc = page_parse(cfg->spec, &page, err);

	if (!rc)
		rc = cp_media_persistent_check(cfg, false, err);
	if (rc)
		return rc;
	if (cfg->bytes > (uint64_t)PTRDIFF_MAX - 4 * page)
		return cp_err_set(err, CP_EXIT_USAGE, ERANGE,
				  "media 'anon': size '%" PRIu64 "' cannot be mapped; "
				  "expected a size that this machine can address",
				  cfg->bytes);
	size_t bytes = (size_t)((cfg->bytes + page - 1) / page * page);

	rc = cp_anon_source("", page, cfg->bytes, &source, err);
	if (!rc && source != CP_ANON_RESERVED)
		rc = cp_media_memory_check("media 'anon'", bytes, err);
	if (!rc)
		rc = anon_map(media, source, page, bytes, err);
	if (rc)
		return rc;
	if (cfg->fault_in)
		rc = fault_in(media, source, page, bytes, err);
	/* after filling: a read-only run must not be able to change what it reads */
	if (!rc && !cfg->writable && mprotect(media->base, bytes, PROT_READ))
		rc = cp_err_set(err, CP_EXIT_INVALID, errno,
				"media 'anon': cannot make it read-only: %s",
				strerror(errno));
	if (rc)
		munmap(media->map, media->map_bytes);
	return rc;
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
	munmap(media->map, media->map_bytes);
}

static int anon_probe(struct cp_err *err)
{
	(void)err;
	return 0;
}

const struct cp_media_ops cp_media_anon_ops = {
	.name = "anon",
	.help = "anonymous memory; page=2m or 1g for larger pages",
	.attrs = CP_ATTR_BIT(CP_ATTR_WB),
	.check = anon_check,
	.look = anon_look,
	.open = anon_open,
	.sync = anon_sync,
	.close = anon_close,
	.probe = anon_probe,
};
