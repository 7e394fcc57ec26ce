/* SPDX-License-Identifier: GPL-2.0-only */
/* Cache attributes: what is a group, its rows beside the published ones, and their order.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/attrs.h"
#include "report/page.h"
#include "report/t/fixture.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char published_text[] = "# Published: Somebody, a list, 2015, \"it\"\n"
				     "# Load: random 4k\n"
				     "# A note.\n"
				     "attr,copy,read_iops,write_iops\n"
				     "UC,memcpy,10,20\n"
				     "WB,memcpy,1000,1000\n"
				     "WB,nt-rd+nt-wr,900,2000\n"
				     "WC,memcpy,300,2400\n"
				     "WT,memcpy,700,30\n";

struct setup {
	struct cp_report report;
	struct cp_report_opts opts;
	char path[40];
	bool without_cpu; /* leave the CPU time out of the next records */
	const char *rw[2], *path_word;
	uint64_t bs;
	uint32_t misalign_far;
};

static struct setup *begin(void)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	snprintf(setup->path, sizeof(setup->path), "/tmp/copypath-attrs-XXXXXX");
	int fd = mkstemp(setup->path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, published_text, sizeof(published_text) - 1),
			 sizeof(published_text) - 1);
	close(fd);
	setup->opts.published = setup->path;
	setup->report.opts = &setup->opts;
	return setup;
}

static int add(void *ctx, const struct cp_record *record)
{
	struct setup *setup = ctx;
	struct cp_record copy = *record;
	struct cp_err err;

	if (setup->without_cpu)
		copy.metrics[CP_METRIC_CPU_SUBMIT_NS] = NAN;
	if (setup->rw[0])
		snprintf(copy.context.rw, sizeof(copy.context.rw), "%s",
			 setup->rw[cp_context_dir(&copy.context)]);
	if (setup->path_word)
		snprintf(copy.arm.path, sizeof(copy.arm.path), "%s", setup->path_word);
	if (setup->bs)
		copy.context.bs = setup->bs;
	copy.context.misalign_far = setup->misalign_far;
	return cp_report_add_record(&setup->report, &copy, &err);
}

static void add_rows(struct setup *setup, const struct fixture_attr *rows, size_t nr)
{
	assert_int_equal(fixture_attrs_each(rows, nr, add, setup), 0);
}

static const struct cp_report_attrs *find(struct setup *setup)
{
	struct cp_err err = {0};

	assert_int_equal(cp_report_finish_cells(&setup->report, &err), 0);
	assert_int_equal(cp_report_attrs_find(&setup->report, &err), 0);
	return setup->report.attrs;
}

static void end(struct setup *setup)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = setup->report;
	cp_report_free(copy);
	unlink(setup->path);
	free(setup);
}

static const struct fixture_attr wb_uc[] = {
	{"wb", "memcpy", "native", {100e3, 100e3}, 1},
	{"uc", "memcpy", "emulated", {1e3, 2e3}, 1},
};

/* Description: without a second attribute for the same load and path, there is no
 * section: nothing measured, one attribute, two of different sizes, or only in samples of
 * DMA. */
static void no_group_test(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct setup *setup = begin();

		if (i == 1 || i == 2)
			add_rows(setup, &wb_uc[0], 1);
		setup->bs = i == 2 ? 8192 : 0;
		if (i == 2)
			add_rows(setup, &wb_uc[1], 1);
		setup->path_word = "dma";
		if (i == 3)
			add_rows(setup, wb_uc, 2);
		assert_null(find(setup));
		end(setup);
	}
}

/* Description: reads of one attribute and writes of another are not comparable; two in
 * one direction are. */
static void one_direction_test(void **state)
{
	static const struct fixture_attr apart[] = {
		{"wb", "memcpy", "native", {100e3, 0}, 1},
		{"uc", "memcpy", "emulated", {0, 2e3}, 1},
	};
	struct setup *setup = begin();

	(void)state;
	add_rows(setup, apart, 2);
	assert_null(find(setup));
	end(setup);
	setup = begin();
	add_rows(setup, apart, 2);
	add_rows(setup,
		 (const struct fixture_attr[]){{"wb", "nti", "native", {0, 5e3}, 1}}, 1);
	assert_non_null(find(setup));
	end(setup);
}

