/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader of the published table of CPU copies beside offloaded ones. */
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

#include "results/published_dma.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD	 "# Published: somebody, 2017, \"title\"\n"
#define COLUMNS	 "op,bs,numjobs,iodepth,path,bw_mb_s,cpu_pct\n"
#define TABLE	 "results/published/jiang-2017-dma.csv"

static int read_text(const char *text, struct cp_published_dma *ret, struct cp_err *err)
{
	char path[] = "/tmp/copypath-published-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int rc = cp_published_dma_read(path, ret, err);

	unlink(path);
	return rc;
}

static struct cp_context context_of(const char *rw, uint64_t bs, uint32_t jobs,
				    uint32_t depth)
{
	struct cp_context context;

	cp_context_init(&context);
	snprintf(context.rw, sizeof(context.rw), "%s", rw);
	context.bs = bs;
	context.numjobs = jobs;
	context.iodepth = depth;
	return context;
}

/* Description: the committed table has the figures of the mail, by load and path. */
static void committed_table_test(void **state)
{
	static const struct {
		const char *rw;
		uint64_t bs;
		uint32_t load;
		bool dma;
		double mb_s, cpu_pct;
	} want[] = {
		{"read", 65536, 1, false, 7631, 99.7},
		{"read", 65536, 1, true, 2415, 54},
		{"write", 65536, 16, true, 23400, 585},
		{"read", 2097152, 16, true, 21300, 180.9},
		{"write", 2097152, 16, false, 14100, 1594},
	};
	struct cp_published_dma table;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_published_dma_read(TABLE, &table, &err), 0);
	assert_int_equal(table.nr, 16);
	assert_non_null(strstr(table.source, "Dave Jiang"));
	assert_null(strchr(table.who, '"'));
	assert_string_equal(table.machine, "ioatdma, Skylake, 2017");
	assert_non_null(strstr(table.notes, "memmap"));
	for (size_t i = 0; i < COUNT(want); i++) {
		const struct cp_context context =
			context_of(want[i].rw, want[i].bs, want[i].load, want[i].load);
		const struct cp_published_dma_row *row =
			cp_published_dma_find(&table, &context, want[i].dma);

		assert_non_null(row);
		assert_true(fabs(row->bw_bytes_per_s - want[i].mb_s * 1e6) < 1);
		assert_true(fabs(row->cpu_pct - want[i].cpu_pct) < 1e-9);
	}
}

static void random_order(struct cp_context *context)
{
	snprintf(context->rw, sizeof(context->rw), "randread");
}

static void other_depth(struct cp_context *context)
{
	context->iodepth = 2;
}

static void misaligned(struct cp_context *context)
{
	context->misalign_far = 8;
}

static void uncached(struct cp_context *context)
{
	snprintf(context->attr, sizeof(context->attr), "uc");
}

static void over_layer(struct cp_context *context)
{
	snprintf(context->layer, sizeof(context->layer), "btt");
}

static void beside_load(struct cp_context *context)
{
	snprintf(context->corunner, sizeof(context->corunner), "stream");
}

/* Description: nothing published stands beside what is not the same load. */
static void other_context_test(void **state)
{
	static void (*const changes[])(struct cp_context *) = {
		random_order, other_depth, misaligned, uncached, over_layer, beside_load};
	struct cp_published_dma table;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(read_text(HEAD COLUMNS "read,65536,1,1,dma,5,6\n", &table, &err),
			 0);
	struct cp_context same = context_of("read", 65536, 1, 1);

	assert_non_null(cp_published_dma_find(&table, &same, true));
	assert_null(cp_published_dma_find(&table, &same, false));
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct cp_context other = same;

		changes[i](&other);
		assert_null(cp_published_dma_find(&table, &other, true));
	}
}

/* Description: what is wrong with a table is named with its line. */
static void bad_test(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{COLUMNS "read,65536,1,1,cpu,5,6\n", "no source"},
		{HEAD COLUMNS, "no rows"},
		{HEAD "a,b\n", ":2: error: 'a,b'; expected op,bs"},
		{HEAD COLUMNS "trim,1,1,1,cpu,5,6\n", ":3: error: 'trim'; expected read"},
		{HEAD COLUMNS "read,64k,1,1,cpu,5,6\n", "'64k'; expected bytes"},
		{HEAD COLUMNS "read,1,0,1,cpu,5,6\n", "'0'; expected jobs"},
		{HEAD COLUMNS "read,1,1,x,cpu,5,6\n", "'x'; expected an iodepth"},
		{HEAD COLUMNS "read,1,1,1,gpu,5,6\n", "'gpu'; expected cpu or dma"},
		{HEAD COLUMNS "read,1,1,1,cpu,0,6\n", "'0'; expected MB/s"},
		{HEAD COLUMNS "read,1,1,1,cpu,5,\n", "''; expected percent"},
		{HEAD COLUMNS "read,1,1,1,cpu,5\n", "expected op,bs"},
		{HEAD COLUMNS "read,1,1,1,cpu,5,6,7\n", "expected op,bs"},
		{HEAD COLUMNS "read,1,1,1,cpu,5,6\nread,1,1,1,cpu,7,8\n",
		 ":4: error: 'cpu'; expected each load and path once"},
	};
	struct cp_published_dma table = {.nr = 77};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cp_err err = {0};

		assert_true(read_text(cases[i].text, &table, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_INVALID);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("%s: %s", cases[i].words, err.msg);
		assert_int_equal(table.nr, 77);
	}
}

/* Description: a table that is not there is told apart from a bad one. */
static void missing_test(void **state)
{
	struct cp_published_dma table;
	struct cp_err err = {0};

	(void)state;
	assert_int_equal(cp_published_dma_read("/nonexistent/x.csv", &table, &err),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(committed_table_test),
		cmocka_unit_test(other_context_test),
		cmocka_unit_test(bad_test),
		cmocka_unit_test(missing_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
