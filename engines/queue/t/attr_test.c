/* SPDX-License-Identifier: GPL-2.0-only */
/* A device under a cache attribute: bytes, provenance, and what it refuses to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/copy/attr.h"
#include "engines/queue/queue.h"

#define MEDIA_BYTES (1U << 20)
#define BUF_BYTES   (64U << 10)
#define NR(array)   (sizeof(array) / sizeof((array)[0]))

static struct cp_topo topo;

static struct cp_dev_cfg config(const char *attr, const char *copy)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = attr,
		.numa = "local",
		.bytes = MEDIA_BYTES,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		.fio_version = "",
		.topo = &topo,
	};

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "%s", copy);
	return cfg;
}

static void round_trip(struct cp_sub *sub, uint64_t offset, uint64_t bytes)
{
	static unsigned char out[BUF_BYTES], in[BUF_BYTES];
	struct cp_io io = {
		.near = out,
		.offset = offset,
		.bytes = bytes,
		.dir = CP_DIR_WRITE,
	};

	for (uint64_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(i * 131 + offset);
	memset(in, 0, sizeof(in));
	cp_sub_bio(sub, &io);
	assert_int_equal(io.error, 0);
	io = (struct cp_io){
		.near = in,
		.offset = offset,
		.bytes = bytes,
		.dir = CP_DIR_READ,
	};
	cp_sub_bio(sub, &io);
	assert_int_equal(io.error, 0);
	assert_memory_equal(in, out, bytes);
}

/* Description: under each attribute and emulated copy, a device gives back the bytes it
 * was given, at offsets and lengths that are no lines too, and its figures say that the
 * CPU carried them and that the attribute was emulated (native for wb). */
static void bytes_and_provenance(void **state)
{
	static const char *const attrs[] = {"wb", "uc", "wc", "wt"};
	static const char *const copies[] = {"memcpy", "nt", "nt-both"};
	static const uint64_t where[][2] = {
		{0, 4096}, {8192, BUF_BYTES}, {4097, 4095}, {63, 1}, {100, 3000}};
	uint64_t total = 0;

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < NR(where); i++)
		total += 2 * where[i][1];
	for (size_t i = 0; i < NR(attrs) * NR(copies); i++) {
		const char *attr = attrs[i / NR(copies)];
		struct cp_dev_cfg cfg = config(attr, copies[i % NR(copies)]);
		struct cp_hist lat;
		struct cp_sidecar_job out = {.lat = &lat};
		struct cp_dev *dev;
		struct cp_sub *sub;
		struct cp_err err;

		if (cp_dev_open(&cfg, &dev, &err) || cp_sub_open(dev, &sub, &err))
			fail_msg("%s", err.msg);
		cp_sub_measure_begin(sub);
		for (size_t k = 0; k < NR(where); k++)
			round_trip(sub, where[k][0], where[k][1]);
		cp_sub_measure_end(sub);
		cp_sub_report(sub, &out);
		assert_int_equal(out.proof.bytes_cpu, total);
		assert_string_equal(out.provenance.attr,
				    strcmp(attr, "wb") ? "emulated" : "native");
		cp_sub_close(sub);
		cp_dev_close(dev);
	}
}

/* Description: what an attribute cannot go with is refused before the media is opened,
 * with what would work. */
static void refused_before_the_media(void **state)
{
	static const struct {
		const char *attr, *copy, *queue_mode, *dma;
		bool native;
		const char *error;
		const char *media;
	} cases[] = {
		{"uc", "memcpy", "bio", "none", true, "expected attr wb, no attr_nat",
		 "file"},
		{"up", "memcpy", "bio", "none", false, "unknown attr 'up'", "file"},
		{"wc", "memcpy", "mq", "sw", false, "'dma' is 'sw', which would go aroun",
		 "file"},
		{"wb", "memcpy", "bio", "none", false, "expected attr uc or wc", "bar"},
		{"wt", "memcpy", "bio", "none", true, "expected attr uc or wc", "bar"},
		{"uc", "auto", "bio", "none", true, "expected a copy by name", "bar"},
		{"wt", "auto", "mq", "sw", true, "expected a copy by name", "memattr"},
	};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_dev_cfg cfg = config(cases[i].attr, cases[i].copy);
		struct cp_dev *dev = NULL;
		struct cp_err err = {0};

		/* a media that would be an error of its own */
		cfg.media = cases[i].media;
		cfg.filename = "/nowhere/at/all";
		cfg.attr_native = cases[i].native;
		snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "%s",
			 cases[i].queue_mode);
		snprintf(cfg.arm.dma, sizeof(cfg.arm.dma), "%s", cases[i].dma);
		if (strcmp(cases[i].dma, "none") != 0)
			snprintf(cfg.arm.path, sizeof(cfg.arm.path), "dma");
		assert_int_not_equal(cp_dev_open(&cfg, &dev, &err), 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_null(dev);
	}
}

/* Description: a copy without an emulation, the calibrated one too, is refused with
 * those that have one. */
static void other_copies_refused(void **state)
{
	static const char *const copies[] = {"auto", "nt-sse2"};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < NR(copies); i++) {
		struct cp_dev_cfg cfg = config("uc", copies[i]);
		struct cp_dev *dev = NULL;
		struct cp_err err = {0};

		cfg.dir_used[CP_DIR_READ] = false;
		assert_int_not_equal(cp_dev_open(&cfg, &dev, &err), 0);
		assert_non_null(strstr(err.msg,
				       "expected 'memcpy', 'nt', 'ntload' or 'nt-both'"));
		assert_null(dev);
	}
}

/* Description: attr_native is no obstacle to wb, which is native. */
static void native_wb_opens(void **state)
{
	struct cp_dev_cfg cfg = config("wb", "memcpy");
	struct cp_dev *dev;
	struct cp_err err;

	(void)state;
	cfg.attr_native = true;
	assert_int_equal(cp_dev_open(&cfg, &dev, &err), 0);
	cp_dev_close(dev);
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
		cmocka_unit_test(bytes_and_provenance),
		cmocka_unit_test(refused_before_the_media),
		cmocka_unit_test(other_copies_refused),
		cmocka_unit_test(native_wb_opens),
	};

	return cmocka_run_group_tests(tests, load_topo, NULL);
}
