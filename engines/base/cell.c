/* SPDX-License-Identifier: GPL-2.0-only */
/* The field tables, and values from and to text. What follows from what: arm.c. */
#include "engines/base/cell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/base/units.h"
#include "engines/base/yaml.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define IN(type, member)                                          \
	.name = #member, .offset = offsetof(struct type, member), \
	.size = sizeof(((struct type *)0)->member)

const struct cp_field cp_context_fields[] = {
	{IN(cp_context, rw), .type = CP_FIELD_WORD, .def = "read",
	 .words = WORDS("read", "write", "randread", "randwrite"),
	 .help = "direction and order of the I/Os"},
	{IN(cp_context, bs), .type = CP_FIELD_SIZE, .min = 1, .max = 1U << 30,
	 .def = "4k", .help = "bytes of one I/O"},
	{IN(cp_context, numjobs), .type = CP_FIELD_UINT, .min = 1, .max = 1024,
	 .def = "1", .help = "submitters that share the device"},
	{IN(cp_context, iodepth), .type = CP_FIELD_UINT, .min = 1, .max = 65536,
	 .def = "1", .help = "I/Os in flight a job"},
	{IN(cp_context, segments), .type = CP_FIELD_UINT, .min = 1, .max = 1U << 24,
	 .def = "1", .help = "near segments of one I/O: bs / segment, rounded up"},
	{IN(cp_context, numa), .type = CP_FIELD_WORD, .def = "local",
	 .words = WORDS("local"), .help = "node of the media, seen from the submitter"},
	{IN(cp_context, layer), .type = CP_FIELD_SPEC, .def = "none",
	 .words = WORDS("none"), .help = "what lies between the I/O and the media"},
	{IN(cp_context, attr), .type = CP_FIELD_WORD, .def = "wb",
	 .words = WORDS("wb", "uc", "wc", "wt"),
	 .help = "cache attribute of the media's mapping"},
	{IN(cp_context, media), .type = CP_FIELD_SPEC, .def = "anon",
	 .words = WORDS("anon", "file", "dax", "devdax", "bar", "memattr"),
	 .help = "where the far bytes live"},
	{IN(cp_context, corunner), .type = CP_FIELD_SPEC, .def = "none",
	 .words = WORDS("none", "compute", "stream", "pointer-chase"),
	 .help = "load that runs beside the I/O, on its CPUs"},
	{IN(cp_context, misalign_near), .type = CP_FIELD_UINT, .min = 0, .max = 4095,
	 .def = "0", .help = "bytes by which buffers start behind a page border"},
	{IN(cp_context, misalign_far), .type = CP_FIELD_UINT, .min = 0, .max = 4095,
	 .def = "0", .help = "bytes by which the device starts behind a page border"},
	{IN(cp_context, driver), .type = CP_FIELD_WORD, .def = "fio",
	 .words = WORDS("fio", "swap", "exec"), .help = "who makes the I/Os"},
	{IN(cp_context, rw_page), .type = CP_FIELD_UINT, .min = 0, .max = 1, .def = "1",
	 .help = "does the target take I/O by pages (queue_mode page)? 0: it goes by "
		 "bio"},
	{IN(cp_context, resident), .type = CP_FIELD_SIZE, .min = 0, .max = 1ULL << 40,
	 .def = "0", .help = "swap: bytes of the region that may be in memory"},
	{IN(cp_context, handler), .type = CP_FIELD_WORD, .def = "beside",
	 .words = WORDS("beside", "apart"),
	 .help = "swap: CPU of who serves the faults, seen from who raises them"},
	{.name = NULL},
};

