// SPDX-License-Identifier: GPL-2.0-only
/* Finding DMA engines, their settings, and what each promises beyond the contract. */
#include "engines/dma/sw.h"
#include "engines/dma/t/rig.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static _Atomic enum cp_attr seen_attr;

static size_t note_attr(void *dst, const void *src, size_t len, enum cp_dir dir,
			enum cp_attr attr)
{
	(void)dst;
	(void)src;
	(void)len;
	(void)dir;
	seen_attr = attr;
	return 0;
}

/* Description: kernels are told of far memory that is write-combining, where those with
 * NT loads begin with a fence. */
static void kernels_know_the_memory(void **state)
{
	static const enum cp_attr attrs[] = {CP_ATTR_WB, CP_ATTR_WC};
	unsigned char far[64] = {0}, near[64] = {0};
	struct cp_dma_completion done;
	struct cp_err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		struct cp_dma_cfg cfg = {.spec = "sw",
					 .ring = 8,
					 .node = -1,
					 .cpu = -1,
					 .attr = attrs[i],
					 .copy = "memcpy"};
		struct rig rig = {.ops = cp_dma_find("sw", &err)};

		if (rig.ops->open(&cfg, &rig.chan, &err))
			fail_msg("%s", err.msg);
		for (unsigned class = 0; class < CP_COPY_CLASSES; class ++)
			rig.chan->copy[CP_DIR_READ].fn[class] = note_attr;
		rig_submit(&rig, CP_DIR_READ, far, near, sizeof(near), 0, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, &done, 1);
		assert_int_equal(done.result, CP_DMA_OK);
		assert_int_equal(seen_attr, attrs[i]);
		rig_close(&rig);
	}
}

/* Description: an engine is found by the name of a spec; auto is the software engine
 * where there is no hardware, and never one that moves no data. */
