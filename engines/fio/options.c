/* SPDX-License-Identifier: GPL-2.0-only */
/* The ioengine's options: the words of the YAML, checked by the same table. */
#include <stddef.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/fio/job.h"

#define OPT(i, n, d, h)                                           \
	[i] = {                                                   \
		.name = n,                                        \
		.lname = n,                                       \
		.type = FIO_OPT_STR_STORE,                        \
		.off1 = offsetof(struct cp_fio_options, text[i]), \
		.def = d,                                         \
		.help = h,                                        \
		.category = FIO_OPT_C_ENGINE,                     \
		.group = FIO_OPT_G_INVALID,                       \
	}

struct fio_option cp_fio_option_table[] = {
	OPT(0, "media", "anon",
	    "where the far bytes live: anon[:page=2m], file, dax, devdax, bar, memattr"),
	OPT(1, "attr", "wb",
	    "cache attribute: wb, uc, wc, wt; real where the media has it"),
	OPT(2, "layer", "none", "block layer over the media: none"),
	OPT(3, "segment", "4096", "bytes of one segment of the caller's buffer"),
	OPT(4, "queue_mode", NULL,
	    "bio (default) or page (copypath-sync), mq (copypath-async)"),
	OPT(5, "path", NULL, "cpu, dma, or auto: by policy, else by dma_thresh"),
	OPT(6, "copy", NULL, "copy kernel: auto, memcpy, nt, or a name that probe lists"),
	OPT(7, "flush", NULL, "behind a write: none, clwb, clflushopt or clflush"),
	OPT(8, "completion", NULL, "mq, page with dma: poll (default), irq or hybrid"),
	OPT(9, "dma", NULL,
	    "none, auto, or ENGINE[:key=value,...]: copypath-run(1) has them all"),
	OPT(10, "dma_thresh", NULL, "dma_thresh_read and dma_thresh_write at once"),
	OPT(11, "dma_thresh_read", NULL,
	    "path=auto: reads by DMA from this size on; 0 = never (64k)"),
	OPT(12, "dma_thresh_write", NULL,
	    "path=auto: writes by DMA from this size on; 0 = never (32k)"),
	OPT(13, "dma_min_segments", NULL, "path=auto: and from this many segments"),
	OPT(14, "ring_full", NULL, "no descriptors left: wait (default), or copy by cpu"),
	OPT(15, "q_per_node", NULL, "mq, page with dma: hardware queues a NUMA node (8)"),
	OPT(16, "queue_depth", NULL,
	    "mq: tags a hardware queue (128); page with dma: descriptors of its ring"),
	OPT(17, "max_merge", NULL,
	    "mq: merge adjacent I/Os up to this size; 0 = never (path=auto with dma: "
	    "2m)"),
	OPT(18, "policy", NULL, "policy file that decides per I/O (path=auto)"),
	OPT(19, "policy_force", "0", "1: use a policy learned on another machine"),
	OPT(20, "sidecar", NULL, "append the job's own figures to this file"),
	OPT(21, "batch", NULL, "I/Os a doorbell; also set iodepth_batch"),
	OPT(22, "unroll", NULL, "lines a turn of the copy kernel: 1, 2, 4 or 8"),
	OPT(23, "prefetch", NULL, "ahead of its loads: none, nta or t0[:distance=BYTES]"),
	OPT(24, "attr_native", "0",
	    "1: refuse an attribute that is emulated or unverified"),
	OPT(25, "misalign_near", "0",
	    "bytes by which buffers start behind a page border"),
	OPT(26, "misalign_far", "0", "bytes by which the device starts behind a page"),
	OPT(27, "fence", NULL, "behind a write: auto, none, sfence or mfence"),
	OPT(28, "persist", NULL, "durable when reported: none, auto or require"),
	OPT(29, "split_pct", NULL,
	    "percent of a large I/O by DMA that the CPU copies meanwhile (0)"),
	OPT(30, "dma_node", NULL,
	    "whose NUMA node picks the channel: memory (default), cpu, device"),
	OPT(31, "rw_page", "1",
	    "queue_mode page: 0 = the device takes no I/O by pages, which goes as bio"),
	{.name = NULL},
};
_Static_assert(sizeof(cp_fio_option_table) / sizeof(struct fio_option) - 1 <=
		       sizeof(((struct cp_fio_options *)0)->text) / sizeof(char *),
	       "an option without a place for its text");

const char *cp_fio_option(const struct thread_data *td, const char *name)
{
	const struct cp_fio_options *o = td->eo;

	for (unsigned i = 0; cp_fio_option_table[i].name; i++) {
		if (!strcmp(cp_fio_option_table[i].name, name))
			return o->text[i] ? o->text[i] : "";
	}
	return "";
}

