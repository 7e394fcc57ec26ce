/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdint.h>

#include "bench/gate/output.h"

/* The length of the UTF-8 sequence at s that XML 1.0 may hold, 0 when there is none. */
static unsigned xml_char(const unsigned char *s)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned len = *s < 0x80    ? 1
		       : *s >= 0xf0 ? 4
		       : *s >= 0xe0 ? 3
		       : *s >= 0xc2 ? 2
				    : 0;
	uint32_t code = len == 1 ? *s : *s & (0x7fU >> len);

	for (unsigned i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (!len || code < least[len] || code > 0x10ffff || code == 0xfffe ||
	    code == 0xffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	if (code < 0x20 && code != '\t' && code != '\n' && code != '\r')
		return 0;
	return len;
}

void cp_gate_xml_escape(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		unsigned len = xml_char(s);

		if (!len) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		if (*s == '&')
			fputs("&amp;", out);
		else if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '>')
			fputs("&gt;", out);
		else if (*s == '"')
			fputs("&quot;", out);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(out, "&#%u;", *s);
		else
			fwrite(s, 1, len, out);
		s += len;
	}
}

static void attribute(const char *name, const char *value, FILE *out)
{
	fprintf(out, " %s=\"", name);
	cp_gate_xml_escape(value, out);
	fputc('"', out);
}

static void write_case(const struct cp_gate_row *row, FILE *out)
{
	static const char *const tags[CP_VERDICT_NR] = {
		[CP_VERDICT_INVALID] = "error",
		[CP_VERDICT_REGRESSED] = "failure",
		[CP_VERDICT_INCONCLUSIVE] = "skipped",
	};
	char text[1024];

	fprintf(out, "    <testcase");
	attribute("classname", row->cell, out);
	attribute("name", row->metric, out);
	if (!tags[row->verdict]) {
		fprintf(out, "/>\n");
		return;
	}
	fprintf(out, ">\n      <%s", tags[row->verdict]);
	attribute("message", cp_gate_row_words(row, text, sizeof(text)), out);
	if (row->verdict != CP_VERDICT_INCONCLUSIVE)
		attribute("type", cp_verdict_names[row->verdict], out);
	fprintf(out, "/>\n    </testcase>\n");
}

void cp_gate_write_junit(const struct cp_gate_output *output, FILE *out)
{
	const struct cp_gate_report *report = output->report;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n"
		"  <testsuite name=\"copypath gate\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"%zu\" skipped=\"%zu\">\n    <properties>\n",
		report->nr_rows, report->counts[CP_VERDICT_REGRESSED],
		report->counts[CP_VERDICT_INVALID],
		report->counts[CP_VERDICT_INCONCLUSIVE]);
	const char *const properties[][2] = {
		{"verdict", cp_verdict_names[report->verdict]},
		{"baseline", output->baseline->path},
		{"candidate", output->candidate->path},
		{"rules", output->rules->name},
	};

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		fprintf(out, "      <property");
		attribute("name", properties[i][0], out);
		attribute("value", properties[i][1], out);
		fprintf(out, "/>\n");
	}
	fprintf(out, "    </properties>\n");
	for (size_t i = 0; i < report->nr_rows; i++)
		write_case(&report->rows[i], out);
	fprintf(out, "  </testsuite>\n</testsuites>\n");
}
