// SPDX-License-Identifier: GPL-2.0-only
/* copypath-sqlite: a program for driver exec, SQLite over copypath's own device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/apps/sqlite/sample.h"
#include "engines/base/clock.h"
#include "engines/base/file.h"

static const char usage[] =
	"usage: copypath-sqlite\n\n"
	"Loads or scans an SQLite table whose pages go through copypath's device. Reads\n"
	"one request of driver exec a line, answers one line each. To be named in a\n"
	"workload file:\n\n"
	"    driver: {exec: [copypath-sqlite]}\n";

/* One line in, one line out. */
static int answer(const char *line, size_t len, const struct cp_topo *topo)
{
	struct cp_exec_request request;
	struct cp_record record;
	struct cp_err err = {0};

	cp_record_init(&record);
	if (cp_exec_request_decode(line, len, &request, &err) ||
	    cp_sample_take(&request, topo, &record, &err))
		snprintf(record.failed, sizeof(record.failed), "%.250s", err.msg);
	char *text = cp_exec_answer_encode(&record, &err);
	if (!text) {
		fprintf(stderr, "copypath-sqlite: error: %s\n", err.msg);
		return 1;
	}
	bool bad = fputs(text, stdout) == EOF || fflush(stdout);
	free(text);
	return bad;
}

int main(int argc, char **argv)
{
	static struct cp_topo topo;
	struct cp_err err = {0};
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 0;

	if (argc > 1) {
		bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");

		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	cp_clock_init();
	if (cp_topo_load(NULL, &topo, &err)) {
		fprintf(stderr, "copypath-sqlite: error: %s\n", err.msg);
		return 4;
	}
	while (!ret && (len = getline(&line, &size, stdin)) > 0)
		ret = answer(line, (size_t)len, &topo);
	free(line);
	return ret;
}
