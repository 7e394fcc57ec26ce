/* SPDX-License-Identifier: GPL-2.0-only */
/* The record's line: written, read back, and refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/record_priv.h"
#include "results/t/line.h"

/* Description: every field of a record survives being written and read. */
static void test_round_trip(void **state)
{
	struct cp_record a, b;
	struct cp_err err = {0};

	(void)state;
	fill(&a);
	char *line = cp_record_encode(&a, &err);

	assert_non_null(line);
	assert_int_equal(decode(line, &b, &err), 0);
	char *again = cp_record_encode(&b, &err);

	assert_string_equal(line, again);
	assert_true(cp_context_same(&a.context, &b.context));
	assert_true(cp_arm_same(&a.arm, &b.arm));
	assert_string_equal(b.arm.name, a.arm.name);
	assert_int_equal(b.sample, 3);
	assert_true(b.metrics[CP_METRIC_BYTES] == 1048576);
	assert_true(fabs(b.metrics[CP_METRIC_BW] / a.metrics[CP_METRIC_BW] - 1) < 1e-14);
	assert_true(isnan(b.metrics[CP_METRIC_CORUNNER]));
	assert_int_equal(b.proof.fallback.ring_full, 7);
	assert_int_equal(b.proof.queue.merged, 3);
	assert_int_equal(b.proof.queue.crossed, 4);
	assert_int_equal(b.proof.bytes_split, 5);
	assert_int_equal(b.proof.node, -1);
	assert_int_equal(b.proof.page_bytes, 2097152);
	assert_string_equal(b.notes, "a; b");
	assert_string_equal(b.proof.copy, "nt-avx512");
	assert_string_equal(b.proof.flush, "clwb");
	assert_string_equal(b.proof.fence, "sfence");
	assert_int_equal(b.proof.persistent, 1);
	free(line);
	free(again);
}

/* Description: each counter of page mode survives being written and read, and is summed
 * over jobs. */
static void test_page_counters(void **state)
{
	struct cp_record a, b;
	struct cp_err err = {0};
	struct cp_proof sums = {0};

	(void)state;
	fill(&a);
	a.proof.page.pages = 101;
	a.proof.page.overlapped = 102;
	a.proof.page.unmerged = 103;
	a.proof.page.whole_dma = 104;
	a.proof.page.unmerged_dma = 105;
	a.proof.page.off = 106;
	char *line = cp_record_encode(&a, &err);

	assert_non_null(line);
	assert_int_equal(decode(line, &b, &err), 0);
	cp_proof_add(&sums, &b.proof);
	cp_proof_add(&sums, &b.proof);
	assert_int_equal(sums.page.pages, 202);
	assert_int_equal(sums.page.overlapped, 204);
	assert_int_equal(sums.page.unmerged, 206);
	assert_int_equal(sums.page.whole_dma, 208);
	assert_int_equal(sums.page.unmerged_dma, 210);
	assert_int_equal(sums.page.off, 212);
	free(line);
}

/* Description: page mode is proven by the way that the target's rw_page says, alone. */
static void test_prove_page(void **state)
{
	static const struct {
		const char *mode;
		bool rw_page;
		uint64_t pages, off;
		const char *why;
	} cases[] = {
		{"page", true, 256, 0, ""},
		{"page", false, 0, 16, ""},
		{"page", true, 255, 1,
		 "queue_mode page sent 1 I/Os by bio, with rw_page on; expected none"},
		{"page", false, 1, 16,
		 "1 pages went by page, with rw_page off; expected none"},
		{"bio", true, 0, 1, ""},
	};
	struct cp_record record;
	char why[200];

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		fill(&record);
		record.proof.fallback.ring_full = 0;
		snprintf(record.arm.queue_mode, sizeof(record.arm.queue_mode), "%s",
			 cases[c].mode);
		record.context.rw_page = cases[c].rw_page;
		record.proof.page.pages = cases[c].pages;
		record.proof.page.off = cases[c].off;
		assert_int_equal(cp_record_prove(&record, why, sizeof(why)),
				 !*cases[c].why);
		assert_string_equal(why, cases[c].why);
	}
}

