/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/gate/output.h"

/* The escapes of GitHub's workflow commands; a newline would start another command. */
static void write_data(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '%')
			fputs("%25", out);
		else if (*text == '\r')
			fputs("%0D", out);
		else if (*text == '\n')
			fputs("%0A", out);
		else
			fputc(*text, out);
	}
}

void cp_gate_write_github(const struct cp_gate_output *output, FILE *out)
{
	const struct cp_gate_report *report = output->report;
	size_t bad = report->counts[CP_VERDICT_INVALID] +
		     report->counts[CP_VERDICT_REGRESSED] +
		     report->counts[CP_VERDICT_INCONCLUSIVE];
	char text[1024];

	/* rows are sorted worst first, so what is not bad comes after all that is */
	for (size_t i = 0; i < bad && i < CP_GATE_ANNOTATIONS_MAX; i++) {
		const struct cp_gate_row *row = &report->rows[i];

		fprintf(out, "::%s title=copypath gate %s::",
			row->verdict == CP_VERDICT_INCONCLUSIVE ? "warning" : "error",
			cp_verdict_names[row->verdict]);
		write_data(row->cell, out);
		fputs(": ", out);
		write_data(cp_gate_row_words(row, text, sizeof(text)), out);
		fputc('\n', out);
	}
	if (bad > CP_GATE_ANNOTATIONS_MAX)
		fprintf(out, "::notice title=copypath gate::%zu more\n",
			bad - CP_GATE_ANNOTATIONS_MAX);
}
