// SPDX-License-Identifier: GPL-2.0-only
/* The `fio` map: what is passed through, and what may not be because the harness sets it.
 */
#include "bench/plan/load.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *words; /* blank-separated */
	const char *why;
} reserved[] = {
	{" ioengine engine thread filename filename_format directory name description "
	 "create_on_open create_only file_append ",
	 "the harness sets it from 'target'"},
	{" rw readwrite bs blocksize bsrange bssplit blocksize_range iodepth numjobs "
	 "size "
	 "filesize io_size io_limit offset offset_increment offset_align rwmixread "
	 "rwmixwrite nrfiles bs_unaligned number_ios ",
	 "it belongs in 'workload'"},
	{" runtime timeout time_based ramp_time startdelay loops randseed allrandrepeat "
	 "randrepeat verify do_verify ",
	 "it belongs in 'run'"},
	{" iodepth_batch iodepth_batch_submit queue_mode path copy completion dma "
	 "dma_thresh dma_thresh_read dma_thresh_write dma_min_segments ring_full "
	 "q_per_node queue_depth policy max_merge batch flush ",
	 "it belongs in an arm"},
	{" media attr layer segment sidecar ", "the harness sets it from 'target'"},
	{" cpus_allowed cpus_allowed_policy cpumask numa_cpu_nodes numa_mem_policy "
	 "numa_cpu_node direct buffered group_reporting unified_rw_reporting "
	 "new_group stonewall wait_for percentile_list lat_percentiles clat_percentiles "
	 "slat_percentiles disable_lat disable_clat disable_slat disable_bw_measurement "
	 "gtod_reduce clocksource norandommap random_generator refill_buffers "
	 "scramble_buffers output output-format minimal client server debug include ",
	 "a sample could not be compared with others"},
	{" exec_prerun exec_postrun ", "a sample runs nothing but fio"},
};

static const char *reserved_why(const char *key)
{
	char word[70];

	snprintf(word, sizeof(word), " %s ", key);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strstr(reserved[i].words, word))
			return reserved[i].why;
	return NULL;
}

static bool key_good(const char *key)
{
	if (!key[0] || strlen(key) >= sizeof(((struct cp_plan_option *)NULL)->key))
		return false;
	for (const char *c = key; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) &&
		    *c != '_')
			return false;
	return true;
}

/* One line of a job file: nothing that starts another. */
static bool value_good(const char *text)
{
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return false;
	return true;
}

void cp_load_options(struct cp_load *load, const struct cp_yaml_node *map)
{
	struct cp_plan *plan = load->plan;

	if (!map)
		return;
	if (map->type != CP_YAML_MAP) {
		cp_yaml_problem(load->doc, map,
				"'fio' is no map; expected fio options and values");
		return;
	}
	for (size_t i = 0; i < map->nr_children; i++) {
		const struct cp_yaml_node *node = map->children[i];
		struct cp_plan_option option;

		if (!key_good(node->key)) {
			cp_yaml_problem_key(load->doc, node,
					    "'%s' is no fio option; expected a name in "
					    "lower case",
					    node->key);
			continue;
		}
		const char *why = reserved_why(node->key);
		if (why) {
			cp_yaml_problem_key(load->doc, node,
					    "'%s' cannot be passed to fio: %s; expected "
					    "another option",
					    node->key, why);
			continue;
		}
		if (!cp_yaml_text(load->doc, node, node->key, option.value,
				  sizeof(option.value)))
			continue;
		if (!value_good(option.value)) {
			cp_yaml_problem(load->doc, node,
					"'%s' holds control characters; expected one "
					"line of text",
					node->key);
			continue;
		}
		if (plan->nr_options == CP_PLAN_FIO_MAX) {
			cp_yaml_problem(load->doc, map,
					"'fio' has too many options; expected at most %d",
					CP_PLAN_FIO_MAX);
			return;
		}
		snprintf(option.key, sizeof(option.key), "%s", node->key);
		plan->options[plan->nr_options++] = option;
	}
}
