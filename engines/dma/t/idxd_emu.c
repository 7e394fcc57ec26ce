// SPDX-License-Identifier: GPL-2.0-only
/* The emulated DSA device. See idxd_emu.h. */
#include "engines/dma/t/idxd_emu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/copy/guard.h"

#define PORTS_MAX 16
#define HELD_MAX  32
#define SLOTS	  (IDXD_PORTAL_BYTES / 64)

/* One open of a queue. */
struct port {
	_Alignas(4096) unsigned char page[IDXD_PORTAL_BYTES];
	/* the submitter's */
	_Alignas(IDXD_EMU_LINE) uint64_t taken_seen; /* of the queue */
	unsigned wq;
	bool ordered; /* since the last submission */
	/* the device's */
	_Alignas(IDXD_EMU_LINE) unsigned at;
	unsigned held;
	/* hardly ever written */
	_Alignas(IDXD_EMU_LINE) _Atomic bool open, closing;
};

struct held {
	unsigned char desc[64];
	struct port *port;
};

static struct idxd_emu emu;
static struct port ports[PORTS_MAX];
/* Of each queue, over all its ports and opens: what is in it is accepted - taken. */
static struct {
	_Alignas(IDXD_EMU_LINE) _Atomic uint64_t accepted; /* by submitters */
	_Alignas(IDXD_EMU_LINE) _Atomic uint64_t taken;	   /* by the device */
} queues[IDXD_EMU_WQS_MAX];
static pthread_t thread;
static _Atomic bool stopping;
static const struct idxd_source *before;

