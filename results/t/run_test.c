/* SPDX-License-Identifier: GPL-2.0-only */
/* Run directories and their manifests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engines/base/file.h"
#include "results/run.h"

static char root[64];
static char manifest_file[128];

static void fill(struct cp_manifest *manifest)
{
	*manifest = (struct cp_manifest){.run = "r1",
					 .t = "2026-11-30T12:00:00Z",
					 .host = "h",
					 .copypath = "0.1.0",
					 .fio = "fio-3.33",
					 .config_hash = "sha256:00",
					 .fingerprint = "sha256:11",
					 .planned = 12};
	manifest->hard = json_pack("{s:s}", "kernel", "6.1");
	manifest->soft = json_pack("{s:n}", "turbo");
	manifest->config = json_pack("{s:{s:i}}", "run", "samples", 5);
	manifest->argv = json_pack("[s,s]", "run", "quick.yaml");
	manifest->unmeasured = json_pack("[{s:s}]", "cell", "c");
}

static void write_text(const char *text)
{
	struct cp_file_new file;
	struct cp_err err = {0};

	assert_int_equal(cp_file_new_open(manifest_file, &file, &err), 0);
	fputs(text, file.stream);
	assert_int_equal(cp_file_new_commit(&file, &err), 0);
}

/* Description: a manifest survives being written and read, by directory and by file. */
static void test_manifest_round_trip(void **state)
{
	struct cp_manifest a, b, c;
	struct cp_err err = {0};
	char records[128];

	(void)state;
	fill(&a);
	a.complete = true;
	if (cp_manifest_write(root, &a, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(cp_manifest_read(root, &b, &err), 0);
	cp_path_join(records, sizeof(records), root, "records.jsonl");
	assert_int_equal(cp_manifest_read(records, &c, &err), 0);
	assert_string_equal(b.run, "r1");
	assert_string_equal(b.fio, "fio-3.33");
	assert_string_equal(b.fingerprint, "sha256:11");
	assert_string_equal(b.config_hash, "sha256:00");
	assert_true(b.complete && b.planned == 12);
	assert_true(json_equal(a.hard, b.hard) && json_equal(a.soft, b.soft));
	assert_true(json_equal(a.config, b.config) && json_equal(a.argv, b.argv));
	assert_true(json_equal(a.unmeasured, b.unmeasured));
	assert_string_equal(c.run, "r1");
	cp_manifest_free(&a);
	cp_manifest_free(&b);
	cp_manifest_free(&c);
}

/* Description: without a manifest the answer is ENOENT and no error text. */
static void test_manifest_missing(void **state)
{
	struct cp_manifest manifest;
	struct cp_err err = {.msg = "untouched"};

	(void)state;
	assert_int_equal(cp_manifest_read(root, &manifest, &err), -ENOENT);
	assert_int_equal(cp_manifest_read("no-such.jsonl", &manifest, &err), -ENOENT);
	assert_string_equal(err.msg, "untouched");
}

/* Description: a manifest that is damaged or of another kind is refused with the file and
 * the key. */
static void test_manifest_bad(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"", "not JSON"},
		{"{\"schema\":1,\"kind\":\"policy\"}", "'kind' is 'policy'"},
		{"{\"schema\":9,\"kind\":\"run\"}", "'schema' is 9; expected 1"},
		{"{\"schema\":1,\"kind\":\"run\",\"run\":1}", "'run' is an integer"},
		{"{\"schema\":1,\"kind\":\"run\",\"run\":\"r\",\"t\":\"x\",\"host\":"
		 "\"h\","
		 "\"config_hash\":\"c\",\"tool\":{\"copypath\":\"1\"},\"fingerprint\":{"
		 "\"hash\":\"f\",\"hard\":[]}}",
		 "'hard' is of the wrong type"},
		{"{\"schema\":1,\"kind\":\"run\",\"run\":\"r\",\"t\":\"x\",\"host\":"
		 "\"h\","
		 "\"config_hash\":\"c\",\"tool\":{\"copypath\":\"1\"},\"fingerprint\":{"
		 "\"hash\":\"f\"},\"planned\":3,\"complete\":\"yes\"}",
		 "'complete' is a text; expected true or false"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_manifest manifest;
		struct cp_err err = {0};

		write_text(cases[i].text);
		assert_true(cp_manifest_read(root, &manifest, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		if (!strstr(err.msg, cases[i].expected) ||
		    !strstr(err.msg, manifest_file))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].expected);
	}
}

/* Description: run directories of one second are different, and last is the newest. */
static void test_run_dir(void **state)
{
	struct cp_err err = {0};
	char one[128], two[128], last[128], tiny[8], target[128] = "";

	(void)state;
	if (cp_run_dir_make(root, "quick/../x y", one, sizeof(one), &err) ||
	    cp_run_dir_make(root, "quick/../x y", two, sizeof(two), &err))
		fail_msg("%s", err.msg);
	assert_string_not_equal(one, two);
	assert_non_null(strstr(one, "Z-quick-..-x-y"));
	cp_path_join(last, sizeof(last), root, "last");
	assert_true(readlink(last, target, sizeof(target) - 1) > 0);
	assert_string_equal(target, strrchr(two, '/') + 1);
	assert_true(cp_run_dir_make(root, "x", tiny, sizeof(tiny), &err) < 0);
	assert_int_equal(unlink(last), 0);
	assert_int_equal(rmdir(one), 0);
	assert_int_equal(rmdir(two), 0);
}

/* Description: a real directory in the place of last is left alone, and no run directory
 * is left behind. */
static void test_last_in_the_way(void **state)
{
	struct cp_err err = {0};
	char last[128], inside[160], buf[128];

	(void)state;
	cp_path_join(last, sizeof(last), root, "last");
	cp_path_join(inside, sizeof(inside), last, "kept");
	assert_int_equal(mkdir(last, 0755), 0);
	assert_int_equal(mkdir(inside, 0755), 0);
	assert_true(cp_run_dir_make(root, "x", buf, sizeof(buf), &err) < 0);
	assert_non_null(strstr(err.msg, "last': cannot point it at"));
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(last), 0); /* and tear_down finds root empty */
}

