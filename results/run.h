/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run directory: manifest.json (resolved config, its hash, environment) and
 * records.jsonl.
 *
 * manifest.json:
 * {"schema":1,"kind":"run","run":ID,"t":UTC,"host":H,"tool":{"copypath":V,"fio":"fio-3.33"},
 *  "config":{...resolved workload as JSON...},"config_hash":"sha256:...",
 *  "fingerprint":{"hash":"sha256:...","hard":{...},"soft":{...}},
 *  "planned":N,"complete":false,"argv":[...],"unmeasured":[...]}
 * `complete` becomes true when the last planned sample has been stored (rewritten aside,
 * renamed). A gate refuses a run that is not complete.
 */
#ifndef CP_RESULTS_RUN_H
#define CP_RESULTS_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engines/base/err.h"
#include "engines/base/host.h"

struct cp_manifest {
	char run[128], t[32], host[128];
	char copypath[64], fio[32];
	char config_hash[CP_FINGERPRINT_MAX];
	char fingerprint[CP_FINGERPRINT_MAX];
	json_t *hard, *soft; /* owned */
	json_t *config;	     /* owned: whatever the plan needs to resume */
	uint64_t planned;
	bool complete;
	json_t *argv; /* owned: the command that made it, a list of texts; NULL = [] */
	json_t *unmeasured; /* owned: samples that a spent budget left out; NULL = none */
};

/* path: a run directory or a .jsonl file in one. -ENOENT (err untouched) when a bare
 * .jsonl has no manifest beside it. */
int cp_manifest_read(const char *path, struct cp_manifest *ret, struct cp_err *err);
int cp_manifest_write(const char *dir, const struct cp_manifest *manifest,
		      struct cp_err *err);
void cp_manifest_free(struct cp_manifest *manifest);

/* hard and soft facts as JSON objects (new references). */
json_t *cp_host_hard_json(const struct cp_host *host, const char *fio_version,
			  const char *media, const char *dma);
json_t *cp_host_soft_json(const struct cp_host *host);
/* sha256 of the canonical (sorted, compact) dump. */
void cp_json_hash(const json_t *value, char ret[CP_FINGERPRINT_MAX]);

/* results/runs/<timestamp>-<name>, made new; `last` is re-pointed at it. */
/* root/last -> name, put in place whole: a reader sees the old run or the new one. */
int cp_run_point_last(const char *root, const char *name, struct cp_err *err);
int cp_run_dir_make(const char *root, const char *name, char *buf, size_t size,
		    struct cp_err *err);

#endif
