// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/sqlite/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/apps/sqlite/table.h"
#include "bench/apps/sqlite/vfs.h"
#include "engines/base/file.h"

#define DEPTH_MAX  256
#define PAGE_MIN   512
#define PAGE_MAX   65536
#define ROWS_CLOCK 64 /* rows between two looks at the clock */

struct sample {
	const struct cp_exec_request *request;
	bool made; /* request->filename is ours, and goes */
	struct cp_dev *dev;
	struct cp_sub *sub;
	struct cp_dfile file;
	struct cp_table table;
	uint64_t rows; /* of the window */
};

static int check(const struct cp_exec_request *request, struct cp_err *err)
{
	const struct cp_context *c = &request->context;

	if (!strcmp(c->rw, "randread") || !strcmp(c->rw, "randwrite"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "rw is '%s'; expected write (rows are loaded) or read "
				  "(they are scanned)",
				  c->rw);
	if (c->numjobs != 1)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "numjobs is %u; expected 1, one connection",
				  c->numjobs);
	if (c->bs < PAGE_MIN || c->bs > PAGE_MAX || (c->bs & (c->bs - 1)))
		return cp_err_set(
			err, CP_EXIT_USAGE, EINVAL,
			"bs is %llu; expected a page size of SQLite, a power of "
			"two from 512 to 64k",
			(unsigned long long)c->bs);
	if (!strcmp(request->arm.queue_mode, "page") && c->bs % CP_PAGE_BYTES)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "bs is %llu in queue_mode page; expected a multiple of "
				  "4k",
				  (unsigned long long)c->bs);
	if (c->iodepth > DEPTH_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "iodepth is %u; expected at most %d pages at once",
				  c->iodepth, DEPTH_MAX);
	if (c->misalign_near)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "misalign_near is %u; expected 0: buffers are on page "
				  "borders",
				  c->misalign_near);
	if (request->size < 4U << 20)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "size is %llu; expected at least 4m for a database",
				  (unsigned long long)request->size);
	return 0;
}

/* A file of real bytes, made for this sample and nobody's before: never somebody else's.
 */
static int make_file(struct sample *s, uint64_t bytes, struct cp_err *err)
{
	static const unsigned char block[1U << 16] = {1};
	const char *name = s->request->filename;

	if (!name[0] || !strncmp(s->request->context.media, "anon", 4))
		return 0;
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return cp_err_set(err, CP_EXIT_USAGE, errno,
				  "cannot make '%.200s': %s; expected a name that is not "
				  "there yet, as the file is made and removed",
				  name, strerror(errno));
	s->made = true;
	int ret = 0;
	for (uint64_t at = 0; at < bytes && !ret; at += sizeof(block))
		ret = cp_write_all(fd, block,
				   bytes - at < sizeof(block) ? (size_t)(bytes - at)
							      : sizeof(block));
	close(fd);
	return ret ? cp_err_set(err, CP_EXIT_INVALID, -ret, "cannot write '%.200s': %s",
				name, strerror(-ret))
		   : 0;
}

static int open_device(struct sample *s, const struct cp_topo *topo, struct cp_err *err)
{
	const struct cp_exec_request *request = s->request;
	uint64_t bytes = request->size - request->size % PAGE_MAX;
	struct cp_dev_cfg cfg;

	cp_dev_cfg_of(&request->context, &request->arm, topo, &cfg);
	cfg.bytes = bytes;
	cfg.filename = request->filename[0] ? request->filename : NULL;
	if (!strncmp(request->context.media, "anon", 4))
		cfg.filename = NULL;
	cfg.writable = true;
	cfg.dir_used[CP_DIR_READ] = cfg.dir_used[CP_DIR_WRITE] = true;
	cfg.policy_force = true; /* the harness knows whose it is, and fio's version */
	int ret = make_file(s, bytes + request->context.misalign_far, err);

	if (!ret)
		ret = cp_dev_open(&cfg, &s->dev, err);
	if (s->made)
		unlink(request->filename); /* the mapping keeps it until the end */
	if (!ret)
		ret = cp_sub_open(s->dev, &s->sub, err);
	if (!ret && cp_dev_simulated(s->dev))
		ret = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				 "dma '%s' moves no data; expected one that does, as a "
				 "database reads what it wrote",
				 request->arm.dma);
	if (!ret && cp_dfile_open(&s->file, s->sub, bytes, (uint32_t)request->context.bs,
				  request->context.iodepth))
		ret = cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	return ret;
}

