// SPDX-License-Identifier: GPL-2.0-only
/* copypath tune: measure the grid under a budget, learn, leave policy.yaml in the run. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "bench/cmd/measure.h"
#include "engines/base/file.h"
#include "policies/learn.h"
#include "results/record.h"

struct feed {
	struct cp_learn *learn;
	struct cp_err *err;
};

static int feed(void *ctx, struct cp_record *record, unsigned line)
{
	struct feed *f = ctx;
	int ret = cp_learn_add(f->learn, record, f->err);

	if (ret)
		cp_err_prefix(f->err, "line %u", line);
	return ret;
}

static void fill_origin(struct cp_policy *policy, const struct cp_measure *measure,
			const struct cp_learn_counts *counts)
{
	snprintf(policy->name, sizeof(policy->name), "%s", measure->plan.name);
	policy->nr_from = 1;
	snprintf(policy->from[0], sizeof(policy->from[0]), "%.255s", measure->dir);
	snprintf(policy->host, sizeof(policy->host), "%s", measure->manifest.host);
	snprintf(policy->fingerprint, sizeof(policy->fingerprint), "%s",
		 measure->manifest.fingerprint);
	policy->samples = counts->used;
}

static void print_result(const struct cp_measure *measure, const char *path,
			 const struct cp_learn_counts *counts, unsigned decided,
			 enum cp_exit code)
{
	size_t left = measure->plan.nr_order - measure->nr_stored;

	if (measure->json) {
		json_t *json = json_pack(
			"{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:i}", "run", measure->dir,
			"policy", path, "samples", (json_int_t)counts->used, "failed",
			(json_int_t)counts->failed, "modelled",
			(json_int_t)counts->modelled, "not_measured", (json_int_t)left,
			"decided", (json_int_t)decided, "exit", (int)code);
		json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
		putchar('\n');
		json_decref(json);
		return;
	}
	printf("run: %s\npolicy: %s\n", measure->dir, path);
	printf("samples: %llu learned from, %llu failed, %llu modelled\n",
	       (unsigned long long)counts->used, (unsigned long long)counts->failed,
	       (unsigned long long)counts->modelled);
	if (left)
		printf("not measured: %zu of %zu samples; the manifest lists them\n",
		       left, measure->plan.nr_order);
	printf("decided: %u intervals%s\n", decided,
	       decided ? "" : "; not enough evidence, take more samples");
}

static enum cp_exit learn(const struct cp_measure *measure,
			  const struct cp_objective *objective)
{
	const struct cp_record_read_opts opts = {.warn = cp_cmd_warn_cb};
	struct cp_learn_counts counts = {0};
	struct cp_learn *learner = NULL;
	struct cp_policy policy = {0};
	struct cp_err err = {0};
	unsigned decided = 0;
	char path[4200];
	int ret = cp_path_join(path, sizeof(path), measure->dir, "policy.yaml");

	if (!ret)
		ret = cp_learn_new(objective, &learner, &err);
	struct feed ctx = {learner, &err};
	if (!ret)
		ret = cp_record_read(measure->dir, &opts, feed, &ctx, &err);
	if (!ret) {
		cp_learn_counts(learner, &counts);
		ret = cp_learn_solve(learner, &policy, &decided, &err);
	}
	if (!ret) {
		fill_origin(&policy, measure, &counts);
		ret = cp_policy_write(&policy, path, &err);
	}
	enum cp_exit code = decided ? CP_EXIT_OK : CP_EXIT_INCONCLUSIVE;
	if (measure->nr_failed)
		code = cp_exit_worse(code, CP_EXIT_REGRESSED);
	if (ret)
		code = cp_cmd_fail(&err);
	else
		print_result(measure, path, &counts, decided, code);
	cp_policy_free(&policy);
	cp_learn_free(learner);
	return code;
}

static enum cp_exit tune(struct cp_measure *measure)
{
	struct cp_objective objective;
	struct cp_err err = {0};

	/* Before anything is measured. */
	if (measure->objective &&
	    cp_objective_parse(measure->objective, &objective, &err))
		return cp_cmd_fail(&err);
	enum cp_exit code = cp_measure_run(measure);
	if (measure->dry_run || code > CP_EXIT_REGRESSED)
		return code;
	const char *text =
		measure->objective ? measure->objective : measure->plan.objective;
	if (cp_objective_parse(text, &objective, &err))
		return cp_cmd_fail(&err);
	return learn(measure, &objective);
}

static enum cp_exit run(int argc, char **argv)
{
	static struct cp_measure measure = {.verb = "tune", .tune = true};
	enum cp_exit code = cp_measure_parse(&measure, argc, argv);

	if (code == CP_EXIT_OK)
		code = tune(&measure);
	cp_measure_free(&measure);
	return code;
}

const struct cp_verb cp_verb_tune = {
	.name = "tune",
	.summary = "measure a workload under a budget and learn its policy",
	.usage =
		"usage: copypath tune CONFIG [options]\n"
		"       copypath tune --resume RUN [options]\n\n"
		"Measures the cells of CONFIG, round after round in random order, until "
		"all\nsamples are there or its 'budget' is spent; then learns and leaves "
		"policy.yaml\nin the run directory.\n\n"
		"  --objective NAME    throughput, balanced, efficiency, delivered, or\n"
		"                      terms like elapsed=1,cpu=0.3 (default: of CONFIG, "
		"balanced)\n"
		"  --json              one JSON document on stdout\n"
		"  -o, --output DIR    the run directory: new or empty\n"
		"  --dry-run           print the plan, run nothing\n"
		"  --resume RUN        take the samples that a stopped run lacks, learn\n"
		"  --filter KEY=VALUE  only cells with that value\n"
		"  -q, --quiet         only warnings and errors on stderr\n\n"
		"Exit: 0 ok, 1 a sample failed, 2 bad input, 3 nothing was decided, 4 "
		"the\n"
		"machine cannot do it, 130 after Ctrl-C (what was measured is kept).\n",
	.run = run,
};
