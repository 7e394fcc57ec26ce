// SPDX-License-Identifier: GPL-2.0-only
/* copypath learn: records in, policy out. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/cmd/cmd.h"
#include "bench/plan/filter.h"
#include "engines/base/yaml.h"
#include "policies/learn.h"
#include "policies/pareto.h"
#include "policies/words.h"
#include "results/run.h"

#define SOURCES_MAX 16
#define FILTERS_MAX 32

struct seen {
	uint64_t hash;
	unsigned source, line;
};

struct learn_run {
	const char *out, *objective;
	char asked[CP_OBJECTIVE_TEXT_MAX]; /* by the workload, where no option says */
	bool json;
	char *const *sources;
	unsigned nr_sources, at; /* at: the source being read */
	const char *filters[FILTERS_MAX];
	unsigned nr_filters;
	struct cp_filter *filter; /* NULL: all records */
	uint64_t filtered;	  /* records left out by it */
	struct cp_learn *learn;
	struct seen *seen;
	size_t nr_seen, room;
	struct cp_err *err;
	char fingerprint[CP_FINGERPRINT_MAX];
	json_t *hard;
	char name[CP_NAME_MAX];
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	/* FNV-1a, the NUL included so that fields do not run together. */
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return hash;
}

static int note_seen(struct learn_run *run, const struct cp_record *record, unsigned line)
{
	char key[2048];

	if (run->nr_seen == run->room) {
		size_t room = run->room ? run->room * 2 : 256;
		struct seen *seen = reallocarray(run->seen, room, sizeof(*seen));

		if (!seen)
			return cp_err_set(run->err, CP_EXIT_INVALID, ENOMEM,
					  "not enough memory for the records");
		run->seen = seen;
		run->room = room;
	}
	cp_cell_key(&record->context, &record->arm, key, sizeof(key));
	uint64_t hash = hash_text(0xcbf29ce484222325ULL, record->run);

	hash = hash_text(hash, record->host);
	hash = hash_text(hash, record->arm.name);
	hash = hash_text(hash, key);
	snprintf(key, sizeof(key), "%u", record->sample);
	run->seen[run->nr_seen++] = (struct seen){hash_text(hash, key), run->at, line};
	return 0;
}

static int add_record(void *ctx, struct cp_record *record, unsigned line)
{
	struct learn_run *run = ctx;
	int rc = note_seen(run, record, line);

	if (rc)
		return rc;
	if (run->filter &&
	    !cp_filter_matches(run->filter, &record->context, &record->arm)) {
		run->filtered++;
		return 0;
	}
	rc = cp_learn_add(run->learn, record, run->err);
	if (rc)
		cp_err_prefix(run->err, "%s: record %u", run->sources[run->at], line);
	return rc;
}

