/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device of the module cp_dma, played in user space behind the kernel engine: it
 * keeps the promises of kmod/include/uapi/cp_dma.h, checks what it is asked as the module
 * would, copies in a thread of its own, and can fail in every way that it says.
 */
#ifndef CP_ENGINES_DMA_T_KERNEL_FAKE_H
#define CP_ENGINES_DMA_T_KERNEL_FAKE_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/dma/kernel_sys.h"
#include "kmod/include/uapi/cp_dma.h"

#define FAKE_FILES 8U
#define FAKE_MAPS  64U

/* How the device behaves; set before channels are open. */
static struct {
	int open_error, info_error, chan_error, map_error, submit_error;
	struct cp_dmadev_info info;
	uint32_t submit_max;  /* takes so many a call, the rest is EAGAIN; 0 all */
	uint64_t fail_cookie; /* this one ends as result and residue say */
	uint32_t fail_result;
	uint64_t fail_residue;
	uintptr_t read_only, read_only_end; /* cannot be pinned for writing */
	/* what was asked of it */
	_Atomic unsigned nr_maps, nr_unmaps, nr_submits;
	struct cp_dmadev_open last_open;
} fake;

struct fake_map {
	uintptr_t addr;
	size_t bytes;
	uint32_t flags;
	unsigned users;
	bool stale;
};

struct fake_job {
	struct cp_dmadev_xfer xfer;
	struct cp_dmadev_seg segs[CP_DMADEV_SEGS_MAX];
	uint64_t cookie;
};

struct fake_file {
	int fd; /* an eventfd, for its number only; 0: free */
	bool open, stop, gone, held;
	int event_fd;
	struct cp_dmadev_ring *ring;
	uint32_t entries;
	struct fake_map maps[FAKE_MAPS];
	struct fake_job *jobs; /* [entries] */
	uint64_t submitted, completed;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_t thread;
};

static struct fake_file fake_files[FAKE_FILES];
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static inline struct fake_file *fake_of(int fd)
{
	for (unsigned i = 0; i < FAKE_FILES; i++) {
		if (fake_files[i].fd == fd)
			return &fake_files[i];
	}
	return NULL;
}

/* As a healthy module, with hardware or without. */
static inline void fake_reset(bool hardware)
{
	memset(&fake, 0, sizeof(fake));
	fake.info = (struct cp_dmadev_info){
		.version = CP_DMADEV_VERSION,
		.features = CP_DMADEV_EVENTFD | CP_DMADEV_FENCE | CP_DMADEV_EXCLUSIVE |
			    (hardware ? CP_DMADEV_HARDWARE : 0),
		.nr_chans = 4,
		.ring_max = 16384,
		.maps_max = FAKE_MAPS,
		.bytes_max = 1U << 30,
	};
}

static inline int fake_open(const char *path)
{
	struct fake_file *file;

	if (fake.open_error)
		return -fake.open_error;
	if (strcmp(path, CP_DMADEV_DEVICE) != 0)
		return -ENOENT;
	pthread_mutex_lock(&fake_lock);
	file = fake_of(0);
	*file = (struct fake_file){.fd = eventfd(0, 0)};
	pthread_mutex_unlock(&fake_lock);
	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->cond, NULL);
	return file->fd;
}

/* The caller holds the lock, in the next four. */
static inline uint32_t fake_unread(const struct fake_file *file)
{
	/* acquire: what the reader read before its release is ours to write over */
	return (uint32_t)file->submitted -
	       __atomic_load_n(&file->ring->head, __ATOMIC_ACQUIRE);
}

static inline void fake_complete(struct fake_file *file, uint32_t result,
				 uint64_t residue)
{
	struct fake_job *job = &file->jobs[file->completed & (file->entries - 1)];
	uint32_t tail = file->ring->tail;
	uint64_t one = 1;

	for (uint32_t i = 0; i < job->xfer.nr_segs; i++)
		file->maps[job->segs[i].map].users--;
	file->maps[job->xfer.far_map].users--;
	file->ring->done[tail & (file->entries - 1)] =
		(struct cp_dmadev_done){.user = job->xfer.user,
					.cookie = job->cookie,
					.residue = residue,
					.result = result};
	file->completed++;
	/* release: the entry, and the bytes that were copied */
	__atomic_store_n(&file->ring->tail, tail + 1, __ATOMIC_RELEASE);
	if (file->event_fd >= 0 && (job->xfer.flags & CP_DMADEV_F_INTERRUPT) &&
	    write(file->event_fd, &one, sizeof(one)) < 0)
		abort();
}

static inline uint64_t fake_bytes(const struct fake_job *job)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < job->xfer.nr_segs; i++)
		bytes += job->segs[i].bytes;
	return bytes;
}

static inline void fake_abort_all(struct fake_file *file)
{
	while (file->completed != file->submitted)
		fake_complete(
			file, CP_DMADEV_ABORTED,
			fake_bytes(&file->jobs[file->completed & (file->entries - 1)]));
}

