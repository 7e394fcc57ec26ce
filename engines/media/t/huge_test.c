// SPDX-License-Identifier: GPL-2.0-only
/* Larger pages: what the kernel's files say, and what a mapping really got. */
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
#include <sys/stat.h>
#include <unistd.h>

#include "engines/base/t/tree.h"
#include "engines/media/huge.h"
#include "engines/media/kinds.h"

#define SMALL 4096U
#define POOL  "/sys/kernel/mm/hugepages/hugepages-"
#define THP   "/sys/kernel/mm/transparent_hugepage"
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void pool(const char *root, const char *kib, const char *unused,
		 const char *promised)
{
	char path[128];

	snprintf(path, sizeof(path), POOL "%skB/free_hugepages", kib);
	tree_file(root, path, unused);
	snprintf(path, sizeof(path), POOL "%skB/resv_hugepages", kib);
	tree_file(root, path, promised);
}

/* Description: pages of a pool that others were promised are not free, nor are those of a
 * pool that is not there. */
static void promised_pages_are_not_free(void **state)
{
	static const struct {
		const char *unused, *promised;
		uint64_t expect;
	} cases[] = {{"0\n", "0\n", 0}, {"8\n", "0\n", 8},   {"8\n", "5\n", 3},
		     {"5\n", "5\n", 0}, {"1\n", "2\n", 0},   {"word\n", "0\n", 0},
		     {"", "", 0},	{"16\n", "word", 16}};
	const char *root = *state;

	assert_int_equal(cp_huge_free(root, CP_PAGE_2M), 0);
	for (size_t i = 0; i < NR(cases); i++) {
		pool(root, "2048", cases[i].unused, cases[i].promised);
		assert_int_equal(cp_huge_free(root, CP_PAGE_2M), cases[i].expect);
		assert_int_equal(cp_huge_free(root, CP_PAGE_1G), 0);
	}
	pool(root, "1048576", "3\n", "1\n");
	assert_int_equal(cp_huge_free(root, CP_PAGE_1G), 2);
}

/* Description: where pages of a size come from, by what the kernel has. */
static void source_follows_the_kernel(void **state)
{
	static const struct {
		uint64_t page, bytes;
		const char *unused, *enabled, *pmd;
		int errnum;
		enum cp_anon_source expect;
		const char *text;
	} cases[] = {
		{SMALL, 1, "0", "never", "0", 0, CP_ANON_SMALL, ""},
		{SMALL, 1, "8", "[always] madvise never", "2097152", 0, CP_ANON_SMALL,
		 ""},
		{CP_PAGE_2M, 4 << 20, "2", "always madvise [never]", "2097152", 0,
		 CP_ANON_RESERVED, ""},
		{CP_PAGE_2M, (4 << 20) + 1, "2", "always [madvise] never", "2097152", 0,
		 CP_ANON_TRANSPARENT, ""},
		{CP_PAGE_2M, 1, "0", "[always] madvise never", "2097152", 0,
		 CP_ANON_TRANSPARENT, ""},
		{CP_PAGE_2M, 4 << 20, "1", "always madvise [never]", "2097152", ENOMEM,
		 CP_ANON_SMALL,
		 "'4m' in pages of 2m needs 2 reserved ones and 1 are free; expected as "
		 "many in /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or "
		 "madvise in /sys/kernel/mm/transparent_hugepage/enabled"},
		/* an arm64 kernel of 64k pages: its large page is another one */
		{CP_PAGE_2M, 1, "0", "[always] madvise never", "536870912", ENOMEM,
		 CP_ANON_SMALL, "needs 1 reserved ones and 0 are free"},
		{CP_PAGE_1G, 1, "64", "[always] madvise never", "2097152", ENOMEM,
		 CP_ANON_SMALL, "hugepages-1048576kB/nr_hugepages"},
	};
	const char *root = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		enum cp_anon_source source = CP_ANON_SMALL;
		struct cp_err err = {0};

		pool(root, "2048", cases[i].unused, "0");
		tree_file(root, THP "/enabled", cases[i].enabled);
		tree_file(root, THP "/hpage_pmd_size", cases[i].pmd);
		int rc = cp_anon_source(root, cases[i].page, cases[i].bytes, &source,
					&err);

		if (rc != -cases[i].errnum || source != cases[i].expect ||
		    !strstr(err.msg, cases[i].text))
			fail_msg("case %zu: got %d, source %d, '%s'", i, rc, (int)source,
				 err.msg);
		if (rc)
			assert_int_equal(err.exit, CP_EXIT_INVALID);
	}
}

