// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of Intel's DSA work queues of type user: settings, probe, and how a channel
 * comes and goes. idxd.h says how the data path works.
 *
 * irq: a user queue's descriptors may ask for an interrupt, but the handle it needs is
 * the kernel's to give and Linux gives user space none, nor has the device file a way to
 * signal an eventfd. So a channel is polled, and cpu_ns is 0: the copying is the
 * device's.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/spec.h"
#include "engines/copy/guard.h"
#include "engines/dma/engine.h"
#include "engines/dma/idxd.h"

/* What a queue that works is far below, and a person waits for: its first answer, and at
 * close what is in flight. */
#define ANSWER_NS 2000000000ULL
#define DRAIN_NS  10000000000ULL

const struct idxd_source *idxd_source = &idxd_hardware;

struct settings {
	char path[64];	/* "" = any */
	uint64_t ring;	/* 0 = as the channel's user wants */
	uint64_t batch; /* 0 = as the queue allows */
};

/* "/dev/dsa/wq0.0" */
static bool is_queue_path(const char *text)
{
	unsigned device, queue;
	int end = 0;

	return sscanf(text, "/dev/dsa/wq%3u.%3u%n", &device, &queue, &end) == 2 &&
	       !text[end];
}

static int settings_read(const char *text, struct settings *ret_settings,
			 struct cp_err *err)
{
	struct settings set = {0};
	struct cp_spec spec;
	int rc = cp_spec_parse(text, &spec, err);

	if (!rc)
		rc = cp_spec_uint(&spec, "ring", 1, CP_DMA_RING_MAX, &set.ring, err);
	if (!rc)
		rc = cp_spec_uint(&spec, "batch", 1, IDXD_ELEMS, &set.batch, err);
	if (!rc)
		rc = cp_spec_finish(&spec, "ring, batch", err);
	if (rc)
		return rc;
	if (*spec.base && !is_queue_path(spec.base))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "idxd: '%s' is no work queue; expected one as "
				  "'/dev/dsa/wq0.0'",
				  spec.base);
	snprintf(set.path, sizeof(set.path), "%s", spec.base);
	*ret_settings = set;
	return 0;
}

static int idxd_check(const char *spec, struct cp_err *err)
{
	struct settings set;

	return settings_read(spec, &set, err);
}

static int list_queues(struct idxd_wq **ret_wqs, struct cp_err *err)
{
	struct idxd_wq *wqs = calloc(IDXD_WQS_MAX, sizeof(*wqs));
	int nr;

	if (!wqs)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "idxd: no memory for a list of work queues");
	nr = idxd_source->list(wqs, IDXD_WQS_MAX, err);
	if (nr < 0)
		free(wqs);
	else
		*ret_wqs = wqs;
	return nr;
}

static int pick(const char *path, const struct cp_dma_cfg *cfg, struct cp_err *err)
{
	struct idxd_wq *wqs;
	unsigned index;
	int nr = list_queues(&wqs, err);

	if (nr < 0)
		return nr;
	int rc = idxd_wq_pick(wqs, (unsigned)nr, path, cfg, NULL, &index, err);

	free(wqs);
	return rc;
}

static int idxd_probe(struct cp_err *err)
{
	struct cp_dma_cfg any = {.node = -1};

	return pick("", &any, err);
}

static int idxd_usable(const struct cp_dma_cfg *cfg, struct cp_err *err)
{
	struct cp_dma_cfg wanted = *cfg;
	struct settings set;
	int rc = settings_read(cfg->spec, &set, err);

	if (rc)
		return rc;
	wanted.ring = (unsigned)set.ring; /* not queue_depth: the rest of it waits */
	return pick(set.path, &wanted, err);
}

/* Pick and open; a queue that somebody else took in between is not the last one. */
static int open_port(struct cp_dma_chan *chan, const char *path,
		     const struct cp_dma_cfg *cfg, struct cp_err *err)
{
	bool tried[IDXD_WQS_MAX] = {false};
	struct idxd_wq *wqs;
	int nr = list_queues(&wqs, err), rc;
	unsigned index;

	if (nr < 0)
		return nr;
	do {
		rc = idxd_wq_pick(wqs, (unsigned)nr, path, cfg, tried, &index, err);
		if (rc)
			break;
		tried[index] = true;
		chan->wq = wqs[index];
		rc = chan->source->open(&wqs[index], &chan->port, err);
	} while (rc == -EBUSY && !*path);
	free(wqs);
	return rc;
}

