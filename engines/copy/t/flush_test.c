// SPDX-License-Identifier: GPL-2.0-only
/* Flushes: which lines, under faults, and what the words of an arm come to. */
#include "engines/copy/t/broken.h"

#include <stdio.h>
#include <string.h>

#include "engines/copy/flush.h"
#include "engines/copy/guard.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__x86_64__)

#include "engines/copy/flush_lines.h"

static uintptr_t seen[80];
static unsigned nr_seen;

static void record(const void *at)
{
	assert_true(nr_seen < NR(seen));
	seen[nr_seen++] = (uintptr_t)at;
}

CP_FLUSH_DEFINE(record, "sse2", record)

/* Addresses are only noted, so any will do. The lines of [at, at + len), or only those
 * that the range has a part of, each once, upwards, by an address inside of the range. */
static void check_lines(uintptr_t at, size_t len, bool edges)
{
	uintptr_t end = at + len;
	unsigned nr = 0;

	nr_seen = 0;
	assert_int_equal((edges ? record_edges : record_all)((void *)at, NULL, len,
							     CP_DIR_WRITE, CP_ATTR_WB),
			 0);
	for (uintptr_t line = at & ~(uintptr_t)63; line < end; line += 64) {
		bool whole = line >= at && line + 64 <= end;

		if (edges && whole)
			continue;
		if (nr == nr_seen || seen[nr] < at || seen[nr] >= end ||
		    (seen[nr] & ~(uintptr_t)63) != line)
			fail_msg("offset %zu, %zu bytes: line %zu is not flushed",
				 (size_t)(at & 63), len, (size_t)(line - at));
		nr++;
	}
	if (nr != nr_seen)
		fail_msg("offset %zu, %zu bytes: %u lines too many", (size_t)(at & 63),
			 len, nr_seen - nr);
}

/* Description: at all 64 x 64 offsets of both ends, over one line to many, each line of
 * the range is flushed once and no other; with `edges` the partial ones alone. */
static void exactly_the_lines(void **state)
{
	static const size_t bases[] = {0, 64, 128, 192, 1024, 4096};
	const uintptr_t page = 1UL << 20;

	(void)state;
	for (size_t offset = 0; offset < 64; offset++) {
		for (size_t b = 0; b < NR(bases); b++) {
			for (size_t more = 0; more < 64; more++) {
				size_t len = bases[b] + more;

				if (!len)
					continue;
				check_lines(page + offset, len, false);
				check_lines(page + offset, len, true);
			}
		}
	}
	nr_seen = 0;
	record_all((void *)page, NULL, 0, CP_DIR_WRITE, CP_ATTR_WB);
	record_edges((void *)(page + 7), NULL, 0, CP_DIR_WRITE, CP_ATTR_WB);
	assert_int_equal(nr_seen, 0);
}

#else

static void exactly_the_lines(void **state)
{
	(void)state;
	print_message("not asserted: no flush instruction of this CPU is known\n");
	skip();
}

#endif

static unsigned usable_rows(void)
{
	unsigned nr = 0;
	char why[64];

	for (const struct cp_flush_ops *ops = cp_flush_table; ops->name; ops++) {
		nr += ops->present();
		if (!ops->present())
			print_message("not asserted: '%s': %s\n", ops->name,
				      cp_flush_why_absent(ops, why, sizeof(why)));
	}
	return nr;
}

/* Description: right up to pages that may not be touched, on either side and at every
 * offset of a line, a flush touches nothing outside and changes no byte. */
static void nothing_outside(void **state)
{
	(void)state;
	if (!usable_rows())
		skip();
	struct broken mem = broken_make(BROKEN_PROTECTED, 5);
	unsigned char *last = mem.edge - 4096;

	assert_int_equal(mprotect(last - 4096, 4096, PROT_NONE), 0);
	for (const struct cp_flush_ops *ops = cp_flush_table; ops->name; ops++) {
		if (!ops->present())
			continue;
		for (size_t cut = 0; cut < 64; cut++) {
			unsigned char *up = last + cut;
			size_t len = 4096 - cut;

			assert_int_equal(ops->all(up, up, len, CP_DIR_WRITE, 0), 0);
			assert_int_equal(ops->edges(up, up, len, CP_DIR_WRITE, 0), 0);
			assert_int_equal(ops->all(last, last, len, CP_DIR_WRITE, 0), 0);
			assert_int_equal(ops->edges(last, last, len, CP_DIR_WRITE, 0), 0);
		}
	}
	for (size_t i = 1; i <= 4096; i++)
		assert_int_equal(mem.edge[-(ptrdiff_t)i], broken_byte(i, 5));
	broken_free(&mem);
}