const struct cp_field cp_arm_fields[] = {
	{IN(cp_arm, queue_mode), .type = CP_FIELD_WORD, .def = "bio",
	 .words = WORDS("bio", "mq", "page"),
	 .help = "bio: in the submitter; mq: hardware queues; page: 4k pages, no "
		 "request"},
	{IN(cp_arm, path), .type = CP_FIELD_WORD, .def = "cpu",
	 .words = WORDS("cpu", "dma", "auto"),
	 .help = "who copies; auto: by policy or dma_thresh"},
	{IN(cp_arm, copy), .type = CP_FIELD_WORD, .def = "auto",
	 .words = WORDS("memcpy", "nt", "auto", "ntload", "nt-both", "portable", "movsb",
			"sse2", "avx2", "avx512", "libpmem", "libpmem-temporal",
			"movdir64b", "nti", "nt-sse2", "nt-avx2", "nt-avx512", "nt-stnp",
			"ntload-sse41", "ntload-avx2", "ntload-avx512", "ntload-ldnp"),
	 .help = "kernel of CPU copies"},
	{IN(cp_arm, unroll), .type = CP_FIELD_UINT, .min = 1, .max = 8, .def = "4",
	 .help = "lines a turn of the copy kernel's loop: 1, 2, 4 or 8"},
	{IN(cp_arm, prefetch), .type = CP_FIELD_SPEC, .def = "none",
	 .words = WORDS("none", "nta", "t0"),
	 .help = "hint ahead of the copy kernel's loads; nta:distance=512"},
	{IN(cp_arm, flush), .type = CP_FIELD_WORD, .def = "none",
	 .words = WORDS("none", "clwb", "clflushopt", "clflush"),
	 .help = "cache flush behind a write"},
	{IN(cp_arm, fence), .type = CP_FIELD_WORD, .def = "auto",
	 .words = WORDS("auto", "none", "sfence", "mfence"),
	 .help = "fence behind a write; auto: what flush and persist need"},
	{IN(cp_arm, persist), .type = CP_FIELD_WORD, .def = "none",
	 .words = WORDS("none", "auto", "require"),
	 .help = "are writes durable when reported? require: refuse other media"},
	{IN(cp_arm, completion), .type = CP_FIELD_WORD, .def = "",
	 .words = WORDS("sync", "poll", "irq", "hybrid"),
	 .help = "how completions are found (bio: sync; mq: poll)"},
	{IN(cp_arm, dma), .type = CP_FIELD_SPEC, .def = "none",
	 .words = WORDS("none", "auto", "idxd", "kernel", "sw", "null", "model", "fault"),
	 .help = "DMA engine"},
	{IN(cp_arm, dma_thresh_read), .type = CP_FIELD_SIZE, .min = 0,
	 .max = UINT64_C(1) << 40, .def = "",
	 .set_offset = offsetof(struct cp_arm, dma_thresh_read_set),
	 .help = "path auto: reads from this size on go to DMA; 0 = never (64k)"},
	{IN(cp_arm, dma_thresh_write), .type = CP_FIELD_SIZE, .min = 0,
	 .max = UINT64_C(1) << 40, .def = "",
	 .set_offset = offsetof(struct cp_arm, dma_thresh_write_set),
	 .help = "path auto: writes from this size on go to DMA; 0 = never (32k)"},
	{IN(cp_arm, dma_min_segments), .type = CP_FIELD_UINT, .min = 0, .max = 1U << 24,
	 .def = "0", .help = "path auto: fewer near segments stay on the CPU"},
	{IN(cp_arm, ring_full), .type = CP_FIELD_WORD, .def = "wait",
	 .words = WORDS("wait", "cpu"), .help = "what to do when the DMA ring is full"},
	{IN(cp_arm, split_pct), .type = CP_FIELD_UINT, .min = 0, .max = 99, .def = "0",
	 .help = "percent of a DMA request that the CPU copies meanwhile"},
	{IN(cp_arm, dma_node), .type = CP_FIELD_WORD, .def = "memory",
	 .words = WORDS("memory", "cpu", "device"),
	 .help = "whose NUMA node picks the DMA channel"},
	{IN(cp_arm, q_per_node), .type = CP_FIELD_UINT, .min = 0, .max = 1024, .def = "",
	 .asked_min = 1, .set_offset = offsetof(struct cp_arm, q_per_node_set),
	 .help = "mq: hardware queues a NUMA node, 1 to 1024 (8)"},
	{IN(cp_arm, queue_depth), .type = CP_FIELD_UINT, .min = 0, .max = 65536,
	 .asked_min = 1, .def = "",
	 .help = "mq: tags a hardware queue, 1 to 65536 (128)"},
	{IN(cp_arm, max_merge), .type = CP_FIELD_SIZE, .min = 0, .max = 1U << 30,
	 .def = "", .set_offset = offsetof(struct cp_arm, max_merge_set),
	 .help = "mq: largest merged request; 0 = no merging (path auto with dma: 2m)"},
	{IN(cp_arm, batch), .type = CP_FIELD_UINT, .min = 1, .max = 1024, .def = "1",
	 .help = "I/Os a doorbell"},
	{IN(cp_arm, policy), .type = CP_FIELD_TEXT, .def = "",
	 .help = "path auto: the policy file that decides"},
	{IN(cp_arm, policy_force), .type = CP_FIELD_UINT, .min = 0, .max = 1, .def = "0",
	 .help = "use a policy that was learned on another machine: true or false"},
	{.name = NULL},
};

