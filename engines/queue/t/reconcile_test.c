/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many I/Os over an engine that fails some on purpose, each reconciled with the engine's
 * own log: 200 thousand, with LONG=1 in the environment 10 million.
 *
 * An I/O is known to the log by its buffer: a buffer has one I/O at a time, so the log's
 * transactions of a buffer are those of its I/Os one after the other.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/queue/t/rig.h"

#define JOBS_MAX  2U
#define DEPTH_MAX 64U
#define SLOT	  4096U /* bytes of a buffer, and of its place in the media */
#define NR_SLOTS  (JOBS_MAX * DEPTH_MAX)

/* Where the CPU takes what a full ring refuses, rings are as large as what is in flight:
 * the log knows of what the engine refused on purpose only. */
static const struct {
	const char *dma, *settings;
	unsigned jobs, depth;
	uint64_t segment, bytes_max;
} cases[] = {
	{"null,error=1%,seed=1", "ring_full=wait", 1, 16, 4096, 4096},
	{"null,error=1%,short=1%,full=2%,reorder=8,seed=2", "ring_full=wait", 1, 16, 4096,
	 4096},
	{"null,error=1%,short=1%,full=2%,reorder=8,seed=3", "ring_full=cpu", 1, 64, 4096,
	 4096},
	{"null,error=1%,short=1%,full=1%,reorder=4,seed=4", "ring_full=wait", 2, 16, 4096,
	 4096},
	{"null,error=1%,short=1%,full=1%,reorder=4,seed=5", "ring_full=cpu queue_depth=8",
	 2, 16, 4096, 4096},
	{"null,prep_error=1%,never=0.1%,never_for=5us,seed=6", "ring_full=cpu", 1, 16,
	 4096, 4096},
	{"null,error=1%,short=1%,full=1%,prep_error=0.5%,seed=7", "ring_full=cpu", 1, 16,
	 16, 4096},
	{"sw,error=1%,short=1%,full=1%,reorder=5,seed=8", "ring_full=wait", 1, 1, 4096,
	 1000},
	{"sw,ring=4,error=1%,short=1%,full=1%,reorder=3,seed=9", "ring_full=wait", 1, 16,
	 4096, 1000},
	{"sw,error=1%,short=1%,full=1%,reorder=3,seed=10", "ring_full=cpu", 2, 16, 4096,
	 1000},
	{"sw,threads=2,error=1%,short=1%,full=0.5%,seed=11",
	 "ring_full=wait completion=irq", 2, 16, 4096, 1000},
	{"sw,threads=2,error=1%,short=1%,full=0.5%,seed=13",
	 "ring_full=wait completion=hybrid", 2, 16, 4096, 1000},
	{"sw,error=1%,short=1%,full=1%,seed=12", "ring_full=wait", 1, 32, 16, 4096},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

/* One I/O, as it was handed back. */
struct outcome {
	uint32_t bytes, residue;
	uint32_t next; /* the buffer's next I/O, an index; 0 none */
	int32_t error;
	bool handed_back;
};

struct slot {
	struct cp_io io;
	bool in_flight, odd;
	unsigned char salt, blank; /* what it moves, and what was there */
	uint32_t first, last;	   /* outcomes of this buffer */

	/* while the log is read */
	uint32_t covered, residue, transactions, cpu;
	bool failed, refused; /* refused: prep's last answer */
};

struct job {
	struct cp_dev *dev;
	unsigned id, depth;
	uint64_t ios, bytes_max;
	bool moves;
	uint64_t seed;
	struct outcome *outcomes; /* [ios + 1], from 1 */
	struct cp_hist lat;
	struct cp_sidecar_job report;
	char problem[160]; /* the first one; "" none */
};

/* What the log says of a case, for comparison with what was reported. */
struct sums {
	uint64_t ios, failed, bytes_ok, moved, cpu;
	bool split; /* some I/O was of several transactions */
};

static char dir[64];
static unsigned char *near, *far; /* far: a second mapping of the media */
static struct slot *slots;

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void complain(struct job *job, const struct cp_io *io, const char *what)
{
	if (!job->problem[0])
		snprintf(job->problem, sizeof(job->problem),
			 "%s: %" PRIu64 " bytes at %" PRIu64
			 ", error %d, residue %" PRIu64,
			 what, io->bytes, io->offset, io->error, io->residue);
}

/* Lengths of a buffer's I/Os are even and odd in turns, also what one transaction takes
 * of them: so the log shows where one ends of which the CPU copied the rest. */
static void fill(struct job *job, struct slot *slot, uint32_t index)
{
	struct cp_io *io = &slot->io;

	io->bytes = 1 + next_random(&job->seed) % job->bytes_max;
	if (!slot->odd)
		io->bytes += io->bytes % 2;
	else
		io->bytes = (io->bytes < 2048 ? io->bytes : 2047) | 1;
	io->dir = next_random(&job->seed) % 2 ? CP_DIR_READ : CP_DIR_WRITE;
	slot->salt = (unsigned char)index;
	slot->blank = (unsigned char)~index;
	if (job->moves) {
		bool read = io->dir == CP_DIR_READ;

		memset(read ? far + io->offset : io->near, slot->salt, io->bytes);
		memset(read ? io->near : far + io->offset, slot->blank, SLOT);
	}
}

static void record(struct job *job, struct slot *slot, uint32_t index)
{
	slot->in_flight = true;
	slot->odd = !slot->odd;
	job->outcomes[index] = (struct outcome){.bytes = (uint32_t)slot->io.bytes};
	if (slot->last)
		job->outcomes[slot->last].next = index;
	else
		slot->first = index;
	slot->last = index;
}

/* Bytes that arrived, where they are the first; else SIZE_MAX. */
static size_t arrived(const struct slot *slot)
{
	const unsigned char *dst =
		slot->io.dir == CP_DIR_READ ? slot->io.near : far + slot->io.offset;
	size_t n = 0;

	while (n < slot->io.bytes && dst[n] == slot->salt)
		n++;
	for (size_t i = n; i < SLOT; i++) {
		if (dst[i] != slot->blank)
			return SIZE_MAX;
	}
	return n;
}

static void finish(struct job *job, struct cp_io *io)
{
	struct slot *slot = io->user;
	struct outcome *out = &job->outcomes[slot->last];
	uint64_t claimed = io->bytes - io->residue;

	if (!slot->in_flight)
		complain(job, io, "handed back twice");
	if (io->residue > io->bytes || !io->error != !io->residue)
		complain(job, io, "error and residue do not agree");
	/* an I/O of one transaction: what it claims, and nothing else, arrived */
	if (job->moves && job->bytes_max <= 1000 && arrived(slot) != claimed)
		complain(job, io, "other bytes arrived than were claimed");
	slot->in_flight = false;
	out->handed_back = true;
	out->error = io->error;
	out->residue = (uint32_t)io->residue;
}

static void *job_run(void *arg)
{
	struct job *job = arg;
	struct slot *mine = &slots[job->id * DEPTH_MAX];
	struct cp_io *done[DEPTH_MAX];
	uint32_t started = 0;
	uint64_t ended = 0;
	struct cp_sub *sub;
	struct cp_err err;

	if (cp_sub_open(job->dev, &sub, &err)) {
		snprintf(job->problem, sizeof(job->problem), "%.150s", err.msg);
		return NULL;
	}
	cp_sub_measure_begin(sub);
	while (ended < job->ios) {
		unsigned batch = 1 + (unsigned)(next_random(&job->seed) % job->depth);

		for (unsigned i = 0; i < job->depth && batch && started < job->ios; i++) {
			if (mine[i].in_flight)
				continue;
			fill(job, &mine[i], started + 1);
			if (cp_sub_queue(sub, &mine[i].io))
				break;
			record(job, &mine[i], ++started);
			batch--;
		}
		cp_sub_commit(sub);
		unsigned n = cp_sub_reap(sub, 1, job->depth, done);

		for (unsigned i = 0; i < n; i++)
			finish(job, done[i]);
		ended += n;
	}
	if (cp_sub_reap(sub, 0, DEPTH_MAX, done))
		complain(job, done[0], "handed back more than was handed in");
	cp_sub_measure_end(sub);
	job->report.lat = &job->lat;
	cp_sub_report(sub, &job->report);
	cp_sub_close(sub);
	return NULL;
}

/* The I/O of this buffer is over, by the log: compare it with what was handed back. */
static void settle(struct job *job, struct slot *slot, struct sums *sums)
{
	const struct outcome *out = &job->outcomes[slot->first];
	bool split = slot->transactions > 1;

	if (!out->handed_back || !out->error != !slot->failed ||
	    (split ? out->residue < slot->residue : out->residue != slot->residue))
		snprintf(job->problem, sizeof(job->problem),
			 "an I/O of %u bytes was reported with error %d, residue %u; the "
			 "log has %s, residue %u",
			 out->bytes, out->error, out->residue,
			 slot->failed ? "errors" : "none", slot->residue);
	sums->ios++;
	sums->failed += slot->failed;
	sums->bytes_ok += slot->failed ? 0 : out->bytes;
	sums->cpu += slot->cpu;
	sums->moved += out->bytes - slot->residue - slot->cpu;
	sums->split |= split;
	slot->first = out->next;
	slot->covered = 0;
	slot->residue = 0;
	slot->transactions = 0;
	slot->cpu = 0;
	slot->failed = false;
	slot->refused = false;
}

/* The log has no more of an I/O whose last transaction was refused: the rest of it
 * failed, or the CPU copied it. */
static void settle_refused(struct job *job, struct slot *slot, struct sums *sums)
{
	const struct outcome *out = &job->outcomes[slot->first];
	uint32_t rest = out->bytes - slot->covered;

	if (slot->residue + rest > out->residue) {
		slot->cpu = rest;
	} else {
		slot->failed = true;
		slot->residue += rest;
	}
	settle(job, slot, sums);
}

/* Is this transaction of the I/O that the log is at, after a refusal? */
static bool goes_on(const struct job *job, const struct slot *slot, uintptr_t at,
		    uint64_t bytes)
{
	return at == (uintptr_t)slot->io.near + slot->covered &&
	       (slot->covered || bytes % 2 == job->outcomes[slot->first].bytes % 2);
}

/* A line of the log: false when it belongs to no I/O. */
static bool replay(struct job *jobs, const char *line, struct sums *sums)
{
	char action[16], result[16];
	uint64_t cookie, bytes, residue;
	uintptr_t at;

	if (sscanf(line,
		   "%" SCNu64 " %*s %" SCNxPTR " %*s %" SCNu64 " %15s %15s %" SCNu64,
		   &cookie, &at, &bytes, action, result, &residue) != 6)
		return false;
	size_t number = (at - (uintptr_t)near) / SLOT;

	if (at < (uintptr_t)near || number >= NR_SLOTS)
		return false;
	struct slot *slot = &slots[number];
	struct job *job = &jobs[number / DEPTH_MAX];

	if (slot->refused && !goes_on(job, slot, at, bytes))
		settle_refused(job, slot, sums);
	const struct outcome *out = &job->outcomes[slot->first];
	uint32_t rest = out->bytes - slot->covered;

	if (!slot->first || at != (uintptr_t)slot->io.near + slot->covered ||
	    bytes > rest)
		return false;
	slot->refused = !cookie;
	if (cookie) {
		slot->transactions++;
		slot->covered += (uint32_t)bytes;
		slot->residue += (uint32_t)residue;
		slot->failed |= strcmp(result, "ok") != 0;
	}
	if (slot->covered == out->bytes)
		settle(job, slot, sums);
	return true;
}

static struct sums read_log(struct job *jobs)
{
	FILE *file = fopen("log", "r");
	struct sums sums = {0};
	char *line = NULL;
	size_t size = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		if (line[0] != '#' && !replay(jobs, line, &sums))
			fail_msg("the log has a transaction of no I/O: %s", line);
	}
	free(line);
	fclose(file);
	for (unsigned i = 0; i < NR_SLOTS; i++) {
		if (slots[i].refused)
			settle_refused(&jobs[i / DEPTH_MAX], &slots[i], &sums);
	}
	return sums;
}

