/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/topo.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AFFINITY_CPUS 8192 /* the kernel's largest NR_CPUS */

/* The CPUs of the process, not of a pinned thread that happens to ask. NULL: any. */
static hwloc_bitmap_t affinity_read(void)
{
	cpu_set_t *set = CPU_ALLOC(AFFINITY_CPUS);
	size_t size = CPU_ALLOC_SIZE(AFFINITY_CPUS);
	hwloc_bitmap_t map = NULL;

	if (!set)
		return NULL;
	CPU_ZERO_S(size, set);
	if (!sched_getaffinity(getpid(), size, set)) {
		map = hwloc_bitmap_alloc();
		for (unsigned i = 0; map && i < AFFINITY_CPUS; i++) {
			if (CPU_ISSET_S(i, size, set))
				hwloc_bitmap_set(map, i);
		}
	}
	CPU_FREE(set);
	return map;
}

/* hwloc leaves I/O devices out unless asked. Types are not filtered further: a node hangs
 * on a package or group, and without those every CPU would be near every node. */
static int topology_load(const char *synthetic, hwloc_topology_t *ret_topology)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology))
		return -ENOMEM;
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
						   HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
						   HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
	if ((synthetic && hwloc_topology_set_synthetic(topology, synthetic)) ||
	    hwloc_topology_load(topology)) {
		hwloc_topology_destroy(topology);
		return -EINVAL;
	}
	*ret_topology = topology;
	return 0;
}

static int nodes_read(hwloc_topology_t topology, struct cp_topo *topo, struct cp_err *err)
{
	int nr = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);

	if (nr < 1 || nr > CP_TOPO_NODES_MAX)
		return cp_err_set(err, CP_EXIT_INVALID, E2BIG,
				  "'%d' NUMA nodes cannot be handled; expected 1 to %d",
				  nr, CP_TOPO_NODES_MAX);
	topo->nr_nodes = (unsigned)nr;
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);

		topo->node_os_index[i] = node->os_index;
		topo->node_bytes[i] = node->attr->numanode.local_memory;
		topo->mem_bytes += topo->node_bytes[i];
	}
	return 0;
}

/* Index of the node a CPU is nearest to; of several (DRAM and HBM) the first. */
static unsigned cpu_node(const struct cp_topo *topo, hwloc_obj_t pu)
{
	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		if (hwloc_bitmap_isset(pu->nodeset, topo->node_os_index[i]))
			return i;
	}
	return 0;
}

static int cpus_read(hwloc_topology_t topology, hwloc_const_bitmap_t usable,
		     struct cp_topo *topo, struct cp_err *err)
{
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		if (usable && !hwloc_bitmap_isset(usable, pu->os_index))
			continue;
		if (topo->nr_cpus == CP_TOPO_CPUS_MAX)
			return cp_err_set(err, CP_EXIT_INVALID, E2BIG,
					  "too many CPUs; expected at most '%d'",
					  CP_TOPO_CPUS_MAX);
		hwloc_obj_t core =
			hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);

		topo->cpus[topo->nr_cpus].os_index = pu->os_index;
		topo->cpus[topo->nr_cpus].node = cpu_node(topo, pu);
		topo->cpus[topo->nr_cpus].core =
			core ? core->logical_index : pu->logical_index;
		topo->nr_cpus++;
	}
	if (!topo->nr_cpus)
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "hwloc found no CPU this process may use");
	return 0;
}

static uint64_t llc_read(hwloc_topology_t topology)
{
	static const hwloc_obj_type_t caches[] = {
		HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
		HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE,
	};
	uint64_t largest = 0;

	for (size_t i = 0; !largest && i < sizeof(caches) / sizeof(caches[0]); i++) {
		hwloc_obj_t cache = NULL;

		while ((cache = hwloc_get_next_obj_by_type(topology, caches[i], cache))) {
			if (cache->attr->cache.size > largest)
				largest = cache->attr->cache.size;
		}
	}
	return largest;
}

int cp_topo_load(const char *synthetic, struct cp_topo *ret_topo, struct cp_err *err)
{
	hwloc_topology_t topology;
	hwloc_bitmap_t usable = NULL;

	if (topology_load(synthetic, &topology)) {
		if (synthetic)
			return cp_err_set(
				err, CP_EXIT_USAGE, EINVAL,
				"topology '%s' cannot be read; expected an hwloc "
				"description such as 'numa:2 core:4 pu:1'",
				synthetic);
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "hwloc cannot read this machine's topology");
	}
	int ret;
	struct cp_topo *topo = calloc(1, sizeof(*topo));

	if (!topo) {
		ret = cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				 "not enough memory for the topology");
		goto out_destroy;
	}
	/* a topology from HWLOC_XMLFILE has CPUs the affinity knows nothing of */
	if (!synthetic && hwloc_topology_is_thissystem(topology))
		usable = affinity_read();
	ret = nodes_read(topology, topo, err);
	if (!ret)
		ret = cpus_read(topology, usable, topo, err);
	if (!ret) {
		topo->llc_bytes = llc_read(topology);
		*ret_topo = *topo;
	}
	hwloc_bitmap_free(usable);
	free(topo);
out_destroy:
	hwloc_topology_destroy(topology);
	return ret;
}

int cp_topo_cpu(const struct cp_topo *topo, unsigned os_index)
{
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		if (topo->cpus[i].os_index == os_index)
			return (int)i;
	}
	return -1;
}
