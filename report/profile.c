// SPDX-License-Identifier: GPL-2.0-only
/* Profiles: reading them, choosing pairs, and what changed between two. */
#include "report/profile.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/file.h"

#define SIGMAS 2.0

static const char *dso_of(const struct cp_profile_symbol *symbol)
{
	return strncmp(symbol->dso, "copypath-", 9) ? symbol->dso : "copypath";
}

static struct cp_report_profile_row *row_of(struct cp_report_profile_pair *pair,
					    const struct cp_profile_symbol *symbol)
{
	for (size_t i = 0; i < pair->nr; i++)
		if (!strcmp(pair->rows[i].symbol, symbol->symbol) &&
		    !strcmp(pair->rows[i].dso, dso_of(symbol)))
			return &pair->rows[i];
	struct cp_report_profile_row *row = &pair->rows[pair->nr++];

	*row = (struct cp_report_profile_row){.symbol = symbol->symbol,
					      .dso = dso_of(symbol),
					      .kernel = symbol->kernel};
	return row;
}

/* ns of CPU an I/O that one sample stands for, on a side. */
static double step_ns(const struct cp_report_profile_pair *pair, int side)
{
	const struct cp_profile *profile = pair->side[side];

	return profile->samples ? cp_profile_ns(profile, profile->weight) /
					  (double)profile->samples
				: 0.0;
}

static void judge(const struct cp_report_profile_pair *pair,
		  struct cp_report_profile_row *row)
{
	double a = step_ns(pair, 0), b = step_ns(pair, 1);

	row->change_ns = row->ns[1] - row->ns[0];
	row->noise_ns = SIGMAS * sqrt((double)row->samples[0] * a * a +
				      (double)row->samples[1] * b * b);
	row->sure = fabs(row->change_ns) > row->noise_ns;
}

static int by_change(const void *a, const void *b)
{
	const struct cp_report_profile_row *x = a, *y = b;
	double dx = fabs(x->change_ns), dy = fabs(y->change_ns);

	if (x->sure != y->sure)
		return x->sure ? -1 : 1;
	if (dx < dy || dx > dy)
		return dx < dy ? 1 : -1;
	int order = strcmp(x->symbol, y->symbol);

	return order ? order : strcmp(x->dso, y->dso);
}

static void add_side(struct cp_report_profile_pair *pair, int side)
{
	const struct cp_profile *profile = pair->side[side];

	for (size_t i = 0; i < profile->nr_symbols; i++) {
		struct cp_report_profile_row *row = row_of(pair, &profile->symbols[i]);

		row->samples[side] += profile->symbols[i].samples;
		row->ns[side] += cp_profile_ns(profile, profile->symbols[i].weight);
	}
	if (profile->rest_samples) {
		static const struct cp_profile_symbol rest = {.symbol = "(tail)",
							      .dso = ""};
		struct cp_report_profile_row *row = row_of(pair, &rest);

		row->samples[side] += profile->rest_samples;
		row->ns[side] += cp_profile_ns(profile, profile->rest_weight);
	}
	pair->total.samples[side] = profile->samples;
	pair->total.ns[side] = cp_profile_ns(profile, profile->weight);
}

int cp_report_profile_compare(const struct cp_profile *a, const struct cp_profile *b,
			      struct cp_report_profile_pair *ret)
{
	struct cp_report_profile_pair pair = {.side = {a, b}};

	pair.rows = calloc(a->nr_symbols + b->nr_symbols + 2, sizeof(*pair.rows));
	if (!pair.rows)
		return -ENOMEM;
	pair.total.symbol = "all";
	pair.total.dso = "";
	add_side(&pair, 0);
	add_side(&pair, 1);
	judge(&pair, &pair.total);
	for (size_t i = 0; i < pair.nr; i++)
		judge(&pair, &pair.rows[i]);
	qsort(pair.rows, pair.nr, sizeof(*pair.rows), by_change);
	*ret = pair;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_profile(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + len - 5, ".json");
}

static int read_run(struct cp_report_profiles *profiles, const char *run,
		    struct cp_err *err)
{
	char dir[4096], path[4400];
	struct dirent **names;
	struct stat st;
	int rc = 0;

	if (stat(run, &st) || !S_ISDIR(st.st_mode) ||
	    cp_path_join(dir, sizeof(dir), run, "profiles"))
		return 0;
	int nr = scandir(dir, &names, is_profile, by_name);

	for (int i = 0; i < nr; i++) {
		struct cp_profile profile;

		if (!rc)
			rc = cp_path_join(path, sizeof(path), dir, names[i]->d_name)
				     ? cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
						  "'%.200s' is too long", dir)
				     : cp_profile_read(path, &profile, err);
		free(names[i]);
		if (rc)
			continue;
		rc = cp_report_grow(&profiles->list, &profiles->nr,
				    sizeof(*profiles->list), err);
		if (rc)
			cp_profile_free(&profile);
		else
			profiles->list[profiles->nr - 1] = profile;
	}
	if (nr >= 0)
		free(names);
	return rc;
}

static bool same_context(const struct cp_profile *a, const struct cp_profile *b)
{
	return !strcmp(a->record.host, b->record.host) &&
	       cp_context_same(&a->record.context, &b->record.context);
}

static double speed(const struct cp_profile *profile)
{
	double work = cp_profile_work(profile, NULL);

	return work / profile->record.metrics[CP_METRIC_ELAPSED_NS];
}

