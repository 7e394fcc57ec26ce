/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: attr_bench CSV FILE [RUNS]
 *
 * Elliott's table of cache attributes, measured again with emulated ones: 4 KiB random
 * I/Os of one job through the block path (bio) over FILE, whose pages all rows share.
 * Each run visits the 16 cells in turns, there and back, and takes the median of its
 * rounds. CSV holds the published figures. What is asserted: rows that differ by more
 * than CP_PUBLISHED_FAR there stand in the same order here; exit 1 when a run has it
 * wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/random.h"
#include "engines/queue/queue.h"
#include "results/published.h"
#include "results/stats.h"

#define ROUNDS	 7
#define CELL_NS	 50000000ULL
#define BLOCK	 4096U
#define BATCH	 64U /* I/Os between two looks at the clock */
#define RUNS_MAX 64U
#define NR_ROWS	 8
#define BASE_ROW 2 /* WB memcpy */

static const char *const dir_names[2] = {"read", "write"};

/* In the order of the published table. */
static struct row {
	const char *attr, *copy;
	double published[2]; /* IOPS by direction */
	struct cp_dev *dev;
	struct cp_sub *sub;
	double rounds[2][ROUNDS];
	double median[RUNS_MAX][2];
} rows[NR_ROWS] = {
	{.attr = "uc", .copy = "memcpy"}, {.attr = "uc", .copy = "nt-both"},
	{.attr = "wb", .copy = "memcpy"}, {.attr = "wb", .copy = "nt-both"},
	{.attr = "wc", .copy = "memcpy"}, {.attr = "wc", .copy = "nt-both"},
	{.attr = "wt", .copy = "memcpy"}, {.attr = "wt", .copy = "nt-both"},
};

static struct cp_topo topo;
static uint64_t random_state = 1;

static void die(const char *text, int code)
{
	fprintf(stderr, "error: %s\n", text);
	exit(code);
}

static void read_published(const char *path)
{
	struct cp_published table;
	struct cp_err err;

	if (cp_published_read(path, &table, &err))
		die(err.msg, (int)err.exit);
	for (int i = 0; i < NR_ROWS; i++) {
		const struct cp_published_row *row =
			cp_published_find(&table, rows[i].attr, rows[i].copy);

		if (!row)
			die("the published table lacks a row", CP_EXIT_INVALID);
		memcpy(rows[i].published, row->iops, sizeof(row->iops));
	}
}

static void open_row(struct row *row, const char *path, uint64_t bytes)
{
	struct cp_dev_cfg cfg = {
		.media = "file",
		.filename = path,
		.layer = "none",
		.attr = row->attr,
		.numa = "local",
		.bytes = bytes,
		.writable = true,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		/* A WC store is measured as it is, which the fence that another thread
		 * would need is no part of; NT stores to other memory with theirs. */
		.locked_handover = !strcmp(row->attr, "wc"),
		.fio_version = "",
		.topo = &topo,
	};
	struct cp_err err;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.copy, sizeof(cfg.arm.copy), "%s", row->copy);
	if (cp_dev_open(&cfg, &row->dev, &err) || cp_sub_open(row->dev, &row->sub, &err))
		die(err.msg, (int)err.exit);
}

/* I/Os a second of this thread's CPU time: a copy never sleeps, and whoever shares the
 * CPU does not count. */
static double measure(const struct row *row, enum cp_dir dir, void *near, uint64_t blocks)
{
	uint64_t start = cp_thread_cpu_ns(), elapsed, ios = 0;

	do {
		for (unsigned i = 0; i < BATCH; i++) {
			struct cp_io io = {
				.near = near,
				.offset = cp_random_next(&random_state) % blocks * BLOCK,
				.bytes = BLOCK,
				.dir = dir,
			};

			cp_sub_bio(row->sub, &io);
			if (io.error)
				die("an I/O failed", CP_EXIT_INVALID);
		}
		ios += BATCH;
		elapsed = cp_thread_cpu_ns() - start;
	} while (elapsed < CELL_NS);
	return (double)ios * 1e9 / (double)elapsed;
}

static void run(unsigned nr, void *near, uint64_t blocks)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned k = 0; k < 2 * NR_ROWS; k++) {
			/* there and back, so that no cell always follows the same one */
			unsigned cell = round % 2 ? 2 * NR_ROWS - 1 - k : k;
			struct row *row = &rows[cell / 2];

			row->rounds[cell % 2][round] =
				measure(row, (enum cp_dir)(cell % 2), near, blocks);
		}
	}
	for (int i = 0; i < NR_ROWS; i++) {
		for (int d = 0; d < 2; d++)
			rows[i].median[nr][d] = cp_stat_median(rows[i].rounds[d], ROUNDS);
	}
}

struct side {
	double published[NR_ROWS], ours[NR_ROWS];
};

static void print_wrong(void *ctx, size_t upper, size_t lower)
{
	const struct side *side = ctx;

	printf("  out of order: %s %s %.2f times %s %s\n", rows[upper].attr,
	       rows[upper].copy, side->ours[upper] / side->ours[lower], rows[lower].attr,
	       rows[lower].copy);
}

