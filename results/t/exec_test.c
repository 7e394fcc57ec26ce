/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of driver exec, asked and answered. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "results/exec.h"

static void decode(const char *line, struct cp_record *record, json_t **extra)
{
	struct cp_err err = {0};

	cp_record_init(record);
	*extra = NULL;
	if (cp_exec_answer_decode(line, strlen(line), record, extra, &err))
		fail_msg("%s: %s", line, err.msg);
}

/* Description: what is no answer is refused with words, and the record stays as it was.
 */
static void test_bad(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"", "not JSON"},
		{"hello", "not JSON"},
		{"[1]", "not an object"},
		{"{\"metrics\":{\"bytes\":NaN}}", "not JSON"},
		{"{\"metrics\":{\"bytes\":1e999}}", "not JSON"},
		{"{\"metrics\":{\"bytes\":1}} {}", "not JSON"},
		{"{\"metrics\":{\"bytes\":1,\"bytes\":2}}", "duplicate"},
		{"{\"metrics\":{\"bytes\":1},\"metrics\":{\"bytes\":2}}", "duplicate"},
		{"{\"metrics\":{\"bytes\":\"1\"}}", "'metrics.bytes'"},
		{"{\"metrics\":{\"bytes\":-1}}", "finite number, 0 or more"},
		{"{\"metrics\":[]}", "'metrics'"},
		{"{\"metrics\":{}}", "no metric"},
		{"{\"metrics\":{\"bytes\":null}}", "no metric"},
		{"{}", "no metric"},
		{"{\"bytes\":true}", "'metrics.bytes'"},
		{"{\"metrics\":{\"mine\":\"x\"}}", "'metrics.mine'"},
		{"{\"metrics\":{\"mine\":{}}}", "'metrics.mine'"},
		{"{\"metrics\":{\"\":1}}", "name of 0 bytes"},
		{"{\"proof\":null}", "'metrics' is missing"},
		{"{\"metrics\":{\"bytes\":1},\"prof\":{}}", "unknown key 'prof'"},
		{"{\"metrics\":{\"bytes\":1},\"proof\":7}", "'proof'"},
		{"{\"metrics\":{\"bytes\":1},\"proof\":{\"bytes_cpu\":-1}}",
		 "'proof.bytes_cpu'"},
		{"{\"metrics\":{\"bytes\":1},\"notes\":7}", "'notes'"},
		{"{\"metrics\":{\"bytes\":1},\"error\":7}", "'error'"},
		{"{\"metrics\":{\"bytes\":1},\"window\":{\"start_ns\":1}}", "end_ns"},
		{"{\"metrics\":{\"bytes\":1},\"window\":{\"start_ns\":2,\"end_ns\":2}}",
		 "'window' ends before"},
		{"{\"failed\":\"text\"}", "unknown key 'failed'"},
		{"{\"bytes\":1000,\"elapsed_ns\":1000,\"bw_bytes_per_s\":1e15}",
		 "'bw_bytes_per_s' is 1000000000000000, but bytes / elapsed_ns is "
		 "1000000000;"},
		{"{\"bytes\":4096,\"elapsed_ns\":1000,\"iops\":2e6}",
		 "'iops' is 2000000"},
		{"{\"elapsed_ns\":1000,\"cpu_ns\":500,\"cpu_pct\":99}",
		 "'cpu_pct' is 99"},
		{"{\"lat_ns_p50\":3,\"lat_ns_p99\":2}", "percentiles in order"},
		{"{\"lat_ns_p50\":3,\"lat_ns_p999\":2}", "percentiles in order"},
		{"{\"bytes\":1e17}", "at most 72057594037927936"},
		{"{\"metrics\":{\"elapsed_ns\":9000000},\"window\":{\"start_ns\":1,"
		 "\"end_ns\":2000001}}",
		 "window's length"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record record, before;
		json_t *extra = NULL;
		struct cp_err err = {0};

		cp_record_init(&record);
		record.sample = 7;
		memcpy(&before, &record, sizeof(before));
		if (!cp_exec_answer_decode(cases[i].line, strlen(cases[i].line), &record,
					   &extra, &err))
			fail_msg("taken: %s", cases[i].line);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%s: '%s' lacks '%s'", cases[i].line, err.msg,
				 cases[i].says);
		assert_memory_equal(&record, &before, sizeof(record));
		assert_null(extra);
	}
}

/* Description: an object of metrics alone is an answer, and what follows is derived. */
static void test_bare(void **state)
{
	struct cp_record record;
	json_t *extra;

	(void)state;
	decode("{\"bytes\":8192,\"elapsed_ns\":2000000000,\"cpu_ns\":1000000000}",
	       &record, &extra);
	assert_true(record.metrics[CP_METRIC_BW] == 4096.0);
	assert_true(record.metrics[CP_METRIC_IOPS] == 1.0); /* bs is 4k */
	assert_true(record.metrics[CP_METRIC_CPU_PCT] == 50.0);
	assert_true(isnan(record.metrics[CP_METRIC_LAT_P50]));
	assert_false(record.has_proof);
	assert_string_equal(record.provenance.media, "external");
	assert_string_equal(record.provenance.attr, "external");
	assert_string_equal(record.provenance.dma, "external");
	assert_null(extra);
}

