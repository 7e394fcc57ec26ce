/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels and NUMA nodes: machines that hwloc or a table makes up, media whose pages are
 * said to lie on several nodes, and an engine that records what it is given.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/queue/internal.h"
#include "engines/queue/t/recorder.h"
#include "engines/queue/t/rig.h"

#define K 1024U

/* Two nodes, 4 and 9, of four CPUs each. This thread's CPU is the first of `here`; the
 * others are none of this machine's. */
static struct cp_topo machine;

static void build_machine(unsigned here)
{
	memset(&machine, 0, sizeof(machine));
	machine.nr_nodes = 2;
	machine.node_os_index[0] = 4;
	machine.node_os_index[1] = 9;
	machine.nr_cpus = 8;
	for (unsigned c = 0; c < 8; c++) {
		machine.cpus[c].os_index = 900 + c;
		machine.cpus[c].core = c;
		machine.cpus[c].node = c / 4;
	}
	machine.cpus[here * 4].os_index = (unsigned)sched_getcpu();
}

/* On one CPU from here on: the machine is built around it. */
static int setup(void **state)
{
	cpu_set_t one;
	(void)state;

	memset(&engine, 0, sizeof(engine));
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

static int teardown(void **state)
{
	cpu_set_t all;
	(void)state;

	CPU_ZERO(&all);
	for (unsigned c = 0; c < topo.nr_cpus; c++)
		CPU_SET(topo.cpus[c].os_index, &all);
	return sched_setaffinity(0, sizeof(all), &all);
}

static struct cp_dev_cfg node_config(const char *settings,
				     const struct cp_node_extent *extents, unsigned nr)
{
	struct cp_dev_cfg cfg = config(settings);

	cfg.topo = &machine;
	cfg.dma = &recorder;
	cfg.node_extents = extents;
	cfg.nr_node_extents = nr;
	return cfg;
}

/* Description: the channel is wanted on the node of the memory, of the submitter's CPU or
 * of the device, and its thread on a CPU there that nobody has. */
static void test_dma_node(void **state)
{
	static const struct {
		const char *dma_node;
		unsigned here; /* index of the submitter's node */
		int memory, device;
		int node; /* expected */
		int cpu;  /* expected: index into the machine's; -1 none */
	} cases[] = {
		{"memory", 0, 9, 4, 9, 7},
		{"memory", 1, 4, 9, 4, 3},
		{"memory", 0, 4, 9, 4, 3},
		{"cpu", 0, 9, 9, 4, 3},
		{"cpu", 1, 4, 4, 9, 7},
		{"device", 0, 4, 9, 9, 7},
		{"device", 1, 9, 4, 4, 3},
		/* the device does not say, or its node has no CPUs: any, near the
		   submitter */
		{"device", 1, 4, -1, -1, 7},
		{"device", 0, 4, 17, 17, 3},
		{"memory", 1, -1, 4, -1, 7},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct cp_node_extent all = {MEDIA_BYTES, cases[c].memory};
		char settings[96];
		struct cp_dev *dev;
		struct cp_sub *sub;
		struct cp_err err;

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=sw dma_node=%s", cases[c].dma_node);
		memset(&engine, 0, sizeof(engine));
		build_machine(cases[c].here);
		struct cp_dev_cfg cfg = node_config(settings, &all, 1);

		assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
		dev->media.device_node = cases[c].device;
		assert_int_equal(cp_sub_open(dev, &sub, &err), 0);
		assert_int_equal(engine.nr_chans, 1);
		assert_int_equal(engine.chans[0].cfg.node, cases[c].node);
		assert_int_equal(engine.chans[0].cfg.cpu,
				 machine.cpus[cases[c].cpu].os_index);
		assert_string_equal(cp_dev_notes(dev), "");
		cp_sub_close(sub);
		cp_dev_close(dev);
		assert_int_equal(engine.nr_open, 0);
	}
}

/* Description: a thread is not put where a submitter is or may yet come. */
static void test_cpus_left(void **state)
{
	static const struct {
		uint32_t jobs;
		bool pinned;
	} cases[] = {{1, true}, {7, true}, {8, false}, {9, false}};
	const struct cp_node_extent all = {MEDIA_BYTES, 4};
	(void)state;

	build_machine(0);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg =
			node_config("queue_mode=mq path=dma dma=sw", &all, 1);

		memset(&engine, 0, sizeof(engine));
		cfg.jobs = cases[c].jobs;
		struct rig rig = rig_open(&cfg);

		assert_int_equal(engine.chans[0].cfg.cpu, cases[c].pinned ? 903 : -1);
		rig_close(&rig);
	}
}

