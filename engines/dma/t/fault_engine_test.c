// SPDX-License-Identifier: GPL-2.0-only
/* The fault engine: what each kind of fault does to a transaction, its bytes, its
 * neighbours and the log. */
#include "engines/dma/t/rig.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engines/base/file.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define LEN   1000U
#define RUNS  20000U

static char dir[64]; /* of this test's files */

static int enter(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/copypath-fault-XXXXXX");
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int leave(void **state)
{
	(void)state;
	unlink("s");
	unlink("log");
	return chdir("/") || rmdir(dir);
}

static void file_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Description: what cannot be wrapped, chances that do not fit and settings of neither
 * engine are refused by check() and open() alike, in words. */
static void wrong_settings_are_refused(void **state)
{
	static const struct {
		const char *spec, *error;
	} cases[] = {
		{"fault", "fault: '' is no engine to wrap; expected idxd, kernel, sw, "
			  "null or model, e.g. fault:sw,error=1%"},
		{"fault:none", "fault: 'none' is no engine to wrap; expected idxd"},
		{"fault:error=1%", "fault: '' is no engine to wrap"},
		{"fault:auto", "fault: 'auto' is no engine to wrap"},
		{"fault:fault", "fault: 'fault' is no engine to wrap"},
		{"fault:nul,error=1%",
		 "fault: unknown dma engine 'nul'; expected 'null'"},
		{"fault:sw,ring=3", "fault: sw: ring '3' is not a power of two"},
		{"fault:sw,threads=two", "fault: sw: threads 'two'"},
		{"fault:sw,eror=1%", "fault: unknown setting 'eror'; expected 'error'"},
		{"fault:null,zzz=1", "fault: null: unknown setting 'zzz'"},
		{"fault:null,error=1", "fault: error '1' is not a percentage"},
		{"fault:null,full=99.5%", "full '99.5%' is out of range"},
		{"fault:null,error=60%,short=30%,never=9%,prep_error=2%",
		 "add up to '101%'; expected at most 100%"},
		{"fault:null,reorder=5000", "reorder '5000' is out of range"},
		{"fault:null,seed=-1", "seed '-1' is not a whole number"},
		{"fault:null,never_for=2h", "never_for '2h' is out of range"},
		{"fault:null,script=gone", "fault: script: cannot read 'gone'"},
		{"fault:null,log=gone/log", "fault: log 'gone/log' cannot be written: No "
					    "such file or directory; expected a file"},
		{"fault:null,log=/", "fault: log '/' cannot be written: Is a directory"},
		{"fault:null,log=/dev/null/x", "log '/dev/null/x' cannot be written"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_dma_cfg cfg = {.spec = cases[i].spec, .node = -1, .cpu = -1};
		struct cp_dma_chan *chan = NULL;
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find("fault:null", &err);

		assert_true(ops->check(cases[i].spec, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
		assert_true(ops->open(&cfg, &chan, &err) < 0);
		assert_null(chan);
	}
}

/* Description: a check makes no log, and leaves one that is there as it was. */
static void check_leaves_the_log_alone(void **state)
{
	const struct cp_dma_ops *ops;
	struct cp_err err = {0};
	char *text = NULL;
	size_t len;

	(void)state;
	ops = cp_dma_find("fault:null", &err);
	assert_int_equal(ops->check("fault:null,log=log", &err), 0);
	assert_int_equal(access("log", F_OK), -1);
	file_write("log", "mine\n");
	assert_int_equal(ops->check("fault:null,log=log", &err), 0);
	assert_int_equal(cp_file_read("log", 1 << 10, &text, &len, &err), 0);
	assert_string_equal(text, "mine\n");
	free(text);
	unlink("log");
}

/* Description: reorder=0, as its default, hands out completions as they come. */
static void no_reorder_is_zero(void **state)
{
	(void)state;
	for (unsigned reorder = 0; reorder < 2; reorder++) {
		char spec[64], far[4096] = {0}, near[8];
		struct cp_dma_completion done[8];

		snprintf(spec, sizeof(spec), "fault:null,reorder=%u", reorder);
		struct rig rig = rig_open(spec, 8, false);

		for (uintptr_t i = 1; i <= 8; i++) {
			struct cp_dma_sg sg = {near, sizeof(near)};

			assert_int_equal(rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ,
								 far, &sg, 1, 0,
								 (void *)i),
					 0);
			assert_int_equal(rig.ops->submit(rig.chan), i);
			rig.ops->issue_pending(rig.chan);
			assert_int_equal(rig.ops->reap(rig.chan, done, 8), 1);
			assert_int_equal(done[0].cookie, i);
		}
		rig_close(&rig);
	}
}

/* Description: a script that cannot be read says where, by file, line and column. */
static void wrong_scripts_are_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"0 error\n", "s:1:1: no transaction '0'; expected its number, from 1"},
		{"1 error\nx error", "s:2:1: no transaction 'x'"},
		{"# note\n\n  7 eror\n",
		 "s:3:5: unknown action 'eror'; expected pass, error, short, never, "
		 "prep_error or full"},
		{"7", "s:1:2: unknown action ''"},
		{"7 error reed", "s:1:9: unknown error 'reed'; expected read, write or"},
		{"7 full few", "s:1:8: full 'few'; expected a number of times"},
		{"7 short -1", "s:1:9: short '-1'; expected a size"},
		{"7 never 2h", "s:1:9: never '2h'; expected a time up to 1h"},
		{"7 pass x", "s:1:8: a word too many: 'x'"},
		{"7 error read x # y", "s:1:14: a word too many: 'x'"},
		{"7 error\n8 pass\n7 short", "s: transaction '7' has two lines"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_err err = {0};
		const struct cp_dma_ops *ops = cp_dma_find("fault:null", &err);

		file_write("s", cases[i].text);
		assert_true(ops->check("fault:null,script=s", &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: traits are the wrapped engine's, and the name of what copied shows that it
 * was wrapped. */
static void wrapped_engine_shows_through(void **state)
{
	static const struct {
		const char *spec, *provenance, *name;
		bool moves_data, irq, threads;
	} cases[] = {
		{"fault:null,error=1%", "modelled", "fault/null", false, false, false},
		{"fault:null,delay=1us", "modelled", "fault/null", false, false, false},
		{"fault:sw,threads=2", "software", "fault/sw/memcpy", true, true, true},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct rig rig = rig_open(cases[i].spec, 8, false);

		assert_string_equal(rig.traits.provenance, cases[i].provenance);
		assert_int_equal(rig.traits.moves_data, cases[i].moves_data);
		assert_int_equal(rig.traits.irq, cases[i].irq);
		assert_int_equal(rig.traits.threads, cases[i].threads);
		assert_string_equal(rig.ops->describe(rig.chan), cases[i].name);
		rig_close(&rig);
	}
}

/* A transaction of three segments; what it moved is checked to the byte. */
static void spoil_one(struct rig *rig, enum cp_dir way, enum cp_dma_result result,
		      size_t residue)
{
	unsigned char far[LEN + 1], near[LEN + 1];
	const unsigned char *src = way == CP_DIR_READ ? far : near;
	const unsigned char *dst = way == CP_DIR_READ ? near : far;
	struct cp_dma_sg sg[3] = {{near, 1}, {near + 1, 600}, {near + 601, LEN - 601}};
	struct cp_dma_completion done;

	memset(far, way == CP_DIR_READ ? 0x11 : 0xee, sizeof(far));
	memset(near, way == CP_DIR_READ ? 0xee : 0x11, sizeof(near));
	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, way, far, sg, 3, 0, &sg[1]),
			 0);
	assert_true(rig->ops->submit(rig->chan) > 0);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	assert_ptr_equal(done.user, &sg[1]);
	assert_int_equal(done.result, result);
	assert_int_equal(done.residue, residue);
	for (size_t i = 0; i < sizeof(far); i++) {
		assert_int_equal(src[i], 0x11);
		assert_int_equal(dst[i], i < LEN - residue ? 0x11 : 0xee);
	}
}

/* Description: by a script each kind of fault hits the transaction that was named; what
 * is claimed really moved, and nothing else did, in both directions. */
static void script_is_followed(void **state)
{
	static const struct {
		const char *step;
		enum cp_dma_result result;
		size_t residue;
	} cases[] = {
		{"error read", CP_DMA_READ_FAILED, LEN},
		{"error write", CP_DMA_WRITE_FAILED, LEN},
		{"error aborted", CP_DMA_ABORTED, LEN},
		{"never 1us", CP_DMA_ABORTED, LEN},
		{"pass", CP_DMA_OK, 0},
	};
	static const size_t shorts[] = {0, 1, 2, 600, 601, LEN - 1, LEN, 4096};
	char script[256];

	(void)state;
	for (size_t i = 0; i < 2 * NR(cases); i++) {
		snprintf(script, sizeof(script), "2 %s\n", cases[i / 2].step);
		file_write("s", script);
		struct rig rig = rig_open("fault:sw,script=s", 8, false);

		spoil_one(&rig, (enum cp_dir)(i % 2), CP_DMA_OK, 0);
		spoil_one(&rig, (enum cp_dir)(i % 2), cases[i / 2].result,
			  cases[i / 2].residue);
		spoil_one(&rig, (enum cp_dir)(i % 2), CP_DMA_OK, 0);
		rig_close(&rig);
	}
	for (size_t i = 0; i < 2 * NR(shorts); i++) {
		struct cp_dma_completion done;
		size_t moved = shorts[i / 2] < LEN ? shorts[i / 2] : LEN - 1;
		unsigned char near[LEN], far[LEN];

		snprintf(script, sizeof(script), "1 short %zu\n2 error\n1000 pass",
			 shorts[i / 2]);
		file_write("s", script);
		/* which failure is left to the seed, but it is one */
		struct rig rig = rig_open("fault:sw,script=s,seed=2", 8, false);

		memset(near, 0x11, LEN);
		memset(far, 0x22, LEN);
		rig_submit(&rig, CP_DIR_WRITE, far, near, LEN, 0, far);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, &done, 1);
		assert_int_not_equal(done.result, CP_DMA_OK);
		assert_int_equal(done.residue, LEN - moved);
		for (size_t k = 0; k < LEN; k++)
			assert_int_equal(far[k], k < moved ? 0x11 : 0x22);
		rig_close(&rig);
	}
}

/* Description: "full" is -EAGAIN although there is room, as often as was asked, and takes
 * none; prep_error is -EIO and takes neither room nor a cookie. */
static void preps_are_refused(void **state)
{
	static const int expect[] = {0, -EAGAIN, -EAGAIN, 0, -EIO, -EAGAIN, 0, 0};
	unsigned char far[8], near[8];
	struct cp_dma_sg sg = {.addr = near, .len = sizeof(near)};
	struct cp_dma_completion done[4];
	cp_dma_cookie cookie = 0;

	(void)state;
	file_write("s", "2 full 2\n3 prep_error\n4 full\n");
	struct rig rig = rig_open("fault:null,script=s", 8, false);

	for (size_t i = 0; i < NR(expect); i++) {
		unsigned space = rig.ops->space(rig.chan);

		assert_int_equal(rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, far, &sg,
							 1, 0, NULL),
				 expect[i]);
		assert_int_equal(rig.ops->space(rig.chan), space - !expect[i]);
		assert_int_equal(rig.ops->submit(rig.chan), expect[i] ? 0 : ++cookie);
	}
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 4);
	rig_close(&rig);
}