/* Description: what the program gives itself is not derived over. */
static void test_given(void **state)
{
	struct cp_record record;
	json_t *extra;

	(void)state;
	decode("{\"bytes\":8192,\"elapsed_ns\":1000000000,"
	       "\"bw_bytes_per_s\":8200,\"iops\":2.5,\"cpu_ns\":70000000,\"cpu_pct\":7."
	       "05}",
	       &record, &extra);
	assert_true(record.metrics[CP_METRIC_BW] == 8200);
	assert_true(record.metrics[CP_METRIC_IOPS] == 2.5);
	assert_true(record.metrics[CP_METRIC_CPU_PCT] == 7.05);
}

/* Description: notes, window and proof arrive; elapsed_ns follows from the window. */
static void test_whole(void **state)
{
	struct cp_record record;
	json_t *extra;

	(void)state;
	decode("{\"metrics\":{\"app_ops_per_s\":12.5},\"notes\":\"hm\",\"window\":"
	       "{\"start_ns\":1000,\"end_ns\":3000},\"proof\":{\"bytes_cpu\":4096},"
	       "\"error\":null}",
	       &record, &extra);
	assert_true(record.metrics[CP_METRIC_APP] == 12.5);
	assert_true(record.metrics[CP_METRIC_ELAPSED_NS] == 2000);
	assert_int_equal(record.window_start_ns, 1000);
	assert_int_equal(record.window_end_ns, 3000);
	assert_string_equal(record.notes, "hm");
	assert_true(record.has_proof);
	assert_int_equal(record.proof.bytes_cpu, 4096);
	assert_string_equal(record.failed, "");
}

/* Description: an error is the sample's, in the program's words, however many. */
static void test_error(void **state)
{
	struct cp_record record;
	json_t *extra;
	char line[1200];

	(void)state;
	decode("{\"error\":\"no space\"}", &record, &extra);
	assert_string_equal(record.failed, "program: no space");
	snprintf(line, sizeof(line), "{\"error\":\"%01000d\"}", 7);
	decode(line, &record, &extra);
	assert_int_equal(strlen(record.failed), strlen("program: ") + 240);
}

/* Description: figures of other names are in the record's line, and in that only. */
static void test_extra(void **state)
{
	struct cp_record record, again;
	struct cp_err err = {0};
	json_t *extra;

	(void)state;
	decode("{\"metrics\":{\"bytes\":1,\"rows\":7,\"drift\":-0.5,\"none\":null}}",
	       &record, &extra);
	assert_non_null(extra);
	snprintf(record.run, sizeof(record.run), "r");
	snprintf(record.host, sizeof(record.host), "h");
	snprintf(record.arm.name, sizeof(record.arm.name), "a");
	record.raw = extra;
	char *line = cp_record_encode(&record, &err);
	assert_non_null(line);
	assert_non_null(strstr(line, "\"rows\":7,\"drift\":-0.5,\"none\":null}"));
	assert_int_equal(cp_record_decode(line, strlen(line), &again, &err), 0);
	assert_true(again.metrics[CP_METRIC_BYTES] == 1);
	free(line);
	json_decref(extra);
}

/* Description: more names of its own than there is room for are refused. */
static void test_extra_many(void **state)
{
	char line[4096] = "{\"bytes\":1";
	struct cp_record record;
	struct cp_err err = {0};
	json_t *extra = NULL;

	(void)state;
	for (int i = 0; i <= CP_EXEC_EXTRA_MAX; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), ",\"x%d\":1",
			 i);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "}");
	cp_record_init(&record);
	assert_int_not_equal(
		cp_exec_answer_decode(line, strlen(line), &record, &extra, &err), 0);
	assert_null(extra);
}

/* Description: an answer that was encoded is decoded to the same figures. */
static void test_answer_again(void **state)
{
	struct cp_record record, again;
	struct cp_err err = {0};
	json_t *extra;

	(void)state;
	cp_record_init(&record);
	record.metrics[CP_METRIC_BYTES] = 4096;
	record.metrics[CP_METRIC_ELAPSED_NS] = 1000;
	record.metrics[CP_METRIC_LAT_P99] = 12.25;
	record.metrics[CP_METRIC_APP] = 3.5;
	record.has_proof = true;
	record.proof.bytes_dma = 4096;
	record.window_start_ns = 5;
	record.window_end_ns = 1005;
	snprintf(record.notes, sizeof(record.notes), "n");
	char *line = cp_exec_answer_encode(&record, &err);
	assert_non_null(line);
	assert_int_equal(line[strlen(line) - 1], '\n');
	line[strlen(line) - 1] = '\0';
	decode(line, &again, &extra);
	assert_true(again.metrics[CP_METRIC_BYTES] == 4096);
	assert_true(again.metrics[CP_METRIC_LAT_P99] == 12.25);
	assert_true(again.metrics[CP_METRIC_APP] == 3.5);
	assert_int_equal(again.proof.bytes_dma, 4096);
	assert_int_equal(again.window_end_ns, 1005);
	assert_string_equal(again.notes, "n");
	assert_null(extra);
	free(line);

	snprintf(record.failed, sizeof(record.failed), "no");
	line = cp_exec_answer_encode(&record, &err);
	assert_string_equal(line, "{\"error\":\"no\"}\n");
	free(line);
}

