// SPDX-License-Identifier: GPL-2.0-only
/* What a sync of a dax device does: on memory that stands for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/guard.h"
#include "engines/media/devdax.h"
#include "engines/media/media.h"

#define PAGE  4096U
#define BYTES (4 * PAGE)

static struct {
	const void *at;
	size_t len;
	unsigned calls;
} seen;

static size_t note_all(void *dst, const void *src, size_t len, enum cp_dir dir,
		       enum cp_attr attr)
{
	(void)src;
	(void)dir;
	(void)attr;
	seen.at = dst;
	seen.len = len;
	seen.calls++;
	return 0;
}

static const struct cp_flush_ops noted = {.name = "noted", .all = note_all};

/* Description: a sync writes back the range that it is given, unless what uses the device
 * flushes behind each write, the platform flushes by itself, or nothing is persistent;
 * and it does not succeed where it cannot. */
static void sync_writes_back(void **state)
{
	static const struct {
		bool persistent, flushed, known, by_platform;
		int rc;
		unsigned calls;
	} cases[] = {
		{true, false, true, false, 0, 1},
		{true, true, true, false, 0, 0},
		{true, false, true, true, 0, 0},
		{false, false, true, false, 0, 0},
		{false, false, false, false, 0, 0},
		{true, true, false, false, 0, 0},
		{true, false, false, false, -EOPNOTSUPP, 0},
	};
	static unsigned char far[BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_flush flush = {.ops = cases[i].by_platform ? NULL : &noted};
		struct cp_media media = {.ops = cp_media_find("devdax"),
					 .base = far,
					 .bytes = BYTES,
					 .persistent = cases[i].persistent,
					 .flushed = cases[i].flushed,
					 .priv = cases[i].known ? &flush : NULL};

		seen.calls = 0;
		assert_int_equal(cp_media_sync(&media, PAGE + 5, 100), cases[i].rc);
		assert_int_equal(seen.calls, cases[i].calls);
		if (!seen.calls)
			continue;
		assert_ptr_equal(seen.at, far + PAGE + 5);
		assert_int_equal(seen.len, 100);
	}
}

/* Description: with each flush of this CPU a sync changes no byte, and of a mapping that
 * has lost its pages it is an error, not a signal. */
static void a_lost_mapping_is_an_error(void **state)
{
	unsigned present = cp_flush_present();
	struct cp_err err = {0};

	(void)state;
	if (!present) {
		print_message("skipped: the CPU has no flush that is known\n");
		skip();
	}
	assert_int_equal(cp_guard_get(&err), 0);
	for (unsigned i = 0; cp_flush_table[i].name; i++) {
		struct cp_flush flush = {.ops = &cp_flush_table[i],
					 .fence = CP_FENCE_SFENCE};
		int fd = memfd_create("devdax", 0);

		if (!(present & 1U << i)) {
			close(fd);
			continue;
		}
		assert_int_equal(ftruncate(fd, BYTES), 0);
		unsigned char *far =
			mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		assert_ptr_not_equal(far, MAP_FAILED);
		for (size_t at = 0; at < BYTES; at++)
			far[at] = (unsigned char)(at * 31);
		assert_int_equal(cp_devdax_write_back(&flush, far, BYTES), 0);
		for (size_t at = 0; at < BYTES; at++)
			assert_int_equal(far[at], (unsigned char)(at * 31));
		assert_int_equal(ftruncate(fd, PAGE), 0);
		assert_int_equal(cp_devdax_write_back(&flush, far, PAGE), 0);
		assert_int_equal(cp_devdax_write_back(&flush, far, BYTES), -EIO);
		munmap(far, BYTES);
		close(fd);
	}
	cp_guard_put();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_writes_back),
		cmocka_unit_test(a_lost_mapping_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("devdax", tests, NULL, NULL);
}
