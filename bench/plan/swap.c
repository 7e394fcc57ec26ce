// SPDX-License-Identifier: GPL-2.0-only
/* What driver swap can be asked for, and what only it can be. */
#include "bench/plan/load.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/swap/swap.h"

bool cp_load_is_swap(const struct cp_load *load)
{
	return !strcmp(load->plan->driver, "swap");
}

static const struct cp_axis *axis_of(const struct cp_load *load, const char *name)
{
	for (size_t i = 0; i < load->axes.nr; i++)
		if (!strcmp(load->axes.axis[i].name, name))
			return &load->axes.axis[i];
	return NULL;
}

/* Each value of the axis that is not the one there can be. */
static void only_value(struct cp_load *load, const char *name, uint64_t value,
		       const char *why)
{
	const struct cp_axis *axis = axis_of(load, name);

	for (size_t i = 0; axis && i < axis->nr; i++) {
		const struct cp_yaml_node *node = axis->nodes[i];
		uint64_t is = 0;

		if (!cp_size_parse(node->text, &is) && is == value)
			continue;
		cp_yaml_problem(load->doc, node, "'%s' is '%s', but %s", name, node->text,
				why);
	}
}

static void check_resident(struct cp_load *load, const struct cp_yaml_node *workload)
{
	const struct cp_axis *axis = axis_of(load, "resident");
	uint64_t low = CP_SWAP_RESIDENT_MIN * CP_SWAP_PAGE, size = load->plan->size;
	char low_text[24], size_text[24];

	cp_size_format(low, low_text, sizeof(low_text));
	cp_size_format(size, size_text, sizeof(size_text));
	if (!cp_yaml_get(workload, "resident"))
		cp_yaml_problem(load->doc, workload,
				"'resident' is missing; expected the bytes of the region "
				"that may be in memory, below its size");
	for (size_t i = 0; axis && size && i < axis->nr; i++) {
		const struct cp_yaml_node *node = axis->nodes[i];
		uint64_t bytes = 0;

		if (!cp_size_parse(node->text, &bytes) && bytes >= low && bytes < size &&
		    bytes % CP_SWAP_PAGE == 0)
			continue;
		cp_yaml_problem(load->doc, node,
				"'resident' is '%s'; expected a multiple of 4k of at "
				"least %s, below the size of the target, %s",
				node->text, low_text, size_text);
	}
}

static void check_numjobs(struct cp_load *load)
{
	const struct cp_axis *axis = axis_of(load, "numjobs");

	for (size_t i = 0; axis && i < axis->nr; i++) {
		uint64_t jobs = 0;

		if (!cp_uint_parse(axis->nodes[i]->text, UINT32_MAX, &jobs) &&
		    jobs <= CP_SWAP_THREADS_MAX)
			continue;
		cp_yaml_problem(load->doc, axis->nodes[i],
				"'numjobs' is '%s', but with driver swap these are "
				"threads that share the pages; expected at most %d",
				axis->nodes[i]->text, CP_SWAP_THREADS_MAX);
	}
}

static void check_swap(struct cp_load *load, const struct cp_yaml_node *workload)
{
	const struct cp_yaml_node *root = cp_yaml_root(load->doc);
	const struct cp_yaml_node *fio = cp_yaml_get(root, "fio");
	const struct cp_yaml_node *verify =
		cp_yaml_get(cp_yaml_get(root, "run"), "verify");
	const struct cp_yaml_node *size =
		cp_yaml_get(cp_yaml_get(root, "target"), "size");

	only_value(load, "bs", CP_SWAP_PAGE,
		   "with driver swap an I/O is a page; expected 4k");
	only_value(load, "iodepth", 1,
		   "a thread has one page fault at a time; expected 1, and numjobs for "
		   "more");
	only_value(load, "misalign_near", 0,
		   "pages begin at a page border; expected 0, or driver fio");
	check_numjobs(load);
	check_resident(load, workload);
	if (load->plan->size % CP_SWAP_PAGE && size)
		cp_yaml_problem(load->doc, size,
				"'size' is '%s', which is no whole number of pages; "
				"expected a multiple of 4k",
				size->text);
	if (verify && strcmp(load->plan->verify, "off") != 0)
		cp_yaml_problem(load->doc, verify,
				"'verify' is '%s', but driver swap checks every page as "
				"it is; expected off",
				load->plan->verify);
	if (fio)
		cp_yaml_problem_key(load->doc, fio,
				    "'fio' has no use with driver swap, which starts no "
				    "fio; expected no such key");
}

void cp_load_swap(struct cp_load *load)
{
	static const char *const own[] = {"resident", "handler", NULL};
	const struct cp_yaml_node *workload =
		cp_yaml_get(cp_yaml_root(load->doc), "workload");

	if (!workload || workload->type != CP_YAML_MAP)
		return;
	if (cp_load_is_swap(load)) {
		check_swap(load, workload);
		return;
	}
	for (size_t i = 0; own[i]; i++) {
		const struct cp_yaml_node *node = cp_yaml_get(workload, own[i]);

		if (node)
			cp_yaml_problem_key(load->doc, node,
					    "'%s' has no use with driver %s; expected "
					    "driver swap, or no such key",
					    own[i], load->plan->driver);
	}
}

int cp_load_swap_arm(const struct cp_arm *arm, struct cp_err *err)
{
	if (arm->batch <= CP_SWAP_BATCH_MAX)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, ERANGE,
			  "'batch' of arm '%s' is %" PRIu32
			  ", but with driver swap these are pages that are evicted at a "
			  "time; expected at most %d",
			  arm->name, arm->batch, CP_SWAP_BATCH_MAX);
}
