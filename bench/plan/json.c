// SPDX-License-Identifier: GPL-2.0-only
/* A plan as the `config` of a manifest, and back: resume needs nothing else. */
#include "bench/plan/load.h"

#include <errno.h>
#include <string.h>

#include "engines/base/fiovalue.h"
#include "engines/base/units.h"

/* Fields that manifests of before lack; they mean what happened then, the default. At
 * that they are not written either: one workload has one config and one hash, by
 * whichever version it ran. Whoever adds a field of contexts or arms adds it here. */
static bool is_later(const char *name)
{
	static const char *const later[] = {
		"misalign_near", "misalign_far", "fence",  "persist",
		"split_pct",	 "dma_node",	 "driver", "rw_page",
		"resident",	 "handler",	 NULL};

	for (size_t i = 0; later[i]; i++)
		if (!strcmp(name, later[i]))
			return true;
	return false;
}

static json_t *fields_to_json(const struct cp_field *fields, const void *obj)
{
	json_t *json = json_object();
	char text[512];

	for (size_t i = 0; fields[i].name; i++) {
		uint64_t value;

		cp_field_format(&fields[i], obj, true, text, sizeof(text));
		if (is_later(fields[i].name) && !strcmp(text, fields[i].def))
			continue;
		bool number = fields[i].type == CP_FIELD_SIZE ||
			      fields[i].type == CP_FIELD_UINT;
		json_object_set_new(json, fields[i].name,
				    number && !cp_size_parse(text, &value)
					    ? json_integer((json_int_t)value)
					    : json_string(text));
	}
	return json;
}

static int fields_from_json(const struct cp_field *fields, const json_t *json, void *obj,
			    struct cp_err *err)
{
	for (size_t i = 0; fields[i].name; i++) {
		const json_t *value = json_object_get(json, fields[i].name);
		char number[32];
		const char *text = json_string_value(value);

		if (json_is_integer(value)) {
			snprintf(number, sizeof(number), "%lld",
				 (long long)json_integer_value(value));
			text = number;
		}
		if (!value && is_later(fields[i].name))
			continue;
		if (!text)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "the manifest's config has a cell without '%s'",
					  fields[i].name);
		if (cp_field_parse(&fields[i], obj, text, err)) {
			err->exit = CP_EXIT_INVALID;
			cp_err_prefix(err, "the manifest's config");
			return -EINVAL;
		}
	}
	return 0;
}

static json_t *cells_to_json(const struct cp_plan *plan)
{
	json_t *cells = json_array();

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		json_t *arm = fields_to_json(cp_arm_fields, &cell->arm);

		json_object_set_new(arm, "name", json_string(cell->arm.name));
		json_array_append_new(
			cells,
			json_pack("{s:o,s:o,s:I,s:I}", "context",
				  fields_to_json(cp_context_fields, &cell->context),
				  "arm", arm, "segment", (json_int_t)cell->segment_bytes,
				  "job_bytes", (json_int_t)cell->job_bytes));
	}
	return cells;
}

static json_t *texts_to_json(const char *texts, size_t size, size_t nr)
{
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_string(texts + i * size));
	return list;
}

static json_t *driver_to_json(const struct cp_plan *plan)
{
	json_t *json = json_pack(
		"{s:s,s:o}", "name", plan->driver, "exec",
		texts_to_json(plan->exec[0], sizeof(plan->exec[0]), plan->nr_exec));

	if (json && cp_plan_external(plan)) {
		json_object_set_new(json, "dir", json_string(plan->exec_dir));
		json_object_set_new(json, "timeout_ns",
				    json_integer((json_int_t)plan->exec_timeout_ns));
	}
	return json;
}

/* What came later, as is_later(): only where it was asked for. */
static void add_later(const struct cp_plan *plan, json_t *json)
{
	if (strcmp(plan->driver, "fio") != 0)
		json_object_set_new(json, "driver", driver_to_json(plan));
	if (plan->profile)
		json_object_set_new(json, "profile", json_true());
	if (plan->nr_perf)
		json_object_set_new(json, "perf",
				    texts_to_json(plan->perf[0], sizeof(plan->perf[0]),
						  plan->nr_perf));
}

/* 0, or -EINVAL where one is none or they are too many. */
static int texts_from_json(const json_t *list, char *texts, size_t size, size_t max,
			   size_t *ret_nr)
{
	size_t nr = json_array_size(list);

	if (nr > max)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!text || strlen(text) >= size)
			return -EINVAL;
		snprintf(texts + i * size, size, "%s", text);
	}
	*ret_nr = nr;
	return 0;
}