/* Node 4 up to 3 MiB + 4k, node 9 up to 5 MiB, node 4 again to the end. */
static const struct cp_node_extent three[] = {
	{3 * K * K + 4 * K, 4}, {5 * K * K, 9}, {MEDIA_BYTES, 4}};

/* Description: memory on two nodes has a channel on each, opened with the first
 * submitter, all of one eventfd with irq; the CPU time of both counts, and the record
 * says how the memory lies. */
static void test_channel_a_node(void **state)
{
	static const char *const modes[] = {"poll", "irq"};
	(void)state;

	build_machine(0);
	for (unsigned m = 0; m < 2; m++) {
		char settings[96];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=sw completion=%s", modes[m]);
		memset(&engine, 0, sizeof(engine));
		struct cp_dev_cfg cfg = node_config(settings, three, 3);
		struct rig rig = rig_open(&cfg);

		assert_int_equal(engine.nr_chans, 2);
		assert_int_equal(engine.chans[0].cfg.node, 4);
		assert_int_equal(engine.chans[0].cfg.cpu, 903);
		assert_int_equal(engine.chans[1].cfg.node, 9);
		assert_int_equal(engine.chans[1].cfg.cpu, 907);
		assert_true(m ? engine.chans[0].cfg.event_fd > 0
			      : engine.chans[0].cfg.event_fd == 0);
		assert_int_equal(engine.chans[0].cfg.event_fd,
				 engine.chans[1].cfg.event_fd);
		assert_int_equal(cp_dev_engine_cpu_ns(rig.dev), 2000);
		assert_string_equal(cp_dev_notes(rig.dev),
				    "media lies on nodes 4 (75 %) and 9 (25 %)");
		rig_close(&rig);
		assert_int_equal(engine.nr_open, 0);
	}
}

struct piece {
	unsigned chan;
	uint64_t offset, len;
};

static unsigned char pattern(uint64_t i)
{
	return (unsigned char)(i * 131 ^ i >> 8);
}

/* The side that is read has a pattern, all else, guards too, other bytes. */
static void fill(const struct cp_io *io, unsigned char *far)
{
	unsigned char *near = io->near;

	memset(near - GUARD, 0xee, io->bytes + 2 * GUARD);
	memset(far, 0xdd, MEDIA_BYTES);
	for (uint64_t i = 0; i < io->bytes; i++)
		(io->dir == CP_DIR_WRITE ? near : far + io->offset)[i] = pattern(i);
}

static void check_bytes(const struct cp_io *io, const unsigned char *far)
{
	const unsigned char *near = io->near;

	assert_memory_equal(near, far + io->offset, io->bytes);
	for (uint64_t i = 0; i < io->bytes; i++)
		assert_int_equal(near[i], pattern(i));
	for (unsigned i = 0; i < GUARD; i++) {
		assert_int_equal(near[-1 - (int)i], 0xee);
		assert_int_equal(near[io->bytes + i], 0xee);
		assert_int_equal(far[io->offset + io->bytes + i], 0xdd);
		if (io->offset)
			assert_int_equal(far[io->offset - 1 - i], 0xdd);
	}
}

/* Description: an I/O over a border goes in pieces to the channels of their nodes, each
 * byte once and to its place, in both directions; one that ends at a border is whole. */
static void test_crossing(void **state)
{
	static const struct {
		uint64_t offset, bytes;
		unsigned crossed, nr;
		struct piece pieces[8];
	} cases[] = {
		{0, 64 * K, 0, 1, {{0, 0, 64 * K}}},
		/* up to the border, and from it on */
		{3 * K * K, 4 * K, 0, 1, {{0, 3 * K * K, 4 * K}}},
		{3 * K * K + 4 * K, 4 * K, 0, 1, {{1, 3 * K * K + 4 * K, 4 * K}}},
		/* one segment, one byte behind the border */
		{3 * K * K + 1,
		 4 * K,
		 1,
		 2,
		 {{0, 3 * K * K + 1, 4 * K - 1}, {1, 3 * K * K + 4 * K, 1}}},
		/* over all: 128 segments at most each */
		{3 * K * K,
		 2 * K * K + 8 * K,
		 1,
		 6,
		 {{0, 3 * K * K, 4 * K},
		  {1, 3 * K * K + 4 * K, 512 * K},
		  {1, 3 * K * K + 516 * K, 512 * K},
		  {1, 4 * K * K + 4 * K, 512 * K},
		  {1, 4 * K * K + 516 * K, 508 * K},
		  {0, 5 * K * K, 8 * K}}},
	};
	unsigned char *near = malloc(4 * K * K + 2 * GUARD);
	(void)state;

	assert_non_null(near);
	build_machine(0);
	for (unsigned t = 0; t < 2 * sizeof(cases) / sizeof(cases[0]); t++) {
		unsigned c = t / 2;
		struct cp_dev_cfg cfg =
			node_config("queue_mode=mq path=dma dma=sw", three, 3);
		struct cp_io io = {.near = near + GUARD,
				   .offset = cases[c].offset,
				   .bytes = cases[c].bytes,
				   .dir = t % 2 ? CP_DIR_READ : CP_DIR_WRITE};

		memset(&engine, 0, sizeof(engine));
		struct rig rig = rig_open(&cfg);
		unsigned char *far = rig.dev->far;

		fill(&io, far);
		cp_sub_measure_begin(rig.sub);
		one(&rig, &io, true);
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(io.error, 0);
		assert_int_equal(io.residue, 0);
		assert_int_equal(engine.nr_moves, cases[c].nr);
		for (unsigned i = 0; i < cases[c].nr; i++) {
			assert_int_equal(engine.moves[i].chan, cases[c].pieces[i].chan);
			assert_int_equal(engine.moves[i].far - far,
					 cases[c].pieces[i].offset);
			assert_int_equal(engine.moves[i].len, cases[c].pieces[i].len);
		}
		check_bytes(&io, far);
		assert_int_equal(proof.queue.crossed, cases[c].crossed);
		assert_int_equal(proof.bytes_dma, io.bytes);
		rig_close(&rig);
	}
	free(near);
}

