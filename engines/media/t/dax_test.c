// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files on DAX and dax devices: refused where they are not, by the kernel itself; what
 * they are is tried where a machine has them and says so: COPYPATH_TEST_DAX_FILE   a file
 * on a DAX file system, 4 MiB or longer COPYPATH_TEST_DEVDAX     a dax device,
 * /dev/dax0.0 Both are written to, and left as they were.
 */
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
#include <sys/stat.h>
#include <unistd.h>

#include "engines/copy/copy.h"
#include "engines/media/dax.h"
#include "engines/media/media.h"
#include "engines/media/pmemlib.h"
#include "engines/base/t/tree.h"

#define PAGE  4096U
#define BYTES (4U << 20)
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void sparse_file(const char *path, off_t bytes)
{
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void expect_refused(const struct cp_media_cfg *cfg, int errnum, const char *text)
{
	struct cp_media media = {.node = 42};
	struct cp_err err = {0}, looked = {0};
	uint64_t memory;
	int rc = cp_media_open(cfg, &media, &err);

	if (rc != -errnum || err.exit != CP_EXIT_USAGE || !strstr(err.msg, text) ||
	    !strstr(err.msg, "; expected "))
		fail_msg("got %d, exit %d, '%s'; expected %d, '%s'", rc, (int)err.exit,
			 err.msg, -errnum, text);
	assert_int_equal(media.node, 42);
	/* a plan is told the same */
	assert_int_equal(cp_media_look(cfg, &memory, &looked), rc);
	assert_string_equal(looked.msg, err.msg);
}

/* Description: a file that is on no DAX file system is refused as dax, by name and with
 * what would work, and no page of it is touched; as file it is taken, and not persistent.
 */
static void plain_file_is_no_dax(void **state)
{
	static const char *const folders[] = {"/dev/shm", "/var/tmp"};

	(void)state;
	for (size_t i = 0; i < NR(folders); i++) {
		char path[64];
		struct cp_media_cfg cfg = {
			.spec = "dax",
			.filename = path,
			.bytes = 64 * PAGE,
			.writable = true,
			.fault_in = true,
		};
		struct cp_media media;
		struct cp_err err = {0};
		struct stat st;

		snprintf(path, sizeof(path), "%s/copypath-dax-%d", folders[i], getpid());
		sparse_file(path, 64 * PAGE);
		expect_refused(
			&cfg, EOPNOTSUPP,
			"' is not on a DAX file system; expected a file on a file "
			"system mounted with -o dax (a dax device: media devdax; a "
			"page-cached or tmpfs file: media file)");
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_blocks, 0);
		assert_int_equal(st.st_size, 64 * PAGE);
		cfg.spec = "file";
		assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
		assert_false(media.persistent);
		assert_false(media.auto_flush);
		assert_string_equal(media.note, "");
		cp_media_close(&media);
		unlink(path);
	}
}

/* Description: what is of another type is refused by name for each media, with what would
 * work; so is a file too short, and none is opened, made or changed. */
static void other_types_are_refused(void **state)
{
	const char *root = *state;
	char file[96], fifo[96];
	const struct {
		const char *spec, *filename;
		int errnum;
		const char *text;
	} cases[] = {
		{"dax", NULL, EINVAL, "media 'dax' names no file"},
		{"dax", root, EISDIR, "is a directory; expected a file on a file system"},
		{"dax", fifo, EINVAL, "is a FIFO; expected a file on"},
		{"dax", "/dev/zero", EINVAL, "is a character device; expected a file on"},
		{"dax", "/dev/shm/no/such", ENOENT, "does not exist, and is not made"},
		{"dax", file, EINVAL, "has 4k but '64k' is asked"},
		{"dax:x=1", file, EINVAL, "unknown setting 'x'"},
		{"devdax", "", EINVAL, "media 'devdax' names no file"},
		{"devdax", root, EISDIR, "is a directory; expected a dax device"},
		{"devdax", fifo, EINVAL, "is a FIFO; expected a dax device"},
		{"devdax", "/dev/zero", ENODEV, "no dax device; expected a dax device"},
		{"devdax", "/dev/dax9.9", ENOENT, "does not exist, and is not made"},
		{"devdax", file, EINVAL, "is a regular file; expected a dax device such"},
		{"devdax:x=1", "/dev/zero", EINVAL, "unknown setting 'x'"},
	};

	snprintf(file, sizeof(file), "%s/file", root);
	snprintf(fifo, sizeof(fifo), "%s/fifo", root);
	sparse_file(file, PAGE);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < NR(cases); i++) {
		const struct cp_media_cfg cfg = {
			.spec = cases[i].spec,
			.filename = cases[i].filename,
			.bytes = 16 * PAGE,
			.writable = i % 2,
			.fault_in = true,
		};

		expect_refused(&cfg, cases[i].errnum, cases[i].text);
	}
}

