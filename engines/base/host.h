/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment fingerprint. Hard facts decide whether figures of two runs may be
 * compared and whether a policy fits; soft facts explain differences. copypath's own
 * build is in the manifest, not here.
 */
#ifndef CP_ENGINES_BASE_HOST_H
#define CP_ENGINES_BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "engines/base/err.h"

#define CP_FINGERPRINT_MAX 80 /* "sha256:" + 64 hex digits + NUL */

struct cp_host {
	/* hard */
	char cpu_model[128];
	unsigned cpu_family, cpu_model_nr, cpu_stepping;
	unsigned nr_cpus, nr_nodes;
	uint64_t mem_gib;	/* MemTotal, rounded to whole GiB */
	char kernel[128];	/* uname release */
	char mitigations[1024]; /* "name=state;..." sorted, first word of each state */
	uint64_t page_bytes;
	/* soft; "" or -1 where unknown */
	char host[128];
	char governor[32];
	char thp[32];
	char microcode[32];
	int turbo; /* 1, 0, -1 */
	int smt;
	double load_1m;
	double steal_pct; /* since boot, from /proc/stat */
};

int cp_host_read(struct cp_host *ret_host, struct cp_err *err);
/* The same with /proc and /sys looked for under root, so that other machines can be
 * tested. A file that is missing leaves its fact "unknown", "", 0 or -1; counts are at
 * least 1. */
int cp_host_read_root(const char *root, struct cp_host *ret_host, struct cp_err *err);

/*
 * sha256 over the hard facts plus what the run adds: fio's version ("fio-3.33"), the
 * media kind
 * ("anon") and the machine's DMA engines as cp_dma_hardware_names() lists them: what
 * software can imitate anywhere is no fact of a machine. ret is "sha256:<hex>".
 */
void cp_host_fingerprint(const struct cp_host *host, const char *fio_version,
			 const char *media, const char *dma,
			 char ret[CP_FINGERPRINT_MAX]);

#endif
