// SPDX-License-Identifier: GPL-2.0-only
/* Mapping a BAR: in a tree that looks like sysfs, and a real one where one is named. */
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
#include <unistd.h>

#include "engines/copy/guard.h"
#include "engines/media/t/bar_rig.h"

/* Description: uc maps resourceN and wc resourceN_wc; opening changes no byte, stores
 * land where they should and nowhere else, and a sync is fine. */
static void attr_picks_the_mapping(void **state)
{
	static const struct {
		enum cp_attr attr;
		const char *file;
		unsigned char byte;
	} cases[] = {{CP_ATTR_UC, DEV "/resource2", 'u'},
		     {CP_ATTR_WC, DEV "/resource2_wc", 'w'}};
	struct rig rig;

	rig_build(*state, &rig);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_media_cfg cfg = rig_cfg(&rig, cases[i].attr);
		struct cp_media media = {.node = -1};
		struct cp_err err = {0};
		char full[512];

		cfg.bytes = 2 * PAGE;
		assert_int_equal(cp_bar_open(&rig.root, mmap, &media, &cfg, &err), 0);
		media.ops = cp_media_find("bar");
		media.bytes = cfg.bytes;
		assert_int_equal(media.node, 1);
		assert_int_equal(media.node_pct, 100);
		assert_false(media.persistent);
		for (size_t at = 0; at < cfg.bytes; at++)
			assert_int_equal(media.base[at], cases[i].byte);
		media.base[PAGE - 1] = '!';
		assert_int_equal(cp_media_sync(&media, PAGE - 1, 1), 0);
		assert_int_equal(cp_media_sync(&media, cfg.bytes, 1), -EINVAL);
		cp_media_close(&media);

		tree_path(rig.at, cases[i].file, full, sizeof(full));
		FILE *file = fopen(full, "r");

		assert_non_null(file);
		for (size_t at = 0; at < BAR2; at++)
			assert_int_equal(getc(file),
					 at == PAGE - 1 ? '!' : cases[i].byte);
		assert_int_equal(getc(file), EOF);
		fclose(file);
	}
}

/* Description: persistence that is required is refused before anything is mapped. */
static void nothing_is_persistent(void **state)
{
	struct cp_media media;
	struct cp_err err = {0};
	struct rig rig;

	rig_build(*state, &rig);
	struct cp_media_cfg cfg = rig_cfg(&rig, CP_ATTR_UC);

	cfg.require_persistent = true;
	assert_int_equal(cp_bar_open(&rig.root, NULL, &media, &cfg, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "is not persistent memory"));
}

/* Description: a BAR that is not asked writable cannot be written. */
static void read_only_is_protected(void **state)
{
	struct cp_media media = {.node = -1};
	struct cp_err err = {0};
	struct rig rig;
	int fds[2];

	rig_build(*state, &rig);
	struct cp_media_cfg cfg = rig_cfg(&rig, CP_ATTR_UC);

	cfg.writable = false;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(cp_bar_open(&rig.root, mmap, &media, &cfg, &err), 0);
	/* the kernel checks the protection for us, without a signal */
	assert_int_equal(read(fds[0], media.base, 1), -1);
	assert_int_equal(errno, EFAULT);
	munmap(media.map, media.map_bytes);
	close(fds[0]);
	close(fds[1]);
}

static int map_errno;

static void *map_fails(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	(void)at;
	(void)bytes;
	(void)prot;
	(void)flags;
	(void)fd;
	(void)offset;
	errno = map_errno;
	return MAP_FAILED;
}