struct fate {
	int prep;
	enum cp_dma_result result;
	size_t residue;
};

/* What becomes of RUNS transactions, one after the other. */
static void fates_of(const char *spec, struct fate *fates)
{
	struct rig rig = rig_open(spec, 8, false);
	unsigned char far[1], near[1];
	struct cp_dma_sg sg = {.addr = near, .len = LEN};
	struct cp_dma_completion done;

	for (unsigned i = 0; i < RUNS; i++) {
		int rc = rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, far, &sg, 1, 0,
						 &fates[i]);

		fates[i] = (struct fate){.prep = rc};
		if (rc)
			continue;
		rig.ops->submit(rig.chan);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, &done, 1);
		fates[i].result = done.result;
		fates[i].residue = done.residue;
	}
	rig_close(&rig);
}

static unsigned count(const struct fate *fates, int prep, bool failed, bool whole)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < RUNS; i++)
		nr += fates[i].prep == prep && (fates[i].result != CP_DMA_OK) == failed &&
		      (fates[i].residue % LEN == 0) == whole;
	return nr;
}

/* Description: faults by chance come as often as was asked, each kind by itself, and are
 * the same again with the same seed, others with another. */
static void chance_is_seeded(void **state)
{
	static struct fate a[RUNS], b[RUNS];
	static const char spec[] = "fault:null,error=4%,short=2%,prep_error=1%,full=8%,"
				   "never=0.5%,never_for=0s,seed=";
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), "%s7", spec);
	fates_of(text, a);
	fates_of(text, b);
	assert_memory_equal(a, b, sizeof(a));
	/* five standard deviations of a count; an attempt that is told "full" is no
	 * transaction yet */
	double got = RUNS - count(a, -EAGAIN, false, true);

	assert_true(fabs(count(a, 0, true, true) / got - 0.045) < 0.0075);
	assert_true(fabs(count(a, 0, true, false) / got - 0.02) < 0.0050);
	assert_true(fabs(count(a, -EIO, false, true) / got - 0.01) < 0.0036);
	assert_true(fabs(count(a, -EAGAIN, false, true) / (double)RUNS - 0.08) < 0.0096);
	assert_int_equal(count(a, 0, false, false), 0);
	snprintf(text, sizeof(text), "%s8", spec);
	fates_of(text, b);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* Description: a withheld completion comes as aborted once its time is over and not
 * before; a fenced transaction behind it does not start, one without a fence does; and
 * a channel with withheld ones closes. */
