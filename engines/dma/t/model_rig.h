/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the model engine share: a clock that stands still unless told. */
#ifndef CP_ENGINES_DMA_T_MODEL_RIG_H
#define CP_ENGINES_DMA_T_MODEL_RIG_H

#include "engines/dma/t/rig.h"

#include "engines/dma/model_priv.h"

#define US 1000U

static uint64_t fake_ns;
static uint64_t (*real_now)(void);

static inline uint64_t fake_now(void)
{
	return fake_ns;
}

static inline int fake_clock(void **state)
{
	(void)state;
	real_now = cp_model_now;
	cp_model_now = fake_now;
	fake_ns = 1000000 * US;
	return 0;
}

static inline int real_clock(void **state)
{
	(void)state;
	cp_model_now = real_now;
	return 0;
}

/* Nothing is touched without data=yes, so any address will do. */
static unsigned char far[1], near[1];

static inline void hand_in(struct rig *rig, uint64_t bytes, unsigned nr_sg,
			   unsigned flags, void *user)
{
	struct cp_dma_sg sg[CP_DMA_SEGMENTS_MAX];

	for (unsigned i = 0; i < nr_sg; i++)
		sg[i] = (struct cp_dma_sg){.addr = near, .len = bytes / nr_sg};
	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, CP_DIR_READ, far, sg, nr_sg,
						  flags, user),
			 0);
	assert_true(rig->ops->submit(rig->chan) > 0);
}

/* To the moment of the channel's next completion, which is reaped. */
static inline void next_done(struct rig *rig, struct cp_dma_completion *done)
{
	while (!rig->ops->reap(rig->chan, done, 1)) {
		uint64_t look_ns = model_next_look(rig->chan);

		assert_true(look_ns != MODEL_NEVER && look_ns > fake_ns);
		fake_ns = look_ns;
	}
	assert_int_equal(done->result, CP_DMA_OK);
	assert_int_equal(done->residue, 0);
}

#endif