/* Description: a flush that meets a page that is gone ends under the guard, and claims
 * nothing; one byte before that page it is whole. */
static void faults_claim_nothing(void **state)
{
	static const enum broken_way ways[] = {BROKEN_TRUNCATED, BROKEN_PROTECTED,
					       BROKEN_UNMAPPED};
	struct cp_err err;

	(void)state;
	if (!usable_rows())
		skip();
	assert_int_equal(cp_guard_get(&err), 0);
	for (size_t w = 0; w < NR(ways); w++) {
		struct broken mem = broken_make(ways[w], 5);

		for (const struct cp_flush_ops *ops = cp_flush_table; ops->name; ops++) {
			unsigned char *at = mem.edge - 8000;

			if (!ops->present())
				continue;
			assert_int_equal(cp_guard_copy(ops->all, at, at, 8001,
						       CP_DIR_WRITE, CP_ATTR_WB),
					 8001);
			assert_int_equal(cp_guard_copy(ops->edges, at, at, 8001,
						       CP_DIR_WRITE, CP_ATTR_WB),
					 8001);
			assert_int_equal(cp_guard_copy(ops->all, at, at, 8000,
						       CP_DIR_WRITE, CP_ATTR_WB),
					 0);
			assert_int_equal(cp_guard_copy(ops->edges, at, at, 8000,
						       CP_DIR_WRITE, CP_ATTR_WB),
					 0);
		}
		broken_free(&mem);
	}
	cp_guard_put();
}

static struct cp_arm arm_of(const char *flush, const char *fence, const char *persist)
{
	struct cp_arm arm;

	cp_arm_init(&arm);
	snprintf(arm.flush, sizeof(arm.flush), "%s", flush);
	snprintf(arm.fence, sizeof(arm.fence), "%s", fence);
	snprintf(arm.persist, sizeof(arm.persist), "%s", persist);
	return arm;
}

static int nr_rows(void)
{
	int nr = 0;

	while (cp_flush_table[nr].name)
		nr++;
	return nr;
}

/* What the rule of flush.h says, once more and otherwise. */
static const char *expected_flush(const char *flush, bool promised, unsigned present,
				  bool auto_flush)
{
	static const char *const ranked[] = {"clwb", "clflushopt", "clflush"};

	if (promised && auto_flush)
		return "";
	if (strcmp(flush, "none") != 0)
		return flush;
	for (unsigned i = 0; promised && i < 3; i++)
		if (present & 1U << i)
			return ranked[i];
	return "";
}

static void check_combination(const char *flush, const char *fence, const char *persist,
			      unsigned present, bool auto_flush)
{
	static const char *const ranked[] = {"clwb", "clflushopt", "clflush"};
	struct cp_arm arm = arm_of(flush, fence, persist);
	bool promised = strcmp(persist, "none") != 0, lacks = promised && !present;
	struct cp_flush got = {.fence = 99};
	struct cp_err err = {0};
	int rc = cp_flush_resolve(&arm, present, auto_flush, &got, &err);
	const char *want = expected_flush(flush, promised, present, auto_flush);
	bool needed = *want ? strcmp(want, "clflush") != 0 : promised;
	const char *want_fence = strcmp(fence, "auto") ? fence
				 : needed	       ? "sfence"
						       : "none";

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(flush, ranked[i]))
			lacks = !(present & 1U << i);
	lacks |= !present && *fence != 'a' && *fence != 'n';
	if (lacks || (needed && promised && !strcmp(fence, "none"))) {
		assert_true(rc < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_int_equal(err.msg[0], '\'');
		assert_non_null(strstr(err.msg, "; expected "));
		assert_int_equal(got.fence, 99);
		return;
	}
	if (rc)
		fail_msg("flush %s fence %s persist %s: %s", flush, fence, persist,
			 err.msg);
	assert_string_equal(got.ops ? got.ops->name : "", want);
	assert_string_equal(cp_fence_name(got.fence),
			    strcmp(want_fence, "none") ? want_fence : "");
	assert_int_equal(got.promised, promised);
	assert_int_equal(got.active, *want || strcmp(want_fence, "none"));
}

