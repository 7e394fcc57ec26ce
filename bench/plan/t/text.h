/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans from text, for the tests of this room; to be included behind cmocka.h. */
#ifndef CP_BENCH_PLAN_T_TEXT_H
#define CP_BENCH_PLAN_T_TEXT_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plan/plan.h"

#define HEAD "schema: 1\nkind: workload\nname: t\n"

static inline int load_text(const char *text, struct cp_plan *plan, struct cp_err *err)
{
	char path[] = "/tmp/plan_test.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int ret = cp_plan_load(path, plan, err);
	unlink(path);
	return ret;
}

static inline void load_good(const char *text, struct cp_plan *plan)
{
	struct cp_err err = {0};

	if (load_text(text, plan, &err))
		fail_msg("%s", err.msg);
}

#endif