/* Description: libpmem, where it is, takes a tmpfs file for no pmem and leaves it as it
 * is; without it, without the file, or told what to say, it is silent with the reason. */
static void libpmem_is_asked(void **state)
{
	const char *root = *state, *why = NULL;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/file", root);
	sparse_file(path, 16 * PAGE);
	unsetenv("PMEM_IS_PMEM_FORCE");
	assert_int_equal(cp_pmemlib_ask("libno-such.so.1", path, &why),
			 CP_PMEMLIB_SILENT);
	assert_string_equal(why, "libpmem is not here to agree");
	enum cp_pmemlib word = cp_pmemlib_ask(CP_COPY_LIBPMEM, path, &why);

	if (word == CP_PMEMLIB_SILENT)
		print_message("not asserted: %s\n", why);
	else
		assert_int_equal(word, CP_PMEMLIB_NO);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 16 * PAGE);
	assert_int_equal(st.st_blocks, 0);
	assert_int_equal(cp_pmemlib_ask(CP_COPY_LIBPMEM, "/no/such", &why),
			 CP_PMEMLIB_SILENT);
	assert_int_equal(access("/no/such", F_OK), -1);
	setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	assert_int_equal(cp_pmemlib_ask(CP_COPY_LIBPMEM, path, &why), CP_PMEMLIB_SILENT);
	assert_non_null(strstr(why, "PMEM_IS_PMEM_FORCE is set"));
	unsetenv("PMEM_IS_PMEM_FORCE");
}

/* Description: the verdict is of the file that was opened, also when its name is gone. */
static void verdict_is_of_the_open_file(void **state)
{
	struct cp_media_cfg cfg = {
		.spec = "dax", .filename = "/no/such", .bytes = PAGE, .writable = true};
	struct cp_media media = {.node = 42};
	const char *why = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/file", (const char *)*state);
	sparse_file(path, PAGE);
	if (cp_pmemlib_ask(CP_COPY_LIBPMEM, path, &why) == CP_PMEMLIB_SILENT) {
		print_message("skipped: %s\n", why);
		skip();
	}
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	cp_dax_verdict(&cfg, fd, &media);
	close(fd);
	assert_non_null(strstr(media.note, "libpmem says no"));
	assert_non_null(strstr(media.note, "its region is unknown"));
	assert_false(media.persistent);
	assert_int_equal(media.node, -1);
}

/* Description: PMEM_IS_PMEM_FORCE makes no DAX of a tmpfs file, nor a persistent one. */
static void force_does_not_fool(void **state)
{
	const char *root = *state;
	char path[96];
	struct cp_media_cfg cfg = {.spec = "dax",
				   .filename = path,
				   .bytes = PAGE,
				   .writable = true,
				   .fault_in = true};
	struct cp_media media;
	struct cp_err err = {0};

	snprintf(path, sizeof(path), "%s/file", root);
	sparse_file(path, PAGE);
	setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	expect_refused(&cfg, EOPNOTSUPP, "is not on a DAX file system");
	cfg.spec = "file";
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	assert_false(media.persistent);
	cp_media_close(&media);
	unsetenv("PMEM_IS_PMEM_FORCE");
}