/* Description: the line has the format's keys, in the format's order. */
static void test_key_order(void **state)
{
	static const char *const keys[] = {
		"{\"schema\":1,\"run\":\"r1\",\"sample\":3,\"t\":",
		"\"host\":\"h\"",
		"\"context\":{\"rw\":\"read\",\"bs\":65536,\"numjobs\":1,\"iodepth\":1,"
		"\"segments\":16,\"numa\":\"local\",\"layer\":\"none\",\"attr\":\"wb\","
		"\"media\":\"anon\",\"corunner\":\"none\",\"misalign_near\":8,"
		"\"misalign_far\":16}",
		"\"arm\":{\"name\":",
		"\"queue_mode\":\"bio\"",
		"\"batch\":1",
		"\"provenance\":{\"media\":\"native\",\"attr\":\"native\",\"dma\":"
		"\"none\"}",
		"\"metrics\":{\"bytes\":1048576,\"elapsed_ns\":null,\"bw_bytes_per_s\":",
		"\"lat_ns_p99\":0.1,",
		"\"corunner_ops_per_s\":null",
		"\"proof\":{\"bytes_cpu\":1048576,\"bytes_dma\":0,\"bytes_simulated\":0,"
		"\"bytes_fallback\":0,\"fallback\":{\"no_channel\":0,\"ring_full\":7,"
		"\"error\":0,\"too_many_segments\":0},\"queue\":{\"requests\":0,"
		"\"merged\":3,\"transactions\":0,\"split\":0,\"crossed\":4,\"timed\":0},"
		"\"bytes_split\":5,\"errors\":0,\"verify\":\"off\","
		"\"effective_iodepth\":1",
		"\"perf\":null"};
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	fill(&record);
	char *line = cp_record_encode(&record, &err);
	const char *at = line;

	assert_non_null(line);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = strstr(at, keys[i]);
		if (!at) {
			fail_msg("missing or out of order: %s in %s", keys[i], line);
			return;
		}
		at += strlen(keys[i]);
	}
	assert_null(strstr(line, "\"failed\""));
	assert_null(strchr(line, '\n'));
	free(line);
}

/* Description: what may be left out takes its default; null is the same as absent. */
static void test_defaults(void **state)
{
	static const char line[] =
		"{\"schema\":1,\"run\":\"r\",\"sample\":9,\"host\":\"h\",\"context\":{"
		"\"rw\":\"randwrite\",\"bs\":6000,\"numjobs\":2,\"iodepth\":4,\"media\":"
		"\"file\"},\"arm\":{\"name\":\"a\",\"queue_mode\":\"bio\",\"path\":"
		"\"cpu\"},"
		"\"provenance\":{\"media\":\"external\",\"attr\":\"external\",\"dma\":"
		"\"external\"},\"metrics\":{\"iops\":1},\"proof\":null}";
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(decode(line, &record, &err), 0);
	assert_int_equal(record.context.segments, 2);
	assert_string_equal(record.context.layer, "none");
	assert_string_equal(record.arm.completion, "sync");
	assert_int_equal(record.arm.batch, 1);
	assert_false(record.has_proof);
	assert_true(isnan(record.metrics[CP_METRIC_BYTES]));
	assert_true(record.metrics[CP_METRIC_IOPS] == 1);
}

/* Description: words this build does not serve are data, and are read. */
static void test_unserved_words(void **state)
{
	static const char line[] =
		"{" HEAD
		"\"context\":{\"rw\":\"read\",\"bs\":512,\"numjobs\":1,\"iodepth\":1,"
		"\"media\":\"dax\",\"layer\":\"btt:sector=4096+linear\",\"attr\":\"uc\"},"
		"\"arm\":{\"name\":\"x\",\"queue_mode\":\"page\",\"path\":\"dma\","
		"\"dma\":"
		"\"idxd:/dev/dsa/wq0.0\",\"completion\":\"hybrid\"}" REST "}";
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(decode(line, &record, &err), 0);
	assert_string_equal(record.context.media, "dax");
	assert_string_equal(record.arm.dma, "idxd:/dev/dsa/wq0.0");
	assert_string_equal(record.arm.queue_mode, "page");
	assert_string_equal(record.arm.completion, "hybrid");
}

