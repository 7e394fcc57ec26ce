// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "bench/drive/child.h"
#include "bench/drive/fio.h"

#define SECOND_NS 1000000000ULL

static void run_shell(const char *script, uint64_t timeout_ns,
		      const volatile int *interrupted, struct cp_child_end *end,
		      char *out, size_t size)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct cp_err err = {0};

	assert_true(fd >= 0);
	assert_int_equal(cp_child_run(argv, fd, fd, timeout_ns, interrupted, end, &err),
			 0);
	cp_fd_text(fd, out, size);
	close(fd);
}

/* Description: a child's exit code, signal and output are reported as they were. */
static void test_child_end(void **state)
{
	static const struct {
		const char *script;
		int exit_code, signo;
		const char *out;
	} cases[] = {{"echo hello", 0, 0, "hello\n"},
		     {"echo a; echo b >&2; exit 3", 3, 0, "a\nb\n"},
		     {"kill -9 $$", -1, SIGKILL, ""},
		     {"read x || echo empty", 0, 0, "empty\n"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_child_end end;
		char out[64];

		run_shell(cases[i].script, 20 * SECOND_NS, NULL, &end, out, sizeof(out));
		assert_int_equal(end.exit_code, cases[i].exit_code);
		assert_int_equal(end.signo, cases[i].signo);
		assert_string_equal(out, cases[i].out);
		assert_false(end.timed_out);
		assert_false(end.interrupted);
	}
}

/* Description: a child's end is learned where whoever started us ignores SIGCHLD. */
static void test_child_ignored(void **state)
{
	struct cp_child_end end;
	char out[64];

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	run_shell("exit 3", 20 * SECOND_NS, NULL, &end, out, sizeof(out));
	assert_int_equal(end.exit_code, 3);
}

static void steal_end(int signo)
{
	(void)signo;
	waitpid(-1, NULL, 0);
}

/* Description: a child whose end somebody else took is an error, not a success. */
static void test_child_stolen(void **state)
{
	const char *const argv[] = {"sh", "-c", "kill -USR1 $PPID", NULL};
	struct cp_child_end end = {.exit_code = 77};
	struct cp_err err = {0};

	(void)state;
	signal(SIGUSR1, steal_end);
	int ret = cp_child_run(argv, 1, 2, 20 * SECOND_NS, NULL, &end, &err);
	signal(SIGUSR1, SIG_DFL);
	assert_int_equal(ret, -ECHILD);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_int_equal(end.exit_code, 77);
}

/* Description: a child that runs too long is ended and that is said. */
static void test_child_timeout(void **state)
{
	struct cp_child_end end;
	char out[64];

	(void)state;
	run_shell("exec tail -f /dev/null", 1, NULL, &end, out, sizeof(out));
	assert_true(end.timed_out);
	assert_false(end.interrupted);
	assert_int_equal(end.signo, SIGINT);
}

/* Description: an interrupt ends the child. */
static void test_child_interrupt(void **state)
{
	volatile int interrupted = SIGINT;
	struct cp_child_end end;
	char out[64];

	(void)state;
	run_shell("exec tail -f /dev/null", 20 * SECOND_NS, &interrupted, &end, out,
		  sizeof(out));
	assert_true(end.interrupted);
	assert_false(end.timed_out);
}

/* Description: a program that is not there is an environment error that names it. */
static void test_child_missing(void **state)
{
	const char *const argv[] = {"/nowhere/program", NULL};
	struct cp_child_end end = {.exit_code = 77};
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_child_run(argv, 1, 2, SECOND_NS, NULL, &end, &err), -ENOENT);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, "'/nowhere/program'"));
	assert_int_equal(end.exit_code, 77);
}

#define STATS STATS_OF("9", "1.5")
#define STATS_OF(nr, slat)                                         \
	"\"total_ios\":8,\"slat_ns\":{\"N\":" nr ",\"mean\":" slat \
	"},\"clat_ns\":{\"mean\":2.5},"                            \
	"\"lat_ns\":{\"mean\":4.0,\"percentile\":{\"50.000000\":3}}"

