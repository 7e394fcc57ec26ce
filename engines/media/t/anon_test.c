// SPDX-License-Identifier: GPL-2.0-only
/* Anonymous memory: contents, protection, and pages that are what was asked. */
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

#include "engines/media/media.h"

#define PAGE 4096U

/* Description: anon has contents of its own on every page, and no word of zeroes. */
static void anon_pages_differ(void **state)
{
	struct cp_media_cfg cfg = {.spec = "anon", .bytes = 64 * PAGE, .fault_in = true};
	struct cp_media media;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	assert_string_equal(media.ops->name, "anon");
	assert_string_equal(media.provenance, "native");
	assert_false(media.persistent);
	assert_int_equal(media.bytes, 64 * PAGE);
	for (size_t a = 0; a < 64; a++) {
		const unsigned char *page = media.base + a * PAGE;

		for (size_t b = 0; b < a; b++)
			assert_true(memcmp(page, media.base + b * PAGE, PAGE) != 0);
		for (size_t i = 0; i < PAGE; i += 8)
			assert_true(memcmp(page + i, "\0\0\0\0\0\0\0", 8) != 0);
	}
	cp_media_close(&media);
}

/* Description: anon that is not asked writable cannot be written. */
static void anon_read_only_is_protected(void **state)
{
	int pipe_fds[2];
	struct cp_media_cfg cfg = {.spec = "anon", .bytes = PAGE, .fault_in = true};
	struct cp_media media;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	/* the kernel checks the protection for us, without a signal */
	assert_int_equal(read(pipe_fds[0], media.base, 1), -1);
	assert_int_equal(errno, EFAULT);
	cp_media_close(&media);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Description: anon has the pages that were asked for, for all of a size that is no
 * multiple of them, with contents of its own on each small page and protected as small
 * pages are; where the kernel gives none it says what would. */
static void anon_page_size_is_real(void **state)
{
	static const struct {
		const char *spec;
		uint64_t page;
	} cases[] = {{"anon", PAGE},
		     {"anon:page=4k", PAGE},
		     {"anon:page=2m", 2 << 20},
		     {"anon:page=1g", 1 << 30}};

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct cp_media_cfg cfg = {.spec = cases[i / 2].spec,
					   .bytes = (5 << 20) + 1,
					   .writable = i % 2,
					   .fault_in = true};
		struct cp_media media;
		struct cp_err err = {0};

		if (cp_media_open(&cfg, &media, &err)) {
			print_message("not asserted: %s: %s\n", cfg.spec, err.msg);
			assert_int_equal(err.exit, CP_EXIT_INVALID);
			assert_non_null(strstr(err.msg, "; expected "));
			assert_true(cases[i / 2].page > PAGE);
			continue;
		}
		assert_int_equal(media.page_bytes, cases[i / 2].page);
		assert_int_equal((uintptr_t)media.base % media.page_bytes, 0);
		assert_int_equal(media.bytes, cfg.bytes);
		for (size_t at = PAGE; at < media.bytes; at += PAGE) {
			size_t left = media.bytes - at < PAGE ? media.bytes - at : PAGE;

			assert_true(memcmp(media.base, media.base + at, left) != 0);
		}
		if (cfg.writable)
			memset(media.base, 7, media.bytes);
		cp_media_close(&media);
	}
}

/* Description: two media of large pages at once keep their contents and each says what it
 * has, also after the other is gone. */
static void large_pages_are_apart(void **state)
{
	struct cp_media_cfg cfg = {.spec = "anon:page=2m",
				   .bytes = 4 << 20,
				   .writable = true,
				   .fault_in = true};
	struct cp_media media[2];
	struct cp_err err = {0};

	(void)state;
	if (cp_media_open(&cfg, &media[0], &err)) {
		print_message("not asserted: %s\n", err.msg);
		skip();
	}
	memset(media[0].base, 1, media[0].bytes);
	assert_int_equal(cp_media_open(&cfg, &media[1], &err), 0);
	assert_int_equal(media[1].page_bytes, 2 << 20);
	memset(media[1].base, 2, media[1].bytes);
	for (size_t at = 0; at < media[0].bytes; at++)
		assert_int_equal(media[0].base[at], 1);
	cp_media_close(&media[0]);
	for (size_t at = 0; at < media[1].bytes; at++)
		assert_int_equal(media[1].base[at], 2);
	cp_media_close(&media[1]);
}

/* Description: a fingerprint's word for a media is its name, and its pages when they are
 * not the machine's own. */
static void kind_names_large_pages(void **state)
{
	static const char *const cases[][2] = {
		{"anon", "anon"},
		{"anon:page=4k", "anon"},
		{"anon:page=2m", "anon:page=2m"},
		{"anon:page=1g", "anon:page=1g"},
		{"file", "file"},
		{"anon:page=x", "anon"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char kind[CP_SPEC_TEXT_MAX];

		cp_media_kind(cases[i][0], kind, sizeof(kind));
		assert_string_equal(kind, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anon_pages_differ),
		cmocka_unit_test(anon_read_only_is_protected),
		cmocka_unit_test(anon_page_size_is_real),
		cmocka_unit_test(large_pages_are_apart),
		cmocka_unit_test(kind_names_large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
