// SPDX-License-Identifier: GPL-2.0-only
/* The media memattr against a module that is played here, and the real one where it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engines/media/memattr.h"
#include "engines/base/t/tree.h"
#include "kmod/include/uapi/cp_memattr.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE  4096U
#define ALL   0xfU

/* Of the tree that stands for sysfs. */
#define MODULE_DEV  makedev(10, 120)
#define OTHER_MISC  makedev(10, 130)
#define OTHER_CLASS makedev(250, 0)
#define UNKNOWN_DEV makedev(251, 0)

/* The played module: its memory is a memfd, and it says what it is told to. */
static struct {
	int stat_errno, open_errno, query_errno, alloc_errno, mmap_errno;
	mode_t mode;
	dev_t dev, opened; /* what the name is when it is opened */
	uint32_t version, attrs;
	uint64_t bytes_max, extra;
	unsigned interrupts; /* of ALLOC, before it goes through */
	/* what it was asked */
	char path[64];
	int flags;
	struct cp_memattr_alloc asked;
	unsigned nr_open, nr_closed, nr_ioctls, nr_allocs;
} module;

static void module_init(void)
{
	memset(&module, 0, sizeof(module));
	module.mode = S_IFCHR | 0600;
	module.dev = module.opened = MODULE_DEV;
	module.version = CP_MEMATTR_VERSION;
	module.attrs = ALL;
	module.bytes_max = 64 * PAGE;
}

static int fails(int errnum)
{
	errno = errnum;
	return errnum ? -1 : 0;
}

static int fake_stat(const char *path, struct stat *st)
{
	snprintf(module.path, sizeof(module.path), "%s", path);
	*st = (struct stat){.st_mode = module.mode, .st_rdev = module.dev};
	return fails(module.stat_errno);
}

static int fake_fstat(int fd, struct stat *st)
{
	(void)fd;
	*st = (struct stat){.st_mode = module.mode, .st_rdev = module.opened};
	return 0;
}

static int fake_open(const char *path, int flags)
{
	assert_string_equal(path, module.path);
	module.flags = flags;
	if (module.open_errno)
		return fails(module.open_errno);
	module.nr_open++;
	return memfd_create("memattr", 0);
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	module.nr_ioctls++;
	if (request == CP_MEMATTR_QUERY) {
		*(struct cp_memattr_query *)arg =
			(struct cp_memattr_query){.version = module.version,
						  .attrs = module.attrs,
						  .page_bytes = PAGE,
						  .bytes_max = module.bytes_max};
		return fails(module.query_errno);
	}
	assert_int_equal(request, CP_MEMATTR_ALLOC);
	struct cp_memattr_alloc *alloc = arg;

	module.asked = *alloc;
	if (module.interrupts) {
		module.interrupts--;
		return fails(EINTR);
	}
	if (module.alloc_errno)
		return fails(module.alloc_errno);
	module.nr_allocs++;
	alloc->bytes = (alloc->bytes + PAGE - 1) / PAGE * PAGE + module.extra;
	alloc->node = 3;
	return ftruncate(fd, (off_t)alloc->bytes);
}

static void *fake_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(offset, 0);
	if (fails(module.mmap_errno))
		return MAP_FAILED;
	return mmap(at, bytes, prot, flags, fd, offset);
}

static int fake_close(int fd)
{
	module.nr_closed++;
	return close(fd);
}

/* .root is set when there is a tree */
static struct cp_memattr_sys fake = {
	.stat = fake_stat,
	.fstat = fake_fstat,
	.open = fake_open,
	.ioctl = fake_ioctl,
	.mmap = fake_mmap,
	.close = fake_close,
};

static const struct {
	enum cp_attr attr;
	uint32_t number;
} attrs[] = {{CP_ATTR_WB, CP_MEMATTR_WB},
	     {CP_ATTR_UC, CP_MEMATTR_UC},
	     {CP_ATTR_WC, CP_MEMATTR_WC},
	     {CP_ATTR_WT, CP_MEMATTR_WT}};

static const struct cp_media_cfg plain = {
	.spec = "memattr", .bytes = 4 * PAGE, .writable = true, .fault_in = true};

/* Description: the attribute and the size that were asked reach the module, and what
 * comes back is filled, each page differently, also when the size is not whole pages. */
