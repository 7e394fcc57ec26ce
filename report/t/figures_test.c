/* SPDX-License-Identifier: GPL-2.0-only */
/* What is written on the axes of figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/figures.h"

/* Description: tics are numbers as people write them, whatever the range, also where only
 * one fits or none of the usual ones does. */
static void tics_test(void **state)
{
	static const struct {
		double lo, hi;
		const char *expected;
	} cases[] = {{4000, 6000, "YTICS = \"set ytics ('5000' 5000)\""},
		     {8000, 15000, "YTICS = \"set ytics ('10000' 10000)\""},
		     {5100, 5900, "YTICS = \"set ytics ('5485' "},
		     {52, 58, "YTICS = \"set ytics ('54.9' "},
		     {0.05, 0.3, "YTICS = \"set ytics ('0.05' 0.05, '0.1' 0.1, "},
		     {900, 40000, "YTICS = \"set ytics ('1000' 1000, '2000' 2000, "}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		cp_report_figure_tics(out, 'y', cases[i].lo, cases[i].hi, 7);
		assert_int_equal(fclose(out), 0);
		if (strncmp(text, cases[i].expected, strlen(cases[i].expected)) != 0)
			fail_msg("%s", text);
		free(text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tics_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
