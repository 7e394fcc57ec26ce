// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of this machine: found through libaccel-config, opened as device files, and
 * how a descriptor gets into one.
 *
 * MOVDIR64B writes 64 bytes to a dedicated queue's portal and knows of no answer: its
 * owner counts, and never has more out than the queue holds. ENQCMD writes to a shared
 * one's and says in ZF whether there was room. Linux since 6.9 (and the stable releases
 * with the fix of INTEL-SA-01084) lets nobody map the portal of a first-version device
 * without CAP_SYS_RAWIO: there descriptors are written to the device file instead, one
 * system call each, and batches are refused by the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "engines/copy/isa.h"
#include "engines/dma/idxd_dev.h"

#define WHERE "/sys/bus/dsa/devices/dsa*"

static int none_here(struct cp_err *err, const char *more)
{
	return cp_err_set(err, CP_EXIT_INVALID, ENODEV,
			  "no DSA device: no driver 'idxd' or no " WHERE
			  "%s; expected an Intel "
			  "CPU with DSA (Sapphire Rapids or later), 'modprobe idxd', and "
			  "intel_iommu=on,sm_on",
			  more);
}

#if defined(__x86_64__)

#include <accel-config/libaccel_config.h>
#include <immintrin.h>

static void order_stores(struct idxd_port *port)
{
	(void)port;
	_mm_sfence();
}

__attribute__((target("movdir64b"))) static int
submit_movdir64b(struct idxd_port *port, const struct idxd_desc *desc)
{
	_movdir64b(idxd_port_slot(port), desc);
	return 0;
}

__attribute__((target("enqcmd"))) static int submit_enqcmd(struct idxd_port *port,
							   const struct idxd_desc *desc)
{
	return _enqcmd(idxd_port_slot(port), desc) ? -EAGAIN : 0;
}

static int submit_write(struct idxd_port *port, const struct idxd_desc *desc)
{
	ssize_t n = write(port->fd, desc, sizeof(*desc));

	if (n == (ssize_t)sizeof(*desc))
		return 0;
	/* EAGAIN: its own ENQCMD found no room */
	return n < 0 && errno != EINTR ? -errno : n < 0 ? -EAGAIN : -EIO;
}

static enum idxd_wq_type type_of(struct accfg_wq *wq)
{
	enum accfg_wq_type type = accfg_wq_get_type(wq);

	return type == ACCFG_WQT_USER	  ? IDXD_WQ_USER
	       : type == ACCFG_WQT_KERNEL ? IDXD_WQ_KERNEL
					  : IDXD_WQ_NONE;
}

static enum idxd_wq_state state_of(struct accfg_wq *wq)
{
	enum accfg_wq_state state = accfg_wq_get_state(wq);

	return state == ACCFG_WQ_ENABLED    ? IDXD_WQ_ENABLED
	       : state == ACCFG_WQ_DISABLED ? IDXD_WQ_DISABLED
					    : IDXD_WQ_OTHER;
}

static unsigned at_least_0(int value)
{
	return value > 0 ? (unsigned)value : 0;
}

/* Read here: accfg_device_get_pasid_enabled() of libaccel-config 3.5 is true whatever the
 * attribute says. Its word counts where the attribute cannot be read. */
static bool has_pasid(struct accfg_device *device)
{
	char path[128], *text;
	struct cp_err err;
	size_t len;

	snprintf(path, sizeof(path), "/sys/bus/dsa/devices/%s/pasid_enabled",
		 accfg_device_get_devname(device));
	if (cp_file_read(path, 64, &text, &len, &err))
		return accfg_device_get_pasid_enabled(device);
	bool on = text[0] != '0';

	free(text);
	return on;
}

