// SPDX-License-Identifier: GPL-2.0-only
/* Gathering samples, and the order of the learner's steps. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/learn_priv.h"

/* A thousandth of its work is nothing to an application. */
#define SLOWDOWN_MAX 1000.0

int learn_no_memory(struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory to learn");
}

void learn_note(struct cp_learn *learn, const char *fmt, ...)
{
	va_list args;

	if (learn->nr_notes == LEARN_NOTES_MAX)
		return;
	char *note = learn->notes[learn->nr_notes];

	va_start(args, fmt);
	vsnprintf(note, sizeof(learn->notes[0]), fmt, args);
	va_end(args);
	for (unsigned i = 0; i < learn->nr_notes; i++)
		if (!strcmp(learn->notes[i], note))
			return;
	learn->nr_notes++;
}

void cp_learn_notes(const struct cp_learn *learn, void (*fn)(void *ctx, const char *text),
		    void *ctx)
{
	for (unsigned i = 0; i < learn->nr_notes; i++)
		fn(ctx, learn->notes[i]);
}

int cp_learn_new(const struct cp_objective *objective, struct cp_learn **ret,
		 struct cp_err *err)
{
	struct cp_learn *learn = calloc(1, sizeof(*learn));

	if (!learn)
		return learn_no_memory(err);
	learn->objective = *objective;
	*ret = learn;
	return 0;
}

void cp_learn_free(struct cp_learn *learn)
{
	if (!learn)
		return;
	learn_rows_free(learn);
	for (size_t i = 0; i < learn->nr_cells; i++)
		free(learn->cells[i].samples);
	free(learn->cells);
	free(learn->view);
	free(learn);
}

void cp_learn_counts(const struct cp_learn *learn, struct cp_learn_counts *ret)
{
	*ret = learn->counts;
}

static double ratio(double a, double b)
{
	return isfinite(a) && isfinite(b) && b > 0.0 ? a / b : NAN;
}

/* A co-runner that got nothing done was starved: that is known, and has no ratio. */
static double slowdown(double alone, double beside)
{
	if (!isfinite(alone) || !isfinite(beside) || !(alone > 0.0) || beside < 0.0)
		return NAN;
	return alone / fmax(beside, alone / SLOWDOWN_MAX);
}

/* An exec driver may report bandwidth or IOPS, and a share of CPU, instead of totals. */
static void sample_from(const struct cp_record *record, struct learn_sample *sample)
{
	const double *m = record->metrics;
	double ns = ratio(m[CP_METRIC_ELAPSED_NS], m[CP_METRIC_BYTES]);

	if (!(ns > 0.0))
		ns = ratio(1e9, m[CP_METRIC_BW]);
	if (!(ns > 0.0))
		ns = ratio(1e9, m[CP_METRIC_IOPS] * (double)record->context.bs);
	double cpu = ratio(m[CP_METRIC_CPU_NS], m[CP_METRIC_BYTES]);

	if (isnan(cpu))
		cpu = m[CP_METRIC_CPU_PCT] / 100.0 * ns;
	sample->ns[PART_ELAPSED] = ns > 0.0 ? ns : NAN;
	sample->ns[PART_CPU] = isfinite(cpu) && cpu >= 0.0 ? cpu : NAN;
	sample->ns[PART_P99] = m[CP_METRIC_LAT_P99];
	sample->ns[PART_SLOWDOWN] =
		slowdown(m[CP_METRIC_CORUNNER_ALONE], m[CP_METRIC_CORUNNER]);
	sample->p50_ns = m[CP_METRIC_LAT_P50];
	sample->bw = isfinite(m[CP_METRIC_BW]) ? m[CP_METRIC_BW] : 1e9 / ns;
	sample->cpu_pct =
		isfinite(m[CP_METRIC_CPU_PCT]) ? m[CP_METRIC_CPU_PCT] : 100.0 * cpu / ns;
}

static bool sample_usable(const struct cp_objective *obj,
			  const struct learn_sample *sample)
{
	bool needs[PART_NR] = {
		[PART_ELAPSED] = obj->elapsed > 0.0 || !isnan(obj->min_bw_frac),
		[PART_CPU] = obj->cpu > 0.0,
		[PART_P99] = !isnan(obj->slo_p99_ns),
		[PART_SLOWDOWN] = cp_objective_needs_corunner(obj),
	};

	for (unsigned p = 0; p < PART_NR; p++)
		if (needs[p] && !isfinite(sample->ns[p]))
			return false;
	return true;
}

/* The filter that would part the two samples: by the field that the provenance is of,
 * else by another that differs. "" when only another run would do. */
static void parting_filter(const char *what, const struct learn_witness *have,
			   const struct cp_record *record, char *buf, size_t size)
{
	const struct {
		const char *key, *have, *mine;
	} keys[] = {{"attr", have->context.attr, record->context.attr},
		    {"media", have->context.media, record->context.media},
		    {"dma", have->arm.dma, record->arm.dma},
		    {"arm", have->arm.name, record->arm.name}};
	size_t nr = sizeof(keys) / sizeof(keys[0]), found = nr;

	buf[0] = '\0';
	for (size_t i = nr; i-- > 0;)
		if (strcmp(keys[i].have, keys[i].mine) != 0 &&
		    (found == nr || !strcmp(keys[i].key, what) ||
		     strcmp(keys[found].key, what) != 0))
			found = i;
	if (found < nr)
		snprintf(buf, size, ", as with learn --filter %s=%s", keys[found].key,
			 keys[found].mine);
}