static void engines_are_found(void **state)
{
	static const struct {
		const char *spec, *name, *error;
	} cases[] = {
		{"sw", "sw", NULL},
		{"sw:threads=2", "sw", NULL},
		{"null:delay=20us", "null", NULL},
		{"auto", "sw", NULL},
		{"auto:x=1", NULL, "'x'"},
		{"nul", NULL, "unknown dma engine 'nul'; expected 'null'"},
		{"model:setup=1us", "model", NULL},
		{"zzzzzz", NULL, "or auto"},
		{"none", NULL, "unknown dma engine 'none'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find(cases[i].spec, &err);

		if (ops && !strcmp(ops->traits.provenance, "hardware")) {
			print_message("not asserted: auto is sw; here it is %s\n",
				      ops->name);
			continue;
		}
		if (cases[i].name) {
			assert_non_null(ops);
			assert_string_equal(ops->name, cases[i].name);
			continue;
		}
		assert_null(ops);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: no hook of a found engine is missing, and each engine says what its
 * figures are. */
static void tables_are_filled(void **state)
{
	(void)state;
	for (size_t i = 0; cp_dma_table[i]; i++) {
		const struct cp_dma_ops *ops = cp_dma_table[i];

		assert_true(ops->probe && ops->check && ops->open && ops->space);
		assert_true(ops->prep_memcpy_sg && ops->submit && ops->issue_pending);
		assert_true(ops->reap && ops->wait && ops->cpu_ns && ops->describe);
		assert_true(ops->close && ops->name && ops->help);
		/* a figure of something that moves nothing is modelled, and the reverse
		 */
		assert_int_equal(!strcmp(ops->traits.provenance, "modelled"),
				 !ops->traits.moves_data);
	}
}

/* Description: wrong settings are refused by check() and by open() alike, naming them. */
static void wrong_settings_are_refused(void **state)
{
	static const struct {
		const char *spec, *error;
	} cases[] = {
		{"sw:ring=3", "ring '3' is not a power of two; expected '4'"},
		{"sw:ring=100", "expected '128'"},
		{"sw:ring=0", "ring"},
		{"sw:ring=1048576", "ring"},
		{"sw:threads=0", "threads"},
		{"sw:threads=17", "threads"},
		{"sw:threads=two", "threads"},
		{"sw:thread=1", "'thread'"},
		{"sw:delay=1us", "'delay'"},
		{"null:delay=-1us", "delay"},
		{"null:delay=1h", "delay"},
		{"null:ring=8", "'ring'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_cfg cfg = {.spec = cases[i].spec, .node = -1, .cpu = -1};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find(cases[i].spec, &err);

		assert_non_null(ops);
		assert_true(ops->check(cases[i].spec, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
	}
}

/* Description: a ring is the spec's, else the asked one rounded up, else 256. */
static void rings_are_sized(void **state)
{
	static const struct {
		const char *spec;
		unsigned asked, ring;
	} cases[] = {
		{"sw", 128, 128}, {"sw", 129, 256},	   {"sw", 1, 2},
		{"sw", 0, 256},	  {"sw:ring=16", 128, 16}, {"null", 33, 64},
		{"null", 0, 256}, {"sw:ring=512", 0, 512},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_open(cases[i].spec, cases[i].asked, false);

		assert_int_equal(rig.ops->space(rig.chan), cases[i].ring);
		rig_close(&rig);
	}
}

/* Description: an open that cannot be had says why: copy, CPU, ring. */
static void wrong_opens_are_refused(void **state)
{
	static const struct {
		struct cp_dma_cfg cfg;
		enum cp_exit exit;
		const char *error;
	} cases[] = {
		{{.spec = "sw", .cpu = -1, .copy = "memcyp"},
		 CP_EXIT_USAGE,
		 "expected 'memcpy'"},
		{{.spec = "sw", .cpu = CPU_SETSIZE - 1, .copy = "memcpy"},
		 CP_EXIT_INVALID,
		 "cannot start a helper thread on CPU 1023"},
		{{.spec = "sw", .cpu = 100000, .copy = "memcpy"},
		 CP_EXIT_INVALID,
		 "on CPU 100000"},
		{{.spec = "sw", .cpu = -1, .ring = 1U << 20, .copy = "memcpy"},
		 CP_EXIT_USAGE,
		 "ring of '1048576' is too large"},
		{{.spec = "null", .cpu = -1, .ring = 1U << 20},
		 CP_EXIT_USAGE,
		 "ring of '1048576' is too large"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find(cases[i].cfg.spec, &err);

		assert_true(ops->open(&cases[i].cfg, &chan, &err) < 0);
		assert_null(chan);
		assert_int_equal(err.exit, cases[i].exit);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: with each name of a copy the software engine says which kernel copies, of
 * the direction that was used when it was one; and a direction in which the kernel has no
 * meaning is -EINVAL. */
static void copies_are_described(void **state)
{
	static const struct {
		const char *copy;
		const char *read, *write; /* NULL: no meaning */
	} cases[] = {
		{"memcpy", "sw/memcpy", "sw/memcpy"},
#if defined(__x86_64__)
		{"nt-sse2", NULL, "sw/nt-sse2"},
		{"nt", "sw/memcpy", "sw/nt-"},
#endif
		{NULL, "sw/", "sw/"}, /* auto: whatever is fastest */
	};
	unsigned char far[256] = {0}, near[256] = {0};
	struct cp_dma_sg sg = {.addr = near, .len = sizeof(near)};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_WRITE : CP_DIR_READ;
		const char *expect = i % 2 ? cases[i / 2].write : cases[i / 2].read;
		struct cp_dma_cfg cfg = {
			.spec = "sw",
			.node = -1,
			.cpu = -1,
			.copy = cases[i / 2].copy,
		};
		struct cp_err err = {0};
		struct rig rig = {.ops = cp_dma_find("sw", &err)};

		assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
		assert_memory_equal(rig.ops->describe(rig.chan), "sw/", 3);
		assert_null(strchr(rig.ops->describe(rig.chan) + 3, '/'));
		assert_int_equal(
			rig.ops->prep_memcpy_sg(rig.chan, dir, far, &sg, 1, 0, NULL),
			expect ? 0 : -EINVAL);
		if (expect)
			assert_memory_equal(rig.ops->describe(rig.chan), expect,
					    strlen(expect));
		rig_close(&rig);
	}
}

/* Description: a channel that asks for a CPU has its helper there and nowhere else. */
static void helper_is_pinned(void **state)
{
	struct cp_dma_cfg cfg = {.spec = "sw", .node = -1, .copy = "memcpy"};
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find("sw", &err)};
	struct cp_dma_completion done;
	unsigned char far[64] = {1}, near[64];
	cpu_set_t mine;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &mine))
			continue;
		cfg.cpu = cpu;
		assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
		rig_submit(&rig, CP_DIR_READ, far, near, sizeof(near), 0, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, &done, 1);
		assert_int_equal(near[0], 1);
		rig_close(&rig);
	}
}

/* Description: null completes a transaction no earlier than its delay after the doorbell,
 * and moves nothing. */
static void null_delays(void **state)
{
	struct rig rig = rig_open("null:delay=200us", 8, false);
	struct cp_dma_completion done[2];
	unsigned char far[64], near[64];

	(void)state;
	memset(far, 1, sizeof(far));
	memset(near, 2, sizeof(near));
	for (unsigned i = 0; i < 10; i++) {
		rig_submit(&rig, CP_DIR_READ, far, near, sizeof(near), 0, NULL);
		rig_submit(&rig, CP_DIR_WRITE, far, near, sizeof(near), 0, NULL);
		uint64_t start_ns = cp_now_ns();

		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 1);
		/* the two clocks are calibrated to better than a part in a hundred */
		assert_true(cp_now_ns() - start_ns >= 198000);
		/* one doorbell, one time: the other is due as well */
		assert_int_equal(rig.ops->reap(rig.chan, done, 2), 1);
	}
	for (unsigned i = 0; i < sizeof(far); i++)
		assert_true(far[i] == 1 && near[i] == 2);
	assert_int_equal(rig.ops->cpu_ns(rig.chan), 0);
	assert_string_equal(rig.ops->describe(rig.chan), "null");
	rig_close(&rig);
}

/* Description: without a delay null completes at the next reap. */
static void null_is_immediate(void **state)
{
	struct rig rig = rig_open("null", 8, false);
	struct cp_dma_completion done[8];
	unsigned char far[1], near[1];

	(void)state;
	for (unsigned i = 1; i <= 8; i++) {
		for (unsigned k = 0; k < i; k++)
			rig_submit(&rig, CP_DIR_READ, far, near, 1, 0, NULL);
		rig.ops->issue_pending(rig.chan);
		assert_int_equal(rig.ops->reap(rig.chan, done, 8), i);
	}
	rig_close(&rig);
}

/* Description: a fenced transaction sees all that earlier ones moved, on whichever thread
 * they ran. */
static void fences_hold(void **state)
{
	static const char *const specs[] = {"sw", "sw:threads=2", "sw:threads=4"};
	const size_t len = 2048;
	unsigned char far[3 * 2048], in[3 * 2048], out[3 * 2048];

	(void)state;
	for (size_t s = 0; s < 3; s++) {
		struct rig rig = rig_open(specs[s], 8, false);
		struct cp_dma_completion done[4];

		for (unsigned i = 0; i < 2000; i++) {
			memset(in, (int)(i % 251) + 1, sizeof(in));
			memset(out, 0, sizeof(out));
			for (unsigned k = 0; k < 3; k++)
				rig_submit(&rig, CP_DIR_WRITE, far + k * len,
					   in + k * len, len, 0, NULL);
			rig_submit(&rig, CP_DIR_READ, far, out, sizeof(out), CP_DMA_FENCE,
				   NULL);
			rig.ops->issue_pending(rig.chan);
			rig_reap(&rig, done, 4);
			assert_memory_equal(in, out, sizeof(in));
		}
		rig_close(&rig);
	}
}

/* Description: the helpers' CPU time rises with their work, and an idle channel sleeps:
 * it uses next to none, and still answers the next doorbell. */
static void idle_channel_sleeps(void **state)
{
	static const char *const specs[] = {"sw", "sw:threads=2"};
	const size_t len = 1U << 20;
	unsigned char *far = calloc(1, len), *near = malloc(len);

	(void)state;
	assert_true(far && near);
	for (size_t s = 0; s < 2; s++) {
		struct rig rig = rig_open(specs[s], 8, true);
		struct cp_dma_completion done;

		for (unsigned i = 0; i < 4; i++) {
			uint64_t before_ns = rig.ops->cpu_ns(rig.chan);

			rig_submit(&rig, CP_DIR_READ, far, near, len, 0, NULL);
			rig.ops->issue_pending(rig.chan);
			rig_reap(&rig, &done, 1);
			assert_true(rig.ops->cpu_ns(rig.chan) > before_ns);
			/* long enough for the helpers to stop looking */
			assert_int_equal(rig.ops->wait(rig.chan, 5000000), -ETIMEDOUT);
			before_ns = rig.ops->cpu_ns(rig.chan);
			assert_int_equal(rig.ops->wait(rig.chan, 20000000), -ETIMEDOUT);
			assert_true(rig.ops->cpu_ns(rig.chan) - before_ns < 5000000);
		}
		rig_close(&rig);
	}
	free(far);
	free(near);
}

/* Description: tags are fitted to a ring that is named, or refused above it. */
static void tags_fit_the_ring(void **state)
{
	static const struct {
		const char *mode, *path, *dma;
		uint32_t depth;
		int rc;
		uint32_t fitted;
	} cases[] = {
		{"mq", "dma", "sw:ring=64", 0, 0, 64},
		{"mq", "dma", "sw:ring=64", 64, 0, 64},
		{"mq", "dma", "sw:ring=64", 65, -ERANGE, 65},
		{"mq", "auto", "sw:threads=2,ring=4", 128, -ERANGE, 128},
		/* the default is below the ring, or there is none */
		{"mq", "dma", "sw:ring=256", 0, 0, 0},
		{"mq", "dma", "sw", 4096, 0, 4096},
		{"mq", "dma", "null", 0, 0, 0},
		/* nobody will use it, or somebody else says that it is no ring */
		{"bio", "cpu", "sw:ring=4", 128, 0, 128},
		{"mq", "cpu", "sw:ring=4", 128, 0, 128},
		{"mq", "dma", "sw:ring=many", 128, 0, 128},
		{"mq", "dma", "sw:ring=0", 128, 0, 128},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_arm arm = {.queue_depth = cases[i].depth};
		struct cp_err err = {0};

		snprintf(arm.queue_mode, sizeof(arm.queue_mode), "%s", cases[i].mode);
		snprintf(arm.path, sizeof(arm.path), "%s", cases[i].path);
		snprintf(arm.dma, sizeof(arm.dma), "%s", cases[i].dma);
		assert_int_equal(cp_dma_fit_ring(&arm, &err), cases[i].rc);
		assert_int_equal(arm.queue_depth, cases[i].fitted);
		if (cases[i].depth == 65)
			assert_string_equal(err.msg,
					    "'queue_depth' 65 is above the ring of 64 "
					    "descriptors that 'sw:ring=64' names; "
					    "expected at most 64, or a larger ring");
	}
}

/* Where segments of a layout lie in 64 bytes of near memory, in their order. */
struct layout {
	unsigned nr;
	struct {
		unsigned at, len;
	} seg[4];
};

static void layout_check(struct rig *rig, const struct layout *layout, enum cp_dir dir)
{
	unsigned char far[64], near[64], want[64];
	struct cp_dma_sg sg[4];
	struct cp_dma_completion done;
	unsigned at = 8;

	for (unsigned i = 0; i < 64; i++) {
		far[i] = (unsigned char)(i + 1);
		near[i] = (unsigned char)(i + 101);
	}
	memcpy(want, dir == CP_DIR_READ ? near : far, sizeof(want));
	for (unsigned i = 0; i < layout->nr; at += layout->seg[i++].len) {
		unsigned from = layout->seg[i].at, len = layout->seg[i].len;

		sg[i] = (struct cp_dma_sg){near + from, len};
		memcpy(want + (dir == CP_DIR_READ ? from : at),
		       dir == CP_DIR_READ ? far + at : near + from, len);
	}
	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, dir, far + 8, sg, layout->nr,
						  0, NULL),
			 0);
	rig->ops->submit(rig->chan);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	assert_int_equal(done.result, CP_DMA_OK);
	assert_int_equal(done.residue, 0);
	assert_memory_equal(dir == CP_DIR_READ ? near : far, want, sizeof(want));
}

/* Description: segments that follow each other, all of them or some, of one length or of
 * several, in any order, are copied to the byte and nothing beside them is touched. */
static void segment_layouts_are_exact(void **state)
{
	static const struct layout layouts[] = {
		{1, {{8, 5}}},
		{2, {{8, 5}, {13, 5}}},
		{3, {{8, 5}, {13, 5}, {18, 5}}},
		{3, {{8, 5}, {13, 5}, {18, 3}}},
		{3, {{8, 5}, {13, 5}, {18, 9}}},
		{3, {{8, 5}, {13, 3}, {16, 5}}},
		{3, {{8, 5}, {13, 5}, {19, 5}}},
		{3, {{8, 5}, {14, 5}, {19, 5}}},
		{4, {{26, 6}, {20, 6}, {14, 6}, {8, 6}}},
		{4, {{8, 6}, {14, 6}, {30, 6}, {36, 6}}},
	};
	struct rig rig = rig_open("sw", 8, false);
	(void)state;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		layout_check(&rig, &layouts[i], CP_DIR_READ);
		layout_check(&rig, &layouts[i], CP_DIR_WRITE);
	}
	rig_close(&rig);
}

