/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/cell.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Description: defaults are those of the tables, with what follows from others unset. */
static void test_defaults(void **state)
{
	struct cp_context context;
	struct cp_arm arm;

	(void)state;
	cp_context_init(&context);
	assert_string_equal(context.rw, "read");
	assert_int_equal(context.bs, 4096);
	assert_int_equal(context.segments, 1);
	assert_string_equal(context.media, "anon");
	cp_arm_init(&arm);
	assert_string_equal(arm.queue_mode, "bio");
	assert_string_equal(arm.path, "cpu");
	assert_string_equal(arm.copy, "auto");
	assert_string_equal(arm.dma, "none");
	assert_string_equal(arm.ring_full, "wait");
	assert_string_equal(arm.completion, "");
	assert_string_equal(arm.policy, "");
	assert_int_equal(arm.q_per_node, 0);
	assert_int_equal(arm.queue_depth, 0);
	assert_int_equal(arm.dma_thresh_read, 0);
	assert_false(arm.dma_thresh_read_set);
	assert_int_equal(arm.batch, 1);
}

static void round_trip(const struct cp_field *field, void *obj, const char *text)
{
	char plain[512], readable[512], again[512];
	struct cp_err err = {0};

	if (cp_field_parse(field, obj, text, &err))
		fail_msg("%s '%s': %s", field->name, text, err.msg);
	cp_field_format(field, obj, true, plain, sizeof(plain));
	cp_field_format(field, obj, false, readable, sizeof(readable));
	assert_int_equal(cp_field_parse(field, obj, readable, &err), 0);
	assert_string_equal(cp_field_format(field, obj, true, again, sizeof(again)),
			    plain);
	assert_int_equal(cp_field_parse(field, obj, plain, &err), 0);
	assert_string_equal(cp_field_format(field, obj, false, again, sizeof(again)),
			    readable);
	if (field->type != CP_FIELD_SIZE && field->type != CP_FIELD_UINT)
		assert_string_equal(plain, text);
}

static void round_trip_all(const struct cp_field *fields, void *obj)
{
	char number[24];

	for (; fields->name; fields++) {
		assert_ptr_equal(cp_field_find(fields, fields->name), fields);
		assert_true(fields->help && *fields->help);
		round_trip(fields, obj, fields->def);
		for (size_t i = 0; fields->words && fields->words[i]; i++)
			round_trip(fields, obj, fields->words[i]);
		if (fields->type == CP_FIELD_TEXT)
			round_trip(fields, obj, "some/file.yaml");
		if (fields->type != CP_FIELD_SIZE && fields->type != CP_FIELD_UINT)
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, fields->min);
		round_trip(fields, obj, number);
		snprintf(number, sizeof(number), "%" PRIu64, fields->max);
		round_trip(fields, obj, number);
	}
}

/* Description: every field's default, words and ends of range survive parse and format.
 */
static void test_round_trip(void **state)
{
	struct cp_context context;
	struct cp_arm arm;

	(void)state;
	cp_context_init(&context);
	cp_arm_init(&arm);
	round_trip_all(cp_context_fields, &context);
	round_trip_all(cp_arm_fields, &arm);
	assert_null(cp_field_find(cp_arm_fields, "name"));
	assert_null(cp_field_find(cp_arm_fields, "bs"));
}

/* Description: sizes are written with a suffix for people and plain for records. */
static void test_format(void **state)
{
	struct cp_context context;
	char buf[32];
	const struct cp_field *bs = cp_field_find(cp_context_fields, "bs");

	(void)state;
	cp_context_init(&context);
	assert_string_equal(cp_field_format(bs, &context, true, buf, sizeof(buf)),
			    "4096");
	assert_string_equal(cp_field_format(bs, &context, false, buf, sizeof(buf)), "4k");
}

/* Description: settings of an engine are taken as they are; its name is checked. */
static void test_spec(void **state)
{
	const struct cp_field *dma = cp_field_find(cp_arm_fields, "dma");
	struct cp_arm arm;

	(void)state;
	cp_arm_init(&arm);
	round_trip(dma, &arm, "sw:threads=1,ring=256");
	round_trip(dma, &arm, "null:delay=20us");
}

#define ENGINES "none, auto, idxd, kernel, sw, null, model or fault"

