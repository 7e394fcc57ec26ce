/* SPDX-License-Identifier: GPL-2.0-only */
/* copypath-sync.so: queue_mode bio and page. The I/O is done inside queue(), iodepth
 * is 1.
 */
#include "engines/fio/job.h"

static enum fio_q_status sync_queue(struct thread_data *td, struct io_u *io_u)
{
	struct cp_job *job = td->io_ops_data;
	struct cp_io *io = io_u->engine_data;

	fio_ro_check(td, io_u);
	cp_fio_watch_ramp(td, job);
	if (!cp_fio_fill(io_u, io))
		return FIO_Q_COMPLETED;
	if (job->page)
		cp_sub_page(job->sub, io);
	else
		cp_sub_bio(job->sub, io);
	if (__builtin_expect(io->error, 0)) {
		cp_fio_failed(td, job, io);
		io_u->error = (unsigned)io->error;
		io_u->resid = io->residue;
	}
	return FIO_Q_COMPLETED;
}

static int sync_get_file_size(struct thread_data *td, struct fio_file *f)
{
	return cp_fio_get_file_size(td, f, false);
}

__attribute__((visibility("default"))) struct ioengine_ops ioengine = {
	.name = "copypath-sync",
	.version = FIO_IOOPS_VERSION,
	.flags = FIO_SYNCIO | FIO_RAWIO | FIO_DISKLESSIO | FIO_NOEXTEND | FIO_NODISKUTIL |
		 FIO_BARRIER | FIO_MEMALIGN,
	.get_file_size = sync_get_file_size,
	.init = cp_fio_init,
	.post_init = cp_fio_post_init,
	.io_u_init = cp_fio_io_u_init,
	.io_u_free = cp_fio_io_u_free,
	.queue = sync_queue,
	.open_file = cp_fio_open_file,
	.close_file = cp_fio_close_file,
	.cleanup = cp_fio_cleanup,
	.option_struct_size = sizeof(struct cp_fio_options),
	.options = cp_fio_option_table,
};