static void check_reports(const struct job *jobs, unsigned nr, bool moves,
			  const struct sums *sums)
{
	uint64_t ios = 0, bytes = 0, errors = 0, dma = 0, cpu = 0, fallback = 0;

	for (unsigned j = 0; j < nr; j++) {
		const struct cp_sidecar_job *r = &jobs[j].report;

		ios += r->ios;
		bytes += r->bytes;
		errors += r->proof.errors;
		dma += moves ? r->proof.bytes_dma : r->proof.bytes_simulated;
		cpu += r->proof.bytes_cpu;
		fallback += r->proof.bytes_fallback;
		assert_int_equal(moves ? r->proof.bytes_simulated : r->proof.bytes_dma,
				 0);
	}
	assert_int_equal(ios, sums->ios - sums->failed);
	assert_int_equal(errors, sums->failed);
	assert_int_equal(bytes, sums->bytes_ok);
	assert_int_equal(cpu, sums->cpu);
	assert_int_equal(fallback, sums->cpu);
	/* of several transactions of one I/O, those behind the first that failed may have
	 * moved and not be claimed */
	if (sums->split)
		assert_true(dma <= sums->moved);
	else
		assert_int_equal(dma, sums->moved);
}

static void slots_reset(void)
{
	for (unsigned i = 0; i < NR_SLOTS; i++) {
		slots[i] = (struct slot){0};
		slots[i].io.near = near + (size_t)i * SLOT;
		slots[i].io.offset = (uint64_t)i * SLOT;
		slots[i].io.user = &slots[i];
	}
}

