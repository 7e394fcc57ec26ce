// SPDX-License-Identifier: GPL-2.0-only
/* The page path in a bare loop: bytes, ways, overlap, fallbacks, what a failure claims.
 */
#include <pthread.h>

#include "engines/queue/t/rig.h"

#define PAGE CP_PAGE_BYTES

static unsigned char pattern(uint64_t i, unsigned salt)
{
	return (unsigned char)((i * 131 + salt) ^ (i >> 8));
}

static void fill(unsigned char *buf, uint64_t bytes, unsigned salt)
{
	memset(buf, 0xee, bytes + 2 * GUARD);
	for (uint64_t i = 0; i < bytes; i++)
		buf[GUARD + i] = pattern(i, salt);
}

static void check(const unsigned char *buf, uint64_t bytes, unsigned salt)
{
	for (uint64_t i = 0; i < bytes; i++)
		assert_int_equal(buf[GUARD + i], pattern(i, salt));
	for (unsigned i = 0; i < GUARD; i++) {
		assert_int_equal(buf[i], 0xee);
		assert_int_equal(buf[GUARD + bytes + i], 0xee);
	}
}

/* Description: pages reach their place to the byte, by every way, and the proof says
 * which it was. */
static void test_bytes(void **state)
{
	static const struct {
		const char *settings;
		bool dma;
	} cases[] = {
		{"queue_mode=page copy=memcpy", false},
		{"queue_mode=page copy=nt", false},
		{"queue_mode=page path=dma dma=sw", true},
		{"queue_mode=page path=dma dma=sw completion=irq", true},
		{"queue_mode=page path=dma dma=sw:threads=2,ring=64 queue_depth=64",
		 true},
		{"queue_mode=page path=dma dma=sw queue_depth=4 q_per_node=1", true},
		{"queue_mode=page path=auto dma=sw dma_thresh_read=4k "
		 "dma_thresh_write=4k",
		 true},
		{"queue_mode=page path=auto dma=sw", false},
	};
	static const uint64_t sizes[] = {1, 2, 16, 128, 129, 512};
	unsigned char *buf = malloc(512 * PAGE + 2 * GUARD);
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct cp_dev_cfg cfg = config(cases[c].settings);
		struct rig rig = rig_open(&cfg);
		uint64_t pages = 0;

		cp_sub_measure_begin(rig.sub);
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			uint64_t bytes = sizes[s] * PAGE;
			struct cp_io io = {.near = buf + GUARD,
					   .offset = 512 * s,
					   .bytes = bytes,
					   .dir = CP_DIR_WRITE};

			fill(buf, bytes, (unsigned)s);
			cp_sub_page(rig.sub, &io);
			assert_int_equal(io.error, 0);
			memset(buf + GUARD, 0, bytes);
			io.dir = CP_DIR_READ;
			cp_sub_page(rig.sub, &io);
			assert_int_equal(io.error, 0);
			assert_int_equal(io.residue, 0);
			check(buf, bytes, (unsigned)s);
			pages += 2 * sizes[s];
		}
		struct cp_proof proof = proof_of(&rig);

		assert_int_equal(proof.bytes_dma, cases[c].dma ? pages * PAGE : 0);
		assert_int_equal(proof.bytes_cpu, cases[c].dma ? 0 : pages * PAGE);
		assert_int_equal(proof.queue.transactions, cases[c].dma ? pages : 0);
		assert_int_equal(proof.queue.requests, 0);
		assert_int_equal(proof.page.pages, pages);
		assert_int_equal(proof.errors, 0);
		rig_close(&rig);
	}
	free(buf);
}

static int setup(void **state)
{
	struct cp_err err;

	(void)state;
	return cp_topo_load(NULL, &topo, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
