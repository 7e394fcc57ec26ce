// SPDX-License-Identifier: GPL-2.0-only
/* Buffers and devices that start away from a page border, over a file whose every byte is
 * looked at. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/copy/attr.h"
#include "engines/queue/t/rig.h"

#define USED   (128U << 10) /* of the device */
#define AROUND 4096U	    /* behind it in the file, and around the buffer */
#define IO_MAX (64U << 10)
#define NR(a)  (sizeof(a) / sizeof((a)[0]))

static const uint32_t offsets[] = {0, 1, 8, 16, 32, 63, 4095};

static unsigned char before[USED + 2 * AROUND];
static unsigned char space[IO_MAX + 3 * AROUND] __attribute__((aligned(4096)));

/* A file in memory, mapped here too. */
struct far {
	int fd;
	size_t bytes;
	char name[64];
	unsigned char *map;
};

static void far_make(struct far *far, size_t bytes)
{
	far->fd = memfd_create("misalign", MFD_CLOEXEC);
	far->bytes = bytes;
	assert_true(far->fd >= 0);
	assert_int_equal(ftruncate(far->fd, (off_t)bytes), 0);
	snprintf(far->name, sizeof(far->name), "/proc/self/fd/%d", far->fd);
	far->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, far->fd, 0);
	assert_ptr_not_equal(far->map, MAP_FAILED);
	for (size_t i = 0; i < bytes; i++)
		far->map[i] = (unsigned char)(i * 131 + i / 251);
}

static void far_drop(struct far *far)
{
	munmap(far->map, far->bytes);
	close(far->fd);
}

static struct cp_dev_cfg far_config(const char *settings, const char *attr,
				    const struct far *far, uint32_t misalign)
{
	struct cp_dev_cfg cfg = config(settings);

	cfg.media = "file";
	cfg.filename = far->name;
	cfg.attr = attr;
	cfg.bytes = USED;
	cfg.misalign_far = misalign;
	return cfg;
}

/* One write and one read back; every byte that is not theirs stays what it was. */
static void move(struct rig *rig, const struct far *far, bool mq, uint32_t near,
		 uint32_t misalign, uint64_t offset, uint64_t bytes)
{
	unsigned char *buf = space + AROUND + near;
	unsigned char *there = far->map + misalign + offset;
	struct cp_io io = {
		.near = buf, .offset = offset, .bytes = bytes, .dir = CP_DIR_WRITE};
	size_t head = (size_t)(there - far->map);

	memcpy(before, far->map, far->bytes);
	memset(space, 0xa5, sizeof(space));
	for (uint64_t i = 0; i < bytes; i++)
		buf[i] = (unsigned char)(i * 7 + near + misalign);
	one(rig, &io, mq);
	assert_int_equal(io.error, 0);
	assert_memory_equal(there, buf, bytes);
	assert_memory_equal(far->map, before, head);
	assert_memory_equal(there + bytes, before + head + bytes,
			    far->bytes - head - bytes);

	for (uint64_t i = 0; i < bytes; i++)
		there[i] = (unsigned char)(i * 11 + near);
	memset(space, 0xa5, sizeof(space));
	io = (struct cp_io){
		.near = buf, .offset = offset, .bytes = bytes, .dir = CP_DIR_READ};
	one(rig, &io, mq);
	assert_int_equal(io.error, 0);
	assert_memory_equal(buf, there, bytes);
	for (unsigned char *at = space; at < space + sizeof(space); at++) {
		if (at == buf)
			at += bytes;
		assert_int_equal(*at, 0xa5);
	}
}

/* All offsets of buffer and device, at the start and at the end of the device. */
static void move_all(const char *settings, const char *attr)
{
	static const uint64_t sizes[] = {4096, IO_MAX};
	bool mq = strstr(settings, "mq") != NULL;

	for (size_t f = 0; f < NR(offsets); f++) {
		struct far far;

		far_make(&far, USED + offsets[f] + AROUND);
		struct cp_dev_cfg cfg = far_config(settings, attr, &far, offsets[f]);
		struct rig rig = rig_open(&cfg);

		for (size_t n = 0; n < NR(offsets) * NR(sizes); n++) {
			uint64_t bytes = sizes[n % NR(sizes)];
			uint32_t near = offsets[n / NR(sizes)];

			move(&rig, &far, mq, near, offsets[f], 0, bytes);
			move(&rig, &far, mq, near, offsets[f], USED - bytes, bytes);
		}
		rig_close(&rig);
		far_drop(&far);
	}
}

