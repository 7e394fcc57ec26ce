/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices that jobs share. Jobs of one fio process with the same engine options and file,
 * in the same stonewall section, submit to one device: one mapping, one set of hardware
 * queues and channels. They are announced by the main thread before any job runs, so that
 * the first to open knows how many will come.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/fio/job.h"

#define MEET_STEP_NS 100000000 /* between looks whether fio was told to stop */
#define MEET_STEPS   600       /* a job that failed before init() never comes */

struct cp_shared {
	struct cp_shared *next;
	char *key;
	unsigned jobs, left, iodepth;
	uint64_t extent;
	bool untimed;	/* some job ends with its bytes, not by the clock */
	bool delayed;	/* some job is to start after the others */
	unsigned ready; /* jobs whose buffers are touched */
	bool writable, dir_used[2];
	struct cp_dev *dev;
	size_t told; /* of its notes, to the terminal */
	bool failed; /* the first to open told why; the others only stop */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER; /* ready or left has grown */
static struct cp_shared *all;
static struct cp_topo topo; /* of the main thread: before fio pins the jobs */
static bool topo_loaded;
static unsigned section; /* of stonewall */

static char *make_key(const struct thread_data *td, const char *file)
{
	char *key = NULL;
	size_t size;
	FILE *out = open_memstream(&key, &size);

	if (!out)
		return NULL;
	fprintf(out, "%u|%s", section, file);
	for (unsigned i = 0; cp_fio_option_table[i].name; i++) {
		if (strcmp(cp_fio_option_table[i].name, "sidecar") != 0)
			fprintf(out, "|%s",
				cp_fio_option(td, cp_fio_option_table[i].name));
	}
	return fclose(out) ? NULL : key;
}

const char *cp_fio_media_file(const struct thread_data *td)
{
	const struct cp_media_ops *ops = cp_media_of(cp_fio_option(td, "media"));

	if (ops && ops->file_default && td->o.filename)
		return td->files[0]->file_name;
	return ops && ops->takes_file ? td->files[0]->file_name : "";
}

static struct cp_shared *find(const char *key)
{
	struct cp_shared *shared = all;

	while (shared && strcmp(shared->key, key) != 0)
		shared = shared->next;
	return shared;
}

static struct cp_shared *find_or_add(char *key)
{
	struct cp_shared *shared = find(key);

	if (shared) {
		free(key);
		return shared;
	}
	shared = calloc(1, sizeof(*shared));
	if (!shared) {
		free(key);
		return NULL;
	}
	shared->key = key;
	shared->next = all;
	all = shared;
	return shared;
}

int cp_shared_announce(struct thread_data *td, bool mq, uint64_t extent)
{
	struct cp_dev_cfg cfg = {0};
	struct cp_err err;

	if (cp_fio_parse(td, mq, &cfg, &err) != 0 ||
	    (!topo_loaded && cp_topo_load(NULL, &topo, &err) != 0)) {
		log_err("copypath: error: %s\n", err.msg);
		return 1;
	}
	topo_loaded = true;
	if (cp_fio_near_place(td, cfg.misalign_near) || cp_fio_pages_check(td, &cfg.arm))
		return 1;
	if (td->o.stonewall && td->subjob_number == 0)
		section++;
	char *key = make_key(td, cp_fio_media_file(td));
	struct cp_shared *shared = key ? find_or_add(key) : NULL;

	if (!shared) {
		log_err("copypath: error: out of memory\n");
		return 1;
	}
	shared->jobs++;
	if (shared->jobs == 2 && !td->o.use_thread)
		log_info("copypath: jobs share one device, so thread=1 is set\n");
	/* All of them, or the first would be a process of its own. */
	td->o.use_thread = 1;
	if (td->o.iodepth > shared->iodepth)
		shared->iodepth = td->o.iodepth;
	if (extent > shared->extent)
		shared->extent = extent;
	shared->untimed |= !td->o.time_based || td->o.verify != VERIFY_NONE;
	shared->delayed |= td->o.start_delay || td->o.start_delay_high || td->o.wait_for;
	shared->writable |= td_write(td) != 0;
	shared->dir_used[CP_DIR_READ] |= td_read(td) != 0;
	shared->dir_used[CP_DIR_WRITE] |= td_write(td) != 0;
	((struct cp_fio_options *)td->eo)->pad = shared;
	return 0;
}

static int open_dev(struct thread_data *td, struct cp_shared *shared, struct cp_err *err)
{
	bool mq = !td_ioengine_flagged(td, FIO_SYNCIO);
	struct cp_dev_cfg cfg = {0};
	int rc = cp_fio_parse(td, mq, &cfg, err);

	if (rc)
		return rc;
	cfg.filename = *cp_fio_media_file(td) ? cp_fio_media_file(td) : NULL;
	cfg.bytes = shared->extent;
	cfg.writable = shared->writable;
	cfg.dir_used[CP_DIR_READ] = shared->dir_used[CP_DIR_READ];
	cfg.dir_used[CP_DIR_WRITE] = shared->dir_used[CP_DIR_WRITE];
	cfg.jobs = shared->jobs;
	cfg.iodepth = shared->iodepth;
	cfg.timed = shared->jobs > 1 && !shared->untimed;
	cfg.locked_handover = true; /* fio's threads meet at mutexes and joins */
	cfg.fio_version = fio_version_string;
	cfg.topo = &topo;
	rc = cp_dev_open(&cfg, &shared->dev, err);
	if (!rc && td->o.verify != VERIFY_NONE && cp_dev_simulated(shared->dev))
		rc = cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"verify: dma engine '%s' moves no data; expected verify=0 "
			"or an engine that does",
			cfg.arm.dma);
	return rc;
}

