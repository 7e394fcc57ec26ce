/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of DMA engines share: a channel of each kind, driven to the end. */
#ifndef CP_ENGINES_DMA_T_RIG_H
#define CP_ENGINES_DMA_T_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "engines/base/clock.h"
#include "engines/dma/channel.h"

/* Much longer than anything takes, on any machine: only a hang reaches it. */
#define RIG_HANG_NS 30000000000ULL

struct rig {
	const struct cp_dma_ops *ops;
	struct cp_dma_traits traits; /* of its spec */
	struct cp_dma_chan *chan;
};

static inline struct rig rig_open(const char *spec, unsigned ring, bool irq)
{
	struct cp_err err = {0};
	struct rig rig = {.ops = cp_dma_find(spec, &err)};
	struct cp_dma_cfg cfg = {
		.spec = spec,
		.ring = ring,
		.node = -1,
		.cpu = -1,
		.irq = irq,
		.copy = "memcpy",
	};

	if (!rig.ops || rig.ops->open(&cfg, &rig.chan, &err)) {
		fail_msg("%s", err.msg);
		__builtin_unreachable(); /* fail_msg() is not declared so */
	}
	cp_dma_traits(rig.ops, spec, &rig.traits);
	return rig;
}

static inline void rig_close(struct rig *rig)
{
	rig->ops->close(rig->chan);
	rig->chan = NULL;
}

/* One transaction of one segment, submitted but not issued. */
static inline cp_dma_cookie rig_submit(struct rig *rig, enum cp_dir dir, void *far,
				       void *near, size_t len, unsigned flags, void *user)
{
	struct cp_dma_sg sg = {.addr = near, .len = len};

	assert_int_equal(
		rig->ops->prep_memcpy_sg(rig->chan, dir, far, &sg, 1, flags, user), 0);
	return rig->ops->submit(rig->chan);
}

/* Reap exactly nr completions. */
static inline void rig_reap(struct rig *rig, struct cp_dma_completion *done, unsigned nr)
{
	uint64_t end_ns = cp_now_ns() + RIG_HANG_NS;
	unsigned got = 0;

	while (got < nr) {
		unsigned n = rig->ops->reap(rig->chan, done + got, nr - got);

		assert_true(n <= nr - got);
		got += n;
		if (!n) {
			sched_yield(); /* the engine may need this CPU */
			assert_true(cp_now_ns() < end_ns);
		}
	}
}

/* Specs that a test adds to those below, NULL-terminated. */
static const char *const *rig_more;

/* Every engine in the table with its defaults, then with settings worth a run. */
static inline void rig_for_each(void (*each)(const char *spec))
{
	static const char *const more[] = {
		"sw:threads=3",
		"sw:threads=2,ring=64",
		"null:delay=20us",
		"fault:null",
		"fault:sw,threads=2,reorder=4,seed=3",
		"model:setup=1us,desc=50ns,overlap=yes,channels=4,data=yes",
		"model:setup=2us,bw=8g,total=4g,irq=2us,jitter=50%,data=yes,ring=32",
		"fault:kernel,reorder=2",
		"fault:idxd,reorder=2",
		"fault:model,setup=1us,data=yes,reorder=3",
	};

	for (size_t i = 0; cp_dma_table[i]; i++) {
		struct cp_err err = {0};

		if (cp_dma_table[i]->probe(&err)) {
			print_message("not asserted: '%s': %s\n", cp_dma_table[i]->name,
				      err.msg);
			continue;
		}
		/* one that stands on another is among those below */
		if (!cp_dma_table[i]->check(cp_dma_table[i]->name, &err))
			each(cp_dma_table[i]->name);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		each(more[i]);
	for (size_t i = 0; rig_more && rig_more[i]; i++)
		each(rig_more[i]);
}

#endif
