/* SPDX-License-Identifier: GPL-2.0-only */
/* What is measured: windows, and the kernels named in the proof. */
#include <unistd.h>

#include "engines/base/t/perf_fake.h"
#include "engines/copy/variants.h"
#include "engines/queue/internal.h"
#include "engines/queue/t/rig.h"

/* Description: what finished before the window is in none of the figures. */
static void test_window(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=bio copy=memcpy");
	struct rig rig = rig_open(&cfg);
	struct cp_hist lat;
	struct cp_sidecar_job out = {.lat = &lat};
	unsigned char buf[4096];
	struct cp_io io = {.near = buf, .bytes = sizeof(buf)};
	(void)state;

	for (unsigned i = 0; i < 5; i++)
		cp_sub_bio(rig.sub, &io);
	cp_sub_measure_begin(rig.sub);
	for (unsigned i = 0; i < 3; i++)
		cp_sub_bio(rig.sub, &io);
	cp_sub_measure_end(rig.sub);
	cp_sub_report(rig.sub, &out);
	assert_int_equal(out.ios, 3);
	assert_int_equal(out.bytes, 3 * sizeof(buf));
	assert_int_equal(lat.count, 3);
	assert_int_equal(out.proof.effective_iodepth, 1);
	assert_true(out.end_ns > out.start_ns);
	assert_true(out.dev_cpu_process_ns >= out.cpu_submit_ns);
	rig_close(&rig);
}

/* Description: timed submitters share one window: it opens with the last to be ready and
 * closes with the first to end, for all of them. */
static void test_shared_window(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=bio copy=memcpy");
	unsigned char buf[4096];
	struct cp_io io = {.near = buf, .bytes = sizeof(buf)};
	struct cp_hist lat[2];
	struct cp_sidecar_job out[2] = {{.lat = &lat[0]}, {.lat = &lat[1]}};
	struct cp_sub *second;
	struct cp_err err;
	(void)state;

	cfg.jobs = 2;
	cfg.timed = true;
	struct rig rig = rig_open(&cfg);

	assert_int_equal(cp_sub_open(rig.dev, &second, &err), 0);
	cp_sub_measure_begin(rig.sub);
	cp_sub_bio(rig.sub, &io); /* the other still warms up */
	assert_false(cp_sub_measured(rig.sub));
	cp_sub_measure_begin(second);
	cp_sub_bio(rig.sub, &io);
	cp_sub_bio(rig.sub, &io);
	cp_sub_bio(second, &io);
	cp_sub_measure_end(second);
	cp_sub_bio(rig.sub, &io); /* the other has ended */
	cp_sub_measure_end(rig.sub);
	assert_true(cp_sub_measured(rig.sub));
	cp_sub_report(rig.sub, &out[0]);
	cp_sub_report(second, &out[1]);
	assert_int_equal(out[0].ios, 2);
	assert_int_equal(out[1].ios, 1);
	assert_int_equal(out[0].dev_start_ns, out[1].dev_start_ns);
	assert_int_equal(out[0].dev_end_ns, out[1].dev_end_ns);
	assert_int_equal(out[0].dev_cpu_process_ns, out[1].dev_cpu_process_ns);
	cp_sub_close(second);
	rig_close(&rig);
}

/* Description: the proof names the kernels that really copied, of a policy's rules too.
 */
static void test_kernels_named(void **state)
{
	static const char text[] =
		"schema: 1\nkind: policy\nname: t\nrules:\n"
		"  - when: {rw: write}\n    sizes:\n"
		"      - {upto: 4k, do: {name: a, path: cpu, copy: memcpy}}\n"
		"      - {upto: max, do: {name: b, path: cpu, copy: nt}}\n"
		"default: {queue_mode: bio, path: cpu, copy: memcpy}\n";
	static const struct {
		uint64_t bytes;
		const char *kernel;
	} cases[] = {{4096, "memcpy"}, {65536, "nt-"}};
	char path[] = "/tmp/queue-test-XXXXXX", settings[128];
	int fd = mkstemp(path);
	unsigned char *buf = calloc(1, 65536);
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	snprintf(settings, sizeof(settings),
		 "queue_mode=bio path=auto copy=memcpy policy=%s", path);
	for (size_t c = 0; c < 2; c++) {
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);
		struct cp_io io = {
			.near = buf, .bytes = cases[c].bytes, .dir = CP_DIR_WRITE};

		cp_sub_measure_begin(rig.sub);
		cp_sub_bio(rig.sub, &io);
		struct cp_proof proof = proof_of(&rig);

		assert_ptr_equal(strstr(proof.copy, cases[c].kernel), proof.copy);
		assert_null(strchr(proof.copy, '/'));
		rig_close(&rig);
	}
	unlink(path);
	free(buf);
}

/* Description: perf counts from the first begin to the last end of all submitters, though
 * jobs that end with their bytes are marked twice: before fio verifies, and behind that.
 */