static int set_field(struct cp_arm *arm, const char *field, const char *text,
		     struct cp_err *err)
{
	int rc =
		cp_field_parse_asked(cp_field_find(cp_arm_fields, field), arm, text, err);

	if (rc)
		cp_err_prefix(err, "engine option");
	return rc;
}

/* Every option that is a field of the arm, by the arm's own table. */
static int parse_arm(const struct thread_data *td, struct cp_arm *arm, struct cp_err *err)
{
	const char *both = cp_fio_option(td, "dma_thresh");
	int rc = 0;

	if (*both) {
		rc = set_field(arm, "dma_thresh_read", both, err);
		if (!rc)
			rc = set_field(arm, "dma_thresh_write", both, err);
	}
	for (unsigned i = 0; !rc && cp_arm_fields[i].name; i++) {
		const char *text = cp_fio_option(td, cp_arm_fields[i].name);

		if (*text)
			rc = set_field(arm, cp_arm_fields[i].name, text, err);
	}
	return rc;
}

int cp_fio_pages_check(const struct thread_data *td, const struct cp_arm *arm)
{
	const struct thread_options *to = &td->o;

	if (strcmp(arm->queue_mode, "page") != 0)
		return 0;
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++) {
		unsigned long long least = to->min_bs[d] ? to->min_bs[d] : to->bs[d];
		unsigned long long most = to->max_bs[d] ? to->max_bs[d] : to->bs[d];

		if ((d == DDIR_READ ? !td_read(td) : !td_write(td)) ||
		    (!(least % CP_PAGE_BYTES) && !(most % CP_PAGE_BYTES) &&
		     !to->bs_unaligned))
			continue;
		log_err("copypath: error: block sizes from %llu to %llu%s in queue_mode "
			"page; expected multiples of %u, the bytes of a page\n",
			least, most, to->bs_unaligned ? ", unaligned," : "",
			CP_PAGE_BYTES);
		return 1;
	}
	return 0;
}

int cp_fio_context(const struct thread_data *td, struct cp_context *context,
		   struct cp_err *err)
{
	static const char *const names[] = {"media",	     "attr",	     "layer",
					    "misalign_near", "misalign_far", "rw_page"};

	cp_context_init(context);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int rc = cp_field_parse(cp_field_find(cp_context_fields, names[i]),
					context, cp_fio_option(td, names[i]), err);
		if (rc) {
			cp_err_prefix(err, "engine option");
			return rc;
		}
	}
	return 0;
}

int cp_fio_parse(const struct thread_data *td, bool mq, struct cp_dev_cfg *cfg,
		 struct cp_err *err)
{
	const char *mode = mq ? "mq" : "bio";
	struct cp_context context;
	uint64_t force, native;

	cp_arm_init(&cfg->arm);
	snprintf(cfg->arm.queue_mode, sizeof(cfg->arm.queue_mode), "%s", mode);
	int rc = cp_fio_context(td, &context, err);

	if (!rc)
		rc = parse_arm(td, &cfg->arm, err);
	if (rc)
		return rc;
	if (mq != !strcmp(cfg->arm.queue_mode, "mq"))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"queue_mode '%s' is not served by this plug-in; expected "
			"%s (copypath-sync.so is bio and page, copypath-async.so is mq)",
			cfg->arm.queue_mode, mq ? "'mq'" : "'bio' or 'page'");
	if (cp_size_parse(cp_fio_option(td, "segment"), &cfg->segment) != 0 ||
	    !cfg->segment)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "segment '%s' is not a size above 0",
				  cp_fio_option(td, "segment"));
	if (cp_uint_parse(cp_fio_option(td, "policy_force"), 1, &force) != 0)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "policy_force '%s'; expected 0 or 1",
				  cp_fio_option(td, "policy_force"));
	cfg->policy_force = force != 0;
	if (cp_uint_parse(cp_fio_option(td, "attr_native"), 1, &native) != 0)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "attr_native '%s'; expected 0 or 1",
				  cp_fio_option(td, "attr_native"));
	cfg->attr_native = native != 0;
	cfg->media = cp_fio_option(td, "media");
	cfg->layer = cp_fio_option(td, "layer");
	cfg->attr = cp_fio_option(td, "attr");
	cfg->numa = "local";
	cfg->misalign_near = context.misalign_near;
	cfg->misalign_far = context.misalign_far;
	cfg->rw_page_off = !context.rw_page;
	rc = cp_dma_fit_ring(&cfg->arm, err);
	return rc ? rc : cp_arm_resolve(&cfg->arm, err);
}
