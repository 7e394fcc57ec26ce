/* SPDX-License-Identifier: GPL-2.0-only */
/* A job's life, the same for both plug-ins. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "engines/copy/attr.h"
#include "engines/fio/job.h"
#include "fio-version.h"

/* fio checks FIO_IOOPS_VERSION; structures also change between releases of one number. */
static int check_version(void)
{
	if (!strcmp(fio_version_string, CP_FIO_VERSION))
		return 0;
	log_err("copypath: error: this is %s and the plug-in was built with the headers "
		"of %s; "
		"run 'make deps' and build again, or use that fio\n",
		fio_version_string, CP_FIO_VERSION);
	return 1;
}

/* How far into the media this job reaches; 0 when only the file's own size can tell. */
static uint64_t job_extent(const struct thread_data *td)
{
	const struct thread_options *o = &td->o;

	if (!o->size || o->size_percent || o->start_offset_percent ||
	    o->offset_increment_percent)
		return 0;
	return o->start_offset + td->subjob_number * o->offset_increment + o->size;
}

/* Before the file is looked at, since that may be the wrong one for the attribute. A word
 * that is none is named by cp_shared_announce(). */
static int check_attr(const struct thread_data *td)
{
	unsigned natives = cp_media_attrs(cp_fio_option(td, "media"));
	bool native = !strcmp(cp_fio_option(td, "attr_native"), "1");
	enum cp_attr attr;
	struct cp_err err;

	if (!natives || cp_attr_parse(cp_fio_option(td, "attr"), &attr, &err) ||
	    !cp_attr_check(attr, natives, native, cp_attr_lacks(), &err))
		return 0;
	log_err("copypath: error: %s\n", err.msg);
	return 1;
}

/* All of it, from byte 0; what it is and why it will not do in words. */
static int file_size(struct thread_data *td, struct fio_file *f,
		     const struct cp_media_ops *media)
{
	if (media && media->size) {
		struct cp_err err;

		if (!cp_media_size(cp_fio_option(td, "media"), f->file_name,
				   &f->real_file_size, &err)) {
			fio_file_set_size_known(f);
			return 0;
		}
		log_err("copypath: error: %s\n", err.msg);
	} else if (generic_get_file_size(td, f)) {
		/* fio takes ENOENT as "to be created"; this engine creates nothing. */
		log_err("copypath: error: cannot use file '%s': %s; expected an existing "
			"file of the size wanted\n",
			f->file_name, strerror(td->error ? td->error : EINVAL));
	} else {
		return 0;
	}
	td->error = EINVAL;
	return 1;
}

int cp_fio_get_file_size(struct thread_data *td, struct fio_file *f, bool mq)
{
	uint64_t extent = job_extent(td);

	if (fio_file_size_known(f))
		return 0;
	if (check_version())
		return 1;
	if (td->o.nr_files > 1 || td->files_index > 1) {
		log_err("copypath: error: %u files in one job; expected one (use one job "
			"a file, and write a ':' in a name as '\\:')\n",
			td->files_index);
		return 1;
	}
	if (check_attr(td))
		return 1;
	const struct cp_media_ops *media = cp_media_of(cp_fio_option(td, "media"));

	/* What is allocated at open has the size that is asked. */
	if (media && !media->takes_file) {
		if (!extent) {
			log_err("copypath: error: media '%s' needs size= in bytes, and "
				"no "
				"percentages in size, offset and offset_increment\n",
				media->name);
			return 1;
		}
		f->real_file_size = extent;
		fio_file_set_size_known(f);
	} else {
		if (file_size(td, f, media) || cp_fio_far_size(td, f))
			return 1;
		if (!extent)
			extent = f->real_file_size;
	}
	return cp_shared_announce(td, mq, extent);
}

int cp_fio_init(struct thread_data *td)
{
	struct cp_job *job = calloc(1, sizeof(*job));
	struct cp_err err = {.msg = "out of memory"};
	int rc = -ENOMEM;

	if (job) {
		job->ios = calloc(td->o.iodepth, sizeof(*job->ios));
		job->done = calloc(td->o.iodepth + 1, sizeof(*job->done));
		job->events = calloc(td->o.iodepth + 1, sizeof(*job->events));
		td->io_ops_data = job;
	}
	if (job)
		job->page = !strcmp(cp_fio_option(td, "queue_mode"), "page");
	if (job && job->ios && job->done && job->events)
		rc = cp_shared_join(td, job, &err);
	if (rc)
		log_err("copypath: error: %s\n", err.msg);
	return -rc; /* fio words it as an errno */
}

