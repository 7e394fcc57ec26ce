// SPDX-License-Identifier: GPL-2.0-only
/* What a copy's name stands for, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engines/base/cell.h"
#include "engines/copy/copy.h"

/* Description: a name is bound to the kernel it stands for, or refused with what would
 * work; a refusal leaves the output alone. */
static void names_are_bound(void **state)
{
	static const struct {
		const char *name;
		enum cp_dir dir;
		const char *expect; /* kernel, or NULL */
		const char *error;  /* in the message */
	} cases[] = {
		{"memcpy", CP_DIR_READ, "memcpy", NULL},
		{"memcpy", CP_DIR_WRITE, "memcpy", NULL},
		{"nt", CP_DIR_READ, "memcpy", NULL},
		{"ntload", CP_DIR_WRITE, "memcpy", NULL},
		{"portable", CP_DIR_READ, "portable", NULL},
		{"nt-sse2", CP_DIR_READ, NULL, "no meaning for reads"},
		{"nt-avx2", CP_DIR_READ, NULL, "expected 'memcpy', 'nt' or 'auto'"},
		{"nt-avx512", CP_DIR_READ, NULL, "copy 'nt-avx512'"},
		{"nti", CP_DIR_READ, NULL, "copy 'nti' has no meaning for reads"},
		{"movdir64b", CP_DIR_READ, NULL, "no meaning for reads"},
		{"libpmem", CP_DIR_READ, NULL, "stores go to the far side"},
		{"libpmem-temporal", CP_DIR_READ, NULL, "no meaning for reads"},
		{"ntload-sse41", CP_DIR_WRITE, NULL, "no meaning for writes"},
		{"ntload-avx2", CP_DIR_WRITE, NULL, "loads come from the far side"},
		{"ntload-ldnp", CP_DIR_WRITE, NULL, "expected 'memcpy', 'ntload' or"},
#if defined(__x86_64__)
		{"nt-sse2", CP_DIR_WRITE, "nt-sse2", NULL},
		{"movsb", CP_DIR_READ, "movsb", NULL},
		{"nti", CP_DIR_WRITE, "nti", NULL},
#endif
		{"memcyp", CP_DIR_READ, NULL, "unknown copy 'memcyp'; expected 'memcpy'"},
		{"zzzzzzzz", CP_DIR_WRITE, NULL, "expected one of 'memcpy', 'portable'"},
		{"", CP_DIR_WRITE, NULL, "unknown copy ''"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_err err = {0};
		const struct cp_copy_ops *ops = NULL;
		int rc =
			cp_copy_bind(cases[i].name, cases[i].dir, CP_ATTR_WB, &ops, &err);

		if (cases[i].expect) {
			assert_int_equal(rc, 0);
			assert_string_equal(ops->name, cases[i].expect);
			continue;
		}
		assert_int_equal(rc, -EINVAL);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_null(ops);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: nt, ntload and nt-both are the widest kernels of their kind that this CPU
 * has, or refused in words. */
static void virtual_names_are_the_widest(void **state)
{
	static const char *const stores[] = {"nt-avx512", "nt-avx2", "nt-sse2", "nt-stnp",
					     NULL};
	static const char *const loads[] = {"ntload-avx512", "ntload-avx2",
					    "ntload-sse41", "ntload-ldnp", NULL};
	static const struct {
		const char *name;
		enum cp_dir dir;
		const char *const *widest_first;
		const char *error;
	} cases[] = {
		{"nt", CP_DIR_WRITE, stores, "'nt' needs non-temporal stores"},
		{"ntload", CP_DIR_READ, loads, "'ntload' needs non-temporal loads"},
		{"nt-both", CP_DIR_WRITE, stores, "'nt-both' needs non-temporal stores"},
		{"nt-both", CP_DIR_READ, loads, "'nt-both' needs non-temporal loads"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const *expect = cases[i].widest_first;
		const struct cp_copy_ops *ops = NULL;
		struct cp_err err = {0};

		while (*expect && !cp_copy_find(*expect)->present())
			expect++;
		int rc =
			cp_copy_bind(cases[i].name, cases[i].dir, CP_ATTR_WB, &ops, &err);

		if (*expect) {
			assert_int_equal(rc, 0);
			assert_string_equal(ops->name, *expect);
		} else {
			assert_int_equal(rc, -ENOTSUP);
			assert_non_null(strstr(err.msg, cases[i].error));
		}
	}
}

/* Description: a kernel whose instructions or library this machine lacks is refused,
 * naming them. */
static void absent_isa_is_refused(void **state)
{
	unsigned asserted = 0;

	(void)state;
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		const struct cp_copy_ops *got = NULL;
		struct cp_err err = {0};

		if (ops->present())
			continue;
		enum cp_dir dir = ops->write ? CP_DIR_WRITE : CP_DIR_READ;

		assert_int_equal(cp_copy_bind(ops->name, dir, CP_ATTR_WB, &got, &err),
				 -ENOTSUP);
		assert_non_null(strstr(err.msg, ops->library ? ops->library : ops->isa));
		assert_null(got);
		asserted++;
	}
	if (!asserted) {
		print_message("not asserted: this CPU has every kernel's instructions\n");
		skip();
	}
}

/* Description: in each class of sizes auto is a real, present kernel that has a meaning
 * in the direction, with its own function, and that no other was faster than; memcpy when
 * that holds of it, else the last in the table of those of which it does. */
static void auto_follows_the_calibration(void **state)
{
	const struct cp_copy_calibration *cal = cp_copy_calibrate();
	struct cp_copy_opts opts;

	(void)state;
	cp_copy_opts_init(&opts);
	for (unsigned i = 0; i < 2 * CP_COPY_CLASSES; i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_WRITE : CP_DIR_READ;
		unsigned class = i / 2, pick = 0;
		struct cp_copy_bound bound;
		struct cp_err err = {0};

		assert_int_equal(cp_copy_bind_sizes("auto", dir, &opts, &bound, &err), 0);
		const struct cp_copy_ops *ops = bound.ops[class];

		assert_false(ops->virtual_);
		assert_true(ops->present());
		assert_true(dir == CP_DIR_READ ? ops->read : ops->write);
		assert_ptr_equal(bound.fn[class], ops->fn);
		assert_string_equal(cal->rows[0].ops->name, "memcpy");
		for (unsigned k = 0; k < cal->nr; k++) {
			if (cal->rows[k].fastest[dir][class] &&
			    !cal->rows[0].fastest[dir][class])
				pick = k;
		}
		assert_true(cal->rows[pick].fastest[dir][class]);
		assert_true(cal->rows[pick].bytes_per_s[dir][class] > 0);
		assert_ptr_equal(ops, cal->rows[pick].ops);
	}
}

/* Description: one kernel alone, as auto is for those that take no sizes, is that of 64k.
 */
static void auto_alone_is_that_of_64k(void **state)
{
	const struct cp_copy_calibration *cal = cp_copy_calibrate();

	(void)state;
	for (unsigned d = 0; d < 2; d++) {
		const struct cp_copy_ops *ops = NULL;
		struct cp_err err = {0};

		assert_int_equal(
			cp_copy_bind("auto", (enum cp_dir)d, CP_ATTR_WB, &ops, &err), 0);
		assert_ptr_equal(ops, cal->best[d][CP_COPY_CLASS_64K]);
	}
	assert_int_equal(cp_copy_class_bytes[CP_COPY_CLASS_64K], 65536);
}

/* Description: every name but auto is one kernel and one function for all sizes, that
 * which it is without sizes; what is refused is refused alike. */
static void others_are_one_for_all_sizes(void **state)
{
	struct cp_copy_opts opts;

	(void)state;
	cp_copy_opts_init(&opts);
	for (const struct cp_copy_ops *row = cp_copy_table; row->name; row++) {
		for (unsigned d = 0; d < 2 && strcmp(row->name, "auto") != 0; d++) {
			const struct cp_copy_ops *ops = NULL;
			struct cp_copy_bound bound = {.fn = {NULL}};
			struct cp_err err = {0};
			cp_copy_fn fn = NULL;
			int rc = cp_copy_bind_opts(row->name, (enum cp_dir)d, &opts, &ops,
						   &fn, &err);

			assert_int_equal(cp_copy_bind_sizes(row->name, (enum cp_dir)d,
							    &opts, &bound, &err),
					 rc);
			for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
				assert_ptr_equal(bound.ops[class], rc ? NULL : ops);
				assert_ptr_equal(bound.fn[class], rc ? NULL : fn);
			}
		}
	}
}

/* Description: each size has its class, at the borders and at both ends, and a class is
 * measured at a size of its own. */
static void sizes_have_classes(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned class;
	} cases[] = {
		{0, 0},		 {1, 0},	  {511, 0},	{1023, 0},
		{1024, 1},	 {4095, 1},	  {4096, 1},	{8191, 1},
		{8192, 2},	 {32767, 2},	  {32768, 3},	{131071, 3},
		{131072, 4},	 {1048575, 4},	  {1048576, 5}, {2097153, 5},
		{1ULL << 30, 5}, {UINT64_MAX, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(cp_copy_class(cases[i].bytes), cases[i].class);
	for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
		assert_int_equal(cp_copy_class(cp_copy_class_bytes[class]), class);
		assert_int_equal(cp_copy_class(cp_copy_class_from[class]), class);
		if (class)
			assert_int_equal(cp_copy_class(cp_copy_class_from[class] - 1),
					 class - 1);
	}
}

static bool is_rate_of_another(const struct cp_copy_calibration *cal, unsigned row,
			       unsigned dir, unsigned class)
{
	double rate = cal->rows[row].bytes_per_s[dir][class];

	for (unsigned i = 0; i < cal->nr; i++) {
		double other = cal->rows[i].bytes_per_s[dir][class];

		if (i != row && other >= rate && other <= rate)
			return true;
	}
	return false;
}

/* Description: calibration measures each present real kernel, in its directions only and
 * at every size, keeps its own figure, and is done once. */
static void calibration_covers_the_table(void **state)
{
	const struct cp_copy_calibration *cal = cp_copy_calibrate();
	unsigned nr = 0, measured = 0, shared = 0;

	(void)state;
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (ops->virtual_ || !ops->present())
			continue;
		assert_ptr_equal(cal->rows[nr].ops, ops);
		for (unsigned class = 0; class < CP_COPY_CLASSES; class ++) {
			assert_int_equal(cal->rows[nr].bytes_per_s[CP_DIR_READ][class] >
						 0,
					 ops->read);
			assert_int_equal(cal->rows[nr].bytes_per_s[CP_DIR_WRITE][class] >
						 0,
					 ops->write);
			for (unsigned d = 0; d < 2; d++) {
				if (cal->rows[nr].bytes_per_s[d][class] > 0)
					shared += is_rate_of_another(cal, nr, d, class);
			}
			measured += (unsigned)ops->read + (unsigned)ops->write;
		}
		nr++;
	}
	assert_int_equal(cal->nr, nr);
	assert_true(shared < measured / 5); /* by chance: clocks tick in steps */
	assert_ptr_equal(cp_copy_calibrate(), cal);
}

/* Description: the words that an arm's `copy` may hold are the names of the table. */
static void words_agree_with_the_table(void **state)
{
	const struct cp_field *field = cp_field_find(cp_arm_fields, "copy");
	size_t nr_words = 0, nr_rows = 0;

	(void)state;
	assert_non_null(field);
	assert_non_null(field->words);
	for (; field->words[nr_words]; nr_words++) {
		if (!cp_copy_find(field->words[nr_words]))
			fail_msg("'%s' is not in cp_copy_table", field->words[nr_words]);
	}
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++)
		nr_rows++;
	assert_int_equal(nr_words, nr_rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_bound),
		cmocka_unit_test(virtual_names_are_the_widest),
		cmocka_unit_test(absent_isa_is_refused),
		cmocka_unit_test(auto_follows_the_calibration),
		cmocka_unit_test(auto_alone_is_that_of_64k),
		cmocka_unit_test(others_are_one_for_all_sizes),
		cmocka_unit_test(sizes_have_classes),
		cmocka_unit_test(calibration_covers_the_table),
		cmocka_unit_test(words_agree_with_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
