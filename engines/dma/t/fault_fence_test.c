// SPDX-License-Identifier: GPL-2.0-only
/* Fences among transactions that are spoiled: what is fenced sees all that moved before
 * it, to the byte, whatever became of the ones before. */
#include "engines/dma/t/rig.h"

#include <string.h>

#define NR     4U /* writes before a fenced read */
#define LEN    512U
#define ROUNDS 3000U

struct flight {
	unsigned seen;
	enum cp_dma_result result;
	size_t residue;
};

/* NR writes and a fenced read of all that they wrote, reaped in any order. */
static void round_run(struct rig *rig, unsigned char *far, unsigned char *in,
		      unsigned char *out, struct flight flights[NR + 1])
{
	struct cp_dma_completion done[NR + 1];

	for (unsigned i = 0; i <= NR; i++) {
		flights[i] = (struct flight){0};
		if (i < NR)
			rig_submit(rig, CP_DIR_WRITE, far + i * LEN, in + i * LEN, LEN, 0,
				   &flights[i]);
		else
			rig_submit(rig, CP_DIR_READ, far, out, NR * LEN, CP_DMA_FENCE,
				   &flights[i]);
	}
	rig->ops->issue_pending(rig->chan);
	rig_reap(rig, done, NR + 1);
	for (unsigned i = 0; i <= NR; i++) {
		struct flight *flight = done[i].user;

		flight->seen++;
		flight->result = done[i].result;
		flight->residue = done[i].residue;
	}
}

static void fenced_over(const char *spec)
{
	static unsigned char far[NR * LEN], model[NR * LEN], in[NR * LEN], out[NR * LEN];
	struct rig rig = rig_open(spec, 8, false);
	unsigned whole = 0, failed = 0;

	memset(far, 0, sizeof(far));
	memset(model, 0, sizeof(model));
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct flight flights[NR + 1];

		for (size_t i = 0; i < sizeof(in); i++)
			in[i] = (unsigned char)(round + i * 7);
		memset(out, 0xa5, sizeof(out));
		round_run(&rig, far, in, out, flights);
		for (unsigned i = 0; i <= NR; i++) {
			assert_int_equal(flights[i].seen, 1);
			assert_int_equal(flights[i].result != CP_DMA_OK,
					 flights[i].residue > 0);
			failed += flights[i].residue > 0;
		}
		for (unsigned i = 0; i < NR; i++)
			memcpy(model + i * LEN, in + i * LEN, LEN - flights[i].residue);
		assert_memory_equal(far, model, sizeof(far));
		size_t claimed = sizeof(out) - flights[NR].residue;

		assert_memory_equal(out, model, claimed);
		for (size_t i = claimed; i < sizeof(out); i++)
			assert_int_equal(out[i], 0xa5);
		whole += claimed == sizeof(out);
	}
	/* there was something to see, and something to survive */
	assert_true(whole > ROUNDS / 2 && failed > ROUNDS / 10);
	rig_close(&rig);
}

/* Description: a fenced transaction sees what earlier ones moved, and nothing of what
 * they did not, over errors, short, withheld and reordered ones, with one helper thread
 * and with three. */
static void fences_hold_among_faults(void **state)
{
	(void)state;
	fenced_over("fault:sw,error=5%,short=5%,reorder=3,seed=1");
	fenced_over("fault:sw,threads=3,error=5%,short=5%,reorder=5,seed=2");
	fenced_over(
		"fault:sw,threads=2,error=3%,short=3%,never=1%,never_for=20us,seed=3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fences_hold_among_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
