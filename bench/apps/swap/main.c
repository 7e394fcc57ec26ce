// SPDX-License-Identifier: GPL-2.0-only
/*
 * copypath-swap: one sample of the swap workload. Fills a region, touches it while it is
 * measured, checks all of it, and says what it saw as one line of JSON; the device's
 * figures go to a sidecar, as those of the ioengine do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/apps/swap/args.h"
#include "bench/apps/swap/touch.h"
#include "engines/base/clock.h"
#include "engines/base/file.h"

#define SLICE_NS     5000000ULL
#define SLACK_NS     30000000000ULL /* beyond what a stage should take */
#define FAULT_MAX_NS 2000000ULL	    /* generous, of a whole stage's faults in the mean */

static const char help[] =
	"usage: copypath-swap size=SIZE resident=SIZE runtime=TIME|faults=N "
	"[KEY=VALUE...]\n"
	"\n"
	"Touches a region of memory of which only `resident` bytes may be in memory; "
	"page\n"
	"faults are served through copypath's engine. One line of JSON says what came of "
	"it.\n"
	"\n"
	"  rw=read|write         page by page in order\n"
	"  rw=randread|randwrite in random order\n"
	"  numjobs=N             threads that touch the same pages (1)\n"
	"  handler=beside|apart  CPU of who serves the faults, seen from the first "
	"thread\n"
	"  runtime= ramp_time=   how long, and what is not measured before it\n"
	"  faults=N              end after so many\n"
	"  seed=N                of random order (1)\n"
	"  cpus=0,1,...          the CPUs to use (those of this process)\n"
	"  batch=N               pages that are evicted at a time, 1 to 16 (1)\n"
	"  clean=0|1             drop pages that were not written without a page-out "
	"(1)\n"
	"  sigbus=auto|map       how an access to a page that cannot be read fails\n"
	"  sidecar=FILE          append the device's figures to it\n"
	"  media= filename= attr= rw_page= and all keys of an arm: as in a workload "
	"file\n"
	"\n"
	"Exit: 0 ok, 1 wrong data or I/O errors, 2 usage, 4 it cannot run here.\n";

struct window {
	uint64_t start_ns, end_ns;
	struct rusage start, end;
};

struct app {
	struct args args;
	struct cp_topo topo;
	struct cp_dev *dev;
	struct touch_load load;
	struct toucher *touchers;
	struct window window;
	char failed[256]; /* "" = none: what is wrong with the sample */
};

static uint64_t time_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000 + (uint64_t)tv->tv_usec * 1000;
}

/* Threads that wait for a fault that nobody answers cannot be joined: this ends them. */
static _Noreturn void give_up(const struct app *app, const char *stage)
{
	int broken = cp_swap_broken(app->load.swap);

	fprintf(stderr, "copypath-swap: error: %s: %s\n", stage,
		broken ? strerror(-broken)
		       : "threads still wait for their faults; expected them to be done");
	fflush(NULL);
	_exit(CP_EXIT_REGRESSED);
}

/* Until so many threads have ended; at least until until_ns when that is given. */
static void wait_for(const struct app *app, unsigned nr, uint64_t deadline_ns,
		     const char *stage)
{
	while (atomic_load(&app->load.nr_done) < nr) {
		if (cp_swap_broken(app->load.swap) || cp_now_ns() > deadline_ns)
			give_up(app, stage);
		cp_sleep_ns(SLICE_NS);
	}
}

static uint64_t deadline(const struct app *app, uint64_t faults)
{
	(void)app;
	return cp_now_ns() + SLACK_NS + faults * FAULT_MAX_NS;
}

static int alone(struct app *app, enum touch_job job, const char *stage,
		 struct cp_err *err)
{
	app->load.job = job;
	int ret = touch_start(&app->load, app->touchers, 1, err);

	if (ret)
		return ret;
	wait_for(app, 1, deadline(app, app->load.nr_pages), stage);
	touch_join(app->touchers, 1);
	return 0;
}

