/* SPDX-License-Identifier: GPL-2.0-only */
/* records.jsonl on disk: appended, torn, full, too long, in use. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engines/base/file.h"
#include "results/record_priv.h"

static char dir[64];
static char path[128];

static void make_record(struct cp_record *record, uint32_t sample)
{
	cp_record_init(record);
	record->sample = sample;
	snprintf(record->run, sizeof(record->run), "r");
	snprintf(record->host, sizeof(record->host), "h");
	snprintf(record->arm.name, sizeof(record->arm.name), "a");
}

static struct cp_record_writer *open_writer(void)
{
	struct cp_record_writer *writer = NULL;
	struct cp_err err = {0};

	if (cp_record_writer_open(path, &writer, &err))
		fail_msg("%s", err.msg);
	return writer;
}

static void append_samples(uint32_t from, uint32_t to)
{
	struct cp_record_writer *writer = open_writer();
	struct cp_err err = {0};
	struct cp_record record;

	for (uint32_t i = from; i < to; i++) {
		make_record(&record, i);
		assert_int_equal(cp_record_write(writer, &record, &err), 0);
	}
	assert_int_equal(cp_record_writer_close(writer, &err), 0);
}

struct seen {
	unsigned nr, warnings, stop_at;
	uint32_t last;
};

static int count(void *ctx, struct cp_record *record, unsigned line)
{
	struct seen *seen = ctx;

	assert_non_null(record->raw);
	assert_int_equal(line, seen->nr + 1);
	seen->nr++;
	seen->last = record->sample;
	return seen->stop_at == line ? 42 : 0;
}

static void warn(void *ctx, const char *text)
{
	struct seen *seen = ctx;

	seen->warnings++;
	assert_non_null(strstr(text, "torn last line"));
}

static int read_all(const char *from, bool strict, struct seen *seen, struct cp_err *err)
{
	const struct cp_record_read_opts opts = {strict, warn, seen};

	return cp_record_read(from, &opts, count, seen, err);
}

static off_t file_size(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void append_raw(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(cp_write_all(fd, text, len), 0);
	close(fd);
}

/* Description: a file that was closed is continued, and is read by its name or its run
 * directory's. */
static void test_append(void **state)
{
	struct seen seen = {0}, again = {0};
	struct cp_err err = {0};

	(void)state;
	append_samples(0, 3);
	append_samples(3, 5);
	assert_int_equal(read_all(path, true, &seen, &err), 0);
	assert_int_equal(seen.nr, 5);
	assert_int_equal(seen.last, 4);
	assert_int_equal(read_all(dir, true, &again, &err), 0);
	assert_int_equal(again.nr, 5);
}

/* Description: wherever a write was cut, the whole records before it are read with one
 * warning, strict refuses, and a writer goes on behind them. */
static void test_torn(void **state)
{
	struct cp_err err = {0};

	(void)state;
	append_samples(0, 2);
	off_t two = file_size();

	append_samples(2, 3);
	off_t three = file_size();

	for (off_t at = two + 1; at < three - 1; at += 37) {
		struct seen seen = {0}, strict = {0}, after = {0};

		assert_int_equal(truncate(path, at), 0);
		assert_int_equal(read_all(path, false, &seen, &err), 0);
		assert_int_equal(seen.nr, 2);
		assert_int_equal(seen.warnings, 1);
		assert_true(read_all(path, true, &strict, &err) < 0);
		assert_non_null(strstr(err.msg, ":3:1: error: torn last line"));
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		append_samples(2, 3);
		assert_int_equal(file_size(), three);
		assert_int_equal(read_all(path, true, &after, &err), 0);
		assert_int_equal(after.nr, 3);
	}
}

/* Description: a last record that lacks only its newline is whole, for reader and writer.
 */
static void test_no_newline(void **state)
{
	struct seen seen = {0}, after = {0};
	struct cp_err err = {0};

	(void)state;
	append_samples(0, 2);
	assert_int_equal(truncate(path, file_size() - 1), 0);
	assert_int_equal(read_all(path, true, &seen, &err), 0);
	assert_int_equal(seen.nr, 2);
	append_samples(2, 3);
	assert_int_equal(read_all(path, true, &after, &err), 0);
	assert_int_equal(after.nr, 3);
}