static void test_perf(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=bio copy=memcpy");
	struct cp_hist lat;
	struct cp_sidecar_job out = {.lat = &lat};
	struct cp_sub *subs[2];
	struct cp_err err;

	cfg.jobs = 2;
	struct rig rig = rig_open(&cfg);

	subs[0] = rig.sub;
	assert_int_equal(cp_sub_open(rig.dev, &subs[1], &err), 0);
	for (unsigned i = 0; i < 2; i++)
		cp_sub_measure_begin(subs[i]);
	/* a window of ours shows whether theirs is open: then nothing is said of it */
	for (unsigned i = 0; i < 2; i++) {
		cp_sub_measure_mark(subs[i]);
		cp_window_open();
		cp_window_close();
		cp_sub_measure_mark(subs[i]);
		cp_window_open();
		cp_window_close();
		if (!i)
			cp_sub_report(subs[i], &out);
		cp_sub_close(subs[i]);
	}
	cp_window_open();
	cp_window_close();
	assert_string_equal(perf_fake_stop(*state), "enable\ndisable\nenable\ndisable\n");
	cp_dev_close(rig.dev);
}

/* Description: an end is perf's, too, before a program checks what it did; so are the
 * ends of timed submitters. */
static void test_perf_end(void **state)
{
	struct cp_dev_cfg cfg = config("queue_mode=bio copy=memcpy");

	for (unsigned timed = 0; timed < 2; timed++) {
		cfg.timed = timed;
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		cp_sub_measure_end(rig.sub);
		cp_window_open();
		cp_window_close();
		rig_close(&rig);
	}
	assert_string_equal(perf_fake_stop(*state), "enable\ndisable\nenable\ndisable\n"
						    "enable\ndisable\nenable\ndisable\n");
}

/* What a proof says of these: kernels of reads, then others of writes. */
static const char *names_of(const struct cp_copy_calibration *cal,
			    bool used[2][CP_COPY_CLASSES])
{
	static char text[CP_SPEC_TEXT_MAX];
	const struct cp_copy_ops *named[2 * CP_COPY_CLASSES];
	unsigned nr = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < 2 * CP_COPY_CLASSES; i++) {
		unsigned dir = i / CP_COPY_CLASSES, class = i % CP_COPY_CLASSES, k = 0;

		named[nr] = cal->best[dir][class];
		while (used[dir][class] && named[k] != named[nr])
			k++;
		if (!used[dir][class] || k < nr)
			continue;
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%s", nr ? "/" : "",
			 named[nr]->name);
		nr++;
	}
	return text;
}

/* Description: auto is by direction and size, of the I/O whatever came before it, and the
 * proof names all kernels that copied, each once. */
static void test_auto_by_size(void **state)
{
	static const uint64_t sizes[] = {1,    1023,  1024,	8191,
					 8192, 65536, 1U << 20, 4U << 20};
	struct cp_dev_cfg cfg = config("queue_mode=bio copy=auto");
	unsigned char *buf = calloc(1, 4U << 20);
	struct cp_copy_calibration *cal = (void *)(uintptr_t)cp_copy_calibrate();

	/* sizes that differ, whatever this machine measured */
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
		cal->best[CP_DIR_READ][class] =
			cp_copy_find(class % 2 ? "portable" : "memcpy");
		cal->best[CP_DIR_WRITE][class] =
			cp_copy_find(class > 2 ? "portable" : "memcpy");
	}
	struct rig rig = rig_open(&cfg);
	bool used[2][CP_COPY_CLASSES] = {{false}};
	(void)state;

	assert_non_null(buf);
	cp_sub_measure_begin(rig.sub);
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_WRITE : CP_DIR_READ;
		struct cp_io io = {.near = buf, .bytes = sizes[i / 2], .dir = dir};

		cp_sub_bio(rig.sub, &io);
		assert_int_equal(io.error, 0);
		used[dir][cp_copy_class(io.bytes)] = true;
		assert_string_equal(proof_of(&rig).copy, names_of(cal, used));
	}
	rig_close(&rig);
	free(buf);
}

/* Description: copies end without a fence only where the caller hands over by locks and
 * no DMA engine reads behind the submitter, and the kernel has a function without. */
static void test_unfenced(void **state)
{
	static const struct {
		const char *settings;
		bool locked, unfenced;
	} cases[] = {
		{"queue_mode=bio copy=nt", true, true},
		{"queue_mode=bio copy=nt", false, false},
		{"queue_mode=mq path=cpu copy=nt", true, true},
		{"queue_mode=mq path=dma dma=sw copy=nt", true, false},
	};
	const struct cp_copy_ops *nt;
	struct cp_err err;
	(void)state;

	if (cp_copy_bind("nt", CP_DIR_WRITE, CP_ATTR_WB, &nt, &err)) {
		print_message("not asserted: %s\n", err.msg);
		skip();
	}
	/* not all NT stores have a function without (engines/copy/nt_arm64.c) */
	bool can_be = nt->variants && nt->variants->unfenced[0];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);

		cfg.locked_handover = cases[i].locked;
		struct rig rig = rig_open(&cfg);
		cp_copy_fn fn = rig.dev->cpu_route.copy[CP_DIR_WRITE][0];
		bool fenced = rig.dev->kernels[rig.dev->cpu_route.kernel[CP_DIR_WRITE][0]]
				      ->fn == fn;

		assert_int_equal(rig.dev->unfenced, cases[i].unfenced);
		assert_int_equal(fenced, !(cases[i].unfenced && can_be));
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_shared_window),
		cmocka_unit_test_setup_teardown(test_perf, perf_fake_setup,
						perf_fake_teardown),
		cmocka_unit_test_setup_teardown(test_perf_end, perf_fake_setup,
						perf_fake_teardown),
		cmocka_unit_test(test_kernels_named),
		cmocka_unit_test(test_auto_by_size),
		cmocka_unit_test(test_unfenced),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
