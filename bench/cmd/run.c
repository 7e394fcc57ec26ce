// SPDX-License-Identifier: GPL-2.0-only
/* copypath run: plan, measure, store. */
#include "bench/cmd/measure.h"

static enum cp_exit run(int argc, char **argv)
{
	static struct cp_measure measure = {.verb = "run"};
	enum cp_exit code = cp_measure_parse(&measure, argc, argv);

	if (code == CP_EXIT_OK)
		code = cp_measure_run(&measure);
	if (code <= CP_EXIT_REGRESSED && measure.dir[0])
		printf("%s\n", measure.dir);
	cp_measure_free(&measure);
	return code;
}

const struct cp_verb cp_verb_run = {
	.name = "run",
	.summary = "measure a workload and store the samples",
	.usage = "usage: copypath run CONFIG [options]\n"
		 "       copypath run --resume RUN\n\n"
		 "Takes every sample that the workload file CONFIG asks for, each in a "
		 "fresh fio\nprocess, and stores them in a run directory, whose name is "
		 "printed.\n\n"
		 "  -o, --output DIR    the run directory: new or empty (default:\n"
		 "                      results/runs/TIME-NAME)\n"
		 "  --dry-run           print the plan and how long it takes, run "
		 "nothing\n"
		 "  --resume RUN        take the samples that a stopped run lacks\n"
		 "  --filter KEY=VALUE  only cells with that value: rw=read, bs=64k,\n"
		 "                      arm=PATTERN ...; a key twice means either\n"
		 "  -q, --quiet         only warnings and errors on stderr\n\n"
		 "Exit: 0 ok, 1 a sample failed, 2 bad input, 4 the machine cannot do "
		 "it,\n"
		 "130 after Ctrl-C (what was measured is kept).\n",
	.run = run,
};