static void each_attr_is_allocated(void **state)
{
	static const uint64_t sizes[] = {1, PAGE, 3 * PAGE + 5};

	(void)state;
	for (size_t i = 0; i < NR(attrs) * NR(sizes); i++) {
		struct cp_media_cfg cfg = plain;
		struct cp_media media = {.ops = cp_media_find("memattr"), .node = -1};
		struct cp_err err = {0};

		module_init();
		cfg.attr = attrs[i % NR(attrs)].attr;
		cfg.bytes = media.bytes = sizes[i / NR(attrs)];
		assert_int_equal(cp_memattr_open(&fake, &media, &cfg, &err), 0);
		assert_string_equal(module.path, CP_MEMATTR_DEVICE);
		assert_int_equal(module.asked.attr, attrs[i % NR(attrs)].number);
		assert_int_equal(module.asked.bytes, cfg.bytes);
		assert_int_equal(module.asked.node, CP_MEMATTR_NODE_ANY);
		for (size_t r = 0; r < NR(module.asked.reserved); r++)
			assert_int_equal(module.asked.reserved[r], 0);
		assert_int_equal(module.nr_open, module.nr_closed);
		assert_int_equal(media.node, 3);
		assert_int_equal(media.node_pct, 100);
		assert_int_equal(media.map_bytes % PAGE, 0);
		assert_true(media.map_bytes >= cfg.bytes);
		for (size_t at = 0; at < media.map_bytes; at += 8)
			assert_true(memcmp(media.base + at, "\0\0\0\0\0\0\0", 8) != 0);
		for (size_t at = PAGE; at < media.map_bytes; at += PAGE)
			assert_true(memcmp(media.base, media.base + at, PAGE) != 0);
		media.base[cfg.bytes - 1] = 1;
		assert_int_equal(cp_media_sync(&media, 0, cfg.bytes), 0);
		assert_false(media.persistent);
		cp_media_close(&media);
	}
}

/* Description: memory that is not asked writable is filled all the same, and cannot be
 * written afterwards. */
static void read_only_is_filled_and_protected(void **state)
{
	struct cp_media_cfg cfg = plain;
	struct cp_media media = {.node = -1};
	struct cp_err err = {0};
	int fds[2];

	(void)state;
	module_init();
	cfg.writable = false;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(cp_memattr_open(&fake, &media, &cfg, &err), 0);
	assert_int_equal(module.flags & O_ACCMODE, O_RDWR);
	assert_true(memcmp(media.base, "\0\0\0\0\0\0\0", 8) != 0);
	/* the kernel checks the protection for us, without a signal */
	assert_int_equal(read(fds[0], media.base, 1), -1);
	assert_int_equal(errno, EFAULT);
	munmap(media.map, media.map_bytes);
	close(fds[0]);
	close(fds[1]);
}

/* Description: looking takes no memory and leaves nothing open. */
static void look_takes_nothing(void **state)
{
	struct cp_media_cfg cfg = plain;
	struct cp_err err = {0};

	(void)state;
	module_init();
	cfg.filename = "/dev/other";
	assert_int_equal(cp_memattr_look(&fake, &cfg, &err), 0);
	assert_string_equal(module.path, "/dev/other");
	assert_int_equal(module.nr_allocs, 0);
	assert_int_equal(module.nr_open, 1);
	assert_int_equal(module.nr_closed, 1);
}

/* Description: persistence that is required is refused before the device is opened. */
static void nothing_is_persistent(void **state)
{
	struct cp_media_cfg cfg = plain;
	struct cp_media media;
	struct cp_err err = {0};

	(void)state;
	module_init();
	cfg.require_persistent = true;
	assert_int_equal(cp_memattr_open(&fake, &media, &cfg, &err), -ENOTSUP);
	assert_int_equal(module.nr_open, 0);
}

/* Description: an allocation that a signal interrupts is asked again. */
static void interrupted_alloc_goes_on(void **state)
{
	struct cp_media media = {.ops = cp_media_find("memattr"), .node = -1};
	struct cp_err err = {0};

	(void)state;
	module_init();
	module.interrupts = 3;
	assert_int_equal(cp_memattr_open(&fake, &media, &plain, &err), 0);
	assert_int_equal(module.nr_allocs, 1);
	cp_media_close(&media);
}

enum fault {
	MISSING,
	REGULAR,
	FORBIDDEN,
	NO_DRIVER,
	NOT_SHOWN,
	WATCHDOG,
	NAMESAKE,
	SWAPPED,
	OTHER_SIZES,
	OLD_MODULE,
	NO_ATTR,
	NO_ATTR_AT_ALL,
	TOO_LARGE,
	NO_MEMORY,
	BUSY,
	ODD_SIZE,
	NO_MMAP,
};