static int begin_table(struct sample *s, struct cp_err *err)
{
	cp_table_close(&s->table);
	return cp_table_open(&s->table, &s->file, (uint32_t)s->request->context.bs,
			     s->request->seed, err);
}

static bool full(const struct sample *s)
{
	return s->file.bytes > s->file.limit / 4 * 3;
}

static int load_once(struct sample *s, struct cp_err *err)
{
	int ret = full(s) ? begin_table(s, err) : 0;

	if (!ret)
		ret = cp_table_load(&s->table, err);
	s->rows += CP_ROWS_COMMIT;
	return ret;
}

static int scan_some(struct sample *s, struct cp_err *err)
{
	unsigned rows = 0;
	int ret = cp_table_scan(&s->table, ROWS_CLOCK, &rows, err);

	s->rows += rows;
	return ret;
}

/* Its work until the time is over, at least once. */
static int work(struct sample *s, uint64_t duration_ns, struct cp_err *err)
{
	bool loads = cp_context_dir(&s->request->context) == CP_DIR_WRITE;
	uint64_t end_ns = cp_now_ns() + duration_ns;
	int ret;

	do
		ret = loads ? load_once(s, err) : scan_some(s, err);
	while (!ret && cp_now_ns() < end_ns);
	return ret;
}

static int measure(struct sample *s, struct cp_err *err)
{
	int ret = begin_table(s, err);

	if (cp_context_dir(&s->request->context) == CP_DIR_READ)
		while (!ret && !full(s))
			ret = cp_table_load(&s->table, err);
	if (!ret && s->request->ramp_ns)
		ret = work(s, s->request->ramp_ns, err);
	if (ret)
		return ret;
	s->rows = 0;
	cp_sub_measure_begin(s->sub);
	ret = work(s, s->request->runtime_ns, err);
	cp_sub_measure_end(s->sub);
	return ret;
}

static int report(const struct sample *s, struct cp_record *record, struct cp_err *err)
{
	struct cp_hist *lat = calloc(1, sizeof(*lat));
	struct cp_sidecar_job job = {.job = 1, .lat = lat};
	char provenance[128];

	if (!lat)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	cp_hist_reset(lat);
	cp_sub_report(s->sub, &job);
	snprintf(job.build, sizeof(job.build), "%s", CP_VERSION);
	char *line = cp_sidecar_encode(&job, err);
	int ret = line ? cp_sidecar_merge_text(line, strlen(line), 1, record,
					       record->notes, sizeof(record->notes), err)
		       : -EINVAL;
	free(line);
	free(lat);
	if (ret)
		return ret;
	record->metrics[CP_METRIC_APP] =
		(double)s->rows * 1e9 / record->metrics[CP_METRIC_ELAPSED_NS];
	/* The record calls itself external; what lay below is worth a word. */
	snprintf(provenance, sizeof(provenance), "%smedia %s, dma %s",
		 record->notes[0] ? "; " : "", job.provenance.media, job.provenance.dma);
	size_t len = strlen(record->notes);
	if (len + strlen(provenance) < sizeof(record->notes))
		memcpy(record->notes + len, provenance, strlen(provenance) + 1);
	return 0;
}

/* As fio's cpus_allowed, before threads are started that are to inherit it. */
static int pin(const struct cp_exec_request *request, struct cp_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < request->nr_cpus; i++)
		if (request->cpus[i] < CPU_SETSIZE)
			CPU_SET(request->cpus[i], &set);
	if (!request->nr_cpus || !sched_setaffinity(0, sizeof(set), &set))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot run on the CPUs asked: %s",
			  strerror(errno));
}

int cp_sample_take(const struct cp_exec_request *request, const struct cp_topo *topo,
		   struct cp_record *record, struct cp_err *err)
{
	struct sample s = {.request = request};
	int ret = check(request, err);

	if (!ret)
		ret = pin(request, err);
	if (!ret)
		ret = open_device(&s, topo, err);
	if (!ret)
		ret = measure(&s, err);
	if (!ret)
		ret = report(&s, record, err);
	if (!ret) /* behind the report: what it reads is none of the window's bytes */
		ret = cp_table_check(&s.table, err);
	cp_table_close(&s.table);
	cp_vfs_serve(NULL);
	cp_dfile_close(&s.file);
	cp_sub_close(s.sub);
	cp_dev_close(s.dev);
	return ret;
}
