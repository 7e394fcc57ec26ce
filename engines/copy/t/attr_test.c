// SPDX-License-Identifier: GPL-2.0-only
/* Emulated attributes: bytes, what is refused, and what a word is bound to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/copy/attr.h"

#define GUARD	  128U
#define LARGE_MAX (256U << 10)
#define AREA	  (LARGE_MAX + 128U + 2 * GUARD)
#define NR(array) (sizeof(array) / sizeof((array)[0]))

#include "engines/copy/t/areas.h"

/* Copy len bytes between these offsets of two lines; all of dst within a guard's reach
 * must be what a copy byte by byte leaves, and src what it was. */
static void check(const struct areas *areas, const struct cp_copy_ops *ops,
		  enum cp_dir dir, size_t dst_off, size_t src_off, size_t len)
{
	size_t span = 64 + len + 2 * GUARD;
	unsigned char *dst = areas->dst + GUARD + dst_off;
	const unsigned char *src = areas->src + GUARD + src_off;

	memcpy(areas->dst, areas->fresh, span);
	memcpy(areas->expect, areas->fresh, span);
	for (size_t i = 0; i < len; i++)
		areas->expect[GUARD + dst_off + i] = src[i];
	size_t residue = ops->fn(dst, src, len, dir, CP_ATTR_UC);

	if (residue || memcmp(areas->dst, areas->expect, span) ||
	    memcmp(areas->src, areas->src_was, span))
		fail_msg("%s, %s: len %zu, dst at %zu, src at %zu, residue %zu",
			 ops->name, dir == CP_DIR_READ ? "read" : "write", len, dst_off,
			 src_off, residue);
}

/* Call `each` for every emulation, in each access width that this machine has. */
static void for_rows(const struct areas *areas,
		     void (*each)(const struct areas *, const struct cp_copy_ops *,
				  enum cp_dir))
{
	unsigned nr = 0;

	for (const struct cp_attr_row *row = cp_attr_rows; row->word; row++) {
		for (size_t i = 0; i < NR(row->ops); i++) {
			if (!row->ops[i].present()) {
				print_message("not asserted: '%s', this CPU lacks '%s'\n",
					      row->ops[i].name, row->ops[i].isa);
				continue;
			}
			each(areas, &row->ops[i], row->dir);
			nr++;
		}
	}
	if (!nr) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
}

static void each_length(const struct areas *areas, const struct cp_copy_ops *ops,
			enum cp_dir dir)
{
	static const size_t offsets[][2] = {{0, 0}, {1, 0}, {0, 1}, {63, 17}};

	for (size_t i = 0; i < NR(offsets); i++) {
		for (size_t len = 0; len <= 4200; len++)
			check(areas, ops, dir, offsets[i][0], offsets[i][1], len);
	}
}

/* Description: every length from 0 to 4200 is copied exactly under every attribute,
 * nothing beside them touched, the source unchanged. */
static void lengths_are_exact(void **state)
{
	for_rows(*state, each_length);
}

static void each_alignment(const struct areas *areas, const struct cp_copy_ops *ops,
			   enum cp_dir dir)
{
	static const size_t lengths[] = {1, 64, 65, 323};

	for (size_t dst = 0; dst < 64; dst++) {
		for (size_t src = 0; src < 64; src++) {
			for (size_t i = 0; i < NR(lengths); i++)
				check(areas, ops, dir, dst, src, lengths[i]);
		}
	}
}

/* Description: all 64 x 64 alignments of both sides are copied exactly: heads and tails
 * that are parts of a line included. */
static void alignments_are_exact(void **state)
{
	for_rows(*state, each_alignment);
}

static void each_large(const struct areas *areas, const struct cp_copy_ops *ops,
		       enum cp_dir dir)
{
	static const size_t lengths[] = {4096, 4097, 65536 + 13, LARGE_MAX};

	for (size_t i = 0; i < NR(lengths); i++) {
		check(areas, ops, dir, 0, 0, lengths[i]);
		check(areas, ops, dir, 41, 7, lengths[i]);
	}
}

/* Description: large copies are exact, aligned and not. */
static void large_copies_are_exact(void **state)
{
	for_rows(*state, each_large);
}

/* Description: an attribute is emulated in both directions for memcpy, nt, ntload and
 * nt-both, by a kernel of that direction that this machine has; other copies are refused
 * with what would work, and the output is left alone. */