#define VMA(start, end, rest) start "-" end " rw-p 00000000 00:00 0 \nSize: 1 kB\n" rest
#define PAGE_4K		      "KernelPageSize:        4 kB\n"
#define PAGE_2M		      "KernelPageSize:     2048 kB\n"

/* Description: the page size of a range is that of its mappings; transparent pages must
 * fill all of it; holes and mixtures are unknown. */
static void smaps_is_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t expect;
	} cases[] = {
		{"", 0},
		{VMA("400000", "800000", PAGE_4K), SMALL},
		{VMA("400000", "800000", PAGE_2M), CP_PAGE_2M},
		{VMA("400000", "800000", PAGE_4K "AnonHugePages:      4096 kB\n"),
		 CP_PAGE_2M},
		{VMA("400000", "800000", PAGE_4K "AnonHugePages:      2048 kB\n"), 0},
		{VMA("400000", "800000", PAGE_4K "ShmemPmdMapped:     4096 kB\n"),
		 CP_PAGE_2M},
		{VMA("400000", "800000", PAGE_4K "FilePmdMapped:      4096 kB\n"),
		 CP_PAGE_2M},
		/* two mappings side by side */
		{VMA("400000", "600000", PAGE_4K) VMA("600000", "800000", PAGE_4K),
		 SMALL},
		{VMA("400000", "600000", PAGE_4K) VMA("600000", "800000", PAGE_2M), 0},
		{VMA("400000", "600000", PAGE_4K "AnonHugePages: 2048 kB\n")
			 VMA("600000", "800000", PAGE_4K),
		 0},
		/* a hole at the start, in the middle, at the end */
		{VMA("500000", "800000", PAGE_4K), 0},
		{VMA("400000", "500000", PAGE_4K) VMA("600000", "800000", PAGE_4K), 0},
		{VMA("400000", "700000", PAGE_4K), 0},
		/* neighbours do not count */
		{VMA("200000", "400000", PAGE_2M "AnonHugePages: 2048 kB\n") VMA(
			 "400000", "800000", PAGE_4K) VMA("800000", "a00000", PAGE_2M),
		 SMALL},
		{VMA("200000", "a00000", PAGE_4K), SMALL},
	};
	const char *root = *state;
	char path[256];

	snprintf(path, sizeof(path), "%s/smaps", root);
	for (size_t i = 0; i < NR(cases); i++) {
		tree_file(root, "/smaps", cases[i].text);
		uint64_t got = cp_huge_of_smaps(path, CP_PAGE_2M, 0x400000, 0x800000);

		if (got != cases[i].expect)
			fail_msg("case %zu: got %lu", i, (unsigned long)got);
	}
	assert_int_equal(cp_huge_of_smaps("/no/such", CP_PAGE_2M, 0, 1), 0);
}

/* Description: a file's name that is longer than a line of ours, and looks like one of
 * the kernel's, is not taken for one. */
static void long_names_are_skipped(void **state)
{
	const char *root = *state;
	char path[256], text[2048], name[475];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	/* a line of 512 bytes ends where the name goes on */
	snprintf(text, sizeof(text),
		 "400000-800000 rw-s 00000000 00:00 7 /%sKernelPageSize: 2048 "
		 "kB\n" PAGE_4K,
		 name);
	tree_file(root, "/smaps", text);
	snprintf(path, sizeof(path), "%s/smaps", root);
	assert_int_equal(cp_huge_of_smaps(path, CP_PAGE_2M, 0x400000, 0x800000), SMALL);
}

/* Description: the kernel's own account of a mapping of small pages, and of part of it.
 */
static void own_mapping_is_seen(void **state)
{
	const size_t bytes = 64 * SMALL;
	unsigned char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(map != MAP_FAILED);
	madvise(map, bytes, MADV_NOHUGEPAGE);
	memset(map, 1, bytes);
	assert_int_equal(cp_huge_of_range(map, bytes), sysconf(_SC_PAGESIZE));
	assert_int_equal(cp_huge_of_range(map + SMALL, SMALL), sysconf(_SC_PAGESIZE));
	munmap(map, bytes);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(promised_pages_are_not_free),
		IN_TREE(source_follows_the_kernel),
		IN_TREE(smaps_is_read),
		IN_TREE(long_names_are_skipped),
		cmocka_unit_test(own_mapping_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