static inline int fake_check(const struct fake_file *file, uint32_t map, uint64_t offset,
			     uint64_t bytes, uint32_t access)
{
	const struct fake_map *m = map < FAKE_MAPS ? &file->maps[map] : NULL;

	if (!m || !m->bytes)
		return -ENOENT;
	if (offset > m->bytes || bytes > m->bytes - offset)
		return -ERANGE;
	if (!(m->flags & access))
		return -EACCES;
	return m->stale ? -ESTALE : 0;
}

/* `limit` bytes of a transaction, without the lock: the owner waits for us. */
static inline void fake_copy(const struct fake_file *file, const struct fake_job *job,
			     uint64_t limit)
{
	unsigned char *far = (unsigned char *)file->maps[job->xfer.far_map].addr +
			     job->xfer.far_offset;

	for (uint32_t i = 0; i < job->xfer.nr_segs && limit; i++) {
		const struct cp_dmadev_seg *seg = &job->segs[i];
		unsigned char *near =
			(unsigned char *)file->maps[seg->map].addr + seg->offset;
		uint64_t len = seg->bytes < limit ? seg->bytes : limit;

		if (job->xfer.dir == CP_DMADEV_GATHER)
			memcpy(near, far, len);
		else
			memcpy(far, near, len);
		far += len;
		limit -= len;
	}
}

static inline void *fake_thread(void *arg)
{
	struct fake_file *file = arg;

	pthread_mutex_lock(&file->lock);
	while (!file->stop && !file->gone) {
		if (file->completed == file->submitted || file->held) {
			pthread_cond_wait(&file->cond, &file->lock);
			continue;
		}
		const struct fake_job *job =
			&file->jobs[file->completed & (file->entries - 1)];
		uint64_t bytes = fake_bytes(job);
		bool fail = job->cookie == fake.fail_cookie;

		fake_copy(file, job, bytes - (fail ? fake.fail_residue : 0));
		fake_complete(file, fail ? fake.fail_result : CP_DMADEV_OK,
			      fail ? fake.fail_residue : 0);
		/* others may come in between */
		pthread_mutex_unlock(&file->lock);
		pthread_mutex_lock(&file->lock);
	}
	fake_abort_all(file);
	pthread_mutex_unlock(&file->lock);
	return NULL;
}

static inline int fake_open_chan(struct fake_file *file, struct cp_dmadev_open *open)
{
	if (fake.chan_error)
		return -fake.chan_error;
	if (open->chan != CP_DMADEV_CHAN_ANY && open->chan >= fake.info.nr_chans)
		return -ENXIO;
	file->entries = 1;
	while (file->entries < open->ring)
		file->entries <<= 1;
	file->event_fd = open->flags & CP_DMADEV_O_EVENTFD ? open->event_fd : -1;
	file->jobs = calloc(file->entries, sizeof(*file->jobs));
	open->ring = file->entries;
	open->ring_bytes = sizeof(struct cp_dmadev_ring) +
			   file->entries * sizeof(struct cp_dmadev_done);
	file->ring = calloc(1, open->ring_bytes);
	open->hardware = !!(fake.info.features & CP_DMADEV_HARDWARE);
	strncpy(open->name, "dma0chan0", sizeof(open->name));
	fake.last_open = *open;
	file->open = true;
	return -pthread_create(&file->thread, NULL, fake_thread, file);
}

static inline int fake_map(struct fake_file *file, struct cp_dmadev_map *map)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	fake.nr_maps++;
	if (fake.map_error)
		return -fake.map_error;
	if (!map->bytes || map->addr % page || map->bytes % page || !map->flags)
		return -EINVAL;
	/* a hole is ENOMEM there */
	if (msync((void *)(uintptr_t)map->addr, map->bytes, MS_ASYNC))
		return -EFAULT;
	if ((map->flags & CP_DMADEV_M_WRITE) && map->addr < fake.read_only_end &&
	    map->addr + map->bytes > fake.read_only)
		return -EFAULT;
	for (uint32_t i = 0; i < fake.info.maps_max; i++) {
		if (file->maps[i].bytes)
			continue;
		file->maps[i] = (struct fake_map){
			.addr = map->addr, .bytes = map->bytes, .flags = map->flags};
		map->map = i;
		return 0;
	}
	return -ENOSPC;
}

static inline int fake_unmap(struct fake_file *file, const struct cp_dmadev_unmap *unmap)
{
	fake.nr_unmaps++;
	if (unmap->map >= FAKE_MAPS || !file->maps[unmap->map].bytes)
		return -ENOENT;
	if (file->maps[unmap->map].users)
		return -EBUSY;
	file->maps[unmap->map] = (struct fake_map){0};
	return 0;
}