static void break_module(enum fault fault)
{
	module_init();
	switch (fault) {
	case MISSING:
		module.stat_errno = ENOENT;
		break;
	case REGULAR:
		module.mode = S_IFREG | 0600;
		break;
	case FORBIDDEN:
		module.open_errno = EACCES;
		break;
	case NO_DRIVER:
		module.open_errno = ENXIO;
		break;
	case NOT_SHOWN:
		module.dev = UNKNOWN_DEV;
		break;
	case WATCHDOG:
		module.dev = OTHER_MISC;
		break;
	case NAMESAKE:
		module.dev = OTHER_CLASS;
		break;
	case SWAPPED:
		module.opened = OTHER_MISC;
		break;
	case OTHER_SIZES:
		module.query_errno = ENOTTY;
		break;
	case OLD_MODULE:
		module.version = CP_MEMATTR_VERSION + 6;
		break;
	case NO_ATTR:
		module.attrs = 1U << CP_MEMATTR_WB | 1U << CP_MEMATTR_WC;
		break;
	case NO_ATTR_AT_ALL:
		module.attrs = 0;
		break;
	case TOO_LARGE:
		module.bytes_max = PAGE;
		break;
	case NO_MEMORY:
		module.alloc_errno = ENOMEM;
		break;
	case BUSY:
		module.alloc_errno = EBUSY;
		break;
	case ODD_SIZE:
		module.extra = 512;
		break;
	case NO_MMAP:
		module.mmap_errno = EAGAIN;
		break;
	}
}

static const struct {
	enum fault fault;
	int errnum;
	enum cp_exit exit;
	bool by_look; /* found before memory is taken */
	const char *text;
} faults[] = {
	{MISSING, ENOENT, CP_EXIT_USAGE, true,
	 "'/dev/cp_memattr' does not exist; expected the device of the module "
	 "cp_memattr, which is not part of this version"},
	{REGULAR, EINVAL, CP_EXIT_USAGE, true,
	 "'/dev/cp_memattr' is no character device; expected that of"},
	{FORBIDDEN, EACCES, CP_EXIT_INVALID, true,
	 "cannot be opened: Permission denied; expected root"},
	{NO_DRIVER, ENXIO, CP_EXIT_INVALID, true,
	 "has no driver; expected the module cp_memattr, which is not part"},
	{NOT_SHOWN, ENODEV, CP_EXIT_INVALID, true,
	 "has no driver; expected the module cp_memattr, which is not part"},
	{WATCHDOG, ENODEV, CP_EXIT_USAGE, true,
	 "is the device of something else than the module cp_memattr ('watchdog' "
	 "to the kernel); expected /dev/cp_memattr"},
	{NAMESAKE, ENODEV, CP_EXIT_USAGE, true,
	 "is the device of something else than the module cp_memattr"},
	{SWAPPED, ENXIO, CP_EXIT_INVALID, true,
	 "became another device while it was opened"},
	{OTHER_SIZES, ENOTTY, CP_EXIT_INVALID, true,
	 "does not tell its version (Inappropriate ioctl for device), so that it "
	 "is "
	 "of another one; expected version 1: build the module"},
	{OLD_MODULE, EPROTO, CP_EXIT_INVALID, true,
	 "speaks version 7; expected version 1"},
	{NO_ATTR, EOPNOTSUPP, CP_EXIT_INVALID, true,
	 "cannot give attr 'uc' on this machine (is PAT off?); expected one of: "
	 "wb, wc"},
	{NO_ATTR_AT_ALL, EOPNOTSUPP, CP_EXIT_INVALID, true, "expected one of: none"},
	{TOO_LARGE, E2BIG, CP_EXIT_INVALID, true,
	 "gives at most 4k and '16k' is asked; expected a smaller size"},
	{NO_MEMORY, ENOMEM, CP_EXIT_INVALID, false,
	 "has no '16k' of attr 'uc': Cannot allocate memory; expected a smaller"},
	{BUSY, EBUSY, CP_EXIT_INVALID, false, "has no '16k' of attr 'uc': "},
	{ODD_SIZE, EPROTO, CP_EXIT_INVALID, false,
	 "gave 16896 bytes for 16384; expected whole pages"},
	{NO_MMAP, EAGAIN, CP_EXIT_INVALID, false, "cannot be mapped: "},
};

/* Description: a device that is missing, another's, too old, too small, or without the
 * attribute is refused by name with what would work, and nothing stays open. */