/* Description: where the node of the memory is not asked for, borders cut nothing. */
static void test_not_by_memory(void **state)
{
	static const char *const words[] = {"cpu", "device"};
	static unsigned char near[64 * K];
	(void)state;

	build_machine(0);
	for (unsigned w = 0; w < 2; w++) {
		char settings[96];

		snprintf(settings, sizeof(settings),
			 "queue_mode=mq path=dma dma=sw dma_node=%s", words[w]);
		memset(&engine, 0, sizeof(engine));
		struct cp_dev_cfg cfg = node_config(settings, three, 3);
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {.near = near,
				   .offset = 3 * K * K,
				   .bytes = sizeof(near),
				   .dir = CP_DIR_READ};

		cp_sub_measure_begin(rig.sub);
		one(&rig, &io, true);
		assert_int_equal(engine.nr_chans, 1);
		assert_int_equal(engine.nr_moves, 1);
		assert_int_equal(proof_of(&rig).queue.crossed, 0);
		rig_close(&rig);
	}
}

/* Description: byte 0 of a misaligned device lies that far into the media's extents. */
static void test_misaligned(void **state)
{
	const struct cp_node_extent media[] = {{100, 4}, {8192, 4}, {12288, 9}};
	struct cp_dev dev = {.cfg = {.misalign_far = 4095, .topo = &machine},
			     .dma = &recorder,
			     .far_bytes = 8193};
	struct cp_err err;
	(void)state;

	dev.media.extents = (struct cp_node_extent *)(uintptr_t)media;
	dev.media.nr_extents = 3;
	set(&dev.arm, "dma_node", "memory");
	assert_int_equal(cp_dev_nodes(&dev, &err), 0);
	assert_int_equal(dev.nr_extents, 2);
	assert_int_equal(cp_dev_node_run(&dev, 0), 4097);
	assert_int_equal(cp_dev_node_run(&dev, 4096), 1);
	assert_int_equal(cp_dev_extent_chan(&dev, 4096), 0);
	assert_int_equal(cp_dev_extent_chan(&dev, 4097), 1);
	assert_int_equal(dev.chan_node[1], 9);
	free(dev.extents);
}

/* Description: more nodes than a queue has channels share them, and every byte has one.
 */
static void test_many_nodes(void **state)
{
	struct cp_node_extent extents[12];
	struct cp_dev_cfg cfg;
	(void)state;

	for (unsigned i = 0; i < 12; i++)
		extents[i] = (struct cp_node_extent){(i + 1) * 256 * K, (int)i};
	build_machine(0);
	cfg = node_config("queue_mode=mq path=dma dma=sw", extents, 12);
	cfg.bytes = 3 * K * K;
	struct rig rig = rig_open(&cfg);

	assert_int_equal(engine.nr_chans, CP_HCTX_CHANS_MAX);
	for (uint64_t at = 0; at < cfg.bytes; at += 4 * K) {
		unsigned node = (unsigned)(at / (256 * K));

		assert_int_equal(cp_hctx_chan(rig.dev, rig.sub->hctx, at), node % 8);
	}
	rig_close(&rig);
}

/* Description: when a second channel cannot be had the first is closed again, and the
 * submitter is told why. */