static void sleep_until(const struct app *app, uint64_t until_ns, uint64_t limit_ns,
			const char *stage)
{
	const struct touch_load *load = &app->load;

	while (atomic_load(&load->phase) != TOUCH_STOP) {
		uint64_t now_ns = cp_now_ns();

		if (cp_swap_broken(load->swap) || now_ns > limit_ns)
			give_up(app, stage);
		if (until_ns && now_ns >= until_ns)
			break;
		uint64_t left_ns = until_ns ? until_ns - now_ns : SLICE_NS;

		cp_sleep_ns(left_ns < SLICE_NS ? left_ns : SLICE_NS);
	}
}

static int measure(struct app *app, struct cp_err *err)
{
	const struct args *args = &app->args;
	struct touch_load *load = &app->load;
	struct window *window = &app->window;
	unsigned nr = load->nr_threads;
	uint64_t limit_ns =
		deadline(app, args->faults) + args->ramp_ns + args->runtime_ns;

	load->job = TOUCH_RUN;
	int ret = touch_start(load, app->touchers, nr, err);

	if (ret)
		return ret;
	sleep_until(app, cp_now_ns() + args->ramp_ns + 1, limit_ns, "ramp_time");
	cp_swap_measure_begin(load->swap);
	window->start_ns = cp_now_ns();
	getrusage(RUSAGE_SELF, &window->start);
	int ramp = TOUCH_RAMP;

	/* not over a STOP */
	atomic_compare_exchange_strong(&load->phase, &ramp, TOUCH_COUNT);
	sleep_until(app, args->runtime_ns ? window->start_ns + args->runtime_ns : 0,
		    limit_ns, "runtime");
	atomic_store(&load->phase, TOUCH_STOP);
	getrusage(RUSAGE_SELF, &window->end);
	window->end_ns = atomic_load(&load->end_ns);
	if (!window->end_ns)
		window->end_ns = cp_now_ns();
	wait_for(app, nr, cp_now_ns() + SLACK_NS, "end");
	cp_swap_measure_end(load->swap);
	touch_join(app->touchers, nr);
	return 0;
}

static void judge(struct app *app)
{
	uint64_t mismatches = 0;

	for (unsigned i = 0; i < app->load.nr_threads; i++) {
		const struct toucher *t = &app->touchers[i];

		mismatches += t->mismatches;
		if (t->what[0] && !app->failed[0])
			snprintf(app->failed, sizeof(app->failed), "%s%s",
				 t->mismatches ? "wrong data: " : "", t->what);
	}
	if (!app->failed[0] && !atomic_load(&app->load.faults))
		snprintf(app->failed, sizeof(app->failed),
			 "no access faulted; expected a longer runtime");
}

static bool wrong(const struct app *app)
{
	for (unsigned i = 0; i < app->load.nr_threads; i++)
		if (app->touchers[i].what[0])
			return true;
	return false;
}

static int run_stages(struct app *app, struct cp_err *err)
{
	int ret = alone(app, TOUCH_FILL, "filling the region", err);

	if (!ret && !wrong(app))
		ret = measure(app, err);
	if (!ret && !wrong(app))
		ret = alone(app, TOUCH_CHECK, "checking the region", err);
	return ret;
}

static int write_sidecar(const struct app *app, struct cp_sidecar_job *job,
			 struct cp_err *err)
{
	const char *path = app->args.sidecar;

	if (!path || !job->end_ns)
		return 0;
	snprintf(job->build, sizeof(job->build), "%s", CP_VERSION);
	snprintf(job->fio, sizeof(job->fio), "none");
	snprintf(job->proof.verify, sizeof(job->proof.verify), "pages");
	char *line = cp_sidecar_encode(job, err);

	if (!line)
		return -EINVAL;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	int ret = fd < 0 ? -errno : cp_write_all(fd, line, strlen(line));

	if (fd >= 0)
		close(fd);
	free(line);
	if (ret)
		return cp_err_set(err, CP_EXIT_INVALID, -ret,
				  "sidecar '%s' not written: %s", path, strerror(-ret));
	return 0;
}

