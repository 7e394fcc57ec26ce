/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine's line a job, and the merge of a sample's jobs. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines/base/file.h"
#include "results/sidecar.h"

static struct cp_hist hists[3];
static char path[] = "/tmp/copypath-sidecar-XXXXXX";

static void fill(struct cp_sidecar_job *job, unsigned nr)
{
	*job = (struct cp_sidecar_job){
		.job = nr,
		.start_ns = 1000,
		.end_ns = 2000,
		.ios = 10,
		.bytes = 40960,
		.cpu_submit_ns = 300,
		.lat = &hists[nr % 3],
		.dev_start_ns = 1000,
		.dev_end_ns = 1000 + 1000000,
		.dev_cpu_process_ns = 500000,
		.dev_cpu_engine_ns = 200,
		.proof = {.bytes_cpu = 40960,
			  .verify = "off",
			  .effective_iodepth = 1,
			  .copy = "memcpy",
			  .node = 0,
			  .page_bytes = 2097152,
			  .persistent = -1},
		.provenance = {.media = "native", .attr = "native", .dma = "none"},
		.llc_bytes = 1024,
		.media_bytes = 4096,
		.nr_hctx = 2,
		.queue_depth = 128,
	};
	snprintf(job->build, sizeof(job->build), "0.1.0");
	snprintf(job->fio, sizeof(job->fio), "fio-3.33");
	cp_hist_reset(job->lat);
	for (uint64_t i = 0; i < 10; i++)
		cp_hist_add(job->lat, 1000 * nr + i);
}

static char *encode(const struct cp_sidecar_job *job)
{
	struct cp_err err = {0};
	char *line = cp_sidecar_encode(job, &err);

	if (!line)
		fail_msg("%s", err.msg);
	return line;
}

/* A sidecar of these jobs. */
static void write_jobs(const struct cp_sidecar_job *jobs, unsigned nr)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	for (unsigned i = 0; i < nr; i++) {
		char *line = encode(&jobs[i]);

		assert_int_equal(cp_write_all(fd, line, strlen(line)), 0);
		free(line);
	}
	close(fd);
}

static int merge(unsigned nr_jobs, struct cp_record *record, char *notes, size_t size,
		 struct cp_err *err)
{
	cp_record_init(record);
	return cp_sidecar_merge(path, nr_jobs, record, notes, size, err);
}

/* Description: a job survives being written and read, histogram and all. */
static void test_round_trip(void **state)
{
	struct cp_sidecar_job a, b = {.lat = &hists[0]};
	struct cp_err err = {0};

	(void)state;
	fill(&a, 2);
	snprintf(a.notes, sizeof(a.notes), "forced back to bio, no dma");
	a.proof.fallback.no_channel = 5;
	snprintf(a.proof.flush, sizeof(a.proof.flush), "clwb");
	a.proof.persistent = 0;
	char *line = encode(&a);
	size_t len = strlen(line);

	assert_int_equal(line[len - 1], '\n');
	assert_true(len <= CP_SIDECAR_LINE_MAX);
	assert_int_equal(cp_sidecar_decode(line, len - 1, &b, &err), 0);
	assert_string_equal(b.build, "0.1.0");
	assert_string_equal(b.notes, a.notes);
	assert_int_equal(b.job, 2);
	assert_int_equal(b.dev_end_ns, a.dev_end_ns);
	assert_int_equal(b.queue_depth, 128);
	assert_int_equal(b.proof.fallback.no_channel, 5);
	assert_string_equal(b.proof.copy, "memcpy");
	assert_string_equal(b.proof.flush, "clwb");
	assert_int_equal(b.proof.persistent, 0);
	assert_memory_equal(b.lat, a.lat, sizeof(*a.lat));
	free(line);
}

/* Description: a line of an engine that knew no pages, flush, fence and persistence has
 * them as unknown. */