static int seen_cmp(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int check_duplicates(struct learn_run *run)
{
	if (!run->nr_seen)
		return 0;
	qsort(run->seen, run->nr_seen, sizeof(run->seen[0]), seen_cmp);
	for (size_t i = 1; i < run->nr_seen; i++) {
		const struct seen *a = &run->seen[i - 1], *b = &run->seen[i];

		if (a->hash == b->hash)
			return cp_err_set(
				run->err, CP_EXIT_INVALID, EEXIST,
				"%s: record %u repeats record %u of '%s' (same run, "
				"host, cell and sample); expected each sample once",
				run->sources[b->source], b->line, a->line,
				run->sources[a->source]);
	}
	return 0;
}

/* Same machine though one run used a DMA engine and the other none? */
static bool same_hard(const json_t *a, const json_t *b)
{
	json_t *x = json_copy((json_t *)(uintptr_t)a),
	       *y = json_copy((json_t *)(uintptr_t)b);
	bool same;

	json_object_del(x, "dma");
	json_object_del(y, "dma");
	same = x && y && json_object_size(x) && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same;
}

static int take_manifest(struct learn_run *run, const struct cp_manifest *manifest)
{
	const char *name = json_string_value(json_object_get(manifest->config, "name"));
	const char *dma = json_string_value(json_object_get(manifest->hard, "dma"));

	if (run->at == 0 && name)
		snprintf(run->name, sizeof(run->name), "%s", name);
	if (run->at > 0 && strcmp(run->fingerprint, manifest->fingerprint) != 0 &&
	    !(*run->fingerprint && run->hard && manifest->hard &&
	      same_hard(run->hard, manifest->hard)))
		return cp_err_set(run->err, CP_EXIT_INVALID, EINVAL,
				  "'%s' (%s) and '%s' (%s) were measured on different "
				  "machines; expected one",
				  run->sources[0],
				  *run->fingerprint ? run->fingerprint
						    : "fingerprint unknown",
				  run->sources[run->at], manifest->fingerprint);
	/* The run with a DMA engine is what the policy must fit. */
	if (run->at == 0 || (dma && strcmp(dma, "none") != 0))
		snprintf(run->fingerprint, sizeof(run->fingerprint), "%s",
			 manifest->fingerprint);
	if (!run->hard && manifest->hard)
		run->hard = json_incref(manifest->hard);
	return 0;
}

static int read_manifest(struct learn_run *run)
{
	const char *path = run->sources[run->at];
	struct cp_manifest manifest;
	int rc = cp_manifest_read(path, &manifest, run->err);

	if (rc == -ENOENT && !*run->err->msg) {
		if (run->at > 0 && *run->fingerprint)
			return cp_err_set(run->err, CP_EXIT_INVALID, EINVAL,
					  "'%s' has no manifest but '%s' has; expected "
					  "both or neither",
					  path, run->sources[0]);
		cp_cmd_warn("'%s' has no manifest: the policy will have no fingerprint",
			    path);
		return 0;
	}
	if (rc)
		return rc;
	rc = take_manifest(run, &manifest);
	cp_manifest_free(&manifest);
	return rc;
}

/* Before anything is read or warned of: are they all there? */
static int check_sources(struct learn_run *run)
{
	struct stat st;

	for (unsigned i = 0; i < run->nr_sources; i++)
		if (stat(run->sources[i], &st))
			return cp_err_set(run->err, CP_EXIT_USAGE, errno,
					  "cannot read '%s': %s; expected a run "
					  "directory or a .jsonl file",
					  run->sources[i], strerror(errno));
	return 0;
}

static int read_sources(struct learn_run *run)
{
	const struct cp_record_read_opts opts = {.warn = cp_cmd_warn_cb};
	int rc = 0;

	for (run->at = 0; run->at < run->nr_sources; run->at++) {
		rc = read_manifest(run);

		if (!rc)
			rc = cp_record_read(run->sources[run->at], &opts, add_record, run,
					    run->err);
		if (rc)
			return rc;
	}
	return check_duplicates(run);
}

static void print_note(void *ctx, const char *text)
{
	(void)ctx;
	cp_cmd_warn("%s", text);
}

static unsigned intervals(const struct cp_policy *policy, bool decided)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < policy->nr_rules; i++)
		if (policy->rules[i].decided == decided)
			nr += policy->rules[i].nr_sizes;
	return nr;
}

static void add_note(void *ctx, const char *text)
{
	json_array_append_new(ctx, json_string(text));
}