static json_t *metrics(const struct app *app)
{
	struct cp_hist *all = calloc(1, sizeof(*all));
	const struct window *w = &app->window;
	double faults;
	double ns = (double)(w->end_ns - w->start_ns);
	uint64_t user = time_ns(&w->end.ru_utime) - time_ns(&w->start.ru_utime);
	uint64_t sys = time_ns(&w->end.ru_stime) - time_ns(&w->start.ru_stime);
	json_t *json = NULL;

	if (!all)
		return NULL;
	cp_hist_reset(all);
	for (unsigned i = 0; i < app->load.nr_threads; i++)
		cp_hist_merge(all, &app->touchers[i].faults);
	faults = (double)all->count;
	if (faults > 0 && ns > 0)
		json = json_pack("{s:I,s:f,s:f,s:f,s:f,s:f,s:f}", "faults",
				 (json_int_t)faults, "faults_per_s", faults * 1e9 / ns,
				 "fault_ns_p50", cp_hist_quantile_ns(all, 0.5),
				 "fault_ns_p99", cp_hist_quantile_ns(all, 0.99),
				 "fault_ns_p999", cp_hist_quantile_ns(all, 0.999),
				 "fault_user_ns", (double)user / faults, "fault_sys_ns",
				 (double)sys / faults);
	else
		json = json_object();
	free(all);
	return json;
}

static json_t *seen(const struct app *app, const struct cp_swap_stats *s)
{
	uint64_t touches = 0, sigbus = 0, mismatches = 0;

	for (unsigned i = 0; i < app->load.nr_threads; i++) {
		touches += app->touchers[i].touches;
		sigbus += app->touchers[i].sigbus;
		mismatches += app->touchers[i].mismatches;
	}
	return json_pack(
		"{s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "touches",
		(json_int_t)touches, "mismatches", (json_int_t)mismatches, "sigbus",
		(json_int_t)sigbus, "sigbus_by", cp_swap_sigbus_name(app->load.swap),
		"page_ins", (json_int_t)s->page_ins, "page_outs",
		(json_int_t)s->page_outs, "dropped_clean", (json_int_t)s->dropped_clean,
		"zero_fills", (json_int_t)s->zero_fills, "misses", (json_int_t)s->misses,
		"protected_faults", (json_int_t)s->protected_faults, "stale",
		(json_int_t)s->stale, "in_errors", (json_int_t)s->in_errors, "out_errors",
		(json_int_t)s->out_errors, "no_room", (json_int_t)s->no_room);
}

static int report(struct app *app, struct cp_err *err)
{
	struct cp_hist *lat = calloc(1, sizeof(*lat));
	struct cp_sidecar_job job = {.job = 1, .lat = lat};
	struct cp_swap_stats stats;
	int ret = 0;

	if (!lat)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	cp_swap_report(app->load.swap, &job, &stats);
	judge(app);
	ret = write_sidecar(app, &job, err);
	json_t *line = json_pack("{s:o,s:o,s:s*}", "metrics", metrics(app), "swap",
				 seen(app, &stats), "failed",
				 app->failed[0] ? app->failed : NULL);
	if (!ret && (!line || json_dumpf(line, stdout, JSON_COMPACT) || puts("") < 0 ||
		     fflush(stdout)))
		ret = cp_err_set(err, CP_EXIT_INVALID, EIO, "cannot write to stdout");
	if (!ret && app->failed[0])
		ret = cp_err_set(err, CP_EXIT_REGRESSED, EIO, "%s", app->failed);
	else if (!ret && stats.in_errors + stats.out_errors)
		ret = cp_err_set(err, CP_EXIT_REGRESSED, EIO,
				 "%" PRIu64 " page-ins and %" PRIu64
				 " page-outs failed; no access saw wrong data",
				 stats.in_errors, stats.out_errors);
	json_decref(line);
	free(lat);
	return ret;
}

/* One thread a CPU from the first on. The pager is on the first thread's, or has the last
 * for itself. */
static int place(struct app *app)
{
	bool apart = !strcmp(app->args.context.handler, "apart");
	unsigned nr = app->args.nr_cpus, others = apart && nr > 1 ? nr - 1 : nr;

	for (unsigned i = 0; i < app->load.nr_threads; i++)
		app->touchers[i].cpu = (int)app->args.cpus[i % others];
	return (int)app->args.cpus[apart ? nr - 1 : 0];
}

