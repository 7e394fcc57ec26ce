// SPDX-License-Identifier: GPL-2.0-only
/* From a workload file, or a run to go on with, to stored samples. */
#include "bench/cmd/measure_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/cmd/progress.h"
#include "bench/drive/beside.h"
#include "bench/plan/corunner.h"
#include "policies/learn.h"

void cp_measure_free(struct cp_measure *measure)
{
	cp_plan_free(&measure->plan);
	cp_manifest_free(&measure->manifest);
	if (measure->lock_fd >= 0)
		close(measure->lock_fd);
	measure->lock_fd = -1;
}

static void pin_to(struct cp_plan *plan, const struct cp_topo *topo)
{
	plan->nr_cpus = 0;
	while (plan->nr_cpus < topo->nr_cpus && plan->nr_cpus < CP_PLAN_CPUS_MAX) {
		plan->cpus[plan->nr_cpus] = topo->cpus[plan->nr_cpus].os_index;
		plan->nr_cpus++;
	}
}

static int load_config(struct cp_measure *measure, const struct cp_topo *topo,
		       struct cp_err *err)
{
	struct cp_plan *plan = &measure->plan;
	int ret = cp_plan_load(measure->config, plan, err);

	if (ret)
		return ret;
	if (measure->objective)
		snprintf(plan->objective, sizeof(plan->objective), "%s",
			 measure->objective);
	ret = cp_plan_filter(plan, measure->filters, measure->nr_filters, err);
	if (!ret)
		ret = cp_plan_objective_check(plan, err);
	if (ret)
		return ret;
	if (measure->tune && plan->profile) {
		cp_cmd_warn("tune takes no profiles: a budget is for samples");
		plan->profile = false;
	}
	pin_to(plan, topo);
	return cp_plan_order(plan, err);
}

/* In a tuned run that its budget ended, the manifest says what it did not measure. */
static void note_unmeasured(struct cp_measure *measure, const bool *done)
{
	const struct cp_plan *plan = &measure->plan;
	json_t *list = json_array();
	char key[1024];

	for (size_t i = 0; i < plan->nr_order; i++) {
		const struct cp_plan_cell *cell = &plan->cells[plan->order[i].cell];

		if (done[i])
			continue;
		cp_cell_key(&cell->context, &cell->arm, key, sizeof(key));
		json_array_append_new(list, json_pack("{s:s,s:s,s:i}", "cell", key, "arm",
						      cell->arm.name, "sample",
						      (int)plan->order[i].sample));
	}
	json_decref(measure->manifest.unmeasured);
	measure->manifest.unmeasured = json_array_size(list) ? json_incref(list) : NULL;
	json_decref(list);
}

static void warn_kept(const struct cp_measure *measure)
{
	size_t nr = measure->nr_stored, failed = measure->nr_failed;
	char of[48] = "";

	if (failed && failed == nr)
		snprintf(of, sizeof(of), ", %s failed",
			 nr == 1   ? "which"
			 : nr == 2 ? "both"
				   : "all");
	else if (failed)
		snprintf(of, sizeof(of), ", %zu of them failed", failed);
	cp_cmd_warn("%zu of %zu samples are kept%s; go on with 'copypath %s --resume %s'",
		    nr, measure->plan.nr_order, of, measure->verb, measure->dir);
}

static int measure_samples(struct cp_measure *measure, const struct cp_fio *fio,
			   bool *done, struct cp_err *err)
{
	struct cp_progress progress;
	struct cp_session session = {
		.plan = &measure->plan,
		.fio = fio,
		.dir = measure->dir,
		.run = measure->manifest.run,
		.host = measure->manifest.host,
		.done = done,
		.interrupted = &cp_cmd_interrupted,
		.max_samples = measure->tune ? measure->plan.budget_samples : 0,
		.max_ns = measure->tune ? measure->plan.budget_ns : 0,
		.profile = true,
		.event = cp_progress_event,
		.ctx = &progress,
	};

	cp_progress_begin(&progress, measure, cp_session_count_profiles(&session));
	int ret = cp_session_run(&session, err);
	measure->nr_stored += session.nr_measured;
	measure->nr_failed += session.nr_failed;
	measure->nr_profiled += session.nr_profiled;
	measure->nr_unprofiled += session.nr_unprofiled;
	measure->stopped = session.stopped;
	cp_progress_end(&progress, measure);
	if (ret == -EINTR)
		return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR,
				  "interrupted after %zu of %zu samples, which are kept; "
				  "go on with 'copypath %s --resume %s'",
				  measure->nr_stored, measure->plan.nr_order,
				  measure->verb, measure->dir);
	if (ret && measure->nr_stored)
		warn_kept(measure);
	if (ret)
		return ret;
	note_unmeasured(measure, done);
	measure->manifest.complete = measure->nr_stored == measure->plan.nr_order;
	return cp_manifest_write(measure->dir, &measure->manifest, err);
}

/* Moves nothing: no rival. "fault:null" is null with errors. */
static bool is_harness(const struct cp_arm *arm)
{
	const char *dma = arm->dma;

	if (!strncmp(dma, "fault:", 6))
		dma += 6;
	return strcspn(dma, ":,") == 4 && !strncmp(dma, "null", 4);
}

