// SPDX-License-Identifier: GPL-2.0-only
/* What media promise: contents, bounds, and files left as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/media/media.h"

#define PAGE 4096U

struct place {
	char dir[64];
	char file[96];
};

static int make_place(void **state, const char *root)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	snprintf(place->dir, sizeof(place->dir), "%s/copypath-media-XXXXXX", root);
	if (!mkdtemp(place->dir)) {
		free(place);
		return -1;
	}
	snprintf(place->file, sizeof(place->file), "%s/far", place->dir);
	*state = place;
	return 0;
}

static int setup_tmpfs(void **state)
{
	return make_place(state, "/dev/shm");
}

static int setup_disk(void **state)
{
	return make_place(state, "/var/tmp");
}

static int teardown(void **state)
{
	struct place *place = *state;

	unlink(place->file);
	rmdir(place->dir);
	free(place);
	return 0;
}

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 31 + i / PAGE + 7);
}

static void write_file(const char *path, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (size_t i = 0; i < bytes; i++)
		putc(byte_at(i), file);
	assert_int_equal(fclose(file), 0);
}

static struct cp_media_cfg file_cfg(const struct place *place, uint64_t bytes)
{
	return (struct cp_media_cfg){
		.spec = "file",
		.filename = place->file,
		.bytes = bytes,
		.writable = true,
		.fault_in = true,
	};
}

/* Description: a look touches nothing, says what an open would take of memory, and
 * refuses what an open would. */
static void look_is_free(void **state)
{
	struct place *place = *state;
	static const struct {
		const char *spec;
		uint64_t bytes, memory;
		int errnum;
	} cases[] = {
		{"anon", 1, PAGE, 0},		{"anon", 3 * PAGE, 3 * PAGE, 0},
		{"file", 2 * PAGE, 0, 0},	{"file", 2 * PAGE + 1, 0, EINVAL},
		{"anon:page=3m", 1, 0, EINVAL}, {"no", 1, 0, EINVAL},
	};
	struct stat st;

	write_file(place->file, 2 * PAGE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_media_cfg cfg = file_cfg(place, cases[i].bytes);
		uint64_t memory = 1;
		struct cp_err err = {0};

		cfg.spec = cases[i].spec;
		assert_int_equal(cp_media_look(&cfg, &memory, &err), -cases[i].errnum);
		assert_int_equal(memory, cases[i].memory);
	}
	assert_int_equal(stat(place->file, &st), 0);
	assert_int_equal(st.st_size, 2 * PAGE);
}

/* Description: all pages are in memory after an open that faults in, and on a node. */
static void pages_are_faulted_in(void **state)
{
	struct place *place = *state;
	static const char *const specs[] = {"anon", "file"};
	const size_t pages = 300;

	write_file(place->file, pages * PAGE);
	for (size_t i = 0; i < 4; i++) {
		struct cp_media_cfg cfg = file_cfg(place, pages * PAGE);
		struct cp_media media;
		struct cp_err err = {0};
		unsigned char in_memory[300];

		cfg.spec = specs[i % 2];
		cfg.writable = i / 2;
		assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
		assert_int_equal(mincore(media.base, pages * PAGE, in_memory), 0);
		for (size_t p = 0; p < pages; p++)
			assert_true(in_memory[p] & 1);
		assert_true(media.node >= 0);
		assert_true(media.node_pct > 0 && media.node_pct <= 100);
		cp_media_close(&media);
		assert_null(media.base);
	}
}

/* Description: a file's bytes are seen as they are, and opening, syncing and closing it
 * change neither its length nor its bytes, also when the range is not whole pages. */
static void file_is_left_alone(void **state)
{
	struct place *place = *state;
	const size_t length = 5 * PAGE + 123;
	static const uint64_t ranges[] = {1, PAGE, 2 * PAGE + 1, 5 * PAGE + 123};
	struct stat st;

	write_file(place->file, length);
	for (size_t i = 0; i < 8; i++) {
		struct cp_media_cfg cfg = file_cfg(place, ranges[i / 2]);
		struct cp_media media;
		struct cp_err err = {0};

		cfg.writable = i % 2;
		assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
		for (size_t at = 0; at < media.bytes; at++)
			assert_int_equal(media.base[at], byte_at(at));
		assert_int_equal(cp_media_sync(&media, 0, media.bytes), 0);
		cp_media_close(&media);
		assert_int_equal(stat(place->file, &st), 0);
		assert_int_equal(st.st_size, length);
	}
	FILE *file = fopen(place->file, "r");

	assert_non_null(file);
	for (size_t at = 0; at < length; at++)
		assert_int_equal(getc(file), byte_at(at));
	fclose(file);
}