static int open_load(struct app *app, struct cp_err *err)
{
	const struct args *args = &app->args;
	struct touch_load *load = &app->load;

	load->nr_pages = args->size / CP_SWAP_PAGE;
	load->nr_threads = args->context.numjobs;
	load->store = cp_context_dir(&args->context) == CP_DIR_WRITE;
	load->random = !strncmp(args->context.rw, "rand", 4);
	load->seed = args->seed;
	load->faults_max = args->faults;
	app->touchers = calloc(load->nr_threads, sizeof(*app->touchers));
	for (unsigned i = 0; app->touchers && i < load->nr_threads; i++) {
		struct toucher *t = &app->touchers[i];

		t->load = load;
		t->id = i;
		cp_hist_reset(&t->faults);
		t->versions = calloc(load->nr_pages, sizeof(*t->versions));
		if (!t->versions)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
					  "not enough memory");
	}
	return app->touchers
		       ? 0
		       : cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
}

static int open_all(struct app *app, struct cp_err *err)
{
	struct args *args = &app->args;
	struct cp_dev_cfg cfg;
	int ret = cp_swap_check(err);

	if (!ret)
		ret = cp_topo_load(NULL, &app->topo, err);
	for (; !ret && !args->nr_cpus && args->nr_cpus < app->topo.nr_cpus &&
	       args->nr_cpus < ARGS_CPUS_MAX;)
		for (unsigned i = 0; i < app->topo.nr_cpus && i < ARGS_CPUS_MAX; i++)
			args->cpus[args->nr_cpus++] = app->topo.cpus[i].os_index;
	if (!ret && !strcmp(args->context.handler, "apart") && args->nr_cpus < 2)
		ret = cp_err_set(err, CP_EXIT_INVALID, ENODEV,
				 "'handler' is apart and there is one CPU; expected two, "
				 "or handler beside");
	if (!ret)
		ret = open_load(app, err);
	if (!ret)
		ret = touch_catch(&app->load, err);
	if (ret)
		return ret;
	cp_dev_cfg_of(&args->context, &args->arm, &app->topo, &cfg);
	cfg.bytes = args->size;
	cfg.filename = args->filename;
	cfg.attr_native = args->attr_native;
	cfg.writable = true;
	cfg.dir_used[CP_DIR_READ] = true;
	cfg.dir_used[CP_DIR_WRITE] = true;
	cfg.jobs = 1; /* the pager, whatever the threads */
	cfg.iodepth = CP_SWAP_BATCH_MAX;
	cfg.fio_version = args->fio;
	ret = cp_dev_open(&cfg, &app->dev, err);
	if (ret)
		return ret;
	if (cp_dev_simulated(app->dev))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'dma' is '%s', which moves nothing, and every page is "
				  "checked; expected an engine that does",
				  args->arm.dma);
	const struct cp_swap_cfg swap = {
		.dev = app->dev,
		.nr_pages = app->load.nr_pages,
		.resident = args->context.resident / CP_SWAP_PAGE,
		.batch = args->arm.batch,
		.clean = args->clean,
		.cpu = place(app),
		.sigbus = args->map_sigbus ? CP_SWAP_SIGBUS_MAP : CP_SWAP_SIGBUS_AUTO,
	};
	return cp_swap_open(&swap, &app->load.swap, err);
}

static void close_all(struct app *app)
{
	cp_swap_close(app->load.swap);
	cp_dev_close(app->dev);
	for (unsigned i = 0; app->touchers && i < app->load.nr_threads; i++)
		free(app->touchers[i].versions);
	free(app->touchers);
}

int main(int argc, char **argv)
{
	static struct app app;
	struct cp_err err = {.exit = CP_EXIT_INTERNAL};

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(help, stdout);
		return CP_EXIT_OK;
	}
	cp_clock_init();
	int ret = args_parse(argc, argv, &app.args, &err);

	if (!ret)
		ret = open_all(&app, &err);
	if (!ret)
		ret = run_stages(&app, &err);
	if (!ret)
		ret = report(&app, &err);
	close_all(&app);
	if (!ret)
		return CP_EXIT_OK;
	fprintf(stderr, "copypath-swap: error: %s\n", err.msg);
	return (int)err.exit;
}
