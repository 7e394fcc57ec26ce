/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers and device away from a page border, on purpose.
 *
 * fio places the buffers of an engine with FIO_RAWIO itself: it rounds what was allocated
 * (by iomem_alloc() too) up to a page border and adds iomem_align to that, bs bytes for
 * each further I/O of the queue. So misalign_near is added to iomem_align, with which
 * fio's own sums (allocation, fill, verify) stay right; that the buffers came to lie
 * there is looked at once they are there.
 */
#include "engines/fio/job.h"

#define PAGE 4096U /* what misalign_near counts from, whatever this machine's pages */
#define LINE 64U

int cp_fio_near_place(struct thread_data *td, uint32_t near)
{
	unsigned base = td->o.mem_align;
	unsigned long long bs = td_max_bs(td);

	if (!near && base % LINE) {
		log_err("copypath: error: iomem_align '%u' would misalign the buffers "
			"without saying so; expected a multiple of %u, or "
			"misalign_near=%u\n",
			base, LINE, base % PAGE);
		return 1;
	}
	if (near && base % PAGE) {
		log_err("copypath: error: iomem_align '%u' moves the buffers as "
			"misalign_near '%u' does; expected one of them\n",
			base, near);
		return 1;
	}
	if (near && td->o.iodepth > 1 && bs % LINE) {
		log_err("copypath: error: misalign_near '%u' holds for the first of %u "
			"buffers of %llu bytes only; expected a bs that is a multiple "
			"of %u, or iodepth=1\n",
			near, td->o.iodepth, bs, LINE);
		return 1;
	}
	td->o.mem_align = base + near;
	return 0;
}

int cp_fio_near_check(struct thread_data *td)
{
	struct cp_job *job = td->io_ops_data;
	unsigned long long bs = td_max_bs(td);

	for (unsigned i = 0; i < td->o.iodepth; i++) {
		const struct io_u *io_u = job->ios[i].user;
		unsigned want = (unsigned)((td->o.mem_align + i * bs) % PAGE);
		unsigned have = io_u ? (unsigned)((uintptr_t)io_u->buf % PAGE) : want;

		if (!io_u || !io_u->buf || have == want)
			continue;
		log_err("copypath: error: buffer %u lies %u bytes behind a page border; "
			"expected %u as asked\n",
			i, have, want);
		td->error = EINVAL; /* for the exit code; what is wrong has been said */
		return 1;
	}
	return 0;
}

int cp_fio_far_size(struct thread_data *td, struct fio_file *f)
{
	uint64_t far, have = f->real_file_size;
	struct cp_context context;
	struct cp_err err;

	if (cp_fio_context(td, &context, &err) != 0) {
		log_err("copypath: error: %s\n", err.msg);
		return 1;
	}
	far = context.misalign_far;
	if (have <= far && far) {
		log_err("copypath: error: '%s' has %llu bytes, none of them behind "
			"misalign_far '%llu'; expected a file that is longer by it\n",
			f->file_name, (unsigned long long)have, (unsigned long long)far);
		return 1;
	}
	f->real_file_size = have - far;
	return 0;
}
