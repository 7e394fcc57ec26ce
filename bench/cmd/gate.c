/* SPDX-License-Identifier: GPL-2.0-only */
/* copypath gate: is the candidate worse than the baseline? */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "bench/gate/output.h"
#include "engines/base/file.h"
#include "engines/base/yaml.h"

struct options {
	const char *rules, *junit, *markdown;
	bool github, json;
	struct cp_gate_opts gate;
	const char *baseline, *candidate;
};

enum {
	OPT_RULES = 256,
	OPT_JUNIT,
	OPT_MARKDOWN,
	OPT_GITHUB,
	OPT_JSON,
	OPT_INCONCLUSIVE,
	OPT_IGNORE_FINGERPRINT,
	OPT_LIVE,
};

static const struct option longopts[] = {
	{"rules", required_argument, NULL, OPT_RULES},
	{"junit", required_argument, NULL, OPT_JUNIT},
	{"markdown", required_argument, NULL, OPT_MARKDOWN},
	{"github", no_argument, NULL, OPT_GITHUB},
	{"json", no_argument, NULL, OPT_JSON},
	{"inconclusive", required_argument, NULL, OPT_INCONCLUSIVE},
	{"ignore-fingerprint", no_argument, NULL, OPT_IGNORE_FINGERPRINT},
	{"live", no_argument, NULL, OPT_LIVE},
	{NULL, 0, NULL, 0},
};

static const char *const option_words[] = {
	"--rules", "--junit",	     "--markdown",	     "--github",
	"--json",  "--inconclusive", "--ignore-fingerprint", NULL,
};

static enum cp_exit set_inconclusive(struct options *options, const char *text)
{
	if (!strcmp(text, "exit3"))
		options->gate.inconclusive = CP_GATE_EXIT3;
	else if (!strcmp(text, "pass"))
		options->gate.inconclusive = CP_GATE_PASS;
	else if (!strcmp(text, "fail"))
		options->gate.inconclusive = CP_GATE_FAIL;
	else
		return cp_cmd_usage(
			"gate",
			"unknown '--inconclusive=%s'; expected pass, fail or exit3",
			text);
	return CP_EXIT_OK;
}

static enum cp_exit set_option(struct options *options, int opt, char **argv)
{
	const char *word = argv[optind - 1];
	const char *near;

	switch (opt) {
	case OPT_RULES:
		options->rules = optarg;
		return CP_EXIT_OK;
	case OPT_JUNIT:
		options->junit = optarg;
		return CP_EXIT_OK;
	case OPT_MARKDOWN:
		options->markdown = optarg;
		return CP_EXIT_OK;
	case OPT_GITHUB:
		options->github = true;
		return CP_EXIT_OK;
	case OPT_JSON:
		options->json = true;
		return CP_EXIT_OK;
	case OPT_IGNORE_FINGERPRINT:
		options->gate.ignore_fingerprint = true;
		return CP_EXIT_OK;
	case OPT_INCONCLUSIVE:
		return set_inconclusive(options, optarg);
	case OPT_LIVE:
		return cp_cmd_usage(
			"gate", "'--live' is not available in this version; expected two "
				"stored runs");
	case ':':
		return cp_cmd_usage("gate", "'%s' needs a value", word);
	default:
		near = cp_nearest_word(word, option_words);
		return cp_cmd_usage("gate", "unknown option '%s'%s%s", word,
				    near ? "; expected " : "", near ? near : "");
	}
}

static enum cp_exit parse(struct options *options, int argc, char **argv)
{
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", longopts, NULL)) != -1) {
		enum cp_exit code = set_option(options, opt, argv);

		if (code)
			return code;
	}
	if (argc - optind != 2)
		return cp_cmd_usage("gate",
				    "expected BASELINE and CANDIDATE, got %d path%s",
				    argc - optind, argc - optind == 1 ? "" : "s");
	options->baseline = argv[optind];
	options->candidate = argv[optind + 1];
	return CP_EXIT_OK;
}

