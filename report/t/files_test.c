/* SPDX-License-Identifier: GPL-2.0-only */
/* A report directory is the old report or the new one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "report/files.h"

struct place {
	char root[64], dir[128], path[256];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	strncpy(place->root, "/tmp/copypath-files-XXXXXX", sizeof(place->root) - 1);
	if (!mkdtemp(place->root))
		return -1;
	snprintf(place->dir, sizeof(place->dir), "%s/report", place->root);
	*state = place;
	return 0;
}

static const char *at(struct place *place, const char *name)
{
	snprintf(place->path, sizeof(place->path), "%s/%s", place->dir, name);
	return place->path;
}

static int drop_place(void **state)
{
	static const char *const names[] = {"figures/a",	"b",	   "mine",
					    ".copypath-report", "figures", "tables"};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)!remove(at(place, names[i]));
	(void)!remove(place->dir);
	int rc = remove(place->root); /* fails when anything is left aside */

	free(place);
	return rc;
}

static bool there(struct place *place, const char *name)
{
	struct stat st;

	return !stat(at(place, name), &st);
}

static void put(struct cp_report_files *files, const char *name)
{
	struct cp_err err = {0};
	FILE *out;

	assert_int_equal(cp_report_files_open(files, name, &out, &err), 0);
	fputs(name, out);
	assert_int_equal(cp_report_files_close(out, name, &err), 0);
}

static void make_report(struct place *place, const char *name)
{
	struct cp_report_files files;
	struct cp_err err = {0};

	assert_int_equal(cp_report_files_begin(&files, place->dir, &err), 0);
	put(&files, name);
	assert_int_equal(cp_report_files_commit(&files, &err), 0);
	cp_report_files_end(&files);
}

/* Description: nothing is at the place before the commit, and all of it after. */
static void commit_test(void **state)
{
	struct place *place = *state;
	struct cp_report_files files;
	struct cp_err err = {0};

	assert_int_equal(cp_report_files_begin(&files, place->dir, &err), 0);
	put(&files, "figures/a");
	assert_false(there(place, ""));
	assert_int_equal(cp_report_files_commit(&files, &err), 0);
	assert_true(there(place, "figures/a"));
	assert_true(there(place, ".copypath-report"));
	cp_report_files_end(&files);
	assert_true(there(place, "figures/a"));
}

/* Description: a newer report takes the place of the older, which is gone. */
static void replace_test(void **state)
{
	struct place *place = *state;

	make_report(place, "figures/a");
	make_report(place, "b");
	assert_false(there(place, "figures/a"));
	assert_true(there(place, "b"));
}

/* Description: a report that was given up leaves the older one and nothing aside. */
static void abort_test(void **state)
{
	struct place *place = *state;
	struct cp_report_files files;
	struct cp_err err = {0};

	make_report(place, "figures/a");
	assert_int_equal(cp_report_files_begin(&files, place->dir, &err), 0);
	put(&files, "b");
	cp_report_files_end(&files);
	assert_true(there(place, "figures/a"));
	assert_false(there(place, "b"));
}

/* Description: a file of somebody else's that came meanwhile stops the swap. */
static void stray_test(void **state)
{
	struct place *place = *state;
	struct cp_report_files files;
	struct cp_err err = {0};

	make_report(place, "figures/a");
	assert_int_equal(cp_report_files_begin(&files, place->dir, &err), 0);
	put(&files, "b");
	FILE *mine = fopen(at(place, "mine"), "w");

	assert_non_null(mine);
	fclose(mine);
	assert_true(cp_report_files_commit(&files, &err) < 0);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, "'mine'"));
	cp_report_files_end(&files);
	assert_true(there(place, "mine"));
	assert_true(there(place, "figures/a"));
}

/* Description: a marker that names files outside is no marker. */
static void marker_test(void **state)
{
	static const char *const lines[] = {"copypath report 1\n/etc/passwd\n",
					    "copypath report 1\n../x\n", "other\n", ""};
	struct place *place = *state;

	assert_int_equal(mkdir(place->dir, 0777), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct cp_report_files files;
		struct cp_err err = {0};
		FILE *marker = fopen(at(place, ".copypath-report"), "w");

		assert_non_null(marker);
		fputs(lines[i], marker);
		fclose(marker);
		assert_true(cp_report_files_begin(&files, place->dir, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		cp_report_files_end(&files);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(commit_test, make_place, drop_place),
		cmocka_unit_test_setup_teardown(replace_test, make_place, drop_place),
		cmocka_unit_test_setup_teardown(abort_test, make_place, drop_place),
		cmocka_unit_test_setup_teardown(stray_test, make_place, drop_place),
		cmocka_unit_test_setup_teardown(marker_test, make_place, drop_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
