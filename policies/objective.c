// SPDX-License-Identifier: GPL-2.0-only
/* What is to be minimised, parsed, priced and put in words. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/base/yaml.h"
#include "policies/objective.h"

static const struct cp_objective presets[] = {
	{.name = "throughput", .elapsed = 1, .slo_p99_ns = NAN, .min_bw_frac = NAN},
	{.name = "balanced",
	 .elapsed = 1,
	 .cpu = 0.5,
	 .slo_p99_ns = NAN,
	 .min_bw_frac = NAN},
	{.name = "efficiency", .cpu = 1, .slo_p99_ns = NAN, .min_bw_frac = 0.5},
	{.name = "delivered", .corunner = 1, .slo_p99_ns = NAN, .min_bw_frac = 0.9},
};
#define NR_PRESETS (sizeof(presets) / sizeof(presets[0]))

static int parse_name(const char *text, struct cp_objective *ret, struct cp_err *err)
{
	const char *words[NR_PRESETS + 1] = {NULL};

	for (size_t i = 0; i < NR_PRESETS; i++) {
		words[i] = presets[i].name;
		if (!strcmp(text, presets[i].name)) {
			*ret = presets[i];
			return 0;
		}
	}
	const char *near = cp_nearest_word(text, words);

	if (near)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "unknown objective '%s'; expected '%s'", text, near);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown objective '%s'; expected throughput, balanced, "
			  "efficiency, delivered or terms such as elapsed=1,cpu=0.3",
			  text);
}

static int parse_term(const char *key, const char *value, struct cp_objective *obj,
		      struct cp_err *err)
{
	static const char *const keys[] = {"elapsed",	  "cpu",      "tail", "slo_p99",
					   "min_bw_frac", "corunner", NULL};
	double number = 0.0;
	uint64_t ns;

	if (!strcmp(key, "slo_p99")) {
		if (!strcmp(value, "null"))
			return 0;
		if (cp_time_parse(value, &ns) || !ns)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "objective term slo_p99 '%s' is no time; "
					  "expected one such as 200us",
					  value);
		obj->slo_p99_ns = (double)ns;
		return 0;
	}
	double *const terms[] = {&obj->elapsed, &obj->cpu,	   &obj->tail,
				 NULL,		&obj->min_bw_frac, &obj->corunner};

	for (size_t i = 0; keys[i]; i++) {
		if (strcmp(key, keys[i]) != 0)
			continue;
		double most = !strcmp(key, "min_bw_frac") ? 1.0 : 1e9;

		if (cp_double_parse(value, &number) || !(number >= 0.0 && number <= most))
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "objective term %s '%s' is out of range; "
					  "expected a number from 0 to %g",
					  key, value, most);
		*terms[i] = number;
		return 0;
	}
	const char *near = cp_nearest_word(key, keys);

	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown objective term '%s'; expected %s", key,
			  near ? near
			       : "elapsed, cpu, tail, corunner, slo_p99 or "
				 "min_bw_frac");
}

/* Terms that each can be read, together. */
static int check_terms(const char *text, const struct cp_objective *obj,
		       struct cp_err *err)
{
	double times = obj->elapsed + obj->cpu + obj->tail;

	if (times + obj->corunner <= 0.0)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"objective '%s' weighs nothing; expected elapsed, cpu, tail "
			"or corunner above 0",
			text);
	if (times > 0.0 && obj->corunner > 0.0)
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"objective '%s' adds corunner, which is a ratio, to times a "
			"byte; expected corunner alone, or elapsed, cpu and tail",
			text);
	if (obj->tail > 0.0 && isnan(obj->slo_p99_ns))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"objective '%s' has a tail term without a bound; expected "
			"slo_p99=TIME",
			text);
	return 0;
}

int cp_objective_parse(const char *text, struct cp_objective *ret, struct cp_err *err)
{
	struct cp_objective obj = {
		.name = "custom", .slo_p99_ns = NAN, .min_bw_frac = NAN};
	char copy[512], *rest = copy, *term;

	if (!strchr(text, '='))
		return parse_name(text, ret, err);
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "objective is too long; expected under 512 bytes");
	while ((term = strsep(&rest, ",")) != NULL) {
		char *value = strchr(term, '=');

		if (!value)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "objective term '%s' has no value; expected "
					  "KEY=NUMBER",
					  term);
		*value++ = '\0';
		int rc = parse_term(term, value, &obj, err);

		if (rc)
			return rc;
	}
	int rc = check_terms(text, &obj, err);

	if (!rc)
		*ret = obj;
	return rc;
}

bool cp_objective_needs_corunner(const struct cp_objective *objective)
{
	return objective->corunner > 0.0;
}

void cp_objective_words(const struct cp_objective *objective, char *buf, size_t size)
{
	char part[5][160] = {"", "", "", "", ""}, slo[32] = "";

	if (objective->elapsed > 0.0 && objective->cpu > 0.0)
		snprintf(part[0], sizeof(part[0]),
			 "one CPU-microsecond is worth %g microseconds of elapsed time",
			 objective->cpu / objective->elapsed);
	else if (objective->elapsed > 0.0)
		snprintf(part[0], sizeof(part[0]),
			 "only elapsed time counts, CPU time is free");
	else if (objective->cpu > 0.0)
		snprintf(part[0], sizeof(part[0]),
			 "only CPU time counts, elapsed time is free");
	else if (objective->corunner > 0.0)
		snprintf(part[0], sizeof(part[0]),
			 "only the work counts that a co-runner gets done beside the "
			 "I/O, as a share of what it does alone");
	if (!isnan(objective->slo_p99_ns))
		cp_time_format((uint64_t)objective->slo_p99_ns, slo, sizeof(slo));
	if (objective->tail > 0.0)
		snprintf(part[1], sizeof(part[1]),
			 "%sa microsecond of p99 above %s costs %g", *part[0] ? "; " : "",
			 slo, objective->tail);
	else if (*slo)
		snprintf(part[2], sizeof(part[2]), "; p99 must stay within %s", slo);
	if (!isnan(objective->min_bw_frac))
		snprintf(part[3], sizeof(part[3]),
			 "; at least %g %% of the best bandwidth is kept",
			 100.0 * objective->min_bw_frac);
	snprintf(buf, size, "%s%s%s%s", part[0], part[1], part[2], part[3]);
}

double cp_objective_cost(const struct cp_objective *objective, double ns_per_byte,
			 double cpu_ns_per_byte, double p99_ns, double slowdown,
			 double bytes)
{
	double cost = 0.0;

	/* A part without weight may be unknown. */
	if (objective->elapsed > 0.0)
		cost += objective->elapsed * ns_per_byte;
	if (objective->cpu > 0.0)
		cost += objective->cpu * cpu_ns_per_byte;
	if (objective->tail > 0.0 && !isnan(objective->slo_p99_ns))
		cost += objective->tail * fmax(0.0, p99_ns - objective->slo_p99_ns) /
			bytes;
	if (objective->corunner > 0.0)
		cost += objective->corunner * slowdown;
	return cost;
}