#define COPIES                                                                     \
	"memcpy, nt, auto, ntload, nt-both, portable, movsb, sse2, avx2, avx512, " \
	"libpmem, libpmem-temporal, movdir64b, nti, nt-sse2, nt-avx2, nt-avx512, " \
	"nt-stnp, ntload-sse41, "                                                  \
	"ntload-avx2, ntload-avx512 or ntload-ldnp"

static const struct {
	const char *field, *text, *msg;
} refused[] = {
	{"path", "dna",
	 "unknown path 'dna'; expected cpu, dma or auto (did you mean "
	 "'dma'?)"},
	{"path", "turbo", "unknown path 'turbo'; expected cpu, dma or auto"},
	{"path", "", "'path' is empty; expected cpu, dma or auto"},
	{"queue_mode", "pages",
	 "unknown queue_mode 'pages'; expected bio, mq or page (did you mean 'page'?)"},
	{"completion", "hybrids",
	 "unknown completion 'hybrids'; expected sync, poll, irq or hybrid (did you mean "
	 "'hybrid'?)"},
	{"flush", "clwp",
	 "unknown flush 'clwp'; expected none, clwb, clflushopt or clflush "
	 "(did "
	 "you mean 'clwb'?)"},
	{"fence", "lfence",
	 "unknown fence 'lfence'; expected auto, none, sfence or mfence (did you "
	 "mean 'sfence'?)"},
	{"persist", "always", "unknown persist 'always'; expected none, auto or require"},
	{"copy", "nta", "copy 'nta' is not available in this version; expected " COPIES},
	{"dma", "ioat", "dma 'ioat' is not available in this version; expected " ENGINES},
	{"dma", "swx", "unknown dma 'swx'; expected " ENGINES " (did you mean 'sw'?)"},
	{"dma", "sw:ring",
	 "dma: setting 'ring' of 'sw' cannot be read; expected key=value"},
	{"dma", "none:ring=4", "dma 'none:ring=4' has settings; expected 'none' alone"},
	{"dma", "sw+null", "unknown dma 'sw+null'; expected " ENGINES},
	{"dma_thresh_read", "lots",
	 "dma_thresh_read 'lots' is unreadable; expected a size of 0 to 1t"},
	{"max_merge", "2g", "max_merge '2g' is out of range; expected a size of 0 to 1g"},
	{"split_pct", "100",
	 "split_pct '100' is out of range; expected a whole number of 0 to 99"},
	{"dma_node", "near", "unknown dma_node 'near'; expected memory, cpu or device"},
	{"q_per_node", "1025",
	 "q_per_node '1025' is out of range; expected a whole number of 0 to "
	 "1024"},
	{"unroll", "16",
	 "unroll '16' is out of range; expected a whole number of 1 to 8"},
	{"prefetch", "t1",
	 "unknown prefetch 't1'; expected none, nta or t0 (did you mean 't0'?)"},
	{"batch", "0", "batch '0' is out of range; expected a whole number of 1 to 1024"},
	{"policy_force", "maybe",
	 "policy_force 'maybe' is unreadable; expected true or false"},
	{"policy_force", "2", "policy_force '2' is unreadable; expected true or false"},
	{"batch", "-1", "batch '-1' is unreadable; expected a whole number of 1 to 1024"},
};

/* Description: a value that cannot be is refused with what would do, and nothing is
 * written. */
static void test_refused(void **state)
{

	(void)state;
	for (size_t i = 0; i < NR(refused); i++) {
		struct cp_arm arm, before;
		struct cp_err err = {0};

		cp_arm_init(&arm);
		before = arm;
		assert_int_not_equal(
			cp_field_parse(cp_field_find(cp_arm_fields, refused[i].field),
				       &arm, refused[i].text, &err),
			0);
		assert_string_equal(err.msg, refused[i].msg);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_memory_equal(&arm, &before, sizeof(arm));
	}
}

/* Description: a switch is read as true and false, 1 and 0. */
static void test_switch(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
	} cases[] = {{"true", 1}, {"false", 0}, {"1", 1}, {"0", 0}};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_arm arm;
		struct cp_err err = {0};

		cp_arm_init(&arm);
		arm.policy_force = 7;
		assert_int_equal(
			cp_field_parse(cp_field_find(cp_arm_fields, "policy_force"), &arm,
				       cases[i].text, &err),
			0);
		assert_int_equal(arm.policy_force, cases[i].value);
	}
}

