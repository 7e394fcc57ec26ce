/* SPDX-License-Identifier: GPL-2.0-only */
/* copypath report: records as a page with figures, or as the table for a mail. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "engines/base/file.h"
#include "engines/base/yaml.h"
#include "report/escape.h"
#include "report/report.h"

static const char *const format_words[] = {"html", "text", NULL};

struct request {
	struct cp_report_opts report;
	const char *dir;
	bool text;
};

/* The command as it was given, for whoever reads the page; free() it. */
static char *command_text(int argc, char *const *argv)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs("copypath", out);
	for (int i = 0; i < argc; i++) {
		fputc(' ', out);
		cp_escape_shell(out, argv[i]);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* CP_EXIT_OK to go on. */
static enum cp_exit parse(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"policy", required_argument, NULL, 'p'},
		{"title", required_argument, NULL, 't'},
		{"objective", required_argument, NULL, 'O'},
		{"profile", required_argument, NULL, 'P'},
		{"format", required_argument, NULL, 'f'},
		{NULL, 0, NULL, 0}};
	int c;

	optind = 0; /* all of getopt's state anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			request->dir = optarg;
			break;
		case 'p':
			request->report.policy = optarg;
			break;
		case 't':
			request->report.title = optarg;
			break;
		case 'P':
			request->report.profile = optarg;
			break;
		case 'O':
			request->report.objective = optarg;
			break;
		case 'f':
			if (!strcmp(optarg, "text")) {
				request->text = true;
			} else if (strcmp(optarg, "html") != 0) {
				const char *near = cp_nearest_word(optarg, format_words);

				return cp_cmd_usage("report",
						    "unknown format '%s'; expected %s",
						    optarg, near ? near : "html or text");
			} else {
				request->text = false;
			}
			break;
		case ':':
			return cp_cmd_usage("report", "'%s' needs a value",
					    argv[optind - 1]);
		default:
			return cp_cmd_usage("report", "unknown option '%s'",
					    argv[optind - 1]);
		}
	}
	if (optind == argc)
		return cp_cmd_usage("report",
				    "no records given; expected a run directory or "
				    "a .jsonl file");
	if (request->report.policy && request->report.objective)
		return cp_cmd_usage("report",
				    "'--policy' with '--objective'; expected one: "
				    "a policy has its own objective");
	if (request->dir && request->text)
		return cp_cmd_usage("report",
				    "'-o' with '--format text'; expected one: the "
				    "text goes to stdout");
	request->report.records = (const char *const *)&argv[optind];
	request->report.nr_records = (size_t)(argc - optind);
	return CP_EXIT_OK;
}

static int write_report(struct request *request, struct cp_report *report,
			struct cp_err *err)
{
	char dir[4096];
	int rc;

	if (request->text) {
		cp_report_text(report, stdout);
		cp_report_text_paths(report, stdout);
		cp_report_profile_text(report, stdout);
		return 0;
	}
	if (!request->dir) {
		if (cp_report_default_dir(&request->report, dir, sizeof(dir)))
			return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
					  "the path of the records is too long");
		request->dir = dir;
	}
	rc = cp_report_write(report, request->dir, err);
	if (!rc)
		printf("%s/index.html\n", request->dir);
	request->dir = NULL;
	return rc;
}

static enum cp_exit report_run(int argc, char **argv)
{
	char plots[4096], policy[4096], published[4096], published_dma[4096];
	struct request request = {.report = {.warn = cp_cmd_warn_cb}};
	struct cp_report *report = NULL;
	struct cp_err err = {0};
	char *command = command_text(argc, argv); /* before getopt reorders it */
	enum cp_exit code = CP_EXIT_INTERNAL;

	if (!command ||
	    cp_path_join(plots, sizeof(plots), cp_cmd_data_dir(), "report/plots") ||
	    cp_path_join(policy, sizeof(policy), cp_cmd_data_dir(),
			 "policies/default.yaml") ||
	    cp_path_join(published, sizeof(published), cp_cmd_data_dir(),
			 "results/published/elliott-2015-cache-attributes.csv") ||
	    cp_path_join(published_dma, sizeof(published_dma), cp_cmd_data_dir(),
			 "results/published/jiang-2017-dma.csv"))
		goto out;
	request.report.command = command;
	request.report.plots_dir = plots;
	request.report.default_policy = policy;
	request.report.published = published;
	request.report.published_dma = published_dma;
	code = parse(argc, argv, &request);
	if (code)
		goto out;
	if (cp_report_load(&request.report, &report, &err) ||
	    write_report(&request, report, &err))
		code = cp_cmd_fail(&err);
out:
	cp_report_free(report);
	free(command);
	return code;
}

const struct cp_verb cp_verb_report = {
	.name = "report",
	.summary = "records -> a page with figures, tables and what to set",
	.usage = "usage: copypath report RECORDS... [-o DIR] [--policy FILE] [--title "
		 "TEXT]\n"
		 "                       [--objective WHAT] [--profile A,B] [--format "
		 "html|text]\n"
		 "\n"
		 "RECORDS is a run directory or a .jsonl file. Writes DIR/index.html "
		 "(one file,\n"
		 "no network), report.md, figures/ (SVG, PNG, data, scripts) and tables/ "
		 "(CSV).\n"
		 "\n"
		 "  -o, --output DIR  new, empty, or an older report, which is replaced "
		 "whole;\n"
		 "                    default: report in the first run directory\n"
		 "  --policy FILE     the policy to show; default: policy.yaml of the "
		 "first run\n"
		 "                    directory, else one learned from the records\n"
		 "  --objective WHAT  learn one, by this (as in learn)\n"
		 "  --profile A,B     compare the profiles of these arms; default: the "
		 "incumbent\n"
		 "                    with the fastest other, and arms of another "
		 "queue_mode\n"
		 "  --title TEXT      of the page\n"
		 "  --format text     print the CPU-beside-DMA table and profiles to "
		 "stdout\n"
		 "\n"
		 "Prints the page's path. Without gnuplot the page has tables only.\n"
		 "Exit: 0 ok, 2 usage or bad input, 4 bad records or nothing could be "
		 "written.\n",
	.run = report_run,
};
