/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/base/file.h"

static char dir[] = "/tmp/cp-file-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *in_dir(const char *name)
{
	static char path[256];

	assert_int_equal(cp_path_join(path, sizeof(path), dir, name), 0);
	return path;
}

static void write_new(const char *path, const char *text)
{
	struct cp_file_new file;
	struct cp_err err;

	assert_int_equal(cp_file_new_open(path, &file, &err), 0);
	fputs(text, file.stream);
	assert_int_equal(cp_file_new_commit(&file, &err), 0);
}

static void assert_holds(const char *path, const char *text)
{
	struct cp_err err;
	char *got;
	size_t len;

	assert_int_equal(cp_file_read(path, 4096, &got, &len, &err), 0);
	assert_string_equal(got, text);
	assert_int_equal(len, strlen(text));
	free(got);
}

/* Description: a new file appears whole, replaces the old one, and leaves nothing aside.
 */
static void test_commit(void **state)
{
	const char *path = in_dir("f");

	(void)state;
	write_new(path, "one");
	assert_holds(path, "one");
	write_new(path, "two");
	assert_holds(path, "two");
	assert_int_equal(unlink(path), 0);
}

/* Description: until the commit the old file is there, and after an abort too. */
static void test_abort(void **state)
{
	const char *path = in_dir("f");
	struct cp_file_new file;
	struct cp_err err;

	(void)state;
	write_new(path, "old");
	assert_int_equal(cp_file_new_open(path, &file, &err), 0);
	fputs("new", file.stream);
	fflush(file.stream);
	assert_holds(path, "old");
	cp_file_new_abort(&file);
	cp_file_new_abort(&file);
	assert_holds(path, "old");
	assert_int_equal(access(file.tmp, F_OK), -1);
	assert_int_equal(unlink(path), 0);
}

/* Description: a write that fails keeps the old file and removes the one aside. */
static void test_failure_keeps_old(void **state)
{
	const char *path = in_dir("f");
	struct rlimit saved, small;
	struct cp_file_new file;
	struct cp_err err = {0};
	char block[8192] = {0};

	(void)state;
	write_new(path, "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &saved), 0);
	small = saved;
	small.rlim_cur = 4096;
	assert_int_equal(cp_file_new_open(path, &file, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	fwrite(block, 1, sizeof(block), file.stream);
	int ret = cp_file_new_commit(&file, &err);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &saved), 0);
	assert_true(ret < 0);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(access(file.tmp, F_OK), -1);
	assert_holds(path, "old");
	assert_int_equal(unlink(path), 0);
}

/* Description: a full file system is named as such. */
static void test_no_space(void **state)
{
	const char *path = in_dir("f");
	struct cp_file_new file;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_file_new_open(path, &file, &err), 0);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (full < 0) {
		cp_file_new_abort(&file);
		skip();
	}
	assert_true(dup2(full, fileno(file.stream)) >= 0);
	close(full);
	/* more than a buffer, so that writes fail before the commit does */
	for (int i = 0; i < 20000; i++)
		fputs("text", file.stream);
	assert_int_equal(cp_file_new_commit(&file, &err), -ENOSPC);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_int_equal(strncmp(err.msg, "no space left on ", 17), 0);
	assert_int_equal(access(path, F_OK), -1);
}

/* Description: a file left aside by a killed process of the same number is no obstacle.
 */
static void test_stale_tmp(void **state)
{
	char tmp[300];
	const char *path = in_dir("f");

	(void)state;
	snprintf(tmp, sizeof(tmp), "%s.tmp.%ld", path, (long)getpid());
	int fd = open(tmp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
	write_new(path, "new");
	assert_holds(path, "new");
	assert_int_equal(unlink(path), 0);
}

/* Description: a link planted where the file goes aside is not followed. */
static void test_link_not_followed(void **state)
{
	char tmp[300], victim[256];
	const char *path = in_dir("f");

	(void)state;
	snprintf(tmp, sizeof(tmp), "%s.tmp.%ld", path, (long)getpid());
	assert_int_equal(cp_path_join(victim, sizeof(victim), dir, "victim"), 0);
	write_new(victim, "precious");
	assert_int_equal(symlink(victim, tmp), 0);
	write_new(path, "new");
	assert_holds(victim, "precious");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(victim), 0);
}

