// SPDX-License-Identifier: GPL-2.0-only
/* The kernel engine over a device played in user space. What only the module can show
 * (pinning, real channels, mmu notifiers) is not exercised here. */
#include "engines/dma/kernel.h"
#include "engines/dma/t/kernel_fake.h"
#include "engines/dma/t/rig.h"

#include "engines/dma/hardware.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE  4096U

static int healthy(void **state)
{
	(void)state;
	fake_reset(true);
	return 0;
}

static unsigned char *pages(unsigned nr)
{
	unsigned char *at = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* Write one byte of each, and check that it arrived. */
static void move(struct rig *rig, unsigned char *far, unsigned char *near)
{
	struct cp_dma_completion done;

	*far = 0;
	*near = 7;
	rig_submit(rig, CP_DIR_WRITE, far, near, 1, 0, near);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	assert_ptr_equal(done.user, near);
	assert_int_equal(done.result, CP_DMA_OK);
	assert_int_equal(*far, 7);
}

/* Description: the numbers of the interface, written from its rules (direction, size,
 * 0xcb, number), and the places that the module and the engine share. */
static void interface_is_fixed(void **state)
{
	static const struct {
		unsigned long request, number;
	} cases[] = {
		{CP_DMADEV_INFO, 0x8040cb50},	{CP_DMADEV_OPEN, 0xc060cb51},
		{CP_DMADEV_MAP, 0xc028cb52},	{CP_DMADEV_UNMAP, 0x4008cb53},
		{CP_DMADEV_SUBMIT, 0xc028cb54}, {CP_DMADEV_CLOSE, 0xc010cb55},
		{CP_DMADEV_STAT, 0x8040cb56},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_int_equal(cases[i].request, cases[i].number);
	assert_int_equal(offsetof(struct cp_dmadev_info, bytes_max), 24);
	assert_int_equal(offsetof(struct cp_dmadev_open, ring_bytes), 24);
	assert_int_equal(offsetof(struct cp_dmadev_open, name), 32);
	assert_int_equal(offsetof(struct cp_dmadev_xfer, far_offset), 24);
	assert_int_equal(offsetof(struct cp_dmadev_submit, cookie), 16);
	assert_int_equal(offsetof(struct cp_dmadev_done, result), 24);
	/* a line of its own for each side */
	assert_int_equal(offsetof(struct cp_dmadev_ring, tail), 0);
	assert_int_equal(offsetof(struct cp_dmadev_ring, head), 64);
	assert_int_equal(offsetof(struct cp_dmadev_ring, done), 192);
}

/* Description: a device that is not there, not ours or not usable is refused by probe()
 * and open() alike, in words that say what to do. */
static void unusable_devices_are_named(void **state)
{
	static const struct {
		int open_error, info_error;
		uint32_t version, nr_chans;
		const char *error;
	} cases[] = {
		{ENOENT, 0, 1, 4,
		 "no device '/dev/cp_dma'; expected that of the module cp_dma, which is "
		 "not part of this version; dma sw"},
		{EACCES, 0, 1, 4, "no permission for '/dev/cp_dma'; expected root, or"},
		{ENOTTY, 0, 1, 4, "'/dev/cp_dma' is not the device of the module cp_dma"},
		{EMFILE, 0, 1, 4, "'/dev/cp_dma' cannot be opened: Too many open files"},
		{0, ENOTTY, 1, 4, "has another version of the interface; expected ver"},
		{0, ENODEV, 1, 4, "'/dev/cp_dma' does not answer: No such device"},
		{0, 0, 2, 4,
		 "'/dev/cp_dma' has version 2 of the interface; expected version 1: the "
		 "module and the program of one build"},
		{0, 0, 1, 0, "'/dev/cp_dma' has no DMA channel; expected a device whose"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_dma_cfg cfg = {.spec = "kernel", .node = -1, .cpu = -1};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find("kernel", &err);

		fake_reset(true);
		fake.open_error = cases[i].open_error;
		fake.info_error = cases[i].info_error;
		fake.info.version = cases[i].version;
		fake.info.nr_chans = cases[i].nr_chans;
		assert_true(ops->probe(&err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_true(cp_dma_usable(ops, &cfg, &err) < 0);
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
		/* a plan can be made without the machine */
		assert_int_equal(ops->check("kernel", &err), 0);
	}
}

/* Description: settings that are wrong, and channels that cannot be had, are named. */
static void wrong_opens_are_refused(void **state)
{
	static const struct {
		const char *spec, *error;
		unsigned ring;
		int chan_error, map_error;
		bool exclusive, kept;
	} cases[] = {
		{.spec = "kernel:cp_dma", .error = "kernel: 'cp_dma' is no path"},
		{.spec = "kernel:chan=-1", .error = "kernel: chan '-1'"},
		{.spec = "kernel:ring=8", .error = "kernel: unknown setting 'ring'"},
		{.spec = "kernel:/dev/gone", .error = "no device '/dev/gone'"},
		{.spec = "kernel:chan=4", .error = "has no channel '4'; expected 0 to 3"},
		{.spec = "kernel",
		 .chan_error = EBUSY,
		 .error = "no channel of '/dev/cp_dma' is free; expected one that nobody "
			  "else has exclusively"},
		{.spec = "kernel",
		 .exclusive = true,
		 .kept = true,
		 .chan_error = EBUSY,
		 .error = "nobody else has at all"},
		{.spec = "kernel", .exclusive = true, .error = "keeps no channel"},
		{.spec = "kernel",
		 .ring = 32768,
		 .error = "ring of '32768' is too large; expected at most 16384"},
		{.spec = "kernel",
		 .map_error = ENOMEM,
		 .error = "cannot be pinned: Cannot allocate memory; expected memory for "
			  "them, and RLIMIT_MEMLOCK"},
	};
	static unsigned char far[PAGE];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_dma_cfg cfg = {.spec = cases[i].spec,
					 .ring = cases[i].ring,
					 .exclusive = cases[i].exclusive,
					 .far = far,
					 .far_bytes = sizeof(far),
					 .node = -1,
					 .cpu = -1};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find("kernel", &err);

		fake_reset(true);
		fake.chan_error = cases[i].chan_error;
		fake.map_error = cases[i].map_error;
		if (!cases[i].kept)
			fake.info.features &= ~CP_DMADEV_EXCLUSIVE;
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: whether a channel could be had is said of the device, channel and ring
 * that the spec names, and of a wrapped one too; nothing stays open. */
static void usable_is_of_the_spec(void **state)
{
	static const struct {
		const char *spec;
		unsigned ring;
		const char *error; /* NULL: usable */
	} cases[] = {
		{"kernel", 16384, NULL},
		{"kernel:chan=3", 128, NULL},
		{"fault:kernel,error=1%", 128, NULL},
		{"kernel", 20000, "ring of '20000' is too large"},
		{"kernel:/dev/gone", 128, "no device '/dev/gone'"},
		{"kernel:chan=9", 128, "has no channel '9'; expected 0 to 3"},
		{"fault:kernel,chan=9", 128,
		 "fault: kernel: '/dev/cp_dma' has no channel"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_dma_cfg cfg = {
			.spec = cases[i].spec, .ring = cases[i].ring, .node = -1};
		struct cp_err err = {0};
		int rc = cp_dma_usable(cp_dma_find(cfg.spec, &err), &cfg, &err);

		assert_int_equal(rc < 0, cases[i].error != NULL);
		if (cases[i].error && !strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		for (unsigned f = 0; f < FAKE_FILES; f++)
			assert_int_equal(fake_files[f].fd, 0);
	}
}

/* Description: the label is what the module says its channels are; only real hardware is
 * a fact of the machine and picked by auto. */
static void label_is_the_modules(void **state)
{
	(void)state;
	for (unsigned hardware = 0; hardware < 2; hardware++) {
		struct cp_dma_traits traits;
		char names[64];
		struct cp_err err = {0};

		fake_reset(hardware);
		cp_dma_traits(cp_dma_find("kernel", &err), "kernel:/dev/cp_dma,chan=1",
			      &traits);
		assert_string_equal(traits.provenance,
				    hardware ? "hardware" : "software");
		assert_true(traits.moves_data && traits.irq);
		assert_int_equal(traits.threads, !hardware);
		assert_string_equal(cp_dma_find("auto", &err)->name,
				    hardware ? "kernel" : "sw");
		cp_dma_hardware_names(names, sizeof(names));
		assert_string_equal(names, hardware ? "kernel" : "none");
		fake.info.features &= ~CP_DMADEV_EVENTFD;
		cp_dma_traits(cp_dma_find("kernel", &err), "kernel", &traits);
		assert_false(traits.irq);
	}
}

/* Description: what was asked for reaches the module: node, ring, exclusive, eventfd and
 * channel; and the name of its channel and its CPU time come back. */
static void wishes_are_passed_on(void **state)
{
	int event_fd = eventfd(0, EFD_NONBLOCK);
	struct cp_dma_cfg cfg = {.spec = "kernel:/dev/cp_dma,chan=2",
				 .ring = 100,
				 .node = 1,
				 .cpu = -1,
				 .irq = true,
				 .event_fd = event_fd,
				 .exclusive = true};
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find("kernel", &err)};
	unsigned char *far = pages(2);

	(void)state;
	assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
	assert_int_equal(fake.last_open.chan, 2);
	assert_int_equal(fake.last_open.node, 1);
	assert_int_equal(fake.last_open.ring, 128);
	assert_int_equal(fake.last_open.flags,
			 CP_DMADEV_O_EXCLUSIVE | CP_DMADEV_O_EVENTFD);
	assert_int_equal(fake.last_open.event_fd, event_fd);
	assert_string_equal(rig.ops->describe(rig.chan), "kernel/dma0chan0");
	assert_int_equal(rig.ops->cpu_ns(rig.chan), 0);
	move(&rig, far, far + PAGE);
	assert_int_equal(rig.ops->cpu_ns(rig.chan), 1);
	rig_close(&rig);
	/* it stays the caller's */
	assert_int_equal(close(event_fd), 0);
	munmap(far, 2 * PAGE);
}

/* Description: a doorbell is one call for all that was submitted, and none for nothing.
 */
static void one_call_a_doorbell(void **state)
{
	struct rig rig = rig_open("kernel", 8, false);
	struct cp_dma_completion done[8];
	unsigned char *at = pages(1);

	(void)state;
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(fake.nr_submits, 0);
	for (unsigned i = 0; i < 8; i++)
		rig_submit(&rig, CP_DIR_READ, at, at + 8 + i, 1, 0, NULL);
	assert_int_equal(fake.nr_submits, 0);
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(fake.nr_submits, 1);
	rig_reap(&rig, done, 8);
	assert_int_equal(fake.nr_submits, 1);
	assert_int_equal(fake.nr_maps, 1);
	rig_close(&rig);
	munmap(at, PAGE);
}

/* Description: a range is registered at its first use and not again; the far range at
 * open; one for reading only is registered for that. */
static void ranges_are_registered_once(void **state)
{
	unsigned char *far = pages(16), *near = pages(4);
	struct cp_dma_cfg cfg = {.spec = "kernel",
				 .ring = 8,
				 .node = -1,
				 .cpu = -1,
				 .far = far + 5,
				 .far_bytes = 15 * PAGE};
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find("kernel", &err)};
	struct cp_dma_completion done;

	(void)state;
	assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
	assert_int_equal(fake.nr_maps, 1);
	for (unsigned i = 0; i < 100; i++)
		move(&rig, far + 5 + i * 600, near + i * 40);
	assert_int_equal(fake.nr_maps, 2);
	rig_submit(&rig, CP_DIR_WRITE, far + PAGE, near + PAGE - 1, 2, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, &done, 1);
	assert_int_equal(fake.nr_maps, 3); /* two pages, of which one was there */
	fake.read_only = (uintptr_t)(near + 2 * PAGE);
	fake.read_only_end = fake.read_only + PAGE;
	near[2 * PAGE] = 9;
	rig_submit(&rig, CP_DIR_WRITE, far, near + 2 * PAGE, 1, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, &done, 1);
	assert_int_equal(done.result, CP_DMA_OK);
	assert_int_equal(far[0], 9);
	struct cp_dma_sg sg = {near + 2 * PAGE, 1};

	assert_int_equal(
		rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, far, &sg, 1, 0, NULL),
		-EFAULT);
	assert_int_equal(rig.ops->space(rig.chan), 8);
	assert_int_equal(fake.nr_unmaps, 0);
	rig_close(&rig);
	munmap(far, 16 * PAGE);
	munmap(near, 4 * PAGE);
}

/* Description: more buffers than there can be ranges: the one not used for longest makes
 * room; ranges in use do not, and then prep asks for patience; a transaction that needs
 * more than there are is refused. */
static void ranges_make_room(void **state)
{
	unsigned char *at = pages(40);
	struct cp_dma_sg sg[8];
	struct cp_dma_completion done[8];

	(void)state;
	fake.info.maps_max = 4;
	struct rig rig = rig_open("kernel", 8, false);

	for (unsigned i = 0; i < 3; i++)
		move(&rig, at, at + (2 + 2 * i) * PAGE);
	assert_int_equal(fake.nr_unmaps, 0);
	move(&rig, at, at + 2 * PAGE);
	move(&rig, at, at + 20 * PAGE); /* instead of page 4 */
	assert_int_equal(fake.nr_unmaps, 1);
	move(&rig, at, at + 2 * PAGE);
	assert_int_equal(fake.nr_maps,
			 6); /* one of them was told that there is no room */

	fake_hold(fake_of(rig.chan->fd), true);
	for (unsigned i = 0; i < 3; i++)
		rig_submit(&rig, CP_DIR_WRITE, at, at + (22 + 2 * i) * PAGE, 1, 0, NULL);
	rig.ops->issue_pending(rig.chan);
	sg[0] = (struct cp_dma_sg){at + 30 * PAGE, 1};
	assert_int_equal(
		rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_WRITE, at, sg, 1, 0, NULL),
		-EAGAIN);
	fake_hold(fake_of(rig.chan->fd), false);
	rig_reap(&rig, done, 3);
	move(&rig, at, at + 30 * PAGE);
	for (unsigned i = 0; i < 8; i++)
		sg[i] = (struct cp_dma_sg){at + (2 + 2 * i) * PAGE, 1};
	assert_int_equal(
		rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_WRITE, at, sg, 8, 0, NULL),
		-ENOSPC);
	move(&rig, at, at + 2 * PAGE);
	rig_close(&rig);
	munmap(at, 40 * PAGE);
}

/* Description: a buffer that went and came again at its address is registered again, and
 * the bytes are those of the new one; one that only went fails its transaction. */
static void stale_ranges_are_registered_again(void **state)
{
	unsigned char *at = pages(3);
	struct rig rig = rig_open("kernel", 8, false);
	struct fake_file *file = fake_of(rig.chan->fd);
	struct cp_dma_completion done;

	(void)state;
	move(&rig, at, at + PAGE);
	for (unsigned m = 0; m < 2; m++) {
		unsigned before = fake.nr_maps;

		for (unsigned i = 0; i < FAKE_MAPS; i++)
			file->maps[i].stale =
				file->maps[i].addr == (uintptr_t)(at + m * PAGE);
		move(&rig, at, at + PAGE);
		/* which of the two it was is not said, so both are new */
		assert_int_equal(fake.nr_maps, before + 2);
		assert_int_equal(fake.nr_unmaps, 2 * (m + 1));
	}
	for (unsigned m = 0; m < FAKE_MAPS; m++)
		file->maps[m].stale = file->maps[m].bytes > 0;
	rig_submit(&rig, CP_DIR_WRITE, at, at + PAGE, 1, 0, at);
	munmap(at + PAGE, PAGE);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, &done, 1);
	assert_ptr_equal(done.user, at);
	assert_int_equal(done.result, CP_DMA_ABORTED);
	assert_int_equal(done.residue, 1);
	move(&rig, at, at + 2 * PAGE);
	rig_close(&rig);
	munmap(at, PAGE);
	munmap(at + 2 * PAGE, PAGE);
}

/* Description: results and residues are the module's, and one that claims more than it
 * can know is not believed. */
static void results_are_the_modules(void **state)
{
	static const struct {
		uint32_t result;
		uint64_t residue;
		enum cp_dma_result expect;
		size_t expect_residue;
	} cases[] = {
		{CP_DMADEV_READ_FAILED, 1000, CP_DMA_READ_FAILED, 1000},
		{CP_DMADEV_WRITE_FAILED, 1, CP_DMA_WRITE_FAILED, 1},
		{CP_DMADEV_ABORTED, 700, CP_DMA_ABORTED, 700},
		{CP_DMADEV_READ_FAILED, 0, CP_DMA_READ_FAILED, 1000},
		{CP_DMADEV_OK, 3, CP_DMA_ABORTED, 3},
		{99, 5, CP_DMA_ABORTED, 5},
	};
	unsigned char *at = pages(2);

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct rig rig = rig_open("kernel", 8, false);
		struct cp_dma_completion done[2];

		fake.fail_cookie = 1;
		fake.fail_result = cases[i].result;
		fake.fail_residue = cases[i].residue;
		memset(at, (int)i + 1, 1000);
		memset(at + PAGE, 0, 1000);
		rig_submit(&rig, CP_DIR_READ, at, at + PAGE, 1000, 0, at);
		rig_submit(&rig, CP_DIR_READ, at, at + PAGE + 1000, 1, 0, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 2);
		assert_ptr_equal(done[0].user, at);
		assert_int_equal(done[0].result, cases[i].expect);
		assert_int_equal(done[0].residue, cases[i].expect_residue);
		assert_memory_equal(at, at + PAGE, 1000 - done[0].residue);
		assert_int_equal(done[1].result, CP_DMA_OK);
		rig_close(&rig);
	}
	munmap(at, 2 * PAGE);
}

/* Description: what the module has no room for goes down later, by itself, and each
 * completes once. */
static void no_room_is_tried_again(void **state)
{
	unsigned char *at = pages(2);
	struct cp_dma_completion done[8];

	(void)state;
	fake.submit_max = 3;
	struct rig rig = rig_open("kernel", 8, true);

	for (unsigned round = 0; round < 50; round++) {
		unsigned seen = 0;

		memset(at, 0, 8);
		memset(at + PAGE, (int)round + 1, 8);
		for (unsigned i = 0; i < 8; i++)
			rig_submit(&rig, CP_DIR_WRITE, at + i, at + PAGE + i, 1,
				   CP_DMA_INTERRUPT, at + i);
		rig.ops->issue_pending(rig.chan);
		for (unsigned got = 0; got < 8;) {
			assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
			got += rig.ops->reap(rig.chan, done + got, 8 - got);
		}
		for (unsigned i = 0; i < 8; i++)
			seen |= 1U << ((unsigned char *)done[i].user - at);
		assert_int_equal(seen, 0xff);
		assert_memory_equal(at, at + PAGE, 8);
	}
	rig_close(&rig);
	munmap(at, 2 * PAGE);
}

/* Description: one that the module refuses is aborted, those before and behind it are
 * not, and a waiter wakes for it. */
static void refused_is_aborted(void **state)
{
	unsigned char *at = pages(1);
	struct cp_dma_completion done;
	struct rig rig = rig_open("kernel", 8, true);

	(void)state;
	fake.submit_error = EINVAL;
	rig_submit(&rig, CP_DIR_WRITE, at, at + 8, 5, CP_DMA_INTERRUPT, at);
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
	assert_int_equal(rig.ops->reap(rig.chan, &done, 1), 1);
	assert_ptr_equal(done.user, at);
	assert_int_equal(done.result, CP_DMA_ABORTED);
	assert_int_equal(done.residue, 5);
	fake.submit_error = 0;
	move(&rig, at, at + 8);
	rig_close(&rig);
	munmap(at, PAGE);
}

/* Description: when the device goes away all that was submitted, sent or not, ends as
 * aborted, prep answers -ENODEV, and the channel closes. */
static void unplugged_aborts(void **state)
{
	unsigned char *at = pages(1);
	struct cp_dma_sg sg = {at + 8, 1};
	struct cp_dma_completion done[8];
	struct rig rig = rig_open("kernel", 8, true);

	(void)state;
	fake_hold(fake_of(rig.chan->fd), true);
	for (unsigned i = 0; i < 4; i++)
		rig_submit(&rig, CP_DIR_WRITE, at, at + 8, 1, CP_DMA_INTERRUPT, at + i);
	rig.ops->issue_pending(rig.chan);
	for (unsigned i = 4; i < 6; i++)
		rig_submit(&rig, CP_DIR_WRITE, at, at + 8, 1, CP_DMA_INTERRUPT, at + i);
	fake_unplug(fake_of(rig.chan->fd));
	rig.ops->issue_pending(rig.chan);
	for (unsigned got = 0; got < 6;) {
		assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
		got += rig.ops->reap(rig.chan, done + got, 8 - got);
	}
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(done[i].result, CP_DMA_ABORTED);
		assert_int_equal(done[i].residue, 1);
	}
	assert_int_equal(
		rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_WRITE, at, &sg, 1, 0, NULL),
		-ENODEV);
	assert_int_equal(rig.ops->space(rig.chan), 8);
	rig_close(&rig);
	munmap(at, PAGE);
}