/* Of driver exec: a program, the directory it runs in, and how long it may take. */
static int exec_from_json(const json_t *driver, struct cp_plan *plan)
{
	const char *dir = json_string_value(json_object_get(driver, "dir"));
	json_int_t timeout_ns = json_integer_value(json_object_get(driver, "timeout_ns"));
	int ret =
		texts_from_json(json_object_get(driver, "exec"), plan->exec[0],
				sizeof(plan->exec[0]), CP_PLAN_EXEC_MAX, &plan->nr_exec);

	if (ret || !cp_plan_external(plan))
		return ret;
	if (!plan->nr_exec || plan->exec[0][0] != '/' || !dir ||
	    strlen(dir) >= sizeof(plan->exec_dir) || timeout_ns <= 0)
		return -EINVAL;
	snprintf(plan->exec_dir, sizeof(plan->exec_dir), "%s", dir);
	plan->exec_timeout_ns = (uint64_t)timeout_ns;
	return 0;
}

static int later_from_json(const json_t *json, struct cp_plan *plan)
{
	const json_t *driver = json_object_get(json, "driver");
	const char *name = json_string_value(json_object_get(driver, "name"));

	snprintf(plan->driver, sizeof(plan->driver), "%s", driver && name ? name : "fio");
	plan->profile = json_is_true(json_object_get(json, "profile"));
	if (driver && !name)
		return -EINVAL;
	int ret = exec_from_json(driver, plan);

	if (!ret)
		ret = texts_from_json(json_object_get(json, "perf"), plan->perf[0],
				      sizeof(plan->perf[0]), CP_PERF_MAX, &plan->nr_perf);
	return ret;
}

json_t *cp_plan_to_json(const struct cp_plan *plan)
{
	json_t *options = json_object(), *cpus = json_array();

	for (size_t i = 0; i < plan->nr_options; i++)
		json_object_set_new(options, plan->options[i].key,
				    json_string(plan->options[i].value));
	for (unsigned i = 0; i < plan->nr_cpus; i++)
		json_array_append_new(cpus, json_integer((json_int_t)plan->cpus[i]));
	json_t *json = json_pack(
		"{s:s,s:{s:I,s:s,s:b,s:b,s:b},s:{s:I,s:I,s:I,s:I,s:s},s:o,s:{s:I,s:I},s:"
		"s,"
		"s:{s:o,s:s},s:o}",
		"name", plan->name, "target", "size", (json_int_t)plan->size, "filename",
		plan->filename, "allow_overwrite", plan->allow_overwrite, "created",
		plan->created, "attr_native", plan->attr_native, "run", "runtime_ns",
		(json_int_t)plan->runtime_ns, "ramp_time_ns", (json_int_t)plan->ramp_ns,
		"samples", (json_int_t)plan->samples, "seed", (json_int_t)plan->seed,
		"verify", plan->verify, "fio", options, "budget", "samples",
		(json_int_t)plan->budget_samples, "time_ns", (json_int_t)plan->budget_ns,
		"objective", plan->objective, "pinning", "cpus", cpus, "rule",
		"one submitter a CPU from the first on when numjobs is below the number "
		"of CPUs, else none",
		"cells", cells_to_json(plan));

	if (json)
		add_later(plan, json);
	return json;
}

static int options_from_json(const json_t *json, struct cp_plan *plan)
{
	struct cp_err err;
	const char *key;
	json_t *value;

	/* jansson's iteration macro wants an object it may change. */
	json_t *copy = json_copy((json_t *)(uintptr_t)json);
	json_object_foreach(copy, key, value)
	{
		if (plan->nr_options == CP_PLAN_FIO_MAX || !json_is_string(value) ||
		    !cp_load_option_allowed(key) ||
		    cp_fio_value_check(CP_FIO_VALUE_TEXT, key, json_string_value(value),
				       &err))
			break;
		struct cp_plan_option *option = &plan->options[plan->nr_options++];
		snprintf(option->key, sizeof(option->key), "%s", key);
		snprintf(option->value, sizeof(option->value), "%s",
			 json_string_value(value));
	}
	size_t nr = json_object_size(copy);
	json_decref(copy);
	return nr == plan->nr_options ? 0 : -EINVAL;
}

