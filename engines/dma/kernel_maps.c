// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges of memory that are registered with the module. Found by their page first, else
 * one by one: there are about as many as there are buffers.
 */
#include <errno.h>
#include <unistd.h>

#include "engines/dma/kernel.h"

#define ACCESS_ALL (CP_DMADEV_M_READ | CP_DMADEV_M_WRITE)

static bool covers(const struct kernel_map *map, uintptr_t addr, size_t len,
		   uint32_t access)
{
	return map->registered && !map->dropped && addr >= map->addr && len <= map->len &&
	       addr - map->addr <= map->len - len && (map->access & access) == access;
}

static void unregister(struct cp_dma_chan *chan, uint32_t number)
{
	struct cp_dmadev_unmap unmap = {.map = number};

	/* It cannot be in use. Where the device has gone the module has let go of it. */
	kernel_sys->ioctl(chan->fd, CP_DMADEV_UNMAP, &unmap);
	chan->maps[number] = (struct kernel_map){0};
}

void kernel_map_put(struct cp_dma_chan *chan, uint32_t number)
{
	struct kernel_map *map = &chan->maps[number];

	if (--map->users == 0 && map->dropped)
		unregister(chan, number);
}

/* Make room: false when each range is in use. */
static bool evict(struct cp_dma_chan *chan)
{
	uint32_t oldest = UINT32_MAX;

	for (uint32_t i = 0; i < chan->nr_maps; i++) {
		const struct kernel_map *map = &chan->maps[i];

		if (map->registered && !map->users &&
		    (oldest == UINT32_MAX || map->used < chan->maps[oldest].used))
			oldest = i;
	}
	if (oldest == UINT32_MAX)
		return false;
	unregister(chan, oldest);
	return true;
}

int64_t kernel_map_add(struct cp_dma_chan *chan, uintptr_t addr, size_t len,
		       uint32_t access)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = addr & ~(page - 1);
	uintptr_t end = (addr + len + page - 1) & ~(page - 1);
	struct cp_dmadev_map map = {
		.addr = start, .bytes = end - start, .flags = ACCESS_ALL};
	int rc;

	do {
		rc = kernel_sys->ioctl(chan->fd, CP_DMADEV_MAP, &map);
		if (rc == -EFAULT && map.flags != access) {
			map.flags = access; /* memory for reading only */
			rc = kernel_sys->ioctl(chan->fd, CP_DMADEV_MAP, &map);
		}
	} while (rc == -ENOSPC && evict(chan));
	if (rc == -ENOSPC && chan->nr_free < chan->ring)
		return -EAGAIN;
	if (rc)
		return rc;
	if (map.map >= chan->info.maps_max || chan->maps[map.map].registered)
		return -EPROTO;
	chan->maps[map.map] = (struct kernel_map){.addr = start,
						  .len = end - start,
						  .access = map.flags,
						  .used = ++chan->lookups,
						  .registered = true};
	if (chan->nr_maps <= map.map)
		chan->nr_maps = map.map + 1;
	return map.map;
}

static int64_t find(struct cp_dma_chan *chan, uintptr_t addr, size_t len, uint32_t access)
{
	uint32_t *hint = &chan->hints[addr >> 12 & (KERNEL_HINTS - 1)];

	if (covers(&chan->maps[*hint], addr, len, access))
		return *hint;
	for (uint32_t i = 0; i < chan->nr_maps; i++) {
		if (covers(&chan->maps[i], addr, len, access)) {
			*hint = i;
			return i;
		}
	}
	return -ENOENT;
}

int64_t kernel_map_get(struct cp_dma_chan *chan, const void *addr, size_t len,
		       uint32_t access)
{
	int64_t number = find(chan, (uintptr_t)addr, len, access);

	if (number < 0)
		number = kernel_map_add(chan, (uintptr_t)addr, len, access);
	if (number < 0)
		return number;
	chan->maps[number].users++;
	chan->maps[number].used = ++chan->lookups;
	return number;
}

int64_t kernel_map_again(struct cp_dma_chan *chan, uint32_t number, uint64_t offset,
			 size_t len, uint32_t access, __u64 *ret_offset)
{
	struct kernel_map *map = &chan->maps[number];
	uintptr_t addr = map->addr + offset;
	size_t whole = map->len;

	map->dropped = true;
	if (find(chan, addr, len, access) < 0)
		kernel_map_add(chan, map->addr, whole, access);
	/* where the whole is no longer there, the part that is needed is registered */
	int64_t again = kernel_map_get(chan, (const void *)addr, len, access);

	if (again < 0)
		return again;
	kernel_map_put(chan, number);
	*ret_offset = addr - chan->maps[again].addr;
	return again;
}