static inline int fake_take(struct fake_file *file, const struct cp_dmadev_xfer *xfer)
{
	const struct cp_dmadev_seg *segs =
		(const struct cp_dmadev_seg *)(uintptr_t)xfer->segs;
	uint32_t far =
		xfer->dir == CP_DMADEV_GATHER ? CP_DMADEV_M_READ : CP_DMADEV_M_WRITE;
	uint64_t bytes = 0;
	int rc = 0;

	if (fake_unread(file) >= file->entries)
		return -EAGAIN;
	if (!xfer->nr_segs || xfer->nr_segs > CP_DMADEV_SEGS_MAX || xfer->dir > 1)
		return -EINVAL;
	for (uint32_t i = 0; !rc && i < xfer->nr_segs; i++) {
		rc = fake_check(file, segs[i].map, segs[i].offset, segs[i].bytes,
				far ^ (CP_DMADEV_M_READ | CP_DMADEV_M_WRITE));
		bytes += segs[i].bytes;
	}
	if (!rc)
		rc = fake_check(file, xfer->far_map, xfer->far_offset, bytes, far);
	if (rc)
		return rc;
	struct fake_job *job = &file->jobs[file->submitted & (file->entries - 1)];

	job->xfer = *xfer;
	memcpy(job->segs, segs, xfer->nr_segs * sizeof(*segs));
	job->cookie = ++file->submitted;
	file->maps[xfer->far_map].users++;
	for (uint32_t i = 0; i < xfer->nr_segs; i++)
		file->maps[segs[i].map].users++;
	return 0;
}

static inline int fake_submit(struct fake_file *file, struct cp_dmadev_submit *submit)
{
	const struct cp_dmadev_xfer *xfers =
		(const struct cp_dmadev_xfer *)(uintptr_t)submit->xfers;
	int rc = submit->nr ? -fake.submit_error : -EINVAL;

	fake.nr_submits++;
	submit->cookie = file->submitted + 1;
	for (submit->taken = 0; !rc && submit->taken < submit->nr;) {
		if (fake.submit_max && submit->taken == fake.submit_max)
			rc = -EAGAIN;
		else
			rc = fake_take(file, &xfers[submit->taken]);
		submit->taken += !rc;
	}
	pthread_cond_signal(&file->cond);
	return rc;
}

/* Ends the thread, which aborts what is in flight. Takes the lock itself. */
static inline int fake_end(struct fake_file *file)
{
	if (!file->open)
		return -ENOTCONN;
	pthread_mutex_lock(&file->lock);
	file->stop = true;
	pthread_cond_signal(&file->cond);
	pthread_mutex_unlock(&file->lock);
	pthread_join(file->thread, NULL);
	file->open = false;
	return 0;
}

static inline int fake_ask(struct fake_file *file, unsigned long request, void *arg)
{
	if (file->gone)
		return -ENODEV;
	if (request == CP_DMADEV_OPEN)
		return file->open ? -EALREADY : fake_open_chan(file, arg);
	if (!file->open)
		return -ENOTCONN;
	switch (request) {
	case CP_DMADEV_MAP:
		return fake_map(file, arg);
	case CP_DMADEV_UNMAP:
		return fake_unmap(file, arg);
	case CP_DMADEV_SUBMIT:
		return fake_submit(file, arg);
	case CP_DMADEV_STAT:
		*(struct cp_dmadev_stat *)arg = (struct cp_dmadev_stat){
			.cpu_ns = file->completed, .xfers = file->completed};
		return 0;
	default:
		return -ENOTTY;
	}
}

static inline int fake_ioctl(int fd, unsigned long request, void *arg)
{
	struct fake_file *file = fake_of(fd);

	if (request == CP_DMADEV_INFO) {
		*(struct cp_dmadev_info *)arg = fake.info;
		return -fake.info_error;
	}
	if (request == CP_DMADEV_CLOSE)
		return fake_end(file);
	pthread_mutex_lock(&file->lock);
	int rc = fake_ask(file, request, arg);

	pthread_mutex_unlock(&file->lock);
	return rc;
}

static inline void *fake_mmap(size_t bytes, int fd)
{
	(void)bytes;
	return fake_of(fd)->ring;
}

static inline void fake_munmap(void *at, size_t bytes)
{
	(void)at; /* with the file */
	(void)bytes;
}

static inline void fake_close(int fd)
{
	struct fake_file *file = fake_of(fd);

	fake_end(file);
	close(fd);
	free(file->ring);
	free(file->jobs);
	pthread_mutex_lock(&fake_lock);
	file->fd = 0;
	pthread_mutex_unlock(&fake_lock);
}

/* Nothing is copied while it is held. */
static inline void fake_hold(struct fake_file *file, bool held)
{
	pthread_mutex_lock(&file->lock);
	file->held = held;
	pthread_cond_signal(&file->cond);
	pthread_mutex_unlock(&file->lock);
}

/* The device goes away. */
static inline void fake_unplug(struct fake_file *file)
{
	pthread_mutex_lock(&file->lock);
	file->gone = true;
	pthread_cond_signal(&file->cond);
	pthread_mutex_unlock(&file->lock);
}

static const struct kernel_sys fake_sys = {
	.open = fake_open,
	.ioctl = fake_ioctl,
	.mmap = fake_mmap,
	.munmap = fake_munmap,
	.close = fake_close,
};

#endif
