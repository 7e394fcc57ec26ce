/* SPDX-License-Identifier: GPL-2.0-only */
/* A device with one submitter, set up from a few words, for this room's tests. */
#ifndef CP_ENGINES_QUEUE_T_RIG_H
#define CP_ENGINES_QUEUE_T_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "engines/queue/queue.h"

#define MEDIA_BYTES (8U << 20)
#define GUARD	    64U

static struct cp_topo topo;

struct rig {
	struct cp_dev *dev;
	struct cp_sub *sub;
};

static inline void set(struct cp_arm *arm, const char *field, const char *text)
{
	struct cp_err err;

	assert_int_equal(
		cp_field_parse(cp_field_find(cp_arm_fields, field), arm, text, &err), 0);
}

/* settings: "field=value field=value ..." */
static inline void arm_from(struct cp_arm *arm, const char *settings)
{
	char text[256], *save = NULL;

	cp_arm_init(arm);
	snprintf(text, sizeof(text), "%s", settings);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value = '\0';
		set(arm, word, value + 1);
	}
}

static inline struct cp_dev_cfg config(const char *settings)
{
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = MEDIA_BYTES,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 16,
		.fio_version = "",
		.topo = &topo,
	};

	arm_from(&cfg.arm, settings);
	return cfg;
}

static inline struct rig rig_open(const struct cp_dev_cfg *cfg)
{
	struct rig rig;
	struct cp_err err;

	if (cp_dev_open(cfg, &rig.dev, &err) != 0)
		fail_msg("%s", err.msg);
	if (cp_sub_open(rig.dev, &rig.sub, &err) != 0)
		fail_msg("%s", err.msg);
	return rig;
}

static inline void rig_close(struct rig *rig)
{
	cp_sub_close(rig->sub);
	cp_dev_close(rig->dev);
}

static inline struct cp_proof proof_of(struct rig *rig)
{
	struct cp_hist lat;
	struct cp_sidecar_job out = {.lat = &lat};

	cp_sub_measure_end(rig->sub);
	cp_sub_report(rig->sub, &out);
	return out.proof;
}

static inline void one(struct rig *rig, struct cp_io *io, bool mq)
{
	struct cp_io *done = NULL;

	if (!mq) {
		cp_sub_bio(rig->sub, io);
		return;
	}
	assert_int_equal(cp_sub_queue(rig->sub, io), 0);
	cp_sub_commit(rig->sub);
	assert_int_equal(cp_sub_reap(rig->sub, 1, 1, &done), 1);
	assert_ptr_equal(done, io);
}
#endif
