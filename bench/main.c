/* SPDX-License-Identifier: GPL-2.0-only */
/* The copypath command: finds the verb and runs it. */
#include <stdio.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "engines/base/yaml.h"

static const struct cp_verb *const verbs[] = {
	&cp_verb_probe,	  &cp_verb_run,	   &cp_verb_learn, &cp_verb_tune,
	&cp_verb_explain, &cp_verb_emit,   &cp_verb_gate,  &cp_verb_compare,
	&cp_verb_report,  &cp_verb_export,
};
#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_help(FILE *out)
{
	fprintf(out,
		"usage: copypath VERB [options]\n\n"
		"Measures which copies the CPU should do and which a DMA engine should "
		"do,\nand emits the settings.\n\n");
	for (size_t i = 0; i < NR_VERBS; i++)
		fprintf(out, "  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
	fprintf(out,
		"\n'copypath VERB --help' explains a verb; 'man copypath-VERB' more.\n");
}

static enum cp_exit unknown_verb(const char *name)
{
	const char *words[NR_VERBS + 1];

	for (size_t i = 0; i < NR_VERBS; i++)
		words[i] = verbs[i]->name;
	words[NR_VERBS] = NULL;
	const char *near = cp_nearest_word(name, words);

	fprintf(stderr, "copypath: error: unknown verb '%s'", name);
	if (near)
		fprintf(stderr, "; did you mean '%s'?", near);
	fprintf(stderr, "\ntry 'copypath --help'\n");
	return CP_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return CP_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return (int)cp_cmd_finish(CP_EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("copypath %s\n", CP_VERSION_STRING);
		return (int)cp_cmd_finish(CP_EXIT_OK);
	}
	for (size_t i = 0; i < NR_VERBS; i++) {
		if (strcmp(argv[1], verbs[i]->name) != 0)
			continue;
		for (int k = 2; k < argc; k++) {
			if (!strcmp(argv[k], "--"))
				break;
			if (strcmp(argv[k], "--help") != 0 && strcmp(argv[k], "-h") != 0)
				continue;
			fputs(verbs[i]->usage, stdout);
			return (int)cp_cmd_finish(CP_EXIT_OK);
		}
		return (int)cp_cmd_finish(verbs[i]->run(argc - 1, argv + 1));
	}
	return (int)unknown_verb(argv[1]);
}
