/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Decimal digits from text; *ret_end is the first character that is none. */
static int digits_parse(const char *text, uint64_t *ret_value, const char **ret_end)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	if (p == text)
		return -EINVAL;
	*ret_value = value;
	*ret_end = p;
	return 0;
}

static bool is_byte_suffix(const char *text)
{
	return !*text || !strcasecmp(text, "b") || !strcasecmp(text, "ib");
}

int cp_size_parse(const char *text, uint64_t *ret_bytes)
{
	static const char suffixes[] = "kmgt";
	const char *end;
	uint64_t value;
	unsigned shift = 0;
	int ret = digits_parse(text, &value, &end);

	if (ret)
		return ret;
	if (*end && strcasecmp(end, "b") != 0) {
		const char *at = strchr(suffixes, *end | 0x20);

		if (!at || !is_byte_suffix(end + 1))
			return -EINVAL;
		shift = 10 * (unsigned)(at - suffixes + 1);
	}
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}

static const struct {
	const char *suffix;
	uint64_t ns;
	bool decimals; /* written with up to three decimals; else whole only */
} time_units[] = {
	{"h", 3600000000000, false}, {"m", 60000000000, false}, {"s", 1000000000, true},
	{"ms", 1000000, true},	     {"us", 1000, true},	{"ns", 1, true},
};
#define NR_TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

/* The digits behind a point as a fraction of unit_ns; what is below 1 ns must be 0. */
static int fraction_parse(const char *p, const char *end, uint64_t unit_ns,
			  uint64_t *ret_ns)
{
	uint64_t ns = 0, rest = unit_ns;

	if (p == end)
		return -EINVAL;
	for (; p < end; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (rest % 10 && digit)
			return -EINVAL;
		rest /= 10;
		ns += digit * rest;
	}
	*ret_ns = ns;
	return 0;
}

int cp_time_parse(const char *text, uint64_t *ret_ns)
{
	const char *end, *point = NULL;
	uint64_t value, fraction = 0, ns;
	int ret = digits_parse(text, &value, &end);

	if (ret)
		return ret;
	if (*end == '.') {
		point = end + 1;
		end = point + strspn(point, "0123456789");
	}
	const char *suffix = *end ? end : "s";
	size_t i = 0;

	while (i < NR_TIME_UNITS && strcasecmp(suffix, time_units[i].suffix) != 0)
		i++;
	if (i == NR_TIME_UNITS)
		return -EINVAL;
	if (point) {
		ret = fraction_parse(point, end, time_units[i].ns, &fraction);
		if (ret)
			return ret;
	}
	if (__builtin_mul_overflow(value, time_units[i].ns, &ns) ||
	    __builtin_add_overflow(ns, fraction, &ns))
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

int cp_uint_parse(const char *text, uint64_t max, uint64_t *ret_value)
{
	const char *end;
	uint64_t value;
	int ret = digits_parse(text, &value, &end);

	if (ret)
		return ret;
	if (*end)
		return -EINVAL;
	if (value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int cp_percent_parse(const char *text, uint32_t *ret_ppm)
{
	const char *end;
	uint64_t whole, part = 0, place = 1000; /* millionths of the next decimal */
	int ret = digits_parse(text, &whole, &end);

	if (ret)
		return ret;
	if (*end == '.') {
		const char *point = end++;

		for (; *end >= '0' && *end <= '9'; end++, place /= 10) {
			if (!place && *end != '0')
				return -EINVAL;
			part += place * (uint64_t)(*end - '0');
		}
		if (end == point + 1)
			return -EINVAL;
	}
	if (strcmp(end, "%") != 0)
		return -EINVAL;
	if (whole > 100 || whole * 10000 + part > 1000000)
		return -ERANGE;
	*ret_ppm = (uint32_t)(whole * 10000 + part);
	return 0;
}

int cp_double_parse(const char *text, double *ret_value)
{
	char *end;

	/* strtod would also take blanks, hexadecimal, inf and nan */
	if (!*text || text[strspn(text, "0123456789+-.eE")])
		return -EINVAL;
	double value = strtod(text, &end);

	if (end == text || *end)
		return -EINVAL;
	if (!isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

char *cp_size_format(uint64_t bytes, char *buf, size_t size)
{
	static const char suffixes[] = "kmgt";
	size_t n = 0;

	while (bytes && n < 4 && bytes % 1024 == 0) {
		bytes /= 1024;
		n++;
	}
	if (n)
		snprintf(buf, size, "%" PRIu64 "%c", bytes, suffixes[n - 1]);
	else
		snprintf(buf, size, "%" PRIu64, bytes);
	return buf;
}

char *cp_time_format(uint64_t ns, char *buf, size_t size)
{
	size_t i = 0;

	if (!ns) {
		snprintf(buf, size, "0s");
		return buf;
	}
	for (; i < NR_TIME_UNITS - 1; i++) {
		uint64_t unit = time_units[i].ns;
		uint64_t step = time_units[i].decimals ? unit / 1000 : unit;

		if (ns >= unit && ns % step == 0)
			break;
	}
	uint64_t unit = time_units[i].ns;
	uint64_t thousandths = unit >= 1000 ? ns % unit / (unit / 1000) : 0;
	int len = snprintf(buf, size, "%" PRIu64, ns / unit);

	if (thousandths) {
		char decimals[8];

		snprintf(decimals, sizeof(decimals), "%03u",
			 (unsigned)thousandths % 1000);
		for (size_t k = 3; decimals[k - 1] == '0'; k--)
			decimals[k - 1] = '\0';
		if (len >= 0 && (size_t)len < size)
			snprintf(buf + len, size - (size_t)len, ".%s%s", decimals,
				 time_units[i].suffix);
	} else if (len >= 0 && (size_t)len < size) {
		snprintf(buf + len, size - (size_t)len, "%s", time_units[i].suffix);
	}
	return buf;
}