/* Description: what is stored reaches the file, and nothing beside it does. */
static void stores_reach_the_file(void **state)
{
	struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, 2 * PAGE + 10);
	struct cp_media media;
	struct cp_err err = {0};

	write_file(place->file, 4 * PAGE);
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	media.base[PAGE + 5] = (unsigned char)~byte_at(PAGE + 5);
	assert_int_equal(cp_media_sync(&media, PAGE + 5, 1), 0);
	cp_media_close(&media);

	FILE *file = fopen(place->file, "r");

	assert_non_null(file);
	for (size_t at = 0; at < 4 * PAGE; at++) {
		unsigned char expect = byte_at(at);

		if (at == PAGE + 5)
			expect = (unsigned char)~expect;
		assert_int_equal(getc(file), expect);
	}
	assert_int_equal(getc(file), EOF);
	fclose(file);
}

/* Description: the holes of a sparse tmpfs file are filled, and still read as zeroes. */
static void holes_are_filled(void **state)
{
	struct place *place = *state;
	struct stat st;
	int fd = open(place->file, O_CREAT | O_RDWR, 0600);

	assert_true(fd >= 0);
	for (size_t i = 0; i < 2; i++) {
		struct cp_media_cfg cfg = file_cfg(place, 64 * PAGE);
		struct cp_media media;
		struct cp_err err = {0};

		cfg.writable = i;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, 64 * PAGE), 0);
		assert_int_equal(pwrite(fd, "x", 1, 8 * PAGE), 1);
		assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_blocks * 512, 64 * PAGE);
		for (size_t at = 0; at < media.bytes; at++)
			assert_int_equal(media.base[at], at == 8 * PAGE ? 'x' : 0);
		cp_media_close(&media);
	}
	close(fd);
}

/* Description: a sync outside the range is refused, one of nothing is fine. */
static void sync_is_bounded(void **state)
{
	static const struct {
		uint64_t offset, len;
		int rc;
	} cases[] = {
		{0, PAGE, 0},
		{PAGE - 1, 1, 0},
		{PAGE, 0, 0},
		{PAGE, 1, -EINVAL},
		{PAGE + 1, 0, -EINVAL},
		{1, PAGE, -EINVAL},
		{1, UINT64_MAX, -EINVAL},
		{UINT64_MAX, 2, -EINVAL},
	};
	static const char *const specs[] = {"anon", "file"};
	struct place *place = *state;

	write_file(place->file, 2 * PAGE);
	for (size_t s = 0; s < 2; s++) {
		struct cp_media_cfg cfg = file_cfg(place, PAGE);
		struct cp_media media;
		struct cp_err err = {0};

		cfg.spec = specs[s];
		assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			assert_int_equal(
				cp_media_sync(&media, cases[i].offset, cases[i].len),
				cases[i].rc);
		cp_media_close(&media);
	}
}

static void expect_error(const struct cp_media_cfg *cfg, enum cp_exit exit, int errnum,
			 const char *text)
{
	struct cp_media media = {.node = 42};
	struct cp_err err = {0};
	int rc = cp_media_open(cfg, &media, &err);

	if (rc != -errnum || err.exit != exit || !strstr(err.msg, text))
		fail_msg("got %d, exit %d, '%s'; expected %d, %d, '%s'", rc,
			 (int)err.exit, err.msg, -errnum, (int)exit, text);
	assert_int_equal(media.node, 42);
}

/* Description: what cannot be a media is refused with its name and what would work. */
static void wrong_media_is_refused(void **state)
{
	static const struct {
		const char *spec, *filename;
		uint64_t bytes;
		int errnum;
		const char *text;
	} cases[] = {
		{"annon", NULL, PAGE, EINVAL, "unknown media 'annon'; expected 'anon'"},
		{"zzzzzzz", NULL, PAGE, EINVAL, "expected anon, file, dax"},
		{"anon:page=3m", NULL, PAGE, EINVAL,
		 "page '3m' is not to be had; expected 4k, 2m"},
		{"anon:page=0", NULL, PAGE, EINVAL,
		 "page '0' is not to be had; expected 4k, 2m"},
		{"anon:page=big", NULL, PAGE, EINVAL, "page 'big' is not to be had"},
		{"anon:pages=2m", NULL, PAGE, EINVAL,
		 "unknown setting 'pages'; expected page"},
		{"anon:page=2m", NULL, PTRDIFF_MAX - (1 << 20), ERANGE,
		 "cannot be mapped"},
		{"anon", NULL, 0, EINVAL, "size '0'"},
		{"anon", NULL, UINT64_MAX, EINVAL, "cannot be mapped"},
		{"file", NULL, PAGE, EINVAL, "names no file; expected 'filename'"},
		{"file", "", PAGE, EINVAL, "names no file"},
		{"file:x=1", "/dev/shm", PAGE, EINVAL, "'x'"},
		{"file", "/dev/shm", PAGE, EISDIR, "'/dev/shm' is a directory"},
		{"file", "/dev/zero", PAGE, EINVAL,
		 "'/dev/zero' is a character device; expected a regular file"},
		{"file", "/dev/shm/no/such", PAGE, ENOENT, "does not exist"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_media_cfg cfg = {
			.spec = cases[i].spec,
			.filename = cases[i].filename,
			.bytes = cases[i].bytes,
		};

		expect_error(&cfg, CP_EXIT_USAGE, cases[i].errnum, cases[i].text);
	}
}

/* Description: a file shorter than asked is refused with both lengths, and not extended.
 */
static void short_file_is_refused(void **state)
{
	struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, 8192 + 1);
	struct stat st;

	write_file(place->file, 8192);
	expect_error(&cfg, CP_EXIT_USAGE, EINVAL, "has 8k but '8193' is asked");
	assert_int_equal(stat(place->file, &st), 0);
	assert_int_equal(st.st_size, 8192);
}

