/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets read from files, whole and damaged. */
#include "bench/gate/t/fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/base/file.h"

#define NR_SAMPLES 30

struct dirs {
	char root[64], a[80], b[80];
};

static void write_file(const char *dir, const char *name, const char *text, size_t len)
{
	char path[4096];

	assert_int_equal(cp_path_join(path, sizeof(path), dir, name), 0);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static char *read_file(const char *dir, const char *name, size_t *ret_len)
{
	char path[4096], *text;
	struct cp_err err;

	assert_int_equal(cp_path_join(path, sizeof(path), dir, name), 0);
	assert_int_equal(cp_file_read(path, 1 << 24, &text, ret_len, &err), 0);
	return text;
}

static void write_run(const char *dir, const char *run, uint64_t seed)
{
	struct cp_manifest manifest = {.planned = NR_SAMPLES, .complete = true};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct cp_record record;
	struct cp_err err = {0};

	assert_int_equal(mkdir(dir, 0755), 0);
	for (unsigned s = 0; s < NR_SAMPLES; s++) {
		make_record(&record, run, 0, s, 0.0, 0.005, &seed);
		snprintf(record.t, sizeof(record.t), "2026-11-30T12:00:%02uZ", s % 60);
		char *line = cp_record_encode(&record, &err);

		assert_non_null(line);
		fprintf(out, "%s\n", line);
		free(line);
	}
	fclose(out);
	write_file(dir, "records.jsonl", text, len);
	free(text);
	snprintf(manifest.run, sizeof(manifest.run), "%s", run);
	snprintf(manifest.t, sizeof(manifest.t), "2026-11-30T12:00:00Z");
	snprintf(manifest.host, sizeof(manifest.host), "h");
	snprintf(manifest.copypath, sizeof(manifest.copypath), "0.1.0");
	snprintf(manifest.fio, sizeof(manifest.fio), "fio-3.33");
	snprintf(manifest.config_hash, sizeof(manifest.config_hash), "sha256:c");
	snprintf(manifest.fingerprint, sizeof(manifest.fingerprint), "sha256:f");
	assert_int_equal(cp_manifest_write(dir, &manifest, &err), 0);
}

static void make_dirs(struct dirs *dirs)
{
	snprintf(dirs->root, sizeof(dirs->root), "/tmp/cp-gate-test-XXXXXX");
	assert_non_null(mkdtemp(dirs->root));
	snprintf(dirs->a, sizeof(dirs->a), "%s/a", dirs->root);
	snprintf(dirs->b, sizeof(dirs->b), "%s/b", dirs->root);
	write_run(dirs->a, "ra", 7);
	write_run(dirs->b, "rb", 8);
}

static void remove_dirs(const struct dirs *dirs)
{
	const char *const runs[] = {dirs->a, dirs->b};
	const char *const names[] = {"records.jsonl", "manifest.json"};
	char path[4096];

	for (int r = 0; r < 2; r++) {
		for (int n = 0; n < 2; n++) {
			cp_path_join(path, sizeof(path), runs[r], names[n]);
			unlink(path);
		}
		rmdir(runs[r]);
	}
	assert_int_equal(rmdir(dirs->root), 0);
}

static enum cp_exit gate(const char *path_a, const char *path_b)
{
	struct cp_gate_set a, b;
	struct cp_gate_rules rules;
	struct cp_gate_opts opts = {0};
	struct cp_gate_report report;
	struct cp_err err = {0};

	cp_gate_rules_init(&rules);
	if (cp_gate_set_read(path_a, true, NULL, &a, &err))
		return err.exit;
	if (cp_gate_set_read(path_b, true, NULL, &b, &err)) {
		cp_gate_set_free(&a);
		return err.exit;
	}
	assert_int_equal(cp_gate_judge(&a, &b, &rules, &opts, &report, &err), 0);
	enum cp_exit code = report.exit;

	cp_gate_report_free(&report);
	cp_gate_set_free(&a);
	cp_gate_set_free(&b);
	return code;
}

/* Description: two whole runs are OK, as directories and as files beside a manifest. */
static void test_whole(void **unused)
{
	struct dirs dirs;
	char path[4096];

	(void)unused;
	make_dirs(&dirs);
	cp_path_join(path, sizeof(path), dirs.b, "records.jsonl");
	assert_int_equal(gate(dirs.a, dirs.b), CP_EXIT_OK);
	assert_int_equal(gate(dirs.a, path), CP_EXIT_OK);
	remove_dirs(&dirs);
}

/* Description: without manifests on either side the gate still judges, on one it does
 * not. */
static void test_manifests(void **unused)
{
	struct dirs dirs;
	char path[4096];

	(void)unused;
	make_dirs(&dirs);
	cp_path_join(path, sizeof(path), dirs.a, "manifest.json");
	unlink(path);
	assert_int_equal(gate(dirs.a, dirs.b), CP_EXIT_INVALID);
	cp_path_join(path, sizeof(path), dirs.b, "manifest.json");
	unlink(path);
	assert_int_equal(gate(dirs.a, dirs.b), CP_EXIT_OK);
	remove_dirs(&dirs);
}

/* Description: a path that is not there is a usage error. */
static void test_not_there(void **unused)
{
	struct dirs dirs;

	(void)unused;
	make_dirs(&dirs);
	assert_int_equal(gate(dirs.a, "/nonexistent/run"), CP_EXIT_USAGE);
	remove_dirs(&dirs);
}

struct damage {
	const char *file;
	const char *find; /* NULL: replace the whole text */
	const char *with; /* in place of find */
	bool last;	  /* the last occurrence instead of the first */
};

static void apply(const char *dir, const struct damage *damage)
{
	char *text, *out = NULL;
	size_t len, out_len = 0;
	FILE *stream = open_memstream(&out, &out_len);

	text = read_file(dir, damage->file, &len);
	if (!damage->find) {
		fputs(damage->with, stream);
	} else {
		char *at = strstr(text, damage->find);

		for (char *next = at; damage->last && next;
		     next = strstr(next + 1, damage->find))
			at = next;
		if (!at)
			fail_msg("'%s' is not in '%s'", damage->find, damage->file);
		fwrite(text, 1, (size_t)(at - text), stream);
		fputs(damage->with, stream);
		fputs(at + strlen(damage->find), stream);
	}
	fclose(stream);
	write_file(dir, damage->file, out, out_len);
	free(text);
	free(out);
}

/* Description: damaged files never pass: exit 2 or 4 on either side, no crash. */
static void test_damage(void **unused)
{
	static const struct damage cases[] = {
		{"records.jsonl", NULL, "", false},
		{"records.jsonl", NULL, "\n", false},
		{"records.jsonl", NULL, "not json\n", false},
		{"records.jsonl", NULL, "[]\n", false},
		{"records.jsonl", NULL, "{}\n", false},
		{"records.jsonl", NULL, "\xff\xfe\n", false},
		{"records.jsonl", "{\"schema\":1", "{\"schema\":2", false},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":NaN,\"x\":", false},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":1e999,\"x\":", false},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":-1,\"x\":", false},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":\"1\",\"x\":", false},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":null,\"x\":", true},
		{"records.jsonl",
		 "\"bw_bytes_per_s\":", "\"bw_bytes_per_s\":0,\"x\":", true},
		{"records.jsonl", "\"bw_bytes_per_s\":", "\"other\":", true},
		{"records.jsonl", "\"sample\":1,", "\"sample\":0,", false},
		{"records.jsonl", "\"sample\":1,", "\"sample\":-1,", false},
		{"records.jsonl", "\"host\":\"h\"", "\"host\":\"other\"", true},
		{"records.jsonl", "\"rw\":\"write\"", "\"rw\":\"sideways\"", false},
		{"records.jsonl", "\"bs\":65536", "\"bs\":4096", true},
		{"records.jsonl", "\"native\"", "\"emulated\"", true},
		{"records.jsonl", "{\"schema\":1",
		 "{\"failed\":\"fio died\",\"schema\":1", true},
		{"records.jsonl", "}\n", "\n", true},
		{"manifest.json", NULL, "", false},
		{"manifest.json", NULL, "{", false},
		{"manifest.json", NULL, "null", false},
		{"manifest.json", "\"complete\"", "\"compete\"", false},
		{"manifest.json", "true", "false", false},
		{"manifest.json", "true", "1", false},
		{"manifest.json", "sha256:f", "sha256:g", false},
		{"manifest.json", "sha256:c", "sha256:d", false},
		{"manifest.json", "\"schema\"", "\"schemer\"", false},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dirs dirs;

		make_dirs(&dirs);
		apply(dirs.b, &cases[i]);
		enum cp_exit as_candidate = gate(dirs.a, dirs.b);
		enum cp_exit as_baseline = gate(dirs.b, dirs.a);

		if ((as_candidate != CP_EXIT_INVALID && as_candidate != CP_EXIT_USAGE) ||
		    as_baseline != as_candidate)
			fail_msg("case %zu: exit %d as candidate, %d as baseline", i,
				 as_candidate, as_baseline);
		remove_dirs(&dirs);
	}
}