static void faults_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(faults); i++) {
		for (int look = 0; look < 2; look++) {
			struct cp_media_cfg cfg = plain;
			struct cp_media media = {.node = 42};
			struct cp_err err = {0};
			bool told = !look || faults[i].by_look;

			cfg.attr = CP_ATTR_UC;
			break_module(faults[i].fault);
			int rc = look ? cp_memattr_look(&fake, &cfg, &err)
				      : cp_memattr_open(&fake, &media, &cfg, &err);

			if (rc != (told ? -faults[i].errnum : 0) ||
			    (told && (err.exit != faults[i].exit ||
				      !strstr(err.msg, faults[i].text))))
				fail_msg("case %zu: got %d, exit %d, '%s'", i, rc,
					 (int)err.exit, err.msg);
			assert_int_equal(media.node, 42);
			assert_int_equal(module.nr_open, module.nr_closed);
			/* a device of something else is left alone */
			if (module.dev != MODULE_DEV)
				assert_int_equal(module.nr_open, 0);
			if (module.dev != MODULE_DEV || module.opened != MODULE_DEV)
				assert_int_equal(module.nr_ioctls, 0);
		}
	}
	assert_int_equal(NR(faults), NO_MMAP + 1);
}

/* Description: without the module, the media says which to load; a device of something
 * else is seen to be that. */
static void the_kernel_is_asked(void **state)
{
	struct cp_media_cfg cfg = plain;
	struct cp_media media;
	struct cp_err err = {0};

	(void)state;
	cfg.filename = "/dev/null";
	assert_int_equal(cp_media_open(&cfg, &media, &err), -ENODEV);
	assert_non_null(strstr(err.msg, "'/dev/null' is the device of something else"));
	cfg.filename = "/nowhere/cp_memattr";
	assert_int_equal(cp_media_open(&cfg, &media, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "not part of this version"));
	cfg.spec = "memattr:page=2m";
	assert_int_equal(cp_media_open(&cfg, &media, &err), -EINVAL);
}

/* Description: the real module gives each of its attributes, filled, and keeps what is
 * stored. */
static void the_real_module_keeps_bytes(void **state)
{
	struct cp_err err = {0};

	(void)state;
	if (cp_media_find("memattr")->probe(&err)) {
		print_message("skipped: %s\n", err.msg);
		skip();
	}
	for (size_t i = 0; i < NR(attrs); i++) {
		struct cp_media_cfg cfg = plain;
		struct cp_media media;

		cfg.attr = attrs[i].attr;
		if (cp_media_open(&cfg, &media, &err))
			fail_msg("%s", err.msg);
		for (size_t at = 0; at < media.bytes; at += 8)
			assert_true(memcmp(media.base + at, "\0\0\0\0\0\0\0", 8) != 0);
		for (size_t at = 0; at < media.bytes; at++)
			media.base[at] = (unsigned char)(at * 31 + i);
		assert_int_equal(cp_media_sync(&media, 0, media.bytes), 0);
		for (size_t at = 0; at < media.bytes; at++)
			assert_int_equal(media.base[at], (unsigned char)(at * 31 + i));
		cp_media_close(&media);
	}
}

/* What sysfs shows of the module, of another misc device, and of another class's device
 * that has the module's name. */
static int setup(void **state)
{
	static const struct {
		const char *device, *number, *dir, *class;
	} shown[] = {
		{"/sys/devices/virtual/misc/cp_memattr/dev", "10:120",
		 "/sys/devices/virtual/misc/cp_memattr", "/sys/class/misc"},
		{"/sys/devices/virtual/misc/watchdog/dev", "10:130",
		 "/sys/devices/virtual/misc/watchdog", "/sys/class/misc"},
		{"/sys/devices/virtual/input/cp_memattr/dev", "250:0",
		 "/sys/devices/virtual/input/cp_memattr", "/sys/class/input"},
	};

	if (tree_setup(state))
		return -1;
	for (size_t i = 0; i < NR(shown); i++) {
		char path[128];

		tree_file(*state, shown[i].device, shown[i].number);
		snprintf(path, sizeof(path), "/sys/dev/char/%s", shown[i].number);
		tree_link(*state, path, shown[i].dir);
		snprintf(path, sizeof(path), "%s/subsystem", shown[i].dir);
		tree_link(*state, path, shown[i].class);
	}
	fake.root = *state;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_attr_is_allocated),
		cmocka_unit_test(read_only_is_filled_and_protected),
		cmocka_unit_test(look_takes_nothing),
		cmocka_unit_test(nothing_is_persistent),
		cmocka_unit_test(interrupted_alloc_goes_on),
		cmocka_unit_test(faults_are_told),
		cmocka_unit_test(the_kernel_is_asked),
		cmocka_unit_test(the_real_module_keeps_bytes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("memattr", tests, setup, tree_teardown);
}