/* Description: the hash is of the value, not of the order its keys were written in. */
static void test_json_hash(void **state)
{
	json_t *a = json_pack("{s:i,s:i}", "a", 1, "b", 2);
	json_t *b = json_pack("{s:i,s:i}", "b", 2, "a", 1);
	json_t *c = json_pack("{s:i,s:i}", "a", 1, "b", 3);
	char ha[CP_FINGERPRINT_MAX], hb[CP_FINGERPRINT_MAX], hc[CP_FINGERPRINT_MAX];

	(void)state;
	cp_json_hash(a, ha);
	cp_json_hash(b, hb);
	cp_json_hash(c, hc);
	assert_string_equal(ha, hb);
	assert_string_not_equal(ha, hc);
	/* printf '{"a":1,"b":2}' | sha256sum */
	assert_string_equal(ha, "sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548"
				"ac742b888292777");
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

/* Description: a fact that the host did not tell is null. */
static void test_host_json(void **state)
{
	struct cp_host host = {.cpu_model = "cpu",
			       .nr_cpus = 2,
			       .turbo = -1,
			       .smt = 1,
			       .load_1m = 0.5,
			       .steal_pct = -1};
	json_t *hard = cp_host_hard_json(&host, "fio-3.33", "anon", "sw");
	json_t *soft = cp_host_soft_json(&host);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(hard, "nr_cpus")), 2);
	assert_string_equal(json_string_value(json_object_get(hard, "dma")), "sw");
	assert_true(json_is_null(json_object_get(soft, "turbo")));
	assert_true(json_is_null(json_object_get(soft, "governor")));
	assert_true(json_is_null(json_object_get(soft, "steal_pct")));
	assert_true(json_is_true(json_object_get(soft, "smt")));
	assert_true(json_real_value(json_object_get(soft, "load_1m")) == 0.5);
	json_decref(hard);
	json_decref(soft);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/copypath-run-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	return cp_path_join(manifest_file, sizeof(manifest_file), root, "manifest.json");
}

static int tear_down(void **state)
{
	(void)state;
	unlink(manifest_file);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_manifest_round_trip, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_manifest_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_manifest_bad, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_run_dir, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_last_in_the_way, set_up, tear_down),
		cmocka_unit_test(test_json_hash),
		cmocka_unit_test(test_host_json),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
