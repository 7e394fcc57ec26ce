// SPDX-License-Identifier: GPL-2.0-only
/* The model engine's settings. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/spec.h"
#include "engines/base/units.h"
#include "engines/dma/engine.h"
#include "engines/dma/model.h"

#define TIME_MAX_NS	 10000000000ULL /* 10 s */
#define RATE_MIN	 1024U		/* slower than any device: a slip of the pen */
#define RATE_MAX	 (1ULL << 40)
#define SETUP_DEFAULT_NS 20000U
#define KEYS		 "setup, desc, bw, total, irq, jitter, seed, overlap, channels, ring, data"

static int read_yes_no(struct cp_spec *spec, const char *key, bool *value,
		       struct cp_err *err)
{
	const char *text = cp_spec_text(spec, key);

	if (!text)
		return 0;
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "model: %s '%s' is neither; expected yes or no", key,
				  text);
	*value = !strcmp(text, "yes");
	return 0;
}

static int read_rate(struct cp_spec *spec, const char *key, uint64_t *value,
		     struct cp_err *err)
{
	int rc = cp_spec_size(spec, key, 0, RATE_MAX, value, err);

	if (!rc && *value && *value < RATE_MIN)
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"model: %s '%llu' is too slow; expected bytes a second "
				"from 1k on, as 2g, or 0 for no limit",
				key, (unsigned long long)*value);
	return rc;
}

/* A time, or percent of the setup. Above the setup a transaction would begin before its
 * doorbell. */
static int read_jitter(struct cp_spec *spec, struct cp_model_settings *set,
		       struct cp_err *err)
{
	const char *text = cp_spec_text(spec, "jitter");
	size_t len = text ? strlen(text) : 0;
	char number[32];
	double percent;
	int rc = 0;

	if (!text)
		return 0;
	if (text[len - 1] != '%') {
		rc = cp_spec_time(spec, "jitter", TIME_MAX_NS, &set->jitter_ns, err);
		if (rc)
			return rc;
	} else {
		snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
		if (len > sizeof(number) || cp_double_parse(number, &percent) ||
		    !(percent >= 0.0 && percent <= 100.0))
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "model: jitter '%s' is no share; expected 0%% "
					  "to 100%% of setup, or a time",
					  text);
		set->jitter_ns =
			(uint64_t)((double)set->setup_ns * percent / 100.0 + 0.5);
	}
	if (set->jitter_ns > set->setup_ns)
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"model: jitter '%s' is above setup; expected at most "
				"the setup",
				text);
	return rc;
}

static int read_numbers(struct cp_spec *spec, struct cp_model_settings *set,
			struct cp_err *err)
{
	int rc = cp_spec_uint(spec, "channels", 1, CP_MODEL_LANES_MAX, &set->lanes, err);

	if (!rc)
		rc = cp_spec_uint(spec, "seed", 0, UINT64_MAX, &set->seed, err);
	if (!rc)
		rc = cp_spec_uint(spec, "ring", 2, CP_DMA_RING_MAX, &set->ring, err);
	if (!rc && (set->ring & (set->ring - 1)))
		rc = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				"model: ring '%llu' is not a power of two; expected '%u'",
				(unsigned long long)set->ring,
				cp_dma_ring_round((unsigned)set->ring));
	return rc;
}

int cp_model_settings_read(const char *text, struct cp_model_settings *ret_settings,
			   struct cp_err *err)
{
	struct cp_model_settings set = {.setup_ns = SETUP_DEFAULT_NS, .lanes = 1};
	struct cp_spec spec;
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = cp_spec_time(&spec, "setup", TIME_MAX_NS, &set.setup_ns, err);
	if (!rc)
		rc = cp_spec_time(&spec, "desc", TIME_MAX_NS, &set.desc_ns, err);
	if (!rc)
		rc = cp_spec_time(&spec, "irq", TIME_MAX_NS, &set.irq_ns, err);
	if (!rc)
		rc = read_rate(&spec, "bw", &set.bw, err);
	if (!rc)
		rc = read_rate(&spec, "total", &set.total, err);
	if (!rc)
		rc = read_jitter(&spec, &set, err);
	if (!rc)
		rc = read_numbers(&spec, &set, err);
	if (!rc)
		rc = read_yes_no(&spec, "overlap", &set.overlap, err);
	if (!rc)
		rc = read_yes_no(&spec, "data", &set.data, err);
	if (!rc)
		rc = cp_spec_finish(&spec, KEYS, err);
	if (!rc)
		*ret_settings = set;
	return rc;
}
