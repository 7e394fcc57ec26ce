/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage: page_bench [PAIRS]
 *
 * Pages beside requests, in a bare loop without fio: one 4k read at a time over the null
 * engine, so that nothing but the path is left. Pairs by turns, nanoseconds of this
 * thread's CPU time an I/O, the ratio of the two of a pair. Then where the instructions
 * of each go, the question that 2014's rw_page left open: the request, its tag, merging,
 * waking? The instructions are counted one by one (steps.h), and beside them stands what
 * an I/O takes. Exits 1 when page is not 1.3 times as fast as mq.
 */
#include <poll.h>
#include <sys/eventfd.h>

#include "engines/queue/queue.h"
#include "engines/queue/t/steps.h"
#include "results/stats.h"

#define PAIRS_MAX 201U
#define IOS	  200000U /* a measurement */
#define WARM	  600U /* more than the distance of two I/Os whose phases are looked at */
#define STEPPED	  128U
#define ASKED	  1.3
#define PATHS_MAX 6U
#define ROUNDS	  9U

static struct cp_topo topo;

enum stage {
	LOOP,
	FIGURES,
	REQUEST,
	TAGS,
	MERGING,
	DECISION,
	DESCRIPTOR,
	REAP,
	WAKE,
	HAND_BACK,
	ENGINE,
	NR_STAGES,
};

static const char *const stages[] = {"loop",	"figures",   "request",	   "tags",
				     "merging", "decision",  "descriptor", "reap",
				     "wait",	"hand back", "engine"};

/* The innermost function that is here says what an instruction is for. */
static const struct steps_rule rules[] = {
	/* stamps, phases, histogram, counters, and whether they count at all */
	{"cp_ticks*", FIGURES},
	{"__rdtsc", FIGURES},
	{"cp_hist_*", FIGURES},
	{"cp_io_account*", FIGURES},
	{"cp_sub_stamp", FIGURES},
	{"cp_sub_stale", FIGURES},
	{"cp_sub_watch", FIGURES},
	{"cp_sub_window", FIGURES},
	{"cp_phases_*", FIGURES},
	{"stamp_batch", FIGURES},
	{"cp_pages_count", FIGURES},
	{"unmerged_dma", FIGURES},
	{"account_page", FIGURES},
	{"joins", FIGURES},
	/* set up, staged, committed */
	{"cp_io_start", REQUEST},
	{"stage", REQUEST},
	{"queue_slow", REQUEST},
	{"cp_sub_queue", REQUEST},
	{"cp_sub_commit", REQUEST},
	{"cp_io_dispatch*", REQUEST},
	{"cp_io_apart", REQUEST},
	{"cp_io_in_bounds", REQUEST},
	{"cp_copy_overlap", REQUEST},
	{"cp_sub_page", REQUEST},
	{"page_slow", REQUEST},
	{"plain", REQUEST},
	{"submit", REQUEST},
	{"takes_pages", REQUEST},
	{"whole_pages", REQUEST},
	{"take_tag", TAGS},
	{"cp_tag_*", TAGS},
	{"in_front", TAGS},
	{"below_share", TAGS},
	{"free_tags", TAGS},
	{"cp_plug_*", MERGING},
	{"full", MERGING},
	{"fits", MERGING},
	{"join*", MERGING},
	{"hold", MERGING},
	{"dispatch_held", MERGING},
	{"would_wait", MERGING},
	{"cp_dev_decide", DECISION},
	{"cp_dev_segments", DECISION},
	{"cp_policy_*", DECISION},
	{"dispatch*", DESCRIPTOR},
	{"offload*", DESCRIPTOR},
	{"page_alone", DESCRIPTOR}, /* its reap too: one function */
	{"submit_*", DESCRIPTOR},
	{"cp_io_submit_two", DESCRIPTOR},
	{"cp_hctx_chan", DESCRIPTOR},
	{"cp_dev_node_run", DESCRIPTOR},
	{"cp_sub_ring", DESCRIPTOR},
	{"cp_hctx_ring", DESCRIPTOR},
	{"ring_*", DESCRIPTOR},
	{"cp_hctx_*lock", DESCRIPTOR},
	{"cp_hctx_lock", DESCRIPTOR},
	{"cp_hctx_unlock", DESCRIPTOR},
	{"take", REAP},
	{"look", REAP},
	{"cp_hctx_take", REAP},
	{"cp_hctx_reap", REAP},
	{"reap_channel", REAP},
	{"only_timed", REAP},
	{"complete_*", REAP},
	{"cp_sub_nr_done", REAP},
	{"nr_done", REAP},
	{"cp_sub_wait", WAKE},
	{"cp_cpu_relax", WAKE},
	{"late_wait", WAKE},
	{"cp_sub_reap", HAND_BACK},
	{"settle", HAND_BACK},
	{"cp_io_finish", HAND_BACK},
	{"cp_sub_done", HAND_BACK},
	{"cp_pages_hand_back", HAND_BACK},
	{"page_done", HAND_BACK},
	{"finish_slow", HAND_BACK},
	{"null_*", ENGINE},
	{"late_*", ENGINE},
	{"run_*", LOOP},
	{"steps_*", LOOP},
	{NULL, 0},
};

