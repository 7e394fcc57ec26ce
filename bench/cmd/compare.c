/* SPDX-License-Identifier: GPL-2.0-only */
/* copypath compare: two runs side by side, without a verdict. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "bench/gate/compare.h"
#include "engines/base/yaml.h"

/* What few records have: shown where both sides do. */
#define SHOWN_BY_ITSELF ((1U << CP_GATE_NR_ALL) - (1U << CP_GATE_NR))

enum { OPT_JSON = 256, OPT_SORT, OPT_FILTER, OPT_METRIC };

static const struct option longopts[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"sort", required_argument, NULL, OPT_SORT},
	{"filter", required_argument, NULL, OPT_FILTER},
	{"metric", required_argument, NULL, OPT_METRIC},
	{NULL, 0, NULL, 0},
};
static const char *const option_words[] = {"--json", "--sort", "--filter", "--metric",
					   NULL};

struct options {
	bool json;
	struct cp_compare_opts compare;
	const char *a, *b;
};

/* "bw,p99" adds to what earlier options named. */
static enum cp_exit add_metrics(unsigned *mask, const char *list)
{
	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");
		int found = -1;

		if (len == 3 && !strncmp(at, "all", 3)) {
			*mask |= (1U << CP_GATE_NR_ALL) - 1;
			found = 0;
		}
		for (int m = 0; m < CP_GATE_NR_ALL; m++)
			if (!cp_gate_is_counter((enum cp_gate_metric)m) &&
			    strlen(cp_gate_metrics[m].name) == len &&
			    !strncmp(at, cp_gate_metrics[m].name, len)) {
				*mask |= 1U << m;
				found = m;
			}
		if (found < 0)
			return cp_cmd_usage(
				"compare",
				"unknown metric '%.*s'; expected bw, iops, cpu, "
				"p50, p99, p999, corunner, corunner_cpu, app, faults, "
				"fault_p50, fault_p99, fault_user, fault_sys or all",
				(int)len, at);
		at += len;
		if (!*at)
			return CP_EXIT_OK;
	}
}

static enum cp_exit add_filter(struct cp_compare_opts *compare, const char *text)
{
	struct cp_err err = {0};

	if (compare->nr_filters == CP_COMPARE_FILTERS_MAX)
		return cp_cmd_usage("compare", "too many filters; expected at most %d",
				    CP_COMPARE_FILTERS_MAX);
	if (cp_compare_filter_parse(text, &compare->filters[compare->nr_filters], &err))
		return cp_cmd_usage("compare", "%s", err.msg);
	compare->nr_filters++;
	return CP_EXIT_OK;
}

static enum cp_exit set_option(struct options *options, int opt, char **argv)
{
	const char *word = argv[optind - 1];
	const char *near;

	switch (opt) {
	case OPT_JSON:
		options->json = true;
		return CP_EXIT_OK;
	case OPT_SORT:
		if (strcmp(optarg, "cell") != 0 && strcmp(optarg, "ratio") != 0)
			return cp_cmd_usage("compare",
					    "unknown '--sort %s'; expected cell or ratio",
					    optarg);
		options->compare.by_cell = !strcmp(optarg, "cell");
		return CP_EXIT_OK;
	case OPT_FILTER:
		return add_filter(&options->compare, optarg);
	case OPT_METRIC:
		return add_metrics(&options->compare.metrics, optarg);
	case ':':
		return cp_cmd_usage("compare", "'%s' needs a value", word);
	default:
		near = cp_nearest_word(word, option_words);
		return cp_cmd_usage("compare", "unknown option '%s'%s%s", word,
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
		return cp_cmd_usage("compare", "expected A and B, got %d path%s",
				    argc - optind, argc - optind == 1 ? "" : "s");
	options->a = argv[optind];
	options->b = argv[optind + 1];
	if (!options->compare.metrics)
		options->compare.metrics = 1U << CP_GATE_BW | 1U << CP_GATE_CPU |
					   1U << CP_GATE_P50 | 1U << CP_GATE_P99 |
					   SHOWN_BY_ITSELF;
	return CP_EXIT_OK;
}

/* A verdict-free look may be had at a torn run, but not at one that cannot be read. */
static int read_set(const char *path, struct cp_gate_set *ret_set, struct cp_err *err)
{
	int rc = cp_gate_set_read(path, false, cp_cmd_warn_cb, ret_set, err);

	if (!rc && ret_set->broken[0]) {
		rc = cp_err_set(err, CP_EXIT_INVALID, EINVAL, "%s", ret_set->broken);
		cp_gate_set_free(ret_set);
	}
	return rc;
}

static enum cp_exit show(const struct options *options, const struct cp_gate_set *a,
			 const struct cp_gate_set *b)
{
	struct cp_compare compare;
	struct cp_err err = {0};
	enum cp_exit code = CP_EXIT_OK;

	if (cp_compare_make(a, b, &options->compare, &compare, &err))
		return cp_cmd_fail(&err);
	if (strcmp(compare.fingerprint, "differs") == 0)
		cp_cmd_warn("'%s' and '%s' were measured on different machines", a->path,
			    b->path);
	if (!compare.nr_rows)
		cp_cmd_warn("no cell is in both runs%s",
			    options->compare.nr_filters ? " and passes the filters" : "");
	if (!options->json)
		cp_compare_write_text(&compare, stdout);
	else if (cp_compare_write_json(&compare, stdout) == -ENOMEM)
		code = CP_EXIT_INTERNAL;
	cp_compare_free(&compare);
	return cp_cmd_finish(code);
}

static enum cp_exit run(int argc, char **argv)
{
	struct options options = {0};
	struct cp_gate_set a, b;
	struct cp_err err = {0};
	enum cp_exit code = parse(&options, argc, argv);

	if (code)
		return code;
	if (read_set(options.a, &a, &err))
		return cp_cmd_fail(&err);
	if (read_set(options.b, &b, &err)) {
		cp_gate_set_free(&a);
		return cp_cmd_fail(&err);
	}
	code = show(&options, &a, &b);
	cp_gate_set_free(&b);
	cp_gate_set_free(&a);
	return code;
}

const struct cp_verb cp_verb_compare = {
	.name = "compare",
	.summary = "two runs side by side: medians, ratios, worst first",
	.usage = "usage: copypath compare [options] A B\n\n"
		 "Medians of two runs (run directories or .jsonl files) side by side, "
		 "and\n"
		 "the ratio B/A with its 95% interval, worst first. It judges nothing; "
		 "that\n"
		 "is 'copypath gate'.\n\n"
		 "  --json              one JSON document on stdout instead of text\n"
		 "  --sort cell|ratio   default: ratio, worst first\n"
		 "  --filter key=value  only these cells (rw=read, bs=64k, name=ARM);\n"
		 "                      repeat it: all must hold\n"
		 "  --metric LIST       bw,iops,cpu,p50,p99,p999,corunner,app,faults,... "
		 "or all\n"
		 "                      (default bw,cpu,p50,p99)\n\n"
		 "Exit: 0, 2 usage, 4 data that cannot be read.\n",
	.run = run,
};