static int cells_from_json(const json_t *cells, struct cp_plan *plan, struct cp_err *err)
{
	size_t nr = json_array_size(cells);

	if (!nr || nr > CP_PLAN_CELLS_MAX)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "the manifest's config has no cells to resume");
	plan->cells = calloc(nr, sizeof(*plan->cells));
	if (!plan->cells)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	for (size_t i = 0; i < nr; i++) {
		const json_t *json = json_array_get(cells, i);
		const json_t *arm = json_object_get(json, "arm");
		const char *name = json_string_value(json_object_get(arm, "name"));
		struct cp_plan_cell *cell = &plan->cells[i];

		cp_context_init(&cell->context);
		cp_arm_init(&cell->arm);
		int ret = fields_from_json(cp_context_fields,
					   json_object_get(json, "context"),
					   &cell->context, err);
		if (!ret)
			ret = fields_from_json(cp_arm_fields, arm, &cell->arm, err);
		if (ret)
			return ret;
		cell->arm.q_per_node_set = false; /* what was asked is not kept */
		snprintf(cell->arm.name, sizeof(cell->arm.name), "%s", name ? name : "");
		cell->segment_bytes =
			(uint64_t)json_integer_value(json_object_get(json, "segment"));
		cell->job_bytes =
			(uint64_t)json_integer_value(json_object_get(json, "job_bytes"));
		if (!cell->segment_bytes || cell->job_bytes < cell->context.bs || !name)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "the manifest's config has a broken cell %zu",
					  i);
		plan->nr_cells++;
	}
	return 0;
}

int cp_plan_from_json(const json_t *json, struct cp_plan *ret_plan, struct cp_err *err)
{
	struct cp_plan plan = {0};
	const char *name, *filename, *verify, *objective;
	json_int_t size, runtime, ramp, samples, seed, budget, budget_ns;
	int overwrite, created, native = 0; /* runs of before have no attr_native */
	json_t *options, *cpus, *cells, *copy = json_copy((json_t *)(uintptr_t)json);
	int ret = json_unpack(copy,
			      "{s:s,s:{s:I,s:s,s:b,s:b,s?b},s:{s:I,s:I,s:I,s:I,s:s},s:o,"
			      "s:{s:I,s:I},s:s,"
			      "s:{s:o},s:o}",
			      "name", &name, "target", "size", &size, "filename",
			      &filename, "allow_overwrite", &overwrite, "created",
			      &created, "attr_native", &native, "run", "runtime_ns",
			      &runtime, "ramp_time_ns", &ramp, "samples", &samples,
			      "seed", &seed, "verify", &verify, "fio", &options, "budget",
			      "samples", &budget, "time_ns", &budget_ns, "objective",
			      &objective, "pinning", "cpus", &cpus, "cells", &cells);
	if (ret || size <= 0 || samples < 1 || runtime < 1 ||
	    options_from_json(options, &plan) || later_from_json(json, &plan)) {
		ret = cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				 "the manifest's config is no plan; expected a run that "
				 "'copypath run' made");
		goto out_copy;
	}
	/* Whoever edits a manifest must not reach a file by what fio makes of a name. */
	if (filename[0] &&
	    cp_fio_value_check(CP_FIO_VALUE_FILENAME, "'filename'", filename, err)) {
		err->exit = CP_EXIT_INVALID;
		cp_err_prefix(err, "the manifest's config");
		ret = -EINVAL;
		goto out_copy;
	}
	snprintf(plan.name, sizeof(plan.name), "%s", name);
	snprintf(plan.filename, sizeof(plan.filename), "%s", filename);
	snprintf(plan.verify, sizeof(plan.verify), "%s", verify);
	snprintf(plan.objective, sizeof(plan.objective), "%s", objective);
	plan.size = (uint64_t)size;
	plan.allow_overwrite = overwrite;
	plan.created = created;
	plan.attr_native = native;
	plan.runtime_ns = (uint64_t)runtime;
	plan.ramp_ns = (uint64_t)ramp;
	plan.samples = (uint32_t)samples;
	plan.seed = (uint64_t)seed;
	plan.budget_samples = (uint64_t)budget;
	plan.budget_ns = (uint64_t)budget_ns;
	for (size_t i = 0; i < json_array_size(cpus) && i < CP_PLAN_CPUS_MAX; i++)
		plan.cpus[plan.nr_cpus++] =
			(unsigned)json_integer_value(json_array_get(cpus, i));
	ret = cells_from_json(cells, &plan, err);
	if (ret)
		cp_plan_free(&plan);
	else
		*ret_plan = plan;
out_copy:
	json_decref(copy);
	return ret;
}