static void case_run(size_t c, uint64_t ios)
{
	char settings[256];
	struct job jobs[JOBS_MAX] = {0};
	pthread_t threads[JOBS_MAX];
	struct cp_dev *dev;
	struct cp_err err;

	snprintf(settings, sizeof(settings),
		 "queue_mode=mq path=dma copy=memcpy q_per_node=1 max_merge=0 %s "
		 "dma=fault:%s,log=log",
		 cases[c].settings, cases[c].dma);
	struct cp_dev_cfg cfg = config(settings);
	bool moves = !strncmp(cases[c].dma, "sw", 2);

	cfg.media = "file";
	cfg.filename = "far";
	cfg.bytes = (uint64_t)NR_SLOTS * SLOT;
	cfg.segment = cases[c].segment;
	cfg.jobs = cases[c].jobs;
	cfg.iodepth = cases[c].depth;
	if (cp_dev_open(&cfg, &dev, &err))
		fail_msg("%s", err.msg);
	slots_reset();
	for (unsigned j = 0; j < cases[c].jobs; j++) {
		jobs[j] = (struct job){.dev = dev,
				       .id = j,
				       .depth = cases[c].depth,
				       .ios = ios / cases[c].jobs,
				       .bytes_max = cases[c].bytes_max,
				       .moves = moves,
				       .seed = 88172645463325252ULL + c * 16 + j};
		jobs[j].outcomes = calloc(jobs[j].ios + 1, sizeof(struct outcome));
		assert_non_null(jobs[j].outcomes);
		assert_int_equal(pthread_create(&threads[j], NULL, job_run, &jobs[j]), 0);
	}
	for (unsigned j = 0; j < cases[c].jobs; j++)
		pthread_join(threads[j], NULL);
	cp_dev_close(dev); /* the log is written here */
	struct sums sums = read_log(jobs);

	for (unsigned j = 0; j < cases[c].jobs; j++) {
		if (jobs[j].problem[0])
			fail_msg("%s: %s", settings, jobs[j].problem);
		free(jobs[j].outcomes);
	}
	/* none is lost: each has its lines, and each was settled */
	assert_int_equal(sums.ios, ios / cases[c].jobs * cases[c].jobs);
	check_reports(jobs, cases[c].jobs, moves, &sums);
	/* the case is about errors */
	assert_true(sums.failed > 0 && sums.failed < sums.ios / 10);
	assert_int_equal(unlink("log"), 0);
}