/* Pairs that are far enough apart in the published table; returns those out of order. */
static unsigned check_order(unsigned nr, int d)
{
	struct cp_published_order order;
	struct side side;

	for (int i = 0; i < NR_ROWS; i++) {
		side.published[i] = rows[i].published[d];
		side.ours[i] = rows[i].median[nr][d];
	}
	cp_published_compare(side.published, side.ours, NR_ROWS, print_wrong, &side,
			     &order);
	printf("run %u, %-5s: %u of %u pairs in order, nearest 1 : %.2f\n", nr + 1,
	       dir_names[d], order.kept, order.pairs, order.nearest);
	return order.pairs - order.kept;
}

/* Of the ratios of run nr to those published: the geometric mean and, whichever way they
 * are off, by which factor they typically are. */
static void far_from_published(unsigned nr, int d, double *ret_mean, double *ret_factor)
{
	double mean = 0, distance = 0;

	for (int i = 0; i < NR_ROWS; i++) {
		const struct row *row = &rows[i], *base = &rows[BASE_ROW];
		double off = log(row->median[nr][d] / base->median[nr][d] /
				 (row->published[d] / base->published[d]));

		mean += off;
		distance += fabs(off);
	}
	/* WB memcpy is 1 by definition and does not count */
	*ret_mean = exp(mean / (NR_ROWS - 1));
	*ret_factor = exp(distance / (NR_ROWS - 1));
}

static void print_far(unsigned nr_runs, int d)
{
	double mean[RUNS_MAX], factor[RUNS_MAX];

	for (unsigned r = 0; r < nr_runs; r++)
		far_from_published(r, d, &mean[r], &factor[r]);
	printf("ratio of ratios, ours / published: geometric mean %.2f [%.2f..%.2f], "
	       "typical factor %.2f [%.2f..%.2f] of %u runs (no aim)\n",
	       cp_stat_median(mean, nr_runs), cp_stat_quantile(mean, nr_runs, 0),
	       cp_stat_quantile(mean, nr_runs, 1), cp_stat_median(factor, nr_runs),
	       cp_stat_quantile(factor, nr_runs, 0), cp_stat_quantile(factor, nr_runs, 1),
	       nr_runs);
}

static void print_table(unsigned nr_runs, int d)
{
	double ours[RUNS_MAX], ratios[RUNS_MAX];

	printf("\n%s, 4k random, one job   kIOPS [runs]            to WB memcpy [runs]   "
	       " "
	       "published\n",
	       dir_names[d]);
	for (int i = 0; i < NR_ROWS; i++) {
		const struct row *row = &rows[i];
		double theirs = row->published[d] / rows[BASE_ROW].published[d];

		for (unsigned r = 0; r < nr_runs; r++) {
			ours[r] = row->median[r][d] / 1000;
			ratios[r] = row->median[r][d] / rows[BASE_ROW].median[r][d];
		}
		double ratio = cp_stat_median(ratios, nr_runs);

		printf("%-3s %-8s %-9s %8.0f [%.0f..%.0f]  %8.4f [%.4f..%.4f]  %8.4f\n",
		       row->attr, row->copy, i / 2 == 1 ? "native" : "emulated",
		       cp_stat_median(ours, nr_runs), cp_stat_quantile(ours, nr_runs, 0),
		       cp_stat_quantile(ours, nr_runs, 1), ratio,
		       cp_stat_quantile(ratios, nr_runs, 0),
		       cp_stat_quantile(ratios, nr_runs, 1), theirs);
	}
	print_far(nr_runs, d);
}

int main(int argc, char **argv)
{
	unsigned nr_runs = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 5;
	unsigned met[2] = {0, 0};
	struct cp_err err;
	struct stat st;

	if (argc < 3 || nr_runs < 1 || nr_runs > RUNS_MAX || stat(argv[2], &st))
		die("usage: attr_bench CSV FILE [RUNS]", CP_EXIT_USAGE);
	read_published(argv[1]);
	if (cp_topo_load(NULL, &topo, &err))
		die(err.msg, (int)err.exit);
	for (int i = 0; i < NR_ROWS; i++)
		open_row(&rows[i], argv[2], (uint64_t)st.st_size);
	unsigned char *near = aligned_alloc(BLOCK, BLOCK);
	if (!near)
		die("out of memory", CP_EXIT_INVALID);
	memset(near, 1, BLOCK);
	for (unsigned r = 0; r < nr_runs; r++) {
		run(r, near, (uint64_t)st.st_size / BLOCK);
		for (int d = 0; d < 2; d++)
			met[d] += !check_order(r, d);
	}
	for (int d = 0; d < 2; d++)
		print_table(nr_runs, d);
	printf("\norder of pairs more than %.1f apart: reads %u runs of %u, writes %u of "
	       "%u: %s\n",
	       CP_PUBLISHED_FAR, met[0], nr_runs, met[1], nr_runs,
	       met[0] == nr_runs && met[1] == nr_runs ? "met" : "NOT MET");
	for (int i = 0; i < NR_ROWS; i++) {
		cp_sub_close(rows[i].sub);
		cp_dev_close(rows[i].dev);
	}
	free(near);
	return met[0] != nr_runs || met[1] != nr_runs;
}