/* Words with a meaning in other versions: they deserve better than "unknown". */
static const struct {
	const char *field;
	const char *const *words;
} unserved[] = {
	{"rw", WORDS("rw", "readwrite", "randrw", "trim", "randtrim")},
	{"numa", WORDS("remote", "auto", "any", "interleave")},
	{"layer", WORDS("linear", "stripe", "btt")},
	{"media", WORDS("block")},
	{"copy", WORDS("nta")},
	{"dma", WORDS("ioat")},
};

static bool word_in(const char *const *words, const char *text, size_t len)
{
	for (; *words; words++) {
		if (strlen(*words) == len && !strncmp(*words, text, len))
			return true;
	}
	return false;
}

static bool is_unserved(const struct cp_field *field, const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(unserved) / sizeof(unserved[0]); i++) {
		if (!strcmp(unserved[i].field, field->name))
			return word_in(unserved[i].words, text, len);
	}
	return false;
}

const struct cp_field *cp_field_find(const struct cp_field *fields, const char *name)
{
	for (; fields->name; fields++) {
		if (!strcmp(fields->name, name))
			return fields;
	}
	return NULL;
}

/* The name in text (all of it, or up to len) must be one of the served words. */
static int word_check(const struct cp_field *field, const char *text, size_t len,
		      struct cp_err *err)
{
	char list[256], name[CP_SPEC_TEXT_MAX];

	if (!field->words || word_in(field->words, text, len))
		return 0;
	cp_words_join(field->words, list, sizeof(list));
	if (is_unserved(field, text, len))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"%s '%.*s' is not available in this version; expected %s",
			field->name, (int)len, text, list);
	if (!len)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is empty; expected %s", field->name, list);
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	const char *near = cp_nearest_word(name, field->words);

	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown %s '%s'; expected %s%s%s%s", field->name, name, list,
			  near ? " (did you mean '" : "", near ? near : "",
			  near ? "'?)" : "");
}

static int spec_check(const struct cp_field *field, const char *text, struct cp_err *err)
{
	struct cp_spec spec;
	/* layers are joined with '+'; the outermost is named first */
	int ret = word_check(field, text, strcspn(text, ":+"), err);

	if (ret)
		return ret;
	ret = cp_spec_parse(text, &spec, err);
	if (ret) {
		cp_err_prefix(err, "%s", field->name);
		return ret;
	}
	if (spec.nr_keys && (!strcmp(spec.name, "none") || !strcmp(spec.name, "auto")))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s '%s' has settings; expected '%s' alone",
				  field->name, text, spec.name);
	return word_check(field, spec.name, strlen(spec.name), err);
}

static int text_store(const struct cp_field *field, char *at, const char *text,
		      struct cp_err *err)
{
	size_t len = strlen(text);

	if (len >= field->size)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is too long; expected at most %zu characters",
				  field->name, field->size - 1);
	memcpy(at, text, len + 1);
	return 0;
}

static int number_store(const struct cp_field *field, char *at, const char *text,
			struct cp_err *err)
{
	bool is_size = field->type == CP_FIELD_SIZE;
	bool is_switch = !is_size && field->max == 1;
	char low[24], high[24];
	uint64_t value;

