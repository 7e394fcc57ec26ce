// SPDX-License-Identifier: GPL-2.0-only
/* What fio says of a sample. Missing output is a failure, never a NaN. */
#include "bench/drive/fio.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static int give_up(char *failed, size_t size, const char *why)
{
	snprintf(failed, size, "fio: %s", why);
	return -EINVAL;
}

/* Notes of fio may come before the document, which begins at a line's start. */
static const char *document(const char *text)
{
	while (text && *text != '{') {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

static bool mean_of(const json_t *dir, const char *key, double *ret)
{
	const json_t *mean = json_object_get(json_object_get(dir, key), "mean");

	if (!json_is_number(mean))
		return false;
	*ret = json_number_value(mean);
	return true;
}

int cp_fio_output_parse(const char *text, enum cp_dir dir, struct cp_record *record,
			char *failed, size_t size)
{
	const char *start = document(text);
	double lat, slat, clat;
	json_error_t error;

	if (!start)
		return give_up(failed, size, "no JSON in its output");
	json_t *root = json_loads(start, JSON_DISABLE_EOF_CHECK, &error);
	if (!root)
		return give_up(failed, size, "its JSON is torn");
	int ret = 0;
	const json_t *job = json_array_get(json_object_get(root, "jobs"), 0);
	const json_t *code = json_object_get(job, "error");
	const json_t *stats = json_object_get(job, dir == CP_DIR_READ ? "read" : "write");
	const json_t *p50 = json_object_get(
		json_object_get(json_object_get(stats, "lat_ns"), "percentile"),
		"50.000000");
	if (!json_is_integer(code) || !json_is_object(stats)) {
		ret = give_up(failed, size, "its JSON holds no job");
	} else if (json_integer_value(code)) {
		int errnum = (int)json_integer_value(code);

		snprintf(failed, size, "fio: the job ended with error %d (%s)", errnum,
			 strerror(errnum));
		ret = -EINVAL;
	} else if (json_integer_value(json_object_get(stats, "total_ios")) < 1) {
		ret = give_up(failed, size, "no I/O was completed");
	} else if (!mean_of(stats, "lat_ns", &lat) || !mean_of(stats, "slat_ns", &slat) ||
		   !mean_of(stats, "clat_ns", &clat)) {
		ret = give_up(failed, size, "its JSON holds no latencies");
	} else {
		record->metrics[CP_METRIC_FIO_LAT_MEAN] = lat;
		/* A synchronous engine's I/Os have no submission of their own. */
		const json_t *nr =
			json_object_get(json_object_get(stats, "slat_ns"), "N");
		if (!json_is_integer(nr) || json_integer_value(nr))
			record->metrics[CP_METRIC_FIO_SLAT_MEAN] = slat;
		record->metrics[CP_METRIC_FIO_CLAT_MEAN] = clat;
		if (json_is_number(p50))
			record->metrics[CP_METRIC_FIO_LAT_P50] = json_number_value(p50);
	}
	json_decref(root);
	return ret;
}
