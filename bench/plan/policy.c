// SPDX-License-Identifier: GPL-2.0-only
/* An arm's policy, looked at as the engine will: what it would refuse in every sample is
 * found before the first. */
#include "engines/policy.h"

#include <errno.h>
#include <string.h>

#include "bench/plan/load.h"
#include "engines/base/host.h"
#include "engines/copy/attr.h"
#include "engines/copy/copy.h"
#include "engines/dma/hardware.h"
#include "engines/media/media.h"

static int check_action(const struct cp_arm *arm, const struct cp_context *context,
			const struct cp_action *act, struct cp_err *err)
{
	const struct cp_copy_ops *ops;
	bool mq = strcmp(arm->queue_mode, "bio") != 0;
	const char *copy;
	unsigned natives = cp_media_attrs(context->media);
	enum cp_attr attr;
	int ret = cp_attr_parse(context->attr, &attr, err);

	if (ret)
		return ret;
	copy = cp_attr_policy_copy(act->copy[0] ? act->copy : arm->copy, attr);
	ret = cp_attr_check_copy(copy, attr, natives, err);
	if (!ret)
		ret = cp_copy_bind(copy, cp_context_dir(context),
				   natives & CP_ATTR_BIT(attr) ? CP_ATTR_WB : attr, &ops,
				   err);
	if (ret) {
		cp_err_prefix(err, "its arm '%s'", act->name);
		return ret;
	}
	if (mq && !strcmp(act->path, "dma") && !strcmp(arm->dma, "none"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "its arm '%s' uses DMA and 'dma' is none; expected dma "
				  "auto or sw",
				  act->name);
	return 0;
}

int cp_load_policy(const struct cp_arm *arm, const struct cp_context *context,
		   struct cp_err *err)
{
	struct cp_policy_table *table = NULL;
	struct cp_policy policy = {0};
	int ret = cp_policy_read(arm->policy, &policy, err);

	if (ret)
		return ret;
	ret = cp_policy_compile(&policy, context, &table, err);
	for (unsigned i = 0; !ret && i < table->nr_actions; i++)
		ret = check_action(arm, context, &table->actions[i], err);
	cp_policy_table_free(table);
	cp_policy_free(&policy);
	return ret;
}

bool cp_plan_has_policy(const struct cp_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (plan->cells[i].arm.policy[0])
			return true;
	return false;
}

/* Of the media's kind, as the engine takes it. */
static int check_fingerprint(const struct cp_plan_cell *cell, const struct cp_host *host,
			     const char *fio_version, struct cp_err *err)
{
	char here[CP_FINGERPRINT_MAX], kind[CP_SPEC_TEXT_MAX], engines[256];
	const char *media = cell->context.media;
	struct cp_policy policy = {0};
	int ret = cp_policy_read(cell->arm.policy, &policy, err);

	if (ret)
		return ret;
	cp_media_kind(media, kind, sizeof(kind));
	cp_dma_hardware_names(engines, sizeof(engines));
	cp_host_fingerprint(host, fio_version, kind, engines, here);
	if (policy.fingerprint[0] && strcmp(policy.fingerprint, here) != 0)
		ret = cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				 "policy '%s' of arm '%s' was learned on host '%s' with "
				 "another fingerprint (CPU, kernel, fio, media '%s'); "
				 "expected one learned here, or 'policy_force: true'",
				 cell->arm.policy, cell->arm.name, policy.host, kind);
	cp_policy_free(&policy);
	return ret;
}

int cp_plan_policy_check(const struct cp_plan *plan, const char *fio_version,
			 struct cp_err *err)
{
	const struct cp_plan_cell *last = NULL;
	struct cp_host host;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];

		if (!cell->arm.policy[0] || cell->arm.policy_force ||
		    (last && !strcmp(last->arm.policy, cell->arm.policy) &&
		     !strcmp(last->context.media, cell->context.media)))
			continue;
		int ret = last ? 0 : cp_host_read(&host, err);
		if (!ret)
			ret = check_fingerprint(cell, &host, fio_version, err);
		if (ret && plan->config[0] && cell->policy_at[0] &&
		    !strstr(err->msg, ": error: "))
			cp_err_prefix(err, "%s:%u:%u: error", plan->config,
				      cell->policy_at[0], cell->policy_at[1]);
		if (ret)
			return ret;
		last = cell;
	}
	return 0;
}