static void never_is_withheld(void **state)
{
	unsigned char far[3] = {0}, near[3] = {1, 2, 3};
	struct cp_dma_completion done[3];

	(void)state;
	file_write("s", "1 never 20ms\n2 pass\n3 pass\n4 never 1h\n");
	struct rig rig = rig_open("fault:sw,script=s,never_for=1us", 8, true);
	uint64_t start_ns = cp_now_ns();

	rig_submit(&rig, CP_DIR_WRITE, far, near, 1, CP_DMA_INTERRUPT, &near[0]);
	rig_submit(&rig, CP_DIR_WRITE, far + 1, near + 1, 1,
		   CP_DMA_INTERRUPT | CP_DMA_FENCE, &near[1]);
	rig_submit(&rig, CP_DIR_WRITE, far + 2, near + 2, 1, CP_DMA_INTERRUPT, &near[2]);
	rig.ops->issue_pending(rig.chan);
	rig_reap(&rig, done, 1);
	assert_ptr_equal(done[0].user, &near[2]);
	assert_int_equal(done[0].result, CP_DMA_OK);
	for (unsigned got = 0; got < 2;) {
		/* the time of the withheld ones ends a wait too */
		assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
		got += rig.ops->reap(rig.chan, done + got, 2 - got);
	}
	assert_true(cp_now_ns() - start_ns >= 20000000);
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(done[i].user, &near[i]);
		assert_int_equal(done[i].result, CP_DMA_ABORTED);
		assert_int_equal(done[i].residue, 1);
		assert_int_equal(far[i], 0);
	}
	rig_submit(&rig, CP_DIR_WRITE, far, near, 1, 0, NULL);
	rig_submit(&rig, CP_DIR_WRITE, far, near, 1, CP_DMA_FENCE, NULL);
	rig.ops->issue_pending(rig.chan);
	assert_int_equal(rig.ops->reap(rig.chan, done, 3), 0);
	rig_close(&rig);
	assert_int_equal(far[0], 0);
}

