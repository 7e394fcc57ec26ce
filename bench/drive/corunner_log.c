// SPDX-License-Identifier: GPL-2.0-only
/* How far a co-runner was when, and /proc/stat. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bench/drive/corunner.h"

void cp_worklog_init(struct cp_worklog *log, uint64_t interval_ns, uint64_t gap_ns)
{
	memset(log, 0, sizeof(*log)); /* its pages too: no fault while it is measured */
	log->interval_ns = interval_ns;
	log->gap_ns = gap_ns;
}

/* The first stays, and the last noted is kept aside. */
static void thin(struct cp_worklog *log)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < log->nr; i += 2)
		log->entry[nr++] = log->entry[i];
	log->nr = nr;
	log->interval_ns *= 2;
	log->gap_ns *= 2;
}

static void append(struct cp_worklog *log, const struct cp_worklog_entry *entry)
{
	if (log->nr && log->entry[log->nr - 1].t_ns >= entry->t_ns)
		return;
	if (log->nr == CP_WORKLOG_MAX)
		thin(log);
	log->entry[log->nr++] = *entry;
}

void cp_worklog_note(struct cp_worklog *log, const struct cp_worklog_entry *now)
{
	uint64_t wall_ns = now->t_ns - log->last.t_ns;
	uint64_t cpu_ns = now->value[1] - log->last.value[1];

	if (!log->nr) {
		append(log, now);
	} else if (wall_ns >= log->gap_ns + cpu_ns) {
		append(log, &log->last);
		append(log, now);
	} else if (now->t_ns - log->entry[log->nr - 1].t_ns >= log->interval_ns) {
		append(log, now);
	}
	log->last = *now;
}

void cp_worklog_end(struct cp_worklog *log)
{
	if (log->nr)
		append(log, &log->last);
}

static bool value_at(const struct cp_worklog *log, uint64_t t_ns, double ret_value[2])
{
	uint32_t low = 0, high = log->nr;

	if (!log->nr || t_ns < log->entry[0].t_ns || t_ns > log->entry[log->nr - 1].t_ns)
		return false;
	while (high - low > 1) { /* the last entry that is not after t_ns */
		uint32_t middle = low + (high - low) / 2;

		if (log->entry[middle].t_ns <= t_ns)
			low = middle;
		else
			high = middle;
	}
	const struct cp_worklog_entry *a = &log->entry[low];
	const struct cp_worklog_entry *b = low + 1 < log->nr ? a + 1 : a;
	double part = b->t_ns > a->t_ns
			      ? (double)(t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns)
			      : 0;

	for (unsigned i = 0; i < 2; i++)
		ret_value[i] =
			(double)a->value[i] + part * (double)(b->value[i] - a->value[i]);
	return true;
}

bool cp_worklog_rise(const struct cp_worklog *log, uint64_t start_ns, uint64_t end_ns,
		     double ret_rise[2])
{
	double start[2], end[2];

	if (!value_at(log, start_ns, start) || !value_at(log, end_ns, end))
		return false;
	for (unsigned i = 0; i < 2; i++)
		ret_rise[i] = end[i] - start[i];
	return true;
}

bool cp_steal_parse(const char *text, unsigned cpu, uint64_t *ret_steal,
		    uint64_t *ret_total)
{
	uint64_t steal = 0, total = 0;
	char name[24];

	snprintf(name, sizeof(name), "\ncpu%u ", cpu);
	const char *at = strstr(text, name);

	if (!at)
		return false;
	at += strlen(name);
	/* user nice system idle iowait irq softirq steal; guest time is inside user */
	for (unsigned i = 0; i < 8; i++) {
		char *end;
		uint64_t ticks = strtoull(at, &end, 10);

		if (end == at)
			return false;
		steal = ticks; /* the last of the eight */
		total += ticks;
		at = end;
	}
	*ret_steal = steal;
	*ret_total = total;
	return true;
}