/* Description: fio's latencies of the direction that was asked for are taken. */
static void test_output_good(void **state)
{
	static const char text[] = "fio: a note before the document\n"
				   "{\"jobs\":[{\"error\":0,\"read\":{" STATS
				   "},\"write\":{\"total_ios\":0}}]}\n"
				   "and something behind it\n";
	struct cp_record record;
	char failed[128] = "";

	(void)state;
	cp_record_init(&record);
	assert_int_equal(
		cp_fio_output_parse(text, CP_DIR_READ, &record, failed, sizeof(failed)),
		0);
	assert_string_equal(failed, "");
	assert_true(fabs(record.metrics[CP_METRIC_FIO_LAT_MEAN] - 4.0) < 1e-9);
	assert_true(fabs(record.metrics[CP_METRIC_FIO_LAT_P50] - 3.0) < 1e-9);
	assert_true(fabs(record.metrics[CP_METRIC_FIO_SLAT_MEAN] - 1.5) < 1e-9);
	assert_true(fabs(record.metrics[CP_METRIC_FIO_CLAT_MEAN] - 2.5) < 1e-9);
}

/* Description: a synchronous engine has no submission latency, which is not 0. */
static void test_output_no_slat(void **state)
{
	static const char text[] =
		"{\"jobs\":[{\"error\":0,\"read\":{" STATS_OF("0", "0.0") "}}]}";
	struct cp_record record;
	char failed[128] = "";

	(void)state;
	cp_record_init(&record);
	assert_int_equal(
		cp_fio_output_parse(text, CP_DIR_READ, &record, failed, sizeof(failed)),
		0);
	assert_true(isnan(record.metrics[CP_METRIC_FIO_SLAT_MEAN]));
	assert_true(record.metrics[CP_METRIC_FIO_CLAT_MEAN] > 0);
}

/* Description: output that is missing, torn, empty or of a failed job is a failure with
 * its reason, and no metric is touched. */
static void test_output_bad(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "no JSON"},
		{"fio: boom\n", "no JSON"},
		{"{\"jobs\":[{\"error\":0,\"re", "torn"},
		{"{}", "no job"},
		{"{\"jobs\":[]}", "no job"},
		{"{\"jobs\":[{\"error\":5,\"read\":{" STATS "}}]}", "error 5"},
		{"{\"jobs\":[{\"error\":0,\"read\":{\"total_ios\":0}}]}", "no I/O"},
		{"{\"jobs\":[{\"error\":0,\"read\":{\"total_ios\":1}}]}", "no latencies"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record record;
		char failed[128] = "";

		cp_record_init(&record);
		assert_int_not_equal(cp_fio_output_parse(cases[i].text, CP_DIR_READ,
							 &record, failed, sizeof(failed)),
				     0);
		assert_non_null(strstr(failed, cases[i].reason));
		assert_true(isnan(record.metrics[CP_METRIC_FIO_LAT_MEAN]));
	}
}

struct job {
	struct cp_plan plan;
	struct cp_plan_cell cell;
	char text[4096];
};

static void job_init(struct job *job)
{
	struct cp_err err = {0};

	*job = (struct job){
		.plan = {.runtime_ns = 400000000,
			 .ramp_ns = 100000000,
			 .verify = "off",
			 .nr_cpus = 2,
			 .cpus = {0, 3}},
		.cell = {.segment_bytes = 4096, .job_bytes = 1U << 20},
	};
	cp_context_init(&job->cell.context);
	cp_arm_init(&job->cell.arm);
	assert_int_equal(cp_arm_resolve(&job->cell.arm, &err), 0);
}

static void job_print(struct job *job)
{
	static const struct cp_fio fio = {.plugin_dir = "/lib/x"};
	FILE *out = fmemopen(job->text, sizeof(job->text), "w");

	assert_non_null(out);
	cp_fio_job_print(out, &fio, &job->plan, &job->cell, 42, "side");
	fclose(out);
}

static bool has(const struct job *job, const char *line)
{
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	return strstr(job->text, wanted) != NULL;
}

