/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * copypath-async.so: queue_mode mq. queue() only stages; commit() stamps the issue time
 * and then dispatches, so that a copy the CPU does inside commit() is in clat and slat +
 * clat = lat.
 */
#include "engines/fio/job.h"

static enum fio_q_status async_queue(struct thread_data *td, struct io_u *io_u)
{
	struct cp_job *job = td->io_ops_data;
	struct cp_io *io = io_u->engine_data;

	fio_ro_check(td, io_u);
	cp_fio_watch_ramp(td, job);
	if (!cp_fio_fill(io_u, io))
		return FIO_Q_COMPLETED;
	return cp_sub_queue(job->sub, io) ? FIO_Q_BUSY : FIO_Q_QUEUED;
}

static int async_commit(struct thread_data *td)
{
	struct cp_job *job = td->io_ops_data;
	struct cp_io **staged;
	unsigned n = cp_sub_staged(job->sub, &staged);
	struct timespec now;

	if (!n)
		return 0;
	if (fio_fill_issue_time(td)) {
		fio_gettime(&now, NULL);
		for (unsigned i = 0; i < n; i++) {
			struct io_u *io_u = staged[i]->user;

			io_u->issue_time = now;
			io_u_queued(td, io_u);
		}
	}
	cp_sub_commit(job->sub);
	io_u_mark_submit(td, n);
	return 0;
}

static void failed(struct thread_data *td, struct cp_job *job, const struct cp_io *io)
{
	struct io_u *io_u = io->user;

	cp_fio_failed(td, job, io);
	io_u->error = (unsigned)io->error;
	io_u->resid = io->residue;
}

static int async_getevents(struct thread_data *td, unsigned int min, unsigned int max,
			   const struct timespec *t fio_unused)
{
	struct cp_job *job = td->io_ops_data;
	unsigned n = cp_sub_reap(job->sub, min, max, job->done);

	/* All at once, while the I/Os are at hand: event() is called between long
	 * stretches of fio's own work. */
	for (unsigned i = 0; i < n; i++) {
		const struct cp_io *io = job->done[i];

		job->events[i] = io->user;
		if (__builtin_expect(io->error, 0))
			failed(td, job, io);
	}
	return (int)n;
}

static struct io_u *async_event(struct thread_data *td, int event)
{
	struct cp_job *job = td->io_ops_data;

	return job->events[event];
}

static int async_get_file_size(struct thread_data *td, struct fio_file *f)
{
	return cp_fio_get_file_size(td, f, true);
}

__attribute__((visibility("default"))) struct ioengine_ops ioengine = {
	.name = "copypath-async",
	.version = FIO_IOOPS_VERSION,
	.flags = FIO_RAWIO | FIO_DISKLESSIO | FIO_NOEXTEND | FIO_NODISKUTIL |
		 FIO_BARRIER | FIO_MEMALIGN | FIO_ASYNCIO_SETS_ISSUE_TIME,
	.get_file_size = async_get_file_size,
	.init = cp_fio_init,
	.post_init = cp_fio_post_init,
	.io_u_init = cp_fio_io_u_init,
	.io_u_free = cp_fio_io_u_free,
	.queue = async_queue,
	.commit = async_commit,
	.getevents = async_getevents,
	.event = async_event,
	.open_file = cp_fio_open_file,
	.close_file = cp_fio_close_file,
	.cleanup = cp_fio_cleanup,
	.option_struct_size = sizeof(struct cp_fio_options),
	.options = cp_fio_option_table,
};
