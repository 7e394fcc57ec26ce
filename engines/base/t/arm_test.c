/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/base/cell.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* An arm from "field=value field=value ...". */
static void arm_make(struct cp_arm *arm, const char *settings)
{
	struct cp_err err = {0};

	cp_arm_init(arm);
	for (const char *p = settings; *p; p += strspn(p, " ")) {
		char field[64], value[128];
		size_t name_len = strcspn(p, "="), len;

		snprintf(field, sizeof(field), "%.*s", (int)name_len, p);
		p += name_len + 1;
		len = strcspn(p, " ");
		snprintf(value, sizeof(value), "%.*s", (int)len, p);
		p += len;
		if (cp_field_parse(cp_field_find(cp_arm_fields, field), arm, value, &err))
			fail_msg("%s=%s: %s", field, value, err.msg);
	}
}

/* Description: what was left open follows from the queue mode and the path. */
static void test_resolve(void **state)
{
	static const struct {
		const char *asked, *resolved;
	} cases[] = {
		{"", "completion=sync"},
		{"copy=nt q_per_node=4 queue_depth=64 dma_thresh_read=4k "
		 "dma_min_segments=2",
		 "copy=nt completion=sync"},
		{"completion=sync", "completion=sync"},
		{"path=auto policy=p.yaml", "path=auto policy=p.yaml completion=sync"},
		{"queue_mode=mq",
		 "queue_mode=mq completion=poll q_per_node=8 queue_depth=128"},
		{"queue_mode=mq completion=irq q_per_node=1 queue_depth=16",
		 "queue_mode=mq completion=irq q_per_node=1 queue_depth=16"},
		{"queue_mode=mq dma=sw dma_thresh_write=4k",
		 "queue_mode=mq completion=poll q_per_node=8 queue_depth=128"},
		{"queue_mode=mq path=dma dma=sw:ring=64 dma_thresh_read=1m",
		 "queue_mode=mq path=dma dma=sw:ring=64 completion=poll q_per_node=8 "
		 "queue_depth=128"},
		{"queue_mode=mq path=dma dma=sw unroll=8 prefetch=nta",
		 "queue_mode=mq path=dma dma=sw completion=poll q_per_node=8 "
		 "queue_depth=128"},
		{"unroll=8 prefetch=nta:distance=64",
		 "completion=sync unroll=8 prefetch=nta:distance=64"},
		{"queue_mode=mq path=auto dma=sw",
		 "queue_mode=mq path=auto dma=sw completion=poll q_per_node=8 "
		 "queue_depth=128 dma_thresh_read=64k dma_thresh_write=32k max_merge=2m"},
		{"queue_mode=mq path=auto dma=sw max_merge=0",
		 "queue_mode=mq path=auto dma=sw completion=poll q_per_node=8 "
		 "queue_depth=128 dma_thresh_read=64k dma_thresh_write=32k max_merge=0"},
		{"queue_mode=mq path=auto dma=sw dma_thresh_read=0 dma_min_segments=3",
		 "queue_mode=mq path=auto dma=sw completion=poll q_per_node=8 "
		 "queue_depth=128 dma_thresh_read=0 dma_thresh_write=32k "
		 "dma_min_segments=3 max_merge=2m"},
		{"queue_mode=mq path=auto dma=auto dma_thresh_read=1m dma_thresh_write=0",
		 "queue_mode=mq path=auto dma=auto completion=poll q_per_node=8 "
		 "queue_depth=128 dma_thresh_read=1m dma_thresh_write=0 max_merge=2m"},
		{"queue_mode=mq path=auto dma=sw policy=p.yaml",
		 "queue_mode=mq path=auto dma=sw policy=p.yaml completion=poll "
		 "q_per_node=8 "
		 "queue_depth=128 max_merge=2m"},
		{"persist=auto fence=none flush=clflush",
		 "persist=auto fence=none flush=clflush completion=sync"},
		{"flush=clwb fence=none", "flush=clwb fence=none completion=sync"},
		{"queue_mode=mq path=auto dma_thresh_read=4k",
		 "queue_mode=mq path=auto completion=poll q_per_node=8 queue_depth=128"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_arm arm, expected;
		struct cp_err err = {0};

		arm_make(&arm, cases[i].asked);
		arm_make(&expected, cases[i].resolved);
		if (cp_arm_resolve(&arm, &err))
			fail_msg("'%s': %s", cases[i].asked, err.msg);
		if (!cp_arm_same(&arm, &expected))
			fail_msg("'%s' did not become '%s'", cases[i].asked,
				 cases[i].resolved);
		/* resolving again changes nothing */
		assert_int_equal(cp_arm_resolve(&arm, &err), 0);
		assert_true(cp_arm_same(&arm, &expected));
	}
}

/* Description: an arm that cannot be is refused, names its field first and stays as it
 * was. */
static void test_resolve_refused(void **state)
{
	static const struct {
		const char *asked, *msg;
	} cases[] = {
		{"path=dma", "'path' is dma but queue_mode is bio, which never uses DMA; "
			     "expected queue_mode mq or path cpu"},
		{"path=dma dma=sw",
		 "'path' is dma but queue_mode is bio, which never uses "
		 "DMA; expected queue_mode mq or path cpu"},
		{"dma=sw",
		 "'dma' is sw but queue_mode is bio, which never uses DMA; expected "
		 "queue_mode mq or dma none"},
		{"path=auto dma=auto", "'dma' is auto but queue_mode is bio, which never "
				       "uses DMA; expected queue_mode mq or dma none"},
		{"completion=poll",
		 "'completion' is poll but queue_mode is bio, which "
		 "completes inside submit; expected completion sync or "
		 "queue_mode mq"},
		{"persist=auto fence=none",
		 "'fence' is none but persist is auto, which needs one before completion "
		 "is "
		 "reported; expected fence auto, sfence or mfence, or persist none"},
		{"persist=require fence=none flush=clwb",
		 "'fence' is none but persist is require, which needs one before "
		 "completion "
		 "is reported; expected fence auto, sfence or mfence, or persist none"},
		{"copy=sse2 unroll=3", "'unroll' is 3; expected 1, 2, 4 or 8"},
		{"queue_mode=mq path=dma", "'dma' is none but path is dma; expected dma "
					   "auto, sw or another engine, or path cpu"},
		{"queue_mode=mq completion=sync",
		 "'completion' is sync but queue_mode is mq, which is asynchronous; "
		 "expected completion poll, irq or hybrid, or queue_mode bio"},
		{"policy=p.yaml",
		 "'policy' is given but path is cpu, which asks no policy; "
		 "expected path auto"},
		{"queue_mode=mq path=dma dma=sw policy=p.yaml",
		 "'policy' is given but path is dma, which asks no policy; expected path "
		 "auto"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_arm arm, before;
		struct cp_err err = {0};

		arm_make(&arm, cases[i].asked);
		before = arm;
		assert_int_equal(cp_arm_resolve(&arm, &err), -EINVAL);
		assert_string_equal(err.msg, cases[i].msg);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		assert_memory_equal(&arm, &before, sizeof(arm));
	}
}

/* Description: names do not make arms differ; every field does. */
static void test_arm_same(void **state)
{
	static const char *const others[] = {
		"queue_mode=mq",
		"path=auto",
		"copy=nt",
		"completion=poll",
		"dma=sw",
		"dma=sw:ring=4",
		"dma_thresh_read=1",
		"dma_thresh_write=1",
		"ring_full=cpu",
		"q_per_node=1",
		"queue_depth=1",
		"dma_min_segments=1",
		"batch=2",
		"flush=clwb",
		"fence=sfence",
		"persist=auto",
		"policy=p.yaml",
	};
	struct cp_arm a, b;

	(void)state;
	arm_make(&a, "");
	arm_make(&b, "");
	snprintf(b.name, sizeof(b.name), "other");
	b.path[10] = 'x'; /* behind the NUL */
	assert_true(cp_arm_same(&a, &b));
	for (size_t i = 0; i < NR(others); i++) {
		arm_make(&b, others[i]);
		assert_false(cp_arm_same(&a, &b));
	}
}

/* Description: contexts are the same when all their fields are. */
static void test_context_same(void **state)
{
	struct cp_context a, b;

	(void)state;
	cp_context_init(&a);
	cp_context_init(&b);
	assert_true(cp_context_same(&a, &b));
	b.bs++;
	assert_false(cp_context_same(&a, &b));
	b = a;
	b.numjobs++;
	assert_false(cp_context_same(&a, &b));
	b = a;
	snprintf(b.media, sizeof(b.media), "file");
	assert_false(cp_context_same(&a, &b));
}

/* Description: a cell's key is stable, holds every field and not the name. */
static void test_key(void **state)
{
	struct cp_context context;
	struct cp_arm arm;
	struct cp_err err;
	char key[CP_CELL_KEY_MAX], named[CP_CELL_KEY_MAX], small[8];

	(void)state;
	cp_context_init(&context);
	arm_make(&arm, "queue_mode=mq path=auto dma=sw");
	assert_int_equal(cp_arm_resolve(&arm, &err), 0);
	cp_cell_key(&context, &arm, key, sizeof(key));
	assert_string_equal(
		key,
		"read bs=4096 numjobs=1 iodepth=1 segments=1 numa=local layer=none "
		"attr=wb media=anon corunner=none misalign_near=0 misalign_far=0 "
		"driver=fio rw_page=1 resident=0 handler=beside "
		"| mq/auto copy=auto unroll=4 "
		"prefetch=none flush=none fence=auto persist=none "
		"completion=poll dma=sw dma_thresh_read=65536 dma_thresh_write=32768 "
		"dma_min_segments=0 ring_full=wait split_pct=0 dma_node=memory "
		"q_per_node=8 queue_depth=128 "
		"max_merge=2097152 batch=1 policy= policy_force=0");
	snprintf(arm.name, sizeof(arm.name), "named");
	cp_cell_key(&context, &arm, named, sizeof(named));
	assert_string_equal(named, key);
	cp_cell_key(&context, &arm, small, sizeof(small));
	assert_string_equal(small, "read bs");
}

/* Description: the longest possible key fits. */
static void test_key_longest(void **state)
{
	struct cp_context context;
	struct cp_arm arm;
	char key[CP_CELL_KEY_MAX + 1] = "";

	(void)state;
	memset(&context, 0, sizeof(context));
	memset(&arm, 0, sizeof(arm));
	for (const struct cp_field *f = cp_context_fields; f->name; f++)
		memset((char *)&context + f->offset, 0x78, f->size);
	for (const struct cp_field *f = cp_arm_fields; f->name; f++)
		memset((char *)&arm + f->offset, 0x78, f->size);
	for (const struct cp_field *f = cp_context_fields; f->name; f++) {
		if (f->type != CP_FIELD_SIZE && f->type != CP_FIELD_UINT)
			((char *)&context)[f->offset + f->size - 1] = '\0';
	}
	for (const struct cp_field *f = cp_arm_fields; f->name; f++) {
		if (f->type != CP_FIELD_SIZE && f->type != CP_FIELD_UINT)
			((char *)&arm)[f->offset + f->size - 1] = '\0';
	}
	cp_cell_key(&context, &arm, key, sizeof(key));
	assert_true(strlen(key) < CP_CELL_KEY_MAX - 1);
}

/* Description: the node that picks a channel is nothing where there is none. */
static void test_node_dropped(void **state)
{
	static const struct {
		const char *settings, *dma_node;
	} cases[] = {
		{"dma_node=cpu", "memory"},
		{"queue_mode=mq dma_node=cpu dma=sw", "memory"},
		{"queue_mode=mq path=auto dma_node=device", "memory"},
		{"queue_mode=mq path=auto dma=sw dma_node=device", "device"},
		{"queue_mode=mq path=dma dma=sw dma_node=cpu", "cpu"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct cp_arm arm;
		struct cp_err err = {0};

		arm_make(&arm, cases[i].settings);
		assert_int_equal(cp_arm_resolve(&arm, &err), 0);
		assert_string_equal(arm.dma_node, cases[i].dma_node);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_resolve_refused),
		cmocka_unit_test(test_arm_same),
		cmocka_unit_test(test_context_same),
		cmocka_unit_test(test_node_dropped),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_key_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