/* Description: a FIFO is refused at once, without waiting for its other end. */
static void fifo_is_refused(void **state)
{
	struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, PAGE);

	assert_int_equal(mkfifo(place->file, 0600), 0);
	expect_error(&cfg, CP_EXIT_USAGE, EINVAL, "is a FIFO; expected a regular file");
}

/* Description: a file without the permission is refused as such. */
static void missing_permission_is_refused(void **state)
{
	struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, PAGE);

	write_file(place->file, PAGE);
	assert_int_equal(chmod(place->file, 0400), 0);
	assert_int_equal(chmod(place->dir, 0755), 0);
	if (geteuid() == 0 && seteuid(65534)) {
		print_message("not asserted: cannot become an ordinary user\n");
		skip();
	}
	struct cp_media media;
	struct cp_err err = {0};
	int rc = cp_media_open(&cfg, &media, &err);

	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(rc, -EACCES);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, "cannot be opened for writing"));
}

/* Description: more memory than there is, for anon or for the holes of a tmpfs file, is
 * refused before any of it is touched, with what was asked and what there is. */
static void too_much_memory_is_refused(void **state)
{
	struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, 1ULL << 46);
	int fd = open(place->file, O_CREAT | O_RDWR, 0600);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1LL << 46), 0);
	expect_error(&cfg, CP_EXIT_INVALID, ENOMEM, "'64t' asked, ");
	expect_error(&cfg, CP_EXIT_INVALID, ENOMEM, "the holes of '");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks, 0);
	close(fd);
	cfg.spec = "anon";
	expect_error(&cfg, CP_EXIT_INVALID, ENOMEM, "not enough memory for media 'anon'");
}

/* Description: closing a media that was never opened is fine, and closing twice. */
static void close_is_forgiving(void **state)
{
	struct cp_media_cfg cfg = {.spec = "anon", .bytes = 1};
	struct cp_media media = {0};
	struct cp_err err = {0};

	(void)state;
	cp_media_close(&media);
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	cp_media_close(&media);
	cp_media_close(&media);
}

/* Description: where persistence is required, memory and files that have none are refused
 * by name before a page of theirs is touched, with what would do. */
static void persistence_is_required(void **state)
{
	const struct place *place = *state;
	struct cp_media_cfg cfg = file_cfg(place, 64 * PAGE);
	struct cp_media media = {.node = 7};
	struct cp_err err = {0};
	struct stat st;
	int fd = open(place->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 64 * PAGE), 0);
	cfg.require_persistent = true;
	assert_int_equal(cp_media_open(&cfg, &media, &err), -ENOTSUP);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, "'persist' is require"));
	assert_non_null(strstr(err.msg, place->file));
	assert_non_null(strstr(err.msg, "; expected a file on a DAX file system"));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks, 0);
	close(fd);
	cfg.spec = "anon";
	cfg.filename = NULL;
	assert_int_equal(cp_media_open(&cfg, &media, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "'anon' is not persistent memory"));
	assert_int_equal(media.node, 7);
}

#define ON_TMPFS(test) cmocka_unit_test_setup_teardown(test, setup_tmpfs, teardown)
#define ON_DISK(test)  cmocka_unit_test_setup_teardown(test, setup_disk, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TMPFS(look_is_free),
		ON_TMPFS(pages_are_faulted_in),
		ON_DISK(pages_are_faulted_in),
		ON_TMPFS(file_is_left_alone),
		ON_DISK(file_is_left_alone),
		ON_TMPFS(stores_reach_the_file),
		ON_DISK(stores_reach_the_file),
		ON_TMPFS(holes_are_filled),
		ON_TMPFS(sync_is_bounded),
		cmocka_unit_test(wrong_media_is_refused),
		ON_TMPFS(short_file_is_refused),
		ON_TMPFS(fifo_is_refused),
		ON_TMPFS(missing_permission_is_refused),
		ON_TMPFS(too_much_memory_is_refused),
		ON_TMPFS(persistence_is_required),
		cmocka_unit_test(close_is_forgiving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
