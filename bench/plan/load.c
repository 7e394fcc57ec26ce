// SPDX-License-Identifier: GPL-2.0-only
/* Reads a workload file into a plan; every problem is collected with its place. */
#include "bench/plan/load.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "engines/base/fiovalue.h"
#include "engines/copy/attr.h"
#include "engines/media/media.h"
#include "policies/objective.h"

#define TIME_MAX_NS  (24ULL * 3600 * 1000000000)
#define SIZE_MAX_CFG (1ULL << 46)

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

static const char *const top_keys[] = {"schema", "kind",     "name",	  "driver",
				       "target", "workload", "arms",	  "run",
				       "fio",	 "budget",   "objective", NULL};
static const char *const top_later[] = {"hosts", NULL};
static const char *const target_keys[] = {
	"media",	   "size",    "node", "attr", "attr_native", "layer", "filename",
	"allow_overwrite", "rw_page", NULL};
static const char *const target_later[] = {"engine", NULL};
static const char *const workload_keys[] = {
	"rw",		"bs",	    "numjobs", "iodepth", "segment", "misalign_near",
	"misalign_far", "resident", "handler", NULL};
static const char *const workload_later[] = {"rate_iops", "rwmixread", NULL};
static const char *const run_keys[] = {"runtime", "ramp_time", "samples",
				       "seed",	  "verify",    "corunner",
				       "profile", "perf",      NULL};
static const char *const budget_keys[] = {"samples", "time", NULL};
static const char *const none_later[] = {NULL};
static const char *const verify_words[] = {"off", "crc32c", NULL};

const char *cp_load_section_of(const char *key)
{
	static const struct {
		const char *name;
		const char *const *keys;
	} sections[] = {{"target", target_keys},
			{"workload", workload_keys},
			{"run", run_keys},
			{"budget", budget_keys}};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		for (const char *const *word = sections[i].keys; *word; word++)
			if (!strcmp(*word, key))
				return sections[i].name;
	return cp_field_find(cp_arm_fields, key) || !strcmp(key, "dma_thresh") ||
			       !strcmp(key, "only")
		       ? "arm"
		       : NULL;
}

static const struct cp_yaml_node *section(struct cp_load *load, const char *name,
					  const char *const *keys,
					  const char *const *later, bool needed)
{
	const struct cp_yaml_node *root = cp_yaml_root(load->doc);
	const struct cp_yaml_node *node = cp_yaml_get(root, name);

	if (!node && needed)
		cp_yaml_problem(load->doc, NULL, "'%s' is missing; expected a map of it",
				name);
	if (!node || !cp_load_keys(load, node, name, keys, later))
		return NULL;
	return node;
}

static void context_axis(struct cp_load *load, const struct cp_yaml_node *map,
			 const char *key, const char *field)
{
	struct cp_context scratch;

	cp_context_init(&scratch);
	cp_axes_add(load, &load->axes, key, cp_field_find(cp_context_fields, field),
		    &scratch, cp_yaml_get(map, key));
}

static const struct cp_axis *media_axis(const struct cp_load *load)
{
	for (size_t i = 0; i < load->axes.nr; i++)
		if (!strcmp(load->axes.axis[i].name, "media"))
			return &load->axes.axis[i];
	return NULL;
}

/* Does a media of the axis need a file's name, or (may) at least take one? */
static bool media_takes_file(const struct cp_load *load, bool may)
{
	const struct cp_axis *axis = media_axis(load);

	for (size_t i = 0; axis && i < axis->nr; i++) {
		const struct cp_media_ops *media = cp_media_of(axis->nodes[i]->text);

		if (media && (media->takes_file || (may && media->file_default)))
			return true;
	}
	return false;
}

static void media_settings(struct cp_load *load)
{
	const struct cp_axis *axis = media_axis(load);
	struct cp_err err = {0};

	for (size_t i = 0; axis && i < axis->nr; i++)
		if (cp_media_check(axis->nodes[i]->text, &err))
			cp_load_problem(load, axis->nodes[i], &err);
}

/* Can each media of the plan have it? A media that is not known is another
 * problem, told elsewhere. */
static int attr_of_media(const struct cp_load *load, enum cp_attr attr,
			 struct cp_err *err)
{
	bool found = false;
	int rc = 0;