static int add_pair(struct cp_report_profiles *profiles, size_t a, size_t b,
		    struct cp_err *err)
{
	for (size_t i = 0; i < profiles->nr_pairs; i++)
		if (profiles->pairs[i].side[0] == &profiles->list[a] &&
		    profiles->pairs[i].side[1] == &profiles->list[b])
			return 0;
	int rc = cp_report_grow(&profiles->pairs, &profiles->nr_pairs,
				sizeof(*profiles->pairs), err);

	if (rc)
		return rc;
	if (cp_report_profile_compare(&profiles->list[a], &profiles->list[b],
				      &profiles->pairs[profiles->nr_pairs - 1]))
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	return 0;
}

/* 3: bio by the CPU, 2: another CPU arm, 1: moves its bytes some other way, 0: does not.
 */
static int standing(const struct cp_profile *profile)
{
	const struct cp_arm *arm = &profile->record.arm;

	if (!strcmp(arm->path, "cpu"))
		return strcmp(arm->queue_mode, "bio") ? 2 : 3;
	return !cp_record_harness(&profile->record);
}

/* As the other of a pair: one that offloads, then the faster. */
static bool better(const struct cp_profile *a, const struct cp_profile *b)
{
	bool cpu_a = standing(a) >= 2, cpu_b = standing(b) >= 2;

	return cpu_a != cpu_b ? cpu_b : speed(a) > speed(b);
}

/* The base of a context and the fastest of the others; only from the first of its
 * profiles on, so that each context has its pair once. */
static int pair_context(struct cp_report_profiles *profiles, size_t first,
			struct cp_err *err)
{
	const struct cp_profile *list = profiles->list;
	size_t base = first, other = profiles->nr;

	for (size_t i = 0; i < first; i++)
		if (same_context(&list[i], &list[first]))
			return 0;
	for (size_t i = first; i < profiles->nr; i++) {
		int rank = standing(&list[i]), best = standing(&list[base]);

		if (same_context(&list[i], &list[first]) &&
		    (rank > best ||
		     (rank == best && speed(&list[i]) > speed(&list[base]))))
			base = i;
	}
	for (size_t i = first; i < profiles->nr; i++)
		if (i != base && same_context(&list[i], &list[first]) &&
		    standing(&list[i]) &&
		    (other == profiles->nr || better(&list[i], &list[other])))
			other = i;
	return other < profiles->nr ? add_pair(profiles, base, other, err) : 0;
}

static bool queues_differ(const struct cp_profile *a, const struct cp_profile *b)
{
	const struct cp_arm *x = &a->record.arm, *y = &b->record.arm;

	return same_context(a, b) && strcmp(x->queue_mode, y->queue_mode) != 0 &&
	       !strcmp(x->path, y->path) && !strcmp(x->dma, y->dma) &&
	       !strcmp(x->copy, y->copy) &&
	       (!strcmp(x->completion, y->completion) || !strcmp(x->path, "cpu"));
}

static int choose_pairs(struct cp_report_profiles *profiles, struct cp_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < profiles->nr && !rc; i++)
		rc = pair_context(profiles, i, err);
	for (size_t i = 0; i < profiles->nr && !rc; i++)
		for (size_t k = i + 1; k < profiles->nr && !rc; k++)
			if (queues_differ(&profiles->list[i], &profiles->list[k]))
				rc = add_pair(profiles, i, k, err);
	return rc;
}

static bool is_arm(const struct cp_profile *profile, const char *name, size_t len)
{
	return strlen(profile->record.arm.name) == len &&
	       !strncmp(profile->record.arm.name, name, len);
}

/* An arm's name may have commas of its own: every way to part the two is tried. */
static int asked_pairs(struct cp_report_profiles *profiles, const char *asked,
		       struct cp_err *err)
{
	char names[1024] = "";
	size_t used = 0;
	int rc = 0;

	for (const char *comma = asked; !rc && (comma = strchr(comma, ',')); comma++)
		for (size_t i = 0; i < profiles->nr && !rc; i++)
			for (size_t k = 0; k < profiles->nr && !rc; k++)
				if (i != k &&
				    same_context(&profiles->list[i],
						 &profiles->list[k]) &&
				    is_arm(&profiles->list[i], asked,
					   (size_t)(comma - asked)) &&
				    is_arm(&profiles->list[k], comma + 1,
					   strlen(comma + 1)))
					rc = add_pair(profiles, i, k, err);
	if (rc || profiles->nr_pairs)
		return rc;
	for (size_t i = 0; i < profiles->nr && used < sizeof(names) - 100; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%.80s'",
					 i ? ", " : "",
					 profiles->list[i].record.arm.name);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'--profile %.200s' names no two arms with profiles in one "
			  "context; expected A,B of %s",
			  asked,
			  names[0] ? names : "a run that was made with 'profile: true'");
}

int cp_report_profiles_load(struct cp_report *report, struct cp_err *err)
{
	struct cp_report_profiles *profiles = calloc(1, sizeof(*profiles));
	const char *asked = report->opts->profile;
	int rc = 0;

	if (!profiles)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the report");
	report->profiles = profiles;
	for (size_t i = 0; i < report->opts->nr_records && !rc; i++)
		rc = read_run(profiles, report->opts->records[i], err);
	if (!rc)
		rc = asked ? asked_pairs(profiles, asked, err)
			   : choose_pairs(profiles, err);
	return rc;
}

void cp_report_profiles_free(struct cp_report *report)
{
	struct cp_report_profiles *profiles = report->profiles;

	if (!profiles)
		return;
	for (size_t i = 0; i < profiles->nr_pairs; i++)
		free(profiles->pairs[i].rows);
	for (size_t i = 0; i < profiles->nr; i++)
		cp_profile_free(&profiles->list[i]);
	free(profiles->pairs);
	free(profiles->list);
	free(profiles);
}