/* A descriptor that moves nothing: shows that the queue takes what we write, translates
 * our addresses and answers, before anybody's data depends on it. */
static int greet(struct cp_dma_chan *chan, struct cp_err *err)
{
	struct idxd_slot *slot = &chan->slots[0];
	uint64_t end_ns = cp_now_ns() + ANSWER_NS;
	uint8_t status = IDXD_STATUS_NONE;
	int rc;

	idxd_desc_noop(&slot->desc_one, &slot->record_one);
	/* the cleared record must be visible to the device before it writes there */
	idxd_port_order(&chan->port);
	while ((rc = chan->port.submit(&chan->port, &slot->desc_one)) == -EAGAIN &&
	       cp_now_ns() < end_ns)
		sched_yield();
	if (rc)
		return cp_err_set(
			err, CP_EXIT_INVALID, -rc,
			"idxd: '%s' takes no descriptor by %s: %s; expected "
			"CAP_SYS_RAWIO to map its portal, a kernel that takes them "
			"by write() (6.9 and later), or room in a shared queue",
			chan->wq.path, chan->port.how, strerror(-rc));
	while (status == IDXD_STATUS_NONE && cp_now_ns() < end_ns) {
		/* acquire: as for any completion */
		status = atomic_load_explicit(&slot->record_one.status,
					      memory_order_acquire);
		cp_cpu_relax();
	}
	if (status == IDXD_STATUS_SUCCESS)
		return 0;
	return cp_err_set(
		err, CP_EXIT_INVALID, EIO,
		"idxd: '%s' does not answer (status 0x%02x after %s); expected SVA "
		"(intel_iommu=on,sm_on) and no error in dmesg",
		chan->wq.path, status, chan->port.how);
}

static void chan_free(struct cp_dma_chan *chan)
{
	free(chan->flights);
	free(chan->finished.slots);
	free(chan->redo.slots);
	free(chan->pending.slots);
	free(chan->free_slots);
	free(chan->waves);
	free(chan->slots);
	free(chan);
}

static int chan_alloc(struct cp_dma_chan *chan, unsigned ring)
{
	unsigned places = cp_dma_ring_round(ring);

	chan->ring = chan->nr_free = ring;
	chan->mask = places - 1;
	chan->slots = aligned_alloc(64, ring * sizeof(chan->slots[0]));
	/* untouched, and so no memory, until a transaction has several elements */
	chan->waves = aligned_alloc(64, ring * sizeof(chan->waves[0]));
	chan->free_slots = calloc(ring, sizeof(chan->free_slots[0]));
	chan->pending.slots = calloc(places, sizeof(chan->pending.slots[0]));
	chan->redo.slots = calloc(places, sizeof(chan->redo.slots[0]));
	chan->finished.slots = calloc(places, sizeof(chan->finished.slots[0]));
	chan->flights = calloc(chan->entries, sizeof(chan->flights[0]));
	if (!chan->slots || !chan->waves || !chan->free_slots || !chan->pending.slots ||
	    !chan->redo.slots || !chan->finished.slots || !chan->flights)
		return -ENOMEM;
	memset(chan->slots, 0, ring * sizeof(chan->slots[0]));
	for (unsigned i = 0; i < ring; i++) {
		chan->slots[i].wave = &chan->waves[i];
		/* the lowest first, so that a shallow queue stays in few lines */
		chan->free_slots[i] = (uint16_t)(ring - 1 - i);
	}
	return 0;
}

