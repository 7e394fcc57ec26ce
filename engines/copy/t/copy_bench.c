// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: copy_bench [UNROLL [PREFETCH]]      (default: 4 none)
 *
 * Every kernel of this machine beside memcpy, as ratios of rates of alternating rounds
 * (kernel, memcpy, memcpy, kernel ...), median and range of the pairs; then unroll and
 * prefetch of the widest kernels beside the same kernel with its defaults. Far memory is
 * larger than the last-level cache and walked once around, near memory is one warm block:
 * as in an I/O. Rates are by this thread's CPU time, so that a neighbour who takes the
 * CPU is not in them; one who takes the memory is, in both sides of a pair alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/units.h"
#include "engines/copy/copy.h"

#define PAIRS	    21
#define ROUND_BYTES (8UL << 20)
#define NEAR_BYTES  (2UL << 20)

#include "engines/copy/t/bench_memory.h"

static double pair_ratios[PAIRS], pair_rates[PAIRS];

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Bytes per second of CPU time. */
static double round_of(cp_copy_fn fn, enum cp_dir dir, size_t bytes)
{
	uint64_t start_ns = cp_thread_cpu_ns();

	for (size_t done = 0; done < ROUND_BYTES; done += bytes) {
		if (dir == CP_DIR_READ)
			fn(near_base, far_base + far_at, bytes, dir, CP_ATTR_WB);
		else
			fn(far_base + far_at, near_base, bytes, dir, CP_ATTR_WB);
		far_at = (far_at + bytes) % far_bytes;
	}
	return (double)ROUND_BYTES * 1e9 / (double)(cp_thread_cpu_ns() - start_ns + 1);
}

/* ABBA, so that a drift of the machine hits both sides alike. */
static void print_pairs(const char *label, cp_copy_fn fn, cp_copy_fn beside,
			enum cp_dir dir, size_t bytes)
{
	char size[24];

	for (unsigned i = 0; i < PAIRS; i++) {
		double a, b;

		if (i % 2) {
			b = round_of(beside, dir, bytes);
			a = round_of(fn, dir, bytes);
		} else {
			a = round_of(fn, dir, bytes);
			b = round_of(beside, dir, bytes);
		}
		pair_ratios[i] = a / b;
		pair_rates[i] = a;
	}
	qsort(pair_ratios, PAIRS, sizeof(double), compare_doubles);
	qsort(pair_rates, PAIRS, sizeof(double), compare_doubles);
	printf("%-5s %3s  %-34s %5.1f GB/s, ratio %.3f [%.3f..%.3f]\n",
	       dir == CP_DIR_READ ? "read" : "write",
	       cp_size_format(bytes, size, sizeof(size)), label,
	       pair_rates[PAIRS / 2] / 1e9, pair_ratios[PAIRS / 2], pair_ratios[0],
	       pair_ratios[PAIRS - 1]);
}

static void print_kernels(const struct cp_copy_opts *opts, enum cp_dir dir, size_t bytes)
{
	const struct cp_copy_ops *ops;
	struct cp_copy_opts plain;
	struct cp_err err;
	cp_copy_fn fn;

	cp_copy_opts_init(&plain);
	for (const struct cp_copy_ops *row = cp_copy_table; row->name; row++) {
		bool meant = dir == CP_DIR_READ ? row->read : row->write;

		if (row->virtual_ || !meant || !row->present())
			continue;
		if (cp_copy_bind_opts(row->name, dir, row->variants ? opts : &plain, &ops,
				      &fn, &err)) {
			printf("%s: %s\n", row->name, err.msg);
			continue;
		}
		print_pairs(row->name, fn, cp_copy_find("memcpy")->fn, dir, bytes);
	}
}

static void print_settings(const char *name, enum cp_dir dir, size_t bytes)
{
	static const char *const hints[] = {"none", "nta", "t0", "nta:distance=2k"};
	const struct cp_copy_ops *ops;
	struct cp_copy_opts opts;
	char label[80];
	struct cp_err err;
	cp_copy_fn fn;

	if (cp_copy_bind(name, dir, CP_ATTR_WB, &ops, &err)) {
		printf("%s: %s\n", name, err.msg);
		return;
	}
	for (uint32_t unroll = 1; unroll <= 8; unroll *= 2) {
		for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
			if (cp_copy_opts_parse(unroll, hints[i], &opts, &err) ||
			    cp_copy_bind_opts(ops->name, dir, &opts, &ops, &fn, &err)) {
				printf("%s: %s\n", name, err.msg);
				return;
			}
			snprintf(label, sizeof(label), "%s unroll=%u %s", ops->name,
				 unroll, hints[i]);
			print_pairs(label, fn, ops->fn, dir, bytes);
		}
	}
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {4UL << 10, 64UL << 10, NEAR_BYTES};
	struct cp_copy_opts opts;
	uint64_t unroll = CP_COPY_UNROLL_DEFAULT;
	struct cp_err err = {.exit = CP_EXIT_USAGE, .msg = "unroll is unreadable"};

	if ((argc > 1 && cp_uint_parse(argv[1], 8, &unroll)) ||
	    cp_copy_opts_parse((uint32_t)unroll, argc > 2 ? argv[2] : "none", &opts,
			       &err)) {
		fprintf(stderr, "error: %s\n", err.msg);
		return (int)err.exit;
	}
	cp_clock_init();
	open_memory();
	printf("beside memcpy, %u pairs, median [least..greatest], unroll %llu, prefetch "
	       "%s; far %zu MiB\n",
	       PAIRS, (unsigned long long)unroll, argc > 2 ? argv[2] : "none",
	       far_bytes >> 20);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		print_kernels(&opts, CP_DIR_READ, sizes[i]);
		print_kernels(&opts, CP_DIR_WRITE, sizes[i]);
	}
	puts("beside the same kernel with unroll 4 and prefetch none");
	print_settings("ntload", CP_DIR_READ, 64UL << 10);
	print_settings("nt", CP_DIR_WRITE, 64UL << 10);
	return 0;
}