/* Description: a request that was encoded is decoded to the same cell. */
static void test_request_again(void **state)
{
	struct cp_exec_request request = {.sample = 3,
					  .seed = 99,
					  .size = 1U << 20,
					  .runtime_ns = 7,
					  .ramp_ns = 8,
					  .nr_cpus = 2,
					  .cpus = {0, 5}},
			       again;
	struct cp_err err = {0};

	(void)state;
	cp_context_init(&request.context);
	cp_arm_init(&request.arm);
	request.context.bs = 65536;
	snprintf(request.context.driver, CP_WORD_MAX, "exec");
	snprintf(request.arm.name, CP_NAME_MAX, "offload/irq");
	snprintf(request.arm.queue_mode, CP_WORD_MAX, "mq");
	snprintf(request.filename, sizeof(request.filename), "/tmp/x");
	char *line = cp_exec_request_encode(&request, &err);
	assert_non_null(line);
	assert_int_equal(cp_exec_request_decode(line, strlen(line), &again, &err), 0);
	assert_true(cp_context_same(&request.context, &again.context));
	assert_string_equal(again.arm.name, "offload/irq");
	assert_string_equal(again.arm.queue_mode, "mq");
	assert_int_equal(again.sample, 3);
	assert_int_equal(again.seed, 99);
	assert_int_equal(again.size, 1U << 20);
	assert_int_equal(again.runtime_ns, 7);
	assert_int_equal(again.ramp_ns, 8);
	assert_string_equal(again.filename, "/tmp/x");
	assert_int_equal(again.nr_cpus, 2);
	assert_int_equal(again.cpus[1], 5);
	free(line);
}

/* Description: a request from elsewhere is refused with words, not taken in part. */
static void test_request_bad(void **state)
{
#define CELL                                                                            \
	"\"cell\":{\"context\":{\"rw\":\"read\",\"bs\":4096,\"numjobs\":1,\"iodepth\":" \
	"1,"                                                                            \
	"\"media\":\"anon\"},\"arm\":{\"name\":\"a\",\"queue_mode\":\"bio\",\"path\":"  \
	"\"cpu\"}}"
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"{}", "'cell'"},
		{"{" CELL "}", "'size'"},
		{"{" CELL ",\"size\":0,\"runtime_ns\":1}", "'size'"},
		{"{" CELL ",\"size\":1}", "'runtime_ns'"},
		{"{" CELL ",\"size\":1,\"runtime_ns\":1,\"cpus\":7}", "'cpus'"},
		{"{" CELL ",\"size\":1,\"runtime_ns\":1,\"cpus\":[-1]}", "'cpus'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_exec_request request;
		struct cp_err err = {0};

		assert_int_not_equal(cp_exec_request_decode(cases[i].line,
							    strlen(cases[i].line),
							    &request, &err),
				     0);
		assert_non_null(strstr(err.msg, cases[i].says));
	}
	struct cp_exec_request request;
	struct cp_err err = {0};
	static const char more[] = "{" CELL ",\"size\":1,\"runtime_ns\":1,\"new\":{}}";

	assert_int_equal(cp_exec_request_decode(more, strlen(more), &request, &err), 0);
}

/* Description: no sample takes longer than the harness waited, nor more CPUs than are. */
static void test_wall(void **state)
{
	static const struct {
		const char *line;
		uint64_t wall_ns;
		const char *says; /* NULL: good */
	} cases[] = {
		{"{\"elapsed_ns\":50000000000}", 50000000, "'elapsed_ns' is 50000000000"},
		{"{\"elapsed_ns\":50000000}", 50000000, NULL},
		{"{\"elapsed_ns\":50000000,\"cpu_ns\":100000000}", 60000000, NULL},
		{"{\"elapsed_ns\":50000000,\"cpu_ns\":200000000}", 60000000, "'cpu_ns'"},
		{"{\"elapsed_ns\":50000000,\"cpu_pct\":400}", 60000000, "'cpu_pct'"},
		{"{\"cpu_engine_ns\":200000000}", 60000000, "'cpu_engine_ns'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record record;
		struct cp_err err = {0};
		json_t *extra;

		decode(cases[i].line, &record, &extra);
		int rc = cp_exec_wall_check(&record, cases[i].wall_ns, 2, &err);

		assert_int_equal(!rc, !cases[i].says);
		if (cases[i].says && !strstr(err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].line, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),	      cmocka_unit_test(test_bare),
		cmocka_unit_test(test_given),	      cmocka_unit_test(test_whole),
		cmocka_unit_test(test_error),	      cmocka_unit_test(test_extra),
		cmocka_unit_test(test_extra_many),    cmocka_unit_test(test_answer_again),
		cmocka_unit_test(test_request_again), cmocka_unit_test(test_request_bad),
		cmocka_unit_test(test_wall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
