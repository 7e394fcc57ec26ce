/* SPDX-License-Identifier: GPL-2.0-only */
/* A sample's jobs, one sidecar line each, into one record. */
#include "results/sidecar.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "engines/base/file.h"
#include "results/record_priv.h"

struct merge {
	unsigned nr; /* jobs so far */
	struct cp_hist *lat;
	struct cp_sidecar_job first; /* what all must agree on */
	uint64_t dev_start_ns, dev_end_ns;
	uint64_t cpu_process_ns, cpu_engine_ns; /* of the job with the latest dev_end */
	uint64_t ios, bytes, cpu_submit_ns;
	uint64_t phase_ios, phase_ns[4];
	struct cp_proof proof;
	char *notes;
	size_t notes_size;
};

/* Each note once: jobs of one device tend to say the same. Notes that no longer fit are
 * left out whole. */
static void add_note(struct merge *merge, const char *note)
{
	size_t len = strnlen(merge->notes, merge->notes_size);
	size_t need = strlen(note);

	if (!need || !merge->notes_size)
		return;
	for (const char *at = merge->notes; (at = strstr(at, note)); at += need) {
		bool begins = at == merge->notes || at[-1] == ' ';

		if (begins && (at[need] == '\0' || at[need] == ';'))
			return;
	}
	if (len + need + 3 > merge->notes_size)
		return;
	snprintf(merge->notes + len, merge->notes_size - len, "%s%s", len ? "; " : "",
		 note);
}

static void add_notes(struct merge *merge, const char *notes)
{
	char text[sizeof(merge->first.notes)];
	char *save = NULL;

	snprintf(text, sizeof(text), "%s", notes);
	for (char *note = strtok_r(text, ";", &save); note;
	     note = strtok_r(NULL, ";", &save))
		add_note(merge, note + strspn(note, " "));
}

static int agree(const char *what, unsigned job, const char *a, const char *b,
		 struct cp_err *err)
{
	if (!strcmp(a, b))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "job %u has %s '%s'; expected '%s', as the first job", job,
			  what, b, a);
}

static int check_agreement(const struct cp_sidecar_job *first,
			   const struct cp_sidecar_job *job, struct cp_err *err)
{
	const struct {
		const char *what, *a, *b;
	} same[] = {
		{"build", first->build, job->build},
		{"fio", first->fio, job->fio},
		{"provenance.media", first->provenance.media, job->provenance.media},
		{"provenance.attr", first->provenance.attr, job->provenance.attr},
		{"provenance.dma", first->provenance.dma, job->provenance.dma},
		{"proof.verify", first->proof.verify, job->proof.verify},
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		int rc = agree(same[i].what, job->job, same[i].a, same[i].b, err);

		if (rc)
			return rc;
	}
	return 0;
}

/* What a job resolved auto to: empty until a job needed it. */
static void merge_word(struct merge *merge, const char *what, char *into, size_t size,
		       const char *from)
{
	char note[512];

	if (!from[0] || !strcmp(into, from))
		return;
	if (!into[0]) {
		snprintf(into, size, "%s", from);
		return;
	}
	snprintf(note, sizeof(note), "jobs differ in %s: '%s' and '%s'", what, into,
		 from);
	add_note(merge, note);
}

static void merge_proof(struct merge *merge, const struct cp_proof *from)
{
	struct cp_proof *into = &merge->proof;

	cp_proof_add(into, from);
	if (from->effective_iodepth > into->effective_iodepth)
		into->effective_iodepth = from->effective_iodepth;
	merge_word(merge, "copy", into->copy, sizeof(into->copy), from->copy);
	merge_word(merge, "dma", into->dma, sizeof(into->dma), from->dma);
	merge_word(merge, "flush", into->flush, sizeof(into->flush), from->flush);
	merge_word(merge, "fence", into->fence, sizeof(into->fence), from->fence);
	/* jobs that were asked for it count, and the least of them */
	if (into->persistent < 0 ||
	    (from->persistent >= 0 && from->persistent < into->persistent))
		into->persistent = from->persistent;
	if (from->node != into->node)
		into->node = -1;
	if (from->page_bytes != into->page_bytes)
		into->page_bytes = 0;
}

static int merge_job(struct merge *merge, const struct cp_sidecar_job *job,
		     struct cp_err *err)
{
	if (!merge->nr) {
		merge->first = *job;
		merge->dev_start_ns = job->dev_start_ns;
		merge->proof.node = job->proof.node;
		merge->proof.page_bytes = job->proof.page_bytes;
		merge->proof.persistent = -1;
		memcpy(merge->proof.verify, job->proof.verify,
		       sizeof(merge->proof.verify));
	}
	int rc = check_agreement(&merge->first, job, err);

	if (rc)
		return rc;
	if (job->dev_start_ns < merge->dev_start_ns)
		merge->dev_start_ns = job->dev_start_ns;
	if (!merge->nr || job->dev_end_ns > merge->dev_end_ns) {
		merge->dev_end_ns = job->dev_end_ns;
		merge->cpu_process_ns = job->dev_cpu_process_ns;
		merge->cpu_engine_ns = job->dev_cpu_engine_ns;
	}
	merge->ios += job->ios;
	merge->bytes += job->bytes;
	merge->cpu_submit_ns += job->cpu_submit_ns;
	merge->phase_ios += job->phases.ios;
	merge->phase_ns[0] += job->phases.prepare_ns;
	merge->phase_ns[1] += job->phases.submit_ns;
	merge->phase_ns[2] += job->phases.wait_ns;
	merge->phase_ns[3] += job->phases.complete_ns;
	cp_hist_merge(merge->lat, job->lat);
	merge_proof(merge, &job->proof);
	add_notes(merge, job->notes);
	merge->nr++;
	return 0;
}

