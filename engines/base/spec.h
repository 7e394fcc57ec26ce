/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "NAME[:key=value,...]": how an engine, media or layer that takes settings is written,
 * the same in YAML, in fio options and in records: null:delay=20us,
 * sw:threads=1,ring=256. Engines that stand on something else name it first, alone:
 * idxd:/dev/dsa/wq0.0, fault:sw,error=1%.
 */
#ifndef CP_ENGINES_BASE_SPEC_H
#define CP_ENGINES_BASE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/base/err.h"

#define CP_SPEC_MAX	 128
#define CP_SPEC_KEYS_MAX 16

struct cp_spec {
	char name[32];
	char base[64]; /* what it stands on; "" = not named, or no engine that does */
	unsigned nr_keys;
	struct {
		char key[24];
		char value[64];
		bool used; /* set by the getters, checked by cp_spec_finish() */
	} keys[CP_SPEC_KEYS_MAX];
};

int cp_spec_parse(const char *text, struct cp_spec *ret_spec, struct cp_err *err);
/* Getters: *value keeps its default when the key is absent; a value that does not parse
 * or is out of [min, max] is an error that names it ("sw: ring '3' is not a power of two"
 * is the caller's own check). */
int cp_spec_size(struct cp_spec *spec, const char *key, uint64_t min, uint64_t max,
		 uint64_t *value, struct cp_err *err);
int cp_spec_uint(struct cp_spec *spec, const char *key, uint64_t min, uint64_t max,
		 uint64_t *value, struct cp_err *err);
int cp_spec_time(struct cp_spec *spec, const char *key, uint64_t max_ns,
		 uint64_t *value_ns, struct cp_err *err);
/* "1%", "0.05%": a part of a whole, 0% to max_ppm, in millionths (1% = 10000). The sign
 * is asked for, so that 0.01 is not taken for 1%. */
int cp_spec_pct(struct cp_spec *spec, const char *key, uint32_t max_ppm,
		uint32_t *value_ppm, struct cp_err *err);
/* NULL when absent; valid as long as spec. */
const char *cp_spec_text(struct cp_spec *spec, const char *key);
/* Error when a key was never asked for, with the one that was meant where one is near;
 * `expected` lists the keys for the message ("ring,
 * threads", or "none"). */
int cp_spec_finish(const struct cp_spec *spec, const char *expected, struct cp_err *err);

#endif
