// SPDX-License-Identifier: GPL-2.0-only
/* The block path over a file that is cut short under it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/queue/queue.h"

#define BYTES (1U << 20)
#define LEFT  (BYTES / 2) /* of the file after the cut; whole pages of any size */
#define BS    16384U
#define NR    8U

static struct cp_topo topo;

struct rig {
	int fd;
	struct cp_dev *dev;
	struct cp_sub *sub;
};

static void set(struct cp_arm *arm, const char *field, const char *text)
{
	struct cp_err err;

	assert_int_equal(
		cp_field_parse(cp_field_find(cp_arm_fields, field), arm, text, &err), 0);
}

/* settings: "field=value field=value ..."; the file is whole yet */
static struct rig rig_open(const char *settings)
{
	struct rig rig = {.fd = memfd_create("far", 0)};
	char file[32], text[128], *save = NULL;
	struct cp_err err = {0};
	struct cp_dev_cfg cfg = {
		.media = "file",
		.filename = file,
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = BYTES,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = NR,
		.fio_version = "",
		.topo = &topo,
	};

	assert_true(rig.fd >= 0);
	assert_int_equal(ftruncate(rig.fd, BYTES), 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", rig.fd);
	cp_arm_init(&cfg.arm);
	snprintf(text, sizeof(text), "%s", settings);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value = '\0';
		set(&cfg.arm, word, value + 1);
	}
	if (cp_dev_open(&cfg, &rig.dev, &err) != 0 ||
	    cp_sub_open(rig.dev, &rig.sub, &err) != 0)
		fail_msg("%s", err.msg);
	return rig;
}

static void rig_close(struct rig *rig)
{
	cp_sub_close(rig->sub);
	cp_dev_close(rig->dev);
	close(rig->fd);
}

static void run(struct rig *rig, struct cp_io *ios, bool mq)
{
	struct cp_io *done[NR];

	for (unsigned i = 0; i < NR; i++) {
		if (mq)
			assert_int_equal(cp_sub_queue(rig->sub, &ios[i]), 0);
		else
			cp_sub_bio(rig->sub, &ios[i]);
	}
	if (!mq)
		return;
	cp_sub_commit(rig->sub);
	for (unsigned got = 0; got < NR;)
		got += cp_sub_reap(rig->sub, NR - got, NR - got, done);
}

static const struct {
	const char *settings;
	bool mq;
} arms[] = {
	{"queue_mode=bio copy=memcpy", false},
	{"queue_mode=bio copy=nt", false},
	{"queue_mode=mq path=cpu copy=memcpy", true},
	{"queue_mode=mq path=dma dma=sw", true},
	{"queue_mode=mq path=dma dma=sw completion=irq", true},
	{"queue_mode=mq path=dma dma=sw completion=hybrid", true},
	{"queue_mode=mq path=dma dma=sw:ring=2 ring_full=cpu", true},
	{"queue_mode=mq path=auto dma=sw dma_thresh_read=4k", true},
};

/* Good, past the cut, across it, good, in turns: where each starts and what it may
 * claim. */
static const struct {
	unsigned start;
	bool bad;
	size_t claim_max;
} places[] = {{0, false, BS},
	      {LEFT, true, 0},
	      {LEFT - 4096, true, 4096},
	      {LEFT - BS, false, BS}};

static void check_io(const struct cp_io *io, unsigned place)
{
	const unsigned char *near = io->near;

	assert_int_equal(io->error, places[place].bad ? EIO : 0);
	if (places[place].bad)
		assert_in_range(io->residue, BS - places[place].claim_max, BS);
	else
		assert_int_equal(io->residue, 0);
	/* the file is a hole, so what arrives is zero */
	for (size_t b = 0; io->dir == CP_DIR_READ && b < BS - io->residue; b++)
		assert_int_equal(near[b], 0);
}

static void cut_and_run(const char *settings, bool mq, enum cp_dir dir)
{
	static unsigned char near[NR][BS];
	struct rig rig = rig_open(settings);
	struct cp_io ios[NR];
	struct cp_hist lat;
	struct cp_sidecar_job out = {.lat = &lat};
	uint64_t left = 0;

	assert_int_equal(ftruncate(rig.fd, LEFT), 0);
	memset(near, 0xee, sizeof(near));
	for (unsigned i = 0; i < NR; i++)
		ios[i] = (struct cp_io){.near = near[i],
					.offset = places[i % 4].start,
					.bytes = BS,
					.dir = dir};
	cp_sub_measure_begin(rig.sub);
	run(&rig, ios, mq);
	for (unsigned i = 0; i < NR; i++) {
		check_io(&ios[i], i % 4);
		left += ios[i].residue;
	}
	cp_sub_measure_end(rig.sub);
	cp_sub_report(rig.sub, &out);
	assert_int_equal(out.proof.errors, NR / 2);
	assert_int_equal(out.ios, NR / 2);
	assert_int_equal(out.bytes, NR / 2 * BS);
	assert_int_equal(out.proof.bytes_cpu + out.proof.bytes_dma, NR * BS - left);
	rig_close(&rig);
}

/* Description: I/Os past the end of a file that was cut fail with EIO and a residue that
 * claims no byte that did not arrive; those before it, in the same batch, are whole, and
 * the counters say so. */
static void cut_file_is_eio(void **state)
{
	(void)state;
	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		cut_and_run(arms[a].settings, arms[a].mq, CP_DIR_READ);
		cut_and_run(arms[a].settings, arms[a].mq, CP_DIR_WRITE);
	}
}

struct worker {
	pthread_barrier_t *start;
	struct rig rig;
	unsigned char near[BS];
	uint64_t offset;
	int expected;
	unsigned wrong;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(w->start);
	for (unsigned i = 0; i < 300; i++) {
		struct cp_io io = {.near = w->near,
				   .offset = w->offset,
				   .bytes = BS,
				   .dir = (enum cp_dir)(i % 2)};

		cp_sub_bio(w->rig.sub, &io);
		w->wrong += io.error != w->expected;
		w->wrong += io.residue != (w->expected ? BS : 0);
	}
	return NULL;
}

/* Description: jobs that fail and a job that does not go on beside each other, and the
 * handlers have gone when the last device is closed. */
static void jobs_are_apart(void **state)
{
	static const char settings[] = "queue_mode=bio copy=memcpy";
	static struct worker workers[3];
	pthread_t threads[3];
	pthread_barrier_t start;
	struct sigaction before, after;
	(void)state;

	sigaction(SIGBUS, NULL, &before);
	pthread_barrier_init(&start, NULL, 3);
	for (unsigned i = 0; i < 3; i++) {
		workers[i] = (struct worker){.start = &start,
					     .rig = rig_open(settings),
					     .offset = i ? LEFT : 0,
					     .expected = i ? EIO : 0};
		assert_int_equal(ftruncate(workers[i].rig.fd, LEFT), 0);
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].wrong, 0);
		rig_close(&workers[i].rig);
	}
	pthread_barrier_destroy(&start);
	sigaction(SIGBUS, NULL, &after);
	assert_ptr_equal(after.sa_handler, before.sa_handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_file_is_eio),
		cmocka_unit_test(jobs_are_apart),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
