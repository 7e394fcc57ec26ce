/* SPDX-License-Identifier: GPL-2.0-only */
/* Gate rules: what is read, and what is refused with its place. */
#include "bench/gate/t/fixture.h"

static int read_text(const char *text, struct cp_gate_rules *rules, struct cp_err *err)
{
	memset(err, 0, sizeof(*err));
	return cp_gate_rules_read_text("g.yaml", text, strlen(text), rules, err);
}

/* Description: margins replace the defaults they name, off turns one off, the rest stay.
 */
static void test_margins(void **unused)
{
	struct cp_gate_rules rules;
	struct cp_err err;

	(void)unused;
	assert_int_equal(read_text("schema: 1\nkind: gate\nname: n\n"
				   "margins: {bw: 2.5%, p999: off}\n",
				   &rules, &err),
			 0);
	assert_string_equal(rules.name, "n");
	assert_near(rules.margin_pct[CP_GATE_BW], 2.5, 0);
	assert_near(rules.margin_pct[CP_GATE_P99], 8, 0);
	assert_true(isnan(rules.margin_pct[CP_GATE_P999]));
	assert_near(cp_gate_margin_d(&rules, CP_GATE_BW), -log(0.975), 1e-12);
}

/* Description: allow may be one rule or a list of them. */
static void test_allow(void **unused)
{
	static const char *const texts[] = {
		"schema: 1\nkind: gate\nallow: {bw: -10%, if: {cpu: -30%}}\n",
		"schema: 1\nkind: gate\nallow:\n  - {bw: -10%, if: {cpu: -30%}}\n",
	};
	struct cp_gate_rules rules;
	struct cp_err err;

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read_text(texts[i], &rules, &err), 0);
		assert_int_equal(rules.nr_allow, 1);
		assert_near(rules.allow[0].limit_pct[CP_GATE_BW], -10, 0);
		assert_near(rules.allow[0].if_pct[CP_GATE_CPU], -30, 0);
		assert_true(isnan(rules.allow[0].limit_pct[CP_GATE_P99]));
	}
}

/* Description: each mistake is refused with exit 2 at its line and column. */
static void test_bad(void **unused)
{
	static const struct {
		const char *text, *place, *what;
	} cases[] = {
		{"kind: gate\n", "g.yaml:1:", "'schema' is missing"},
		{"schema: 1\n", "g.yaml:1:", "'kind' is missing"},
		{"schema: 2\nkind: gate\n", "g.yaml:1:9:", "schema"},
		{"schema: 1\nkind: workload\n", "g.yaml:2:7:", "kind"},
		{"schema: 1\nkind: gate\nmargin: {}\n", "g.yaml:3:1:", "margins"},
		{"schema: 1\nkind: gate\nmargins: {bv: 2%}\n", "g.yaml:3:11:", "bw"},
		{"schema: 1\nkind: gate\nmargins: {bw: 2}\n",
		 "g.yaml:3:15:", "not a percentage"},
		{"schema: 1\nkind: gate\nmargins: {bw: x%}\n",
		 "g.yaml:3:15:", "not a percentage"},
		{"schema: 1\nkind: gate\nmargins: {bw: -2%}\n",
		 "g.yaml:3:15:", "out of range"},
		{"schema: 1\nkind: gate\nmargins: {bw: 100%}\n",
		 "g.yaml:3:15:", "out of range"},
		{"schema: 1\nkind: gate\nmargins: {bw: [2%]}\n",
		 "g.yaml:3:15:", "not a percentage"},
		{"schema: 1\nkind: gate\nmargins: 2%\n", "g.yaml:3:10:", "margins"},
		{"schema: 1\nkind: gate\nallow: {bw: -10%}\n",
		 "g.yaml:3:8:", "no condition"},
		{"schema: 1\nkind: gate\nallow: {if: {cpu: -30%}}\n",
		 "g.yaml:3:8:", "names no metric"},
		{"schema: 1\nkind: gate\nallow: {bw: 10%, if: {cpu: -30%}}\n",
		 "g.yaml:3:13:", "not a loss"},
		{"schema: 1\nkind: gate\nallow: {p99: -10%, if: {cpu: -30%}}\n",
		 "g.yaml:3:14:", "not a loss"},
		{"schema: 1\nkind: gate\nallow: {bw: -10%, if: {cpu: 30%}}\n",
		 "g.yaml:3:29:", "not a gain"},
		{"schema: 1\nkind: gate\nmargins: {cpu: off}\n"
		 "allow: {bw: -10%, if: {cpu: -30%}}\n",
		 "g.yaml:4:8:", "margin is off"},
		{"schema: 1\nschema: 1\nkind: gate\n", "g.yaml:2:1:", "schema"},
		{"- a\n", "g.yaml:1:1:", "gate rules"},
		{"a: [\n", "g.yaml:", ""},
		{"", "g.yaml:", ""},
	};
	struct cp_gate_rules rules;
	struct cp_err err;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(read_text(cases[i].text, &rules, &err) < 0);
		assert_int_equal(err.exit, CP_EXIT_USAGE);
		if (!strstr(err.msg, cases[i].place) || !strstr(err.msg, cases[i].what))
			fail_msg("case %zu: '%s' lacks '%s' or '%s'", i, err.msg,
				 cases[i].place, cases[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