/* Description: every flush, fence and persist on every CPU, with and without a platform
 * that flushes by itself, comes to what the header says, or is refused with what would
 * do and nothing written. */
static void resolves(void **state)
{
	static const char *const flushes[] = {"none", "clwb", "clflushopt", "clflush"};
	static const char *const fences[] = {"auto", "none", "sfence", "mfence"};
	static const char *const persists[] = {"none", "auto", "require"};

	(void)state;
	if (nr_rows() != 3) {
		print_message("not asserted: this CPU has no such instructions\n");
		skip();
	}
	for (unsigned i = 0; i < 4 * 4 * 3 * 8 * 2; i++)
		check_combination(flushes[i % 4], fences[i / 4 % 4], persists[i / 16 % 3],
				  i / 48 % 8, i / 384);
}

/* Description: each refusal says which field, why, and what would work. */
static void refusals(void **state)
{
	static const struct {
		const char *flush, *fence, *persist;
		enum cp_attr attr;
		unsigned present;
		const char *msg;
	} cases[] = {
		{"clwb", "auto", "none", CP_ATTR_WB, 6,
		 "'flush' is clwb, an instruction that this CPU lacks; expected flush "
		 "clflushopt, clflush or none"},
		{"clwb", "auto", "auto", CP_ATTR_WB, 0,
		 "'flush' is clwb, an instruction that this CPU lacks; expected flush "
		 "none"},
		{"none", "auto", "auto", CP_ATTR_WB, 0,
		 "'persist' is auto, and no flush instruction of this CPU is known; "
		 "expected persist none"},
		{"none", "mfence", "none", CP_ATTR_WB, 0,
		 "'fence' is mfence, an instruction that this CPU lacks; expected fence "
		 "auto or none"},
		{"none", "none", "require", CP_ATTR_WB, 7,
		 "'fence' is none and persist is require, which here needs one before "
		 "completion is reported; expected fence auto, sfence or mfence"},
		{"clwb", "auto", "none", CP_ATTR_UC, 7,
		 "'flush' is clwb and attr is uc, whose stores are flushed or pass "
		 "the caches by themselves; expected flush none, fence auto and persist "
		 "none, or "
		 "attr wb"},
		{"none", "auto", "auto", CP_ATTR_WC, 7,
		 "'persist' is auto and attr is wc"},
		{"none", "sfence", "none", CP_ATTR_WT, 7,
		 "'fence' is sfence and attr is wt"},
	};

	(void)state;
	if (nr_rows() != 3)
		skip();
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_arm arm =
			arm_of(cases[i].flush, cases[i].fence, cases[i].persist);
		struct cp_err err = {0};

		assert_true(cp_flush_check(&arm, cases[i].attr, cases[i].present, &err) <
			    0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (strncmp(err.msg, cases[i].msg, strlen(cases[i].msg)) != 0)
			fail_msg("'%s'", err.msg);
	}
	struct cp_arm plain = arm_of("none", "auto", "none");
	struct cp_arm bare = arm_of("none", "none", "none");
	struct cp_err err;

	assert_int_equal(cp_flush_check(&plain, CP_ATTR_UC, 7, &err), 0);
	assert_int_equal(cp_flush_check(&bare, CP_ATTR_WC, 0, &err), 0);
}

/* Description: kernels that leave only partial lines in the cache are those whose stores
 * the CPU promises to send past it. */
static void kernels_that_pass_the_cache(void **state)
{
	static const char *const passing[] = {"libpmem", "movdir64b", "nti",
					      "nt-sse2", "nt-avx2",   "nt-avx512"};
	unsigned nr = 0;

	(void)state;
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++)
		nr += ops->nt_stores;
	assert_int_equal(nr, NR(passing));
	for (size_t i = 0; i < NR(passing); i++)
		assert_true(cp_copy_find(passing[i])->nt_stores);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_lines),
		cmocka_unit_test(nothing_outside),
		cmocka_unit_test(faults_claim_nothing),
		cmocka_unit_test(resolves),
		cmocka_unit_test(refusals),
		cmocka_unit_test(kernels_that_pass_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
