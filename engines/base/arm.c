/* SPDX-License-Identifier: GPL-2.0-only */
/* What follows from what in an arm, and arms and contexts compared. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/cell.h"

#define THRESH_READ_DEFAULT  (UINT64_C(64) << 10)
#define THRESH_WRITE_DEFAULT (UINT64_C(32) << 10)
#define UNROLL_DEFAULT	     4

static bool is(const char *value, const char *word)
{
	return !strcmp(value, word);
}

static void no_dma(struct cp_arm *arm)
{
	snprintf(arm->dma, sizeof(arm->dma), "none");
	arm->dma_thresh_read = 0;
	arm->dma_thresh_write = 0;
	arm->dma_min_segments = 0;
	arm->split_pct = 0;
	snprintf(arm->dma_node, sizeof(arm->dma_node), "memory");
	arm->max_merge = 0;
}

static void no_queues(struct cp_arm *arm)
{
	snprintf(arm->completion, sizeof(arm->completion), "sync");
	no_dma(arm);
	arm->q_per_node = 0;
	arm->queue_depth = 0;
}

static int need_dma(struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'dma' is none but path is dma; expected dma auto, sw or "
			  "another engine, or path cpu");
}

/* Of an arm that has DMA, or may have. */
static void queues(struct cp_arm *arm)
{
	if (!*arm->completion)
		snprintf(arm->completion, sizeof(arm->completion), "poll");
	if (!arm->q_per_node)
		arm->q_per_node = CP_Q_PER_NODE_DEFAULT;
	if (!arm->queue_depth)
		arm->queue_depth = CP_QUEUE_DEPTH_DEFAULT;
	/* where there is a decision, requests are merged before it; a fixed path is
	 * measured with what the caller hands in */
	if (!arm->max_merge_set && is(arm->path, "auto"))
		arm->max_merge = CP_MAX_MERGE_DEFAULT;
	if (is(arm->path, "cpu") || is(arm->dma, "none")) {
		no_dma(arm);
	} else if (is(arm->path, "dma")) {
		/* ignored there, and so no difference between two arms */
		arm->dma_thresh_read = 0;
		arm->dma_thresh_write = 0;
		arm->dma_min_segments = 0;
		arm->unroll = UNROLL_DEFAULT;
		snprintf(arm->prefetch, sizeof(arm->prefetch), "none");
	} else if (!*arm->policy) {
		if (!arm->dma_thresh_read && !arm->dma_thresh_read_set)
			arm->dma_thresh_read = THRESH_READ_DEFAULT;
		if (!arm->dma_thresh_write && !arm->dma_thresh_write_set)
			arm->dma_thresh_write = THRESH_WRITE_DEFAULT;
	}
}