/* What is worth saying of the device, and of the channel that a job had opened. Whoever
 * reads a sidecar reads it there. Not through log_info(): that would stand before the
 * JSON of fio's output. */
static void tell_notes(struct thread_data *td, struct cp_shared *shared)
{
	const char *notes = cp_dev_notes(shared->dev);
	size_t len = strlen(notes);

	if (len > shared->told && !*cp_fio_option(td, "sidecar"))
		fprintf(stderr, "copypath: note: %s\n",
			notes + shared->told + (shared->told ? 2 : 0));
	shared->told = len;
}

int cp_shared_join(struct thread_data *td, struct cp_job *job, struct cp_err *err)
{
	struct cp_shared *shared = ((struct cp_fio_options *)td->eo)->pad;
	int rc = 0;

	if (!shared)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "create_serialize=0 is not supported; leave it out");
	pthread_mutex_lock(&lock);
	if (shared->failed) {
		rc = cp_err_set(err, CP_EXIT_INVALID, EIO,
				"the device could not be opened");
	} else if (!shared->dev) {
		rc = open_dev(td, shared, err);
		shared->failed = rc != 0;
	}
	if (!rc)
		rc = cp_sub_open(shared->dev, &job->sub, err);
	if (!rc)
		tell_notes(td, shared);
	pthread_mutex_unlock(&lock);
	job->shared = shared;
	return rc;
}

void cp_shared_meet(const struct thread_data *td, struct cp_shared *shared)
{
	struct timespec until;

	pthread_mutex_lock(&lock);
	shared->ready++;
	pthread_cond_broadcast(&arrived);
	if (shared->untimed || shared->delayed)
		goto out;
	clock_gettime(CLOCK_REALTIME, &until);
	for (unsigned i = 0; i < MEET_STEPS && !td->terminate; i++) {
		until.tv_sec += (until.tv_nsec + MEET_STEP_NS) / 1000000000;
		until.tv_nsec = (until.tv_nsec + MEET_STEP_NS) % 1000000000;
		while (shared->ready + shared->left < shared->jobs &&
		       !pthread_cond_timedwait(&arrived, &lock, &until))
			;
		if (shared->ready + shared->left >= shared->jobs)
			break;
	}
out:
	pthread_mutex_unlock(&lock);
}

void cp_shared_leave(struct cp_shared *shared)
{
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&arrived);
	if (++shared->left == shared->jobs) {
		cp_dev_close(shared->dev);
		shared->dev = NULL;
		shared->told = 0;
		shared->left = 0;
		shared->ready = 0;
	}
	pthread_mutex_unlock(&lock);
}