/* What tune will learn from must be rivals, as a sweep of persist is not. */
static int check_rivals(const struct cp_plan *plan, struct cp_err *err)
{
	const struct cp_arm *first = NULL;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_arm *arm = &plan->cells[i].arm;

		if (cp_context_dir(&plan->cells[i].context) == CP_DIR_READ ||
		    is_harness(arm))
			continue;
		if (!first)
			first = arm;
		if (cp_learn_check_promise(first, arm, err)) {
			err->exit = CP_EXIT_USAGE;
			return -EINVAL;
		}
	}
	return 0;
}

/* What a real run would refuse; where only this machine lacks what it needs, a warning.
 */
static int check_dry(const struct cp_plan *plan, struct cp_err *err)
{
	int ret = cp_plan_corunner_check(plan, err);

	if (ret)
		return ret;
	ret = cp_beside_check(plan, err);
	if (!ret || err->exit != CP_EXIT_INVALID)
		return ret;
	cp_cmd_warn("%s", err->msg);
	*err = (struct cp_err){0};
	return 0;
}

/* A driver that starts no fio does without; what there is names the manifest. */
int cp_measure_find_fio(const struct cp_plan *plan, bool check, struct cp_fio *fio,
			struct cp_err *err)
{
	struct cp_err none = {0};
	bool needed = cp_driver_find(plan->driver)->needs_fio;
	int ret = cp_fio_find(cp_cmd_plugin_dir(), fio, needed ? err : &none);

	if (!needed && ret) {
		*fio = (struct cp_fio){.version = "none"};
		return 0;
	}
	return ret || !needed || !check ? ret : cp_fio_check(fio, err);
}

static int prepare(struct cp_measure *measure, struct cp_topo *topo, struct cp_fio *fio,
		   struct cp_err *err)
{
	int ret = cp_topo_load(NULL, topo, err);

	if (!ret && !measure->resume)
		ret = load_config(measure, topo, err);
	if (!ret && !measure->resume && measure->out_dir)
		ret = cp_measure_dir_check(measure->out_dir, err);
	if (!ret && !measure->resume && measure->tune)
		ret = check_rivals(&measure->plan, err);
	if (!ret && measure->dry_run)
		ret = cp_plan_target_check(&measure->plan, topo, cp_cmd_warn_cb, NULL,
					   err);
	if (!ret && measure->dry_run)
		ret = check_dry(&measure->plan, err);
	/* A dry run needs fio only where its version is part of the answer. */
	if (ret)
		return ret;
	if (measure->dry_run && !cp_plan_has_policy(&measure->plan))
		return 0;
	if (!ret && !measure->resume)
		ret = cp_measure_find_fio(&measure->plan, !measure->dry_run, fio, err);
	if (!ret && measure->dry_run)
		return cp_plan_policy_check(&measure->plan, fio->version, err);
	if (!ret && measure->resume)
		ret = cp_measure_resume(measure, fio, err);
	if (!ret)
		ret = cp_plan_target_check(&measure->plan, topo, cp_cmd_warn_cb, NULL,
					   err);
	if (!ret)
		ret = cp_plan_policy_check(&measure->plan, fio->version, err);
	if (!ret)
		ret = cp_driver_find(measure->plan.driver)
			      ->check(&measure->plan, fio, err);
	if (!ret)
		ret = cp_beside_check(&measure->plan, err);
	return ret;
}

static int begin(struct cp_measure *measure, const struct cp_fio *fio, struct cp_err *err)
{
	int ret;

	if (measure->resume)
		return 0;
	ret = cp_plan_target_make(&measure->plan, &cp_cmd_interrupted, err);
	if (!ret && measure->plan.created && !measure->quiet)
		fprintf(stderr, "copypath: made '%s' with %llu bytes\n",
			measure->plan.filename, (unsigned long long)measure->plan.size);
	if (!ret)
		ret = cp_measure_dir_make(measure, err);
	if (!ret)
		ret = cp_measure_manifest_begin(measure, fio, err);
	return ret;
}

enum cp_exit cp_measure_run(struct cp_measure *measure)
{
	static struct cp_topo topo;
	static struct cp_fio fio;
	struct cp_err err = {0};
	int ret = prepare(measure, &topo, &fio, &err);

	if (ret)
		return cp_cmd_fail(&err);
	if (measure->dry_run) {
		cp_measure_print_plan(&measure->plan);
		return CP_EXIT_OK;
	}
	cp_cmd_catch_signals();
	ret = begin(measure, &fio, &err);
	if (ret)
		return cp_cmd_fail(&err);
	bool *done = calloc(measure->plan.nr_order, sizeof(*done));
	ret = done ? cp_measure_mark_done(measure, done, &err)
		   : cp_err_set(&err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	if (!ret)
		ret = measure_samples(measure, &fio, done, &err);
	free(done);
	if (ret)
		return cp_cmd_fail(&err);
	return measure->nr_failed || measure->nr_unprofiled ? CP_EXIT_REGRESSED
							    : CP_EXIT_OK;
}
