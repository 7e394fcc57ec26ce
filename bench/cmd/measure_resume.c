// SPDX-License-Identifier: GPL-2.0-only
/* Going on with a run: everything comes from its manifest. */
#include "bench/cmd/measure_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/plan/plan.h"
#include "engines/base/file.h"
#include "results/record.h"

static int differs(const char *what, const char *then, const char *now,
		   struct cp_err *err)
{
	if (!strcmp(then, now))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "cannot go on: %s was '%s' and is '%s'; expected the same, or "
			  "a new run",
			  what, then, now);
}

/* Which hard fact changed, for a fingerprint that did. */
static int facts_differ(const struct cp_manifest *then, const struct cp_manifest *now,
			struct cp_err *err)
{
	const char *key;
	json_t *value;

	if (!strcmp(then->fingerprint, now->fingerprint))
		return 0;
	json_object_foreach(now->hard, key, value)
	{
		json_t *old = json_object_get(then->hard, key);

		if (json_equal(old, value))
			continue;
		char *was = old ? json_dumps(old, JSON_ENCODE_ANY) : NULL;
		char *is = json_dumps(value, JSON_ENCODE_ANY);
		int ret = differs(key, was ? was : "unknown", is ? is : "unknown", err);
		free(was);
		free(is);
		if (ret)
			return ret;
	}
	return differs("the fingerprint", then->fingerprint, now->fingerprint, err);
}

struct mark_ctx {
	struct cp_measure *measure;
	bool *done;
	size_t *where; /* order index of (cell, sample), cell-major */
};

static int mark(void *ctx, struct cp_record *record, unsigned line)
{
	struct mark_ctx *m = ctx;
	const struct cp_plan *plan = &m->measure->plan;
	long cell = cp_plan_find(plan, &record->context, &record->arm);
	char reason[256];

	(void)line;
	if (cell < 0 || record->sample >= plan->samples)
		return 0;
	size_t index = m->where[(size_t)cell * plan->samples + record->sample];
	if (m->done[index])
		return 0;
	m->done[index] = true;
	m->measure->nr_stored++;
	m->measure->nr_failed += cp_record_failed(record, reason, sizeof(reason));
	return 0;
}

int cp_measure_mark_done(struct cp_measure *measure, bool *done, struct cp_err *err)
{
	const struct cp_record_read_opts opts = {.warn = cp_cmd_warn_cb};
	const struct cp_plan *plan = &measure->plan;
	char path[4200];

	if (cp_path_join(path, sizeof(path), measure->dir, "records.jsonl") ||
	    access(path, F_OK))
		return 0;
	size_t *where = calloc(plan->nr_order, sizeof(*where));
	if (!where)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	for (size_t i = 0; i < plan->nr_order; i++)
		where[plan->order[i].cell * (size_t)plan->samples +
		      plan->order[i].sample] = i;
	struct mark_ctx ctx = {measure, done, where};
	int ret = cp_record_read(path, &opts, mark, &ctx, err);
	free(where);
	return ret;
}

/* A run makes its file once: the samples that are there were taken on it. */
static int target_there(const struct cp_plan *plan, struct cp_err *err)
{
	for (size_t i = 0; i < plan->nr_cells; i++) {
		const char *name = cp_plan_filename(plan, plan->cells[i].context.media);

		if (name && access(name, F_OK))
			return cp_err_set(err, CP_EXIT_INVALID, errno,
					  "cannot go on: the target '%s' is gone: %s; "
					  "expected the file of the samples that are "
					  "there, or a new run",
					  name, strerror(errno));
	}
	return 0;
}

int cp_measure_resume(struct cp_measure *measure, struct cp_fio *fio, struct cp_err *err)
{
	struct cp_manifest now = {0};
	int ret;

	if (strlen(measure->resume) >= sizeof(measure->dir) - 64)
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "'%.200s' is too long", measure->resume);
	memcpy(measure->dir, measure->resume, strlen(measure->resume) + 1);
	ret = cp_measure_dir_lock(measure, err);
	if (ret)
		return ret;
	ret = cp_manifest_read(measure->dir, &measure->manifest, err);
	if (ret == -ENOENT)
		return cp_err_set(err, CP_EXIT_USAGE, ENOENT,
				  "'%s' has no manifest.json; expected a run directory",
				  measure->dir);
	if (ret)
		return ret;
	ret = cp_plan_from_json(measure->manifest.config, &measure->plan, err);
	if (!ret)
		ret = cp_plan_order(&measure->plan, err);
	if (!ret && measure->plan.nr_order != measure->manifest.planned)
		ret = cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				 "the manifest of '%s' plans other samples than its "
				 "config; expected an untouched run",
				 measure->dir);
	if (!ret)
		ret = cp_measure_find_fio(&measure->plan, true, fio, err);
	if (!ret)
		ret = cp_measure_describe(&now, &measure->plan, fio, err);
	if (!ret)
		ret = differs("copypath", measure->manifest.copypath, now.copypath, err);
	if (!ret)
		ret = differs("fio", measure->manifest.fio, now.fio, err);
	if (!ret)
		ret = facts_differ(&measure->manifest, &now, err);
	if (!ret && !measure->manifest.complete && !cp_plan_external(&measure->plan))
		ret = target_there(&measure->plan, err);
	cp_manifest_free(&now);
	return ret;
}