/* Description: whatever the offsets of buffer and device, and whoever copies, the bytes
 * of an I/O arrive and no byte around them changes, in the buffer or in the file. */
static void bytes_and_guards(void **state)
{
	static const char *const arms[] = {
		"queue_mode=bio copy=memcpy",
		"queue_mode=bio copy=nt-both",
		"queue_mode=bio copy=portable unroll=1 prefetch=nta",
		"queue_mode=mq path=cpu copy=nt",
		"queue_mode=mq path=dma dma=sw",
		"queue_mode=mq path=auto dma=sw dma_thresh_write=8k dma_thresh_read=8k",
	};

	(void)state;
	for (size_t a = 0; a < NR(arms); a++)
		move_all(arms[a], "wb");
}

/* Description: the same under the emulated attributes, whose lines are then partial at
 * both ends. */
static void emulated_attributes(void **state)
{
	static const char *const attrs[] = {"uc", "wc", "wt"};
	static const char *const copies[] = {"copy=memcpy", "copy=nt-both"};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < NR(attrs) * NR(copies); i++)
		move_all(copies[i % NR(copies)], attrs[i / NR(copies)]);
}

/* Description: a file has to hold misalign_far bytes more than are used: exactly so many
 * will do, one fewer is refused with the reason. */
static void file_length(void **state)
{
	(void)state;
	for (size_t f = 1; f < NR(offsets); f++) {
		for (int less = 0; less < 2; less++) {
			struct cp_dev *dev = NULL;
			struct cp_err err = {0};
			char text[40];
			struct far far;

			far_make(&far, USED + offsets[f] - (size_t)less);
			struct cp_dev_cfg cfg =
				far_config("queue_mode=bio", "wb", &far, offsets[f]);
			int rc = cp_dev_open(&cfg, &dev, &err);

			assert_int_equal(rc, less ? -EINVAL : 0);
			snprintf(text, sizeof(text),
				 "with misalign_far %u: ", offsets[f]);
			if (less && strncmp(err.msg, text, strlen(text)) != 0)
				fail_msg("%s", err.msg);
			cp_dev_close(dev);
			far_drop(&far);
		}
	}
}

/* Description: the device ends where it would with everything aligned: the last byte of
 * `bytes` can be had, the one behind it not, although the mapping goes on. */
static void bounds(void **state)
{
	static const struct {
		uint64_t offset, bytes;
		int error;
	} cases[] = {
		{USED - 1, 1, 0},
		{USED - 4096, 4096, 0},
		{USED, 1, EINVAL},
		{USED - 4095, 4096, EINVAL},
		{0, USED + 1, EINVAL},
		{UINT64_MAX - 7, 8, EINVAL},
		{UINT64_MAX - 7, 16, EINVAL},
	};
	static const char *const arms[] = {"queue_mode=bio", "queue_mode=mq path=cpu",
					   "queue_mode=mq path=dma dma=sw"};

	(void)state;
	for (size_t a = 0; a < NR(arms); a++) {
		struct cp_dev_cfg cfg = config(arms[a]);

		cfg.bytes = USED;
		cfg.misalign_far = 8;
		struct rig rig = rig_open(&cfg);
		for (size_t c = 0; c < NR(cases); c++) {
			struct cp_io io = {.near = space,
					   .offset = cases[c].offset,
					   .bytes = cases[c].bytes,
					   .dir = CP_DIR_READ};

			one(&rig, &io, a > 0);
			assert_int_equal(io.error, cases[c].error);
			assert_int_equal(io.residue, cases[c].error ? cases[c].bytes : 0);
		}
		struct cp_io flush = {.sync = true};
		one(&rig, &flush, a > 0);
		assert_int_equal(flush.error, 0);
		rig_close(&rig);
	}
}

/* Description: a size that misalign_far carries past what can be counted is refused, not
 * wrapped around. */
static void too_large(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=bio");
	struct cp_dev *dev = NULL;
	struct cp_err err = {0};

	(void)state;
	cfg.bytes = UINT64_MAX - 3;
	cfg.misalign_far = 8;
	assert_true(cp_dev_open(&cfg, &dev, &err) < 0);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
}

static int load_topo(void **state)
{
	struct cp_err err;

	(void)state;
	return cp_topo_load(NULL, &topo, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_guards), cmocka_unit_test(emulated_attributes),
		cmocka_unit_test(file_length),	    cmocka_unit_test(bounds),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, load_topo, NULL);
}
