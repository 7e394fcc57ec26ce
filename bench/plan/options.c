// SPDX-License-Identifier: GPL-2.0-only
/* The `fio` map: what may be passed through. A list of what is allowed, because fio has
 * hundreds of options and many of them change bytes, files, processes or what a figure
 * means; the list is that of copypath-run(1). */
#include "bench/plan/load.h"

#include <string.h>

#include "engines/base/fiovalue.h"
#include "engines/base/units.h"

/* Options that only shape the load: which offsets, how fast, with what bytes, and how
 * many writes a flush. */
static const char *const allowed[] = {
	"random_distribution",
	"random_generator",
	"percentage_random",
	"zonemode",
	"zonerange",
	"zonesize",
	"zoneskip",
	"rate",
	"rate_min",
	"rate_iops",
	"rate_iops_min",
	"rate_process",
	"rate_cycle",
	"rate_ignore_thinktime",
	"thinktime",
	"thinktime_spin",
	"thinktime_blocks",
	"thinktime_blocks_type",
	"thinktime_iotime",
	"buffer_pattern",
	"buffer_compress_percentage",
	"buffer_compress_chunk",
	"dedupe_percentage",
	"dedupe_mode",
	"dedupe_working_set_percentage",
	"zero_buffers",
	"fsync",
	"fdatasync",
	"iomem_align",
	"mem_align",
	NULL,
};

/* Why those that people reach for are not on it. */
static const struct {
	const char *words; /* blank-separated */
	const char *why;
} reserved[] = {
	{" ioengine engine thread filename filename_format directory name description "
	 "nrfiles opendir create_on_open create_only file_append media attr "
	 "attr_native layer segment sidecar ",
	 "the harness sets it from 'target'"},
	{" rw readwrite bs blocksize bsrange bssplit blocksize_range iodepth numjobs "
	 "misalign_near misalign_far size filesize io_size io_limit offset "
	 "offset_increment offset_align rwmixread "
	 "rwmixwrite bs_unaligned number_ios ba blockalign ",
	 "it belongs in 'workload'"},
	{" runtime timeout time_based ramp_time startdelay loops randseed allrandrepeat "
	 "randrepeat verify do_verify ",
	 "it belongs in 'run'"},
	{" iodepth_batch iodepth_batch_submit queue_mode path copy unroll prefetch "
	 "completion dma "
	 "dma_thresh dma_thresh_read dma_thresh_write dma_min_segments ring_full "
	 "split_pct dma_node q_per_node queue_depth policy policy_force max_merge batch "
	 "flush fence "
	 "persist ",
	 "it belongs in an arm"},
	{" unlink unlink_each_loop overwrite fallocate pre_read fsync_on_close end_fsync "
	 "iomem mem read_iolog write_iolog write_bw_log write_lat_log write_hist_log "
	 "write_iops_log replay_redirect ",
	 "it would change or read other files"},
	{" continue_on_error ignore_error ", "it would hide errors"},
	{" exec_prerun exec_postrun ", "a sample runs nothing but fio"},
	{" cpus_allowed cpus_allowed_policy cpumask numa_cpu_nodes numa_mem_policy "
	 "direct buffered group_reporting unified_rw_reporting new_group stonewall "
	 "wait_for percentile_list lat_percentiles clat_percentiles slat_percentiles "
	 "disable_lat disable_clat disable_slat disable_bw_measurement gtod_reduce "
	 "clocksource norandommap refill_buffers scramble_buffers io_submit_mode "
	 "iodepth_low iodepth_batch_complete_min iodepth_batch_complete_max "
	 "iodepth_batch_complete kb_base include ",
	 "a sample could not be compared with others"},
};

static const char *reserved_why(const char *key)
{
	char word[70];

	snprintf(word, sizeof(word), " %.64s ", key);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strstr(reserved[i].words, word))
			return reserved[i].why;
	return NULL;
}

bool cp_load_option_allowed(const char *key)
{
	for (size_t i = 0; allowed[i]; i++)
		if (!strcmp(allowed[i], key))
			return true;
	return false;
}

static bool key_allowed(struct cp_load *load, const struct cp_yaml_node *node)
{
	if (cp_load_option_allowed(node->key))
		return true;
	const char *why = strchr(node->key, ' ') ? NULL : reserved_why(node->key);
	const char *near = why ? NULL : cp_nearest_word(node->key, allowed);

	cp_yaml_problem_key(
		load->doc, node, "'%s' cannot be passed to fio: %s; expected %s%s%s",
		node->key, why ? why : "it does not only shape the load", near ? "'" : "",
		near ? near
		     : "an option that "
		       "copypath-run(1) lists",
		near ? "'" : "");
	return false;
}

/* fio adds it to where the buffers begin: what is no whole line would be a misalignment
 * that no record knows of, what is no whole page one beside misalign_near. */
static bool align_good(struct cp_load *load, const struct cp_yaml_node *node,
		       const char *value)
{
	uint64_t unit = 64, bytes = 0;

	for (size_t i = 0; i < load->axes.nr; i++) {
		const struct cp_axis *axis = &load->axes.axis[i];

		for (size_t k = 0; !strcmp(axis->name, "misalign_near") && k < axis->nr;
		     k++)
			unit = strcmp(axis->nodes[k]->text, "0") ? 4096 : unit;
	}
	if (!cp_size_parse(value, &bytes) && !(bytes % unit))
		return true;
	cp_yaml_problem(load->doc, node,
			"'%s' is '%s', which misaligns the buffers; expected a multiple "
			"of %u, or 'misalign_near' in 'workload'",
			node->key, value, (unsigned)unit);
	return false;
}

/* The zoned mode resets zones, which is no access pattern. */
static bool value_good(struct cp_load *load, const struct cp_yaml_node *node,
		       const char *value)
{
	static const char *const zonemodes[] = {"none", "strided", NULL};
	struct cp_err err = {0};
	char what[80];

	snprintf(what, sizeof(what), "'%.64s'", node->key);
	if (cp_fio_value_check(CP_FIO_VALUE_TEXT, what, value, &err)) {
		cp_load_problem(load, node, &err);
		return false;
	}
	if (strstr(node->key, "mem_align"))
		return align_good(load, node, value);
	return strcmp(node->key, "zonemode") != 0 ||
	       cp_yaml_word(load->doc, node, node->key, zonemodes) >= 0;
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
		struct cp_plan_option option = {.at = {node->line, node->column}};

		if (!key_allowed(load, node) ||
		    !cp_yaml_text(load->doc, node, node->key, option.value,
				  sizeof(option.value)) ||
		    !value_good(load, node, option.value))
			continue;
		if (plan->nr_options == CP_PLAN_FIO_MAX) {
			cp_yaml_problem(load->doc, map,
					"'fio' has too many options; expected at most %d",
					CP_PLAN_FIO_MAX);
			return;
		}
		snprintf(option.key, sizeof(option.key), "%s", node->key);
		plan->options[plan->nr_options++] = option;
	}
	const struct cp_yaml_node *rate = cp_yaml_get(map, "rate_iops");
	if (rate && cp_yaml_get(map, "rate"))
		cp_yaml_problem_key(load->doc, rate,
				    "'rate_iops' and 'rate' are both given; expected "
				    "one, as fio takes no two limits");
}