static void facts(struct accfg_device *device, struct accfg_wq *wq, struct idxd_wq *ret)
{
	uint64_t cap = accfg_device_get_gen_cap(device);

	*ret = (struct idxd_wq){
		.node = accfg_device_get_numa_node(device),
		.device_enabled = accfg_device_get_state(device) == ACCFG_DEVICE_ENABLED,
		.pasid = has_pasid(device),
		.first_version =
			accfg_device_get_version(device) < ACCFG_DEVICE_VERSION_2,
		.cache_control = (cap & IDXD_CAP_CACHE_MEM) != 0,
		.readback = (cap & IDXD_CAP_READBACK) != 0,
		.block_on_fault = accfg_wq_get_block_on_fault(wq) > 0,
		.state = state_of(wq),
		.type = type_of(wq),
		.dedicated = accfg_wq_get_mode(wq) == ACCFG_WQ_DEDICATED,
		.size = (unsigned)accfg_wq_get_size(wq),
		.threshold = at_least_0(accfg_wq_get_threshold(wq)),
		.clients = at_least_0(accfg_wq_get_clients(wq)),
		.max_batch = accfg_wq_get_max_batch_size(wq),
		.max_transfer = accfg_wq_get_max_transfer_size(wq),
	};
	snprintf(ret->device, sizeof(ret->device), "%s",
		 accfg_device_get_devname(device));
	snprintf(ret->name, sizeof(ret->name), "%s", accfg_wq_get_devname(wq));
	snprintf(ret->path, sizeof(ret->path), "/dev/dsa/%s", ret->name);
	ret->open_errno = access(ret->path, R_OK | W_OK) ? errno : 0;
}

static int hw_list(struct idxd_wq *wqs, unsigned max, struct cp_err *err)
{
	struct accfg_ctx *ctx;
	struct accfg_device *device;
	struct accfg_wq *wq;
	unsigned nr = 0, devices = 0;
	int rc = accfg_new(&ctx);

	if (rc)
		return none_here(err, " (libaccel-config cannot look)");
	accfg_device_foreach(ctx, device)
	{
		if (accfg_device_get_type(device) != ACCFG_DEVICE_DSA)
			continue;
		devices++;
		accfg_wq_foreach(device, wq)
		{
			if (nr < max)
				facts(device, wq, &wqs[nr++]);
		}
	}
	accfg_unref(ctx);
	if (!devices)
		return none_here(err, "");
	return (int)nr;
}

/* How descriptors get into the open file of a queue; -ENOSYS: not by a mapping. */
static int map_portal(const struct idxd_wq *wq, struct idxd_port *port)
{
	const char *isa = wq->dedicated ? "movdir64b" : "enqcmd";

	if (!cp_copy_isa_has(isa))
		return -ENOSYS;
	/* MAP_POPULATE: the first submission should not fault */
	void *map = mmap(NULL, IDXD_PORTAL_BYTES, PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			 port->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	port->portal = map;
	port->how = isa;
	port->submit = wq->dedicated ? submit_movdir64b : submit_enqcmd;
	port->order = order_stores;
	port->batches = true;
	return 0;
}

static int hw_open(const struct idxd_wq *wq, struct idxd_port *ret_port,
		   struct cp_err *err)
{
	struct idxd_port port = {.how = "write", .submit = submit_write};
	int rc;

	port.fd = open(wq->path, O_RDWR | O_CLOEXEC);
	if (port.fd < 0 && errno == EBUSY)
		return cp_err_set(
			err, CP_EXIT_INVALID, EBUSY,
			"idxd: '%s' is dedicated and in use; expected a free queue "
			"or a shared one (accel-config config-wq --mode=shared)",
			wq->path);
	if (port.fd < 0)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "idxd: cannot open '%s': %s; expected read and write "
				  "permission (its group, or root) and SVA "
				  "(intel_iommu=on,sm_on)",
				  wq->path, strerror(errno));
	rc = map_portal(wq, &port);
	if (rc && rc != -EPERM && rc != -ENOSYS) {
		close(port.fd);
		return cp_err_set(err, CP_EXIT_INVALID, -rc,
				  "idxd: cannot map the portal of '%s': %s; expected "
				  "CAP_SYS_RAWIO, or a kernel that takes descriptors by "
				  "write()",
				  wq->path, strerror(-rc));
	}
	if (rc)
		port.batches = !wq->first_version;
	*ret_port = port;
	return 0;
}

static void hw_close(struct idxd_port *port)
{
	if (port->portal)
		munmap(port->portal, IDXD_PORTAL_BYTES);
	/* The kernel's release waits until the device has done what this process had in
	 * the queue. */
	close(port->fd);
}

#else

static int hw_list(struct idxd_wq *wqs, unsigned max, struct cp_err *err)
{
	(void)wqs;
	(void)max;
	return none_here(err, " on this architecture");
}

static int hw_open(const struct idxd_wq *wq, struct idxd_port *ret_port,
		   struct cp_err *err)
{
	(void)wq;
	(void)ret_port;
	return none_here(err, " on this architecture");
}

static void hw_close(struct idxd_port *port)
{
	(void)port;
}

#endif

const struct idxd_source idxd_hardware = {
	.list = hw_list,
	.open = hw_open,
	.close = hw_close,
};