static void words_are_bound(void **state)
{
	static const struct {
		const char *word;
		enum cp_dir dir;
		const char *expect; /* "ATTR-" and this begins the kernel's name */
		const char *error;
	} cases[] = {
		{"memcpy", CP_DIR_READ, "memcpy", NULL},
		{"memcpy", CP_DIR_WRITE, "memcpy", NULL},
		{"nt", CP_DIR_READ, "memcpy", NULL},
		{"nt", CP_DIR_WRITE, "nt-both", NULL},
		{"nt-both", CP_DIR_READ, "nt-both", NULL},
		{"nt-both", CP_DIR_WRITE, "nt-both", NULL},
		{"ntload", CP_DIR_READ, "nt-both", NULL},
		{"ntload", CP_DIR_WRITE, "memcpy", NULL},
		{"auto", CP_DIR_READ, NULL,
		 "expected 'memcpy', 'nt', 'ntload' or 'nt-both'"},
		{"nt-sse2", CP_DIR_WRITE, NULL, "copy 'nt-sse2' has no emulation under"},
		{"nt-sse2", CP_DIR_READ, NULL, "no meaning for reads"},
		{"memcyp", CP_DIR_READ, NULL, "unknown copy 'memcyp'"},
	};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (int attr = CP_ATTR_UC; attr <= CP_ATTR_WT; attr++) {
		for (size_t i = 0; i < NR(cases); i++) {
			const struct cp_copy_ops *ops = NULL;
			struct cp_err err = {0};
			char name[32];
			int rc = cp_copy_bind(cases[i].word, cases[i].dir,
					      (enum cp_attr)attr, &ops, &err);

			if (cases[i].error) {
				assert_int_equal(rc, -EINVAL);
				assert_int_equal(err.exit, CP_EXIT_USAGE);
				assert_non_null(strstr(err.msg, cases[i].error));
				assert_null(ops);
				continue;
			}
			assert_int_equal(rc, 0);
			snprintf(name, sizeof(name), "%s-%s",
				 cp_attr_name((enum cp_attr)attr), cases[i].expect);
			assert_memory_equal(ops->name, name, strlen(name));
			assert_true(ops->present());
			assert_true(cases[i].dir == CP_DIR_READ ? ops->read : ops->write);
		}
	}
}

/* Description: nti is played on WC stores, 8 bytes at a time, and nowhere else; where it
 * is not, the words that are played are named. */
static void nti_is_bound_on_wc(void **state)
{
	static const struct {
		enum cp_attr attr;
		enum cp_dir dir;
		const char *name, *error;
	} cases[] = {
		{CP_ATTR_WC, CP_DIR_WRITE, "wc-nti-8", NULL},
		{CP_ATTR_WC, CP_DIR_READ, NULL, "no meaning for reads"},
		{CP_ATTR_UC, CP_DIR_WRITE, NULL, "'nt-both', or attr wb"},
		{CP_ATTR_WT, CP_DIR_WRITE, NULL, "copy 'nti' has no emulation under"},
	};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: this CPU lacks '%s'\n", cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < NR(cases); i++) {
		const struct cp_copy_ops *ops = NULL;
		struct cp_err err = {0};
		int rc = cp_copy_bind("nti", cases[i].dir, cases[i].attr, &ops, &err);

		assert_int_equal(rc, cases[i].error ? -EINVAL : 0);
		if (cases[i].error)
			assert_non_null(strstr(err.msg, cases[i].error));
		else
			assert_string_equal(ops->name, cases[i].name);
	}
}

/* Description: a CPU without one of the instructions of the emulation is told which. */
static void missing_flag_is_named(void **state)
{
	static const struct {
		uint32_t leaf1_ecx, leaf7_ebx;
		const char *lacks;
	} cases[] = {
		{0, 0, "clflushopt"},
		{1U << 19, 1U << 24, "clflushopt"},
		{1U << 19, 1U << 23, "clwb"},
		{0, 1U << 23 | 1U << 24, "sse4_1"},
		{1U << 19, 1U << 23 | 1U << 24, NULL},
		{~0U, ~0U, NULL},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		const char *lacks =
			cp_attr_cpuid_lacks(cases[i].leaf1_ecx, cases[i].leaf7_ebx);

		if (cases[i].lacks)
			assert_string_equal(lacks, cases[i].lacks);
		else
			assert_null(lacks);
	}
}

/* Description: what cannot be had is refused by name, with what would give it; wb is
 * always there. */