	if (is_switch && (!strcmp(text, "true") || !strcmp(text, "false")))
		text = !strcmp(text, "true") ? "1" : "0";
	int ret = is_size ? cp_size_parse(text, &value)
			  : cp_uint_parse(text, UINT64_MAX, &value);

	if (!ret && !field->max && value)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s '%s' is not available in this version; expected 0",
				  field->name, text);
	if (!ret && (value < field->min || value > field->max))
		ret = -ERANGE;
	if (ret && is_switch)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s '%s' is unreadable; expected true or false",
				  field->name, text);
	if (is_size) {
		cp_size_format(field->min, low, sizeof(low));
		cp_size_format(field->max, high, sizeof(high));
	} else {
		snprintf(low, sizeof(low), "%" PRIu64, field->min);
		snprintf(high, sizeof(high), "%" PRIu64, field->max);
	}
	if (ret)
		return cp_err_set(err, CP_EXIT_USAGE, -ret,
				  "%s '%s' is %s; expected a %s of %s to %s", field->name,
				  text, ret == -ERANGE ? "out of range" : "unreadable",
				  is_size ? "size" : "whole number", low, high);
	if (is_size) {
		memcpy(at, &value, sizeof(value));
	} else {
		uint32_t narrow = (uint32_t)value;

		memcpy(at, &narrow, sizeof(narrow));
	}
	return 0;
}

static int value_store(const struct cp_field *field, char *at, const char *text,
		       struct cp_err *err)
{
	int ret = 0;

	if (!*text && !*field->def) {
		memset(at, 0, field->size);
		return 0;
	}
	switch (field->type) {
	case CP_FIELD_WORD:
		ret = word_check(field, text, strlen(text), err);
		return ret ? ret : text_store(field, at, text, err);
	case CP_FIELD_SPEC:
		ret = spec_check(field, text, err);
		return ret ? ret : text_store(field, at, text, err);
	case CP_FIELD_TEXT:
		return text_store(field, at, text, err);
	case CP_FIELD_SIZE:
	case CP_FIELD_UINT:
		return number_store(field, at, text, err);
	}
	return -EINVAL;
}

int cp_field_parse(const struct cp_field *field, void *obj, const char *text,
		   struct cp_err *err)
{
	char *base = obj;
	int ret = value_store(field, base + field->offset, text, err);

	if (!ret && field->set_offset) {
		bool given = *text != '\0';

		memcpy(base + field->set_offset, &given, sizeof(given));
	}
	return ret;
}

int cp_field_parse_asked(const struct cp_field *field, void *obj, const char *text,
			 struct cp_err *err)
{
	struct cp_field asked = *field;

	if (asked.asked_min)
		asked.min = asked.asked_min;
	return cp_field_parse(&asked, obj, text, err);
}

const char *cp_field_format(const struct cp_field *field, const void *obj, bool plain,
			    char *buf, size_t size)
{
	const char *at = (const char *)obj + field->offset;
	uint64_t bytes;
	uint32_t number;

	switch (field->type) {
	case CP_FIELD_WORD:
	case CP_FIELD_SPEC:
	case CP_FIELD_TEXT:
		snprintf(buf, size, "%s", at);
		break;
	case CP_FIELD_SIZE:
		memcpy(&bytes, at, sizeof(bytes));
		if (plain)
			snprintf(buf, size, "%" PRIu64, bytes);
		else
			cp_size_format(bytes, buf, size);
		break;
	case CP_FIELD_UINT:
		memcpy(&number, at, sizeof(number));
		snprintf(buf, size, "%" PRIu32, number);
		break;
	}
	return buf;
}

/* The defaults of a table are ours and parse. */
static void defaults_store(const struct cp_field *fields, char *obj)
{
	struct cp_err err;

	for (; fields->name; fields++)
		(void)value_store(fields, obj + fields->offset, fields->def, &err);
}

void cp_context_init(struct cp_context *context)
{
	memset(context, 0, sizeof(*context));
	defaults_store(cp_context_fields, (char *)context);
}

void cp_arm_init(struct cp_arm *arm)
{
	memset(arm, 0, sizeof(*arm));
	defaults_store(cp_arm_fields, (char *)arm);
}
