// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/drive/beside.h"
#include "bench/drive/corunner.h"
#include "engines/base/clock.h"
#include "engines/base/topo.h"

#define KINDS 3
static const enum cp_corunner_kind kinds[KINDS] = {CP_CORUNNER_COMPUTE,
						   CP_CORUNNER_STREAM, CP_CORUNNER_CHASE};

/* A CPU that we may use. */
static unsigned some_cpu(void)
{
	static struct cp_topo topo;
	struct cp_err err = {0};

	assert_int_equal(cp_topo_load(NULL, &topo, &err), 0);
	return topo.cpus[0].os_index;
}

/* Description: each kernel comes to what is known beforehand, whole passes over its
 * memory and parts of them. */
static void test_work_expected(void **state)
{
	static const uint64_t sizes[] = {64, 192, 64 << 10, (64 << 10) + 64, 1 << 20};
	struct cp_work work;

	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			assert_int_equal(cp_work_open(&work, kinds[k], sizes[s]), 0);
			assert_int_equal(work.sum,
					 cp_work_expected(kinds[k], sizes[s], 0));
			for (unsigned i = 0; i < 9; i++) {
				uint64_t before = work.ops;

				cp_work_block(&work);
				assert_true(work.ops > before);
				assert_int_equal(
					work.sum,
					cp_work_expected(kinds[k], sizes[s], work.ops));
			}
			cp_work_close(&work);
		}
	}
}

/* Description: the work stays what it is, or figures of two versions are not of the same
 * thing. */
static void test_work_same(void **state)
{
	static const struct {
		enum cp_corunner_kind kind;
		uint64_t ops, sum;
	} cases[] = {{CP_CORUNNER_COMPUTE, 64, UINT64_C(10097583296801380320)},
		     {CP_CORUNNER_STREAM, 4096, 536854528},
		     {CP_CORUNNER_CHASE, 512, 512}};
	struct cp_work work;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cp_work_open(&work, cases[i].kind, 1 << 20), 0);
		cp_work_block(&work);
		assert_int_equal(work.ops, cases[i].ops);
		assert_int_equal(work.sum, cases[i].sum);
		cp_work_close(&work);
	}
}

/* Description: memory that somebody else wrote to shows in the result. */
static void test_work_spoiled(void **state)
{
	struct cp_work work;

	(void)state;
	assert_int_equal(cp_work_open(&work, CP_CORUNNER_STREAM, 64 << 10), 0);
	((uint64_t *)work.memory)[77] ^= 1;
	cp_work_block(&work);
	assert_int_not_equal(work.sum, cp_work_expected(work.kind, work.bytes, work.ops));
	cp_work_close(&work);
	assert_int_equal(cp_work_open(&work, CP_CORUNNER_CHASE, 64 << 10), 0);
	/* a shorter circle: the first line's successor is itself */
	*(const void **)(uintptr_t)work.at = work.at;
	cp_work_block(&work);
	assert_int_not_equal(work.sum, cp_work_expected(work.kind, work.bytes, work.ops));
	cp_work_close(&work);
}

/* Description: a pointer-chase visits every line once before it comes back to the first,
 * and not in the order of addresses. */
static void test_chase_cycle(void **state)
{
	enum { LINES = 4096 };
	static unsigned char seen[LINES];
	struct cp_work work;
	unsigned near = 0;

	(void)state;
	assert_int_equal(cp_work_open(&work, CP_CORUNNER_CHASE, LINES * 64), 0);
	const char *first = work.at, *at = first;

	for (unsigned i = 0; i < LINES; i++) {
		size_t line = (size_t)(at - (const char *)work.memory) / 64;
		const char *next = *(const char *const *)at;

		assert_false(seen[line]);
		seen[line] = 1;
		near += next == at + 64 || next == at - 64;
		at = next;
	}
	assert_ptr_equal(at, first);
	assert_true(near < LINES / 100);
	cp_work_close(&work);
}

static struct cp_worklog *new_log(uint64_t interval_ns, uint64_t gap_ns)
{
	struct cp_worklog *log = calloc(1, sizeof(*log));

