// SPDX-License-Identifier: GPL-2.0-only
/* unroll and prefetch: what they parse to, what they pick, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engines/copy/kernels.h"

static struct cp_copy_opts opts_of(uint32_t unroll, const char *prefetch)
{
	struct cp_copy_opts opts;
	struct cp_err err;

	if (cp_copy_opts_parse(unroll, prefetch, &opts, &err))
		fail_msg("%s", err.msg);
	return opts;
}

/* Description: settings are read with their defaults. */
static void settings_are_read(void **state)
{
	static const struct {
		uint32_t unroll;
		const char *prefetch;
		enum cp_prefetch hint;
		uint32_t distance;
	} cases[] = {
		{1, "none", CP_PREFETCH_NONE, 512},
		{2, "nta", CP_PREFETCH_NTA, 512},
		{4, "t0", CP_PREFETCH_T0, 512},
		{8, "nta:distance=64", CP_PREFETCH_NTA, 64},
		{8, "t0:distance=4k", CP_PREFETCH_T0, 4096},
		{1, "t0:distance=1000", CP_PREFETCH_T0, 1000},
		{1, "t0:distance=1m", CP_PREFETCH_T0, 1U << 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_copy_opts opts = opts_of(cases[i].unroll, cases[i].prefetch);

		assert_int_equal(opts.unroll, cases[i].unroll);
		assert_int_equal(opts.prefetch, cases[i].hint);
		assert_int_equal(opts.distance, cases[i].distance);
	}
}

/* Description: settings that cannot be are refused by name, and nothing is written. */
static void bad_settings_are_refused(void **state)
{
	static const struct {
		uint32_t unroll;
		const char *prefetch, *error;
	} cases[] = {
		{0, "none", "'unroll' is 0; expected 1, 2, 4 or 8"},
		{3, "none", "'unroll' is 3; expected 1, 2, 4 or 8"},
		{16, "nta", "'unroll' is 16; expected 1, 2, 4 or 8"},
		{4, "t1", "'prefetch' is 't1': unknown hint 't1'; expected none, nta or"},
		{4, "nta:distance=63", "'prefetch' is 'nta:distance=63': "},
		{4, "nta:distance=2m", "distance"},
		{4, "nta:distance=x", "distance"},
		{4, "t0:ahead=64", "ahead"},
		{4, "none:distance=64", "distance"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_copy_opts opts = {.unroll = 77};
		struct cp_err err = {0};

		assert_true(cp_copy_opts_parse(cases[i].unroll, cases[i].prefetch, &opts,
					       &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_int_equal(opts.unroll, 77);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: the defaults are what cp_copy_bind() gives, for every name. */
static void defaults_change_nothing(void **state)
{
	struct cp_copy_opts opts = opts_of(4, "none"), init;

	(void)state;
	cp_copy_opts_init(&init);
	assert_memory_equal(&init, &opts, sizeof(opts));
	for (const struct cp_copy_ops *row = cp_copy_table; row->name; row++) {
		const struct cp_copy_ops *plain = NULL, *ops = NULL;
		cp_copy_fn fn = NULL;
		struct cp_err err;
		int rc = cp_copy_bind(row->name, CP_DIR_WRITE, CP_ATTR_WB, &plain, &err);

		assert_int_equal(cp_copy_bind_opts(row->name, CP_DIR_WRITE, &opts, &ops,
						   &fn, &err),
				 rc);
		assert_ptr_equal(ops, plain);
		assert_ptr_equal(fn, plain ? plain->fn : NULL);
	}
}

/* Description: each setting is a function of its own, the same one when asked again, and
 * copies. */
static void settings_pick_functions(void **state)
{
	static const char *const hints[] = {"none", "nta", "t0", "nta:distance=64",
					    "t0:distance=4k"};
	unsigned char src[1000], dst[1000];
	cp_copy_fn seen[20];
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (unsigned char)(i * 7 + i / 256);
	for (uint32_t unroll = 1; unroll <= 8; unroll *= 2) {
		for (size_t h = 0; h < 5; h++) {
			struct cp_copy_opts opts = opts_of(unroll, hints[h]);
			const struct cp_copy_ops *ops;
			cp_copy_fn again;
			struct cp_err err;

			for (unsigned twice = 0; twice < 2; twice++)
				assert_int_equal(cp_copy_bind_opts(
							 "portable", CP_DIR_READ, &opts,
							 &ops, twice ? &again : &seen[nr],
							 &err),
						 0);
			assert_ptr_equal(again, seen[nr]);
			for (size_t i = 0; i < nr; i++)
				assert_ptr_not_equal(seen[i], seen[nr]);
			memset(dst, 0, sizeof(dst));
			assert_int_equal(
				seen[nr](dst, src, sizeof(src), CP_DIR_READ, CP_ATTR_WB),
				0);
			assert_memory_equal(dst, src, sizeof(src));
			nr++;
		}
	}
}

/* Description: without a fence a kernel with NT stores is a function of its own, for each
 * unroll, with the kernel's order; other kernels, other directions and a prefetch are as
 * they are with one. */
static void unfenced_is_for_nt_stores(void **state)
{
	static const char *const hints[] = {"none", "nta"};

	(void)state;
	for (const struct cp_copy_ops *row = cp_copy_table; row->name; row++) {
		for (unsigned i = 0; row->variants && row->present() && i < 8; i++) {
			struct cp_copy_opts opts = opts_of(1U << i / 2, hints[i % 2]);
			enum cp_dir dir = row->write ? CP_DIR_WRITE : CP_DIR_READ;
			bool own = !(i % 2) && row->variants->unfenced[i / 2];
			struct cp_copy_bound bound[2];
			struct cp_err err;

			for (unsigned u = 0; u < 2; u++) {
				opts.unfenced = u;
				assert_int_equal(cp_copy_bind_sizes(row->name, dir, &opts,
								    &bound[u], &err),
						 0);
			}
			assert_int_equal(bound[0].fn[0] != bound[1].fn[0], own);
			assert_int_equal(cp_copy_order(bound[1].fn[0]), row->order);
		}
	}
}

/* Description: a kernel that has no loop, or that is not known yet, takes no settings. */
static void kernels_without_a_loop_refuse(void **state)
{
	static const struct {
		const char *name;
		enum cp_dir dir;
		uint32_t unroll;
		const char *prefetch, *error;
	} cases[] =
	{ {"memcpy", CP_DIR_READ, 8, "none", "'unroll' is set and copy 'memcpy' has no"},
	  {"memcpy", CP_DIR_READ, 4, "nta", "'prefetch' is set and copy 'memcpy'"},
	  {"nt", CP_DIR_READ, 1, "none", "copy 'nt' is memcpy here, which has no loop"},
	  {"ntload", CP_DIR_WRITE, 1, "t0", "copy 'ntload' is memcpy here"},
	  {"auto", CP_DIR_READ, 8, "none", "copy is auto, which is measured with the"},
#if defined(__x86_64__)
	  {"movsb", CP_DIR_WRITE, 2, "none", "expected unroll 4 and prefetch none"},
#endif
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_copy_opts opts = opts_of(cases[i].unroll, cases[i].prefetch);
		const struct cp_copy_ops *ops = NULL;
		struct cp_err err = {0};
		cp_copy_fn fn = NULL;

		assert_int_equal(
			cp_copy_check_opts(cases[i].name, cases[i].dir, &opts, &err),
			-EINVAL);
		assert_int_equal(cp_copy_bind_opts(cases[i].name, cases[i].dir, &opts,
						   &ops, &fn, &err),
				 -EINVAL);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_true(!ops && !fn);
		if (!strstr(err.msg, cases[i].error))
			fail_msg("'%s' lacks '%s'", err.msg, cases[i].error);
	}
}

/* Description: ranges overlap when they share a byte, whichever is first. */
static void overlap_is_a_shared_byte(void **state)
{
	static const struct {
		size_t a, b, len;
		bool overlap;
	} cases[] = {
		{0, 0, 0, false}, {0, 0, 1, true},    {0, 1, 1, false},
		{1, 0, 1, false}, {0, 9, 10, true},   {0, 10, 10, false},
		{9, 0, 10, true}, {10, 0, 10, false},
	};
	static const char area[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(cp_copy_overlap(area + cases[i].a, area + cases[i].b,
						 cases[i].len),
				 cases[i].overlap);
}

/* Description: when a process has no place for another distance the next is refused in
 * words, checking takes no place, and those there are still serve. Keep this test last.
 */
static void a_full_process_is_refused(void **state)
{
	struct cp_copy_opts opts = opts_of(4, "nta");
	const struct cp_copy_ops *ops;
	struct cp_err err = {0};
	cp_copy_fn fn, last = NULL;
	unsigned taken = 0;
	int rc = 0;

	(void)state;
	for (opts.distance = 2048; opts.distance < 4096; opts.distance++)
		assert_int_equal(cp_copy_check_opts("portable", CP_DIR_READ, &opts, &err),
				 0);
	for (opts.distance = 2048; !rc && taken <= CP_COPY_AHEAD_MAX; opts.distance++) {
		rc = cp_copy_bind_opts("portable", CP_DIR_READ, &opts, &ops, &fn, &err);
		if (!rc) {
			last = fn;
			taken++;
		}
	}
	assert_int_equal(rc, -EINVAL);
	assert_int_equal(err.exit, CP_EXIT_USAGE);
	assert_non_null(strstr(err.msg, "expected at most 64"));
	opts.distance = 2048 + taken - 1;
	assert_int_equal(
		cp_copy_bind_opts("portable", CP_DIR_READ, &opts, &ops, &fn, &err), 0);
	assert_ptr_equal(fn, last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(bad_settings_are_refused),
		cmocka_unit_test(defaults_change_nothing),
		cmocka_unit_test(settings_pick_functions),
		cmocka_unit_test(unfenced_is_for_nt_stores),
		cmocka_unit_test(kernels_without_a_loop_refuse),
		cmocka_unit_test(overlap_is_a_shared_byte),
		cmocka_unit_test(a_full_process_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