static int resolve_bio(struct cp_arm *arm, struct cp_err *err)
{
	if (is(arm->path, "dma"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'path' is dma but queue_mode is bio, which never uses "
				  "DMA; expected queue_mode mq or path cpu");
	if (!is(arm->dma, "none"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'dma' is %s but queue_mode is bio, which never uses "
				  "DMA; expected queue_mode mq or dma none",
				  arm->dma);
	if (*arm->completion && !is(arm->completion, "sync"))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'completion' is %s but queue_mode is bio, which completes "
			"inside submit; expected completion sync or queue_mode mq",
			arm->completion);
	no_queues(arm);
	return 0;
}

static int resolve_mq(struct cp_arm *arm, struct cp_err *err)
{
	if (is(arm->completion, "sync"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'completion' is sync but queue_mode is mq, which is "
				  "asynchronous; expected completion poll, irq or "
				  "hybrid, or "
				  "queue_mode bio");
	if (is(arm->path, "dma") && is(arm->dma, "none"))
		return need_dma(err);
	queues(arm);
	return 0;
}

/* 4k at a time, and no request that could be merged or shared between CPU and channel. */
static int resolve_page(struct cp_arm *arm, struct cp_err *err)
{
	if (arm->max_merge)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'max_merge' is %" PRIu64
			" but queue_mode is page, which merges nothing; expected "
			"0, or queue_mode mq",
			arm->max_merge);
	if (arm->split_pct)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'split_pct' is %u but queue_mode is page, whose pages "
				  "are not shared; expected 0, or queue_mode mq",
				  arm->split_pct);
	if (is(arm->path, "dma") && is(arm->dma, "none"))
		return need_dma(err);
	if (is(arm->path, "cpu") || is(arm->dma, "none")) {
		if (*arm->completion && !is(arm->completion, "sync"))
			return cp_err_set(
				err, CP_EXIT_USAGE, EINVAL,
				"'completion' is %s but queue_mode is page without DMA, "
				"which completes inside submit; expected completion "
				"sync, or path dma or auto with dma",
				arm->completion);
		no_queues(arm);
		return 0;
	}
	if (is(arm->completion, "sync"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'completion' is sync but pages go to DMA; expected "
				  "completion poll, irq or hybrid, or path cpu");
	queues(arm);
	arm->max_merge = 0;
	return 0;
}

bool cp_arm_signals(const struct cp_arm *arm)
{
	return is(arm->completion, "irq") || is(arm->completion, "hybrid");
}

int cp_arm_resolve(struct cp_arm *arm, struct cp_err *err)
{
	struct cp_arm resolved = *arm;

	if (*arm->policy && !is(arm->path, "auto"))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'policy' is given but path is %s, which asks no policy; "
			"expected path auto",
			arm->path);
	if (arm->unroll > 8 || !arm->unroll || (arm->unroll & (arm->unroll - 1)))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'unroll' is %u; expected 1, 2, 4 or 8", arm->unroll);
	if (is(arm->fence, "none") && !is(arm->persist, "none") &&
	    !is(arm->flush, "clflush"))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"'fence' is none but persist is %s, which needs one before "
			"completion is reported; expected fence auto, sfence or "
			"mfence, or persist none",
			arm->persist);
	int ret = is(arm->queue_mode, "bio")	? resolve_bio(&resolved, err)
		  : is(arm->queue_mode, "page") ? resolve_page(&resolved, err)
						: resolve_mq(&resolved, err);

	if (ret)
		return ret;
	/* thresholds are as they will be used now: resolving again must not change them
	 */
	resolved.dma_thresh_read_set = true;
	resolved.dma_thresh_write_set = true;
	resolved.max_merge_set = true;
	*arm = resolved;
	return 0;
}

/* Text is compared up to its NUL: what lies behind it may differ. */
static bool fields_same(const struct cp_field *fields, const char *a, const char *b)
{
	for (; fields->name; fields++) {
		const char *x = a + fields->offset, *y = b + fields->offset;
		bool number =
			fields->type == CP_FIELD_SIZE || fields->type == CP_FIELD_UINT;

		if (number ? memcmp(x, y, fields->size) : strcmp(x, y))
			return false;
	}
	return true;
}

bool cp_arm_same(const struct cp_arm *a, const struct cp_arm *b)
{
	return fields_same(cp_arm_fields, (const char *)a, (const char *)b);
}

bool cp_context_same(const struct cp_context *a, const struct cp_context *b)
{
	return fields_same(cp_context_fields, (const char *)a, (const char *)b);
}

struct text {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text,
							   const char *fmt, ...)
{
	va_list ap;

	if (text->used >= text->size)
		return;
	va_start(ap, fmt);
	int len = vsnprintf(text->buf + text->used, text->size - text->used, fmt, ap);
	va_end(ap);
	text->used = len < 0 ? text->size : text->used + (size_t)len;
}

static void fields_add(struct text *text, const struct cp_field *fields, const void *obj)
{
	char value[256];

	for (; fields->name; fields++)
		text_add(text, " %s=%s", fields->name,
			 cp_field_format(fields, obj, true, value, sizeof(value)));
}

void cp_cell_key(const struct cp_context *context, const struct cp_arm *arm, char *buf,
		 size_t size)
{
	struct text text = {.buf = buf, .size = size};

	/* the fields that the first word names are the first of their tables */
	text_add(&text, "%s", context->rw);
	fields_add(&text, cp_context_fields + 1, context);
	text_add(&text, " | %s/%s", arm->queue_mode, arm->path);
	fields_add(&text, cp_arm_fields + 2, arm);
}

enum cp_dir cp_context_dir(const struct cp_context *context)
{
	return is(context->rw, "write") || is(context->rw, "randwrite") ? CP_DIR_WRITE
									: CP_DIR_READ;
}

bool cp_context_writes(const struct cp_context *context)
{
	return cp_context_dir(context) == CP_DIR_WRITE || is(context->driver, "swap");
}