/* Description: why the kernel does not map a BAR is told in words one can act on. */
static void refusals_of_the_kernel_are_told(void **state)
{
	static const struct {
		int errnum;
		const char *text;
	} cases[] = {{EPERM, "the kernel is locked down"},
		     {EINVAL, "IO_STRICT_DEVMEM); expected"},
		     {ENOMEM, "resource2' cannot be mapped: Cannot allocate memory"}};
	struct rig rig;

	rig_build(*state, &rig);
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_media_cfg cfg = rig_cfg(&rig, CP_ATTR_UC);
		struct cp_media media = {.node = 42};
		struct cp_err err = {0};

		map_errno = cases[i].errnum;
		assert_int_equal(cp_bar_open(&rig.root, map_fails, &media, &cfg, &err),
				 -map_errno);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		if (!strstr(err.msg, cases[i].text))
			fail_msg("'%s' has no '%s'", err.msg, cases[i].text);
		assert_int_equal(media.node, 42);
	}
}

#define AT "PAT: [mem 0x00000000fe000000-0x00000000fe004000] "

static const char *list_then; /* the kernel's list once it is mapped; NULL no list */
static const char *list_root;

static void *map_and_list(void *at, size_t bytes, int prot, int flags, int fd,
			  off_t offset)
{
	if (list_then)
		tree_file(list_root, "/memtypes", list_then);
	return mmap(at, bytes, prot, flags, fd, offset);
}

/* Description: a mapping that came out under another type, by somebody who was first or
 * by an MTRR, is refused with what it is; one whose type the kernel does not tell is
 * noted, and refused where the attribute must be native. */
static void the_mapping_is_verified(void **state)
{
	static const char wc_mtrr[] =
		"reg00: base=0x000000000 (    0MB), size= 2048MB, count=1: write-back\n"
		"reg01: base=0x0fe000000 ( 4064MB), size=   16MB, count=1: "
		"write-combining\n";
	static const char other_mtrr[] =
		"reg00: base=0x0ff000000 ( 4080MB), size=   16MB, count=1: "
		"write-combining\n"
		"reg01: base=0x0fe000000 ( 4064MB), size=   16MB, count=1: uncachable\n";
	static const struct {
		enum cp_attr attr;
		bool native;
		const char *before, *then, *mtrr;
		int errnum;
		const char *text; /* of the error, or of the note; NULL no note */
	} cases[] = {
		{CP_ATTR_UC, true, "", AT "uncached-minus\n", "", 0, NULL},
		{CP_ATTR_WC, true, "", AT "write-combining\n", wc_mtrr, 0, NULL},
		{CP_ATTR_UC, true, "", AT "uncached-minus\n", other_mtrr, 0, NULL},
		{CP_ATTR_UC, false, "", AT "uncached-minus\n" AT "write-combining\n", "",
		 EBUSY,
		 "is mapped write-combining and not uncached-minus: somebody else"},
		{CP_ATTR_WC, false, "", AT "uncached-minus\n", "", EBUSY,
		 "is mapped uncached-minus and not write-combining: somebody else"},
		{CP_ATTR_UC, false, "", AT "uncached-minus\n", wc_mtrr, EBUSY,
		 "is mapped write-combining and not uncached-minus: an MTRR"},
		{CP_ATTR_UC, false, NULL, NULL, wc_mtrr, EBUSY, "an MTRR makes it so"},
		{CP_ATTR_UC, false, NULL, NULL, "", 0, "attribute not verified"},
		{CP_ATTR_UC, false, "", "", "", 0, "attribute not verified"},
		{CP_ATTR_UC, true, "", "", "", EACCES, "'attr_native' wants"},
		{CP_ATTR_UC, true, NULL, NULL, "", EACCES, "'attr_native' wants"},
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_media media = {.node = 42};
		struct cp_err err = {0};
		struct rig rig;

		rig_build(*state, &rig);
		struct cp_media_cfg cfg = rig_cfg(&rig, cases[i].attr);

		unlink(rig.memtypes);
		if (cases[i].before)
			tree_file(rig.at, "/memtypes", cases[i].before);
		tree_file(rig.at, "/mtrr", cases[i].mtrr);
		cfg.attr_native = cases[i].native;
		list_root = rig.at;
		list_then = cases[i].then;
		int rc = cp_bar_open(&rig.root, map_and_list, &media, &cfg, &err);
		const char *said = rc ? err.msg : media.note;

		if (rc != -cases[i].errnum ||
		    (cases[i].text ? !strstr(said, cases[i].text) : said[0] != 0))
			fail_msg("case %zu: got %d, '%s'", i, rc, said);
		if (!rc)
			munmap(media.map, media.map_bytes);
		else
			assert_int_equal(media.node, 42);
		/* without a list it is told before anything is mapped */
		if (rc == -EACCES && !cases[i].before)
			assert_int_equal(cp_bar_look(&rig.root, &cfg, &err), -EACCES);
	}
}