	assert_non_null(log);
	cp_worklog_init(log, interval_ns, gap_ns);
	return log;
}

static void note(struct cp_worklog *log, uint64_t t_ns, uint64_t ops, uint64_t cpu_ns)
{
	const struct cp_worklog_entry entry = {.t_ns = t_ns, .value = {ops, cpu_ns}};

	cp_worklog_note(log, &entry);
}

/* Description: what was done between two instants is interpolated, and nothing is said of
 * time that the log does not cover. */
static void test_log_rise(void **state)
{
	struct cp_worklog *log = new_log(10, 1000);
	static const struct {
		uint64_t start, end;
		bool known;
		double ops, cpu;
	} cases[] = {
		{100, 300, true, 200, 20}, {150, 250, true, 100, 10},
		{100, 110, true, 10, 1},   {123, 124, true, 1, 0.1},
		{200, 200, true, 0, 0},	   {99, 200, false, 0, 0},
		{200, 301, false, 0, 0},   {0, 1, false, 0, 0},
	};

	(void)state;
	for (uint64_t t = 100; t <= 300; t += 5)
		note(log, t, t, t / 10);
	cp_worklog_end(log);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double rise[2] = {-1, -1};

		assert_int_equal(cp_worklog_rise(log, cases[i].start, cases[i].end, rise),
				 cases[i].known);
		if (!cases[i].known) {
			assert_true(rise[0] == -1 && rise[1] == -1);
			continue;
		}
		assert_true(rise[0] > cases[i].ops - 1e-6 &&
			    rise[0] < cases[i].ops + 1e-6);
		assert_true(rise[1] > cases[i].cpu - 0.3 && rise[1] < cases[i].cpu + 0.3);
	}
	free(log);
}

/* Description: an empty log tells nothing. */
static void test_log_empty(void **state)
{
	struct cp_worklog *log = new_log(10, 1000);
	double rise[2];

	(void)state;
	cp_worklog_end(log);
	assert_int_equal(log->nr, 0);
	assert_false(cp_worklog_rise(log, 0, 0, rise));
	free(log);
}

/* Description: work before a pause off the CPU is not shared out over the pause. */
static void test_log_gap(void **state)
{
	struct cp_worklog *log = new_log(1000, 100);
	double rise[2];

	(void)state;
	note(log, 0, 0, 0);
	note(log, 50, 50, 50);
	note(log, 900, 900, 900); /* at work all the time: no entry yet */
	assert_int_equal(log->nr, 1);
	note(log, 10000, 910, 910); /* away for 9090 */
	cp_worklog_end(log);
	assert_int_equal(log->nr, 3);
	assert_true(cp_worklog_rise(log, 0, 900, rise));
	assert_true(rise[0] == 900);
	assert_true(cp_worklog_rise(log, 900, 10000, rise));
	assert_true(rise[0] == 10);
	free(log);
}

/* Description: a log that is full grows coarser, and still tells of all the time with
 * what the first and the last entry hold. */
static void test_log_thin(void **state)
{
	uint64_t last = 5 * CP_WORKLOG_MAX + 3, guard = UINT64_C(0x5a5a5a5a5a5a5a5a);
	struct {
		struct cp_worklog log;
		uint64_t guard;
	} *held = calloc(1, sizeof(*held));
	double rise[2];

	(void)state;
	assert_non_null(held);
	held->guard = guard;
	cp_worklog_init(&held->log, 1, UINT64_MAX / 2);
	for (uint64_t t = 0; t <= last; t++)
		note(&held->log, t, 2 * t, t);
	cp_worklog_end(&held->log);
	assert_int_equal(held->guard, guard);
	assert_true(held->log.nr <= CP_WORKLOG_MAX && held->log.nr > CP_WORKLOG_MAX / 4);
	assert_true(held->log.interval_ns > 1);
	assert_true(cp_worklog_rise(&held->log, 0, last, rise));
	assert_true(rise[0] == 2 * (double)last);
	for (uint32_t i = 1; i < held->log.nr; i++)
		assert_true(held->log.entry[i].t_ns > held->log.entry[i - 1].t_ns);
	free(held);
}