static uint64_t le64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t le32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void count(_Atomic uint64_t *counter)
{
	/* relaxed: one writer, the device's thread; read when all is done */
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static struct idxd_emu_desc decode(const unsigned char *bytes, bool in_batch)
{
	uint32_t op_flags = le32(bytes + 4);

	return (struct idxd_emu_desc){
		.op = (uint8_t)(op_flags >> 24),
		.flags = op_flags & 0xffffff,
		.record = le64(bytes + 8),
		.src = le64(bytes + 16),
		.dst = le64(bytes + 24),
		.size = le32(bytes + 32),
		.in_batch = in_batch,
	};
}

/* NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor's addresses are the process's
 */
static void *pointer(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

/* A batch's descriptors have a record only when they fail, or ask for one. */
static void write_record(const struct idxd_emu_desc *desc, const struct idxd_emu_act *act)
{
	unsigned char *record = pointer(desc->record);
	uint32_t zero = 0;

	if (!(desc->flags & 0x4) || (act->status == 0x01 && !(desc->flags & 0x8)))
		return;
	record[1] = act->result;
	memcpy(record + 2, &zero, 2);
	memcpy(record + 4, &act->completed, 4);
	memcpy(record + 8, &act->fault_addr, 8);
	count(&emu.counts.records);
	/* release: the bytes moved, the rest of this record and the records of a batch's
	 * descriptors must be visible to whoever acquires the status */
	__atomic_store_n(record, act->status, __ATOMIC_RELEASE);
}

/* As a device checks it; 0 or a status. */
static uint8_t wrong(const unsigned char *bytes, const struct idxd_emu_desc *desc,
		     const struct idxd_wq *wq)
{
	uint32_t known = 0x4 | 0x8 | (desc->in_batch ? 0x1 : 0) |
			 (wq->block_on_fault ? 0x2 : 0) |
			 (wq->cache_control ? 0x100 : 0) | (wq->readback ? 0x4000 : 0);

	if (desc->op != 0x00 && desc->op != 0x03 && (desc->op != 0x01 || desc->in_batch))
		return 0x10;
	if ((desc->flags & ~known) || !(desc->flags & 0x4))
		return 0x11;
	if (le32(bytes) || le32(bytes + 36) || le64(bytes + 40) || le64(bytes + 48) ||
	    le64(bytes + 56))
		return 0x12;
	if (desc->op == 0x03 && (!desc->size || desc->size > wq->max_transfer))
		return 0x13;
	if (desc->op == 0x01 && (desc->size < 2 || desc->size > wq->max_batch))
		return 0x14;
	if (desc->op == 0x01 && desc->src % 64)
		return 0x18;
	return 0;
}

static size_t move_page(void *dst, const void *src, size_t len, enum cp_dir dir,
			enum cp_attr attr)
{
	(void)dir;
	(void)attr;
	memcpy(dst, src, len);
	return 0;
}

static uint64_t in_page(uint64_t addr)
{
	return 4096 - addr % 4096;
}

/* At most `len` bytes, page by page; one that cannot be had ends it as a page fault. */
static void move(const struct idxd_emu_desc *desc, uint32_t len, struct idxd_emu_act *act)
{
	uint32_t at = 0;

	while (at < len) {
		uint64_t src = desc->src + at, dst = desc->dst + at, n = len - at;

		if (n > in_page(src))
			n = in_page(src);
		if (n > in_page(dst))
			n = in_page(dst);
		if (cp_guard_copy(move_page, pointer(dst), pointer(src), n, CP_DIR_READ,
				  CP_ATTR_WB)) {
			bool write = cp_guard_take_side() == CP_GUARD_DST;

			act->status = write ? 0x83 : 0x03;
			act->completed = at;
			/* a device may report no more than the page */
			act->fault_addr = (write ? dst : src) & ~4095UL;
			return;
		}
		at += (uint32_t)n;
	}
}

/* The last `len` bytes of a move. */
static struct idxd_emu_desc tail(const struct idxd_emu_desc *desc, uint32_t len)
{
	struct idxd_emu_desc last = *desc;

	last.src += desc->size - len;
	last.dst += desc->size - len;
	return last;
}

static uint8_t execute(const unsigned char *bytes, const struct idxd_wq *wq,
		       bool in_batch);

/* All of them, in their order: what a device may do at once it may do one by one. */
static void batch(const struct idxd_emu_desc *desc, const struct idxd_wq *wq,
		  struct idxd_emu_act *act)
{
	const unsigned char *list = pointer(desc->src);
	uint32_t end = act->status == 0x06 ? act->completed : desc->size;

	count(&emu.counts.batches);
	for (uint32_t i = 0; i < end; i++) {
		if (execute(list + (size_t)i * 64, wq, true) != 0x01 &&
		    act->status == 0x01)
			act->status = 0x05;
	}
	act->completed = end;
}

/* The status that its record has, or would have. */
static uint8_t execute(const unsigned char *bytes, const struct idxd_wq *wq,
		       bool in_batch)
{
	struct idxd_emu_desc desc = decode(bytes, in_batch);
	struct idxd_emu_act act = {.status = wrong(bytes, &desc, wq)};
	bool scripted = false;

	if (act.status) {
		count(&emu.counts.refused);
		write_record(&desc, &act);
		return act.status;
	}
	act.status = 0x01;
	if (desc.op && emu.script)
		scripted = emu.script(emu.arg, &desc, &act);
	if (desc.op == 0x01) {
		batch(&desc, wq, &act);
	} else if (desc.op == 0x03) {
		count(&emu.counts.moves);
		struct idxd_emu_desc part =
			act.result ? tail(&desc, act.completed) : desc;

		move(&part, scripted ? act.completed : desc.size, &act);
	}
	write_record(&desc, &act);
	return act.status;
}

static struct held held[HELD_MAX];
static unsigned nr_held;

/* One of those that may be done now, from `i` on; none: false. */
static bool run_held(unsigned i)
{
	uint64_t hold = atomic_load(&emu.hold);
	unsigned tries = 0;

	while (hold && le64(held[i].desc + 16) == hold) {
		if (++tries > nr_held)
			return false;
		i = (i + 1) % nr_held;
	}
	struct held one = held[i];

	held[i] = held[--nr_held];
	execute(one.desc, &emu.wqs[one.port->wq], false);
	one.port->held--;
	return true;
}

/* The next descriptor of a portal, when there is one. */
static bool take(struct port *port)
{
	unsigned char *slot = port->page + (size_t)port->at * 64;
	unsigned char desc[64];
	/* acquire: the other 56 bytes, stored before this word's release, and all that
	 * the submitter stored before it, must be visible to us */
	uint64_t first = __atomic_load_n((uint64_t *)(void *)slot, __ATOMIC_ACQUIRE);

	if (!first)
		return false;
	memcpy(desc, &first, 8);
	memcpy(desc + 8, slot + 8, 56);
	/* relaxed: its submitter sees `taken` rise before it uses the slot again, since a
	 * queue holds fewer descriptors than a portal has slots */
	__atomic_store_n((uint64_t *)(void *)slot, 0, __ATOMIC_RELAXED);
	/* release: our reads of the slot are over before it may be filled again */
	atomic_store_explicit(&queues[port->wq].taken, queues[port->wq].taken + 1,
			      memory_order_release);
	port->at = (port->at + 1) % SLOTS;
	count(&emu.counts.taken);
	if (!emu.reorder) {
		execute(desc, &emu.wqs[port->wq], false);
		return true;
	}
	if (nr_held == HELD_MAX)
		run_held(0);
	memcpy(held[nr_held].desc, desc, 64);
	held[nr_held++].port = port;
	port->held++;
	return true;
}

static bool serve(struct port *port)
{
	bool closing, took = false;

	/* acquire: the page and the counters of a port that was just opened */
	if (!atomic_load_explicit(&port->open, memory_order_acquire))
		return false;
	/* acquire: with it all that was written to the portal before */
	closing = atomic_load_explicit(&port->closing, memory_order_acquire);
	/* relaxed: a test that pauses looks at nothing else by it */
	if (closing || !atomic_load_explicit(&emu.paused, memory_order_relaxed)) {
		for (unsigned i = 0; i < 16 && take(port); i++)
			took = true;
	}
	if (closing && !took && !port->held)
		/* release: we are done with the port's memory */
		atomic_store_explicit(&port->open, false, memory_order_release);
	return took;
}

static void *device_main(void *arg)
{
	uint64_t seed = 88172645463325252ULL;
	unsigned idle = 0;

	(void)arg;
	/* relaxed: nothing is read through it; pthread_join() orders the end */
	while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
		bool took = false;

		for (unsigned i = 0; i < PORTS_MAX; i++)
			took |= serve(&ports[i]);
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		if (!took && nr_held)
			took = run_held((unsigned)(seed >> 33) % nr_held);
		if (took) {
			idle = 0;
		} else if (++idle % 256) {
			cp_cpu_relax();
		} else {
			sched_yield(); /* the submitter may need this CPU */
		}
	}
	return NULL;
}

/* The store of 64 bytes that a portal wants: the word that the device looks at is last.
 */
static void store(unsigned char *slot, const struct idxd_desc *desc)
{
	const unsigned char *bytes = (const unsigned char *)desc;

	memcpy(slot + 8, bytes + 8, 56);
	/* release: see take() */
	__atomic_store_n((uint64_t *)(void *)slot, le64(bytes), __ATOMIC_RELEASE);
}

/* As one that passes earlier stores would need it. Ours does not: what counts is that it
 * was called. */
static void order(struct idxd_port *port)
{
	((struct port *)port->owner)->ordered = true;
}

static unsigned char *slot_of(struct idxd_port *port, struct port *own)
{
	if (emu.strict_order && !own->ordered)
		atomic_fetch_add(&emu.counts.unordered, 1);
	own->ordered = false;
	/* also where write() stands before it, and the portal is not the engine's */
	port->portal = own->page;

	unsigned char *slot = idxd_port_slot(port);

	if (emu.no_portal)
		port->portal = NULL;
	return slot;
}

/* Does the queue take one more than `accepted`? What was last seen of the device is
 * enough to say yes. */
static bool room(struct port *own, uint64_t accepted)
{
	unsigned entries = idxd_wq_entries(&emu.wqs[own->wq]);

	if (accepted - own->taken_seen >= entries)
		/* acquire: the device is done with the slots it has emptied */
		own->taken_seen = atomic_load_explicit(&queues[own->wq].taken,
						       memory_order_acquire);
	return accepted - own->taken_seen < entries;
}

/* MOVDIR64B: no answer, and no room means that it is lost. */
static int submit_dedicated(struct idxd_port *port, const struct idxd_desc *desc)
{
	struct port *own = port->owner;
	/* relaxed: one submitter */
	uint64_t accepted =
		atomic_load_explicit(&queues[own->wq].accepted, memory_order_relaxed);

	if (!room(own, accepted)) {
		atomic_fetch_add(&emu.counts.dropped, 1);
		return 0;
	}
	atomic_store_explicit(&queues[own->wq].accepted, accepted + 1,
			      memory_order_relaxed);
	store(slot_of(port, own), desc);
	return 0;
}

/* ENQCMD: ZF=1 when the queue is as full as it may be. */
static int submit_shared(struct idxd_port *port, const struct idxd_desc *desc)
{
	struct port *own = port->owner;
	/* relaxed: a count; what it lets in is ordered by `taken` and by the slot */
	uint64_t accepted =
		atomic_load_explicit(&queues[own->wq].accepted, memory_order_relaxed);

	do {
		if (!room(own, accepted)) {
			atomic_fetch_add(&emu.counts.retries, 1);
			return -EAGAIN;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&queues[own->wq].accepted, &accepted, accepted + 1, memory_order_relaxed,
		memory_order_relaxed));
	store(slot_of(port, own), desc);
	return 0;
}

/* write() on the device file, which looks into descriptors first, as Linux does. */
static int submit_write(struct idxd_port *port, const struct idxd_desc *desc)
{
	const struct port *own = port->owner;
	const struct idxd_wq *wq = &emu.wqs[own->wq];

	if (emu.submit_rc)
		return emu.submit_rc;
	if (((const unsigned char *)desc)[7] == 0x01 && wq->first_version)
		return -EINVAL;
	if (le64((const unsigned char *)desc + 8) % 32)
		return -EINVAL;
	return wq->dedicated ? submit_dedicated(port, desc) : submit_shared(port, desc);
}

static int emu_list(struct idxd_wq *wqs, unsigned max, struct cp_err *err)
{
	unsigned nr = emu.nr_wqs < max ? emu.nr_wqs : max;

	if (emu.absent)
		return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				  "no DSA device: it is emulated");
	memcpy(wqs, emu.wqs, nr * sizeof(*wqs));
	return (int)nr;
}

