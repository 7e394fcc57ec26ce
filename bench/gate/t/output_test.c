/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports in the forms their readers take, also with hostile names in them. */
#include "bench/gate/t/fixture.h"

#include <stdlib.h>

#include "bench/gate/output.h"

/* A report of nr rows, verdicts in turn from INVALID down, as the judge sorts them. */
static void make_report(struct cp_gate_report *report, const char *cell, size_t nr,
			const enum cp_verdict *verdicts)
{
	memset(report, 0, sizeof(*report));
	report->rows = calloc(nr, sizeof(*report->rows));
	report->nr_rows = nr;
	for (size_t i = 0; i < nr; i++) {
		struct cp_gate_row *row = &report->rows[i];

		*row = (struct cp_gate_row){.cell = cell,
					    .metric = "bw",
					    .id = CP_GATE_BW,
					    .verdict = verdicts[i],
					    .hl = 0.1,
					    .upper = INFINITY,
					    .lower = -INFINITY,
					    .margin = 0.02,
					    .mde = NAN,
					    .p = NAN,
					    .pairs = 5};
		snprintf(row->reason, sizeof(row->reason), "reason %zu", i);
		report->counts[verdicts[i]]++;
	}
	report->verdict = verdicts[0];
}

static char *render(void (*write)(const struct cp_gate_output *output, FILE *out),
		    const struct cp_gate_report *report)
{
	struct cp_gate_set set = {.path = "p<&|\n"};
	struct cp_gate_rules rules;
	struct cp_gate_output output = {report, &set, &set, &rules};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cp_gate_rules_init(&rules);
	write(&output, out);
	fclose(out);
	return text;
}

static void write_json(const struct cp_gate_output *output, FILE *out)
{
	assert_int_equal(cp_gate_write_json(output, out), 0);
}

/* Description: XML text is escaped, and what XML 1.0 cannot hold becomes U+FFFD. */
static void test_xml_escape(void **unused)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "plain"},
		{"<a b=\"c\">&", "&lt;a b=&quot;c&quot;&gt;&amp;"},
		{"a\nb\tc\r", "a&#10;b&#9;c&#13;"},
		{"\x01\x1b", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc3\xa9", "\xc3\xa9"},
		{"\xc3", "\xef\xbf\xbd"},
		{"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"]]>", "]]&gt;"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		cp_gate_xml_escape(cases[i].in, out);
		fclose(out);
		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

/* Description: JUnit counts and tags follow the verdicts. */
static void test_junit(void **unused)
{
	static const enum cp_verdict verdicts[] = {
		CP_VERDICT_INVALID,  CP_VERDICT_REGRESSED, CP_VERDICT_INCONCLUSIVE,
		CP_VERDICT_IMPROVED, CP_VERDICT_OK,
	};
	struct cp_gate_report report;

	(void)unused;
	make_report(&report, "a<\x01>", 5, verdicts);
	char *text = render(cp_gate_write_junit, &report);

	assert_non_null(
		strstr(text, "tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\""));
	assert_non_null(strstr(text, "<error message="));
	assert_non_null(strstr(text, "<failure message="));
	assert_non_null(
		strstr(text, "<skipped message=\"bw -9.5 %, margin 2.0 %; reason 2\""));
	assert_non_null(strstr(text, "classname=\"a&lt;\xef\xbf\xbd&gt;\""));
	assert_null(strchr(text, '\x01'));
	free(text);
	cp_gate_report_free(&report);
}

/* Description: annotations are the worst ten on a line each, then how many more. */
static void test_github(void **unused)
{
	enum cp_verdict verdicts[14];
	struct cp_gate_report report;
	size_t lines = 0;

	(void)unused;
	for (size_t i = 0; i < 14; i++)
		verdicts[i] = i < 5    ? CP_VERDICT_REGRESSED
			      : i < 13 ? CP_VERDICT_INCONCLUSIVE
				       : CP_VERDICT_OK;
	make_report(&report, "a\n::error::b%", 14, verdicts);
	char *text = render(cp_gate_write_github, &report);

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 11);
	assert_non_null(
		strstr(text, "::error title=copypath gate REGRESSED::a%0A::error::b%25"));
	assert_non_null(strstr(text, "::notice title=copypath gate::3 more\n"));
	free(text);
	cp_gate_report_free(&report);
}

/* Description: JSON has the promised keys, and null where a figure is not known. */
static void test_json(void **unused)
{
	static const enum cp_verdict verdicts[] = {CP_VERDICT_INCONCLUSIVE};
	struct cp_gate_report report;
	const char *cell, *metric, *verdict;
	double hl, margin;
	int exit, pairs;

	(void)unused;
	make_report(&report, "c", 1, verdicts);
	report.exit = CP_EXIT_INCONCLUSIVE;
	char *text = render(write_json, &report);
	json_t *root = json_loads(text, 0, NULL);
	json_t *row = json_array_get(json_object_get(root, "metrics"), 0);

	assert_int_equal(
		json_unpack(root, "{s:s,s:i}", "verdict", &verdict, "exit", &exit), 0);
	assert_string_equal(verdict, "INCONCLUSIVE");
	assert_int_equal(exit, 3);
	assert_int_equal(json_unpack(row, "{s:s,s:s,s:F,s:F,s:i}", "cell", &cell,
				     "metric", &metric, "hl", &hl, "margin", &margin,
				     "pairs", &pairs),
			 0);
	assert_near(hl, 0.1, 1e-12);
	assert_true(json_is_null(json_object_get(row, "p")));
	assert_true(json_is_null(json_object_get(row, "mde")));
	assert_true(json_is_null(json_object_get(row, "upper")));
	json_decref(root);
	free(text);
	cp_gate_report_free(&report);
}

/* Description: a Markdown table row stays one row whatever its names hold. */
static void test_markdown(void **unused)
{
	static const enum cp_verdict verdicts[] = {CP_VERDICT_REGRESSED};
	struct cp_gate_report report;

	(void)unused;
	make_report(&report, "a|b\n<i>", 1, verdicts);
	char *text = render(cp_gate_write_markdown, &report);

	assert_non_null(strstr(text, "| REGRESSED | a\\|b &lt;i> | bw -9.5 %"));
	free(text);
	cp_gate_report_free(&report);
}

/* Description: the text names verdict, rules, notes and the formula of the mde. */
static void test_text(void **unused)
{
	static const enum cp_verdict verdicts[] = {CP_VERDICT_REGRESSED};
	struct cp_gate_report report;

	(void)unused;
	make_report(&report, "c", 1, verdicts);
	cp_gate_note(&report, "drift");
	char *text = render(cp_gate_write_text, &report);

	assert_non_null(strstr(text, "gate: REGRESSED"));
	assert_non_null(
		strstr(text, "default: bw 2% iops 2% cpu 2% p50 3% p99 8% p999 15%"));
	assert_non_null(strstr(text, "note       drift"));
	assert_non_null(strstr(text, "sqrt((pi/3) / n)"));
	free(text);
	cp_gate_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xml_escape), cmocka_unit_test(test_junit),
		cmocka_unit_test(test_github),	   cmocka_unit_test(test_json),
		cmocka_unit_test(test_markdown),   cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
