// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a co-runner does. Each kernel carries a sum that depends on every operation, and
 * that is known without doing them: work that a compiler leaves out, a CPU gets wrong or
 * another process overwrites is found at the end.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/drive/corunner.h"
#include "engines/base/random.h"

#define COMPUTE_BLOCK 64   /* operations */
#define COMPUTE_SEEDS 8	   /* they are done in turn */
#define STREAM_BLOCK  4096 /* lines: 256 KiB */
#define CHASE_BLOCK   512  /* loads */
#define WORDS	      (CP_LINE_BYTES / sizeof(uint64_t))
#define CHASE_SEED    UINT64_C(1) /* of the order, the same each time */

/* One line of a pointer-chase. */
struct link {
	const struct link *next;
	uint64_t rank; /* in the order that they are visited */
	char pad[CP_LINE_BYTES - sizeof(void *) - sizeof(uint64_t)];
};
static_assert(sizeof(struct link) == CP_LINE_BYTES, "one line a link");

/* Nothing that is known of x before holds behind this: no result is folded. */
static inline uint64_t opaque(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static uint64_t compute_op(uint64_t op)
{
	uint64_t x = opaque(op % COMPUTE_SEEDS + 1);

	for (unsigned i = 0; i < CP_COMPUTE_ROUNDS; i++)
		x = cp_random_mix(x + CP_RANDOM_GOLDEN);
	return x;
}

static void compute_block(struct cp_work *work)
{
	uint64_t sum = work->sum;

	for (uint64_t i = 0; i < COMPUTE_BLOCK; i++)
		sum += compute_op(work->ops + i);
	work->sum = sum;
	work->ops += COMPUTE_BLOCK;
}

/* Each seed once, and the wholes and the rest by multiplication. The rounds are the steps
 * of splitmix64, taken apart here from how compute_op() chains them. */
static uint64_t compute_expected(uint64_t ops)
{
	uint64_t sum = 0;

	for (uint64_t seed = 0; seed < COMPUTE_SEEDS; seed++) {
		uint64_t x = seed + 1;

		for (unsigned i = 0; i < CP_COMPUTE_ROUNDS; i++) {
			uint64_t state = x;

			x = cp_random_next(&state);
		}
		sum += x * (ops / COMPUTE_SEEDS + (seed < ops % COMPUTE_SEEDS));
	}
	return sum;
}

/* Word i of the memory begins as i, and each pass adds 1 to it. */
static int stream_open(struct cp_work *work)
{
	uint64_t *word = work->memory;

	for (uint64_t i = 0; i < work->nr_lines * WORDS; i++)
		word[i] = i;
	return 0;
}

static void stream_block(struct cp_work *work)
{
	uint64_t at = work->ops % work->nr_lines;
	uint64_t left = STREAM_BLOCK, sum = work->sum;

	while (left) {
		uint64_t nr = work->nr_lines - at < left ? work->nr_lines - at : left;
		uint64_t *word = (uint64_t *)work->memory + at * WORDS;

		for (uint64_t i = 0; i < nr * WORDS; i++) {
			uint64_t value = word[i];

			sum += value;
			word[i] = value + 1;
		}
		left -= nr;
		at = 0;
	}
	/* The stores are to be made, whoever looks at them. */
	__asm__ volatile("" : : "r"(work->memory) : "memory");
	work->sum = sum;
	work->ops += STREAM_BLOCK;
}

/* 0 + 1 + ... + (n - 1), modulo 2^64. */
static uint64_t sum_below(uint64_t n)
{
	return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

static uint64_t stream_expected(uint64_t nr_lines, uint64_t ops)
{
	uint64_t passes = ops / nr_lines, rest = ops % nr_lines;

	return passes * sum_below(nr_lines * WORDS) +
	       nr_lines * WORDS * sum_below(passes) + sum_below(rest * WORDS) +
	       rest * WORDS * passes;
}

/* One cycle through all lines: they are shuffled (Fisher-Yates), and each is given the
 * address of the one behind it. */
static int chase_open(struct cp_work *work)
{
	struct link *links = work->memory;
	size_t bytes = work->nr_lines * sizeof(uint32_t);
	uint64_t state = CHASE_SEED;
	uint32_t *order;

	if (work->nr_lines > UINT32_MAX)
		return -E2BIG;
	order = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (order == MAP_FAILED)
		return -errno;
	for (uint64_t i = 0; i < work->nr_lines; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = work->nr_lines; i > 1; i--) {
		uint64_t k = cp_random_next(&state) % i;
		uint32_t swap = order[i - 1];

		order[i - 1] = order[k];
		order[k] = swap;
	}
	for (uint64_t i = 0; i < work->nr_lines; i++) {
		struct link *link = &links[order[i]];

		link->next = &links[order[(i + 1) % work->nr_lines]];
		link->rank = i;
	}
	work->at = &links[order[0]];
	munmap(order, bytes);
	return 0;
}

/* The sum is the place in the order that was reached, and so as good as all of them. */
static void chase_block(struct cp_work *work)
{
	const struct link *link = work->at;

	for (unsigned i = 0; i < CHASE_BLOCK; i++)
		link = link->next;
	work->at = link;
	work->sum = link->rank;
	work->ops += CHASE_BLOCK;
}

int cp_work_open(struct cp_work *work, enum cp_corunner_kind kind, uint64_t bytes)
{
	int ret;

	*work = (struct cp_work){.kind = kind, .nr_lines = bytes / CP_LINE_BYTES};
	if (kind < CP_CORUNNER_STREAM)
		return 0;
	work->bytes = work->nr_lines * CP_LINE_BYTES;
	work->memory = mmap(NULL, work->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (work->memory == MAP_FAILED) {
		work->memory = NULL;
		return -errno;
	}
	/* Pages of one size, whatever the machine has free: else samples differ. */
	madvise(work->memory, work->bytes, MADV_NOHUGEPAGE);
	ret = kind == CP_CORUNNER_STREAM ? stream_open(work) : chase_open(work);
	if (ret)
		cp_work_close(work);
	return ret;
}

void cp_work_close(struct cp_work *work)
{
	if (work->memory)
		munmap(work->memory, work->bytes);
	work->memory = NULL;
}

void cp_work_block(struct cp_work *work)
{
	switch (work->kind) {
	case CP_CORUNNER_NONE:
		break;
	case CP_CORUNNER_COMPUTE:
		compute_block(work);
		break;
	case CP_CORUNNER_STREAM:
		stream_block(work);
		break;
	case CP_CORUNNER_CHASE:
		chase_block(work);
		break;
	}
}

uint64_t cp_work_expected(enum cp_corunner_kind kind, uint64_t bytes, uint64_t ops)
{
	uint64_t nr_lines = bytes / CP_LINE_BYTES;

	switch (kind) {
	case CP_CORUNNER_NONE:
		break;
	case CP_CORUNNER_COMPUTE:
		return compute_expected(ops);
	case CP_CORUNNER_STREAM:
		return stream_expected(nr_lines, ops);
	case CP_CORUNNER_CHASE:
		return ops % nr_lines;
	}
	return 0;
}
