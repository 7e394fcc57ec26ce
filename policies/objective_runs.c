// SPDX-License-Identifier: GPL-2.0-only
/* The objective that runs were measured for, as their manifests have it. */
#include <stdio.h>
#include <string.h>

#include "policies/objective.h"
#include "results/run.h"

/* "" = no manifest, or none in it that can be used. */
static void of_run(const char *path, char *buf, size_t size)
{
	struct cp_objective objective;
	struct cp_manifest manifest;
	struct cp_err err = {0};

	buf[0] = '\0';
	if (cp_manifest_read(path, &manifest, &err))
		return;
	const char *text =
		json_string_value(json_object_get(manifest.config, "objective"));

	if (text && strlen(text) < size && !cp_objective_parse(text, &objective, &err))
		snprintf(buf, size, "%s", text);
	cp_manifest_free(&manifest);
}

void cp_objective_of_runs(const char *const *paths, size_t nr, char *ret, size_t size,
			  char *note, size_t note_size)
{
	char first[CP_OBJECTIVE_TEXT_MAX], other[CP_OBJECTIVE_TEXT_MAX];

	snprintf(ret, size, "%s", CP_OBJECTIVE_DEFAULT);
	note[0] = '\0';
	if (!nr)
		return;
	of_run(paths[0], first, sizeof(first));
	for (size_t i = 1; i < nr; i++) {
		of_run(paths[i], other, sizeof(other));
		if (!strcmp(first, other))
			continue;
		snprintf(
			note, note_size,
			"objective " CP_OBJECTIVE_DEFAULT
			": the workloads of '%.400s' and '%.400s' ask for '%s' and '%s'; "
			"--objective sets one",
			paths[0], paths[i], *first ? first : "none",
			*other ? other : "none");
		return;
	}
	if (!*first || !strcmp(first, CP_OBJECTIVE_DEFAULT))
		return;
	snprintf(ret, size, "%s", first);
	snprintf(note, note_size,
		 "objective %s: the workload of %s asks for it (manifest); --objective "
		 "sets another",
		 first, nr == 1 ? "the run" : "all runs");
}
