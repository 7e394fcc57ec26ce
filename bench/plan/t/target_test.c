// SPDX-License-Identifier: GPL-2.0-only
/* A file target: what is asked of it, and of the place where it will be made. */
#include "bench/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/plan/t/text.h"
#include "engines/copy/flush.h"

#define FILE_PLAN(path, rest, arm)                                        \
	HEAD "target: {media: file, size: 1m, filename: " path rest "}\n" \
	     "workload: {rw: write, bs: 4k}\narms: [{name: a" arm "}]\n"

/* Description: a file that comes between the check and the making is asked about, and one
 * that is in the way of the finished target is left as it is. */
static void test_target_appears(void **state)
{
	struct cp_err err = {0};
	struct cp_plan plan;
	char dir[] = "/tmp/target_test.XXXXXX", text[512], data[4] = "";

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text), FILE_PLAN("%s/x", "", ""), dir);
	load_good(text, &plan);
	int fd = open(plan.filename, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "old", 3), 3);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(cp_plan_target_make(&plan, NULL, &err), -EEXIST);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_int_equal(pread(fd, data, 3, 0), 3);
	assert_string_equal(data, "old");
	close(fd);
	unlink(plan.filename);

	/* A link to nothing looks like no file until something is put in its place. */
	assert_int_equal(symlink("nowhere", plan.filename), 0);
	assert_int_equal(cp_plan_target_make(&plan, NULL, &err), -EEXIST);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_false(plan.created);
	assert_int_equal(unlink(plan.filename), 0);
	assert_int_equal(cp_plan_target_make(&plan, NULL, &err), 0);
	assert_true(plan.created);
	unlink(plan.filename);
	assert_int_equal(rmdir(dir), 0); /* nothing else is left */
	cp_plan_free(&plan);
}

/* Description: a directory in which nothing may be made is told before anything runs. */
static void test_target_directory(void **state)
{
	const struct cp_topo topo = {0};
	struct cp_err err = {0};
	struct cp_plan plan;
	char dir[] = "/tmp/target_test.XXXXXX", text[512];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text), FILE_PLAN("%s/x", "", ""), dir);
	load_good(text, &plan);
	assert_int_equal(cp_plan_target_check(&plan, &topo, NULL, NULL, &err), 0);
	assert_int_equal(chmod(dir, 0555), 0);
	bool root = !geteuid(); /* who may write anywhere */
	if (root)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(cp_plan_target_check(&plan, &topo, NULL, NULL, &err), -EACCES);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(err.exit, CP_EXIT_INVALID);
	assert_non_null(strstr(err.msg, "x' cannot be made: '/tmp/target_test."));
	assert_int_equal(rmdir(dir), 0);
	cp_plan_free(&plan);
}

/* Description: where persistence is required, a file in a place that has none is refused
 * before it is made, and one that came since the check is before it is used. */
static void test_target_persistence(void **state)
{
	const struct cp_topo topo = {0};
	struct cp_err err = {0};
	struct cp_plan plan;
	char dir[] = "/tmp/target_test.XXXXXX", text[512];

	(void)state;
	if (!cp_flush_present())
		skip(); /* no CPU that makes stores durable */
	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text),
		 FILE_PLAN("%s/x", ", allow_overwrite: true", ", persist: require"), dir);
	load_good(text, &plan);
	int rc = cp_plan_target_check(&plan, &topo, NULL, NULL, &err);
	if (!rc) {
		rmdir(dir);
		cp_plan_free(&plan);
		skip(); /* it is a file system on persistent memory */
	}
	assert_int_equal(rc, -ENOTSUP);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_int_equal(access(plan.filename, F_OK), -1);

	int fd = open(plan.filename, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
	assert_int_equal(cp_plan_target_make(&plan, NULL, &err), -ENOTSUP);
	assert_int_equal(unlink(plan.filename), 0); /* somebody's, and left to him */
	assert_int_equal(rmdir(dir), 0);
	cp_plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target_appears),
		cmocka_unit_test(test_target_directory),
		cmocka_unit_test(test_target_persistence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