/* Description: stolen and all ticks are those of the one CPU; text without it says so. */
static void test_steal_parse(void **state)
{
	static const char text[] = "cpu  9 9 9 9 9 9 9 9 9 9\n"
				   "cpu1 1 2 3 4 5 6 7 8 100 100\n"
				   "cpu10 10 0 0 0 0 0 0 3 0 0\n"
				   "cpu2 1 2 3\n"
				   "intr 1 2 3\n";
	static const struct {
		unsigned cpu;
		bool known;
		uint64_t steal, total;
	} cases[] = {{1, true, 8, 36},
		     {10, true, 3, 13},
		     {0, false, 7, 7},
		     {2, false, 7, 7},
		     {100, false, 7, 7}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t steal = 7, total = 7;

		assert_int_equal(cp_steal_parse(text, cases[i].cpu, &steal, &total),
				 cases[i].known);
		assert_int_equal(steal, cases[i].steal);
		assert_int_equal(total, cases[i].total);
	}
}

static void start(enum cp_corunner_kind kind, uint64_t bytes,
		  struct cp_corunner_proc *proc)
{
	const struct cp_corunner corunner = {.kind = kind, .cpu = -1};
	struct cp_err err = {0};

	assert_int_equal(cp_corunner_start(&corunner, bytes, some_cpu(), proc, &err), 0);
}

/* Description: a process that was asked to end has its result, right, and a log that
 * covers all the time since it was ready. */
static void test_proc_end(void **state)
{
	char why[128];

	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct cp_corunner_proc proc = {0};
		struct cp_err err = {0};
		double rise[2];

		start(kinds[k], 64 << 10, &proc);
		assert_int_equal(cp_corunner_wait(&proc, NULL, &err), 0);
		uint64_t start_ns = cp_now_ns(), end_ns = start_ns;

		while (end_ns < start_ns + 20000000)
			end_ns = cp_now_ns();
		cp_corunner_stop(&proc, 1, false);
		assert_true(
			cp_corunner_good(&proc, kinds[k], 64 << 10, why, sizeof(why)));
		assert_true(proc.shared->ops > 0);
		assert_true(cp_worklog_rise(&proc.shared->work, start_ns, end_ns, rise));
		assert_true(rise[1] <= (double)(end_ns - start_ns) * 1.01);
		cp_corunner_free(&proc);
	}
}

/* Description: it has the priority that was asked for, and none of a real-time parent's.
 */
static void test_proc_priority(void **state)
{
	static const struct {
		bool equal;
		int policy;
	} cases[] = {{false, SCHED_IDLE}, {true, SCHED_OTHER}};
	struct sched_param real_time = {.sched_priority = 1}, usual = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cp_corunner corunner = {.kind = CP_CORUNNER_COMPUTE,
						     .equal = cases[i].equal};
		struct cp_corunner_proc proc = {0};
		struct cp_err err = {0};

		/* Refused to most, for whom this is a test of less. */
		sched_setscheduler(0, SCHED_FIFO, &real_time);
		int ret = cp_corunner_start(&corunner, 0, some_cpu(), &proc, &err);
		sched_setscheduler(0, SCHED_OTHER, &usual);
		assert_int_equal(ret, 0);
		assert_int_equal(cp_corunner_wait(&proc, NULL, &err), 0);
		assert_int_equal(sched_getscheduler(proc.pid), cases[i].policy);
		cp_corunner_stop(&proc, 1, false);
		cp_corunner_free(&proc);
	}
}

/* Description: a result that is wrong is told, and what was expected. */
static void test_proc_wrong(void **state)
{
	struct cp_corunner_proc proc = {0};
	struct cp_err err = {0};
	char why[128];

	(void)state;
	start(CP_CORUNNER_COMPUTE, 0, &proc);
	assert_int_equal(cp_corunner_wait(&proc, NULL, &err), 0);
	cp_corunner_stop(&proc, 1, false);
	proc.shared->sum++;
	assert_false(cp_corunner_good(&proc, CP_CORUNNER_COMPUTE, 0, why, sizeof(why)));
	assert_non_null(strstr(why, "; expected "));
	cp_corunner_free(&proc);
}