/* null, whose transactions are there once they were waited for: it signals an eventfd at
 * the doorbell, and a look before the wait finds nothing. One channel. */
static const struct cp_dma_ops *null_ops;
static int late_fd = -1;
static bool late_ready;

static void late_ring(struct cp_dma_chan *chan)
{
	const uint64_t one = 1;

	null_ops->issue_pending(chan);
	late_ready = write(late_fd, &one, sizeof(one)) != sizeof(one);
}

static unsigned late_reap(struct cp_dma_chan *chan, struct cp_dma_completion *done,
			  unsigned max)
{
	return late_ready ? null_ops->reap(chan, done, max) : 0;
}

static int late_wait(struct cp_dma_chan *chan, uint64_t timeout_ns)
{
	struct pollfd poll_fd = {.fd = late_fd, .events = POLLIN};
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000U),
					 .tv_nsec = (long)(timeout_ns % 1000000000U)};
	uint64_t count;

	(void)chan;
	if (ppoll(&poll_fd, 1, &timeout, NULL) == 1)
		late_ready = read(late_fd, &count, sizeof(count)) == sizeof(count);
	return 0;
}

struct path {
	const char *name;
	const char *mode, *completion;
	uint32_t depth; /* tags; 0 = the default */
	bool merge, by_cpu;
	struct cp_dma_ops ops;
	struct cp_dev *dev;
	struct cp_sub *sub;
	struct cp_io io;
};

static void die(const struct cp_err *err)
{
	fprintf(stderr, "error: %s\n", err->msg);
	exit((int)err->exit);
}

static void open_path(struct path *p)
{
	static unsigned char buf[4096] __attribute__((aligned(4096)));
	struct cp_dev_cfg cfg = {
		.media = "anon",
		.layer = "none",
		.attr = "wb",
		.numa = "local",
		.bytes = 64U << 20,
		.dir_used = {true, true},
		.segment = CP_SEGMENT_DEFAULT,
		.jobs = 1,
		.iodepth = 1,
		.fio_version = "",
		.topo = &topo,
	};
	struct cp_err err;

	cp_arm_init(&cfg.arm);
	snprintf(cfg.arm.queue_mode, sizeof(cfg.arm.queue_mode), "%s", p->mode);
	snprintf(cfg.arm.path, sizeof(cfg.arm.path), p->by_cpu ? "cpu" : "dma");
	if (!p->by_cpu) {
		snprintf(cfg.arm.dma, sizeof(cfg.arm.dma), "null");
		snprintf(cfg.arm.completion, sizeof(cfg.arm.completion), "%s",
			 p->completion);
	}
	cfg.arm.queue_depth = p->depth ? p->depth : cfg.arm.queue_depth;
	cfg.arm.max_merge = p->merge ? 2U << 20 : 0;
	cfg.arm.max_merge_set = true;
	p->ops = *null_ops;
	if (!strcmp(p->completion, "irq")) {
		p->ops.traits.irq = true;
		p->ops.traits_of = NULL;
		p->ops.issue_pending = late_ring;
		p->ops.reap = late_reap;
		p->ops.wait = late_wait;
		cfg.dma = &p->ops;
	}
	if (cp_dev_open(&cfg, &p->dev, &err) || cp_sub_open(p->dev, &p->sub, &err))
		die(&err);
	p->io = (struct cp_io){.near = buf, .bytes = sizeof(buf)};
	cp_sub_measure_begin(p->sub);
}

static void close_path(struct path *p)
{
	cp_sub_close(p->sub);
	cp_dev_close(p->dev);
}

static __attribute__((noinline)) void run_mq(struct path *p, unsigned ios)
{
	struct cp_io *done;

	for (unsigned i = 0; i < ios; i++) {
		cp_sub_queue(p->sub, &p->io);
		cp_sub_commit(p->sub);
		cp_sub_reap(p->sub, 1, 1, &done);
	}
}

static __attribute__((noinline)) void run_page(struct path *p, unsigned ios)
{
	for (unsigned i = 0; i < ios; i++)
		cp_sub_page(p->sub, &p->io);
}

static void run(struct path *p, unsigned ios)
{
	if (!strcmp(p->mode, "mq"))
		run_mq(p, ios);
	else
		run_page(p, ios);
}

static double ns_an_io(struct path *p, unsigned ios)
{
	uint64_t start = cp_thread_cpu_ns();

	run(p, ios);
	return (double)(cp_thread_cpu_ns() - start) / ios;
}

