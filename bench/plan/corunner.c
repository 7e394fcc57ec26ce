// SPDX-License-Identifier: GPL-2.0-only
/* Co-runners of a workload: their settings, and what they ask of the machine. */
#include "bench/plan/corunner.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "bench/plan/load.h"
#include "engines/base/spec.h"
#include "engines/base/units.h"
#include "engines/media/media.h"

#define BYTES_UNKNOWN (UINT64_C(64) << 20)

static const char *const kinds[] = {
	[CP_CORUNNER_NONE] = "none",
	[CP_CORUNNER_COMPUTE] = "compute",
	[CP_CORUNNER_STREAM] = "stream",
	[CP_CORUNNER_CHASE] = "pointer-chase",
};

static int parse_sched(struct cp_spec *spec, bool *ret_equal, struct cp_err *err)
{
	const char *text = cp_spec_text(spec, "sched");

	if (!text)
		return 0;
	*ret_equal = !strcmp(text, "other");
	if (*ret_equal || !strcmp(text, "idle"))
		return 0;
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"%s: unknown sched '%s'; expected idle (what the I/O leaves) or "
		"other (an equal share)",
		spec->name, text);
}

int cp_corunner_parse(const char *text, struct cp_corunner *ret, struct cp_err *err)
{
	struct cp_corunner corunner = {.cpu = -1};
	struct cp_spec spec;
	uint64_t cpu = UINT64_MAX;
	int rc = cp_spec_parse(text, &spec, err);

	if (rc)
		return rc;
	while (corunner.kind < CP_CORUNNER_CHASE &&
	       strcmp(kinds[corunner.kind], spec.name) != 0)
		corunner.kind++;
	if (strcmp(kinds[corunner.kind], spec.name) != 0)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown corunner '%s'; expected none, compute, stream "
				  "or pointer-chase",
				  spec.name);
	bool memory = corunner.kind >= CP_CORUNNER_STREAM;

	if (corunner.kind != CP_CORUNNER_NONE) {
		rc = parse_sched(&spec, &corunner.equal, err);
		if (!rc)
			rc = cp_spec_uint(&spec, "cpu", 0, CP_CORUNNER_CPU_MAX, &cpu,
					  err);
		if (!rc && memory)
			rc = cp_spec_size(&spec, "size", CP_CORUNNER_BYTES_MIN,
					  CP_CORUNNER_BYTES_MAX, &corunner.bytes, err);
	}
	if (!rc)
		rc = cp_spec_finish(&spec,
				    memory	    ? "sched, size, cpu"
				    : corunner.kind ? "sched, cpu"
						    : "none",
				    err);
	if (rc)
		return rc;
	if (cpu <= CP_CORUNNER_CPU_MAX)
		corunner.cpu = (int)cpu;
	*ret = corunner;
	return 0;
}

/* The values of run.corunner, which the field took for what they are called. */
void cp_load_corunner(struct cp_load *load)
{
	const struct cp_axis *axis = &load->axes.axis[load->axes.nr - 1];
	struct cp_corunner corunner;

	if (!load->axes.nr || strcmp(axis->name, "corunner") != 0)
		return;
	for (size_t i = 0; i < axis->nr; i++) {
		struct cp_err err = {0};

		if (!cp_corunner_parse(axis->nodes[i]->text, &corunner, &err))
			continue;
		cp_err_prefix(&err, "corunner");
		cp_load_problem(load, axis->nodes[i], &err);
	}
}

uint64_t cp_corunner_bytes_default(const struct cp_topo *topo)
{
	uint64_t bytes = topo->llc_bytes ? 4 * topo->llc_bytes : BYTES_UNKNOWN;

	if (topo->mem_bytes && bytes > topo->mem_bytes / 8)
		bytes = topo->mem_bytes / 8;
	return bytes > CP_CORUNNER_BYTES_MIN ? bytes : CP_CORUNNER_BYTES_MIN;
}

unsigned cp_corunner_cpus(const struct cp_corunner *corunner, const struct cp_plan *plan,
			  const struct cp_plan_cell *cell, unsigned *ret_cpus)
{
	unsigned jobs = cell->context.numjobs;

	if (corunner->cpu >= 0) {
		ret_cpus[0] = (unsigned)corunner->cpu;
		return 1;
	}
	if (jobs > plan->nr_cpus) /* not pinned, see print_pinning() of the driver fio */
		jobs = plan->nr_cpus;
	memcpy(ret_cpus, plan->cpus, jobs * sizeof(*ret_cpus));
	return jobs;
}

/* "0, 1, 4": the CPUs of the set, as many as fit. */
static char *cpus_join(const cpu_set_t *set, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && len + 16 < size; cpu++)
		if (CPU_ISSET(cpu, set))
			len += (size_t)snprintf(buf + len, size - len, "%s%u",
						len ? ", " : "", cpu);
	if (len + 16 >= size)
		snprintf(buf + len, size - len, ", ...");
	return buf;
}