/* What the descriptors of this queue may be. */
static void limits(struct cp_dma_chan *chan, uint64_t batch, bool durable)
{
	const struct idxd_wq *wq = &chan->wq;
	unsigned flags = wq->block_on_fault ? IDXD_FLAG_BLOCK_ON_FAULT : 0;

	chan->entries = idxd_wq_entries(wq);
	chan->max_transfer =
		(uint32_t)(wq->max_transfer < IDXD_TRANSFER_MAX ? wq->max_transfer
								: IDXD_TRANSFER_MAX);
	chan->max_batch = wq->max_batch < IDXD_ELEMS ? wq->max_batch : IDXD_ELEMS;
	if (batch && batch < chan->max_batch)
		chan->max_batch = (unsigned)batch;
	if (!chan->port.batches || !chan->max_batch)
		chan->max_batch = 1;
	/* Near memory is the caller's buffer, which is looked at soon: to the cache. Far
	 * memory is to persist: past the cache, where it would only wait for a flush and
	 * push other lines out; and where a flush or fence is to stand behind it, read
	 * back, or that would say nothing of what the device still has posted. */
	chan->move_flags[CP_DIR_READ] =
		flags | (wq->cache_control ? IDXD_FLAG_CACHE_CONTROL : 0);
	chan->move_flags[CP_DIR_WRITE] =
		flags | (durable && wq->readback ? IDXD_FLAG_DEST_READBACK : 0);
}

/* Transactions that may be submitted and not reaped. More than the queue has entries is
 * fine where nobody named a ring: what does not fit waits in `pending`. */
static unsigned places(const struct cp_dma_chan *chan, const struct settings *set,
		       unsigned depth)
{
	if (set->ring)
		return (unsigned)set->ring;
	if (!depth)
		return chan->entries;
	return depth < CP_DMA_RING_MAX ? depth : CP_DMA_RING_MAX;
}

static int idxd_open(const struct cp_dma_cfg *cfg, struct cp_dma_chan **ret_chan,
		     struct cp_err *err)
{
	struct cp_dma_cfg wanted = *cfg;
	struct settings set;
	int rc = settings_read(cfg->spec, &set, err);

	if (rc)
		return rc;
	struct cp_dma_chan *chan = calloc(1, sizeof(*chan));

	if (!chan)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "idxd: no memory");
	wanted.ring = (unsigned)set.ring;
	chan->source = idxd_source;
	rc = open_port(chan, set.path, &wanted, err);
	if (rc)
		goto out_free;
	limits(chan, set.batch, cfg->durable != CP_DMA_POSTED);
	rc = chan_alloc(chan, places(chan, &set, cfg->ring));
	if (rc) {
		cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
			   "idxd: no memory for a ring of %u", chan->ring);
		goto out_port;
	}
	rc = greet(chan, err);
	if (rc)
		goto out_port;
	rc = cp_guard_get(err);
	if (rc)
		goto out_port;
	snprintf(chan->text, sizeof(chan->text), "idxd/%s/%s (%s%s%s)", chan->wq.device,
		 chan->wq.name, chan->wq.dedicated ? "dedicated" : "shared",
		 chan->port.portal ? "" : ", write",
		 cfg->durable == CP_DMA_POSTED ? ""
		 : chan->wq.readback	       ? ", readback"
					       : ", no readback");
	*ret_chan = chan;
	return 0;
out_port:
	chan->source->close(&chan->port);
out_free:
	chan_free(chan);
	return rc;
}

static uint64_t idxd_cpu_ns(struct cp_dma_chan *chan)
{
	(void)chan;
	return 0;
}

static const char *idxd_describe(struct cp_dma_chan *chan)
{
	return chan->text;
}

static void idxd_close(struct cp_dma_chan *chan)
{
	uint64_t end_ns = cp_now_ns() + DRAIN_NS;

	/* What the device has it finishes: there is no call that takes it back. Nothing
	 * new is sent. The port's close waits for what is left after that time. */
	for (unsigned spins = 1; chan->nr_flights && cp_now_ns() < end_ns; spins++) {
		idxd_poll(chan);
		if (spins % 64)
			cp_cpu_relax();
		else
			sched_yield();
	}
	chan->source->close(&chan->port);
	cp_guard_put();
	chan_free(chan);
}

const struct cp_dma_ops cp_dma_idxd_ops = {
	.name = "idxd",
	.help = "Intel DSA work queues of type user (:/dev/dsa/wqD.Q, ring=N, batch=N)",
	.traits = {.provenance = "hardware", .moves_data = true, .irq = false},
	.probe = idxd_probe,
	.usable = idxd_usable,
	.check = idxd_check,
	.open = idxd_open,
	.space = idxd_space,
	.prep_memcpy_sg = idxd_prep,
	.submit = idxd_submit,
	.issue_pending = idxd_issue_pending,
	.reap = idxd_reap,
	.cpu_ns = idxd_cpu_ns,
	.describe = idxd_describe,
	.close = idxd_close,
};