/* Description: completions come in windows of N in an order that the seed sets, each
 * once, a fenced one behind all before it; and fewer than N come when no more can. */
static void windows_are_shuffled(void **state)
{
	unsigned char far[16], near[16];
	unsigned moved = 0;

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		struct cp_dma_completion done[16];
		char spec[64];

		snprintf(spec, sizeof(spec), "fault:null,reorder=6,seed=%u", round);
		struct rig rig = rig_open(spec, 16, false);
		unsigned seen = 0;

		for (unsigned i = 0; i < 16; i++)
			rig_submit(&rig, CP_DIR_READ, far, near, 1,
				   i == 9 ? CP_DMA_FENCE : 0, NULL);
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 16);
		for (unsigned i = 0; i < 16; i++) {
			unsigned number = (unsigned)done[i].cookie - 1;

			assert_true(number < 16);
			assert_false(seen & 1U << number);
			seen |= 1U << number;
			moved += number != i;
			if (number == 9)
				assert_int_equal(seen & 0x1ff, 0x1ff);
		}
		rig_close(&rig);
	}
	assert_true(moved > 50 * 8);
}

/* Description: on a channel with an interrupt a waiter wakes for what the wrapped engine
 * never saw, and for a ring that only seemed full. */
static void faults_wake_waiters(void **state)
{
	static const char *const scripts[] = {"1 error", "1 short 0", "1 never 0s",
					      "1 full"};
	unsigned char far[1] = {0}, near[1];
	struct cp_dma_sg sg = {.addr = near, .len = 1};

	(void)state;
	for (size_t i = 0; i < NR(scripts); i++) {
		struct cp_dma_completion done;

		file_write("s", scripts[i]);
		struct rig rig = rig_open("fault:sw,script=s", 8, true);
		int rc = rig.ops->prep_memcpy_sg(rig.chan, CP_DIR_READ, far, &sg, 1,
						 CP_DMA_INTERRUPT, NULL);

		if (!rc) {
			rig.ops->submit(rig.chan);
			rig.ops->issue_pending(rig.chan);
		}
		assert_int_equal(rig.ops->wait(rig.chan, RIG_HANG_NS), 0);
		assert_int_equal(rig.ops->reap(rig.chan, &done, 1), !rc);
		rig_close(&rig);
	}
}

