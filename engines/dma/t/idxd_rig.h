/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of idxd on the emulated device share. */
#ifndef CP_ENGINES_DMA_T_IDXD_RIG_H
#define CP_ENGINES_DMA_T_IDXD_RIG_H

#include "engines/dma/t/idxd_emu.h"
#include "engines/dma/t/rig.h"

#include <stdlib.h>
#include <string.h>

#define DEDICATED "idxd:/dev/dsa/wq0.0"
#define SHARED	  "idxd:/dev/dsa/wq0.1"
#define SMALL	  "idxd:/dev/dsa/wq0.2" /* 64 bytes a descriptor, 4 a batch */

static struct idxd_emu *emu; /* of the test that runs */

static inline int emu_setup(void **state)
{
	(void)state;
	emu = idxd_emu_start();
	return 0;
}

static inline int emu_teardown(void **state)
{
	(void)state;
	idxd_emu_stop();
	return 0;
}

#define emu_test(name) cmocka_unit_test_setup_teardown(name, emu_setup, emu_teardown)

/* nr segments of len bytes, each gap bytes behind the one before. */
static inline void segments(struct cp_dma_sg *sg, unsigned char *near, unsigned nr,
			    size_t len, size_t gap)
{
	for (unsigned i = 0; i < nr; i++)
		sg[i] = (struct cp_dma_sg){.addr = near + i * (len + gap), .len = len};
}

/* One transaction, to its end. */
static inline struct cp_dma_completion transact(struct rig *rig, enum cp_dir dir,
						void *far, const struct cp_dma_sg *sg,
						unsigned nr)
{
	struct cp_dma_completion done;

	assert_int_equal(rig->ops->prep_memcpy_sg(rig->chan, dir, far, sg, nr, 0, rig),
			 0);
	rig->ops->submit(rig->chan);
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, &done, 1);
	assert_ptr_equal(done.user, rig);
	return done;
}

static inline unsigned char *pattern(size_t size, unsigned salt)
{
	unsigned char *mem = malloc(size);

	assert_non_null(mem);
	for (size_t i = 0; i < size; i++)
		mem[i] = (unsigned char)(i * 131 + salt + (i >> 8));
	return mem;
}

/* Bytes of each segment against far, in order, up to `moved`. */
static inline void check_moved(const unsigned char *far, const struct cp_dma_sg *sg,
			       unsigned nr, size_t moved)
{
	size_t at = 0;

	for (unsigned i = 0; i < nr && at < moved; i++) {
		size_t len = sg[i].len < moved - at ? sg[i].len : moved - at;

		assert_memory_equal(sg[i].addr, far + at, len);
		at += len;
	}
}

#endif