/* Description: without the module there is no engine, and a path that is no device of it
 * is not opened. */
static void real_system_is_asked(void **state)
{
	static const struct {
		const char *path;
		int error;
	} cases[] = {
		{"/dev/null", ENOTTY},
		{"/nonexistent", ENOENT},
		{"/", ENOTTY},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_int_equal(kernel_sys_linux.open(cases[i].path), -cases[i].error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(interface_is_fixed, healthy),
		cmocka_unit_test_setup(unusable_devices_are_named, healthy),
		cmocka_unit_test_setup(wrong_opens_are_refused, healthy),
		cmocka_unit_test_setup(usable_is_of_the_spec, healthy),
		cmocka_unit_test_setup(label_is_the_modules, healthy),
		cmocka_unit_test_setup(wishes_are_passed_on, healthy),
		cmocka_unit_test_setup(one_call_a_doorbell, healthy),
		cmocka_unit_test_setup(ranges_are_registered_once, healthy),
		cmocka_unit_test_setup(ranges_make_room, healthy),
		cmocka_unit_test_setup(stale_ranges_are_registered_again, healthy),
		cmocka_unit_test_setup(results_are_the_modules, healthy),
		cmocka_unit_test_setup(no_room_is_tried_again, healthy),
		cmocka_unit_test_setup(refused_is_aborted, healthy),
		cmocka_unit_test_setup(unplugged_aborts, healthy),
		cmocka_unit_test_setup(real_system_is_asked, healthy),
	};

	kernel_sys = &fake_sys;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