static int check_cpu(unsigned cpu, const cpu_set_t *allowed, struct cp_err *err)
{
	char list[128];
	cpu_set_t one;

	if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, allowed))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "no CPU to run on: %u is not among those that this "
				  "process may use; expected 'cpu' one of %s",
				  cpu, cpus_join(allowed, list, sizeof(list)));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (!sched_setaffinity(0, sizeof(one), &one))
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, errno,
			  "no CPU to run on: the system refuses to pin a process to "
			  "%u (%s); expected 'corunner' none, or another 'cpu'",
			  cpu, strerror(errno));
}

static int check_cpus(const struct cp_corunner *corunner, const struct cp_plan *plan,
		      const struct cp_plan_cell *cell, struct cp_err *err)
{
	unsigned cpus[CP_PLAN_CPUS_MAX];
	unsigned nr = cp_corunner_cpus(corunner, plan, cell, cpus);
	cpu_set_t allowed;
	int ret = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return cp_err_set(err, CP_EXIT_USAGE, errno,
				  "no CPU to run on: the system does not tell which "
				  "there are (%s); expected 'corunner' none",
				  strerror(errno));
	for (unsigned i = 0; !ret && i < nr; i++)
		ret = check_cpu(cpus[i], &allowed, err);
	if (sched_setaffinity(0, sizeof(allowed), &allowed) && !ret)
		ret = cp_err_set(err, CP_EXIT_INVALID, errno,
				 "no way back: cannot go back to all of them: %s",
				 strerror(errno));
	return ret;
}

static int check_memory(const struct cp_corunner *corunner, const struct cp_plan *plan,
			const struct cp_plan_cell *cell, uint64_t default_bytes,
			struct cp_err *err)
{
	uint64_t each = corunner->bytes ? corunner->bytes : default_bytes, target = 0;
	uint64_t available = cp_media_memory_available();
	unsigned cpus[CP_PLAN_CPUS_MAX];
	unsigned nr = cp_corunner_cpus(corunner, plan, cell, cpus);
	char size[24], have[24];

	if (corunner->kind < CP_CORUNNER_STREAM || !available)
		return 0;
	int ret = cp_plan_cell_memory(plan, cell, &target, err);
	/* The chain of a pointer-chase is laid out with a sixteenth aside. */
	uint64_t need = target + nr * (each + each / 16);

	if (ret || need + need / 20 <= available)
		return ret;
	return cp_err_set(err, CP_EXIT_USAGE, ENOMEM,
			  "too much memory: %u of %s beside the target, %s are "
			  "available; expected a smaller 'size' in it (%s:size=...), or "
			  "one 'cpu'",
			  nr, cp_size_format(each, size, sizeof(size)),
			  cp_size_format(available >> 20 << 20, have, sizeof(have)),
			  kinds[corunner->kind]);
}

/* The first cell with this co-runner on as many CPUs or more? Others need no look. */
static bool seen(const struct cp_plan *plan, size_t index)
{
	const struct cp_context *one = &plan->cells[index].context;

	for (size_t i = 0; i < index; i++) {
		const struct cp_context *other = &plan->cells[i].context;

		if (other->numjobs >= one->numjobs &&
		    other->iodepth * (uint64_t)other->bs >=
			    one->iodepth * (uint64_t)one->bs &&
		    !strcmp(other->corunner, one->corunner) &&
		    !strcmp(other->media, one->media))
			return true;
	}
	return false;
}

int cp_plan_corunner_check(const struct cp_plan *plan, struct cp_err *err)
{
	static struct cp_topo topo;
	int ret = 0;

	for (size_t i = 0; !ret && i < plan->nr_cells; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		struct cp_corunner corunner;

		if (!strcmp(cell->context.corunner, "none") || seen(plan, i))
			continue;
		ret = cp_corunner_parse(cell->context.corunner, &corunner, err);
		if (!ret && corunner.kind >= CP_CORUNNER_STREAM && !topo.nr_cpus)
			ret = cp_topo_load(NULL, &topo, err);
		if (!ret)
			ret = check_cpus(&corunner, plan, cell, err);
		if (!ret)
			ret = check_memory(&corunner, plan, cell,
					   cp_corunner_bytes_default(&topo), err);
		if (!ret)
			continue;
		cp_err_prefix(err, "corunner '%s'", cell->context.corunner);
		if (cell->corunner_at[0])
			cp_err_prefix(err, "%s:%u:%u: error", plan->config,
				      cell->corunner_at[0], cell->corunner_at[1]);
	}
	return ret;
}