/* Description: keys that this build does not know are still there when a record that was
 * read is written. */
static void test_unknown_keys(void **state)
{
	static const char line[] =
		"{" HEAD CONTEXT "," ARM "," PROVENANCE
		",\"metrics\":{\"bytes\":65536,\"new\":4},\"perf\":{\"cycles\":5},"
		"\"later\":[1],\"failed\":\"old\"}";
	struct cp_record record;
	struct cp_err err = {0};
	unsigned column;

	(void)state;
	assert_int_equal(cp_record_decode_raw(line, strlen(line), &record, &column, &err),
			 0);
	record.failed[0] = '\0';
	char *again = cp_record_encode(&record, &err);

	assert_non_null(again);
	assert_non_null(strstr(again, "\"new\":4"));
	assert_non_null(strstr(again, "\"perf\":{\"cycles\":5}"));
	assert_non_null(strstr(again, "\"later\":[1]"));
	assert_null(strstr(again, "failed"));
	json_decref(record.raw);
	free(again);
}

#define WITH(head, context, arm, metrics) \
	"{" head context "," arm "," PROVENANCE "," metrics "," PROOF "}"
static const struct {
	const char *line, *expected;
} bad_lines[] = {
	{"", "not JSON"},
	{"[]", "not an object"},
	{"{\"schema\":1,\"schema\":1}", "duplicate"},
	{LINE "x", "not JSON"},
	{"{\"schema\":1,\"run\":\"a\\u0000b\"}", "not JSON"},
	{"{}", "'schema' is missing"},
	{"{\"schema\":2}", "'schema' is 2; expected 1"},
	{"{\"schema\":\"1\"}", "'schema' is a text; expected an integer"},
	{"{\"schema\":1,\"run\":7}", "'run' is an integer; expected a text"},
	{WITH(HEAD, "\"context\":[]", ARM, METRICS), "'context' is a list"},
	{WITH(HEAD,
	      "\"context\":{\"rw\":\"read\",\"bs\":1,\"numjobs\":1,\"iodepth\":1,"
	      "\"media\":\"anon\",\"misalign_far\":-8}",
	      ARM, METRICS),
	 "'context.misalign_far' is -8; expected 0 to"},
	{WITH(HEAD, "\"context\":{\"rw\":\"read\"}", ARM, METRICS),
	 "'context.bs' is missing"},
	{WITH(HEAD,
	      "\"context\":{\"rw\":\"trim\",\"bs\":1,\"numjobs\":1,\"iodepth\":1,"
	      "\"media\":\"anon\"}",
	      ARM, METRICS),
	 "'context.rw' is 'trim'; expected read, write, randread or randwrite"},
	{WITH(HEAD, "\"context\":{\"rw\":\"read\",\"bs\":-4096}", ARM, METRICS),
	 "'context.bs' is -4096; expected 1 to"},
	{WITH(HEAD, "\"context\":{\"rw\":\"read\",\"bs\":4096.5}", ARM, METRICS),
	 "'context.bs' is a fraction; expected an integer"},
	{WITH(HEAD, "\"context\":{\"rw\":\"read\",\"bs\":4096,\"numjobs\":4294967296}",
	      ARM, METRICS),
	 "'context.numjobs' is 4294967296; expected 1 to 4294967295"},
	{WITH(HEAD, "\"context\":{\"rw\":\"read\",\"bs\":99999999999999999999}", ARM,
	      METRICS),
	 "too big integer"},
	{WITH(HEAD, CONTEXT, "\"arm\":{\"queue_mode\":\"bio\",\"path\":\"cpu\"}",
	      METRICS),
	 "'arm.name' is missing"},
	{WITH(HEAD, CONTEXT,
	      "\"arm\":{\"name\":\"\",\"queue_mode\":\"bio\",\"path\":\"cpu\"}", METRICS),
	 "'arm.name' is empty"},
	{WITH(HEAD, CONTEXT,
	      "\"arm\":{\"name\":\"x\",\"queue_mode\":\"bio\",\"path\":\"cpu\","
	      "\"copy\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
	      METRICS),
	 "'arm.copy' has 51 bytes; expected at most 31"},
	{WITH(HEAD, CONTEXT, ARM, "\"metrics\":null"), "'metrics' is null"},
	{WITH(HEAD, CONTEXT, ARM, "\"metrics\":{\"iops\":\"5\"}"),
	 "'metrics.iops' is a text; expected a number or null"},
	{WITH(HEAD, CONTEXT, ARM, "\"metrics\":{\"iops\":-1}"),
	 "'metrics.iops' is -1; expected a finite number, 0 or more"},
	{WITH(HEAD, CONTEXT, ARM, "\"metrics\":{\"iops\":1e999}"),
	 "real number overflow"},
	{WITH(HEAD, CONTEXT, ARM, "\"metrics\":{\"iops\":NaN}"), "not JSON"},
	{"{" HEAD CONTEXT "," ARM "," PROVENANCE "," METRICS
	 ",\"proof\":{\"fallback\":{\"ring_full\":true}}}",
	 "'proof.fallback.ring_full' is a truth value; expected an integer"},
	{"{" HEAD CONTEXT "," ARM "," PROVENANCE "," METRICS
	 ",\"proof\":{\"page_bytes\":-1}}",
	 "'proof.page_bytes' is -1; expected 1 to "},
	{"{" HEAD CONTEXT "," ARM "," METRICS "}", "'provenance' is missing"},
};