static const char *result_of(const struct cp_dma_completion *done, unsigned nr,
			     cp_dma_cookie cookie)
{
	static const char *const names[] = {"ok", "read_failed", "write_failed",
					    "aborted"};

	for (unsigned i = 0; i < nr; i++) {
		if (done[i].cookie == cookie)
			return names[done[i].result];
	}
	return "";
}

/* Description: a caller's eventfd serves the wrapped engine and the faults alike, and
 * stays the caller's; the wrapped engine's interrupts come through. */
static void one_eventfd_serves_both(void **state)
{
	int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct cp_dma_cfg cfg = {.spec = "fault:sw,script=s",
				 .ring = 8,
				 .node = -1,
				 .cpu = -1,
				 .irq = true,
				 .event_fd = event_fd,
				 .copy = "memcpy"};
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find("fault:sw", &err)};
	unsigned char far[1] = {0}, near[1];
	struct cp_dma_completion done;

	(void)state;
	file_write("s", "2 error");
	assert_int_equal(rig.ops->open(&cfg, &rig.chan, &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct pollfd fd = {.fd = event_fd, .events = POLLIN};
		uint64_t nr;

		rig_submit(&rig, CP_DIR_READ, far, near, 1, CP_DMA_INTERRUPT, NULL);
		rig.ops->issue_pending(rig.chan);
		assert_int_equal(poll(&fd, 1, (int)(RIG_HANG_NS / 1000000)), 1);
		assert_int_equal(read(event_fd, &nr, sizeof(nr)), sizeof(nr));
		assert_int_equal(rig.ops->reap(rig.chan, &done, 1), 1);
		assert_int_equal(done.result == CP_DMA_OK, i != 1);
	}
	rig_close(&rig);
	assert_int_equal(close(event_fd), 0);
}

/* Description: the log has a line for each transaction, in order, with what became of it;
 * those not handed out are lost; channels append whole pieces. */
static void log_says_it_all(void **state)
{
	static unsigned char far[LEN], near[LEN];
	struct cp_dma_sg sg = {.addr = near, .len = LEN};
	struct cp_dma_completion done[4];
	char expect[1024], *text;
	struct cp_err err;
	size_t len;
	int n = 0;

	(void)state;
	file_write("s", "2 error write\n3 short 10\n4 full\n5 prep_error\n6 never 1h\n");
	for (unsigned channel = 0; channel < 2; channel++) {
		struct rig rig = rig_open("fault:null,script=s,log=log,seed=9", 8, false);

		for (unsigned i = 0; i < 7; i++) {
			if (!rig.ops->prep_memcpy_sg(rig.chan, (enum cp_dir)(i % 2), far,
						     &sg, 1, 0, &sg))
				rig.ops->submit(rig.chan);
		}
		rig.ops->issue_pending(rig.chan);
		rig_reap(&rig, done, 4);
		rig_close(&rig);
		n += snprintf(
			expect + n, sizeof(expect) - (size_t)n,
			"# fault/null seed 9: cookie user near dir bytes action result "
			"residue\n"
			"1 %1$p %2$p read 1000 pass ok 0\n"
			"2 %1$p %2$p write 1000 error write_failed 1000\n"
			"3 %1$p %2$p read 1000 short %3$s 990\n"
			"0 %1$p %2$p write 1000 full refused 1000\n"
			"4 %1$p %2$p read 1000 pass ok 0\n"
			"0 %1$p %2$p write 1000 prep_error refused 1000\n"
			"5 %1$p %2$p read 1000 never lost 0\n"
			"# end 7\n",
			(void *)&sg, (void *)near, result_of(done, 4, 3));
	}
	assert_int_equal(cp_file_read("log", 1 << 20, &text, &len, &err), 0);
	assert_string_equal(text, expect);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(check_leaves_the_log_alone),
		cmocka_unit_test(no_reorder_is_zero),
		cmocka_unit_test(wrong_scripts_are_refused),
		cmocka_unit_test(wrapped_engine_shows_through),
		cmocka_unit_test(script_is_followed),
		cmocka_unit_test(preps_are_refused),
		cmocka_unit_test(chance_is_seeded),
		cmocka_unit_test(never_is_withheld),
		cmocka_unit_test(windows_are_shuffled),
		cmocka_unit_test(faults_wake_waiters),
		cmocka_unit_test(one_eventfd_serves_both),
		cmocka_unit_test(log_says_it_all),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
