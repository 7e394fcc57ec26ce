// SPDX-License-Identifier: GPL-2.0-only
/* The block path over the idxd engine, on the DSA device that its tests emulate. */
#include "engines/queue/t/rig.h"

#include "engines/dma/t/idxd_emu.h"

#define DEPTH 16U

/* All of it in `bs` steps, DEPTH at a time; buffers are of `bs` bytes each. */
static void pass(struct rig *rig, enum cp_dir dir, unsigned char *near, uint64_t bs,
		 uint64_t bytes)
{
	static struct cp_io ios[DEPTH];
	struct cp_io *done[DEPTH];

	for (uint64_t at = 0; at < bytes;) {
		unsigned n = 0, got = 0;

		for (; n < DEPTH && at < bytes; n++, at += bs) {
			ios[n] = (struct cp_io){
				.near = near + at, .offset = at, .bytes = bs, .dir = dir};
			assert_int_equal(cp_sub_queue(rig->sub, &ios[n]), 0);
		}
		cp_sub_commit(rig->sub);
		while (got < n)
			got += cp_sub_reap(rig->sub, n - got, n - got, done);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(ios[i].error, 0);
			assert_int_equal(ios[i].residue, 0);
		}
	}
}

/* Description: what is written through a work queue is read back through it, every byte
 * by DMA, whatever the queue's limits and the order in which it completes. */
static void bytes_come_back(void **state)
{
	static const char *const queues[] = {"idxd", "idxd:/dev/dsa/wq0.0",
					     "idxd:/dev/dsa/wq0.2,batch=2"};
	static const uint64_t sizes[] = {4096, 65536, 512};
	const uint64_t bytes = 256U << 10;
	unsigned char *in = malloc(bytes), *out = malloc(bytes);

	(void)state;
	assert_true(in && out);
	for (size_t q = 0; q < sizeof(queues) / sizeof(queues[0]); q++) {
		char settings[128];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma queue_depth=16 dma=%s", queues[q]);
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);

		for (uint64_t i = 0; i < bytes; i++)
			in[i] = (unsigned char)(i * 13 + i / 4096 + q);
		memset(out, 0, bytes);
		cp_sub_measure_begin(rig.sub);
		pass(&rig, CP_DIR_WRITE, in, sizes[q], bytes);
		pass(&rig, CP_DIR_READ, out, sizes[(q + 1) % 3], bytes);
		assert_memory_equal(in, out, bytes);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, 2 * bytes);
		assert_int_equal(proof.bytes_cpu, 0);
		assert_int_equal(proof.errors, 0);
		assert_memory_equal(proof.dma, "idxd/dsa0/wq0.", 14);
		rig_close(&rig);
	}
	free(in);
	free(out);
}

/* Description: more tags than a work queue has entries are no error: what has no room
 * there waits, and all of it arrives. */
static void tags_above_the_queue_wait(void **state)
{
	struct idxd_emu *emu = *state;
	struct cp_dev_cfg cfg =
		config("queue_mode=mq path=dma queue_depth=128 dma=idxd:/dev/dsa/wq0.0");

	cfg.iodepth = 100;
	struct rig rig = rig_open(&cfg);
	static unsigned char near[100][512], far[100 * 512];
	static struct cp_io ios[100];
	struct cp_io *done[100];
	unsigned got = 0;

	cp_sub_measure_begin(rig.sub);
	atomic_store(&emu->paused, true);
	for (unsigned i = 0; i < 100; i++) {
		memset(near[i], (int)i + 1, 512);
		ios[i] = (struct cp_io){.near = near[i],
					.offset = i * 512UL,
					.bytes = 512,
					.dir = CP_DIR_WRITE};
		assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
	}
	cp_sub_commit(rig.sub);
	atomic_store(&emu->paused, false);
	while (got < 100)
		got += cp_sub_reap(rig.sub, 100 - got, 100 - got, done);
	assert_int_equal(emu->counts.dropped, 0);
	struct cp_io back = {.near = far, .bytes = sizeof(far), .dir = CP_DIR_READ};

	one(&rig, &back, true);
	assert_memory_equal(far, near, sizeof(far));
	assert_int_equal(proof_of(&rig).bytes_dma, 2 * sizeof(far));
	rig_close(&rig);
}

