// SPDX-License-Identifier: GPL-2.0-only
/* The file below copypath-sqlite against one in plain memory: SQLite itself asks for few
 * of the orders in which gathered writes and fetched units can meet. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/apps/sqlite/file.c"
#include "engines/base/random.h"

#define LIMIT (256U << 10)
#define UNIT  4096U

struct rig {
	struct cp_topo topo;
	struct cp_dev *dev;
	struct cp_sub *sub;
	struct cp_dfile file;
	unsigned char shadow[LIMIT];
	uint64_t bytes;
};

static void open_rig(struct rig *rig, const char *mode, const char *dma, unsigned depth)
{
	struct cp_context context;
	struct cp_arm arm;
	struct cp_dev_cfg cfg;
	struct cp_err err = {0};

	memset(rig, 0, sizeof(*rig));
	cp_clock_init();
	cp_context_init(&context);
	cp_arm_init(&arm);
	snprintf(arm.queue_mode, sizeof(arm.queue_mode), "%s", mode);
	snprintf(arm.dma, sizeof(arm.dma), "%s", dma);
	snprintf(arm.path, sizeof(arm.path), "%s", strcmp(dma, "none") ? "dma" : "cpu");
	snprintf(arm.copy, sizeof(arm.copy), "memcpy");
	assert_int_equal(cp_topo_load(NULL, &rig->topo, &err), 0);
	cp_dev_cfg_of(&context, &arm, &rig->topo, &cfg);
	cfg.bytes = LIMIT;
	cfg.writable = true;
	cfg.dir_used[CP_DIR_READ] = cfg.dir_used[CP_DIR_WRITE] = true;
	if (cp_dev_open(&cfg, &rig->dev, &err) || cp_sub_open(rig->dev, &rig->sub, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(cp_dfile_open(&rig->file, rig->sub, LIMIT, UNIT, depth), 0);
}

static void close_rig(struct rig *rig)
{
	cp_dfile_close(&rig->file);
	cp_sub_close(rig->sub);
	cp_dev_close(rig->dev);
}

static void check_read(struct rig *rig, uint64_t offset, uint32_t len)
{
	static unsigned char buf[3 * UNIT + 1], want[3 * UNIT];
	bool short_read;

	buf[len] = 0x5a; /* guard */
	for (uint32_t i = 0; i < len; i++)
		want[i] = offset + i < rig->bytes ? rig->shadow[offset + i] : 0;
	assert_int_equal(cp_dfile_read(&rig->file, buf, offset, len, &short_read), 0);
	assert_memory_equal(buf, want, len);
	assert_int_equal(short_read, offset + len > rig->bytes);
	assert_int_equal(buf[len], 0x5a);
}

/* No gaps: what lies between the end and a write behind it is nobody's. */
static void do_write(struct rig *rig, uint64_t offset, uint32_t len, uint64_t *state)
{
	unsigned char buf[3 * UNIT];

	for (uint32_t i = 0; i < len; i++)
		buf[i] = (unsigned char)cp_random_next(state);
	assert_int_equal(cp_dfile_write(&rig->file, buf, offset, len), 0);
	memcpy(rig->shadow + offset, buf, len);
	rig->bytes = offset + len > rig->bytes ? offset + len : rig->bytes;
	assert_int_equal(rig->file.bytes, rig->bytes);
}

static void one_step(struct rig *rig, uint64_t *state)
{
	uint64_t pick = cp_random_next(state) % 100;
	uint64_t offset = cp_random_next(state) % (rig->bytes + 1);
	uint32_t len = (uint32_t)(1 + cp_random_next(state) % (3 * UNIT));

	if (cp_random_next(state) % 2) { /* whole units, as most of SQLite's are */
		offset -= offset % UNIT;
		len = UNIT;
	}
	if (offset + len > LIMIT)
		len = (uint32_t)(LIMIT - offset);
	if (!len)
		return;
	if (pick < 45) {
		check_read(rig, offset, len);
	} else if (pick < 60) { /* in order, so that more is fetched */
		for (uint64_t at = offset - offset % UNIT; at < rig->bytes; at += UNIT)
			check_read(rig, at, UNIT);
	} else if (pick < 96) {
		do_write(rig, offset, len, state);
	} else if (pick < 98) {
		assert_int_equal(cp_dfile_sync(&rig->file), 0);
	} else {
		assert_int_equal(cp_dfile_truncate(&rig->file, offset), 0);
		rig->bytes = offset < rig->bytes ? offset : rig->bytes;
	}
}

/* Description: reads see what was written last, whatever is gathered or fetched. */
static void test_model(void **unused)
{
	static const struct {
		const char *mode, *dma;
		unsigned depth;
	} cases[] = {{"bio", "none", 1},
		     {"bio", "none", 5},
		     {"mq", "none", 8},
		     {"mq", "sw", 8},
		     {"page", "none", 3}};
	static struct rig rig;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t state = 1 + i;

		open_rig(&rig, cases[i].mode, cases[i].dma, cases[i].depth);
		for (unsigned step = 0; step < 1500; step++)
			one_step(&rig, &state);
		close_rig(&rig);
	}
}

/* Description: a write behind the limit is refused whole, and the file stays. */
static void test_limit(void **unused)
{
	static const unsigned char buf[UNIT] = {1};
	static struct rig rig;

	(void)unused;
	open_rig(&rig, "bio", "none", 2);
	assert_int_equal(cp_dfile_write(&rig.file, buf, LIMIT - UNIT + 1, UNIT), -ENOSPC);
	assert_int_equal(cp_dfile_write(&rig.file, buf, UINT64_MAX - 1, UNIT), -ENOSPC);
	assert_int_equal(rig.file.bytes, 0);
	assert_int_equal(cp_dfile_write(&rig.file, buf, LIMIT - UNIT, UNIT), 0);
	assert_int_equal(rig.file.bytes, LIMIT);
	close_rig(&rig);
}

/* Description: gathered writes go out together, and no earlier than they have to. */
static void test_gather(void **unused)
{
	static const unsigned char buf[UNIT] = {1};
	static struct rig rig;

	(void)unused;
	open_rig(&rig, "mq", "none", 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(cp_dfile_write(&rig.file, buf, i * UNIT, UNIT), 0);
	assert_int_equal(rig.file.dirty.nr, 4);
	assert_int_equal(cp_dfile_write(&rig.file, buf, UNIT, UNIT),
			 0); /* there already */
	assert_int_equal(rig.file.dirty.nr, 4);
	assert_int_equal(cp_dfile_write(&rig.file, buf, 4 * UNIT, UNIT), 0);
	assert_int_equal(rig.file.dirty.nr, 1);
	assert_int_equal(cp_dfile_sync(&rig.file), 0);
	assert_int_equal(rig.file.dirty.nr, 0);
	close_rig(&rig);
}

/* Description: an I/O that fails is an error of the call, never stale bytes. */
static void test_error(void **unused)
{
	static const unsigned char buf[UNIT] = {1};
	unsigned char got[UNIT];
	static struct rig rig;
	bool short_read;

	(void)unused;
	open_rig(&rig, "mq", "fault:sw,error=100%", 4);
	assert_int_equal(cp_dfile_write(&rig.file, buf, 0, UNIT), 0);
	assert_int_not_equal(cp_dfile_sync(&rig.file), 0);
	rig.file.dirty.nr = 0; /* so that it must be read */
	assert_int_not_equal(cp_dfile_read(&rig.file, got, 0, UNIT, &short_read), 0);
	assert_int_not_equal(cp_dfile_read(&rig.file, got, 0, UNIT, &short_read), 0);
	close_rig(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