/* Description: a file cut off anywhere is INVALID when there is a manifest. */
static void test_truncated(void **unused)
{
	struct dirs dirs;
	size_t len;

	(void)unused;
	make_dirs(&dirs);
	char *text = read_file(dirs.b, "records.jsonl", &len);

	/* the last newline alone may go: its record is whole */
	for (size_t cut = 0; cut < len - 1; cut += 499) {
		write_file(dirs.b, "records.jsonl", text, cut);
		assert_int_equal(gate(dirs.a, dirs.b), CP_EXIT_INVALID);
	}
	free(text);
	remove_dirs(&dirs);
}

/* Description: when a torn last line is tolerated, the samples before it are there. */
static void test_lenient(void **unused)
{
	struct dirs dirs;
	struct cp_gate_set set;
	struct cp_err err = {0};
	size_t len;

	(void)unused;
	make_dirs(&dirs);
	char *text = read_file(dirs.b, "records.jsonl", &len);

	write_file(dirs.b, "records.jsonl", text, len - 20);
	assert_int_equal(cp_gate_set_read(dirs.b, false, NULL, &set, &err), 0);
	assert_string_equal(set.broken, "");
	assert_int_equal(set.nr_records, NR_SAMPLES - 1);
	cp_gate_set_free(&set);
	free(text);
	remove_dirs(&dirs);
}

/* Description: a label says what a person would, and only what is not as usual. */
static void test_label(void **unused)
{
	struct cp_gate_set set;
	struct cp_record record;
	struct cp_err err = {0};
	uint64_t state = 1;

	(void)unused;
	cp_gate_set_init(&set);
	make_record(&record, "r", 3, 0, 0, 0.01, &state);
	assert_int_equal(cp_gate_set_add(&set, &record, &err), 0);
	snprintf(record.context.media, sizeof(record.context.media), "file");
	assert_int_equal(cp_gate_set_add(&set, &record, &err), 0);
	assert_string_equal(set.cells[0].label, "write bs=64k numjobs=1 iodepth=1 arm3");
	assert_string_equal(set.cells[1].label,
			    "write bs=64k numjobs=1 iodepth=1 arm3 media=file");
	cp_gate_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	  cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_not_there), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_truncated), cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
