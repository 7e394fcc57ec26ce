// SPDX-License-Identifier: GPL-2.0-only
/* Every table of the page, as rows of text. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/misalign.h"
#include "report/offload.h"
#include "report/paths.h"
#include "report/profile.h"

#define WHERE_MAX 400

static void add_range(struct cp_report_table *table, const struct cp_range *range)
{
	if (range->max == CP_POLICY_OPEN)
		cp_report_table_add(table, range->min > 1 ? "from %u" : "any",
				    range->min);
	else if (range->min == range->max)
		cp_report_table_add(table, "%u", range->min);
	else
		cp_report_table_add(table, "%u to %u", range->min, range->max);
}

static void add_rule(struct cp_report_table *table, const struct cp_policy *policy,
		     const struct cp_rule *rule, unsigned s)
{
	const struct cp_policy_size *size = &rule->sizes[s];
	char words[80], low[24], high[24], reason[CP_WORD_MAX], where[WHERE_MAX];

	snprintf(reason, sizeof(reason), "%s", rule->reason);
	for (char *c = reason; *c; c++)
		*c = *c == '_' ? ' ' : *c;

	cp_report_table_add(
		table, "%s%s", cp_report_dir_word(rule->when.dir),
		cp_report_when_words(policy, &rule->when, where, sizeof(where)));
	add_range(table, &rule->when.jobs);
	add_range(table, &rule->when.load);
	cp_report_table_add(table, "%s",
			    cp_report_interval_words(rule, s, words, sizeof(words)));
	cp_report_table_add(table, "%s", size->act.name);
	cp_report_table_add(table, "%s%s%s", size->act.path,
			    size->act.copy[0] ? ", " : "", size->act.copy);
	cp_report_table_add(table, "%s", rule->decided ? "decided" : reason);
	cp_report_table_add(table, "%s",
			    rule->decided || !strcmp(size->best.name, size->act.name)
				    ? ""
				    : size->best.name);
	cp_report_table_number(table, size->gain_pct, 1);
	cp_report_table_number(table, size->confidence, 2);
	cp_report_table_add(table, "%u", size->samples);
	if (!rule->decided && rule->samples_needed)
		cp_report_table_add(table, "%u", rule->samples_needed);
	else
		cp_report_table_add(table, "%s", "");
	if (size->crossover_at)
		cp_report_table_add(
			table, "%s to %s",
			cp_report_size_words(size->crossover_low, low, sizeof(low)),
			cp_report_size_words(size->crossover_high, high, sizeof(high)));
	else
		cp_report_table_add(table, "%s", "");
}

static void make_rules(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"rw",
					     "jobs",
					     "load",
					     "block size",
					     "arm",
					     "path",
					     "state",
					     "leans to",
					     "gain %",
					     "confidence",
					     "samples",
					     "needs more",
					     "crossover between"};

	cp_report_table_init(table, "rules",
			     "The policy's rules; gain is of J over the runner-up, load "
			     "is jobs x iodepth, needs more is the samples that would "
			     "decide",
			     "lrrlllllrrrrl", header);
	for (unsigned r = 0; report->has_policy && r < report->policy.nr_rules; r++) {
		const struct cp_rule *rule = &report->policy.rules[r];

		for (unsigned s = 0; s < rule->nr_sizes; s++)
			add_rule(table, &report->policy, rule, s);
	}
}

static void add_regret(struct cp_report_table *table, const char *name,
		       const struct cp_regret *regret)
{
	char bs[24], where[WHERE_MAX];

	cp_report_table_add(table, "%s", name);
	cp_report_table_add(table, "%u", regret->contexts);
	cp_report_table_add(table, "%u", regret->unknown);
	cp_report_table_number(table, regret->mean_pct, 1);
	cp_report_table_number(table, regret->p95_pct, 1);
	cp_report_table_number(table, regret->worst_pct, 1);
	if (isfinite(regret->worst_pct))
		cp_report_table_add(table, "%s %s, %u x %u%s", regret->worst.rw,
				    cp_size_format(regret->worst.bs, bs, sizeof(bs)),
				    regret->worst.numjobs, regret->worst.iodepth,
				    cp_report_context_words(&regret->worst, NULL, where,
							    sizeof(where)));
	else
		cp_report_table_add(table, "%s", "");
}

static void make_regret(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {
		"policy",  "contexts", "not measured", "mean %", "95th percentile %",
		"worst %", "worst at"};

	cp_report_table_init(
		table, "regret",
		"Measured regret: how much more J costs with the policy's arm "
		"than with the best arm measured in the same context",
		"lrrrrrl", header);
	if (report->has_regret)
		add_regret(table,
			   report->policy_learned_here ? "learned from these records"
						       : report->policy_path,
			   &report->regret);
	if (report->has_default_regret)
		add_regret(table, "default (nobody has measured)",
			   &report->default_regret);
}

static void make_harness(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"rw",	  "bs",	    "jobs",
					     "iodepth",	  "arm",    "N",
					     "CPU ns/IO", "p50 us", "p99 us"};

	cp_report_table_init(table, "harness",
			     "The harness's own cost: the null engine moves nothing "
			     "(modelled), so what is left is fio, the queue and the reap",
			     "lrrrlrrrr", header);
	for (size_t i = 0; i < report->nr_cells; i++) {
		const struct cp_report_cell *cell = &report->cells[i];

		if (!report->arms[cell->arm].simulated || !cell->n)
			continue;
		cp_report_table_load(table, report, cell);
		cp_report_table_add(table, "%s", report->arms[cell->arm].label);
		cp_report_table_add(table, "%u", cell->n);
		cp_report_table_number(table,
				       cell->values[VALUE_CPU_BYTE].median *
					       (double)cell->context.bs,
				       0);
		cp_report_table_number(table, cell->values[VALUE_P50].median / 1000, 2);
		cp_report_table_number(table, cell->values[VALUE_P99].median / 1000, 2);
	}
}

static void make_failures(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"run", "host", "cell", "sample", "reason"};

	cp_report_table_init(
		table, "failures",
		"Samples that failed: kept in the records, in no figure here", "lllrw",
		header);
	for (size_t i = 0; i < report->nr_failures; i++) {
		const struct cp_report_failure *failure = &report->failures[i];

		cp_report_table_add(table, "%s", failure->run);
		cp_report_table_add(table, "%s", failure->host);
		cp_report_table_add(table, "%s", failure->cell);
		cp_report_table_add(table, "%u", failure->sample);
		cp_report_table_add(table, "%s", failure->reason);
	}
}

static void add_fact(struct cp_report_table *table, const char *run, const char *kind,
		     const char *key, const char *value)
{
	cp_report_table_add(table, "%s", run);
	cp_report_table_add(table, "%s", kind);
	cp_report_table_add(table, "%s", key);
	cp_report_table_add(table, "%s", value);
}

/*
 * The fingerprint keeps the first word of what the kernel says of each flaw. For reading:
 * "Not" is "not affected", and each has a word break before it.
 */