/* Description: rows stand in the published order, then by name; published ones that were
 * not measured are there, and what was not published has no partner. */
static void rows_test(void **state)
{
	static const struct fixture_attr rows[] = {
		{"wc", "avx512", "emulated", {5e3, 6e3}, 1},
		{"wb", "nti", "native", {0, 5e3}, 1},
		{"wc", "memcpy", "emulated", {30e3, 240e3}, 1},
		{"wb", "nt-both", "native", {90e3, 200e3}, 1},
	};
	static const struct {
		const char *attr, *copy, *provenance;
		bool published;
	} want[] = {
		{"uc", "memcpy", "emulated", true}, {"wb", "memcpy", "native", true},
		{"wb", "nt-both", "native", true},  {"wb", "nti", "native", false},
		{"wc", "memcpy", "emulated", true}, {"wc", "avx512", "emulated", false},
		{"wt", "memcpy", "", true},
	};
	struct setup *setup = begin();

	(void)state;
	add_rows(setup, rows, COUNT(rows));
	add_rows(setup, wb_uc, 2);
	const struct cp_report_attrs *attrs = find(setup);

	assert_int_equal(attrs->nr, 1);
	const struct cp_report_attr_group *group = &attrs->groups[0];

	assert_int_equal(group->nr, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(group->rows[i].attr, want[i].attr);
		assert_string_equal(group->rows[i].copy, want[i].copy);
		assert_string_equal(group->rows[i].provenance, want[i].provenance);
		assert_int_equal(group->rows[i].published != NULL, want[i].published);
	}
	assert_null(group->rows[3].cells[CP_DIR_READ]);
	assert_true(isnan(
		cp_report_attr_ratio(group, &group->rows[3], CP_DIR_READ, group->basis)));
	assert_true(cp_report_attr_ratio(group, &group->rows[4], CP_DIR_WRITE,
					 group->basis) == 2.4);
	assert_true(cp_report_attr_published_ratio(group, &group->rows[4],
						   CP_DIR_WRITE) == 2.4);
	end(setup);
}

/* Description: an attribute that was real in one place and played in another is two rows,
 * each with its label, and the means are told apart. */
static void mixed_test(void **state)
{
	static const struct fixture_attr native[] = {
		{"uc", "memcpy", "native", {4e3, 4e3}, 1},
	};
	struct cp_report_attr_order order;
	struct setup *setup = begin();

	(void)state;
	add_rows(setup, wb_uc, 2);
	add_rows(setup, native, 1);
	const struct cp_report_attr_group *group = &find(setup)->groups[0];

	assert_string_equal(group->rows[0].provenance, "native");
	assert_string_equal(group->rows[1].provenance, "emulated");
	assert_string_equal(group->rows[1].attr, "uc");
	cp_report_attr_order(group, CP_DIR_READ, group->basis, &order);
	assert_int_equal(order.nr_means, 3);
	assert_string_equal(order.means[0].provenance, "");
	assert_int_equal(order.means[0].nr, 2);
	assert_true(fabs(order.means[0].mean - 2) < 1e-9);
	assert_string_equal(order.means[1].provenance, "native");
	assert_true(fabs(order.means[1].mean - 4) < 1e-9);
	assert_string_equal(order.means[2].provenance, "emulated");
	assert_true(fabs(order.means[2].mean - 1) < 1e-9);
	end(setup);
}

/* Description: pairs out of order are named, by the clock that is asked for; rows without
 * a partner are in no pair. */
static void order_test(void **state)
{
	static const struct fixture_attr rows[] = {
		/* above WB memcpy by the wall clock, below by CPU time */
		{"wc", "memcpy", "emulated", {110e3, 240e3}, 2},
		{"wc", "avx512", "emulated", {1, 1}, 1},
	};
	struct cp_report_attr_order order;
	struct setup *setup = begin();

	(void)state;
	add_rows(setup, wb_uc, 2);
	add_rows(setup, rows, 2);
	const struct cp_report_attr_group *group = &find(setup)->groups[0];

	assert_int_equal(group->basis, VALUE_IOPS_CPU);
	cp_report_attr_order(group, CP_DIR_READ, VALUE_IOPS, &order);
	assert_int_equal(order.order.pairs, 3);
	assert_int_equal(order.order.kept, 2);
	assert_string_equal(order.wrong, "WB memcpy is 0.91 of WC memcpy");
	cp_report_attr_order(group, CP_DIR_READ, VALUE_IOPS_CPU, &order);
	assert_int_equal(order.order.kept, 3);
	assert_string_equal(order.wrong, "");
	end(setup);
}