/* Description: a bad line is refused with the path of the key that is bad. */
static void test_bad_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
		struct cp_record record = {.sample = 77};
		struct cp_err err = {0};

		if (decode(bad_lines[i].line, &record, &err) >= 0)
			fail_msg("accepted: %s", bad_lines[i].line);
		if (!strstr(err.msg, bad_lines[i].expected))
			fail_msg("'%s' lacks '%s'", err.msg, bad_lines[i].expected);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_int_equal(record.sample, 77); /* outputs only on success */
	}
}

/* Description: an embedded NUL or a deep nest ends in an error, whatever its size. */
static void test_hostile(void **state)
{
	static char deep[200001];
	char nul[] = LINE;
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_record_decode(nul, sizeof(nul) - 1, &record, &err), 0);
	nul[20] = '\0';
	assert_true(cp_record_decode(nul, sizeof(nul) - 1, &record, &err) < 0);
	assert_true(cp_record_decode(LINE "\0", sizeof(LINE), &record, &err) < 0);
	memset(deep, '[', sizeof(deep) - 1);
	assert_true(decode(deep, &record, &err) < 0);
	assert_non_null(strstr(err.msg, "nested"));
}

/* Description: what cannot be read back is not written. */
static void test_encode_refuses(void **state)
{
	struct cp_record record;
	struct cp_err err = {0};

	(void)state;
	fill(&record);
	record.metrics[CP_METRIC_IOPS] = INFINITY;
	assert_null(cp_record_encode(&record, &err));
	assert_non_null(strstr(err.msg, "'metrics.iops' is inf"));
	fill(&record);
	snprintf(record.arm.name, sizeof(record.arm.name), "\xff\xfe");
	assert_null(cp_record_encode(&record, &err));
	assert_non_null(strstr(err.msg, "'arm.name' is not valid UTF-8"));
	fill(&record);
	record.proof.bytes_dma = UINT64_MAX;
	assert_null(cp_record_encode(&record, &err));
	assert_non_null(strstr(err.msg, "'proof.bytes_dma'"));
}

/* Description: a reason that quotes bytes of another program never costs the record. */
static void test_failed_bytes(void **state)
{
	struct cp_record record, back;
	struct cp_err err = {0};

	(void)state;
	fill(&record);
	snprintf(record.failed, sizeof(record.failed), "fio: \xe2\x82 cut");
	char *line = cp_record_encode(&record, &err);

	assert_non_null(line);
	assert_int_equal(decode(line, &back, &err), 0);
	assert_string_equal(back.failed, "fio: ?? cut");
	free(line);
}