/* Description: over an engine that fails 1 % and more, every failed I/O is reported as
 * failed with the residue that the engine's log has, none counts as moved, none is lost,
 * none is handed back twice, and the bytes of the report are those of the log. */
static void all_is_reconciled(void **state)
{
	const char *lng = getenv("LONG");
	uint64_t total = lng && !strcmp(lng, "1") ? 10000000 : 200000;
	(void)state;

	for (size_t c = 0; c < NR_CASES; c++)
		case_run(c, total / NR_CASES + 1);
}

/* Description: completions that an engine withholds end as errors in their time, so
 * neither a reap nor a drain nor a close waits for ever; and I/Os behind them are whole.
 */
static void withheld_ends(void **state)
{
	static const char *const arms[] = {
		"dma=fault:null,script=s", "dma=fault:sw,script=s",
		"completion=irq dma=fault:sw,script=s",
		"completion=hybrid dma=fault:sw,script=s",
		"completion=irq dma=fault:sw,script=s,reorder=4"};
	FILE *script = fopen("s", "w");
	(void)state;

	assert_true(script &&
		    fputs("1 never 1ms\n3 never 1ms\n9 never 1ms\n", script) > 0);
	fclose(script);
	for (size_t a = 0; a < sizeof(arms) / sizeof(arms[0]); a++) {
		char settings[128];
		struct cp_io ios[10] = {0}, *done[10];

		snprintf(settings, sizeof(settings), "queue_mode=mq path=dma %s",
			 arms[a]);
		struct cp_dev_cfg cfg = config(settings);
		struct rig rig = rig_open(&cfg);

		for (unsigned i = 0; i < 10; i++) {
			ios[i] = (struct cp_io){.near = near + i * SLOT,
						.offset = i * SLOT,
						.bytes = SLOT};
			if (i == 8)
				assert_int_equal(cp_sub_reap(rig.sub, 8, 10, done), 8);
			assert_int_equal(cp_sub_queue(rig.sub, &ios[i]), 0);
		}
		cp_sub_commit(rig.sub);
		rig_close(&rig); /* with one withheld */
		for (unsigned i = 0; i < 8; i++) {
			bool bad = i == 0 || i == 2;

			assert_int_equal(ios[i].error, bad ? EIO : 0);
			assert_int_equal(ios[i].residue, bad ? SLOT : 0);
		}
	}
	unlink("s");
}

static int enter(void **state)
{
	size_t bytes = (size_t)NR_SLOTS * SLOT;
	(void)state;

	snprintf(dir, sizeof(dir), "/tmp/copypath-reconcile-XXXXXX");
	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	int fd = open("far", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return -1;
	far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	near = aligned_alloc(SLOT, bytes);
	slots = calloc(NR_SLOTS, sizeof(*slots));
	return far == MAP_FAILED || !near || !slots;
}

static int leave(void **state)
{
	(void)state;
	munmap(far, (size_t)NR_SLOTS * SLOT);
	free(near);
	free(slots);
	unlink("log");
	unlink("far");
	return chdir("/") || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_reconciled),
		cmocka_unit_test(withheld_ends),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, enter, leave);
}