/* Description: however many transactions are in flight and however few are reaped at a
 * time, a wait that finds none ends by a signal and never by its timeout, though not each
 * completion signals. */
static void no_signal_is_lost(void **state)
{
	static const char *const specs[] = {"sw", "sw:threads=3"};
	static unsigned char far[512], near[16][512];
	struct cp_dma_completion done[16];
	unsigned char *idle[16]; /* buffers that no transaction has */
	uint64_t random = 1;
	(void)state;

	for (unsigned s = 0; s < 2; s++) {
		struct rig rig = rig_open(specs[s], 16, true);
		unsigned in_flight = 0;

		for (unsigned i = 0; i < 16; i++)
			idle[i] = near[i];
		for (unsigned round = 0; round < 4000; round++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			unsigned wanted = 1 + (unsigned)(random >> 60);

			for (; in_flight < wanted; in_flight++)
				rig_submit(&rig, CP_DIR_READ, far, idle[15 - in_flight],
					   (random >> 40 & 511) | 1, CP_DMA_INTERRUPT,
					   idle[15 - in_flight]);
			rig.ops->issue_pending(rig.chan);
			unsigned left = (unsigned)(random >> 50) % wanted;

			while (in_flight > left) {
				unsigned n = rig.ops->reap(rig.chan, done,
							   1 + (random >> 45 & 3));

				for (unsigned i = 0; i < n; i++)
					idle[16 - in_flight--] = done[i].user;
				if (!n)
					assert_int_equal(
						rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
			}
		}
		rig_reap(&rig, done, in_flight);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segment_layouts_are_exact),
		cmocka_unit_test(no_signal_is_lost),
		cmocka_unit_test(engines_are_found),
		cmocka_unit_test(tables_are_filled),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(rings_are_sized),
		cmocka_unit_test(tags_fit_the_ring),
		cmocka_unit_test(wrong_opens_are_refused),
		cmocka_unit_test(copies_are_described),
		cmocka_unit_test(helper_is_pinned),
		cmocka_unit_test(null_delays),
		cmocka_unit_test(null_is_immediate),
		cmocka_unit_test(fences_hold),
		cmocka_unit_test(kernels_know_the_memory),
		cmocka_unit_test(idle_channel_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