/* Description: the same for what a context asks for. */
static void test_context_refused(void **state)
{
	static const struct {
		const char *field, *text, *msg;
	} cases[] = {
		{"rw", "raed",
		 "unknown rw 'raed'; expected read, write, randread or "
		 "randwrite (did you mean 'read'?)"},
		{"rw", "randrw",
		 "rw 'randrw' is not available in this version; expected "
		 "read, write, randread or randwrite"},
		{"attr", "up",
		 "unknown attr 'up'; expected wb, uc, wc or wt (did you mean 'uc'?)"},
		{"layer", "btt:sector=4096+linear",
		 "layer 'btt' is not available in this version; expected none"},
		{"layer", "none+linear", "unknown layer 'none+linear'; expected none"},
		{"media", "block",
		 "media 'block' is not available in this version; expected "
		 "anon, file, dax, devdax, bar or memattr"},
		{"numa", "remote",
		 "numa 'remote' is not available in this version; expected local"},
		{"corunner", "streams",
		 "unknown corunner 'streams'; expected none, compute, stream or "
		 "pointer-chase (did you mean 'stream'?)"},
		{"bs", "0", "bs '0' is out of range; expected a size of 1 to 1g"},
		{"bs", "2g", "bs '2g' is out of range; expected a size of 1 to 1g"},
		{"numjobs", "0",
		 "numjobs '0' is out of range; expected a whole number of 1 to 1024"},
		{"iodepth", "99999999999999999999",
		 "iodepth '99999999999999999999' is out of range; expected a whole "
		 "number "
		 "of 1 to 65536"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_context context;
		struct cp_err err = {0};

		cp_context_init(&context);
		assert_int_not_equal(
			cp_field_parse(cp_field_find(cp_context_fields, cases[i].field),
				       &context, cases[i].text, &err),
			0);
		assert_string_equal(err.msg, cases[i].msg);
	}
}

/* Description: text that does not fit its field is refused, not cut. */
static void test_too_long(void **state)
{
	char text[400];
	struct cp_arm arm;
	struct cp_err err = {0};

	(void)state;
	memset(text, 'p', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cp_arm_init(&arm);
	assert_int_equal(
		cp_field_parse(cp_field_find(cp_arm_fields, "policy"), &arm, text, &err),
		-EINVAL);
	assert_string_equal(err.msg,
			    "'policy' is too long; expected at most 255 characters");
	memcpy(text, "sw:", 3);
	assert_int_equal(
		cp_field_parse(cp_field_find(cp_arm_fields, "dma"), &arm, text, &err),
		-EINVAL);
}

/* Description: both random and sequential words have their direction. */
static void test_dir(void **state)
{
	static const struct {
		const char *rw;
		enum cp_dir dir;
	} cases[] = {
		{"read", CP_DIR_READ},
		{"randread", CP_DIR_READ},
		{"write", CP_DIR_WRITE},
		{"randwrite", CP_DIR_WRITE},
	};
	struct cp_context context;

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		cp_context_init(&context);
		snprintf(context.rw, sizeof(context.rw), "%s", cases[i].rw);
		assert_int_equal(cp_context_dir(&context), cases[i].dir);
	}
}

/* Description: what a user writes must be a number of queues or tags; records, where 0
 * means that there are none, are read all the same. */
static void test_asked(void **state)
{
	static const char *const names[] = {"q_per_node", "queue_depth"};
	static const char *const highest[] = {"1024", "65536"};
	struct cp_arm arm;
	struct cp_err err;
	char text[128];

	(void)state;
	for (size_t i = 0; i < NR(names); i++) {
		const struct cp_field *field = cp_field_find(cp_arm_fields, names[i]);

		cp_arm_init(&arm);
		assert_int_equal(cp_field_parse_asked(field, &arm, "0", &err), -ERANGE);
		snprintf(text, sizeof(text),
			 "%s '0' is out of range; expected a whole number of 1 to %s",
			 names[i], highest[i]);
		assert_string_equal(err.msg, text);
		assert_int_equal(cp_field_parse(field, &arm, "0", &err), 0);
		assert_int_equal(cp_field_parse_asked(field, &arm, "1", &err), 0);
		assert_int_equal(cp_field_parse_asked(field, &arm, "", &err), 0);
	}
	/* others are as they were */
	const struct cp_field *field = cp_field_find(cp_arm_fields, "dma_thresh_read");

	assert_int_equal(cp_field_parse_asked(field, &arm, "0", &err), 0);
	assert_true(arm.dma_thresh_read_set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_context_refused),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_dir),
		cmocka_unit_test(test_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