/* Open, write a range, sync, close, open for reading and find it; put back what was. */
static void write_and_find(const char *spec, const char *filename)
{
	struct cp_media_cfg cfg = {.spec = spec,
				   .filename = filename,
				   .bytes = BYTES,
				   .writable = true,
				   .fault_in = true};
	const size_t at = PAGE + 64, len = 3 * PAGE;
	unsigned char was[3 * PAGE], guard[2];
	struct cp_media media;
	struct cp_err err = {0};

	if (cp_media_open(&cfg, &media, &err))
		fail_msg("%s", err.msg);
	print_message("%s: persistent %d, auto_flush %d, page %llu: %s\n", spec,
		      media.persistent, media.auto_flush,
		      (unsigned long long)media.page_bytes, media.note);
	assert_true(media.persistent);
	assert_non_null(strstr(media.note, "mapped with MAP_SYNC"));
	assert_string_equal(media.provenance, "native");
	memcpy(was, media.base + at, len);
	guard[0] = media.base[at - 1];
	guard[1] = media.base[at + len];
	for (size_t i = 0; i < len; i++)
		media.base[at + i] = (unsigned char)~was[i];
	assert_int_equal(cp_media_sync(&media, at, len), 0);
	cp_media_close(&media);

	cfg.writable = false;
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(media.base[at + i], (unsigned char)~was[i]);
	assert_int_equal(media.base[at - 1], guard[0]);
	assert_int_equal(media.base[at + len], guard[1]);
	cp_media_close(&media);

	cfg.writable = true;
	assert_int_equal(cp_media_open(&cfg, &media, &err), 0);
	memcpy(media.base + at, was, len);
	assert_int_equal(cp_media_sync(&media, at, len), 0);
	cp_media_close(&media);
}

/* Description: a file on a DAX file system is persistent, as dax and as file, keeps its
 * length, and has what was stored when it is mapped again. */
static void real_dax_file(void **state)
{
	const char *path = getenv("COPYPATH_TEST_DAX_FILE");
	struct stat before, after;

	(void)state;
	if (!path) {
		print_message("skipped: COPYPATH_TEST_DAX_FILE names no file\n");
		skip();
	}
	assert_int_equal(stat(path, &before), 0);
	write_and_find("dax", path);
	write_and_find("file", path);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
}

/* Description: a dax device is mapped in its own pages, is persistent, tells its size,
 * and has what was stored when it is mapped again; as dax and as file it is refused. */
static void real_dax_device(void **state)
{
	const char *path = getenv("COPYPATH_TEST_DEVDAX");
	struct cp_media_cfg cfg = {.spec = "devdax", .filename = path, .fault_in = true};
	struct cp_err err = {0};
	uint64_t bytes = 0;

	(void)state;
	if (!path) {
		print_message("skipped: COPYPATH_TEST_DEVDAX names no device\n");
		skip();
	}
	assert_int_equal(cp_media_size("devdax", path, &bytes, &err), 0);
	assert_true(bytes >= BYTES);
	write_and_find("devdax", path);
	cfg.bytes = bytes + 1;
	expect_refused(&cfg, EINVAL, "is asked; expected");
	cfg.bytes = PAGE;
	cfg.spec = "dax";
	expect_refused(&cfg, EINVAL, "is a character device; expected a file on");
	cfg.spec = "file";
	expect_refused(&cfg, EINVAL, "is a character device; expected a regular file");
}

static int setup_shm(void **state)
{
	char *root = strdup("/dev/shm/copypath-dax-XXXXXX");

	if (!root || !mkdtemp(root)) {
		free(root);
		return -1;
	}
	*state = root;
	return 0;
}

#define IN_SHM(test) cmocka_unit_test_setup_teardown(test, setup_shm, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_file_is_no_dax),
		IN_SHM(other_types_are_refused),
		IN_SHM(libpmem_is_asked),
		IN_SHM(verdict_is_of_the_open_file),
		IN_SHM(force_does_not_fool),
		cmocka_unit_test(real_dax_file),
		cmocka_unit_test(real_dax_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