static void add_mitigations(struct cp_report_table *table, const char *run,
			    const char *kind, const char *value)
{
	char text[4096] = "";
	size_t used = 0;

	while (*value && used < sizeof(text) - 300) {
		int len = (int)strcspn(value, ";");
		int name = (int)strcspn(value, "=;");
		bool none = len - name == 4 && !strncmp(value + name, "=Not", 4);

		len = len > 256 ? 256 : len;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s%s",
					 used ? "; " : "", none ? name : len, value,
					 none ? "=not affected" : "");
		value += strcspn(value, ";");
		value += *value == ';';
	}
	add_fact(table, run, kind, "mitigations", text);
}

static void add_facts(struct cp_report_table *table, const char *run, const char *kind,
		      json_t *facts)
{
	const char *key;
	json_t *value;

	json_object_foreach(facts, key, value)
	{
		char number[64];
		const char *text = json_string_value(value);

		if (json_is_integer(value))
			snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(value));
		else if (json_is_real(value))
			snprintf(number, sizeof(number), "%g", json_real_value(value));
		else
			snprintf(number, sizeof(number), "%s",
				 json_is_true(value)	? "yes"
				 : json_is_false(value) ? "no"
							: "unknown");
		if (text && !strcmp(key, "mitigations"))
			add_mitigations(table, run, kind, text);
		else
			add_fact(table, run, kind, key, text ? text : number);
	}
}

static void make_machine(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"run", "kind", "fact", "value"};

	cp_report_table_init(
		table, "environment",
		"Environment. Runs compare only when every hard fact agrees; "
		"soft facts explain differences",
		"lllw", header);
	table->fold = true;
	for (size_t i = 0; i < report->nr_runs; i++) {
		const struct cp_report_run *run = &report->runs[i];
		const struct cp_manifest *m = &run->manifest;

		if (!run->has_manifest) {
			add_fact(table, run->path, "run", "manifest",
				 "none: the environment is unknown");
			continue;
		}
		add_fact(table, m->run, "run", "started", m->t);
		add_fact(table, m->run, "run", "host", m->host);
		add_fact(table, m->run, "run", "copypath", m->copypath);
		add_fact(table, m->run, "run", "fio", m->fio);
		add_fact(table, m->run, "run", "complete", m->complete ? "yes" : "no");
		add_fact(table, m->run, "run", "config hash", m->config_hash);
		add_fact(table, m->run, "run", "fingerprint", m->fingerprint);
		add_facts(table, m->run, "hard", m->hard);
		add_facts(table, m->run, "soft", m->soft);
	}
}

int cp_report_tables_make(const struct cp_report *report, struct cp_report_table *tables,
			  struct cp_err *err)
{
	static void (*const makers[])(const struct cp_report *,
				      struct cp_report_table *) = {
		[TABLE_ATTRS] = cp_report_attrs_table,
		[TABLE_ATTR_ORDER] = cp_report_attr_order_table,
		[TABLE_CELLS] = cp_report_cells_table,
		[TABLE_RULES] = make_rules,
		[TABLE_REGRET] = make_regret,
		[TABLE_HARNESS] = make_harness,
		[TABLE_FAILURES] = make_failures,
		[TABLE_MACHINE] = make_machine,
		[TABLE_MISALIGN] = cp_report_misalign_make,
		[TABLE_MISALIGN_CPU] = cp_report_misalign_cpu_make,
		[TABLE_OFFLOAD] = cp_report_offload_table,
		[TABLE_PHASES] = cp_report_phases_table,
		[TABLE_REQUESTS] = cp_report_requests_table,
		[TABLE_COMPLETION] = cp_report_completion_table,
		[TABLE_BYPASS] = cp_report_bypass_table,
		[TABLE_DELIVERED] = cp_report_delivered_table,
		[TABLE_SWAP] = cp_report_swap_table,
		[TABLE_PERF] = cp_report_perf_table,
		[TABLE_PROFILES] = cp_report_profiles_table,
	};

	for (int t = 0; t < TABLE_NR; t++)
		makers[t](report, &tables[t]);
	for (int t = 0; t < TABLE_NR; t++)
		if (tables[t].failed)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
					  "not enough memory for the report");
	return 0;
}