/* Description: devices and directories are never replaced. */
static void test_target_refused(void **state)
{
	static const char *const targets[] = {"/dev/null", "/tmp"};
	struct cp_file_new file;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct cp_err err = {0};

		assert_true(cp_file_new_open(targets[i], &file, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_non_null(strstr(err.msg, targets[i]));
	}
}

/* Description: a directory that is missing is an error in our style. */
static void test_open_missing_dir(void **state)
{
	struct cp_file_new file;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_file_new_open("/no/such/f", &file, &err), -ENOENT);
	assert_string_equal(err.msg,
			    "cannot create '/no/such/f': no such file or directory");
}

/* Description: reading says what is wrong: missing, a directory, too large. */
static void test_read_refused(void **state)
{
	const char *path = in_dir("f");
	struct cp_err err = {0};
	char *text = NULL;
	size_t len = 77;

	(void)state;
	assert_int_equal(cp_file_read("/no/such", 10, &text, &len, &err), -ENOENT);
	assert_string_equal(err.msg, "cannot read '/no/such': no such file or directory");
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_int_equal(cp_file_read(dir, 10, &text, &len, &err), -EISDIR);
	write_new(path, "12345678901");
	assert_int_equal(cp_file_read(path, 10, &text, &len, &err), -EFBIG);
	assert_int_equal(cp_file_read(path, 11, &text, &len, &err), 0);
	assert_int_equal(len, 11);
	free(text);
	assert_int_equal(unlink(path), 0);
}

/* Description: files without a size of their own (/proc) and long ones are read whole. */
static void test_read_whole(void **state)
{
	const char *path = in_dir("f");
	struct cp_file_new file;
	struct cp_err err;
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(cp_file_read("/proc/self/status", 1U << 20, &text, &len, &err),
			 0);
	assert_true(len > 0);
	free(text);
	assert_int_equal(cp_file_new_open(path, &file, &err), 0);
	for (int i = 0; i < 5000; i++)
		fprintf(file.stream, "%04d\n", i);
	assert_int_equal(cp_file_new_commit(&file, &err), 0);
	assert_int_equal(cp_file_read(path, 25000, &text, &len, &err), 0);
	assert_int_equal(len, 25000);
	assert_memory_equal(text + 24995, "4999\n", 6);
	free(text);
	assert_int_equal(unlink(path), 0);
}

/* Description: a path of directories is made, twice without complaint, not over a file.
 */
static void test_dir_make(void **state)
{
	char path[256], file[256];
	struct cp_err err = {0};

	(void)state;
	snprintf(path, sizeof(path), "%s/a/b//c/", dir);
	assert_int_equal(cp_dir_make(path, &err), 0);
	assert_int_equal(cp_dir_make(path, &err), 0);
	snprintf(file, sizeof(file), "%s/a/b/f", dir);
	write_new(file, "");
	assert_int_equal(cp_dir_make(file, &err), -ENOTDIR);
	assert_int_equal(cp_dir_make("", &err), -ENOENT);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/a/b", dir);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_int_equal(rmdir(path), 0);
}

/* Description: joining puts one slash between and refuses what does not fit. */
static void test_join(void **state)
{
	static const struct {
		const char *dir, *name, *path;
	} cases[] = {
		{"a", "b", "a/b"},
		{"a/", "b", "a/b"},
		{"", "b", "b"},
		{"/", "b", "/b"},
	};
	char buf[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			cp_path_join(buf, sizeof(buf), cases[i].dir, cases[i].name), 0);
		assert_string_equal(buf, cases[i].path);
	}
	assert_int_equal(cp_path_join(buf, sizeof(buf), "abcd", "efg"), -ENAMETOOLONG);
}

/* Description: all bytes reach a pipe; a closed descriptor is an error. */
static void test_write_all(void **state)
{
	int fds[2];
	char buf[4] = "";

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(cp_write_all(fds[1], "abc", 3), 0);
	assert_int_equal(read(fds[0], buf, 3), 3);
	assert_string_equal(buf, "abc");
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(cp_write_all(fds[1], "abc", 3), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_failure_keeps_old),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_stale_tmp),
		cmocka_unit_test(test_link_not_followed),
		cmocka_unit_test(test_target_refused),
		cmocka_unit_test(test_open_missing_dir),
		cmocka_unit_test(test_read_refused),
		cmocka_unit_test(test_read_whole),
		cmocka_unit_test(test_dir_make),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_write_all),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