static void test_line_of_before(void **state)
{
	static const char line[] =
		"{\"schema\":1,\"build\":\"0.1.0\",\"fio\":\"fio-3.33\",\"job\":1,"
		"\"start_ns\":17902176371927,\"end_ns\":17902176496711,\"ios\":2,"
		"\"bytes\":8192,\"cpu_submit_ns\":124815,"
		"\"dev_start_ns\":17902176369703,\"dev_end_ns\":17902176497472,"
		"\"dev_cpu_process_ns\":155350,\"dev_cpu_engine_ns\":0,"
		"\"llc_bytes\":33554432,\"media_bytes\":1048576,\"nr_hctx\":0,"
		"\"queue_depth\":0,\"notes\":\"\",\"proof\":{\"bytes_cpu\":8192,"
		"\"bytes_dma\":0,\"bytes_simulated\":0,\"bytes_fallback\":0,"
		"\"fallback\":{\"no_channel\":0,\"ring_full\":0,\"error\":0,"
		"\"too_many_segments\":0},\"errors\":0,\"verify\":\"off\","
		"\"effective_iodepth\":1,\"copy\":\"nt-avx512\",\"dma\":\"\","
		"\"node\":0},\"provenance\":{\"media\":\"native\","
		"\"attr\":\"native\",\"dma\":\"none\"},\"lat\":{\"count\":2,"
		"\"sum_ns\":117,\"min_ns\":50,\"max_ns\":67,"
		"\"buckets\":[[50,1],[59,1]]}}";
	struct cp_sidecar_job job = {.lat = &hists[0]};
	struct cp_err err = {0};

	(void)state;
	if (cp_sidecar_decode(line, strlen(line), &job, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(job.proof.bytes_cpu, 8192);
	assert_int_equal(job.proof.page_bytes, 0);
	assert_string_equal(job.proof.flush, "");
	assert_string_equal(job.proof.fence, "");
	assert_int_equal(job.proof.persistent, -1);
}

/* Description: an empty histogram has no smallest and no largest value. */
static void test_empty_histogram(void **state)
{
	struct cp_sidecar_job a, b = {.lat = &hists[0]};
	struct cp_err err = {0};

	(void)state;
	fill(&a, 1);
	cp_hist_reset(a.lat);
	char *line = encode(&a);

	assert_int_equal(cp_sidecar_decode(line, strlen(line), &b, &err), 0);
	assert_int_equal(b.lat->count, 0);
	assert_true(b.lat->min_ns == UINT64_MAX);
	free(line);
}

/* Description: a histogram with every bucket in use still fits the line. */
static void test_full_line(void **state)
{
	struct cp_sidecar_job job;

	(void)state;
	fill(&job, 1);
	for (unsigned i = 0; i < CP_HIST_BUCKETS; i++)
		job.lat->buckets[i] = UINT32_MAX;
	char *line = encode(&job);

	assert_true(strlen(line) <= CP_SIDECAR_LINE_MAX);
	free(line);
}

/* Description: lines that do not say what a job has to say are refused. */
static void test_bad_lines(void **state)
{
	static const struct {
		const char *from, *to, *expected;
	} cases[] = {
		{"\"schema\":1", "\"schema\":2", "'schema' is 2"},
		{"\"bytes\":40960", "\"bytes\":-1", "'bytes' is -1"},
		{"\"ios\":10", "\"iox\":10", "'ios' is missing"},
		{"\"end_ns\":2000", "\"end_ns\":1", "ends before it starts"},
		{"\"count\":10", "\"count\":11", "do not add up"},
		{"\"buckets\":[[", "\"buckets\":[[9999,1],[", "out of order or out of"},
		{"\"buckets\":[[", "\"buckets\":[[1],[", "not [bucket,count]"},
		{"\"buckets\":[[", "\"buckets\":[[1,0],[", "count that is not"},
		{"\"errors\":0", "\"errors\":\"\"", "'proof.errors' is a text"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_sidecar_job a, b = {.lat = &hists[0], .job = 99};
		struct cp_err err = {0};
		static char bad[65536];

		fill(&a, 1);
		char *line = encode(&a), *at = strstr(line, cases[i].from);

		assert_non_null(at);
		snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(at - line), line,
			 cases[i].to, at + strlen(cases[i].from));
		if (cp_sidecar_decode(bad, strlen(bad), &b, &err) >= 0)
			fail_msg("accepted %s", cases[i].to);
		if (!strstr(err.msg, cases[i].expected))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].expected);
		assert_int_equal(b.job, 99);
		free(line);
	}
}