/* Description: a promise of durable writes is kept by destination readback, and refused
 * where the device has none; a flush without a promise says in the record which. */
static void durable_writes(void **state)
{
	struct idxd_emu *emu = *state;
	static const struct {
		const char *persist;
		bool readback, file;
		const char *text; /* in proof.dma; NULL: refused */
	} cases[] = {
		{"auto", true, false, "(dedicated, readback)"},
		{"auto", false, false, "(dedicated, no readback)"},
		{"none", true, false, "(dedicated)"},
		{"none", true, true, "(dedicated, readback)"},
		{"require", false, false, NULL},
	};
	static unsigned char near[512];
	char file[] = "/tmp/idxd_test.XXXXXX";
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, MEDIA_BYTES), 0);
	close(fd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char settings[128];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=idxd:/dev/dsa/wq0.0 persist=%s",
			 cases[i].persist);
		struct cp_dev_cfg cfg = config(settings);
		struct cp_dev *dev = NULL;
		struct cp_err err = {0};

		if (cases[i].file) {
			cfg.media = "file";
			cfg.filename = file;
		}
		emu->wqs[0].readback = cases[i].readback;
		if (!cases[i].text) {
			assert_true(cp_dev_open(&cfg, &dev, &err) < 0);
			assert_non_null(strstr(err.msg, "cannot read back what it"));
			continue;
		}
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {.near = near, .bytes = 512, .dir = CP_DIR_WRITE};

		cp_sub_measure_begin(rig.sub);
		one(&rig, &io, true);
		struct cp_proof proof = proof_of(&rig);

		if (!strstr(proof.dma, cases[i].text))
			fail_msg("'%s' lacks '%s'", proof.dma, cases[i].text);
		rig_close(&rig);
	}
	unlink(file);
}

/* Description: a device of which no queue can be used, or none that holds a ring that is
 * named, is an error with the queue's name; with auto it is another engine, and the notes
 * say why. */
static void unusable_queue_is_an_error(void **state)
{
	struct idxd_emu *emu = *state;
	struct cp_dev_cfg cfg =
		config("queue_mode=mq path=dma queue_depth=8 dma=idxd:ring=33");
	struct cp_dev *dev = NULL;
	struct cp_err err = {0};

	assert_true(cp_dev_open(&cfg, &dev, &err) < 0);
	assert_non_null(strstr(err.msg, "a ring of '33' is above the 32"));
	for (unsigned i = 0; i < emu->nr_wqs; i++)
		emu->wqs[i].state = IDXD_WQ_DISABLED;
	assert_true(cp_dev_open(&cfg, &dev, &err) < 0);
	assert_non_null(strstr(err.msg, "accel-config enable-wq dsa0/wq0.0"));
	assert_null(dev);
	cfg = config("queue_mode=mq path=dma queue_depth=33 dma=auto");
	struct rig rig = rig_open(&cfg);
	struct cp_io io = {.near = &cfg, .bytes = 8, .dir = CP_DIR_READ};

	cp_sub_measure_begin(rig.sub);
	one(&rig, &io, true);
	assert_memory_equal(proof_of(&rig).dma, "sw/", 3);
	assert_non_null(
		strstr(cp_dev_notes(rig.dev),
		       "auto took sw: idxd: '/dev/dsa/wq0.0' is disabled; expected"));
	rig_close(&rig);
}

static int setup(void **state)
{
	struct cp_err err;

	*state = idxd_emu_start();
	((struct idxd_emu *)*state)->reorder = true;
	return cp_topo_load(NULL, &topo, &err);
}

static int teardown(void **state)
{
	(void)state;
	idxd_emu_stop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(tags_above_the_queue_wait, setup,
						teardown),
		cmocka_unit_test_setup_teardown(durable_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(unusable_queue_is_an_error, setup,
						teardown),
	};

	print_message("not asserted: a DSA device; it is emulated\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