	if (cp_plan_external(load->plan))
		return 0;
	for (size_t i = 0; i < load->axes.nr; i++) {
		const struct cp_axis *axis = &load->axes.axis[i];

		for (size_t k = 0; !rc && !strcmp(axis->name, "media") && k < axis->nr;
		     k++) {
			unsigned natives = cp_media_attrs(axis->nodes[k]->text);

			found = true;
			if (natives)
				rc = cp_attr_check(attr, natives, load->plan->attr_native,
						   cp_attr_lacks(), err);
		}
	}
	return found ? rc
		     : cp_attr_check(attr, cp_media_attrs("anon"),
				     load->plan->attr_native, cp_attr_lacks(), err);
}

/* Without 'attr' it is wb, which not every media has. */
static void default_attr(struct cp_load *load)
{
	const struct cp_axis *axis = media_axis(load);
	struct cp_err err = {0};

	if (cp_plan_external(load->plan))
		return;
	for (size_t i = 0; axis && i < axis->nr; i++) {
		unsigned natives = cp_media_attrs(axis->nodes[i]->text);

		if (natives && cp_attr_check(CP_ATTR_WB, natives, load->plan->attr_native,
					     cp_attr_lacks(), &err))
			cp_load_problem(load, axis->nodes[i], &err);
	}
}

/* The attributes of the axis just added must be there to be had. */
static void load_attr(struct cp_load *load, const struct cp_yaml_node *map)
{
	const struct cp_yaml_node *node = cp_yaml_get(map, "attr_native");
	const struct cp_yaml_node *attrs = cp_yaml_get(map, "attr");
	size_t nr_before = load->axes.nr;

	if (node)
		cp_yaml_bool(load->doc, node, "attr_native", &load->plan->attr_native);
	context_axis(load, map, "attr", "attr");
	if (!attrs)
		default_attr(load);
	if (!attrs || load->axes.nr == nr_before)
		return;
	const struct cp_axis *axis = &load->axes.axis[nr_before];

	for (size_t i = 0; i < axis->nr; i++) {
		enum cp_attr attr;
		struct cp_err err = {0};

		if (cp_attr_parse(axis->nodes[i]->text, &attr, &err) ||
		    attr_of_media(load, attr, &err))
			cp_load_problem(load, axis->nodes[i], &err);
	}
}

/* Where the machine's answer to the target is shown. */
static void set_place(struct cp_load *load, const struct cp_yaml_node *node)
{
	snprintf(load->plan->place, sizeof(load->plan->place), "%.4000s:%u:%u",
		 cp_yaml_path(load->doc), node->line, node->column);
}

/* Absolute, also for a file that is yet to be made. */
static void load_filename(struct cp_load *load, const struct cp_yaml_node *node)
{
	char text[2048], cwd[PATH_MAX];
	struct cp_plan *plan = load->plan;

	if (!cp_yaml_text(load->doc, node, "filename", text, sizeof(text)))
		return;
	set_place(load, node);
	struct cp_err err = {0};
	if (cp_fio_value_check(CP_FIO_VALUE_FILENAME, "'filename'", text, &err)) {
		cp_load_problem(load, node, &err);
		return;
	}
	if (text[0] == '/')
		snprintf(plan->filename, sizeof(plan->filename), "%s", text);
	else if (!getcwd(cwd, sizeof(cwd)) || strlen(cwd) + strlen(text) + 2 > PATH_MAX)
		cp_yaml_problem(load->doc, node,
				"'filename' is too long; expected a "
				"shorter path");
	else
		snprintf(plan->filename, sizeof(plan->filename), "%.2000s/%s", cwd, text);
	/* The directory we are in is part of what fio reads. */
	if (plan->filename[0] &&
	    cp_fio_value_check(CP_FIO_VALUE_FILENAME, "the absolute path of 'filename'",
			       plan->filename, &err))
		cp_load_problem(load, node, &err);
}

