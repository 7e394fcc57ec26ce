// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/swap/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/dma/channel.h"
#include "engines/swap/swap.h"

static int bad(struct cp_err *err, const char *key, const char *value, const char *want)
{
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL, "'%s' is '%s'; expected %s", key,
			  value, want);
}

static int parse_size(const char *key, const char *value, uint64_t *ret,
		      struct cp_err *err)
{
	return cp_size_parse(value, ret) ? bad(err, key, value, "a size") : 0;
}

static int parse_time(const char *key, const char *value, uint64_t *ret,
		      struct cp_err *err)
{
	return cp_time_parse(value, ret) ? bad(err, key, value, "a time") : 0;
}

static int parse_bool(const char *key, const char *value, bool *ret, struct cp_err *err)
{
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return bad(err, key, value, "0 or 1");
	*ret = *value == '1';
	return 0;
}

static int parse_cpus(const char *value, struct args *args, struct cp_err *err)
{
	for (const char *at = value; *at;) {
		char number[16];
		size_t len = strcspn(at, ",");
		uint64_t cpu;

		snprintf(number, sizeof(number), "%.*s", (int)len, at);
		if (len >= sizeof(number) || args->nr_cpus == ARGS_CPUS_MAX ||
		    cp_uint_parse(number, 65535, &cpu))
			return bad(err, "cpus", value,
				   "numbers of CPUs with ',' between");
		args->cpus[args->nr_cpus++] = (unsigned)cpu;
		at += len + (at[len] == ',');
	}
	return 0;
}

/* 1: not one of these. */
static int parse_own(const char *key, const char *value, struct args *args,
		     struct cp_err *err)
{
	uint64_t number;

	if (!strcmp(key, "size"))
		return parse_size(key, value, &args->size, err);
	if (!strcmp(key, "runtime"))
		return parse_time(key, value, &args->runtime_ns, err);
	if (!strcmp(key, "ramp_time"))
		return parse_time(key, value, &args->ramp_ns, err);
	if (!strcmp(key, "clean"))
		return parse_bool(key, value, &args->clean, err);
	if (!strcmp(key, "attr_native"))
		return parse_bool(key, value, &args->attr_native, err);
	if (!strcmp(key, "cpus"))
		return parse_cpus(value, args, err);
	if (!strcmp(key, "filename")) {
		args->filename = value;
	} else if (!strcmp(key, "sidecar")) {
		args->sidecar = value;
	} else if (!strcmp(key, "fio")) {
		args->fio = value;
	} else if (!strcmp(key, "faults") || !strcmp(key, "seed")) {
		if (cp_uint_parse(value, UINT64_MAX, &number))
			return bad(err, key, value, "a whole number");
		*(*key == 's' ? &args->seed : &args->faults) = number;
	} else if (!strcmp(key, "sigbus")) {
		if (strcmp(value, "auto") != 0 && strcmp(value, "map") != 0)
			return bad(err, key, value, "auto or map");
		args->map_sigbus = *value == 'm';
	} else {
		return 1;
	}
	return 0;
}

static int parse_word(char *word, struct args *args, struct cp_err *err)
{
	char *value = strchr(word, '=');

	if (!value)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown argument '%s'; expected KEY=VALUE, or --help",
				  word);
	*value++ = '\0';
	int ret = parse_own(word, value, args, err);

	if (ret <= 0)
		return ret;
	const struct cp_field *field = cp_field_find(cp_context_fields, word);

	if (field)
		return cp_field_parse(field, &args->context, value, err);
	field = cp_field_find(cp_arm_fields, word);
	if (field)
		return cp_field_parse(field, &args->arm, value, err);
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"unknown key '%s'; expected those of --help, or of a workload's "
		"target, workload or arm",
		word);
}

static int check(const struct args *args, struct cp_err *err)
{
	const struct cp_context *context = &args->context;
	char bytes[24], low[24];

	cp_size_format(context->resident, bytes, sizeof(bytes));
	cp_size_format(CP_SWAP_RESIDENT_MIN * CP_SWAP_PAGE, low, sizeof(low));
	if (context->bs != CP_SWAP_PAGE || context->iodepth != 1)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'bs' and 'iodepth' of a page fault are 4k and 1; "
				  "expected these");
	if (!args->size || args->size % CP_SWAP_PAGE)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'size' is %" PRIu64 "; expected a multiple of 4k",
				  args->size);
	if (context->resident < CP_SWAP_RESIDENT_MIN * CP_SWAP_PAGE ||
	    context->resident % CP_SWAP_PAGE || context->resident >= args->size)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'resident' is '%s'; expected a multiple of 4k from %s "
				  "up, below 'size'",
				  bytes, low);
	if (context->numjobs > CP_SWAP_THREADS_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'numjobs' is %u; expected at most %d threads",
				  context->numjobs, CP_SWAP_THREADS_MAX);
	if (args->arm.batch > CP_SWAP_BATCH_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'batch' is %u; expected at most %d pages at a time",
				  args->arm.batch, CP_SWAP_BATCH_MAX);
	if (!args->runtime_ns && !args->faults)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"neither 'runtime' nor 'faults' is given; expected when "
			"to end");
	return 0;
}

int args_parse(int argc, char **argv, struct args *ret_args, struct cp_err *err)
{
	struct args args = {.seed = 1, .clean = true, .fio = ""};
	int ret = 0;

	cp_context_init(&args.context);
	cp_arm_init(&args.arm);
	snprintf(args.context.driver, sizeof(args.context.driver), "swap");
	for (int i = 1; i < argc && !ret; i++)
		ret = parse_word(argv[i], &args, err);
	if (!ret)
		ret = cp_dma_fit_ring(&args.arm, err);
	if (!ret)
		ret = cp_arm_resolve(&args.arm, err);
	if (!ret)
		ret = check(&args, err);
	if (!ret)
		*ret_args = args;
	return ret;
}
