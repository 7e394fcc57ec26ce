// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample beside a co-runner. It is warmed up and measured alone, then stays at work
 * while the driver takes the sample; what it did in exactly the record's window is read
 * from its log when all is over.
 */
#include "bench/drive/corunner.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench/drive/beside.h"
#include "engines/base/clock.h"

#define SLICE_NS 20000000ULL

struct state {
	struct cp_corunner corunner;
	uint64_t bytes; /* of each process */
	uint64_t alone_start_ns, alone_end_ns;
	unsigned nr;
	struct cp_corunner_proc procs[CP_PLAN_CPUS_MAX];
};

/* What all processes did between two instants. */
struct done {
	double ops, cpu_ns, steal_ticks, all_ticks;
};

static int default_bytes(uint64_t *ret_bytes, struct cp_err *err)
{
	static struct cp_topo topo; /* the machine is the same for all samples */
	int ret = topo.nr_cpus ? 0 : cp_topo_load(NULL, &topo, err);

	if (!ret)
		*ret_bytes = cp_corunner_bytes_default(&topo);
	return ret;
}

static int start_all(struct state *state, const struct cp_take *take, struct cp_err *err)
{
	const volatile int *interrupted = take->session->interrupted;
	unsigned cpus[CP_PLAN_CPUS_MAX];
	unsigned nr =
		cp_corunner_cpus(&state->corunner, take->session->plan, take->cell, cpus);
	int ret = 0;

	while (!ret && state->nr < nr) {
		ret = cp_corunner_start(&state->corunner, state->bytes, cpus[state->nr],
					&state->procs[state->nr], err);
		state->nr += !ret;
	}
	for (unsigned i = 0; !ret && i < nr; i++)
		ret = cp_corunner_wait(&state->procs[i], interrupted, err);
	return ret;
}

/* As long as the sample will be, just before it: what drifts is in both. */
static int run_alone(struct state *state, const struct cp_take *take, struct cp_err *err)
{
	const volatile int *interrupted = take->session->interrupted;
	uint64_t runtime_ns = take->session->plan->runtime_ns, gone_ns = 0;

	state->alone_start_ns = cp_now_ns();
	while (gone_ns < runtime_ns) {
		if (interrupted && *interrupted)
			return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
		uint64_t left_ns = runtime_ns - gone_ns;

		cp_sleep_ns(left_ns < SLICE_NS ? left_ns : SLICE_NS);
		gone_ns = cp_now_ns() - state->alone_start_ns;
	}
	state->alone_end_ns = cp_now_ns();
	return 0;
}

static void let_go(struct state *state, bool at_once)
{
	cp_corunner_stop(state->procs, state->nr, at_once);
	for (unsigned i = 0; i < state->nr; i++)
		cp_corunner_free(&state->procs[i]);
	free(state);
}

static int begin(struct cp_take *take, void **ret_state, struct cp_err *err)
{
	struct cp_corunner corunner;
	int ret = cp_corunner_parse(take->cell->context.corunner, &corunner, err);

	if (ret || corunner.kind == CP_CORUNNER_NONE)
		return ret;
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	state->corunner = corunner;
	state->bytes = corunner.bytes;
	if (corunner.kind >= CP_CORUNNER_STREAM && !state->bytes)
		ret = default_bytes(&state->bytes, err);
	if (!ret)
		ret = start_all(state, take, err);
	if (!ret)
		ret = run_alone(state, take, err);
	if (ret)
		let_go(state, true);
	else
		*ret_state = state;
	return ret;
}

/* Stolen time is NaN where the machine does not tell, or no tick lay within. */
static bool done_in(const struct state *state, uint64_t start_ns, uint64_t end_ns,
		    struct done *ret)
{
	struct done done = {0};
	double rise[2];

	for (unsigned i = 0; i < state->nr; i++) {
		const struct cp_corunner_shared *shared = state->procs[i].shared;

		if (!cp_worklog_rise(&shared->work, start_ns, end_ns, rise))
			return false;
		done.ops += rise[0];
		done.cpu_ns += rise[1];
		if (cp_worklog_rise(&shared->steal, start_ns, end_ns, rise)) {
			done.steal_ticks += rise[0];
			done.all_ticks += rise[1];
		} else {
			done.steal_ticks = NAN;
		}
	}
	*ret = done;
	return true;
}

static double per_cpu_s(const struct done *done)
{
	return done->cpu_ns > 0 ? done->ops * 1e9 / done->cpu_ns : NAN;
}

static void fill(const struct state *state, uint64_t start_ns, uint64_t end_ns,
		 struct cp_record *record)
{
	struct done alone, beside;
	double *m = record->metrics;

	if (end_ns <= start_ns ||
	    !done_in(state, state->alone_start_ns, state->alone_end_ns, &alone) ||
	    !done_in(state, start_ns, end_ns, &beside)) {
		snprintf(record->failed, sizeof(record->failed),
			 "corunner: was not at work in all of the sample's window");
		return;
	}
	m[CP_METRIC_CORUNNER] = beside.ops * 1e9 / (double)(end_ns - start_ns);
	m[CP_METRIC_CORUNNER_CPU] = per_cpu_s(&beside);
	m[CP_METRIC_CORUNNER_ALONE] =
		alone.ops * 1e9 / (double)(state->alone_end_ns - state->alone_start_ns);
	m[CP_METRIC_CORUNNER_ALONE_CPU] = per_cpu_s(&alone);
	if (beside.all_ticks > 0)
		m[CP_METRIC_STEAL_PCT] = 100 * beside.steal_ticks / beside.all_ticks;
}

/* All of the driver's take(), its start and its end among it, which is said. */
static void fill_all(const struct state *state, uint64_t end_ns, struct cp_record *record)
{
	size_t len = strlen(record->notes);

	fill(state, state->alone_end_ns, end_ns, record);
	snprintf(record->notes + len, sizeof(record->notes) - len,
		 "%sthe co-runner's figures are of the whole sample: the program told no "
		 "window",
		 len ? "; " : "");
}

static int end(const struct cp_take *take, void *opaque, struct cp_record *record,
	       struct cp_err *err)
{
	uint64_t end_ns = cp_now_ns();
	struct state *state = opaque;
	char why[160];

	(void)take;
	(void)err;
	cp_corunner_stop(state->procs, state->nr, !record);
	for (unsigned i = 0; record && !record->failed[0] && i < state->nr; i++)
		if (!cp_corunner_good(&state->procs[i], state->corunner.kind,
				      state->bytes, why, sizeof(why)))
			snprintf(record->failed, sizeof(record->failed),
				 "corunner: its process on CPU %u %s",
				 state->procs[i].cpu, why);
	if (record && !record->failed[0] && record->window_end_ns)
		fill(state, record->window_start_ns, record->window_end_ns, record);
	else if (record && !record->failed[0])
		fill_all(state, end_ns, record);
	let_go(state, true);
	return 0;
}

const struct cp_beside cp_beside_corunner = {
	.name = "corunner",
	.check = cp_plan_corunner_check,
	.begin = begin,
	.end = end,
};
