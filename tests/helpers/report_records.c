// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes records of a machine that does not exist, for tests of `copypath report`:
 * report_records KIND > records.jsonl. Kinds: quick, one, onearm, null, failed, hostile,
 * attributes, offload, paths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/t/fixture.h"
#include "report/t/fixture_paths.h"

struct want {
	const char *kind;
	unsigned nr;
};

static bool wanted(struct want *want, struct cp_record *record)
{
	want->nr++;
	if (!strcmp(want->kind, "one"))
		return want->nr == 1;
	if (!strcmp(want->kind, "onearm"))
		return !strcmp(record->arm.name, "cpu-memcpy");
	if (!strcmp(want->kind, "null"))
		return !strcmp(record->arm.name, "null");
	if (!strcmp(want->kind, "failed")) {
		if (want->nr % 7 == 0)
			record->proof.errors = 1;
	} else if (!strcmp(want->kind, "hostile") &&
		   !strcmp(record->arm.name, "offload")) {
		snprintf(record->arm.name, sizeof(record->arm.name), "%s",
			 "<script>alert(1)</script>'\"\\`id`\n@a ^b_{c} |*#$(id)");
	}
	return true;
}

static int put(void *ctx, const struct cp_record *record)
{
	struct cp_record copy = *record;
	struct cp_err err = {0};

	if (!wanted(ctx, &copy))
		return 0;
	char *line = cp_record_encode(&copy, &err);

	if (!line) {
		fprintf(stderr, "report_records: error: %s\n", err.msg);
		return -1;
	}
	puts(line);
	free(line);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"quick", "one",    "onearm",
					    "null",  "failed", "hostile"};
	struct want want = {.kind = argc == 2 ? argv[1] : ""};

	if (!strcmp(want.kind, "attributes"))
		return fixture_attrs_each(fixture_attrs,
					  sizeof(fixture_attrs) /
						  sizeof(fixture_attrs[0]),
					  put, &want) ||
				       fflush(stdout)
			       ? 1
			       : 0;
	if (!strcmp(want.kind, "paths"))
		return fixture_paths_each(put, &want) || fflush(stdout) ? 1 : 0;
	if (!strcmp(want.kind, "offload"))
		return fixture_offload_each(put, &want) || fflush(stdout) ? 1 : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(want.kind, kinds[i]))
			return fixture_each(&fixture_quick, put, &want) || fflush(stdout)
				       ? 1
				       : 0;
	fputs("usage: report_records "
	      "quick|one|onearm|null|failed|hostile|attributes|offload|paths\n",
	      stderr);
	return 2;
}
