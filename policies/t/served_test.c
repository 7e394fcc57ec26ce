/* SPDX-License-Identifier: GPL-2.0-only */
/* Which measured arm stands for a policy's answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "policies/served.h"

static struct cp_arm arm(const char *name, const char *mode, const char *path,
			 const char *copy)
{
	struct cp_arm made;

	cp_arm_init(&made);
	snprintf(made.name, sizeof(made.name), "%s", name);
	snprintf(made.queue_mode, sizeof(made.queue_mode), "%s", mode);
	snprintf(made.path, sizeof(made.path), "%s", path);
	snprintf(made.copy, sizeof(made.copy), "%s", copy);
	return made;
}

/* Description: the arm of the device's queue mode that does the same, by name, word or
 * kernel; another mode's only where that mode was not measured at all; else none. */
static void test_served(void **state)
{
	static const struct {
		const char *mode, *name, *path, *copy; /* device and answer */
		bool rule;
		unsigned first, nr; /* of the arms below */
		int served;	    /* index from first, -1 = none */
	} cases[] = {
		{"mq", "mq-memcpy", "cpu", "memcpy", true, 0, 4, 0},
		{"mq", "offload", "dma", "", true, 0, 4, 2},
		{"bio", "mq-memcpy", "cpu", "memcpy", true, 0, 4, 3}, /* same kernel */
		{"bio", "mq-nt", "cpu", "nt", true, 0, 4, -1},
		{"bio", "mq-nt", "cpu", "nt", true, 0, 3, 1}, /* bio never measured */
		{"bio", "elsewhere", "cpu", "auto", true, 0, 4, 3}, /* same word */
		{"mq", "elsewhere", "dma", "", true, 0, 4, 2},
		{"bio", "default", "cpu", "auto", false, 0, 4, 3},
		{"bio", "default", "cpu", "auto", false, 0, 3, -1},
	};
	const struct cp_arm arms[] = {
		arm("mq-memcpy", "mq", "cpu", "memcpy"), arm("mq-nt", "mq", "cpu", "nt"),
		arm("offload", "mq", "dma", "auto"), arm("old", "bio", "cpu", "auto")};
	const struct cp_served_arm served[] = {{&arms[0], "memcpy"},
					       {&arms[1], "nt-avx2"},
					       {&arms[2], ""},
					       {&arms[3], "memcpy"}};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_policy policy;
		struct cp_rule rule = {.decided = true};
		struct cp_policy_answer answer = {.rule = cases[c].rule ? &rule : NULL};

		cp_policy_init(&policy);
		snprintf(policy.device.queue_mode, CP_WORD_MAX, "%s", cases[c].mode);
		snprintf(answer.act.name, CP_NAME_MAX, "%s", cases[c].name);
		snprintf(answer.act.path, CP_WORD_MAX, "%s", cases[c].path);
		snprintf(answer.act.copy, CP_WORD_MAX, "%s", cases[c].copy);
		assert_int_equal(cp_policy_served(&policy, &answer, CP_DIR_WRITE,
						  served + cases[c].first, cases[c].nr),
				 cases[c].served);
		cp_policy_free(&policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_served)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