static void load_target(struct cp_load *load)
{
	struct cp_plan *plan = load->plan;
	char list[128];
	const struct cp_yaml_node *map =
		section(load, "target", target_keys, target_later, true);

	if (!map)
		return;
	context_axis(load, map, "media", "media");
	set_place(load, cp_yaml_get(map, "media") ? cp_yaml_get(map, "media") : map);
	media_settings(load);
	load_attr(load, map);
	context_axis(load, map, "layer", "layer");
	context_axis(load, map, "rw_page", "rw_page");
	const struct cp_yaml_node *node = cp_yaml_get(map, "size");
	if (!node)
		cp_yaml_problem(load->doc, map,
				"'size' is missing; expected the bytes "
				"of the target");
	else if (node->type == CP_YAML_LIST)
		cp_yaml_problem(load->doc, node,
				"'size' is a list, but records do not hold it; expected "
				"one size");
	else
		cp_yaml_size(load->doc, node, "size", 4096, SIZE_MAX_CFG, &plan->size);
	node = cp_yaml_get(map, "node");
	if (node) {
		static const char *const words[] = {"auto", NULL};

		cp_yaml_word(load->doc, node, "node", words);
	}
	node = cp_yaml_get(map, "allow_overwrite");
	if (node)
		cp_yaml_bool(load->doc, node, "allow_overwrite", &plan->allow_overwrite);
	node = cp_yaml_get(map, "filename");
	bool external = cp_plan_external(plan); /* a name, and a media, are its own */

	if (node && !external && !media_takes_file(load, true))
		cp_yaml_problem_key(load->doc, node,
				    "'filename' has no use with this media; expected "
				    "media %s",
				    cp_media_named(list, sizeof(list)));
	else if (node)
		load_filename(load, node);
	else if (!external && media_takes_file(load, false))
		cp_yaml_problem(load->doc, map,
				"'filename' is missing; expected the file to use");
}

static void load_workload(struct cp_load *load)
{
	const struct cp_yaml_node *map =
		section(load, "workload", workload_keys, workload_later, true);

	if (!map)
		return;
	for (size_t i = 0; i < 2; i++)
		if (!cp_yaml_get(map, workload_keys[i]))
			cp_yaml_problem(load->doc, map,
					"'%s' is missing; expected a value or a list",
					workload_keys[i]);
	context_axis(load, map, "rw", "rw");
	context_axis(load, map, "bs", "bs");
	context_axis(load, map, "numjobs", "numjobs");
	context_axis(load, map, "iodepth", "iodepth");
	context_axis(load, map, "misalign_near", "misalign_near");
	context_axis(load, map, "misalign_far", "misalign_far");
	context_axis(load, map, "resident", "resident");
	context_axis(load, map, "handler", "handler");
	cp_axes_add(load, &load->axes, "segment", NULL, NULL,
		    cp_yaml_get(map, "segment"));
}

static void load_run(struct cp_load *load)
{
	struct cp_plan *plan = load->plan;
	const struct cp_yaml_node *map =
		section(load, "run", run_keys, none_later, false);
	const struct cp_yaml_node *node;
	uint64_t value;

	if ((node = cp_yaml_get(map, "runtime")))
		cp_yaml_time(load->doc, node, "runtime", 10000000, TIME_MAX_NS,
			     &plan->runtime_ns);
	if ((node = cp_yaml_get(map, "ramp_time")))
		cp_yaml_time(load->doc, node, "ramp_time", 0, TIME_MAX_NS,
			     &plan->ramp_ns);
	if ((node = cp_yaml_get(map, "samples")) &&
	    cp_yaml_uint(load->doc, node, "samples", 1, 10000, &value))
		plan->samples = (uint32_t)value;
	if ((node = cp_yaml_get(map, "seed")))
		cp_yaml_uint(load->doc, node, "seed", 0, UINT32_MAX, &plan->seed);
	if ((node = cp_yaml_get(map, "verify"))) {
		int word = cp_yaml_word(load->doc, node, "verify", verify_words);

		if (word >= 0)
			snprintf(plan->verify, sizeof(plan->verify), "%s",
				 verify_words[word]);
	}
	context_axis(load, map, "corunner", "corunner");
	cp_load_corunner(load);
	if ((node = cp_yaml_get(map, "profile")))
		cp_yaml_bool(load->doc, node, "profile", &plan->profile);
	cp_load_perf(load, cp_yaml_get(map, "perf"));
}

