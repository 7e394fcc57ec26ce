/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/queue/queue.h"

unsigned cp_queue_map(const struct cp_topo *topo, unsigned q_per_node,
		      uint16_t ret_map[CP_TOPO_CPUS_MAX])
{
	unsigned cpus_on[CP_TOPO_NODES_MAX] = {0}, seen[CP_TOPO_NODES_MAX] = {0};
	unsigned first[CP_TOPO_NODES_MAX];
	unsigned nr = 0;

	for (unsigned c = 0; c < topo->nr_cpus; c++)
		cpus_on[topo->cpus[c].node]++;
	/* Capping node by node caps the whole at the number of CPUs, and leaves no queue
	 * on a node that has no CPU to use it. */
	for (unsigned n = 0; n < topo->nr_nodes; n++) {
		first[n] = nr;
		nr += q_per_node < cpus_on[n] ? q_per_node : cpus_on[n];
	}
	for (unsigned c = 0; c < topo->nr_cpus; c++) {
		unsigned n = topo->cpus[c].node;
		unsigned queues = q_per_node < cpus_on[n] ? q_per_node : cpus_on[n];

		ret_map[c] = (uint16_t)(first[n] + seen[n] * queues / cpus_on[n]);
		seen[n]++;
	}
	return nr;
}