/* Description: one that was killed is told by its signal, and one that could not begin by
 * what it lacked, before anybody waits for it. */
static void test_proc_lost(void **state)
{
	const struct cp_corunner lost = {.kind = CP_CORUNNER_COMPUTE};
	struct cp_corunner_proc proc = {0};
	struct cp_err err = {0};
	char why[128];

	(void)state;
	start(CP_CORUNNER_COMPUTE, 0, &proc);
	assert_int_equal(cp_corunner_wait(&proc, NULL, &err), 0);
	kill(proc.pid, SIGKILL);
	cp_corunner_stop(&proc, 1, false);
	assert_false(cp_corunner_good(&proc, CP_CORUNNER_COMPUTE, 0, why, sizeof(why)));
	assert_non_null(strstr(why, "signal 9"));
	cp_corunner_free(&proc);
	/* no machine has that CPU */
	assert_int_equal(cp_corunner_start(&lost, 0, CP_CORUNNER_CPU_MAX, &proc, &err),
			 0);
	assert_int_equal(cp_corunner_wait(&proc, NULL, &err), -ECHILD);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, "be pinned to its CPU"));
	cp_corunner_free(&proc);
}

/* Description: an interrupt ends the wait for it. */
static void test_proc_interrupt(void **state)
{
	volatile int interrupted = SIGINT;
	struct cp_corunner_proc proc = {0};
	struct cp_err err = {0};

	(void)state;
	start(CP_CORUNNER_CHASE, 256 << 20, &proc);
	assert_int_equal(cp_corunner_wait(&proc, &interrupted, &err), -EINTR);
	assert_int_equal(err.exit, CP_EXIT_INTERRUPTED);
	cp_corunner_stop(&proc, 1, true);
	cp_corunner_free(&proc);
}