/* Description: a plain cell's job names all that fio's defaults would decide. */
static void test_job_plain(void **state)
{
	static const char *const lines[] = {
		"ioengine=external:/lib/x/copypath-sync.so",
		"thread=1",
		"group_reporting=1",
		"time_based=1",
		"runtime=400000us",
		"ramp_time=100000us",
		"rw=read",
		"bs=4096",
		"size=1048576",
		"numjobs=1",
		"iodepth=1",
		"scramble_buffers=0",
		"randseed=42",
		"segment=4096",
		"queue_mode=bio",
		"sidecar=side",
		"cpus_allowed=0",
		"cpus_allowed_policy=split",
	};
	struct job job;

	(void)state;
	job_init(&job);
	job_print(&job);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!has(&job, lines[i]))
			fail_msg("no line '%s' in\n%s", lines[i], job.text);
	assert_null(strstr(job.text, "offset_increment"));
	assert_null(strstr(job.text, "iodepth_batch"));
	assert_null(strstr(job.text, "q_per_node"));
}

/* Description: an mq arm is served by the asynchronous plug-in and gets its queues. */
static void test_job_mq(void **state)
{
	struct cp_err err = {0};
	struct job job;

	(void)state;
	job_init(&job);
	cp_arm_init(&job.cell.arm);
	strncpy(job.cell.arm.queue_mode, "mq", CP_WORD_MAX);
	strncpy(job.cell.arm.path, "dma", CP_WORD_MAX);
	strncpy(job.cell.arm.dma, "sw:ring=64", CP_SPEC_TEXT_MAX);
	job.cell.arm.batch = 16;
	assert_int_equal(cp_arm_resolve(&job.cell.arm, &err), 0);
	job_print(&job);
	assert_true(has(&job, "ioengine=external:/lib/x/copypath-async.so"));
	assert_true(has(&job, "dma=sw:ring=64"));
	assert_true(has(&job, "completion=poll"));
	assert_true(has(&job, "queue_depth=128"));
	assert_true(has(&job, "iodepth_batch=16"));
}

/* Description: an arm with a policy hands on its file and whether it is forced. */
static void test_job_policy(void **state)
{
	struct job job;

	(void)state;
	job_init(&job);
	job_print(&job);
	assert_null(strstr(job.text, "\npolicy"));
	strncpy(job.cell.arm.policy, "/x/p.yaml", sizeof(job.cell.arm.policy));
	job.cell.arm.policy_force = 1;
	job_print(&job);
	assert_true(has(&job, "policy=/x/p.yaml"));
	assert_true(has(&job, "policy_force=1"));
}

/* Description: jobs have regions of their own; as many as CPUs are not pinned. */
static void test_job_numjobs(void **state)
{
	struct job job;

	(void)state;
	job_init(&job);
	job.cell.context.numjobs = 2;
	job_print(&job);
	assert_true(has(&job, "offset_increment=1048576"));
	assert_null(strstr(job.text, "cpus_allowed"));
}

/* Description: with verify the region is written once, without time or warm-up. */
static void test_job_verify(void **state)
{
	struct job job;

	(void)state;
	job_init(&job);
	strncpy(job.plan.verify, "crc32c", CP_WORD_MAX);
	strncpy(job.cell.context.rw, "write", CP_WORD_MAX);
	job_print(&job);
	assert_true(has(&job, "verify=crc32c"));
	assert_null(strstr(job.text, "time_based"));
	assert_null(strstr(job.text, "ramp_time"));
	assert_null(strstr(job.text, "norandommap"));
}

/* Description: no warm-up asked for leaves the key out. */
static void test_job_no_ramp(void **state)
{
	struct job job;

	(void)state;
	job_init(&job);
	job.plan.ramp_ns = 0;
	job_print(&job);
	assert_null(strstr(job.text, "ramp_time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child_end),
		cmocka_unit_test(test_child_ignored),
		cmocka_unit_test(test_child_stolen),
		cmocka_unit_test(test_child_timeout),
		cmocka_unit_test(test_child_interrupt),
		cmocka_unit_test(test_child_missing),
		cmocka_unit_test(test_output_good),
		cmocka_unit_test(test_output_no_slat),
		cmocka_unit_test(test_output_bad),
		cmocka_unit_test(test_job_plain),
		cmocka_unit_test(test_job_mq),
		cmocka_unit_test(test_job_policy),
		cmocka_unit_test(test_job_numjobs),
		cmocka_unit_test(test_job_verify),
		cmocka_unit_test(test_job_no_ramp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
