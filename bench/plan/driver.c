// SPDX-License-Identifier: GPL-2.0-only
/* Who makes the I/Os, and what is counted beside them. */
#include "bench/plan/load.h"

#include <errno.h>
#include <string.h>

/* driver: {exec: [command, args...]} */
static void load_exec(struct cp_load *load, const struct cp_yaml_node *map)
{
	static const char *const keys[] = {"exec", NULL};
	struct cp_plan *plan = load->plan;
	const struct cp_yaml_node *list = cp_yaml_get(map, "exec");

	if (!cp_yaml_keys(load->doc, map, "driver", keys))
		return;
	snprintf(plan->driver, sizeof(plan->driver), "exec");
	if (!list || list->type != CP_YAML_LIST || !list->nr_children ||
	    list->nr_children > CP_PLAN_EXEC_MAX) {
		cp_yaml_problem(load->doc, list ? list : map,
				"'exec' is no command; expected a list of 1 to %d words: "
				"a program and its arguments",
				CP_PLAN_EXEC_MAX);
		return;
	}
	for (size_t i = 0; i < list->nr_children; i++)
		if (cp_yaml_text(load->doc, list->children[i], "exec",
				 plan->exec[plan->nr_exec], sizeof(plan->exec[0])))
			plan->nr_exec++;
}

void cp_load_driver(struct cp_load *load, const struct cp_yaml_node *node)
{
	static const char *const words[] = {"fio", "swap", NULL};

	if (node && node->type == CP_YAML_MAP) {
		load_exec(load, node);
	} else if (node) {
		int word = cp_yaml_word(load->doc, node, "driver", words);

		if (word >= 0)
			snprintf(load->plan->driver, sizeof(load->plan->driver), "%s",
				 words[word]);
	}
}

/* Each must be one of its own, as their counts have their names. */
static void add_event(struct cp_load *load, const struct cp_yaml_node *node)
{
	struct cp_plan *plan = load->plan;
	char *event = plan->perf[plan->nr_perf];

	if (!cp_yaml_text(load->doc, node, "perf", event, sizeof(plan->perf[0])))
		return;
	if (!event[0] || strpbrk(event, ", \t{}'\"")) {
		cp_yaml_problem(load->doc, node,
				"'perf' has '%s', which is no event; expected names as "
				"'perf list' has them, one an entry",
				event);
		return;
	}
	for (size_t i = 0; i < plan->nr_perf; i++) {
		if (strcmp(plan->perf[i], event) != 0)
			continue;
		cp_yaml_problem(load->doc, node,
				"'perf' has '%s' twice; expected each event once", event);
		return;
	}
	plan->perf_at[plan->nr_perf][0] = node->line;
	plan->perf_at[plan->nr_perf++][1] = node->column;
}

void cp_load_perf(struct cp_load *load, const struct cp_yaml_node *node)
{
	if (!node)
		return;
	if (node->type != CP_YAML_LIST || !node->nr_children ||
	    node->nr_children > CP_PERF_MAX) {
		cp_yaml_problem(load->doc, node,
				"'perf' is no list of events; expected 1 to %d names as "
				"'perf list' has them",
				CP_PERF_MAX);
		return;
	}
	for (size_t i = 0; i < node->nr_children; i++)
		add_event(load, node->children[i]);
}
