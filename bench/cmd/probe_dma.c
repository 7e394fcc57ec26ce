// SPDX-License-Identifier: GPL-2.0-only
/* DMA engines, and the hardware that the kernel shows. */
#include "bench/cmd/probe.h"

#include "engines/dma/channel.h"
#include "engines/dma/found.h"
#include "engines/dma/idxd_dev.h"

/* The kernel's own channels are no engine: only a module reaches them. */
static void add_driver(void *ctx, const struct cp_dma_driver *driver)
{
	json_t *list = ctx;
	json_t *nodes = json_array();
	char why[256];

	snprintf(why, sizeof(why),
		 "%u channels of the kernel's own in /sys/class/dma (first: %s, %u in "
		 "use); expected dma 'kernel', which reaches them by the module cp_dma",
		 driver->channels, driver->first, driver->in_use);
	for (int node = 0; node < 64; node++)
		if (driver->nodes >> node & 1)
			json_array_append_new(nodes, json_integer(node));
	json_array_append_new(list, json_pack("{s:s,s:b,s:s,s:s,s:i,s:i,s:o}", "name",
					      driver->name, "usable", 0, "why", why,
					      "provenance", "hardware", "channels",
					      (int)driver->channels, "in_use",
					      (int)driver->in_use, "nodes", nodes));
}

json_t *cp_probe_dma(void)
{
	json_t *list = json_array();

	for (size_t i = 0; cp_dma_table[i]; i++) {
		const struct cp_dma_ops *ops = cp_dma_table[i];
		struct cp_err err = {0};
		struct cp_dma_traits traits;
		bool usable = !ops->probe(&err);

		cp_dma_traits(ops, ops->name, &traits);
		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:b,s:o,s:s,s:b,s:b}", "name", ops->name,
				  "help", ops->help, "usable", usable, "why",
				  usable ? json_null() : json_string(err.msg),
				  "provenance", traits.provenance, "moves_data",
				  traits.moves_data, "irq", traits.irq));
	}
	size_t engines = json_array_size(list);

	cp_dma_drivers("", add_driver, list);
	if (json_array_size(list) == engines)
		json_array_append_new(list, json_pack("{s:s,s:b,s:s,s:s}", "name", "ioat",
						      "usable", 0, "why",
						      "no channel in /sys/class/dma",
						      "provenance", "hardware"));
	return list;
}

static const char *state_of(const struct idxd_wq *wq)
{
	return wq->state == IDXD_WQ_ENABLED    ? "enabled"
	       : wq->state == IDXD_WQ_DISABLED ? "disabled"
					       : "unknown";
}

static const char *type_of(const struct idxd_wq *wq)
{
	return wq->type == IDXD_WQ_USER	    ? "user"
	       : wq->type == IDXD_WQ_KERNEL ? "kernel"
					    : "none";
}

/* As the engine sees it, and whether it would take it by its name. */
static json_t *queue_json(const struct idxd_wq *wq)
{
	struct cp_dma_cfg any = {.node = -1, .cpu = -1};
	struct cp_err err;
	unsigned index;
	bool usable = !idxd_wq_pick(wq, 1, wq->path, &any, NULL, &index, &err);

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:b,s:o}", "name", wq->name,
			 "device", wq->device, "path", wq->path, "state", state_of(wq),
			 "type", type_of(wq), "mode",
			 wq->dedicated ? "dedicated" : "shared", "size",
			 json_integer((json_int_t)wq->size), "node",
			 wq->node < 0 ? json_null() : json_integer(wq->node), "usable",
			 usable, "why", usable ? json_null() : json_string(err.msg));
}

json_t *cp_probe_work_queues(void)
{
	static struct idxd_wq wqs[IDXD_WQS_MAX];
	json_t *list = json_array();
	struct cp_err err;
	int nr = idxd_source->list(wqs, IDXD_WQS_MAX, &err);

	for (int i = 0; i < nr; i++)
		json_array_append_new(list, queue_json(&wqs[i]));
	return list;
}