/* Description: a bad line that is not the last is an error with its file and number. */
static void test_bad_line(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"{\"schema\":1}\n", ":2:1: error: 'run' is missing"},
		{"{\"schema\":1,}\n", ":2:13: error: not JSON"},
		{"\n", ":2:1: error: not JSON"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen = {0};
		struct cp_err err = {0};

		unlink(path);
		append_samples(0, 1);
		append_raw(cases[i].text, strlen(cases[i].text));
		append_samples(1, 2);
		assert_true(read_all(path, false, &seen, &err) < 0);
		if (strncmp(err.msg, path, strlen(path)) != 0 ||
		    !strstr(err.msg, cases[i].expected))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].expected);
		assert_int_equal(seen.nr, 1);
		assert_int_equal(seen.warnings, 0);
	}
}

/* Description: a line without an end does not fill the memory. */
static void test_long_line(void **state)
{
	static char block[1 << 16];
	struct seen seen = {0};
	struct cp_err err = {0};

	(void)state;
	append_samples(0, 1);
	memset(block, ' ', sizeof(block));
	for (int i = 0; i < 20; i++)
		append_raw(block, sizeof(block));
	assert_int_equal(read_all(path, false, &seen, &err), -EMSGSIZE);
	assert_non_null(strstr(err.msg, ":2:1: error: line too long"));
}

/* Description: many records pass the reader's buffer whole. */
static void test_many(void **state)
{
	struct cp_record record;
	struct cp_err err = {0};
	struct seen seen = {0};

	(void)state;
	make_record(&record, 7);
	char *line = cp_record_encode(&record, &err);

	assert_non_null(line);
	size_t len = strlen(line);

	line[len] = '\n';
	for (int i = 0; i < 3000; i++)
		append_raw(line, len + 1);
	free(line);
	assert_true(file_size() > 2 * (off_t)CP_RECORD_LINE_MAX);
	assert_int_equal(read_all(path, true, &seen, &err), 0);
	assert_int_equal(seen.nr, 3000);
}

/* Description: the callback's answer stops the reading and is returned. */
static void test_stop(void **state)
{
	struct seen seen = {.stop_at = 2};
	struct cp_err err = {0};

	(void)state;
	append_samples(0, 4);
	assert_int_equal(read_all(path, true, &seen, &err), 42);
	assert_int_equal(seen.nr, 2);
}

/* Description: a record that found no room leaves the file as it was, and says why. */
static void test_no_space(void **state)
{
	struct rlimit old, small;
	struct cp_record record;
	struct cp_err err = {0};
	struct seen seen = {0};

	(void)state;
	append_samples(0, 1);
	off_t one = file_size();
	struct cp_record_writer *writer = open_writer();

	/* The nearest thing to a full disk that needs no mount: a write stops short. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = (rlim_t)one + 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	make_record(&record, 1);
	int rc = cp_record_write(writer, &record, &err);

	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, "no space left"));
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(file_size(), one);
	assert_int_equal(cp_record_write(writer, &record, &err), 0);
	cp_record_writer_close(writer, &err);
	assert_int_equal(read_all(path, true, &seen, &err), 0);
	assert_int_equal(seen.nr, 2);
}

/* Description: two writers at once are refused, one after the other are not. */
static void test_two_writers(void **state)
{
	struct cp_record_writer *first = open_writer(), *second = NULL;
	struct cp_err err = {0};

	(void)state;
	assert_true(cp_record_writer_open(path, &second, &err) < 0);
	assert_non_null(strstr(err.msg, "being written by another run"));
	cp_record_writer_close(first, &err);
	append_samples(0, 1);
}

/* Description: what is not there, or not a file, is named. */
static void test_no_file(void **state)
{
	struct cp_record_writer *writer = NULL;
	struct seen seen = {0};
	struct cp_err err = {0};

	(void)state;
	assert_true(read_all("/nonexistent/run", false, &seen, &err) < 0);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, "'/nonexistent/run': no such file"));
	assert_true(read_all(dir, false, &seen, &err) < 0); /* no records.jsonl in it */
	assert_non_null(strstr(err.msg, "records.jsonl"));
	assert_true(cp_record_writer_open("/nonexistent/r.jsonl", &writer, &err) < 0);
	assert_true(cp_record_writer_open("/dev/null", &writer, &err) < 0);
	assert_non_null(strstr(err.msg, "not a regular file"));
	assert_true(cp_record_writer_open(dir, &writer, &err) < 0);
	assert_null(writer);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/copypath-records-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	return cp_path_join(path, sizeof(path), dir, "records.jsonl");
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_append, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_torn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_newline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_writers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("record_io", tests, NULL, NULL);
}
