// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the fault guard costs: the same copies without it and with it, and a copy that
 * faults beside one that does not, in alternating pairs. Prints the median of the
 * differences with its interval; exits 1 when one is not what was asked. The cost is that
 * of copies between two stamps, as the block path makes them. In a bare loop a memcpy
 * that is `rep movsb` waits a little for the guard's stores, as it does for the I/O's own
 * in an I/O. sigsetjmp() that saves the mask stands beside it as what the guard is not.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/copy/guard.h"
#include "results/stats.h"

#define PAIRS	    201
#define LEN_MAX	    65536UL
#define COPIES	    20000U
#define FAULTS	    100U
#define COST_NS	    2.0
#define RECOVERY_NS 10000.0

struct load {
	cp_copy_fn volatile fn; /* so that a plain copy is a call through a pointer too */
	unsigned char *dst, *src;
	size_t len;
	unsigned count;
	size_t residue;			   /* of all copies */
	uint64_t submit_ticks, ticks, ios; /* what an I/O keeps beside its copy */
};

static inline void plain_one(struct load *load)
{
	load->residue +=
		load->fn(load->dst, load->src, load->len, CP_DIR_READ, CP_ATTR_WB);
}

static inline void guarded_one(struct load *load)
{
	load->residue += cp_guard_copy(load->fn, load->dst, load->src, load->len,
				       CP_DIR_READ, CP_ATTR_WB);
}

static void plain(struct load *load)
{
	for (unsigned i = 0; i < load->count; i++)
		plain_one(load);
}

static void with_guard(struct load *load)
{
	for (unsigned i = 0; i < load->count; i++)
		guarded_one(load);
}

/* As an I/O has it: stamped, copied, stamped, counted. */
static inline void stamped(struct load *load, void (*one)(struct load *))
{
	for (unsigned i = 0; i < load->count; i++) {
		load->submit_ticks = cp_ticks();
		one(load);
		load->ticks += cp_ticks_since(load->submit_ticks, cp_ticks());
		load->ios++;
	}
}

static void plain_io(struct load *load)
{
	stamped(load, plain_one);
}

static void guarded_io(struct load *load)
{
	stamped(load, guarded_one);
}

static void with_mask(struct load *load)
{
	static sigjmp_buf env;

	for (volatile unsigned i = 0; i < load->count; i++) {
		if (sigsetjmp(env, 1))
			abort();
		load->residue += load->fn(load->dst, load->src, load->len, CP_DIR_READ,
					  CP_ATTR_WB);
	}
}

static double time_of(void (*run)(struct load *), struct load *load)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	run(load);
	return (double)(cp_thread_cpu_ns() - start_ns) / load->count;
}

/* Median of b - a over the pairs; prints it, and whether it is below `asked` (0: nothing
 * is asked). */
static bool pairs(const char *name, double asked, void (*run_a)(struct load *),
		  struct load *a, void (*run_b)(struct load *), struct load *b)
{
	double diff[PAIRS], ratio[PAIRS], low, high, ratio_low, ratio_high;

	time_of(run_a, a);
	time_of(run_b, b);
	for (unsigned i = 0; i < PAIRS; i++) {
		/* ABBA, so that a drift of the machine hits both alike */
		double first = time_of(i % 2 ? run_b : run_a, i % 2 ? b : a);
		double second = time_of(i % 2 ? run_a : run_b, i % 2 ? a : b);
		double ns_a = i % 2 ? second : first, ns_b = i % 2 ? first : second;

		diff[i] = ns_b - ns_a;
		ratio[i] = ns_b / ns_a;
	}
	double median = cp_stat_median(diff, PAIRS);
	bool met = asked <= 0 || median < asked;

	cp_stat_median_interval(diff, PAIRS, 0.95, &low, &high);
	cp_stat_median_interval(ratio, PAIRS, 0.95, &ratio_low, &ratio_high);
	printf("%-42s %+8.2f ns [%.2f..%.2f], ratio %.3f [%.3f..%.3f] of %d pairs", name,
	       median, low, high, cp_stat_median(ratio, PAIRS), ratio_low, ratio_high,
	       PAIRS);
	if (asked > 0)
		printf(", asked < %.0f: %s", asked, met ? "met" : "NOT MET");
	printf("\n");
	return met;
}

/* Memory whose last half faults. */
static unsigned char *broken(bool truncated)
{
	int fd = memfd_create("broken", 0);
	unsigned char *map = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, 2 * LEN_MAX))
		map = mmap(NULL, 2 * LEN_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	memset(map, 7, 2 * LEN_MAX);
	if (truncated ? ftruncate(fd, LEN_MAX)
		      : mprotect(map + LEN_MAX, LEN_MAX, PROT_NONE))
		return NULL;
	close(fd);
	return map;
}

static bool cost(cp_copy_fn fn, unsigned char *dst, unsigned char *src)
{
	static const size_t lengths[] = {64, 4096};
	bool met = true;
	char name[64];

	for (size_t i = 0; i < 2; i++) {
		struct load load = {.fn = fn,
				    .dst = dst,
				    .src = src,
				    .len = lengths[i],
				    .count = COPIES};

		snprintf(name, sizeof(name), "guarded / plain, %zu bytes, in an I/O",
			 load.len);
		met &= pairs(name, COST_NS, plain_io, &load, guarded_io, &load);
		snprintf(name, sizeof(name), "guarded / plain, %zu bytes, bare loop",
			 load.len);
		pairs(name, 0, plain, &load, with_guard, &load);
		load.count = COPIES / 10;
		snprintf(name, sizeof(name), "sigsetjmp with mask / plain, %zu bytes",
			 load.len);
		pairs(name, 0, plain, &load, with_mask, &load);
	}
	return met;
}

static bool recovery(cp_copy_fn fn, unsigned char *dst, unsigned char *bad,
		     const char *name)
{
	struct load good = {
		.fn = fn, .dst = dst, .src = bad, .len = 4096, .count = FAULTS};
	struct load faulty = good;

	faulty.src = bad + LEN_MAX - 2048;
	bool met = pairs(name, RECOVERY_NS, with_guard, &good, with_guard, &faulty);

	if (good.residue || faulty.residue != (PAIRS + 1UL) * FAULTS * 4096) {
		fprintf(stderr, "error: residues are wrong\n");
		exit(1);
	}
	return met;
}

int main(void)
{
	cp_copy_fn fn = cp_copy_find("memcpy")->fn;
	unsigned char *cut = broken(true), *closed = broken(false);
	unsigned char *dst = aligned_alloc(64, LEN_MAX);
	struct cp_err err = {.msg = "out of memory"};

	if (!cut || !closed || !dst || cp_guard_get(&err) != 0) {
		fprintf(stderr, "error: %s\n", err.msg);
		return 4;
	}
	cp_clock_init();
	memset(dst, 1, LEN_MAX);
	bool met = cost(fn, dst, closed);

	met &= recovery(fn, dst, cut, "SIGBUS (cut file) / no fault, 4k");
	met &= recovery(fn, dst, closed, "SIGSEGV (protected) / no fault, 4k");
	cp_guard_put();
	return met ? 0 : 1;
}