/* Description: the proof fails a sample whose requested path did not carry its bytes. */
static void test_proof(void **state)
{
	static const struct {
		const char *queue_mode, *path, *dma;
		double bytes;
		uint64_t cpu, moved, simulated, fallback, errors;
		const char *reason; /* NULL = holds */
	} cases[] = {
		{"bio", "cpu", "none", 1000, 1000, 0, 0, 0, 0, NULL},
		{"bio", "cpu", "none", 1000, 1000, 0, 0, 0, 1, "1 i/o errors"},
		{"bio", "cpu", "none", 1000, 999, 0, 0, 0, 0, "carried 999 bytes"},
		{"bio", "cpu", "none", 0, 0, 0, 0, 0, 0, "no bytes were moved"},
		{"mq", "cpu", "none", 1000, 999, 1, 0, 0, 0, "path cpu moved 1 bytes"},
		{"bio", "auto", "sw", 1000, 0, 1000, 0, 0, 0,
		 "queue_mode bio moved 1000"},
		{"mq", "dma", "sw", 1000, 0, 1000, 0, 0, 0, NULL},
		{"mq", "dma", "sw", 1000, 1, 999, 0, 1, 0, NULL},
		{"mq", "dma", "sw", 1000, 2, 998, 0, 2, 0, "left 0.2 %"},
		{"mq", "dma", "sw", 1000, 1000, 0, 0, 1000, 0,
		 "left 100 % of its bytes to the cpu; expected at most 0.1 % "
		 "(the ring was full: 7 I/Os, the engine refused: 467 I/Os)"},
		/* bytes that took the cpu without being counted as fallback */
		{"mq", "dma", "sw", 1000, 500, 500, 0, 0, 0,
		 "left 50 % of its bytes to the cpu; expected at most 0.1 %"},
		{"mq", "dma", "sw", 1000, 0, 0, 1000, 0, 0, "simulated 1000 bytes"},
		{"mq", "dma", "null:delay=20us", 1000, 0, 0, 1000, 0, 0, NULL},
		{"mq", "dma", "model", 1000, 0, 0, 1000, 0, 0, NULL},
		{"mq", "dma", "fault:null", 1000, 0, 0, 1000, 0, 0, NULL},
		{"mq", "dma", "fault:null,error=1%", 1000, 0, 0, 1000, 0, 0, NULL},
		{"mq", "dma", "fault/model", 1000, 0, 0, 1000, 0, 0, NULL},
		{"mq", "dma", "fault:sw,error=1%", 1000, 0, 0, 1000, 0, 0, "simulated"},
		{"mq", "dma", "fault", 1000, 0, 0, 1000, 0, 0, "simulated"},
		{"mq", "dma", "nullish", 1000, 0, 0, 1000, 0, 0, "simulated"},
		{"mq", "auto", "sw", 1000, 400, 600, 0, 0, 0, NULL},
		{"mq", "auto", "sw", 1000, 300, 600, 0, 0, 0, "carried 900"},
		{"mq", "cpu", "none", NAN, 5, 0, 0, 0, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record r;
		char buf[256];

		cp_record_init(&r);
		r.has_proof = true;
		snprintf(r.arm.queue_mode, sizeof(r.arm.queue_mode), "%s",
			 cases[i].queue_mode);
		snprintf(r.arm.path, sizeof(r.arm.path), "%s", cases[i].path);
		snprintf(r.arm.dma, sizeof(r.arm.dma), "%s", cases[i].dma);
		r.metrics[CP_METRIC_BYTES] = cases[i].bytes;
		r.proof.bytes_cpu = cases[i].cpu;
		r.proof.bytes_dma = cases[i].moved;
		r.proof.bytes_simulated = cases[i].simulated;
		r.proof.bytes_fallback = cases[i].fallback;
		r.proof.errors = cases[i].errors;
		/* the reasons that are known, and no others */
		r.proof.fallback.ring_full = cases[i].fallback == 1000 ? 7 : 0;
		r.proof.fallback.error = cases[i].fallback == 1000 ? 467 : 0;

		bool holds = cp_record_prove(&r, buf, sizeof(buf));

		if (holds != !cases[i].reason ||
		    (cases[i].reason && !strstr(buf, cases[i].reason)) ||
		    (!cases[i].fallback && strchr(buf, '(')))
			fail_msg("case %zu: %d '%s'", i, holds, buf);
		assert_int_equal(cp_record_prove(&r, NULL, 0), holds);
		assert_int_equal(cp_record_failed(&r, buf, sizeof(buf)), !holds);
	}
}

/* Description: a proof of before durability says nothing about it, as null does; true and
 * false are told apart, other values refused. */
static void test_persistent(void **state)
{
	static const struct {
		const char *text;
		int persistent; /* 9: refused */
	} cases[] = {{"", -1},
		     {",\"persistent\":null", -1},
		     {",\"persistent\":true", 1},
		     {",\"persistent\":false", 0},
		     {",\"persistent\":1", 9}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record record;
		struct cp_err err = {0};
		char line[2048];

		snprintf(line, sizeof(line),
			 "{" HEAD CONTEXT "," ARM "," PROVENANCE "," METRICS
			 ",\"proof\":{\"bytes_cpu\":65536%s}}",
			 cases[i].text);
		int rc = decode(line, &record, &err);

		assert_int_equal(rc != 0, cases[i].persistent == 9);
		if (rc)
			assert_non_null(strstr(err.msg, "'proof.persistent'"));
		else
			assert_int_equal(record.proof.persistent, cases[i].persistent);
		if (!rc)
			assert_string_equal(record.arm.persist, "none");
	}
}

/* Description: writes that require persistence fail without it, and where the proof does
 * not tell; reads and weaker promises do not. */
static void test_proof_persist(void **state)
{
	static const struct {
		const char *rw, *persist;
		int persistent;
		bool holds;
	} cases[] = {{"write", "require", 1, true},	  {"write", "require", 0, false},
		     {"randwrite", "require", -1, false}, {"read", "require", 0, true},
		     {"write", "auto", 0, true},	  {"write", "none", -1, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record r;
		char buf[256];

		cp_record_init(&r);
		r.has_proof = true;
		r.metrics[CP_METRIC_BYTES] = 5;
		r.proof.bytes_cpu = 5;
		snprintf(r.context.rw, sizeof(r.context.rw), "%s", cases[i].rw);
		snprintf(r.arm.persist, sizeof(r.arm.persist), "%s", cases[i].persist);
		r.proof.persistent = cases[i].persistent;
		assert_int_equal(cp_record_prove(&r, buf, sizeof(buf)), cases[i].holds);
		if (!cases[i].holds)
			assert_non_null(strstr(buf, "persist require on memory"));
	}
}

/* Description: a sample fails as stored, or by a proof that the writer did not check;
 * without a proof there is nothing to fail. */
static void test_failed(void **state)
{
	struct cp_record r;
	char buf[256];

	(void)state;
	cp_record_init(&r);
	assert_false(cp_record_failed(&r, buf, sizeof(buf)));
	snprintf(r.failed, sizeof(r.failed), "fio ended with 1");
	assert_true(cp_record_failed(&r, buf, sizeof(buf)));
	assert_string_equal(buf, "fio ended with 1");
	r.failed[0] = '\0';
	r.has_proof = true;
	r.proof.errors = 2;
	assert_true(cp_record_failed(&r, buf, sizeof(buf)));
}

/* Description: the figures of null are the harness's, and those of no other engine. */
static void test_harness(void **state)
{
	static const struct {
		const char *asked, *was;
		bool harness;
	} cases[] = {
		{"null", "null", true},	   {"null:delay=5us", "", true},
		{"model", "model", false}, {"model:bw=2g", "", false},
		{"auto", "sw/nt", false},  {"none", "", false},
		{"nullify", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_record record;

		cp_record_init(&record);
		snprintf(record.arm.dma, sizeof(record.arm.dma), "%s", cases[i].asked);
		snprintf(record.proof.dma, sizeof(record.proof.dma), "%s", cases[i].was);
		assert_int_equal(cp_record_harness(&record), cases[i].harness);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_harness),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_page_counters),
		cmocka_unit_test(test_prove_page),
		cmocka_unit_test(test_key_order),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_unserved_words),
		cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_encode_refuses),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_persistent),
		cmocka_unit_test(test_proof_persist),
		cmocka_unit_test(test_failed_bytes),
		cmocka_unit_test(test_failed),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