/* Description: one sample without its CPU time, and all ratios are of the wall clock. */
static void basis_test(void **state)
{
	struct setup *setup = begin();

	(void)state;
	add_rows(setup, &wb_uc[0], 1);
	setup->without_cpu = true;
	add_rows(setup, &wb_uc[1], 1);
	assert_int_equal(find(setup)->groups[0].basis, VALUE_IOPS);
	end(setup);
}

/* Description: published figures stand beside no other load than theirs, and nowhere when
 * the table cannot be read. */
static void other_load_test(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct setup *setup = begin();

		setup->misalign_far = i == 3 ? 8 : 0;
		setup->bs = i == 0 ? 65536 : 0;
		setup->rw[0] = i == 1 ? "read" : NULL;
		setup->rw[1] = "write";
		if (i == 2)
			setup->opts.published = "/nonexistent";
		add_rows(setup, wb_uc, 2);
		const struct cp_report_attr_group *group = &find(setup)->groups[0];

		assert_int_equal(group->nr, 2);
		assert_null(group->published_base);
		assert_null(group->rows[0].published);
		end(setup);
	}
}

/* Description: the section as Markdown: text, table and provenance of every row. */
static void markdown_test(void **state)
{
	static const char *const want[] = {
		"## Cache attributes\n\nrandom 4k, 1 job, iodepth 1, bio, media anon "
		"native. "
		"Ratios are of I/Os per second of the submitters' CPU time",
		"- Reads: 1 of 1 pairs of rows that are more than 2.5 times apart in "
		"the "
		"published table stand in the same order here (the nearest is 100.00 to "
		"1). "
		"Ours over published, geometric mean: 1.00 over 1 row, all emulated.\n",
		"| attr | copy | attr is | N | read kIOPS | read interval |",
		"\n| uc | memcpy | emulated | 3 | 1.00 | 1.0 to 1.0 | 1.00 | 0.0100 | "
		"0.0100 "
		"| 0.0100 | 1.00 | 2.00 | 2.0 to 2.0 | 2.00 | 0.0200 | 0.0200 | 0.0200 | "
		"1.00 "
		"|\n",
		"\n| wb | nt-both | not measured | \\- | \\- | \\- | \\- | \\- | 0.900 | "
		"0.900 "
		"| \\- | \\- | \\- | \\- | \\- | 2.00 | 2.00 | \\- |\n",
		"Published figures: Somebody, a list, 2015, \"it\". A note. They are of "
		"another machine",
	};
	struct setup *setup = begin();
	struct cp_report_table tables[TABLE_NR] = {0};
	const struct cp_report_figures figures = {0};
	struct cp_report_page page = {&setup->report, tables, &figures, "", ""};
	struct cp_err err;
	char *text = NULL;
	size_t len;
	struct cp_report_doc doc = {.out = open_memstream(&text, &len),
				    .ops = &cp_report_doc_markdown};

	(void)state;
	assert_non_null(doc.out);
	add_rows(setup, wb_uc, 2);
	find(setup);
	cp_report_attrs_table(&setup->report, &tables[TABLE_ATTRS]);
	cp_report_attr_order_table(&setup->report, &tables[TABLE_ATTR_ORDER]);
	assert_int_equal(cp_report_attrs_write(&page, &doc, &err), 0);
	assert_int_equal(fclose(doc.out), 0);
	for (size_t i = 0; i < COUNT(want); i++)
		if (!strstr(text, want[i]))
			fail_msg("not there: %s\n%s", want[i], text);
	for (int t = 0; t < TABLE_NR; t++)
		cp_report_table_free(&tables[t]);
	free(text);
	end(setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_group_test),   cmocka_unit_test(one_direction_test),
		cmocka_unit_test(rows_test),	   cmocka_unit_test(mixed_test),
		cmocka_unit_test(order_test),	   cmocka_unit_test(basis_test),
		cmocka_unit_test(other_load_test), cmocka_unit_test(markdown_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
