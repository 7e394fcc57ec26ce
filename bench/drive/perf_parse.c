// SPDX-License-Identifier: GPL-2.0-only
/* What perf prints, as numbers. Nothing is run here. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/drive/perf.h"
#include "engines/base/units.h"

#define STAT_FIELDS   5 /* value, unit, event, time it ran, percent of the window */
#define REPORT_FIELDS 4 /* samples, period, dso, symbol */

/* Parts of a line at a separator; text is cut up. What is behind the last stays in it. */
static size_t split(char *line, char separator, char **fields, size_t max)
{
	size_t nr = 0;

	fields[nr++] = line;
	while (nr < max && (line = strchr(line, separator))) {
		*line++ = '\0';
		fields[nr++] = line;
	}
	return nr;
}

static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t len = strlen(text);

	while (len && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* A decimal comma, where somebody's perf speaks another locale, is a point. */
static double number(char *text)
{
	char *comma = strchr(text, ',');
	double value;

	if (comma)
		*comma = '.';
	return cp_double_parse(text, &value) ? NAN : value;
}

/* perf narrows what it may not count in the kernel: "context-switches:u". */
static bool narrowed(const char *event, const char *asked)
{
	size_t len = strlen(event);

	return len > 2 && !strcmp(event + len - 2, ":u") && strcmp(event, asked) != 0 &&
	       !strncmp(event, asked, len - 2);
}

struct stat_seen {
	unsigned nr_counted, nr_idle; /* "<not counted>" */
	bool user_only;
};

static double stat_value(char *const *fields, size_t nr, const char *asked,
			 struct cp_record *record, struct stat_seen *seen)
{
	double value = number(fields[0]), running = nr > 4 ? number(fields[4]) : NAN;
	bool user = narrowed(fields[2], asked);

	if (!strcmp(fields[0], "<not counted>"))
		seen->nr_idle++;
	if (!(value >= 0.0))
		return NAN;
	seen->nr_counted++;
	seen->user_only |= user;
	if (user && value == 0.0)
		return NAN;
	if (running < 99.5)
		cp_perf_note(record,
			     "perf: '%s' was counted %.0f %% of the time and is scaled",
			     asked, running);
	return strcmp(fields[1], "msec") != 0 ? value : value * 1e6;
}

void cp_perf_stat_parse(const char *text, const char (*events)[48], size_t nr,
			struct cp_record *record)
{
	struct stat_seen seen = {0};
	char line[512];
	size_t at = 0;

	record->nr_perf = nr;
	for (size_t i = 0; i < nr; i++) {
		snprintf(record->perf[i].name, sizeof(record->perf[i].name), "%s",
			 events[i]);
		record->perf[i].value = NAN;
	}
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char *fields[STAT_FIELDS + 1];
		int len = (int)strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", len, text);
		size_t n = split(line, ';', fields, STAT_FIELDS + 1);

		if (line[0] == '#' || n < 3)
			continue;
		if (at < nr)
			record->perf[at].value =
				stat_value(fields, n, events[at], record, &seen);
		at++;
	}
	if (at != nr) { /* an event that stands for several: whose is which? */
		for (size_t i = 0; i < nr; i++)
			record->perf[i].value = NAN;
		cp_perf_note(record, "perf: %zu counts for %zu events, so none is kept",
			     at, nr);
	} else if (!seen.nr_counted && seen.nr_idle) {
		cp_perf_note(record, "perf: nothing was counted, as no window opened");
	} else if (seen.user_only) {
		cp_perf_note(record, "perf: user mode only, as "
				     "kernel.perf_event_paranoid is above 1");
	}
}

static int report_line(char *line, struct cp_profile *profile, struct cp_err *err)
{
	struct cp_profile_symbol symbol = {0};
	char *fields[REPORT_FIELDS], shown[128];
	uint64_t period;

	snprintf(shown, sizeof(shown), "%.120s", line);
	size_t nr = split(line, '|', fields, REPORT_FIELDS);

	for (size_t i = 0; i < nr; i++)
		fields[i] = trim(fields[i]);
	if (nr != REPORT_FIELDS || cp_uint_parse(fields[0], INT64_MAX, &symbol.samples) ||
	    cp_uint_parse(fields[1], INT64_MAX, &period))
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "perf report says '%s'; expected samples, period, dso "
				  "and symbol between '|'",
				  shown);
	const char *name = fields[3];

	if (name[0] == '[' && name[1] && name[2] == ']') {
		symbol.kernel = name[1] != '.' && name[1] != 'u';
		name += 3 + strspn(name + 3, " ");
	}
	if (!strncmp(name, "0x", 2)) /* a stripped program: one row, not one an address */
		name = "(no symbol)";
	symbol.weight = (double)period;
	snprintf(symbol.dso, sizeof(symbol.dso), "%.95s", fields[2]);
	snprintf(symbol.symbol, sizeof(symbol.symbol), "%.159s", name);
	if (cp_profile_add(profile, &symbol))
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	return 0;
}

int cp_perf_report_parse(const char *text, struct cp_profile *profile, struct cp_err *err)
{
	char line[1024];
	int rc = 0;

	for (; *text && !rc; text += strcspn(text, "\n"), text += *text == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		if (line[0] != '#' && *trim(line))
			rc = report_line(line, profile, err);
	}
	cp_profile_finish(profile);
	return rc;
}

void cp_perf_evlist_parse(const char *text, char *buf, size_t size)
{
	buf[0] = '\0';
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		int len = (int)strcspn(text, "\n");

		if (!len || *text == '#' || !strncmp(text, "dummy", 5))
			continue;
		snprintf(buf, size, "%.*s", len, text);
		return;
	}
}