/* seen: job numbers so far. */
static int check_job(const struct cp_sidecar_job *job, uint32_t *seen, unsigned nr,
		     unsigned nr_jobs, struct cp_err *err)
{
	if (nr >= nr_jobs)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "more jobs than asked for; expected %u", nr_jobs);
	for (unsigned i = 0; i < nr; i++) {
		if (seen[i] == job->job)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "job %" PRIu32 " reported twice; expected once",
					  job->job);
	}
	seen[nr] = job->job;
	return 0;
}

static int merge_lines(struct merge *merge, const char *text, size_t len,
		       unsigned nr_jobs, struct cp_hist *lat, uint32_t *seen,
		       struct cp_err *err)
{
	const char *end = text + len;
	unsigned nr = 0;

	for (const char *at = text; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct cp_sidecar_job job = {.lat = lat};
		int rc;

		if (!newline)
			rc = cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					"torn line; expected a newline at its end");
		else
			rc = cp_sidecar_decode(at, (size_t)(newline - at), &job, err);
		if (!rc)
			rc = check_job(&job, seen, nr, nr_jobs, err);
		if (!rc)
			rc = merge_job(merge, &job, err);
		if (rc) {
			cp_err_prefix(err, "line %u", nr + 1);
			return rc;
		}
		nr++;
		at = newline + 1;
	}
	if (nr < nr_jobs)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "%u of %u jobs reported; expected all", nr, nr_jobs);
	return 0;
}

static void warn_of_cache(struct merge *merge)
{
	const struct cp_sidecar_job *job = &merge->first;
	char note[128];

	if (!job->llc_bytes || !job->media_bytes || job->media_bytes >= job->llc_bytes)
		return;
	snprintf(note, sizeof(note), "working set is %.2f of the last-level cache",
		 (double)job->media_bytes / (double)job->llc_bytes);
	add_note(merge, note);
}

static int fill_record(const struct merge *merge, struct cp_record *record,
		       struct cp_err *err)
{
	double elapsed_ns = (double)(merge->dev_end_ns - merge->dev_start_ns);
	double *m = record->metrics;

	if (elapsed_ns <= 0)
		return cp_err_set(err, CP_EXIT_INVALID, ERANGE,
				  "the measured window is empty; expected some time");
	m[CP_METRIC_BYTES] = (double)merge->bytes;
	m[CP_METRIC_ELAPSED_NS] = elapsed_ns;
	m[CP_METRIC_BW] = (double)merge->bytes * 1e9 / elapsed_ns;
	m[CP_METRIC_IOPS] = (double)merge->ios * 1e9 / elapsed_ns;
	m[CP_METRIC_LAT_MEAN] = cp_hist_mean_ns(merge->lat);
	m[CP_METRIC_LAT_P50] = cp_hist_quantile_ns(merge->lat, 0.5);
	m[CP_METRIC_LAT_P99] = cp_hist_quantile_ns(merge->lat, 0.99);
	m[CP_METRIC_LAT_P999] = cp_hist_quantile_ns(merge->lat, 0.999);
	m[CP_METRIC_CPU_NS] = (double)merge->cpu_process_ns;
	m[CP_METRIC_CPU_SUBMIT_NS] = (double)merge->cpu_submit_ns;
	m[CP_METRIC_CPU_ENGINE_NS] = (double)merge->cpu_engine_ns;
	m[CP_METRIC_CPU_PCT] = 100.0 * (double)merge->cpu_process_ns / elapsed_ns;
	for (unsigned i = 0; i < 4 && merge->phase_ios; i++)
		m[CP_METRIC_DMA_PREPARE + i] =
			(double)merge->phase_ns[i] / (double)merge->phase_ios;
	record->window_start_ns = merge->dev_start_ns;
	record->window_end_ns = merge->dev_end_ns;
	record->has_proof = true;
	record->proof = merge->proof;
	record->proof.queue.timed = merge->phase_ios;
	record->provenance = merge->first.provenance;
	return 0;
}

int cp_sidecar_merge_text(const char *text, size_t len, unsigned nr_jobs,
			  struct cp_record *record, char *notes, size_t size,
			  struct cp_err *err)
{
	struct merge merge = {.notes = notes, .notes_size = size};
	struct cp_hist *hists = calloc(2, sizeof(*hists));
	uint32_t *seen = calloc(nr_jobs ? nr_jobs : 1, sizeof(*seen));
	int rc;

	if (size)
		notes[0] = '\0';
	if (!hists || !seen) {
		rc = cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
		goto out_free;
	}
	merge.lat = &hists[0];
	cp_hist_reset(merge.lat);
	rc = merge_lines(&merge, text, len, nr_jobs, &hists[1], seen, err);
	if (!rc) {
		warn_of_cache(&merge);
		rc = fill_record(&merge, record, err);
	}
out_free:
	free(seen);
	free(hists);
	return rc;
}

int cp_sidecar_merge(const char *path, unsigned nr_jobs, struct cp_record *record,
		     char *notes, size_t size, struct cp_err *err)
{
	char *text = NULL;
	size_t len = 0;
	int rc = cp_file_read(path, (size_t)(nr_jobs + 1) * CP_SIDECAR_LINE_MAX, &text,
			      &len, err);

	if (size)
		notes[0] = '\0';
	if (rc)
		err->exit = CP_EXIT_INVALID; /* our own file, nobody named it */
	else
		rc = cp_sidecar_merge_text(text, len, nr_jobs, record, notes, size, err);
	if (rc)
		cp_err_prefix(err, "sidecar '%s'", path);
	free(text);
	return rc;
}