static void test_open_fails(void **state)
{
	struct cp_dev_cfg cfg;
	struct cp_dev *dev;
	struct cp_sub *sub;
	struct cp_err err = {0};
	(void)state;

	build_machine(0);
	cfg = node_config("queue_mode=mq path=dma dma=sw completion=irq", three, 3);
	engine.fail_at = 1;
	assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
	assert_int_equal(cp_sub_open(dev, &sub, &err), -EBUSY);
	assert_string_equal(err.msg, "no more channels");
	assert_int_equal(engine.nr_open, 0);
	cp_dev_close(dev);
}

/* Description: queues that are fewer than asked for are noted, once, but not when the
 * default asked. */
static void test_capped_note(void **state)
{
	static const struct {
		const char *settings, *note;
	} cases[] = {
		{"queue_mode=mq path=cpu q_per_node=9",
		 "q_per_node 9 x 2 nodes capped to 8 hardware queues, one a CPU"},
		{"queue_mode=mq path=cpu q_per_node=4", ""},
		{"queue_mode=mq path=cpu", ""},
		{"queue_mode=bio", ""},
	};
	(void)state;

	build_machine(0);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);

		cfg.topo = &machine;
		struct rig rig = rig_open(&cfg);

		assert_string_equal(cp_dev_notes(rig.dev), cases[c].note);
		rig_close(&rig);
	}
}

struct worker {
	struct cp_dev *dev;
	unsigned id, failed;
};

/* Writes and reads back, 4 deep, over every border in turn. */
static void *worker_run(void *arg)
{
	struct worker *w = arg;
	const size_t each = 128 * K;
	unsigned char *near = malloc(4 * each);
	struct cp_io ios[4] = {0}, *done[4];
	struct cp_sub *sub;
	struct cp_err err;

	w->failed = !near || cp_sub_open(w->dev, &sub, &err) != 0;
	if (w->failed) {
		free(near);
		return NULL;
	}
	for (unsigned round = 0; round < 24; round++) {
		for (int pass = CP_DIR_WRITE; pass >= CP_DIR_READ; pass--) {
			for (unsigned i = 0; i < 4; i++) {
				ios[i].near = near + i * each;
				ios[i].offset = (2 * i + w->id) * each + (round % 8) * K;
				ios[i].bytes = each - 8 * K;
				ios[i].dir = (enum cp_dir)pass;
				memset(ios[i].near,
				       pass == CP_DIR_WRITE ? (int)(round + i) : 0, each);
				w->failed += cp_sub_queue(sub, &ios[i]) != 0;
			}
			for (unsigned left = 4; left;)
				left -= cp_sub_reap(sub, 1, 4, done);
		}
		for (unsigned i = 0; i < 4; i++) {
			w->failed += ios[i].error != 0;
			for (size_t k = 0; k < ios[i].bytes; k++)
				w->failed +=
					near[i * each + k] != (unsigned char)(round + i);
		}
	}
	cp_sub_close(sub);
	free(near);
	return NULL;
}

/* Description: submitters that share a queue of two channels get all of their own bytes,
 * polling and asleep on the eventfd that the channels share. */
static void test_shared(void **state)
{
	static const char *const modes[] = {"poll", "irq"};
	static struct cp_node_extent extents[16];
	(void)state;

	for (unsigned i = 0; i < 16; i++)
		extents[i] = (struct cp_node_extent){(i + 1) * 64 * K, (int)(i % 2)};
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		for (unsigned m = 0; m < 2; m++) {
			struct worker workers[2];
			pthread_t threads[2];
			char settings[96];
			struct cp_dev *dev;
			struct cp_err err;

			snprintf(settings, sizeof(settings),
				 "queue_mode=mq path=dma dma=sw q_per_node=1 "
				 "completion=%s",
				 modes[m]);
			struct cp_dev_cfg cfg = config(settings);

			cfg.node_extents = extents;
			cfg.nr_node_extents = 16;
			cfg.bytes = K * K;
			cfg.jobs = jobs;
			assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
			for (unsigned i = 0; i < jobs; i++) {
				workers[i] = (struct worker){.dev = dev, .id = i};
				pthread_create(&threads[i], NULL, worker_run,
					       &workers[i]);
			}
			for (unsigned i = 0; i < jobs; i++) {
				pthread_join(threads[i], NULL);
				assert_int_equal(workers[i].failed, 0);
			}
			cp_dev_close(dev);
		}
	}
}

#define PINNED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PINNED(test_dma_node),	     PINNED(test_cpus_left),
		PINNED(test_channel_a_node), PINNED(test_crossing),
		PINNED(test_not_by_memory),  PINNED(test_misaligned),
		PINNED(test_many_nodes),     PINNED(test_open_fails),
		PINNED(test_capped_note),    cmocka_unit_test(test_shared),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