static int write_file(const char *path, const struct cp_gate_output *output,
		      void (*write)(const struct cp_gate_output *output, FILE *out),
		      struct cp_err *err)
{
	struct cp_file_new file;
	int rc = cp_file_new_open(path, &file, err);

	if (rc)
		return rc;
	write(output, file.stream);
	return cp_file_new_commit(&file, err);
}

/* The verdict goes to stdout before any file is tried, so that none can cost it. */
static enum cp_exit publish(const struct options *options,
			    const struct cp_gate_output *output)
{
	enum cp_exit code = output->report->exit;
	struct cp_err err = {0};

	if (!options->json)
		cp_gate_write_text(output, stdout);
	else if (cp_gate_write_json(output, stdout) == -ENOMEM)
		return CP_EXIT_INTERNAL;
	/* with --json stdout is one document; GitHub reads commands from stderr as well
	 */
	if (options->github)
		cp_gate_write_github(output, options->json ? stderr : stdout);
	code = cp_cmd_finish(code);
	if (options->junit &&
	    write_file(options->junit, output, cp_gate_write_junit, &err)) {
		cp_cmd_fail(&err);
		code = cp_exit_worse(code, CP_EXIT_INVALID);
	}
	if (options->markdown &&
	    write_file(options->markdown, output, cp_gate_write_markdown, &err)) {
		cp_cmd_fail(&err);
		code = cp_exit_worse(code, CP_EXIT_INVALID);
	}
	return code;
}

static enum cp_exit judge(const struct options *options,
			  const struct cp_gate_rules *rules)
{
	struct cp_gate_set a, b;
	struct cp_gate_report report;
	struct cp_gate_output output = {&report, &a, &b, rules};
	struct cp_err err = {0};
	enum cp_exit code;

	if (cp_gate_set_read(options->baseline, true, cp_cmd_warn_cb, &a, &err))
		return cp_cmd_fail(&err);
	if (cp_gate_set_read(options->candidate, true, cp_cmd_warn_cb, &b, &err)) {
		code = cp_cmd_fail(&err);
		goto out_a;
	}
	if (cp_gate_judge(&a, &b, rules, &options->gate, &report, &err)) {
		code = cp_cmd_fail(&err);
		goto out_b;
	}
	code = publish(options, &output);
	cp_gate_report_free(&report);
out_b:
	cp_gate_set_free(&b);
out_a:
	cp_gate_set_free(&a);
	return code;
}

static enum cp_exit run(int argc, char **argv)
{
	struct options options = {0};
	struct cp_gate_rules rules;
	struct cp_err err = {0};
	enum cp_exit code = parse(&options, argc, argv);

	if (code)
		return code;
	cp_gate_rules_init(&rules);
	if (options.rules && cp_gate_rules_read(options.rules, &rules, &err))
		return cp_cmd_fail(&err);
	return judge(&options, &rules);
}

const struct cp_verb cp_verb_gate = {
	.name = "gate",
	.summary = "is the candidate run worse than the baseline run? a verdict",
	.usage = "usage: copypath gate [options] BASELINE CANDIDATE\n\n"
		 "Compares two stored runs (run directories or .jsonl files), cell by "
		 "cell\n"
		 "and metric by metric. A verdict needs 30 samples a cell on each "
		 "side.\n\n"
		 "  --rules FILE          margins and trades (YAML, kind: gate)\n"
		 "  --json                one JSON document on stdout instead of text\n"
		 "  --junit FILE          also JUnit XML\n"
		 "  --markdown FILE       also Markdown\n"
		 "  --github              also GitHub annotations, the worst 10\n"
		 "  --inconclusive=WHAT   pass (0), fail (1) or exit3 (3, the default)\n"
		 "  --ignore-fingerprint  compare different machines, and say so\n\n"
		 "Exit: 0 OK or IMPROVED, 1 REGRESSED, 2 usage or bad rules,\n"
		 "3 INCONCLUSIVE, 4 INVALID data or an output that cannot be written.\n",
	.run = run,
};