/* Pairs of the first two, by turns. */
static bool compare(struct path *mq, struct path *page, unsigned pairs)
{
	double mq_ns[PAIRS_MAX], page_ns[PAIRS_MAX], ratio[PAIRS_MAX], low, high;

	for (unsigned i = 0; i < pairs; i++) {
		if (i % 2)
			page_ns[i] = ns_an_io(page, IOS);
		mq_ns[i] = ns_an_io(mq, IOS);
		if (!(i % 2))
			page_ns[i] = ns_an_io(page, IOS);
		ratio[i] = mq_ns[i] / page_ns[i];
	}
	double median = cp_stat_median(ratio, pairs);
	bool met = median >= ASKED;

	cp_stat_median_interval(ratio, pairs, 0.95, &low, &high);
	printf("page / mq, I/Os a second at iodepth 1          %.2f [%.2f..%.2f] of %u "
	       "pairs, asked >= %.1f: %s (%.1f against %.1f ns an I/O)\n",
	       median, low, high, pairs, ASKED, met ? "met" : "NOT MET",
	       cp_stat_median(page_ns, pairs), cp_stat_median(mq_ns, pairs));
	return met;
}

#if defined(__x86_64__)
static void stepped(void *arg)
{
	struct path *p = arg;

	run(p, WARM);
	raise(SIGSTOP);
	steps_begin();
	run(p, STEPPED);
	steps_end();
}

/* Zeroes are left out: a path without tags has none. */
static void show(double value, const char *end)
{
	if (value >= 0.005)
		printf(" %10.1f%s", value, end);
	else
		printf(" %10s%s", ".", end);
}

static void breakdown(struct path *paths, unsigned n, const double *ns)
{
	double total;

	printf("instructions an I/O, of %u single-stepped (kernel: calls only)\n%-22s",
	       STEPPED, "");
	for (unsigned s = FIGURES; s < NR_STAGES; s++)
		printf(" %10s", stages[s]);
	printf(" %10s %10s %10s\n", "all", "calls", "ns");
	for (unsigned i = 0; i < n; i++) {
		struct steps steps = steps_of(stepped, &paths[i], rules);

		total = (double)steps.unknown / STEPPED;
		printf("%-22s", paths[i].name);
		for (unsigned s = FIGURES; s < NR_STAGES; s++) {
			show((double)steps.stages[s] / STEPPED, "");
			total += (double)steps.stages[s] / STEPPED;
		}
		show(total, "");
		show((double)steps.syscalls / STEPPED, "");
		printf(" %10.1f\n", ns[i]);
		if (steps.unknown * 50 > (uint64_t)(total * STEPPED)) {
			printf("error: %.1f instructions an I/O are of no stage; "
			       "STEPS_VERBOSE=1 names them\n",
			       (double)steps.unknown / STEPPED);
			exit(1);
		}
	}
	printf("Without the caller's loop. figures: stamps, phases, histogram, counters. "
	       "request: set up, checked,\nstaged, committed. descriptor: with its "
	       "doorbell, and of page with its reap. wait: until it is\nreapable, irq "
	       "with two calls. engine: null, and the call that signals. A row less "
	       "another is\nwhat a stage takes in ns.\n");
}
#else
static void breakdown(struct path *paths, unsigned n, const double *ns)
{
	for (unsigned i = 0; i < n; i++)
		printf("%-22s %.1f ns an I/O\n", paths[i].name, ns[i]);
	printf("instructions are not counted on this processor: not asserted\n");
}
#endif

/* By turns, so that all see the same machine. */
static void median_ns(struct path *paths, unsigned n, double *ret_ns)
{
	double ns[PATHS_MAX][ROUNDS];

	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < n; i++)
			ns[i][r] = ns_an_io(&paths[i], IOS / 4);
	}
	for (unsigned i = 0; i < n; i++)
		ret_ns[i] = cp_stat_median(ns[i], ROUNDS);
}

int main(int argc, char **argv)
{
	struct path paths[PATHS_MAX] = {
		{.name = "mq, poll", .mode = "mq", .completion = "poll"},
		{.name = "page, poll", .mode = "page", .completion = "poll"},
		{.name = "mq, tags run out",
		 .mode = "mq",
		 .completion = "poll",
		 .depth = 1},
		{.name = "mq, max_merge 2m",
		 .mode = "mq",
		 .completion = "poll",
		 .merge = true},
		{.name = "mq, irq", .mode = "mq", .completion = "irq"},
		{.name = "page, irq", .mode = "page", .completion = "irq"},
	};
	const unsigned n = PATHS_MAX;
	unsigned pairs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 31;
	double ns[PATHS_MAX];
	struct cp_err err;

	if (!pairs || pairs > PAIRS_MAX) {
		fprintf(stderr, "usage: page_bench [PAIRS], 1 to %u\n", PAIRS_MAX);
		return 2;
	}
	null_ops = cp_dma_find("null", &err);
	late_fd = eventfd(0, EFD_CLOEXEC);
	if (!null_ops || late_fd < 0 || cp_topo_load(NULL, &topo, &err))
		die(&err);
	for (unsigned i = 0; i < n; i++)
		open_path(&paths[i]);
	bool met = compare(&paths[0], &paths[1], pairs);

	median_ns(paths, n, ns);
	breakdown(paths, n, ns);
	for (unsigned i = 0; i < n; i++)
		close_path(&paths[i]);
	return met ? 0 : 1;
}
