// SPDX-License-Identifier: GPL-2.0-only
/* Which DSA work queue can be used, which is the best, and what is wrong with the others.
 */
#include <errno.h>
#include <string.h>

#include "engines/dma/idxd_dev.h"

static int refuse(struct cp_err *err, int errnum, const struct idxd_wq *wq,
		  const char *what, const char *expected)
{
	return cp_err_set(err, CP_EXIT_INVALID, errnum,
			  "idxd: '%s' of '%s' %s; expected %s", wq->path, wq->device,
			  what, expected);
}

int idxd_wq_check(const struct idxd_wq *wq, struct cp_err *err)
{
	if (!wq->device_enabled)
		return cp_err_set(err, CP_EXIT_INVALID, ENXIO,
				  "idxd: device '%s' is disabled; expected 'accel-config "
				  "enable-device %s' and 'accel-config enable-wq %s/%s'",
				  wq->device, wq->device, wq->device, wq->name);
	if (wq->type != IDXD_WQ_USER)
		return cp_err_set(
			err, CP_EXIT_INVALID, ENXIO,
			"idxd: '%s' of '%s' is %s; expected type user: "
			"'accel-config config-wq --type=user --driver-name=user "
			"%s/%s' while it is disabled",
			wq->path, wq->device,
			wq->type == IDXD_WQ_KERNEL ? "the kernel's" : "of no type",
			wq->device, wq->name);
	if (wq->state != IDXD_WQ_ENABLED)
		return cp_err_set(
			err, CP_EXIT_INVALID, ENXIO,
			"idxd: '%s' is %s; expected 'accel-config enable-wq %s/%s'",
			wq->path,
			wq->state == IDXD_WQ_DISABLED ? "disabled"
						      : "neither enabled nor "
							"disabled",
			wq->device, wq->name);
	if (wq->open_errno == ENOENT)
		return refuse(err, ENXIO, wq, "has no device file here",
			      "udev to make it, or /dev/dsa passed into this container");
	if (wq->open_errno)
		return refuse(
			err, wq->open_errno, wq, "may not be opened by this user",
			"read and write permission on it, of its group say (chgrp and "
			"chmod g+rw, or a udev rule), or root");
	if (!wq->pasid)
		return refuse(err, ENXIO, wq,
			      "has no PASID, so it cannot share addresses",
			      "a kernel with SVA, booted with intel_iommu=on,sm_on");
	if (!idxd_wq_entries(wq) || !wq->max_transfer)
		return refuse(err, ENXIO, wq, "holds no descriptors",
			      "'accel-config config-wq --wq-size=16 --threshold=16'");
	return 0;
}

/* A dedicated queue has one client at a time; 0 when cfg can have this one now, and what
 * it asks of it. */
static int check_wanted(const struct idxd_wq *wq, const struct cp_dma_cfg *cfg,
			struct cp_err *err)
{
	if (wq->dedicated && wq->clients)
		return refuse(err, EBUSY, wq, "is dedicated and in use",
			      "a shared queue (accel-config config-wq --mode=shared), or "
			      "as many dedicated ones as channels");
	if (cfg->exclusive && !wq->dedicated)
		return refuse(err, EBUSY, wq, "is shared and cannot be had alone",
			      "a dedicated queue (accel-config config-wq "
			      "--mode=dedicated)");
	if (cfg->durable == CP_DMA_DURABLE_REQUIRED && !wq->readback)
		return refuse(err, ENXIO, wq,
			      "cannot read back what it wrote, so its writes may be on "
			      "their way when it is done",
			      "persist auto, which flushes behind them, or dma none");
	return 0;
}

static int check_ring(const struct idxd_wq *wq, const struct cp_dma_cfg *cfg,
		      struct cp_err *err)
{
	if (cfg->ring <= idxd_wq_entries(wq))
		return 0;
	return cp_err_set(
		err, CP_EXIT_USAGE, EINVAL,
		"idxd: a ring of '%u' is above the %u descriptors that '%s' takes; "
		"expected at most %u, no ring (what has no room waits), or "
		"'accel-config config-wq --wq-size=%u %s/%s' while it is disabled",
		cfg->ring, idxd_wq_entries(wq), wq->path, idxd_wq_entries(wq), cfg->ring,
		wq->device, wq->name);
}

static int pick_named(const struct idxd_wq *wqs, unsigned nr, const char *path,
		      const struct cp_dma_cfg *cfg, unsigned *ret_index,
		      struct cp_err *err)
{
	for (unsigned i = 0; i < nr; i++) {
		int rc;

		if (strcmp(wqs[i].path, path) != 0)
			continue;
		rc = idxd_wq_check(&wqs[i], err);
		if (!rc)
			rc = check_wanted(&wqs[i], cfg, err);
		if (!rc)
			rc = check_ring(&wqs[i], cfg, err);
		if (!rc)
			*ret_index = i;
		return rc;
	}
	char list[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < nr; i++) {
		int n = snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				 wqs[i].path);

		if (n < 0 || (size_t)n >= sizeof(list) - used) {
			list[used] = '\0'; /* whole names only */
			break;
		}
		used += (size_t)n;
	}
	return cp_err_set(err, CP_EXIT_USAGE, ENOENT,
			  "idxd: unknown work queue '%s'; expected %s", path,
			  used ? list : "a queue, of which no device here has one");
}

/* Each outweighs those below it; where none has room for the ring the largest is named.
 */
static unsigned score(const struct idxd_wq *wq, const struct cp_dma_cfg *cfg)
{
	unsigned near = cfg->node >= 0 && wq->node == cfg->node;
	unsigned kind = wq->dedicated == cfg->exclusive;
	unsigned entries = idxd_wq_entries(wq);

	if (entries > 0xffff)
		entries = 0xffff;
	if (cfg->ring > entries)
		return entries;
	return 1U << 18 | near << 17 | kind << 16 | entries;
}

int idxd_wq_pick(const struct idxd_wq *wqs, unsigned nr, const char *path,
		 const struct cp_dma_cfg *cfg, const bool *tried, unsigned *ret_index,
		 struct cp_err *err)
{
	unsigned best = 0, best_score = 0;
	struct cp_err why;
	int rc = 0, first_rc = 0;

	if (*path)
		return pick_named(wqs, nr, path, cfg, ret_index, err);
	for (unsigned i = 0; i < nr; i++) {
		if (tried && tried[i])
			continue;
		rc = idxd_wq_check(&wqs[i], &why);
		if (!rc)
			rc = check_wanted(&wqs[i], cfg, &why);
		/* The reason to name is the one nearest to usable: a queue that is busy
		 * before one that was never configured. */
		if (rc && (!first_rc || (rc == -EBUSY && first_rc != -EBUSY))) {
			first_rc = rc;
			*err = why;
		}
		if (!rc && score(&wqs[i], cfg) > best_score) {
			best = i;
			best_score = score(&wqs[i], cfg);
		}
	}
	if (best_score) {
		rc = check_ring(&wqs[best], cfg, err);
		if (!rc)
			*ret_index = best;
		return rc;
	}
	if (first_rc)
		return first_rc;
	return cp_err_set(
		err, CP_EXIT_INVALID, ENXIO,
		"idxd: no work queue is left to open; expected one of type user: "
		"'accel-config config-wq' and 'accel-config enable-wq'");
}
