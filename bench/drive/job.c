// SPDX-License-Identifier: GPL-2.0-only
/* The job file of one sample. */
#include "bench/drive/fio.h"

#include <inttypes.h>
#include <string.h>

#include "engines/base/fiovalue.h"

const char *cp_fio_plugin(const struct cp_arm *arm)
{
	return strcmp(arm->queue_mode, "mq") != 0 ? "copypath-sync.so"
						  : "copypath-async.so";
}

static void print_load(FILE *out, const struct cp_plan *plan,
		       const struct cp_plan_cell *cell, uint64_t seed)
{
	const struct cp_context *context = &cell->context;
	bool verify = strcmp(plan->verify, "off") != 0;

	fprintf(out, "rw=%s\nbs=%" PRIu64 "\nsize=%" PRIu64 "\n", context->rw,
		context->bs, cell->job_bytes);
	fprintf(out, "numjobs=%u\niodepth=%u\n", context->numjobs, context->iodepth);
	if (context->numjobs > 1)
		fprintf(out, "offset_increment=%" PRIu64 "\n", cell->job_bytes);
	if (cell->arm.batch > 1)
		fprintf(out, "iodepth_batch=%u\nbatch=%u\n", cell->arm.batch,
			cell->arm.batch);
	if (verify) {
		fprintf(out, "verify=%s\ndo_verify=1\nverify_fatal=1\n", plan->verify);
	} else {
		fprintf(out, "time_based=1\nruntime=%" PRIu64 "us\n",
			plan->runtime_ns / 1000);
		if (plan->ramp_ns)
			fprintf(out, "ramp_time=%" PRIu64 "us\n", plan->ramp_ns / 1000);
		fputs("norandommap=1\n", out); /* all of the region, no bitmap's cost */
	}
	fprintf(out,
		"random_generator=tausworthe64\nrandrepeat=0\nallrandrepeat=0\n"
		"randseed=%" PRIu64 "\n",
		seed);
}

/* What page does not know it would refuse. */
static bool heeds_queues(const struct cp_arm *arm, const char *option)
{
	if (!strcmp(arm->queue_mode, "page"))
		return strcmp(arm->dma, "none") != 0 &&
		       strcmp(option, "max_merge") != 0 &&
		       strcmp(option, "split_pct") != 0;
	return !strcmp(arm->queue_mode, "mq");
}

static void print_engine(FILE *out, const struct cp_plan *plan,
			 const struct cp_plan_cell *cell, const char *sidecar)
{
	/* Options of the engine that only mq heeds, and page with DMA. */
	static const char *const queued[] = {
		"completion",	    "dma",	   "dma_thresh_read", "dma_thresh_write",
		"dma_min_segments", "ring_full",   "split_pct",	      "dma_node",
		"q_per_node",	    "queue_depth", "max_merge",
	};
	const struct cp_context *context = &cell->context;
	const char *filename = cp_plan_filename(plan, context->media);
	char escaped[2 * sizeof(plan->filename)];
	const struct cp_arm *arm = &cell->arm;
	char text[CP_SPEC_TEXT_MAX];

	fprintf(out, "media=%s\nattr=%s\nlayer=%s\n", context->media, context->attr,
		context->layer);
	if (plan->attr_native)
		fputs("attr_native=1\n", out);
	if (filename)
		fprintf(out, "filename=%s\n",
			cp_fio_filename_escape(filename, escaped, sizeof(escaped)));
	if (context->misalign_near)
		fprintf(out, "misalign_near=%u\n", context->misalign_near);
	if (context->misalign_far)
		fprintf(out, "misalign_far=%u\n", context->misalign_far);
	if (!context->rw_page)
		fputs("rw_page=0\n", out);
	fprintf(out, "segment=%" PRIu64 "\n", cell->segment_bytes);
	fprintf(out, "queue_mode=%s\npath=%s\ncopy=%s\n", arm->queue_mode, arm->path,
		arm->copy);
	fprintf(out, "unroll=%u\nprefetch=%s\n", arm->unroll, arm->prefetch);
	fprintf(out, "flush=%s\nfence=%s\npersist=%s\n", arm->flush, arm->fence,
		arm->persist);
	for (size_t i = 0; i < sizeof(queued) / sizeof(queued[0]); i++) {
		const struct cp_field *field = cp_field_find(cp_arm_fields, queued[i]);

		if (field && heeds_queues(arm, queued[i]))
			fprintf(out, "%s=%s\n", queued[i],
				cp_field_format(field, arm, true, text, sizeof(text)));
	}
	if (arm->policy[0])
		fprintf(out, "policy=%s\npolicy_force=%u\n", arm->policy,
			arm->policy_force);
	if (sidecar)
		fprintf(out, "sidecar=%s\n", sidecar);
}

/* One submitter a CPU, so that an offload engine's thread finds the others free. */
static void print_pinning(FILE *out, const struct cp_plan *plan,
			  const struct cp_plan_cell *cell)
{
	unsigned jobs = cell->context.numjobs;

	if (jobs >= plan->nr_cpus)
		return;
	fputs("cpus_allowed=", out);
	for (unsigned i = 0; i < jobs; i++)
		fprintf(out, "%s%u", i ? "," : "", plan->cpus[i]);
	fputs("\ncpus_allowed_policy=split\n", out);
}

void cp_fio_job_print(FILE *out, const struct cp_fio *fio, const struct cp_plan *plan,
		      const struct cp_plan_cell *cell, uint64_t seed, const char *sidecar)
{
	fprintf(out, "[copypath]\nioengine=external:%s/%s\n", fio->plugin_dir,
		cp_fio_plugin(&cell->arm));
	fputs("thread=1\ngroup_reporting=1\ndirect=0\nscramble_buffers=0\n"
	      "refill_buffers=0\nlat_percentiles=1\nclat_percentiles=0\n"
	      "percentile_list=50:99:99.9\n",
	      out);
	print_load(out, plan, cell, seed);
	print_engine(out, plan, cell, sidecar);
	print_pinning(out, plan, cell);
	for (size_t i = 0; i < plan->nr_options; i++)
		fprintf(out, "%s=%s\n", plan->options[i].key, plan->options[i].value);
}