static int emu_open(const struct idxd_wq *wq, struct idxd_port *ret_port,
		    struct cp_err *err)
{
	unsigned n = 0, p = 0;

	if (emu.open_rc)
		return cp_err_set(err, CP_EXIT_INVALID, -emu.open_rc,
				  "idxd: the emulation opens nothing");
	while (strcmp(emu.wqs[n].path, wq->path) != 0)
		n++;
	while (p < PORTS_MAX && atomic_load(&ports[p].open))
		p++;
	if (p == PORTS_MAX)
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "idxd: the emulation has no more portals");
	struct port *own = &ports[p];

	/* here, not at start: cmocka puts handlers of its own above those of a fixture */
	int rc = cp_guard_get(err);

	if (rc)
		return rc;
	memset(own->page, 0, sizeof(own->page));
	own->taken_seen = atomic_load(&queues[n].taken);
	own->at = own->held = 0;
	atomic_store(&own->closing, false);
	own->wq = n;
	emu.wqs[n].clients++;
	*ret_port = (struct idxd_port){
		.submit = emu.no_portal	  ? submit_write
			  : wq->dedicated ? submit_dedicated
					  : submit_shared,
		.how = emu.no_portal ? "write" : "emulation",
		.portal = emu.no_portal ? NULL : own->page,
		.order = order,
		.batches = !emu.no_portal || !wq->first_version,
		.owner = own,
	};
	/* release: see serve() */
	atomic_store_explicit(&own->open, true, memory_order_release);
	return 0;
}