/* Description: the window is the widest of the jobs', the device's CPU is counted once,
 * the submitters' is summed, and percentiles are of all I/Os. */
static void test_merge(void **state)
{
	struct cp_sidecar_job jobs[2];
	struct cp_record record;
	struct cp_err err = {0};
	char notes[512];

	(void)state;
	fill(&jobs[0], 1);
	fill(&jobs[1], 2);
	jobs[0].dev_start_ns = 500; /* the first to start, the first to end */
	jobs[0].dev_end_ns = 900500;
	jobs[0].dev_cpu_process_ns = 400000;
	jobs[1].dev_end_ns = 1000500;
	jobs[1].dev_cpu_process_ns = 1500000;
	jobs[1].dev_cpu_engine_ns = 700;
	jobs[1].proof.effective_iodepth = 4;
	jobs[1].proof.errors = 1;
	jobs[1].proof.node = 1;
	snprintf(jobs[1].proof.flush, sizeof(jobs[1].proof.flush), "clwb");
	jobs[1].proof.persistent = 1; /* the other job only reads */
	write_jobs(jobs, 2);
	if (merge(2, &record, notes, sizeof(notes), &err))
		fail_msg("%s", err.msg);

	const double *m = record.metrics;

	assert_true(m[CP_METRIC_BYTES] == 81920);
	assert_true(m[CP_METRIC_ELAPSED_NS] == 1e6);
	assert_true(fabs(m[CP_METRIC_BW] - 81920e3) < 1e-3);
	assert_true(fabs(m[CP_METRIC_IOPS] - 20e3) < 1e-6);
	assert_true(m[CP_METRIC_CPU_NS] == 1500000);
	assert_true(m[CP_METRIC_CPU_SUBMIT_NS] == 600);
	assert_true(m[CP_METRIC_CPU_ENGINE_NS] == 700);
	assert_true(fabs(m[CP_METRIC_CPU_PCT] - 150) < 1e-9);
	assert_true(fabs(m[CP_METRIC_LAT_MEAN] - 1504.5) < 1e-9);
	assert_true(m[CP_METRIC_LAT_P50] < 1020 && m[CP_METRIC_LAT_P99] > 1980);
	assert_true(isnan(m[CP_METRIC_FIO_LAT_MEAN]));
	assert_true(record.has_proof);
	assert_int_equal(record.proof.bytes_cpu, 81920);
	assert_int_equal(record.proof.effective_iodepth, 4);
	assert_int_equal(record.proof.errors, 1);
	assert_int_equal(record.proof.node, -1);
	assert_int_equal(record.proof.page_bytes, 2097152);
	assert_string_equal(record.proof.copy, "memcpy");
	assert_string_equal(record.proof.flush, "clwb");
	assert_string_equal(record.proof.fence, "");
	assert_int_equal(record.proof.persistent, 1);
	assert_string_equal(record.provenance.media, "native");
	assert_string_equal(notes, "");
}

/* Description: the page size is that of all jobs, and unknown where one differs or does
 * not know; a line without it is read. */