/* Description: when we are killed it dies with us. */
static void test_proc_orphan(void **state)
{
	int pids[2];
	pid_t pid = 0;
	char byte;

	(void)state;
	assert_int_equal(pipe(pids), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t parent = fork();

	if (!parent) {
		struct cp_corunner_proc proc = {0};
		struct cp_err err = {0};
		bool good;

		close(pids[0]);
		start(CP_CORUNNER_COMPUTE, 0, &proc);
		good = !cp_corunner_wait(&proc, NULL, &err);
		pid = good ? proc.pid : 0;
		if (write(pids[1], &pid, sizeof(pid)) == sizeof(pid))
			for (;;)
				pause();
		_exit(1);
	}
	close(pids[1]);
	assert_int_equal(read(pids[0], &pid, sizeof(pid)), sizeof(pid));
	assert_true(pid > 0);
	assert_int_equal(kill(pid, 0), 0);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	/* Its end of the pipe was closed when it began, so this is no proof of its own.
	 */
	assert_int_equal(read(pids[0], &byte, 1), 0);
	uint64_t until_ns = cp_now_ns() + UINT64_C(20000000000);
	pid_t got = 0;

	while (!got && cp_now_ns() < until_ns)
		got = waitpid(pid, NULL, WNOHANG); /* it is ours now, see above */
	assert_int_equal(got, pid);
	close(pids[0]);
}

struct fake {
	uint64_t window_ns[2];
	const char *failed;
	int ret;
};

static void wait_ns(uint64_t ns)
{
	for (uint64_t start_ns = cp_now_ns(); cp_now_ns() - start_ns < ns;)
		;
}

static int fake_take(void *opaque, const struct cp_take *take, struct cp_record *record,
		     char *note, size_t note_size, struct cp_err *err)
{
	struct fake *fake = opaque;
	uint64_t start_ns = cp_now_ns();

	(void)take, (void)note, (void)note_size;
	wait_ns(20000000);
	if (fake->window_ns[1]) {
		record->window_start_ns = start_ns + fake->window_ns[0];
		record->window_end_ns = start_ns + fake->window_ns[1];
	}
	if (fake->failed)
		snprintf(record->failed, sizeof(record->failed), "%s", fake->failed);
	return fake->ret ? cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted") : 0;
}

static int take_beside(const char *corunner, struct fake *fake, struct cp_record *record,
		       struct cp_err *err)
{
	static const struct cp_driver driver = {.name = "fake", .take = fake_take};
	struct cp_plan plan = {.runtime_ns = 20000000, .nr_cpus = 1};
	struct cp_session session = {.plan = &plan};
	struct cp_plan_cell cell = {.context = {.numjobs = 1}};
	struct cp_take take = {.session = &session, .cell = &cell};
	char note[64] = "";

	plan.cpus[0] = some_cpu();
	snprintf(cell.context.corunner, sizeof(cell.context.corunner), "%s", corunner);
	cp_record_init(record);
	return cp_beside_take(&driver, fake, &take, record, note, sizeof(note), err);
}

/* Description: a sample has the co-runner's work in its window, or in all of the driver's
 * take() where it has none, and alone; none has no figures. */
static void test_beside_metrics(void **state)
{
	static const int metrics[] = {CP_METRIC_CORUNNER, CP_METRIC_CORUNNER_CPU,
				      CP_METRIC_CORUNNER_ALONE,
				      CP_METRIC_CORUNNER_ALONE_CPU};
	static const struct {
		const char *corunner;
		struct fake fake;
		bool figures;
	} cases[] = {
		{"none", {.window_ns = {1, 2}}, false},
		{"compute", {.window_ns = {1000000, 15000000}}, true},
		{"compute:sched=other", {.window_ns = {0, 0}}, true},
		{"stream:size=128k,sched=other", {.window_ns = {0, 10000000}}, true},
		{"pointer-chase:size=1m,sched=other", {.window_ns = {0, 0}}, true},
		{"compute", {.failed = "fio: none"}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake fake = cases[i].fake;
		struct cp_record record;
		struct cp_err err = {0};

		assert_int_equal(take_beside(cases[i].corunner, &fake, &record, &err), 0);
		assert_string_equal(record.failed, fake.failed ? fake.failed : "");
		for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
			double value = record.metrics[metrics[m]];

			/* Beside us, who are busy, SCHED_IDLE may have had nothing. */
			if (cases[i].figures && !strstr(cases[i].corunner, "other") &&
			    m < 2)
				continue;
			assert_true(cases[i].figures ? value > 0 : value != value);
		}
	}
}

/* Description: a window that the co-runner was not there for fails the sample. */
static void test_beside_window(void **state)
{
	struct fake fake = {.window_ns = {0, UINT64_C(3600000000000)}};
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(take_beside("compute", &fake, &record, &err), 0);
	assert_non_null(strstr(record.failed, "corunner: "));
	assert_true(record.metrics[CP_METRIC_CORUNNER] !=
		    record.metrics[CP_METRIC_CORUNNER]);
}

/* Description: a sample that is interrupted leaves no process behind. */
static void test_beside_interrupted(void **state)
{
	struct fake fake = {.ret = 1};
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(take_beside("compute", &fake, &record, &err), -EINTR);
	assert_int_equal(err.exit, CP_EXIT_INTERRUPTED);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_expected),
		cmocka_unit_test(test_work_same),
		cmocka_unit_test(test_work_spoiled),
		cmocka_unit_test(test_chase_cycle),
		cmocka_unit_test(test_log_rise),
		cmocka_unit_test(test_log_empty),
		cmocka_unit_test(test_log_gap),
		cmocka_unit_test(test_log_thin),
		cmocka_unit_test(test_steal_parse),
		cmocka_unit_test(test_proc_end),
		cmocka_unit_test(test_proc_priority),
		cmocka_unit_test(test_proc_wrong),
		cmocka_unit_test(test_proc_lost),
		cmocka_unit_test(test_proc_interrupt),
		cmocka_unit_test(test_proc_orphan),
		cmocka_unit_test(test_beside_metrics),
		cmocka_unit_test(test_beside_window),
		cmocka_unit_test(test_beside_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