static void emu_close(struct idxd_port *port)
{
	struct port *own = port->owner;

	/* release, and the wait's acquire: see serve() */
	atomic_store_explicit(&own->closing, true, memory_order_release);
	while (atomic_load_explicit(&own->open, memory_order_acquire))
		sched_yield();
	emu.wqs[own->wq].clients--;
	cp_guard_put();
}

static const struct idxd_source emulation = {
	.list = emu_list,
	.open = emu_open,
	.close = emu_close,
};

static struct idxd_wq queue(const char *name, bool dedicated)
{
	struct idxd_wq wq = {
		.device = "dsa0",
		.node = 0,
		.device_enabled = true,
		.pasid = true,
		.cache_control = true,
		.readback = true,
		.state = IDXD_WQ_ENABLED,
		.type = IDXD_WQ_USER,
		.dedicated = dedicated,
		.size = 32,
		.threshold = dedicated ? 0 : 24,
		.max_batch = 32,
		.max_transfer = 2UL << 20,
	};

	snprintf(wq.name, sizeof(wq.name), "%s", name);
	snprintf(wq.path, sizeof(wq.path), "/dev/dsa/%s", name);
	return wq;
}

struct idxd_emu *idxd_emu_start(void)
{
	memset(&emu, 0, sizeof(emu));
	emu.wqs[0] = queue("wq0.0", true);
	emu.wqs[1] = queue("wq0.1", false);
	/* limits that make several batches, and several rounds of them, of little */
	emu.wqs[2] = queue("wq0.2", false);
	emu.wqs[2].size = emu.wqs[2].threshold = 16;
	emu.wqs[2].max_batch = 4;
	emu.wqs[2].max_transfer = 64;
	emu.wqs[2].block_on_fault = true;
	emu.wqs[2].cache_control = false;
	emu.wqs[2].readback = false;
	emu.nr_wqs = 3;
	nr_held = 0;
	atomic_store(&stopping, false);
	if (pthread_create(&thread, NULL, device_main, NULL))
		abort();
	before = idxd_source;
	idxd_source = &emulation;
	return &emu;
}

void idxd_emu_stop(void)
{
	idxd_source = before;
	atomic_store(&stopping, true);
	pthread_join(thread, NULL);
}