static void test_merge_pages(void **state)
{
	static const uint64_t cases[][3] = {{4096, 4096, 4096},
					    {4096, 2097152, 0},
					    {2097152, 0, 0},
					    {0, 4096, 0},
					    {0, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_sidecar_job jobs[2];
		struct cp_record record = {0};
		struct cp_err err = {0};
		char notes[512];

		for (unsigned k = 0; k < 2; k++) {
			fill(&jobs[k], k + 1);
			jobs[k].proof.page_bytes = cases[i][k];
		}
		write_jobs(jobs, 2);
		if (merge(2, &record, notes, sizeof(notes), &err))
			fail_msg("%s", err.msg);
		assert_int_equal(record.proof.page_bytes, cases[i][2]);
	}
}

/* Description: notes reach the caller once each, with a warning when the working set is
 * within the last-level cache. */
static void test_merge_notes(void **state)
{
	struct cp_sidecar_job jobs[2];
	struct cp_record record;
	struct cp_err err = {0};
	char notes[512], tight[8];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		fill(&jobs[i], i + 1);
		jobs[i].media_bytes = 512;
		snprintf(jobs[i].notes, sizeof(jobs[i].notes), "no channel; slow%s",
			 i ? "; only here" : "");
	}
	write_jobs(jobs, 2);
	assert_int_equal(merge(2, &record, notes, sizeof(notes), &err), 0);
	assert_string_equal(notes, "no channel; slow; only here; "
				   "working set is 0.50 of the last-level cache");
	assert_int_equal(merge(2, &record, tight, sizeof(tight), &err), 0);
	assert_string_equal(tight, "slow"); /* whole notes only */
}

/* Description: a missing, surplus or repeated job, and jobs that are not of one sample,
 * are errors that leave the record alone. */
static void test_merge_refuses(void **state)
{
	struct cp_sidecar_job jobs[2];
	struct cp_record record;
	struct cp_err err = {0};
	char notes[64];

	(void)state;
	fill(&jobs[0], 1);
	fill(&jobs[1], 2);
	write_jobs(jobs, 2);
	assert_true(merge(3, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "2 of 3 jobs reported"));
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_false(record.has_proof);
	assert_true(isnan(record.metrics[CP_METRIC_BYTES]));
	assert_true(merge(1, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "line 2: more jobs than asked for"));

	jobs[1].job = 1;
	write_jobs(jobs, 2);
	assert_true(merge(2, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "job 1 reported twice"));

	fill(&jobs[1], 2);
	snprintf(jobs[1].provenance.dma, sizeof(jobs[1].provenance.dma), "software");
	write_jobs(jobs, 2);
	assert_true(merge(2, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "provenance.dma 'software'; expected 'none'"));
}

/* Description: a torn or empty sidecar, or none, and a window of no length. */
static void test_merge_torn(void **state)
{
	struct cp_sidecar_job job;
	struct cp_record record;
	struct cp_err err = {0};
	char notes[64];

	(void)state;
	fill(&job, 1);
	write_jobs(&job, 1);
	char *line = encode(&job);

	assert_int_equal(truncate(path, (off_t)strlen(line) - 1), 0);
	assert_true(merge(1, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "torn line"));
	assert_int_equal(truncate(path, 0), 0);
	assert_true(merge(1, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "0 of 1 jobs reported"));
	job.dev_end_ns = job.dev_start_ns;
	write_jobs(&job, 1);
	assert_true(merge(1, &record, notes, sizeof(notes), &err) < 0);
	assert_non_null(strstr(err.msg, "window is empty"));
	assert_true(cp_sidecar_merge("/nonexistent/sidecar", 1, &record, notes,
				     sizeof(notes), &err) < 0);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	free(line);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_line_of_before),
		cmocka_unit_test(test_empty_histogram),
		cmocka_unit_test(test_full_line),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_pages),
		cmocka_unit_test(test_merge_notes),
		cmocka_unit_test(test_merge_refuses),
		cmocka_unit_test(test_merge_torn),
	};

	return cmocka_run_group_tests_name("sidecar", tests, set_up, tear_down);
}