/* One provenance word of all samples; `none` agrees with everything. */
static int agree(char *have, struct learn_witness *witness, const char *word,
		 const char *what, const struct cp_record *record, struct cp_err *err)
{
	char filter[CP_NAME_MAX + 48];

	if (!*word || !strcmp(word, "none") || !strcmp(have, word))
		return 0;
	if (*have && strcmp(have, "none") != 0) {
		parting_filter(what, witness, record, filter, sizeof(filter));
		return cp_err_set(
			err, CP_EXIT_INVALID, EINVAL,
			"records mix provenance '%s' and '%s' of %s; expected one "
			"of them%s",
			have, word, what, filter);
	}
	snprintf(have, CP_WORD_MAX, "%s", word);
	*witness = (struct learn_witness){record->context, record->arm};
	return 0;
}

/* An I/O of fio, a page fault and an application's work are no I/Os of one kind. */
static int check_driver(struct cp_learn *learn, const struct cp_record *record,
			struct cp_err *err)
{
	const char *mine = record->context.driver;

	if (!learn->any)
		snprintf(learn->driver, sizeof(learn->driver), "%s", mine);
	if (!strcmp(learn->driver, mine))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "records mix driver '%s' and '%s', whose I/Os are not alike; "
			  "expected one of them, as with learn --filter driver=%s",
			  learn->driver, mine, mine);
}

static int check_source(struct cp_learn *learn, const struct cp_record *record,
			struct cp_err *err)
{
	if (learn->any && strcmp(learn->host, record->host) != 0)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "records mix hosts '%s' and '%s'; expected one host",
				  learn->host, record->host);
	if (!learn->any) {
		snprintf(learn->host, sizeof(learn->host), "%s", record->host);
		snprintf(learn->provenance.media, CP_WORD_MAX, "none");
		snprintf(learn->provenance.attr, CP_WORD_MAX, "none");
		snprintf(learn->provenance.dma, CP_WORD_MAX, "none");
	}
	int rc = check_driver(learn, record, err);

	if (rc)
		return rc;
	learn->any = true;
	const struct cp_provenance *mine = &record->provenance;
	struct cp_provenance *have = &learn->provenance;
	rc = agree(have->media, &learn->media_of, mine->media, "media", record, err);

	if (!rc)
		rc = agree(have->attr, &learn->attr_of, mine->attr, "attr", record, err);
	if (!rc)
		rc = agree(have->dma, &learn->dma_of, mine->dma, "dma", record, err);
	return rc;
}

static struct learn_cell *find_cell(struct cp_learn *learn,
				    const struct cp_record *record)
{
	for (size_t i = learn->nr_cells; i-- > 0;) {
		struct learn_cell *cell = &learn->cells[i];

		if (cell->context.bs == record->context.bs &&
		    !strcmp(cell->arm.name, record->arm.name) &&
		    cp_context_same(&cell->context, &record->context) &&
		    cp_arm_same(&cell->arm, &record->arm))
			return cell;
	}
	if (learn->nr_cells == learn->room) {
		size_t room = learn->room ? learn->room * 2 : 64;
		struct learn_cell *cells =
			reallocarray(learn->cells, room, sizeof(*learn->cells));

		if (!cells)
			return NULL;
		learn->cells = cells;
		learn->room = room;
	}
	struct learn_cell *cell = &learn->cells[learn->nr_cells++];

	memset(cell, 0, sizeof(*cell));
	cell->context = record->context;
	cell->arm = record->arm;
	cell->provenance = record->provenance;
	return cell;
}

static int keep(struct cp_learn *learn, const struct cp_record *record,
		const struct learn_sample *sample, struct cp_err *err)
{
	struct learn_cell *cell = find_cell(learn, record);

	if (!cell)
		return learn_no_memory(err);
	if (cell->n == cell->room) {
		unsigned room = cell->room ? cell->room * 2 : 4;
		struct learn_sample *samples =
			reallocarray(cell->samples, room, sizeof(*samples));

		if (!samples)
			return learn_no_memory(err);
		cell->samples = samples;
		cell->room = room;
	}
	if (!cell->n)
		memcpy(cell->copy, record->proof.copy, sizeof(cell->copy));
	else if (strcmp(cell->copy, record->proof.copy) != 0)
		cell->copy[0] = '\0';
	cell->samples[cell->n++] = *sample;
	learn->counts.used++;
	return 0;
}

bool cp_learn_is_verified(const struct cp_record *record)
{
	const char *verify = record->proof.verify;

	return record->has_proof && *verify && strcmp(verify, "off") != 0 &&
	       strcmp(verify, "pages") != 0;
}

/* Its pages went by bio, all or some, as rw_page was off: it is no page arm in truth. */
static bool page_was_off(const struct cp_record *record)
{
	return !strcmp(record->arm.queue_mode, "page") &&
	       (!record->context.rw_page ||
		(record->has_proof && record->proof.page.off));
}

int cp_learn_add(struct cp_learn *learn, const struct cp_record *record,
		 struct cp_err *err)
{
	char reason[256];
	struct learn_sample sample;

	/* Rows and views point into cells, which may move. */
	learn_rows_free(learn);
	if (cp_record_failed(record, reason, sizeof(reason)) ||
	    cp_record_spoiled(record)) {
		learn->counts.failed++;
		return 0;
	}
	if (cp_learn_is_verified(record)) {
		learn->counts.verified++;
		return 0;
	}
	if (cp_record_harness(record)) {
		learn->counts.modelled++;
		return 0;
	}
	if (page_was_off(record)) {
		learn->counts.page_off++;
		return 0;
	}
	int rc = check_source(learn, record, err);

	if (rc)
		return rc;
	sample_from(record, &sample);
	if (!record->context.bs || !sample_usable(&learn->objective, &sample)) {
		learn->counts.unusable++;
		return 0;
	}
	return keep(learn, record, &sample, err);
}
