/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many hardware queues, and which CPU uses which: as Linux from 6.3 on does for a
 * driver that leaves the map to blk_mq_map_queues() (lib/group_cpus.c), with the CPUs
 * that this process may use for the possible ones.
 */
#include <stdio.h>

#include "engines/queue/queue.h"

static uint64_t asked(const struct cp_topo *topo, unsigned q_per_node)
{
	return (uint64_t)topo->nr_nodes * q_per_node;
}

/* blk_mq_alloc_tag_set() caps the whole set: a node that has few CPUs leaves its share to
 * the others, and so does one that has none. */
static unsigned capped(const struct cp_topo *topo, unsigned q_per_node)
{
	uint64_t nr = asked(topo, q_per_node);

	return nr < topo->nr_cpus ? (unsigned)nr : topo->nr_cpus;
}

struct node {
	unsigned id, cpus, queues;
};

/* The nodes that have CPUs, fewest first, and of as many those with the lower number (the
 * kernel leaves that to its sort). With no more queues than nodes they keep their order.
 * Returns how many there are. */
static unsigned nodes_of(const struct cp_topo *topo, unsigned queues,
			 struct node ret_nodes[CP_TOPO_NODES_MAX])
{
	unsigned cpus_on[CP_TOPO_NODES_MAX] = {0};
	unsigned nr = 0, with_cpus = 0;

	for (unsigned c = 0; c < topo->nr_cpus; c++)
		with_cpus += !cpus_on[topo->cpus[c].node]++;
	for (unsigned id = 0; id < topo->nr_nodes; id++) {
		unsigned at = nr;

		if (!cpus_on[id])
			continue;
		if (queues > with_cpus)
			for (; at > 0 && ret_nodes[at - 1].cpus > cpus_on[id]; at--)
				ret_nodes[at] = ret_nodes[at - 1];
		ret_nodes[at] = (struct node){.id = id, .cpus = cpus_on[id]};
		nr++;
	}
	return nr;
}

/* Queues to nodes by their share of the CPUs, at least one each, and never more than CPUs
 * since the smallest nodes choose first. */
static void share(struct node *nodes, unsigned nr_nodes, unsigned queues, unsigned cpus)
{
	bool one_each = queues == nr_nodes;

	for (unsigned i = 0; i < nr_nodes; i++) {
		unsigned part = one_each ? 1 : queues * nodes[i].cpus / cpus;

		nodes[i].queues = part ? part : 1;
		queues -= nodes[i].queues;
		cpus -= nodes[i].cpus;
	}
}

/* Indices of a node's CPUs by their OS numbers. Returns how many. */
static unsigned node_cpus(const struct cp_topo *topo, unsigned id,
			  uint16_t ret_cpus[CP_TOPO_CPUS_MAX])
{
	unsigned nr = 0;

	for (unsigned c = 0; c < topo->nr_cpus; c++) {
		unsigned at = nr, number = topo->cpus[c].os_index;

		if (topo->cpus[c].node != id)
			continue;
		for (; at > 0 && topo->cpus[ret_cpus[at - 1]].os_index > number; at--)
			ret_cpus[at] = ret_cpus[at - 1];
		ret_cpus[at] = (uint16_t)c;
		nr++;
	}
	return nr;
}

struct left {
	unsigned nr;
	uint16_t cpus[CP_TOPO_CPUS_MAX];
	bool taken[CP_TOPO_CPUS_MAX];
};

/* A queue's CPUs: the first that is left and its siblings, then the next, until there are
 * enough. */
static void fill_queue(const struct cp_topo *topo, struct left *left, unsigned wanted,
		       uint16_t queue, uint16_t ret_map[CP_TOPO_CPUS_MAX])
{
	for (unsigned i = 0; i < left->nr && wanted; i++) {
		unsigned core = topo->cpus[left->cpus[i]].core;

		if (left->taken[i])
			continue;
		for (unsigned k = i; k < left->nr && wanted; k++) {
			if (left->taken[k] || topo->cpus[left->cpus[k]].core != core)
				continue;
			left->taken[k] = true;
			ret_map[left->cpus[k]] = queue;
			wanted--;
		}
	}
}

/* The node's CPUs over its queues, from queue `first` on; the first queues get one more
 * where it does not come out even. */
static void spread(const struct cp_topo *topo, const struct node *node, unsigned first,
		   uint16_t ret_map[CP_TOPO_CPUS_MAX])
{
	struct left left = {0};

	left.nr = node_cpus(topo, node->id, left.cpus);
	for (unsigned q = 0; q < node->queues; q++)
		fill_queue(topo, &left,
			   left.nr / node->queues + (q < left.nr % node->queues),
			   (uint16_t)(first + q), ret_map);
}

unsigned cp_queue_map(const struct cp_topo *topo, unsigned q_per_node,
		      uint16_t ret_map[CP_TOPO_CPUS_MAX])
{
	struct node nodes[CP_TOPO_NODES_MAX];
	unsigned nr = capped(topo, q_per_node), first = 0;
	unsigned nr_nodes = nodes_of(topo, nr, nodes);

	share(nodes, nr_nodes, nr, topo->nr_cpus);
	for (unsigned i = 0; i < nr_nodes; i++) {
		spread(topo, &nodes[i], first, ret_map);
		first += nodes[i].queues;
	}
	return nr;
}

bool cp_queue_capped(const struct cp_topo *topo, unsigned q_per_node, char *buf,
		     size_t size)
{
	if (asked(topo, q_per_node) <= topo->nr_cpus)
		return false;
	snprintf(buf, size,
		 "q_per_node %u x %u node%s capped to %u hardware queue%s, one a CPU",
		 q_per_node, topo->nr_nodes, topo->nr_nodes == 1 ? "" : "s",
		 topo->nr_cpus, topo->nr_cpus == 1 ? "" : "s");
	return true;
}
