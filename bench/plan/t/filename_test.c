// SPDX-License-Identifier: GPL-2.0-only
/* Which media of a target gets its filename. */
#include "bench/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engines/copy/attr.h"

#define BAR "/sys/bus/pci/devices/ffff:00:00.0/resource2"

static void load(const char *target, struct cp_plan *plan)
{
	char path[] = "/tmp/filename_test.XXXXXX", text[1024];
	struct cp_err err = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	snprintf(text, sizeof(text),
		 "schema: 1\nkind: workload\nname: t\ntarget: {%s, size: 1m, attr: uc}\n"
		 "workload: {rw: read, bs: 4k}\n"
		 "arms: [{name: a, queue_mode: bio, path: cpu, copy: memcpy}]\n",
		 target);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int rc = cp_plan_load(path, plan, &err);

	unlink(path);
	if (rc)
		fail_msg("%s", err.msg);
}

/* Description: a filename goes to the media that needs one, to memattr only when none
 * does, and never to anon; colons are kept. */
static void goes_to_who_needs_it(void **state)
{
	static const struct {
		const char *target, *media, *expect;
	} cases[] = {
		{"media: bar, filename: '" BAR "'", "bar", BAR},
		{"media: [bar, memattr], filename: '" BAR "'", "bar", BAR},
		{"media: [bar, memattr], filename: '" BAR "'", "memattr", NULL},
		{"media: memattr, filename: /dev/other", "memattr", "/dev/other"},
		{"media: memattr", "memattr", NULL},
		{"media: [anon, memattr], filename: /dev/other", "memattr", "/dev/other"},
		{"media: [anon, memattr], filename: /dev/other", "anon", NULL},
		{"media: [file, memattr], filename: /dev/far", "file", "/dev/far"},
		{"media: [file, memattr], filename: /dev/far", "memattr", NULL},
	};

	(void)state;
	if (cp_attr_lacks()) {
		print_message("not asserted: uc of anon and file needs '%s'\n",
			      cp_attr_lacks());
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_plan plan;

		load(cases[i].target, &plan);
		const char *name = cp_plan_filename(&plan, cases[i].media);

		if (cases[i].expect)
			assert_string_equal(name, cases[i].expect);
		else
			assert_null(name);
		cp_plan_free(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_to_who_needs_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