int cp_fio_io_u_init(struct thread_data *td, struct io_u *io_u)
{
	struct cp_job *job = td->io_ops_data;
	struct cp_io *io = &job->ios[io_u->index];

	io->user = io_u;
	io_u->engine_data = io;
	return 0;
}

/* Touch the callers' buffers, so that no page fault of theirs is measured. fio fills them
 * for writes only. */
int cp_fio_post_init(struct thread_data *td)
{
	struct cp_job *job = td->io_ops_data;
	unsigned long long bytes = td_max_bs(td);

	for (unsigned i = 0; i < td->o.iodepth; i++) {
		struct io_u *io_u = job->ios[i].user;
		volatile char *buf = io_u ? io_u->buf : NULL;

		for (unsigned long long at = 0; buf && at < bytes; at += 4096)
			buf[at] = buf[at];
		if (buf) /* one that starts behind a page border ends a page later */
			buf[bytes - 1] = buf[bytes - 1];
	}
	int rc = cp_fio_near_check(td);

	if (!rc)
		cp_shared_meet(td, job->shared);
	return rc;
}

/* The device was opened in init(), before fio's clock started. */
int cp_fio_open_file(struct thread_data *td fio_unused, struct fio_file *f fio_unused)
{
	return 0;
}

int cp_fio_close_file(struct thread_data *td, struct fio_file *f fio_unused)
{
	struct cp_job *job = td->io_ops_data;

	/* closed before a verify phase, too, and again behind it */
	if (job && job->sub)
		cp_sub_measure_mark(job->sub);
	return 0;
}

/* The buffers are about to go: no channel may still write to them. */
void cp_fio_io_u_free(struct thread_data *td, struct io_u *io_u fio_unused)
{
	struct cp_job *job = td->io_ops_data;

	if (!job || !job->sub)
		return;
	cp_sub_drain(job->sub);
	/* An I/O that fio holds back (it was BUSY) keeps its file open to the end, and
	 * then close_file() never comes. */
	if (job->counting && !cp_sub_measured(job->sub))
		cp_sub_measure_end(job->sub);
}

void cp_fio_window(struct thread_data *td, struct cp_job *job)
{
	if (td->o.ramp_time && !td->ramp_time_over)
		return;
	job->counting = true;
	cp_sub_measure_begin(job->sub);
}

static void write_sidecar(struct thread_data *td, struct cp_job *job, const char *path)
{
	struct cp_hist *lat = malloc(sizeof(*lat));
	struct cp_sidecar_job out = {.job = td->thread_number, .lat = lat};
	struct cp_err err = {.msg = "out of memory"};
	char *line = NULL;
	int fd = -1, rc = -ENOMEM;

	if (!lat)
		goto out;
	snprintf(out.build, sizeof(out.build), "%s", CP_VERSION);
	snprintf(out.fio, sizeof(out.fio), "%s", CP_FIO_VERSION);
	cp_sub_report(job->sub, &out);
	if (td->o.verify != VERIFY_NONE)
		snprintf(out.proof.verify, sizeof(out.proof.verify), "%s",
			 td->o.verify == VERIFY_CRC32C ? "crc32c" : "other");
	line = cp_sidecar_encode(&out, &err);
	if (!line)
		goto out;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	rc = fd < 0 ? -errno : cp_write_all(fd, line, strlen(line));
	if (rc)
		snprintf(err.msg, sizeof(err.msg), "%s", strerror(-rc));
out:
	if (rc)
		log_err("copypath: error: sidecar '%s' not written: %s\n", path, err.msg);
	if (fd >= 0)
		close(fd);
	free(line);
	free(lat);
}

void cp_fio_cleanup(struct thread_data *td)
{
	struct cp_job *job = td->io_ops_data;
	const char *sidecar = cp_fio_option(td, "sidecar");

	if (!job)
		return;
	if (job->sub && cp_sub_measured(job->sub) && *sidecar)
		write_sidecar(td, job, sidecar);
	cp_sub_close(job->sub);
	if (job->shared)
		cp_shared_leave(job->shared);
	free(job->ios);
	free(job->done);
	free(job->events);
	free(job);
	td->io_ops_data = NULL;
}
