/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of copypath-swap's command line: KEY=VALUE, with the keys of a workload. */
#ifndef CP_BENCH_APPS_SWAP_ARGS_H
#define CP_BENCH_APPS_SWAP_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

#define ARGS_CPUS_MAX 64

struct args {
	struct cp_context context;
	struct cp_arm arm; /* resolved */
	uint64_t size;	   /* bytes of the region and of the target */
	const char *filename, *sidecar, *fio;
	uint64_t runtime_ns, ramp_ns; /* runtime 0: until `faults` are counted */
	uint64_t faults;
	uint64_t seed;
	bool clean, attr_native, map_sigbus;
	unsigned nr_cpus; /* what to pin to; 0: this process's */
	unsigned cpus[ARGS_CPUS_MAX];
};

int args_parse(int argc, char **argv, struct args *ret_args, struct cp_err *err);

#endif
