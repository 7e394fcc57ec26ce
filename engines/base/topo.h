/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hwloc says of the machine, reduced to what queues and warnings need. Can be loaded
 * from an hwloc synthetic description, so that NUMA logic is testable on one node:
 * "numa:2 core:4 pu:1".
 */
#ifndef CP_ENGINES_BASE_TOPO_H
#define CP_ENGINES_BASE_TOPO_H

#include <stdint.h>

#include "engines/base/err.h"

#define CP_TOPO_CPUS_MAX  1024
#define CP_TOPO_NODES_MAX 64

struct cp_topo {
	unsigned nr_nodes; /* at least 1 */
	unsigned nr_cpus;  /* online and allowed */
	struct {
		unsigned os_index;
		unsigned node; /* index below nr_nodes, not the OS number */
		unsigned core; /* physical core, to recognise SMT siblings */
	} cpus[CP_TOPO_CPUS_MAX];
	unsigned node_os_index[CP_TOPO_NODES_MAX];
	uint64_t node_bytes[CP_TOPO_NODES_MAX];
	uint64_t llc_bytes; /* the largest last-level cache; 0 = unknown */
	uint64_t mem_bytes;
};

/* synthetic NULL: this machine, restricted to the CPUs this process may use. */
int cp_topo_load(const char *synthetic, struct cp_topo *ret_topo, struct cp_err *err);
/* Index into cpus[] of the CPU with that OS number, or -1. */
int cp_topo_cpu(const struct cp_topo *topo, unsigned os_index);

#endif
