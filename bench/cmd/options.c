// SPDX-License-Identifier: GPL-2.0-only
/* The command line of `run` and `tune`. */
#include <getopt.h>
#include <string.h>

#include "bench/cmd/measure.h"
#include "engines/base/fiovalue.h"
#include "engines/base/yaml.h"

enum { OPT_DRY_RUN = 256, OPT_RESUME, OPT_FILTER, OPT_QUIET, OPT_OBJECTIVE, OPT_JSON };

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"dry-run", no_argument, NULL, OPT_DRY_RUN},
	{"resume", required_argument, NULL, OPT_RESUME},
	{"filter", required_argument, NULL, OPT_FILTER},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"objective", required_argument, NULL, OPT_OBJECTIVE},
	{"json", no_argument, NULL, OPT_JSON},
	{NULL, 0, NULL, 0},
};

/* getopt has stepped past the option it did not know. */
static enum cp_exit unknown_option(const struct cp_measure *measure, char **argv)
{
	const char *words[16];
	size_t nr = 0;
	char name[64];

	if (optopt && optopt < 256)
		return cp_cmd_usage(measure->verb, "unknown or incomplete option '-%c'",
				    optopt);
	for (size_t i = 0; options[i].name && nr < 15; i++)
		words[nr++] = options[i].name;
	words[nr] = NULL;
	const char *text = argv[optind - 1];
	while (*text == '-')
		text++;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	const char *near = cp_nearest_word(name, words);
	if (optopt)
		return cp_cmd_usage(measure->verb, "option '--%s' lacks its value", name);
	return near ? cp_cmd_usage(measure->verb,
				   "unknown option '--%s'; expected '--%s'", name, near)
		    : cp_cmd_usage(measure->verb, "unknown option '--%s'", name);
}

static enum cp_exit take_option(struct cp_measure *measure, int option, char **argv)
{
	switch (option) {
	case 'o':
		measure->out_dir = optarg;
		return CP_EXIT_OK;
	case OPT_DRY_RUN:
		measure->dry_run = true;
		return CP_EXIT_OK;
	case OPT_RESUME:
		measure->resume = optarg;
		return CP_EXIT_OK;
	case 'q':
	case OPT_QUIET:
		measure->quiet = true;
		return CP_EXIT_OK;
	case OPT_FILTER:
		if (measure->nr_filters == CP_MEASURE_FILTERS_MAX)
			return cp_cmd_usage(measure->verb,
					    "too many --filter; expected at most %d",
					    CP_MEASURE_FILTERS_MAX);
		measure->filters[measure->nr_filters++] = optarg;
		return CP_EXIT_OK;
	case OPT_OBJECTIVE:
		measure->objective = optarg;
		break;
	case OPT_JSON:
		measure->json = true;
		break;
	default:
		return unknown_option(measure, argv);
	}
	if (measure->tune)
		return CP_EXIT_OK;
	return cp_cmd_usage(measure->verb, "option '%s' is of 'copypath tune'",
			    option == OPT_JSON ? "--json" : "--objective");
}

/* fio is given files in it, by name and in the job file. */
static enum cp_exit check_dir(const struct cp_measure *measure, const char *option,
			      const char *dir)
{
	struct cp_err err = {0};
	char subject[1100];

	if (!dir)
		return CP_EXIT_OK;
	snprintf(subject, sizeof(subject), "%s '%.1000s'", option, dir);
	if (cp_fio_value_check(CP_FIO_VALUE_PATH, subject, dir, &err))
		return cp_cmd_usage(measure->verb, "%s", err.msg);
	if (dir[0] == '-')
		return cp_cmd_usage(measure->verb,
				    "%s would be an option to fio; expected "
				    "'./%s'",
				    subject, dir);
	return CP_EXIT_OK;
}

static enum cp_exit check_operands(struct cp_measure *measure, int argc, char **argv)
{
	int nr = argc - optind;

	if (measure->resume) {
		if (nr || measure->out_dir || measure->nr_filters || measure->dry_run)
			return cp_cmd_usage(measure->verb,
					    "--resume takes everything from the run; "
					    "expected no CONFIG, -o, --filter or "
					    "--dry-run");
		return check_dir(measure, "--resume", measure->resume);
	}
	if (nr != 1)
		return cp_cmd_usage(measure->verb,
				    "%s; expected one CONFIG or --resume "
				    "RUN",
				    nr ? "more than one CONFIG" : "no CONFIG");
	measure->config = argv[optind];
	return check_dir(measure, "-o", measure->out_dir);
}

enum cp_exit cp_measure_parse(struct cp_measure *measure, int argc, char **argv)
{
	int option;

	measure->argc = argc;
	measure->argv = argv;
	measure->lock_fd = -1;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "o:q", options, NULL)) != -1) {
		enum cp_exit code = take_option(measure, option, argv);

		if (code != CP_EXIT_OK)
			return code;
	}
	return check_operands(measure, argc, argv);
}
