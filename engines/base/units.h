/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes, times and counts as fio writes them: 4k = 4096, 2m, 1g, 1t (powers of 1024, an
 * optional trailing b or ib); times 20us, 5ms, 1s, 2m, 1h (no suffix = seconds, as fio's
 * runtime). No sign, no blanks, no overflow: -EINVAL or -ERANGE, *ret unchanged.
 */
#ifndef CP_ENGINES_BASE_UNITS_H
#define CP_ENGINES_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

int cp_size_parse(const char *text, uint64_t *ret_bytes);
int cp_time_parse(const char *text, uint64_t *ret_ns);
int cp_uint_parse(const char *text, uint64_t max, uint64_t *ret_value);
int cp_double_parse(const char *text, double *ret_value); /* finite, whole text */
/* "1%", "0.05%" in millionths of the whole (1% = 10000); with the sign, no part below 1.
 */
int cp_percent_parse(const char *text, uint32_t *ret_ppm);

/* "64k" where exact, else the plain number of bytes. Returns buf. 24 bytes always
 * suffice. */
char *cp_size_format(uint64_t bytes, char *buf, size_t size);
/* "20us", "1.5s": the largest unit with at most three decimals. 24 bytes suffice. */
char *cp_time_format(uint64_t ns, char *buf, size_t size);

#endif