static void unavailable_is_refused(void **state)
{
	static const struct {
		enum cp_attr attr;
		bool need_native;
		const char *lacks;
		const char *error; /* NULL: can be had */
	} cases[] = {
		{CP_ATTR_WB, true, "clwb", NULL},
		{CP_ATTR_UC, false, NULL, NULL},
		{CP_ATTR_UC, false, "clflushopt",
		 "attr 'uc' is emulated, which needs the CPU flag 'clflushopt' that this "
		 "machine lacks; expected attr wb"},
		{CP_ATTR_WT, false, "clwb",
		 "attr 'wt' is emulated, which needs the CPU flag 'clwb' that this "
		 "machine lacks; expected attr wb"},
		{CP_ATTR_WC, true, NULL,
		 "attr 'wc' is emulated on this media and 'attr_native' wants it real; "
		 "expected attr wb, no attr_native, or a media that has it: bar (uc, wc) "
		 "or "
		 "memattr (all)"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_err err = {0};
		int rc = cp_attr_check(cases[i].attr, CP_ATTR_BIT(CP_ATTR_WB),
				       cases[i].need_native, cases[i].lacks, &err);

		assert_int_equal(rc, cases[i].error ? -ENOTSUP : 0);
		if (!cases[i].error)
			continue;
		assert_string_equal(err.msg, cases[i].error);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
	}
}

/* Description: what is native needs no CPU flag; where wb is not, nothing is emulated. */
static void media_decides(void **state)
{
	const unsigned uc_wc = CP_ATTR_BIT(CP_ATTR_UC) | CP_ATTR_BIT(CP_ATTR_WC);
	static const struct {
		enum cp_attr attr;
		const char *error;
	} cases[] = {
		{CP_ATTR_UC, NULL},
		{CP_ATTR_WC, NULL},
		{CP_ATTR_WB, "attr 'wb' cannot be had on this media, nor emulated: it is "
			     "no write-back memory; expected attr uc or wc"},
		{CP_ATTR_WT, "attr 'wt' cannot be had on this media, nor emulated: it is "
			     "no write-back memory; expected attr uc or wc"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_err err = {0};
		int rc = cp_attr_check(cases[i].attr, uc_wc, true, "clwb", &err);

		assert_int_equal(rc, cases[i].error ? -ENOTSUP : 0);
		if (cases[i].error)
			assert_string_equal(err.msg, cases[i].error);
	}
}

/* Description: the words of a context's `attr` are the attributes; wb alone is native. */
static void names_agree_with_the_words(void **state)
{
	const struct cp_field *field = cp_field_find(cp_context_fields, "attr");
	size_t nr = 0;

	(void)state;
	for (; field->words[nr]; nr++) {
		enum cp_attr attr;
		struct cp_err err;

		assert_int_equal(cp_attr_parse(field->words[nr], &attr, &err), 0);
		assert_string_equal(cp_attr_name(attr), field->words[nr]);
		assert_string_equal(cp_attr_provenance(attr, CP_ATTR_BIT(CP_ATTR_WB)),
				    attr == CP_ATTR_WB ? "native" : "emulated");
	}
	assert_int_equal(nr, CP_ATTR_WT + 1);
}

/* Description: where an attribute other than wb is native every copy but the calibrated
 * one goes with it, and a policy's is memcpy there; wb takes it. */
static void auto_is_of_wb(void **state)
{
	static const char *const words[] = {"memcpy", "nt", "nt-both", "avx2", "movsb"};
	static const enum cp_attr attrs[] = {CP_ATTR_WB, CP_ATTR_UC, CP_ATTR_WC,
					     CP_ATTR_WT};
	const unsigned all = CP_ATTR_BIT(CP_ATTR_WB) | CP_ATTR_BIT(CP_ATTR_UC) |
			     CP_ATTR_BIT(CP_ATTR_WC) | CP_ATTR_BIT(CP_ATTR_WT);

	(void)state;
	for (size_t i = 0; i < NR(attrs); i++) {
		bool wb = attrs[i] == CP_ATTR_WB;
		struct cp_err err = {0};

		for (size_t k = 0; k < NR(words); k++) {
			assert_int_equal(
				cp_attr_check_copy(words[k], attrs[i], all, &err), 0);
			assert_string_equal(cp_attr_policy_copy(words[k], attrs[i]),
					    words[k]);
		}
		assert_int_equal(cp_attr_check_copy("auto", attrs[i], all, &err),
				 wb ? 0 : -EINVAL);
		if (!wb)
			assert_non_null(strstr(err.msg, "; expected a copy by name"));
		/* emulated: cp_attr_bind() tells */
		assert_int_equal(cp_attr_check_copy("auto", attrs[i],
						    CP_ATTR_BIT(CP_ATTR_WB), &err),
				 0);
		assert_string_equal(cp_attr_policy_copy("auto", attrs[i]),
				    wb ? "auto" : "memcpy");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lengths_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(alignments_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(large_copies_are_exact, setup, teardown),
		cmocka_unit_test(words_are_bound),
		cmocka_unit_test(nti_is_bound_on_wc),
		cmocka_unit_test(missing_flag_is_named),
		cmocka_unit_test(unavailable_is_refused),
		cmocka_unit_test(media_decides),
		cmocka_unit_test(auto_is_of_wb),
		cmocka_unit_test(names_agree_with_the_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