/* Description: a sync of a BAR whose device has gone is an error, not a signal. */
static void sync_of_a_lost_device_fails(void **state)
{
	struct cp_media media = {.node = -1};
	struct cp_err err = {0};
	struct rig rig;
	char full[512];

	rig_build(*state, &rig);
	struct cp_media_cfg cfg = rig_cfg(&rig, CP_ATTR_UC);

	assert_int_equal(cp_guard_get(&err), 0);
	assert_int_equal(cp_bar_open(&rig.root, mmap, &media, &cfg, &err), 0);
	media.ops = cp_media_find("bar");
	media.bytes = cfg.bytes;
	assert_int_equal(cp_media_sync(&media, PAGE, 8), 0);
	tree_path(rig.at, DEV "/resource2", full, sizeof(full));
	assert_int_equal(truncate(full, 0), 0);
	assert_int_equal(cp_media_sync(&media, PAGE, 8), -EIO);
	cp_media_close(&media);
	cp_guard_put();
}

/* Description: a real BAR of memory (COPYPATH_TEST_BAR) maps under uc and, where there is
 * resourceN_wc, under wc; bytes that are stored and synced are read back, and are put
 * back as they were. */
static void a_real_bar_keeps_bytes(void **state)
{
	const char *name = getenv("COPYPATH_TEST_BAR");
	struct cp_pci_bar bar;
	struct cp_err err = {0};

	(void)state;
	if (!name) {
		print_message("skipped: COPYPATH_TEST_BAR names no BAR whose memory may "
			      "be written\n");
		skip();
	}
	if (cp_pci_bar_find(&cp_pci_root_kernel, name, &bar, &err))
		fail_msg("%s", err.msg);
	for (int wc = 0; wc <= bar.has_wc; wc++) {
		const struct cp_media_cfg cfg = {.spec = "bar",
						 .filename = name,
						 .bytes = PAGE,
						 .writable = true,
						 .attr = wc ? CP_ATTR_WC : CP_ATTR_UC,
						 .fault_in = true};
		unsigned char before[PAGE];
		struct cp_media media;

		if (cp_media_open(&cfg, &media, &err))
			fail_msg("%s", err.msg);
		assert_false(media.persistent);
		volatile unsigned char *far = media.base;

		for (size_t i = 0; i < PAGE; i++) {
			before[i] = far[i];
			far[i] = (unsigned char)(i * 31 + (size_t)wc);
		}
		assert_int_equal(cp_media_sync(&media, 0, PAGE), 0);
		for (size_t i = 0; i < PAGE; i++) {
			assert_int_equal(far[i], (unsigned char)(i * 31 + (size_t)wc));
			far[i] = before[i];
		}
		assert_int_equal(cp_media_sync(&media, 0, PAGE), 0);
		cp_media_close(&media);
	}
}

#define TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(attr_picks_the_mapping),
		TREE(nothing_is_persistent),
		TREE(read_only_is_protected),
		TREE(refusals_of_the_kernel_are_told),
		TREE(the_mapping_is_verified),
		TREE(sync_of_a_lost_device_fails),
		cmocka_unit_test(a_real_bar_keeps_bytes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("bar", tests, NULL, NULL);
}
