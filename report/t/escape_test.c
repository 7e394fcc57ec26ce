/* SPDX-License-Identifier: GPL-2.0-only */
/* Names show as themselves in every form, and do nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/escape.h"

struct row {
	const char *text, *shown;
};

static void check(void (*escape)(FILE *, const char *), const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		escape(out, rows[i].text);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, rows[i].shown);
		free(text);
	}
}

#define CHECK(escape, rows) check(escape, rows, sizeof(rows) / sizeof((rows)[0]))

/* Description: HTML text holds no tag, quote or control character of a name's. */
static void html_test(void **state)
{
	static const struct row rows[] = {
		{"", ""},
		{"cpu/nt", "cpu/nt"},
		{"<script>\"x\" & 'y'</script>",
		 "&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/script&gt;"},
		{"a\nb\tc\x7f", "a\xe2\x86\xb5"
				"b\xe2\x87\xa5"
				"c\xe2\x90\xa1"},
		{"@ ^ _ { } \\ ` $", "@ ^ _ { } \\ ` $"},
		{"\xc3\xa9 \xff \xc0\xaf \xed\xa0\x80",
		 "\xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd "
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
	};

	(void)state;
	CHECK(cp_escape_html, rows);
}

/* Description: Markdown text holds no markup, mention or table edge of a name's. */
static void markdown_test(void **state)
{
	static const struct row rows[] = {
		{"cpu/nt 12.5", "cpu/nt 12.5"},
		{"a_b*c`d`[e](f)|g", "a\\_b\\*c\\`d\\`\\[e\\](f)\\|g"},
		{"<b>&amp;", "&lt;b&gt;&amp;amp;"},
		{"@you #1 ~x~ $m$ !i \\", "&#64;you \\#1 \\~x\\~ \\$m\\$ \\!i \\\\"},
		{"- item", "\\- item"},
		{"-5 - 3", "\\-5 - 3"},
		{"1. one", "1\\. one"},
		{"a\n# b", "a\xe2\x86\xb5\\# b"},
	};

	(void)state;
	CHECK(cp_escape_markdown, rows);
}

/* Description: a gnuplot string ends where it should, whatever is in it. */
static void gnuplot_test(void **state)
{
	static const struct row rows[] = {
		{"", "''"},
		{"it's", "'it''s'"},
		{"'; system \"id\" #", "'''; system \"id\" #'"},
		{"a\\", "'a\\'"},
		{"a\nsystem 'id'", "'a\xe2\x86\xb5system ''id'''"},
		{"`id` @m ^2 _x {y}", "'`id` @m ^2 _x {y}'"},
	};

	(void)state;
	CHECK(cp_escape_gnuplot, rows);
}

/* Description: CSV fields are quoted as RFC 4180 says, and keep what they hold. */
static void csv_test(void **state)
{
	static const struct row rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"a,b", "\"a,b\""},
		{"say \"x\"", "\"say \"\"x\"\"\""},
		{"two\nlines", "\"two\nlines\""},
		{" lead", "\" lead\""},
	};

	(void)state;
	CHECK(cp_escape_csv, rows);
}

/* Description: a shortened name is cut at a character and says that it was cut. */
static void visible_test(void **state)
{
	static const struct {
		const char *text;
		size_t chars, size;
		const char *shown;
	} rows[] = {
		{"short", 10, 64, "short"},
		{"exactly", 7, 64, "exactly"},
		{"too long", 4, 64, "too\xe2\x80\xa6"},
		{"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3, 64,
		 "\xc3\xa9\xc3\xa9\xe2\x80\xa6"},
		{"abcdefghij", 10, 8, "abcd\xe2\x80\xa6"},
		{"a\nb", 3, 64,
		 "a\xe2\x86\xb5"
		 "b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[64];

		assert_string_equal(
			cp_text_visible(rows[i].text, rows[i].chars, buf, rows[i].size),
			rows[i].shown);
	}
}

/* Description: a shell reads each word as one, as it is. */
static void shell_test(void **state)
{
	static const struct row rows[] = {
		{"configs/quick.yaml", "configs/quick.yaml"},
		{"", "''"},
		{"a b", "'a b'"},
		{"$(id)`id`;", "'$(id)`id`;'"},
		{"it's", "'it'\\''s'"},
		{"~", "'~'"},
	};

	(void)state;
	CHECK(cp_escape_shell, rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shell_test),	 cmocka_unit_test(html_test),
		cmocka_unit_test(markdown_test), cmocka_unit_test(gnuplot_test),
		cmocka_unit_test(csv_test),	 cmocka_unit_test(visible_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
