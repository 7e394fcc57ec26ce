/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader of the published table, and the comparison of orders. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/published.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD	 "# Published: somebody, 2015\n# Load: random 4k\n"
#define COLUMNS	 "attr,copy,read_iops,write_iops\n"
#define TABLE	 "results/published/elliott-2015-cache-attributes.csv"

static int read_text(const char *text, struct cp_published *ret, struct cp_err *err)
{
	char path[] = "/tmp/copypath-published-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int rc = cp_published_read(path, ret, err);

	unlink(path);
	return rc;
}

/* Description: rows come in the words of a context and an arm, with source, load, notes.
 */
static void rows_are_read(void **state)
{
	struct cp_published table;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(read_text(HEAD "# one\n# two\n" COLUMNS "UC,memcpy,36000,22000\n"
					"WC,nt-rd+nt-wr,3000000,3900000\nWC,nt-rd,5,6\n"
					"WT,nt-wr,7,8\nWB,nti,9,1.5",
				   &table, &err),
			 0);
	assert_string_equal(table.source, "somebody, 2015");
	assert_string_equal(table.notes, "one two");
	assert_true(table.random);
	assert_int_equal(table.bs, 4096);
	assert_int_equal(table.nr, 5);
	assert_true(cp_published_find(&table, "uc", "memcpy")->iops[0] == 36000);
	assert_true(cp_published_find(&table, "wc", "nt-both")->iops[1] == 3900000);
	assert_true(cp_published_find(&table, "wc", "ntload")->iops[1] == 6);
	assert_true(cp_published_find(&table, "wt", "nt")->iops[0] == 7);
	assert_true(cp_published_find(&table, "wb", "nti")->iops[1] == 1.5);
	assert_null(cp_published_find(&table, "uc", "nti"));
	assert_null(cp_published_find(&table, "wb", "memcpy"));
}

/* Description: what cannot be read is refused with its line, and the output left alone.
 */
static void bad_tables_are_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{HEAD COLUMNS "XX,memcpy,1,2\n", ":4: error: 'XX'; expected a cache"},
		{HEAD COLUMNS "UC,nt,1,2\n", "'nt'; expected memcpy, nt-rd+nt-wr"},
		{HEAD COLUMNS "UC,memcpy,1\n", ":4: error: 'UC'; expected attr,copy"},
		{HEAD COLUMNS "UC,memcpy,0,2\n", "'0'; expected I/Os per second"},
		{HEAD COLUMNS "UC,memcpy,1,2,3\n", "'UC'; expected attr,copy"},
		{HEAD COLUMNS "UC,memcpy,x,2\n", "'x'; expected I/Os per second"},
		{HEAD COLUMNS "UC,memcpy,1,2\nUC,memcpy,1,2\n", ":5: error: 'memcpy'; "},
		{HEAD "UC,memcpy,1,2\n",
		 ":3: error: 'UC,memcpy,1,2'; expected attr,copy"},
		{HEAD COLUMNS, "no rows; expected"},
		{"# Published: x\n" COLUMNS "UC,memcpy,1,2\n", "no load; expected"},
		{"# Load: random 4k\n" COLUMNS "UC,memcpy,1,2\n", "no source; expected"},
		{"# Load: often 4k\n", ":1: error: 'often'; expected a load as"},
		{"# Load: random x\n", ":1: error: 'x'; expected a load as"},
		{"", "no source; expected"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cp_published table = {.nr = 77};
		struct cp_err err = {0};

		assert_int_equal(read_text(cases[i].text, &table, &err), -EINVAL);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("case %zu: %s", i, err.msg);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		assert_int_equal(table.nr, 77);
	}
}

/* Description: the committed table is whole, and a file that is not there says so. */
static void committed_table_is_read(void **state)
{
	struct cp_published table;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_published_read(TABLE, &table, &err), 0);
	assert_int_equal(table.nr, 13);
	assert_non_null(strstr(table.source, "another pmem variant"));
	assert_string_equal(table.who, "Robert Elliott, linux-nvdimm, 2015-04-02");
	assert_int_equal(table.bs, 4096);
	assert_int_equal(cp_published_read("/nonexistent", &table, &err), -ENOENT);
}

static void note(void *ctx, size_t upper, size_t lower)
{
	char *text = ctx;
	size_t used = strlen(text);

	snprintf(text + used, 64 - used, "%zu>%zu ", upper, lower);
}

/* Description: only pairs far apart count, equal is wrong, and what was not measured or
 * not published is left out. */
static void orders_are_compared(void **state)
{
	static const struct {
		double published[4], ours[4];
		unsigned pairs, kept;
		double nearest;
		const char *wrong;
	} cases[] = {
		/* 2.5 itself is not far; 2.51 is */
		{{100, 250, 251, NAN}, {1, 2, 3, 4}, 1, 1, 3, ""},
		{{100, 1000, 110, NAN}, {2, 4, 8, 1}, 2, 1, 0.5, "1>2 "},
		{{100, 1000, NAN, NAN}, {4, 4, 0, 0}, 1, 0, 1, "1>0 "},
		{{100, 1000, 10000, 1}, {NAN, 5, 4, NAN}, 1, 0, 0.8, "2>1 "},
		{{100, 110, 120, 130}, {4, 3, 2, 1}, 0, 0, NAN, ""},
		{{1, 10, 100, 1000}, {1, 2, 3, 4}, 6, 6, 4.0 / 3, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cp_published_order order;
		char wrong[64] = "";

		cp_published_compare(cases[i].published, cases[i].ours, 4, note, wrong,
				     &order);
		assert_int_equal(order.pairs, cases[i].pairs);
		assert_int_equal(order.kept, cases[i].kept);
		assert_string_equal(wrong, cases[i].wrong);
		if (isnan(cases[i].nearest))
			assert_true(isnan(order.nearest));
		else
			assert_true(fabs(order.nearest - cases[i].nearest) < 1e-12);
		cp_published_compare(cases[i].published, cases[i].ours, 4, NULL, NULL,
				     &order);
		assert_int_equal(order.kept, cases[i].kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(bad_tables_are_refused),
		cmocka_unit_test(committed_table_is_read),
		cmocka_unit_test(orders_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