static int print_json(const struct learn_run *run, const struct cp_policy *policy,
		      const struct cp_regret *regret)
{
	struct cp_learn_counts counts;
	const struct cp_learn_cell *cells;
	size_t nr;
	json_t *notes, *mean, *worst;

	if (cp_learn_cells(run->learn, &cells, &nr, run->err))
		return -ENOMEM;
	cp_learn_counts(run->learn, &counts);
	notes = json_array();
	cp_learn_notes(run->learn, add_note, notes);
	mean = isnan(regret->mean_pct) ? json_null() : json_real(regret->mean_pct);
	worst = isnan(regret->worst_pct) ? json_null() : json_real(regret->worst_pct);
	json_t *doc = json_pack(
		"{s:i, s:i, s:{s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:i, s:i, s:o, s:o}, "
		"s:o, "
		"s:o, "
		"s:o}",
		"decided", (int)intervals(policy, true), "undecided",
		(int)intervals(policy, false), "records", "used", (json_int_t)counts.used,
		"failed", (json_int_t)counts.failed, "verified",
		(json_int_t)counts.verified, "modelled", (json_int_t)counts.modelled,
		"page_off", (json_int_t)counts.page_off, "unusable",
		(json_int_t)counts.unusable, "measured_regret", "contexts",
		(int)regret->contexts, "unknown", (int)regret->unknown, "mean_pct", mean,
		"worst_pct", worst, "notes", notes, "pareto",
		cp_pareto_json(&policy->objective, cells, nr), "policy",
		cp_policy_json(policy));

	if (!doc)
		return cp_err_set(run->err, CP_EXIT_INTERNAL, ENOMEM,
				  "not enough memory for the JSON document");
	/* Whether stdout took it is cp_cmd_finish()'s to say, as for every verb. */
	json_dumpf(doc, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(doc);
	return 0;
}

static void summary(const struct learn_run *run, const struct cp_policy *policy,
		    const struct cp_regret *regret)
{
	struct cp_learn_counts counts;
	const struct cp_learn_cell *cells;
	char span[160];
	size_t nr;
	unsigned decided = intervals(policy, true), open = intervals(policy, false);

	cp_learn_counts(run->learn, &counts);
	fprintf(stderr, "learned from %" PRIu64 " samples", counts.used);
	if (counts.failed)
		fprintf(stderr, ", %" PRIu64 " failed ones left out", counts.failed);
	if (counts.verified)
		fprintf(stderr, ", %" PRIu64 " with verify on left out", counts.verified);
	if (counts.modelled)
		fprintf(stderr, ", %" PRIu64 " modelled ones (null) left out",
			counts.modelled);
	if (counts.page_off)
		fprintf(stderr,
			", %" PRIu64 " of queue_mode page left out, whose pages went by "
			"bio",
			counts.page_off);
	if (counts.unusable)
		fprintf(stderr,
			", %" PRIu64 " without a metric the objective needs left out",
			counts.unusable);
	if (run->filtered)
		fprintf(stderr, ", %" PRIu64 " left out by --filter", run->filtered);
	fprintf(stderr, "; %u size interval%s decided, %u undecided\n", decided,
		decided == 1 ? "" : "s", open);
	if (!isnan(regret->mean_pct))
		fprintf(stderr,
			"measured regret of the policy: %.1f %% mean, %.1f %% worst, "
			"over %s\n",
			regret->mean_pct, regret->worst_pct,
			cp_regret_span_words(regret, span, sizeof(span)));
	if (run->out) {
		cp_policy_words(policy, stderr);
		if (!cp_learn_cells(run->learn, &cells, &nr, run->err))
			cp_pareto_words(&policy->objective, cells, nr, stderr);
		fprintf(stderr, "written to %s\n", run->out);
	}
}

static void set_origin(const struct learn_run *run, struct cp_policy *policy)
{
	policy->nr_from = run->nr_sources;
	for (unsigned i = 0; i < run->nr_sources; i++)
		snprintf(policy->from[i], sizeof(policy->from[i]), "%s", run->sources[i]);
	memcpy(policy->fingerprint, run->fingerprint, sizeof(policy->fingerprint));
	if (*run->name)
		snprintf(policy->name, sizeof(policy->name), "%s", run->name);
}

static enum cp_exit finish(struct learn_run *run, struct cp_policy *policy,
			   unsigned decided)
{
	struct cp_regret regret;

	cp_learn_notes(run->learn, print_note, NULL);
	if (cp_policy_regret(run->learn, policy, &regret, run->err))
		return cp_cmd_fail(run->err);
	if (run->out && cp_policy_write(policy, run->out, run->err))
		return cp_cmd_fail(run->err);
	if (run->json && print_json(run, policy, &regret))
		return cp_cmd_fail(run->err);
	if (!run->json && !run->out)
		cp_policy_print(policy, stdout);
	summary(run, policy, &regret);
	if (decided)
		return CP_EXIT_OK;
	cp_cmd_warn("nothing was decided: not enough evidence");
	return CP_EXIT_INCONCLUSIVE;
}

static enum cp_exit learn(struct learn_run *run)
{
	char note[CP_ERR_MSG_MAX];
	struct cp_objective objective;
	struct cp_policy policy;
	unsigned decided;
	enum cp_exit code;

	if (run->nr_filters &&
	    cp_filter_parse(run->filters, run->nr_filters, &run->filter, run->err))
		return cp_cmd_fail(run->err);
	if (check_sources(run))
		return cp_cmd_fail(run->err);
	if (!run->objective) {
		cp_objective_of_runs((const char *const *)run->sources, run->nr_sources,
				     run->asked, sizeof(run->asked), note, sizeof(note));
		run->objective = run->asked;
		if (*note)
			fprintf(stderr, "%s\n", note);
	}
	if (cp_objective_parse(run->objective, &objective, run->err) ||
	    cp_learn_new(&objective, &run->learn, run->err))
		return cp_cmd_fail(run->err);
	if (read_sources(run) ||
	    cp_learn_solve(run->learn, &policy, &decided, run->err)) {
		code = cp_cmd_fail(run->err);
	} else {
		set_origin(run, &policy);
		code = finish(run, &policy, decided);
		cp_policy_free(&policy);
	}
	cp_learn_free(run->learn);
	cp_filter_free(run->filter);
	free(run->seen);
	json_decref(run->hard);
	return code;
}

static enum cp_exit run_learn(int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"objective", required_argument, NULL, 'O'},
		{"json", no_argument, NULL, 'j'},
		{"filter", required_argument, NULL, 'f'},
		{NULL, 0, NULL, 0},
	};
	static const char *const words[] = {"--output", "--objective", "--json",
					    "--filter", NULL};
	struct cp_err err = {0};
	struct learn_run run = {.err = &err};
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
		const char *word = argv[optind - 1], *near;

		switch (opt) {
		case 'o':
			run.out = optarg;
			break;
		case 'O':
			run.objective = optarg;
			break;
		case 'j':
			run.json = true;
			break;
		case 'f':
			if (run.nr_filters == FILTERS_MAX)
				return cp_cmd_usage(
					"learn", "more than %d filters; expected fewer",
					FILTERS_MAX);
			run.filters[run.nr_filters++] = optarg;
			break;
		case ':':
			return cp_cmd_usage("learn", "'%s' needs a value", word);
		default:
			near = cp_nearest_word(word, words);
			return cp_cmd_usage("learn", "unknown option '%s'%s%s", word,
					    near ? "; expected " : "", near ? near : "");
		}
	}
	if (optind == argc)
		return cp_cmd_usage("learn", "no records given; expected run directories "
					     "or .jsonl files");
	if (argc - optind > SOURCES_MAX)
		return cp_cmd_usage("learn", "%d records given; expected at most %d",
				    argc - optind, SOURCES_MAX);
	run.sources = argv + optind;
	run.nr_sources = (unsigned)(argc - optind);
	return learn(&run);
}

const struct cp_verb cp_verb_learn = {
	.name = "learn",
	.summary = "records in, policy out",
	.usage =
		"usage: copypath learn [options] RECORDS...\n\n"
		"Learns from run directories or .jsonl files which copies the CPU "
		"should\n"
		"do and which a DMA engine. The policy goes to stdout, or to FILE; a\n"
		"summary in words goes to stderr.\n\n"
		"  -o, --output FILE      write the policy here, whole or not at all\n"
		"      --objective WHAT   throughput, balanced, efficiency, delivered,\n"
		"                         or terms: elapsed=1,cpu=0.3,tail=1,\n"
		"                         slo_p99=200us,min_bw_frac=0.8; default: the "
		"workload's, where\n"
		"                         all runs have the same, else balanced\n"
		"      --filter KEY=VALUE only records with that value, as in run\n"
		"      --json             one JSON document on stdout\n\n"
		"Exit: 0, 2 usage, 3 nothing was decided (the policy is written all the\n"
		"same), 4 data that cannot be learned from together.\n",
	.run = run_learn,
};