static void load_tuning(struct cp_load *load)
{
	struct cp_plan *plan = load->plan;
	const struct cp_yaml_node *map =
		section(load, "budget", budget_keys, none_later, false);
	const struct cp_yaml_node *node;

	if ((node = cp_yaml_get(map, "samples")))
		cp_yaml_uint(load->doc, node, "samples", 1, CP_PLAN_SAMPLES_MAX,
			     &plan->budget_samples);
	if ((node = cp_yaml_get(map, "time")))
		cp_yaml_time(load->doc, node, "time", 1000000000, TIME_MAX_NS,
			     &plan->budget_ns);
	node = cp_yaml_get(cp_yaml_root(load->doc), "objective");
	if (node && cp_yaml_text(load->doc, node, "objective", plan->objective,
				 sizeof(plan->objective))) {
		struct cp_objective objective;
		struct cp_err err = {0};

		if (cp_objective_parse(plan->objective, &objective, &err))
			cp_load_problem(load, node, &err);
	}
}

static void load_head(struct cp_load *load)
{
	static const char *const kinds[] = {"workload", NULL};
	const struct cp_yaml_node *root = cp_yaml_root(load->doc);
	const struct cp_yaml_node *node = cp_yaml_get(root, "schema");
	uint64_t schema;

	if (!node)
		cp_yaml_problem(load->doc, NULL, "'schema' is missing; expected 1");
	else
		cp_yaml_uint(load->doc, node, "schema", 1, 1, &schema);
	node = cp_yaml_get(root, "kind");
	if (!node)
		cp_yaml_problem(load->doc, NULL, "'kind' is missing; expected workload");
	else
		cp_yaml_word(load->doc, node, "kind", kinds);
	node = cp_yaml_get(root, "name");
	if (!node) {
		cp_yaml_problem(load->doc, NULL,
				"'name' is missing; expected a name for "
				"the run");
	} else if (cp_yaml_text(load->doc, node, "name", load->plan->name, 64)) {
		const char *c = load->plan->name;

		/* It becomes the name of a directory and of a policy. */
		if (!*c || *c == '.' || *c == '-' || c[strspn(c, name_letters)])
			cp_yaml_problem(load->doc, node,
					"'%s' cannot name a directory; expected letters, "
					"digits and . _ + -",
					c);
	}
}

static int load_all(struct cp_load *load, struct cp_err *err)
{
	const struct cp_yaml_node *root = cp_yaml_root(load->doc);

	if (!cp_load_keys(load, root, "workload file", top_keys, top_later))
		return cp_yaml_check(load->doc, err);
	load_head(load);
	cp_load_driver(load, cp_yaml_get(root, "driver"));
	load_target(load);
	load_workload(load);
	load_run(load);
	cp_load_arms(load, cp_yaml_get(root, "arms"));
	if (!cp_load_is_swap(load) && !cp_plan_external(load->plan))
		cp_load_options(load, cp_yaml_get(root, "fio"));
	cp_load_swap(load);
	cp_load_external(load);
	load_tuning(load);
	if (load->plan->size)
		cp_load_cells(load);
	if (load->failed)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	const struct cp_yaml_node *objective = cp_yaml_get(root, "objective");
	struct cp_err why = {0};

	/* one that cannot be read was reported with its place */
	if (objective && !cp_yaml_check(load->doc, &why) &&
	    cp_plan_objective_check(load->plan, &why))
		cp_load_problem(load, objective, &why);
	return cp_yaml_check(load->doc, err);
}

int cp_plan_load(const char *path, struct cp_plan *ret_plan, struct cp_err *err)
{
	struct cp_plan plan = {
		.runtime_ns = 1000000000,
		.samples = 5,
		.seed = 1,
		.verify = "off",
		.objective = "balanced",
		.driver = "fio",
	};
	struct cp_load load = {.plan = &plan};
	int ret = cp_yaml_load(path, &load.doc, err);

	if (ret && !strstr(err->msg, "; expected"))
		return cp_err_set(err, err->exit, -ret, "%s; expected a workload file",
				  err->msg);
	if (ret)
		return ret;
	snprintf(plan.config, sizeof(plan.config), "%.1000s", path);
	ret = load_all(&load, err);
	for (size_t i = 0; i < load.nr_only; i++)
		free(load.only[i]);
	free(load.only);
	free(load.arms);
	free(load.contexts);
	cp_yaml_free(load.doc);
	if (ret) {
		cp_plan_free(&plan);
		return ret;
	}
	*ret_plan = plan;
	return 0;
}
